//! Composites on floats: softmax, norms, GELU, attention, recurrent layers.

use super::Gen;
use crate::random::data::Values;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_ir::attr::F64;
use tegula_tensor::build::Built;
use tegula_tensor::{Direction, TensorOp};

pub fn softmax(g: &mut Gen) -> Built<()> {
    let x = g.any_float(1);
    let rank = g.b.rank(x.value);
    let axis = if g.rng.chance(60) { rank - 1 } else { g.rng.below(rank) };
    let log = g.rng.chance(40);
    g.push(TensorOp::Softmax { axis, log }, &[x.value], false).map(|_| ())
}

/// Operands of a norm: x, and its scale and bias over the axes from `axis` on.
fn norm(g: &mut Gen, most: usize) -> (Vec<Value>, usize) {
    let x = g.any_float(1);
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let rank = shape.rank();
    let axis = if g.rng.chance(70) { rank - 1 } else { g.rng.below(rank) };
    let inner = Shape::from(&shape[axis..]);
    let mut operands = vec![x.value];
    for _ in 1..most {
        operands.push(g.like(dtype, &inner, Values::Ordinary).value);
    }
    (operands, axis)
}

pub fn layer_norm(g: &mut Gen) -> Built<()> {
    let most = 2 + g.rng.below(2);
    let (operands, axis) = norm(g, most);
    let eps = F64(g.rng.pick(&[1e-5, 1e-12, 1e-3]));
    g.push(TensorOp::LayerNorm { axis, eps }, &operands, false).map(|_| ())
}

pub fn rms_norm(g: &mut Gen) -> Built<()> {
    let (operands, axis) = norm(g, 2);
    let eps = F64(g.rng.pick(&[1e-5, 1e-6]));
    g.push(TensorOp::RmsNorm { axis, eps }, &operands, false).map(|_| ())
}

pub fn gelu(g: &mut Gen) -> Built<()> {
    let x = g.any_float(0);
    let tanh = g.rng.chance(50);
    g.push(TensorOp::Gelu { tanh }, &[x.value], false).map(|_| ())
}

pub fn attention(g: &mut Gen) -> Built<()> {
    let dtype = g.float();
    let [b, groups, repeats] = [2, 3, 2].map(|most| g.small(most));
    let heads = groups * repeats;
    // Fewer keys than some ninety are no kernel of attention on processors.
    let s = if g.rng.chance(30) { 90 + g.count(70) } else { g.count(40) };
    let causal = g.rng.chance(40);
    // Every row of a causal one sees something.
    let l = if causal { g.count(s) } else { g.size(20) };
    let (d, e) = (g.small(20), g.small(20));
    let shape = |dims: [i64; 4]| Shape::from(dims.map(Dim::from));
    let q = heads_of(g, dtype, [b, heads, l, d])?;
    let k = heads_of(g, dtype, [b, groups, s, d])?;
    let v = match g.rng.chance(50) {
        true => g.like(dtype, &shape([b, groups, s, e]), Values::Ordinary).value,
        false => heads_of(g, dtype, [b, groups, s, e])?,
    };
    let mut operands = vec![q, k, v];
    if g.rng.chance(40) {
        let one_of = |g: &mut Gen, n| if g.rng.chance(50) { 1 } else { n };
        let dims = [one_of(g, b), one_of(g, heads), one_of(g, l), s];
        operands.push(g.like(dtype, &shape(dims), Values::Ordinary).value);
    }
    let softcap = F64(if g.rng.chance(25) { 20.0 } else { 0.0 });
    let window = if g.rng.chance(25) { g.small(9) } else { 0 };
    let scale = F64(1.0 / (d as f64).sqrt());
    let heads = g.push(TensorOp::Attention { scale, causal, window, softcap }, &operands, false)?;
    if g.rng.chance(50) {
        g.push(TensorOp::Transpose { perm: vec![0, 2, 1, 3] }, &heads, false)?;
    }
    Ok(())
}

/// `[batch, heads, rows, elements]`, as models come by them: as they are, heads of a row side by side, those next to other
/// heads, one of several parts, and some of more rows.
fn heads_of(g: &mut Gen, dtype: DType, [b, heads, rows, d]: [i64; 4]) -> Built<Value> {
    let fresh = |g: &mut Gen, dims: &[i64]| g.fresh(dtype, Shape::from(dims), Values::Ordinary);
    let apply = |g: &mut Gen, op: TensorOp, x: Value| Ok::<Value, String>(g.push(op, &[x], false)?[0]);
    let reshape = |dims: &[i64]| TensorOp::Reshape { shape: Shape::from(dims) };
    let slice = |axis: usize, start: i64, dims: &[i64]| {
        let mut starts = vec![Dim::from(0); dims.len()];
        starts[axis] = Dim::from(start);
        let sizes = dims.iter().map(|n| Dim::from(*n)).collect();
        TensorOp::Slice { starts, sizes, steps: vec![1; dims.len()] }
    };
    let (before, after) = (g.rng.below(3) as i64, g.rng.below(3) as i64);
    let x = match g.rng.below(5) {
        0 => return Ok(fresh(g, &[b, heads, rows, d])),
        1 => fresh(g, &[b, rows, heads, d]),
        2 => {
            let x = fresh(g, &[b, rows, (before + heads + after) * d]);
            let x = apply(g, slice(2, before * d, &[b, rows, heads * d]), x)?;
            apply(g, reshape(&[b, rows, heads, d]), x)?
        }
        3 => {
            let x = fresh(g, &[b, rows, before + 1 + after, heads, d]);
            let x = apply(g, TensorOp::Transpose { perm: vec![2, 0, 3, 1, 4] }, x)?;
            let x = apply(g, slice(0, before, &[1, b, heads, rows, d]), x)?;
            return apply(g, reshape(&[b, heads, rows, d]), x);
        }
        _ => {
            let x = fresh(g, &[b, before + rows + after, heads, d]);
            apply(g, slice(1, before, &[b, rows, heads, d]), x)?
        }
    };
    apply(g, TensorOp::Transpose { perm: vec![0, 2, 1, 3] }, x)
}

/// Operands of a layer with `gates` gates, up to `h0`; and its hidden size, batch and type by the last.
fn layer(g: &mut Gen, gates: i64) -> (Vec<Value>, i64, i64) {
    let dtype = if g.rng.chance(70) { DType::F32 } else { g.float() };
    let (s, b) = (g.size(6), g.small(3));
    let (i, h) = (g.small(17), g.small(17));
    let mut one = |dims: &[i64]| g.fresh(dtype, Shape::from(dims), Values::Ordinary);
    let operands = vec![
        one(&[s, b, i]),
        one(&[gates * h, i]),
        one(&[gates * h, h]),
        one(&[2 * gates * h]),
        one(&[b, h]),
    ];
    (operands, b, h)
}

fn direction(g: &mut Gen) -> Direction {
    g.rng.pick(&[Direction::Forward, Direction::Reverse])
}

pub fn lstm(g: &mut Gen) -> Built<()> {
    let (mut operands, b, h) = layer(g, 4);
    let dtype = g.b.dtype(operands[0]);
    operands.push(g.fresh(dtype, Shape::from([b, h]), Values::Ordinary));
    if g.rng.chance(30) {
        operands.push(g.fresh(dtype, Shape::from([3 * h]), Values::Ordinary));
    }
    let direction = direction(g);
    let rounded = g.rng.chance(30);
    g.push(TensorOp::Lstm { direction, rounded }, &operands, false).map(|_| ())
}

pub fn gru(g: &mut Gen) -> Built<()> {
    let (operands, ..) = layer(g, 3);
    let direction = direction(g);
    let linear_before_reset = g.rng.chance(50);
    g.push(TensorOp::Gru { direction, linear_before_reset }, &operands, false).map(|_| ())
}
