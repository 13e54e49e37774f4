//! One op on constant sizes: shape rule first, then the family's file.

use super::run::{decomposed_func, run_func};
use super::{Bindings, contract, indexing, movement, order, pool, reduce};
use crate::{TensorOp, TensorType, infer};
use std::sync::Arc;
use tegula_base::{HostTensor, Symbols};
use tegula_ir::scalar::eval::eval_slice;
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
        Dot { dims, .. } => contract::dot(x[0], x[1], dims, &mut out[0]),
        Conv { window, groups, .. } => contract::conv(x[0], x[1], window, *groups, &mut out[0])?,
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
    run_func(&func, &consts, &Symbols::default(), Bindings::default(), inputs, None)
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

fn elementwise(f: ScalarOp, x: &[&HostTensor], out: &mut HostTensor) {
    let spread: Vec<Option<HostTensor>> = x
        .iter()
        .map(|tensor| {
            (tensor.count() != 1 && tensor.shape != out.shape)
                .then(|| movement::broadcast(tensor, &out.shape))
        })
        .collect();
    let operands: Vec<_> = x
        .iter()
        .zip(&spread)
        .map(|(tensor, spread)| (spread.as_ref().map_or(&tensor.bytes[..], |s| &s.bytes[..]), tensor.dtype))
        .collect();
    eval_slice(f, &operands, &mut out.bytes);
}
