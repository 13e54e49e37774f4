//! Compiles tile functions to PTX for NVIDIA GPUs.      tensor ─► tile ─► [target-gpu] ─► package
//! In: a verified `TileFunc` and a GPU `Machine`.  Out: an `isa_ptx::Entry` a kernel, as text in the package.
//! May use: tile, tiling, tensor, machine, perf, backend, package, isa-ptx, ir, base.  Never knows: model formats, other targets, the simulator, the driver, files.
//! Start reading at `lower.rs` (any kernel), then `lower/roles.rs` (copies, rings and warpgroups of Hopper) and `layout.rs`.
//!
//! ```text
//! tile ─► tiles (sizes, by prediction)
//!   └───► lower ─► code (one thread, structured) ─► isa-ptx ─► text
//!           ├─► stream, ring, wgmma (which loads are copied, how they reach products)
//!           └─► scalar (every op on every dtype)
//! ```

mod arith;
mod code;
mod coord;
pub mod encoding;
pub mod layout;
mod lower;
pub mod model;
mod scalar;
mod spread;
mod tiles;
