//! Pooling over windows and over whole maps.

use super::means::whole_mean;
use super::reduction::mean_along;
use super::window::{explicit_pads, spatial_rank, steps_of, window_of};
use crate::build::window::is_extent;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{PoolKind, ScatterKind, TensorOp, Window};

pub(super) const ROWS: &[Row] = &[
    op("MaxPool", max_pool),
    op("AveragePool", average_pool),
    op("LpPool", lp_pool).widens(),
    op("GlobalMaxPool", global_max_pool),
    op("GlobalAveragePool", global_average_pool).widens(),
    op("GlobalLpPool", global_lp_pool).widens(),
    op("MaxUnpool", max_unpool),
];

/// The window with the end padded so that the last, partial step of `ceil_mode` counts.
/// The second window's padding is the one the model wrote.
fn pool_window(cx: &mut Cx, node: &Node, x: Value) -> Outcome<(Window, Window)> {
    let shape = cx.shape(x);
    let plain = window_of(node, &shape, None)?;
    let mut window = plain.clone();
    if node.flag("ceil_mode", false) && matches!(node.text("auto_pad", "NOTSET").as_str(), "NOTSET" | "") {
        for i in 0..window.size.len() {
            let extent = shape[i + 2].clone();
            let stride = Dim::from(window.strides[i]);
            let reach = Dim::from(window.dilations[i] * (window.size[i] - 1) + 1);
            let span = extent.clone() + window.low[i].clone() + window.high[i].clone() - reach.clone();
            let steps = span.ceil_div(&stride) + Dim::from(1);
            // A window that would start in the end's padding is dropped.
            let last_start = (extent.clone() + window.low[i].clone() - Dim::from(1)).floor_div(&stride);
            let steps = steps.minimum(&(last_start + Dim::from(1)));
            let covered = (steps - Dim::from(1)) * stride + reach;
            let high = covered - extent - window.low[i].clone();
            window.high[i] = high.maximum(&Dim::from(0));
        }
    }
    Ok((window, plain))
}

fn max_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (window, _) = pool_window(cx, node, x)?;
    let window = Box::new(window);
    if !node.wants(1) {
        return Ok(vec![cx.emit(TensorOp::Pool { kind: PoolKind::Max, window }, &[x])?]);
    }
    let column_major = node.flag("storage_order", false);
    cx.emit_many(TensorOp::MaxPoolIndices { window, column_major }, &[x])
}

fn average_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    Ok(vec![average(cx, node, node.operand(0)?)?])
}

/// The means over the node's windows of `x: [N,C,...]`.
pub(super) fn average(cx: &mut Cx, node: &Node, x: Value) -> Outcome {
    let (window, plain) = pool_window(cx, node, x)?;
    let include_pad = node.flag("count_include_pad", false);
    if !cx.dtype(x).is_float() {
        return average_of_whole(cx, x, window, plain, include_pad);
    }
    if !include_pad {
        let kind = PoolKind::AverageInside;
        return cx.emit(TensorOp::Pool { kind, window: Box::new(window) }, &[x]);
    }
    if window == plain {
        let kind = PoolKind::Average;
        return cx.emit(TensorOp::Pool { kind, window: Box::new(window) }, &[x]);
    }
    // The model's padding counts, what ceil_mode adds does not: pad first, then average what is inside.
    let n = plain.size.len();
    let zeros = vec![Dim::from(0); 2];
    let low = [zeros.clone(), plain.low.clone()].concat();
    let high = [zeros, plain.high.clone()].concat();
    let padded = cx.pad_with(x, 0.0, low, high)?;
    let high =
        (0..n).map(|i| (window.high[i].clone() - plain.high[i].clone()).maximum(&Dim::from(0))).collect();
    let inner = Window { low: vec![Dim::from(0); n], high, ..window };
    let kind = PoolKind::AverageInside;
    cx.emit(TensorOp::Pool { kind, window: Box::new(inner) }, &[padded])
}

/// As [`average`], of whole numbers. How many elements a window has is a sum of ones.
fn average_of_whole(cx: &mut Cx, x: Value, window: Window, plain: Window, include_pad: bool) -> Outcome {
    let sum = |window: Window| TensorOp::Pool { kind: PoolKind::Sum, window: Box::new(window) };
    let mut shape = cx.shape(x);
    (shape[0], shape[1]) = (Dim::from(1), Dim::from(1));
    let ones = cx.splat_int(DType::I64, shape, 1)?;
    let count = match include_pad {
        false => cx.emit(sum(window.clone()), &[ones])?,
        true => {
            let none = vec![Dim::from(0); 2];
            let (low, high) = ([none.clone(), plain.low].concat(), [none, plain.high.clone()].concat());
            let ones = cx.pad_with(ones, 1.0, low, high)?;
            let n = plain.high.len();
            let more = |i: usize| (window.high[i].clone() - plain.high[i].clone()).maximum(&Dim::from(0));
            let inner =
                Window { low: vec![Dim::from(0); n], high: (0..n).map(more).collect(), ..window.clone() };
            cx.emit(sum(inner), &[ones])?
        }
    };
    let dtype = cx.dtype(x);
    whole_mean(cx, dtype, count, |cx, part| {
        let x = part(cx, x)?;
        cx.emit(sum(window.clone()), &[x])
    })
}

/// The norm's order.
fn order_of(node: &Node) -> Outcome<i64> {
    match node.int("p", 2) {
        p @ 1.. => Ok(p),
        p => Err(Fault::invalid(format!("the norm's order p is {p}, but must be positive"))),
    }
}

/// `(sum |x|^p)^(1/p)`.
fn lp_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (window, _) = pool_window(cx, node, x)?;
    let p = order_of(node)?;
    let powered = power(cx, x, p)?;
    let sum = cx.emit(TensorOp::Pool { kind: PoolKind::Sum, window: Box::new(window) }, &[powered])?;
    Ok(vec![root(cx, sum, p)?])
}

fn power(cx: &mut Cx, x: Value, p: i64) -> Outcome {
    match p {
        2 => cx.mul(x, x),
        1 => cx.unary(ScalarOp::Abs, x),
        p => {
            let size = cx.unary(ScalarOp::Abs, x)?;
            cx.with_number(ScalarOp::Pow, size, p as f64)
        }
    }
}

fn root(cx: &mut Cx, x: Value, p: i64) -> Outcome {
    match p {
        2 => cx.unary(ScalarOp::Sqrt, x),
        1 => Ok(x),
        p => cx.with_number(ScalarOp::Pow, x, 1.0 / p as f64),
    }
}

fn spatial_axes(cx: &Cx, x: Value) -> Outcome<Vec<usize>> {
    let n = spatial_rank(&cx.shape(x))?;
    Ok((2..n + 2).collect())
}

fn global_max_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axes = spatial_axes(cx, x)?;
    Ok(vec![cx.reduce(ScalarOp::Max, x, &axes, true)?])
}

fn global_average_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axes = spatial_axes(cx, x)?;
    Ok(vec![mean_along(cx, x, &axes)?])
}

fn global_lp_pool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axes = spatial_axes(cx, x)?;
    let p = order_of(node)?;
    let powered = power(cx, x, p)?;
    let sum = cx.reduce(ScalarOp::Add, powered, &axes, true)?;
    Ok(vec![root(cx, sum, p)?])
}

/// Puts maxima back where their indices say; the indices are into the whole tensor of the inferred shape.
fn max_unpool(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, indices) = (node.operand(0)?, node.operand(1)?);
    let shape = cx.shape(x);
    let n = spatial_rank(&shape)?;
    let size =
        node.ints("kernel_shape").ok_or_else(|| Fault::invalid("attribute `kernel_shape` is missing"))?;
    let strides = steps_of(node, "strides", n)?;
    let (low, high) = explicit_pads(node, n)?;
    if size.len() != n || !size.iter().all(is_extent) {
        return Err(Fault::invalid(format!("kernel_shape {size:?} must be {n} positive sizes")));
    }
    let mut inferred: Vec<Dim> = shape[..2].to_vec();
    for i in 0..n {
        let full = (shape[i + 2].clone() - Dim::from(1)) * Dim::from(strides[i]) + Dim::from(size[i]);
        inferred.push(full - low[i].clone() - high[i].clone());
    }
    let inferred = Shape::from(inferred);
    let flat = [shape.count()];
    let own_dtype = cx.dtype(x);
    let empty = cx.splat(own_dtype, [inferred.count()], 0.0)?;
    let (x, indices) = (cx.reshape(x, flat.clone())?, cx.reshape(indices, flat)?);
    let scatter = |cx: &mut Cx, empty: Value, indices: Value| {
        let kind = TensorOp::ScatterElements { axis: 0, kind: ScatterKind::Set };
        cx.emit(kind, &[empty, indices, x])
    };
    let Some(wanted) = node.optional(2) else {
        let y = scatter(cx, empty, indices)?;
        return Ok(vec![cx.reshape(y, inferred)?]);
    };
    // The indices are those of the tensor that was pooled, whose shape is given.
    let rank = n + 2;
    let uppers: Vec<Dim> = (0..rank).map(|i| cx.declared_extent(0, i)).collect();
    let wanted = cx.sizes_or_bind(wanted, "unpooled", &|i| uppers.get(i).cloned().unwrap_or(Dim::from(0)))?;
    let wanted = Shape::from(wanted);
    if wanted.rank() != rank {
        return Err(Fault::invalid(format!("output_shape has {} sizes for rank {rank}", wanted.rank())));
    }
    // Coordinates in the inferred shape, laid out in the wanted one.
    let mut rest = indices;
    let mut place = cx.splat_int(DType::I64, [1i64], 0)?;
    let mut scale = Dim::from(1);
    for axis in (0..rank).rev() {
        let extent = cx.size_as(inferred[axis].clone(), DType::I64, 1)?;
        let at = cx.binary(ScalarOp::Mod, rest, extent)?;
        rest = cx.div(rest, extent)?;
        let step = cx.size_as(scale.clone(), DType::I64, 1)?;
        let at = cx.mul(at, step)?;
        place = cx.add(place, at)?;
        scale = scale * wanted[axis].clone();
    }
    let dtype = cx.dtype(x);
    let empty = cx.splat(dtype, [wanted.count()], 0.0)?;
    let y = scatter(cx, empty, place)?;
    Ok(vec![cx.reshape(y, wanted)?])
}
