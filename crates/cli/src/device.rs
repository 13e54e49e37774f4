//! Who runs kernels, as `--target` and `--machine` say.

use crate::args::CompileOptions as Args;
use crate::failure::{Failure, io_failure};
use std::path::Path;
use tegula::{Gpu, Machine};
use tegula_base::Diagnostic;
use tegula_driver::Form;
use tegula_driver::probe::fitting_gpu;
use tegula_runtime::cuda::DeviceFacts;

/// The GPU that is simulated where none is named.
const SIMULATED: &str = "h200";
/// The card that is used: the driver's own variables choose which that is.
const FIRST: u32 = 0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    Processor,
    Cuda,
    Simulator,
}

fn runner(args: &Args) -> Runner {
    match args.target.target.as_deref() {
        Some("cuda") => Runner::Cuda,
        Some("sim-ptx") => Runner::Simulator,
        _ => Runner::Processor,
    }
}

/// The GPU that `--target` names. Errors: `no-device`.
pub fn gpu(args: &Args) -> Result<Gpu, Failure> {
    Ok(match runner(args) {
        Runner::Processor => Gpu::None,
        Runner::Cuda => Gpu::Cuda(tegula::gpu::cuda()?.device(FIRST)?),
        Runner::Simulator => tegula_driver::simulated_gpu(),
    })
}

/// The machine to compile for, and the form of its kernels.
/// Errors: no such machine; one that `--target` does not run; no card to choose it by.
pub fn machine(args: &Args) -> Result<(Machine, Form), Failure> {
    let runner = runner(args);
    let (machine, form) = match (&args.target.machine, runner) {
        (Some(name), _) => (machine_of(name)?, Form::Machine),
        (None, Runner::Simulator) => (machine_of(SIMULATED)?, Form::Machine),
        (None, Runner::Cuda) => {
            let device = tegula::gpu::cuda()?.device(FIRST)?;
            (class_of(device.facts())?, Form::Machine)
        }
        (None, Runner::Processor) => tegula::processor::default_machine()?,
    };
    if runner != Runner::Processor && machine.gpu().is_none() {
        let target = args.target.target.as_deref().unwrap_or_default();
        let message = format!("`--target {target}` runs kernels for GPUs, and `{}` is none", machine.name);
        return Err(Diagnostic::error("bad-option", message).into());
    }
    Ok((machine, form))
}

/// The class that fits a card. Errors: `no-device` where none does.
pub fn class_of(facts: &DeviceFacts) -> Result<Machine, Diagnostic> {
    fitting_gpu(&facts.name, facts.capability).ok_or_else(|| {
        let (major, minor) = facts.capability;
        let message = format!(
            "{} has compute capability {major}.{minor}, and kernels are made for 8.0 and later",
            facts.name
        );
        Diagnostic::error("no-device", message)
    })
}

/// Errors: kernels for a GPU are to run, and neither one nor a simulator is named.
pub fn check_device(args: &Args) -> Result<(), Failure> {
    let (machine, _) = machine(args)?;
    if machine.gpu().is_none() || runner(args) != Runner::Processor {
        return Ok(());
    }
    let message = format!("kernels for `{}` need a GPU, and none is named", machine.name);
    let help = "`--target cuda` runs them on the first NVIDIA GPU, `--target sim-ptx` interprets them";
    Err(Diagnostic::error("no-device", message).help(help).into())
}

/// A class by name, or the machine that a file describes.
fn machine_of(name: &str) -> Result<Machine, Failure> {
    if let Some(machine) = Machine::class(name) {
        return Ok(machine);
    }
    let path = Path::new(name);
    if !path.exists() {
        let known: Vec<&str> = Machine::class_names().collect();
        return Err(Diagnostic::error(
            "unknown-machine",
            format!("`{name}` is no machine class and no file"),
        )
        .note(format!("the classes are {}", known.join(", ")))
        .into());
    }
    let text = std::fs::read_to_string(path).map_err(|error| io_failure("read", path, &error))?;
    Ok(Machine::parse(&text, name)?)
}
