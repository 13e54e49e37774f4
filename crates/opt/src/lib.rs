//! Tensor passes, kernel formation, lowering to host, memory planning.
//! In: a verified tensor program and a `&dyn Target`.  Out: kernels, tile functions, a host program.
//! May use: tensor, host, backend, machine, package, ir, base.  Never knows: which target it asks, model formats, files.
//! Start reading at `pipeline.rs`, then `form_kernels.rs`.

pub mod assign_layouts;
mod axis_groups;
mod check_contractions;
pub mod fork_loops;
pub mod form_kernels;
pub mod keep_wide;
mod kernel_names;
mod kernel_signature;
pub mod lower_to_host;
pub mod partition;
pub mod passes;
pub mod pipeline;
pub mod plan_memory;
pub mod regions;
pub mod share_kernels;
pub mod update_in_place;
mod views;
