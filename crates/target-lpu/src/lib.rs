//! Compiles regions of a tensor program to images of a streaming chip.     opt ─► region ─► [target-lpu] ─► Image
//! In: a region, which is a tensor program of ops that the target claims; a machine file.  Out: claims, an image, its flows.
//! May use: tensor, tiling, backend, perf, isa-lpu, machine, package, ir, base.  Never knows: other targets, the simulator, files, models.
//! Start reading at `compile.rs`, then `flow.rs` and `lower.rs`; `bounds.rs` says how far a schedule is from its resources.
//!
//! ```text
//! region ─► normal form ─► flows ─► chains ─► bursts ─► cycles ─► words ─► image
//!           (lower/norm)  (lower)  (fuse)   (schedule) (timeline, planes) (assemble)
//! ```

mod assemble;
pub mod bounds;
mod calendar;
mod claims;
pub mod compile;
pub mod flow;
mod fuse;
mod ladder;
mod lower;
mod phases;
mod place;
mod planes;
mod schedule;
mod split;
mod stage;
mod target;
mod timeline;
mod trips;

pub use target::{FloatFactors, LpuTarget};
