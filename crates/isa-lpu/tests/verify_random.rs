//! Images that mean nothing must be refused without a panic, and long ones must be proved in order n log n.

use crate::sample::{Random, random_image};
use crate::verify_faults::{ALUS, COPY, F16, GATHER, TILES, faults, mini};
use tegula_base::DType;
use tegula_isa_lpu::word::{Operand, Read, Write};
use tegula_isa_lpu::{Address, Image, Queue, QueueId, Stream, Tag, ValueName, Word, parse, verify};
use tegula_machine::{Lpu, Machine};

#[test]
fn random_images_are_refused() {
    let machine = mini();
    for seed in 0..500 {
        let mut image = random_image(&mut Random::new(seed));
        image.machine = machine.hash().to_string();
        let _ = verify(&image, &machine);
    }
}

#[test]
fn random_images_in_range_are_refused_or_proved() {
    let machine = mini();
    let (mut scheduled, mut proved) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let image = in_range(random_image(&mut random), &mut random, &machine);
        match verify(&image, &machine) {
            Ok(_) => proved += 1,
            Err(found) => {
                assert!(found.0.len() <= 20);
                scheduled += usize::from(found.to_string().contains(", cycle "));
                assert_eq!(verify(&image, &machine), Err(found), "seed {seed}");
            }
        }
    }
    assert!(scheduled > 500 && proved > 500, "{scheduled} scheduled, {proved} proved");
}

#[test]
fn schedules_with_several_changes_are_refused_or_proved() {
    let machine = mini();
    let mut proved = 0;
    for (text, seed) in
        [COPY, ALUS, F16, TILES, GATHER].into_iter().flat_map(|text| (0..600).map(move |seed| (text, seed)))
    {
        let mut image = parse(text).unwrap();
        image.machine = machine.hash().to_string();
        let mut random = Random::new(seed);
        for _ in 0..1 + random.below(4) {
            change(&mut image.programs[0].phases[0].queues, &mut random);
        }
        proved += usize::from(verify(&image, &machine).is_ok());
    }
    assert!((1..1500).contains(&proved), "{proved}");
}

/// Changes one word of a queue.
pub fn change(queues: &mut [Queue], random: &mut Random) {
    let at = random.below(queues.len() as u64) as usize;
    let queue = &mut queues[at];
    let place = random.below(queue.words.len() as u64) as usize;
    let (word, tags) = (queue.words[place], queue.tags[place].clone());
    match random.below(6) {
        0 if queue.words.len() > 1 => {
            queue.words.remove(place);
            queue.tags.remove(place);
        }
        1 => {
            queue.words.insert(place, word);
            queue.tags.insert(place, tags);
        }
        2 => {
            queue.words.insert(place, Word::Nop { cycles: random.below(4) as u16 });
            queue.tags.insert(place, Default::default());
        }
        3 => {
            let other = random.below(queue.words.len() as u64) as usize;
            queue.words.swap(place, other);
            queue.tags.swap(place, other);
        }
        4 => queue.tags[place].iter_mut().for_each(|tag| tag.index ^= random.below(2) as u32),
        _ => {
            let count = random.below(4) as u16;
            queue.words.insert(place + 1, Word::Repeat { count, gap: 0, strides: [0; 3] });
            queue.tags.insert(place + 1, tags.iter().map(|_| Tag::new(0, 0)).collect());
        }
    }
}

/// The image with its words in queues of their units, and nearly all numbers in the machine's ranges.
fn in_range(mut image: Image, random: &mut Random, machine: &Machine) -> Image {
    let lpu = machine.lpu().unwrap();
    image.machine = machine.hash().to_string();
    image.values = (0..3).map(|i| ValueName { name: format!("v{i}"), node: String::new() }).collect();
    image.chips.resize_with(1, Default::default);
    for chip in &mut image.chips {
        for cell in &mut chip.cells {
            (cell.at, cell.tag) = (small_address(cell.at), small_tag(cell.tag));
            cell.bytes.resize(lpu.vector() as usize, 0);
        }
        for binding in &mut chip.bindings {
            (binding.dtype, binding.row, binding.lanes) = (DType::I8, 16, 16);
            binding.value %= 3;
            binding.places.iter_mut().for_each(|at| *at = small_address(*at));
        }
    }
    for phase in image.programs.iter_mut().flat_map(|program| &mut program.phases) {
        phase.trips = 1 + random.below(2) as u32;
        phase.queues.iter_mut().for_each(|queue| queue_in_range(queue, lpu));
        phase.queues.sort_by_key(|queue| queue.id);
        phase.queues.dedup_by_key(|queue| queue.id);
    }
    image
}

fn queue_in_range(queue: &mut Queue, lpu: &Lpu) {
    queue.chip = 0;
    queue.id = match queue.id {
        QueueId::Mem { half, slice } => QueueId::Mem { half, slice: slice % 8 },
        QueueId::Weights { half, plane } => QueueId::Weights { half, plane: plane % 2 },
        QueueId::Rows { half, plane } => QueueId::Rows { half, plane: plane % 2 },
        QueueId::Sums { half, plane } => QueueId::Sums { half, plane: plane % 2 },
        QueueId::Alu(alu) => QueueId::Alu(alu % 16),
        QueueId::Sxm { half, queue } => QueueId::Sxm { half, queue: queue % 14 },
    };
    let mut tame = Queue::new(0, queue.id);
    let mut ends = None;
    for (word, tags) in queue.words.iter().zip(&queue.tags) {
        let word = small_word(*word);
        let count = match word {
            Word::Repeat { .. } => ends,
            other if fits(&other, queue.id) => Some(other.ends(lpu).len()),
            _ => None,
        };
        let Some(count) = count else { continue };
        if !matches!(word, Word::Repeat { .. } | Word::Nop { .. }) {
            ends = Some(count);
        }
        let own = tags.iter().copied().chain([Tag::default(); 8]).map(small_tag);
        tame.push(word, &own.take(count).collect::<Vec<_>>());
    }
    tame.push(Word::Halt, &[]);
    *queue = tame;
}

fn fits(word: &Word, queue: QueueId) -> bool {
    match word {
        Word::Nop { .. } => true,
        Word::Repeat { .. } | Word::Sync | Word::Notify | Word::Fetch { .. } | Word::Halt => false,
        Word::Send { .. } | Word::Receive { .. } => false,
        Word::Mem { .. } | Word::Gather { .. } | Word::Scatter { .. } => matches!(queue, QueueId::Mem { .. }),
        Word::LoadWeights { .. } | Word::InstallWeights => matches!(queue, QueueId::Weights { .. }),
        Word::Multiply { .. } => matches!(queue, QueueId::Rows { .. }),
        Word::Accumulate { .. } => matches!(queue, QueueId::Sums { .. }),
        Word::Alu(_) => matches!(queue, QueueId::Alu(_)),
        Word::Shift { .. }
        | Word::Permute { .. }
        | Word::Broadcast { .. }
        | Word::Transpose { .. }
        | Word::Blend { .. } => matches!(queue, QueueId::Sxm { .. }),
    }
}

fn small_word(word: Word) -> Word {
    let s = |stream: Stream| Stream { id: stream.id % 4, ..stream };
    match word {
        Word::Nop { cycles } => Word::Nop { cycles: cycles % 8 },
        Word::Repeat { count, gap, strides } => {
            Word::Repeat { count: count % 4, gap: gap % 3, strides: strides.map(|stride| stride % 2) }
        }
        Word::Mem { read, write } => Word::Mem {
            read: read.map(|read| Read { bank: 0, word: read.word % 4, to: s(read.to) }),
            write: write.map(|write| Write {
                bank: 1,
                word: write.word % 4,
                from: s(write.from),
                mask: write.mask | 1,
            }),
        },
        Word::Gather { bank, word, count, by, to } => {
            Word::Gather { bank: bank % 2, word: word % 4, count: 1 + count % 3, by: s(by), to: s(to) }
        }
        Word::Scatter { bank, word, count, by, from } => {
            Word::Scatter { bank: bank % 2, word: word % 4, count: 1 + count % 3, by: s(by), from: s(from) }
        }
        Word::LoadWeights { row, from } => {
            Word::LoadWeights { row: row % 2 * 8, from: Stream { id: 0, ..from } }
        }
        Word::Accumulate { row, add, emit } => Word::Accumulate { row: row % 4, add, emit: emit.map(s) },
        Word::Multiply { factors, from } => Word::Multiply { factors, from: s(from) },
        Word::Alu(mut alu) => {
            for operand in &mut alu.operands {
                match operand {
                    Operand::Stream(stream) => *stream = s(*stream),
                    Operand::Alu(other) => *other %= 16,
                    Operand::None | Operand::Immediate | Operand::Held => {}
                }
            }
            alu.to = alu.to.map(s);
            Word::Alu(alu)
        }
        Word::Shift { by, rotate, from, to, .. } => {
            Word::Shift { by, rotate, streams: 1, from: s(from), to: s(to) }
        }
        Word::Permute { table, from, to, .. } => {
            Word::Permute { table: s(table), streams: 2, from: s(from), to: s(to) }
        }
        Word::Broadcast { lane, from, to, .. } => {
            Word::Broadcast { lane: lane % 16, streams: 4, from: s(from), to: s(to) }
        }
        Word::Blend { mask, a, b, to, .. } => {
            Word::Blend { mask: s(mask), streams: 1, a: s(a), b: s(b), to: s(to) }
        }
        other @ (Word::Sync
        | Word::Notify
        | Word::Fetch { .. }
        | Word::Halt
        | Word::InstallWeights
        | Word::Transpose { .. }
        | Word::Send { .. }
        | Word::Receive { .. }) => other,
    }
}

fn small_tag(tag: Tag) -> Tag {
    Tag { value: tag.value % 3, index: tag.index % 2, part: 0 }
}

fn small_address(at: Address) -> Address {
    Address { half: at.half, slice: at.slice % 8, bank: at.bank % 2, word: at.word % 8 }
}

#[test]
fn a_million_issues_are_proved() {
    let mut text = "value 0 \"a\" node \"\"\nchip 0\n".to_string();
    for slice in 0..8 {
        text += &format!("cell W.mem{slice} 0:0 %0[0] {}\n", "00".repeat(16));
    }
    text += "program \"main\"\nphase trips 1\n";
    for slice in 0..8 {
        let first = slice / 4;
        let repeat = "repeat 65535 gap 0 by 0 0 0 ;";
        text += &format!(
            "queue 0 W.mem{slice}\nread 0:0 -> e{slice} ; %0[0]\n{repeat} %0[0]\nhalt
             queue 0 E.mem{slice}\nnop {}\nwrite e{slice} -> 1:0 ; %0[0] %0[0]\n{repeat} %0[0] %0[0]\nhalt\n",
            4 + 2 * first
        );
    }
    assert_eq!(faults(&text), Vec::<String>::new());
}

/// Ranges of `gather` against a list of what each word holds.
#[test]
fn random_ranges_are_refused_where_a_word_differs() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut held = [None; 12];
        let (mut cells, mut words, mut wrong) = (String::new(), String::new(), 0);
        for (word, held) in held.iter_mut().enumerate() {
            let value = random.below(3);
            if value == 2 {
                continue;
            }
            *held = Some(value);
            cells += &format!("cell W.mem0 0:{word} %{value}[{word}] {}\n", "00".repeat(16));
        }
        for _ in 0..16 {
            let word = random.below(12) as usize;
            let value = random.below(2);
            if random.below(2) == 0 {
                held[word] = Some(value);
                words += &format!("write e0 -> 0:{word} ; %2[0] %{value}[{word}]\n");
            } else {
                let count = 1 + random.below(12 - word as u64) as usize;
                wrong += usize::from(held[word..word + count].iter().any(|held| *held != Some(value)));
                words += &format!("gather 0:{word} x{count} e1 -> e4 ; %2[1] %{value}[0]\n");
            }
        }
        let found = faults(&ranges(&cells, &words));
        let ranges = found.iter().filter(|fault| fault.contains("should lie in all words"));
        assert_eq!(ranges.count(), wrong, "seed {seed}: {cells}{words}{found:?}");
    }
}

/// A slice that writes what comes on e0, and gathers by e1 and e2, in each cycle from the third on.
fn ranges(cells: &str, words: &str) -> String {
    let mut text = (0..3).map(|value| format!("value {value} \"v{value}\" node \"\"\n")).collect::<String>();
    text += &format!("chip 0\n{cells}");
    let sources = ["%2[0]", "%2[1]", "%2[1].1"];
    for (slice, tag) in (1..).zip(sources) {
        text += &format!("cell W.mem{slice} 0:0 {tag} {}\n", "00".repeat(16));
    }
    text += &format!("program \"main\"\nphase trips 1\nqueue 0 W.mem0\nnop 2\n{words}halt\n");
    for (slice, tag) in (1..).zip(sources) {
        let stream = slice - 1;
        text += &format!(
            "queue 0 W.mem{slice}\nread 0:0 -> e{stream} ; {tag}\nrepeat 24 gap 0 by 0 0 0 ; %0[0]\nhalt\n"
        );
    }
    text
}
