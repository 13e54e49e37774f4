//! What instructions read: registers, immediates, addresses.

use smallvec::SmallVec;

use crate::module::{ParamId, SharedId};
use crate::reg::Reg;

/// A register, or an immediate as bits of the operand's width, zeros above.
/// What the bits mean is said by the instruction's type: `0x3f80_0000` is 1.0 to `add.f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Reg(Reg),
    Imm(u64),
}

impl Operand {
    pub fn i16(value: i16) -> Operand {
        Operand::Imm(value as u16 as u64)
    }

    pub fn i32(value: i32) -> Operand {
        Operand::Imm(value as u32 as u64)
    }

    pub fn u32(value: u32) -> Operand {
        Operand::Imm(value as u64)
    }

    pub fn i64(value: i64) -> Operand {
        Operand::Imm(value as u64)
    }

    pub fn f32(value: f32) -> Operand {
        Operand::Imm(value.to_bits() as u64)
    }

    pub fn f64(value: f64) -> Operand {
        Operand::Imm(value.to_bits())
    }

    pub fn reg(self) -> Option<Reg> {
        match self {
            Operand::Reg(reg) => Some(reg),
            Operand::Imm(_) => None,
        }
    }
}

/// The immediate 0.
impl Default for Operand {
    fn default() -> Operand {
        Operand::Imm(0)
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

/// A predicate register, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    pub reg: Reg,
    pub negated: bool,
}

impl Default for Predicate {
    fn default() -> Predicate {
        Predicate { reg: Reg::new(crate::RegClass::Pred, 0), negated: false }
    }
}

impl From<Reg> for Predicate {
    fn from(reg: Reg) -> Predicate {
        Predicate { reg, negated: false }
    }
}

impl std::ops::Not for Predicate {
    type Output = Predicate;

    fn not(self) -> Predicate {
        Predicate { negated: !self.negated, ..self }
    }
}

/// Where an address starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// `B64`; or `B32` for shared memory.
    Reg(Reg),
    /// A variable in shared memory.
    Shared(SharedId),
    /// A parameter of the entry.
    Param(ParamId),
}

/// `[base + offset]`, the offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Base,
    pub offset: i32,
}

impl Address {
    pub fn new(base: Base, offset: i32) -> Address {
        Address { base, offset }
    }

    /// `bytes` further on. Panics where the offset leaves 32 bits.
    pub fn plus(self, bytes: i32) -> Address {
        let offset = self.offset.checked_add(bytes).expect("invariant: offsets of addresses fit 32 bits");
        Address { offset, ..self }
    }
}

impl Default for Address {
    fn default() -> Address {
        Address::from(Reg::default())
    }
}

impl From<Reg> for Address {
    fn from(reg: Reg) -> Address {
        Address { base: Base::Reg(reg), offset: 0 }
    }
}

impl From<SharedId> for Address {
    fn from(shared: SharedId) -> Address {
        Address { base: Base::Shared(shared), offset: 0 }
    }
}

impl From<ParamId> for Address {
    fn from(param: ParamId) -> Address {
        Address { base: Base::Param(param), offset: 0 }
    }
}

/// Registers of a vector, a fragment or an accumulator, in the order of the text.
pub type RegList = SmallVec<[Reg; 4]>;

/// Operands in braces, such as the coordinates of a box.
pub type OperandList = SmallVec<[Operand; 4]>;
