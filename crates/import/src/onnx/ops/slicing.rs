//! Slice and split. Where bounds are known as sizes, the result's extents are expressions; bounds that are
//! data are clamped by tensor ops, and the resulting sizes bound to symbols.

use crate::build::{axes_in, axis_in};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op_between("Slice", 1, 9, slice_by_attributes).moves(),
    op_since("Slice", 10, slice).moves(),
    op("Split", split).moves(),
];

/// A constant end at or above this is how exporters write "to the end".
const TO_THE_END: i64 = 1 << 24;

/// A step that is longer than any axis takes one element, as the longest axis does as a step.
fn within_an_axis(step: i64) -> i64 {
    step.clamp(-SymbolInfo::MAX, SymbolInfo::MAX)
}

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
            .map(|i| Cut {
                axis: axes[i],
                start: starts[i].clone(),
                end: ends[i].clone(),
                step: within_an_axis(steps[i]),
            })
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

/// Start and size of one cut, its bounds clamped to the axis as ONNX does.
fn clamp(cx: &mut Cx, extent: &Dim, cut: &Cut) -> Outcome<(Dim, Dim)> {
    let (zero, one) = (Dim::from(0), Dim::from(1));
    let start = from_the_front(cx, extent, &cut.start)?;
    let end = from_the_front(cx, extent, &cut.end)?;
    match cut.step {
        0 => Err(Fault::invalid("a step is 0")),
        step if step > 0 => {
            // `least(end, extent) - most(start, 0)` as the least of all four differences, which fold where the
            // clamped bounds would not: the last 3 of n elements are `min(3, n)`.
            let plain = end.clone() - start.clone();
            let mut span = cx.least(&plain, &end);
            for other in [extent.clone() - start.clone(), extent.clone()] {
                span = cx.least(&span, &other);
            }
            let step = Dim::from(step);
            let size = cx.most(&span.ceil_div(&step), &zero);
            let size = constant_where_stated(cx, cut, size, &plain.ceil_div(&step))?;
            let negative_index = (start.clone() - extent.clone()).as_const().is_some_and(|n| n < 0);
            let start = cx.most(&start, &zero);
            Ok((if negative_index { start } else { cx.least(&start, extent) }, size))
        }
        step => {
            let last = extent.clone() - one.clone();
            let start = cx.least(&cx.most(&start, &zero), &last);
            // The end may lie before the first element.
            let end = cx.least(&cx.most(&end, &-one), &last);
            let size = (start.clone() - end).ceil_div(&Dim::from(-step));
            Ok((cx.most(&start, &zero), cx.most(&size, &zero)))
        }
    }
}

/// A bound counted from the front: a negative one counts from the end. Not clamped, but a constant beyond what any
/// axis has becomes the end, or -1.
fn from_the_front(cx: &mut Cx, extent: &Dim, value: &Dim) -> Outcome<Dim> {
    let from_the_end = extent.clone() + value.clone();
    let Some(n) = value.as_const() else {
        let (low, high) = cx.symbols.bounds(value);
        // Where its sign is known only at run time, the extent is added once if it is negative.
        let zero = Dim::from(0);
        let is_negative = (-value.clone()).minimum(&Dim::from(1)).maximum(&zero);
        return Ok(match (low < 0, high < 0) {
            (false, _) => value.clone(),
            (true, true) => from_the_end,
            (true, false) => value.clone() + extent.clone() * is_negative,
        });
    };
    if extent.as_const().is_none() && (TO_THE_END..SymbolInfo::MAX).contains(&n) {
        cx.assert_equal(&value.minimum(extent), extent, "an axis is longer than the slice allows for")?;
        return Ok(extent.clone());
    }
    Ok(match n {
        SymbolInfo::MAX.. => extent.clone(),
        0.. => value.clone(),
        n if n > -SymbolInfo::MAX => from_the_end,
        _ => Dim::from(-1),
    })
}

/// The size of a cut that only an axis shorter than the cut makes other than the constant `plain`. It is asserted to
/// be that constant where the model declares so, for the last element alone, whose extent of 1 broadcasts, and where
/// the start is computed: such a cut is meant to move over the axis, not to leave it.
fn constant_where_stated(cx: &mut Cx, cut: &Cut, size: Dim, plain: &Dim) -> Outcome<Dim> {
    let Some(n) = plain.as_const().filter(|n| *n > 0) else { return Ok(size) };
    let stays = cut.start.as_const().is_none_or(|start| n == 1 && start < 0);
    if size.as_const().is_some() || !(stays || cx.declared_extent(0, cut.axis) == *plain) {
        return Ok(size);
    }
    cx.assert_equal(&size, plain, "an axis is too short for a slice")?;
    Ok(plain.clone())
}

/// A size that is not below 0; a symbolic one is asserted not to be where that is not known.
pub(super) fn not_negative(cx: &mut Cx, size: Dim, message: &str) -> Outcome<Dim> {
    if let Some(n) = size.as_const() {
        return Ok(Dim::from(n.max(0)));
    }
    if cx.symbols.bounds(&size).0 < 0 {
        cx.assert_equal(&size.maximum(&Dim::from(0)), &size, message)?;
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
        let known_step = known_step.map(within_an_axis);
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
            (None, Some(list)) => {
                let step = pick(cx, list, one)?;
                let step = cx.with_number(ScalarOp::Max, step, -SymbolInfo::MAX as f64)?;
                cx.with_number(ScalarOp::Min, step, SymbolInfo::MAX as f64)?
            }
            (None, None) => one,
        };
        cx.expect_not_zero(step, "a step is 0")?;
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
    let whole = cx.dim(x, axis);
    let extent = cx.size_value(whole.clone())?;
    let backward = cx.with_number(ScalarOp::Lt, step, 0.0)?;
    let last = cx.with_number(ScalarOp::Sub, extent, 1.0)?;
    let most = cx.select(backward, last, extent)?;
    let (zero, before) = (cx.int_list(&[0])?, cx.int_list(&[-1])?);
    let least = cx.select(backward, before, zero)?;
    let start = cx.wrap_indices(start, whole.clone())?;
    let end = cx.wrap_indices(end, whole.clone())?;
    // Of an empty axis walked backwards the last place is -1, for both.
    let start = cx.binary(ScalarOp::Max, start, zero)?;
    let start = cx.binary(ScalarOp::Min, start, most)?;
    let end = cx.binary(ScalarOp::Max, end, least)?;
    let end = cx.binary(ScalarOp::Min, end, most)?;
    // ceil((end - start) / step) = trunc((end - start + step - sign(step)) / step) where it is positive.
    let span = cx.sub(end, start)?;
    let span = cx.add(span, step)?;
    let sign = cx.unary(ScalarOp::Sign, step)?;
    let span = cx.sub(span, sign)?;
    let size = cx.div(span, step)?;
    let size = cx.binary(ScalarOp::Max, size, zero)?;
    let size = cx.size_or_bind(size, "sliced", whole.clone())?;
    let start = cx.binary(ScalarOp::Max, start, zero)?;
    match known_step {
        Some(step) => {
            let start = cx.size_or_bind(start, "start", whole)?;
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
    if let Some(stated) = node.optional_int("num_outputs").filter(|stated| *stated != n as i64) {
        return Err(Fault::invalid(format!("num_outputs is {stated}, but the node has {n} results")));
    }
    let sizes = match (node.ints("split"), node.optional(1)) {
        (Some(sizes), _) => sizes.into_iter().map(Dim::from).collect(),
        (None, Some(list)) => cx.sizes_or_bind(list, "part", &|_| extent.clone())?,
        (None, None) => equal_parts(cx, &extent, n)?,
    };
    if sizes.len() != n {
        return Err(Fault::invalid(format!("{} sizes for {n} results", sizes.len())));
    }
    cx.parts(x, axis, sizes)
}

/// Parts of equal size, the last one smaller where they do not fit.
fn equal_parts(cx: &mut Cx, extent: &Dim, n: usize) -> Outcome<Vec<Dim>> {
    if n == 0 {
        return Err(Fault::invalid("the node has no results"));
    }
    let size = extent.ceil_div(&Dim::from(n));
    let last = extent.clone() - size.clone() * Dim::from(n - 1);
    let mut sizes = vec![size; n - 1];
    sizes.push(not_negative(cx, last, "an axis is too short for so many parts")?);
    Ok(sizes)
}
