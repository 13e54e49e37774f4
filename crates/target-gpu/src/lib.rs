//! Compiles tile functions to PTX for NVIDIA GPUs.      tensor ─► tile ─► [target-gpu] ─► package
//! In: a verified `TileFunc` and a GPU `Machine`.  Out: an `isa_ptx::Entry` a kernel, as text in the package.
//! May use: tile, tensor, machine, perf, target, package, isa-ptx, ir, base.  Never knows: model formats, other targets, the simulator, the driver, files.
//! Start reading at `layout.rs` (where a tile's elements lie in registers and shared memory), then `schedule.rs`.

pub mod encoding;
pub mod layout;
pub mod schedule;
