//! The greatest or least element of a whole tensor in two steps: of each row, then of the rows.
//!
//! What makes the tensor then finds those of its rows while it has them in registers, in units of work that threads
//! share; all at once would be one unit, which reads the tensor again. The order of comparisons changes no result.

use tegula_backend::Target;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp};

/// Elements that one thread compares sooner than two launches begin.
const FEW: i64 = 4096;
/// Elementwise ops between a tensor and the convolution that it comes from, at most.
const MOST_OPS: usize = 24;
/// Channels of images, `[batch, channels, spatial...]`.
const CHANNELS: usize = 1;

/// The axis along which rows lie; `None`: the op is done as it is.
pub(super) fn row_axis(func: &TensorFunc, op: OpId, target: &dyn Target) -> Option<usize> {
    let TensorOp::Reduce { f: ScalarOp::Max | ScalarOp::Min, axes } = func.kind(op) else { return None };
    let x = func.operand(op, 0);
    let shape = &func.ty(x).shape;
    let long = |axis: usize| !shape[axis].is_const(1);
    let is_whole = (0..shape.rank()).all(|axis| axes.contains(&axis) || !long(axis));
    let is_large = shape.count().as_const().is_none_or(|count| count > FEW);
    let is_second = matches!(func.def_op(x).map(|op| func.kind(op)), Some(TensorOp::Reduce { .. }));
    if !target.preferences().two_step_extremes || !is_whole || !is_large || is_second {
        return None;
    }
    // Channels of images lie innermost (`assign_layouts`).
    let row = match shape.rank() > CHANNELS + 1 && long(CHANNELS) && is_image(func, x) {
        true => CHANNELS,
        false => (0..shape.rank()).rev().find(|axis| long(*axis))?,
    };
    (0..shape.rank()).any(|axis| axis != row && long(axis)).then_some(row)
}

/// Whether a value is some elementwise ops away from a convolution or a pool.
fn is_image(func: &TensorFunc, value: Value) -> bool {
    let mut waiting = vec![value];
    for _ in 0..MOST_OPS {
        let Some(op) = waiting.pop().map(|value| func.def_op(value)) else { return false };
        let Some(op) = op else { continue };
        match func.kind(op) {
            TensorOp::Conv { .. } | TensorOp::QConv { .. } | TensorOp::Pool { .. } => return true,
            TensorOp::Elementwise { .. } | TensorOp::Dequantize { .. } => {
                waiting.extend(func.operands(op).iter().rev());
            }
            _ => {}
        }
    }
    false
}

/// `f` along the row's axis, then along all of `axes`; these stay as extents of 1.
pub(super) fn reduce(b: &mut Builder, x: Value, f: ScalarOp, axes: &[usize], row: usize) -> Built {
    let rows = b.reduce(f, x, &[row], true)?;
    b.reduce(f, rows, axes, true)
}
