//! The two 8-bit float formats of "FP8 Formats for Deep Learning" (arXiv:2209.05433), to and from `f64`.

use crate::DType;

/// Layout of a format: exponent bits, mantissa bits, bias, whether it has infinities.
const fn layout(dtype: DType) -> (u32, u32, i32, bool) {
    match dtype {
        DType::F8E5M2 => (5, 2, 15, true),
        _ => (4, 3, 7, false),
    }
}

/// The exact value of an 8-bit float.
pub fn to_f64(dtype: DType, bits: u8) -> f64 {
    let (exponent_bits, mantissa_bits, bias, has_inf) = layout(dtype);
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits & 0x7f) >> mantissa_bits);
    let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1));
    let scale = f64::from(1u32 << mantissa_bits);
    let top = (1 << exponent_bits) - 1;
    if exponent == top {
        if has_inf {
            return if mantissa == 0.0 { sign * f64::INFINITY } else { f64::NAN };
        }
        if bits & 0x7f == 0x7f {
            return f64::NAN;
        }
    }
    if exponent == 0 {
        sign * mantissa / scale * 2f64.powi(1 - bias)
    } else {
        sign * (1.0 + mantissa / scale) * 2f64.powi(exponent - bias)
    }
}

/// Rounds to nearest even; `saturate` clamps finite overflow to the largest value, else it becomes
/// infinity (E5M2) or NaN (E4M3FN).
pub fn from_f64(dtype: DType, value: f64, saturate: bool) -> u8 {
    let (_, mantissa_bits, bias, has_inf) = layout(dtype);
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    let largest = if has_inf { 0x7b } else { 0x7e };
    let overflow = if saturate {
        largest
    } else if has_inf {
        0x7c
    } else {
        0x7f
    };
    if value.is_nan() {
        return sign | 0x7f;
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | overflow;
    }
    let exponent = if magnitude == 0.0 { 1 - bias } else { (magnitude.log2().floor() as i32).max(1 - bias) };
    // `log2` may be off by one next to a power of two; the rounding below absorbs it.
    let step = 2f64.powi(exponent - mantissa_bits as i32);
    let units = (magnitude / step).round_ties_even();
    let rounded = units * step;
    if rounded > to_f64(dtype, largest) {
        return sign | overflow;
    }
    let found = (0..=largest).rev().find(|&bits| to_f64(dtype, bits) <= rounded).unwrap_or(0);
    sign | found
}
