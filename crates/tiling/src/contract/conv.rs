//! Convolutions as contractions over the window and the channels of a group, on the input as it lies.
//!
//! A tile's rows run along one spatial axis; `window.rs` walks the positions.

use super::dot::{packed, plain};
use super::prefetch::Ahead;
use super::window::{Taps, WindowWalk, row_axis};
use super::{
    LastColumns, RightSide, TileAt, TileOfResult, Traversal, WINDOW_ROW_TAILS, Walk, accumulator, epilogue,
    over_k, right_side,
};
use crate::Lowered;
use crate::access::{Axis, Lowering, TileBox, begin};
use crate::body::Body;
use crate::{Contract, ContractTile, TileMachine};
use tegula_base::{Bytes, DType, Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_tensor::{TensorOp, Window};
use tegula_tile::IndexOp;

struct Conv<'a> {
    body: &'a Body,
    root: OpId,
    x: Value,
    w: Value,
    /// What products are summed in.
    acc: DType,
    /// Channels of a group.
    inner: Dim,
    groups: i64,
    packing: RightSide,
    /// Memory order of the result's logical axes (batch, channels, spatial...), as the root's type shows it.
    order: Vec<usize>,
    /// The spatial axis (from 0) along which a tile's rows run.
    row_axis: usize,
}

/// Where one result tile is.
struct Place<'a> {
    /// Batch, group, the other spatial axes.
    coordinates: &'a [Value],
    /// Channels within the group.
    column: Axis,
    /// Among those of all groups.
    panel: Value,
    next: Option<Ahead>,
    steps: Walk,
}

/// What the target is asked about a convolution's tile.
/// Errors: it is no convolution.
pub(super) fn contract(body: &Body, root: OpId) -> Result<Contract, String> {
    let TensorOp::Conv { window, groups, out } = body.func.kind(root) else {
        return Err("a convolution is expected".into());
    };
    let (x, w) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let operands = [x, w].map(|value| body.func.ty(value).dtype);
    let reach: i64 = window.size.iter().product();
    let k = body.shape(w)[1].clone() * Dim::from(reach);
    let panels = right_side(body, w, 0).panels();
    Ok(super::of_conv(operands, &result_shape(body, x, w, window), *groups, k, *out, panels))
}

pub(super) fn lower(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
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
    let acc = accumulator(*out);
    let mut tile = machine.contract_tile(&contract(body, root)?, symbols);
    tile.n = packing.width().unwrap_or(tile.n);
    let last_columns = if *groups > 1 { LastColumns::Cut } else { LastColumns::of(packing) };
    if *groups > 1 && channels.as_const().is_none() {
        tile.n = 1;
    }
    // Packed groups are whole panels, one group's after another's.
    let group_panels = channels.ceil_div(&Dim::from(tile.n));
    let traversal = Traversal {
        tile,
        m: shape[2 + row_axis].clone(),
        n: channels,
        last_columns,
        tails: &WINDOW_ROW_TAILS,
    };
    let order = super::result_order(body, shape.len());
    let conv = Conv { body, root, x, w, acc, inner, groups: *groups, packing, order, row_axis };
    let lines = LineBlock::of(body, &conv, machine, &others, &shape);
    // Grid: batch, groups, outer spatial axes (the last of them in blocks), then rows and columns, a block's lines
    // just ahead of the row tiles: one panel of weights serves all of them.
    let mut grid = vec![shape[0].clone(), Dim::from(*groups)];
    grid.extend(others.iter().map(|i| shape[2 + i].clone()));
    let fixed = grid.len();
    let [row_blocks, panels, row_tiles] = traversal.grid();
    grid.extend([row_blocks, panels]);
    if let Some(block) = &lines {
        let blocks = Dim::from(block.lines);
        grid[fixed - 1] = block.extent.ceil_div(&blocks);
        grid.push(block.extent.minimum(&blocks));
    }
    grid.push(row_tiles.clone());
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let mut coordinates = cx.unit[..fixed].to_vec();
    let mut unit = cx.unit[fixed..].to_vec();
    let mut is_there = cx.b.index(1);
    let mut tile_number = None;
    if let Some(block) = &lines {
        let within = unit.remove(2);
        let (count, tiles) = (cx.b.index(block.lines), cx.b.size(&row_tiles));
        let first = cx.b.mul(coordinates[fixed - 1], count);
        coordinates[fixed - 1] = cx.b.add(first, within);
        is_there = block.is_inside(&mut cx, coordinates[fixed - 1]);
        let before = cx.b.mul(within, tiles);
        tile_number = Some(cx.b.add(before, unit[2]));
    }
    let mut outcome = Ok(());
    cx.when(is_there, |cx| {
        let panels = cx.b.size(&group_panels);
        let unit_of = UnitOf {
            conv: &conv,
            machine,
            window,
            shape: &shape,
            tile: &tile,
            coordinates: &coordinates,
            first_panel: cx.b.mul(coordinates[1], panels),
            block: lines.as_ref().zip(tile_number),
        };
        outcome = traversal.tiles(cx, &unit, &unit_of);
    });
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// Tiles of one unit.
struct UnitOf<'a> {
    conv: &'a Conv<'a>,
    machine: &'a dyn TileMachine,
    window: &'a Window,
    /// The result's, `[batch, channels, spatial...]`.
    shape: &'a [Dim],
    tile: &'a ContractTile,
    /// Batch, group, the other spatial axes.
    coordinates: &'a [Value],
    /// Of the group's.
    first_panel: Value,
    /// Lines that a panel serves, and the unit's place among their tiles.
    block: Option<(&'a LineBlock, Value)>,
}

impl TileOfResult for UnitOf<'_> {
    fn sums(&self, cx: &mut Lowering, at: &TileAt) -> Result<Value, String> {
        let Conv { body, x, w, row_axis, packing, .. } = *self.conv;
        let (TileAt { row, column, panel }, inner) = (*at, &self.conv.inner);
        let zero = cx.b.splat(self.conv.acc, &[row.extent, column.extent], 0);
        let steps = Walk::new(self.tile, packing, inner.as_const(), row.extent);
        let panel = cx.b.add(self.first_panel, panel);
        let next = self.block.and_then(|(block, number)| {
            let reach: i64 = self.window.size.iter().product();
            let right = (w, &(inner.clone() * Dim::from(reach)));
            Ahead::panel(cx, self.machine, right, (self.tile, steps), block.lines, &[], [panel, number])
        });
        let place = Place { coordinates: self.coordinates, column, panel, next, steps };
        let others = &self.coordinates[2..];
        let short = inner.as_const().is_some_and(|channels| channels <= FEW_CHANNELS);
        let walk = WindowWalk { window: self.window, x: body.shape(x), row_axis, others, row, short };
        walk.run(cx, zero, &|cx, taps, x_row, sum| self.conv.over_channels(cx, &place, taps, x_row, sum))
    }

    /// The sums' axes in the order of the root's.
    fn finish(&self, cx: &mut Lowering, at: &TileAt, sums: Value) -> Result<(), String> {
        let TileAt { row, column, .. } = *at;
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut logical: Vec<Axis> = vec![one(self.coordinates[0]); self.shape.len()];
        let size = cx.b.size(&self.shape[1].floor_div(&Dim::from(self.conv.groups)));
        let group_start = cx.b.mul(self.coordinates[1], size);
        logical[1] = Axis { offset: cx.b.add(group_start, column.offset), ..column };
        let row_axis = 2 + self.conv.row_axis;
        let others = (2..self.shape.len()).filter(|axis| *axis != row_axis);
        for (axis, at) in others.zip(&self.coordinates[2..]) {
            logical[axis] = one(*at);
        }
        logical[row_axis] = row;
        let order = &self.conv.order;
        let position = |axis: usize| order.iter().position(|a| *a == axis);
        let tile = if position(row_axis) < position(1) { sums } else { cx.b.transpose(sums, &[1, 0]) };
        let at: TileBox = order.iter().map(|axis| logical[*axis]).collect();
        epilogue(cx, self.conv.root, tile, &at)
    }
}

/// Lines of the result (its rows of tiles along the innermost of the other spatial axes) that one panel of weights
/// serves before the next panel is touched.
struct LineBlock {
    lines: i64,
    extent: Dim,
}

impl LineBlock {
    /// `None` where each line goes by itself.
    fn of(
        body: &Body,
        conv: &Conv,
        machine: &dyn TileMachine,
        others: &[usize],
        shape: &[Dim],
    ) -> Option<LineBlock> {
        if conv.packing == RightSide::Plain {
            return None;
        }
        let axis = *others.last()?;
        let TensorOp::Conv { window, .. } = body.func.kind(conv.root) else { return None };
        let bytes =
            |value: Value, elements: i64| Bytes((elements * body.func.ty(value).dtype.size() as i64) as u64);
        // Of a group, which is all that a line meets before the next group.
        let weights =
            body.shape(conv.w).iter().try_fold(1, |size, dim| Some(size * dim.as_const()?))? / conv.groups;
        let width = body.shape(conv.x)[2 + conv.row_axis].as_const().unwrap_or(USUAL_WIDTH);
        let line = body.shape(conv.x)[1].as_const()? / conv.groups * width * window.strides[axis];
        let lines = machine.lines_of_panel(bytes(conv.w, weights), bytes(conv.x, line));
        (lines > 1).then(|| LineBlock { lines, extent: shape[2 + axis].clone() })
    }

    /// Whether a line of the last block is one of the result.
    fn is_inside(&self, cx: &mut Lowering, line: Value) -> Value {
        match self.extent.as_const() {
            Some(extent) if extent % self.lines == 0 || extent < self.lines => cx.b.index(1),
            _ => {
                let extent = cx.b.size(&self.extent);
                cx.b.index_op(IndexOp::Lt, line, extent)
            }
        }
    }
}

/// Up to so many channels (an image's, and one more) a window's position is little work. By judgement, for first
/// layers; no measurement at other counts.
const FEW_CHANNELS: i64 = 4;
/// Pixels of an input's line that are assumed where it is not known: an image of some 640 pixels after four
/// halvings. By judgement: where it is off, only a tile's width is.
const USUAL_WIDTH: i64 = 40;

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
        let tap = self.tap_start(cx, taps);
        let first_channel = match self.groups {
            1 => cx.b.index(0),
            _ => {
                let size = cx.b.size(&self.inner);
                cx.b.mul(coordinates[1], size)
            }
        };
        let mut ahead = |cx: &mut Lowering, k: Value| {
            if let Some(next) = &place.next {
                next.round(cx, tap, k);
            }
        };
        over_k(cx, &self.inner, place.steps, acc, &mut ahead, &mut |cx, step, sum| {
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
                RightSide::Panels { .. } | RightSide::Groups { .. } => {
                    let between: Vec<Axis> = taps.iter().flatten().map(|tap| one(tap.position)).collect();
                    packed(cx, self.w, self.packing, &[], &between, step, panel)
                }
            };
            Ok(cx.b.dot(sum, a, b))
        })
    }

    /// Where the channels of a window position begin in a column of the weights.
    fn tap_start(&self, cx: &mut Lowering, taps: &Taps) -> Value {
        let window = &self.body.shape(self.w)[2..];
        let mut position = cx.b.index(0);
        for (tap, extent) in taps.iter().flatten().zip(window) {
            let extent = cx.b.size(extent);
            let line = cx.b.mul(position, extent);
            position = cx.b.add(line, tap.position);
        }
        let channels = cx.b.size(&self.inner);
        cx.b.mul(position, channels)
    }
}
