//! Lowers a tensor program after kernel formation to the host level, and its kernels to a target's code.
//!
//! Before: regions hold `kernel`s, constants (perhaps under one `relayout`), reshapes and transposes that move no
//! element, ops of runtime kernels, `bind`, `assert_size` and control flow.
//! After: a host function that makes every buffer before it is read, and one [`HostKernel`] a launch. Reshapes and
//! transposes share their operand's buffer. Outputs are written by the kernels that compute them where that is possible.
//!
//! ```text
//! TensorFunc ─► compile_kernels (each distinct one once) ─► walk (buffers, launches) ─► HostModule ─► package
//!                                                         ├ control (if, loop)
//!                                                         ├ runtime kernels
//!                                                         └ constants (packing)
//! ```

pub mod constants;
mod control;
mod kernels;
mod package;
mod runtime_kernels;
mod walk;

pub use kernels::{Kernels, compile_kernels, distinct_kernels};
pub use package::{add_code, to_package};
pub use runtime_kernels::is_runtime_kernel;

use crate::update_in_place::Alias;
use std::sync::Arc;
use tegula_backend::{BufferRef, Code, Targets};
use tegula_base::{Diagnostics, Dim};
use tegula_host::HostProgram;
use tegula_ir::OpId;
use tegula_package::CostRecord;
use tegula_tensor::TensorProgram;

/// The device of regions: the home is 0.
pub const BESIDE_THE_HOST: u32 = 1;

/// A program on the host level with the kernels that its launches name.
#[derive(Clone, Debug)]
pub struct HostModule {
    pub program: HostProgram,
    pub kernels: Vec<HostKernel>,
    /// Distinct compiled codes; several kernels may be one code.
    pub codes: Vec<Code>,
    /// Outputs that are in an input's memory.
    pub aliases: Vec<Alias>,
}

/// What a launch runs.
#[derive(Clone, Debug)]
pub struct HostKernel {
    pub name: String,
    pub code: HostCode,
    /// Bytes of private memory a thread.
    pub scratch: Dim,
    pub cost: Arc<CostRecord>,
    /// Names of the source model's nodes.
    pub source: Arc<[String]>,
    /// The tensor op that this launch is; `None` for what control flow needs.
    pub op: Option<OpId>,
    /// The op's operand or result behind each buffer of the launch.
    pub views: Vec<BufferRef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostCode {
    /// An index into [`HostModule::codes`].
    Compiled(usize),
    /// A kernel of the runtime by name; `attrs` is JSON (`docs/abi.md`).
    Native { name: String, attrs: String },
}

/// Lowers the entry function, whose kernels [`compile_kernels`] has compiled. Errors: internal ones.
pub fn lower_to_host(
    program: &TensorProgram,
    targets: Targets,
    kernels: Kernels,
    aliases: &[Alias],
) -> Result<HostModule, Diagnostics> {
    walk::Walk::new(program, targets, kernels).finish(aliases)
}
