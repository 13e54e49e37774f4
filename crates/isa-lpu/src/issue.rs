//! When words issue: a queue issues one a cycle, in order, and waits only at `sync`.
//!
//! Before: the queues of a phase.  After: every issue with its cycle, repeats written out, in the order of cycle and queue.

use crate::floor::QueueId;
use crate::image::{Phase, Queue};
use crate::tag::Tags;
use crate::word::Word;
use tegula_machine::Lpu;

/// A word in the cycle that it issues in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub cycle: i64,
    pub chip: u16,
    pub queue: QueueId,
    /// The word's place in its queue; of repeats, that of the word repeated.
    pub place: u32,
    pub word: Word,
    pub tags: Tags,
}

/// The issues of a phase beside its last cycle plus 1.
pub type Timed = (Vec<Issue>, i64);

/// What is wrong with a queue, and the word's place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadQueue {
    pub chip: u16,
    pub queue: QueueId,
    pub place: u32,
    pub problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing stands before it that could be repeated.
    RepeatsNothing,
    /// An address steps out of 16 bits.
    Address,
    /// Two queues of a chip notify, or none does while one waits.
    Notify,
    /// It waits after the barrier has passed.
    LateSync,
    NoHalt,
    AfterHalt,
    /// More issues than [`MOST_ISSUES`].
    TooLong,
}

impl Problem {
    pub fn text(self) -> &'static str {
        match self {
            Problem::RepeatsNothing => "repeats nothing",
            Problem::Address => "steps to an address that no word has",
            Problem::Notify => "waits for a `notify` that does not come once",
            Problem::LateSync => "waits after the barrier has passed",
            Problem::NoHalt => "does not end with `halt`",
            Problem::AfterHalt => "stands behind `halt`",
            Problem::TooLong => "makes the phase longer than 16777216 issues",
        }
    }
}

/// Issues of a phase that are followed at most. Each takes about 100 bytes here, and as many again in a proof, so that this
/// many fit a small computer. A step of a decoder of 30 layers has about 40,000 cycles, in which `tsp1` can issue 6 million
/// words at the very most.
pub const MOST_ISSUES: u64 = 1 << 24;

/// One queue on its way.
struct Walk<'a> {
    words: &'a [Word],
    tags: &'a [Tags],
    chip: u16,
    queue: QueueId,
    place: usize,
    cycle: i64,
    /// The last word that can be repeated, as it issued last.
    last: Option<Issue>,
    halted: bool,
}

/// Where a walk stopped.
enum Stop {
    Sync(i64),
    Halt,
}

/// All issues of a phase. Errors: a queue that does not keep the rules of queues; more issues than [`MOST_ISSUES`].
pub fn issues(phase: &Phase, lpu: &Lpu) -> Result<Timed, BadQueue> {
    check_count(phase)?;
    let mut walks: Vec<Walk> = phase
        .queues
        .iter()
        .map(|queue| Walk {
            words: &queue.words,
            tags: &queue.tags,
            chip: queue.chip,
            queue: queue.id,
            place: 0,
            cycle: 0,
            last: None,
            halted: false,
        })
        .collect();
    let mut found = Vec::new();
    // Each round walks all queues to their next `sync`, and releases those that wait.
    loop {
        let mut notified: Vec<(u16, i64)> = Vec::new();
        let mut waiting = Vec::new();
        for (index, walk) in walks.iter_mut().enumerate().filter(|(_, walk)| !walk.halted) {
            match walk.run(&mut found, &mut notified)? {
                Stop::Sync(cycle) => waiting.push((index, cycle)),
                Stop::Halt => walk.halted = true,
            }
        }
        if waiting.is_empty() {
            break;
        }
        for (index, since) in waiting {
            let walk = &mut walks[index];
            let mut own = notified.iter().filter(|(chip, _)| *chip == walk.chip);
            let (Some((_, cycle)), None) = (own.next(), own.next()) else {
                return Err(walk.bad(Problem::Notify));
            };
            let release = cycle + i64::from(lpu.barrier);
            if since >= release {
                return Err(walk.bad(Problem::LateSync));
            }
            walk.cycle = release;
            walk.place += 1;
        }
    }
    found.sort_by_key(|issue| (issue.cycle, issue.chip, issue.queue));
    let end = found.last().map_or(0, |issue| issue.cycle + 1);
    Ok((found, end))
}

/// A few words can repeat without end, so they are counted before any is written out. Errors: the word that is too much.
fn check_count(phase: &Phase) -> Result<(), BadQueue> {
    let mut count = 0u64;
    for queue in &phase.queues {
        for (place, word) in queue.words.iter().enumerate() {
            count += match word {
                Word::Repeat { count, .. } => u64::from(*count),
                _ => 1,
            };
            if count > MOST_ISSUES {
                let Queue { chip, id, .. } = *queue;
                let place = place as u32;
                return Err(BadQueue { chip, queue: id, place, problem: Problem::TooLong });
            }
        }
    }
    Ok(())
}

impl Walk<'_> {
    fn bad(&self, problem: Problem) -> BadQueue {
        BadQueue { chip: self.chip, queue: self.queue, place: self.place as u32, problem }
    }

    fn run(&mut self, found: &mut Vec<Issue>, notified: &mut Vec<(u16, i64)>) -> Result<Stop, BadQueue> {
        loop {
            let Some(word) = self.words.get(self.place).copied() else {
                return Err(self.bad(Problem::NoHalt));
            };
            match word {
                Word::Sync => return Ok(Stop::Sync(self.cycle)),
                Word::Halt if self.place + 1 < self.words.len() => {
                    self.place += 1;
                    return Err(self.bad(Problem::AfterHalt));
                }
                Word::Halt => return Ok(Stop::Halt),
                Word::Nop { cycles } => self.cycle += i64::from(cycles),
                Word::Notify => {
                    notified.push((self.chip, self.cycle));
                    self.cycle += 1;
                }
                Word::Repeat { count, gap, strides } => self.repeat(count, gap, strides, found)?,
                Word::Fetch { .. }
                | Word::Mem { .. }
                | Word::Gather { .. }
                | Word::Scatter { .. }
                | Word::LoadWeights { .. }
                | Word::InstallWeights
                | Word::Multiply { .. }
                | Word::Accumulate { .. }
                | Word::Alu(_)
                | Word::Shift { .. }
                | Word::Permute { .. }
                | Word::Broadcast { .. }
                | Word::Transpose { .. }
                | Word::Blend { .. }
                | Word::Send { .. }
                | Word::Receive { .. } => {
                    let issue = Issue {
                        cycle: self.cycle,
                        chip: self.chip,
                        queue: self.queue,
                        place: self.place as u32,
                        word,
                        tags: self.tags.get(self.place).cloned().unwrap_or_default(),
                    };
                    found.push(issue.clone());
                    self.last = Some(issue);
                    self.cycle += 1;
                }
            }
            self.place += 1;
        }
    }

    fn repeat(
        &mut self,
        count: u16,
        gap: u16,
        strides: [i16; 3],
        found: &mut Vec<Issue>,
    ) -> Result<(), BadQueue> {
        let steps = self.tags.get(self.place).cloned().unwrap_or_default();
        let Some(mut issue) = self.last.take() else { return Err(self.bad(Problem::RepeatsNothing)) };
        for _ in 0..count {
            self.cycle += i64::from(gap);
            issue.cycle = self.cycle;
            for (address, stride) in issue.word.addresses().into_iter().zip(strides) {
                *address = address.checked_add_signed(stride).ok_or_else(|| self.bad(Problem::Address))?;
            }
            for (tag, step) in issue.tags.iter_mut().zip(&steps) {
                tag.step(*step);
            }
            found.push(issue.clone());
            self.cycle += 1;
        }
        self.last = Some(issue);
        Ok(())
    }
}
