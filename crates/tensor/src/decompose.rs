//! Composite ops in terms of simpler ones: their meaning.
//!
//! Before: the op's shapes fit (`check.rs`).  After: the values that stand for its results, of the same types; the
//! op itself is untouched. Floats narrower than `f32` are widened on the way in and rounded once on the way out.
//! The evaluator runs composites through here; passes use it for composites that a target does not claim.

mod attention;
mod norm;
mod quant;
mod recurrent;

use crate::build::Built;
use crate::{Builder, TensorFunc, TensorOp};
use tegula_base::DType;
use tegula_ir::{ConstStore, Op, OpId, Value};

/// Whether the op has a decomposition.
pub fn is_composite(kind: &TensorOp) -> bool {
    use TensorOp::*;
    match kind {
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
        | QConv { .. } => true,
        Constant { .. }
        | Splat { .. }
        | Iota { .. }
        | Sizes { .. }
        | Elementwise { .. }
        | Broadcast { .. }
        | Reshape { .. }
        | Transpose { .. }
        | Slice { .. }
        | Pad { .. }
        | Concat { .. }
        | Gather { .. }
        | GatherElements { .. }
        | GatherNd { .. }
        | ScatterElements { .. }
        | ScatterNd { .. }
        | Reduce { .. }
        | ArgReduce { .. }
        | Scan { .. }
        | Dot { .. }
        | Conv { .. }
        | WinogradConv { .. }
        | ConvTranspose { .. }
        | Pool { .. }
        | MaxPoolIndices { .. }
        | TopK { .. }
        | NonZero {}
        | Unique { .. }
        | NonMaxSuppression { .. }
        | Bind { .. }
        | AssertSize { .. }
        | If {}
        | Loop { .. }
        | Yield {}
        | Return {}
        | Relayout { .. }
        | Kernel { .. } => false,
    }
}

/// Builds a composite's decomposition right before it and gives the values that stand for its results; the
/// caller redirects uses and erases the op. Errors: the op is no composite, or its shapes do not fit.
pub fn decompose(func: &mut TensorFunc, op: OpId, consts: &mut ConstStore) -> Built<Vec<Value>> {
    let region = func.parent(op).ok_or_else(|| format!("{op} stands nowhere"))?;
    let kind = func.kind(op).clone();
    let operands = func.operands(op).to_vec();
    let location = func.op(op).location.clone();
    let built_from = func.ops_in(region).len();
    let results = expand(&mut Builder::new(func, consts).at(region, location), &kind, &operands)?;
    let mut ops = func.ops_in(region).to_vec();
    let place = ops.iter().position(|o| *o == op).expect("invariant: an op stands in its parent");
    ops[place..].rotate_right(func.ops_in(region).len() - built_from);
    func.set_ops(region, ops);
    Ok(results)
}

/// The decomposition of an op of this kind on these operands, at the builder's place.
pub fn expand(b: &mut Builder, kind: &TensorOp, x: &[Value]) -> Built<Vec<Value>> {
    let types: Vec<_> = x.iter().map(|value| b.ty(*value).clone()).collect();
    crate::infer(kind, &types.iter().collect::<Vec<_>>())?;
    let one = |value: Value| vec![value];
    match kind {
        TensorOp::Softmax { axis, log } => norm::softmax(b, x[0], *axis, *log).map(one),
        TensorOp::LayerNorm { axis, eps } => norm::layer_norm(b, x, *axis, eps.0).map(one),
        TensorOp::RmsNorm { axis, eps } => norm::rms_norm(b, x, *axis, eps.0).map(one),
        TensorOp::Gelu { tanh } => norm::gelu(b, x[0], *tanh).map(one),
        TensorOp::Attention { scale, causal, window, softcap } => {
            attention::attention(b, x, scale.0, *causal, *window, softcap.0).map(one)
        }
        TensorOp::Lstm { direction, rounded } => recurrent::lstm(b, x, *direction, *rounded),
        TensorOp::Gru { direction, linear_before_reset } => {
            recurrent::gru(b, x, *direction, *linear_before_reset)
        }
        TensorOp::Quantize { scheme } => quant::quantize(b, x, scheme).map(one),
        TensorOp::Dequantize { scheme } => quant::dequantize(b, x, scheme).map(one),
        TensorOp::QDot { dims } => quant::q_dot(b, x, dims).map(one),
        TensorOp::QConv { window, groups } => quant::q_conv(b, x, window, *groups).map(one),
        other => {
            debug_assert!(!is_composite(other), "`{}` lacks its decomposition", other.name());
            Err(format!("`{}` is no composite", other.name()))
        }
    }
}

/// The type a composite computes in.
fn wide(dtype: DType) -> DType {
    if dtype.bits() < 32 { DType::F32 } else { dtype }
}

fn widen_all(b: &mut Builder, x: &[Value]) -> Built<Vec<Value>> {
    x.iter()
        .map(|value| {
            let to = wide(b.dtype(*value));
            b.cast(*value, to)
        })
        .collect()
}
