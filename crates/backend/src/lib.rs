//! The border between tensor passes and machines: the trait [`Target`], and what its answers are made of.
//!
//! ```text
//! passes ── claims, preferences, fuses, layouts ──► Target
//! lower_to_host ── codegen ──► Kernels: a kernel to launches   (processors, GPUs)
//!                              Graph: a region to one image    (racks, NPUs)
//! ```
//! In: ops, kernels and regions of a tensor program.  Out: claims, layouts, costs, compiled code.
//! May use: tensor, machine, perf, package, ir, base.  Never knows: tiles, lanes and registers, any particular target, files.
//! Start reading at `target.rs`, then `codegen.rs` and `infeasible.rs`.

pub mod codegen;
pub mod cost;
pub mod infeasible;
pub mod preferences;
pub mod target;

pub use codegen::{
    BufferRef, Code, Codegen, CompiledKernel, GraphCodegen, GraphImage, KernelCodegen, Launch, Launches,
    Placement, Span, View,
};
pub use infeasible::{Infeasible, Resource, Short};
pub use preferences::{BytePairs, Preferences};
pub use target::{Claim, Contractions, Fused, Layouts, Packing, Place, Target, Targets};
