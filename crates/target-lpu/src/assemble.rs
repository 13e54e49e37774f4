//! The words of a phase's queues: events in order, with idling between them, and repeats where a word comes again.

use crate::schedule::Event;
use tegula_isa_lpu::{Phase, Queue, QueueId, Tag, Tags, Word};
use tegula_machine::Lpu;

/// A phase of one trip from its events, which are sorted by queue and cycle. Errors: a queue has more words than it holds.
pub(crate) fn phase(events: &[Event], lpu: &Lpu) -> Result<Phase, QueueId> {
    let runs = events.chunk_by(|a, b| a.queue == b.queue);
    let queues = runs.map(|run| queue(run, lpu.queue_words as usize).ok_or(run[0].queue));
    Ok(Phase { trips: 1, queues: queues.collect::<Result<Vec<Queue>, QueueId>>()? })
}

fn queue(events: &[Event], most: usize) -> Option<Queue> {
    let mut queue = Queue::new(0, events[0].queue);
    let (mut cycle, mut at) = (0, 0);
    while at < events.len() {
        idle(&mut queue, events[at].cycle - cycle);
        queue.push(events[at].word, &events[at].tags);
        cycle = events[at].cycle + 1;
        let run = Run::at(&events[at..]);
        if let Some(run) = run {
            queue.push(run.word(), &run.steps);
            cycle += run.count as i64 * (run.gap + 1);
            at += run.count;
        }
        at += 1;
        if queue.words.len() >= most {
            return None;
        }
    }
    queue.push(Word::Halt, &[]);
    (queue.words.len() <= most).then_some(queue)
}

fn idle(queue: &mut Queue, mut cycles: i64) {
    while cycles > 0 {
        let part = cycles.min(i64::from(u16::MAX));
        queue.push(Word::Nop { cycles: part as u16 }, &[]);
        cycles -= part;
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
