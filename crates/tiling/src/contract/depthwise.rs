//! Depthwise convolutions, and grouped ones whose groups are narrower than a vector: vectors run along channels of several
//! groups, and each window position is a multiply-add of a tile of `rows x channels` for each channel of a group's input,
//! which goes to all lanes of its group.

use super::accumulator;
use super::conv::result_shape;
use super::epilogue;
use super::window::{Taps, WindowWalk, row_axis};
use crate::Lowered;
use crate::TileMachine;
use crate::access::{Axis, Lowering, TileBox, begin};
use crate::body::Body;
use crate::contract::dot::plain;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tile::IndexOp;

/// Result columns a tile; with one vector of channels each, weights are reused this often.
const COLUMNS: i64 = 4;

/// Of a group's input and result.
#[derive(Clone, Copy)]
struct Channels {
    input: i64,
    result: i64,
}

/// What this recipe takes: depthwise convolutions of any numbers, and groups of floats that fill at most half a vector each,
/// some to a vector. A group of bytes is summed four channels at once elsewhere.
fn channels(weights: &Shape, groups: i64, [x, w]: [DType; 2], machine: &dyn TileMachine) -> Option<Channels> {
    let (input, all) = (weights[1].as_const()?, weights[0].as_const()?);
    if groups < 2 || all < groups || all % groups != 0 || input == 0 {
        return None;
    }
    let result = all / groups;
    let lanes = machine.lanes(accumulator(x));
    let is_thin = machine.facts().contractions.shuffles_groups
        && x.is_float()
        && w.is_float()
        && 2 * result <= lanes
        && lanes % result == 0
        && input <= result;
    (is_thin || input == 1 && result == 1).then_some(Channels { input, result })
}

/// Whether this recipe takes a convolution by these weights, `[channels, channels of a group's input, window...]`.
pub(crate) fn takes(weights: &Shape, groups: i64, operands: [DType; 2], machine: &dyn TileMachine) -> bool {
    channels(weights, groups, operands, machine).is_some()
}

pub(super) fn lower(body: &Body, root: OpId, machine: &dyn TileMachine) -> Result<Lowered, String> {
    let TensorOp::Conv { window, groups, out } = body.func.kind(root) else {
        return Err("a convolution is expected".into());
    };
    let (x, w) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let operands = [x, w].map(|value| body.func.ty(value).dtype);
    let channels = channels(body.shape(w), *groups, operands, machine).ok_or("groups fill no vectors")?;
    let shape = result_shape(body, x, w, window);
    let row_axis = row_axis(&shape);
    let others: Vec<usize> = (0..shape.len() - 2).filter(|i| *i != row_axis).collect();
    let rows = &shape[2 + row_axis];
    // Groups divide the lanes that they were asked for by; single channels divide any.
    let lanes = if channels.result == 1 {
        machine.lanes(body.widest())
    } else {
        machine.lanes(accumulator(operands[0]))
    };
    let columns = match rows.as_const() {
        Some(n) => COLUMNS.min(n.max(1)),
        None => COLUMNS,
    };
    let mut grid = vec![shape[0].clone()];
    grid.extend(others.iter().map(|i| shape[2 + i].clone()));
    grid.push(shape[1].ceil_div(&Dim::from(lanes)));
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let order = super::result_order(body, shape.len());
    let unit = cx.unit.clone();
    let vector = *cx.unit.last().expect("invariant: the grid has a channel axis");
    let bounded = shape[1].as_const().is_none_or(|n| n % lanes != 0);
    let mut along = |extent: i64| {
        let width = cx.b.index(extent);
        Axis { offset: cx.b.mul(vector, width), extent, step: 1, bounded }
    };
    let inputs = along(lanes / channels.result * channels.input);
    let results = along(lanes);
    let conv =
        Depthwise { x, w, row_axis, acc: accumulator(*out), batch: unit[0], channels, inputs, results };
    // Whole tiles of columns, then one column at a time.
    let (zero, end) = (cx.b.index(0), cx.b.size(rows));
    let size = cx.b.index(columns);
    let whole = cx.b.index_op(IndexOp::FloorDiv, end, size);
    let whole = cx.b.mul(whole, size);
    let mut outcome = Ok(());
    for (lo, hi, extent) in [(zero, whole, columns), (whole, end, 1)] {
        cx.for_(lo, hi, extent, &[], |cx, offset, _| {
            let row = Axis { offset, extent, step: 1, bounded: false };
            outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| {
                let zero = cx.b.splat(conv.acc, &[row.extent, lanes], 0);
                let coordinates = &unit[1..1 + others.len()];
                let walk =
                    WindowWalk { window, x: body.shape(x), row_axis, others: coordinates, row, short: true };
                let sum = walk.run(cx, zero, &|cx, taps, x_row, sum| Ok(conv.tap(cx, taps, x_row, sum)))?;
                let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
                let mut logical = vec![row; shape.len()];
                (logical[0], logical[1]) = (one(unit[0]), results);
                for (i, at) in others.iter().zip(coordinates) {
                    logical[2 + i] = one(*at);
                }
                let at: TileBox = order.iter().map(|axis| logical[*axis]).collect();
                let rows_first =
                    order.iter().position(|a| *a == 2 + row_axis) < order.iter().position(|a| *a == 1);
                let tile = if rows_first { sum } else { cx.b.transpose(sum, &[1, 0]) };
                epilogue(cx, root, tile, &at)
            });
            vec![]
        });
        if columns == 1 {
            break;
        }
    }
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

struct Depthwise {
    x: Value,
    w: Value,
    row_axis: usize,
    acc: DType,
    batch: Value,
    channels: Channels,
    /// A vector's channels of the result, and those of the input that they are computed from.
    results: Axis,
    inputs: Axis,
}

impl Depthwise {
    /// Adds one window position to a `[row, channel]` tile of sums.
    fn tap(&self, cx: &mut Lowering, taps: &Taps, x_row: Axis, acc: Value) -> Value {
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut x_at: TileBox = [one(self.batch), self.inputs].into_iter().collect();
        x_at.extend(taps.iter().flatten().map(|tap| one(tap.input)));
        x_at[2 + self.row_axis] = x_row;
        let x = plain(cx, self.x, &x_at, 2 + self.row_axis, 1);
        let mut sum = acc;
        for channel in 0..self.channels.input {
            let number = cx.b.index(channel);
            let mut w_at: TileBox = [self.results, one(number)].into_iter().collect();
            w_at.extend(taps.iter().flatten().map(|tap| one(tap.position)));
            let w = plain(cx, self.w, &w_at, 1, 0);
            let w = cx.b.broadcast(w, &[x_row.extent, self.results.extent]);
            let x = self.of_groups(cx, x, channel);
            sum = self.multiply_add(cx, [x, w], sum);
        }
        sum
    }

    /// One channel of each group's input in all lanes of the group.
    fn of_groups(&self, cx: &mut Lowering, x: Value, channel: i64) -> Value {
        let Channels { input, result } = self.channels;
        if result == 1 {
            return x;
        }
        let rows = cx.b.tile_type(x).1[0];
        let groups = self.results.extent / result;
        let x = cx.b.reshape(x, &[rows, groups, input]);
        let x = cx.b.extract(x, &[0, 0, channel], &[rows, groups, 1]);
        let x = cx.b.broadcast(x, &[rows, groups, result]);
        cx.b.reshape(x, &[rows, self.results.extent])
    }

    fn multiply_add(&self, cx: &mut Lowering, [x, w]: [Value; 2], acc: Value) -> Value {
        let (x, w) = (self.wide(cx, x), self.wide(cx, w));
        if self.acc.is_float() {
            return cx.b.elementwise(ScalarOp::Fma, &[x, w, acc]);
        }
        let product = cx.b.elementwise(ScalarOp::Mul, &[x, w]);
        cx.b.elementwise(ScalarOp::Add, &[acc, product])
    }

    fn wide(&self, cx: &mut Lowering, tile: Value) -> Value {
        match cx.b.tile_type(tile).0 == self.acc {
            true => tile,
            false => cx.b.elementwise(ScalarOp::Cast { to: self.acc, saturate: true }, &[tile]),
        }
    }
}
