//! Normalisations: by batch statistics that are given, by instance, group, layer, root mean square, neighbours.

use super::window::spatial_rank;
use crate::build::{axes_in, axis_in};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{PoolKind, TensorOp, Window};

pub(super) const ROWS: &[Row] = &[
    op("BatchNormalization", batch_norm),
    op("InstanceNormalization", instance_norm).widens(),
    op_between("GroupNormalization", 18, 20, |cx, node| group_norm(cx, node, false)).widens(),
    op_since("GroupNormalization", 21, |cx, node| group_norm(cx, node, true)).widens(),
    op("LayerNormalization", layer_norm),
    op("SimplifiedLayerNormalization", rms_norm),
    op("RMSNormalization", rms_norm),
    op("MeanVarianceNormalization", mean_variance_norm).widens(),
    op("LRN", local_response_norm).widens(),
];

pub(super) const MICROSOFT: &[Row] = &[
    op("SimplifiedLayerNormalization", rms_norm),
    op("EmbedLayerNormalization", embed_layer_norm),
    op("SkipLayerNormalization", skip_layer_norm),
    op("SkipSimplifiedLayerNormalization", skip_layer_norm),
];

fn batch_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rank = cx.rank(x);
    let spatial = node.version >= 9 || node.flag("spatial", true);
    let operand = |cx: &mut Cx, i: usize| {
        let value = node.operand(i)?;
        let value = cx.cast_like(value, x)?;
        // Before opset 9 there may be one for each place of a map: they lie along all axes but the batch.
        if spatial { cx.lay_along(value, 1.min(rank - 1), rank) } else { Ok(value) }
    };
    if rank == 0 {
        return Err(Fault::from("a tensor [N,C,...] is expected, got a scalar".to_string()));
    }
    let (scale, bias) = (operand(cx, 1)?, operand(cx, 2)?);
    let training = match node.version {
        ..7 => !node.flag("is_test", false),
        _ => node.flag("training_mode", false),
    };
    if training && !spatial {
        return Err(Fault::unsupported("statistics for each place of a map are not computed in training"));
    }
    if training {
        return batch_norm_training(cx, node, x, scale, bias);
    }
    let (mean, variance) = (operand(cx, 3)?, operand(cx, 4)?);
    Ok(vec![normalised(cx, x, mean, variance, scale, bias, node.float("epsilon", 1e-5))?])
}

/// `(x - mean) / sqrt(variance + eps) * scale + bias`.
fn normalised(
    cx: &mut Cx,
    x: Value,
    mean: Value,
    variance: Value,
    scale: Value,
    bias: Value,
    eps: f64,
) -> Outcome {
    let centred = cx.sub(x, mean)?;
    let variance = cx.with_number(ScalarOp::Add, variance, eps)?;
    let deviation = cx.unary(ScalarOp::Sqrt, variance)?;
    let factor = cx.div(scale, deviation)?;
    let y = cx.mul(centred, factor)?;
    cx.add(y, bias)
}

/// Statistics of this batch, and the running ones moved towards them.
fn batch_norm_training(cx: &mut Cx, node: &Node, x: Value, scale: Value, bias: Value) -> Outcome<Vec<Value>> {
    let rank = cx.rank(x);
    let axes: Vec<usize> = (0..rank).filter(|axis| *axis != 1).collect();
    let mean = cx.mean(x, &axes)?;
    let variance = cx.variance(x, mean, &axes)?;
    let y = normalised(cx, x, mean, variance, scale, bias, node.float("epsilon", 1e-5))?;
    let momentum = node.float("momentum", 0.9);
    let mut results = vec![y];
    for (i, current) in [(3, mean), (4, variance)] {
        let running = node.operand(i)?;
        let shape = cx.shape(running);
        let current = cx.reshape(current, shape)?;
        let current = cx.cast_like(current, running)?;
        let kept = cx.with_number(ScalarOp::Mul, running, momentum)?;
        let moved = cx.with_number(ScalarOp::Mul, current, f64::from(1.0 - momentum as f32))?;
        results.push(cx.add(kept, moved)?);
    }
    Ok(results)
}

fn instance_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, scale, bias) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let rank = cx.rank(x);
    let axes: Vec<usize> = (2..spatial_rank(&cx.shape(x))? + 2).collect();
    let mean = cx.mean(x, &axes)?;
    let variance = cx.variance(x, mean, &axes)?;
    let (scale, bias) = (cx.lay_along(scale, 1, rank)?, cx.lay_along(bias, 1, rank)?);
    Ok(vec![normalised(cx, x, mean, variance, scale, bias, node.float("epsilon", 1e-5))?])
}

/// Scale and bias are per group before opset 21, per channel from it on.
fn group_norm(cx: &mut Cx, node: &Node, per_channel: bool) -> Outcome<Vec<Value>> {
    let (mut x, scale, bias) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    if per_channel && cx.rank(scale) == 1 {
        let channels = cx.dim(scale, 0);
        x = cx.with_extent(x, 1, &channels, "the input must have a channel for each scale")?;
    }
    let shape = cx.shape(x);
    let groups = node.int("num_groups", 0);
    if groups < 1 || shape.rank() < 2 {
        return Err(Fault::invalid(format!("{groups} groups of {}", cx.ty(x))));
    }
    let groups = Dim::from(groups);
    // Of channels that are left open, the reshape asserts that they divide.
    let channels = match (shape[1].div_exact(&groups), shape[1].as_const()) {
        (Some(channels), _) => channels,
        (None, None) => shape[1].floor_div(&groups),
        (None, Some(all)) => {
            return Err(Fault::from(format!("{all} channels do not divide into {groups} groups")));
        }
    };
    let inner = Shape::from(&shape[2..]).count();
    let grouped = cx.reshape(x, [shape[0].clone(), groups.clone(), channels * inner])?;
    let mean = cx.mean(grouped, &[2])?;
    let variance = cx.variance(grouped, mean, &[2])?;
    let centred = cx.sub(grouped, mean)?;
    let variance = cx.with_number(ScalarOp::Add, variance, node.float("epsilon", 1e-5))?;
    let deviation = cx.unary(ScalarOp::Sqrt, variance)?;
    let mut y = cx.div(centred, deviation)?;
    if per_channel {
        y = cx.reshape(y, shape.clone())?;
    }
    let rank = cx.rank(y);
    let (scale, bias) = (cx.lay_along(scale, 1, rank)?, cx.lay_along(bias, 1, rank)?);
    let y = cx.mul(y, scale)?;
    let y = cx.add(y, bias)?;
    Ok(vec![cx.reshape(y, shape)?])
}

/// Makes a scale or bias have exactly the normalised axes; `None` where it varies over others too.
fn inner_operand(cx: &mut Cx, value: Value, x: Value, axis: usize) -> Outcome<Option<Value>> {
    if cx.ty(value).shape[..] == cx.ty(x).shape[axis..] {
        return Ok(Some(value));
    }
    let (shape, inner) = (cx.shape(x), Shape::from(&cx.shape(x)[axis..]));
    let own = cx.shape(value);
    let extra = own.rank().saturating_sub(inner.rank());
    if own.rank() > shape.rank() || own[..extra].iter().any(|dim| !dim.is_const(1)) {
        return Ok(None);
    }
    let value = cx.reshape(value, Shape::from(&own[extra..]))?;
    Ok(Some(cx.broadcast_to(value, &inner)?))
}

/// Results: y, and where asked for the mean and the inverse standard deviation.
fn layer_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, scale) = (node.operand(0)?, node.operand(1)?);
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    let eps = node.float("epsilon", 1e-5);
    let plain_bias = node.optional(2);
    let inner_scale = inner_operand(cx, scale, x, axis)?;
    let inner_bias = plain_bias.map(|bias| inner_operand(cx, bias, x, axis)).transpose()?;
    let y = match (inner_scale, inner_bias) {
        (Some(scale), None) => cx.emit(TensorOp::LayerNorm { axis, eps: F64(eps) }, &[x, scale])?,
        (Some(scale), Some(Some(bias))) => {
            cx.emit(TensorOp::LayerNorm { axis, eps: F64(eps) }, &[x, scale, bias])?
        }
        _ => {
            let inner = Shape::from(&cx.shape(x)[axis..]);
            let own_dtype = cx.dtype(x);
            let one = cx.splat(own_dtype, inner, 1.0)?;
            let y = cx.emit(TensorOp::LayerNorm { axis, eps: F64(eps) }, &[x, one])?;
            let y = cx.mul(y, scale)?;
            match plain_bias {
                Some(bias) => cx.add(y, bias)?,
                None => y,
            }
        }
    };
    let mut results = vec![y];
    if node.wants(1) || node.wants(2) {
        let axes: Vec<usize> = (axis..cx.rank(x)).collect();
        let dtype = cx.dtype(x);
        let wide = cx.cast(x, if dtype == DType::F64 { DType::F64 } else { DType::F32 })?;
        let mean = cx.mean(wide, &axes)?;
        let variance = cx.variance(wide, mean, &axes)?;
        let variance = cx.with_number(ScalarOp::Add, variance, eps)?;
        let deviation = cx.unary(ScalarOp::Sqrt, variance)?;
        results.extend([mean, cx.unary(ScalarOp::Reciprocal, deviation)?]);
    }
    Ok(results)
}

fn rms_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    // Sums are in `f32` at least.
    node.needs_not(&["stash_type"]);
    let (x, scale) = (node.operand(0)?, node.operand(1)?);
    let axis = axis_in(node.int("axis", -1), cx.rank(x))?;
    let eps = F64(node.float("epsilon", 1e-5));
    let y = match inner_operand(cx, scale, x, axis)? {
        Some(scale) => cx.emit(TensorOp::RmsNorm { axis, eps }, &[x, scale])?,
        None => {
            let inner = Shape::from(&cx.shape(x)[axis..]);
            let dtype = cx.dtype(x);
            let one = cx.splat(dtype, inner, 1.0)?;
            let y = cx.emit(TensorOp::RmsNorm { axis, eps }, &[x, one])?;
            cx.mul(y, scale)?
        }
    };
    Ok(vec![y])
}

/// `(x, skip, gamma, beta?, bias?)`: a norm of the sum; the fourth result is the sum.
fn skip_layer_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let simplified = node.op_type().contains("Simplified");
    let (x, skip, gamma) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (beta, bias) =
        if simplified { (None, node.optional(3)) } else { (node.optional(3), node.optional(4)) };
    if node.wants(1) || node.wants(2) {
        return Err(Fault::unsupported("the mean and the deviation as results are not supported"));
    }
    let mut sum = cx.add(x, skip)?;
    if let Some(bias) = bias {
        sum = cx.add(sum, bias)?;
    }
    let rank = cx.rank(sum);
    let axis =
        rank.checked_sub(1).ok_or_else(|| Fault::from("a tensor is expected, got a scalar".to_string()))?;
    let eps = F64(node.float("epsilon", 1e-12));
    let y = if simplified {
        cx.emit(TensorOp::RmsNorm { axis, eps }, &[sum, gamma])?
    } else {
        let operands: Vec<Value> = [sum, gamma].into_iter().chain(beta).collect();
        cx.emit(TensorOp::LayerNorm { axis, eps }, &operands)?
    };
    Ok(vec![y, sum, sum, sum])
}

/// Operands `ids, segment_ids?, words, positions, segments?, gamma, beta, mask?, position_ids?`; results the norm of
/// the rows' sum, how many places of the mask are 1, and the sum.
fn embed_layer_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    node.needs_not(&["mask_index_type"]);
    let (ids, words, positions) = (node.operand(0)?, node.operand(2)?, node.operand(3)?);
    let (gamma, beta) = (node.operand(5)?, node.operand(6)?);
    cx.expect_rank(ids, 2, "ids [batch,length]")?;
    let words = cx.gather(words, ids, 0)?;
    let places = match node.optional(8) {
        Some(places) => places,
        None => {
            let length = cx.dim(ids, 1);
            cx.iota(DType::I64, [Dim::from(1), length], 1)?
        }
    };
    let positions = cx.gather(positions, places, 0)?;
    let mut sum = cx.add(words, positions)?;
    if let Some(segment_ids) = node.optional(1) {
        let segments = cx.gather(node.operand(4)?, segment_ids, 0)?;
        sum = cx.add(sum, segments)?;
    }
    let axis = cx.rank(sum) - 1;
    let eps = F64(node.float("epsilon", 1e-12));
    let y = cx.emit(TensorOp::LayerNorm { axis, eps }, &[sum, gamma, beta])?;
    let dtype = cx.dtype(ids);
    let counts = match node.optional(7) {
        Some(mask) => {
            let seen = cx.with_number(ScalarOp::Eq, mask, 1.0)?;
            let seen = cx.cast(seen, dtype)?;
            cx.reduce(ScalarOp::Add, seen, &[1], false)?
        }
        None => {
            let batch = cx.dim(ids, 0);
            cx.splat(dtype, [batch], 0.0)?
        }
    };
    Ok(vec![y, counts, sum])
}

fn mean_variance_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axes = axes_in(&node.ints("axes").unwrap_or_else(|| vec![0, 2, 3]), cx.rank(x))?;
    let mean = cx.mean(x, &axes)?;
    let variance = cx.variance(x, mean, &axes)?;
    let deviation = cx.unary(ScalarOp::Sqrt, variance)?;
    let deviation = cx.with_number(ScalarOp::Add, deviation, 1e-9)?;
    let centred = cx.sub(x, mean)?;
    Ok(vec![cx.div(centred, deviation)?])
}

/// `x / (bias + alpha / size * sum of squares over neighbouring channels)^beta`.
fn local_response_norm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let shape = cx.shape(x);
    spatial_rank(&shape)?;
    let size = node.int("size", 0);
    if size < 1 {
        return Err(Fault::invalid(format!("size {size} is not positive")));
    }
    // Channels become the only window axis that is wider than 1.
    let squares = cx.mul(x, x)?;
    let inner = Shape::from(&shape[2..]).count();
    let squares = cx.reshape(squares, [shape[0].clone(), Dim::from(1), shape[1].clone(), inner])?;
    let (before, after) = ((size - 1) / 2, size / 2);
    // Beyond the channels there is nothing to sum.
    let most = shape[1].as_const().map_or(SymbolInfo::MAX / 2, |channels| (channels - 1).max(0));
    let (before, after) = (before.min(most), after.min(most));
    let window = Window {
        size: vec![before + 1 + after, 1],
        strides: vec![1, 1],
        dilations: vec![1, 1],
        low: vec![Dim::from(before), Dim::from(0)],
        high: vec![Dim::from(after), Dim::from(0)],
    };
    let sums = cx.emit(TensorOp::Pool { kind: PoolKind::Sum, window: Box::new(window) }, &[squares])?;
    let sums = cx.reshape(sums, shape)?;
    let scaled = cx.with_number(ScalarOp::Mul, sums, node.float("alpha", 1e-4) / size as f64)?;
    let raised = cx.with_number(ScalarOp::Add, scaled, node.float("bias", 1.0))?;
    let raised = cx.with_number(ScalarOp::Pow, raised, node.float("beta", 0.75))?;
    Ok(vec![cx.div(x, raised)?])
}
