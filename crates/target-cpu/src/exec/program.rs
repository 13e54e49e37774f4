//! A flattened kernel: one list of instructions over four register files, every value in a slot of its own.
//!
//! Vectors of 32-bit and narrower elements live in `[u32; 16]` (narrow elements packed), of 64-bit elements in
//! `[u64; 8]`. Constants are in the initial files. Loops and branches are jumps; region arguments are moves.

use super::lanes::{Apply1, Apply2, Apply3, Test};
use crate::schedule::{Elem, IndexOp};
use tegula_base::DType;
use tegula_ir::OpId;
use tegula_package::{Function, OutOfBounds};

pub(super) type Slot = u32;
pub(super) type Vec32 = [u32; 16];
pub(super) type Vec64 = [u64; 8];

/// The register files.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    pub index: Vec<i64>,
    pub v32: Vec<Vec32>,
    pub v64: Vec<Vec64>,
    pub mask: Vec<u64>,
}

/// A vector register: its file and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reg {
    V32(Slot),
    V64(Slot),
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Index(Slot),
    Vector(Reg),
    Mask(Slot),
}

/// `base + index * scale + disp`, and which lanes are active.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addressing {
    pub base: Slot,
    pub index: Option<Slot>,
    pub scale: i64,
    pub disp: i64,
    pub active: Active,
}

/// The lanes of a memory op that touch memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Active {
    All,
    /// Index slot of how many of the first.
    First(Slot),
    /// Mask slot.
    Masked(Slot),
}

/// How the lanes of a memory op are spread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    Consecutive,
    /// Index slot of the distance in bytes.
    Strided(Slot),
    /// `i32` or `i64` lanes, times the address's scale.
    Offsets(Reg),
}

/// One instruction; `n` is the number of words that count.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    Arg {
        d: Slot,
        word: usize,
    },
    Scratch {
        d: Slot,
    },
    Begin {
        d: Slot,
    },
    End {
        d: Slot,
    },
    Index {
        op: IndexOp,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    IndexSelect {
        d: Slot,
        c: Slot,
        a: Slot,
        b: Slot,
    },
    Move {
        d: Place,
        s: Place,
    },
    Jump {
        to: usize,
    },
    JumpIfZero {
        c: Slot,
        to: usize,
    },
    /// Leaves the loop when the induction variable has reached the bound.
    LoopTest {
        iv: Slot,
        hi: Slot,
        exit: usize,
    },
    /// Adds the step and goes back to the test; past the largest index the loop is over.
    LoopStep {
        iv: Slot,
        step: i64,
        test: usize,
    },
    Load {
        d: Reg,
        dtype: DType,
        n: usize,
        at: Addressing,
        spread: Spread,
    },
    LoadSplat {
        d: Reg,
        dtype: DType,
        n: usize,
        at: Addressing,
    },
    /// `n` elements of `size` bytes.
    LoadRaw {
        d: Reg,
        size: usize,
        n: usize,
        at: Addressing,
    },
    /// Two bytes a lane, each extended to 16 bits.
    LoadWords {
        d: Slot,
        n: usize,
        at: Addressing,
    },
    Store {
        s: Reg,
        dtype: DType,
        n: usize,
        at: Addressing,
        spread: Spread,
    },
    Splat {
        d: Reg,
        elem: Elem,
        n: usize,
        s: Slot,
    },
    Map32x1 {
        f: Apply1<u32>,
        d: Slot,
        a: Slot,
        n: usize,
    },
    Map32x2 {
        f: Apply2<u32>,
        d: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    Map32x3 {
        f: Apply3<u32>,
        d: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        n: usize,
    },
    Map64x1 {
        f: Apply1<u64>,
        d: Slot,
        a: Slot,
        n: usize,
    },
    Map64x2 {
        f: Apply2<u64>,
        d: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    Map64x3 {
        f: Apply3<u64>,
        d: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        n: usize,
    },
    Widen {
        f: fn(u32) -> u64,
        d: Slot,
        a: Slot,
        n: usize,
    },
    Narrow {
        f: fn(u64) -> u32,
        d: Slot,
        a: Slot,
        n: usize,
    },
    Test32 {
        f: Test<u32>,
        d: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    Test64 {
        f: Test<u64>,
        d: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    Select32 {
        d: Slot,
        m: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    Select64 {
        d: Slot,
        m: Slot,
        a: Slot,
        b: Slot,
        n: usize,
    },
    SelectMask {
        d: Slot,
        m: Slot,
        a: Slot,
        b: Slot,
    },
    MaskOp {
        op: MaskOp,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    MaskFirst {
        d: Slot,
        s: Slot,
        n: usize,
    },
    MaskToVec {
        d: Slot,
        m: Slot,
        n: usize,
    },
    Extract {
        d: Slot,
        s: Reg,
        elem: Elem,
        lane: usize,
    },
    Reduce32 {
        f: Apply2<u32>,
        d: Slot,
        a: Slot,
        n: usize,
    },
    Reduce64 {
        f: Apply2<u64>,
        d: Slot,
        a: Slot,
        n: usize,
    },
    /// The picked lanes stand in `Executable::shuffles`.
    Shuffle {
        d: Reg,
        a: Reg,
        b: Reg,
        size: usize,
        n: usize,
        picks: usize,
    },
    /// The entries stand in `Executable::tables`.
    Tabulated {
        d: Slot,
        places: Slot,
        table: usize,
    },
    Call {
        f: Function,
        d: Reg,
        a: Reg,
        b: Option<Reg>,
        n: usize,
    },
    Stop,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MaskOp {
    And,
    Or,
    Xor,
    AndNot,
}

/// A kernel, ready to run; shared freely by threads.
#[derive(Debug)]
pub struct Executable {
    pub(super) insts: Vec<Inst>,
    /// The op that each instruction came from, with its name.
    pub(super) origins: Vec<(OpId, &'static str)>,
    pub(super) initial: Files,
    pub(super) shuffles: Vec<Vec<u32>>,
    pub(super) tables: Vec<Vec<u32>>,
}

/// Why a kernel stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub op: OpId,
    /// `tgc` name of the op.
    pub name: &'static str,
    pub access: OutOfBounds,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`tgc.{}` ({}): {}", self.name, self.op, self.access)
    }
}

impl std::error::Error for Fault {}
