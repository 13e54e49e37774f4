//! The interpreter of the schedule level: plain safe Rust, any processor, the emitter's oracle.
//!
//! ```text
//! CpuFunc ─► flatten ─► Executable (flat instructions) ─► run, over a `Memory`
//!    ▲ text (`code`)                                         checked access, ABI of docs/abi.md
//! ```
//! Before: nothing is trusted; a function that breaks the level's rules, or bytes that are no function, are
//! refused by [`Executable::new`]. After: [`Executable::run`] has the ABI's effects, or gives the first access
//! outside of its buffers.

mod code;
mod convert;
mod flatten;
mod lanes;
mod memory;
mod program;
mod step;
mod storage;

pub use code::{Portable, decode, encode};
pub use memory::VecMemory;
pub use program::{Executable, Fault};
