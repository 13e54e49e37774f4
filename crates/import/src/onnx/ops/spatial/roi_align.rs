//! RoiAlign (He et al. 2017, Mask R-CNN): each region of an image pooled to a grid of bins, whose samples lie between
//! pixels.
//!
//! Along each axis a region has `bins * samples` places; where the number of samples depends on the region, the axis
//! has the most that any region needs and the rest do not count. The pixels around each are gathered from the whole
//! image batch by one flat index.

use crate::build::along;
use crate::build::window::is_extent;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};

struct Pooling {
    max: bool,
    /// Pixels have their centres at halves.
    half_pixel: bool,
    scale: f64,
    /// Samples a bin and axis; 0: as many as a bin has pixels.
    samples: i64,
}

/// Samples along one axis. Values are `[R, bins * samples]`.
struct Samples {
    bins: i64,
    samples: Dim,
    /// The pixels before and after: `i64`.
    pixels: [Value; 2],
    /// Their shares.
    weights: [Value; 2],
    /// Whether the place belongs to the region and lies on the image.
    counts: Value,
    /// Samples that a bin of each region has: `[R,1,1]`.
    number: Value,
}

/// `(x: [N,C,H,W], regions: [R,4] as x1 y1 x2 y2, batch: [R])`: `[R,C,bins,bins]`.
pub(super) fn roi_align(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, regions, batch) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    cx.expect_rank(x, 4, "an image [N,C,H,W]")?;
    cx.expect_rank(regions, 2, "regions [R,4]")?;
    cx.expect_rank(batch, 1, "the batch of each region")?;
    let own_extent = cx.dim(regions, 1);
    cx.assert_equal(&own_extent, &Dim::from(4), "a region must have four coordinates")?;
    let n_regions = cx.dim(regions, 0);
    let extent = cx.dim(batch, 0);
    cx.assert_equal(&n_regions, &extent, "each region must have a batch")?;
    let pooling = pooling(node)?;
    let (shape, wide) = (cx.shape(x), cx.widened(regions)?);
    let rows = samples(cx, node, &pooling, wide, 0, &shape[2])?;
    let columns = samples(cx, node, &pooling, wide, 1, &shape[3])?;
    let first = first_pixels(cx, batch, &n_regions, &shape)?;
    let flat = cx.reshape(x, [shape.count()])?;
    let mut terms = Vec::with_capacity(4);
    for (row, row_weight) in rows.pixels.into_iter().zip(rows.weights) {
        for (column, column_weight) in columns.pixels.into_iter().zip(columns.weights) {
            let width = cx.size_as(shape[3].clone(), DType::I64, 2)?;
            let row = cx.mul(row, width)?;
            let (row, column) = (cx.add_axes(row, &[1, 3])?, cx.add_axes(column, &[1, 2])?);
            let place = cx.add(row, column)?;
            let place = cx.add(first, place)?;
            let value = cx.gather(flat, place, 0)?;
            let value = cx.cast_like(value, wide)?;
            let (a, b) = (cx.add_axes(row_weight, &[1, 3])?, cx.add_axes(column_weight, &[1, 2])?);
            let weight = cx.mul(a, b)?;
            terms.push(cx.mul(value, weight)?);
        }
    }
    // The maximum is that of the weighted pixels, as ONNX's own implementation has it.
    let f = if pooling.max { ScalarOp::Max } else { ScalarOp::Add };
    let mut sampled = terms[0];
    for term in &terms[1..] {
        sampled = cx.binary(f, sampled, *term)?;
    }
    let y = pooled(cx, &pooling, sampled, &rows, &columns)?;
    Ok(vec![cx.cast_like(y, x)?])
}

fn pooling(node: &Node) -> Outcome<Pooling> {
    let max = match node.text("mode", "avg").as_str() {
        "avg" => false,
        "max" => true,
        other => return Err(Fault::invalid(format!("mode `{other}` is none of avg and max"))),
    };
    // Before opset 16 there was no half pixel.
    let default = if node.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let half_pixel = match node.text("coordinate_transformation_mode", default).as_str() {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => {
            return Err(Fault::invalid(format!("coordinate_transformation_mode `{other}` is unknown")));
        }
    };
    let samples = node.int("sampling_ratio", 0);
    if !(0..=SymbolInfo::MAX).contains(&samples) {
        return Err(Fault::invalid(format!("sampling_ratio is {samples}, but must not be negative")));
    }
    Ok(Pooling { max, half_pixel, scale: node.float("spatial_scale", 1.0), samples })
}

/// Along rows (`axis` 0) or columns (1) of an image of `extent`.
fn samples(
    cx: &mut Cx,
    node: &Node,
    pooling: &Pooling,
    regions: Value,
    axis: usize,
    extent: &Dim,
) -> Outcome<Samples> {
    let name = ["output_height", "output_width"][axis];
    let bins = node.int(name, 1);
    if !is_extent(&bins) {
        return Err(Fault::invalid(format!("{name} is {bins}, but must be positive")));
    }
    let edge = |cx: &mut Cx, i: usize| {
        let edge = cx.slice_axis(regions, 1, Dim::from(i), Dim::from(1))?;
        let edge = cx.add_axes(edge, &[2])?;
        let edge = cx.with_number(ScalarOp::Mul, edge, pooling.scale)?;
        if pooling.half_pixel { cx.with_number(ScalarOp::Sub, edge, 0.5) } else { Ok(edge) }
    };
    let (start, end) = (edge(cx, 1 - axis)?, edge(cx, 3 - axis)?);
    let mut span = cx.sub(end, start)?;
    if !pooling.half_pixel {
        span = cx.with_number(ScalarOp::Max, span, 1.0)?;
    }
    let bin = cx.with_number(ScalarOp::Div, span, bins as f64)?;
    let (number, samples) = match pooling.samples {
        0 => {
            let number = cx.unary(ScalarOp::Ceil, bin)?;
            let number = cx.with_number(ScalarOp::Max, number, 0.0)?;
            let whole = cx.cast(number, DType::I64)?;
            let most = cx.reduce(ScalarOp::Max, whole, &[0, 1, 2], false)?;
            // Without regions there is no most.
            let most = cx.with_number(ScalarOp::Max, most, 0.0)?;
            (number, cx.size_or_bind(most, "samples", Dim::from(SymbolInfo::MAX))?)
        }
        n => (cx.number_like(bin, n as f64)?, Dim::from(n)),
    };
    let dtype = cx.dtype(bin);
    let steps = cx.iota(dtype, along(3, 1, Dim::from(bins)), 1)?;
    let steps = cx.mul(steps, bin)?;
    let sample = cx.iota(dtype, along(3, 2, samples.clone()), 2)?;
    let inner = cx.with_number(ScalarOp::Add, sample, 0.5)?;
    let inner = cx.mul(inner, bin)?;
    let inner = cx.div(inner, number)?;
    let place = cx.add(start, steps)?;
    let place = cx.add(place, inner)?;
    let own = cx.binary(ScalarOp::Lt, sample, number)?;
    let size = cx.size_as(extent.clone(), dtype, 3)?;
    let after = cx.with_number(ScalarOp::Ge, place, -1.0)?;
    let before = cx.binary(ScalarOp::Le, place, size)?;
    let on_image = cx.binary(ScalarOp::And, after, before)?;
    let counts = cx.binary(ScalarOp::And, own, on_image)?;
    let last = cx.with_number(ScalarOp::Sub, size, 1.0)?;
    let place = cx.with_number(ScalarOp::Max, place, 0.0)?;
    let place = cx.binary(ScalarOp::Min, place, last)?;
    let low = cx.unary(ScalarOp::Floor, place)?;
    let high = cx.with_number(ScalarOp::Add, low, 1.0)?;
    let high = cx.binary(ScalarOp::Min, high, last)?;
    let after = cx.sub(place, low)?;
    let before = cx.number_with(ScalarOp::Sub, 1.0, after)?;
    let whole: Shape = [cx.dim(regions, 0), Dim::from(bins) * samples.clone()].into_iter().collect();
    let flat = |cx: &mut Cx, value: Value| cx.reshape(value, whole.clone());
    let pixel = |cx: &mut Cx, value: Value| {
        let value = flat(cx, value)?;
        cx.cast(value, DType::I64)
    };
    let pixels = [pixel(cx, low)?, pixel(cx, high)?];
    let weights = [flat(cx, before)?, flat(cx, after)?];
    Ok(Samples { bins, samples, pixels, weights, counts: flat(cx, counts)?, number })
}

/// The flat index of each region's and channel's first pixel: `[R,C,1,1]`. Batches beyond the image's clamp.
fn first_pixels(cx: &mut Cx, batch: Value, n_regions: &Dim, image: &Shape) -> Outcome {
    let batch = cx.cast(batch, DType::I64)?;
    let batch = cx.reshape(batch, along(4, 0, n_regions.clone()))?;
    let batch = cx.with_number(ScalarOp::Max, batch, 0.0)?;
    let last = cx.size_as(image[0].clone() - Dim::from(1), DType::I64, 4)?;
    let batch = cx.binary(ScalarOp::Min, batch, last)?;
    let channels = cx.size_as(image[1].clone(), DType::I64, 4)?;
    let first = cx.mul(batch, channels)?;
    let channel = cx.iota(DType::I64, along(4, 1, image[1].clone()), 1)?;
    let plane = cx.add(first, channel)?;
    let pixels = cx.size_as(image[2].clone() * image[3].clone(), DType::I64, 4)?;
    cx.mul(plane, pixels)
}

/// `[R,C,rows,columns]` of samples to `[R,C,bins,bins]`.
fn pooled(cx: &mut Cx, pooling: &Pooling, sampled: Value, rows: &Samples, columns: &Samples) -> Outcome {
    let (a, b) = (cx.add_axes(rows.counts, &[1, 3])?, cx.add_axes(columns.counts, &[1, 2])?);
    let counts = cx.binary(ScalarOp::And, a, b)?;
    let zero = cx.number_like(sampled, 0.0)?;
    let sampled = cx.select(counts, sampled, zero)?;
    let shape = cx.shape(sampled);
    let split = [
        shape[0].clone(),
        shape[1].clone(),
        Dim::from(rows.bins),
        rows.samples.clone(),
        Dim::from(columns.bins),
        columns.samples.clone(),
    ];
    let number = cx.mul(rows.number, columns.number)?;
    let number = cx.add_axes(number, &[3])?;
    if !pooling.max {
        let sampled = cx.reshape(sampled, split)?;
        let sum = cx.reduce(ScalarOp::Add, sampled, &[3, 5], false)?;
        let number = cx.with_number(ScalarOp::Max, number, 1.0)?;
        return cx.div(sum, number);
    }
    // Samples of the region that miss the image are 0; those that it does not have are nothing.
    let own = |cx: &mut Cx, axis: &Samples, place: usize| {
        let dtype = cx.dtype(axis.number);
        let sample = cx.iota(dtype, along(4, 2, axis.samples.clone()), 2)?;
        let number = cx.add_axes(axis.number, &[3])?;
        let own = cx.binary(ScalarOp::Lt, sample, number)?;
        let shape: Shape = (0..6)
            .map(|i| match i {
                0 => cx.dim(own, 0),
                i if i == place => axis.samples.clone(),
                _ => Dim::from(1),
            })
            .collect();
        cx.reshape(own, shape)
    };
    let (a, b) = (own(cx, rows, 3)?, own(cx, columns, 5)?);
    let own = cx.binary(ScalarOp::And, a, b)?;
    let sampled = cx.reshape(sampled, split)?;
    let least = cx.number_like(sampled, f64::NEG_INFINITY)?;
    let sampled = cx.select(own, sampled, least)?;
    let most = cx.reduce(ScalarOp::Max, sampled, &[3, 5], false)?;
    let any = cx.with_number(ScalarOp::Gt, number, 0.0)?;
    let zero = cx.number_like(most, 0.0)?;
    cx.select(any, most, zero)
}
