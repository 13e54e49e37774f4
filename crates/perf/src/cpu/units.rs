//! Instructions as a core sees them: what they wait for, which ports take them, and how long results take.
//!
//! Families of cores have tables of their own; what differs within one is a fact of the machine.

mod intel;
mod zen;

use smallvec::SmallVec;
use tegula_machine::{Core, CoreFamily};

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

/// Ports, one bit each: those of arithmetic as a family of cores has them, those of memory the same for all.
pub type Ports = u32;

/// Divides beside the port that an operand comes through.
pub const DIVIDER: Ports = 0x1_0000;
const LOAD: Ports = 0x3000;
const THIRD_LOAD: Ports = 0x2_0000;
pub const STORE: Ports = 0xc000;
/// Where one store a cycle leaves.
pub const WIDE_STORE: Ports = 0x4000;

/// Ports for a load of so many bytes: two of a datapath's width a cycle, and since Golden Cove three of half of it.
pub fn load_ports(bytes: usize, core: &Core) -> Ports {
    match core.family {
        CoreFamily::GoldenCove if 2 * bytes <= core.datapath => LOAD | THIRD_LOAD,
        CoreFamily::GoldenCove | CoreFamily::SunnyCove | CoreFamily::Zen(_) => LOAD,
    }
}

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
    /// The low half of products.
    IntMultiplyLow,
    /// Within 128 bits.
    Shuffle,
    /// Across a register.
    Permute,
    /// From two registers across.
    Permute2,
    Convert,
    /// To whole numbers that stay floats.
    Round,
    Narrow,
    /// Between `f16` and `f32`.
    Half,
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
        match core.family {
            CoreFamily::Zen(pipes) => zen::figures(self, bytes, core, pipes),
            CoreFamily::SunnyCove | CoreFamily::GoldenCove => intel::figures(self, bytes, core),
        }
    }

    /// Whether vectors or masks of their lanes are computed.
    pub fn is_vector(self) -> bool {
        use Unit::*;
        !matches!(self, None | Integer | Multiply | Divide | Branch | Call)
    }
}

/// Cycles that a unit is taken which needs `whole` for the widest vectors and takes halves one after the other.
fn of_width(whole: f64, bytes: usize) -> u16 {
    (if bytes > 32 { whole } else { whole / 2.0 }).round().max(1.0) as u16
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
