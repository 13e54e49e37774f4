//! Facts of the float formats: unit roundoff, spacing, range, accumulation type.

use tegula_base::DType;

/// Significand bits after the leading one, and the exponent of the smallest normal number.
fn format(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F64 => (52, -1022),
        DType::F16 => (10, -14),
        DType::BF16 => (7, -126),
        _ => match dtype.small_float() {
            Some(format) => (format.mantissa_bits as i32, format.least_exponent()),
            None => (23, -126),
        },
    }
}

/// Half the relative spacing: 2^-24 for `f32`.
pub(super) fn unit_roundoff(dtype: DType) -> f64 {
    2f64.powi(-format(dtype).0 - 1)
}

/// The spacing of numbers around `x`.
pub(super) fn ulp(dtype: DType, x: f64) -> f64 {
    let (bits, smallest) = format(dtype);
    if dtype == DType::F64 && x.abs() < f64::MIN_POSITIVE * 2.0 {
        return f64::from_bits(1);
    }
    let exponent = if x == 0.0 { smallest } else { ((x.abs().to_bits() >> 52) as i32 - 1023).max(smallest) };
    2f64.powi(exponent - bits)
}

/// Half the smallest denormal; for `f64` the smallest, which has no half.
pub(super) fn eta(dtype: DType) -> f64 {
    let (bits, smallest) = format(dtype);
    if dtype == DType::F64 { f64::from_bits(1) } else { 2f64.powi(smallest - bits - 1) }
}

pub(super) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MAX,
        DType::F16 => 65504.0,
        DType::BF16 => (2.0 - 2f64.powi(-7)) * 2f64.powi(127),
        _ => match dtype.small_float() {
            Some(format) => format.to_f64(format.largest()),
            None => f64::from(f32::MAX),
        },
    }
}

/// What sums and products along axes are kept in.
pub(super) fn accumulator(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// The relative error of n roundings in any order (Higham, section 3.1).
pub(super) fn gamma(n: f64, accumulator: DType) -> f64 {
    let u = unit_roundoff(accumulator);
    n.max(0.0) * u / (1.0 - n.max(0.0) * u)
}

/// The bound after rounding to `dtype` numbers that differ by `error` around `x`: none where nothing differs;
/// unbounded where one may overflow and the other not.
pub(super) fn rounded(dtype: DType, x: f64, error: f64) -> f64 {
    if error == 0.0 {
        return 0.0;
    }
    if x.is_finite() && x.abs() + error >= largest(dtype) {
        return f64::INFINITY;
    }
    error + 2.0 * unit_roundoff(dtype) * (x.abs() + error) + 2.0 * eta(dtype)
}
