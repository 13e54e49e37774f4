//! Rules of transposes: chains of them, and moving them below elementwise ops and reductions, where pairs meet and
//! vanish.

use super::{Applied, Rule, Site, Source};
use tegula_base::Shape;
use tegula_ir::Value;
use tegula_tensor::TensorOp;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "transpose(splat) => splat", apply: super::movement::of_splat },
    Rule { name: "transpose(transpose(x)) => transpose(x)", apply: twice },
    Rule { name: "transpose that moves extents of 1 only => reshape", apply: units },
    Rule {
        name: "transpose(reshape(slice(x))) => transpose(slice(reshape(x))) where attention reads heads",
        apply: super::reshape::heads_of_slice,
    },
];

fn twice(site: &mut Site) -> Applied {
    let TensorOp::Transpose { perm: outer } = site.kind() else { return Ok(None) };
    let x = site.operand(0);
    if outer.iter().copied().eq(0..outer.len()) {
        return Ok(Some(x));
    }
    let Some((inner, TensorOp::Transpose { perm })) = site.def(x) else { return Ok(None) };
    let perm: Vec<usize> = outer.iter().map(|axis| perm[*axis]).collect();
    let source = site.b.func.operand(inner, 0);
    site.b.transpose(source, &perm).map(Some)
}

/// The axes of other extents keep their order, so row-major order stays.
fn units(site: &mut Site) -> Applied {
    let TensorOp::Transpose { perm } = site.kind() else { return Ok(None) };
    let x = site.operand(0);
    let from = site.shape(x);
    let mut wide = perm.iter().filter(|axis| !from[**axis].is_const(1));
    if !wide.by_ref().is_sorted() {
        return Ok(None);
    }
    let shape = site.result_type().shape.clone();
    site.b.reshape(x, shape).map(Some)
}

/// `f(transpose(x), transpose(y), row) => transpose(f(x, y, row'))`: operands of the full shape are transposed alike,
/// others are constants or few in extent.
pub(super) fn sink(site: &mut Site) -> Applied {
    if !site.reads(Source::Transpose) {
        return Ok(None);
    }
    let TensorOp::Elementwise { f } = *site.kind() else { return Ok(None) };
    let Some(perm) = site.operands().iter().find_map(|value| vanishing(site, *value)) else {
        return Ok(None);
    };
    let perm = perm.to_vec();
    for value in site.operands() {
        let alike =
            matches!(site.def(*value), Some((_, TensorOp::Transpose { perm: other })) if *other == perm);
        if !alike && !moves_freely(site, *value) {
            return Ok(None);
        }
    }
    let back = inverse(&perm);
    let operands = site.operands().to_vec();
    let mut inner = Vec::with_capacity(operands.len());
    for value in operands {
        let source = match site.def(value) {
            Some((op, TensorOp::Transpose { perm: other })) if *other == perm => site.b.func.operand(op, 0),
            _ => site.b.transpose(value, &back)?,
        };
        inner.push(source);
    }
    let result = site.b.elementwise(f, &inner)?;
    site.b.transpose(result, &perm).map(Some)
}

/// `reduce(transpose(x)) => transpose(reduce(x))`.
pub(super) fn sink_below_reduce(site: &mut Site) -> Applied {
    let TensorOp::Reduce { f, axes } = site.kind() else { return Ok(None) };
    let Some(perm) = vanishing(site, site.operand(0)) else { return Ok(None) };
    let (f, perm) = (*f, perm.to_vec());
    let mut axes: Vec<usize> = axes.iter().map(|axis| perm[*axis]).collect();
    axes.sort_unstable();
    let Some((op, _)) = site.def(site.operand(0)) else { return Ok(None) };
    let source = site.b.func.operand(op, 0);
    let result = site.b.emit(TensorOp::Reduce { f, axes }, &[source])?;
    site.b.transpose(result, &perm).map(Some)
}

/// `pad(transpose(x)) => transpose(pad(x))`.
pub(super) fn sink_below_pad(site: &mut Site) -> Applied {
    let TensorOp::Pad { low, high, mode } = site.kind() else { return Ok(None) };
    let Some(perm) = vanishing(site, site.operand(0)) else { return Ok(None) };
    let (mode, perm, back) = (*mode, perm.to_vec(), inverse(perm));
    let [low, high] = [low, high].map(|pads| back.iter().map(|axis| pads[*axis].clone()).collect());
    let Some((op, _)) = site.def(site.operand(0)) else { return Ok(None) };
    let mut operands = site.operands().to_vec();
    operands[0] = site.b.func.operand(op, 0);
    let result = site.b.emit(TensorOp::Pad { low, high, mode }, &operands)?;
    site.b.transpose(result, &perm).map(Some)
}

/// The permutation of a transpose whose readers can all take its operand instead.
fn vanishing<'s>(site: &'s Site, value: Value) -> Option<&'s [usize]> {
    let (_, TensorOp::Transpose { perm }) = site.def(value)? else { return None };
    let movable = |kind: &TensorOp| {
        matches!(
            kind,
            TensorOp::Elementwise { .. }
                | TensorOp::Reduce { .. }
                | TensorOp::Transpose { .. }
                | TensorOp::Pad { .. }
        )
    };
    let users = site.b.func.users(value);
    users.iter().all(|user| movable(site.b.func.kind(*user))).then_some(perm.as_slice())
}

/// Constants fold, and moving extents of 1 costs nothing.
fn moves_freely(site: &Site, value: Value) -> bool {
    let wide = |shape: &Shape| shape.iter().filter(|dim| !dim.is_const(1)).count();
    matches!(site.def(value), Some((_, TensorOp::Constant { .. } | TensorOp::Splat { .. })))
        || wide(site.shape(value)) <= 1
}

fn inverse(perm: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; perm.len()];
    for (i, axis) in perm.iter().enumerate() {
        inverse[*axis] = i;
    }
    inverse
}
