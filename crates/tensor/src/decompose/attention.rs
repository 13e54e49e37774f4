//! Scaled dot-product attention: scores, scale, softcap, mask, softmax, weighted sum.

use crate::build::Built;
use crate::{Builder, DotDims};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

/// Operands `q: [B,H,L,D], k: [B,G,S,D], v: [B,G,S,E]` and a mask or none; result `[B,H,L,E]`.
pub(super) fn attention(
    b: &mut Builder,
    x: &[Value],
    scale: f64,
    causal: bool,
    window: i64,
    softcap: f64,
) -> Built {
    let dtype = b.dtype(x[0]);
    // Scores and what becomes of them: products of narrow floats sum up in `f32`.
    let wide = super::wide(dtype);
    let (q, k, v) = (b.shape(x[0]), b.shape(x[1]), b.shape(x[2]));
    let (l, s) = (q[2].clone(), k[2].clone());
    // Query heads in G groups of R that share a key head: [B,G,R,L,D].
    let shared = q[1].div_exact(&k[1]).ok_or("attention_c3: key heads do not divide query heads")?;
    let [batch, heads] = [q[0].clone(), k[1].clone()];
    let grouped = b.reshape(x[0], [&batch, &heads, &shared, &l, &q[3]].map(Dim::clone))?;
    let scores = b.dot(grouped, x[1], batched(4, 3), wide)?;
    let scores = b.reshape(scores, [&q[0], &q[1], &l, &s].map(Dim::clone))?;
    let mut scores = b.with_number(ScalarOp::Mul, scores, scale)?;
    if softcap != 0.0 {
        let bent = b.with_number(ScalarOp::Div, scores, softcap)?;
        let bent = b.tanh(bent)?;
        scores = b.with_number(ScalarOp::Mul, bent, softcap)?;
    }
    if let Some(mask) = x.get(3) {
        let mask = b.cast(*mask, wide)?;
        scores = b.add(scores, mask)?;
    }
    if causal {
        scores = hide(b, scores, ScalarOp::Le, &(s.clone() - l.clone()))?;
    }
    if window > 0 {
        scores = hide(b, scores, ScalarOp::Gt, &(s.clone() - l.clone() - Dim::from(window)))?;
    }
    let weights = b.softmax(scores, 3, false)?;
    let weights = b.cast(weights, dtype)?;
    let weights = b.reshape(weights, [&batch, &heads, &shared, &l, &s].map(Dim::clone))?;
    let result = b.dot(weights, x[2], batched(4, 2), dtype)?;
    b.reshape(result, [&q[0], &q[1], &l, &v[3]].map(Dim::clone))
}

/// Batch and heads pair; one inner axis each.
fn batched(lhs: usize, rhs: usize) -> DotDims {
    DotDims { lhs_batch: vec![0, 1], rhs_batch: vec![0, 1], lhs_contract: vec![lhs], rhs_contract: vec![rhs] }
}

/// Row `i` of `[B,H,L,S]` sees the columns that compare to `i + offset` as `sees` says.
fn hide(b: &mut Builder, scores: Value, sees: ScalarOp, offset: &Dim) -> Built {
    let (one, shape) = (Dim::from(1), b.shape(scores));
    let row = b.iota(DType::I64, [one.clone(), one.clone(), shape[2].clone(), one.clone()], 2)?;
    let offset = b.size_as(offset, DType::I64, 4)?;
    let place = b.add(row, offset)?;
    let column = b.iota(DType::I64, [one.clone(), one.clone(), one, shape[3].clone()], 3)?;
    let seen = b.elementwise(sees, &[column, place])?;
    let hidden = b.splat(b.dtype(scores), Shape::scalar(), f64::NEG_INFINITY)?;
    b.select(seen, scores, hidden)
}
