//! Rules of quantisation: storage, scale and zero point against the scheme.

use super::contract::{conv_shape, dot_shape};
use super::{Types, count_between, ensure, has_type, one, take};
use crate::{DotDims, QuantScheme, TensorType, Window};
use tegula_base::{DType, Dim, Shape};

pub(super) fn quantize(name: &str, scheme: &QuantScheme, x: &[&TensorType]) -> Types {
    let (x, scale) = parts(name, scheme, x)?;
    ensure(computes_as_float(x.dtype) && scale.dtype == x.dtype, name, 2, || {
        format!("takes floats and a scale of the same type, got {x} and {scale}")
    })?;
    one(scheme.storage, x.shape.clone())
}

pub(super) fn dequantize(name: &str, scheme: &QuantScheme, x: &[&TensorType]) -> Types {
    let (x, scale) = parts(name, scheme, x)?;
    ensure(x.dtype == scheme.storage && computes_as_float(scale.dtype), name, 2, || {
        format!("takes {} and a float scale, got {x} and {scale}", scheme.storage)
    })?;
    one(scale.dtype, x.shape.clone())
}

fn computes_as_float(dtype: DType) -> bool {
    dtype.is_float() && !dtype.is_stored_only()
}

/// Operand x and its scale, the scale and the zero point having the scheme's shape.
fn parts<'a>(
    name: &str,
    scheme: &QuantScheme,
    x: &[&'a TensorType],
) -> Result<(&'a TensorType, &'a TensorType), String> {
    let n = 2 + usize::from(scheme.zero_point);
    ensure(x.len() == n, name, 0, || format!("takes {n} operands, got {}", x.len()))?;
    ensure(scheme.storage != DType::Bool && scheme.storage.bits() <= 32, name, 1, || {
        format!("{} is no storage of quantised values", scheme.storage)
    })?;
    let shape = scale_shape(scheme, &x[0].shape).map_err(|error| format!("{name}_c1: {error}"))?;
    has_type(name, "the scale", x[1], x[1].dtype, &shape)?;
    if scheme.zero_point {
        has_type(name, "the zero point", x[2], scheme.storage, &shape)?;
    }
    Ok((x[0], x[1]))
}

/// Scalar, `[extent of axis]`, or x's shape with the axis in blocks.
fn scale_shape(scheme: &QuantScheme, x: &Shape) -> Result<Shape, String> {
    let Some(axis) = scheme.axis else { return Ok(Shape::scalar()) };
    let extent = x.get(axis).ok_or_else(|| format!("{x} has no axis {axis}"))?;
    match scheme.block {
        None => Ok(Shape::from([extent.clone()])),
        Some(block) if block >= 1 => {
            let mut shape = x.clone();
            shape[axis] = extent.ceil_div(&Dim::from(block));
            Ok(shape)
        }
        Some(block) => Err(format!("blocks of {block}")),
    }
}

pub(super) fn q_dot(name: &str, dims: &DotDims, x: &[&TensorType]) -> Types {
    let [a, _, _, b, b_scale, b_zero, _, y_zero] = take(name, x)?;
    let shape = dot_shape(name, dims, a, b)?;
    scaled(name, x, [0, 3])?;
    scaled_result(name, x[1].dtype, x[6], y_zero)?;
    let column = shape.last().map(|dim| Shape::from([dim.clone()]));
    per_column(name, b_scale, b_zero, column)?;
    one(y_zero.dtype, shape)
}

pub(super) fn q_conv(name: &str, window: &Window, groups: i64, x: &[&TensorType]) -> Types {
    count_between(name, x, 8, 9)?;
    let shape = conv_shape(name, window, groups, x[0], x[3])?;
    scaled(name, x, [0, 3])?;
    scaled_result(name, x[1].dtype, x[6], x[7])?;
    let channels = Shape::from([x[3].shape[0].clone()]);
    per_column(name, x[4], x[5], Some(channels.clone()))?;
    if let Some(bias) = x.get(8) {
        has_type(name, "the bias", bias, DType::I32, &channels)?;
    }
    one(x[7].dtype, shape)
}

/// 8-bit storage at each place, with a float scale and a zero point of its own type behind it.
fn scaled(name: &str, x: &[&TensorType], places: [usize; 2]) -> Result<(), String> {
    for i in places {
        let (q, scale, zero) = (x[i], x[i + 1], x[i + 2]);
        ensure(matches!(q.dtype, DType::I8 | DType::U8), name, 3, || {
            format!("takes 8-bit integers, got {q}")
        })?;
        ensure(scale.dtype.is_float() && scale.dtype == x[1].dtype, name, 3, || {
            format!("scales must be floats of one type, got {scale}")
        })?;
        ensure(zero.dtype == q.dtype, name, 3, || format!("the zero point of {q} is {zero}"))?;
    }
    let scalar = |ty: &TensorType| ty.rank() == 0;
    ensure(scalar(x[1]) && scalar(x[2]), name, 3, || {
        format!("the first scale and zero point must be scalars, got {} and {}", x[1], x[2])
    })
}

fn scaled_result(name: &str, scale: DType, y_scale: &TensorType, y_zero: &TensorType) -> Result<(), String> {
    has_type(name, "the result's scale", y_scale, scale, &Shape::scalar())?;
    ensure(matches!(y_zero.dtype, DType::I8 | DType::U8) && y_zero.rank() == 0, name, 3, || {
        format!("the result's zero point must be an 8-bit scalar, got {y_zero}")
    })
}

fn per_column(
    name: &str,
    scale: &TensorType,
    zero: &TensorType,
    column: Option<Shape>,
) -> Result<(), String> {
    let fits = |ty: &TensorType| ty.rank() == 0 || Some(&ty.shape) == column.as_ref();
    ensure(fits(scale) && fits(zero), name, 3, || {
        format!("scale {scale} and zero point {zero} are neither scalars nor one a column")
    })
}
