//! Rules of movement ops, reductions and sources.

use super::{Applied, Rule, Site};
use crate::passes::fold_constants::bytes;
use tegula_base::{Dim, HostTensor};
use tegula_ir::Value;
use tegula_tensor::facts::{CHEAP, weight};
use tegula_tensor::{TensorFunc, TensorOp};

pub(super) fn rules(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Slice { .. } => SLICE,
        TensorOp::Broadcast { .. } => BROADCAST,
        TensorOp::Pad { .. } => PAD,
        TensorOp::Concat { .. } => CONCAT,
        TensorOp::Gather { .. } => GATHER,
        TensorOp::Reduce { .. } => REDUCE,
        TensorOp::Constant { .. } => CONSTANT,
        TensorOp::Sizes { .. } => SIZES,
        _ => &[],
    }
}

#[cfg(test)]
pub(super) const TABLES: [&[Rule]; 8] = [SLICE, BROADCAST, PAD, CONCAT, GATHER, REDUCE, CONSTANT, SIZES];

const SLICE: &[Rule] = &[
    Rule { name: "slice(splat) => splat", apply: of_splat },
    Rule { name: "slice of all => x", apply: slice_whole },
    Rule { name: "slice(slice(x)) => slice(x)", apply: slice_slice },
];
const BROADCAST: &[Rule] = &[
    Rule { name: "broadcast(splat) => splat", apply: of_splat },
    Rule { name: "broadcast to the same shape => x", apply: same_shape },
    Rule { name: "broadcast(broadcast(x)) => broadcast(x)", apply: broadcast_broadcast },
];
const PAD: &[Rule] = &[
    Rule { name: "pad by 0 => x", apply: pad_nothing },
    Rule { name: "pad(transpose(x)) => transpose(pad(x))", apply: super::transpose::sink_below_pad },
];
const CONCAT: &[Rule] = &[
    Rule { name: "concat(x) => x", apply: concat_one },
    Rule { name: "concat(x, empty) => concat(x)", apply: concat_empty },
    Rule { name: "concat(concat(x, y), z) => concat(x, y, z)", apply: concat_concat },
];
const GATHER: &[Rule] = &[
    Rule { name: "gather by one constant => slice", apply: gather_constant },
    Rule { name: "gather(dequantize(x)) => dequantize(gather(x))", apply: gather_stored },
    Rule { name: "gather(f(constants)) => f(gather(constants))", apply: gather_computed },
    Rule {
        name: "gather(table, reshape(x)) => reshape(gather(table, x))",
        apply: super::reshape::sink_below_lookup,
    },
];
const REDUCE: &[Rule] = &[
    Rule { name: "reduce of extents of 1 => x", apply: reduce_units },
    Rule { name: "reduce(transpose(x)) => transpose(reduce(x))", apply: super::transpose::sink_below_reduce },
    Rule { name: "reduce(reshape(x)) => reshape(reduce(x))", apply: super::reshape::sink_below_reduce },
];
const CONSTANT: &[Rule] = &[Rule { name: "constant of equal elements => splat", apply: constant_splat }];
const SIZES: &[Rule] = &[Rule { name: "sizes of constants => constant", apply: sizes_constant }];

pub(super) fn of_splat(site: &mut Site) -> Applied {
    let Some(bits) = site.splat(site.operand(0)) else { return Ok(None) };
    let ty = site.result_type().clone();
    site.b.emit(TensorOp::Splat { dtype: ty.dtype, shape: ty.shape, bits }, &[]).map(Some)
}

fn same_shape(site: &mut Site) -> Applied {
    let x = site.operand(0);
    Ok((site.b.ty(x) == site.result_type()).then_some(x))
}

fn slice_whole(site: &mut Site) -> Applied {
    let TensorOp::Slice { starts, sizes, steps } = site.kind() else { return Ok(None) };
    let x = site.operand(0);
    let axes = || starts.iter().zip(sizes).zip(steps);
    let whole = axes().all(|((start, size), step)| {
        start.is_const(0) && (*step == 1 || size.is_const(1) || size.is_const(0))
    });
    Ok((whole && site.shape(x)[..] == sizes[..]).then_some(x))
}

fn slice_slice(site: &mut Site) -> Applied {
    if !matches!(site.def(site.operand(0)), Some((_, TensorOp::Slice { .. }))) {
        return Ok(None);
    }
    let TensorOp::Slice { starts, sizes, steps } = site.kind().clone() else { return Ok(None) };
    let Some((inner, TensorOp::Slice { starts: inner_starts, steps: inner_steps, .. })) =
        site.def(site.operand(0))
    else {
        return Ok(None);
    };
    let starts: Vec<Dim> = (0..starts.len())
        .map(|i| inner_starts[i].clone() + starts[i].clone() * Dim::from(inner_steps[i]))
        .collect();
    let steps: Vec<i64> = steps.iter().zip(inner_steps).map(|(outer, inner)| outer * inner).collect();
    let source = site.b.func.operand(inner, 0);
    site.b.emit(TensorOp::Slice { starts, sizes, steps }, &[source]).map(Some)
}

fn broadcast_broadcast(site: &mut Site) -> Applied {
    let Some((inner, TensorOp::Broadcast { .. })) = site.def(site.operand(0)) else { return Ok(None) };
    let source = site.b.func.operand(inner, 0);
    let shape = site.result_type().shape.clone();
    site.b.broadcast(source, shape).map(Some)
}

fn pad_nothing(site: &mut Site) -> Applied {
    let TensorOp::Pad { low, high, .. } = site.kind() else { return Ok(None) };
    let nothing = low.iter().chain(high).all(|amount| amount.is_const(0));
    Ok(nothing.then(|| site.operand(0)))
}

fn concat_one(site: &mut Site) -> Applied {
    Ok(match site.operands() {
        [only] => Some(*only),
        _ => None,
    })
}

fn concat_empty(site: &mut Site) -> Applied {
    let TensorOp::Concat { axis } = *site.kind() else { return Ok(None) };
    let operands = site.operands().to_vec();
    let kept: Vec<Value> =
        operands.iter().copied().filter(|value| !site.shape(*value)[axis].is_const(0)).collect();
    if kept.is_empty() || kept.len() == operands.len() {
        return Ok(None);
    }
    site.b.concat(&kept, axis).map(Some)
}

fn concat_concat(site: &mut Site) -> Applied {
    /// Joined lists stay readable by one kernel.
    const MOST: usize = 8;
    let TensorOp::Concat { axis } = *site.kind() else { return Ok(None) };
    let mut parts = Vec::new();
    for value in site.operands() {
        match site.def(*value) {
            Some((inner, TensorOp::Concat { axis: other }))
                if *other == axis && site.b.func.users(*value).len() == 1 =>
            {
                parts.extend_from_slice(site.b.func.operands(inner));
            }
            _ => parts.push(*value),
        }
    }
    if parts.len() == site.operands().len() || parts.len() > MOST {
        return Ok(None);
    }
    site.b.concat(&parts, axis).map(Some)
}

/// Rows of a quantised table become real numbers, and not the whole table. Gathers stay in their range.
fn gather_stored(site: &mut Site) -> Applied {
    let TensorOp::Gather { axis } = *site.kind() else { return Ok(None) };
    let (data, indices) = (site.operand(0), site.operand(1));
    let Some((inner, TensorOp::Dequantize { scheme })) = site.def(data) else { return Ok(None) };
    if scheme.axis.is_some() || scheme.block.is_some() || !is_only_gathered(site.b.func, data) {
        return Ok(None);
    }
    let mut operands = site.b.func.operands(inner).to_vec();
    let scheme = scheme.clone();
    operands[0] = site.b.gather(operands[0], indices, axis)?;
    site.b.emit(TensorOp::Dequantize { scheme }, &operands).map(Some)
}

/// Rows of a table that is stored in fewer bytes than it is computed to, and not the whole table.
fn gather_computed(site: &mut Site) -> Applied {
    let TensorOp::Gather { axis } = *site.kind() else { return Ok(None) };
    let (data, indices) = (site.operand(0), site.operand(1));
    let Some((inner, TensorOp::Elementwise { f })) = site.def(data) else { return Ok(None) };
    let (f, func) = (*f, &site.b.func);
    let is_smaller = func.users(data).len() <= MOST_GATHERS
        && stored_bytes(func, data, LONGEST_FORMULA)
            .zip(bytes(func, data))
            .is_some_and(|(stored, computed)| stored < computed);
    if !is_smaller || !is_only_gathered(func, data) {
        return Ok(None);
    }
    let places = vec![Dim::from(1); site.b.rank(indices)];
    let repeats = |dim: &Dim| dim.is_const(1) && !site.shape(data)[axis].is_const(1);
    let operands: Vec<(Value, bool)> =
        func.operands(inner).iter().map(|value| (*value, repeats(&site.shape(*value)[axis]))).collect();
    let mut rows = Vec::with_capacity(operands.len());
    for (operand, is_repeated) in operands {
        rows.push(if is_repeated {
            let mut shape = site.shape(operand).to_vec();
            shape.splice(axis..=axis, places.iter().cloned());
            site.b.reshape(operand, shape)?
        } else {
            site.b.gather(operand, indices, axis)?
        });
    }
    site.b.emit(TensorOp::Elementwise { f }, &rows).map(Some)
}

fn is_only_gathered(func: &TensorFunc, table: Value) -> bool {
    func.users(table).iter().all(|user| matches!(func.kind(*user), TensorOp::Gather { .. }))
}

/// Ops between a table and its constants.
const LONGEST_FORMULA: usize = 4;
/// Gathers of a table, all of which each of them looks at.
const MOST_GATHERS: usize = 64;

/// Bytes of the constants that a value is computed of, element by element, by ops so cheap that more elements may be computed
/// than a table has; `None` where it is not.
fn stored_bytes(func: &TensorFunc, value: Value, most: usize) -> Option<usize> {
    let op = func.def_op(value)?;
    match func.kind(op) {
        TensorOp::Constant { .. } => bytes(func, value),
        TensorOp::Splat { .. } => Some(0),
        kind @ TensorOp::Elementwise { .. } if most > 0 && weight(kind) <= CHEAP => func
            .operands(op)
            .iter()
            .try_fold(0usize, |sum, operand| sum.checked_add(stored_bytes(func, *operand, most - 1)?)),
        _ => None,
    }
}

/// A place known before the run is a slice, which needs no index arithmetic.
fn gather_constant(site: &mut Site) -> Applied {
    let TensorOp::Gather { axis } = *site.kind() else { return Ok(None) };
    let (data, indices) = (site.operand(0), site.operand(1));
    let (Some(index), Some(extent)) = (site.splat(indices), site.shape(data)[axis].as_const()) else {
        return Ok(None);
    };
    // An empty axis has no place; the gather itself says so.
    if extent == 0 || !site.shape(indices).count().is_const(1) {
        return Ok(None);
    }
    let index =
        if site.b.dtype(indices) == tegula_base::DType::I32 { i64::from(index as i32) } else { index };
    let index = if index < 0 { index + extent } else { index }.clamp(0, extent - 1);
    let shape = site.result_type().shape.clone();
    let one = site.b.slice_axis(data, axis, index, 1)?;
    site.b.reshape(one, shape).map(Some)
}

fn reduce_units(site: &mut Site) -> Applied {
    let TensorOp::Reduce { f, axes } = site.kind() else { return Ok(None) };
    let x = site.operand(0);
    if !axes.iter().any(|axis| site.shape(x)[*axis].is_const(1)) {
        return Ok(None);
    }
    let (f, axes) = (*f, axes.clone());
    let wide: Vec<usize> = axes.iter().copied().filter(|axis| !site.shape(x)[*axis].is_const(1)).collect();
    match wide.len() {
        0 => Ok(Some(x)),
        _ => site.b.emit(TensorOp::Reduce { f, axes: wide }, &[x]).map(Some),
    }
}

fn constant_splat(site: &mut Site) -> Applied {
    let TensorOp::Constant { id, dtype, shape } = site.kind() else { return Ok(None) };
    let (dtype, size) = (*dtype, dtype.size());
    let Some(data) = site.b.consts.get(*id) else { return Ok(None) };
    let Some((first, rest)) = data.data.split_at_checked(size) else { return Ok(None) };
    if rest.chunks_exact(size).any(|element| element != first) {
        return Ok(None);
    }
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(first);
    let shape = shape.clone();
    site.b.emit(TensorOp::Splat { dtype, shape, bits: i64::from_le_bytes(bits) }, &[]).map(Some)
}

fn sizes_constant(site: &mut Site) -> Applied {
    let TensorOp::Sizes { dims } = site.kind() else { return Ok(None) };
    let Some(sizes) = dims.iter().map(Dim::as_const).collect::<Option<Vec<i64>>>() else { return Ok(None) };
    site.b.literal(HostTensor::from_elements(&[sizes.len()], &sizes)).map(Some)
}
