//! Who runs kernels, as `--target` and `--machine` say.

use crate::args::CompileOptions as Args;
use crate::failure::Failure;
use tegula::device::{Target, machine_of};
use tegula::{Hardware, Machine};
use tegula_driver::Form;

/// A streaming chip is simulated where nothing is said: there is no other that runs it.
fn target(args: &Args) -> Result<Target, Failure> {
    let given = args.target.machine.as_deref().map(machine_of).transpose()?;
    Ok(match (args.target.target, given) {
        (Some(target), _) => target,
        (None, Some(machine)) if machine.lpu().is_some() => Target::SimLpu,
        (None, _) => Target::default(),
    })
}

/// What `--target` names. Errors: `no-device`.
pub fn hardware(args: &Args) -> Result<Hardware, Failure> {
    Ok(target(args)?.hardware()?)
}

/// The machine to compile for, and the form of its kernels.
/// Errors: no such machine; one that `--target` does not run; no card to choose it by.
pub fn machine(args: &Args) -> Result<(Machine, Form), Failure> {
    let given = args.target.machine.as_deref().map(machine_of).transpose()?;
    Ok(target(args)?.machine(given)?)
}

/// Errors: code for a GPU or a streaming chip is to run, and neither one nor a simulator is named.
pub fn check_device(args: &Args) -> Result<(), Failure> {
    Ok(target(args)?.check_runs(&machine(args)?.0)?)
}
