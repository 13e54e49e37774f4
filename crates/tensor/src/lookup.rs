//! Tables with an element for each byte: what `opt` builds and a target recognises.

use tegula_base::{DType, Dim};
use tegula_ir::ScalarOp;

/// Values of a byte.
pub const BYTES: i64 = 256;
/// Bytes behind a table of bytes, so that a machine may read a word at each place; the size stays whole words.
pub const SLACK: i64 = 4;

/// Whether an index that `f` makes of a `from` is a byte, and a table of this extent has an element for each.
pub fn names_bytes(f: ScalarOp, from: DType, table: &Dim) -> bool {
    let is_byte = matches!(f, ScalarOp::Cast { to: DType::I32, .. }) && from == DType::U8;
    is_byte && table.as_const().is_some_and(|n| n >= BYTES)
}

/// Whether a word may be read at each byte's place in a table of this extent.
pub fn has_words(dtype: DType, table: &Dim) -> bool {
    dtype == DType::U8 && table.as_const().is_some_and(|n| n >= BYTES + SLACK)
}
