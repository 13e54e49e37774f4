//! A product of 320 x 320 x 320 bytes on `tsp1`, scheduled by hand as the worked example is.

use super::{Words, burst};
use std::collections::BTreeMap;
use tegula_base::DType;
use tegula_isa_lpu::word::{Factors, Read, WHOLE, Write};
use tegula_isa_lpu::{
    Address, Binding, BindingKind, Cell, Chip, Half, Image, Phase, Program, QueueId, Stream, Tag, ValueName,
    Word,
};
use tegula_machine::{Lpu, Machine};

/// Rows, columns and products of a sum.
const N: u32 = 320;
const WEIGHTS: u32 = 0;
const ROWS: u32 = 1;
const SUMS: u32 = 2;
/// Slices of weights: the 16 nearest to the planes. Of rows: the group before them. Of sums: the last group.
const FIRST_WEIGHTS: u32 = 28;
const ROW_SLICE: u8 = 24;
const SUM_SLICE: u8 = 40;

fn weight(k: u32, n: u32) -> u8 {
    (k * 7 + n * 3 + k * n % 11) as u8
}

fn element(r: u32, k: u32) -> u8 {
    (r * 5 + k * 13 + r * k % 7) as u8
}

fn east(slice: u32, bank: u8, word: u32) -> Address {
    Address { half: Half::East, slice: slice as u8, bank, word: word as u16 }
}

/// The product, its factors and its result.
pub fn gemm() -> Words {
    let machine = Machine::class("tsp1").expect("invariant: a class that comes with Tegula");
    let image = image(&machine, machine.lpu().expect("invariant: a streaming chip"));
    let places = || (0..N).flat_map(|r| (0..N).map(move |k| (r, k)));
    let of = |r: u32, n: u32| -> i32 {
        (0..N).map(|k| i32::from(element(r, k) as i8) * i32::from(weight(k, n) as i8)).sum()
    };
    let x = places().map(|(r, k)| element(r, k)).collect();
    let y = places().flat_map(|(r, n)| of(r, n).to_le_bytes()).collect();
    Words {
        name: "gemm",
        image,
        machine,
        inputs: BTreeMap::from([("x".to_string(), x)]),
        outputs: BTreeMap::from([("y".to_string(), y)]),
    }
}

fn image(machine: &Machine, lpu: &Lpu) -> Image {
    let plane = lpu.mxm_position();
    let mem = |slice: u32| QueueId::Mem { half: Half::East, slice: slice as u8 };
    // Cycles from a read's issue to its vector's arrival at the planes.
    let way = |id: QueueId| i64::from(lpu.mem.read_delay) + i64::from(plane - id.position(lpu));
    let next = |index: u32| Tag::new(0, index);
    let load = (0..16).map(|s| way(mem(FIRST_WEIGHTS + s))).max().unwrap();
    let install = load + i64::from(N / 16);
    let multiply = install + i64::from(lpu.mxm.install);
    let take = multiply + i64::from(lpu.mxm.latency) - 1;
    let hops = i64::from(plane - mem(u32::from(SUM_SLICE)).position(lpu));
    let mut queues = Vec::new();
    for s in 0..16 {
        let id = mem(FIRST_WEIGHTS + s);
        let read = Read { bank: 0, word: 0, to: Stream::east(s as u8) };
        let word = Word::Mem { read: Some(read), write: None };
        queues.push(burst(id, load - way(id), word, &[Tag::new(WEIGHTS, s)], N / 16, 1, &[next(16)]));
    }
    let load_word = Word::LoadWeights { row: 0, from: Stream::east(0) };
    let weights = QueueId::Weights { half: Half::East, plane: 0 };
    let mut loads = burst(weights, load, load_word, &[Tag::new(WEIGHTS, 0)], N / 16, 16, &[next(16)]);
    loads.push(Word::InstallWeights, &[Tag::new(WEIGHTS, 0)]);
    queues.push(loads);
    let rows = mem(u32::from(ROW_SLICE));
    let read = Word::Mem { read: Some(Read { bank: 0, word: 0, to: Stream::east(16) }), write: None };
    queues.push(burst(rows, multiply - way(rows), read, &[Tag::new(ROWS, 0)], N, 1, &[next(1)]));
    let word = Word::Multiply { factors: Factors::I8, from: Stream::east(16) };
    let id = QueueId::Rows { half: Half::East, plane: 0 };
    queues.push(burst(
        id,
        multiply,
        word,
        &[Tag::new(ROWS, 0), Tag::new(WEIGHTS, 0)],
        N,
        0,
        &[next(1), next(0)],
    ));
    let word = Word::Accumulate { row: 0, add: false, emit: Some(Stream::west(0)) };
    let id = QueueId::Sums { half: Half::East, plane: 0 };
    queues.push(burst(id, take, word, &[Tag::new(SUMS, 0)], N, 0, &[next(1)]));
    for part in 0..4u8 {
        let write = Write { bank: 1, word: 0, from: Stream::west(part), mask: WHOLE };
        let (id, tag) = (mem(u32::from(SUM_SLICE + part)), Tag::new(SUMS, 0).part(part));
        let word = Word::Mem { read: None, write: Some(write) };
        let burst = burst(id, take + 1 + hops, word, &[tag, tag], N, 1, &[next(1), next(1)]);
        // The slice's weights come before.
        let mut reads = queues.iter().position(|queue| queue.id == id).map(|at| queues.remove(at)).unwrap();
        let until = load - way(id) + i64::from(N / 16);
        reads.push(Word::Nop { cycles: (take + 1 + hops - until) as u16 }, &[]);
        let behind = burst.words.iter().zip(&burst.tags).skip(1);
        behind.for_each(|(word, tags)| reads.push(*word, tags));
        queues.push(reads);
    }
    queues.iter_mut().for_each(|queue| queue.push(Word::Halt, &[]));
    let cell = |k: u32| Cell {
        at: east(FIRST_WEIGHTS + k % 16, 0, k / 16),
        tag: Tag::new(WEIGHTS, k),
        bytes: (0..N).map(|n| weight(k, n)).collect(),
    };
    let binding = |name: &str, kind, dtype, value, places| Binding {
        name: name.into(),
        kind,
        dtype,
        row: N,
        lanes: N,
        value,
        places,
    };
    let inputs = (0..N).map(|r| east(u32::from(ROW_SLICE), 0, r)).collect();
    let sums = (0..N).flat_map(|r| (0..4).map(move |part| east(u32::from(SUM_SLICE) + part, 1, r))).collect();
    let bindings = vec![
        binding("x", BindingKind::Input, DType::I8, ROWS, inputs),
        binding("y", BindingKind::Output, DType::I32, SUMS, sums),
    ];
    let name = |name: &str| ValueName { name: name.into(), node: "gemm".into() };
    Image {
        machine: machine.hash().to_string(),
        values: ["W", "X", "Y"].map(name).to_vec(),
        chips: vec![Chip { cells: (0..N).map(cell).collect(), bindings }],
        programs: vec![Program { name: "main".into(), phases: vec![Phase { trips: 1, queues }] }],
    }
}
