//! What each launch of a run should take on one core, from the launch's own machine code.
//!
//! Before: a package, and a profile of one run of it, whose argument blocks say sizes and addresses.
//! After: time and bound of each launch of machine code, as if the run were one of many: caches hold what the run
//! before left there.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use tegula_base::Diagnostic;
use tegula_base::units::Nanoseconds;
use tegula_machine::{Core, Cpu};
use tegula_package::{Arg, CodeKind, Entry, ImageId, KernelCode, Package, Place, SizeExpr, Step};
use tegula_perf::Bound;
use tegula_perf::cpu::sampler::Access;
use tegula_perf::cpu::{Caches, Sampler, Timed};
use tegula_runtime::{LaunchTime, RunProfile};
use tegula_target_cpu::count::{Call, Observer, Program, Tally, tally};

/// Where a thread's scratch memory is taken to be.
const SCRATCH: u64 = 0x6000_0000_0000;
/// Where the first buffer of a package that is not run is taken to be.
const FIRST_BUFFER: u64 = 0x4000_0000_0000;
/// Blocks of a launch that are run at most.
const MOST_BLOCKS: u64 = 1 << 36;
/// The share of the time that something must be busy to be what holds a launch back.
const HOLDS: f64 = 0.55;

/// What a launch should take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub time: Nanoseconds,
    pub bound: Bound,
    pub timed: Timed,
}

/// The programs of a package's kernels, read once each.
#[derive(Default)]
pub struct Programs {
    /// By image and offset.
    known: HashMap<(ImageId, u64), Program>,
}

impl Programs {
    /// The code of a kernel; none where it is no machine code.
    /// Errors: internal, code that kernels do not have, or that the package's machine does not run.
    pub fn of(&mut self, package: &Package, kernel: u32) -> Result<Option<&Program>, Diagnostic> {
        let code = &package.program.kernels[kernel as usize].code;
        let place = match code {
            KernelCode::Image { image, entry: Entry::Range { offset, .. } } => (*image, *offset),
            _ => return Ok(None),
        };
        if package.program.code_kind(code) != CodeKind::Machine {
            return Ok(None);
        }
        let vacant = match self.known.entry(place) {
            Slot::Occupied(known) => return Ok(Some(known.into_mut())),
            Slot::Vacant(vacant) => vacant,
        };
        let program = Program::decode(package.kernel_code(code))?;
        let machine = &package.manifest.about.machine;
        if let Some(missing) = program.features.iter().find(|feature| !machine.has(feature)) {
            let name = &package.program.kernels[kernel as usize].name;
            return Err(Diagnostic::internal(format!(
                "kernel `{name}` uses {missing}, which machine class {} lacks",
                machine.class
            )));
        }
        Ok(Some(vacant.insert(program)))
    }
}

/// Predicts each launch of a profile; none where a launch is no machine code.
/// Errors: internal, code that kernels do not have.
pub fn predict(
    package: &Package,
    profile: &RunProfile,
    cpu: &Cpu,
    core: &Core,
) -> Result<Vec<Option<Prediction>>, Diagnostic> {
    let mut programs = Programs::default();
    let mut caches = Caches::new(cpu, core);
    let mut predictions = Vec::new();
    // The first turn fills the caches.
    for timed in [false, true] {
        predictions.clear();
        for launch in &profile.launches {
            predictions.push(match programs.of(package, launch.kernel)? {
                None => None,
                Some(program) => Some(of_launch(program, launch, core, &mut caches, timed)?),
            });
        }
    }
    Ok(predictions)
}

/// Instructions and bytes of a launch on one thread; none where it is no machine code.
/// Errors: as [`predict`].
pub fn count(
    programs: &mut Programs,
    package: &Package,
    launch: &LaunchTime,
) -> Result<Option<Tally>, Diagnostic> {
    let Some(program) = programs.of(package, launch.kernel)? else { return Ok(None) };
    let mut sum = Tally::default();
    for call in calls(launch) {
        sum.add(&tally(program, &call)?);
    }
    Ok(Some(sum))
}

/// The launches of a package whose sizes are constant and whose steps stand in a row, without running it: buffers lie
/// one behind the other at addresses that are made up.
/// Errors: `not-counted`, sizes or steps that only a run knows.
pub fn planned(package: &Package) -> Result<Vec<LaunchTime>, Diagnostic> {
    let refused = |what: &str| Diagnostic::error("not-counted", format!("{what} is known to a run only"));
    let mut found = Ok(());
    Step::for_each(&package.program.steps, 0, &mut |_, step| {
        if matches!(step, Step::If { .. } | Step::Loop { .. } | Step::Fork { .. }) {
            found = Err(refused("which steps run"));
        }
    });
    found?;
    launches_at(package, &mut |size| size.as_const().ok_or_else(|| refused(&format!("the size `{size}`"))))
}

/// The launch steps of a package in program order, those of branches and loops once, at sizes that `size` tells; buffers
/// lie one behind the other at addresses that are made up. Errors: those of `size`.
pub(crate) fn launches_at(
    package: &Package,
    size: &mut dyn FnMut(&SizeExpr) -> Result<i64, Diagnostic>,
) -> Result<Vec<LaunchTime>, Diagnostic> {
    let program = &package.program;
    let mut place = FIRST_BUFFER;
    let mut addresses = Vec::with_capacity(program.buffers.len());
    for buffer in &program.buffers {
        addresses.push(match &buffer.place {
            Place::Alias { of, offset } => addresses[of.index()] + size(offset)? as u64,
            _ => place,
        });
        place += (size(&buffer.bytes)?.max(0) as u64).next_multiple_of(64);
    }
    let mut steps = Vec::new();
    Step::for_each(&program.steps, 0, &mut |_, step| steps.push(step));
    let mut launches = Vec::new();
    for step in steps {
        let Step::Launch { kernel, args, grid } = step else { continue };
        let mut words = vec![0];
        for arg in args {
            words.push(match arg {
                Arg::Buffer(id) => addresses[id.index()],
                Arg::Size(dim) => size(dim)? as u64,
            });
        }
        let grid = size(grid)?.max(0) as u64;
        let (kernel, threads, falling_parts) = (*kernel, 1, 0);
        launches.push(LaunchTime { kernel, start_ns: 0, ns: 0, grid, threads, words, falling_parts });
    }
    Ok(launches)
}

fn calls(launch: &LaunchTime) -> impl Iterator<Item = Call<'_>> {
    let parts = launch.falling_parts.max(1);
    let bound = move |part: u64| launch.grid * part / parts;
    (0..parts).rev().map(move |part| Call {
        words: &launch.words,
        scratch: SCRATCH,
        begin: bound(part),
        end: bound(part + 1),
    })
}

fn of_launch(
    program: &Program,
    launch: &LaunchTime,
    core: &Core,
    caches: &mut Caches,
    timed: bool,
) -> Result<Prediction, Diagnostic> {
    let sampler = Sampler::new(core, caches, program.blocks.len(), program.accesses, timed);
    let mut timing = Timing { program, sampler };
    for call in calls(launch) {
        program.run(&call, &mut timing, MOST_BLOCKS)?;
    }
    let timed = timing.sampler.finish();
    let work = 1e9 * timed.cycles / core.clock_hz;
    let bound = if core.launch.0 > work { Bound::Launch } else { bound(&timed) };
    Ok(Prediction { time: Nanoseconds(work + core.launch.0), bound, timed })
}

/// The part that was busy for most of the time; none was where instructions waited for one another.
fn bound(timed: &Timed) -> Bound {
    let busy = &timed.busy;
    let parts = [
        (busy.arithmetic.max(busy.front), Bound::Compute),
        (busy.l1, Bound::L1),
        (busy.l2, Bound::L2),
        (busy.l3, Bound::L3),
        (busy.dram, Bound::Dram),
    ];
    let busiest = parts.into_iter().fold((0.0, Bound::Latency), |a, b| if b.0 > a.0 { b } else { a });
    if busiest.0 >= HOLDS * timed.cycles { busiest.1 } else { Bound::Latency }
}

struct Timing<'a, 'b> {
    program: &'b Program,
    sampler: Sampler<'a>,
}

impl Observer for Timing<'_, '_> {
    fn block(&mut self, block: usize, accesses: &[Access], way: usize, taken: bool) -> bool {
        let known = &self.program.blocks[block];
        self.sampler.block(block, &known.insts, known.first_access, accesses, way, taken);
        true
    }
}
