//! What each unit does when: bursts of words that work for one value, and which burst reads what another one wrote.
//!
//! Before: a program whose queues keep the rules of queues.  After: for each queue the cycles in which it issues, cut where the
//! value changes or the queue idles; so their lengths add up to the words that it issues.
//! A `fetch` works for the value of the first word that it brings.

use crate::floor::QueueId;
use crate::image::Program;
use crate::issue::{BadQueue, Issue, issues};
use crate::owners::{owners, stored_tag, tag_of};
use crate::tag::Tag;
use crate::word::{EndKind, FETCHED, Word};
use std::collections::BTreeMap;
use tegula_base::{HashMap, HashSet};
use tegula_machine::Lpu;

/// Consecutive cycles in which a queue issues words for one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    pub chip: u16,
    pub queue: QueueId,
    /// From the start of the program on.
    pub first: i64,
    pub cycles: u32,
    /// None: the queue issues fetches alone.
    pub value: Option<u32>,
}

/// A burst reads a vector that another one wrote: its number and the cycle of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: (usize, i64),
    pub to: (usize, i64),
}

/// A program over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bursts {
    /// By phase and trip, then by chip and queue, then by cycle.
    pub list: Vec<Burst>,
    /// One for each value and each other that is made of it: the first time that it is read.
    pub arrows: Vec<Arrow>,
    /// Of the whole program, with a barrier between two trips.
    pub cycles: i64,
}

/// Errors: a queue that does not keep the rules of queues.
pub fn bursts(program: &Program, lpu: &Lpu) -> Result<Bursts, BadQueue> {
    let mut found = Bursts::default();
    let mut written = Written::default();
    let mut start = 0;
    for phase in &program.phases {
        let (issued, cycles) = issues(phase, lpu)?;
        let owners = owners(&issued, lpu);
        for _ in 0..phase.trips {
            found.trip((&issued, &owners), start, &mut written, lpu);
            found.cycles = start + cycles;
            start = found.cycles + i64::from(lpu.barrier);
        }
    }
    Ok(found)
}

/// Who wrote what in memory, and what was read for which value already.
#[derive(Default)]
struct Written {
    by: HashMap<(u16, Tag), (usize, i64)>,
    read: HashSet<(u32, u32)>,
}

impl Bursts {
    fn trip(
        &mut self,
        (issued, owners): (&[Issue], &[Option<u32>]),
        start: i64,
        written: &mut Written,
        lpu: &Lpu,
    ) {
        let mut queues: BTreeMap<(u16, QueueId), Vec<u32>> = BTreeMap::new();
        for (number, issue) in issued.iter().enumerate() {
            queues.entry((issue.chip, issue.queue)).or_default().push(number as u32);
        }
        let mut burst_of = vec![0; issued.len()];
        for ((chip, queue), own) in queues {
            let values = values(&own, issued, owners, lpu);
            for (number, value) in own.into_iter().zip(values) {
                let first = start + issued[number as usize].cycle;
                match self.list.last_mut().filter(|last| last.goes_on(chip, queue, first, value)) {
                    Some(last) => last.cycles += 1,
                    None => self.list.push(Burst { chip, queue, first, cycles: 1, value }),
                }
                burst_of[number as usize] = self.list.len() - 1;
            }
        }
        for (number, issue) in issued.iter().enumerate() {
            let own = (burst_of[number], start + issue.cycle);
            let read = tag_of(issue, lpu, |kind| matches!(kind, EndKind::Drive(..)));
            let from_memory = matches!(issue.word, Word::Mem { read: Some(_), .. } | Word::Gather { .. });
            if let (Some(tag), Some(value)) = (read.filter(|_| from_memory), owners[number])
                && tag.value != value
                && let Some(from) = written.by.get(&(issue.chip, tag))
                && written.read.insert((tag.value, value))
            {
                self.arrows.push(Arrow { from: *from, to: own });
            }
            if let Some(tag) = stored_tag(issue, lpu) {
                written.by.insert((issue.chip, tag), own);
            }
        }
    }
}

impl Burst {
    fn goes_on(&self, chip: u16, queue: QueueId, cycle: i64, value: Option<u32>) -> bool {
        (self.chip, self.queue, self.value) == (chip, queue, value)
            && self.first + i64::from(self.cycles) == cycle
    }
}

/// The value of each issue of a queue. The words of a queue's start are there; each `fetch` brings those behind.
fn values(own: &[u32], issued: &[Issue], owners: &[Option<u32>], lpu: &Lpu) -> Vec<Option<u32>> {
    let is_fetch = |number: u32| matches!(issued[number as usize].word, Word::Fetch { .. });
    let words: Vec<u32> = own.iter().copied().filter(|number| !is_fetch(*number)).collect();
    let mut brought = lpu.queue_words;
    let value = |number: u32| {
        if !is_fetch(number) {
            return owners[number as usize];
        }
        let at = words.partition_point(|word| issued[*word as usize].place < brought);
        brought += FETCHED;
        let word = words.get(at).or(words.last())?;
        owners[*word as usize]
    };
    own.iter().copied().map(value).collect()
}
