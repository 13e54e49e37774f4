//! Quantised ops of ONNX Runtime's own domain. Elementwise ones dequantise, compute and quantise; products are
//! integer products with their scales applied after; packed weights are unpacked by arithmetic on their bytes.

use super::{dynamically_quantized, integer_product};
use crate::onnx::cx::Cx;
use crate::onnx::fault::{Fault, Outcome};
use crate::onnx::node::{Node, axis_in};
use crate::onnx::table::{Row, op};
use tegula_base::{DType, Shape};
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
