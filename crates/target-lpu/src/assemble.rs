//! The words of a phase's queues: events in order, with idling between them, and repeats where a word comes again.
//!
//! A queue starts with as many words as it holds. Those behind them come by `fetch`, which issues where the queue is idle: not
//! before there is room for what it brings, and not after the words before it have run out.

use crate::phases::RunsDry;
use crate::schedule::Event;
use std::collections::BTreeSet;
use tegula_isa_lpu::word::FETCHED;
use tegula_isa_lpu::{Half, Phase, Queue, QueueId, Tag, Tags, Word};
use tegula_machine::Lpu;

/// Where the text of fetches lies, and the cycles in which the path of a half is taken.
pub(crate) struct Text {
    /// First words of places that hold what one `fetch` brings, of each half.
    free: [Vec<Place>; 2],
    taken: BTreeSet<(Half, i64)>,
    /// Places of the phase at hand, and of those before.
    own: Vec<(Half, Place)>,
    used: Vec<(Half, Place)>,
}

/// What a `fetch` names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) slice: u8,
    pub(crate) bank: u8,
    pub(crate) word: u16,
}

impl Text {
    /// `free`: of the west and of the east, those that are taken last first.
    pub(crate) fn new(free: [Vec<Place>; 2]) -> Text {
        Text { free, taken: BTreeSet::new(), own: Vec::new(), used: Vec::new() }
    }

    /// A `fetch` of a queue in the first of some cycles in which its path is free.
    fn fetch(&mut self, queue: QueueId, cycles: std::ops::Range<i64>) -> Option<(i64, Word)> {
        let half = queue.text_half();
        let cycle = cycles.into_iter().find(|cycle| !self.taken.contains(&(half, *cycle)))?;
        let place = self.free[side(half)].pop()?;
        let Place { slice, bank, word } = place;
        self.own.push((half, place));
        self.taken.insert((half, cycle));
        Some((cycle, Word::Fetch { slice, bank, word }))
    }

    /// Where the text of all phases lies.
    pub(crate) fn used(self) -> Vec<(Half, Place)> {
        self.used
    }

    /// Each phase starts with free paths. The places of one that has no words are free again.
    fn end_phase(&mut self, has_words: bool) {
        self.taken.clear();
        if has_words {
            self.used.append(&mut self.own);
        }
        for (half, place) in self.own.drain(..).rev() {
            self.free[side(half)].push(place);
        }
    }
}

fn side(half: Half) -> usize {
    usize::from(half == Half::East)
}

/// A phase of one trip from its events, which are sorted by queue and cycle. Errors: a queue whose words can't all be there.
pub(crate) fn phase(events: &[Event], lpu: &Lpu, text: &mut Text) -> Result<Phase, RunsDry> {
    let runs = events.chunk_by(|a, b| a.queue == b.queue);
    let queues = runs.map(|run| queue(run, lpu.queue_words as usize, text));
    let queues = queues.collect::<Result<Vec<Queue>, RunsDry>>();
    text.end_phase(queues.is_ok());
    Ok(Phase { trips: 1, queues: queues? })
}

/// Words of one queue's events, idling between them left out.
pub(crate) fn words(events: &[Event]) -> usize {
    let (mut words, mut at) = (0, 0);
    while at < events.len() {
        let run = Run::at(&events[at..]);
        words += 1 + usize::from(run.is_some());
        at += 1 + run.map_or(0, |run| run.count);
    }
    words
}

/// A queue on its way: what it has, and what it may still hold.
struct Filling<'a> {
    queue: Queue,
    holds: usize,
    fetches: usize,
    text: &'a mut Text,
}

/// Errors: its words can't all be there.
fn queue(events: &[Event], holds: usize, text: &mut Text) -> Result<Queue, RunsDry> {
    let all = words(events) + idle_words(events);
    let queue = Queue::new(0, events[0].queue);
    let mut filling = Filling { queue, holds, fetches: 0, text };
    match filling.fill(events, all >= holds) {
        Some(()) => Ok(filling.queue),
        None => {
            let have = filling.holds + filling.fetched();
            let (need, have) = (all.max(have + 1) as u64, have as u64);
            Err(RunsDry { queue: filling.queue.id, need, have })
        }
    }
}

impl Filling<'_> {
    fn fill(&mut self, events: &[Event], needs_text: bool) -> Option<()> {
        let (mut cycle, mut at) = (0, 0);
        while at < events.len() {
            self.idle(cycle, events[at].cycle, needs_text)?;
            self.push(events[at].word, &events[at].tags)?;
            cycle = events[at].cycle + 1;
            let run = Run::at(&events[at..]);
            if let Some(run) = run {
                self.push(run.word(), &run.steps)?;
                cycle += run.count as i64 * (run.gap + 1);
                at += run.count;
            }
            at += 1;
        }
        self.push(Word::Halt, &[])
    }
}

/// Words that idle, at the most.
fn idle_words(events: &[Event]) -> usize {
    1 + events.windows(2).filter(|pair| pair[1].cycle > pair[0].cycle + 1).count()
}

impl Filling<'_> {
    /// None: the queue has run dry.
    fn push(&mut self, word: Word, tags: &[Tag]) -> Option<()> {
        let has = self.queue.words.len() < self.holds + self.fetched();
        has.then(|| self.queue.push(word, tags))
    }

    fn fetched(&self) -> usize {
        self.fetches * FETCHED as usize
    }

    /// Idles from one cycle to another, and fetches where there is room.
    fn idle(&mut self, mut from: i64, to: i64, needs_text: bool) -> Option<()> {
        // Behind idling, a `fetch` stands one place later.
        let room =
            |own: &Self, before: usize| own.queue.words.len() + before >= own.fetched() + FETCHED as usize;
        while needs_text && room(self, 2) && from < to {
            let first = from + i64::from(!room(self, 1));
            let Some((cycle, word)) = self.text.fetch(self.queue.id, first..to) else { break };
            self.nop(cycle - from)?;
            self.push(word, &[])?;
            self.fetches += 1;
            from = cycle + 1;
        }
        self.nop(to - from)
    }

    fn nop(&mut self, mut cycles: i64) -> Option<()> {
        while cycles > 0 {
            let part = cycles.min(i64::from(u16::MAX));
            self.push(Word::Nop { cycles: part as u16 }, &[])?;
            cycles -= part;
        }
        Some(())
    }
}

/// Repeats of the first word of some events.
struct Run {
    count: usize,
    gap: i64,
    strides: [i16; 3],
    steps: Tags,
}

impl Run {
    /// The longest run of repeats that starts behind the first event.
    fn at(events: &[Event]) -> Option<Run> {
        let [first, second, ..] = events else { return None };
        let gap = second.cycle - first.cycle - 1;
        let strides = strides(first.word, second.word)?;
        let steps = steps(&first.tags, &second.tags)?;
        if gap > i64::from(u16::MAX) {
            return None;
        }
        let follows = |pair: &[Event]| {
            pair[1].cycle - pair[0].cycle - 1 == gap
                && self::strides(pair[0].word, pair[1].word) == Some(strides)
                && self::steps(&pair[0].tags, &pair[1].tags).is_some_and(|own| own == steps)
        };
        let count = events.windows(2).take(usize::from(u16::MAX)).take_while(|pair| follows(pair)).count();
        Some(Run { count, gap, strides, steps })
    }

    fn word(&self) -> Word {
        Word::Repeat { count: self.count as u16, gap: self.gap as u16, strides: self.strides }
    }
}

/// How far the addresses of a word step to those of another, which is the same but for them.
fn strides(from: Word, to: Word) -> Option<[i16; 3]> {
    let (mut a, mut b) = (from, to);
    let mut found = [0; 3];
    for (stride, (own, other)) in found.iter_mut().zip(a.addresses().into_iter().zip(b.addresses())) {
        *stride = i16::try_from(i32::from(*other) - i32::from(*own)).ok()?;
        (*own, *other) = (0, 0);
    }
    (a == b).then_some(found)
}

fn steps(from: &Tags, to: &Tags) -> Option<Tags> {
    let step = |(a, b): (&Tag, &Tag)| Tag {
        value: b.value.wrapping_sub(a.value),
        index: b.index.wrapping_sub(a.index),
        part: b.part.wrapping_sub(a.part),
    };
    (from.len() == to.len()).then(|| from.iter().zip(to).map(step).collect())
}
