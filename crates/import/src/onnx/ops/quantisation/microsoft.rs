//! Quantised ops of ONNX Runtime's own domain. Elementwise ones dequantise, compute and quantise; products are
//! integer products with their scales applied after; packed weights are unpacked by arithmetic on their bytes.

use super::{dynamically_quantized, integer_product};
use crate::onnx::cx::Cx;
use crate::onnx::fault::{Fault, Outcome};
use crate::onnx::node::{Node, axis_in};
use crate::onnx::table::{Row, op};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{QuantScheme, TensorOp};

pub(in crate::onnx::ops) const MICROSOFT: &[Row] = &[
    op("QuantizeLinear", super::quantize_linear),
    op("DequantizeLinear", super::dequantize_linear),
    op("QLinearAdd", |cx, node| q_linear_binary(cx, node, ScalarOp::Add)),
    op("QLinearMul", |cx, node| q_linear_binary(cx, node, ScalarOp::Mul)),
    op("QLinearSigmoid", |cx, node| q_linear_unary(cx, node, |cx, x| cx.unary(ScalarOp::Sigmoid, x))),
    op("QLinearLeakyRelu", |cx, node| {
        let alpha = node.float("alpha", 0.01);
        q_linear_unary(cx, node, |cx, x| {
            let small = cx.with_number(ScalarOp::Mul, x, alpha)?;
            let negative = cx.with_number(ScalarOp::Lt, x, 0.0)?;
            cx.select(negative, small, x)
        })
    }),
    op("QLinearGlobalAveragePool", q_linear_global_average_pool),
    op("QLinearConcat", q_linear_concat),
    op("QGemm", q_gemm),
    op("MatMulIntegerToFloat", matmul_integer_to_float),
    op("DynamicQuantizeMatMul", dynamic_quantize_matmul),
    op("MatMulNBits", matmul_n_bits),
];

/// Operands `a, b, a_scale, b_scale, a_zero, b_zero, bias`.
fn matmul_integer_to_float(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b) = (node.operand(0)?, node.operand(1)?);
    let product = integer_product(cx, a, b, node.optional(4), node.optional(5))?;
    let (a_scale, b_scale) = (node.operand(2)?, node.operand(3)?);
    Ok(vec![rescaled(cx, product, a_scale, b_scale, node.optional(6))?])
}

/// Operands `a (floats), b, b_scale, b_zero, bias`.
fn dynamic_quantize_matmul(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b, b_scale) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (a, a_scale, a_zero) = dynamically_quantized(cx, a)?;
    let product = integer_product(cx, a, b, Some(a_zero), node.optional(3))?;
    Ok(vec![rescaled(cx, product, a_scale, b_scale, node.optional(4))?])
}

fn rescaled(cx: &mut Cx, product: Value, a_scale: Value, b_scale: Value, bias: Option<Value>) -> Outcome {
    let product = cx.cast(product, cx.dtype(a_scale))?;
    let scale = cx.mul(a_scale, b_scale)?;
    let y = cx.mul(product, scale)?;
    match bias {
        Some(bias) => cx.add(y, bias),
        None => Ok(y),
    }
}

fn from_quantized(cx: &mut Cx, x: Value, scale: Value, zero: Option<Value>) -> Outcome {
    let scale = cx.reshape(scale, Shape::scalar())?;
    let zero = zero.map(|zero| cx.reshape(zero, Shape::scalar())).transpose()?;
    let scheme = QuantScheme { axis: None, block: None, storage: cx.dtype(x), zero_point: zero.is_some() };
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    cx.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands)
}

fn to_quantized(cx: &mut Cx, x: Value, scale: Value, zero: Option<Value>, storage: DType) -> Outcome {
    let scale = cx.reshape(scale, Shape::scalar())?;
    let zero = zero.map(|zero| cx.reshape(zero, Shape::scalar())).transpose()?;
    let scheme = QuantScheme { axis: None, block: None, storage, zero_point: zero.is_some() };
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    cx.emit(TensorOp::Quantize { scheme: Box::new(scheme) }, &operands)
}

/// Operands `a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero`.
fn q_linear_binary(cx: &mut Cx, node: &Node, f: ScalarOp) -> Outcome<Vec<Value>> {
    let storage = cx.dtype(node.operand(0)?);
    let a = from_quantized(cx, node.operand(0)?, node.operand(1)?, node.optional(2))?;
    let b = from_quantized(cx, node.operand(3)?, node.operand(4)?, node.optional(5))?;
    let y = cx.binary(f, a, b)?;
    Ok(vec![to_quantized(cx, y, node.operand(6)?, node.optional(7), storage)?])
}

/// Operands `x, x_scale, x_zero, y_scale, y_zero`.
fn q_linear_unary(
    cx: &mut Cx,
    node: &Node,
    f: impl FnOnce(&mut Cx, Value) -> Outcome,
) -> Outcome<Vec<Value>> {
    let storage = cx.dtype(node.operand(0)?);
    let x = from_quantized(cx, node.operand(0)?, node.operand(1)?, node.optional(2))?;
    let y = f(cx, x)?;
    Ok(vec![to_quantized(cx, y, node.operand(3)?, node.optional(4), storage)?])
}

fn q_linear_global_average_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let last = node.flag("channels_last", false);
    q_linear_unary(cx, node, |cx, x| {
        let rank = cx.rank(x);
        let axes: Vec<usize> = if last { (1..rank.saturating_sub(1)).collect() } else { (2..rank).collect() };
        cx.mean(x, &axes)
    })
}

/// Operands `y_scale, y_zero`, then `x, scale, zero` of each part.
fn q_linear_concat(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (scale, zero) = (node.operand(0)?, node.optional(1));
    let mut parts = Vec::new();
    for i in (2..node.operands.len()).step_by(3) {
        parts.push(from_quantized(cx, node.operand(i)?, node.operand(i + 1)?, node.optional(i + 2))?);
    }
    let first = *parts.first().ok_or_else(|| Fault::invalid("nothing to join"))?;
    let storage = cx.dtype(node.operand(2)?);
    let axis = axis_in(node.int("axis", 0), cx.rank(first))?;
    let joined = cx.concat(&parts, axis)?;
    Ok(vec![to_quantized(cx, joined, scale, zero, storage)?])
}

/// Operands `a, a_scale, a_zero, b, b_scale, b_zero, c?: i32, y_scale?, y_zero?`.
fn q_gemm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let turned = |cx: &mut Cx, i: usize, flag: &str| {
        let x = node.operand(i)?;
        if node.flag(flag, false) { cx.transpose_matrix(x) } else { Ok(x) }
    };
    let (a, b) = (turned(cx, 0, "transA")?, turned(cx, 3, "transB")?);
    let mut product = integer_product(cx, a, b, node.optional(2), node.optional(5))?;
    if let Some(bias) = node.optional(6) {
        product = cx.add(product, bias)?;
    }
    let mut y = rescaled(cx, product, node.operand(1)?, node.operand(4)?, None)?;
    let alpha = node.float("alpha", 1.0);
    if alpha != 1.0 {
        y = cx.with_number(ScalarOp::Mul, y, alpha)?;
    }
    match node.optional(7) {
        Some(scale) => {
            let storage = cx.dtype(node.operand(0)?);
            Ok(vec![to_quantized(cx, y, scale, node.optional(8), storage)?])
        }
        None => Ok(vec![y]),
    }
}

/// `a: [..., K]` by 4-bit or 8-bit weights `[N, blocks, bytes]`, scales `[N * blocks]`, zero points packed alike.
fn matmul_n_bits(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b, scales) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (k, n) = (node.int("K", 0), node.int("N", 0));
    let (bits, block) = (node.int("bits", 4), node.int("block_size", 32));
    let bounded = [k, n, block].iter().all(|size| (1..1 << 31).contains(size));
    if !bounded || !matches!(bits, 4 | 8) || node.optional(4).is_some() {
        return Err(Fault::unsupported(format!("{bits}-bit weights {k} by {n} in blocks of {block}")));
    }
    let blocks = (k + block - 1) / block;
    let dtype = cx.dtype(a);
    let stored = nibbles(cx, b, bits, n, blocks * block)?;
    let stored = cx.reshape(stored, [n, blocks, block])?;
    let zero = match node.optional(3) {
        Some(zero) if cx.dtype(zero) == DType::U8 => {
            let zero = nibbles(cx, zero, bits, n, blocks)?;
            let zero = cx.reshape(zero, [n, blocks, 1])?;
            cx.cast(zero, dtype)?
        }
        Some(zero) => cx.reshape(zero, [n, blocks, 1])?,
        None => cx.splat(dtype, [1i64, 1, 1], (1i64 << (bits - 1)) as f64)?,
    };
    let wide = cx.cast(stored, dtype)?;
    let centred = cx.sub(wide, zero)?;
    let scales = cx.reshape(scales, [n, blocks, 1])?;
    let weights = cx.mul(centred, scales)?;
    let weights = cx.reshape(weights, [n, blocks * block])?;
    let weights = cx.slice_axis(weights, 1, Dim::from(0), Dim::from(k))?;
    let weights = cx.transpose(weights, &[1, 0])?;
    let y = cx.matmul(a, weights, dtype)?;
    Ok(vec![match node.optional(5) {
        Some(bias) => cx.add(y, bias)?,
        None => y,
    }])
}

/// `count` numbers a row from bytes, low half first.
fn nibbles(cx: &mut Cx, packed: Value, bits: i64, rows: i64, count: i64) -> Outcome {
    let total = cx.shape(packed).count();
    if bits == 8 {
        return cx.reshape(packed, [rows, count]);
    }
    let bytes = cx.reshape(packed, [Dim::from(rows), total.floor_div(&Dim::from(rows)), Dim::from(1)])?;
    let low = cx.with_number(ScalarOp::And, bytes, 15.0)?;
    let high = cx.with_number(ScalarOp::ShiftRight, bytes, 4.0)?;
    let both = cx.concat(&[low, high], 2)?;
    let wide = cx.shape(both).count().floor_div(&Dim::from(rows));
    let flat = cx.reshape(both, [Dim::from(rows), wide])?;
    cx.slice_axis(flat, 1, Dim::from(0), Dim::from(count))
}
