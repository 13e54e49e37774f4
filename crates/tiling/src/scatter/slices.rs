//! The recipe of an update that sets whole rows: a cache's new keys, for instance.
//!
//! The place along an axis is the same for all elements of a row, so that rows are stored as they lie. In place, rows that
//! cannot meet, as they differ in an axis that no index names, are units of their own; those that can are set in row-major
//! order by one unit, so that the last of equal indices wins. Where the data is copied first, one unit does all.

use crate::Lowered;
use crate::TileMachine;
use crate::access::{Axis, Lowering, TileBox, begin};
use crate::body::Body;
use std::collections::BTreeSet;
use tegula_base::Dim;
use tegula_ir::{Def, OpId, Value};
use tegula_tensor::{ScatterKind, TensorOp};

pub(super) struct Slices {
    indices: Value,
    updates: Value,
    /// The result's shape.
    shape: Vec<Dim>,
    /// Axes of the updates that one unit walks over; the innermost is a row, the others are the grid.
    walked: Vec<usize>,
    /// `scatter_elements`: the axis that is indexed. `scatter_nd`: the axes of the updates that have a coordinate each, and how
    /// many axes it names.
    indexed: Indexed,
}

#[derive(Clone, Copy)]
enum Indexed {
    Axis(usize),
    First { outer: usize, depth: usize },
}

impl Slices {
    /// `None` where the updates are no whole rows, or are combined with what is there.
    pub fn of(body: &Body, root: OpId, in_place: bool) -> Option<Slices> {
        let [data, indices, updates] = *body.func.operands(root) else { return None };
        let (shape, rows) = (body.shape(data), body.shape(updates));
        let row = rows.rank().checked_sub(1)?;
        if shape.iter().last() != rows.iter().last()
            || !body.result_types[0].layout_or_default().is_row_major()
        {
            return None;
        }
        let (walked, indexed) = match *body.func.kind(root) {
            TensorOp::ScatterElements { axis, kind: ScatterKind::Set } => {
                let is_row = axis != row && !varies(body, indices, row);
                is_row.then(|| (vec![axis], Indexed::Axis(axis)))?
            }
            TensorOp::ScatterNd { kind: ScatterKind::Set } => {
                let outer = body.shape(indices).rank().checked_sub(1)?;
                let depth = body.shape(indices)[outer].as_const()? as usize;
                (depth < shape.rank()).then(|| ((0..outer).collect(), Indexed::First { outer, depth }))?
            }
            _ => return None,
        };
        let walked = if in_place { walked } else { (0..row).collect() };
        Some(Slices { indices, updates, shape: shape.to_vec(), walked, indexed })
    }

    /// `prepare` comes first in each unit.
    pub fn lower(
        &self,
        body: &Body,
        machine: &dyn TileMachine,
        prepare: impl FnOnce(&mut Lowering) -> Result<(), String>,
    ) -> Result<Lowered, String> {
        let rows = body.shape(self.updates).clone();
        let row = rows.rank() - 1;
        let grid: Vec<usize> = (0..row).filter(|axis| !self.walked.contains(axis)).collect();
        let (mut kernel, buffers) = begin(body, grid.iter().map(|axis| rows[*axis].clone()).collect());
        let mut cx = Lowering::new(body, &mut kernel, buffers);
        prepare(&mut cx)?;
        let zero = cx.b.index(0);
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let mut at: TileBox = std::iter::repeat_n(one(zero), rows.rank()).collect();
        for (number, axis) in grid.iter().enumerate() {
            at[*axis] = one(cx.unit[number]);
        }
        let widest = body.widest();
        let (tile, lanes) = (machine.row_tile(widest, 1), machine.lanes(widest));
        let extent = cx.b.size(&rows[row]);
        let filled = cx.is_filled(&self.shape).unwrap_or_else(|| cx.b.index(1));
        let walked: Vec<(usize, Dim)> = self.walked.iter().map(|axis| (*axis, rows[*axis].clone())).collect();
        let mut outcome = Ok(());
        // Data without elements takes no update.
        cx.when(filled, |cx| {
            outcome = walk(cx, &walked, &mut at, &mut |cx, at| {
                let places = self.places(cx, at)?;
                let mut stored = Ok(());
                cx.lane_loop(zero, extent, tile, lanes, &[], |cx, axis, _| {
                    let mut from: TileBox = at.into();
                    from[row] = axis;
                    match cx.pull(self.updates, &from) {
                        Ok(tile) => {
                            let to = self.target(&places, &from);
                            let extents: Vec<i64> = to.iter().map(|axis| axis.extent).collect();
                            let tile = cx.b.reshape(tile, &extents);
                            cx.store(0, tile, &to);
                        }
                        Err(error) => stored = Err(error),
                    }
                    vec![]
                });
                stored
            });
        });
        outcome?;
        let buffers = cx.finish();
        Ok(Lowered { kernel, buffers })
    }

    /// Where the row goes along each axis that is indexed.
    fn places(&self, cx: &mut Lowering, at: &[Axis]) -> Result<Vec<Value>, String> {
        let place = |cx: &mut Lowering, at: &[Axis], extent: &Dim| {
            let tile = cx.pull(self.indices, at)?;
            let scalar = cx.b.reshape(tile, &[]);
            let index = cx.b.to_index(scalar);
            Ok(cx.wrap_index(index, extent))
        };
        match self.indexed {
            Indexed::Axis(axis) => Ok(vec![place(cx, at, &self.shape[axis])?]),
            Indexed::First { outer, depth } => (0..depth)
                .map(|k| {
                    let mut index_box: TileBox = at[..outer].into();
                    let offset = cx.b.index(k as i64);
                    index_box.push(Axis { offset, extent: 1, step: 1, bounded: false });
                    place(cx, &index_box, &self.shape[k])
                })
                .collect(),
        }
    }

    /// The box of the result that a box of the updates is.
    fn target(&self, places: &[Value], from: &[Axis]) -> TileBox {
        let one = |offset: &Value| Axis { offset: *offset, extent: 1, step: 1, bounded: false };
        match self.indexed {
            Indexed::Axis(axis) => {
                let mut to: TileBox = from.into();
                to[axis] = one(&places[0]);
                to
            }
            Indexed::First { outer, .. } => {
                places.iter().map(one).chain(from[outer..].iter().copied()).collect()
            }
        }
    }
}

/// Visits every coordinate of some axes, in row-major order.
fn walk(
    cx: &mut Lowering,
    axes: &[(usize, Dim)],
    at: &mut TileBox,
    visit: &mut dyn FnMut(&mut Lowering, &[Axis]) -> Result<(), String>,
) -> Result<(), String> {
    let Some(((axis, extent), rest)) = axes.split_first() else { return visit(cx, at) };
    let mut outcome = Ok(());
    let (lo, hi) = (cx.b.index(0), cx.b.size(extent));
    cx.for_(lo, hi, 1, &[], |cx, i, _| {
        at[*axis].offset = i;
        outcome = walk(cx, rest, at, visit);
        vec![]
    });
    outcome
}

/// Whether a value may differ along an axis.
fn varies(body: &Body, value: Value, axis: usize) -> bool {
    varies_but(body, value, axis, &mut BTreeSet::new())
}

/// As [`varies`]; those in `same` are known not to differ.
fn varies_but(body: &Body, value: Value, axis: usize, same: &mut BTreeSet<Value>) -> bool {
    if !same.insert(value) {
        return false;
    }
    if body.shape(value)[axis].is_const(1) {
        return false;
    }
    let Def::Result(op, _) = body.func.def(value) else { return true };
    match body.func.kind(op) {
        TensorOp::Splat { .. } => false,
        TensorOp::Iota { axis: along, .. } => *along == axis,
        TensorOp::Elementwise { .. } | TensorOp::Broadcast { .. } => {
            body.func.operands(op).iter().any(|operand| varies_but(body, *operand, axis, same))
        }
        _ => true,
    }
}
