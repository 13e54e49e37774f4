//! How long machine code takes on one core: its instructions, as they are executed, through a model of the core.
//!
//! Before: a kernel's blocks as [`Inst`]s, and the order in which they are entered with the addresses they touch.
//! After: cycles, and which part of the machine was the busiest.
//! Method: instructions enter in order, begin when their operands and a port are there, and leave in order
//! ([`pipeline`]); caches of the machine's sizes say where each line comes from ([`caches`]); a branch is foreseen where
//! its outcomes repeat ([`branches`]); a load takes what a store before it has not written yet from there ([`stores`]).
//! Long kernels are timed in windows, and each way from block to block counts what it took on average there
//! ([`sampler`]); the caches see every access.
//! Source: A. Abel, J. Reineke, "uiCA: Accurate Throughput Prediction of Basic Blocks on Recent Intel
//! Microarchitectures", ICS 2022, for the idea; the figures of instructions are in [`units`].

pub mod branches;
pub mod caches;
pub mod pipeline;
pub mod sampler;
pub mod stores;
pub mod units;

pub use caches::Caches;
pub use sampler::{Sampler, Timed};
pub use units::{Inst, Register, Unit};

/// Where a line of memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    L1,
    L2,
    L3,
    Dram,
}
