//! Collects the words of a flow, and finds conflicts among them.

use super::{Event, Scene, Vector};
use crate::flow::ValueId;
use tegula_isa_lpu::word::{EndKind, Read, WHOLE, Word, Write};
use tegula_isa_lpu::{Direction, Half, QueueId, Stream, Tag, Tags};
use tegula_machine::Lpu;

pub(super) struct Burst<'a> {
    scene: &'a Scene<'a>,
    events: Vec<Event>,
    /// Streams in use, to the east and to the west.
    east: u32,
    west: u32,
}

impl<'a> Burst<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Burst<'a> {
        Burst { scene, events: Vec::new(), east: 0, west: 0 }
    }

    pub(super) fn lpu(&self) -> &'a Lpu {
        self.scene.lpu
    }

    /// What vectors between two units are called.
    pub(super) fn moved(&self, number: u32) -> Tag {
        Tag::new(self.scene.moved, number)
    }

    /// Streams of a value's elements.
    pub(super) fn width(&self, value: ValueId) -> u32 {
        self.scene.program.value(value).element.width()
    }

    /// The first of so many streams to the east that nothing uses. None: there are no more.
    pub(super) fn east(&mut self, count: u32) -> Option<Stream> {
        let first = self.east;
        self.east += count;
        (self.east <= self.lpu().streams_east).then_some(Stream::east(first as u8))
    }

    pub(super) fn west(&mut self, count: u32) -> Option<Stream> {
        let first = self.west;
        self.west += count;
        (self.west <= self.lpu().streams_west).then_some(Stream::west(first as u8))
    }

    /// Streams from where a value lies to the centre.
    pub(super) fn inwards(&mut self, value: ValueId, count: u32) -> Option<Stream> {
        match self.half(value)? {
            Half::West => self.east(count),
            Half::East => self.west(count),
        }
    }

    /// Streams from the centre to where a value lies.
    pub(super) fn outwards(&mut self, value: ValueId, count: u32) -> Option<Stream> {
        match self.half(value)? {
            Half::West => self.west(count),
            Half::East => self.east(count),
        }
    }

    /// The half that a value lies in. None: it lies in both.
    pub(super) fn half(&self, value: ValueId) -> Option<Half> {
        let places = &self.scene.homes.of(value).0;
        let half = places.first()?.half;
        places.iter().all(|place| place.half == half).then_some(half)
    }

    pub(super) fn issue(&mut self, queue: QueueId, cycle: i64, word: Word, tags: Tags) {
        self.events.push(Event { queue, cycle, word, tags });
    }

    /// Reads a vector's first `width` bytes so that they are at a position in a cycle.
    pub(super) fn read(&mut self, vector: Vector, width: u32, to: Stream, position: i32, cycle: i64) {
        for part in 0..width {
            self.read_part(vector, part, to.plus(part), position, cycle);
        }
    }

    pub(super) fn read_part(&mut self, vector: Vector, part: u32, to: Stream, position: i32, cycle: i64) {
        let (value, index) = vector;
        let at = self.scene.homes.of(value).address(index, part);
        let queue = QueueId::Mem { half: at.half, slice: at.slice };
        let way = self.way(queue, position) + i64::from(self.lpu().mem.read_delay);
        let word = Word::Mem { read: Some(Read { bank: at.bank, word: at.word, to }), write: None };
        let tag = Tag::new(value.0, index).part(part as u8);
        self.issue(queue, cycle - way, word, Tags::from_slice(&[tag]));
    }

    /// Writes what is driven at a position in a cycle.
    pub(super) fn write(&mut self, vector: Vector, width: u32, from: Stream, position: i32, cycle: i64) {
        let (value, index) = vector;
        for part in 0..width {
            let at = self.scene.homes.of(value).address(index, part);
            let queue = QueueId::Mem { half: at.half, slice: at.slice };
            let write = Write { bank: at.bank, word: at.word, from: from.plus(part), mask: WHOLE };
            let word = Word::Mem { read: None, write: Some(write) };
            let tag = Tag::new(value.0, index).part(part as u8);
            self.issue(queue, cycle + self.way(queue, position), word, Tags::from_slice(&[tag, tag]));
        }
    }

    fn way(&self, queue: QueueId, position: i32) -> i64 {
        let distance = (queue.position(self.lpu()) - position).unsigned_abs();
        i64::from(distance * self.lpu().hop)
    }

    /// The words, from cycle 0 on. None: two are in conflict.
    pub(super) fn finish(mut self) -> Option<Vec<Event>> {
        self.events.sort_by_key(|event| (event.queue, event.cycle));
        let conflict = |pair: &[Event]| (pair[0].queue, pair[0].cycle) == (pair[1].queue, pair[1].cycle);
        if self.events.windows(2).any(conflict) || !self.has_streams_for_all() {
            return None;
        }
        let first = self.events.iter().map(|event| event.cycle).min().unwrap_or(0);
        self.events.iter_mut().for_each(|event| event.cycle -= first);
        Some(self.events)
    }

    /// Whether each stream's diagonal has one driver.
    fn has_streams_for_all(&self) -> bool {
        let lpu = self.lpu();
        let mut cells: Vec<(Direction, u8, i64)> = Vec::new();
        for event in &self.events {
            for end in event.word.ends(lpu) {
                let EndKind::Drive(stream, delay) = end.kind else { continue };
                let position = event.queue.position(lpu);
                let diagonal = stream.diagonal(position, event.cycle + i64::from(delay), lpu.hop);
                cells.extend((0..end.count).map(|n| (stream.direction, stream.plus(n).id, diagonal)));
            }
        }
        cells.sort_unstable();
        cells.windows(2).all(|pair| pair[0] != pair[1])
    }
}
