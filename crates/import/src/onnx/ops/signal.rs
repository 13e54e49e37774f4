//! Fourier transforms as products with matrices of sines and cosines (complex ones of composite lengths in two steps),
//! frames of a signal, mel filters.

mod two_steps;

use crate::build::axis_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, TensorOp};
use two_steps::{factors, in_two_steps};

pub(super) const ROWS: &[Row] = &[
    op_between("DFT", 17, 19, |cx, node| {
        let axis = node.int("axis", 1);
        dft(cx, node, Some(axis))
    }),
    op_since("DFT", 20, |cx, node| match node.optional(2) {
        None => dft(cx, node, Some(-2)),
        Some(axis) => {
            let known = cx.known_ints(axis).and_then(|axes| axes.first().copied());
            dft(cx, node, known)
        }
    }),
    op("STFT", stft),
    op("MelWeightMatrix", mel_weight_matrix),
];

/// Which transform of which length.
struct Transform {
    length: Dim,
    inverse: bool,
    onesided: bool,
}

impl Transform {
    /// Frequencies up to the middle one.
    fn half(&self) -> Dim {
        self.length.floor_div(&Dim::from(2)) + Dim::from(1)
    }

    /// The result's extent.
    fn outputs(&self) -> Dim {
        if self.onesided && !self.inverse { self.half() } else { self.length.clone() }
    }
}

fn dft(cx: &mut Cx, node: &Node, axis: Option<i64>) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rank = cx.rank(x);
    if rank < 2 {
        return Err(Fault::from(format!("a signal of rank 2 or more is expected, got {}", cx.ty(x))));
    }
    let (inverse, onesided) = (node.flag("inverse", false), node.flag("onesided", false));
    let length = match node.optional(1) {
        Some(length) => {
            let upper = Dim::from(SymbolInfo::MAX);
            let length = cx.size_or_bind(length, "dft", upper)?;
            positive(cx, &length, "the length of the transform")?;
            Some(length)
        }
        None => None,
    };
    let planned = |cx: &Cx, axis: usize| {
        let extent = cx.dim(x, axis);
        let length = length.clone().unwrap_or_else(|| match inverse && onesided {
            true => (extent.clone() - Dim::from(1)) * Dim::from(2),
            false => extent.clone(),
        });
        Transform { length, inverse, onesided }
    };
    let along = |cx: &mut Cx, axis: usize| {
        let planned = planned(cx, axis);
        transform(cx, x, axis, &planned)
    };
    if let Some(axis) = axis {
        let axis = axis_in(axis, rank)?;
        return Ok(vec![along(cx, axis)?]);
    }
    let chosen = cx.reshape(node.operand(2)?, [1i64])?;
    let chosen = cx.cast(chosen, DType::I64)?;
    let chosen = cx.wrap_indices(chosen, Dim::from(rank))?;
    if onesided || length.is_some() {
        let axis = declared_axis(cx, x, &planned)?;
        let given = cx.size_or_bind(chosen, "axis", Dim::from(rank))?;
        let message = "the axis must be the one that the model declares the result for";
        cx.assert_equal(&given, &Dim::from(axis), message)?;
        return Ok(vec![along(cx, axis)?]);
    }
    // One result an axis, of which the given one is chosen.
    let mut result = along(cx, 0)?;
    for axis in 1..rank.saturating_sub(1) {
        let here = cx.with_number(ScalarOp::Eq, chosen, axis as f64)?;
        let other = along(cx, axis)?;
        result = cx.select(here, other, result)?;
    }
    Ok(vec![result])
}

/// The one axis whose transform has the shape that the model declares of the result. Errors: none has, or several have.
fn declared_axis(cx: &Cx, x: Value, planned: &dyn Fn(&Cx, usize) -> Transform) -> Outcome<usize> {
    let shape = cx.shape(x);
    let n_axes = shape.rank().saturating_sub(1);
    let declared = cx.declared_shape(0);
    let fits = |axis: &usize| {
        let outputs = planned(cx, *axis).outputs();
        (0..n_axes).all(|i| {
            let own = if i == *axis { &outputs } else { &shape[i] };
            let declared = declared.get(i).copied().flatten();
            declared.zip(own.as_const()).is_none_or(|(declared, own)| declared == own)
        })
    };
    let axes: Vec<usize> = (0..n_axes).filter(fits).collect();
    match axes[..] {
        [axis] => Ok(axis),
        _ => Err(Fault::unsupported(
            "the axis decides the result's shape, is only known at run time, and does not follow from the shape that \
             the model declares",
        )),
    }
}

/// `x: [..., 1 or 2]`, real and imaginary parts last.
fn transform(cx: &mut Cx, x: Value, axis: usize, transform: &Transform) -> Outcome {
    let last = cx.rank(x).saturating_sub(1);
    if last == 0 || axis == last {
        return Err(Fault::invalid("the last axis holds real and imaginary parts and is not transformed"));
    }
    let (x, complex) = parts_of(cx, x, last)?;
    let used = cx.least(&cx.dim(x, axis), &transform.length);
    let real_result = transform.inverse && transform.onesided;
    let used = if real_result { cx.least(&used, &transform.half()) } else { used };
    let outputs = transform.outputs();
    let part = |cx: &mut Cx, i: i64| {
        let part = cx.slice_axis(x, last, Dim::from(i), Dim::from(1))?;
        let part = cx.drop_axes(part, &[last])?;
        cx.slice_axis(part, axis, Dim::from(0), used.clone())
    };
    let real = part(cx, 0)?;
    let imaginary = if complex { Some(part(cx, 1)?) } else { None };
    let factors = transform.length.as_const().and_then(factors).filter(|_| !transform.onesided);
    if let (Some(imaginary), Some(factors)) = (imaginary, factors) {
        let low = vec![Dim::from(0); last];
        let mut high = low.clone();
        high[axis] = transform.length.clone() - used;
        let real = cx.pad_with(real, 0.0, low.clone(), high.clone())?;
        let imaginary = cx.pad_with(imaginary, 0.0, low, high)?;
        let (real, imaginary) = in_two_steps(cx, (real, imaginary), axis, factors, transform.inverse)?;
        let parts = [cx.add_axes(real, &[last])?, cx.add_axes(imaginary, &[last])?];
        return cx.concat(&parts, last);
    }
    let (cos, sin) = waves(cx, &used, &outputs, transform, cx.dtype(x))?;
    let product = |cx: &mut Cx, x: Value, wave: Value| {
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![axis], rhs_contract: vec![0] };
        let out = cx.dtype(x);
        let y = cx.emit(TensorOp::dot(dims, out), &[x, wave])?;
        let place = cx.rank(y) - 1;
        cx.move_axis(y, place, axis)
    };
    // Forward multiplies by cos - i sin; backward the sines are mirrored.
    let (real_cos, real_sin) = (product(cx, real, cos)?, product(cx, real, sin)?);
    let (y_real, y_imaginary) = match imaginary {
        None => (real_cos, cx.unary(ScalarOp::Neg, real_sin)?),
        Some(imaginary) => {
            let (imaginary_cos, imaginary_sin) = (product(cx, imaginary, cos)?, product(cx, imaginary, sin)?);
            (cx.add(real_cos, imaginary_sin)?, cx.sub(imaginary_cos, real_sin)?)
        }
    };
    let y_real = cx.add_axes(y_real, &[last])?;
    if real_result {
        return Ok(y_real);
    }
    let y_imaginary = cx.add_axes(y_imaginary, &[last])?;
    cx.concat(&[y_real, y_imaginary], last)
}

/// A signal with its parts, and whether it has imaginary ones; where only the run knows, those that it lacks are zeros.
fn parts_of(cx: &mut Cx, x: Value, last: usize) -> Outcome<(Value, bool)> {
    let (one, two) = (Dim::from(1), Dim::from(2));
    let extent = cx.dim(x, last);
    let within = extent.maximum(&one).minimum(&two);
    cx.assert_equal(&within, &extent, "the last axis must hold one part or two of each number")?;
    if extent.as_const().is_some() {
        return Ok((x, extent == two));
    }
    let low = vec![Dim::from(0); last + 1];
    let mut high = low.clone();
    high[last] = two - extent;
    Ok((cx.pad_with(x, 0.0, low, high)?, true))
}

/// Matrices `[inputs, outputs]` of `cos` and `sin` of `2 pi n k / length`; backward of its negative, scaled by
/// `1 / length`, and weighted so that the missing half of a one-sided spectrum counts.
fn waves(
    cx: &mut Cx,
    inputs: &Dim,
    outputs: &Dim,
    transform: &Transform,
    dtype: DType,
) -> Outcome<(Value, Value)> {
    let rows = cx.iota(DType::I64, [inputs.clone(), Dim::from(1)], 0)?;
    let columns = cx.iota(DType::I64, [Dim::from(1), outputs.clone()], 1)?;
    let length = cx.size_as(transform.length.clone(), DType::I64, 2)?;
    // Reduced first: whole turns would cost precision.
    let turns = cx.mul(rows, columns)?;
    let turns = cx.binary(ScalarOp::Mod, turns, length)?;
    let turns = cx.cast(turns, DType::F64)?;
    let period = cx.cast(length, DType::F64)?;
    let angle = cx.with_number(ScalarOp::Mul, turns, std::f64::consts::TAU)?;
    let angle = cx.div(angle, period)?;
    let (mut cos, mut sin) = (cx.unary(ScalarOp::Cos, angle)?, cx.unary(ScalarOp::Sin, angle)?);
    if transform.inverse {
        let mut weight = cx.number_with(ScalarOp::Div, 1.0, period)?;
        if transform.onesided {
            // All but the first and, for even lengths, the middle frequency stand for two.
            let doubled = cx.with_number(ScalarOp::Mul, rows, 2.0)?;
            let middle = cx.binary(ScalarOp::Eq, doubled, length)?;
            let first = cx.with_number(ScalarOp::Eq, rows, 0.0)?;
            let single = cx.binary(ScalarOp::Or, first, middle)?;
            let twice = cx.with_number(ScalarOp::Mul, weight, 2.0)?;
            weight = cx.select(single, weight, twice)?;
        }
        let mirrored = cx.unary(ScalarOp::Neg, weight)?;
        (cos, sin) = (cx.mul(cos, weight)?, cx.mul(sin, mirrored)?);
    }
    Ok((cx.cast(cos, dtype)?, cx.cast(sin, dtype)?))
}

/// Errors: the size is 0 or less. One that is known only at run time is asserted.
fn positive(cx: &mut Cx, size: &Dim, what: &str) -> Outcome<()> {
    match size.as_const() {
        Some(n) if n < 1 => Err(Fault::invalid(format!("{what} is {n}, but must be positive"))),
        Some(_) => Ok(()),
        None if cx.symbols.bounds(size).0 > 0 => Ok(()),
        None => cx.assert_equal(&size.maximum(&Dim::from(1)), size, &format!("{what} must be positive")),
    }
}

/// Frames of a signal `[B,L,1 or 2]`, windowed and transformed: `[B,frames,bins,2]`. A real signal may lack its last axis,
/// as ONNX Runtime takes it too.
fn stft(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (mut x, step) = (node.operand(0)?, node.operand(1)?);
    if cx.rank(x) == 2 {
        x = cx.add_axes(x, &[2])?;
    }
    cx.expect_rank(x, 3, "a signal [B,L], [B,L,1] or [B,L,2]")?;
    let samples = cx.dim(x, 1);
    let step = cx.size_or_bind(step, "step", samples.clone())?;
    positive(cx, &step, "the frame step")?;
    let window = node.optional(2);
    let length = match (node.optional(3), window) {
        (Some(length), _) => cx.size_or_bind(length, "frame", samples.clone())?,
        (None, Some(window)) => cx.shape(window).count(),
        (None, None) => samples.clone(),
    };
    positive(cx, &length, "the frame length")?;
    let frames = (samples - length.clone()).floor_div(&step) + Dim::from(1);
    let starts = cx.iota(DType::I64, [frames, Dim::from(1)], 0)?;
    let stride = cx.size_as(step, DType::I64, 2)?;
    let starts = cx.mul(starts, stride)?;
    let offsets = cx.iota(DType::I64, [Dim::from(1), length.clone()], 1)?;
    let places = cx.add(starts, offsets)?;
    let mut framed = cx.gather(x, places, 1)?;
    if let Some(window) = window {
        cx.expect_rank(window, 1, "a window of rank 1")?;
        let own = cx.dim(window, 0);
        cx.assert_equal(&own, &length, "the window must be as long as a frame")?;
        let window = cx.reshape(window, [length.clone(), Dim::from(1)])?;
        framed = cx.mul(framed, window)?;
    }
    let onesided = node.flag("onesided", true);
    Ok(vec![transform(cx, framed, 2, &Transform { length, inverse: false, onesided })?])
}

/// Triangular filters `[bins of the spectrum, mel bins]`, evenly spaced on the mel scale.
fn mel_weight_matrix(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let dtype = node.element_type("output_datatype")?.unwrap_or(DType::F32);
    let (spectrum, mels) = (cx.declared_extent(0, 0), cx.declared_extent(0, 1));
    let mels = cx.size_or_bind(node.operand(0)?, "mel", mels)?;
    let length = cx.size_or_bind(node.operand(1)?, "dft", spectrum * Dim::from(2))?;
    let number = |cx: &mut Cx, i: usize| {
        let value = cx.cast(node.operand(i)?, DType::F64)?;
        cx.reshape(value, Shape::from([1, 1]))
    };
    let (rate, low, high) = (number(cx, 2)?, number(cx, 3)?, number(cx, 4)?);
    // 2595 log10(1 + f / 700), and back.
    let factor = 2595.0 / std::f64::consts::LN_10;
    let to_mel = |cx: &mut Cx, hertz: Value| {
        let scaled = cx.with_number(ScalarOp::Div, hertz, 700.0)?;
        let log = cx.unary(ScalarOp::Log1p, scaled)?;
        cx.with_number(ScalarOp::Mul, log, factor)
    };
    let (low, high) = (to_mel(cx, low)?, to_mel(cx, high)?);
    let span = cx.sub(high, low)?;
    let steps = cx.size_as(mels.clone() + Dim::from(2), DType::F64, 2)?;
    let step = cx.div(span, steps)?;
    let points = cx.size_as(length.clone() + Dim::from(1), DType::F64, 2)?;
    let edge = |cx: &mut Cx, offset: f64| {
        let place = cx.iota(DType::F64, [Dim::from(1), mels.clone()], 1)?;
        let place = cx.with_number(ScalarOp::Add, place, offset)?;
        let mel = cx.mul(place, step)?;
        let mel = cx.add(mel, low)?;
        let grown = cx.with_number(ScalarOp::Div, mel, factor)?;
        let grown = cx.unary(ScalarOp::Expm1, grown)?;
        let hertz = cx.with_number(ScalarOp::Mul, grown, 700.0)?;
        let bin = cx.mul(points, hertz)?;
        let bin = cx.div(bin, rate)?;
        cx.unary(ScalarOp::Floor, bin)
    };
    let (left, centre, right) = (edge(cx, 0.0)?, edge(cx, 1.0)?, edge(cx, 2.0)?);
    let bins = length.floor_div(&Dim::from(2)) + Dim::from(1);
    let bin = cx.iota(DType::F64, [bins, Dim::from(1)], 0)?;
    let zero = cx.number_like(bin, 0.0)?;
    let slope = |cx: &mut Cx, rise: Value, run: Value| {
        let one = cx.number_like(run, 1.0)?;
        let run = cx.binary(ScalarOp::Max, run, one)?;
        cx.div(rise, run)
    };
    let (rise, run) = (cx.sub(bin, left)?, cx.sub(centre, left)?);
    let up = slope(cx, rise, run)?;
    let after_left = cx.binary(ScalarOp::Ge, bin, left)?;
    let before_centre = cx.binary(ScalarOp::Lt, bin, centre)?;
    let rising = cx.binary(ScalarOp::And, after_left, before_centre)?;
    let (fall, run) = (cx.sub(right, bin)?, cx.sub(right, centre)?);
    let down = slope(cx, fall, run)?;
    let after_centre = cx.binary(ScalarOp::Ge, bin, centre)?;
    let before_right = cx.binary(ScalarOp::Lt, bin, right)?;
    let falling = cx.binary(ScalarOp::And, after_centre, before_right)?;
    let top = cx.binary(ScalarOp::Eq, bin, centre)?;
    let one = cx.number_like(bin, 1.0)?;
    let y = cx.select(falling, down, zero)?;
    let y = cx.select(rising, up, y)?;
    let y = cx.select(top, one, y)?;
    Ok(vec![cx.cast(y, dtype)?])
}
