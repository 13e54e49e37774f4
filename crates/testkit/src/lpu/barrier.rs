//! A barrier of all queues of `tsp1`: one notifies in cycle 0, the others wait. Behind it, every slice reads a vector.

use super::Words;
use std::collections::BTreeMap;
use tegula_isa_lpu::word::Read;
use tegula_isa_lpu::{
    Address, Cell, Chip, Half, Image, Phase, Program, Queue, QueueId, Stream, Tag, ValueName, Word,
};
use tegula_machine::{Lpu, Machine};

/// The queue that notifies.
const NOTIFIES: QueueId = QueueId::Alu(0);

/// The last cycle is that of the reads.
pub fn barrier() -> Words {
    let machine = Machine::class("tsp1").expect("invariant: a class that comes with Tegula");
    let lpu = machine.lpu().expect("invariant: a streaming chip");
    let queues = QueueId::all(lpu).into_iter().map(|id| queue(id, lpu)).collect();
    let slices = |half| (0..lpu.mem.slices).map(move |slice| (half, slice as u8));
    let cell = |(half, slice): (Half, u8)| Cell {
        at: Address { half, slice, bank: 0, word: 0 },
        tag: tag(half, slice, lpu),
        bytes: vec![slice; lpu.vector() as usize],
    };
    let cells = Half::BOTH.into_iter().flat_map(slices).map(cell).collect();
    let image = Image {
        machine: machine.hash().to_string(),
        values: vec![ValueName { name: "A".into(), node: "barrier".into() }],
        chips: vec![Chip { cells, bindings: Vec::new() }],
        programs: vec![Program { name: "main".into(), phases: vec![Phase { trips: 1, queues }] }],
    };
    Words { name: "barrier", image, machine, inputs: BTreeMap::new(), outputs: BTreeMap::new() }
}

/// A vector for each slice.
fn tag(half: Half, slice: u8, lpu: &Lpu) -> Tag {
    let before = if half == Half::West { 0 } else { lpu.mem.slices };
    Tag::new(0, before + u32::from(slice))
}

fn queue(id: QueueId, lpu: &Lpu) -> Queue {
    let mut queue = Queue::new(0, id);
    queue.push(if id == NOTIFIES { Word::Notify } else { Word::Sync }, &[]);
    if let QueueId::Mem { half, slice } = id {
        // Slices of a group drive streams of their own.
        let member = slice % lpu.mem.group as u8;
        let to = if half == Half::West { Stream::west(member) } else { Stream::east(member) };
        let word = Word::Mem { read: Some(Read { bank: 0, word: 0, to }), write: None };
        queue.push(word, &[tag(half, slice, lpu)]);
    }
    queue.push(Word::Halt, &[]);
    queue
}
