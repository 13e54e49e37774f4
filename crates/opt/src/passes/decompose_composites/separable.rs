//! The greatest of a large window is that of its rows' greatest: one axis after the other, as many elements as the window's
//! sides have, and not its area. Where windows do not overlap there is nothing to gain.

use tegula_base::Dim;
use tegula_ir::{OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, PoolKind, TensorFunc, TensorOp, Window};

/// How many times as many elements must be looked at for each result at once as one axis after the other: the tensor between
/// is written and read besides. Measured on one thread of an Emerald Rapids over 20 x 20 of 64 channels, at once and in two:
/// 5 x 5 76 and 35 us, 7 x 7 141 and 42, 13 x 13 499 and 65.
const FEWEST_TIMES: i64 = 2;

/// Whether an op is the maximum over such a window.
pub(super) fn applies(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Pool { kind: PoolKind::Max, window } = func.kind(op) else { return false };
    let Some((last, others)) = window.size.split_last() else { return false };
    let product = |sizes: &[i64]| sizes.iter().fold(1i64, |product, size| product.saturating_mul(*size));
    // Rows that a stride leaves out are pooled along the last axis all the same.
    let rows = product(&window.strides[..others.len()]);
    let in_two = last.saturating_mul(rows).saturating_add(product(others));
    product(&window.size) >= FEWEST_TIMES.saturating_mul(in_two)
}

/// The last axis, then the others.
pub(super) fn pool(b: &mut Builder, x: Value, window: &Window) -> Built {
    let last = window.size.len().checked_sub(1).ok_or("the window has no axis")?;
    let of_axes = |wanted: &dyn Fn(usize) -> bool| {
        let mut part = window.clone();
        for axis in (0..part.size.len()).filter(|axis| !wanted(*axis)) {
            (part.size[axis], part.strides[axis], part.dilations[axis]) = (1, 1, 1);
            (part.low[axis], part.high[axis]) = (Dim::from(0), Dim::from(0));
        }
        part
    };
    let row = b.pool(PoolKind::Max, x, of_axes(&|axis| axis == last))?;
    b.pool(PoolKind::Max, row, of_axes(&|axis| axis < last))
}
