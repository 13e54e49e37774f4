//! Activation functions, each the composition that ONNX defines it by; integers pass where ONNX lets them.

use crate::build::axis_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op("Relu", relu),
    op("LeakyRelu", leaky_relu),
    op("PRelu", prelu),
    op("Elu", |cx, node| {
        let alpha = node.float("alpha", 1.0);
        exponential(cx, node, alpha, 1.0, 1.0)
    }),
    op("Selu", |cx, node| {
        let (alpha, gamma) = (node.float("alpha", 1.673_263_2), node.float("gamma", 1.050_701));
        exponential(cx, node, alpha, gamma, 1.0)
    }),
    op("Celu", |cx, node| {
        let alpha = node.float("alpha", 1.0);
        exponential(cx, node, alpha, 1.0, alpha)
    }),
    op("ThresholdedRelu", thresholded_relu),
    op("HardSigmoid", hard_sigmoid),
    op("HardSwish", hard_swish),
    op("Softplus", softplus),
    op("Softsign", softsign),
    op("Mish", mish),
    op("Swish", swish),
    op("SwiGLU", swiglu),
    op("Shrink", shrink),
    op("Gelu", gelu),
    op_between("Softmax", 1, 12, |cx, node| softmax_flat(cx, node, false)),
    op_between("LogSoftmax", 1, 12, |cx, node| softmax_flat(cx, node, true)),
    op_since("Softmax", 13, |cx, node| softmax(cx, node, false)),
    op_since("LogSoftmax", 13, |cx, node| softmax(cx, node, true)),
    op_between("Hardmax", 1, 12, hardmax_flat),
    op_since("Hardmax", 13, hardmax),
];

pub(super) const MICROSOFT: &[Row] = &[
    op("Gelu", |cx, node| gelu_of_sum(cx, node, false)),
    op("BiasGelu", |cx, node| gelu_of_sum(cx, node, false)),
    op("FastGelu", |cx, node| gelu_of_sum(cx, node, true)),
    op("QuickGelu", |cx, node| {
        let alpha = node.float("alpha", 1.702);
        swish_of(cx, node.operand(0)?, alpha).map(|y| vec![y])
    }),
];

fn relu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![cx.with_number(ScalarOp::Max, x, 0.0)?])
}

fn leaky_relu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let scaled = cx.with_number(ScalarOp::Mul, x, node.float("alpha", 0.01))?;
    Ok(vec![where_negative(cx, x, scaled, x)?])
}

fn prelu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, mut slope) = (node.operand(0)?, node.operand(1)?);
    let rank = cx.rank(x);
    if node.version < 7 && cx.rank(slope) == 1 && rank > 1 {
        // One slope a channel, or one for all.
        slope = cx.lay_along(slope, 1, rank)?;
    }
    let scaled = cx.mul(x, slope)?;
    Ok(vec![where_negative(cx, x, scaled, x)?])
}

fn where_negative(cx: &mut Cx, x: Value, yes: Value, no: Value) -> Outcome {
    let negative = cx.with_number(ScalarOp::Lt, x, 0.0)?;
    cx.select(negative, yes, no)
}

/// `gamma * x` above 0, `gamma * alpha * (exp(x / scale) - 1)` below.
fn exponential(cx: &mut Cx, node: &Node, alpha: f64, gamma: f64, scale: f64) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let scaled = if scale == 1.0 { x } else { cx.with_number(ScalarOp::Div, x, scale)? };
    let grown = cx.unary(ScalarOp::Expm1, scaled)?;
    let below = cx.with_number(ScalarOp::Mul, grown, alpha)?;
    let result = where_negative(cx, x, below, x)?;
    Ok(vec![if gamma == 1.0 { result } else { cx.with_number(ScalarOp::Mul, result, gamma)? }])
}

fn thresholded_relu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let above = cx.with_number(ScalarOp::Gt, x, node.float("alpha", 1.0))?;
    let zero = cx.number_like(x, 0.0)?;
    Ok(vec![cx.select(above, x, zero)?])
}

fn hard_sigmoid(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let y = cx.hard_sigmoid(x, node.float("alpha", 0.2), node.float("beta", 0.5))?;
    Ok(vec![y])
}

fn hard_swish(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let gate = cx.hard_sigmoid(x, f64::from(1f32 / 6.0), 0.5)?;
    Ok(vec![cx.mul(x, gate)?])
}

fn softplus(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![cx.softplus(x)?])
}

fn softsign(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![cx.softsign(x)?])
}

fn mish(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let soft = cx.softplus(x)?;
    let gate = cx.unary(ScalarOp::Tanh, soft)?;
    Ok(vec![cx.mul(x, gate)?])
}

fn swish(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let alpha = node.float("alpha", 1.0);
    Ok(vec![swish_of(cx, node.operand(0)?, alpha)?])
}

/// `x * sigmoid(alpha * x)`.
fn swish_of(cx: &mut Cx, x: Value, alpha: f64) -> Outcome {
    let scaled = if alpha == 1.0 { x } else { cx.with_number(ScalarOp::Mul, x, alpha)? };
    let gate = cx.unary(ScalarOp::Sigmoid, scaled)?;
    cx.mul(x, gate)
}

/// `swish(a) * b`.
fn swiglu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let gated = swish(cx, node)?[0];
    let b = node.operand(1)?;
    Ok(vec![cx.mul(gated, b)?])
}

fn shrink(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (bias, lambda) = (node.float("bias", 0.0), node.float("lambd", 0.5));
    let low = cx.with_number(ScalarOp::Lt, x, -lambda)?;
    let high = cx.with_number(ScalarOp::Gt, x, lambda)?;
    let (raised, lowered) =
        (cx.with_number(ScalarOp::Add, x, bias)?, cx.with_number(ScalarOp::Sub, x, bias)?);
    let zero = cx.number_like(x, 0.0)?;
    let inner = cx.select(high, lowered, zero)?;
    Ok(vec![cx.select(low, raised, inner)?])
}

fn gelu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let tanh = match node.text("approximate", "none").as_str() {
        "none" => false,
        "tanh" => true,
        other => return Err(Fault::invalid(format!("approximation `{other}` is neither none nor tanh"))),
    };
    let x = node.operand(0)?;
    Ok(vec![cx.emit(TensorOp::Gelu { tanh }, &[x])?])
}

/// Operands `x, bias?`.
fn gelu_of_sum(cx: &mut Cx, node: &Node, tanh: bool) -> Outcome<Vec<Value>> {
    let mut x = node.operand(0)?;
    if let Some(bias) = node.optional(1) {
        x = cx.add(x, bias)?;
    }
    Ok(vec![cx.emit(TensorOp::Gelu { tanh }, &[x])?])
}

fn softmax(cx: &mut Cx, node: &Node, log: bool) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    Ok(vec![cx.softmax(x, axis, log)?])
}

/// Before opset 13: over all axes from `axis` on, as one row.
fn softmax_flat(cx: &mut Cx, node: &Node, log: bool) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let shape = cx.shape(x);
    let flat = cx.flatten_from(x, node.int("axis", 1))?;
    let y = cx.softmax(flat, 1, log)?;
    Ok(vec![cx.reshape(y, shape)?])
}

fn hardmax(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    Ok(vec![one_at_largest(cx, x, axis)?])
}

fn hardmax_flat(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let shape = cx.shape(x);
    let flat = cx.flatten_from(x, node.int("axis", 1))?;
    let y = one_at_largest(cx, flat, 1)?;
    Ok(vec![cx.reshape(y, shape)?])
}

/// 1 at the first largest element along an axis, 0 elsewhere.
fn one_at_largest(cx: &mut Cx, x: Value, axis: usize) -> Outcome {
    let largest = cx.emit(TensorOp::ArgReduce { max: true, axis, last: false }, &[x])?;
    let places = cx.places_along(x, axis)?;
    let hit = cx.binary(ScalarOp::Eq, places, largest)?;
    cx.cast_like(hit, x)
}

impl Cx<'_> {
    /// Softmax or its logarithm.
    pub fn softmax(&mut self, x: Value, axis: usize, log: bool) -> Outcome {
        self.emit(TensorOp::Softmax { axis, log }, &[x])
    }

    /// The softmax of scores, whose weights attention rounds to 16 bits before it multiplies: each step rounds, as in
    /// ONNX's own composition.
    pub fn softmax_of_scores(&mut self, x: Value, axis: usize) -> Outcome {
        if !matches!(self.dtype(x), DType::F16 | DType::BF16) {
            return self.softmax(x, axis, false);
        }
        let most = self.reduce(ScalarOp::Max, x, &[axis], true)?;
        let shifted = self.sub(x, most)?;
        let grown = self.unary(ScalarOp::Exp, shifted)?;
        let sum = self.reduce(ScalarOp::Add, grown, &[axis], true)?;
        self.div(grown, sum)
    }

    /// The activation that an op of ONNX Runtime names to be applied to its result; numbers it does not give have
    /// ONNX's defaults.
    pub fn activated(&mut self, y: Value, name: &str, numbers: &[f64]) -> Outcome {
        let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
        match name {
            "" => Ok(y),
            "Relu" => self.with_number(ScalarOp::Max, y, 0.0),
            "Sigmoid" => self.unary(ScalarOp::Sigmoid, y),
            "Tanh" => self.unary(ScalarOp::Tanh, y),
            "LeakyRelu" => {
                let small = self.with_number(ScalarOp::Mul, y, number(0, f64::from(0.01f32)))?;
                where_negative(self, y, small, y)
            }
            "Clip" => {
                let (low, high) = (number(0, f64::from(f32::MIN)), number(1, f64::from(f32::MAX)));
                let y = self.with_number(ScalarOp::Max, y, low)?;
                self.with_number(ScalarOp::Min, y, high)
            }
            "HardSigmoid" => self.hard_sigmoid(y, number(0, f64::from(0.2f32)), number(1, 0.5)),
            other => Err(Fault::unsupported(format!("activation `{other}` is not supported"))),
        }
    }
}
