//! Launches on streaming chips as bars: a process for each chip, a thread for each unit, a bar for each burst of words.
//!
//! Before: a package, and a profile of one run.  After: events whose lengths add up, for each unit, to the words that it issued.
//! A microsecond of the trace is a cycle. Launches follow one another; time between them is left out.

use super::images::{ChipProgram, chip_program, machine_of_image};
use crate::trace::{Point, TraceEvent};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_lpu::{Burst, Bursts, Image, QueueId, bursts, decode};
use tegula_package::Package;
use tegula_runtime::RunProfile;

/// The number of the first chip's process: the processor has the one before.
const FIRST_PROCESS: u32 = 2;

/// The bars of all launches of a run on chips, none without any.
/// Errors: images that are damaged or break the rules of queues, machines that are not known.
pub(crate) fn timeline(package: &Package, run: &RunProfile) -> Result<Vec<TraceEvent>, Diagnostics> {
    let mut known: BTreeMap<u32, Option<Known>> = BTreeMap::new();
    let mut chips = Chips::default();
    for launch in &run.launches {
        let kernel = match known.entry(launch.kernel) {
            Slot::Occupied(kernel) => kernel.into_mut(),
            Slot::Vacant(vacant) => vacant.insert(Known::of(package, launch.kernel)?),
        };
        if let Some(kernel) = kernel {
            chips.launch(kernel, &package.program.kernels[launch.kernel as usize].name);
        }
    }
    Ok(chips.events)
}

/// A kernel of a chip.
struct Known {
    device: String,
    /// The threads of its units, from 1 on.
    threads: BTreeMap<QueueId, u32>,
    image: Image,
    bursts: Bursts,
}

impl Known {
    fn of(package: &Package, kernel: u32) -> Result<Option<Known>, Diagnostics> {
        let Some(ChipProgram { image: stored, name, .. }) = chip_program(package, kernel) else {
            return Ok(None);
        };
        let (machine, image) = (machine_of_image(package, stored)?, decode(package.image_bytes(stored))?);
        let program = image.programs.iter().find(|own| own.name == name);
        let (Some(lpu), Some(program)) = (machine.lpu(), program) else {
            return Err(Diagnostic::internal("a kernel of a chip names no program").into());
        };
        let bursts = bursts(program, lpu).map_err(|bad| {
            let (queue, place, problem) = (bad.queue, bad.place, bad.problem.text());
            Diagnostic::error("lpu-image", format!("word {place} of {queue} {problem}"))
        })?;
        let device = package.manifest.about.device_name(stored.device);
        let threads = QueueId::all(lpu).into_iter().zip(1..).collect();
        Ok(Some(Known { device, threads, image, bursts }))
    }
}

/// All chips as launches pass over them.
#[derive(Default)]
struct Chips {
    events: Vec<TraceEvent>,
    /// The process of each device's chips.
    processes: BTreeMap<(String, u16), u32>,
    /// The cycle at which the next launch on a device starts.
    starts: BTreeMap<String, i64>,
    arrows: u64,
}

impl Chips {
    fn launch(&mut self, kernel: &Known, name: &str) {
        let start = self.starts.get(&kernel.device).copied().unwrap_or(0);
        for burst in &kernel.bursts.list {
            let at = self.point(kernel, burst, start + burst.first);
            let value = burst.value.and_then(|value| kernel.image.values.get(value as usize));
            let (flow, node) = match (burst.value, value) {
                (Some(number), Some(value)) => (format!("%{number} {}", value.name), value.node.as_str()),
                _ => ("text".to_string(), ""),
            };
            let node = if node.is_empty() { name } else { node };
            self.events.push(TraceEvent::Bar {
                name: flow.clone(),
                category: unit(burst.queue),
                at,
                duration_us: f64::from(burst.cycles),
                args: vec![
                    ("flow".into(), flow),
                    ("node".into(), node.to_string()),
                    ("launch".into(), name.to_string()),
                ],
            });
        }
        for arrow in &kernel.bursts.arrows {
            let [from, to] = [arrow.from, arrow.to]
                .map(|(burst, cycle)| self.point(kernel, &kernel.bursts.list[burst], start + cycle));
            self.arrows += 1;
            self.events.push(TraceEvent::Arrow { id: self.arrows, from, to });
        }
        self.starts.insert(kernel.device.clone(), start + kernel.bursts.cycles);
    }

    fn point(&mut self, kernel: &Known, burst: &Burst, cycle: i64) -> Point {
        let thread = kernel.threads.get(&burst.queue).copied().unwrap_or(0);
        Point { process: self.process(kernel, burst.chip), thread, us: cycle as f64 }
    }

    /// The process of a chip; a new one and its units are named first.
    fn process(&mut self, kernel: &Known, chip: u16) -> u32 {
        let key = (kernel.device.clone(), chip);
        if let Some(known) = self.processes.get(&key) {
            return *known;
        }
        let process = FIRST_PROCESS + self.processes.len() as u32;
        self.processes.insert(key, process);
        let name = format!("chip {chip} of {}, a cycle is 1 us", kernel.device);
        self.events.push(TraceEvent::Name { process, thread: None, name });
        for (queue, thread) in &kernel.threads {
            let name = queue.to_string();
            self.events.push(TraceEvent::Name { process, thread: Some(*thread), name });
        }
        process
    }
}

/// What a queue works on, as bars are coloured.
fn unit(queue: QueueId) -> &'static str {
    match queue {
        QueueId::Mem { .. } => "ports",
        QueueId::Weights { .. } => "loads",
        QueueId::Rows { .. } => "rows",
        QueueId::Sums { .. } => "sums",
        QueueId::Alu(_) => "ALUs",
        QueueId::Sxm { .. } => "shifters",
    }
}
