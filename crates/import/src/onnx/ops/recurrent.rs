//! LSTM, GRU and RNN. What the composites of the tensor level can say becomes one; custom activations, clipping,
//! sequence lengths and plain RNN cells become a loop that follows ONNX's equations.

mod cell;

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use cell::{Cell, Gates};
use tegula_base::Dim;
use tegula_ir::Value;
use tegula_tensor::{Direction, QuantScheme, TensorOp};

pub(super) const ROWS: &[Row] = &[op("LSTM", lstm), op("GRU", gru), op("RNN", rnn)];

pub(super) const MICROSOFT: &[Row] = &[op("DynamicQuantizeLSTM", dynamic_quantize_lstm)];

/// One direction's operands.
pub(super) struct Layer {
    /// `[S,B,I]`.
    x: Value,
    /// `[G*H,I]` and `[G*H,H]`.
    w: Value,
    r: Value,
    /// `[2*G*H]`: of the input, then of the state.
    bias: Value,
    h0: Value,
    /// LSTM only.
    c0: Option<Value>,
    peephole: Option<Value>,
    lengths: Option<Value>,
    direction: Direction,
    hidden: Dim,
    /// Activations are rounded, those of the state to 16 bits: the model lets them be 8.
    rounded: bool,
}

/// What one direction gives: `y: [S,B,H]` and the last states `[B,H]`.
pub(super) struct Walked {
    y: Value,
    h: Value,
    c: Option<Value>,
}

fn lstm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (w, r) = (node.operand(1)?, node.operand(2)?);
    walk_all(cx, node, Gates::Lstm, &|cx, i| Ok((part(cx, w, i)?, part(cx, r, i)?)))
}

fn gru(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (w, r) = (node.operand(1)?, node.operand(2)?);
    let gates = Gates::Gru { linear_before_reset: node.flag("linear_before_reset", false) };
    walk_all(cx, node, gates, &|cx, i| Ok((part(cx, w, i)?, part(cx, r, i)?)))
}

fn rnn(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (w, r) = (node.operand(1)?, node.operand(2)?);
    walk_all(cx, node, Gates::Rnn, &|cx, i| Ok((part(cx, w, i)?, part(cx, r, i)?)))
}

/// An LSTM whose weights `[D,I,4H]` are 8-bit. The stored weights are dequantised; rows of activations are rounded,
/// so that products are of bytes. Those of the state have 16 bits, so that a flipped rounding is 256 times less than in
/// ONNX Runtime, where on long sequences inputs that differ by 1e-6 give embeddings that differ in the first digit.
fn dynamic_quantize_lstm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    walk_all(cx, node, Gates::Lstm, &|cx, i| {
        let mut weights = [1, 2].into_iter().zip([8, 10]).map(|(weight, scale)| {
            let weight = part(cx, node.operand(weight)?, i)?;
            let zero = node.optional(scale + 1);
            let (scale, zero) = (
                of_direction(cx, node.operand(scale)?, i)?,
                match zero {
                    Some(zero) => Some(of_direction(cx, zero, i)?),
                    None => None,
                },
            );
            let per_column = cx.rank(scale) == 1;
            let scheme = QuantScheme {
                axis: per_column.then_some(1),
                block: None,
                storage: cx.dtype(weight),
                zero_point: zero.is_some(),
            };
            let operands: Vec<Value> = [weight, scale].into_iter().chain(zero).collect();
            let weight = cx.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands)?;
            cx.transpose(weight, &[1, 0])
        });
        let missing = || Fault::invalid("weights are missing");
        let w = weights.next().ok_or_else(missing)??;
        let r = weights.next().ok_or_else(missing)??;
        Ok((w, r))
    })
}

/// Scale or zero point of one direction: `[D]` gives a scalar, `[D,4H]` a row.
fn of_direction(cx: &mut Cx, value: Value, i: usize) -> Outcome {
    if cx.rank(value) == 0 { Ok(value) } else { part(cx, value, i) }
}

/// Element `i` along the first axis.
fn part(cx: &mut Cx, value: Value, i: usize) -> Outcome {
    let one = cx.slice_axis(value, 0, Dim::from(i), Dim::from(1))?;
    cx.drop_axes(one, &[0])
}

/// The weights `w` and `r` of a direction.
type WeightsOf<'a> = dyn Fn(&mut Cx, usize) -> Outcome<(Value, Value)> + 'a;

/// Runs each direction and joins what they give into Y, Y_h, Y_c.
fn walk_all(cx: &mut Cx, node: &Node, gates: Gates, weights: &WeightsOf) -> Outcome<Vec<Value>> {
    let batch_first = node.flag("layout", false);
    let x = node.operand(0)?;
    if cx.rank(x) != 3 {
        return Err(Fault::from(format!("a sequence [S,B,I] is expected, got {}", cx.ty(x))));
    }
    let x = if batch_first { cx.transpose(x, &[1, 0, 2])? } else { x };
    let directions: &[Direction] = match node.text("direction", "forward").as_str() {
        "forward" => &[Direction::Forward],
        "reverse" => &[Direction::Reverse],
        "bidirectional" => &[Direction::Forward, Direction::Reverse],
        other => return Err(Fault::invalid(format!("direction `{other}` is unknown"))),
    };
    let cell = Cell::of(node, gates, directions.len())?;
    check_operands(cx, node, directions.len(), batch_first)?;
    let mut walked = Vec::with_capacity(directions.len());
    for (i, direction) in directions.iter().enumerate() {
        let (w, r) = weights(cx, i)?;
        for weights in [w, r] {
            cx.expect_rank(weights, 2, "recurrent weights [D,G*H,I] and [D,G*H,H]")?;
        }
        let gate_rows = Dim::from(gates.count()) * cx.dim(r, 1);
        let message = "the weights must have rows for each gate";
        let [w, r] = [cx.with_extent(w, 0, &gate_rows, message)?, cx.with_extent(r, 0, &gate_rows, message)?];
        let features = cx.dim(w, 1);
        let x = cx.with_extent(x, 2, &features, "the input must have the features that the weights take")?;
        let hidden = cx.dim(r, 1);
        let rows = Dim::from(2 * gates.count()) * hidden.clone();
        let dtype = cx.dtype(x);
        let batch = cx.dim(x, 1);
        let bias = match node.optional(3) {
            Some(bias) => {
                let bias = part(cx, bias, i)?;
                cx.expect_rank(bias, 1, "a bias [D,2*G*H]")?;
                bias
            }
            None => cx.splat(dtype, [rows], 0.0)?,
        };
        let state = |cx: &mut Cx, operand: usize| match node.optional(operand) {
            Some(state) => {
                let state = if batch_first { cx.transpose(state, &[1, 0, 2])? } else { state };
                let state = part(cx, state, i)?;
                cx.expect_rank(state, 2, "an initial state [D,B,H]")?;
                let own = cx.dim(state, 0);
                cx.assert_equal(&own, &batch, "the initial state must have the input's batch size")?;
                cx.reshape(state, [batch.clone(), hidden.clone()])
            }
            None => cx.splat(dtype, [batch.clone(), hidden.clone()], 0.0),
        };
        let h0 = state(cx, 5)?;
        let c0 = if gates == Gates::Lstm { Some(state(cx, 6)?) } else { None };
        let peephole = match node.optional(7) {
            Some(peephole) if gates == Gates::Lstm => {
                let peephole = part(cx, peephole, i)?;
                cx.expect_rank(peephole, 1, "peephole weights [D,3*H]")?;
                Some(peephole)
            }
            _ => None,
        };
        let layer = Layer {
            x,
            w,
            r,
            bias,
            h0,
            c0,
            peephole,
            lengths: node.optional(4),
            direction: *direction,
            hidden,
            rounded: node.op_type() == "DynamicQuantizeLSTM",
        };
        walked.push(walk(cx, &cell, layer, i)?);
    }
    join(cx, walked, batch_first)
}

/// Errors: W, R, B, P or a state is not of the node's number of directions, or `hidden_size` is not R's.
fn check_operands(cx: &mut Cx, node: &Node, n_directions: usize, batch_first: bool) -> Outcome<()> {
    let of_states = usize::from(batch_first);
    let operands = [
        ("W", 1, 0),
        ("R", 2, 0),
        ("B", 3, 0),
        ("the initial h", 5, of_states),
        ("the initial c", 6, of_states),
        ("P", 7, 0),
    ];
    for (name, operand, axis) in operands {
        if let Some(value) = node.optional(operand).filter(|value| axis < cx.rank(*value)) {
            let own = cx.dim(value, axis);
            let message = format!("{name} must have a part for each direction");
            cx.assert_equal(&own, &Dim::from(n_directions), &message)?;
        }
    }
    if let (Some(stated), Some(r)) = (node.optional_int("hidden_size"), node.optional(2)) {
        // ONNX Runtime's quantised layer stores the weights transposed.
        let axis = if node.op_type() == "DynamicQuantizeLSTM" { 1 } else { 2 };
        if axis < cx.rank(r) {
            let own = cx.dim(r, axis);
            cx.assert_equal(&own, &Dim::from(stated), "hidden_size must be that of the recurrent weights")?;
        }
    }
    Ok(())
}

fn walk(cx: &mut Cx, cell: &Cell, layer: Layer, direction: usize) -> Outcome<Walked> {
    let lengths = match layer.lengths {
        // Lengths that are all the whole sequence say nothing.
        Some(lengths) => match (cx.known_ints(lengths), cx.dim(layer.x, 0).as_const()) {
            (Some(lengths), Some(n)) if lengths.iter().all(|length| *length == n) => None,
            _ => Some(lengths),
        },
        None => None,
    };
    let layer = Layer { lengths, ..layer };
    if layer.lengths.is_some() || !cell.is_plain(direction) {
        return cell::walk_by_rounds(cx, cell, layer, direction);
    }
    match (cell.gates, layer.c0) {
        (Gates::Lstm, Some(c0)) => {
            let operands: Vec<Value> = [layer.x, layer.w, layer.r, layer.bias, layer.h0, c0]
                .into_iter()
                .chain(layer.peephole)
                .collect();
            let kind = TensorOp::Lstm { direction: layer.direction, rounded: layer.rounded };
            let results = cx.emit_many(kind, &operands)?;
            Ok(Walked { y: results[0], h: results[1], c: Some(results[2]) })
        }
        (Gates::Gru { linear_before_reset }, _) => {
            let operands = [layer.x, layer.w, layer.r, layer.bias, layer.h0];
            let kind = TensorOp::Gru { direction: layer.direction, linear_before_reset };
            let results = cx.emit_many(kind, &operands)?;
            Ok(Walked { y: results[0], h: results[1], c: None })
        }
        _ => cell::walk_by_rounds(cx, cell, layer, direction),
    }
}

/// `Y: [S,D,B,H]`, `Y_h` and `Y_c: [D,B,H]`; batch first where the layout says so.
fn join(cx: &mut Cx, walked: Vec<Walked>, batch_first: bool) -> Outcome<Vec<Value>> {
    let mut ys = Vec::new();
    let (mut hs, mut cs) = (vec![], vec![]);
    for walked in walked {
        ys.push(cx.add_axes(walked.y, &[1])?);
        hs.push(cx.add_axes(walked.h, &[0])?);
        if let Some(c) = walked.c {
            cs.push(cx.add_axes(c, &[0])?);
        }
    }
    let mut results = vec![cx.concat(&ys, 1)?, cx.concat(&hs, 0)?];
    if !cs.is_empty() {
        results.push(cx.concat(&cs, 0)?);
    }
    if batch_first {
        results[0] = cx.transpose(results[0], &[2, 0, 1, 3])?;
        for state in &mut results[1..] {
            *state = cx.transpose(*state, &[1, 0, 2])?;
        }
    }
    Ok(results)
}
