//! Quantisation: integers exact in `i32`, scales in floats, one rounding to the storage.

use super::wide;
use crate::build::Built;
use crate::{Builder, DotDims, QuantScheme, Window};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;

/// `saturate(round_even(x / scale) + zero_point)`; the quotient in x's type. A float storage is not rounded to
/// whole numbers.
pub(super) fn quantize(b: &mut Builder, x: &[Value], scheme: &QuantScheme) -> Built {
    let scale = spread(b, x[1], x[0], scheme)?;
    let mut quotient = b.div(x[0], scale)?;
    if !scheme.storage.is_float() {
        quotient = b.round(quotient)?;
    }
    if let Some(zero) = x.get(2) {
        let exact = if scheme.storage.bits() > 16 { DType::F64 } else { wide(b.dtype(quotient)) };
        let zero = spread(b, *zero, x[0], scheme)?;
        let (zero, wider) = (b.cast(zero, exact)?, b.cast(quotient, exact)?);
        quotient = b.add(wider, zero)?;
    }
    b.cast(quotient, scheme.storage)
}

/// `(x - zero_point) * scale`; the difference exact, the product in at least `f32`.
pub(super) fn dequantize(b: &mut Builder, x: &[Value], scheme: &QuantScheme) -> Built {
    let result = b.dtype(x[1]);
    let compute = wide(result);
    let exact = match scheme.storage {
        storage if storage.is_float() => compute,
        storage if storage.bits() > 16 => DType::I64,
        _ => DType::I32,
    };
    let mut value = b.cast(x[0], exact)?;
    if let Some(zero) = x.get(2) {
        let zero = spread(b, *zero, x[0], scheme)?;
        let zero = b.cast(zero, exact)?;
        value = b.sub(value, zero)?;
    }
    let scale = spread(b, x[1], x[0], scheme)?;
    let (value, scale) = (b.cast(value, compute)?, b.cast(scale, compute)?);
    let product = b.mul(value, scale)?;
    b.cast(product, result)
}

/// A scale or zero point with x's rank: one for all, one an index of the axis, or one a block.
fn spread(b: &mut Builder, scale: Value, x: Value, scheme: &QuantScheme) -> Built {
    let shape = b.shape(x);
    let Some(axis) = scheme.axis else { return b.pad_rank(scale, shape.rank()) };
    let Some(block) = scheme.block else { return along(b, scale, axis, shape.rank()) };
    let blocks = b.shape(scale)[axis].clone();
    let apart = b.unsqueeze(scale, &[axis + 1])?;
    let mut repeated = b.shape(apart);
    repeated[axis + 1] = Dim::from(block);
    let apart = b.broadcast(apart, repeated)?;
    let mut joined = shape.clone();
    joined[axis] = blocks * Dim::from(block);
    let joined = b.reshape(apart, joined)?;
    b.slice_axis(joined, axis, 0, shape[axis].clone())
}

/// A list along one axis of a given rank; a scalar gets extents of 1.
fn along(b: &mut Builder, list: Value, axis: usize, rank: usize) -> Built {
    if b.rank(list) == 0 {
        return b.pad_rank(list, rank);
    }
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    shape[axis] = b.shape(list)[0].clone();
    b.reshape(list, shape)
}

/// Operands `a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero`.
pub(super) fn q_dot(b: &mut Builder, x: &[Value], dims: &DotDims) -> Built {
    let rank = b.rank(x[3]);
    // The axis of the right side that is the result's last.
    let column =
        (0..rank).rev().find(|axis| !dims.rhs_batch.contains(axis) && !dims.rhs_contract.contains(axis));
    if column.is_none() && (b.rank(x[4]) > 0 || b.rank(x[5]) > 0) {
        return Err("q_dot_c3: the right side has no columns to scale one by one".into());
    }
    let zero = along(b, x[5], column.unwrap_or(0), rank)?;
    let lhs = centred(b, x[0], x[2])?;
    let rhs = centred(b, x[3], zero)?;
    let sums = b.dot(lhs, rhs, dims.clone(), DType::I32)?;
    let scale = b.scale_of_products(x[1], x[4])?;
    b.requantize(sums, scale, x[6], x[7])
}

/// Operands `x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?`.
pub(super) fn q_conv(b: &mut Builder, x: &[Value], window: &Window, groups: i64) -> Built {
    let rank = b.rank(x[0]);
    let zero = along(b, x[5], 0, rank)?;
    let input = centred(b, x[0], x[2])?;
    let weights = centred(b, x[3], zero)?;
    let mut sums = b.conv(input, weights, window.clone(), groups, DType::I32)?;
    if let Some(bias) = x.get(8) {
        let bias = along(b, *bias, 1, rank)?;
        sums = b.add(sums, bias)?;
    }
    let scale = b.scale_of_products(x[1], x[4])?;
    let scale = along(b, scale, 1, rank)?;
    b.requantize(sums, scale, x[6], x[7])
}

/// `x - zero` in `i32`.
fn centred(b: &mut Builder, x: Value, zero: Value) -> Built {
    let (x, zero) = (b.cast(x, DType::I32)?, b.cast(zero, DType::I32)?);
    b.sub(x, zero)
}
