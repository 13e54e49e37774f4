//! LSTM and GRU as loops over time; the input's share of the gates is one contraction before the loop.

use super::widen_all;
use crate::build::Built;
use crate::{Builder, Direction};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};

/// The integer that the greatest magnitude of a row of 16-bit integers becomes.
const GREATEST: f64 = i16::MAX as f64;
/// Steps of 8 bits.
const STEPS: f64 = u8::MAX as f64;
/// The least magnitude of a whole row that is told from 0: its reciprocal times [`GREATEST`] is still a number.
const LEAST: f64 = f32::MIN_POSITIVE as f64 * 65536.0;

/// Operands `x, w, r, bias, h0, c0, peephole?`; results `y, h, c`.
pub(super) fn lstm(b: &mut Builder, x: &[Value], direction: Direction, rounded: bool) -> Built<Vec<Value>> {
    let dtype = b.dtype(x[0]);
    let x = widen_all(b, x)?;
    let (hidden, steps) = (b.shape(x[4])[1].clone(), b.shape(x[0])[0].clone());
    let (w_bias, r_bias) = halves(b, x[3])?;
    let bias = b.add(w_bias, r_bias)?;
    let inputs = product(b, x[0], x[1], rounded.then_some(eight_bits))?;
    let inputs = b.add(inputs, bias)?;
    let peephole = x.get(6).map(|p| parts(b, *p, 0, 3, &hidden)).transpose()?;
    let go = b.scalar_bool(true)?;
    let results = b.repeat(steps.clone(), go, &[x[4], x[5]], 1, |b, step, state| {
        let (h, c) = (state[0], state[1]);
        let time = time(b, step, &steps, direction)?;
        let input = b.gather(inputs, time, 0)?;
        let recurrent = product(b, h, x[2], rounded.then_some(sixteen_bits))?;
        let gates = b.add(input, recurrent)?;
        let [i, o, f, g] = four(parts(b, gates, 1, 4, &hidden)?);
        let i = peep(b, i, c, peephole.as_deref(), 0)?;
        let f = peep(b, f, c, peephole.as_deref(), 2)?;
        // Before the cell where it does not see it: then nothing is between the cell and the state.
        let early = if peephole.is_none() { Some(b.sigmoid(o)?) } else { None };
        let (i, f, g) = (b.sigmoid(i)?, b.sigmoid(f)?, b.tanh(g)?);
        let (kept, new) = (b.mul(f, c)?, b.mul(i, g)?);
        let c = b.add(kept, new)?;
        let o = match early {
            Some(o) => o,
            None => {
                let o = peep(b, o, c, peephole.as_deref(), 1)?;
                b.sigmoid(o)?
            }
        };
        let bent = b.tanh(c)?;
        let h = b.mul(o, bent)?;
        Ok(vec![b.scalar_bool(true)?, h, c, h])
    })?;
    let y = in_time_order(b, results[3], direction)?;
    [y, results[1], results[2]].into_iter().map(|value| b.cast(value, dtype)).collect()
}

/// Operands `x, w, r, bias, h0`; results `y, h`.
pub(super) fn gru(
    b: &mut Builder,
    x: &[Value],
    direction: Direction,
    linear_before_reset: bool,
) -> Built<Vec<Value>> {
    let dtype = b.dtype(x[0]);
    let x = widen_all(b, x)?;
    let (hidden, steps) = (b.shape(x[4])[1].clone(), b.shape(x[0])[0].clone());
    let (w_bias, r_bias) = halves(b, x[3])?;
    let inputs = b.dot_rows(x[0], x[1])?;
    let inputs = b.add(inputs, w_bias)?;
    let r = parts(b, x[2], 0, 3, &hidden)?;
    let r_bias = parts(b, r_bias, 0, 3, &hidden)?;
    let go = b.scalar_bool(true)?;
    let results = b.repeat(steps.clone(), go, &[x[4]], 1, |b, step, state| {
        let h = state[0];
        let time = time(b, step, &steps, direction)?;
        let input = b.gather(inputs, time, 0)?;
        let input = parts(b, input, 1, 3, &hidden)?;
        let gate = |b: &mut Builder, which: usize, h: Value| {
            let recurrent = b.dot_rows(h, r[which])?;
            b.add(recurrent, r_bias[which])
        };
        let update = gate(b, 0, h)?;
        let update = b.add(input[0], update)?;
        let update = b.sigmoid(update)?;
        let reset = gate(b, 1, h)?;
        let reset = b.add(input[1], reset)?;
        let reset = b.sigmoid(reset)?;
        let recurrent = if linear_before_reset {
            let linear = gate(b, 2, h)?;
            b.mul(reset, linear)?
        } else {
            let kept = b.mul(reset, h)?;
            gate(b, 2, kept)?
        };
        let candidate = b.add(input[2], recurrent)?;
        let candidate = b.tanh(candidate)?;
        // (1 - z) * candidate + z * h
        let rest = b.neg(update)?;
        let rest = b.with_number(ScalarOp::Add, rest, 1.0)?;
        let (new, kept) = (b.mul(rest, candidate)?, b.mul(update, h)?);
        let h = b.add(new, kept)?;
        Ok(vec![b.scalar_bool(true)?, h, h])
    })?;
    let y = in_time_order(b, results[2], direction)?;
    [y, results[1]].into_iter().map(|value| b.cast(value, dtype)).collect()
}

/// Rows `[..., K]` as scales `[..., 1]` and 16-bit integers that they are to be multiplied by.
type Rounding = fn(&mut Builder, Value) -> Built<(Value, Value)>;

/// `x [..., I]` by `w [gates*H, I]`; the rows of x rounded first, or not.
fn product(b: &mut Builder, x: Value, w: Value, rounding: Option<Rounding>) -> Built {
    let Some(rounding) = rounding else { return b.dot_rows(x, w) };
    let (scale, integers) = rounding(b, x)?;
    let integers = b.cast(integers, b.dtype(x))?;
    let sums = b.dot_rows(integers, w)?;
    b.mul(sums, scale)
}

/// The greatest magnitude becomes [`GREATEST`]. Infinities and NaN are in the scale.
fn sixteen_bits(b: &mut Builder, x: Value) -> Built<(Value, Value)> {
    let sizes = b.abs(x)?;
    let most = b.reduce(ScalarOp::Max, sizes, &[b.rank(x) - 1], true)?;
    let most = b.with_number(ScalarOp::Max, most, LEAST)?;
    let scale = b.with_number(ScalarOp::Mul, most, 1.0 / GREATEST)?;
    let inverse = b.reciprocal(most)?;
    let inverse = b.with_number(ScalarOp::Mul, inverse, GREATEST)?;
    let integers = b.mul(x, inverse)?;
    let integers = b.round(integers)?;
    Ok((scale, b.cast(integers, DType::I16)?))
}

/// Differences of bytes and a zero point: [`STEPS`] lie between the least and the greatest element, or 0 where all are
/// on one side of it. Infinities and NaN are in the scale.
fn eight_bits(b: &mut Builder, x: Value) -> Built<(Value, Value)> {
    let axes = [b.rank(x) - 1];
    let end = |b: &mut Builder, f: ScalarOp| {
        let end = b.reduce(f, x, &axes, true)?;
        let end = b.with_number(f, end, 0.0)?;
        b.with_number(ScalarOp::Mul, end, 1.0 / STEPS)
    };
    let (most, least) = (end(b, ScalarOp::Max)?, end(b, ScalarOp::Min)?);
    let scale = b.sub(most, least)?;
    let scale = b.with_number(ScalarOp::Max, scale, LEAST)?;
    let inverse = b.reciprocal(scale)?;
    let below = b.with_number(ScalarOp::Mul, least, -STEPS)?;
    let below = b.mul(below, inverse)?;
    let below = b.round(below)?;
    let steps = b.mul(x, inverse)?;
    let steps = b.round(steps)?;
    let bytes = b.add(steps, below)?;
    let [bytes, zero] =
        [bytes, below].map(|value| b.cast(value, DType::U8).and_then(|byte| b.cast(byte, DType::I16)));
    Ok((scale, b.sub(bytes?, zero?)?))
}

fn halves(b: &mut Builder, bias: Value) -> Built<(Value, Value)> {
    let total = b.shape(bias)[0].clone();
    let half =
        total.div_exact(&Dim::from(2)).ok_or_else(|| format!("{total} bias elements have no halves"))?;
    Ok((b.slice_axis(bias, 0, 0, half.clone())?, b.slice_axis(bias, 0, half.clone(), half)?))
}

/// `n` pieces of `size` along an axis.
fn parts(b: &mut Builder, x: Value, axis: usize, n: i64, size: &Dim) -> Built<Vec<Value>> {
    (0..n).map(|i| b.slice_axis(x, axis, Dim::from(i) * size.clone(), size.clone())).collect()
}

fn four(parts: Vec<Value>) -> [Value; 4] {
    parts.try_into().expect("invariant: four parts were cut")
}

/// `gate + weight * cell` where there are peephole weights.
fn peep(b: &mut Builder, gate: Value, cell: Value, peephole: Option<&[Value]>, which: usize) -> Built {
    let Some(weights) = peephole else { return Ok(gate) };
    let seen = b.mul(weights[which], cell)?;
    b.add(gate, seen)
}

/// The place in the sequence that a step is at.
fn time(b: &mut Builder, step: Value, steps: &Dim, direction: Direction) -> Built {
    match direction {
        Direction::Forward => Ok(step),
        Direction::Reverse => {
            let last = b.size_as(&(steps.clone() - Dim::from(1)), DType::I64, 0)?;
            b.sub(last, step)
        }
    }
}

fn in_time_order(b: &mut Builder, stacked: Value, direction: Direction) -> Built {
    match direction {
        Direction::Forward => Ok(stacked),
        Direction::Reverse => b.reverse(stacked, 0),
    }
}
