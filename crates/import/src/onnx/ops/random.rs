//! Random numbers: RandomUniform, RandomNormal and those Like another tensor, Bernoulli, Multinomial, Dropout in training.
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011),
//! a function of a counter and a key and so nothing but elementwise integer ops: every executor gives the same bits.
//! Which counters and keys a node has, and how words become numbers, is told in `docs/numerics.md`.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op("RandomUniform", |cx, node| {
        let (dtype, shape) = attribute_type(node)?;
        Ok(vec![uniform_between(cx, node, dtype, shape)?])
    }),
    op("RandomUniformLike", |cx, node| {
        let (dtype, shape) = type_like(cx, node)?;
        Ok(vec![uniform_between(cx, node, dtype, shape)?])
    }),
    op("RandomNormal", |cx, node| {
        let (dtype, shape) = attribute_type(node)?;
        Ok(vec![normal_around(cx, node, dtype, shape)?])
    }),
    op("RandomNormalLike", |cx, node| {
        let (dtype, shape) = type_like(cx, node)?;
        Ok(vec![normal_around(cx, node, dtype, shape)?])
    }),
    op("Bernoulli", bernoulli),
    op("Multinomial", multinomial),
    op("Dropout", dropout),
];

/// The key's first word where a node has no seed; the second counts such nodes.
const UNSEEDED: u32 = 0x7465_6775;

const MULTIPLIERS: [i64; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What the key grows by from round to round (the golden ratio, and the root of 3 less 1).
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;
const WORD: i64 = 0xffff_ffff;

fn attribute_type(node: &Node) -> Outcome<(DType, Shape)> {
    let shape = node.ints("shape").ok_or_else(|| Fault::invalid("attribute `shape` is missing"))?;
    if shape.iter().any(|n| *n < 0) {
        return Err(Fault::invalid(format!("shape {shape:?} must not be negative")));
    }
    let dtype = node.element_type("dtype")?.unwrap_or(DType::F32);
    Ok((dtype, Shape::from_iter(shape)))
}

fn type_like(cx: &Cx, node: &Node) -> Outcome<(DType, Shape)> {
    let x = node.operand(0)?;
    Ok((node.element_type("dtype")?.unwrap_or(cx.dtype(x)), cx.shape(x)))
}

fn expect_float(dtype: DType) -> Outcome<()> {
    if dtype.is_float() { Ok(()) } else { Err(Fault::from(format!("floats are expected, not {dtype}"))) }
}

/// The key of a node: the bits of its seed and 0, or what tells nodes without one apart.
fn key(cx: &mut Cx, node: &Node) -> [u32; 2] {
    // A seed of 0 is one, too.
    match node.optional_float("seed") {
        Some(seed) => [(seed as f32).to_bits(), 0],
        None => unseeded(cx),
    }
}

fn unseeded(cx: &mut Cx) -> [u32; 2] {
    cx.n_unseeded += 1;
    [UNSEEDED, cx.n_unseeded]
}

/// `count` words of 32 bits, each as `u64`. `per_element` words belong together: `[count, per_element]`.
fn words(cx: &mut Cx, key: [u32; 2], count: &Dim, per_element: i64) -> Outcome {
    let needed = count.clone() * Dim::from(per_element);
    let blocks = needed.ceil_div(&Dim::from(4));
    let block = cx.iota(DType::U64, [blocks.clone(), Dim::from(1)], 0)?;
    let rounds: Vec<Value> = cx.iterations.iter().rev().take(2).copied().collect();
    let mut counter =
        [low(cx, block)?, high(cx, block)?, cx.number_like(block, 0.0)?, cx.number_like(block, 0.0)?];
    for (word, round) in counter[2..].iter_mut().zip(rounds) {
        let round = cx.cast(round, DType::U64)?;
        let round = cx.reshape(round, [1i64, 1])?;
        *word = low(cx, round)?;
    }
    let mut key = key;
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
        }
        let product = |cx: &mut Cx, word: Value, by: i64| {
            let by = cx.splat_int(DType::U64, Shape::from([1, 1]), by)?;
            cx.mul(word, by)
        };
        let (first, second) =
            (product(cx, counter[0], MULTIPLIERS[0])?, product(cx, counter[2], MULTIPLIERS[1])?);
        let mixed = |cx: &mut Cx, product: Value, word: Value, key: u32| {
            let upper = high(cx, product)?;
            let upper = cx.binary(ScalarOp::Xor, upper, word)?;
            let key = cx.splat_int(DType::U64, Shape::from([1, 1]), i64::from(key))?;
            cx.binary(ScalarOp::Xor, upper, key)
        };
        counter = [
            mixed(cx, second, counter[1], key[0])?,
            low(cx, second)?,
            mixed(cx, first, counter[3], key[1])?,
            low(cx, first)?,
        ];
    }
    let full: Shape = [blocks.clone(), Dim::from(1)].into_iter().collect();
    let words: Vec<Value> =
        counter.into_iter().map(|word| cx.broadcast_to(word, &full)).collect::<Outcome<_>>()?;
    let words = cx.concat(&words, 1)?;
    let words = cx.reshape(words, [blocks * Dim::from(4)])?;
    let words = cx.slice_axis(words, 0, Dim::from(0), needed)?;
    cx.reshape(words, [count.clone(), Dim::from(per_element)])
}

fn low(cx: &mut Cx, x: Value) -> Outcome {
    let mask = cx.splat_int(DType::U64, Shape::from([1, 1]), WORD)?;
    cx.binary(ScalarOp::And, x, mask)
}

fn high(cx: &mut Cx, x: Value) -> Outcome {
    shifted(cx, ScalarOp::ShiftRight, x, 32)
}

fn shifted(cx: &mut Cx, f: ScalarOp, x: Value, by: i64) -> Outcome {
    let (dtype, ones) = (cx.dtype(x), Shape::from_iter(vec![1i64; cx.rank(x)]));
    let by = cx.splat_int(dtype, ones, by)?;
    cx.binary(f, x, by)
}

/// Numbers of `[0, 1)`, `f64` with 53 bits or `f32` with 24.
fn uniform(cx: &mut Cx, key: [u32; 2], wide: DType, shape: &Shape) -> Outcome {
    let count = shape.count();
    let (whole, bits) = if wide == DType::F64 {
        let words = words(cx, key, &count, 2)?;
        let upper = cx.slice_axis(words, 1, Dim::from(0), Dim::from(1))?;
        let upper = shifted(cx, ScalarOp::ShiftLeft, upper, 32)?;
        let lower = cx.slice_axis(words, 1, Dim::from(1), Dim::from(1))?;
        let both = cx.binary(ScalarOp::Or, upper, lower)?;
        (shifted(cx, ScalarOp::ShiftRight, both, 64 - 53)?, 53)
    } else {
        let words = words(cx, key, &count, 1)?;
        (shifted(cx, ScalarOp::ShiftRight, words, 32 - 24)?, 24)
    };
    let number = cx.cast(whole, wide)?;
    let number = cx.with_number(ScalarOp::Mul, number, 0.5f64.powi(bits))?;
    cx.reshape(number, shape.clone())
}

/// The type that numbers are made in.
fn wide_of(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

fn uniform_between(cx: &mut Cx, node: &Node, dtype: DType, shape: Shape) -> Outcome {
    expect_float(dtype)?;
    let (from, to) = (node.float("low", 0.0), node.float("high", 1.0));
    let key = key(cx, node);
    let y = uniform(cx, key, wide_of(dtype), &shape)?;
    let y = if to - from == 1.0 { y } else { cx.with_number(ScalarOp::Mul, y, to - from)? };
    let y = if from == 0.0 { y } else { cx.with_number(ScalarOp::Add, y, from)? };
    cx.cast(y, dtype)
}

fn normal_around(cx: &mut Cx, node: &Node, dtype: DType, shape: Shape) -> Outcome {
    expect_float(dtype)?;
    let key = key(cx, node);
    let words = words(cx, key, &shape.count(), 1)?;
    // 2^23 numbers between 0 and 1, none of them either.
    let whole = shifted(cx, ScalarOp::ShiftRight, words, 32 - 23)?;
    let whole = cx.cast(whole, DType::F32)?;
    let whole = cx.with_number(ScalarOp::Add, whole, 0.5)?;
    let probability = cx.with_number(ScalarOp::Mul, whole, 0.5f64.powi(23))?;
    let y = normal_quantile(cx, probability)?;
    let y = cx.reshape(y, shape)?;
    let y = cx.cast(y, wide_of(dtype))?;
    let y = cx.with_number(ScalarOp::Mul, y, node.float("scale", 1.0))?;
    let y = cx.with_number(ScalarOp::Add, y, node.float("mean", 0.0))?;
    cx.cast(y, dtype)
}

/// Where the normal distribution reaches a probability of `(0, 1)`: PPND7 of Wichura's AS 241 (1988), with a logarithm of
/// exact steps so that all executors agree.
fn normal_quantile(cx: &mut Cx, probability: Value) -> Outcome {
    const NEAR: [&[f64]; 2] = [
        &[3.387_132_717_9, 50.434_271_938, 159.291_132_02, 59.109_374_72],
        &[1.0, 17.895_169_469, 78.757_757_664, 67.187_563_6],
    ];
    const FAR: [&[f64]; 2] = [
        &[1.423_437_277_7, 2.756_815_39, 1.306_728_481_6, 0.170_238_211_03],
        &[1.0, 0.737_001_642_5, 0.120_211_329_75],
    ];
    let ratio = |cx: &mut Cx, [above, below]: [&[f64]; 2], x: Value| {
        let (above, below) = (cx.polynomial(x, above)?, cx.polynomial(x, below)?);
        cx.div(above, below)
    };
    let off = cx.with_number(ScalarOp::Sub, probability, 0.5)?;
    let square = cx.mul(off, off)?;
    let near = cx.number_with(ScalarOp::Sub, 0.180_625, square)?;
    let near = ratio(cx, NEAR, near)?;
    let near = cx.mul(off, near)?;
    let other = cx.number_with(ScalarOp::Sub, 1.0, probability)?;
    let tail = cx.binary(ScalarOp::Min, probability, other)?;
    let log = exact_log(cx, tail)?;
    let log = cx.unary(ScalarOp::Neg, log)?;
    let root = cx.unary(ScalarOp::Sqrt, log)?;
    let far = cx.with_number(ScalarOp::Sub, root, 1.6)?;
    let far = ratio(cx, FAR, far)?;
    let below = cx.with_number(ScalarOp::Lt, off, 0.0)?;
    let mirrored = cx.unary(ScalarOp::Neg, far)?;
    let far = cx.select(below, mirrored, far)?;
    let size = cx.unary(ScalarOp::Abs, off)?;
    let is_near = cx.with_number(ScalarOp::Le, size, 0.425)?;
    cx.select(is_near, near, far)
}

/// The logarithm of normal `f32` numbers by additions, products and one division: `x = 2^e m`, `log m = 2 atanh s` with
/// `s = (m - 1) / (m + 1)` below 1/3.
fn exact_log(cx: &mut Cx, x: Value) -> Outcome {
    let bits = cx.unary(ScalarOp::Bitcast { to: DType::I32 }, x)?;
    let number = |cx: &mut Cx, f: ScalarOp, x: Value, n: i64| {
        let rank = cx.rank(x);
        let n = cx.splat_int(DType::I32, Shape::from_iter(vec![1i64; rank]), n)?;
        cx.binary(f, x, n)
    };
    let exponent = number(cx, ScalarOp::ShiftRight, bits, 23)?;
    let exponent = number(cx, ScalarOp::Sub, exponent, 127)?;
    let exponent = cx.cast(exponent, DType::F32)?;
    let mantissa = number(cx, ScalarOp::And, bits, 0x007f_ffff)?;
    let mantissa = number(cx, ScalarOp::Or, mantissa, 0x3f80_0000)?;
    let mantissa = cx.unary(ScalarOp::Bitcast { to: DType::F32 }, mantissa)?;
    let above = cx.with_number(ScalarOp::Sub, mantissa, 1.0)?;
    let below = cx.with_number(ScalarOp::Add, mantissa, 1.0)?;
    let s = cx.div(above, below)?;
    let square = cx.mul(s, s)?;
    let odd: Vec<f64> = (0..7).map(|i| 2.0 / f64::from(2 * i + 1)).collect();
    let series = cx.polynomial(square, &odd)?;
    let log = cx.mul(s, series)?;
    let whole = cx.with_number(ScalarOp::Mul, exponent, std::f64::consts::LN_2)?;
    cx.add(whole, log)
}

/// 1 with the probability that each element is, else 0.
fn bernoulli(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    expect_float(cx.dtype(x))?;
    let dtype = node.element_type("dtype")?.unwrap_or(cx.dtype(x));
    let (key, wide, shape) = (key(cx, node), wide_of(cx.dtype(x)), cx.shape(x));
    let probability = cx.cast(x, wide)?;
    let drawn = uniform(cx, key, wide, &shape)?;
    let hit = cx.binary(ScalarOp::Lt, drawn, probability)?;
    Ok(vec![cx.cast(hit, dtype)?])
}

/// `[B,C]` of logarithms of weights to `[B,sample_size]` of classes.
fn multinomial(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    cx.expect_rank(x, 2, "logarithms of weights [B,C]")?;
    expect_float(cx.dtype(x))?;
    let samples = node.int("sample_size", 1);
    if samples < 0 {
        return Err(Fault::invalid(format!("sample_size is {samples}, but must not be negative")));
    }
    let dtype = node.element_type("dtype")?.unwrap_or(DType::I32);
    let key = key(cx, node);
    let (wide, classes) = (wide_of(cx.dtype(x)), cx.dim(x, 1));
    let x = cx.cast(x, wide)?;
    let most = cx.reduce(ScalarOp::Max, x, &[1], true)?;
    let x = cx.sub(x, most)?;
    let weights = cx.unary(ScalarOp::Exp, x)?;
    let kind = tegula_tensor::TensorOp::Scan { f: ScalarOp::Add, axis: 1, exclusive: false, reverse: false };
    let reached = cx.emit(kind, &[weights])?;
    let whole = cx.slice_axis(reached, 1, classes.clone() - Dim::from(1), Dim::from(1))?;
    let shape: Shape = [cx.dim(x, 0), Dim::from(samples)].into_iter().collect();
    let drawn = uniform(cx, key, wide, &shape)?;
    let place = cx.mul(drawn, whole)?;
    // The class is the number of those that end before the place.
    let (place, reached) = (cx.add_axes(place, &[2])?, cx.add_axes(reached, &[1])?);
    let passed = cx.binary(ScalarOp::Le, reached, place)?;
    let passed = cx.cast(passed, DType::I64)?;
    let class = cx.reduce(ScalarOp::Add, passed, &[2], false)?;
    let last = cx.size_as(classes - Dim::from(1), DType::I64, 2)?;
    let class = cx.binary(ScalarOp::Min, class, last)?;
    Ok(vec![cx.cast(class, dtype)?])
}

/// In inference nothing drops out; the mask is all true (in opsets before 10: all one).
fn dropout(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    if node.version < 7 && !node.flag("is_test", false) {
        return Err(Fault::unsupported("before opset 7 only `is_test` 1 is supported: 0 is training"));
    }
    let mask_dtype = if node.version < 10 { cx.dtype(x) } else { DType::Bool };
    let training = node.optional(2);
    let known = training.map(|training| cx.known_bool(training));
    let Some(training) = training.filter(|_| known != Some(Some(false))) else {
        let mut results = vec![x];
        if node.wants(1) {
            let shape = cx.shape(x);
            results.push(cx.splat_int(mask_dtype, shape, 1)?);
        }
        return Ok(results);
    };
    let wide = wide_of(cx.dtype(x));
    let rank = cx.rank(x);
    let ones = Shape::from_iter(vec![1i64; rank]);
    let ratio = match node.optional(1) {
        Some(ratio) => {
            let ratio = cx.cast(ratio, wide)?;
            cx.reshape(ratio, ones.clone())?
        }
        None => cx.splat(wide, ones.clone(), 0.5)?,
    };
    let key = match node.optional_int("seed") {
        Some(seed) => [seed as u32, (seed >> 32) as u32],
        None => unseeded(cx),
    };
    let drawn = uniform(cx, key, wide, &cx.shape(x))?;
    let mut mask = cx.binary(ScalarOp::Ge, drawn, ratio)?;
    let kept = cx.number_with(ScalarOp::Sub, 1.0, ratio)?;
    let mut scale = cx.unary(ScalarOp::Reciprocal, kept)?;
    if known != Some(Some(true)) {
        let training = cx.reshape(training, ones)?;
        let still = cx.unary(ScalarOp::Not, training)?;
        mask = cx.binary(ScalarOp::Or, mask, still)?;
        let one = cx.number_like(scale, 1.0)?;
        scale = cx.select(training, scale, one)?;
    }
    let widened = cx.cast(x, wide)?;
    let scaled = cx.mul(widened, scale)?;
    let zero = cx.number_like(scaled, 0.0)?;
    let y = cx.select(mask, scaled, zero)?;
    Ok(vec![cx.cast_like(y, x)?, cx.cast(mask, mask_dtype)?])
}
