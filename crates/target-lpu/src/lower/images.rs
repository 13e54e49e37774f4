//! Images: tensors of which one axis holds channels and the others pixels.
//!
//! Before: a region.  After: for each value the axis of its channels, where it is an image.
//! What convolutions and pools read and write are images; elementwise ops, quantisations, paddings, reductions over pixels and
//! transposes that move channels alone pass that on, to their operands and to their results.
//!
//! An image lies with its channels last, whatever their axis is. A row of its layout holds as many pixels, side by side along
//! the last axis of pixels, as fill the lanes and divide that axis: `[batch, .., width / p, p * channels]`. To regroup rows moves
//! no element, so an image whose channels are its last axis is a tensor in the plain order as well.

use tegula_base::EntityId;
use tegula_ir::{OpId, Value};
use tegula_tensor::{TensorFunc, TensorOp};

/// Axes of an image at the least: batch, pixels, channels.
const RANK: usize = 3;

/// The axis of channels of each value, by its number.
pub(crate) fn channel_axes(func: &TensorFunc) -> Vec<Option<usize>> {
    let mut axes = vec![None; func.value_count()];
    let ops = func.walk();
    for &op in &ops {
        if matches!(func.kind(op), TensorOp::Conv { .. } | TensorOp::Pool { .. }) {
            set(func, &mut axes, func.operand(op, 0), Some(1));
            set(func, &mut axes, func.results(op)[0], Some(1));
        }
    }
    // Backwards and forwards, until nothing is new.
    loop {
        let mut is_new = false;
        for &op in ops.iter().rev().chain(&ops) {
            is_new |= pass_on(func, op, &mut axes);
        }
        if !is_new {
            return axes;
        }
    }
}

/// Whether that is new.
fn set(func: &TensorFunc, axes: &mut [Option<usize>], value: Value, axis: Option<usize>) -> bool {
    let rank = func.ty(value).rank();
    let fits = axis.is_some_and(|axis| axis < rank) && rank >= RANK && axes[value.index()].is_none();
    if fits {
        axes[value.index()] = axis;
    }
    fits
}

/// Whether one of the operands or the result is an image that was none.
fn pass_on(func: &TensorFunc, op: OpId, axes: &mut [Option<usize>]) -> bool {
    let Some(&result) = func.results(op).first() else { return false };
    let own = axes[result.index()];
    match func.kind(op) {
        TensorOp::Elementwise { .. } => {
            let rank = func.ty(result).rank();
            let alike = func.operands(op).iter().filter(|value| func.ty(**value).rank() == rank);
            let found = own.or_else(|| alike.clone().find_map(|value| axes[value.index()]));
            let mut is_new = set(func, axes, result, found);
            alike.for_each(|value| is_new |= set(func, axes, *value, found));
            is_new
        }
        TensorOp::Quantize { .. } | TensorOp::Dequantize { .. } => {
            let operand = func.operand(op, 0);
            let found = own.or(axes[operand.index()]);
            set(func, axes, result, found) | set(func, axes, operand, found)
        }
        TensorOp::Reduce { axes: reduced, .. } => {
            let found = axes[func.operand(op, 0).index()].filter(|axis| !reduced.contains(axis));
            set(func, axes, result, found)
        }
        TensorOp::Pad { low, high, .. } => {
            let operand = func.operand(op, 0);
            let is_kept =
                |axis: &usize| low[*axis].as_const() == Some(0) && high[*axis].as_const() == Some(0);
            let found = own.or(axes[operand.index()]).filter(is_kept);
            set(func, axes, result, found) | set(func, axes, operand, found)
        }
        TensorOp::Transpose { perm } => {
            let operand = func.operand(op, 0);
            let before = own.and_then(|axis| moved_alone(perm, axis).then(|| perm[axis]));
            let after = axes[operand.index()].and_then(|axis| perm.iter().position(|from| *from == axis));
            let after = after.filter(|axis| moved_alone(perm, *axis));
            set(func, axes, operand, before) | set(func, axes, result, after)
        }
        _ => false,
    }
}

/// Whether a transpose leaves all axes but one of its result in their order.
pub(super) fn moved_alone(perm: &[usize], axis: usize) -> bool {
    let others = perm.iter().enumerate().filter(|(to, _)| *to != axis).map(|(_, from)| *from);
    others.clone().zip(others.skip(1)).all(|(a, b)| a < b)
}

/// A shape with one axis last.
pub(crate) fn ordered(shape: &[usize], axis: usize) -> Vec<usize> {
    let others = shape.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, extent)| *extent);
    others.chain([shape[axis]]).collect()
}

/// Pixels of a row: as many as fill the lanes and divide their axis.
pub(crate) fn pixels_of_row(width: usize, channels: usize, lanes: usize) -> usize {
    let most = lanes / channels.max(1);
    (1..=most.min(width)).rev().find(|pixels| width.is_multiple_of(*pixels)).unwrap_or(1)
}

/// The layout of an image whose shape has its channels last.
pub(crate) fn grouped(last: &[usize], lanes: usize) -> Vec<usize> {
    let mut layout = last.to_vec();
    if let [.., width, channels] = &mut layout[..] {
        let pixels = pixels_of_row(*width, *channels, lanes);
        *width /= pixels;
        *channels *= pixels;
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_as_many_pixels_as_fill_the_lanes_and_divide_the_axis() {
        assert_eq!(grouped(&[1, 224, 224, 3], 320), [1, 224, 4, 168]);
        assert_eq!(grouped(&[1, 56, 56, 64], 320), [1, 56, 14, 256]);
        assert_eq!(grouped(&[1, 7, 7, 1024], 320), [1, 7, 7, 1024]);
        assert_eq!(grouped(&[2, 13, 5], 320), [2, 1, 65]);
    }

    #[test]
    fn a_transpose_may_move_channels_alone() {
        assert!(moved_alone(&[0, 3, 1, 2], 1));
        assert!(moved_alone(&[0, 2, 3, 1], 3));
        assert!(!moved_alone(&[0, 3, 2, 1], 1));
    }
}
