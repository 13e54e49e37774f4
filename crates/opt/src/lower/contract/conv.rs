//! Convolutions as contractions over the window and the channels of a group, on the input as it lies.
//!
//! Along all spatial axes but the innermost the window is cut to the rows inside of the input, so padding costs
//! nothing. Along the innermost axis a tile of result columns that touches the border reads bounded (outside is 0),
//! all others read unbounded.

use super::dot::{packed, plain};
use super::{RightSide, Traversal, accumulator, epilogue, over_k, right_side};
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, TileBox, begin};
use crate::lower::body::Body;
use tegula_base::{Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_target::{Contract, TargetModel};
use tegula_tensor::{TensorOp, Window};
use tegula_tile::IndexOp;

struct Conv<'a> {
    body: &'a Body,
    root: OpId,
    window: &'a Window,
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
}

/// Where one result tile is.
struct Place<'a> {
    /// Batch, group, outer spatial axes.
    coordinates: &'a [Value],
    /// Innermost spatial axis of the result.
    row: Axis,
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
    let last = shape.len() - 1;
    let inner = body.shape(w)[1].clone();
    let reach: i64 = window.size.iter().product();
    let acc = accumulator(*out);
    let contract = Contract {
        batch: shape[2..last].iter().fold(shape[0].clone(), |batch, dim| batch * dim.clone()),
        m: shape[last].clone(),
        n: channels.clone(),
        k: inner.clone() * Dim::from(reach),
        lhs: body.func.ty(x).dtype,
        rhs: body.func.ty(w).dtype,
        acc,
        rhs_constant: packing != RightSide::Plain,
    };
    let mut tile = target.contract_tile(&contract, symbols);
    if let RightSide::Panels { width } | RightSide::Quads { width } = packing {
        tile.n = width;
    }
    let traversal = Traversal { tile, m: shape[last].clone(), n: channels };
    let unroll = match packing {
        RightSide::Quads { .. } => 4,
        RightSide::Plain | RightSide::Panels { .. } => tile.k,
    };
    let order = super::result_order(body, shape.len());
    let conv = Conv { body, root, window, x, w, inner, groups: *groups, packing, order, unroll };
    // Grid: batch, groups, outer spatial axes, then rows and columns.
    let mut grid = vec![shape[0].clone(), Dim::from(*groups)];
    grid.extend(shape[2..last].iter().cloned());
    let fixed = grid.len();
    grid.extend(traversal.grid());
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let coordinates = cx.unit[..fixed].to_vec();
    let unit = cx.unit[fixed..].to_vec();
    let width = shape[1].floor_div(&Dim::from(*groups));
    traversal.tiles(&mut cx, &unit, &mut |cx, row, column, panel| {
        let zero = cx.b.splat(acc, &[row.extent, column.extent], 0);
        let place = Place { coordinates: &coordinates, row, column, panel };
        let sum = conv.over_window(cx, &place, 0, &mut Vec::new(), zero)?;
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut logical: Vec<Axis> = vec![one(coordinates[0]); shape.len()];
        let size = cx.b.size(&width);
        let group_start = cx.b.mul(coordinates[1], size);
        logical[1] = Axis { offset: cx.b.add(group_start, column.offset), ..column };
        for (i, at) in coordinates[2..].iter().enumerate() {
            logical[2 + i] = one(*at);
        }
        logical[last] = row;
        conv.finish(cx, sum, &logical, last)
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
    /// Loops over window positions from spatial axis `i` on; `taps` holds (window position, input coordinate) of
    /// the axes before.
    fn over_window(
        &self,
        cx: &mut Lowering,
        place: &Place,
        i: usize,
        taps: &mut Vec<(Value, Value)>,
        acc: Value,
    ) -> Result<Value, String> {
        let last = self.window.size.len() - 1;
        let dilation = cx.b.index(self.window.dilations[i]);
        let position = if i < last { place.coordinates[2 + i] } else { place.row.offset };
        let start = window_start(cx, self.window, i, position);
        let (lo, hi) = if i < last {
            window_range(cx, self.window, self.body.shape(self.x), i, start)
        } else {
            (cx.b.index(0), cx.b.index(self.window.size[i]))
        };
        let mut outcome = Ok(());
        let sums = cx.for_(lo, hi, 1, &[acc], |cx, tap, carried| {
            let shift = cx.b.mul(tap, dilation);
            let at = cx.b.add(start, shift);
            taps.push((tap, at));
            let sum = match i < last {
                true => self.over_window(cx, place, i + 1, taps, carried[0]),
                false => self.tap(cx, place, taps, at, carried[0]),
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

    /// One window position, whose first input column is `at`; only where the tile's columns leave the input are
    /// reads bounded.
    fn tap(
        &self,
        cx: &mut Lowering,
        place: &Place,
        taps: &[(Value, Value)],
        at: Value,
        acc: Value,
    ) -> Result<Value, String> {
        let last = self.window.size.len() - 1;
        let columns = |bounded: bool| Axis {
            offset: at,
            extent: place.row.extent,
            step: self.window.strides[last],
            bounded,
        };
        let safe = border_free(cx, self.window, self.body.shape(self.x), last, columns(false));
        either(cx, safe, |cx, inside| self.over_channels(cx, place, taps, columns(!inside), acc))
    }

    fn over_channels(
        &self,
        cx: &mut Lowering,
        place: &Place,
        taps: &[(Value, Value)],
        x_row: Axis,
        acc: Value,
    ) -> Result<Value, String> {
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let Place { coordinates, column, panel, .. } = *place;
        let size = cx.b.size(&self.inner);
        let first_channel = cx.b.mul(coordinates[1], size);
        over_k(cx, &self.inner, self.unroll, acc, &mut |cx, step, sum| {
            let channel = cx.b.add(first_channel, step.offset);
            let mut x_at: TileBox =
                [one(coordinates[0]), Axis { offset: channel, ..step }].into_iter().collect();
            x_at.extend(taps[..taps.len() - 1].iter().map(|(_, at)| one(*at)));
            x_at.push(x_row);
            let a = plain(cx, self.x, &x_at, x_at.len() - 1, 1);
            let b = match self.packing {
                RightSide::Plain => {
                    let columns = cx.b.size(&self.body.shape(self.w)[0].floor_div(&Dim::from(self.groups)));
                    let group = cx.b.mul(coordinates[1], columns);
                    let offset = cx.b.add(group, column.offset);
                    let mut w_at: TileBox = [Axis { offset, ..column }, step].into_iter().collect();
                    w_at.extend(taps.iter().map(|(tap, _)| one(*tap)));
                    plain(cx, self.w, &w_at, 1, 0)
                }
                RightSide::Panels { .. } | RightSide::Quads { .. } => {
                    let between: Vec<Axis> = taps.iter().map(|(tap, _)| one(*tap)).collect();
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

/// `o * stride - low`: the input coordinate of the window's first element for result coordinate `o`.
pub(in crate::lower) fn window_start(cx: &mut Lowering, window: &Window, i: usize, o: Value) -> Value {
    let stride = cx.b.index(window.strides[i]);
    let scaled = cx.b.mul(o, stride);
    let low = cx.b.size(&window.low[i]);
    cx.b.sub(scaled, low)
}

/// The window positions along spatial axis `i` that fall inside of the input, for a window that starts at `start`.
pub(in crate::lower) fn window_range(
    cx: &mut Lowering,
    window: &Window,
    x: &tegula_base::Shape,
    i: usize,
    start: Value,
) -> (Value, Value) {
    let (zero, size) = (cx.b.index(0), cx.b.index(window.size[i]));
    if window.low[i].is_const(0) && window.high[i].is_const(0) {
        return (zero, size);
    }
    let dilation = cx.b.index(window.dilations[i]);
    let before = cx.b.sub(zero, start);
    let lo = ceil_div(cx, before, dilation);
    let lo = cx.b.index_op(IndexOp::Max, lo, zero);
    let extent = cx.b.size(&x[2 + i]);
    let left = cx.b.sub(extent, start);
    let hi = ceil_div(cx, left, dilation);
    let hi = cx.b.index_op(IndexOp::Min, hi, size);
    (lo, hi)
}

fn ceil_div(cx: &mut Lowering, a: Value, b: Value) -> Value {
    let one = cx.b.index(1);
    let sum = cx.b.add(a, b);
    let sum = cx.b.sub(sum, one);
    cx.b.index_op(IndexOp::FloorDiv, sum, b)
}

/// Builds `body` for tiles inside of the input and, where that is decided at run time, again for tiles at its border.
pub(super) fn either(
    cx: &mut Lowering,
    inside: Value,
    body: impl Fn(&mut Lowering, bool) -> Result<Value, String>,
) -> Result<Value, String> {
    if let Some(flag) = cx.b.known(inside) {
        return body(cx, flag != 0);
    }
    let scope = cx.b.begin_if(inside);
    let whole = cx.scope(|cx| body(cx, true))?;
    cx.b.begin_else(&scope, &[whole]);
    let border = cx.scope(|cx| body(cx, false))?;
    Ok(cx.b.end_if(scope, &[border])[0])
}

/// 1 where the input columns `columns` of one window position along spatial axis `i` are all inside of the input.
pub(super) fn border_free(
    cx: &mut Lowering,
    window: &Window,
    x: &tegula_base::Shape,
    i: usize,
    columns: Axis,
) -> Value {
    if window.low[i].is_const(0) && window.high[i].is_const(0) {
        return cx.b.index(1);
    }
    let zero = cx.b.index(0);
    let starts = cx.b.index_op(IndexOp::Le, zero, columns.offset);
    let reach = cx.b.index((columns.extent - 1) * columns.step);
    let end = cx.b.add(columns.offset, reach);
    let extent = cx.b.size(&x[2 + i]);
    let ends = cx.b.index_op(IndexOp::Lt, end, extent);
    cx.b.index_op(IndexOp::And, starts, ends)
}
