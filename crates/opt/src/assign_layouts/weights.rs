//! Packings of right sides, as the contraction recipes read them.
//!
//! Panels of the target's tile width, k rows each: `[n/width, k..., n%width]`; where the target multiplies and adds
//! up several steps of k at once, their factors lie next to each other: `[n/width, k/4..., n%width, k%4]`. Depthwise
//! weights, and those of groups narrower than a vector, lie channels last.

use super::outer_operand;
use crate::lower::{contract, is_in_loop};
use tegula_backend::{Contract, Panels, TargetModel};
use tegula_base::{DType, Dim, Symbols};
use tegula_ir::{Def, OpId, Value};
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorFunc, TensorOp};

/// Whether the value is a constant's, perhaps under another shape, whose sizes are known: it can be packed now.
pub(super) fn is_constant(func: &TensorFunc, mut value: Value) -> bool {
    if func.ty(value).shape.as_static().is_none() {
        return false;
    }
    loop {
        let Def::Result(op, _) = func.def(value) else { return false };
        match func.kind(op) {
            TensorOp::Constant { .. } => return true,
            TensorOp::Reshape { .. } => value = func.operand(op, 0),
            _ => return false,
        }
    }
}

/// For a convolution of a kernel; `None` leaves the weights as they are.
pub(super) fn of_conv(
    func: &TensorFunc,
    kernel: OpId,
    root: OpId,
    target: &dyn TargetModel,
    symbols: &Symbols,
) -> Option<Layout> {
    let w = func.operand(kernel, outer_operand(func, kernel, root, 1)?);
    if !is_constant(func, w) {
        return None;
    }
    let (window, groups, out) = match func.kind(root) {
        TensorOp::Conv { window, groups, out } => (window, groups, out),
        TensorOp::WinogradConv { .. } => {
            let contract =
                contract::of_winograd(&func.ty(func.result(root)).shape, func.ty(w).shape[1].clone());
            let width = target.winograd_tile(&contract, symbols)?.n;
            return Some(panels(width, 0, 1, (2..4).map(Physical::Axis), 1));
        }
        _ => return None,
    };
    let (x, w) = (func.ty(func.operand(root, 0)), func.ty(w));
    let rank = w.rank();
    if contract::depthwise::takes(&w.shape, *groups, [x.dtype, w.dtype], target) {
        let order: Vec<usize> = (2..rank).chain([1, 0]).collect();
        return Some(Layout::permuted(&order));
    }
    let result = func.ty(func.result(root)).shape.clone();
    let window: i64 = window.size.iter().product();
    let k = w.shape[1].clone() * Dim::from(window);
    let contract = contract::of_conv([x.dtype, w.dtype], &result, *groups, k, *out, Panels::OfTile);
    let width = target.contract_tile(&contract, symbols).n;
    // A panel is of one group.
    if *groups != 1 && contract.n.as_const().is_none_or(|columns| columns % width != 0) {
        return None;
    }
    let taps = (2..rank).map(Physical::Axis);
    Some(panels(width, 0, 1, taps, together(target, [x.dtype, w.dtype], &w.shape[1])))
}

/// For a contraction of a kernel whose right side is a constant; `None` leaves it as it is.
pub(super) fn of_dot(
    func: &TensorFunc,
    kernel: OpId,
    root: OpId,
    target: &dyn TargetModel,
    symbols: &Symbols,
) -> Option<Layout> {
    let TensorOp::Dot { dims, .. } = func.kind(root) else { return None };
    let rhs = func.operand(kernel, outer_operand(func, kernel, root, 1)?);
    if !is_constant(func, rhs) || func.ty(rhs).rank() != 2 || !dims.rhs_batch.is_empty() {
        return None;
    }
    let [n, k] = right_axes(func, root)?;
    if target.reads_turned() {
        return Some(Layout::permuted(&[n, k]));
    }
    let (lhs, w) = (func.ty(func.operand(root, 0)), func.ty(rhs));
    let width = target.contract_tile(&contract_of(func, root)?, symbols).n;
    Some(panels(width, n, k, std::iter::empty(), together(target, [lhs.dtype, w.dtype], &w.shape[k])))
}

/// For a contraction of a kernel whose right side is computed; `is_written` tells that its kernel may write any layout.
/// `None` leaves it as it is.
pub(super) fn of_computed(
    func: &TensorFunc,
    root: OpId,
    is_written: bool,
    target: &dyn TargetModel,
    symbols: &Symbols,
) -> Option<Layout> {
    let TensorOp::Dot { dims, .. } = func.kind(root) else { return None };
    let contract = contract_of(func, root)?;
    let fewest = target.rows_worth_packing(&contract)?;
    if !is_written && symbols.bounds(&contract.m).0 < fewest {
        return None;
    }
    let [n, k] = right_axes(func, root)?;
    let mut layout = panels(target.contract_tile(&contract, symbols).n, n, k, std::iter::empty(), 1);
    layout.0.splice(..0, dims.rhs_batch.iter().map(|axis| Physical::Axis(*axis)));
    Some(layout)
}

/// The columns and the contracted axis of a dot's right side.
fn right_axes(func: &TensorFunc, root: OpId) -> Option<[usize; 2]> {
    let TensorOp::Dot { dims, .. } = func.kind(root) else { return None };
    let &[k] = dims.rhs_contract.as_slice() else { return None };
    let batch = dims.rhs_batch.len();
    let is_normal = |value: Value| func.ty(value).rank() == batch + 2;
    (is_normal(func.operand(root, 1)) && is_normal(func.result(root))).then(|| [2 * batch + 1 - k, k])
}

/// What a target is told of a dot whose right side comes in panels.
fn contract_of(func: &TensorFunc, root: OpId) -> Option<Contract> {
    let TensorOp::Dot { out, pair_sums, .. } = func.kind(root) else { return None };
    let [n, k] = right_axes(func, root)?;
    let (lhs, w) = (func.ty(func.operand(root, 0)), func.ty(func.operand(root, 1)));
    let result = &func.ty(func.result(root)).shape;
    let inner = w.shape[k].clone();
    let innermost = [inner.clone(), w.shape[n].clone()];
    let contract = contract::of_dot([lhs.dtype, w.dtype], result, inner, *out, Panels::OfTile, innermost);
    Some(Contract { pair_sums: pair_sums.is_some(), in_loop: is_in_loop(func, root), ..contract })
}

/// Steps along k whose factors lie next to each other.
pub(super) fn together(target: &dyn TargetModel, [lhs, rhs]: [DType; 2], k: &Dim) -> i64 {
    k.as_const().map_or(1, |k| target.steps_together(lhs, rhs, k))
}

fn panels(width: i64, n: usize, k: usize, between: impl Iterator<Item = Physical>, together: i64) -> Layout {
    let mut dims = vec![Physical::Outer { axis: n, tile: width }];
    dims.extend(between);
    let inner = Physical::Inner { axis: n, tile: width };
    match together {
        1 => dims.extend([Physical::Axis(k), inner]),
        tile => dims.extend([Physical::Outer { axis: k, tile }, inner, Physical::Inner { axis: k, tile }]),
    }
    Layout(dims)
}
