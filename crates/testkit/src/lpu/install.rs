//! Weights of bytes for all planes of `tsp1` at once, scheduled by hand: each plane loads from 16 slices of its half, on 16
//! streams that flow outwards.

use super::{Words, burst};
use std::collections::BTreeMap;
use tegula_isa_lpu::word::Read;
use tegula_isa_lpu::{
    Address, Cell, Chip, Direction, Half, Image, Phase, Program, Queue, QueueId, Stream, Tag, ValueName, Word,
};
use tegula_machine::{Lpu, Machine};

/// A plane with the slices that its weights lie in.
struct Plane<'a> {
    lpu: &'a Lpu,
    half: Half,
    number: u32,
}

/// Every plane gets weights of its own, which nothing multiplies by.
pub fn install() -> Words {
    let machine = Machine::class("tsp1").expect("invariant: a class that comes with Tegula");
    let lpu = machine.lpu().expect("invariant: a streaming chip");
    let numbers = |half| (0..lpu.mxm.planes).map(move |number| Plane { lpu, half, number });
    let planes: Vec<Plane> = Half::BOTH.into_iter().flat_map(numbers).collect();
    let name = |plane: &Plane| ValueName { name: format!("W{}", plane.value()), node: "install".into() };
    let cells = planes.iter().flat_map(Plane::cells).collect();
    let queues = planes.iter().flat_map(Plane::queues).collect();
    let image = Image {
        machine: machine.hash().to_string(),
        values: planes.iter().map(name).collect(),
        chips: vec![Chip { cells, bindings: Vec::new() }],
        programs: vec![Program { name: "main".into(), phases: vec![Phase { trips: 1, queues }] }],
    };
    Words { name: "install", image, machine, inputs: BTreeMap::new(), outputs: BTreeMap::new() }
}

impl Plane<'_> {
    fn value(&self) -> u32 {
        let before = if self.half == Half::West { 0 } else { self.lpu.mxm.planes };
        before + self.number
    }

    /// The last slices of the half are those next to the planes.
    fn slice(&self, row: u32) -> u8 {
        let streams = self.lpu.mxm.load_streams;
        let first = self.lpu.mem.slices - self.lpu.mxm.planes * streams;
        (first + self.number * streams + row % streams) as u8
    }

    fn stream(&self, row: u32) -> Stream {
        let streams = self.lpu.mxm.load_streams;
        let direction = if self.half == Half::West { Direction::West } else { Direction::East };
        Stream { direction, id: (self.number * streams + row % streams) as u8 }
    }

    fn mem(&self, row: u32) -> QueueId {
        QueueId::Mem { half: self.half, slice: self.slice(row) }
    }

    /// Cycles from a read's issue to its vector's arrival at the planes.
    fn way(&self, slice: QueueId) -> i64 {
        let hops = self.lpu.mxm_position() - slice.position(self.lpu).abs();
        i64::from(self.lpu.mem.read_delay) + i64::from(hops) * i64::from(self.lpu.hop)
    }

    fn queues(&self) -> Vec<Queue> {
        let (streams, k) = (self.lpu.mxm.load_streams, self.lpu.mxm.k);
        let loads = k / streams;
        let step = [Tag::new(0, streams)];
        // The first slice of plane 0 is the farthest of the half.
        let farthest = Plane { number: 0, ..*self }.mem(0);
        let arrival = self.way(farthest);
        let read = |row: u32| {
            let word = Word::Mem { read: Some(Read { bank: 0, word: 0, to: self.stream(row) }), write: None };
            let (id, tag) = (self.mem(row), Tag::new(self.value(), row));
            burst(id, arrival - self.way(id), word, &[tag], loads, 1, &step)
        };
        let mut queues: Vec<Queue> = (0..streams).map(read).collect();
        let id = QueueId::Weights { half: self.half, plane: self.number as u8 };
        let (word, tag) = (Word::LoadWeights { row: 0, from: self.stream(0) }, Tag::new(self.value(), 0));
        let mut weights = burst(id, arrival, word, &[tag], loads, streams as i16, &step);
        weights.push(Word::InstallWeights, &[tag]);
        queues.push(weights);
        queues.iter_mut().for_each(|queue| queue.push(Word::Halt, &[]));
        queues
    }

    fn cells(&self) -> Vec<Cell> {
        let (half, vector) = (self.half, self.lpu.vector());
        let cell = |row: u32| Cell {
            at: Address {
                half,
                slice: self.slice(row),
                bank: 0,
                word: (row / self.lpu.mxm.load_streams) as u16,
            },
            tag: Tag::new(self.value(), row),
            bytes: (0..vector).map(|n| (row * 7 + n * 3 + self.value()) as u8).collect(),
        };
        (0..self.lpu.mxm.k).map(cell).collect()
    }
}
