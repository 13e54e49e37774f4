//! Convolution, its transpose, and their sampled cousins.

use super::window::{AutoPad, auto_pad, explicit_pads, kernel_of, spatial_rank, steps_of, window_of};
use crate::build::along;
use crate::build::window::{halves, is_extent};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{ScatterKind, TensorOp, Window};

pub(super) const ROWS: &[Row] = &[
    op("Conv", conv),
    op("ConvTranspose", conv_transpose),
    op("Col2Im", col2im),
    op("CausalConvWithState", causal_conv_with_state),
];

pub(super) const MICROSOFT: &[Row] = &[op("FusedConv", fused_conv)];

/// A convolution, a fourth operand added to it, and an activation.
fn fused_conv(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let mut y = conv(cx, node)?[0];
    if let Some(more) = node.optional(3) {
        y = cx.add(y, more)?;
    }
    let numbers: Vec<f64> =
        node.floats("activation_params").unwrap_or_default().into_iter().map(f64::from).collect();
    Ok(vec![cx.activated(y, &node.text("activation", ""), &numbers)?])
}

fn conv(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, w) = (node.operand(0)?, node.operand(1)?);
    let window = window_of(node, &cx.shape(x), Some(kernel_of(cx, w)?))?;
    let groups = node.int("group", 1);
    let channels = cx.dim(w, 1) * Dim::from(groups);
    let x = with_channels(cx, x, channels)?;
    let out = cx.dtype(x);
    let y = cx.emit(TensorOp::Conv { window: Box::new(window), groups, out }, &[x, w])?;
    Ok(vec![add_bias(cx, y, node.optional(2))?])
}

/// Convolutions of models without fixed channel counts: the weights say how many there are.
pub(super) fn with_channels(cx: &mut Cx, x: Value, channels: Dim) -> Outcome {
    cx.with_extent(x, 1, &channels, "the input must have the channels that the weights take")
}

pub(super) fn add_bias(cx: &mut Cx, y: Value, bias: Option<Value>) -> Outcome {
    let Some(bias) = bias else { return Ok(y) };
    let rank = cx.rank(y);
    let bias = cx.lay_along(bias, 1, rank)?;
    cx.add(y, bias)
}

fn conv_transpose(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, w) = (node.operand(0)?, node.operand(1)?);
    cx.expect_axis(w, 0)?;
    let channels = cx.dim(w, 0);
    let x = with_channels(cx, x, channels)?;
    let shape = cx.shape(x);
    let n = spatial_rank(&shape)?;
    let size = kernel_of(cx, w)?;
    let (strides, dilations) = (steps_of(node, "strides", n)?, steps_of(node, "dilations", n)?);
    let extra = node.per_axis("output_padding", n, 0)?;
    if size.len() != n || !size.iter().all(is_extent) {
        return Err(Fault::invalid(format!("a kernel of {size:?} must be {n} positive sizes")));
    }
    if node.ints("kernel_shape").is_some_and(|given| given != size) {
        return Err(Fault::from(format!("kernel_shape does not fit weights of {size:?}")));
    }
    if extra.iter().any(|extra| !(0..=SymbolInfo::MAX).contains(extra)) {
        return Err(Fault::invalid(format!("output_padding {extra:?} must not be negative")));
    }
    // The full result, before anything is cut: stride * (x - 1) + reach.
    let full = |i: usize| {
        (shape[i + 2].clone() - Dim::from(1)) * Dim::from(strides[i])
            + Dim::from(dilations[i] * (size[i] - 1) + 1)
    };
    // What a wanted size leaves out on both sides; where it is larger than the full result, zeros follow that.
    let cut = |i: usize, size: &Dim, upper: bool| {
        let total = full(i) + Dim::from(extra[i]) - size.clone();
        let (low, _) = halves(total.maximum(&Dim::from(0)), upper);
        (low.clone(), total - low)
    };
    let (mut low, mut high, mut output) = (vec![], vec![], vec![]);
    match (node.ints("output_shape"), auto_pad(node)?) {
        (Some(wanted), pad) => {
            // Some exporters list batch and channels too.
            let wanted = &wanted[wanted.len().saturating_sub(n)..];
            let upper = matches!(pad, AutoPad::Same { upper: true });
            for i in 0..n {
                let size = wanted.get(i).ok_or_else(|| Fault::invalid("output_shape is too short"))?;
                let size = Dim::from(*size);
                let (a, b) = cut(i, &size, upper);
                low.push(a);
                high.push(b);
                output.push(size);
            }
        }
        (None, AutoPad::Same { upper }) => {
            for i in 0..n {
                let size = shape[i + 2].clone() * Dim::from(strides[i]);
                let (a, b) = cut(i, &size, upper);
                low.push(a);
                high.push(b);
                output.push(size);
            }
        }
        (None, AutoPad::Valid) => {
            (low, high) = (vec![Dim::from(0); n], vec![Dim::from(0); n]);
            output = (0..n).map(|i| full(i) + Dim::from(extra[i])).collect();
        }
        (None, AutoPad::Explicit) => {
            (low, high) = explicit_pads(node, n)?;
            output =
                (0..n).map(|i| full(i) - low[i].clone() - high[i].clone() + Dim::from(extra[i])).collect();
        }
    }
    let window = Window { size, strides, dilations, low, high };
    let groups = node.int("group", 1);
    let kind = TensorOp::ConvTranspose { window: Box::new(window), groups, output };
    let y = cx.emit(kind, &[x, w])?;
    Ok(vec![add_bias(cx, y, node.optional(2))?])
}

/// Adds the columns of sliding blocks back into an image: the inverse of im2col, as a scatter.
fn col2im(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, image, block) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    cx.expect_rank(x, 3, "blocks [N,C*k,L]")?;
    let n = cx.element_count(image)?;
    if cx.element_count(block)? != n {
        return Err(Fault::invalid("image and block differ in rank"));
    }
    let uppers: Vec<Dim> = (0..n).map(|i| cx.declared_extent(0, i + 2)).collect();
    let image = cx.sizes_or_bind(image, "image", &|i| uppers[i].clone())?;
    let block = cx.sizes_or_bind(block, "block", &|i| uppers[i].clone())?;
    let (strides, dilations) = (steps_of(node, "strides", n)?, steps_of(node, "dilations", n)?);
    let (low, high) = explicit_pads(node, n)?;
    let columns: Vec<Dim> = (0..n)
        .map(|i| {
            let reach = (block[i].clone() - Dim::from(1)) * Dim::from(dilations[i]) + Dim::from(1);
            let padded = image[i].clone() + low[i].clone() + high[i].clone();
            (padded - reach).floor_div(&Dim::from(strides[i])) + Dim::from(1)
        })
        .collect();
    // Axes [block..., column...]: where each element lands, and whether inside of the image.
    let rank = 2 * n;
    let grid: Shape = block.iter().chain(&columns).cloned().collect();
    let mut place = cx.splat_int(DType::I64, Shape::from_iter(vec![1i64; rank]), 0)?;
    let mut inside = cx.splat_int(DType::Bool, Shape::from_iter(vec![1i64; rank]), 1)?;
    for i in 0..n {
        let in_block = cx.iota(DType::I64, along(rank, i, block[i].clone()), i)?;
        let in_block = cx.with_number(ScalarOp::Mul, in_block, dilations[i] as f64)?;
        let column = cx.iota(DType::I64, along(rank, n + i, columns[i].clone()), n + i)?;
        let column = cx.with_number(ScalarOp::Mul, column, strides[i] as f64)?;
        let at = cx.add(in_block, column)?;
        let pad = cx.size_as(low[i].clone(), DType::I64, rank)?;
        let at = cx.sub(at, pad)?;
        let extent = cx.size_as(image[i].clone(), DType::I64, rank)?;
        let after = cx.with_number(ScalarOp::Ge, at, 0.0)?;
        let before = cx.binary(ScalarOp::Lt, at, extent)?;
        inside = cx.binary(ScalarOp::And, inside, after)?;
        inside = cx.binary(ScalarOp::And, inside, before)?;
        place = cx.mul(place, extent)?;
        place = cx.add(place, at)?;
    }
    let zero = cx.number_like(place, 0.0)?;
    let place = cx.select(inside, place, zero)?;
    let (batch, rows) = (cx.dim(x, 0), cx.dim(x, 1));
    let volume = block.iter().cloned().fold(Dim::from(1), |a, b| a * b);
    let channels = rows.floor_div(&volume);
    let maps = batch.clone() * channels.clone();
    let per_map: Shape = std::iter::once(maps.clone()).chain(grid.iter().cloned()).collect();
    let x = cx.reshape(x, per_map.clone())?;
    let inside = cx.add_axes(inside, &[0])?;
    let nothing = cx.number_like(x, 0.0)?;
    let x = cx.select(inside, x, nothing)?;
    let place = cx.broadcast_to(place, &per_map)?;
    let flat = [maps.clone(), grid.count()];
    let (x, place) = (cx.reshape(x, flat.clone())?, cx.reshape(place, flat)?);
    let pixels = image.iter().cloned().fold(Dim::from(1), |a, b| a * b);
    let dtype = cx.dtype(x);
    let empty = cx.splat(dtype, [maps, pixels], 0.0)?;
    let kind = TensorOp::ScatterElements { axis: 1, kind: ScatterKind::Add };
    let y = cx.emit(kind, &[empty, place, x])?;
    let result: Shape = [batch, channels].into_iter().chain(image).collect();
    Ok(vec![cx.reshape(y, result)?])
}

/// `(x: [B,C,L], w: [C,1,k], bias?: [C], past?: [B,C,k-1])`: each channel's window ends at the result's place. Also the
/// last `k - 1` elements, as the next call's past.
fn causal_conv_with_state(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, w) = (node.operand(0)?, node.operand(1)?);
    cx.expect_rank(x, 3, "a signal [B,C,L]")?;
    cx.expect_rank(w, 3, "weights [C,1,k]")?;
    let activated = match node.text("activation", "none").as_str() {
        "none" => false,
        "silu" | "swish" => true,
        other => return Err(Fault::invalid(format!("activation `{other}` is none of none, silu, swish"))),
    };
    let groups = cx.dim(w, 0).as_const().filter(is_extent).ok_or_else(|| {
        Fault::unsupported(format!("the number of channels must be constant and positive, got {}", cx.ty(w)))
    })?;
    let size = kernel_of(cx, w)?;
    let past = match size[..] {
        [size] if is_extent(&size) => Dim::from(size - 1),
        _ => return Err(Fault::invalid(format!("a kernel of {size:?} must be one positive size"))),
    };
    let x = with_channels(cx, x, Dim::from(groups))?;
    let (batch, length, dtype) = (cx.dim(x, 0), cx.dim(x, 2), cx.dtype(x));
    let wanted = [batch, Dim::from(groups), past.clone()];
    let before = match node.optional(3) {
        Some(before) => cx.reshape(before, wanted)?,
        None => cx.splat(dtype, wanted, 0.0)?,
    };
    let whole = cx.concat(&[before, x], 2)?;
    let window = Window {
        size,
        strides: vec![1],
        dilations: vec![1],
        low: vec![Dim::from(0)],
        high: vec![Dim::from(0)],
    };
    let y = cx.emit(TensorOp::Conv { window: Box::new(window), groups, out: dtype }, &[whole, w])?;
    let mut y = add_bias(cx, y, node.optional(2))?;
    if activated {
        let wide = cx.widened(y)?;
        let gate = cx.unary(ScalarOp::Sigmoid, wide)?;
        let gated = cx.mul(wide, gate)?;
        y = cx.cast(gated, dtype)?;
    }
    let state = cx.slice_axis(whole, 2, length, past)?;
    Ok(vec![y, state])
}
