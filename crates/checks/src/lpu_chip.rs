//! A program on a simulated streaming chip, launch by launch against the evaluator: what the checks of chips share.

use std::collections::BTreeMap;

use bytes::Bytes;
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::check::check_compiled;
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, Model, PassCx, Precision, simulated_lpu};
use tegula_machine::Machine;
use tegula_package::Package;

use crate::in_process::NoFiles;

/// What became of a program.
pub enum Ran {
    /// Each launch is within its bounds.
    Holds(Share),
    /// A contraction has no form on the chip.
    Refused,
    /// The chip has too little memory.
    TooLarge,
    Wrong(String),
}

/// Who computed it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub regions: usize,
    /// Kernels of the host.
    pub kernels: usize,
}

/// Compiles a model for a chip at sizes that are all known, with `f16` factors, and runs it.
pub fn run(model: &[u8], dims: BTreeMap<String, i64>, machine: &Machine, inputs: &[HostTensor]) -> Ran {
    match judged(model, dims, machine, inputs) {
        Ok(ran) => ran,
        Err(found) if has(&found, "host-contraction") => Ran::Refused,
        // One tensor is too large for any form, so that the host would have it.
        Err(found) if has(&found, "lpu-capacity") => {
            if found.to_string().contains("a tensor has") {
                Ran::Refused
            } else {
                Ran::TooLarge
            }
        }
        Err(found) => Ran::Wrong(found.to_string()),
    }
}

fn judged(
    model: &[u8],
    dims: BTreeMap<String, i64>,
    machine: &Machine,
    inputs: &[HostTensor],
) -> Result<Ran, Diagnostics> {
    let bytes = Bytes::copy_from_slice(model);
    let model = Model { name: "model".into(), bytes, results: vec![], checked: false, files: &NoFiles };
    let precision = Precision::F16;
    let options = CompileOptions { dims, verify: true, precision, ..CompileOptions::new(machine.clone()) };
    let imported = model.import(&options.dims)?;
    // Not by way of the model: what does not fit is counted, and levers are not tried.
    let cx = &mut PassCx::default();
    let compiled = compile_program(imported.clone(), &model.name, &options, None, cx)?;
    let share = match &compiled.package {
        Some(package) => share(&Package::parse(package.to_bytes())?),
        None => Share::default(),
    };
    let report = check_compiled(&compiled, &imported, precision, inputs, None, &simulated_lpu())?;
    if let Some(failure) = &report.failure {
        return Ok(Ran::Wrong(failure.clone()));
    }
    if let Some(wrong) = report.first_wrong() {
        let message = format!("launch {} of {:?}: {:?}", wrong.kernel, wrong.nodes, wrong.difference);
        return Ok(Ran::Wrong(message));
    }
    // Outputs gather the roundings of all launches; each launch is held against its own bound.
    if report.outputs.iter().any(|output| output.as_launched == Some(false)) {
        return Ok(Ran::Wrong("the whole run gives other bits than its launches".to_string()));
    }
    Ok(Ran::Holds(share))
}

fn share(package: &Package) -> Share {
    let regions = package.manifest.kernels.iter().filter(|kernel| kernel.class == "region").count();
    Share { regions, kernels: package.manifest.kernels.len() - regions }
}

fn has(found: &Diagnostics, code: &str) -> bool {
    found.0.iter().any(|error| error.code == code)
}
