//! Elements of random tensors: ordinary numbers, extremes, whole bit patterns, indices.

use super::Rng;
use tegula_base::{DType, HostTensor};
pub use tegula_ir::scalar::eval::from_reals;

/// What kind of numbers a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Floats in about -2..2, small integers.
    Ordinary,
    /// Floats in 0.25..2, integers in 1..6: divisors, scales, variances.
    Positive,
    /// NaN, infinities, signed zeros, denormals and extremes among ordinary numbers; integers of all bits.
    Special,
    /// Integers in `-limit..limit`, which index an axis of `limit` elements (from either end).
    Index(i64),
}

pub fn tensor(rng: &mut Rng, dtype: DType, shape: &[usize], values: Values) -> HostTensor {
    let count: usize = shape.iter().product();
    let reals: Vec<f64> = (0..count).map(|_| real(rng, dtype, values)).collect();
    let mut tensor = from_reals(dtype, shape, &reals);
    if values == Values::Special && dtype.is_int() && dtype.bits() >= 8 {
        for byte in &mut tensor.bytes {
            *byte = rng.bits() as u8;
        }
    }
    tensor
}

fn real(rng: &mut Rng, dtype: DType, values: Values) -> f64 {
    match values {
        Values::Index(limit) => rng.between(-limit, limit - 1) as f64,
        _ if dtype == DType::Bool => f64::from(u8::from(rng.chance(50))),
        Values::Positive if dtype.is_float() => 0.25 + 1.75 * rng.unit(),
        Values::Positive => rng.between(1, 6) as f64,
        Values::Special if dtype.is_float() && rng.chance(30) => special(rng, dtype),
        _ if dtype.is_float() => 4.0 * rng.unit() - 2.0,
        _ if dtype.is_signed() => rng.between(-6, 6) as f64,
        _ => rng.between(0, 9) as f64,
    }
}

fn special(rng: &mut Rng, dtype: DType) -> f64 {
    let (largest, smallest) = match dtype {
        DType::F16 => (65504.0, 2f64.powi(-24)),
        DType::F64 => (f64::MAX, 5e-324),
        _ => match dtype.small_float() {
            Some(format) if format.sign_bit() == 0 => (format.to_f64(format.largest()), format.to_f64(0)),
            Some(format) => (format.to_f64(format.largest()), format.to_f64(1)),
            None => (f64::from(f32::MAX), 2f64.powi(-133)),
        },
    };
    let number = rng.pick(&[
        f64::NAN,
        f64::INFINITY,
        0.0,
        smallest,
        smallest * 3.0,
        largest,
        largest / 2.0,
        1.0,
        0.5,
        1.5,
        2.5,
        100.0,
        1e4,
    ]);
    if rng.chance(50) { -number } else { number }
}
