//! Depthwise convolutions: no contraction over channels, so vectors run along channels and each window position
//! is one multiply-add of a tile of `rows x channels`.

use super::accumulator;
use super::conv::result_shape;
use super::epilogue;
use super::window::{Taps, WindowWalk, row_axis};
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, TileBox, begin};
use crate::lower::body::Body;
use crate::lower::contract::dot::plain;
use tegula_base::{DType, Dim};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_target::TargetModel;
use tegula_tensor::TensorOp;
use tegula_tile::IndexOp;

/// Result columns a tile; with one vector of channels each, weights are reused this often.
const COLUMNS: i64 = 4;

pub(super) fn lower(body: &Body, root: OpId, target: &dyn TargetModel) -> Result<Lowered, String> {
    let TensorOp::Conv { window, out, .. } = body.func.kind(root) else {
        return Err("a convolution is expected".into());
    };
    let (x, w) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let shape = result_shape(body, x, w, window);
    let row_axis = row_axis(&shape);
    let others: Vec<usize> = (0..shape.len() - 2).filter(|i| *i != row_axis).collect();
    let rows = &shape[2 + row_axis];
    let lanes = target.lanes(body.widest());
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
    let conv = Depthwise { x, w, row_axis, acc: accumulator(*out), batch: unit[0] };
    let width = cx.b.index(lanes);
    let channel = *cx.unit.last().expect("invariant: the grid has a channel axis");
    let channel = cx.b.mul(channel, width);
    let whole_channels = shape[1].as_const().is_some_and(|n| n % lanes == 0);
    let channels = Axis { offset: channel, extent: lanes, step: 1, bounded: !whole_channels };
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
                let zero = cx.b.splat(conv.acc, &[row.extent, channels.extent], 0);
                let coordinates = &unit[1..1 + others.len()];
                let walk =
                    WindowWalk { window, x: body.shape(x), row_axis, others: coordinates, row, short: true };
                let sum =
                    walk.run(cx, zero, &|cx, taps, x_row, sum| Ok(conv.tap(cx, taps, x_row, channels, sum)))?;
                let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
                let mut logical = vec![row; shape.len()];
                (logical[0], logical[1]) = (one(unit[0]), channels);
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
}

impl Depthwise {
    /// Adds one window position to a `[row, channel]` tile of sums.
    fn tap(&self, cx: &mut Lowering, taps: &Taps, x_row: Axis, channels: Axis, acc: Value) -> Value {
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut x_at: TileBox = [one(self.batch), channels].into_iter().collect();
        x_at.extend(taps.iter().flatten().map(|tap| one(tap.input)));
        x_at[2 + self.row_axis] = x_row;
        let x = plain(cx, self.x, &x_at, 2 + self.row_axis, 1);
        let zero = cx.b.index(0);
        let mut w_at: TileBox = [channels, one(zero)].into_iter().collect();
        w_at.extend(taps.iter().flatten().map(|tap| one(tap.position)));
        let w = plain(cx, self.w, &w_at, 1, 0);
        let shape = [x_row.extent, channels.extent];
        let w = cx.b.broadcast(w, &shape);
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
