//! Products of integers of ONNX Runtime's own domain: sums in `i32` with their scales applied after.

use super::q_linear::to_quantized;
use super::{dynamically_quantized, integer_product};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::Outcome;
use tegula_ir::{ScalarOp, Value};

pub(in crate::onnx::ops) const MICROSOFT: &[Row] = &[
    op("QuantizeLinear", super::quantize_linear),
    op("DequantizeLinear", super::dequantize_linear),
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
    let product = cx.cast_like(product, a_scale)?;
    let scale = cx.mul(a_scale, b_scale)?;
    let y = cx.mul(product, scale)?;
    match bias {
        Some(bias) => cx.add(y, bias),
        None => Ok(y),
    }
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
