//! Formats of floats and their rounding.
//! Method: values pass through f64, which holds every value of the smaller formats and the product of any two of
//! them; sums that f64 cannot hold are rounded to odd, so that the rounding that follows is the only one
//! (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").

use tegula_isa_ptx::modifiers::Round;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    /// To nearest, ties away from zero.
    NearestAway,
    Zero,
    Down,
    Up,
}

impl From<Round> for Rounding {
    fn from(round: Round) -> Rounding {
        match round {
            Round::Rn => Rounding::Nearest,
            Round::Rz => Rounding::Zero,
            Round::Rm => Rounding::Down,
            Round::Rp => Rounding::Up,
        }
    }
}

/// A binary format: sign, exponent, fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    exponent: u32,
    fraction: u32,
    /// Without infinities: all exponents are of numbers, and only all ones is NaN.
    finite: bool,
}

pub const F16: Format = Format { exponent: 5, fraction: 10, finite: false };
pub const BF16: Format = Format { exponent: 8, fraction: 7, finite: false };
pub const F32: Format = Format { exponent: 8, fraction: 23, finite: false };
pub const TF32: Format = Format { exponent: 8, fraction: 10, finite: false };
pub const E4M3: Format = Format { exponent: 4, fraction: 3, finite: true };
pub const E5M2: Format = Format { exponent: 5, fraction: 2, finite: false };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// Bits of the greatest finite number.
    pub fn max_bits(self) -> u64 {
        let infinity = ((1u64 << self.exponent) - 1) << self.fraction;
        if self.finite { infinity + (1 << self.fraction) - 2 } else { infinity - 1 }
    }

    fn nan(self) -> u64 {
        let all = (1u64 << (self.exponent + self.fraction)) - 1;
        // The language's canonical NaN: all ones for f16, bf16, f32 (0x7fff, 0x7fffffff).
        all
    }

    pub fn decode(self, bits: u64) -> f64 {
        let fraction = bits & ((1 << self.fraction) - 1);
        let exponent = (bits >> self.fraction) & ((1 << self.exponent) - 1);
        let sign = if bits >> (self.exponent + self.fraction) & 1 == 1 { -1.0 } else { 1.0 };
        let top = (1 << self.exponent) - 1;
        let all = (1 << self.fraction) - 1;
        let magnitude = if exponent == top && !self.finite {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else if self.finite && exponent == top && fraction == all {
            f64::NAN
        } else if exponent == 0 {
            fraction as f64 * power(1 - self.bias() - self.fraction as i32)
        } else {
            (fraction + (1 << self.fraction)) as f64
                * power(exponent as i32 - self.bias() - self.fraction as i32)
        };
        sign * magnitude
    }

    /// Rounds. What is too great becomes infinity, or the greatest number where the rounding says so.
    pub fn encode(self, value: f64, rounding: Rounding) -> u64 {
        let raw = value.to_bits();
        let sign = raw >> 63;
        let signed = sign << (self.exponent + self.fraction);
        if value.is_nan() {
            return self.nan();
        }
        if value == 0.0 {
            return signed;
        }
        let infinity = self.max_bits() + 1;
        if value.is_infinite() {
            return signed | if self.finite { self.nan() } else { infinity };
        }
        let (significand, exponent) = significand(value);
        let least = 1 - self.bias();
        let below = (52 - self.fraction as i32 + (least - exponent).max(0)).min(63) as u32;
        let kept = significand >> below;
        let rest = significand & ((1 << below) - 1);
        let half = 1u64 << (below - 1);
        let up = match rounding {
            Rounding::Nearest => rest > half || rest == half && kept & 1 == 1,
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => sign == 1 && rest != 0,
            Rounding::Up => sign == 0 && rest != 0,
        };
        let kept = kept + up as u64;
        let magnitude =
            if exponent >= least { (((exponent - least) as u64) << self.fraction) + kept } else { kept };
        if magnitude <= self.max_bits() {
            return signed | magnitude;
        }
        let stays = match rounding {
            Rounding::Nearest | Rounding::NearestAway => false,
            Rounding::Zero => true,
            Rounding::Down => sign == 0,
            Rounding::Up => sign == 1,
        };
        signed
            | if stays {
                self.max_bits()
            } else if self.finite {
                self.nan()
            } else {
                infinity
            }
    }

    /// As `encode` to nearest, but what is too great becomes the greatest number.
    pub fn encode_finite(self, value: f64) -> u64 {
        let greatest = self.decode(self.max_bits());
        self.encode(if value.is_nan() { value } else { value.clamp(-greatest, greatest) }, Rounding::Nearest)
    }
}

/// 2^exponent, also where that is subnormal.
fn power(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074).max(0))
    }
}

/// 53 bits with the highest one set, and the exponent of that one.
fn significand(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent > 0 {
        return (fraction | 1 << 52, exponent - 1023);
    }
    let shift = fraction.leading_zeros() - 11;
    (fraction << shift, -1022 - shift as i32)
}

/// `a + b` rounded to odd: where it is inexact, the neighbour whose last bit is set.
pub fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    odd(sum, error)
}

/// `value + error` rounded to odd, `error` being less than half a step.
pub fn odd(value: f64, error: f64) -> f64 {
    if error == 0.0 || error.is_nan() || value.to_bits() & 1 == 1 {
        return value;
    }
    if error > 0.0 { value.next_up() } else { value.next_down() }
}

/// An f64 whose exact value is `value + error`, rounded in a direction.
pub fn direct(value: f64, error: f64, rounding: Rounding) -> f64 {
    if error == 0.0 || error.is_nan() || !value.is_finite() {
        return value;
    }
    match rounding {
        Rounding::Nearest | Rounding::NearestAway => value,
        Rounding::Up if error > 0.0 => value.next_up(),
        Rounding::Down if error < 0.0 => value.next_down(),
        Rounding::Zero if value > 0.0 && error < 0.0 => value.next_down(),
        Rounding::Zero if value < 0.0 && error > 0.0 => value.next_up(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of a small format, in order, against rounding by search among its neighbours.
    fn check(format: Format) {
        for bits in 0..format.max_bits() {
            let (low, high) = (format.decode(bits), format.decode(bits + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(format.encode(low, Rounding::Nearest), bits);
            let even = bits + (bits & 1);
            assert_eq!(format.encode(middle, Rounding::Nearest), even);
            assert_eq!(format.encode(middle, Rounding::NearestAway), bits + 1);
            assert_eq!(format.encode(middle.next_down(), Rounding::Nearest), bits);
            assert_eq!(format.encode(middle.next_up(), Rounding::Nearest), bits + 1);
            assert_eq!(format.encode(middle, Rounding::Zero), bits);
            assert_eq!(format.encode(middle, Rounding::Up), bits + 1);
            assert_eq!(format.encode(middle, Rounding::Down), bits);
        }
    }

    #[test]
    fn small_formats_round_as_their_neighbours_say() {
        for format in [F16, BF16, E4M3, E5M2] {
            check(format);
        }
        assert_eq!(E4M3.decode(E4M3.max_bits()), 448.0);
        assert_eq!(F16.encode(65520.0, Rounding::Nearest), 0x7c00);
        assert_eq!(F16.encode(65519.9, Rounding::Nearest), 0x7bff);
        assert_eq!(E4M3.encode_finite(1e9), 0x7e);
    }

    #[test]
    fn f32_agrees_with_the_processor() {
        for i in 0..2000u64 {
            let value = f64::from_bits(0x3690_0000_0000_0000 + i * 0x0001_3579_bdf0_2468);
            if value.is_finite() {
                assert_eq!(
                    F32.encode(value, Rounding::Nearest),
                    (value as f32).to_bits() as u64,
                    "{value:e}"
                );
            }
        }
    }
}
