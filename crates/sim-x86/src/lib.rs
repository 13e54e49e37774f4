//! Runs x86-64 code of kernels on any processor: AVX2 and AVX-512, on checked memory.      machine code ─► [sim-x86] ─► memory, counters
//! In: the bytes of a kernel and a call by `docs/abi.md`.  Out: what the kernel writes, `Counters`; or a `Problem` that names the instruction.
//! May use: package.  Never knows: targets, tiles, machines, the runtime, files.
//! Start reading at `kernel.rs` (a call), then `program.rs` (bytes to instructions), `table.rs` (which does what), `exec.rs`.
//!
//! A call is held to the convention beyond what a processor would notice: every access lies in a buffer of the launch,
//! registers that a call may change hold rubbish after it, flags without a defined value decide nothing, and the
//! kernel leaves with the registers that it must keep.
//! Source of what instructions mean: Intel 64 and IA-32 Architectures Software Developer's Manual (SDM), volume 2.

mod door;
mod exec;
mod inst;
mod kernel;
mod lanes;
mod problem;
mod program;
mod space;
mod state;
mod table;

pub use door::Simulator;
pub use kernel::{Call, Counters, Kernel, Stopped};
pub use problem::Problem;
