//! What launches on streaming chips take: the cycles of their proofs, and the way to the chip and back.

use super::images::{ChipProgram, chip_program, machine_of_image};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_lpu::{Proof, decode, verify};
use tegula_machine::{HostLink, Lpu, Machine};
use tegula_package::{BufferId, ImageId, Package, SizeExpr, Step};

/// What the launches of one kernel take; each takes as long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OnChip {
    pub cycles: u64,
    /// Nanoseconds of the cycles.
    pub chip_ns: f64,
    /// Nanoseconds of transfers, the mean of its launches.
    pub link_ns: f64,
}

impl OnChip {
    pub fn ns(&self) -> f64 {
        self.chip_ns + self.link_ns
    }

    /// What takes most of it.
    pub fn bound(&self) -> &'static str {
        if self.link_ns > self.chip_ns { "link" } else { "cycles" }
    }
}

/// The kernels of a package that run on chips, at sizes that `size` tells.
/// Errors: images that are damaged or not proved, machines that are not known; those of `size`.
pub(crate) fn on_chips(
    package: &Package,
    size: &mut dyn FnMut(&SizeExpr) -> i64,
) -> Result<BTreeMap<u32, OnChip>, Diagnostics> {
    let mut proofs: BTreeMap<ImageId, (Machine, Proof)> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for number in 0..package.program.kernels.len() {
        let Some(ChipProgram { id, image, name }) = chip_program(package, number as u32) else { continue };
        let (machine, proof) = match proofs.entry(id) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(vacant) => {
                let machine = machine_of_image(package, image)?;
                let proof = verify(&decode(package.image_bytes(image))?, &machine)?;
                vacant.insert((machine, proof))
            }
        };
        let program = proof.programs.iter().find(|proof| proof.name == name);
        let (Some(lpu), Some(program)) = (machine.lpu(), program) else {
            return Err(Diagnostic::internal("a kernel of a chip names no program").into());
        };
        let chip_ns = 1e9 * program.cycles as f64 / lpu.clock_hz;
        let link_ns = link_ns(package, number as u32, lpu, size);
        found.insert(number as u32, OnChip { cycles: program.cycles, chip_ns, link_ns });
    }
    Ok(found)
}

/// Mean nanoseconds of transfers around the launch steps of a kernel: those to its device since the launch before, and those
/// from it until the next.
fn link_ns(package: &Package, kernel: u32, lpu: &Lpu, size: &mut dyn FnMut(&SizeExpr) -> i64) -> f64 {
    let program = &package.program;
    let device_of = |buffer: BufferId| program.buffers[buffer.index()].device;
    let own = program.device_of(&program.kernels[kernel as usize]);
    let (mut launches, mut ns) = (0u32, 0.0);
    let (mut before, mut is_own) = (Way::default(), false);
    let mut after = Way::default();
    Step::for_each(&program.steps, 0, &mut |_, step| match step {
        Step::Transfer { src, dst, bytes, .. } => {
            if device_of(*dst) == own {
                before.add(size(bytes));
            } else if device_of(*src) == own && is_own {
                after.add(size(bytes));
            }
        }
        Step::Launch { kernel: launched, .. }
            if program.device_of(&program.kernels[*launched as usize]) == own =>
        {
            ns += std::mem::take(&mut after).ns(&lpu.host);
            let ready = std::mem::take(&mut before);
            is_own = *launched == kernel;
            if is_own {
                launches += 1;
                ns += ready.ns(&lpu.host);
            }
        }
        _ => {}
    });
    ns += after.ns(&lpu.host);
    ns / f64::from(launches.max(1))
}

/// Transfers in one direction, made at once.
#[derive(Default)]
struct Way {
    transfers: u32,
    bytes: i64,
}

impl Way {
    fn add(&mut self, bytes: i64) {
        self.transfers += 1;
        self.bytes += bytes.max(0);
    }

    fn ns(&self, link: &HostLink) -> f64 {
        match self.transfers {
            0 => 0.0,
            _ => 1e9 * (link.latency_seconds + self.bytes as f64 / link.rate),
        }
    }
}
