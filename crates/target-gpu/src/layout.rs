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

pub mod access;
pub mod atom;
pub mod banks;
pub mod blocked;
pub mod convert;
pub mod fragment;
pub mod matrix;
pub mod register;
pub mod shared;
pub mod swizzle;
#[cfg(test)]
mod tests;

pub use access::{Access, AccessKind, MatrixMoves, plan_access};
pub use atom::{Atom, Coordinates, Index, Part};
pub use blocked::blocked;
pub use convert::{
    ConditionalSwap, Conversion, MatrixUnits, Round, SharedTrip, ShufflePlan, plan_conversion,
};
pub use fragment::{WarpGrid, mma_left, mma_right, mma_sums, wgmma_left, wgmma_sums};
pub use matrix::BitMatrix;
pub use register::{LANES, LayoutBuilder, RegisterLayout, Repeat};
pub use shared::{SharedLayout, Stride};
pub use swizzle::Swizzle;
