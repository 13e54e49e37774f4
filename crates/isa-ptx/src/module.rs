//! A PTX module as data: entries, their parameters and shared variables, blocks of guarded instructions.

use std::fmt;

use crate::op::Op;
use crate::operand::Predicate;
use crate::reg::RegCounts;
use crate::target::Target;
use crate::types::Scalar;

/// One file of PTX; its `.version` follows from what its instructions need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    pub target: Target,
    pub entries: Vec<Entry>,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub name: String,
    pub params: Vec<Param>,
    pub directives: Directives,
    pub shared: Vec<Shared>,
    pub registers: RegCounts,
    /// Run from the first one; a block without an unconditional branch at its end falls into the next.
    pub blocks: Vec<Block>,
}

/// What is promised of a launch, and asked of `ptxas`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Threads of a CTA in x, y, z: exactly so many (`.reqntid`).
    pub reqntid: Option<[u32; 3]>,
    /// Threads of a CTA at most (`.maxntid`).
    pub maxntid: Option<[u32; 3]>,
    /// Registers of a thread at most (`.maxnreg`).
    pub maxnreg: Option<u32>,
    /// CTAs that an SM should hold at least (`.minnctapersm`).
    pub minnctapersm: Option<u32>,
    /// CTAs of a cluster in x, y, z (`.explicitcluster .reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
}

/// The n-th parameter of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub ty: ParamType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    Scalar(Scalar),
    /// `.param .align 64 .b8 name[128]`: an argument block, a tensor map.
    Bytes {
        align: u32,
        size: u32,
    },
}

/// The n-th shared variable of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedId(pub u32);

/// Bytes in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub name: String,
    pub align: u32,
    /// `None`: as many as the launch gives (`.extern`), behind all others.
    pub size: Option<u32>,
}

/// The n-th block of the entry: what a branch names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Its label is `$L<n>`, or `$L<n>_<name>`. Branches stand only at its end, all but the
/// last one guarded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Letters, digits and underscores; for readers only.
    pub name: String,
    pub insts: Vec<Inst>,
}

/// An instruction; where the guard is false it does nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub guard: Option<Predicate>,
    pub op: Op,
}

impl Inst {
    pub fn new(op: impl Into<Op>) -> Inst {
        Inst { guard: None, op: op.into() }
    }

    pub fn guarded(guard: impl Into<Predicate>, op: impl Into<Op>) -> Inst {
        Inst { guard: Some(guard.into()), op: op.into() }
    }
}

impl ParamType {
    /// In bytes.
    pub fn size(self) -> u32 {
        match self {
            ParamType::Scalar(ty) => ty.bits().div_ceil(8),
            ParamType::Bytes { size, .. } => size,
        }
    }

    /// In bytes.
    pub fn align(self) -> u32 {
        match self {
            ParamType::Scalar(_) => self.size(),
            ParamType::Bytes { align, .. } => align,
        }
    }
}

impl Entry {
    /// Offsets in bytes of the parameters in the buffer that a launch passes; the last number is its size.
    pub fn param_offsets(&self) -> Vec<u32> {
        let mut offsets = Vec::with_capacity(self.params.len() + 1);
        let mut end = 0u32;
        for param in &self.params {
            end = end.next_multiple_of(param.ty.align().max(1));
            offsets.push(end);
            end += param.ty.size();
        }
        offsets.push(end);
        offsets
    }

    /// All instructions in the order of the text.
    pub fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.blocks.iter().flat_map(|block| &block.insts)
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}
