//! The Rust type behind each dtype: how one element loads, stores, widens and is rounded back.
//!
//! Integers compute in `i64` and wrap back; floats narrower than `f64` compute in `f64` and round back once.
//! Rounding twice is innocuous for `+ - * / sqrt` as 53 >= 2p + 2 for every p <= 24 (Figueroa, "When is double
//! rounding innocuous?", SIGNUM 1995); a fused multiply-add goes through rounding to odd (Boldo and Melquiond,
//! "Emulation of FMA and correctly rounded sums", IEEE TC 2008).

use half::{bf16, f16};

/// One element in memory: `SIZE` little-endian bytes.
pub(super) trait Lane: Copy + PartialOrd {
    const SIZE: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
    /// The lesser, NaN if either is NaN, -0 below +0.
    fn minimum(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
}

/// An integer of at most 64 bits.
pub(super) trait Int: Lane {
    const BITS: u32;
    const SIGNED: bool;
    /// Sign- or zero-extended; `u64` keeps its bits.
    fn wide(self) -> i64;
    /// The low bits.
    fn wrap(wide: i64) -> Self;
    /// Truncates, saturates, NaN to 0.
    fn from_float(value: f64) -> Self;
}

pub(super) trait Float: Lane {
    fn wide(self) -> f64;
    /// To nearest even; overflow gives infinity (NaN where the format has none).
    fn narrow(value: f64) -> Self;
    fn from_i64(value: i64) -> Self {
        let magnitude = odd_from_u64(value.unsigned_abs());
        Self::narrow(if value < 0 { -magnitude } else { magnitude })
    }
    fn from_u64(value: u64) -> Self {
        Self::narrow(odd_from_u64(value))
    }
    fn add(self, other: Self) -> Self {
        Self::narrow(self.wide() + other.wide())
    }
    fn sub(self, other: Self) -> Self {
        Self::narrow(self.wide() - other.wide())
    }
    fn mul(self, other: Self) -> Self {
        Self::narrow(self.wide() * other.wide())
    }
    fn div(self, other: Self) -> Self {
        Self::narrow(self.wide() / other.wide())
    }
    fn fma(self, b: Self, c: Self) -> Self {
        Self::narrow(odd_sum(self.wide() * b.wide(), c.wide()))
    }
}

/// Rounds to 53 bits with the last one set when any bit was lost, so that a later rounding sees the loss.
pub(super) fn odd_from_u64(value: u64) -> f64 {
    let lost = (64 - value.leading_zeros()).saturating_sub(53);
    let sticky = value & ((1u64 << lost) - 1) != 0;
    let kept = (value >> lost) | u64::from(sticky);
    kept as f64 * (1u64 << lost) as f64
}

/// `a + b` rounded to odd; the error of the sum is Knuth's TwoSum.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Rounds to odd, ready for a second rounding to 16 bits.
fn odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || !nearest.is_finite() {
        return nearest;
    }
    let towards_zero = if back.abs() > value.abs() { nearest.to_bits() - 1 } else { nearest.to_bits() };
    f32::from_bits(towards_zero | 1)
}

macro_rules! native_lane {
    ($($ty:ty),*) => {$(
        impl Lane for $ty {
            const SIZE: usize = size_of::<$ty>();
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("invariant: one element's bytes"))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn minimum(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
            #[inline]
            fn maximum(self, other: Self) -> Self {
                if other > self { other } else { self }
            }
        }
        impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
            #[allow(unused_comparisons)]
            const SIGNED: bool = <$ty>::MIN < 0;
            #[inline]
            fn wide(self) -> i64 {
                self as i64
            }
            #[inline]
            fn wrap(wide: i64) -> Self {
                wide as $ty
            }
            #[inline]
            fn from_float(value: f64) -> Self {
                value as $ty
            }
        }
    )*};
}
native_lane!(i8, u8, i16, u16, i32, u32, i64, u64);

impl Lane for bool {
    const SIZE: usize = 1;
    #[inline]
    fn load(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }
    fn minimum(self, other: Self) -> Self {
        self & other
    }
    fn maximum(self, other: Self) -> Self {
        self | other
    }
}

/// Integers of less than a byte: held in one, extended by their sign or by zeros.
macro_rules! sub_byte_lane {
    ($($ty:ident, $inner:ty, $bits:literal, $min:literal, $max:literal);*) => {$(
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        pub(super) struct $ty($inner);
        impl Lane for $ty {
            const SIZE: usize = 1;
            fn load(bytes: &[u8]) -> Self {
                Self::wrap(i64::from(bytes[0]))
            }
            fn store(self, bytes: &mut [u8]) {
                bytes[0] = self.0 as u8;
            }
            fn minimum(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
            fn maximum(self, other: Self) -> Self {
                if other > self { other } else { self }
            }
        }
        impl Int for $ty {
            const BITS: u32 = $bits;
            const SIGNED: bool = $min < 0;
            fn wide(self) -> i64 {
                i64::from(self.0)
            }
            fn wrap(wide: i64) -> Self {
                $ty(((wide << (8 - $bits)) as $inner) >> (8 - $bits))
            }
            fn from_float(value: f64) -> Self {
                $ty((value as $inner).clamp($min, $max))
            }
        }
    )*};
}
sub_byte_lane!(I2, i8, 2, -2, 1; U2, u8, 2, 0, 3; I4, i8, 4, -8, 7; U4, u8, 4, 0, 15);

/// IEEE 754 `minimum` and `maximum`, written for any float that compares and tells its sign.
macro_rules! float_extrema {
    () => {
        #[inline]
        fn minimum(self, other: Self) -> Self {
            if self.is_nan() || self < other || (self == other && self.is_sign_negative()) {
                self
            } else {
                other
            }
        }
        #[inline]
        fn maximum(self, other: Self) -> Self {
            if self.is_nan() || self > other || (self == other && self.is_sign_positive()) {
                self
            } else {
                other
            }
        }
    };
}

macro_rules! float_lane {
    ($($ty:ty),*) => {$(
        impl Lane for $ty {
            const SIZE: usize = size_of::<$ty>();
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("invariant: one element's bytes"))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            float_extrema!();
        }
    )*};
}
float_lane!(f16, bf16, f32, f64);

impl Float for f16 {
    fn wide(self) -> f64 {
        self.to_f64()
    }
    fn narrow(value: f64) -> Self {
        f16::from_f32(odd_f32(value))
    }
}

impl Float for bf16 {
    fn wide(self) -> f64 {
        self.to_f64()
    }
    fn narrow(value: f64) -> Self {
        bf16::from_f32(odd_f32(value))
    }
}

macro_rules! native_float {
    ($($ty:ty),*) => {$(
        impl Float for $ty {
            #[inline]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline]
            fn narrow(value: f64) -> Self {
                value as $ty
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as $ty
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                value as $ty
            }
            #[inline]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    )*};
}
native_float!(f32, f64);
