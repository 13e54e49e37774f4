//! One phase as it fills: calendars of all resources of a chip, and when each word of its memory was written and read last.
//!
//! Bursts are placed in an order that respects data, each at the first cycle at which its operands lie in memory, what it
//! overwrites is read, and all that it takes is free. A vector keeps its diagonal while it hops, so a stream's calendar counts
//! diagonals, not cycles. Time has no end, so that each burst finds a place.

mod choice;

use crate::calendar::{Calendar, Pattern};
use crate::schedule::Event;
use crate::schedule::template::{Group, Segments, Template};
use choice::{Choice, choose};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::ops::Range;
use tegula_isa_lpu::word::{Read, Word, Write};
use tegula_isa_lpu::{Direction, Half, QueueId, Stream};
use tegula_machine::Lpu;

/// Bursts, placed in cycles.
pub(crate) struct Timeline<'a> {
    lpu: &'a Lpu,
    queues: BTreeMap<QueueId, Calendar>,
    /// Of each direction, stream and segment.
    streams: [Vec<[Calendar; 3]>; 2],
    memory: Memory,
    /// All words, in the order in which they were placed.
    pub(crate) events: Vec<Event>,
    /// How often calendars were asked, and patterns taken in them.
    pub(crate) probes: u64,
    pub(crate) reservations: u64,
}

/// A diagonal of cycle 0 is this far behind the start of a stream's calendar: positions are less.
const MARGIN: i64 = 4096;

/// When the words of memory were written and read last; before cycle 0: not in this phase.
struct Memory {
    banks: usize,
    slices: usize,
    words: usize,
    written: Vec<i64>,
    read: Vec<i64>,
}

impl Memory {
    fn new(lpu: &Lpu) -> Memory {
        let (slices, banks, words) =
            (lpu.mem.slices as usize, lpu.mem.banks as usize, lpu.mem.words as usize);
        let all = 2 * slices * banks * words;
        Memory { banks, slices, words, written: vec![-1; all], read: vec![-1; all] }
    }

    fn places(&self, Access { half, slice, bank, word, count, .. }: Access) -> Range<usize> {
        let half = usize::from(half == Half::East);
        let slice = half * self.slices + usize::from(slice);
        let first = (slice * self.banks + usize::from(bank)) * self.words + usize::from(word);
        first..first + usize::from(count)
    }
}

/// Words of a bank that an event reads or writes. Of those that data chooses, it may be any.
#[derive(Clone, Copy)]
struct Access {
    writes: bool,
    half: Half,
    slice: u8,
    bank: u8,
    word: u16,
    count: u16,
}

fn accesses(event: &Event) -> SmallVec<[Access; 2]> {
    let QueueId::Mem { half, slice } = event.queue else { return SmallVec::new() };
    let access = |writes, bank, word, count| Access { writes, half, slice, bank, word, count };
    match event.word {
        Word::Mem { read, write } => {
            let read = read.map(|Read { bank, word, .. }| access(false, bank, word, 1));
            let write = write.map(|Write { bank, word, .. }| access(true, bank, word, 1));
            read.into_iter().chain(write).collect()
        }
        Word::Gather { bank, word, count, .. } => smallvec![access(false, bank, word, count)],
        Word::Scatter { bank, word, count, .. } => smallvec![access(true, bank, word, count)],
        _ => SmallVec::new(),
    }
}

impl<'a> Timeline<'a> {
    pub(crate) fn new(lpu: &'a Lpu) -> Timeline<'a> {
        let all = |count: u32| vec![Default::default(); count as usize];
        Timeline {
            lpu,
            queues: QueueId::all(lpu).into_iter().map(|queue| (queue, Calendar::default())).collect(),
            streams: [all(lpu.streams_east), all(lpu.streams_west)],
            memory: Memory::new(lpu),
            events: Vec::new(),
            probes: 0,
            reservations: 0,
        }
    }

    /// Places a burst at the first cycle from `earliest` on; gives it.
    pub(crate) fn place(&mut self, template: &Template, earliest: i64) -> i64 {
        let mut start = earliest.max(0).max(self.ready(template));
        let choice = loop {
            start = self.fixed_fit(template, start);
            match choose(self, template, start) {
                Ok(choice) => break choice,
                Err(later) => start = later,
            }
        };
        self.commit(template, start, &choice);
        start
    }

    /// The first cycle at which each read finds its vector, and no write comes before the last read of what it replaces.
    fn ready(&self, template: &Template) -> i64 {
        let mut start = 0;
        for event in &template.events {
            for access in accesses(event) {
                let places = self.memory.places(access);
                let written = self.memory.written[places.clone()].iter().copied().max().unwrap_or(-1);
                let before = match access.writes {
                    true => self.memory.read[places].iter().copied().fold(written, i64::max),
                    false => written,
                };
                start = start.max(before + 1 - event.cycle);
            }
        }
        start
    }

    /// The first start at which all queues that are no choice are free.
    fn fixed_fit(&mut self, template: &Template, mut start: i64) -> i64 {
        loop {
            let before = start;
            for (queue, pattern) in &template.queues {
                self.probes += 1;
                start = self.queues.get(queue).map_or(start, |calendar| calendar.next_fit(pattern, start));
            }
            if start == before {
                return start;
            }
        }
    }

    fn commit(&mut self, template: &Template, start: i64, choice: &Choice) {
        let chosen = template.shifters.len() + template.alus.len() + template.groups.len();
        self.reservations += (template.queues.len() + chosen) as u64;
        for (queue, pattern) in &template.queues {
            self.take_queue(*queue, pattern, start);
        }
        for (own, (_, pattern)) in choice.shifters.iter().zip(&template.shifters) {
            self.take_queue(*own, pattern, start);
        }
        for (own, usage) in choice.alus.iter().zip(&template.alus) {
            self.take_queue(QueueId::Alu(*own), &usage.interval, start);
        }
        for (id, group) in choice.streams.iter().zip(&template.groups) {
            for n in 0..group.count {
                let calendars = &mut self.streams[side(group.first.direction)][usize::from(id + n)];
                for (calendar, _) in calendars.iter_mut().zip(group.segments).filter(|(_, used)| *used) {
                    calendar.take(&group.diagonals, start + MARGIN);
                }
            }
        }
        for event in &template.events {
            let mut event = choice.applied(event, template);
            event.cycle += start;
            self.remember(&event);
            self.events.push(event);
        }
    }

    /// Issues a word in a cycle in which its queue is free.
    pub(crate) fn issue(&mut self, event: Event) {
        self.take_queue(event.queue, &Pattern::interval(event.cycle, event.cycle), 0);
        self.events.push(event);
    }

    fn take_queue(&mut self, queue: QueueId, pattern: &Pattern, start: i64) {
        if let Some(calendar) = self.queues.get_mut(&queue) {
            calendar.take(pattern, start);
        }
    }

    fn remember(&mut self, event: &Event) {
        for access in accesses(event) {
            let places = self.memory.places(access);
            let cycles = if access.writes { &mut self.memory.written } else { &mut self.memory.read };
            cycles[places].iter_mut().for_each(|cycle| *cycle = (*cycle).max(event.cycle));
        }
    }

    /// The first start, from `start` on, at which a group may have the streams from `id` on.
    fn stream_fit(&self, group: &Group, id: u8, mut start: i64) -> i64 {
        let Group { first, count, segments, diagonals } = group;
        loop {
            let before = start;
            for n in 0..*count {
                let Some(calendars) = self.streams[side(first.direction)].get(usize::from(id + n)) else {
                    return i64::MAX;
                };
                start = fit(calendars, segments, diagonals, start);
            }
            if start == before {
                return start;
            }
        }
    }
}

fn fit(calendars: &[Calendar; 3], segments: &Segments, diagonals: &Pattern, mut start: i64) -> i64 {
    for (calendar, _) in calendars.iter().zip(segments).filter(|(_, used)| **used) {
        start = calendar.next_fit(diagonals, start + MARGIN) - MARGIN;
    }
    start
}

fn side(direction: Direction) -> usize {
    match direction {
        Direction::East => 0,
        Direction::West => 1,
    }
}

/// A stream with another number.
fn renamed(stream: Stream, from: Stream, to: u8) -> Stream {
    Stream { id: to + (stream.id - from.id), ..stream }
}
