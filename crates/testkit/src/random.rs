//! Random tensor programs with inputs, and what to cut from one that fails.
//!
//! ```text
//! seed ─► generate ─► Case (program, inputs) ─► reduce: a smaller case that still fails, as text
//! ```
//! The same seed gives the same case on every machine.

mod build;
pub mod coverage;
pub mod data;
mod generator;
mod ops;
pub mod products;
pub mod reduce;
pub mod rng;

pub use generator::{Case, Choices, generate};
pub use rng::Rng;
