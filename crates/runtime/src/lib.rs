//! Loads packages and runs them.
//!
//! ```text
//!   package ─► session ─► bind (once per input shapes) ─► context (memory of one run) ─► interpret ─► outputs
//!             │ devices load kernels                              │ queues: memory of each device, copies, launches
//!             └ device/ (this processor, simulators, a caller's own), cuda/ (a GPU)
//! ```
//! In: a package file and input tensors.  Out: output tensors, timings.
//! May use: package, base.  Never knows: IR, compilers, models.
//! Start reading at `session.rs`, then `device.rs`, `queue.rs`, `bind.rs` and `interpret.rs`.
//!
//! `unsafe` stands where addresses are made or followed: `memory.rs` (blocks and raw ranges), `cpu.rs` (executable
//! pages and the call), `cuda/` (calls of the driver, memory of the card), `queue.rs` and `device/brought.rs` (memory of a
//! device), `pool.rs` (a borrowed job crosses threads), `peaks/x86.rs` (loops that measure the processor),
//! `interpret.rs`, `context.rs`, `constants.rs` and `staging.rs` (a run's memory), `session.rs` (the file mapping).

mod bind;
mod constants;
mod context;
mod cpu;
pub mod cuda;
mod device;
mod functions;
mod interpret;
mod kernels;
mod memory;
pub mod native;
mod options;
pub mod peaks;
mod pool;
mod ports;
mod processor;
mod profile;
mod queue;
mod replay;
mod session;
mod staging;
mod stop;
mod tensors;

pub use cpu::{lacking, processor_features};
pub use device::{
    Device, DeviceBuffer, DeviceCode, DeviceKernel, DeviceLaunch, DeviceMemory, KernelImage, Loaded,
    MemoryBlock, PlainMemory,
};
pub use kernels::CodePlace;
pub use options::{Hardware, SessionOptions};
pub use pool::{Pool, all_threads, default_threads};
pub use profile::{Counters, GraphCounters, LaunchTime, RunProfile};
pub use session::{CardTimer, NO_REGULAR_FILE, Session, Stream, map_file};
pub use stop::Running;
pub use tegula_package::{Memory, OutOfBounds, PortableExecutor, PortableKernel, PtxExecutor};
pub use tensors::{TensorView, check_rank};
