//! The words of all queues, 16 bytes each in the binary.
//!
//! A unit that issues in cycle t senses its operands in t and drives its results in t + delay; both at its position.
//! The delays are the machine file's.

use crate::floor::Stream;
use smallvec::SmallVec;
use tegula_machine::Lpu;

/// What a queue issues in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Nothing, for so many cycles; of any queue, as the five below.
    Nop {
        cycles: u16,
    },
    /// The word before it again, `count` times, `gap` idle cycles before each. Each of its addresses, in the order that
    /// [`Word::addresses`] gives them, steps by its stride. It takes no cycle of its own.
    Repeat {
        count: u16,
        gap: u16,
        strides: [i16; 3],
    },
    /// Waits for the next `notify` of the chip; all queues that wait go on in the same cycle.
    Sync,
    Notify,
    /// Takes 40 words of text, from two words of a slice's bank, into this queue.
    Fetch {
        slice: u8,
        bank: u8,
        word: u16,
    },
    /// The end of the queue's phase.
    Halt,
    Mem {
        read: Option<Read>,
        write: Option<Write>,
    },
    /// Reads the word that lane 0 of a group of two streams says, of `count` from `word` on.
    Gather {
        bank: u8,
        word: u16,
        count: u16,
        by: Stream,
        to: Stream,
    },
    Scatter {
        bank: u8,
        word: u16,
        count: u16,
        by: Stream,
        from: Stream,
    },
    /// Loads rows from `row` on, one from each stream of a bundle of `mxm_load_streams`.
    LoadWeights {
        row: u16,
        from: Stream,
    },
    /// Installs the weights that were loaded.
    InstallWeights,
    /// Multiplies a row by the installed weights.
    Multiply {
        factors: Factors,
        from: Stream,
    },
    /// Takes the sums of the row that was multiplied `mxm_latency` - 1 cycles before, and drives them one cycle later.
    Accumulate {
        row: u16,
        add: bool,
        emit: Option<Stream>,
    },
    Alu(Alu),
    /// Lanes move by `by`, to higher ones; the others get 0, or what left at the other end.
    Shift {
        by: i16,
        rotate: bool,
        streams: u8,
        from: Stream,
        to: Stream,
    },
    /// Lane i gets the lane that element i of a group of two streams says; past the last lane is 0.
    Permute {
        table: Stream,
        streams: u8,
        from: Stream,
        to: Stream,
    },
    /// All lanes get one.
    Broadcast {
        lane: u16,
        streams: u8,
        from: Stream,
        to: Stream,
    },
    /// In each superlane, lane i of stream j becomes lane j of stream i; bundles of as many streams as a superlane has lanes.
    Transpose {
        from: Stream,
        to: Stream,
    },
    /// Lanes of `a` where the mask's byte is not 0, else of `b`.
    Blend {
        mask: Stream,
        streams: u8,
        a: Stream,
        b: Stream,
        to: Stream,
    },
    Send {
        link: u8,
        from: Stream,
    },
    Receive {
        link: u8,
        to: Stream,
    },
}

/// Words of text that a `fetch` brings.
pub const FETCHED: u32 = 40;
/// Words of a bank that they lie in.
pub const FETCHED_FROM: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub bank: u8,
    pub word: u16,
    pub to: Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub bank: u8,
    pub word: u16,
    pub from: Stream,
    /// Bit i: the i-th `mem_mask_lanes` lanes are written.
    pub mask: u32,
}

/// A write of all lanes.
pub const WHOLE: u32 = u32::MAX;

/// Factors of a matrix plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// Bytes; sums are `i32`.
    I8,
    /// A row is a group of two streams. Weights are of two planes: low bytes in this one, high bytes in the next. Sums are `f32`.
    F16,
    /// `f8E4M3FN`; sums are `f32`.
    F8,
}

impl Factors {
    /// Streams of a row.
    pub fn width(self) -> u32 {
        match self {
            Factors::I8 | Factors::F8 => 1,
            Factors::F16 => 2,
        }
    }

    /// Rows of weights; none: the machine does not multiply them.
    pub fn k(self, lpu: &Lpu) -> Option<u32> {
        match self {
            Factors::I8 => Some(lpu.mxm.k),
            Factors::F16 => (lpu.mxm.planes >= 2).then_some(lpu.mxm.f16_k),
            Factors::F8 => lpu.mxm.f8_k,
        }
    }
}

/// What one ALU of each lane does: an operation on words of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alu {
    pub op: AluOp,
    /// As many as the operation takes, then [`Operand::None`].
    pub operands: [Operand; 3],
    /// What [`Operand::Immediate`] stands for.
    pub immediate: u32,
    /// The result replaces what [`Operand::Held`] gives in later cycles.
    pub hold: bool,
    /// A group as wide as the result.
    pub to: Option<Stream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    None,
    /// A group as wide as the operand.
    Stream(Stream),
    /// The result that this ALU of the lane gives in this cycle.
    Alu(u8),
    Immediate,
    Held,
}

/// The type that an operation computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    I32,
    F32,
}

/// An element as it lies in streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    I8,
    U8,
    I16,
    I32,
    F8,
    F16,
    F32,
}

impl Element {
    pub const ALL: [Element; 7] =
        [Element::I8, Element::U8, Element::I16, Element::I32, Element::F8, Element::F16, Element::F32];

    /// Streams of a group.
    pub fn width(self) -> u32 {
        match self {
            Element::I8 | Element::U8 | Element::F8 => 1,
            Element::I16 | Element::F16 => 2,
            Element::I32 | Element::F32 => 4,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Element::F8 | Element::F16 | Element::F32)
    }

    pub fn name(self) -> &'static str {
        match self {
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::F8 => "f8",
            Element::F16 => "f16",
            Element::F32 => "f32",
        }
    }
}

/// Comparisons give 1 or 0 as `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AluOp {
    Move,
    Add(Number),
    Sub(Number),
    Mul(Number),
    /// `a * b + c`; of floats rounded once.
    Fma(Number),
    Min(Number),
    Max(Number),
    Equal(Number),
    Less(Number),
    /// The second operand where the first is not 0, else the third.
    Select,
    And,
    Or,
    Xor,
    /// By the low 5 bits of the second operand.
    ShiftLeft,
    /// Copies of the sign come in.
    ShiftRight,
    Exp2,
    Log2,
    Rsqrt,
    Rcp,
    Tanh,
    /// Integers that become integers are shifted right by `shift` before, halves up.
    Cast {
        from: Element,
        to: Element,
        saturate: bool,
        shift: u8,
    },
}

/// Operations without the types that they compute in, as text and bytes name them.
pub const NUMERIC: [(&str, fn(Number) -> AluOp); 8] = [
    ("add", AluOp::Add),
    ("sub", AluOp::Sub),
    ("mul", AluOp::Mul),
    ("fma", AluOp::Fma),
    ("min", AluOp::Min),
    ("max", AluOp::Max),
    ("equal", AluOp::Equal),
    ("less", AluOp::Less),
];

/// Operations of one type.
pub const PLAIN: [(&str, AluOp); 12] = [
    ("move", AluOp::Move),
    ("select", AluOp::Select),
    ("and", AluOp::And),
    ("or", AluOp::Or),
    ("xor", AluOp::Xor),
    ("shl", AluOp::ShiftLeft),
    ("shr", AluOp::ShiftRight),
    ("exp2", AluOp::Exp2),
    ("log2", AluOp::Log2),
    ("rsqrt", AluOp::Rsqrt),
    ("rcp", AluOp::Rcp),
    ("tanh", AluOp::Tanh),
];

impl Number {
    pub const BOTH: [Number; 2] = [Number::I32, Number::F32];

    pub fn name(self) -> &'static str {
        match self {
            Number::I32 => "i32",
            Number::F32 => "f32",
        }
    }
}

impl AluOp {
    pub fn operands(self) -> usize {
        match self {
            AluOp::Fma(_) | AluOp::Select => 3,
            AluOp::Move
            | AluOp::Exp2
            | AluOp::Log2
            | AluOp::Rsqrt
            | AluOp::Rcp
            | AluOp::Tanh
            | AluOp::Cast { .. } => 1,
            AluOp::Add(_)
            | AluOp::Sub(_)
            | AluOp::Mul(_)
            | AluOp::Min(_)
            | AluOp::Max(_)
            | AluOp::Equal(_)
            | AluOp::Less(_)
            | AluOp::And
            | AluOp::Or
            | AluOp::Xor
            | AluOp::ShiftLeft
            | AluOp::ShiftRight => 2,
        }
    }

    /// Whether only the large ALUs have it.
    pub fn is_large(self) -> bool {
        self.is_special() || matches!(self, AluOp::Cast { .. })
    }

    fn is_special(self) -> bool {
        matches!(self, AluOp::Exp2 | AluOp::Log2 | AluOp::Rsqrt | AluOp::Rcp | AluOp::Tanh)
    }

    /// Cycles from sense to result.
    pub fn delay(self, lpu: &Lpu) -> u32 {
        if self.is_special() { lpu.vxm.special_delay } else { lpu.vxm.delay }
    }

    /// What its result is.
    pub fn result(self) -> Element {
        match self {
            AluOp::Cast { to, .. } => to,
            _ => Element::I32,
        }
    }

    /// Streams of an operand and of the result.
    pub fn widths(self) -> [u32; 2] {
        match self {
            AluOp::Cast { from, to, .. } => [from.width(), to.width()],
            _ => [4, 4],
        }
    }
}

/// What a word senses or drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub kind: EndKind,
    pub count: u32,
    pub shape: EndShape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// The first of `count` streams, sensed in the word's cycle.
    Sense(Stream),
    /// Driven so many cycles after it.
    Drive(Stream, u32),
    /// The result of an ALU that comes in the word's cycle.
    Result(u8),
    /// What an ALU gives so many cycles after the word's.
    Give(u32),
    /// What a write leaves in the word of a bank.
    Store,
    /// The weights that an `iw` installs, as one name for all rows loaded.
    Install,
    /// The weights that a row is multiplied by, as an `iw` named them; high bytes are the next part.
    Weights,
    /// The sums that a row of accumulators is left with.
    Sums,
}

/// How the tags of a group's streams follow from the end's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndShape {
    /// Parts of one vector.
    Parts,
    /// Vectors of consecutive index.
    Bundle,
}

pub type Ends = SmallVec<[End; 4]>;

impl Word {
    /// What it senses and drives, in the order of its tags.
    pub fn ends(&self, lpu: &Lpu) -> Ends {
        let mut ends = Ends::new();
        let mut end = |kind, count, shape| ends.push(End { kind, count, shape });
        let mut parts = |kind, count| end(kind, count, EndShape::Parts);
        match *self {
            Word::Nop { .. }
            | Word::Repeat { .. }
            | Word::Sync
            | Word::Notify
            | Word::Fetch { .. }
            | Word::Halt => {}
            Word::Mem { read, write } => {
                if let Some(Read { to, .. }) = read {
                    parts(EndKind::Drive(to, lpu.mem.read_delay), 1);
                }
                if let Some(Write { from, .. }) = write {
                    parts(EndKind::Sense(from), 1);
                    parts(EndKind::Store, 1);
                }
            }
            Word::Gather { by, to, .. } => {
                parts(EndKind::Sense(by), 2);
                parts(EndKind::Drive(to, lpu.mem.read_delay), 1);
            }
            Word::Scatter { by, from, .. } => {
                parts(EndKind::Sense(by), 2);
                parts(EndKind::Sense(from), 1);
                parts(EndKind::Store, 1);
            }
            Word::LoadWeights { from, .. } => {
                end(EndKind::Sense(from), lpu.mxm.load_streams, EndShape::Bundle)
            }
            Word::InstallWeights => parts(EndKind::Install, 1),
            Word::Multiply { factors, from } => {
                parts(EndKind::Sense(from), factors.width());
                parts(EndKind::Weights, 1);
            }
            Word::Accumulate { emit, .. } => match emit {
                Some(to) => parts(EndKind::Drive(to, 1), 4),
                None => parts(EndKind::Sums, 1),
            },
            Word::Alu(alu) => {
                let [operand, result] = alu.op.widths();
                for source in alu.operands {
                    match source {
                        Operand::Stream(stream) => parts(EndKind::Sense(stream), operand),
                        Operand::Alu(other) => parts(EndKind::Result(other), 1),
                        Operand::None | Operand::Immediate | Operand::Held => {}
                    }
                }
                let delay = alu.op.delay(lpu);
                match alu.to {
                    Some(to) => parts(EndKind::Drive(to, delay), result),
                    None => parts(EndKind::Give(delay), 1),
                }
            }
            Word::Shift { streams, from, to, .. } | Word::Broadcast { streams, from, to, .. } => {
                parts(EndKind::Sense(from), u32::from(streams));
                parts(EndKind::Drive(to, lpu.sxm.shift_delay), u32::from(streams));
            }
            Word::Permute { table, streams, from, to } => {
                parts(EndKind::Sense(table), 2);
                parts(EndKind::Sense(from), u32::from(streams));
                parts(EndKind::Drive(to, lpu.sxm.permute_delay), u32::from(streams));
            }
            Word::Transpose { from, to } => {
                end(EndKind::Sense(from), lpu.lanes, EndShape::Bundle);
                end(EndKind::Drive(to, lpu.sxm.transpose_delay), lpu.lanes, EndShape::Bundle);
            }
            Word::Blend { mask, streams, a, b, to } => {
                parts(EndKind::Sense(mask), 1);
                parts(EndKind::Sense(a), u32::from(streams));
                parts(EndKind::Sense(b), u32::from(streams));
                parts(EndKind::Drive(to, lpu.sxm.shift_delay), u32::from(streams));
            }
            Word::Send { from, .. } => parts(EndKind::Sense(from), 1),
            Word::Receive { to, .. } => parts(EndKind::Drive(to, lpu.sxm.shift_delay), 1),
        }
        ends
    }

    /// Its streams, each the first of a group or bundle, in the order that its fields have.
    pub fn streams_mut(&mut self) -> SmallVec<[&mut Stream; 4]> {
        match self {
            Word::Mem { read, write } => {
                let read = read.iter_mut().map(|read| &mut read.to);
                read.chain(write.iter_mut().map(|write| &mut write.from)).collect()
            }
            Word::Gather { by, to, .. } => smallvec::smallvec![by, to],
            Word::Scatter { by, from, .. } => smallvec::smallvec![by, from],
            Word::LoadWeights { from, .. } | Word::Multiply { from, .. } | Word::Send { from, .. } => {
                smallvec::smallvec![from]
            }
            Word::Accumulate { emit, .. } => emit.iter_mut().collect(),
            Word::Alu(alu) => {
                let operands = alu.operands.iter_mut().filter_map(|operand| match operand {
                    Operand::Stream(stream) => Some(stream),
                    Operand::None | Operand::Alu(_) | Operand::Immediate | Operand::Held => None,
                });
                operands.chain(alu.to.iter_mut()).collect()
            }
            Word::Shift { from, to, .. }
            | Word::Broadcast { from, to, .. }
            | Word::Transpose { from, to } => {
                smallvec::smallvec![from, to]
            }
            Word::Permute { table, from, to, .. } => smallvec::smallvec![table, from, to],
            Word::Blend { mask, a, b, to, .. } => smallvec::smallvec![mask, a, b, to],
            Word::Receive { to, .. } => smallvec::smallvec![to],
            Word::Nop { .. }
            | Word::Repeat { .. }
            | Word::Sync
            | Word::Notify
            | Word::Fetch { .. }
            | Word::Halt
            | Word::InstallWeights => SmallVec::new(),
        }
    }

    /// Its addresses, which a `repeat` steps: of a read, then of a write; of rows.
    pub fn addresses(&mut self) -> SmallVec<[&mut u16; 2]> {
        match self {
            Word::Mem { read, write } => {
                let read = read.iter_mut().map(|read| &mut read.word);
                read.chain(write.iter_mut().map(|write| &mut write.word)).collect()
            }
            Word::Gather { word, .. } | Word::Scatter { word, .. } => smallvec::smallvec![word],
            Word::LoadWeights { row, .. } | Word::Accumulate { row, .. } => smallvec::smallvec![row],
            Word::Nop { .. }
            | Word::Repeat { .. }
            | Word::Sync
            | Word::Notify
            | Word::Fetch { .. }
            | Word::Halt
            | Word::InstallWeights
            | Word::Multiply { .. }
            | Word::Alu(_)
            | Word::Shift { .. }
            | Word::Permute { .. }
            | Word::Broadcast { .. }
            | Word::Transpose { .. }
            | Word::Blend { .. }
            | Word::Send { .. }
            | Word::Receive { .. } => SmallVec::new(),
        }
    }
}
