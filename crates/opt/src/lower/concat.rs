//! The recipe of concatenations: the joined axis and all inside of it are one row in memory, and each operand fills
//! its part of the row.

use super::Lowered;
use super::access::{Axis, Lowering, TileBox, begin};
use super::body::Body;
use tegula_base::Dim;
use tegula_ir::Value;
use tegula_target::TargetModel;
use tegula_tensor::TensorOp;
use tegula_tile::IndexOp;

pub(super) fn lower(body: &Body, target: &dyn TargetModel) -> Result<Lowered, String> {
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
    // Vectors run along the innermost axis that is not 1; the grid is all other axes of the result, and along the
    // joined axis each unit does its share of every part.
    let lane = (0..shape.rank()).rev().find(|i| !shape[*i].is_const(1)).unwrap_or(axis);
    let widest = body.widest();
    let (tile, lanes) = (target.row_tile(widest, 1), target.lanes(widest));
    let longest = |axis: usize| {
        let mut extents = parts.iter().map(|part| body.shape(*part)[axis].clone());
        let first = extents.next().unwrap_or(Dim::from(1));
        extents.fold(first, |longest, extent| longest.maximum(&extent))
    };
    let chunk = (target.unit_bytes().0 as i64 / widest.size() as i64 / tile).max(1) * tile;
    let outer: Vec<usize> = (0..shape.rank()).filter(|i| *i != lane && !shape[*i].is_const(1)).collect();
    let mut grid: Vec<Dim> = outer.iter().map(|axis| longest(*axis)).collect();
    grid.push(longest(lane).ceil_div(&Dim::from(chunk)));
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let zero = cx.b.index(0);
    let mut at: TileBox =
        std::iter::repeat_n(Axis { offset: zero, extent: 1, step: 1, bounded: false }, shape.rank())
            .collect();
    for (i, axis) in outer.iter().enumerate() {
        at[*axis].offset = cx.unit[i];
    }
    let chunk_size = cx.b.index(chunk);
    let chunk_unit = *cx.unit.last().expect("invariant: the grid has a chunk axis");
    let first = cx.b.mul(chunk_unit, chunk_size);
    let mut outcome: Result<(), String> = Ok(());
    let mut start = Dim::from(0);
    for part in parts {
        let extent = body.shape(part).clone();
        let here = cx.b.size(&start);
        let lane_extent = cx.b.size(&extent[lane]);
        let end = cx.b.add(first, chunk_size);
        let hi = cx.b.index_op(IndexOp::Min, end, lane_extent);
        let hi = cx.b.index_op(IndexOp::Max, hi, first);
        let mut copy = |cx: &mut Lowering| {
            cx.lane_loop(first, hi, tile, lanes, &[], |cx, lanes_axis, _| {
                let mut from = at.clone();
                from[lane] = lanes_axis;
                let mut to = from.clone();
                to[axis].offset = cx.b.add(from[axis].offset, here);
                outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| {
                    // Past this part's end belongs to the next part: a bounded tile is cut at its own extent.
                    let bounded = lanes_axis.bounded && lane == axis;
                    let tile = cx.pull(part, &from)?;
                    match bounded {
                        false => cx.store(0, tile, &to),
                        true => store_cut(cx, tile, &from, &to, lane, hi),
                    }
                    Ok(())
                });
                vec![]
            });
        };
        // Along a joined outer axis, parts are shorter than the grid.
        if outer.contains(&axis) {
            let size = cx.b.size(&extent[axis]);
            let inside = cx.b.index_op(IndexOp::Lt, at[axis].offset, size);
            cx.when(inside, &mut copy);
        } else {
            copy(&mut cx);
        }
        start = start + extent[axis].clone();
    }
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
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
