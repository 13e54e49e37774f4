//! Floats of at most 8 bits, each described as data, to and from `f64`.
//!
//! Sources: "FP8 Formats for Deep Learning" (arXiv:2209.05433) for `f8e4m3fn` and `f8e5m2`; "8-bit Numerical Formats
//! for Deep Neural Networks" (arXiv:2206.02915) for the `fnuz` forms; OCP Microscaling Formats 1.0 for 4 and 6 bits
//! and `f8e8m0`. What a cast does beyond the range of a format is what ONNX's `Cast` says.

use crate::DType;

/// How a format's bits are read: a sign bit (but for powers of two), exponent, mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFloat {
    pub exponent_bits: u32,
    pub mantissa_bits: u32,
    pub bias: i32,
    pub specials: Specials,
}

/// Which codes of a format are no finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The largest exponent holds infinities and NaNs, as in IEEE 754.
    Ieee,
    /// Finite numbers and NaN: all ones under either sign.
    Nan,
    /// Finite numbers and one NaN, in the place of -0.
    NanAtMinusZero,
    /// Finite numbers alone.
    Absent,
    /// Powers of two without sign or zero; all ones is NaN.
    PowersOfTwo,
}

impl DType {
    /// The format of a float of at most 8 bits.
    pub const fn small_float(self) -> Option<SmallFloat> {
        match self {
            DType::F4E2M1 => format(2, 1, 1, Specials::Absent),
            DType::F6E2M3 => format(2, 3, 1, Specials::Absent),
            DType::F6E3M2 => format(3, 2, 3, Specials::Absent),
            DType::F8E4M3FN => format(4, 3, 7, Specials::Nan),
            DType::F8E4M3FNUZ => format(4, 3, 8, Specials::NanAtMinusZero),
            DType::F8E5M2 => format(5, 2, 15, Specials::Ieee),
            DType::F8E5M2FNUZ => format(5, 2, 16, Specials::NanAtMinusZero),
            DType::F8E8M0 => format(8, 0, 127, Specials::PowersOfTwo),
            _ => None,
        }
    }
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Option<SmallFloat> {
    Some(SmallFloat { exponent_bits, mantissa_bits, bias, specials })
}

impl SmallFloat {
    /// The sign bit in its place; 0 where there is none.
    pub const fn sign_bit(&self) -> u8 {
        match self.specials {
            Specials::PowersOfTwo => 0,
            _ => 1 << (self.exponent_bits + self.mantissa_bits),
        }
    }

    /// The code of the largest finite number.
    pub const fn largest(&self) -> u8 {
        let all_ones = ((1u32 << (self.exponent_bits + self.mantissa_bits)) - 1) as u8;
        match self.specials {
            Specials::Ieee => all_ones - (1 << self.mantissa_bits),
            Specials::Nan | Specials::PowersOfTwo => all_ones - 1,
            Specials::NanAtMinusZero | Specials::Absent => all_ones,
        }
    }

    /// What NaN becomes: a NaN, and where there is none -0.
    pub const fn nan(&self) -> u8 {
        match self.specials {
            Specials::Ieee | Specials::Nan => self.sign_bit() - 1,
            Specials::NanAtMinusZero | Specials::Absent => self.sign_bit(),
            Specials::PowersOfTwo => 0xff,
        }
    }

    /// What a number above the largest becomes: that, or infinity or NaN where the format has one.
    pub const fn overflow(&self, saturate: bool) -> u8 {
        match self.specials {
            Specials::Absent => self.largest(),
            _ if saturate => self.largest(),
            Specials::Ieee => self.largest() + 1,
            Specials::Nan | Specials::NanAtMinusZero | Specials::PowersOfTwo => self.nan(),
        }
    }

    /// Whether infinity has a code.
    pub const fn has_infinity(&self) -> bool {
        matches!(self.specials, Specials::Ieee)
    }

    /// The smallest exponent of a normal number; of any number, where there are powers of two alone.
    pub const fn least_exponent(&self) -> i32 {
        match self.specials {
            Specials::PowersOfTwo => -self.bias,
            _ => 1 - self.bias,
        }
    }

    /// The exact value of a code; bits beyond the format's width are ignored.
    pub fn to_f64(&self, bits: u8) -> f64 {
        if self.specials == Specials::PowersOfTwo {
            return if bits == 0xff { f64::NAN } else { 2f64.powi(i32::from(bits) - self.bias) };
        }
        let magnitude = bits & (self.sign_bit() - 1);
        let is_negative = bits & self.sign_bit() != 0;
        if self.specials == Specials::NanAtMinusZero && is_negative && magnitude == 0 {
            return f64::NAN;
        }
        let value = match magnitude {
            code if code <= self.largest() => self.finite(code),
            code if self.has_infinity() && code == self.largest() + 1 => f64::INFINITY,
            _ => f64::NAN,
        };
        if is_negative { -value } else { value }
    }

    fn finite(&self, magnitude: u8) -> f64 {
        let units = f64::from(magnitude & ((1 << self.mantissa_bits) - 1));
        let hidden = f64::from(1u32 << self.mantissa_bits);
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let (units, exponent) = match exponent {
            0 => (units, self.least_exponent()),
            _ => (units + hidden, exponent - self.bias),
        };
        units * 2f64.powi(exponent - self.mantissa_bits as i32)
    }

    /// Rounds to nearest even, powers of two to nearest and up between two. What is then above the largest number
    /// becomes as [`SmallFloat::overflow`] says. Where there are powers of two alone, what is below the least
    /// becomes that when saturating, else NaN.
    pub fn from_f64(&self, value: f64, saturate: bool) -> u8 {
        if value.is_nan() {
            let is_signed = matches!(self.specials, Specials::Ieee | Specials::Nan);
            return self.nan() | if is_signed && value.is_sign_negative() { self.sign_bit() } else { 0 };
        }
        if self.specials == Specials::PowersOfTwo {
            return self.power_of_two(value, saturate);
        }
        let magnitude = self.rounded(value.abs()).unwrap_or(self.overflow(saturate));
        match magnitude {
            // There is one zero.
            0 if self.specials == Specials::NanAtMinusZero => 0,
            magnitude if value.is_sign_negative() => magnitude | self.sign_bit(),
            magnitude => magnitude,
        }
    }

    /// The code of a magnitude; `None` above the largest.
    fn rounded(&self, magnitude: f64) -> Option<u8> {
        let largest = self.finite(self.largest());
        if magnitude >= 2.0 * largest {
            return None;
        }
        let exponent = exponent_of(magnitude).max(self.least_exponent());
        let units = (magnitude * 2f64.powi(self.mantissa_bits as i32 - exponent)).round_ties_even() as i32;
        // The hidden bit of a normal number is one step of the exponent: a carry does as it should.
        let code = ((exponent - self.least_exponent()) << self.mantissa_bits) + units;
        (code <= i32::from(self.largest())).then_some(code as u8)
    }

    fn power_of_two(&self, value: f64, saturate: bool) -> u8 {
        let (least, most) = (self.to_f64(0), self.to_f64(self.largest()));
        if !(least..=most).contains(&value) && !saturate {
            return self.nan();
        }
        let value = value.clamp(least, most);
        let exponent = exponent_of(value);
        let up = value >= 1.5 * 2f64.powi(exponent);
        (exponent + self.bias + i32::from(up)) as u8
    }
}

/// `floor(log2(x))` of a positive number; below the normal range of `f64` at most -1023.
fn exponent_of(x: f64) -> i32 {
    (x.to_bits() >> 52) as i32 - 1023
}

/// The exact value of an element. Panics when the type is no float of at most 8 bits (a caller's bug).
pub fn to_f64(dtype: DType, bits: u8) -> f64 {
    format_of(dtype).to_f64(bits)
}

/// As [`SmallFloat::from_f64`]. Panics when the type is no float of at most 8 bits (a caller's bug).
pub fn from_f64(dtype: DType, value: f64, saturate: bool) -> u8 {
    format_of(dtype).from_f64(value, saturate)
}

fn format_of(dtype: DType) -> SmallFloat {
    dtype.small_float().unwrap_or_else(|| panic!("invariant: {dtype} is a float of at most 8 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> impl Iterator<Item = (DType, SmallFloat)> {
        DType::ALL.into_iter().filter_map(|dtype| dtype.small_float().map(|format| (dtype, format)))
    }

    fn codes(format: &SmallFloat) -> impl Iterator<Item = u8> + use<> {
        let all_bits = if format.sign_bit() == 0 { 0xff } else { 2 * (u32::from(format.sign_bit())) - 1 };
        0..=all_bits as u8
    }

    #[test]
    fn every_code_comes_back() {
        for (dtype, format) in formats() {
            for code in codes(&format) {
                let value = format.to_f64(code);
                let back = format.from_f64(value, false);
                match value.is_nan() {
                    true => assert!(format.to_f64(back).is_nan(), "{dtype} {code:#x}"),
                    false => assert_eq!(back, code, "{dtype} {code:#x}"),
                }
            }
        }
    }

    /// Between two neighbours the nearer one wins, and the even code half way.
    #[test]
    fn numbers_between_two_codes_go_to_the_nearer() {
        for (dtype, format) in formats() {
            for code in 0..format.largest() {
                let (low, high) = (format.to_f64(code), format.to_f64(code + 1));
                let middle = (low + high) / 2.0;
                let (below, above) = (middle - (middle - low) / 1e6, middle + (middle - low) / 1e6);
                let ties_up = format.specials == Specials::PowersOfTwo;
                let tie = if ties_up || code % 2 == 1 { code + 1 } else { code };
                for (value, nearest) in [(below, code), (middle, tie), (above, code + 1)] {
                    assert_eq!(format.from_f64(value, true), nearest, "{dtype} {value:e}");
                    if format.sign_bit() != 0 {
                        let negative = format.from_f64(-value, true);
                        let zero = format.specials == Specials::NanAtMinusZero && nearest == 0;
                        let sign = if zero { 0 } else { format.sign_bit() };
                        assert_eq!(negative, nearest | sign, "{dtype} -{value:e}");
                    }
                }
            }
        }
    }

    /// ONNX, `Cast`: the tables of special values, saturating and not.
    #[test]
    fn beyond_the_range() {
        let inf = f64::INFINITY;
        for (dtype, value, saturating, wrapping) in [
            (DType::F8E4M3FN, inf, 0x7e, 0x7f),
            (DType::F8E4M3FN, -465.0, 0xfe, 0xff),
            (DType::F8E4M3FNUZ, inf, 0x7f, 0x80),
            (DType::F8E4M3FNUZ, -inf, 0xff, 0x80),
            (DType::F8E4M3FNUZ, -0.0, 0, 0),
            (DType::F8E5M2, -1e9, 0xfb, 0xfc),
            (DType::F8E5M2FNUZ, 61440.0, 0x7f, 0x80),
            (DType::F4E2M1, inf, 7, 7),
            (DType::F4E2M1, -100.0, 15, 15),
            (DType::F6E2M3, 25.0, 31, 31),
            (DType::F6E3M2, 25.0, 0x1e, 0x1e),
            (DType::F8E8M0, inf, 0xfe, 0xff),
            (DType::F8E8M0, 0.0, 0, 0xff),
            (DType::F8E8M0, 1e-40, 0, 0xff),
        ] {
            assert_eq!(from_f64(dtype, value, true), saturating, "{dtype} {value}");
            assert_eq!(from_f64(dtype, value, false), wrapping, "{dtype} {value}");
        }
    }
}
