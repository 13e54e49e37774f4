//! Gathers and scatters, and ops whose results have as many elements as the data says.

use crate::build::axis_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{ScatterKind, TensorOp};

pub(super) const ROWS: &[Row] = &[
    op("Gather", gather).moves(),
    op("GatherElements", gather_elements).moves(),
    op("GatherND", gather_nd).moves(),
    op("Scatter", scatter_elements),
    op("ScatterElements", scatter_elements),
    op("ScatterND", scatter_nd),
    op("TensorScatter", tensor_scatter),
    op("ReverseSequence", reverse_sequence),
    op("NonZero", non_zero),
    op("Compress", compress).moves(),
    op("Unique", unique),
    op("NonMaxSuppression", non_max_suppression),
];

/// Asserts that indices are inside of an axis, where the caller wants that.
fn check_indices(cx: &mut Cx, data: Value, indices: Value, axis: usize) -> Outcome<()> {
    let extent = cx.dim(data, axis);
    if cx.checked { cx.expect_inside(indices, &extent) } else { Ok(()) }
}

/// As [`check_indices`], of coordinates along the last axis of indices, behind `batch` axes of data.
fn check_coordinates(cx: &mut Cx, data: Value, indices: Value, batch: usize) -> Outcome<()> {
    let rank = cx.rank(indices);
    let depth = cx.shape(indices).last().and_then(Dim::as_const).unwrap_or(0);
    if !cx.checked || rank == 0 || batch + depth as usize > cx.rank(data) {
        return Ok(());
    }
    for place in 0..depth as usize {
        let part = cx.slice_axis(indices, rank - 1, Dim::from(place), Dim::from(1))?;
        let extent = cx.dim(data, batch + place);
        cx.expect_inside(part, &extent)?;
    }
    Ok(())
}

fn gather(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices) = (node.operand(0)?, node.operand(1)?);
    let axis = axis_in(node.int("axis", 0), cx.rank(data))?;
    check_indices(cx, data, indices, axis)?;
    Ok(vec![cx.gather(data, indices, axis)?])
}

fn gather_elements(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices) = (node.operand(0)?, node.operand(1)?);
    let axis = axis_in(node.int("axis", 0), cx.rank(data))?;
    check_indices(cx, data, indices, axis)?;
    Ok(vec![cx.emit(TensorOp::GatherElements { axis }, &[data, indices])?])
}

fn gather_nd(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices) = (node.operand(0)?, node.operand(1)?);
    let batch_dims =
        usize::try_from(node.int("batch_dims", 0)).map_err(|_| Fault::invalid("batch_dims is negative"))?;
    check_coordinates(cx, data, indices, batch_dims)?;
    Ok(vec![cx.emit(TensorOp::GatherNd { batch_dims }, &[data, indices])?])
}

fn scatter_kind(node: &Node) -> Outcome<ScatterKind> {
    match node.text("reduction", "none").as_str() {
        "none" => Ok(ScatterKind::Set),
        "add" => Ok(ScatterKind::Add),
        "mul" => Ok(ScatterKind::Mul),
        "min" => Ok(ScatterKind::Min),
        "max" => Ok(ScatterKind::Max),
        other => Err(Fault::invalid(format!("reduction `{other}` is none of none, add, mul, min, max"))),
    }
}

fn scatter_elements(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices, updates) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let axis = axis_in(node.int("axis", 0), cx.rank(data))?;
    let kind = scatter_kind(node)?;
    check_indices(cx, data, indices, axis)?;
    let shape = cx.shape(indices);
    let updates = cx.respelled(updates, shape, "there must be an update for each index")?;
    Ok(vec![cx.emit(TensorOp::ScatterElements { axis, kind }, &[data, indices, updates])?])
}

fn scatter_nd(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices, updates) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let kind = scatter_kind(node)?;
    check_coordinates(cx, data, indices, 0)?;
    let (shape, places) = (cx.shape(data), cx.shape(indices));
    let depth = places.last().and_then(Dim::as_const).and_then(|depth| usize::try_from(depth).ok());
    let updates = match depth.and_then(|depth| shape.get(depth..)) {
        Some(slice) => {
            let shape: Shape = places[..places.rank() - 1].iter().chain(slice).cloned().collect();
            cx.respelled(updates, shape, "there must be an update for each index")?
        }
        None => updates,
    };
    Ok(vec![cx.emit(TensorOp::ScatterNd { kind }, &[data, indices, updates])?])
}

/// Writes `update` into a cache along an axis, for each batch from its own index on.
fn tensor_scatter(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (cache, update) = (node.operand(0)?, node.operand(1)?);
    let rank = cx.rank(cache);
    let axis = axis_in(node.int("axis", -2), rank)?;
    let circular = match node.text("mode", "linear").as_str() {
        "linear" => false,
        "circular" => true,
        other => return Err(Fault::invalid(format!("mode `{other}` is neither linear nor circular"))),
    };
    Ok(vec![written_from(cx, cache, update, axis, node.optional(2), circular)?])
}

/// `cache` with `update` written along `axis` from `starts` on: one for each element of axis 0, or 0; those that are
/// circular go on at the start of the axis.
pub(super) fn written_from(
    cx: &mut Cx,
    cache: Value,
    update: Value,
    axis: usize,
    starts: Option<Value>,
    circular: bool,
) -> Outcome {
    let rank = cx.rank(cache);
    let mut places = cx.places_along(update, axis)?;
    if let Some(starts) = starts {
        let starts = cx.cast(starts, DType::I64)?;
        let starts = cx.lay_along(starts, 0, rank)?;
        places = cx.add(places, starts)?;
    }
    if circular {
        let own_extent = cx.dim(cache, axis);
        let extent = cx.size_as(own_extent, DType::I64, rank)?;
        places = cx.binary(ScalarOp::Mod, places, extent)?;
    }
    let shape = cx.shape(update);
    let places = cx.broadcast_to(places, &shape)?;
    cx.emit(TensorOp::ScatterElements { axis, kind: ScatterKind::Set }, &[cache, places, update])
}

fn reverse_sequence(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, lengths) = (node.operand(0)?, node.operand(1)?);
    let rank = cx.rank(x);
    let (batch, time) = (axis_in(node.int("batch_axis", 1), rank)?, axis_in(node.int("time_axis", 0), rank)?);
    if batch == time {
        return Err(Fault::invalid(format!("batch_axis and time_axis are both {batch}")));
    }
    let places = cx.places_along(x, time)?;
    let lengths = cx.cast(lengths, DType::I64)?;
    let lengths = cx.lay_along(lengths, batch, rank)?;
    let mirrored = cx.sub(lengths, places)?;
    let mirrored = cx.with_number(ScalarOp::Sub, mirrored, 1.0)?;
    let inside = cx.binary(ScalarOp::Lt, places, lengths)?;
    let places = cx.select(inside, mirrored, places)?;
    let shape = cx.shape(x);
    let places = cx.broadcast_to(places, &shape)?;
    Ok(vec![cx.emit(TensorOp::GatherElements { axis: time }, &[x, places])?])
}

fn non_zero(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (places, _) = found(cx, x)?;
    Ok(vec![places])
}

/// Coordinates `i64[rank, n]` of the elements that are not 0, and `n`.
pub(super) fn found(cx: &mut Cx, x: Value) -> Outcome<(Value, Dim)> {
    let results = cx.emit_many(TensorOp::NonZero {}, &[x])?;
    let shape = cx.shape(x);
    let count = cx.size_or_bind(results[1], "nonzero", shape.count())?;
    Ok((cx.slice_axis(results[0], 1, Dim::from(0), count.clone())?, count))
}

fn compress(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, condition) = (node.operand(0)?, node.operand(1)?);
    let (x, axis) = match node.optional_int("axis") {
        Some(axis) => (x, axis_in(axis, cx.rank(x))?),
        None => {
            let count = cx.shape(x).count();
            (cx.reshape(x, [count])?, 0)
        }
    };
    let (places, count) = found(cx, condition)?;
    let places = cx.reshape(places, [count])?;
    Ok(vec![cx.gather(x, places, axis)?])
}

fn unique(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = node.optional_int("axis").map(|axis| axis_in(axis, cx.rank(x))).transpose()?;
    let sorted = node.flag("sorted", true);
    let results = cx.emit_many(TensorOp::Unique { axis, sorted }, &[x])?;
    let along = axis.unwrap_or(0);
    let extent = cx.dim(results[0], along);
    let count = cx.size_or_bind(results[4], "unique", extent)?;
    let cut =
        |cx: &mut Cx, value: Value, axis: usize| cx.slice_axis(value, axis, Dim::from(0), count.clone());
    Ok(vec![cut(cx, results[0], along)?, cut(cx, results[1], 0)?, results[2], cut(cx, results[3], 0)?])
}

fn non_max_suppression(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (boxes, scores) = (node.operand(0)?, node.operand(1)?);
    let scalar = |cx: &mut Cx, i: usize, dtype: DType, default: f64| match node.optional(i) {
        Some(value) => {
            let value = cx.reshape(value, Shape::scalar())?;
            cx.cast(value, dtype)
        }
        None => cx.splat(dtype, Shape::scalar(), default),
    };
    let per_class = scalar(cx, 2, DType::I64, 0.0)?;
    let iou = scalar(cx, 3, DType::F32, 0.0)?;
    let score = scalar(cx, 4, DType::F32, f64::from(f32::NEG_INFINITY))?;
    cx.expect_rank(boxes, 3, "boxes [N,B,4]")?;
    cx.expect_rank(scores, 3, "scores [N,C,B]")?;
    let most = cx.dim(boxes, 1);
    let boxes = {
        let shape = [cx.dim(boxes, 0), most.clone(), Dim::from(4)];
        cx.respelled(boxes, shape, "a box must have four coordinates")?
    };
    let scores = {
        let shape = [cx.dim(boxes, 0), cx.dim(scores, 1), most.clone()];
        cx.respelled(scores, shape, "there must be a score for each box")?
    };
    let limit = match cx.known_sizes(per_class).as_deref() {
        Some([limit]) => limit.clone(),
        _ => most,
    };
    let center_point_box = node.flag("center_point_box", false);
    let kind = TensorOp::NonMaxSuppression { center_point_box, limit };
    let results = cx.emit_many(kind, &[boxes, scores, per_class, iou, score])?;
    let extent = cx.dim(results[0], 0);
    let count = cx.size_or_bind(results[1], "selected", extent)?;
    Ok(vec![cx.slice_axis(results[0], 0, Dim::from(0), count)?])
}
