//! The host program of a package as plain data: which buffers there are, and which steps run in which order.
//!
//! Steps are numbered in pre-order: a step before the steps inside it, the `then` of an `If` before its
//! `otherwise`. A buffer's lifetime is the inclusive range of the numbers of the steps that need its content; a
//! buffer that an iteration of a loop hands to the next one lives over the whole loop. Two arena buffers share
//! memory only when their lifetimes are disjoint.
//!
//! A program reaches the runtime only through [`crate::check::check_program`].

use crate::device::DeviceId;
use crate::image::{Image, KernelCode};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tegula_base::{DType, Dim};

/// A size in terms of the program's symbols; an integer in the file when constant.
pub type SizeExpr = Dim;

/// An index into [`HostProgram::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BufferId(pub u32);

impl BufferId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for BufferId {
    /// Panics above 2^32 buffers, which no program reaches.
    fn from(index: usize) -> BufferId {
        BufferId(u32::try_from(index).expect("invariant: fewer than 2^32 buffers"))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostProgram {
    pub symbols: Vec<Symbol>,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    pub buffers: Vec<Buffer>,
    /// What [`crate::PackageBuilder`] was given; it fills this in.
    pub images: Vec<Image>,
    pub kernels: Vec<Kernel>,
    pub steps: Vec<Step>,
}

impl HostProgram {
    /// The output that is in the memory of input `0`.
    pub fn output_in(&self, input: usize) -> Option<usize> {
        self.outputs.iter().position(|port| port.alias == u32::try_from(input).ok() && port.alias.is_some())
    }
}

/// A size that is known only when the program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: String,
    pub origin: Origin,
    /// Smallest and largest legal value; checked when the symbol is bound.
    pub min: i64,
    pub max: i64,
    /// The value is a multiple of this (at least 1).
    pub divisor: i64,
    /// A bound in terms of symbols that are bound earlier; checked when the symbol is bound.
    #[serde(with = "crate::size::option", default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<SizeExpr>,
}

/// Where a symbol gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The extent of dim `axis` of input `input`, whose port must show the bare symbol there.
    Input { input: u32, axis: u32 },
    /// A [`Step::Bind`].
    Data,
    /// Who runs the program: how much what its loops carry may grow. An assertion over such a symbol that does not hold asks
    /// for another run with twice as much.
    Growth,
}

/// An input or output: dense, row-major.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    #[serde(with = "crate::size::dtype")]
    pub dtype: DType,
    #[serde(with = "crate::size::list")]
    pub shape: Vec<SizeExpr>,
    /// An input's buffer is at [`Place::Input`]; an output's may be any (even an input's or a constant's): what
    /// is not at its own [`Place::Output`] is copied when the program ends.
    pub buffer: BufferId,
    /// Of an output: the input of the same dtype and shape whose memory it is in. That input is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<u32>,
    /// Of an input: what it is where the caller does not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<PortDefault>,
}

/// A tensor among the constants, of the port's element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortDefault {
    pub offset: u64,
    pub bytes: u64,
    pub shape: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    /// The name of the value in the source model.
    pub name: String,
    #[serde(with = "crate::size")]
    pub bytes: SizeExpr,
    pub place: Place,
    /// Whose memory it is in.
    #[serde(default, skip_serializing_if = "DeviceId::is_home")]
    pub device: DeviceId,
    /// First and last step (inclusive) that needs the buffer; see the top of this file.
    pub first: u32,
    pub last: u32,
}

/// Where a buffer's memory is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The caller's tensor for input `0`, on the home; read only, unless an output is in its memory.
    Input(u32),
    /// The caller's tensor for output `0`, on the home.
    Output(u32),
    /// In the constants section; `offset` is a multiple of 64.
    Constant { offset: u64, bytes: u64 },
    /// Planned from the lifetime when all sizes it depends on come from inputs, else allocated when first used.
    Arena,
    /// The same memory as another buffer of the device, which is no alias itself, at a byte offset.
    Alias {
        of: BufferId,
        #[serde(with = "crate::size")]
        offset: SizeExpr,
    },
    /// Zero at first, then kept from one run of a stream to its next.
    State(u32),
}

impl Buffer {
    pub fn is_alias(&self) -> bool {
        matches!(self.place, Place::Alias { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub code: KernelCode,
    /// Bytes of private memory of each thread.
    #[serde(with = "crate::size")]
    pub scratch: SizeExpr,
    /// In a section of its own.
    #[serde(skip)]
    pub cost: Arc<CostRecord>,
    /// The names of the model's nodes that this kernel computes; in a section of its own.
    #[serde(skip)]
    pub source: Arc<[String]>,
}

/// What a kernel was predicted to cost on the package's machine, at one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostRecord {
    /// Bytes of memory traffic.
    #[serde(with = "crate::size")]
    pub bytes: SizeExpr,
    #[serde(with = "crate::size")]
    pub flops: SizeExpr,
    #[serde(with = "crate::size")]
    pub predicted_ns: SizeExpr,
    /// What holds the kernel back: `compute`, `dram`, `l2`, `launch` ...
    pub bound: String,
    /// The kind of its root: `contraction`, `convolution`, `reduction`, `elementwise` ...
    pub class: String,
}

impl Default for CostRecord {
    fn default() -> CostRecord {
        CostRecord {
            bytes: Dim::from(0),
            flops: Dim::from(0),
            predicted_ns: Dim::from(0),
            bound: String::new(),
            class: String::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Runs a kernel over `[0, grid)`; nothing happens when `grid` is 0.
    Launch {
        kernel: u32,
        args: Vec<Arg>,
        #[serde(with = "crate::size")]
        grid: SizeExpr,
    },
    /// Within one device; the two ranges may overlap.
    Copy {
        src: BufferId,
        #[serde(with = "crate::size")]
        src_offset: SizeExpr,
        dst: BufferId,
        #[serde(with = "crate::size")]
        dst_offset: SizeExpr,
        #[serde(with = "crate::size")]
        bytes: SizeExpr,
    },
    /// From one device to another.
    Transfer {
        src: BufferId,
        #[serde(with = "crate::size")]
        src_offset: SizeExpr,
        dst: BufferId,
        #[serde(with = "crate::size")]
        dst_offset: SizeExpr,
        #[serde(with = "crate::size")]
        bytes: SizeExpr,
    },
    /// Sets the first `bytes` bytes of `dst` to `value`.
    Fill {
        dst: BufferId,
        value: u8,
        #[serde(with = "crate::size")]
        bytes: SizeExpr,
    },
    /// Reads one i64 and makes it the value of a data symbol, after checks of range, divisor and bound.
    Bind { symbol: u32, from: BufferId },
    /// Stops the run with `message` unless `cond` holds.
    Assert { cond: Cond, message: String },
    /// `cond` is one bool.
    If { cond: BufferId, then: Vec<Step>, otherwise: Vec<Step> },
    /// Repeats `body` while fewer than `trip` (one i64, read once) iterations ran and `cond` (one bool, tested
    /// before each iteration) is true; one of the two is there. `counter` (one i64) gets the iteration's
    /// number, from 0, before the body.
    Loop { trip: Option<BufferId>, cond: Option<BufferId>, counter: Option<BufferId>, body: Vec<Step> },
    /// Runs both lists, one after the other or at once: neither touches what the other writes.
    Fork { first: Vec<Step>, second: Vec<Step> },
}

/// One word of the argument block; see `docs/abi.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    Buffer(BufferId),
    #[serde(with = "crate::size")]
    Size(SizeExpr),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cond {
    #[serde(with = "crate::size")]
    pub lhs: SizeExpr,
    pub op: Relation,
    #[serde(with = "crate::size")]
    pub rhs: SizeExpr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    /// The left side is not zero and divides the right one.
    Divides,
}

impl Relation {
    pub fn holds(self, lhs: i64, rhs: i64) -> bool {
        match self {
            Relation::Eq => lhs == rhs,
            Relation::Ne => lhs != rhs,
            Relation::Lt => lhs < rhs,
            Relation::Le => lhs <= rhs,
            Relation::Divides => rhs.checked_rem(lhs) == Some(0) || lhs == -1,
        }
    }
}

impl Step {
    /// Calls `f` with each step and its number, in pre-order from `first`; returns the number after the last.
    pub fn for_each<'a>(steps: &'a [Step], first: u32, f: &mut dyn FnMut(u32, &'a Step)) -> u32 {
        let mut number = first;
        for step in steps {
            f(number, step);
            number += 1;
            match step {
                Step::If { then, otherwise, .. } => {
                    number = Step::for_each(then, number, f);
                    number = Step::for_each(otherwise, number, f);
                }
                Step::Loop { body, .. } => number = Step::for_each(body, number, f),
                Step::Fork { first, second } => {
                    number = Step::for_each(first, number, f);
                    number = Step::for_each(second, number, f);
                }
                Step::Launch { .. }
                | Step::Copy { .. }
                | Step::Transfer { .. }
                | Step::Fill { .. }
                | Step::Bind { .. }
                | Step::Assert { .. } => {}
            }
        }
        number
    }
}
