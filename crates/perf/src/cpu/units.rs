//! Instructions as a core sees them: what they wait for, which ports take them, and how long results take.
//!
//! Source: uops.info, Zen 5; AMD, Software Optimization Guide for the AMD Zen5 Microarchitecture, publication 58455.

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
pub type Ports = u16;

const ALU: Ports = 0x003f;
const ALU_MULTIPLY: Ports = 0x0007;
const ALU_DIVIDE: Ports = 0x0001;
const BRANCH: Ports = 0x00c0;
const FP: Ports = 0x0f00;
const FP_MULTIPLY: Ports = 0x0300;
const FP_ADD: Ports = 0x0c00;
const FP_SHUFFLE: Ports = 0x0600;
const FP_DIVIDE: Ports = 0x0200;
/// Two loads of vectors a cycle.
pub const LOAD: Ports = 0x3000;
pub const STORE: Ports = 0xc000;
/// One store of 64 bytes a cycle.
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

/// Ports, cycles to the result, cycles a port is taken, and places in the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub ports: Ports,
    pub latency: u16,
    pub taken: u16,
    pub slots: u16,
}

impl Unit {
    /// Of an instruction on vectors of so many bytes.
    pub fn figures(self, bytes: usize, core: &Core) -> Figures {
        let wide = bytes > 32;
        // The unit takes halves one after the other.
        let of_width = |whole: f64| (if wide { whole } else { whole / 2.0 }).round().max(1.0) as u16;
        let of = |ports, latency| Figures { ports, latency, taken: 1, slots: 1 };
        match self {
            Unit::None => of(0, 0),
            Unit::Integer => of(ALU, 1),
            Unit::Multiply => of(ALU_MULTIPLY, 3),
            Unit::Divide => Figures { taken: 7, slots: 2, ..of(ALU_DIVIDE, 12) },
            Unit::Branch => of(BRANCH, 1),
            Unit::Fma => of(FP_MULTIPLY, 4),
            Unit::FloatMultiply => of(FP_MULTIPLY, 3),
            Unit::FloatAdd => of(FP_ADD, 3),
            Unit::Logic => of(FP, if wide { 2 } else { 1 }),
            Unit::Shift => of(FP_SHUFFLE, 2),
            Unit::IntMultiply => of(FP_MULTIPLY, 3),
            Unit::Shuffle => of(FP_SHUFFLE, 2),
            Unit::Permute => of(FP_SHUFFLE, 4),
            Unit::Permute2 => of(FP_SHUFFLE, 5),
            Unit::Convert => of(FP_ADD, 4),
            Unit::Narrow => Figures { slots: 2, ..of(FP_SHUFFLE, 5) },
            Unit::FloatDivide => Figures { taken: of_width(core.divide), ..of(FP_DIVIDE, 11) },
            Unit::FloatSqrt => Figures { taken: of_width(core.sqrt), ..of(FP_DIVIDE, 15) },
            Unit::Dot => of(FP_MULTIPLY, 4),
            Unit::DotBf16 => of(FP_MULTIPLY, 6),
            Unit::Compare => of(FP_MULTIPLY, 5),
            Unit::Mask => of(FP_MULTIPLY, 2),
            Unit::FromGeneral => of(FP_SHUFFLE, 6),
            Unit::ToGeneral => of(FP_SHUFFLE, 6),
            Unit::Gather => Figures { taken: 8, slots: 40, ..of(FP_SHUFFLE, 24) },
            Unit::Call => Figures { taken: 30, slots: 60, ..of(ALU_DIVIDE, 60) },
        }
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    pub unit: Unit,
    /// Of the widest operand.
    pub bytes: usize,
    pub reads: SmallVec<[Register; 6]>,
    /// Registers that only its address needs.
    pub address: SmallVec<[Register; 2]>,
    pub writes: SmallVec<[Register; 2]>,
    pub loads: bool,
    pub stores: bool,
    /// Addresses that it touches.
    pub accesses: u16,
    /// A branch that can go two ways.
    pub branches: bool,
}
