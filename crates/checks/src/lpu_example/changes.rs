//! All single changes of a program of one phase on one chip: of when a word issues, where, and what it says.
//!
//! Of time: a queue or one word of it, a cycle or two earlier or later, alone or with all behind it. Of place: another queue,
//! stream, address, row, bank. Of what is said: operands, repeats, tags.

use std::collections::BTreeMap;

use tegula_isa_lpu::tag::Tags;
use tegula_isa_lpu::word::{Alu, Operand, Read, Write};
use tegula_isa_lpu::{Direction, Half, Image, Queue, QueueId, Stream, Tag, Word, issues};
use tegula_machine::Lpu;

/// One change of an image.
pub struct Change {
    /// The queue, beside the word where it is one of a queue's text.
    pub place: String,
    pub unit: &'static str,
    pub kind: String,
    pub image: Image,
}

/// All changes of an image that the machine runs.
pub fn changes(image: &Image, lpu: &Lpu) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, queue) in image.programs[0].phases[0].queues.iter().enumerate() {
        let mut add = |place: usize, kind: String, image: Image| {
            let place = format!("{} word {place}", queue.id);
            changes.push(Change { place, unit: unit(queue.id), kind, image });
        };
        for (place, kind, image) in moves(image, at) {
            add(place, kind.to_string(), image);
        }
        for place in 0..queue.words.len() {
            for (kind, word) in other_words(queue.words[place]) {
                let image = changed(image, at, |words, _| words[place] = word);
                add(place, kind.to_string(), image);
            }
            for number in 0..queue.tags[place].len() {
                for (kind, tag) in other_tags(queue.tags[place][number]) {
                    let image = changed(image, at, |_, tags| tags[place][number] = tag);
                    add(place, format!("{kind} of tag {number}"), image);
                }
            }
        }
        for id in other_queues(queue.id) {
            let mut image = image.clone();
            image.programs[0].phases[0].queues[at].id = id;
            let place = queue.id.to_string();
            changes.push(Change { place, unit: unit(queue.id), kind: "another queue".into(), image });
        }
    }
    changes.extend(alone(image, lpu));
    changes
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

/// A copy of the image with one queue changed.
fn changed(image: &Image, queue: usize, change: impl Fn(&mut Vec<Word>, &mut Vec<Tags>)) -> Image {
    let mut image = image.clone();
    let queue = &mut image.programs[0].phases[0].queues[queue];
    change(&mut queue.words, &mut queue.tags);
    image
}

/// What a queue issues, by cycle; repeats are written out.
type Issued = BTreeMap<i64, (Word, Tags)>;

/// One issue moved in time or to another queue, all others where they are.
fn alone(image: &Image, lpu: &Lpu) -> Vec<Change> {
    let mut queues: BTreeMap<QueueId, Issued> = BTreeMap::new();
    let (found, _) = issues(&image.programs[0].phases[0], lpu).expect("invariant: the program is right");
    for issue in found {
        queues.entry(issue.queue).or_default().insert(issue.cycle, (issue.word, issue.tags));
    }
    let mut changes = Vec::new();
    for (id, issued) in &queues {
        for (cycle, issue) in issued {
            let mut add = |kind: &str, to: QueueId, at: i64| {
                if at < 0 || queues.get(&to).is_some_and(|queue| queue.contains_key(&at)) {
                    return;
                }
                let mut queues = queues.clone();
                queues.entry(*id).or_default().remove(cycle);
                queues.entry(to).or_default().insert(at, issue.clone());
                let place = format!("{id} cycle {cycle}");
                let image = written(image, &queues);
                changes.push(Change { place, unit: unit(*id), kind: kind.to_string(), image });
            };
            for by in [-2, -1, 1, 2] {
                add("another cycle", *id, cycle + by);
            }
            for to in other_queues(*id) {
                add("a word in another queue", to, *cycle);
            }
        }
    }
    changes
}

/// The image with words that issue so.
fn written(image: &Image, queues: &BTreeMap<QueueId, Issued>) -> Image {
    let mut image = image.clone();
    image.programs[0].phases[0].queues = queues.iter().map(|(id, issued)| queue(*id, issued)).collect();
    image
}

fn queue(id: QueueId, issued: &Issued) -> Queue {
    let mut queue = Queue::new(0, id);
    let mut next = 0;
    for (cycle, (word, tags)) in issued {
        if *cycle > next {
            queue.push(Word::Nop { cycles: (cycle - next) as u16 }, &[]);
        }
        queue.push(*word, tags);
        next = cycle + 1;
    }
    queue.push(Word::Halt, &[]);
    queue
}

/// The queue beside it, and the one of the other half.
fn other_queues(id: QueueId) -> Vec<QueueId> {
    let other = |half: Half| if half == Half::East { Half::West } else { Half::East };
    match id {
        QueueId::Mem { half, slice } => {
            vec![QueueId::Mem { half, slice: slice ^ 1 }, QueueId::Mem { half: other(half), slice }]
        }
        QueueId::Weights { half, plane } => {
            vec![QueueId::Weights { half, plane: plane ^ 1 }, QueueId::Weights { half: other(half), plane }]
        }
        QueueId::Rows { half, plane } => {
            vec![QueueId::Rows { half, plane: plane ^ 1 }, QueueId::Rows { half: other(half), plane }]
        }
        QueueId::Sums { half, plane } => {
            vec![QueueId::Sums { half, plane: plane ^ 1 }, QueueId::Sums { half: other(half), plane }]
        }
        QueueId::Alu(alu) => vec![QueueId::Alu(alu ^ 1), QueueId::Alu(alu + 4)],
        QueueId::Sxm { half, queue } => {
            vec![QueueId::Sxm { half, queue: queue ^ 1 }, QueueId::Sxm { half: other(half), queue }]
        }
    }
}

/// All that stands behind a word by a cycle or two, later and earlier.
fn moves(image: &Image, queue: usize) -> Vec<(usize, &'static str, Image)> {
    let mut found = Vec::new();
    let words = &image.programs[0].phases[0].queues[queue].words;
    for by in [-2i32, -1, 1, 2] {
        for place in 0..words.len() {
            let (kind, word) = match words[place] {
                Word::Nop { cycles } if i32::from(cycles) + by >= 0 => {
                    ("another pause", Word::Nop { cycles: (i32::from(cycles) + by) as u16 })
                }
                Word::Repeat { count, gap, strides } if by > 0 => {
                    ("a gap", Word::Repeat { count, gap: gap + by as u16, strides })
                }
                _ => continue,
            };
            found.push((place, kind, changed(image, queue, |words, _| words[place] = word)));
        }
        for place in (0..words.len()).filter(|_| by > 0) {
            let kind = if words[place] == Word::Halt { "a pause before halt" } else { "a pause" };
            let image = changed(image, queue, |words, tags| {
                words.insert(place, Word::Nop { cycles: by as u16 });
                tags.insert(place, Tags::new());
            });
            found.push((place, kind, image));
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
                let of = |change: &dyn Fn(&mut Read)| {
                    let mut read = read;
                    change(&mut read);
                    Word::Mem { read: Some(read), write }
                };
                add("bank", of(&|read| read.bank ^= 1));
                add("address", of(&|read| read.word += 1));
                streams(read.to).for_each(|to| add("stream", of(&|read| read.to = to)));
            }
            if let Some(write) = write {
                let of = |change: &dyn Fn(&mut Write)| {
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
