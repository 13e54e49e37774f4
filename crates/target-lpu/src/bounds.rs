//! What an image keeps busy, and the fewest cycles that its work could take: each resource's work, spread evenly over its units.
//!
//! Before: an image whose queues keep the rules of queues.  After: its cycles, as its proof has them, beside its busy cycles.
//! Method: issues are counted by unit. An outward stream is busy for each vector that a unit senses from it, however many
//! units do.

use std::fmt;
use tegula_isa_lpu::issue::{BadQueue, Issue, issues};
use tegula_isa_lpu::word::{EndKind, Factors};
use tegula_isa_lpu::{Direction, Image, Stream, Word};
use tegula_machine::Lpu;
use tegula_perf::lpu::Busy;

/// An image in numbers, each program run once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Of all phases and trips, with a barrier between one and the next.
    pub cycles: u64,
    pub busy: Busy,
}

/// As `5210 cycles: 5.11 times the bound of 1020 by rows of planes`.
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = self.busy.bound();
        let ratio = self.cycles as f64 / bound.cycles.max(1) as f64;
        write!(
            f,
            "{} cycles: {ratio:.2} times the bound of {} by {}",
            self.cycles, bound.cycles, bound.resource
        )
    }
}

/// Errors: a queue that does not keep the rules of queues.
pub fn measure(image: &Image, lpu: &Lpu) -> Result<Measured, BadQueue> {
    let mut work = Work::default();
    let mut cycles = 0u64;
    for program in &image.programs {
        let mut trips = 0u64;
        for phase in &program.phases {
            let (issues, end) = issues(phase, lpu)?;
            let count = u64::from(phase.trips);
            work.add(&issues, count, lpu);
            cycles = cycles.saturating_add(count.saturating_mul(end.unsigned_abs()));
            trips += count;
        }
        cycles = cycles.saturating_add(trips.saturating_sub(1).saturating_mul(u64::from(lpu.barrier)));
    }
    Ok(Measured { cycles, busy: work.spread(image.chips.len().max(1) as u64, lpu) })
}

/// Cycles of all units of a kind.
#[derive(Default)]
struct Work {
    outward: u64,
    loads: u64,
    rows: u64,
    sums: u64,
    alus: u64,
    /// Those that only the large ALUs can do.
    large_alus: u64,
    ports: u64,
}

impl Work {
    fn add(&mut self, issues: &[Issue], trips: u64, lpu: &Lpu) {
        let mut cells = Vec::new();
        for issue in issues {
            match issue.word {
                Word::LoadWeights { .. } => self.loads += trips,
                // 16-bit factors take two planes.
                Word::Multiply { factors: Factors::F16, .. } => self.rows += 2 * trips,
                Word::Multiply { .. } => self.rows += trips,
                Word::Accumulate { .. } => self.sums += trips,
                Word::Alu(alu) => {
                    self.alus += trips;
                    self.large_alus += if alu.op.is_large() { trips } else { 0 };
                }
                Word::Mem { read, write } => {
                    let ports = u64::from(read.is_some()) + u64::from(write.is_some());
                    self.ports += ports * trips;
                }
                Word::Gather { .. } | Word::Scatter { .. } => self.ports += trips,
                Word::Nop { .. }
                | Word::Repeat { .. }
                | Word::Sync
                | Word::Notify
                | Word::Fetch { .. }
                | Word::Halt
                | Word::InstallWeights
                | Word::Shift { .. }
                | Word::Permute { .. }
                | Word::Broadcast { .. }
                | Word::Transpose { .. }
                | Word::Blend { .. }
                | Word::Send { .. }
                | Word::Receive { .. } => {}
            }
            cells.extend(outward(issue, lpu));
        }
        cells.sort_unstable();
        cells.dedup();
        self.outward += cells.len() as u64 * trips;
    }

    fn spread(&self, chips: u64, lpu: &Lpu) -> Busy {
        let over = |work: u64, units: u32| work.div_ceil((u64::from(units) * chips).max(1));
        let planes = 2 * lpu.mxm.planes;
        Busy {
            // Those to the east in the eastern half, those to the west in the western one.
            outward: over(self.outward, lpu.streams_east + lpu.streams_west),
            loads: over(self.loads, planes),
            rows: over(self.rows, planes),
            sums: over(self.sums, planes),
            alus: over(self.alus, lpu.vxm.alus).max(over(self.large_alus, lpu.vxm.large)),
            ports: over(self.ports, 2 * lpu.mem.slices * lpu.mem.banks),
        }
    }
}

/// The vectors that a word senses on their way outwards: chip, stream and diagonal.
fn outward(issue: &Issue, lpu: &Lpu) -> impl Iterator<Item = (u16, Stream, i64)> {
    let position = issue.queue.position(lpu);
    let flows_out = move |stream: Stream| match stream.direction {
        Direction::East => position > 0,
        Direction::West => position < 0,
    };
    let (chip, cycle, hop) = (issue.chip, issue.cycle, lpu.hop);
    let sensed = issue.word.ends(lpu).into_iter().filter_map(move |end| match end.kind {
        EndKind::Sense(stream) if flows_out(stream) => Some((stream, end.count)),
        _ => None,
    });
    sensed
        .flat_map(move |(first, count)| (0..count).map(move |n| first.plus(n)))
        .map(move |stream| (chip, stream, stream.diagonal(position, cycle, hop)))
}
