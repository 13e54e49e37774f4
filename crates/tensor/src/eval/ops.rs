//! One op on constant sizes: shape rule first, then the family's file.

use super::run::{decomposed_func, run_func};
use super::{Bindings, contract, indexing, movement, order, pool, reduce};
use crate::{TensorOp, TensorType, infer, winograd};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tegula_base::{HostTensor, Symbols};
use tegula_ir::scalar::eval::{eval_into, eval_slice};
use tegula_ir::{Op, ScalarOp};

/// The largest tensor the evaluator makes, so that an absurd size is an error and not a lack of memory.
const MAX_BYTES: usize = 1 << 34;

/// Results of an op without regions or effects whose sizes are constant, as constant folding needs it.
/// Errors: the op's constraint that the operands break, or that it needs more than its operands.
pub fn evaluate_op(kind: &TensorOp, x: &[&HostTensor]) -> Result<Vec<HostTensor>, String> {
    use TensorOp::*;
    let types: Vec<TensorType> = x.iter().map(|tensor| TensorType::of(tensor)).collect();
    let types = infer(kind, &types.iter().collect::<Vec<_>>())?;
    let mut out = types.iter().map(zeros).collect::<Result<Vec<HostTensor>, String>>()?;
    match kind {
        Splat { bits, .. } => fill(&mut out[0], &bits.to_le_bytes()),
        Iota { axis, .. } => movement::iota(*axis, &mut out[0]),
        Sizes { dims } => {
            let sizes: Vec<i64> = dims.iter().filter_map(|dim| dim.as_const()).collect();
            out[0] = HostTensor::from_elements(&[sizes.len()], &sizes);
        }
        Elementwise { f } => elementwise(*f, x, &mut out[0]),
        Broadcast { .. } => out[0] = movement::broadcast(x[0], &out[0].shape),
        Reshape { .. } | Relayout { .. } => {
            if x[0].bytes.len() != out[0].bytes.len() {
                return Err(format!("reshape_c1: {} does not fit {}", TensorType::of(x[0]), types[0]));
            }
            out[0].bytes.clone_from(&x[0].bytes);
        }
        Transpose { perm } => out[0] = movement::transpose(x[0], perm).into_owned(),
        Slice { starts, steps, .. } => movement::slice(x[0], &constant(starts)?, steps, &mut out[0]),
        Pad { low, mode, .. } => movement::pad(x, &constant(low)?, *mode, &mut out[0]),
        Concat { axis } => movement::concat(x, *axis, &mut out[0]),
        Gather { axis } => indexing::gather(x[0], x[1], *axis, &mut out[0])?,
        GatherElements { axis } => indexing::gather_elements(x[0], x[1], *axis, &mut out[0])?,
        GatherNd { batch_dims } => indexing::gather_nd(x[0], x[1], *batch_dims, &mut out[0])?,
        ScatterElements { axis, kind } => {
            indexing::scatter_elements(x[0], x[1], x[2], *axis, *kind, &mut out[0])?;
        }
        ScatterNd { kind } => indexing::scatter_nd(x[0], x[1], x[2], *kind, &mut out[0])?,
        Reduce { f, axes } => reduce::reduce(x[0], *f, axes, &mut out[0])?,
        ArgReduce { max, axis, last } => reduce::arg_reduce(x[0], *max, *axis, *last, &mut out[0]),
        Scan { f, axis, exclusive, reverse } => {
            reduce::scan(x[0], *f, *axis, *exclusive, *reverse, &mut out[0])?;
        }
        Dot { dims, pair_sums, .. } => contract::dot(x[0], x[1], dims, *pair_sums, &mut out[0]),
        Conv { window, groups, .. } => contract::conv(x[0], x[1], window, *groups, &mut out[0])?,
        WinogradConv { window } => {
            contract::conv(x[0], &winograd::filters(x[1]), window, 1, &mut out[0])?;
        }
        ConvTranspose { window, groups, .. } => {
            contract::conv_transpose(x[0], x[1], window, *groups, &mut out[0])?;
        }
        Pool { kind, window } => pool::pool(x[0], *kind, window, &mut out[0])?,
        MaxPoolIndices { window, column_major } => {
            let [values, indices] = &mut out[..] else { return Err("two results are expected".into()) };
            pool::max_pool(x[0], window, values, Some((indices, *column_major)))?;
        }
        TopK { axis, largest, .. } => {
            let [values, indices] = &mut out[..] else { return Err("two results are expected".into()) };
            order::top_k(x[0], *axis, *largest, values, indices)?;
        }
        NonZero {} => order::non_zero(x[0], &mut out),
        Unique { axis, sorted } => order::unique(x[0], *axis, *sorted, &mut out),
        NonMaxSuppression { center_point_box, limit } => {
            let limit = constant(std::slice::from_ref(limit))?[0];
            order::non_max_suppression(x, *center_point_box, limit, &mut out);
        }
        Softmax { .. }
        | LayerNorm { .. }
        | RmsNorm { .. }
        | Gelu { .. }
        | Attention { .. }
        | Lstm { .. }
        | Gru { .. }
        | Quantize { .. }
        | Dequantize { .. }
        | QDot { .. }
        | QConv { .. } => return composite(kind, x),
        Constant { .. }
        | Bind { .. }
        | AssertSize { .. }
        | If {}
        | Loop { .. }
        | Yield {}
        | Return {}
        | Kernel { .. } => {
            return Err(format!("`{}` is not evaluated from operands alone", kind.name()));
        }
    }
    Ok(out)
}

fn composite(kind: &TensorOp, x: &[&HostTensor]) -> Result<Vec<HostTensor>, String> {
    let (func, consts) = decomposed_func(kind, x.iter().map(|tensor| TensorType::of(tensor)))?;
    let inputs = x.iter().map(|tensor| Arc::new((*tensor).clone())).collect();
    run_func(&func, &consts, &Symbols::default(), Bindings::default(), inputs, None, false)
        .map(|results| results.into_iter().map(Arc::unwrap_or_clone).collect())
        .map_err(|diagnostic| diagnostic.message)
}

/// All zeros of a type with constant extents. Errors: it is too large.
pub(super) fn zeros(ty: &TensorType) -> Result<HostTensor, String> {
    let shape = ty.shape.as_static().ok_or_else(|| format!("{ty} has sizes that are no counts"))?;
    let bytes = shape.iter().try_fold(ty.dtype.size(), |bytes, n| bytes.checked_mul(*n));
    match bytes {
        Some(bytes) if bytes <= MAX_BYTES => Ok(HostTensor::zeros(ty.dtype, &shape)),
        _ => Err(format!("{ty} is too large to evaluate")),
    }
}

fn constant(dims: &[tegula_base::Dim]) -> Result<Vec<i64>, String> {
    dims.iter().map(|dim| dim.as_const().ok_or_else(|| format!("size {dim} has no value"))).collect()
}

/// Every element the leading bytes of `bits`.
fn fill(out: &mut HostTensor, bits: &[u8]) {
    let size = out.dtype.size();
    for element in out.bytes.chunks_exact_mut(size) {
        element.copy_from_slice(&bits[..size]);
    }
}

/// Bytes of a result for which operands of other shapes are spread at once: they stay in the second cache.
const SPREAD_BYTES: usize = 1 << 16;

/// Operands of one element are repeated as they are read; those of other shapes are spread a few rows at a time, as weights
/// may be as large as memory allows.
fn elementwise(f: ScalarOp, x: &[&HostTensor], out: &mut HostTensor) {
    if out.bytes.is_empty() {
        return;
    }
    let is_spread = |tensor: &HostTensor| tensor.count() != 1 && tensor.shape != out.shape;
    let spreads = x.iter().any(|tensor| is_spread(tensor));
    let Some((rows, row)) = out.shape.split_first().filter(|_| spreads) else {
        let operands: Vec<_> = x.iter().map(|tensor| (&tensor.bytes[..], tensor.dtype)).collect();
        return eval_slice(f, &operands, &mut out.bytes);
    };
    let row_bytes = out.bytes.len() / rows;
    let at_once = (SPREAD_BYTES / row_bytes).max(1);
    for (i, out_rows) in out.bytes.chunks_mut(at_once * row_bytes).enumerate() {
        let taken = i * at_once..i * at_once + out_rows.len() / row_bytes;
        let part: Vec<usize> = std::iter::once(taken.len()).chain(row.iter().copied()).collect();
        let bytes: Vec<Cow<[u8]>> = x
            .iter()
            .map(|tensor| match is_spread(tensor) {
                true => Cow::Owned(movement::broadcast(&rows_of(tensor, &taken, part.len()), &part).bytes),
                false if tensor.count() == 1 => Cow::Borrowed(&tensor.bytes[..]),
                false => Cow::Borrowed(bytes_of_rows(tensor, &taken)),
            })
            .collect();
        let operands: Vec<_> =
            bytes.iter().zip(x).map(|(bytes, tensor)| (&bytes[..], tensor.dtype)).collect();
        eval_into(f, &operands, out_rows);
    }
}

/// The part of an operand that rows of a result of so many axes need.
fn rows_of<'a>(x: &'a HostTensor, rows: &Range<usize>, rank: usize) -> Cow<'a, HostTensor> {
    if x.shape.len() < rank || x.shape[0] == 1 {
        return Cow::Borrowed(x);
    }
    let mut shape = x.shape.clone();
    shape[0] = rows.len();
    Cow::Owned(HostTensor { dtype: x.dtype, shape, bytes: bytes_of_rows(x, rows).to_vec() })
}

fn bytes_of_rows<'a>(x: &'a HostTensor, rows: &Range<usize>) -> &'a [u8] {
    let row = x.bytes.len() / x.shape[0];
    &x.bytes[rows.start * row..rows.end * row]
}
