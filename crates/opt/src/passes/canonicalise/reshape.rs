//! Rules of reshapes: chains of them, and moving them below elementwise ops so that these stay next to the
//! contraction that they follow.

use super::{Applied, Rule, Site};
use std::ops::Range;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::TensorOp;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "reshape(splat) => splat", apply: of_splat },
    Rule { name: "reshape to the same shape => x", apply: same },
    Rule { name: "reshape(reshape(x)) => reshape(x)", apply: twice },
];

fn of_splat(site: &mut Site) -> Applied {
    let Some(bits) = site.splat(site.operand(0)) else { return Ok(None) };
    let ty = site.result_type().clone();
    site.b.emit(TensorOp::Splat { dtype: ty.dtype, shape: ty.shape, bits }, &[]).map(Some)
}

fn same(site: &mut Site) -> Applied {
    let x = site.operand(0);
    Ok((site.b.ty(x) == site.result_type()).then_some(x))
}

fn twice(site: &mut Site) -> Applied {
    let shape = site.result_type().shape.clone();
    let Some((inner, TensorOp::Reshape { .. })) = site.def(site.operand(0)) else { return Ok(None) };
    let source = site.b.func.operand(inner, 0);
    site.b.reshape(source, shape).map(Some)
}

/// `f(reshape(x), y) => reshape(f(x, reshape(y)))` where x is computed and the reshape splits its axes: the reshape
/// then renames the end of a fused chain and not its middle.
pub(super) fn sink(site: &mut Site) -> Applied {
    let TensorOp::Elementwise { f } = *site.kind() else { return Ok(None) };
    let to = site.result_type().shape.clone();
    let Some(from) = site.operands().iter().find_map(|value| split_source(site, *value, &to)) else {
        return Ok(None);
    };
    let Some(groups) = splits(&from, &to) else { return Ok(None) };
    let operands = site.operands().to_vec();
    let Some(shapes) = operands
        .iter()
        .map(|value| joined(site.shape(*value), &from, &to, &groups))
        .collect::<Option<Vec<Shape>>>()
    else {
        return Ok(None);
    };
    let mut inner = Vec::with_capacity(operands.len());
    for (value, shape) in operands.into_iter().zip(shapes) {
        inner.push(unshaped(site, value, shape)?);
    }
    let result = site.b.elementwise(f, &inner)?;
    site.b.reshape(result, to).map(Some)
}

/// The shape of x where `value` is `reshape(x)` of the full shape and x is what a contraction or its epilogue gives.
fn split_source(site: &Site, value: Value, to: &Shape) -> Option<Shape> {
    if site.shape(value) != to {
        return None;
    }
    let (reshape, TensorOp::Reshape { .. }) = site.def(value)? else { return None };
    let x = site.b.func.operand(reshape, 0);
    let computed =
        matches!(site.def(x)?.1, TensorOp::Dot { .. } | TensorOp::Conv { .. } | TensorOp::Elementwise { .. });
    (computed && site.shape(x).rank() < to.rank()).then(|| site.shape(x).clone())
}

/// `reshape(value)`, or what a reshape of the value was made of.
fn unshaped(site: &mut Site, value: Value, shape: Shape) -> tegula_tensor::build::Built {
    let source = match site.def(value) {
        Some((reshape, TensorOp::Reshape { .. })) => site.b.func.operand(reshape, 0),
        _ => value,
    };
    site.b.reshape(source, shape)
}

/// The axes of `to` that each axis of `from` splits into. Extents of 1 in `to` go with the axis before them.
fn splits(from: &Shape, to: &Shape) -> Option<Vec<Range<usize>>> {
    let mut groups = Vec::with_capacity(from.rank());
    let mut next = 0;
    for (i, dim) in from.iter().enumerate() {
        let start = next;
        let mut product = Dim::from(1);
        while product != *dim || (start == next && next < to.rank()) {
            let part = to.get(next)?;
            product = product * part.clone();
            next += 1;
            if next - start > to.rank() {
                return None;
            }
        }
        if i + 1 == from.rank() {
            while to.get(next).is_some_and(|dim| dim.is_const(1)) {
                next += 1;
            }
        }
        groups.push(start..next);
    }
    (next == to.rank()).then_some(groups)
}

/// The shape over `from`'s axes of an operand that is full or of extent 1 on each group of axes.
fn joined(shape: &Shape, from: &Shape, to: &Shape, groups: &[Range<usize>]) -> Option<Shape> {
    if shape.rank() != to.rank() {
        return None;
    }
    groups
        .iter()
        .zip(from.iter())
        .map(|(group, dim)| {
            if shape[group.clone()] == to[group.clone()] {
                Some(dim.clone())
            } else {
                super::all_ones(&shape[group.clone()]).then(|| Dim::from(1))
            }
        })
        .collect::<Option<Vec<Dim>>>()
        .map(Shape::from)
}
