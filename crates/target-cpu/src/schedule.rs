//! The CPU's schedule level (`tgc`): loops, addresses and virtual vector registers, one function a kernel.
//!
//! Values are 64-bit indexes (sizes, offsets, addresses), vectors of lanes, or lane masks. Every loop has its
//! place in the cache hierarchy written on it. Both executors run this level: [`crate::exec`] lane by lane in
//! plain Rust, and x86-64 code after selection and register allocation. The ABI is `docs/abi.md`.

pub mod builder;
pub mod calls;
mod check;
mod fold;
mod known;
pub mod ops;
pub mod types;

pub use builder::Builder;
pub use check::is_legal;
pub use ops::{Address, CompareOp, ConvertOp, CpuOp, IndexOp, LoopLevel, ReduceOp, VecOp};
pub use types::{CpuType, Elem};

/// A kernel on the schedule level; its body has no arguments (`arg`, `begin`, `end`, `scratch` read the ABI's).
pub type CpuFunc = tegula_ir::Func<CpuOp>;
