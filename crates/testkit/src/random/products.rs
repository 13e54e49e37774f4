//! Random products of matrices with what is fused to them: sizes with and without tails, every type that tensor cores
//! take, either order of the right side's axes, batches, epilogues; right sides stored in 8 or 4 bits, and bytes with a
//! scale a block (`products/stored.rs`). Some have few tiles and a long contraction, some are attention of few queries
//! over many keys: what targets split.

mod stored;

use super::build::Gen;
use super::data::Values;
use super::generator::{Case, Choices, case_of};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, TensorOp};

/// Multiply-adds of a product at most.
const MAX_WORK: i64 = 3_000_000;

/// Operands' and result's types, and how often.
const TYPES: [(u64, (DType, DType)); 8] = [
    (5, (DType::BF16, DType::BF16)),
    (5, (DType::F16, DType::F16)),
    (3, (DType::BF16, DType::F32)),
    (3, (DType::F16, DType::F32)),
    (4, (DType::F32, DType::F32)),
    (2, (DType::I8, DType::I32)),
    (1, (DType::U8, DType::I32)),
    (1, (DType::F8E4M3FN, DType::F32)),
];

/// A program of one product, by its seed.
pub fn product(seed: u64) -> Case {
    // Types that have no product leave an empty program; others are drawn.
    let fill = |g: &mut Gen, _| {
        let build =
            g.rng.weighted(&[(70, multiply as fn(&mut Gen) -> Built<()>), (15, multiply_long), (15, attend)]);
        while build(g).is_err() {}
    };
    let case = case_of(seed, &Choices::default(), fill);
    Case { choices: None, ..case }
}

fn multiply(g: &mut Gen) -> Built<()> {
    let batch = g.rng.weighted(&[(75, None), (15, Some(2)), (10, Some(3))]);
    let (m, n) = (extent(g, 280), extent(g, 280));
    let k = extent(g, (MAX_WORK / (m * n)).clamp(1, 400));
    product_of(g, batch, [m, n, k])
}

/// One tile or two.
fn multiply_long(g: &mut Gen) -> Built<()> {
    let batch = g.rng.weighted(&[(85, None), (15, Some(2))]);
    let (m, n) = (g.rng.between(1, 70), extent(g, 150));
    let most = 2 * MAX_WORK / (m.max(16) * n.max(16));
    let k = match g.rng.below(4) {
        0 => g.rng.between(512, most.clamp(600, 9000)),
        _ => 16 * g.rng.between(32, (most / 16).clamp(48, 560)),
    };
    product_of(g, batch, [m, n, k])
}

/// Few queries over many keys.
fn attend(g: &mut Gen) -> Built<()> {
    let dtype = g.rng.weighted(&[(5, DType::BF16), (4, DType::F16), (1, DType::F32)]);
    let (b, groups, repeats) = (g.rng.between(1, 2), g.rng.between(1, 2), g.rng.pick(&[1, 1, 2, 4]));
    let (l, s) = (g.rng.pick(&[1, 1, 2, 5, 17]), g.rng.between(200, 1400));
    let (d, e) = match g.rng.below(4) {
        0 => (16 * g.rng.between(1, 6), 8 * g.rng.between(1, 12)),
        _ => (64, 64),
    };
    let shape = |dims: [i64; 4]| Shape::from(dims.map(Dim::from));
    let q = g.fresh(dtype, shape([b, groups * repeats, l, d]), Values::Ordinary);
    let k = g.fresh(dtype, shape([b, groups, s, d]), Values::Ordinary);
    let v = g.fresh(dtype, shape([b, groups, s, e]), Values::Ordinary);
    let mut operands = vec![q, k, v];
    if g.rng.chance(25) {
        let heads = g.rng.pick(&[1, groups * repeats]);
        operands.push(g.fresh(dtype, shape([b, heads, l, s]), Values::Ordinary));
    }
    let softcap = F64(if g.rng.chance(20) { 20.0 } else { 0.0 });
    let window = if g.rng.chance(20) { g.rng.between(1, 900) } else { 0 };
    let (scale, causal) = (F64(1.0 / (d as f64).sqrt()), g.rng.chance(40));
    g.push(TensorOp::Attention { scale, causal, window, softcap }, &operands, false).map(|_| ())
}

fn product_of(g: &mut Gen, batch: Option<i64>, [m, n, k]: [i64; 3]) -> Built<()> {
    let (dtype, out) = g.rng.weighted(&TYPES);
    let dims = |sizes: [i64; 2]| -> Shape {
        batch.iter().chain(&sizes).map(|size| Dim::from(*size)).collect::<Vec<Dim>>().into()
    };
    let stored = g.rng.chance(35);
    let (turned, a, b) = match dtype {
        DType::BF16 | DType::F16 if stored => {
            let (k, b) = stored::unpacked(g, dtype, &dims, n, k)?;
            (true, g.fresh(dtype, dims([m, k]), Values::Ordinary), b)
        }
        DType::F32 if stored && batch.is_none() => {
            let (a, b) = stored::block_scaled(g, [m, n, k])?;
            (true, a, b)
        }
        _ => {
            let turned = g.rng.chance(50);
            let a = g.fresh(dtype, dims([m, k]), Values::Ordinary);
            (turned, a, g.fresh(dtype, dims(if turned { [n, k] } else { [k, n] }), Values::Ordinary))
        }
    };
    let first = usize::from(batch.is_some());
    let axes: Vec<usize> = (0..first).collect();
    let dot = DotDims {
        lhs_batch: axes.clone(),
        rhs_batch: axes,
        lhs_contract: vec![first + 1],
        rhs_contract: vec![if turned { first + 1 } else { first }],
    };
    let exact = !dtype.is_float();
    let mut y = g.push(TensorOp::dot(dot, out), &[a, b], exact)?[0];
    for _ in 0..g.rng.below(4) {
        y = step(g, y, exact)?;
    }
    Ok(())
}

/// Mostly what the copy engine takes: rows of a multiple of 16 bytes.
fn extent(g: &mut Gen, most: i64) -> i64 {
    match g.rng.below(10) {
        0..=4 => (16 * g.rng.between(1, 16)).min(most),
        5 | 6 => g.rng.pick(&[64, 128, 256]).min(most),
        _ => g.rng.between(1, most.min(150)),
    }
}

/// One step of an epilogue.
fn step(g: &mut Gen, y: Value, exact: bool) -> Built<Value> {
    let (dtype, shape) = (g.b.dtype(y), g.b.shape(y));
    let row: Shape = (0..shape.rank())
        .map(|axis| if axis + 1 == shape.rank() { shape[axis].clone() } else { Dim::from(1) })
        .collect::<Vec<Dim>>()
        .into();
    let with = |g: &mut Gen, f: ScalarOp, other: Shape| {
        let other = g.fresh(dtype, other, Values::Ordinary);
        g.push(TensorOp::Elementwise { f }, &[y, other], exact)
    };
    let results = match g.rng.below(6) {
        // Bias, residual, gate, floor.
        0 | 1 => with(g, ScalarOp::Add, row),
        2 => with(g, ScalarOp::Add, shape),
        3 => with(g, ScalarOp::Mul, shape),
        4 => with(g, ScalarOp::Max, row),
        _ if dtype.is_float() => {
            let f = g.rng.pick(&[ScalarOp::Sigmoid, ScalarOp::Tanh, ScalarOp::Abs]);
            g.push(TensorOp::Elementwise { f }, &[y], false)
        }
        _ => with(g, ScalarOp::Add, row),
    };
    Ok(results?[0])
}
