//! Where the elements of a tile lie: over registers, lanes and warps, or in shared memory.
//!
//! ```text
//! index (register, lane, warp, CTA) ──RegisterLayout──► coordinates ──SharedLayout──► byte offset
//! ```
//!
//! Both are `affine outer repetition × F2-linear atom`: inside the atom, whose extents are powers of two, each output bit
//! is an exclusive or of input bits, so that composition, inversion and every question about a conversion are linear
//! algebra over two elements; the repetition, of any count, makes extents such as 176 possible.
//! Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2"; the repetition is ours.

pub mod matrix;

pub use matrix::BitMatrix;
