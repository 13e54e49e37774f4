//! What a target makes of kernels: compiled launches, and what stands behind their arguments.

use tegula_base::{Diagnostic, Dim, Symbols};
use tegula_ir::OpId;
use tegula_package::PtxKernel;
use tegula_tensor::TensorFunc;

/// How a target compiles.
pub enum Codegen<'a> {
    /// A kernel at a time.
    Kernels(&'a dyn KernelCodegen),
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
    /// For the portable executor: the schedule level's text.
    Portable(Vec<u8>),
    /// For an NVIDIA GPU.
    Ptx(PtxKernel),
}
