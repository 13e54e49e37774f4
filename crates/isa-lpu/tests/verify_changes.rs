//! The example of data/lpu_example.lpu and all its single changes: each is refused, or its kind is known to do no harm.

use crate::verify_faults::{F16, TILES, mini};
use std::collections::BTreeMap;
use tegula_isa_lpu::word::{Alu, Operand};
use tegula_isa_lpu::{Direction, Image, QueueId, Stream, Tag, Word, parse, verify};

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

#[test]
fn the_example_takes_21_cycles() {
    let proof = verify(&parse(EXAMPLE).unwrap(), &mini()).unwrap();
    let [program] = &proof.programs[..] else { panic!("{proof:?}") };
    assert_eq!((program.name.as_str(), program.cycles), ("main", 21));
    assert_eq!((program.phases[0].trips, program.phases[0].cycles, program.phases[0].issues), (1, 21, 41));
    let words: usize =
        parse(EXAMPLE).unwrap().programs[0].phases[0].queues.iter().map(|q| q.words.len()).sum();
    assert_eq!(proof.text_bytes, 16 * words as u64);
}

/// A change beside its kind.
type Change = (String, Image);

/// A copy of the example with one queue changed.
fn changed(image: &Image, queue: usize, change: impl Fn(&mut Vec<Word>, &mut Vec<Vec<Tag>>)) -> Image {
    let mut image = image.clone();
    let queue = &mut image.programs[0].phases[0].queues[queue];
    let mut tags: Vec<Vec<Tag>> = queue.tags.iter().map(|tags| tags.to_vec()).collect();
    change(&mut queue.words, &mut tags);
    queue.tags = tags.into_iter().map(Into::into).collect();
    image
}

/// What stands in a queue's kind of unit.
fn unit(id: QueueId) -> &'static str {
    match id {
        QueueId::Mem { .. } => "mem",
        QueueId::Weights { .. } => "weights",
        QueueId::Rows { .. } => "rows",
        QueueId::Sums { .. } => "sums",
        QueueId::Alu(_) => "alu",
        QueueId::Sxm { .. } => "sxm",
    }
}

fn changes(image: &Image) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, queue) in image.programs[0].phases[0].queues.iter().enumerate() {
        let unit = unit(queue.id);
        changes.extend(moves(image, at).into_iter().map(|(kind, image)| (format!("{unit}: {kind}"), image)));
        for place in 0..queue.words.len() {
            for (kind, word) in other_words(queue.words[place]) {
                let image = changed(image, at, |words, _| words[place] = word);
                changes.push((format!("{unit}: {kind}"), image));
            }
            for number in 0..queue.tags[place].len() {
                for (kind, tag) in other_tags(queue.tags[place][number]) {
                    let image = changed(image, at, |_, tags| tags[place][number] = tag);
                    changes.push((format!("{unit}: {kind} of tag {number}"), image));
                }
            }
        }
    }
    changes
}

/// A queue or one of its words by a cycle or two, later and earlier.
fn moves(image: &Image, queue: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let words = &image.programs[0].phases[0].queues[queue].words;
    for by in [-2i32, -1, 1, 2] {
        for place in 0..words.len() {
            let (kind, word) = match words[place] {
                Word::Nop { cycles } => (
                    "the queue starts at another time",
                    Word::Nop { cycles: (i32::from(cycles) + by).max(0) as u16 },
                ),
                Word::Repeat { count, gap, strides } if by > 0 => {
                    ("a gap", Word::Repeat { count, gap: gap + by as u16, strides })
                }
                _ => continue,
            };
            found.push((kind.to_string(), changed(image, queue, |words, _| words[place] = word)));
        }
        for place in (0..words.len()).filter(|_| by > 0) {
            let kind = if words[place] == Word::Halt { "a pause before halt" } else { "a pause" };
            let image = changed(image, queue, |words, tags| {
                words.insert(place, Word::Nop { cycles: by as u16 });
                tags.insert(place, Vec::new());
            });
            found.push((kind.to_string(), image));
        }
    }
    found
}

/// The same word with one field changed.
fn other_words(word: Word) -> Vec<(&'static str, Word)> {
    let mut found = Vec::new();
    let mut add = |kind, other: Word| {
        if other != word {
            found.push((kind, other));
        }
    };
    match word {
        Word::Repeat { count, gap, strides } => {
            add("one more", Word::Repeat { count: count + 1, gap, strides });
            add("one less", Word::Repeat { count: count - 1, gap, strides });
            let [a, b, c] = strides;
            for by in [-1, 1] {
                add("stride", Word::Repeat { count, gap, strides: [a + by, b, c] });
                add("stride of no address", Word::Repeat { count, gap, strides: [a, b + by, c] });
            }
        }
        Word::Mem { read, write } => {
            if let Some(read) = read {
                let of = |change: &dyn Fn(&mut tegula_isa_lpu::word::Read)| {
                    let mut read = read;
                    change(&mut read);
                    Word::Mem { read: Some(read), write }
                };
                add("bank", of(&|read| read.bank ^= 1));
                add("address", of(&|read| read.word += 1));
                streams(read.to).for_each(|to| add("stream", of(&|read| read.to = to)));
            }
            if let Some(write) = write {
                let of = |change: &dyn Fn(&mut tegula_isa_lpu::word::Write)| {
                    let mut write = write;
                    change(&mut write);
                    Word::Mem { read, write: Some(write) }
                };
                add("bank", of(&|write| write.bank ^= 1));
                add("address", of(&|write| write.word += 1));
                add("mask", of(&|write| write.mask = 0));
                add("mask of all lanes", of(&|write| write.mask = 1));
                streams(write.from).for_each(|from| add("stream", of(&|write| write.from = from)));
            }
        }
        Word::LoadWeights { row, from } => {
            for row in [row ^ 1, row ^ 8] {
                add("row", Word::LoadWeights { row, from });
            }
            streams(from).for_each(|from| add("stream", Word::LoadWeights { row, from }));
        }
        Word::Multiply { factors, from } => {
            streams(from).for_each(|from| add("stream", Word::Multiply { factors, from }));
        }
        Word::Accumulate { row, add: adds, emit } => {
            add("row", Word::Accumulate { row: row + 1, add: adds, emit });
            add("add", Word::Accumulate { row, add: !adds, emit });
            add("emit", Word::Accumulate { row, add: adds, emit: None });
            for emit in emit.into_iter().flat_map(streams) {
                add("stream", Word::Accumulate { row, add: adds, emit: Some(emit) });
            }
        }
        Word::Alu(alu) => other_alus(alu).into_iter().for_each(|(kind, alu)| add(kind, Word::Alu(alu))),
        Word::Nop { .. }
        | Word::Sync
        | Word::Notify
        | Word::Fetch { .. }
        | Word::Halt
        | Word::Gather { .. }
        | Word::Scatter { .. }
        | Word::InstallWeights
        | Word::Shift { .. }
        | Word::Permute { .. }
        | Word::Broadcast { .. }
        | Word::Transpose { .. }
        | Word::Blend { .. }
        | Word::Send { .. }
        | Word::Receive { .. } => {}
    }
    found
}

fn other_alus(alu: Alu) -> Vec<(&'static str, Alu)> {
    let mut found = vec![("hold", Alu { hold: !alu.hold, ..alu })];
    for slot in 0..3 {
        let mut with = |operand| {
            let mut operands = alu.operands;
            operands[slot] = operand;
            found.push(("operand", Alu { operands, ..alu }));
        };
        match alu.operands[slot] {
            Operand::Stream(stream) => streams(stream).for_each(|stream| with(Operand::Stream(stream))),
            Operand::Alu(other) => {
                [other + 1, other + 9].into_iter().for_each(|other| with(Operand::Alu(other)))
            }
            Operand::None | Operand::Immediate | Operand::Held => {}
        }
    }
    match alu.to {
        Some(to) => found.extend(streams(to).map(|to| ("stream", Alu { to: Some(to), ..alu }))),
        None => found.push(("result onto a stream", Alu { to: Some(Stream::west(0)), ..alu })),
    }
    found
}

/// The streams beside it, one of the other direction, and one that no machine has.
fn streams(stream: Stream) -> impl Iterator<Item = Stream> {
    let other = match stream.direction {
        Direction::East => Direction::West,
        Direction::West => Direction::East,
    };
    let far = Stream { id: 60, ..stream };
    [Stream { id: stream.id ^ 1, ..stream }, Stream { direction: other, ..stream }, far].into_iter()
}

fn other_tags(tag: Tag) -> [(&'static str, Tag); 3] {
    [
        ("value", Tag { value: tag.value + 1, ..tag }),
        ("index", Tag { index: tag.index + 1, ..tag }),
        ("part", Tag { part: tag.part + 1, ..tag }),
    ]
}

/// A kind of change of which some pass, why they do no harm, and how many pass.
type Harmless = (&'static str, &'static str, usize);

const OF_EXAMPLE: [Harmless; 17] = [
    ("alu: a pause before halt", "no word issues behind the pause", 6),
    ("mem: a pause before halt", "no word issues behind the pause", 28),
    ("rows: a pause before halt", "no word issues behind the pause", 2),
    ("sums: a pause before halt", "no word issues behind the pause", 2),
    ("weights: a pause before halt", "no word issues behind the pause", 2),
    ("alu: stride", "the word has no address", 6),
    ("rows: stride", "the word has no address", 2),
    ("alu: stride of no address", "the word has no second address", 6),
    ("mem: stride of no address", "the word has no second address", 28),
    ("rows: stride of no address", "the word has no second address", 2),
    ("sums: stride of no address", "the word has no second address", 2),
    ("weights: stride of no address", "the word has no second address", 2),
    ("sums: row", "each row is set and emitted at once", 1),
    ("sums: stride", "each row is set and emitted at once", 2),
    ("alu: hold", "no word uses what is kept", 3),
    ("mem: mask of all lanes", "the machine's vector has one part", 1),
    ("mem: one more", "the bias is read once more, and no word senses it", 4),
];

const OF_F16: [Harmless; 9] = [
    ("mem: a pause before halt", "no word issues behind the pause", 20),
    ("rows: a pause before halt", "no word issues behind the pause", 2),
    ("sums: a pause before halt", "no word issues behind the pause", 2),
    ("weights: a pause before halt", "no word issues behind the pause", 4),
    ("mem: stride of no address", "the word has no second address", 4),
    ("rows: stride", "the word has no address", 2),
    ("rows: stride of no address", "the word has no second address", 2),
    ("mem: one more", "the row is read once more, and no word senses it", 2),
    ("weights: a pause", "the weights are installed a cycle before the first multiply", 1),
];

const OF_TILES: [Harmless; 6] = [
    ("mem: a pause before halt", "no word issues behind the pause", 18),
    ("rows: a pause before halt", "no word issues behind the pause", 2),
    ("sums: a pause before halt", "no word issues behind the pause", 2),
    ("weights: a pause before halt", "no word issues behind the pause", 2),
    ("mem: stride of no address", "the word has no second address", 34),
    ("weights: stride of no address", "the word has no second address", 2),
];

/// No word senses the sums of these texts.
const NO_READER: Harmless = ("sums: stream", "no word senses the sums", 2);

#[test]
fn every_single_change_is_refused_or_harmless() {
    check_changes(EXAMPLE, &OF_EXAMPLE, 600);
    check_changes(F16, &[&OF_F16[..], &[NO_READER]].concat(), 350);
    check_changes(TILES, &[&OF_TILES[..], &[NO_READER]].concat(), 500);
}

fn check_changes(text: &str, harmless: &[Harmless], at_least: usize) {
    let (mut image, machine) = (parse(text).unwrap(), mini());
    image.machine = machine.hash().to_string();
    let mut passed: BTreeMap<String, usize> = BTreeMap::new();
    let changes = changes(&image);
    assert!(changes.len() > at_least, "{}", changes.len());
    for (kind, image) in changes {
        if verify(&image, &machine).is_ok() {
            *passed.entry(kind).or_default() += 1;
        }
    }
    let known = harmless.iter().map(|(kind, _, count)| ((*kind).to_string(), *count)).collect();
    assert_eq!(passed, known);
}
