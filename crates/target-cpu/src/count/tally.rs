//! How many instructions a call executes, and how many bytes they read and write.

use super::{Call, Observer, Program};
use tegula_base::Diagnostic;
use tegula_perf::cpu::sampler::Access;

/// Sums over a call. Lanes that a mask turns off count as read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub instructions: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Calls of the function table, whose own instructions are not counted.
    pub calls: u64,
}

/// Blocks of a call that are counted at most.
const MOST_BLOCKS: u64 = 1 << 40;

/// Counts a call.
/// Errors: internal, where the code does not end.
pub fn tally(program: &Program, call: &Call) -> Result<Tally, Diagnostic> {
    let mut counter =
        Counter { of_block: program.blocks.iter().map(Counted::of).collect(), sum: Tally::default() };
    program.run(call, &mut counter, MOST_BLOCKS)?;
    Ok(counter.sum)
}

struct Counter {
    of_block: Vec<Counted>,
    sum: Tally,
}

/// Per block: instructions, and of each access whether it writes.
struct Counted {
    instructions: u64,
    calls: u64,
    writes: Vec<bool>,
}

impl Counted {
    fn of(block: &super::Block) -> Counted {
        let writes = |inst: &tegula_perf::cpu::Inst| {
            std::iter::repeat_n(inst.stores, usize::from(inst.accesses)).collect::<Vec<bool>>()
        };
        Counted {
            instructions: block.insts.len() as u64,
            calls: block.insts.iter().filter(|inst| inst.unit == tegula_perf::cpu::Unit::Call).count() as u64,
            writes: block.insts.iter().flat_map(writes).collect(),
        }
    }
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.instructions += other.instructions;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
        self.calls += other.calls;
    }
}

impl Observer for Counter {
    fn block(&mut self, block: usize, accesses: &[Access], _way: usize, _taken: bool) -> bool {
        let counted = &self.of_block[block];
        self.sum.instructions += counted.instructions;
        self.sum.calls += counted.calls;
        for (access, writes) in accesses.iter().zip(&counted.writes) {
            match (access.prefetch, writes) {
                (true, _) => {}
                (_, true) => self.sum.bytes_written += u64::from(access.bytes),
                (_, false) => self.sum.bytes_read += u64::from(access.bytes),
            }
        }
        true
    }
}
