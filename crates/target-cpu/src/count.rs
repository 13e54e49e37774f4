//! What a kernel's machine code does for given arguments: each block's instructions, how often it is run, and where
//! it reads and writes.
//!
//! Before: code as [`crate::native::compile`] makes it, and an argument block. After: an [`Observer`] was told of each
//! block in the order in which the code runs them, with the addresses of its accesses.
//! Method: loops, branches and addresses depend on sizes, never on data (data-dependent lanes are masked): so the
//! scalar half of the code is run ([`scalar`]), and vectors are only counted. What is read from buffers counts as 0.
//! So figures are those of the code itself, spills and edges included: block sizes times trip counts.

mod classes;
mod decode;
mod scalar;
mod tally;

pub use decode::{Block, Program};
pub use tally::{Tally, tally};

use tegula_perf::cpu::sampler::Access;

/// One call of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The argument block, the function table's word included.
    pub words: &'a [u64],
    /// Where scratch memory is taken to be.
    pub scratch: u64,
    pub begin: u64,
    pub end: u64,
}

/// Who is told what runs.
pub trait Observer {
    /// Block `block` was run; `way` tells how it was entered (see [`Program::ways`]), `taken` how its branch went.
    /// Returns whether to go on.
    fn block(&mut self, block: usize, accesses: &[Access], way: usize, taken: bool) -> bool;
}
