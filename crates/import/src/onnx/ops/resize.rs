//! Resize and Upsample, one axis at a time: coordinates of the output in the input, then nearest, linear or cubic
//! taps gathered with clamped indices; antialiased filters become a matrix product.
//!
//! [`coordinates`] are computed in `f64` by tensor ops, so scales and sizes may be data. Whole-number enlargements by
//! the nearest neighbour, the case of feature pyramids, become a broadcast.

mod coordinates;

use crate::build::axes_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op_between, op_since};
use crate::report::{Fault, Outcome};
use coordinates::{Axis, Rounding, Transform};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, PadMode, TensorOp};

pub(super) const ROWS: &[Row] = &[
    op_between("Upsample", 7, 8, upsample_by_attribute),
    op_between("Upsample", 9, 9, upsample),
    op_between("Resize", 10, 10, upsample),
    op_since("Resize", 11, resize),
];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest(Rounding),
    /// Down where an axis grows, up where it shrinks: the first Resize, by its node test `resize_downsample_nearest`.
    NearestUpIfShrinking,
    Linear,
    Cubic {
        a: f64,
    },
}

struct Plan {
    mode: Mode,
    transform: Transform,
    antialias: bool,
    exclude_outside: bool,
    extrapolation: f64,
}

/// What outputs are to inputs, one an axis: `f64` numerators and denominators. Their quotients, rounded.
#[derive(Clone, Copy)]
struct Scales {
    over: Value,
    under: Value,
    rounded: Value,
}

/// One axis to resize; scales and `roi` are `f64[1]`.
struct AxisPlan {
    axis: usize,
    output: Dim,
    scale: Scales,
    roi: Option<(Value, Value)>,
}

fn mode_of(node: &Node) -> Outcome<Mode> {
    Ok(match node.text("mode", "nearest").as_str() {
        "nearest" => Mode::Nearest(match node.text("nearest_mode", "round_prefer_floor").as_str() {
            "round_prefer_floor" => Rounding::PreferFloor,
            "round_prefer_ceil" => Rounding::PreferCeil,
            "floor" => Rounding::Floor,
            "ceil" => Rounding::Ceil,
            other => return Err(Fault::invalid(format!("nearest_mode `{other}` is unknown"))),
        }),
        "linear" | "bilinear" | "trilinear" => Mode::Linear,
        "cubic" => Mode::Cubic { a: node.float("cubic_coeff_a", -0.75) },
        other => return Err(Fault::invalid(format!("mode `{other}` is none of nearest, linear, cubic"))),
    })
}

/// Upsample, which only grows, and the first Resize: places are divided by the scale.
fn old_plan(node: &Node) -> Outcome<Plan> {
    let mode = match mode_of(node)? {
        Mode::Nearest(_) => Mode::NearestUpIfShrinking,
        other => other,
    };
    let transform = Transform::Asymmetric;
    Ok(Plan { mode, transform, antialias: false, exclude_outside: false, extrapolation: 0.0 })
}

fn upsample_by_attribute(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let scales = node.floats("scales").ok_or_else(|| Fault::invalid("attribute `scales` is missing"))?;
    let scales = cx.constant(tegula_base::HostTensor::from_elements(&[scales.len()], &scales))?;
    let axes: Vec<usize> = (0..cx.rank(x)).collect();
    let y = by_scales(cx, &old_plan(node)?, x, scales, &axes, None)?;
    Ok(vec![y])
}

fn upsample(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, scales) = (node.operand(0)?, node.operand(1)?);
    let axes: Vec<usize> = (0..cx.rank(x)).collect();
    let y = by_scales(cx, &old_plan(node)?, x, scales, &axes, None)?;
    Ok(vec![y])
}

fn resize(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let transform = match node.text("coordinate_transformation_mode", "half_pixel").as_str() {
        "half_pixel" => Transform::HalfPixel,
        "half_pixel_symmetric" => Transform::HalfPixelSymmetric,
        "pytorch_half_pixel" => Transform::PytorchHalfPixel,
        "align_corners" => Transform::AlignCorners,
        "asymmetric" => Transform::Asymmetric,
        "tf_crop_and_resize" => Transform::CropAndResize,
        other => {
            return Err(Fault::unsupported(format!(
                "coordinate_transformation_mode `{other}` is not supported"
            )));
        }
    };
    let plan = Plan {
        mode: mode_of(node)?,
        transform,
        antialias: node.flag("antialias", false),
        exclude_outside: node.flag("exclude_outside", false),
        extrapolation: node.float("extrapolation_value", 0.0),
    };
    let axes = match node.ints("axes") {
        Some(axes) => axes_in(&axes, cx.rank(x))?,
        None => (0..cx.rank(x)).collect(),
    };
    let roi = node.optional(1).filter(|_| transform == Transform::CropAndResize);
    let given = |cx: &Cx, i: usize| node.optional(i).filter(|v| !cx.shape(*v).count().is_const(0));
    let y = match (given(cx, 3), given(cx, 2)) {
        (Some(sizes), _) => by_sizes(cx, node, &plan, x, sizes, &axes, roi)?,
        (None, Some(scales)) => by_scales(cx, &plan, x, scales, &axes, roi)?,
        (None, None) => return Err(Fault::invalid("neither scales nor sizes are given")),
    };
    Ok(vec![y])
}

fn extents_of(cx: &mut Cx, x: Value, axes: &[usize]) -> Outcome {
    let sizes = axes.iter().map(|axis| cx.dim(x, *axis)).collect();
    cx.sizes_tensor(sizes)
}

fn by_scales(
    cx: &mut Cx,
    plan: &Plan,
    x: Value,
    scales: Value,
    axes: &[usize],
    roi: Option<Value>,
) -> Outcome {
    if cx.element_count(scales)? != axes.len() {
        return Err(Fault::invalid(format!("{} for {} axes", cx.ty(scales), axes.len())));
    }
    let extents = extents_of(cx, x, axes)?;
    // The product in the scales' own type decides what is just below a whole number.
    let wide = cx.cast_like(extents, scales)?;
    let sizes = cx.mul(wide, scales)?;
    let sizes = cx.unary(ScalarOp::Floor, sizes)?;
    let sizes = cx.cast(sizes, DType::I64)?;
    let outputs = output_sizes(cx, sizes, axes)?;
    let rounded = cx.cast(scales, DType::F64)?;
    let under = cx.number_like(rounded, 1.0)?;
    let under = cx.broadcast_to(under, &Shape::from([axes.len()]))?;
    let scales = Scales { over: rounded, under, rounded };
    resize_axes(cx, plan, x, scales, &outputs, axes, roi)
}

fn output_sizes(cx: &mut Cx, sizes: Value, axes: &[usize]) -> Outcome<Vec<Dim>> {
    let uppers: Vec<Dim> = axes.iter().map(|axis| cx.declared_extent(0, *axis)).collect();
    cx.sizes_or_bind(sizes, "resized", &|i| uppers[i].clone())
}

fn by_sizes(
    cx: &mut Cx,
    node: &Node,
    plan: &Plan,
    x: Value,
    sizes: Value,
    axes: &[usize],
    roi: Option<Value>,
) -> Outcome {
    if cx.element_count(sizes)? != axes.len() {
        return Err(Fault::invalid(format!("{} for {} axes", cx.ty(sizes), axes.len())));
    }
    let extents = extents_of(cx, x, axes)?;
    let under = cx.cast(extents, DType::F64)?;
    let over = cx.cast(sizes, DType::F64)?;
    let rounded = cx.div(over, under)?;
    let policy = node.text("keep_aspect_ratio_policy", "stretch");
    let chosen = match policy.as_str() {
        "stretch" => {
            let outputs = output_sizes(cx, sizes, axes)?;
            return resize_axes(cx, plan, x, Scales { over, under, rounded }, &outputs, axes, roi);
        }
        "not_larger" => cx.reduce(ScalarOp::Min, rounded, &[0], true)?,
        "not_smaller" => cx.reduce(ScalarOp::Max, rounded, &[0], true)?,
        other => return Err(Fault::invalid(format!("keep_aspect_ratio_policy `{other}` is unknown"))),
    };
    let scales = one_of(cx, Scales { over, under, rounded }, chosen)?;
    // The product is divided last, so that halves are halves.
    let outputs = cx.mul(under, scales.over)?;
    let outputs = cx.div(outputs, scales.under)?;
    let outputs = cx.with_number(ScalarOp::Add, outputs, 0.5)?;
    let outputs = cx.unary(ScalarOp::Floor, outputs)?;
    let outputs = cx.cast(outputs, DType::I64)?;
    let outputs = output_sizes(cx, outputs, axes)?;
    resize_axes(cx, plan, x, scales, &outputs, axes, roi)
}

/// The scale `chosen` for all axes: its numerator and denominator are the largest of the axes that have it.
fn one_of(cx: &mut Cx, scales: Scales, chosen: Value) -> Outcome<Scales> {
    let shape = cx.shape(scales.rounded);
    let has = cx.binary(ScalarOp::Eq, scales.rounded, chosen)?;
    let mut largest = |part: Value| {
        let zero = cx.number_like(part, 0.0)?;
        let part = cx.select(has, part, zero)?;
        let part = cx.reduce(ScalarOp::Max, part, &[0], true)?;
        cx.broadcast_to(part, &shape)
    };
    let (over, under) = (largest(scales.over)?, largest(scales.under)?);
    Ok(Scales { over, under, rounded: cx.broadcast_to(chosen, &shape)? })
}

fn resize_axes(
    cx: &mut Cx,
    plan: &Plan,
    x: Value,
    scales: Scales,
    outputs: &[Dim],
    axes: &[usize],
    roi: Option<Value>,
) -> Outcome {
    let dtype = cx.dtype(x);
    let nearest = matches!(plan.mode, Mode::Nearest(_) | Mode::NearestUpIfShrinking);
    let mut y = x;
    let n = axes.len();
    for (i, axis) in axes.iter().enumerate() {
        let mut own = |list: Value| cx.slice_axis(list, 0, Dim::from(i), Dim::from(1));
        let (over, under, rounded) = (own(scales.over)?, own(scales.under)?, own(scales.rounded)?);
        let roi = match roi {
            Some(roi) => {
                let roi = cx.cast(roi, DType::F64)?;
                let start = cx.slice_axis(roi, 0, Dim::from(i), Dim::from(1))?;
                let end = cx.slice_axis(roi, 0, Dim::from(n + i), Dim::from(1))?;
                Some((start, end))
            }
            None => None,
        };
        let unchanged = cx.dim(y, *axis) == outputs[i] && plan.transform != Transform::CropAndResize;
        if unchanged && cx.known_number(rounded).is_none_or(|scale| scale == 1.0) && known_ratio(cx, rounded)
        {
            continue;
        }
        if !nearest && cx.dtype(y) != DType::F64 {
            y = cx.cast(y, DType::F32)?;
        }
        let scale = Scales { over, under, rounded };
        let axis = AxisPlan { axis: *axis, output: outputs[i].clone(), scale, roi };
        y = resize_axis(cx, plan, y, &axis)?;
    }
    if cx.dtype(y) != dtype && !dtype.is_float() {
        let rounded = cx.unary(ScalarOp::Trunc, y)?;
        return cx.cast(rounded, dtype);
    }
    cx.cast(y, dtype)
}

/// Whether an axis of unchanged extent is known to keep every element: the scale is 1, or extents over extents.
fn known_ratio(cx: &mut Cx, scale: Value) -> bool {
    cx.known_number(scale).is_some() || cx.known_ratios(scale).is_some()
}

fn resize_axis(cx: &mut Cx, plan: &Plan, x: Value, axis: &AxisPlan) -> Outcome {
    if let Some(times) = whole_enlargement(cx, plan, x, axis) {
        return repeat_elements(cx, x, axis.axis, times);
    }
    let places = coordinates(cx, plan, x, axis)?;
    let y = match plan.mode {
        Mode::Nearest(_) | Mode::NearestUpIfShrinking => {
            let index = nearest(cx, plan.mode, places, axis.scale.rounded)?;
            let index = clamped_index(cx, index, cx.dim(x, axis.axis))?;
            cx.gather(x, index, axis.axis)?
        }
        Mode::Linear | Mode::Cubic { .. } if plan.antialias => filtered(cx, plan, x, axis, places)?,
        Mode::Linear => interpolated(cx, plan, x, axis.axis, places, 0..2, |cx, ratio, tap| {
            if tap == 1 { Ok(ratio) } else { cx.number_with(ScalarOp::Sub, 1.0, ratio) }
        })?,
        Mode::Cubic { a } => interpolated(cx, plan, x, axis.axis, places, -1..3, |cx, ratio, tap| {
            let distance = cx.number_with(ScalarOp::Sub, tap as f64, ratio)?;
            cx.cubic_filter(distance, a)
        })?,
    };
    if plan.transform != Transform::CropAndResize {
        return Ok(y);
    }
    // Places outside of the input take the extrapolation value.
    let extent = cx.dim(x, axis.axis);
    let last = cx.size_as(extent - Dim::from(1), DType::F64, 1)?;
    let before = cx.with_number(ScalarOp::Lt, places, 0.0)?;
    let after = cx.binary(ScalarOp::Gt, places, last)?;
    let outside = cx.binary(ScalarOp::Or, before, after)?;
    let rank = cx.rank(x);
    let outside = cx.lay_along(outside, axis.axis, rank)?;
    let value = cx.number_like(y, plan.extrapolation)?;
    cx.select(outside, value, y)
}

/// How often each element repeats, where that is all a resize does.
fn whole_enlargement(cx: &mut Cx, plan: &Plan, x: Value, axis: &AxisPlan) -> Option<i64> {
    let plain = matches!(
        (plan.mode, plan.transform),
        (Mode::Nearest(Rounding::Floor) | Mode::NearestUpIfShrinking, Transform::Asymmetric)
            | (
                Mode::Nearest(Rounding::PreferFloor | Rounding::PreferCeil),
                Transform::HalfPixel | Transform::HalfPixelSymmetric | Transform::PytorchHalfPixel
            )
    );
    let times = axis.output.div_exact(&cx.dim(x, axis.axis))?.as_const()?;
    let scale = cx.known_ratios(axis.scale.rounded);
    let same = match scale.as_deref() {
        Some([(numerator, denominator)]) => numerator.as_const() == Some(times * denominator),
        _ => cx.known_number(axis.scale.rounded).is_none_or(|scale| scale == times as f64),
    };
    (plain && same && times >= 1).then_some(times)
}

fn repeat_elements(cx: &mut Cx, x: Value, axis: usize, times: i64) -> Outcome {
    let shape = cx.shape(x);
    let (outer, inner) = shape.split_at(axis + 1);
    let wide: Shape = outer.iter().cloned().chain([Dim::from(times)]).chain(inner.iter().cloned()).collect();
    let mut joined = shape.clone();
    joined[axis] = shape[axis].clone() * Dim::from(times);
    let x = cx.add_axes(x, &[axis + 1])?;
    let x = cx.broadcast_to(x, &wide)?;
    cx.reshape(x, joined)
}

/// The input place of each output place, `f64[output]`.
fn coordinates(cx: &mut Cx, plan: &Plan, x: Value, axis: &AxisPlan) -> Outcome {
    let extent = cx.dim(x, axis.axis);
    let places = cx.iota(DType::F64, [axis.output.clone()], 0)?;
    let exact = Axis {
        input: cx.size_as(extent, DType::F64, 1)?,
        output: cx.size_as(axis.output.clone(), DType::F64, 1)?,
        scale: (axis.scale.over, axis.scale.under),
        region: axis.roi,
    };
    let (over, under) = plan.transform.coordinate(cx, &exact, places)?;
    let coordinates = cx.div(over, under)?;
    if !plan.transform.singles_out() || axis.output.as_const().is_some_and(|output| output > 1) {
        return Ok(coordinates);
    }
    let only = plan.transform.only_coordinate(cx, &exact)?;
    let single = cx.with_number(ScalarOp::Eq, exact.output, 1.0)?;
    cx.select(single, only, coordinates)
}

fn nearest(cx: &mut Cx, mode: Mode, places: Value, scale: Value) -> Outcome {
    if let Mode::Nearest(rounding) = mode {
        return rounding.round(cx, places);
    }
    let (low, high) = (Rounding::Floor.round(cx, places)?, Rounding::Ceil.round(cx, places)?);
    let shrinks = cx.with_number(ScalarOp::Lt, scale, 1.0)?;
    cx.select(shrinks, high, low)
}

/// Whole `f64` places as `i64` indices inside of `0..extent`.
fn clamped_index(cx: &mut Cx, places: Value, extent: Dim) -> Outcome {
    let last = cx.size_as(extent - Dim::from(1), DType::F64, 1)?;
    let inside = cx.binary(ScalarOp::Min, places, last)?;
    let inside = cx.with_number(ScalarOp::Max, inside, 0.0)?;
    cx.cast(inside, DType::I64)
}

/// The weighted sum of taps around each place; weights by the fraction behind the place's floor.
fn interpolated(
    cx: &mut Cx,
    plan: &Plan,
    x: Value,
    axis: usize,
    places: Value,
    taps: std::ops::Range<i64>,
    weight: impl Fn(&mut Cx, Value, i64) -> Outcome,
) -> Outcome {
    let extent = cx.dim(x, axis);
    let floor = cx.unary(ScalarOp::Floor, places)?;
    let ratio = cx.sub(places, floor)?;
    let last = cx.size_as(extent.clone() - Dim::from(1), DType::F64, 1)?;
    let mut weights = Vec::new();
    let mut indices = Vec::new();
    for tap in taps {
        let mut weight = weight(cx, ratio, tap)?;
        let place = cx.with_number(ScalarOp::Add, floor, tap as f64)?;
        if plan.exclude_outside {
            let before = cx.with_number(ScalarOp::Lt, place, 0.0)?;
            let after = cx.binary(ScalarOp::Gt, place, last)?;
            let outside = cx.binary(ScalarOp::Or, before, after)?;
            let zero = cx.number_like(weight, 0.0)?;
            weight = cx.select(outside, zero, weight)?;
        }
        weights.push(weight);
        indices.push(clamped_index(cx, place, extent.clone())?);
    }
    let total = match plan.exclude_outside {
        true => Some(weights[1..].iter().try_fold(weights[0], |sum, weight| cx.add(sum, *weight))?),
        false => None,
    };
    let mut sum: Option<Value> = None;
    for (weight, index) in weights.into_iter().zip(indices) {
        let weight = match total {
            Some(total) => cx.div(weight, total)?,
            None => weight,
        };
        let weight = cx.cast_like(weight, x)?;
        let rank = cx.rank(x);
        let weight = cx.lay_along(weight, axis, rank)?;
        let tap = cx.gather(x, index, axis)?;
        let term = cx.mul(tap, weight)?;
        sum = Some(match sum {
            Some(sum) => cx.add(sum, term)?,
            None => term,
        });
    }
    sum.ok_or_else(|| Fault::invalid("no taps"))
}

/// A filter widened by the reduction, as a matrix `[output, padded input]` by the input padded with its edges.
fn filtered(cx: &mut Cx, plan: &Plan, x: Value, axis: &AxisPlan, places: Value) -> Outcome {
    let extent = cx.dim(x, axis.axis);
    // The filter reaches at most twice the input beyond its ends.
    let margin = if plan.exclude_outside { Dim::from(0) } else { extent.clone() * Dim::from(2) };
    let padded_extent = extent + margin.clone() * Dim::from(2);
    let taps = cx.iota(DType::F64, [Dim::from(1), padded_extent], 1)?;
    let offset = cx.size_as(margin.clone(), DType::F64, 2)?;
    let taps = cx.sub(taps, offset)?;
    let centres = cx.add_axes(places, &[1])?;
    let distance = cx.sub(taps, centres)?;
    let narrow = cx.with_number(ScalarOp::Min, axis.scale.rounded, 1.0)?;
    let distance = cx.mul(distance, narrow)?;
    let weights = match plan.mode {
        Mode::Cubic { a } => cx.cubic_filter(distance, a)?,
        _ => {
            let size = cx.unary(ScalarOp::Abs, distance)?;
            let height = cx.number_with(ScalarOp::Sub, 1.0, size)?;
            cx.with_number(ScalarOp::Max, height, 0.0)?
        }
    };
    let total = cx.reduce(ScalarOp::Add, weights, &[1], true)?;
    let weights = cx.div(weights, total)?;
    let weights = cx.cast_like(weights, x)?;
    let rank = cx.rank(x);
    let mut pads = vec![Dim::from(0); rank];
    pads[axis.axis] = margin.clone();
    let padded = match margin.is_const(0) {
        true => x,
        false => cx.emit(TensorOp::Pad { low: pads.clone(), high: pads, mode: PadMode::Edge }, &[x])?,
    };
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![axis.axis],
        rhs_contract: vec![1],
    };
    let out = cx.dtype(x);
    let y = cx.emit(TensorOp::dot(dims, out), &[padded, weights])?;
    cx.move_axis(y, rank - 1, axis.axis)
}
