//! Words as 16 bytes: a number of the kind, then its fields in a fixed order, then zeros.

use crate::floor::{Direction, Stream};
use crate::word::{Alu, AluOp, Element, Factors, NUMERIC, Number, Operand, PLAIN, Read, Word, Write};

/// Bytes of a word.
pub(super) const WORD: usize = 16;

/// A direction's bit beside a stream's id.
const WEST: u8 = 0x80;

/// Fields written one after the other.
struct Pack {
    bytes: [u8; WORD],
    at: usize,
}

impl Pack {
    fn of(kind: u8) -> Pack {
        let mut pack = Pack { bytes: [0; WORD], at: 0 };
        pack.put(&[kind]);
        pack
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn bytes(mut self, bytes: &[u8]) -> Pack {
        self.put(bytes);
        self
    }

    fn short(self, number: u16) -> Pack {
        self.bytes(&number.to_le_bytes())
    }

    fn stream(self, stream: Stream) -> Pack {
        self.bytes(&[stream_byte(stream)])
    }

    fn maybe(self, stream: Option<Stream>) -> Pack {
        self.bytes(&[u8::from(stream.is_some()), stream.map_or(0, stream_byte)])
    }
}

fn stream_byte(stream: Stream) -> u8 {
    stream.id & !WEST | if stream.direction == Direction::West { WEST } else { 0 }
}

pub(super) fn pack(word: &Word) -> [u8; WORD] {
    let packed = match *word {
        Word::Nop { cycles } => Pack::of(0).short(cycles),
        Word::Repeat { count, gap, strides } => {
            let strides = strides.map(i16::cast_unsigned);
            strides.into_iter().fold(Pack::of(1).short(count).short(gap), Pack::short)
        }
        Word::Sync => Pack::of(2),
        Word::Notify => Pack::of(3),
        Word::Fetch { slice, bank, word } => Pack::of(4).bytes(&[slice, bank]).short(word),
        Word::Halt => Pack::of(5),
        Word::Mem { read, write } => {
            let mut packed = Pack::of(6).bytes(&[u8::from(read.is_some()) | u8::from(write.is_some()) << 1]);
            if let Some(Read { bank, word, to }) = read {
                packed = packed.bytes(&[bank]).short(word).stream(to);
            }
            if let Some(Write { bank, word, from, mask }) = write {
                packed = packed.bytes(&[bank]).short(word).stream(from).bytes(&mask.to_le_bytes());
            }
            packed
        }
        Word::Gather { bank, word, count, by, to } => {
            Pack::of(7).bytes(&[bank]).short(word).short(count).stream(by).stream(to)
        }
        Word::Scatter { bank, word, count, by, from } => {
            Pack::of(8).bytes(&[bank]).short(word).short(count).stream(by).stream(from)
        }
        Word::LoadWeights { row, from } => Pack::of(9).short(row).stream(from),
        Word::InstallWeights => Pack::of(10),
        Word::Multiply { factors, from } => Pack::of(11).bytes(&[factors as u8]).stream(from),
        Word::Accumulate { row, add, emit } => Pack::of(12).short(row).bytes(&[u8::from(add)]).maybe(emit),
        Word::Alu(alu) => pack_alu(&alu),
        Word::Shift { by, rotate, streams, from, to } => {
            Pack::of(14).short(by.cast_unsigned()).bytes(&[u8::from(rotate), streams]).stream(from).stream(to)
        }
        Word::Permute { table, streams, from, to } => {
            Pack::of(15).bytes(&[streams]).stream(table).stream(from).stream(to)
        }
        Word::Broadcast { lane, streams, from, to } => {
            Pack::of(16).short(lane).bytes(&[streams]).stream(from).stream(to)
        }
        Word::Transpose { from, to } => Pack::of(17).stream(from).stream(to),
        Word::Blend { mask, streams, a, b, to } => {
            Pack::of(18).bytes(&[streams]).stream(mask).stream(a).stream(b).stream(to)
        }
        Word::Send { link, from } => Pack::of(19).bytes(&[link]).stream(from),
        Word::Receive { link, to } => Pack::of(20).bytes(&[link]).stream(to),
    };
    packed.bytes
}

/// The kinds of operands take 4 bits each.
fn pack_alu(alu: &Alu) -> Pack {
    let pieces = alu.operands.map(|operand| match operand {
        Operand::None => (0, 0),
        Operand::Stream(stream) => (1, stream_byte(stream)),
        Operand::Alu(other) => (2, other),
        Operand::Immediate => (3, 0),
        Operand::Held => (4, 0),
    });
    let [(a, x), (b, y), (c, z)] = pieces;
    let flags = u8::from(alu.hold) | u8::from(alu.to.is_some()) << 1 | c << 4;
    let shift = match alu.op {
        AluOp::Cast { shift, .. } => shift,
        _ => 0,
    };
    Pack::of(13)
        .bytes(&op_bytes(alu.op))
        .bytes(&[a | b << 4, x, y, z, flags, alu.to.map_or(0, stream_byte)])
        .bytes(&alu.immediate.to_le_bytes())
        .bytes(&[shift])
}

/// The operation, and its types.
fn op_bytes(op: AluOp) -> [u8; 2] {
    if let AluOp::Cast { from, to, saturate, .. } = op {
        return [0x80 | u8::from(saturate), from as u8 | (to as u8) << 4];
    }
    if let Some(at) = PLAIN.iter().position(|(_, plain)| *plain == op) {
        return [at as u8, 0];
    }
    let numeric = NUMERIC
        .iter()
        .enumerate()
        .flat_map(|(at, (_, of))| Number::BOTH.map(|number| (at, number, of(number))));
    let found = numeric.into_iter().find(|(.., own)| *own == op);
    let (at, number, _) = found.expect("invariant: the tables have every operation");
    [0x40 | at as u8, number as u8]
}

/// Fields read one after the other; zeros must follow the last.
struct Unpack {
    bytes: [u8; WORD],
    at: usize,
}

impl Unpack {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte() {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn number(&mut self) -> u32 {
        u32::from(self.short()) | u32::from(self.short()) << 16
    }

    fn stream(&mut self) -> Stream {
        stream_of(self.byte())
    }

    fn maybe(&mut self) -> Option<Option<Stream>> {
        match (self.flag()?, self.byte()) {
            (true, stream) => Some(Some(stream_of(stream))),
            (false, 0) => Some(None),
            (false, _) => None,
        }
    }
}

fn stream_of(byte: u8) -> Stream {
    let direction = if byte & WEST == 0 { Direction::East } else { Direction::West };
    Stream { direction, id: byte & !WEST }
}

pub(super) fn unpack(bytes: &[u8; WORD]) -> Option<Word> {
    let mut from = Unpack { bytes: *bytes, at: 1 };
    let word = match bytes[0] {
        0 => Word::Nop { cycles: from.short() },
        1 => {
            let (count, gap) = (from.short(), from.short());
            Word::Repeat { count, gap, strides: [(); 3].map(|()| from.short().cast_signed()) }
        }
        2 => Word::Sync,
        3 => Word::Notify,
        4 => Word::Fetch { slice: from.byte(), bank: from.byte(), word: from.short() },
        5 => Word::Halt,
        6 => unpack_mem(&mut from)?,
        7 => Word::Gather {
            bank: from.byte(),
            word: from.short(),
            count: from.short(),
            by: from.stream(),
            to: from.stream(),
        },
        8 => Word::Scatter {
            bank: from.byte(),
            word: from.short(),
            count: from.short(),
            by: from.stream(),
            from: from.stream(),
        },
        9 => Word::LoadWeights { row: from.short(), from: from.stream() },
        10 => Word::InstallWeights,
        11 => Word::Multiply { factors: factors(from.byte())?, from: from.stream() },
        12 => Word::Accumulate { row: from.short(), add: from.flag()?, emit: from.maybe()? },
        13 => Word::Alu(unpack_alu(&mut from)?),
        14 => Word::Shift {
            by: from.short().cast_signed(),
            rotate: from.flag()?,
            streams: from.byte(),
            from: from.stream(),
            to: from.stream(),
        },
        15 => Word::Permute {
            streams: from.byte(),
            table: from.stream(),
            from: from.stream(),
            to: from.stream(),
        },
        16 => Word::Broadcast {
            lane: from.short(),
            streams: from.byte(),
            from: from.stream(),
            to: from.stream(),
        },
        17 => Word::Transpose { from: from.stream(), to: from.stream() },
        18 => Word::Blend {
            streams: from.byte(),
            mask: from.stream(),
            a: from.stream(),
            b: from.stream(),
            to: from.stream(),
        },
        19 => Word::Send { link: from.byte(), from: from.stream() },
        20 => Word::Receive { link: from.byte(), to: from.stream() },
        _ => return None,
    };
    // Each word has one form in bytes.
    bytes[from.at..].iter().all(|byte| *byte == 0).then_some(word)
}

fn unpack_mem(from: &mut Unpack) -> Option<Word> {
    let flags = from.byte();
    let read = (flags & 1 != 0).then(|| Read { bank: from.byte(), word: from.short(), to: from.stream() });
    let write = (flags & 2 != 0).then(|| Write {
        bank: from.byte(),
        word: from.short(),
        from: from.stream(),
        mask: from.number(),
    });
    (flags < 4).then_some(Word::Mem { read, write })
}

fn factors(byte: u8) -> Option<Factors> {
    [Factors::I8, Factors::F16, Factors::F8].get(usize::from(byte)).copied()
}

fn unpack_alu(from: &mut Unpack) -> Option<Alu> {
    let (op, types, kinds) = (from.byte(), from.byte(), from.byte());
    let of = [from.byte(), from.byte(), from.byte()];
    let (flags, to) = (from.byte(), from.byte());
    let (immediate, shift) = (from.number(), from.byte());
    let op = op_of(op, types, shift)?;
    let kinds = [kinds & 15, kinds >> 4, flags >> 4];
    let mut operands = [Operand::None; 3];
    for ((operand, kind), of) in operands.iter_mut().zip(kinds).zip(of) {
        *operand = match (kind, of) {
            (0, 0) => Operand::None,
            (1, stream) => Operand::Stream(stream_of(stream)),
            (2, other) => Operand::Alu(other),
            (3, 0) => Operand::Immediate,
            (4, 0) => Operand::Held,
            _ => return None,
        };
    }
    let to = match (flags & 2 != 0, to) {
        (true, stream) => Some(stream_of(stream)),
        (false, 0) => None,
        (false, _) => return None,
    };
    (flags & 12 == 0).then_some(Alu { op, operands, immediate, hold: flags & 1 != 0, to })
}

fn op_of(op: u8, types: u8, shift: u8) -> Option<AluOp> {
    if op & 0x80 != 0 {
        let element = |bits: u8| Element::ALL.get(usize::from(bits)).copied();
        let (from, to) = (element(types & 15)?, element(types >> 4)?);
        return (op & 0x7e == 0 && shift < 32).then_some(AluOp::Cast {
            from,
            to,
            saturate: op & 1 != 0,
            shift,
        });
    }
    if shift != 0 {
        return None;
    }
    if op & 0x40 != 0 {
        let (_, of) = NUMERIC.get(usize::from(op & 0x3f))?;
        return Some(of(*Number::BOTH.get(usize::from(types))?));
    }
    (types == 0).then_some(PLAIN.get(usize::from(op))?.1)
}
