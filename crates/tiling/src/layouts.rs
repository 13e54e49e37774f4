//! Packings of right sides, as the contraction recipes read them.
//!
//! Panels of the target's tile width, k rows each: `[n/width, k..., n%width]`; where one instruction
//! sums a k-group, its factors lie next to each other: `[n/width, k/4..., n%width, k%4]`. Depthwise weights, and those
//! of groups narrower than a vector, lie channels last.

use crate::{Contract, Panels, TileMachine, contract};
use tegula_backend::{Layouts, Packing};
use tegula_base::{DType, Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_tensor::facts::{is_in_loop, is_known_constant, outer_operand};
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorFunc, TensorOp};

/// As [`tegula_backend::Target::layouts`].
pub(crate) fn layouts(func: &TensorFunc, op: OpId, machine: &dyn TileMachine, symbols: &Symbols) -> Layouts {
    if let TensorOp::Conv { .. } = func.kind(op) {
        return Layouts {
            transformed_filters: takes_transforms(func, op, machine, symbols),
            ..Layouts::default()
        };
    }
    let TensorOp::Kernel { .. } = func.kind(op) else { return Layouts::default() };
    let inside = func.ops_in(func.regions_of(op)[0]);
    let found = |wanted: fn(&TensorOp) -> bool| inside.iter().copied().find(|op| wanted(func.kind(*op)));
    let is_pool = |kind: &TensorOp| matches!(kind, TensorOp::Pool { .. } | TensorOp::MaxPoolIndices { .. });
    let is_product = |kind: &TensorOp| {
        matches!(kind, TensorOp::Dot { .. } | TensorOp::Conv { .. } | TensorOp::WinogradConv { .. })
    };
    if let Some(root) = found(is_product) {
        return match func.kind(root) {
            TensorOp::Dot { .. } => {
                Layouts { packing: of_dot(func, op, root, machine, symbols), ..Layouts::default() }
            }
            _ => Layouts {
                packing: of_conv(func, op, root, machine, symbols),
                channel_groups: groups_channels(func, root, machine),
                ..Layouts::default()
            },
        };
    }
    let transposed_square =
        found(is_pool).and_then(|_| machine.transposed_square(func.ty(func.operand(op, 0)).dtype));
    Layouts { transposed_square, ..Layouts::default() }
}

/// Whether a convolution is computed by Winograd's algorithm, if its filters suit it.
fn takes_transforms(func: &TensorFunc, conv: OpId, machine: &dyn TileMachine, symbols: &Symbols) -> bool {
    let channels = func.ty(func.operand(conv, 0)).shape[1].clone();
    let products = contract::of_winograd(&func.ty(func.result(conv)).shape, channels);
    machine.winograd_tile(&products, symbols).is_some()
}

/// Whether several input channels of a convolution are multiplied at once.
fn groups_channels(func: &TensorFunc, conv: OpId, machine: &dyn TileMachine) -> bool {
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(conv, i)));
    k_group(machine, [x.dtype, w.dtype], &x.shape[1]) > 1
}

fn constant(layout: Layout) -> Packing {
    Packing { layout, fewest_rows: 0 }
}

/// For a convolution of a kernel; `None` leaves the weights as they are.
fn of_conv(
    func: &TensorFunc,
    kernel: OpId,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Packing> {
    let w = func.operand(kernel, outer_operand(func, kernel, root, 1)?);
    if !is_known_constant(func, w) {
        return None;
    }
    let (window, groups, out) = match func.kind(root) {
        TensorOp::Conv { window, groups, out } => (window, groups, out),
        TensorOp::WinogradConv { .. } => {
            let contract =
                contract::of_winograd(&func.ty(func.result(root)).shape, func.ty(w).shape[1].clone());
            let width = machine.winograd_tile(&contract, symbols)?.n;
            return Some(constant(panels(width, 0, 1, (2..4).map(Physical::Axis), 1)));
        }
        _ => return None,
    };
    let (x, w) = (func.ty(func.operand(root, 0)), func.ty(w));
    let rank = w.rank();
    if contract::depthwise::takes(&w.shape, *groups, [x.dtype, w.dtype], machine) {
        let order: Vec<usize> = (2..rank).chain([1, 0]).collect();
        return Some(constant(Layout::permuted(&order)));
    }
    let result = func.ty(func.result(root)).shape.clone();
    let window: i64 = window.size.iter().product();
    let k = w.shape[1].clone() * Dim::from(window);
    let contract = contract::of_conv([x.dtype, w.dtype], &result, *groups, k, *out, Panels::OfTile);
    let width = machine.contract_tile(&contract, symbols).n;
    // A panel is of one group.
    if *groups != 1 && contract.n.as_const().is_none_or(|columns| columns % width != 0) {
        return None;
    }
    let taps = (2..rank).map(Physical::Axis);
    let group = k_group(machine, [x.dtype, w.dtype], &w.shape[1]);
    Some(constant(panels(width, 0, 1, taps, group)))
}

/// For a contraction of a kernel; `None` leaves its right side as it is.
fn of_dot(
    func: &TensorFunc,
    kernel: OpId,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Packing> {
    let rhs = func.operand(kernel, outer_operand(func, kernel, root, 1)?);
    match is_known_constant(func, rhs) {
        true => of_constant(func, rhs, root, machine, symbols).map(constant),
        false => of_computed(func, root, machine, symbols),
    }
}

fn of_constant(
    func: &TensorFunc,
    rhs: Value,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Layout> {
    let TensorOp::Dot { dims, .. } = func.kind(root) else { return None };
    if func.ty(rhs).rank() != 2 || !dims.rhs_batch.is_empty() {
        return None;
    }
    let [n, k] = right_axes(func, root)?;
    if machine.facts().contractions.reads_transposed {
        return Some(Layout::permuted(&[n, k]));
    }
    let (lhs, w) = (func.ty(func.operand(root, 0)), func.ty(rhs));
    let width = machine.contract_tile(&contract_of(func, root)?, symbols).n;
    let group = k_group(machine, [lhs.dtype, w.dtype], &w.shape[k]);
    Some(panels(width, n, k, std::iter::empty(), group))
}

fn of_computed(
    func: &TensorFunc,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Packing> {
    let TensorOp::Dot { dims, .. } = func.kind(root) else { return None };
    let contract = contract_of(func, root)?;
    let fewest_rows = machine.rows_worth_packing(&contract)?;
    let [n, k] = right_axes(func, root)?;
    let mut layout = panels(machine.contract_tile(&contract, symbols).n, n, k, std::iter::empty(), 1);
    layout.0.splice(..0, dims.rhs_batch.iter().map(|axis| Physical::Axis(*axis)));
    Some(Packing { layout, fewest_rows })
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

/// The k-group of a contraction over `k`; 1 where its extent is open.
fn k_group(machine: &dyn TileMachine, [lhs, rhs]: [DType; 2], k: &Dim) -> i64 {
    k.as_const().map_or(1, |k| machine.k_group(lhs, rhs, k))
}

fn panels(width: i64, n: usize, k: usize, between: impl Iterator<Item = Physical>, group: i64) -> Layout {
    let mut dims = vec![Physical::Outer { axis: n, tile: width }];
    dims.extend(between);
    let inner = Physical::Inner { axis: n, tile: width };
    match group {
        1 => dims.extend([Physical::Axis(k), inner]),
        tile => dims.extend([Physical::Outer { axis: k, tile }, inner, Physical::Inner { axis: k, tile }]),
    }
    Layout(dims)
}
