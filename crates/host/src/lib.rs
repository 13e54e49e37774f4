//! Host level (`tgh`): buffers, launches, copies, control flow, asserts; executor.
//! In: what `opt` lowers.  Out: verified `HostFunc`s and their meaning.
//! May use: ir, base, mlir.  Never knows: what a kernel computes.
//! Start reading at `ops.rs`, then `exec.rs`.
//!
//! ```text
//! tensor program after kernel formation ─► HostFunc ─┬─► plan_memory, package
//!                                                    └─► exec (meaning)
//! ```

mod check;
pub mod exec;
pub mod ops;
pub mod packing;
pub mod types;

pub use exec::{Launch, execute};
pub use ops::{HostOp, Relation};
pub use packing::{PackedDim, Packing};
pub use types::BufferType;

/// A program's steps; its body has no arguments, inputs and outputs are ops.
pub type HostFunc = tegula_ir::Func<HostOp>;
/// The steps with the symbols and the constants that they use.
pub type HostProgram = tegula_ir::Program<HostOp>;
