//! The bound of each op that is no composite.

use super::run::values;
use super::{Bounded, scalar, sums};
use tegula_base::{DType, HostTensor};
use tegula_ir::ScalarOp;
use tegula_tensor::{PoolKind, ScatterKind, TensorOp, winograd};

type Results = Result<Vec<Bounded>, String>;

/// Results of an op on constant sizes.
pub(super) fn apply(kind: &TensorOp, x: &[Bounded]) -> Results {
    use TensorOp::*;
    let mut results = bounded(kind, x)?;
    let moves = matches!(kind, Broadcast { .. } | Reshape { .. } | Transpose { .. } | Relayout { .. });
    let is_small = match kind {
        Elementwise { f: ScalarOp::Cast { .. } } => x[0].is_small,
        // A scale is one of several elements.
        Elementwise { f: ScalarOp::Mul } => {
            let count = results[0].value.count();
            let is_scaled = |x: &Bounded, other: &Bounded| x.is_small && other.value.count() < count;
            is_scaled(&x[0], &x[1]) || is_scaled(&x[1], &x[0])
        }
        _ => moves && x[0].is_small,
    };
    results.iter_mut().for_each(|result| result.is_small |= is_small);
    Ok(results)
}

fn bounded(kind: &TensorOp, x: &[Bounded]) -> Results {
    use TensorOp::*;
    let tensors: Vec<&HostTensor> = x.iter().map(|operand| &*operand.value).collect();
    let out = values(kind, &tensors)?;
    let all_exact = x.iter().all(|operand| operand.error.is_none());
    let float = out.first().is_some_and(|tensor| tensor.dtype.is_float());
    match kind {
        Elementwise { f } => scalar::elementwise(*f, x, out),
        // Bounds go where elements go.
        Broadcast { .. }
        | Reshape { .. }
        | Transpose { .. }
        | Slice { .. }
        | Concat { .. }
        | Relayout { .. }
        | Pad { .. } => moved(kind, x, x.len(), out),
        Gather { .. } | GatherElements { .. } | GatherNd { .. } if x[1].error.is_none() => {
            moved(kind, x, 1, out)
        }
        ScatterElements { .. } | ScatterNd { .. } if x[1].error.is_none() => scatter(kind, x, out),
        Reduce { f: ScalarOp::Add | ScalarOp::Mul, .. } | Scan { f: ScalarOp::Add | ScalarOp::Mul, .. }
            if float =>
        {
            sums::reduce(kind, x, out)
        }
        Reduce { .. } | Scan { .. } => ordered(kind, x, out),
        Dot { .. } | Conv { .. } | ConvTranspose { .. } if float => sums::contract(kind, x, out),
        WinogradConv { window } => {
            let plain = Conv { window: window.clone(), groups: 1, out: DType::F32 };
            let filters = Bounded::exact(winograd::filters(&x[1].value));
            sums::contract(&plain, &[x[0].clone(), filters], out)
        }
        Pool { kind: PoolKind::Max, .. } => moved(kind, x, 1, out),
        Pool { .. } if float => sums::pool(kind, x, out),
        MaxPoolIndices { .. } | TopK { .. } => chosen(x, out),
        Dot { .. } | Conv { .. } | ConvTranspose { .. } if !all_exact => sums::masked(kind, x, out),
        Pool { .. } if !all_exact => sums::masked(kind, x, out),
        ArgReduce { .. } if !all_exact => sums::masked_arg(kind, x, out),
        _ if all_exact => Ok(out.into_iter().map(Bounded::exact).collect()),
        _ => Ok(out.into_iter().map(Bounded::unchecked).collect()),
    }
}

/// The same op on the bounds of the first `data` operands; the others say where.
fn moved(kind: &TensorOp, x: &[Bounded], data: usize, out: Vec<HostTensor>) -> Results {
    if x.iter().all(|operand| operand.error.is_none()) {
        return Ok(out.into_iter().map(Bounded::exact).collect());
    }
    let errors: Vec<HostTensor> = x
        .iter()
        .enumerate()
        .map(|(i, operand)| if i < data { operand.error_tensor() } else { (*operand.value).clone() })
        .collect();
    let moved = values(kind, &errors.iter().collect::<Vec<_>>())?;
    Ok(out.into_iter().zip(moved).map(|(value, error)| with(value, &error)).collect())
}

pub(super) fn with(value: HostTensor, error: &HostTensor) -> Bounded {
    Bounded::new(value, error.to_f64())
}

/// Minima, maxima and integers: the largest bound of what goes in, and may be what comes out.
fn ordered(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    if x[0].error.is_none() {
        return Ok(out.into_iter().map(Bounded::exact).collect());
    }
    match kind {
        TensorOp::Reduce { f: ScalarOp::Max, axes } => return extreme(&x[0], axes, 1.0, out),
        TensorOp::Reduce { f: ScalarOp::Min, axes } => return extreme(&x[0], axes, -1.0, out),
        _ => {}
    }
    let largest = match kind.clone() {
        TensorOp::Reduce { axes, .. } => TensorOp::Reduce { f: ScalarOp::Max, axes },
        TensorOp::Scan { axis, exclusive, reverse, .. } => {
            TensorOp::Scan { f: ScalarOp::Max, axis, exclusive, reverse }
        }
        other => return Err(format!("{other:?} is no reduction")),
    };
    let errors = values(&largest, &[&x[0].error_tensor()])?.remove(0);
    // The identity of an empty maximum is -inf.
    let errors = errors.to_f64().into_iter().map(|e| e.max(0.0)).collect();
    Ok(vec![Bounded::new(out.into_iter().next().ok_or("no result")?, errors)])
}

/// The largest (`sign` 1) or smallest (-1) of each slice. An element that cannot reach the surest one of its slice within
/// its own bound has no part in it: a masked score, however coarse, does not blur the maximum.
fn extreme(x: &Bounded, axes: &[usize], sign: f64, out: Vec<HostTensor>) -> Results {
    let out = out.into_iter().next().ok_or("no result")?;
    let slice_of = slices(&x.value.shape, axes);
    let values: Vec<f64> = x.value.to_f64().into_iter().map(|value| sign * value).collect();
    let mut surest = vec![f64::NEG_INFINITY; out.count()];
    for ((value, error), slice) in values.iter().zip(x.at_each()).zip(&slice_of) {
        surest[*slice] = surest[*slice].max(value - error);
    }
    let mut errors = vec![0.0f64; out.count()];
    for ((value, error), slice) in values.iter().zip(x.at_each()).zip(&slice_of) {
        // Also where one of them is NaN.
        let cannot_reach = value + error < surest[*slice];
        if !cannot_reach {
            errors[*slice] = errors[*slice].max(error);
        }
    }
    Ok(vec![Bounded::new(out, errors)])
}

/// For each element, row-major, the element of the reduced tensor that it goes into.
fn slices(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let mut count = 1;
    for axis in (0..shape.len()).rev().filter(|axis| !axes.contains(axis)) {
        strides[axis] = count;
        count *= shape[axis];
    }
    let mut slices = vec![0];
    for (extent, stride) in shape.iter().zip(&strides) {
        slices = slices.iter().flat_map(|base| (0..*extent).map(move |i| base + i * stride)).collect();
    }
    slices
}

/// Values picked from an axis or window, and where they stood.
fn chosen(x: &[Bounded], out: Vec<HostTensor>) -> Results {
    if x[0].error.is_none() {
        return Ok(out.into_iter().map(Bounded::exact).collect());
    }
    let worst = x[0].error_tensor().to_f64().into_iter().fold(0.0, f64::max);
    let mut out = out.into_iter();
    let (value, index) = (out.next().ok_or("no result")?, out.next().ok_or("no result")?);
    let error = vec![worst; value.count()];
    Ok(vec![Bounded::new(value, error), Bounded::unchecked(index)])
}

fn scatter(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let (how, on_bounds): (ScatterKind, fn(&TensorOp, ScatterKind) -> TensorOp) = match kind {
        TensorOp::ScatterElements { kind, .. } => (*kind, |op, kind| match op {
            TensorOp::ScatterElements { axis, .. } => TensorOp::ScatterElements { axis: *axis, kind },
            other => other.clone(),
        }),
        TensorOp::ScatterNd { kind } => (*kind, |_, kind| TensorOp::ScatterNd { kind }),
        other => return Err(format!("{other:?} is no scatter")),
    };
    let dtype = out[0].dtype;
    let errors = [x[0].error_tensor(), (*x[1].value).clone(), x[2].error_tensor()];
    let exact = x.iter().all(|operand| operand.error.is_none());
    match how {
        ScatterKind::Add | ScatterKind::Mul if dtype.is_float() => {
            sums::scatter(&|to| on_bounds(kind, to), how, x, out)
        }
        _ if exact => Ok(out.into_iter().map(Bounded::exact).collect()),
        ScatterKind::Set => {
            let moved = values(kind, &[&errors[0], &errors[1], &errors[2]])?.remove(0);
            Ok(vec![with(out.into_iter().next().ok_or("no result")?, &moved)])
        }
        _ => {
            let moved = values(&on_bounds(kind, ScatterKind::Max), &[&errors[0], &errors[1], &errors[2]])?;
            Ok(vec![with(out.into_iter().next().ok_or("no result")?, &moved[0])])
        }
    }
}
