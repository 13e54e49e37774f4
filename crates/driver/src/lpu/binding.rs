//! What the units of chips do in a run of a package, and which of them hold it back.

use super::images::{ChipProgram, chip_program, machine_of_image};
use crate::forecast::Forecast;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_lpu::decode;
use tegula_package::Package;
use tegula_perf::lpu::{Bound, Busy};
use tegula_target_lpu::bounds::measure;

/// The share of the cycles that a resource is busy for where it binds. Flows wait for one another even where they share time, so
/// it is less than for a core. Source: the check `lpu-what-if`: at 49 % twice as many planes gain most, at 5 % shorter delays do.
const BINDS: f64 = 0.4;

/// All launches on chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnChips {
    pub cycles: u64,
    pub busy: Busy,
}

impl OnChips {
    /// The resource that is busy for most of the cycles. None: flows wait for one another, for the way that vectors take and
    /// the delays of units.
    pub fn binding(&self) -> Option<Bound> {
        let bound = self.busy.bound();
        (bound.cycles as f64 >= BINDS * self.cycles as f64).then_some(bound)
    }

    /// As `rows of planes (88 %)`, or `latency (outward streams 12 %)`.
    pub fn told(&self) -> String {
        let bound = self.busy.bound();
        let share = 100 * bound.cycles / self.cycles.max(1);
        match self.binding() {
            Some(Bound { resource, .. }) => format!("{resource} ({share} %)"),
            None => format!("latency ({} {share} %)", bound.resource),
        }
    }
}

/// None: nothing runs on a chip. Errors: images that are damaged or break the rules of queues, machines that are not known.
pub(crate) fn on_units(package: &Package, forecast: &Forecast) -> Result<Option<OnChips>, Diagnostics> {
    let mut known: BTreeMap<u32, Option<OnChips>> = BTreeMap::new();
    let mut all: Option<OnChips> = None;
    for launch in &forecast.launches {
        let own = match known.entry(launch.kernel) {
            Slot::Occupied(own) => *own.get(),
            Slot::Vacant(vacant) => *vacant.insert(of_kernel(package, launch.kernel)?),
        };
        if let Some(own) = own {
            let all = all.get_or_insert_default();
            all.cycles += own.cycles;
            all.busy = all.busy + own.busy;
        }
    }
    Ok(all)
}

fn of_kernel(package: &Package, kernel: u32) -> Result<Option<OnChips>, Diagnostics> {
    let Some(ChipProgram { image, name, .. }) = chip_program(package, kernel) else { return Ok(None) };
    let machine = machine_of_image(package, image)?;
    let mut image = decode(package.image_bytes(image))?;
    image.programs.retain(|program| program.name == name);
    let lpu = machine.lpu().ok_or_else(|| Diagnostic::internal("an image is of no streaming chip"))?;
    let measured = measure(&image, lpu).map_err(|bad| {
        Diagnostic::error("lpu-image", format!("word {} of {} {}", bad.place, bad.queue, bad.problem.text()))
    })?;
    Ok(Some(OnChips { cycles: measured.cycles, busy: measured.busy }))
}
