//! `lpu-sim [--only PREFIX] [--some] [--part K/N]`: the core node cases of the onnx package on a simulated streaming chip, `tsp1`.
//!
//! Sizes are fixed, and factors of `f32` are rounded to `f16`. What the chip does not claim is the host's; a case with a
//! contraction that it does not compute is refused, by reason.
//! `--some` takes every third case.
//! Bar: none wrong, none crashed; of a whole run at least [`ON_CHIP`] cases have all their arithmetic on the chip.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_base::HostTensor;
use tegula_driver::Model;
use tegula_machine::Machine;
use tegula_tensor::eval::bindings;
use tegula_testkit::onnx_suite::{Case, RunError, run_case};

use crate::in_process::{NoFiles, guarded, keep_panics};
use crate::lpu_chip::{self, Ran};
use crate::onnx::{NODES, core_cases};

/// Cases without a kernel of the host. It only rises.
const ON_CHIP: usize = 666;

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    NODES.generate()?;
    let cases = NODES.cases()?;
    let mut names = core_cases()?;
    if let Some(prefix) = only {
        names.retain(|name| name.starts_with(prefix.as_str()));
    }
    let is_some = args.iter().any(|arg| arg == "--some");
    let names = part.take(names);
    let names: Vec<String> = names.into_iter().step_by(if is_some { 3 } else { 1 }).collect();
    ensure!(!names.is_empty(), "no case is called `{}...`", only.map_or("", String::as_str));
    let machine = Machine::class("tsp1").context("there is no class `tsp1`")?;
    keep_panics();
    let (mut on_chip, mut mixed, mut on_host, mut refused, mut wrong) = (0, 0, 0, 0, 0);
    for name in &names {
        let case = cases.get(name).with_context(|| format!("there is no case `{name}`"))?;
        match guarded(|| judge(case, &machine)).unwrap_or_else(Ran::Wrong) {
            Ran::Holds(share) if share.regions == 0 => on_host += 1,
            Ran::Holds(share) if share.kernels == 0 => on_chip += 1,
            Ran::Holds(_) => mixed += 1,
            Ran::Refused => refused += 1,
            Ran::TooLarge => wrong += fail(name, "has too little memory"),
            Ran::Wrong(reason) => wrong += fail(name, &reason),
        }
    }
    let is_enough = only.is_some() || is_some || !part.is_whole() || on_chip >= ON_CHIP;
    Ok(Outcome::pass_if(wrong == 0 && is_enough)
        .with("cases", names.len())
        .with("on_chip", on_chip)
        .with("on_both", mixed)
        .with("on_host", on_host)
        .with("refused", refused)
        .with("wrong", wrong))
}

fn fail(name: &str, reason: &str) -> usize {
    println!("FAIL {name}: {reason}");
    1
}

/// A case whose inputs or sizes are no tensors of known sizes counts as refused.
fn judge(case: &Case, machine: &Machine) -> Ran {
    let judged = RefCell::new(None);
    let runner = |path: &Path, dims: &BTreeMap<String, i64>, named: &[(String, HostTensor)]| {
        *judged.borrow_mut() = run_file(path, dims, named, machine);
        Err(RunError::Refused("judged by launches".to_string()))
    };
    run_case(&NODES.folder(), case, &runner);
    judged.into_inner().unwrap_or(Ran::Refused)
}

fn run_file(
    path: &Path,
    dims: &BTreeMap<String, i64>,
    named: &[(String, HostTensor)],
    machine: &Machine,
) -> Option<Ran> {
    let bytes = std::fs::read(path).ok()?;
    let model = Model {
        name: "model".into(),
        bytes: bytes.clone().into(),
        results: vec![],
        checked: false,
        files: &NoFiles,
    };
    let program = model.import(dims).ok()?;
    let given =
        |name: &String| named.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.clone());
    let inputs = program.entry().arg_names.iter().map(given).collect::<Option<Vec<HostTensor>>>()?;
    let sizes = bindings(&program, &inputs).ok()?;
    let known = sizes.0.iter().map(|(name, n)| (name.to_string(), *n));
    let dims = dims.iter().map(|(name, n)| (name.clone(), *n)).chain(known).collect();
    Some(lpu_chip::run(&bytes, dims, machine, &inputs))
}
