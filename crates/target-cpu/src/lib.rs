//! Compiles tile functions to x86-64 machine code; an interpreter beside it.
//! In: a verified `TileFunc` and a CPU `Machine`.  Out: position-independent code, or the schedule for the executor.
//! May use: tile, tiling, tensor, machine, perf, backend, package, ir, base, mlir.  Never knows: model formats, other targets, files.
//! Start reading at `schedule.rs` (the level), then `lower.rs`, `select.rs`, `allocate.rs`, `emit.rs`.
//!
//! ```text
//! tile ─► lower ─► schedule (`tgc`) ─┬─► select ─► allocate ─► emit ─► x86-64 code
//!                                    └─► exec (interpreter, the emitter's oracle)
//! ```

mod abi;
mod allocate;
pub mod count;
mod emit;
pub mod exec;
mod isa;
pub mod lower;
pub mod math;
mod mir;
pub mod model;
pub mod native;
pub mod schedule;
mod select;
pub mod tier;
