//! Kernels that only name the axes of their operand anew: where every element stays in its place, nothing need run.

use super::reshape;
use tegula_base::{Diagnostics, Dim};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, dce, rewrite_ops};
use tegula_ir::{OpId, RegionId, Value};
use tegula_tensor::{KernelClass, Layout, TensorFunc, TensorOp, TensorType};

/// The types of what the ops of a kernel give when no element moves, in order; `None` where the kernel does more than to
/// transpose and to reshape, or an element would have to move.
pub(super) fn types_of(func: &TensorFunc, kernel: OpId, asserted: &[(Dim, Dim)]) -> Option<Vec<TensorType>> {
    let (TensorOp::Kernel { class: KernelClass::Map }, &[operand], &[_]) =
        (func.kind(kernel), func.operands(kernel), func.results(kernel))
    else {
        return None;
    };
    let region = func.regions_of(kernel)[0];
    let (end, ops) = func.ops_in(region).split_last()?;
    let mut value = func.args(region)[0];
    let mut types: Vec<TensorType> = Vec::with_capacity(ops.len());
    for &op in ops {
        let from = types.last().unwrap_or(func.ty(operand));
        let to = func.ty(*func.results(op).first()?);
        let layout = match func.kind(op) {
            TensorOp::Transpose { perm } => from.layout_or_default().transposed(perm)?,
            TensorOp::Reshape { .. } => reshape::layout_after(from, &to.shape, asserted)?,
            _ => return None,
        };
        if func.operand(op, 0) != value {
            return None;
        }
        value = func.result(op);
        types.push(to.clone().with_layout(layout));
    }
    (!types.is_empty() && func.operand(*end, 0) == value).then_some(types)
}

/// The layout of a kernel's operand that its first op, a transpose that leaves the innermost axis, turns into a
/// row-major one.
pub(super) fn layout_transposed_by(func: &TensorFunc, kernel: OpId) -> Option<Layout> {
    let (TensorOp::Kernel { class: KernelClass::Map }, &[_]) = (func.kind(kernel), func.operands(kernel))
    else {
        return None;
    };
    let first = *func.ops_in(func.regions_of(kernel)[0]).first()?;
    match func.kind(first) {
        TensorOp::Transpose { perm } if perm.last() == Some(&(perm.len() - 1)) => {
            Some(Layout::permuted(perm))
        }
        _ => None,
    }
}

/// As [`types_of`], when the kernel's result then lies as `layout` says; it is the last type's.
pub(super) fn types_in(
    func: &TensorFunc,
    kernel: OpId,
    layout: &Layout,
    asserted: &[(Dim, Dim)],
) -> Option<Vec<TensorType>> {
    let mut types = types_of(func, kernel, asserted)?;
    let last = types.pop()?;
    let alike = last.layout_or_default().lies_alike(layout, &last.shape);
    alike.then(|| types.push(last.with_layout(layout.clone())))?;
    Some(types)
}

/// Puts the ops of such a kernel at the end of a region, outside of any kernel.
pub(super) fn show(func: &mut TensorFunc, region: RegionId, kernel: OpId, types: Vec<TensorType>) -> Value {
    let inside = func.ops_in(func.regions_of(kernel)[0]).to_vec();
    let mut value = func.operand(kernel, 0);
    for (op, ty) in inside.into_iter().zip(types) {
        let (kind, location) = (func.kind(op).clone(), func.op(op).location.clone());
        let view = func.push_op(region, kind, &[value], [ty], location);
        value = func.result(view);
    }
    value
}

/// Before: all layouts are chosen.  After: no kernel gives what its operand's buffer shows already.
pub(super) fn show_renamed(
    func: &mut TensorFunc,
    asserted: &[(Dim, Dim)],
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let changed = rewrite_ops(func, &mut |func, region, op| {
        let TensorOp::Kernel { class: KernelClass::Map } = func.kind(op) else { return Ok(Rewrite::Keep) };
        let &[result] = func.results(op) else { return Ok(Rewrite::Keep) };
        let layout = func.ty(result).layout_or_default();
        let Some(types) = types_in(func, op, &layout, asserted) else { return Ok(Rewrite::Keep) };
        cx.count("views", 1);
        cx.remark(func.op(op).location.as_ref(), "its axes are named anew, and nothing moves");
        Ok(Rewrite::Replace(vec![show(func, region, op, types)]))
    })?;
    // Kernels that moved what all readers see as a view.
    Ok(changed | dce(func))
}
