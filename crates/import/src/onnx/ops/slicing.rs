//! Slice and split. Where bounds are known as sizes, the result's extents are expressions; bounds that are
//! data are clamped by tensor ops, and the resulting sizes bound to symbols.

use crate::onnx::cx::Cx;
use crate::onnx::fault::{Fault, Outcome};
use crate::onnx::node::{Node, axes_in, axis_in};
use crate::onnx::table::{Row, op, op_between, op_since};
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] =
    &[op_between("Slice", 1, 9, slice_by_attributes), op_since("Slice", 10, slice), op("Split", split)];

/// A constant end at or above this is how exporters write "to the end".
const TO_THE_END: i64 = 1 << 24;

/// One sliced axis with bounds known as sizes.
struct Cut {
    axis: usize,
    start: Dim,
    end: Dim,
    step: i64,
}

fn slice_by_attributes(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let missing = |name: &str| Fault::invalid(format!("attribute `{name}` is missing"));
    let starts = node.ints("starts").ok_or_else(|| missing("starts"))?;
    let ends = node.ints("ends").ok_or_else(|| missing("ends"))?;
    let axes = node.ints("axes").unwrap_or_else(|| (0..starts.len() as i64).collect());
    let axes = axes_in(&axes, cx.rank(x))?;
    if starts.len() != axes.len() || ends.len() != axes.len() {
        return Err(Fault::invalid("starts, ends and axes differ in length"));
    }
    let cuts = axes.iter().enumerate().map(|(i, axis)| Cut {
        axis: *axis,
        start: Dim::from(starts[i]),
        end: Dim::from(ends[i]),
        step: 1,
    });
    Ok(vec![cut_all(cx, x, cuts.collect())?])
}

fn slice(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, starts, ends) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let rank = cx.rank(x);
    let n = cx.element_count(starts)?;
    if cx.element_count(ends)? != n {
        return Err(Fault::invalid("starts and ends differ in length"));
    }
    let axes = match node.optional(3) {
        None => Some((0..n as i64).collect()),
        Some(list) => cx.known_ints(list),
    };
    let steps = match node.optional(4) {
        None => Some(vec![1; n]),
        Some(list) => cx.known_ints(list),
    };
    let bounds = (cx.known_sizes(starts), cx.known_sizes(ends));
    if let (Some(axes), Some(steps), (Some(starts), Some(ends))) = (&axes, &steps, bounds) {
        let axes = axes_in(axes, rank)?;
        if axes.len() != n || steps.len() != n {
            return Err(Fault::invalid("starts, ends, axes and steps differ in length"));
        }
        let cuts = (0..n)
            .map(|i| Cut { axis: axes[i], start: starts[i].clone(), end: ends[i].clone(), step: steps[i] })
            .collect();
        return Ok(vec![cut_all(cx, x, cuts)?]);
    }
    let bounds = RunTimeBounds { starts, ends, axes: node.optional(3), steps: node.optional(4) };
    Ok(vec![slice_at_run_time(cx, x, bounds, axes, steps)?])
}

fn cut_all(cx: &mut Cx, x: Value, cuts: Vec<Cut>) -> Outcome {
    let shape = cx.shape(x);
    let rank = shape.rank();
    let (mut starts, mut sizes, mut steps) = (vec![Dim::from(0); rank], shape.to_vec(), vec![1; rank]);
    for cut in cuts {
        let axis = cut.axis;
        (starts[axis], sizes[axis]) = clamp(cx, &shape[axis], &cut)?;
        steps[axis] = cut.step;
    }
    let whole = starts.iter().all(|start| start.is_const(0)) && steps.iter().all(|step| *step == 1);
    if whole && sizes[..] == shape[..] {
        return Ok(x);
    }
    cx.emit(TensorOp::Slice { starts, sizes, steps }, &[x])
}

/// Start and size of one cut.
fn clamp(cx: &mut Cx, extent: &Dim, cut: &Cut) -> Outcome<(Dim, Dim)> {
    let (zero, one) = (Dim::from(0), Dim::from(1));
    match cut.step {
        0 => Err(Fault::invalid("a step is 0")),
        step if step > 0 => {
            let start = bound(cx, extent, &cut.start, extent)?;
            let end = bound(cx, extent, &cut.end, extent)?;
            let size = (end - start.clone()).ceil_div(&Dim::from(step));
            Ok((start, not_negative(cx, size)?))
        }
        step => {
            let last = extent.clone() - one.clone();
            let start = bound(cx, extent, &cut.start, &last)?;
            // The end may lie before the first element: anything below -extent.
            let end = match cut.end.as_const() {
                Some(n) if n <= -SymbolInfo::MAX || extent.as_const().is_some_and(|extent| n < -extent) => {
                    Dim::from(-1)
                }
                _ => bound(cx, extent, &cut.end, &last)?,
            };
            let size = (start.clone() - end).ceil_div(&Dim::from(step.saturating_neg()));
            Ok((cx.most(&start, &zero), not_negative(cx, size)?))
        }
    }
}

/// A bound made non-negative and held inside `0..=most`. A symbolic one that cannot be shown to lie inside is
/// asserted to.
fn bound(cx: &mut Cx, extent: &Dim, value: &Dim, most: &Dim) -> Outcome<Dim> {
    let zero = Dim::from(0);
    let Some(n) = value.as_const() else {
        let (low, high) = cx.symbols.bounds(value);
        if high < 0 {
            return not_negative(cx, extent.clone() + value.clone());
        }
        if low < 0 {
            return Ok(cx.least(&value.maximum(&zero), most));
        }
        if cx.symbols.bounds(&(most.clone() - value.clone())).0 < 0 {
            cx.assert_equal(&value.minimum(most), value, "a slice must end inside of its axis")?;
        }
        return Ok(value.clone());
    };
    if let Some(most) = most.as_const() {
        let wrapped = if n < 0 { n.saturating_add(extent.as_const().unwrap_or(most)) } else { n };
        return Ok(Dim::from(wrapped.clamp(0, most.max(0))));
    }
    if n >= SymbolInfo::MAX {
        return Ok(most.clone());
    }
    if n <= -SymbolInfo::MAX || n == 0 {
        return Ok(zero);
    }
    if n < 0 {
        return not_negative(cx, extent.clone() + value.clone());
    }
    if n >= TO_THE_END {
        cx.assert_equal(&value.minimum(most), most, "an axis is longer than the slice allows for")?;
        return Ok(most.clone());
    }
    Ok(cx.least(value, most))
}

/// A size that is not below 0: a constant is raised to 0, a symbolic one asserted where that is not known.
pub(super) fn not_negative(cx: &mut Cx, size: Dim) -> Outcome<Dim> {
    if let Some(n) = size.as_const() {
        return Ok(Dim::from(n.max(0)));
    }
    if cx.symbols.bounds(&size).0 < 0 {
        cx.assert_equal(&size.maximum(&Dim::from(0)), &size, "an axis is too short for a slice")?;
    }
    Ok(size)
}

struct RunTimeBounds {
    starts: Value,
    ends: Value,
    axes: Option<Value>,
    steps: Option<Value>,
}

fn slice_at_run_time(
    cx: &mut Cx,
    x: Value,
    bounds: RunTimeBounds,
    axes: Option<Vec<i64>>,
    steps: Option<Vec<i64>>,
) -> Outcome {
    let rank = cx.rank(x);
    let shape = cx.shape(x);
    let axes = axes.map(|axes| axes_in(&axes, rank)).transpose()?;
    let places = match (&axes, bounds.axes) {
        (None, Some(list)) => Some(cx.wrap_indices(list, Dim::from(rank))?),
        _ => None,
    };
    let mut result = x;
    for axis in 0..rank {
        let entry = axes.as_ref().map(|axes| axes.iter().position(|a| *a == axis));
        if entry == Some(None) {
            continue;
        }
        let known_step = match (&steps, entry) {
            (Some(steps), Some(Some(i))) => steps.get(i).copied(),
            (Some(steps), None) if steps.iter().all(|step| *step == 1) => Some(1),
            _ => None,
        };
        let extent = cx.size_value(shape[axis].clone())?;
        let (zero, one) = (cx.int_list(&[0])?, cx.int_list(&[1])?);
        let pick = |cx: &mut Cx, list: Value, otherwise: Value| match entry.flatten() {
            Some(i) => cx.int_at(list, i),
            None => {
                let places = places.ok_or_else(|| Fault::invalid("the axes are missing"))?;
                element_where(cx, list, places, axis, otherwise)
            }
        };
        let start = pick(cx, bounds.starts, zero)?;
        let end = pick(cx, bounds.ends, extent)?;
        let step = match (known_step, bounds.steps) {
            (Some(step), _) => cx.int_list(&[step])?,
            (None, Some(list)) => pick(cx, list, one)?,
            (None, None) => one,
        };
        result = slice_axis_at_run_time(cx, result, axis, [start, end, step], known_step)?;
    }
    Ok(result)
}

/// The element of `list` beside the place that equals `axis`, or `otherwise`.
pub(super) fn element_where(
    cx: &mut Cx,
    list: Value,
    places: Value,
    axis: usize,
    otherwise: Value,
) -> Outcome {
    let list = cx.cast(list, DType::I64)?;
    let here = cx.with_number(ScalarOp::Eq, places, axis as f64)?;
    let zero = cx.number_like(list, 0.0)?;
    let kept = cx.select(here, list, zero)?;
    let sum = cx.reduce(ScalarOp::Add, kept, &[0], true)?;
    let any = cx.reduce(ScalarOp::Or, here, &[0], true)?;
    cx.select(any, sum, otherwise)
}

/// `[start, end, step]` as `i64[1]`.
fn slice_axis_at_run_time(
    cx: &mut Cx,
    x: Value,
    axis: usize,
    [start, end, step]: [Value; 3],
    known_step: Option<i64>,
) -> Outcome {
    let extent = cx.size_value(cx.dim(x, axis))?;
    let backward = cx.with_number(ScalarOp::Lt, step, 0.0)?;
    let last = cx.with_number(ScalarOp::Sub, extent, 1.0)?;
    let most = cx.select(backward, last, extent)?;
    let (zero, before) = (cx.int_list(&[0])?, cx.int_list(&[-1])?);
    let least = cx.select(backward, before, zero)?;
    let start = cx.wrap_indices(start, cx.dim(x, axis))?;
    let end = cx.wrap_indices(end, cx.dim(x, axis))?;
    let start = cx.binary(ScalarOp::Max, start, zero)?;
    let start = cx.binary(ScalarOp::Min, start, most)?;
    let start = cx.binary(ScalarOp::Max, start, zero)?;
    let end = cx.binary(ScalarOp::Max, end, least)?;
    let end = cx.binary(ScalarOp::Min, end, most)?;
    // ceil((end - start) / step) = trunc((end - start + step - sign(step)) / step) where it is positive.
    let span = cx.sub(end, start)?;
    let span = cx.add(span, step)?;
    let sign = cx.unary(ScalarOp::Sign, step)?;
    let span = cx.sub(span, sign)?;
    let size = cx.div(span, step)?;
    let size = cx.binary(ScalarOp::Max, size, zero)?;
    let size = cx.size_or_bind(size, "sliced", cx.dim(x, axis))?;
    match known_step {
        Some(step) => {
            let start = cx.size_or_bind(start, "start", cx.dim(x, axis))?;
            let rank = cx.rank(x);
            let (mut starts, mut sizes, mut steps) =
                (vec![Dim::from(0); rank], cx.shape(x).to_vec(), vec![1; rank]);
            (starts[axis], sizes[axis], steps[axis]) = (start, size, step);
            cx.emit(TensorOp::Slice { starts, sizes, steps }, &[x])
        }
        None => cx.gather_range(x, axis, start, step, size),
    }
}

fn split(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", 0), cx.rank(x))?;
    let extent = cx.dim(x, axis);
    let n = node.proto.output.len();
    let sizes = match (node.ints("split"), node.optional(1)) {
        (Some(sizes), _) => sizes.into_iter().map(Dim::from).collect(),
        (None, Some(list)) => cx.sizes_or_bind(list, "part", &|_| extent.clone())?,
        (None, None) => equal_parts(cx, &extent, n)?,
    };
    if sizes.len() != n {
        return Err(Fault::invalid(format!("{} sizes for {n} results", sizes.len())));
    }
    let total = sizes.iter().cloned().fold(Dim::from(0), |a, b| a + b);
    cx.assert_equal(&total, &extent, "the parts must sum to the whole axis")?;
    let mut start = Dim::from(0);
    let mut parts = Vec::with_capacity(n);
    for size in sizes {
        parts.push(cx.slice_axis(x, axis, start.clone(), size.clone())?);
        start = start + size;
    }
    Ok(parts)
}

/// Parts of equal size, the last one smaller where they do not fit.
fn equal_parts(cx: &mut Cx, extent: &Dim, n: usize) -> Outcome<Vec<Dim>> {
    if n == 0 {
        return Err(Fault::invalid("the node has no results"));
    }
    let size = extent.ceil_div(&Dim::from(n));
    let last = extent.clone() - size.clone() * Dim::from(n - 1);
    let mut sizes = vec![size; n - 1];
    sizes.push(not_negative(cx, last)?);
    Ok(sizes)
}
