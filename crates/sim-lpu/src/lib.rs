//! Runs the words of a streaming chip: what they compute, and the cycle of each.      target-lpu ─► Image ─► [sim-lpu]
//! In: an image, its machine, tensors.  Out: tensors, cycles, busy cycles of each queue; or a `Trap` with cycle and word.
//! May use: isa-lpu, machine, base.  Never knows: the compiler, the verifier, models, files, the clock.
//! Start reading at `rack.rs` (a run), then `step.rs` (one word) and `streams.rs` (why nothing moves).
//!
//! It runs events alone: a vector lies on its diagonal and is never moved. Every sense knows whose vector it must get, so that
//! a word in a wrong cycle is a trap and not a wrong result.

mod alus;
mod memory;
mod plane;
mod rack;
mod shifter;
mod step;
mod streams;
mod trap;
mod vector;

pub use rack::{Outcome, Rack};
pub use trap::{Fault, Trap};
