//! Kernels whose time is that of their bytes: norms and softmax by rows, gates, quantisation, rotary embedding with an
//! update of the cache, transposes, sums, choices.

use super::contract::silu;
use super::{Fill, Params};
use serde::Deserialize;
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::ScatterKind;
use tegula_tensor::build::Built;

const EPS: f64 = 1e-5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOp {
    RmsNorm,
    LayerNorm,
    Softmax,
}

impl RowOp {
    /// Of `x[r, columns]` along its rows.
    pub(super) fn build(self, p: &mut Params, dtype: DType, columns: Dim) -> Built<Vec<Value>> {
        let r = p.dim("r");
        let x = p.input("x", dtype, [r, columns.clone()]);
        Ok(vec![match self {
            RowOp::Softmax => p.b.softmax(x, 1, false)?,
            RowOp::RmsNorm => {
                let scale = p.input("scale", dtype, [columns]);
                p.b.rms_norm(x, scale, 1, EPS)?
            }
            RowOp::LayerNorm => {
                let scale = p.input("scale", dtype, [columns.clone()]);
                let bias = p.input("bias", dtype, [columns]);
                p.b.layer_norm(x, scale, Some(bias), 1, EPS)?
            }
        }])
    }
}

/// `silu(gate) * up`.
pub(super) fn swiglu(p: &mut Params, dtype: DType) -> Built<Vec<Value>> {
    let [r, c] = ["r", "c"].map(|name| p.dim(name));
    let [gate, up] = ["gate", "up"].map(|name| p.input(name, dtype, [r.clone(), c.clone()]));
    let [gate, up] = [p.b.cast(gate, DType::F32)?, p.b.cast(up, DType::F32)?];
    let gate = silu(p, gate)?;
    let y = p.b.mul(gate, up)?;
    Ok(vec![p.b.cast(y, dtype)?])
}

/// The sum of stream and residual, and its norm in 8-bit floats with a scale a row.
pub(super) fn add_rms_norm_quant(p: &mut Params, dtype: DType, columns: Dim) -> Built<Vec<Value>> {
    let r = p.dim("r");
    let x = p.input("x", dtype, [r.clone(), columns.clone()]);
    let residual = p.input("residual", dtype, [r.clone(), columns.clone()]);
    let weight = p.input("weight", dtype, [columns]);
    let sum = p.b.add(x, residual)?;
    let wide = p.b.cast(sum, DType::F32)?;
    let weight = p.b.cast(weight, DType::F32)?;
    let normed = p.b.rms_norm(wide, weight, 1, EPS)?;
    let size = p.b.elementwise(ScalarOp::Abs, &[normed])?;
    let largest = p.b.reduce(ScalarOp::Max, size, &[1], true)?;
    let scale = p.b.with_number(ScalarOp::Mul, largest, 1.0 / 448.0)?;
    let scaled = p.b.div(normed, scale)?;
    let quantised = p.b.cast(scaled, DType::F8E4M3FN)?;
    Ok(vec![sum, quantised, scale])
}

/// Rotates the halves of each head of queries and keys, and writes keys and values to their slots of a cache
/// `[t, heads, d]`.
pub(super) fn rope_kv_update(p: &mut Params, dtype: DType, heads: i64, d: i64) -> Built<Vec<Value>> {
    let [r, t] = ["r", "t"].map(|name| p.dim(name));
    let (heads, half, d) = (Dim::from(heads), Dim::from(d / 2), Dim::from(d));
    let [q, k, v] = ["q", "k", "v"].map(|name| p.input(name, dtype, [r.clone(), heads.clone(), d.clone()]));
    let [cos, sin] = ["cos", "sin"].map(|name| p.input(name, dtype, [r.clone(), Dim::from(1), half.clone()]));
    let caches =
        ["k_cache", "v_cache"].map(|name| p.input(name, dtype, [t.clone(), heads.clone(), d.clone()]));
    let slots = p.filled("slots", DType::I64, [r, Dim::from(1)], Fill::Distinct(t));
    let rotated = |p: &mut Params, x: Value| -> Built {
        let low = p.b.slice_axis(x, 2, Dim::from(0), half.clone())?;
        let high = p.b.slice_axis(x, 2, half.clone(), half.clone())?;
        let part = |p: &mut Params, a: Value, b: Value, join: ScalarOp| -> Built {
            let (a, b) = (p.b.mul(a, cos)?, p.b.mul(b, sin)?);
            p.b.elementwise(join, &[a, b])
        };
        let first = part(p, low, high, ScalarOp::Sub)?;
        let second = part(p, high, low, ScalarOp::Add)?;
        p.b.concat(&[first, second], 2)
    };
    let q = rotated(p, q)?;
    let k = rotated(p, k)?;
    let k_cache = p.b.scatter_nd(caches[0], slots, k, ScatterKind::Set)?;
    let v_cache = p.b.scatter_nd(caches[1], slots, v, ScatterKind::Set)?;
    Ok(vec![q, k_cache, v_cache])
}

pub(super) fn transpose(p: &mut Params, dtype: DType) -> Built<Vec<Value>> {
    let [r, c] = ["r", "c"].map(|name| p.dim(name));
    let x = p.input("x", dtype, [r, c]);
    Ok(vec![p.b.transpose(x, &[1, 0])?])
}

pub(super) fn sum(p: &mut Params, dtype: DType) -> Built<Vec<Value>> {
    let n = p.dim("n");
    let x = p.input("x", dtype, [n]);
    Ok(vec![p.b.reduce(ScalarOp::Add, x, &[0], true)?])
}

pub(super) fn argmax(p: &mut Params, dtype: DType, columns: i64) -> Built<Vec<Value>> {
    let r = p.dim("r");
    let x = p.input("x", dtype, [r, Dim::from(columns)]);
    Ok(vec![p.b.arg_reduce(true, x, 1, false, false)?])
}

/// A draw from softmax(x) by Gumbel's trick: the largest of `x - log(-log(u))`.
pub(super) fn sample(p: &mut Params, dtype: DType, columns: i64) -> Built<Vec<Value>> {
    let r = p.dim("r");
    let shape = [r, Dim::from(columns)];
    let x = p.input("x", dtype, shape.clone());
    let u = p.positive("u", dtype, shape);
    // In 0.1 to 0.9.
    let u = p.b.with_number(ScalarOp::Mul, u, 0.4)?;
    let log = p.b.elementwise(ScalarOp::Log, &[u])?;
    let log = p.b.elementwise(ScalarOp::Neg, &[log])?;
    let log = p.b.elementwise(ScalarOp::Log, &[log])?;
    let noisy = p.b.sub(x, log)?;
    Ok(vec![p.b.arg_reduce(true, noisy, 1, false, false)?])
}
