//! The simulator of streaming chips, as a device of sessions.
//!
//! Before: images whose inputs and outputs are a launch's buffers in their order, of as many bytes.  After: each image is
//! proved when it is loaded, and each run takes the cycles of its proof.

use super::ISA;
use crate::target::machine_of_id;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_lpu::{BindingKind, Proof, decode, verify};
use tegula_machine::Machine;
use tegula_package::Entry;
use tegula_runtime::{Device, DeviceBuffer, DeviceCode, DeviceKernel, DeviceLaunch, Loaded, PlainMemory};
use tegula_sim_lpu::Rack;

/// See the top of this file.
pub struct SimulatedLpu;

impl Device for SimulatedLpu {
    fn isa(&self) -> &str {
        ISA
    }

    /// Each image is put on chips of its own; the programs over one image share its SRAM.
    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        let machine = machine_of_id(code.machine)?;
        let mut chips = BTreeMap::new();
        let mut kernels = Vec::new();
        for kernel in &code.kernels {
            let loaded = match chips.get(&kernel.image) {
                Some(known) => Arc::clone(known),
                None => {
                    let loaded = Arc::new(Chips::load(kernel.bytes, &machine)?);
                    chips.insert(kernel.image, Arc::clone(&loaded));
                    loaded
                }
            };
            let Entry::Name(program) = kernel.entry else {
                return Err(
                    Diagnostic::error("package-invalid", "a kernel of a chip names no program").into()
                );
            };
            let proof = loaded.proof.programs.iter().find(|proof| proof.name == *program);
            let Some(proof) = proof else {
                let message = format!("the image has no program {program:?}, which the package starts");
                return Err(Diagnostic::error("lpu-image", message).into());
            };
            let (program, cycles) = (program.clone(), proof.cycles);
            let kernel: Arc<dyn DeviceKernel> = Arc::new(Run { chips: loaded, program, cycles });
            kernels.push(kernel);
        }
        Ok(Loaded::new(Arc::new(PlainMemory), kernels))
    }
}

/// Chips with an image that is proved.
struct Chips {
    rack: Mutex<Rack>,
    proof: Proof,
}

impl Chips {
    fn load(bytes: &[u8], machine: &Machine) -> Result<Chips, Diagnostics> {
        let image = decode(bytes)?;
        let proof = verify(&image, machine)?;
        Ok(Chips { rack: Mutex::new(Rack::load(image, machine)?), proof })
    }
}

/// A program of an image.
struct Run {
    chips: Arc<Chips>,
    program: String,
    /// Of its proof.
    cycles: u64,
}

impl DeviceKernel for Run {
    fn run(&self, launch: &DeviceLaunch<'_>) -> Result<(), String> {
        // A panic in another run left no half of a vector.
        let mut rack = self.chips.rack.lock().unwrap_or_else(PoisonError::into_inner);
        let names = |kind| -> Vec<(String, usize)> {
            rack.bindings(kind).map(|(name, bytes)| (name.to_string(), bytes)).collect()
        };
        let (inputs, outputs) = (names(BindingKind::Input), names(BindingKind::Output));
        let (buffers, tensors) = (launch.buffers.len(), inputs.len() + outputs.len());
        if buffers != tensors {
            return Err(format!("the launch has {buffers} buffers, its image {tensors} tensors"));
        }
        let (given, taken) = launch.buffers.split_at(inputs.len());
        check_sizes("input", &inputs, given)?;
        check_sizes("output", &outputs, taken)?;
        let tensors = given.iter().map(|buffer| buffer.read()).collect::<Result<Vec<_>, String>>()?;
        let names = inputs.into_iter().map(|(name, _)| name);
        let tensors = names.zip(tensors.iter().map(Vec::as_slice)).collect();
        let outcome = rack.run(&self.program, &tensors).map_err(|error| error.message)?;
        if i128::from(outcome.cycles) != i128::from(self.cycles) {
            return Err(format!("the run took {} cycles, its proof has {}", outcome.cycles, self.cycles));
        }
        outputs.iter().zip(taken).try_for_each(|((name, _), buffer)| buffer.write(&outcome.outputs[name]))
    }
}

/// Errors: a buffer that is no tensor of the image.
fn check_sizes(what: &str, tensors: &[(String, usize)], buffers: &[DeviceBuffer<'_>]) -> Result<(), String> {
    let other = tensors.iter().zip(buffers).find(|((_, bytes), buffer)| buffer.len() != *bytes);
    match other {
        None => Ok(()),
        Some(((name, bytes), buffer)) => {
            Err(format!("{what} `{name}` of the image has {bytes} bytes, its buffer {}", buffer.len()))
        }
    }
}
