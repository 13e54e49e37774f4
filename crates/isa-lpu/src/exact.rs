//! The exact sum of products of 16-bit floats, rounded once to `f32`.
//!
//! Products of `f16` are multiples of 2^-48 below 2^32. Each is split at 2^-11: the upper parts, multiples of 2^-11 below
//! 2^32, and the lower ones, multiples of 2^-48 up to 2^-12, sum exactly in two `f64` for up to 512 products: then the upper
//! bin has 2^(32 + 9) / 2^-11 = 2^52 steps. Machine files keep to that.
//! The sum of the two is rounded to odd, so that the rounding to `f32` behind it is the only one.
//! Source: S. Boldo, G. Melquiond, "When double rounding is odd", 17th IMACS World Congress, 2005.

/// Adding and taking away this leaves a multiple of 2^-11.
const SPLIT: f64 = 1.5 * (1u64 << 41) as f64;

/// The sum of `a[i] * b[i]`, factors of at most 11 significant bits from 2^-24 to 2^16 in magnitude. Factors that are no numbers: NaN if
/// a product is NaN or infinities of both signs meet, else the infinity.
pub fn sum_of_products(pairs: impl Iterator<Item = (f32, f32)>) -> f32 {
    let (mut high, mut low) = (0.0f64, 0.0f64);
    // Infinities and NaN, which the bins do not take.
    let mut other = 0.0f64;
    for (a, b) in pairs {
        let product = f64::from(a) * f64::from(b);
        if product.is_finite() {
            let upper = (product + SPLIT) - SPLIT;
            high += upper;
            low += product - upper;
        } else {
            other += product;
        }
    }
    if other != 0.0 { other as f32 } else { rounded_once(high, low) }
}

/// `a + b` rounded once to `f32`: by two-sum, then to odd in `f64`. A sum of 0 is +0.
pub fn rounded_once(a: f64, b: f64) -> f32 {
    let sum = a + b;
    let back = sum - a;
    let error = (a - (sum - back)) + (b - back);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return (sum + 0.0) as f32;
    }
    // The neighbour on the error's side has an odd last bit.
    let away = (error > 0.0) == (sum > 0.0);
    let bits = if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 };
    f64::from_bits(bits) as f32
}
