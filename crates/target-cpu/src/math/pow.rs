//! `pow` on `f32` lanes, within 0.54 ulp.
//!
//! Method: `2^(y log2 |x|)` on `f64` lanes, which have so many bits to spare that no step needs care; its rounding to
//! `f32` is the only one that counts, and makes overflow and denormals. `log2 m = s q(s^2)` with
//! `s = (m - 1) / (m + 1)`; a power of two as in `exp`.

use super::float::constant;
use super::log::exponent_and_mantissa;
use super::real::Real;
use crate::schedule::{Builder, CompareOp, ConvertOp, Elem, VecOp};
use tegula_ir::Value;
use tegula_tiling::coefficients::{EXP2, LOG2_ATANH};

/// 1.5 * 2^52: added to a number below 2^51, it rounds it to an integer that stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// What the exponent of 1 is held as, and the bits below it.
const BIAS: f64 = 1023.0;
const FRACTION_BITS: i64 = 52;
/// Powers of two beyond it are 0 and infinite in `f32`.
const EXPONENT_LIMIT: f64 = 160.0;
/// So many `f32` lanes are a register of some tier.
const FEWEST_OF_A_REGISTER: u32 = 8;

pub(super) fn pow(b: &mut Builder, x: Value, y: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (zero, one) = (r.k(0.0), r.k(1.0));
    let (infinity, minus_infinity) = (r.k(f32::INFINITY), r.k(f32::NEG_INFINITY));
    let magnitude = r.abs(x);
    let (e, m) = exponent_and_mantissa(r, magnitude);
    // The logarithms of 0 and infinity, and NaN.
    let finite = r.less(magnitude, infinity);
    let e = r.select(finite, e, magnitude);
    let is_zero = r.equal(magnitude, zero);
    let e = r.select(is_zero, minus_infinity, e);
    // An infinite power of 1 is 1, and all others are beyond `f32` at the largest number too.
    let limited = r.at_least(-f32::MAX, y);
    let limited = r.at_most(f32::MAX, limited);
    let power = in_halves(r.b, [e, m, limited]);

    // Odd powers have the sign of `x`; those that are not whole are of zero, infinity and positive numbers only.
    let sign = r.sign(x);
    let half = r.k(0.5);
    let half = r.mul(y, half);
    let is_odd = is_fraction(r, half);
    let sign = r.select(is_odd, sign, zero);
    let of_whole = r.op(VecOp::Or, power, sign);
    let (negative, bounded) = (r.less(x, zero), r.less(minus_infinity, x));
    let broken = r.b.mask_op(VecOp::And, negative, bounded);
    let nan = r.k(f32::NAN);
    let of_fraction = r.select(broken, nan, power);
    let fraction = is_fraction(r, y);
    let power = r.select(fraction, of_fraction, of_whole);

    // Of NaN too.
    let no_factor = r.equal(y, zero);
    let power = r.select(no_factor, one, power);
    let is_one = r.equal(x, one);
    r.select(is_one, one, power)
}

/// Where numbers are not whole, or NaN.
fn is_fraction(r: &mut Real, x: Value) -> Value {
    let whole = r.b.vec(VecOp::RoundEven, &[x]);
    r.b.compare(CompareOp::Ne, whole, x)
}

/// [`power`] of `f32` lanes. As `f64` they take twice the room: of a whole register each half goes by itself.
fn in_halves(b: &mut Builder, parts: [Value; 3]) -> Value {
    let lanes = b.lanes(parts[0]);
    if lanes < FEWEST_OF_A_REGISTER {
        return rounded_power(b, parts);
    }
    let [low, high] = [0..lanes / 2, lanes / 2..lanes].map(|half| {
        let parts = parts.map(|part| b.shuffle(part, part, half.clone().collect()));
        rounded_power(b, parts)
    });
    b.shuffle(low, high, (0..lanes).collect())
}

fn rounded_power(b: &mut Builder, parts: [Value; 3]) -> Value {
    let [e, m, y] = parts.map(|part| b.convert(ConvertOp::Extend, Elem::F64, part));
    let power = power(b, e, m, y);
    b.convert(ConvertOp::Round, Elem::F32, power)
}

/// `(2^e m)^y`.
fn power(b: &mut Builder, e: Value, m: Value, y: Value) -> Value {
    let one = constant(b, m, 1.0);
    let (top, bottom) = (b.vec(VecOp::Sub, &[m, one]), b.vec(VecOp::Add, &[m, one]));
    let s = b.vec(VecOp::Div, &[top, bottom]);
    let square = b.vec(VecOp::Mul, &[s, s]);
    let q = horner(b, &LOG2_ATANH, square);
    let log = b.vec(VecOp::Fma, &[s, q, e]);
    let product = b.vec(VecOp::Mul, &[y, log]);
    // With the constants first NaN stays.
    let (least, most) = (constant(b, m, -EXPONENT_LIMIT), constant(b, m, EXPONENT_LIMIT));
    let product = b.vec(VecOp::Max, &[least, product]);
    let product = b.vec(VecOp::Min, &[most, product]);

    let rounder = constant(b, m, ROUNDER + BIAS);
    let shifted = b.vec(VecOp::Add, &[product, rounder]);
    let n = b.vec(VecOp::Sub, &[shifted, rounder]);
    let rest = b.vec(VecOp::Sub, &[product, n]);
    let bits = b.bitcast(Elem::I64, shifted);
    let lanes = b.lanes(bits);
    let count = b.i64(lanes, FRACTION_BITS);
    let bits = b.vec(VecOp::Shl, &[bits, count]);
    let scale = b.bitcast(Elem::F64, bits);
    let p = horner(b, &EXP2, rest);
    b.vec(VecOp::Mul, &[p, scale])
}

/// The polynomial with these coefficients from the constant term up, by Horner's rule.
fn horner(b: &mut Builder, coefficients: &[f64], x: Value) -> Value {
    let (last, rest) = coefficients.split_last().expect("invariant: a polynomial has a coefficient");
    let last = constant(b, x, *last);
    rest.iter().rev().fold(last, |sum, c| {
        let c = constant(b, x, *c);
        b.vec(VecOp::Fma, &[sum, x, c])
    })
}
