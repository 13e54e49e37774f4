//! What a target makes of kernels and regions: compiled launches or an image, and what stands behind their arguments.

use crate::infeasible::Infeasible;
use tegula_base::{Diagnostic, Dim, Symbols};
use tegula_ir::OpId;
use tegula_package::PtxKernel;
use tegula_tensor::{TensorFunc, TensorProgram};

/// How a target compiles.
pub enum Codegen<'a> {
    /// A kernel at a time.
    Kernels(&'a dyn KernelCodegen),
    /// A region of the kernel graph at a time.
    Graph(&'a dyn GraphCodegen),
}

/// Compiles a region of the kernel graph whole, with memory and time of its own.
pub trait GraphCodegen: Sync {
    /// Compiles the entry function of `region`: kernels of ops that the target claims, and constants. Its arguments and
    /// results are the launch's buffers, dense and row-major. Errors: what the machine has too little of.
    fn compile(&self, name: &str, region: &TensorProgram) -> Result<GraphImage, Infeasible>;
}

/// A compiled region: one image, run by one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphImage {
    pub bytes: Vec<u8>,
    /// Size symbols that a launch is told the values of, in this order.
    pub symbols: Vec<String>,
    /// Where each value lies, and from which cycle to which.
    pub memory: Vec<Placement>,
    /// What each unit does, in order of its start.
    pub timeline: Vec<Span>,
    /// What the target did otherwise than asked, and why: a sentence each.
    pub remarks: Vec<String>,
}

/// A value's place in a memory of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub memory: String,
    pub value: String,
    pub offset: u64,
    pub bytes: u64,
    /// First and last cycle, inclusive.
    pub cycles: [u64; 2],
}

/// A unit's work, from its first cycle to its last, inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub unit: String,
    pub what: String,
    pub cycles: [u64; 2],
}

/// Compiles one kernel to launches.
pub trait KernelCodegen: Sync {
    /// Compiles a `tgn.kernel` under a name; where it has several launches, theirs begin with that name.
    /// Errors: `unsupported`, for a program given as text; internal: a kernel of claimed ops compiles.
    fn compile(
        &self,
        name: &str,
        func: &TensorFunc,
        kernel: OpId,
        symbols: &Symbols,
    ) -> Result<Launches, Diagnostic>;
}

/// What computes a kernel: launches one after another. One without work units in a run is skipped.
#[derive(Clone, Debug, Default)]
pub struct Launches {
    pub list: Vec<Launch>,
    /// Bytes of each buffer from one launch to a later one.
    pub temporaries: Vec<Dim>,
    /// Why it is computed so, a sentence each.
    pub reasons: Vec<String>,
}

/// A launch and what stands behind its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    pub compiled: CompiledKernel,
    pub views: Vec<View>,
}

/// What a launch has of a buffer; several views may be of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub buffer: BufferRef,
    pub written: bool,
}

/// Which buffer of the kernel a view is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRef {
    Operand(usize),
    Result(usize),
    /// An index into [`Launches::temporaries`].
    Temporary(usize),
}

/// A launch as the package stores it; the argument block (`docs/abi.md`) is its views, then `sizes`.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    pub code: Code,
    pub sizes: Vec<Dim>,
    /// Bytes of private memory a thread.
    pub scratch: Dim,
    /// Number of work units.
    pub units: Dim,
    /// What the target did otherwise than asked, and why: a sentence each.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Position-independent machine code; the entry point is its first byte.
    Machine(Vec<u8>),
    /// For the interpreter: the schedule level's text.
    Portable(Vec<u8>),
    /// For an NVIDIA GPU.
    Ptx(PtxKernel),
    /// An image of a graph target: a whole region, one launch.
    Graph { isa: String, bytes: Vec<u8> },
}
