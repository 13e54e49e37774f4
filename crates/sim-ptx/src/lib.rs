//! Runs PTX without a card: the instructions that a target emitted, on checked memory.      PTX (isa-ptx) ─► [sim-ptx] ─► memory, counters
//! In: an `Entry` and a `Launch`, or a package's `PtxKernel`.  Out: what the kernel writes, `Counters`; or a `Diagnostic` that names the instruction.
//! May use: base, isa-ptx, package.  Never knows: targets, tiles, layouts, the runtime, files.
//! Start reading at `launch.rs`, then `machine.rs` (who runs when), `stream.rs` (launches that overlap), `program.rs` (what runs), `exec.rs` (how), `race.rs`.

mod barrier;
mod bulk;
mod clock;
mod cluster;
mod copies;
mod counters;
mod decode;
mod descriptor;
mod door;
mod events;
mod exec;
mod factor;
mod lanes;
mod launch;
mod machine;
mod map;
mod mbarrier;
mod mma;
mod number;
mod problem;
mod program;
mod race;
mod random;
mod remote;
mod shared;
mod stream;
mod swizzle;
mod warp;
mod wgmma;

pub use counters::Counters;
pub use door::Simulator;
pub use launch::{Kernel, Launch, MAX_SHARED, MAX_THREADS, Options, Stopped};
pub use stream::{Given, run_in_order};
