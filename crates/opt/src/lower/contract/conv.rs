//! Convolutions as contractions over the window and the channels of a group, on the input as it lies.
//!
//! A tile's rows run along one spatial axis; `window.rs` walks the positions.

use super::dot::{packed, plain};
use super::window::{Taps, WindowWalk, row_axis};
use super::{ROW_TAILS, RightSide, Traversal, accumulator, epilogue, over_k, right_side};
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, TileBox, begin};
use crate::lower::body::Body;
use tegula_base::{Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_target::TargetModel;
use tegula_tensor::{TensorOp, Window};

struct Conv<'a> {
    body: &'a Body,
    root: OpId,
    x: Value,
    w: Value,
    /// Channels of a group.
    inner: Dim,
    groups: i64,
    packing: RightSide,
    /// Memory order of the result's logical axes (batch, channels, spatial...), as the root's type shows it.
    order: Vec<usize>,
    /// Contraction steps unrolled.
    unroll: i64,
    /// The spatial axis (from 0) along which a tile's rows run.
    row_axis: usize,
}

/// Where one result tile is.
struct Place<'a> {
    /// Batch, group, the other spatial axes.
    coordinates: &'a [Value],
    /// Channels within the group.
    column: Axis,
    panel: Value,
}

pub(super) fn lower(
    body: &Body,
    root: OpId,
    target: &dyn TargetModel,
    symbols: &Symbols,
) -> Result<Lowered, String> {
    let TensorOp::Conv { window, groups, out } = body.func.kind(root) else {
        return Err("a convolution is expected".into());
    };
    let (x, w) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let packing = right_side(body, w, 0);
    let shape = result_shape(body, x, w, window);
    let channels = shape[1].floor_div(&Dim::from(*groups));
    let row_axis = row_axis(&shape);
    let others: Vec<usize> = (0..shape.len() - 2).filter(|i| *i != row_axis).collect();
    let inner = body.shape(w)[1].clone();
    let reach: i64 = window.size.iter().product();
    let acc = accumulator(*out);
    let operands = [x, w].map(|value| body.func.ty(value).dtype);
    let k = inner.clone() * Dim::from(reach);
    let contract = super::of_conv(operands, &shape, *groups, k, *out, packing != RightSide::Plain);
    let mut tile = target.contract_tile(&contract, symbols);
    if let RightSide::Panels { width } | RightSide::Quads { width } = packing {
        tile.n = width;
    }
    let cut = *groups > 1;
    if cut && channels.as_const().is_none() {
        tile.n = 1;
    }
    let traversal = Traversal { tile, m: shape[2 + row_axis].clone(), n: channels, cut, tails: &ROW_TAILS };
    let unroll = match packing {
        RightSide::Quads { .. } => 4,
        RightSide::Plain | RightSide::Panels { .. } => tile.k,
    };
    let order = super::result_order(body, shape.len());
    let conv = Conv { body, root, x, w, inner, groups: *groups, packing, order, unroll, row_axis };
    // Grid: batch, groups, outer spatial axes, then rows and columns.
    let mut grid = vec![shape[0].clone(), Dim::from(*groups)];
    grid.extend(others.iter().map(|i| shape[2 + i].clone()));
    let fixed = grid.len();
    grid.extend(traversal.grid());
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let coordinates = cx.unit[..fixed].to_vec();
    let unit = cx.unit[fixed..].to_vec();
    let width = shape[1].floor_div(&Dim::from(*groups));
    traversal.tiles(&mut cx, &unit, &mut |cx, row, column, panel| {
        let zero = cx.b.splat(acc, &[row.extent, column.extent], 0);
        let place = Place { coordinates: &coordinates, column, panel };
        let walk = WindowWalk { window, x: body.shape(x), row_axis, others: &coordinates[2..], row };
        let sum =
            walk.run(cx, zero, &|cx, taps, x_row, sum| conv.over_channels(cx, &place, taps, x_row, sum))?;
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut logical: Vec<Axis> = vec![one(coordinates[0]); shape.len()];
        let size = cx.b.size(&width);
        let group_start = cx.b.mul(coordinates[1], size);
        logical[1] = Axis { offset: cx.b.add(group_start, column.offset), ..column };
        for (i, at) in others.iter().zip(&coordinates[2..]) {
            logical[2 + i] = one(*at);
        }
        logical[2 + row_axis] = row;
        conv.finish(cx, sum, &logical, 2 + row_axis)
    })?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// The logical result shape `[batch, channels, spatial...]`.
pub(super) fn result_shape(body: &Body, x: Value, w: Value, window: &Window) -> Vec<Dim> {
    let (x, w) = (body.shape(x), body.shape(w));
    let spatial = (0..window.size.len()).map(|i| window.output(i, &x[2 + i]));
    [x[0].clone(), w[0].clone()].into_iter().chain(spatial).collect()
}

impl Conv<'_> {
    fn over_channels(
        &self,
        cx: &mut Lowering,
        place: &Place,
        taps: &Taps,
        x_row: Axis,
        acc: Value,
    ) -> Result<Value, String> {
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let Place { coordinates, column, panel, .. } = *place;
        let size = cx.b.size(&self.inner);
        let first_channel = cx.b.mul(coordinates[1], size);
        over_k(cx, &self.inner, self.unroll, 1, acc, &mut |cx, step, sum| {
            let channel = cx.b.add(first_channel, step.offset);
            let mut x_at: TileBox =
                [one(coordinates[0]), Axis { offset: channel, ..step }].into_iter().collect();
            x_at.extend(taps.iter().flatten().map(|tap| one(tap.input)));
            x_at[2 + self.row_axis] = x_row;
            let a = plain(cx, self.x, &x_at, 2 + self.row_axis, 1);
            let b = match self.packing {
                RightSide::Plain => {
                    let columns = cx.b.size(&self.body.shape(self.w)[0].floor_div(&Dim::from(self.groups)));
                    let group = cx.b.mul(coordinates[1], columns);
                    let offset = cx.b.add(group, column.offset);
                    let mut w_at: TileBox = [Axis { offset, ..column }, step].into_iter().collect();
                    w_at.extend(taps.iter().flatten().map(|tap| one(tap.position)));
                    plain(cx, self.w, &w_at, 1, 0)
                }
                RightSide::Panels { .. } | RightSide::Quads { .. } => {
                    let between: Vec<Axis> = taps.iter().flatten().map(|tap| one(tap.position)).collect();
                    packed(cx, self.w, self.packing, &[], &between, step, panel)
                }
            };
            Ok(cx.b.dot(sum, a, b))
        })
    }

    /// Runs the epilogue on an `[m, n]` accumulator; `logical` is the box in the root's logical axes.
    fn finish(&self, cx: &mut Lowering, sum: Value, logical: &[Axis], row: usize) -> Result<(), String> {
        let position = |axis: usize| self.order.iter().position(|a| *a == axis);
        let tile = if position(row) < position(1) { sum } else { cx.b.transpose(sum, &[1, 0]) };
        let at: TileBox = self.order.iter().map(|axis| logical[*axis]).collect();
        epilogue(cx, self.root, tile, &at)
    }
}
