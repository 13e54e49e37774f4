//! What the machine reads as bits: matrix descriptors and tensor maps, derived from layouts and proved against them.
//! Nothing here is written by hand: a layout that is none of the machine's forms is refused, never approximated.

pub mod matrix;
pub mod tensor_map;

use std::fmt;

pub use matrix::{MatrixDescriptor, MatrixOperand, Window, matrix_operand};
pub use tegula_package::{MapSize, MapTemplate};
pub use tensor_map::{BoxCopy, TensorCopies, tensor_copies};

/// Why a layout has no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCanonical {
    MatrixDescriptor,
    TensorMap,
}

impl fmt::Display for NotCanonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotCanonical::MatrixDescriptor => {
                "no form of `wgmma`'s matrix descriptor describes this layout of shared memory"
            }
            NotCanonical::TensorMap => "no box of a tensor map is written in this layout of shared memory",
        })
    }
}

impl std::error::Error for NotCanonical {}
