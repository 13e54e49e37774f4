//! An image as bytes: little-endian, words of 16 bytes, tags apart from the words, since a chip would not have them.
//!
//! ```text
//! magic 8, version u32, machine (64 digits)
//! values: count u32, then name, node
//! chips: count u32, then cells (address, tag, bytes) and bindings
//! programs: count u32, then name and phases: trips, queues: chip, id, words, tags of each word
//! ```
//! Counts and lengths are `u32`. [`decode`] of what [`encode`] wrote gives the same image, and encodes to the same bytes.

mod words;

use crate::floor::{Half, QueueId};
use crate::image::{Address, Binding, BindingKind, Cell, Chip, Image, Phase, Program, Queue, ValueName};
use crate::tag::{Tag, Tags};
use tegula_base::{DType, Diagnostic};
use words::{WORD, pack, unpack};

const MAGIC: &[u8; 8] = b"TGLPU\0\r\n";
const VERSION: u32 = 1;

/// Writes an image.
pub fn encode(image: &Image) -> Vec<u8> {
    let mut to = Vec::new();
    to.extend(MAGIC);
    put(&mut to, VERSION);
    text(&mut to, &image.machine);
    put(&mut to, image.values.len() as u32);
    for ValueName { name, node } in &image.values {
        text(&mut to, name);
        text(&mut to, node);
    }
    put(&mut to, image.chips.len() as u32);
    for chip in &image.chips {
        put(&mut to, chip.cells.len() as u32);
        for Cell { at, tag, bytes } in &chip.cells {
            address(&mut to, *at);
            put_tag(&mut to, *tag);
            put(&mut to, bytes.len() as u32);
            to.extend(bytes);
        }
        put(&mut to, chip.bindings.len() as u32);
        for Binding { name, kind, dtype, row, lanes, value, places } in &chip.bindings {
            text(&mut to, name);
            to.push(*kind as u8);
            text(&mut to, &dtype.to_string());
            put(&mut to, *row);
            put(&mut to, *lanes);
            put(&mut to, *value);
            put(&mut to, places.len() as u32);
            places.iter().for_each(|place| address(&mut to, *place));
        }
    }
    put(&mut to, image.programs.len() as u32);
    for Program { name, phases } in &image.programs {
        text(&mut to, name);
        put(&mut to, phases.len() as u32);
        for Phase { trips, queues } in phases {
            put(&mut to, *trips);
            put(&mut to, queues.len() as u32);
            for queue in queues {
                put(&mut to, u32::from(queue.chip));
                to.extend(queue_bytes(queue.id));
                put(&mut to, queue.words.len() as u32);
                queue.words.iter().for_each(|word| to.extend(pack(word)));
                for tags in &queue.tags {
                    to.push(tags.len() as u8);
                    tags.iter().for_each(|tag| put_tag(&mut to, *tag));
                }
            }
        }
    }
    to
}

fn put(to: &mut Vec<u8>, number: u32) {
    to.extend(number.to_le_bytes());
}

fn text(to: &mut Vec<u8>, text: &str) {
    put(to, text.len() as u32);
    to.extend(text.as_bytes());
}

fn put_tag(to: &mut Vec<u8>, tag: Tag) {
    put(to, tag.value);
    put(to, tag.index);
    to.push(tag.part);
}

fn address(to: &mut Vec<u8>, at: Address) {
    to.extend([at.half as u8, at.slice, at.bank]);
    to.extend(at.word.to_le_bytes());
}

fn queue_bytes(id: QueueId) -> [u8; 3] {
    match id {
        QueueId::Mem { half, slice } => [0, half as u8, slice],
        QueueId::Weights { half, plane } => [1, half as u8, plane],
        QueueId::Rows { half, plane } => [2, half as u8, plane],
        QueueId::Sums { half, plane } => [3, half as u8, plane],
        QueueId::Alu(alu) => [4, 0, alu],
        QueueId::Sxm { half, queue } => [5, half as u8, queue],
    }
}

/// Reads what `encode` wrote. Errors: `lpu-image`, bytes that no image has, or of another version.
pub fn decode(bytes: &[u8]) -> Result<Image, Diagnostic> {
    let wrong = |message: String| Diagnostic::error("lpu-image", message);
    let mut from = Bytes { rest: bytes, whole: bytes.len(), within: Vec::new() };
    if from.take(MAGIC.len()) != Some(MAGIC) {
        return Err(wrong("the bytes are no image of a streaming chip: they start otherwise".into()));
    }
    match from.number() {
        Some(VERSION) => {}
        Some(other) => {
            return Err(wrong(format!(
                "the image is of version {other}; this program reads version {VERSION}"
            )));
        }
        None => return Err(wrong(format!("the image ends in its version, at byte {}", bytes.len()))),
    }
    let image = image(&mut from).ok_or_else(|| from.damage())?;
    if !from.rest.is_empty() {
        let end = bytes.len() - from.rest.len();
        return Err(wrong(format!("the image ends at byte {end}, and {} bytes follow", from.rest.len())));
    }
    Ok(image)
}

struct Bytes<'a> {
    rest: &'a [u8],
    whole: usize,
    /// What is being read, from the outermost on: items of lists by number. Behind an error what it lies in.
    within: Vec<(&'static str, Option<usize>)>,
}

impl<'a> Bytes<'a> {
    fn damage(&self) -> Diagnostic {
        let at = self.whole - self.rest.len();
        let name = |(what, number): &(&str, Option<usize>)| match number {
            Some(number) => format!("{what} {number}"),
            None => what.to_string(),
        };
        let place: Vec<String> = self.within.iter().map(name).collect();
        let place = if place.is_empty() { String::new() } else { format!(", in {}", place.join(", ")) };
        Diagnostic::error("lpu-image", format!("the image is damaged at byte {at} of {}{place}", self.whole))
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let n = self.number()? as usize;
        String::from_utf8(self.take(n)?.to_vec()).ok()
    }

    fn tag(&mut self) -> Option<Tag> {
        Some(Tag::new(self.number()?, self.number()?).part(self.byte()?))
    }

    fn half(&mut self) -> Option<Half> {
        Half::BOTH.get(usize::from(self.byte()?)).copied()
    }

    fn address(&mut self) -> Option<Address> {
        Some(Address { half: self.half()?, slice: self.byte()?, bank: self.byte()?, word: self.short()? })
    }

    fn queue(&mut self) -> Option<QueueId> {
        let (kind, half, number) = (self.byte()?, self.half()?, self.byte()?);
        Some(match (kind, half) {
            (0, half) => QueueId::Mem { half, slice: number },
            (1, half) => QueueId::Weights { half, plane: number },
            (2, half) => QueueId::Rows { half, plane: number },
            (3, half) => QueueId::Sums { half, plane: number },
            (4, Half::West) => QueueId::Alu(number),
            (5, half) => QueueId::Sxm { half, queue: number },
            _ => return None,
        })
    }

    /// Each of a counted list. A count is no promise: no more room is taken at first than there are bytes left.
    fn list<T>(
        &mut self,
        what: &'static str,
        mut item: impl FnMut(&mut Bytes<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let n = self.number()? as usize;
        self.within.push((what, None));
        let mut items = Vec::with_capacity(n.min(self.rest.len() / size_of::<T>().max(1)));
        for number in 0..n {
            *self.within.last_mut()? = (what, Some(number));
            items.push(item(self)?);
        }
        self.within.pop();
        Some(items)
    }
}

fn image(from: &mut Bytes) -> Option<Image> {
    from.within.push(("the hash of its machine", None));
    let machine = from.text()?;
    from.within.pop();
    Some(Image {
        machine,
        values: from.list("value", |from| Some(ValueName { name: from.text()?, node: from.text()? }))?,
        chips: from.list("chip", chip)?,
        programs: from.list("program", |from| {
            Some(Program { name: from.text()?, phases: from.list("phase", phase)? })
        })?,
    })
}

fn chip(from: &mut Bytes) -> Option<Chip> {
    let cells = from.list("cell", |from| {
        let (at, tag) = (from.address()?, from.tag()?);
        let n = from.number()? as usize;
        Some(Cell { at, tag, bytes: from.take(n)?.to_vec() })
    })?;
    let bindings = from.list("tensor", |from| {
        let name = from.text()?;
        let kinds = [BindingKind::Input, BindingKind::Output, BindingKind::State];
        let kind = *kinds.get(usize::from(from.byte()?))?;
        let dtype = from.text()?;
        let dtype = DType::ALL.into_iter().find(|own| own.to_string() == dtype)?;
        let row = from.number()?;
        let (lanes, value) = (from.number()?, from.number()?);
        Some(Binding { name, kind, dtype, row, lanes, value, places: from.list("place", Bytes::address)? })
    })?;
    Some(Chip { cells, bindings })
}

fn phase(from: &mut Bytes) -> Option<Phase> {
    let trips = from.number()?;
    let queues = from.list("queue", |from| {
        let chip = u16::try_from(from.number()?).ok()?;
        let id = from.queue()?;
        let words = from.list("word", |from| unpack(from.take(WORD)?.try_into().ok()?))?;
        let mut tags = Vec::with_capacity(words.len());
        for number in 0..words.len() {
            from.within.push(("the tags of word", Some(number)));
            let n = from.byte()?;
            tags.push((0..n).map(|_| from.tag()).collect::<Option<Tags>>()?);
            from.within.pop();
        }
        Some(Queue { chip, id, words, tags })
    })?;
    Some(Phase { trips, queues })
}
