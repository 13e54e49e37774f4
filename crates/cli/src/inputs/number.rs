//! Numbers as they are written behind `--input NAME=`, as elements of a type.

use std::fmt;
use tegula_base::{DType, HostTensor, small_float};

/// A number as it was written: integers beyond 2^53 are no `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub fn of(text: &str) -> Option<Number> {
        match text.parse() {
            // Of floats `-0` is another number than 0.
            Ok(0) if text.starts_with('-') => Some(Number::Float(-0.0)),
            Ok(integer) => Some(Number::Integer(integer)),
            Err(_) => text.parse().ok().map(Number::Float),
        }
    }

    /// The bits of an element of a type, floats rounded. None where the type has no such number: a fraction, one out of
    /// range, one that rounding makes 0; NaN, an infinity or a sign without a code.
    pub fn bits(self, dtype: DType) -> Option<u64> {
        if let Some((least, most)) = dtype.int_range() {
            let integer = match self {
                Number::Integer(integer) => integer,
                Number::Float(float) if float.fract() == 0.0 => float as i128,
                Number::Float(_) => return None,
            };
            return (least..=most).contains(&integer).then_some(integer as u64);
        }
        let float = match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        };
        // Formats without other codes take their largest for all that is above it.
        if let Some(format) = dtype.small_float()
            && float.is_finite()
            && float.abs() > format.to_f64(format.largest())
        {
            return None;
        }
        let bits = float_bits(dtype, float);
        let value = value_of(dtype, bits);
        let sort = |x: f64| (x == 0.0, x.is_infinite(), x.is_sign_negative());
        (value.is_nan() == float.is_nan() && (value.is_nan() || sort(value) == sort(float))).then_some(bits)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(integer) => write!(f, "{integer}"),
            Number::Float(float) => write!(f, "{float}"),
        }
    }
}

/// A float in a float type: rounded; beyond the range its infinity or NaN, where there is one.
pub fn float_bits(dtype: DType, x: f64) -> u64 {
    match dtype {
        DType::F64 => x.to_bits(),
        DType::F32 => (x as f32).to_bits().into(),
        DType::F16 => half::f16::from_f64(x).to_bits().into(),
        DType::BF16 => half::bf16::from_f64(x).to_bits().into(),
        small => small_float::from_f64(small, x, false).into(),
    }
}

fn value_of(dtype: DType, bits: u64) -> f64 {
    let bytes = bits.to_le_bytes()[..dtype.size()].to_vec();
    HostTensor { dtype, shape: vec![], bytes }.to_f64()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(dtype: DType, text: &str) -> Option<f64> {
        Number::of(text).unwrap().bits(dtype).map(|bits| value_of(dtype, bits))
    }

    #[test]
    fn integers_are_exact_to_the_ends_of_their_range() {
        let bits = |dtype, text| Number::of(text).unwrap().bits(dtype);
        for (dtype, text, expected) in [
            (DType::I64, "9007199254740993", 9_007_199_254_740_993),
            (DType::I64, "9223372036854775807", i64::MAX as u64),
            (DType::I64, "-9223372036854775808", i64::MIN as u64),
            (DType::U64, "18446744073709551615", u64::MAX),
            (DType::I32, "1e3", 1000),
            (DType::U8, "-0", 0),
        ] {
            assert_eq!(bits(dtype, text), Some(expected), "{dtype} {text}");
        }
        for (dtype, text) in [
            (DType::I64, "9223372036854775808"),
            (DType::U64, "18446744073709551616"),
            (DType::U64, "-1"),
            (DType::I4, "8"),
            (DType::Bool, "2"),
            (DType::I32, "0.5"),
            (DType::I32, "inf"),
            (DType::I32, "nan"),
        ] {
            assert_eq!(bits(dtype, text), None, "{dtype} {text}");
        }
    }

    #[test]
    fn floats_are_rounded_within_their_range() {
        for (dtype, text, expected) in [
            (DType::F8E5M2, "inf", f64::INFINITY),
            (DType::F8E5M2, "-inf", f64::NEG_INFINITY),
            (DType::F8E4M3FN, "448", 448.0),
            (DType::F8E4M3FN, "1.06", 1.0),
            (DType::F4E2M1, "-6", -6.0),
            (DType::F8E8M0, "1", 1.0),
            (DType::F8E8M0, "3", 4.0),
            (DType::F8E8M0, "5.877471754111438e-39", 2f64.powi(-127)),
            (DType::F16, "inf", f64::INFINITY),
            (DType::F32, "3.4028235e38", f64::from(f32::MAX)),
            (DType::F32, "16777217", 16_777_216.0),
        ] {
            assert_eq!(value(dtype, text), Some(expected), "{dtype} {text}");
        }
        assert!(value(DType::F32, "-0").unwrap().is_sign_negative());
        assert!(value(DType::F8E4M3FNUZ, "nan").unwrap().is_nan());
        assert!(value(DType::F8E8M0, "nan").unwrap().is_nan());
        for (dtype, text) in [
            (DType::F4E2M1, "nan"),
            (DType::F4E2M1, "inf"),
            (DType::F4E2M1, "100"),
            (DType::F4E2M1, "0.1"),
            (DType::F8E4M3FN, "inf"),
            (DType::F8E4M3FN, "500"),
            (DType::F8E4M3FNUZ, "-0"),
            (DType::F8E5M2, "1e9"),
            (DType::F8E8M0, "-1"),
            (DType::F8E8M0, "0"),
            (DType::F8E8M0, "inf"),
            (DType::F16, "1e5"),
            (DType::F32, "1e-60"),
        ] {
            assert_eq!(value(dtype, text), None, "{dtype} {text}");
        }
    }
}
