//! The recipe of scatters: one work unit copies the data, then applies the updates one element at a time in
//! row-major order, so that the last of equal indices wins and sums are taken in a fixed order. Whole slices are set as they
//! lie (`slices.rs`). In place nothing is copied, and slices that cannot meet are units of their own.

mod slices;

use super::Lowered;
use super::access::{Axis, Coordinate, Lowering, TileBox, begin};
use super::body::Body;
use crate::TileMachine;
use tegula_base::Shape;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Layout, ScatterKind, TensorOp};

/// `in_place`: the result has the data's memory.
pub(super) fn lower(body: &Body, in_place: bool, machine: &dyn TileMachine) -> Result<Lowered, String> {
    let root = body.root().ok_or("a scatter is expected")?;
    let [data, indices, updates] = *body.func.operands(root) else {
        return Err("a scatter takes data, indices and updates".into());
    };
    if body.results != [body.func.result(root)] {
        return Err("a scatter has no epilogue".into());
    }
    let shape = body.shape(data).clone();
    // Threads that share a unit would set a row beside its copy.
    let in_order = in_place || machine.facts().rows.rereads_results;
    if in_order && let Some(slices) = slices::Slices::of(body, root, in_place) {
        return slices.lower(body, machine, |cx| match in_place {
            true => Ok(()),
            false => copy(cx, data, &shape, machine, body),
        });
    }
    let (mut kernel, buffers) = begin(body, vec![]);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    if !in_place {
        copy(&mut cx, data, &shape, machine, body)?;
    }
    let update_shape = body.shape(updates).clone();
    let zero = cx.b.index(0);
    let mut at: TileBox =
        std::iter::repeat_n(Axis { offset: zero, extent: 1, step: 1, bounded: false }, update_shape.rank())
            .collect();
    let kind = body.func.kind(root).clone();
    let filled = cx.is_filled(&shape).unwrap_or_else(|| cx.b.index(1));
    let mut outcome = Ok(());
    let mut update_one = |cx: &mut Lowering, at: &[Axis]| {
        let (coordinates, f) = match &kind {
            TensorOp::ScatterElements { axis, kind } => {
                let index = cx.pull(indices, at)?;
                let own = (0..at.len())
                    .map(|k| if k == *axis { Coordinate::Index(index) } else { Coordinate::Own(k) });
                (own.collect::<Vec<_>>(), *kind)
            }
            TensorOp::ScatterNd { kind } => {
                let (mut coordinates, outer) = cx.nd_coordinates(indices, 0, at)?;
                let rest = shape.rank() - coordinates.len();
                coordinates.extend((0..rest).map(|i| Coordinate::Own(outer + i)));
                (coordinates, *kind)
            }
            _ => return Err("a scatter is expected".into()),
        };
        let strides =
            Layout::row_major(shape.rank()).strides(&shape).expect("invariant: row-major has strides");
        let place = cx.linear(&shape, &strides, &coordinates, at);
        let update = cx.pull(updates, at)?;
        let view = cx.flat_result().ok_or("a scatter needs a flat view of its result")?;
        let value = match combine(f) {
            None => update,
            Some(f) => {
                let old = cx.b.gather(view, place);
                cx.b.elementwise(f, &[old, update])
            }
        };
        cx.b.scatter(view, value, place);
        Ok(())
    };
    // Data without elements takes no update.
    cx.when(filled, |cx| outcome = each_element(cx, &update_shape, 0, &mut at, &mut update_one));
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

fn combine(kind: ScatterKind) -> Option<ScalarOp> {
    match kind {
        ScatterKind::Set => None,
        ScatterKind::Add => Some(ScalarOp::Add),
        ScatterKind::Mul => Some(ScalarOp::Mul),
        ScatterKind::Min => Some(ScalarOp::Min),
        ScatterKind::Max => Some(ScalarOp::Max),
    }
}

/// Copies `data` to the result, rows along the innermost axis.
fn copy(
    cx: &mut Lowering,
    data: Value,
    shape: &Shape,
    machine: &dyn TileMachine,
    body: &Body,
) -> Result<(), String> {
    let zero = cx.b.index(0);
    let mut at: TileBox =
        std::iter::repeat_n(Axis { offset: zero, extent: 1, step: 1, bounded: false }, shape.rank())
            .collect();
    let widest = body.widest();
    let (tile, lanes) = (machine.row_tile(widest, 1), machine.lanes(widest));
    let Some(lane) = (0..shape.rank()).rev().find(|i| !shape[*i].is_const(1)) else {
        let tile = cx.pull(data, &at)?;
        cx.store(0, tile, &at);
        return Ok(());
    };
    let outer: Shape = shape[..lane].iter().cloned().collect();
    let extent = cx.b.size(&shape[lane]);
    each_element(cx, &outer, 0, &mut at, &mut |cx, at| {
        let mut outcome = Ok(());
        let zero = cx.b.index(0);
        cx.lane_loop(zero, extent, tile, lanes, &[], |cx, axis, _| {
            let mut at: TileBox = at.into();
            at[lane] = axis;
            match cx.pull(data, &at) {
                Ok(tile) => cx.store(0, tile, &at),
                Err(error) => outcome = Err(error),
            }
            vec![]
        });
        outcome
    })
}

/// Visits every coordinate of the first axes of `at`, as many as `shape` has, in row-major order.
fn each_element(
    cx: &mut Lowering,
    shape: &Shape,
    axis: usize,
    at: &mut TileBox,
    visit: &mut dyn FnMut(&mut Lowering, &[Axis]) -> Result<(), String>,
) -> Result<(), String> {
    if axis == shape.rank() {
        return visit(cx, at);
    }
    let mut outcome = Ok(());
    let (lo, hi) = (cx.b.index(0), cx.b.size(&shape[axis]));
    cx.for_(lo, hi, 1, &[], |cx, i, _| {
        at[axis].offset = i;
        outcome = each_element(cx, shape, axis + 1, at, visit);
        vec![]
    });
    outcome
}
