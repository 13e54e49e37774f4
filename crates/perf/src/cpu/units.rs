//! Instructions as a core sees them: what they wait for, which ports take them, and how long results take.
//!
//! Two pipes multiply vectors and two add them, as on AMD's cores since Zen; what differs among those is a fact of the
//! machine. A vector wider than the datapath holds its pipe for a cycle a part.
//! Source: uops.info, Zen 4 and Zen 5; AMD, Software Optimization Guides for the AMD Zen4 and Zen5 Microarchitectures,
//! publications 57647 and 58455.

use smallvec::SmallVec;
use tegula_machine::Core;

/// A register: general ones, the flags, vectors, masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(u8);

impl Register {
    pub const COUNT: usize = 64;
    pub const FLAGS: Register = Register(16);

    pub fn general(number: u8) -> Register {
        Register(number & 15)
    }

    pub fn vector(number: u8) -> Register {
        Register(32 + (number & 31))
    }

    pub fn mask(number: u8) -> Register {
        Register(17 + (number & 7))
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Ports, one bit each.
pub type Ports = u32;

const ALU_DIVIDE: Ports = 0x0001;
const BRANCH: Ports = 0x00c0;
const FP: Ports = 0x0f00;
const FP_FIRST: Ports = 0x0100;
const FP_MULTIPLY: Ports = 0x0300;
const FP_ADD: Ports = 0x0c00;
const FP_SHUFFLE: Ports = 0x0600;
const FP_DIVIDE: Ports = 0x0200;
/// Divides beside the pipe that an operand comes through.
pub const DIVIDER: Ports = 0x1_0000;
/// Two loads of a datapath's width a cycle.
pub const LOAD: Ports = 0x3000;
pub const STORE: Ports = 0xc000;
/// Where one store a cycle leaves.
pub const WIDE_STORE: Ports = 0x4000;
/// Arithmetic of vectors.
pub const VECTOR: Ports = FP;

/// What kind of work an instruction is, memory aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Takes a place in the front end only: `nop`, copies that renaming does, zeroing.
    None,
    Integer,
    Multiply,
    Divide,
    Branch,
    Fma,
    FloatMultiply,
    FloatAdd,
    /// Additions, minima and logic of integers and bits, blends.
    Logic,
    Shift,
    IntMultiply,
    /// Within 128 bits.
    Shuffle,
    /// Across a register.
    Permute,
    /// From two registers across.
    Permute2,
    Convert,
    Narrow,
    FloatDivide,
    FloatSqrt,
    /// Products of bytes or 16-bit floats, added up.
    Dot,
    DotBf16,
    Compare,
    Mask,
    FromGeneral,
    ToGeneral,
    /// An element of memory for each lane.
    Gather,
    Call,
}

/// Ports, cycles to the result, cycles a port and the divider are taken, and places in the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub ports: Ports,
    pub latency: u16,
    pub taken: u16,
    pub divides: u16,
    pub slots: u16,
}

impl Unit {
    /// Of an instruction on vectors of so many bytes.
    pub fn figures(self, bytes: usize, core: &Core) -> Figures {
        let wide = bytes > 32;
        let of = |ports, latency| Figures { ports, latency, taken: 1, divides: 0, slots: 1 };
        let of_pipe = |ports, latency| Figures {
            taken: bytes.div_ceil(core.datapath).max(1) as u16,
            ..of(ports, latency)
        };
        let alus = |count: u16| (1u32 << count) - 1;
        // The unit takes halves one after the other.
        let of_width = |whole: f64| (if wide { whole } else { whole / 2.0 }).round().max(1.0) as u16;
        match self {
            Unit::None => of(0, 0),
            Unit::Integer => of(alus(core.alus), 1),
            Unit::Multiply => of(alus(core.multipliers), 3),
            Unit::Divide => Figures { taken: 7, slots: 2, ..of(ALU_DIVIDE, 12) },
            Unit::Branch => of(BRANCH, 1),
            Unit::Fma => of_pipe(FP_MULTIPLY, 4),
            Unit::FloatMultiply => of_pipe(FP_MULTIPLY, 3),
            Unit::FloatAdd => of_pipe(FP_ADD, 3),
            Unit::Logic => of_pipe(FP, if wide { core.logic } else { 1 }),
            Unit::Shift => {
                of_pipe(FP_FIRST << (core.shift_pipe - 1) | FP_FIRST << core.shift_pipe, core.shift)
            }
            Unit::IntMultiply => of_pipe(FP_MULTIPLY, 3),
            Unit::Shuffle => of_pipe(FP_SHUFFLE, 2),
            Unit::Permute => of_pipe(FP_SHUFFLE, 4),
            Unit::Permute2 => of_pipe(FP_SHUFFLE, 5),
            Unit::Convert => of_pipe(FP_ADD, core.convert),
            Unit::Narrow => Figures { slots: 2, ..of_pipe(FP_SHUFFLE, 5) },
            Unit::FloatDivide => Figures { divides: of_width(core.divide), ..of_pipe(FP_DIVIDE, 11) },
            Unit::FloatSqrt => Figures { divides: of_width(core.sqrt), ..of_pipe(FP_DIVIDE, 15) },
            Unit::Dot => of_pipe(FP_MULTIPLY, 4),
            Unit::DotBf16 => of_pipe(FP_MULTIPLY, 6),
            Unit::Compare => of_pipe(FP_MULTIPLY, 5),
            Unit::Mask => of_pipe(FP_MULTIPLY, 2),
            Unit::FromGeneral => of_pipe(FP_SHUFFLE, 6),
            Unit::ToGeneral => of_pipe(FP_SHUFFLE, 6),
            Unit::Gather => Figures { taken: 8, slots: 40, ..of_pipe(FP_SHUFFLE, 24) },
            Unit::Call => Figures { taken: 30, slots: 60, ..of(ALU_DIVIDE, 60) },
        }
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    pub unit: Unit,
    /// Of the widest operand, and of what one access reads or writes.
    pub bytes: usize,
    pub memory_bytes: usize,
    pub reads: SmallVec<[Register; 6]>,
    /// Registers that only its address needs.
    pub address: SmallVec<[Register; 2]>,
    pub writes: SmallVec<[Register; 2]>,
    pub loads: bool,
    pub stores: bool,
    /// Under a mask of lanes.
    pub masked: bool,
    /// Addresses that it touches.
    pub accesses: u16,
    /// A branch that can go two ways.
    pub branches: bool,
}
