//! Reductions, arg-reductions, running sums and products, top-k and the like.
//! Axes known only at run time reduce through a mask, see [`reduce_at_run_time`].

use super::means::whole_mean;
use crate::build::{axes_in, axis_in};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op("ReduceSum", |cx, node| reduce(cx, node, Kind::Sum)),
    op("ReduceMean", |cx, node| reduce(cx, node, Kind::Mean)).widens(),
    op("ReduceMax", |cx, node| reduce(cx, node, Kind::Max)),
    op("ReduceMin", |cx, node| reduce(cx, node, Kind::Min)),
    op("ReduceProd", |cx, node| reduce(cx, node, Kind::Product)),
    op("ReduceL1", |cx, node| reduce(cx, node, Kind::L1)),
    op("ReduceL2", |cx, node| reduce(cx, node, Kind::L2)).widens(),
    op("ReduceLogSum", |cx, node| reduce(cx, node, Kind::LogSum)).widens(),
    op("ReduceLogSumExp", |cx, node| reduce(cx, node, Kind::LogSumExp)).widens(),
    op("ReduceSumSquare", |cx, node| reduce(cx, node, Kind::SumSquare)).widens(),
    op("ArgMax", |cx, node| arg_reduce(cx, node, true)),
    op("ArgMin", |cx, node| arg_reduce(cx, node, false)),
    op("CumSum", |cx, node| scan(cx, node, ScalarOp::Add)),
    op("CumProd", |cx, node| scan(cx, node, ScalarOp::Mul)),
    op_between("TopK", 1, 9, top_k),
    op_since("TopK", 10, top_k),
    op("LpNormalization", lp_normalization).widens(),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    Mean,
    Max,
    Min,
    Product,
    L1,
    L2,
    LogSum,
    LogSumExp,
    SumSquare,
}

impl Kind {
    fn combine(self, dtype: DType) -> ScalarOp {
        match self {
            Kind::Max if dtype == DType::Bool => ScalarOp::Or,
            Kind::Min if dtype == DType::Bool => ScalarOp::And,
            Kind::Max => ScalarOp::Max,
            Kind::Min => ScalarOp::Min,
            Kind::Product => ScalarOp::Mul,
            _ => ScalarOp::Add,
        }
    }
}

fn reduce(cx: &mut Cx, node: &Node, kind: Kind) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let keep = node.flag("keepdims", true);
    let rank = cx.rank(x);
    // Axes became an operand of ReduceSum in opset 13 and of the others in 18.
    let axes = match node.optional(1) {
        None => node.ints("axes").unwrap_or_default(),
        Some(list) => match cx.known_ints(list) {
            Some(axes) => axes,
            None if cx.element_count(list)? == 0 => vec![],
            None => return reduce_at_run_time(cx, kind, x, list, keep),
        },
    };
    if axes.is_empty() && node.flag("noop_with_empty_axes", false) {
        return Ok(vec![if kind == Kind::Sum { x } else { reduced(cx, kind, x, &[], keep)? }]);
    }
    let axes = if axes.is_empty() { (0..rank).collect() } else { axes_in(&axes, rank)? };
    Ok(vec![reduced(cx, kind, x, &axes, keep)?])
}

fn reduced(cx: &mut Cx, kind: Kind, x: Value, axes: &[usize], keep: bool) -> Outcome {
    if kind == Kind::LogSumExp {
        return log_sum_exp(cx, x, axes, keep);
    }
    let x = before(cx, kind, x)?;
    let dtype = cx.dtype(x);
    let sum = match kind {
        Kind::Mean => mean_along(cx, x, axes)?,
        _ => cx.reduce(kind.combine(dtype), x, axes, true)?,
    };
    let result = after(cx, kind, sum)?;
    if keep { Ok(result) } else { cx.drop_axes(result, axes) }
}

/// The mean along axes, which stay as extents of 1.
pub(super) fn mean_along(cx: &mut Cx, x: Value, axes: &[usize]) -> Outcome {
    let dtype = cx.dtype(x);
    if dtype.is_float() {
        return cx.mean(x, axes);
    }
    let count = cx.count_along(x, axes, DType::I64)?;
    whole_mean(cx, dtype, count, |cx, part| {
        let x = part(cx, x)?;
        cx.reduce(ScalarOp::Add, x, axes, true)
    })
}

/// What is done to each element first.
fn before(cx: &mut Cx, kind: Kind, x: Value) -> Outcome {
    match kind {
        Kind::L1 => cx.unary(ScalarOp::Abs, x),
        Kind::L2 | Kind::SumSquare => cx.mul(x, x),
        _ => Ok(x),
    }
}

/// What is done to the result last.
fn after(cx: &mut Cx, kind: Kind, sum: Value) -> Outcome {
    let (f, dtype) = match kind {
        Kind::L2 => (ScalarOp::Sqrt, cx.dtype(sum)),
        Kind::LogSum => (ScalarOp::Log, cx.dtype(sum)),
        _ => return Ok(sum),
    };
    if dtype.is_float() {
        return cx.unary(f, sum);
    }
    let wide = cx.cast(sum, DType::F64)?;
    let wide = cx.unary(f, wide)?;
    cx.cast(wide, dtype)
}

/// `max + log(sum(exp(x - max)))`, where an infinite maximum counts as 0.
fn log_sum_exp(cx: &mut Cx, x: Value, axes: &[usize], keep: bool) -> Outcome {
    let dtype = cx.dtype(x);
    let x = if dtype.is_float() { x } else { cx.cast(x, DType::F64)? };
    let largest = cx.reduce(ScalarOp::Max, x, axes, true)?;
    let infinite = cx.unary(ScalarOp::IsInf, largest)?;
    let zero = cx.number_like(largest, 0.0)?;
    let shift = cx.select(infinite, zero, largest)?;
    let shifted = cx.sub(x, shift)?;
    let grown = cx.unary(ScalarOp::Exp, shifted)?;
    let sum = cx.reduce(ScalarOp::Add, grown, axes, true)?;
    let log = cx.unary(ScalarOp::Log, sum)?;
    let result = cx.add(log, shift)?;
    let result = if keep { result } else { cx.drop_axes(result, axes)? };
    cx.cast(result, dtype)
}

/// Reduction over axes that are data. Each axis in turn is combined whole and then cut to extent 1 or, where it
/// is not among the axes, kept: the result's extents are symbols bound to what the axes say.
fn reduce_at_run_time(cx: &mut Cx, kind: Kind, x: Value, list: Value, keep: bool) -> Outcome<Vec<Value>> {
    let rank = cx.rank(x);
    let count = cx.element_count(list)?;
    let shape = cx.shape(x);
    let picked = picked_axes(cx, list, rank)?;
    let dtype = cx.dtype(x);
    // One axis after the other: sums of sums round once, too.
    let x = cx.widened(x)?;
    let mut y = before(cx, kind, x)?;
    if kind == Kind::LogSumExp {
        let (wide, shift) = shifted_by_largest(cx, y, &picked)?;
        let grown = cx.unary(ScalarOp::Exp, wide)?;
        let sum = combine_picked(cx, ScalarOp::Add, grown, &picked)?;
        let log = cx.unary(ScalarOp::Log, sum)?;
        y = cx.add(log, shift)?;
    } else if kind == Kind::Mean {
        let count = count_of_picked(cx, &shape, &picked)?;
        y = match dtype.is_float() {
            true => {
                let sum = combine_picked(cx, ScalarOp::Add, y, &picked)?;
                let count = cx.cast_like(count, sum)?;
                cx.div(sum, count)?
            }
            false => whole_mean(cx, dtype, count, |cx, part| {
                let y = part(cx, y)?;
                combine_picked(cx, ScalarOp::Add, y, &picked)
            })?,
        };
    } else {
        y = combine_picked(cx, kind.combine(dtype), y, &picked)?;
        y = after(cx, kind, y)?;
    }
    y = cx.cast(y, dtype)?;
    // Cut each reduced axis to 1.
    let mut sizes = Vec::with_capacity(rank);
    for (axis, picked) in picked.iter().enumerate() {
        let whole = cx.size_value(shape[axis].clone())?;
        let one = cx.int_list(&[1])?;
        let size = cx.select(*picked, one, whole)?;
        sizes.push(cx.size_or_bind(size, "reduced", shape[axis].maximum(&Dim::from(1)))?);
    }
    let starts = vec![Dim::from(0); rank];
    let y = cx.emit(TensorOp::Slice { starts, sizes: sizes.clone(), steps: vec![1; rank] }, &[y])?;
    if keep {
        return Ok(vec![y]);
    }
    let kept = kept_extents(cx, &shape, &picked, rank.saturating_sub(count))?;
    Ok(vec![cx.reshape(y, kept)?])
}

/// Per axis: whether it is among the listed ones, as `bool[1]`.
pub(super) fn picked_axes(cx: &mut Cx, list: Value, rank: usize) -> Outcome<Vec<Value>> {
    let list = cx.wrap_indices(list, Dim::from(rank))?;
    (0..rank)
        .map(|axis| {
            let hit = cx.with_number(ScalarOp::Eq, list, axis as f64)?;
            cx.reduce(ScalarOp::Or, hit, &[0], true)
        })
        .collect()
}

/// Replaces each element by the combination along the picked axes; extents stay.
fn combine_picked(cx: &mut Cx, f: ScalarOp, x: Value, picked: &[Value]) -> Outcome {
    let shape = cx.shape(x);
    let mut y = x;
    for (axis, picked) in picked.iter().enumerate() {
        let combined = cx.reduce(f, y, &[axis], true)?;
        // An empty axis leaves the identity, which one element must carry.
        let held = shape[axis].maximum(&Dim::from(1));
        let mut wide = cx.shape(y);
        wide[axis] = held.clone();
        let combined = cx.broadcast_to(combined, &wide)?;
        let kept = if held == shape[axis] { y } else { widen_axis(cx, y, axis, &held)? };
        let ones = Shape::from_iter(vec![1i64; shape.rank()]);
        let picked = cx.reshape(*picked, ones)?;
        y = cx.select(picked, combined, kept)?;
    }
    Ok(y)
}

/// An axis of extent 0 grown to `held` with zeros, which no one reads.
fn widen_axis(cx: &mut Cx, x: Value, axis: usize, held: &Dim) -> Outcome {
    let mut high = vec![Dim::from(0); cx.rank(x)];
    high[axis] = held.clone() - cx.dim(x, axis);
    let rank = cx.rank(x);
    cx.pad_with(x, 0.0, vec![Dim::from(0); rank], high)
}

/// How many elements the picked axes have together.
fn count_of_picked(cx: &mut Cx, shape: &Shape, picked: &[Value]) -> Outcome {
    let mut count = cx.int_list(&[1])?;
    for (axis, picked) in picked.iter().enumerate() {
        let whole = cx.size_value(shape[axis].clone())?;
        let one = cx.int_list(&[1])?;
        let factor = cx.select(*picked, whole, one)?;
        count = cx.mul(count, factor)?;
    }
    Ok(count)
}

fn shifted_by_largest(cx: &mut Cx, x: Value, picked: &[Value]) -> Outcome<(Value, Value)> {
    let x = if cx.dtype(x).is_float() { x } else { cx.cast(x, DType::F64)? };
    let largest = combine_picked(cx, ScalarOp::Max, x, picked)?;
    let infinite = cx.unary(ScalarOp::IsInf, largest)?;
    let zero = cx.number_like(largest, 0.0)?;
    let shift = cx.select(infinite, zero, largest)?;
    let x = if cx.shape(x) == cx.shape(shift) {
        x
    } else {
        let held = cx.shape(shift);
        let high = held.iter().zip(cx.shape(x).iter()).map(|(a, b)| a.clone() - b.clone()).collect();
        cx.pad_with(x, f64::NEG_INFINITY, vec![Dim::from(0); held.rank()], high)?
    };
    let shifted = cx.sub(x, shift)?;
    Ok((shifted, shift))
}

/// The extents of the axes that are not picked, in order: `n_kept` symbols.
pub(super) fn kept_extents(cx: &mut Cx, shape: &Shape, picked: &[Value], n_kept: usize) -> Outcome<Vec<Dim>> {
    // Place of each kept axis in the result: the number of kept axes before it.
    let mut place = cx.int_list(&[0])?;
    let mut sums: Vec<Value> = (0..n_kept).map(|_| cx.int_list(&[0])).collect::<Outcome<_>>()?;
    for (axis, picked) in picked.iter().enumerate() {
        let whole = cx.size_value(shape[axis].clone())?;
        let zero = cx.int_list(&[0])?;
        let size = cx.select(*picked, zero, whole)?;
        for (j, sum) in sums.iter_mut().enumerate() {
            let here = cx.with_number(ScalarOp::Eq, place, j as f64)?;
            let added = cx.select(here, size, zero)?;
            *sum = cx.add(*sum, added)?;
        }
        let kept = cx.unary(ScalarOp::Not, *picked)?;
        let kept = cx.cast(kept, DType::I64)?;
        place = cx.add(place, kept)?;
    }
    let upper = shape.iter().fold(Dim::from(0), |upper, dim| upper.maximum(dim));
    sums.into_iter().map(|sum| cx.size_or_bind(sum, "kept", upper.clone())).collect()
}

fn arg_reduce(cx: &mut Cx, node: &Node, max: bool) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", 0), cx.rank(x))?;
    let last = node.flag("select_last_index", false);
    let extent = cx.dim(x, axis);
    if extent.as_const().is_none() && cx.symbols.bounds(&extent).0 < 1 {
        let one_at_least = extent.maximum(&Dim::from(1));
        let sought = if max { "largest" } else { "smallest" };
        cx.assert_equal(&one_at_least, &extent, &format!("an empty axis has no {sought} element"))?;
    }
    let index = cx.emit(TensorOp::ArgReduce { max, axis, last }, &[x])?;
    Ok(vec![if node.flag("keepdims", true) { index } else { cx.drop_axes(index, &[axis])? }])
}

fn scan(cx: &mut Cx, node: &Node, f: ScalarOp) -> Outcome<Vec<Value>> {
    let (x, axis) = (node.operand(0)?, node.operand(1)?);
    let (exclusive, reverse) = (node.flag("exclusive", false), node.flag("reverse", false));
    let rank = cx.rank(x);
    let along = |cx: &mut Cx, axis: usize| cx.emit(TensorOp::Scan { f, axis, exclusive, reverse }, &[x]);
    if let Some([axis]) = cx.known_ints(axis).as_deref() {
        let axis = axis_in(*axis, rank)?;
        return Ok(vec![along(cx, axis)?]);
    }
    // An axis known only at run time: one of `rank` results is chosen.
    let chosen = cx.reshape(axis, [1i64])?;
    let chosen = cx.wrap_indices(chosen, Dim::from(rank))?;
    let mut result = along(cx, 0)?;
    let ones = Shape::from_iter(vec![1i64; rank]);
    for axis in 1..rank {
        let here = cx.with_number(ScalarOp::Eq, chosen, axis as f64)?;
        let here = cx.reshape(here, ones.clone())?;
        let other = along(cx, axis)?;
        result = cx.select(here, other, result)?;
    }
    Ok(vec![result])
}

fn top_k(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    let k = match node.optional_int("k") {
        Some(k) => Dim::from(k),
        None => {
            let most = cx.dim(x, axis);
            cx.size_or_bind(node.operand(1)?, "k", most)?
        }
    };
    let largest = node.flag("largest", true);
    cx.emit_many(TensorOp::TopK { axis, k, largest }, &[x])
}

fn lp_normalization(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    let kind = match node.int("p", 2) {
        1 => Kind::L1,
        2 => Kind::L2,
        p => return Err(Fault::invalid(format!("the norm's order must be 1 or 2, not {p}"))),
    };
    let norm = reduced(cx, kind, x, &[axis], true)?;
    let y = cx.div(x, norm)?;
    // A row of zeros stays zeros.
    let empty = cx.with_number(ScalarOp::Eq, norm, 0.0)?;
    let zero = cx.number_like(x, 0.0)?;
    Ok(vec![cx.select(empty, zero, y)?])
}
