//! Depthwise convolutions: no contraction over channels, so vectors run along channels and each window position
//! is one multiply-add of a tile of `rows x channels`.

use super::accumulator;
use super::conv::{border_free, either, result_shape, window_range, window_start};
use super::epilogue;
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, TileBox, begin};
use crate::lower::body::Body;
use crate::lower::contract::dot::plain;
use tegula_base::{DType, Dim};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_target::TargetModel;
use tegula_tensor::{TensorOp, Window};
use tegula_tile::IndexOp;

/// Result columns a tile; with one vector of channels each, weights are reused this often.
const COLUMNS: i64 = 4;

pub(super) fn lower(body: &Body, root: OpId, target: &dyn TargetModel) -> Result<Lowered, String> {
    let TensorOp::Conv { window, out, .. } = body.func.kind(root) else {
        return Err("a convolution is expected".into());
    };
    let (x, w) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let shape = result_shape(body, x, w, window);
    let last = shape.len() - 1;
    let lanes = target.lanes(body.widest());
    let columns = match shape[last].as_const() {
        Some(n) => COLUMNS.min(n.max(1)),
        None => COLUMNS,
    };
    let mut grid = vec![shape[0].clone()];
    grid.extend(shape[2..last].iter().cloned());
    grid.push(shape[1].ceil_div(&Dim::from(lanes)));
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let order = super::result_order(body, shape.len());
    let taps = Taps { body, window, x, w, acc: accumulator(*out), coordinates: cx.unit.clone() };
    let width = cx.b.index(lanes);
    let channel = *cx.unit.last().expect("invariant: the grid has a channel axis");
    let channel = cx.b.mul(channel, width);
    let whole_channels = shape[1].as_const().is_some_and(|n| n % lanes == 0);
    let channels = Axis { offset: channel, extent: lanes, step: 1, bounded: !whole_channels };
    // Whole tiles of columns, then one column at a time.
    let (zero, end) = (cx.b.index(0), cx.b.size(&shape[last]));
    let size = cx.b.index(columns);
    let whole = cx.b.index_op(IndexOp::FloorDiv, end, size);
    let whole = cx.b.mul(whole, size);
    let mut outcome = Ok(());
    for (lo, hi, extent) in [(zero, whole, columns), (whole, end, 1)] {
        cx.for_(lo, hi, extent, &[], |cx, offset, _| {
            let row = Axis { offset, extent, step: 1, bounded: false };
            outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| {
                let zero = cx.b.splat(taps.acc, &[row.extent, channels.extent], 0);
                let sum = taps.over(cx, 0, &mut Vec::new(), row, channels, zero)?;
                let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
                let mut logical = vec![one(taps.coordinates[0]), channels];
                logical.extend(taps.coordinates[1..last - 1].iter().map(|at| one(*at)));
                logical.push(row);
                let at: TileBox = order.iter().map(|axis| logical[*axis]).collect();
                let rows_first = order.iter().position(|a| *a == last) < order.iter().position(|a| *a == 1);
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

struct Taps<'a> {
    body: &'a Body,
    window: &'a Window,
    x: Value,
    w: Value,
    acc: DType,
    /// Batch, outer spatial axes, channel block.
    coordinates: Vec<Value>,
}

impl Taps<'_> {
    /// The `[row, channel]` tile of sums, over window positions from spatial axis `i` on.
    fn over(
        &self,
        cx: &mut Lowering,
        i: usize,
        taps: &mut Vec<(Value, Value)>,
        row: Axis,
        channels: Axis,
        acc: Value,
    ) -> Result<Value, String> {
        let last = self.window.size.len() - 1;
        let dilation = cx.b.index(self.window.dilations[i]);
        let position = if i < last { self.coordinates[1 + i] } else { row.offset };
        let start = window_start(cx, self.window, i, position);
        let (lo, hi) = if i < last {
            window_range(cx, self.window, self.body.shape(self.x), i, start)
        } else {
            (cx.b.index(0), cx.b.index(self.window.size[i]))
        };
        let mut outcome = Ok(());
        let sums = cx.for_(lo, hi, 1, &[acc], |cx, tap, carried| {
            let shift = cx.b.mul(tap, dilation);
            let offset = cx.b.add(start, shift);
            taps.push((tap, offset));
            let sum = if i < last {
                self.over(cx, i + 1, taps, row, channels, carried[0])
            } else {
                let step = self.window.strides[last];
                let columns = |bounded: bool| Axis { offset, extent: row.extent, step, bounded };
                let safe = border_free(cx, self.window, self.body.shape(self.x), last, columns(false));
                either(cx, safe, |cx, inside| Ok(self.tap(cx, taps, columns(!inside), channels, carried[0])))
            };
            taps.pop();
            match sum {
                Ok(sum) => vec![sum],
                Err(error) => {
                    outcome = Err(error);
                    vec![carried[0]]
                }
            }
        });
        outcome.map(|()| sums[0])
    }

    fn tap(
        &self,
        cx: &mut Lowering,
        taps: &[(Value, Value)],
        x_row: Axis,
        channels: Axis,
        acc: Value,
    ) -> Value {
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut x_at: TileBox = [one(self.coordinates[0]), channels].into_iter().collect();
        x_at.extend(taps[..taps.len() - 1].iter().map(|(_, at)| one(*at)));
        x_at.push(x_row);
        let last = x_at.len() - 1;
        let x = plain(cx, self.x, &x_at, last, 1);
        let zero = cx.b.index(0);
        let mut w_at: TileBox = [channels, one(zero)].into_iter().collect();
        w_at.extend(taps.iter().map(|(tap, _)| one(*tap)));
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
