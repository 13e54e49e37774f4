//! Loads packages and runs them.
//!
//! ```text
//!   package ─► session ─► bind (once per input shapes) ─► context (memory of one run) ─► interpret ─► outputs
//!                                                                       cpu / native / portable kernels, pool; or a GPU (`cuda.rs`)
//! ```
//! In: a package file and input tensors.  Out: output tensors, timings.
//! May use: package, base.  Never knows: IR, compilers, models.
//! Start reading at `session.rs`, then `bind.rs` and `interpret.rs`.
//!
//! `unsafe` stands where addresses are made or followed: `memory.rs` (blocks and raw ranges), `cpu.rs` (executable
//! pages and the call), `cuda/` (calls of the driver, memory of the card), `queue.rs` (memory of either), `pool.rs` (a
//! borrowed job crosses threads), `peaks/x86.rs` (loops that measure the processor),
//! `interpret.rs` and `staging.rs` (slices of a run's memory), `session.rs` (the file mapping).

mod bind;
mod context;
mod cpu;
pub mod cuda;
mod functions;
mod interpret;
mod kernels;
mod memory;
pub mod native;
pub mod peaks;
mod pool;
mod processor;
mod profile;
mod queue;
mod session;
mod staging;
mod stop;
mod tensors;

pub use cpu::{lacking, processor_features};
pub use kernels::CodePlace;
pub use pool::{Pool, all_threads, default_threads};
pub use profile::{Counters, GraphCounters, LaunchTime, RunProfile};
pub use session::{CardTimer, Hardware, Session, SessionOptions, Stream, map_file};
pub use stop::Running;
pub use tegula_package::{Memory, OutOfBounds, PortableExecutor, PortableKernel, PtxExecutor};
pub use tensors::{TensorView, check_rank};
