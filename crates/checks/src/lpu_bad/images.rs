//! Damaged images in packages that are sound otherwise: fields that no machine has, and bytes that no image has.

use std::fs;

use anyhow::{Context, Result, anyhow};
use tegula_isa_lpu::tag::Tags;
use tegula_isa_lpu::word::{Read, Write};
use tegula_isa_lpu::{Image, Queue, QueueId, Stream, Tag, Word, encode};
use tegula_package::{DeviceId, Package, PackageBuilder};
use tegula_testkit::lpu::example;

use super::Transcript;

/// How an image is damaged.
enum Damage {
    /// As data, before it is written.
    Fields(fn(&mut Image)),
    /// As bytes.
    Bytes(fn(&mut Vec<u8>)),
}

use Damage::{Bytes, Fields};

/// Where counts lie: behind magic, version and the machine's 64 digits.
const VALUES: usize = 80;

const IMAGES: &[(&str, Damage)] = &[
    ("an empty image", Bytes(Vec::clear)),
    ("another magic", Bytes(|bytes| bytes[0] = b'X')),
    ("half a magic", Bytes(|bytes| bytes.truncate(4))),
    ("cut off in its version", Bytes(|bytes| bytes.truncate(10))),
    ("a later version", Bytes(|bytes| bytes[8] = 2)),
    ("a version beyond all", Bytes(|bytes| bytes[8..12].fill(0xff))),
    ("another machine's hash", Bytes(|bytes| bytes[16] ^= 1)),
    ("a hash that is no text", Bytes(|bytes| bytes[16] = 0xff)),
    ("a hash that is too long", Bytes(|bytes| bytes[12..16].fill(0xff))),
    ("cut off in the machine's hash", Bytes(|bytes| bytes.truncate(40))),
    ("four billion values", Bytes(|bytes| bytes[VALUES..VALUES + 4].fill(0xff))),
    ("a value more than there is", Bytes(|bytes| bytes[VALUES] += 1)),
    ("a value less than there is", Bytes(|bytes| bytes[VALUES] -= 1)),
    ("a name without end", Bytes(|bytes| bytes[VALUES + 4..VALUES + 8].fill(0x7f))),
    ("cut off in its cells", Bytes(|bytes| bytes.truncate(500))),
    ("cut off in its words", Bytes(|bytes| bytes.truncate(bytes.len() / 2))),
    ("cut off by one byte", Bytes(|bytes| bytes.truncate(bytes.len() - 1))),
    ("a byte too much", Bytes(|bytes| bytes.push(0))),
    ("a megabyte of zeros behind it", Bytes(|bytes| bytes.resize(bytes.len() + (1 << 20), 0))),
    ("a word of an unknown kind", Bytes(|bytes| in_first_halt(bytes, 0, 99))),
    ("bits in the empty part of a word", Bytes(|bytes| in_first_halt(bytes, 15, 1))),
    ("255 tags of a word", Bytes(|bytes| *bytes.last_mut().unwrap_or(&mut 0) = 255)),
    ("four billion words of a queue", Bytes(|bytes| words_of_first_queue(bytes, u32::MAX))),
    ("no words of a queue", Bytes(|bytes| words_of_first_queue(bytes, 0))),
    ("a queue of an unknown kind", Bytes(|bytes| before_first_queue(bytes, 4, 9))),
    ("a queue of no half", Bytes(|bytes| before_first_queue(bytes, 5, 2))),
    ("a slice that the machine has not", Fields(|image| queues(image)[0].id = QueueId::Alu(200))),
    ("a chip that the image has not", Fields(|image| queues(image)[0].chip = 65535)),
    ("no chips", Fields(|image| image.chips.clear())),
    ("no programs", Fields(|image| image.programs.clear())),
    ("another program's name", Fields(|image| image.programs[0].name = "other".into())),
    ("no trip", Fields(|image| image.programs[0].phases[0].trips = 0)),
    (
        "a queue twice",
        Fields(|image| {
            let queue = queues(image)[0].clone();
            queues(image).push(queue);
        }),
    ),
    (
        "a queue without an end",
        Fields(|image| {
            queues(image)[0].words.pop();
            queues(image)[0].tags.pop();
        }),
    ),
    ("a tag of an unknown value", Fields(|image| queues(image)[0].tags[1][0] = Tag::new(u32::MAX, 0))),
    ("a tag too few", Fields(|image| queues(image)[0].tags[1].clear())),
    (
        "200 tags of a word",
        Fields(|image| {
            queues(image)[0].tags[1] = Tags::from_elem(Tag::default(), 200);
        }),
    ),
    (
        "a read beyond the bank",
        Fields(|image| read(image, Read { bank: 0, word: 65535, to: Stream::east(0) })),
    ),
    ("a read of no bank", Fields(|image| read(image, Read { bank: 255, word: 0, to: Stream::east(0) }))),
    (
        "a stream that the machine has not",
        Fields(|image| read(image, Read { bank: 0, word: 0, to: Stream::east(127) })),
    ),
    (
        "a write of nothing",
        Fields(|image| {
            let write = Write { bank: 0, word: 0, from: Stream::west(7), mask: 0 };
            queues(image)[1].words[1] = Word::Mem { read: None, write: Some(write) };
        }),
    ),
    ("a cell of no bytes", Fields(|image| image.chips[0].cells[0].bytes.clear())),
    ("a cell of a megabyte", Fields(|image| image.chips[0].cells[0].bytes.resize(1 << 20, 0))),
    ("two cells in one place", Fields(|image| image.chips[0].cells[1].at = image.chips[0].cells[0].at)),
    ("a cell outside the machine", Fields(|image| image.chips[0].cells[0].at.slice = 255)),
    ("a tensor of no lanes", Fields(|image| image.chips[0].bindings[0].lanes = 0)),
    ("a tensor of rows without end", Fields(|image| image.chips[0].bindings[0].row = u32::MAX)),
    ("a tensor of no row", Fields(|image| image.chips[0].bindings[0].row = 0)),
    ("a tensor without a place", Fields(|image| image.chips[0].bindings[0].places.clear())),
    ("a repeat that steps out of all addresses", Fields(|image| repeat(image, 1, 3, -1))),
    ("17 million issues of a few words", Fields(|image| repeat(image, 260, 65535, 0))),
    ("four billion issues of a megabyte of words", Fields(|image| repeat(image, 65537, 65535, 0))),
];

fn queues(image: &mut Image) -> &mut Vec<Queue> {
    &mut image.programs[0].phases[0].queues
}

/// The first read of the first queue.
fn read(image: &mut Image, read: Read) {
    queues(image)[0].words[1] = Word::Mem { read: Some(read), write: None };
}

/// So many repeats of the first queue's read.
fn repeat(image: &mut Image, times: usize, count: u16, stride: i16) {
    let queue = &mut queues(image)[0];
    let (word, tags) = (Word::Repeat { count, gap: 0, strides: [stride, 0, 0] }, queue.tags[2].clone());
    queue.words.splice(2..3, vec![word; times]);
    queue.tags.splice(2..3, vec![tags; times]);
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap_or_default()
}

/// Changes a byte of the first `halt`: 5, then 15 zeros, which nothing before the words looks like.
fn in_first_halt(bytes: &mut [u8], at: usize, byte: u8) {
    let mut halt = [0; 16];
    halt[0] = 5;
    let start = find(bytes, b"main");
    let halt = start + find(&bytes[start..], &halt);
    bytes[halt + at] = byte;
}

/// Changes a byte of the first queue, which lies behind the program's name, the count of phases, trips, the count of queues.
fn before_first_queue(bytes: &mut [u8], at: usize, byte: u8) {
    let queue = find(bytes, b"main") + 4 + 12;
    bytes[queue + at] = byte;
}

/// The count of words is behind the queue's chip, kind, half and number.
fn words_of_first_queue(bytes: &mut [u8], count: u32) {
    let words = find(bytes, b"main") + 4 + 12 + 7;
    bytes[words..words + 4].copy_from_slice(&count.to_le_bytes());
}

/// Gives each to the command in a package of its own; their number.
pub(super) fn check(transcript: &mut Transcript) -> Result<usize> {
    let example = example();
    let sound = tegula_driver::lpu::package(&example.image, &example.machine, "example.lpu")
        .map_err(|faults| anyhow!("{faults}"))?
        .into_package();
    for (what, damage) in IMAGES {
        let mut image = example.image.clone();
        let mut bytes = encode(&image);
        match damage {
            Fields(change) => {
                change(&mut image);
                bytes = encode(&image);
            }
            Bytes(change) => change(&mut bytes),
        }
        fs::write(transcript.folder.join("image.tgl"), packed(&sound, &bytes).context(*what)?)?;
        transcript.refuse(what, &["run", "image.tgl", "--target", "sim-lpu"])?;
    }
    Ok(IMAGES.len())
}

/// The package with other bytes for an image, and checksums that are right.
fn packed(sound: &Package, image: &[u8]) -> Result<Vec<u8>> {
    let mut builder = PackageBuilder::new();
    builder.add_image(tegula_driver::lpu::ISA, DeviceId(1), image);
    let draft = builder.finish(sound.manifest.about.clone(), sound.program.clone());
    Ok(draft.map_err(|faults| anyhow!("{faults}"))?.to_bytes().to_vec())
}
