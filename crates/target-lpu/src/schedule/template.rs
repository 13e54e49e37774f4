//! Collects the words of a burst: a rigid shape in resources and time, whose streams, ALUs and shifters are chosen later.
//!
//! Streams of a direction count from 0 on, as do ALUs and shifters: which ones they become is the calendar's choice.

use super::{Event, Scene, Vector};
use crate::assemble::words;
use crate::calendar::Pattern;
use crate::flow::ValueId;
use tegula_isa_lpu::word::{EndKind, Read, WHOLE, Word, Write};
use tegula_isa_lpu::{Address, Direction, Half, QueueId, Stream, Tag, Tags};
use tegula_machine::Lpu;

/// Words of a burst, and what they take.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Sorted by queue and cycle; the first cycle is 0.
    pub(crate) events: Vec<Event>,
    pub(crate) groups: Vec<Group>,
    /// Queues that are no one's choice.
    pub(crate) queues: Vec<(QueueId, Pattern)>,
    pub(crate) shifters: Vec<(QueueId, Pattern)>,
    pub(crate) alus: Vec<AluUse>,
    /// What cycle 0 is of the cycles that the words were collected in.
    pub(crate) origin: i64,
}

/// Streams side by side.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) first: Stream,
    pub(crate) count: u8,
    pub(crate) segments: Segments,
    pub(crate) diagonals: Pattern,
}

/// An ALU, from its first word to its last result.
#[derive(Clone, Debug)]
pub(crate) struct AluUse {
    pub(crate) number: u8,
    pub(crate) is_large: bool,
    pub(crate) interval: Pattern,
}

/// Where along the chip vectors of a stream are: west of the centre, at it, east of it.
pub(crate) type Segments = [bool; 3];

/// Cycles that stay idle behind words that could fill a queue: there a `fetch` finds its place.
const REST: i64 = 4;

/// Words of one queue beyond which the burst leaves it a rest.
const FEW_WORDS: usize = 8;

/// Words of one queue between two pauses of a burst: a `fetch` brings 40, and others may be due in between.
pub(super) const PAUSE_AFTER: usize = 12;

/// The cycles of a queue's events, and those of pauses in between, which stay idle.
fn with_pauses(events: &[Event]) -> Vec<i64> {
    let mut cycles = vec![events[0].cycle];
    let mut since = 1;
    for pair in events.windows(2) {
        since += usize::from(pair[1].word != pair[0].word);
        if since >= PAUSE_AFTER && pair[1].cycle > pair[0].cycle + 1 {
            cycles.push(pair[0].cycle + 1);
            since = 0;
        }
        cycles.push(pair[1].cycle);
    }
    cycles
}

/// Rounds of a burst, a pace apart, with pauses where it has many words.
pub(super) struct Clock {
    pub(super) cycle: i64,
    pace: i64,
    /// Cycles of a pause; 0: there are none.
    pause: i64,
    rounds: usize,
}

impl Clock {
    pub(super) fn new(pace: i64, pause: i64) -> Clock {
        Clock { cycle: 0, pace, pause, rounds: 0 }
    }

    pub(super) fn next_round(&mut self) {
        self.cycle += self.pace;
        self.rounds += 1;
        if self.rounds.is_multiple_of(PAUSE_AFTER) {
            self.cycle += self.pause;
        }
    }
}

pub(super) struct Burst<'a> {
    scene: &'a Scene<'a>,
    events: Vec<Event>,
    /// Streams so far, to the east and to the west: the first and the count of each group.
    groups: [Vec<(u32, u32)>; 2],
    /// Shifters so far, of the west and of the east.
    shifters: [u8; 2],
    /// Whether its queues rest behind it, however few its words are.
    rests: bool,
}

impl<'a> Burst<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Burst<'a> {
        Burst { scene, events: Vec::new(), groups: Default::default(), shifters: [0; 2], rests: false }
    }

    pub(super) fn lpu(&self) -> &'a Lpu {
        self.scene.lpu
    }

    /// Leaves a rest behind the words of each queue.
    pub(super) fn rest(&mut self) {
        self.rests = true;
    }

    /// What vectors between two units are called.
    pub(super) fn moved(&self, number: u32) -> Tag {
        Tag::new(self.scene.moved, number)
    }

    /// Streams of a value's elements.
    pub(super) fn width(&self, value: ValueId) -> u32 {
        self.scene.program.value(value).element.width()
    }

    /// So many streams. None: the machine has too few.
    pub(super) fn streams(&mut self, direction: Direction, count: u32) -> Option<Stream> {
        let most = match direction {
            Direction::East => self.lpu().streams_east,
            Direction::West => self.lpu().streams_west,
        };
        let groups = &mut self.groups[usize::from(direction == Direction::West)];
        let first = groups.last().map_or(0, |(first, count)| first + count);
        groups.push((first, count));
        (first + count <= most).then_some(Stream { direction, id: first as u8 })
    }

    /// Streams from where a value lies to the centre.
    pub(super) fn inwards(&mut self, value: ValueId, count: u32) -> Option<Stream> {
        let direction = outwards_of(self.half(value)?.other());
        self.streams(direction, count)
    }

    /// Streams from the centre to where a value lies.
    pub(super) fn outwards(&mut self, value: ValueId, count: u32) -> Option<Stream> {
        let direction = outwards_of(self.half(value)?);
        self.streams(direction, count)
    }

    /// The half that a value lies in. None: it lies in both.
    pub(super) fn half(&self, value: ValueId) -> Option<Half> {
        let places = &self.scene.homes.of(value).0;
        let half = places.first()?.half;
        places.iter().all(|place| place.half == half).then_some(half)
    }

    /// A shifter of a half. None: the half has too few.
    pub(super) fn shifter(&mut self, half: Half) -> Option<QueueId> {
        let own = &mut self.shifters[usize::from(half == Half::East)];
        let queue = *own;
        *own += 1;
        (u32::from(queue) < self.lpu().sxm.queues).then_some(QueueId::Sxm { half, queue })
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

    /// Where a byte of a vector's elements lies.
    pub(super) fn address(&self, (value, index): Vector, part: u32) -> Address {
        self.scene.homes.of(value).address(index, part)
    }

    pub(super) fn read_part(&mut self, vector: Vector, part: u32, to: Stream, position: i32, cycle: i64) {
        let ((value, index), at) = (vector, self.address(vector, part));
        let queue = QueueId::Mem { half: at.half, slice: at.slice };
        let way = self.way(queue, position) + i64::from(self.lpu().mem.read_delay);
        let word = Word::Mem { read: Some(Read { bank: at.bank, word: at.word, to }), write: None };
        let tag = Tag::new(value.0, index).part(part as u8);
        self.issue(queue, cycle - way, word, Tags::from_slice(&[tag]));
    }

    /// Writes what is driven at a position in a cycle.
    pub(super) fn write(&mut self, vector: Vector, width: u32, from: Stream, position: i32, cycle: i64) {
        self.write_masked(vector, width, from, position, cycle, WHOLE);
    }

    /// Writes some superlanes of what is driven at a position in a cycle.
    pub(super) fn write_masked(
        &mut self,
        vector: Vector,
        width: u32,
        from: Stream,
        position: i32,
        cycle: i64,
        mask: u32,
    ) {
        for part in 0..width {
            self.write_bytes((vector, part), from.plus(part), position, cycle, mask);
        }
    }

    pub(super) fn write_part(&mut self, vector: Vector, part: u32, from: Stream, position: i32, cycle: i64) {
        self.write_bytes((vector, part), from, position, cycle, WHOLE);
    }

    fn write_bytes(
        &mut self,
        ((value, index), part): (Vector, u32),
        from: Stream,
        position: i32,
        cycle: i64,
        mask: u32,
    ) {
        let at = self.address((value, index), part);
        let queue = QueueId::Mem { half: at.half, slice: at.slice };
        let write = Write { bank: at.bank, word: at.word, from, mask };
        let word = Word::Mem { read: None, write: Some(write) };
        let tag = Tag::new(value.0, index).part(part as u8);
        self.issue(queue, cycle + self.way(queue, position), word, Tags::from_slice(&[tag, tag]));
    }

    /// Cycles of a vector between a slice and a position.
    pub(super) fn way(&self, queue: QueueId, position: i32) -> i64 {
        let distance = (queue.position(self.lpu()) - position).unsigned_abs();
        i64::from(distance * self.lpu().hop)
    }

    /// Whether some queue has more words than it can do without a pause.
    pub(super) fn has_many_words(&mut self) -> bool {
        self.events.sort_by_key(|event| (event.queue, event.cycle));
        self.events.chunk_by(|a, b| a.queue == b.queue).any(|own| words(own) > PAUSE_AFTER)
    }

    /// What the words take. None: two of them are in conflict.
    pub(super) fn finish(mut self) -> Option<Template> {
        self.events.sort_by_key(|event| (event.queue, event.cycle));
        let origin = self.events.iter().map(|event| event.cycle).min().unwrap_or(0);
        self.events.iter_mut().for_each(|event| event.cycle -= origin);
        let (mut queues, mut shifters, mut alus) = (Vec::new(), Vec::new(), Vec::new());
        for own in self.events.chunk_by(|a, b| a.queue == b.queue) {
            let is_long = words(own) > FEW_WORDS || self.rests;
            let rest = if is_long { REST } else { 0 };
            let cycles =
                if is_long { with_pauses(own) } else { own.iter().map(|event| event.cycle).collect() };
            let pattern = Pattern::of(&cycles)?.with_rest(rest);
            match own[0].queue {
                QueueId::Alu(number) => alus.push(self.alu(number, own, rest)),
                queue @ QueueId::Sxm { .. } => shifters.push((queue, pattern)),
                queue => queues.push((queue, pattern)),
            }
        }
        let groups = self.used_groups()?;
        Some(Template { events: self.events, groups, queues, shifters, alus, origin })
    }

    fn alu(&self, number: u8, own: &[Event], rest: i64) -> AluUse {
        let op = |event: &Event| match event.word {
            Word::Alu(alu) => Some(alu.op),
            _ => None,
        };
        let delay = |event: &Event| op(event).map_or(0, |op| i64::from(op.delay(self.lpu())));
        let last = own.iter().map(|event| event.cycle + delay(event)).max().unwrap_or(0);
        AluUse {
            number,
            is_large: own.iter().filter_map(op).any(|op| op.is_large()),
            interval: Pattern::interval(own[0].cycle, last + rest),
        }
    }

    /// The groups with their diagonals. None: two vectors are driven onto one.
    fn used_groups(&self) -> Option<Vec<Group>> {
        struct Use {
            diagonals: Vec<i64>,
            from: i32,
            to: i32,
        }
        let lpu = self.lpu();
        let mut uses: [Vec<Use>; 2] = [0, 1].map(|side: usize| {
            let new = |_| Use { diagonals: Vec::new(), from: i32::MAX, to: i32::MIN };
            self.groups[side].iter().map(new).collect()
        });
        for event in &self.events {
            let position = event.queue.position(lpu);
            for end in event.word.ends(lpu) {
                let (stream, delay) = match end.kind {
                    EndKind::Drive(stream, delay) => (stream, Some(delay)),
                    EndKind::Sense(stream) => (stream, None),
                    _ => continue,
                };
                let side = usize::from(stream.direction == Direction::West);
                let at = self.groups[side].partition_point(|(first, _)| *first <= u32::from(stream.id)) - 1;
                let own = &mut uses[side][at];
                own.from = own.from.min(position);
                own.to = own.to.max(position);
                // Vectors of a group are driven one beside the other.
                if let Some(delay) = delay
                    && u32::from(stream.id) == self.groups[side][at].0
                {
                    own.diagonals.push(stream.diagonal(position, event.cycle + i64::from(delay), lpu.hop));
                }
            }
        }
        let mut groups = Vec::new();
        for (side, direction) in [Direction::East, Direction::West].into_iter().enumerate() {
            for (own, (first, count)) in uses[side].iter_mut().zip(&self.groups[side]) {
                own.diagonals.sort_unstable();
                groups.push(Group {
                    first: Stream { direction, id: *first as u8 },
                    count: *count as u8,
                    segments: [own.from < 0, own.from <= 0 && own.to >= 0, own.to > 0],
                    diagonals: Pattern::of(&own.diagonals)?,
                });
            }
        }
        Some(groups)
    }
}

/// The direction from the centre into a half.
pub(super) fn outwards_of(half: Half) -> Direction {
    match half {
        Half::West => Direction::West,
        Half::East => Direction::East,
    }
}
