//! One recurrent cell as a loop over time, by the equations of ONNX's LSTM, GRU and RNN.
//! Source: ONNX operator reference, `LSTM-22`, `GRU-22`, `RNN-22`.

use super::{Layer, Walked};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::ops::control::Round;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Direction, DotDims, TensorOp};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gates {
    Rnn,
    Gru { linear_before_reset: bool },
    Lstm,
}

impl Gates {
    pub fn count(self) -> usize {
        match self {
            Gates::Rnn => 1,
            Gates::Gru { .. } => 3,
            Gates::Lstm => 4,
        }
    }

    fn default_activations(self) -> &'static [&'static str] {
        match self {
            Gates::Rnn => &["Tanh"],
            Gates::Gru { .. } => &["Sigmoid", "Tanh"],
            Gates::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// An activation with its parameters.
#[derive(Clone, PartialEq)]
struct Activation {
    name: String,
    alpha: f64,
    beta: f64,
}

/// What a node says beyond its weights.
pub(super) struct Cell {
    pub gates: Gates,
    /// Per direction.
    activations: Vec<Vec<Activation>>,
    clip: Option<f64>,
    input_forget: bool,
}

impl Cell {
    pub fn of(node: &Node, gates: Gates, n_directions: usize) -> Outcome<Cell> {
        let defaults = gates.default_activations();
        let per_direction = defaults.len();
        let names = node.texts("activations").unwrap_or_else(|| {
            defaults.iter().cycle().take(per_direction * n_directions).map(|s| s.to_string()).collect()
        });
        if names.len() != per_direction * n_directions {
            return Err(Fault::invalid(format!(
                "{} activations for {n_directions} directions of {per_direction}",
                names.len()
            )));
        }
        let mut alphas = node.floats("activation_alpha").unwrap_or_default().into_iter();
        let mut betas = node.floats("activation_beta").unwrap_or_default().into_iter();
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            let (alpha, beta) = parameters(&name)?;
            let alpha = alpha.map_or(0.0, |default| alphas.next().map_or(default, f64::from));
            let beta = beta.map_or(0.0, |default| betas.next().map_or(default, f64::from));
            all.push(Activation { name: name.to_ascii_lowercase(), alpha, beta });
        }
        Ok(Cell {
            gates,
            activations: all.chunks(per_direction).map(<[_]>::to_vec).collect(),
            clip: node.optional_float("clip"),
            input_forget: node.flag("input_forget", false),
        })
    }

    /// Whether the composite of the tensor level means the same.
    pub fn is_plain(&self, direction: usize) -> bool {
        let names: Vec<&str> = self.activations[direction].iter().map(|a| a.name.as_str()).collect();
        let defaults = self.gates.default_activations();
        let same = names.iter().zip(defaults).all(|(name, default)| *name == default.to_ascii_lowercase());
        same && self.clip.is_none() && !self.input_forget && self.gates != Gates::Rnn
    }
}

/// Default alpha and beta of an activation; `None` where it has no such parameter.
fn parameters(name: &str) -> Outcome<(Option<f64>, Option<f64>)> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "relu" | "tanh" | "sigmoid" | "softsign" | "softplus" => (None, None),
        "leakyrelu" => (Some(0.01), None),
        "thresholdedrelu" | "elu" => (Some(1.0), None),
        "affine" | "scaledtanh" => {
            (Some(1.0), Some(if name.eq_ignore_ascii_case("affine") { 0.0 } else { 1.0 }))
        }
        "hardsigmoid" => (Some(0.2), Some(0.5)),
        _ => return Err(Fault::invalid(format!("activation `{name}` is unknown"))),
    })
}

/// Walks one direction step by step.
pub(super) fn walk_by_rounds(cx: &mut Cx, cell: &Cell, layer: Layer, direction: usize) -> Outcome<Walked> {
    let length = cx.dim(layer.x, 0);
    let rows = Dim::from(cell.gates.count()) * layer.hidden.clone();
    let reverse = layer.direction == Direction::Reverse;
    let x = if reverse { mirrored(cx, layer.x, layer.lengths)? } else { layer.x };
    // The input's part of every step at once: [S,B,G*H].
    let from_input = by_rows(cx, x, layer.w)?;
    let input_bias = cx.slice_axis(layer.bias, 0, Dim::from(0), rows.clone())?;
    let state_bias = cx.slice_axis(layer.bias, 0, rows.clone(), rows)?;
    let from_input = cx.add(from_input, input_bias)?;
    let lengths = match layer.lengths {
        Some(lengths) => {
            let lengths = cx.cast(lengths, DType::I64)?;
            Some(cx.lay_along(lengths, 0, 2)?)
        }
        None => None,
    };
    let states: Vec<Value> = std::iter::once(layer.h0).chain(layer.c0).collect();
    let go = cx.true_scalar()?;
    let activations = &cell.activations[direction];
    let rounds = cx.rounds(length, go, &states, 1, |cx, iteration, states| {
        let input = cx.gather(from_input, iteration, 0)?;
        let step = Step { cell, activations, layer: &layer, input, state_bias, h: states[0] };
        let mut next = match states.get(1) {
            Some(c) => step.lstm(cx, *c)?,
            None if cell.gates == Gates::Rnn => vec![step.rnn(cx)?],
            None => vec![step.gru(cx)?],
        };
        let mut y = next[0];
        if let Some(lengths) = lengths {
            // Past its end a sequence keeps its state and gives zeros.
            let alive = cx.binary(ScalarOp::Lt, iteration, lengths)?;
            let nothing = cx.number_like(y, 0.0)?;
            y = cx.select(alive, y, nothing)?;
            for (next, old) in next.iter_mut().zip(states) {
                *next = cx.select(alive, *next, *old)?;
            }
        }
        Ok(Round { go: cx.true_scalar()?, carried: next, stacked: vec![y] })
    })?;
    let y = rounds.stacked[0];
    let y = if reverse { mirrored(cx, y, layer.lengths)? } else { y };
    Ok(Walked { y, h: rounds.carried[0], c: rounds.carried.get(1).copied() })
}

/// `[..., K]` by the rows `[N, K]`.
fn by_rows(cx: &mut Cx, x: Value, w: Value) -> Outcome {
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![cx.rank(x) - 1],
        rhs_contract: vec![1],
    };
    let out = cx.dtype(x);
    cx.emit(TensorOp::dot(dims, out), &[x, w])
}

/// Time turned round: whole, or up to each sequence's length.
fn mirrored(cx: &mut Cx, x: Value, lengths: Option<Value>) -> Outcome {
    let Some(lengths) = lengths else { return cx.flip(x, 0) };
    let rank = cx.rank(x);
    let places = cx.places_along(x, 0)?;
    let lengths = cx.cast(lengths, DType::I64)?;
    let lengths = cx.lay_along(lengths, 1, rank)?;
    let turned = cx.sub(lengths, places)?;
    let turned = cx.with_number(ScalarOp::Sub, turned, 1.0)?;
    let inside = cx.binary(ScalarOp::Lt, places, lengths)?;
    let places = cx.select(inside, turned, places)?;
    let shape = cx.shape(x);
    let places = cx.broadcast_to(places, &shape)?;
    cx.emit(TensorOp::GatherElements { axis: 0 }, &[x, places])
}

struct Step<'a> {
    cell: &'a Cell,
    activations: &'a [Activation],
    layer: &'a Layer,
    /// `[B,G*H]`: the input's part with its bias.
    input: Value,
    state_bias: Value,
    h: Value,
}

impl Step<'_> {
    /// Gate `i` of a `[B,G*H]` or `[G*H]` value.
    fn gate(&self, cx: &mut Cx, value: Value, i: usize) -> Outcome {
        let axis = cx.rank(value) - 1;
        let start = self.layer.hidden.clone() * Dim::from(i);
        cx.slice_axis(value, axis, start, self.layer.hidden.clone())
    }

    fn activate(&self, cx: &mut Cx, i: usize, x: Value) -> Outcome {
        let x = match self.cell.clip {
            Some(limit) => {
                let x = cx.with_number(ScalarOp::Max, x, -limit)?;
                cx.with_number(ScalarOp::Min, x, limit)?
            }
            None => x,
        };
        let Activation { name, alpha, beta } = &self.activations[i];
        match name.as_str() {
            "relu" => cx.with_number(ScalarOp::Max, x, 0.0),
            "tanh" => cx.unary(ScalarOp::Tanh, x),
            "sigmoid" => cx.unary(ScalarOp::Sigmoid, x),
            "softsign" => cx.softsign(x),
            "softplus" => cx.softplus(x),
            "hardsigmoid" => cx.hard_sigmoid(x, *alpha, *beta),
            "affine" => {
                let x = cx.with_number(ScalarOp::Mul, x, *alpha)?;
                cx.with_number(ScalarOp::Add, x, *beta)
            }
            "scaledtanh" => {
                let x = cx.with_number(ScalarOp::Mul, x, *beta)?;
                let x = cx.unary(ScalarOp::Tanh, x)?;
                cx.with_number(ScalarOp::Mul, x, *alpha)
            }
            "leakyrelu" => {
                let small = cx.with_number(ScalarOp::Mul, x, *alpha)?;
                let negative = cx.with_number(ScalarOp::Lt, x, 0.0)?;
                cx.select(negative, small, x)
            }
            "thresholdedrelu" => {
                let above = cx.with_number(ScalarOp::Ge, x, *alpha)?;
                let zero = cx.number_like(x, 0.0)?;
                cx.select(above, x, zero)
            }
            _ => {
                let grown = cx.unary(ScalarOp::Expm1, x)?;
                let small = cx.with_number(ScalarOp::Mul, grown, *alpha)?;
                let negative = cx.with_number(ScalarOp::Lt, x, 0.0)?;
                cx.select(negative, small, x)
            }
        }
    }

    /// The state's part with its bias: `[B,G*H]`.
    fn state_part(&self, cx: &mut Cx) -> Outcome {
        let product = by_rows(cx, self.h, self.layer.r)?;
        cx.add(product, self.state_bias)
    }

    fn rnn(&self, cx: &mut Cx) -> Outcome {
        let state = self.state_part(cx)?;
        let sum = cx.add(self.input, state)?;
        self.activate(cx, 0, sum)
    }

    /// Gates in the order z, r, h.
    fn gru(&self, cx: &mut Cx) -> Outcome {
        let linear_before_reset = self.cell.gates == Gates::Gru { linear_before_reset: true };
        let state = self.state_part(cx)?;
        let gate = |cx: &mut Cx, i: usize| {
            let (a, b) = (self.gate(cx, self.input, i)?, self.gate(cx, state, i)?);
            let sum = cx.add(a, b)?;
            self.activate(cx, 0, sum)
        };
        let (z, r) = (gate(cx, 0)?, gate(cx, 1)?);
        let candidate = self.gate(cx, self.input, 2)?;
        let recalled = if linear_before_reset {
            let state = self.gate(cx, state, 2)?;
            cx.mul(r, state)?
        } else {
            let hidden = self.layer.hidden.clone();
            let rows = cx.slice_axis(self.layer.r, 0, hidden.clone() * Dim::from(2), hidden)?;
            let kept = cx.mul(r, self.h)?;
            let product = by_rows(cx, kept, rows)?;
            let bias = self.gate(cx, self.state_bias, 2)?;
            cx.add(product, bias)?
        };
        let candidate = cx.add(candidate, recalled)?;
        let candidate = self.activate(cx, 1, candidate)?;
        let rest = cx.number_with(ScalarOp::Sub, 1.0, z)?;
        let (fresh, kept) = (cx.mul(rest, candidate)?, cx.mul(z, self.h)?);
        cx.add(fresh, kept)
    }

    /// Gates in the order i, o, f, c; gives the new h and c.
    fn lstm(&self, cx: &mut Cx, c: Value) -> Outcome<Vec<Value>> {
        let state = self.state_part(cx)?;
        let sums = cx.add(self.input, state)?;
        let peep = |cx: &mut Cx, i: usize, c: Value, sum: Value| match self.layer.peephole {
            Some(peephole) => {
                let weights = self.gate(cx, peephole, i)?;
                let seen = cx.mul(weights, c)?;
                cx.add(sum, seen)
            }
            None => Ok(sum),
        };
        let i = self.gate(cx, sums, 0)?;
        let i = peep(cx, 0, c, i)?;
        let i = self.activate(cx, 0, i)?;
        let f = if self.cell.input_forget {
            cx.number_with(ScalarOp::Sub, 1.0, i)?
        } else {
            let f = self.gate(cx, sums, 2)?;
            let f = peep(cx, 2, c, f)?;
            self.activate(cx, 0, f)?
        };
        let fresh = self.gate(cx, sums, 3)?;
        let fresh = self.activate(cx, 1, fresh)?;
        let (kept, added) = (cx.mul(f, c)?, cx.mul(i, fresh)?);
        let next_c = cx.add(kept, added)?;
        let o = self.gate(cx, sums, 1)?;
        let o = peep(cx, 1, next_c, o)?;
        let o = self.activate(cx, 0, o)?;
        let shown = self.activate(cx, 2, next_c)?;
        Ok(vec![cx.mul(o, shown)?, next_c])
    }
}
