//! The recipe of concatenations: the joined axis and all inside of it are one row in memory, and each operand fills
//! its part of the row.
//!
//! Vectors run along the innermost axis that is not 1. Rows of known length that are short are copied several a unit,
//! whole vectors and one exact rest each; of others a unit copies a piece.

use super::Lowered;
use super::access::{Axis, Lowering, TileBox, begin};
use super::body::Body;
use crate::TileMachine;
use tegula_base::Dim;
use tegula_ir::Value;
use tegula_tensor::TensorOp;
use tegula_tile::IndexOp;

pub(super) fn lower(body: &Body, machine: &dyn TileMachine) -> Result<Lowered, String> {
    let root = body.root().ok_or("a concatenation is expected")?;
    let TensorOp::Concat { axis } = body.func.kind(root) else {
        return Err("a concatenation is expected".into());
    };
    let axis = *axis;
    let result = body.func.result(root);
    if body.results.iter().any(|value| *value != result) {
        return Err("a concatenation has no epilogue".into());
    }
    let shape = body.shape(result).clone();
    let parts: Vec<Value> = body.func.operands(root).to_vec();
    let lane = (0..shape.rank()).rev().find(|i| !shape[*i].is_const(1)).unwrap_or(axis);
    let widest = body.widest();
    let (tile, lanes) = (machine.row_tile(widest, 1), machine.lanes(widest));
    let longest = |axis: usize| {
        let mut extents = parts.iter().map(|part| body.shape(*part)[axis].clone());
        let first = extents.next().unwrap_or(Dim::from(1));
        extents.fold(first, |longest, extent| longest.maximum(&extent))
    };
    let unit = (machine.facts().rows.unit_bytes.0 as i64 / widest.size() as i64 / tile).max(1) * tile;
    let outer: Vec<usize> = (0..shape.rank()).filter(|i| *i != lane && !shape[*i].is_const(1)).collect();
    // Each unit does its share of every part along the joined axis.
    let mut grid: Vec<Dim> = outer.iter().map(|axis| longest(*axis)).collect();
    let short = longest(lane).as_const().filter(|extent| *extent <= unit);
    let rows = outer.last().copied().filter(|row| *row != axis).zip(short);
    match (rows, grid.last_mut()) {
        (Some((_, extent)), Some(last)) => *last = last.ceil_div(&Dim::from(unit / extent.max(1))),
        _ if short.is_none() => grid.push(longest(lane).ceil_div(&Dim::from(unit))),
        _ => {}
    }
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let zero = cx.b.index(0);
    let mut at: TileBox =
        std::iter::repeat_n(Axis { offset: zero, extent: 1, step: 1, bounded: false }, shape.rank())
            .collect();
    for (i, axis) in outer.iter().enumerate() {
        at[*axis].offset = cx.unit[i];
    }
    let join = Join { parts, axis, guarded: outer.contains(&axis), lane, tile, lanes };
    match rows {
        Some((row, extent)) => {
            let (first, end) = share(&mut cx, at[row].offset, unit / extent.max(1));
            let rows = cx.b.size(&shape[row]);
            let end = cx.b.index_op(IndexOp::Min, end, rows);
            let mut outcome = Ok(());
            cx.for_(first, end, 1, &[], |cx, position, _| {
                at[row].offset = position;
                outcome = join.copy(cx, &at, None);
                vec![]
            });
            outcome?;
        }
        None if short.is_some() => join.copy(&mut cx, &at, None)?,
        None => {
            let piece = *cx.unit.last().expect("invariant: the grid has an axis of pieces");
            let piece = share(&mut cx, piece, unit);
            join.copy(&mut cx, &at, Some(piece))?;
        }
    }
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// First and end of share `i` of `size` each.
fn share(cx: &mut Lowering, i: Value, size: i64) -> (Value, Value) {
    let size = cx.b.index(size);
    let first = cx.b.mul(i, size);
    (first, cx.b.add(first, size))
}

struct Join {
    parts: Vec<Value>,
    axis: usize,
    /// The joined axis is one of the grid: parts are shorter than it.
    guarded: bool,
    /// The axis that vectors run along.
    lane: usize,
    /// Elements a step along the lane axis, and a vector.
    tile: i64,
    lanes: i64,
}

impl Join {
    /// Copies the row of every part at `at`: a piece of its lane axis (first, end), or all of it, of known length.
    fn copy(&self, cx: &mut Lowering, at: &TileBox, piece: Option<(Value, Value)>) -> Result<(), String> {
        let mut outcome = Ok(());
        let mut start = Dim::from(0);
        for part in &self.parts {
            let extent = cx.body.shape(*part)[self.axis].clone();
            let here = cx.b.size(&start);
            let mut copy = |cx: &mut Lowering| {
                let copied = match piece {
                    Some((first, end)) => self.copy_piece(cx, *part, at, here, first, end),
                    None => self.copy_whole(cx, *part, at, here),
                };
                outcome = std::mem::replace(&mut outcome, Ok(())).and(copied);
            };
            if self.guarded {
                let size = cx.b.size(&extent);
                let inside = cx.b.index_op(IndexOp::Lt, at[self.axis].offset, size);
                cx.when(inside, &mut copy);
            } else {
                copy(cx);
            }
            start = start + extent;
        }
        outcome
    }

    /// The box in the result of a box in a part that starts at `here` along the joined axis.
    fn place(&self, cx: &mut Lowering, from: &TileBox, here: Value) -> TileBox {
        let mut to = from.clone();
        to[self.axis].offset = cx.b.add(from[self.axis].offset, here);
        to
    }

    fn copy_whole(&self, cx: &mut Lowering, part: Value, at: &TileBox, here: Value) -> Result<(), String> {
        let extent = cx.body.shape(part)[self.lane].as_const();
        let extent = extent.ok_or("invariant: rows that are copied whole have a known length")?;
        let whole = extent / self.tile * self.tile;
        let mut outcome = Ok(());
        let mut run = |cx: &mut Lowering, offset: Value, extent: i64| {
            let mut from = at.clone();
            from[self.lane] = Axis { offset, extent, step: 1, bounded: false };
            let to = self.place(cx, &from, here);
            let copied = cx.pull(part, &from).map(|tile| cx.store(0, tile, &to));
            outcome = std::mem::replace(&mut outcome, Ok(())).and(copied);
        };
        let (zero, rest) = (cx.b.index(0), cx.b.index(whole));
        cx.for_(zero, rest, self.tile, &[], |cx, offset, _| {
            run(cx, offset, self.tile);
            vec![]
        });
        if extent > whole {
            run(cx, rest, extent - whole);
        }
        outcome
    }

    fn copy_piece(
        &self,
        cx: &mut Lowering,
        part: Value,
        at: &TileBox,
        here: Value,
        first: Value,
        end: Value,
    ) -> Result<(), String> {
        let extent = cx.body.shape(part)[self.lane].clone();
        let extent = cx.b.size(&extent);
        let hi = cx.b.index_op(IndexOp::Min, end, extent);
        let hi = cx.b.index_op(IndexOp::Max, hi, first);
        let mut outcome = Ok(());
        cx.lane_loop(first, hi, self.tile, self.lanes, &[], |cx, lanes_axis, _| {
            let mut from = at.clone();
            from[self.lane] = lanes_axis;
            let to = self.place(cx, &from, here);
            // Past this part's end belongs to the next part: a bounded tile is cut at its own extent.
            let cut = lanes_axis.bounded && self.lane == self.axis;
            let copied = cx.pull(part, &from).map(|tile| match cut {
                false => cx.store(0, tile, &to),
                true => store_cut(cx, tile, &from, &to, self.lane, hi),
            });
            outcome = std::mem::replace(&mut outcome, Ok(())).and(copied);
            vec![]
        });
        outcome
    }
}

/// Stores the elements below `hi` one by one: the end of a part inside of a row.
fn store_cut(cx: &mut Lowering, tile: Value, from: &[Axis], to: &[Axis], lane: usize, hi: Value) {
    let extent = from[lane].extent;
    for i in 0..extent {
        let shift = cx.b.index(i);
        let position = cx.b.add(from[lane].offset, shift);
        let inside = cx.b.index_op(IndexOp::Lt, position, hi);
        let mut at: TileBox = to.into();
        at[lane] = Axis { offset: cx.b.add(to[lane].offset, shift), extent: 1, step: 1, bounded: false };
        let shape: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let mut offsets = vec![0; shape.len()];
        offsets[lane] = i;
        let element = cx.b.extract(tile, &offsets, &shape);
        cx.when(inside, |cx| cx.store(0, element, &at));
    }
}
