//! The greatest of a large window is that of its rows' greatest: one axis after the other, as many elements as the window's
//! sides have, and not its area.

use tegula_base::Dim;
use tegula_ir::{OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, PoolKind, TensorFunc, TensorOp, Window};

/// How many times as many elements the window must have as its sides: the tensor between is written and read besides.
/// Measured on one thread of an Emerald Rapids over 20 x 20 of 64 channels, in one and in two: 5 x 5 76 and 35 us, 7 x 7 141 and
/// 42, 13 x 13 499 and 65.
const FEWEST_TIMES: i64 = 2;

/// Whether an op is the maximum over such a window.
pub(super) fn applies(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Pool { kind: PoolKind::Max, window } = func.kind(op) else { return false };
    let sides = window.size.iter().filter(|size| **size > 1);
    let area = window.size.iter().fold(1i64, |area, size| area.saturating_mul(*size));
    sides.clone().count() > 1 && area >= FEWEST_TIMES.saturating_mul(sides.sum())
}

/// The last axis that the window has, then the others.
pub(super) fn pool(b: &mut Builder, x: Value, window: &Window) -> Built {
    let last = window.size.iter().rposition(|size| *size > 1).ok_or("the window is one element")?;
    let of_axes = |wanted: &dyn Fn(usize) -> bool| {
        let mut part = window.clone();
        for axis in (0..part.size.len()).filter(|axis| !wanted(*axis)) {
            (part.size[axis], part.strides[axis], part.dilations[axis]) = (1, 1, 1);
            (part.low[axis], part.high[axis]) = (Dim::from(0), Dim::from(0));
        }
        part
    };
    let row = b.pool(PoolKind::Max, x, of_axes(&|axis| axis >= last))?;
    b.pool(PoolKind::Max, row, of_axes(&|axis| axis < last))
}
