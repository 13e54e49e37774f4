//! The QLinear ops of ONNX Runtime's own domain: 8-bit operands with a scale and a zero point each, and a result of the
//! same storage. Most dequantise, compute in floats and quantise; sums and products round as ONNX Runtime's do, which
//! fold the scales to one factor an operand and the zero points to one number.

use super::super::pooling::average;
use crate::build::{axes_in, axis_in};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{QuantScheme, TensorOp};

pub(in crate::onnx::ops) const ROWS: &[Row] = &[
    op("QLinearAdd", q_linear_add),
    op("QLinearMul", q_linear_mul),
    op("QLinearSigmoid", |cx, node| unary(cx, node, |cx, x| cx.unary(ScalarOp::Sigmoid, x))),
    op("QLinearLeakyRelu", |cx, node| {
        let alpha = node.float("alpha", 0.01);
        unary(cx, node, |cx, x| cx.activated(x, "LeakyRelu", &[alpha]))
    }),
    op("QLinearAveragePool", |cx, node| {
        let last = node.flag("channels_last", false);
        unary(cx, node, |cx, x| with_channels_first(cx, x, last, |cx, x| average(cx, node, x)))
    }),
    op("QLinearGlobalAveragePool", |cx, node| {
        let last = node.flag("channels_last", false);
        unary(cx, node, |cx, x| {
            let rank = cx.rank(x);
            let first = if last { 1 } else { 2 };
            let axes: Vec<usize> = (first..(first + rank.saturating_sub(2)).min(rank)).collect();
            cx.mean(x, &axes)
        })
    }),
    op("QLinearReduceMean", |cx, node| {
        let keep = node.flag("keepdims", true);
        unary(cx, node, |cx, x| {
            let axes = match node.ints("axes") {
                Some(axes) => axes_in(&axes, cx.rank(x))?,
                None => (0..cx.rank(x)).collect(),
            };
            let y = cx.mean(x, &axes)?;
            if keep { Ok(y) } else { cx.drop_axes(y, &axes) }
        })
    }),
    op("QLinearSoftmax", q_linear_softmax),
    op("QLinearConcat", q_linear_concat),
    op("QLinearWhere", q_linear_where),
    op("QLinearConv", q_linear_conv),
];

fn from_quantized(cx: &mut Cx, x: Value, scale: Value, zero: Option<Value>) -> Outcome {
    let scale = cx.reshape(scale, Shape::scalar())?;
    let zero = zero.map(|zero| cx.reshape(zero, Shape::scalar())).transpose()?;
    let scheme = QuantScheme { axis: None, block: None, storage: cx.dtype(x), zero_point: zero.is_some() };
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    cx.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands)
}

pub(super) fn to_quantized(
    cx: &mut Cx,
    x: Value,
    scale: Value,
    zero: Option<Value>,
    storage: DType,
) -> Outcome {
    let scale = cx.reshape(scale, Shape::scalar())?;
    let zero = zero.map(|zero| cx.reshape(zero, Shape::scalar())).transpose()?;
    let scheme = QuantScheme { axis: None, block: None, storage, zero_point: zero.is_some() };
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    cx.emit(TensorOp::Quantize { scheme: Box::new(scheme) }, &operands)
}

/// `round(fma(a, ra, fma(b, rb, zero)))`, `ra` and `rb` the ratios of the operands' scales to the result's, and
/// `zero` what is left of all zero points.
fn q_linear_add(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let mut sides = [Side::of(cx, node, 0)?, Side::of(cx, node, 3)?];
    // One element stands at the right.
    if cx.shape(sides[0].stored).count().is_const(1) {
        sides.swap(0, 1);
    }
    let [a, b] = sides;
    let scale = cx.reshape(node.operand(6)?, Shape::scalar())?;
    let (a_ratio, b_ratio) = (cx.div(a.scale, scale)?, cx.div(b.scale, scale)?);
    let zeros = cx.mul(b_ratio, b.zero)?;
    let zeros = cx.map(ScalarOp::Fma, &[a_ratio, a.zero, zeros])?;
    let zero = zero_or_none(cx, node.optional(7))?;
    let zero = cx.sub(zero, zeros)?;
    let (a_stored, b_stored) = (cx.cast(a.stored, DType::F32)?, cx.cast(b.stored, DType::F32)?);
    let y = cx.map(ScalarOp::Fma, &[b_stored, b_ratio, zero])?;
    let y = cx.map(ScalarOp::Fma, &[a_stored, a_ratio, y])?;
    Ok(vec![rounded(cx, y, cx.dtype(a.stored))?])
}

/// `round((a - a0)(b - b0) * ratio + zero)`, `ratio` both operands' scales over the result's.
fn q_linear_mul(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b) = (Side::of(cx, node, 0)?, Side::of(cx, node, 3)?);
    let scale = cx.reshape(node.operand(6)?, Shape::scalar())?;
    let both = cx.mul(a.scale, b.scale)?;
    let ratio = cx.div(both, scale)?;
    let centred = |cx: &mut Cx, side: &Side| {
        let (stored, zero) = (cx.cast(side.stored, DType::I32)?, cx.cast(side.zero, DType::I32)?);
        cx.sub(stored, zero)
    };
    let (left, right) = (centred(cx, &a)?, centred(cx, &b)?);
    let product = cx.mul(left, right)?;
    let product = cx.cast(product, DType::F32)?;
    let scaled = cx.mul(product, ratio)?;
    let zero = zero_or_none(cx, node.optional(7))?;
    let y = cx.add(scaled, zero)?;
    Ok(vec![rounded(cx, y, cx.dtype(a.stored))?])
}

/// An operand with its scale and zero point as numbers, `f32` scalars.
struct Side {
    stored: Value,
    scale: Value,
    zero: Value,
}

impl Side {
    /// Of operands `i` (the storage), `i + 1` and `i + 2`.
    fn of(cx: &mut Cx, node: &Node, i: usize) -> Outcome<Side> {
        let stored = node.operand(i)?;
        if !matches!(cx.dtype(stored), DType::U8 | DType::I8) {
            return Err(Fault::from(format!("8-bit integers are expected, got {}", cx.ty(stored))));
        }
        let scale = cx.reshape(node.operand(i + 1)?, Shape::scalar())?;
        Ok(Side { stored, scale, zero: zero_or_none(cx, node.optional(i + 2))? })
    }
}

/// A zero point as `f32` scalar.
fn zero_or_none(cx: &mut Cx, zero: Option<Value>) -> Outcome {
    match zero {
        Some(zero) => {
            let zero = cx.reshape(zero, Shape::scalar())?;
            cx.cast(zero, DType::F32)
        }
        None => cx.splat(DType::F32, Shape::scalar(), 0.0),
    }
}

fn rounded(cx: &mut Cx, y: Value, storage: DType) -> Outcome {
    let y = cx.unary(ScalarOp::Round, y)?;
    cx.cast(y, storage)
}

/// Operands `x, x_scale, x_zero, y_scale, y_zero`.
fn unary(cx: &mut Cx, node: &Node, f: impl FnOnce(&mut Cx, Value) -> Outcome) -> Outcome<Vec<Value>> {
    let storage = cx.dtype(node.operand(0)?);
    let x = from_quantized(cx, node.operand(0)?, node.operand(1)?, node.optional(2))?;
    let y = f(cx, x)?;
    Ok(vec![to_quantized(cx, y, node.operand(3)?, node.optional(4), storage)?])
}

/// `f` of `[N,C,...]`, where `x` may have its channels last.
fn with_channels_first(
    cx: &mut Cx,
    x: Value,
    last: bool,
    f: impl FnOnce(&mut Cx, Value) -> Outcome,
) -> Outcome {
    let rank = cx.rank(x);
    if !last || rank < 2 {
        return f(cx, x);
    }
    let x = cx.move_axis(x, rank - 1, 1)?;
    let y = f(cx, x)?;
    cx.move_axis(y, 1, rank - 1)
}

/// Before opset 13, which an attribute says, over all axes from `axis` on.
fn q_linear_softmax(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let opset = node.int("opset", 0);
    let axis = node.int("axis", -1);
    unary(cx, node, |cx, x| {
        if opset >= 13 {
            let axis = axis_in(axis, cx.rank(x))?;
            return cx.softmax(x, axis, false);
        }
        let shape = cx.shape(x);
        let flat = cx.flatten_from(x, axis)?;
        let y = cx.softmax(flat, 1, false)?;
        cx.reshape(y, shape)
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

/// Operands `condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero`.
fn q_linear_where(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = from_quantized(cx, node.operand(1)?, node.operand(2)?, node.optional(3))?;
    let y = from_quantized(cx, node.operand(4)?, node.operand(5)?, node.optional(6))?;
    let z = cx.select(node.operand(0)?, x, y)?;
    let storage = cx.dtype(node.operand(1)?);
    Ok(vec![to_quantized(cx, z, node.operand(7)?, node.optional(8), storage)?])
}

/// ONNX's op, where the tensor and the result may have their channels last.
fn q_linear_conv(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let last = node.flag("channels_last", false);
    let x = node.operand(0)?;
    Ok(vec![with_channels_first(cx, x, last, |cx, x| super::q_convolved(cx, node, x))?])
}
