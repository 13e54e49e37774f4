//! `ai.onnx.preview.training`: one step of an optimiser, elementwise over each tensor of weights.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op("Adagrad", |cx, node| each(cx, node, 1, adagrad)),
    op("Adam", |cx, node| each(cx, node, 2, adam)),
    op("Momentum", |cx, node| each(cx, node, 1, momentum)),
];

/// The step at hand: its rate, a float scalar, and its number, an integer scalar.
struct Step<'a, 'n> {
    node: &'a Node<'n>,
    rate: Value,
    number: Value,
}

impl Step<'_, '_> {
    fn float(&self, name: &str, default: f32) -> f64 {
        self.node.float(name, default)
    }

    /// The gradient with that of the penalty on the weights' squares.
    fn gradient(&self, cx: &mut Cx, x: Value, gradient: Value) -> Outcome {
        let penalty = cx.with_number(ScalarOp::Mul, x, self.float("norm_coefficient", 0.0))?;
        cx.add(penalty, gradient)
    }

    fn number_as(&self, cx: &mut Cx, dtype: DType) -> Outcome {
        cx.cast(self.number, dtype)
    }

    fn rate_as(&self, cx: &mut Cx, dtype: DType) -> Outcome {
        cx.cast(self.rate, dtype)
    }

    fn is_first(&self, cx: &mut Cx) -> Outcome {
        cx.with_number(ScalarOp::Le, self.number, 0.0)
    }
}

/// From weights, their gradient and states to new weights and states.
type Rule = fn(&mut Cx, &Step, Value, Value, &[Value]) -> Outcome<Vec<Value>>;

/// Operands are the rate, the step's number, then all weights, all gradients, and all of each of `n_states` states;
/// results are all weights, then all of each state.
fn each(cx: &mut Cx, node: &Node, n_states: usize, rule: Rule) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    let [rate, number, tensors @ ..] = &operands[..] else {
        return Err(Fault::invalid("a rate and a number of the step are missing"));
    };
    let per_weight = 2 + n_states;
    if tensors.is_empty() || tensors.len() % per_weight != 0 {
        return Err(Fault::invalid(format!(
            "{} tensors are no multiple of {per_weight}: weights, gradients and {n_states} states",
            tensors.len()
        )));
    }
    let step = Step {
        node,
        rate: cx.reshape(*rate, Shape::scalar())?,
        number: cx.reshape(*number, Shape::scalar())?,
    };
    let n = tensors.len() / per_weight;
    let mut kinds: Vec<Vec<Value>> = vec![vec![]; 1 + n_states];
    for i in 0..n {
        let states: Vec<Value> = (2..per_weight).map(|kind| tensors[kind * n + i]).collect();
        let results = rule(cx, &step, tensors[i], tensors[n + i], &states)?;
        for (kind, result) in kinds.iter_mut().zip(results) {
            kind.push(result);
        }
    }
    Ok(kinds.concat())
}

fn adagrad(cx: &mut Cx, step: &Step, x: Value, gradient: Value, states: &[Value]) -> Outcome<Vec<Value>> {
    let dtype = cx.dtype(x);
    let number = step.number_as(cx, dtype)?;
    let decay = cx.with_number(ScalarOp::Mul, number, step.float("decay_factor", 0.0))?;
    let decay = cx.with_number(ScalarOp::Add, decay, 1.0)?;
    let rate = step.rate_as(cx, dtype)?;
    let rate = cx.div(rate, decay)?;
    let gradient = step.gradient(cx, x, gradient)?;
    let square = cx.mul(gradient, gradient)?;
    let sum = cx.add(states[0], square)?;
    let root = cx.unary(ScalarOp::Sqrt, sum)?;
    let root = cx.with_number(ScalarOp::Add, root, step.float("epsilon", 0.0))?;
    let way = cx.mul(rate, gradient)?;
    let way = cx.div(way, root)?;
    Ok(vec![cx.sub(x, way)?, sum])
}

/// `factor * old + (1 - factor) * new`.
fn blend(cx: &mut Cx, factor: f64, old: Value, new: Value) -> Outcome {
    let old = cx.with_number(ScalarOp::Mul, old, factor)?;
    let new = cx.with_number(ScalarOp::Mul, new, 1.0 - factor)?;
    cx.add(old, new)
}

fn adam(cx: &mut Cx, step: &Step, x: Value, gradient: Value, states: &[Value]) -> Outcome<Vec<Value>> {
    let dtype = cx.dtype(x);
    let (alpha, beta) = (step.float("alpha", 0.9), step.float("beta", 0.999));
    let gradient = step.gradient(cx, x, gradient)?;
    let mean = blend(cx, alpha, states[0], gradient)?;
    let square = cx.mul(gradient, gradient)?;
    let spread = blend(cx, beta, states[1], square)?;
    let root = cx.unary(ScalarOp::Sqrt, spread)?;
    let root = cx.with_number(ScalarOp::Add, root, step.float("epsilon", 1e-6))?;
    // Both averages start at 0, which is made up for.
    let number = step.number_as(cx, dtype)?;
    let missing = |cx: &mut Cx, factor: f64| {
        let left = cx.number_with(ScalarOp::Pow, factor, number)?;
        cx.number_with(ScalarOp::Sub, 1.0, left)
    };
    let (of_mean, of_spread) = (missing(cx, alpha)?, missing(cx, beta)?);
    let of_spread = cx.unary(ScalarOp::Sqrt, of_spread)?;
    let rate = step.rate_as(cx, dtype)?;
    let corrected = cx.mul(rate, of_spread)?;
    let corrected = cx.div(corrected, of_mean)?;
    let is_first = step.is_first(cx)?;
    let rate = cx.select(is_first, rate, corrected)?;
    let way = cx.div(mean, root)?;
    let way = cx.mul(rate, way)?;
    let x = cx.sub(x, way)?;
    let x = cx.with_number(ScalarOp::Mul, x, 1.0 - step.float("norm_coefficient_post", 0.0))?;
    Ok(vec![x, mean, spread])
}

fn momentum(cx: &mut Cx, step: &Step, x: Value, gradient: Value, states: &[Value]) -> Outcome<Vec<Value>> {
    let nesterov = match step.node.text("mode", "standard").as_str() {
        "standard" => false,
        "nesterov" => true,
        other => return Err(Fault::invalid(format!("mode `{other}` is none of standard and nesterov"))),
    };
    let dtype = cx.dtype(x);
    let alpha = step.float("alpha", 0.9);
    let gradient = step.gradient(cx, x, gradient)?;
    // The first gradient counts whole.
    let is_first = step.is_first(cx)?;
    let one = cx.splat(dtype, Shape::scalar(), 1.0)?;
    let beta = cx.splat(dtype, Shape::scalar(), step.float("beta", 1.0))?;
    let beta = cx.select(is_first, one, beta)?;
    let old = cx.with_number(ScalarOp::Mul, states[0], alpha)?;
    let new = cx.mul(beta, gradient)?;
    let velocity = cx.add(old, new)?;
    let way = if nesterov {
        let ahead = cx.with_number(ScalarOp::Mul, velocity, alpha)?;
        cx.add(gradient, ahead)?
    } else {
        velocity
    };
    let rate = step.rate_as(cx, dtype)?;
    let way = cx.mul(rate, way)?;
    Ok(vec![cx.sub(x, way)?, velocity])
}
