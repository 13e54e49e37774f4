//! The ops of the host level (`tgh`): where buffers come from, and the steps over them.
//!
//! Every value is a buffer. Ops that give a buffer (`input` to `alias`) do nothing at run time; the others are
//! the program's steps. A buffer of a region may be used in the regions inside; its content is what was last
//! written to it, undefined before.

use crate::Packing;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ConstId, define_ops, enum_attr};

/// What an assertion compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    /// The left side is not zero and divides the right one.
    Divides,
}
enum_attr!(Relation { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Divides = "divides" });

impl Relation {
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Relation::Eq => left == right,
            Relation::Ne => left != right,
            Relation::Lt => left < right,
            Relation::Le => left <= right,
            Relation::Divides => left == -1 || right.checked_rem(left) == Some(0),
        }
    }
}

define_ops! {
    /// Ops of the host level.
    pub enum HostOp: "tgh" {
        // --- buffers -----------------------------------------------------------------------------------
        /// The caller's tensor for an input: dense, row-major, read only.
        Input = "input" { index: u32, name: String, dtype: DType, shape: Shape },
        /// As `input`, and written: an output is in its memory.
        Updated = "updated" { index: u32, name: String, dtype: DType, shape: Shape },
        /// The caller's tensor for an output: dense, row-major.
        Output = "output" { index: u32 },
        /// A constant of the store, rearranged when `packing` says so; read only.
        /// c1: a packing's source and the store's bytes are of one size.
        Constant = "constant" { id: ConstId, packing: Option<Box<Packing>> },
        /// Memory of the program's own; undefined at first.
        Alloc = "alloc" {},
        /// Zero at first, then kept from one run to the next.
        State = "state" { index: u32 },
        /// `(buffer)`: a part of it, from byte `offset` on. c1: on the same device.
        Alias = "alias" { offset: Dim },

        // --- steps -------------------------------------------------------------------------------------
        /// `(buffers...)`: kernel `kernel` over `[0, grid)`, after the buffers its `sizes`.
        /// `written` lists the operands that it writes. c1: those are operands, in order. c2: all are on one device.
        Launch = "launch" { kernel: u32, name: String, written: Vec<usize>, sizes: Vec<Dim>, grid: Dim },
        /// `(src, dst)`. c1: both are on one device.
        Copy = "copy" { src_offset: Dim, dst_offset: Dim, bytes: Dim },
        /// As `copy`, from one device to another. c1: they are on two.
        Transfer = "transfer" { src_offset: Dim, dst_offset: Dim, bytes: Dim },
        /// `(dst)`: its first `bytes` bytes become `value`.
        Fill = "fill" { value: u32, bytes: Dim },
        /// `(buffer)`: the size symbol gets the value of the one `i64` in it.
        Bind = "bind" { symbol: String },
        /// Stops the run with `message` unless the relation holds.
        Assert = "assert" { left: Dim, relation: Relation, right: Dim, message: String },
        /// `(cond)`, one bool: runs one of two regions.
        If = "if" {},
        /// `(trip?, cond?, counter?)`: runs its region while fewer than `trip` (one `i64`, read once) iterations
        /// ran and `cond` (one bool, read before each) holds; `counter` (one `i64`) gets the number of the
        /// iteration before each. c1: `trip` or `cond` is there. c2: one operand for each that is there.
        Loop = "loop" { trip: bool, cond: bool, counter: bool },
        /// Runs both of its regions, one after the other or at once: neither touches what the other writes.
        Fork = "fork" {},
        /// Ends a region.
        Yield = "yield" {},
        /// `(buffers...)`: ends the program; what they hold are its outputs, named and shaped by `names`,
        /// `dtypes` and `shapes`. c1: as many of each.
        Return = "return" { names: Vec<String>, dtypes: Vec<DType>, shapes: Vec<Shape> },
    }
}

impl HostOp {
    /// Whether the op does something at run time, and so has a number among the steps.
    pub fn is_step(&self) -> bool {
        match self {
            HostOp::Launch { .. }
            | HostOp::Copy { .. }
            | HostOp::Transfer { .. }
            | HostOp::Fill { .. }
            | HostOp::Bind { .. }
            | HostOp::Assert { .. }
            | HostOp::If {}
            | HostOp::Loop { .. }
            | HostOp::Fork {} => true,
            HostOp::Input { .. }
            | HostOp::Updated { .. }
            | HostOp::Output { .. }
            | HostOp::Constant { .. }
            | HostOp::Alloc {}
            | HostOp::State { .. }
            | HostOp::Alias { .. }
            | HostOp::Yield {}
            | HostOp::Return { .. } => false,
        }
    }
}
