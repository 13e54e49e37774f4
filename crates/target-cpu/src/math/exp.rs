//! `exp` and its kin on `f32` lanes: `exp`, `expm1`, `sigmoid`.
//!
//! Method: `x = n ln 2 + r` with `n` from rounding by a magic addend, whose low bits then hold `n` plus the
//! exponent bias, so that one shift makes the power of two; `exp(r)` by a minimax polynomial.

use super::real::Real;
use crate::schedule::{Builder, VecOp};
use std::f32::consts::LOG2_E;
use tegula_ir::Value;
use tegula_tiling::coefficients::{EXP, EXP_ABOVE, EXP2_ABOVE, EXPM1, LN_2};

/// 1.5 * 2^23: added to a number below 2^22, it rounds it to an integer that stands in the low bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;
/// The largest number below 1/2: that much less rounds down, but 0 and what is next to an integer stay.
const BELOW_HALF: f32 = 0.499_999_97;
/// Results beyond are 0 and infinite, as they are next to these.
const EXP_CLAMP: (f32, f32) = (-87.9, 89.0);
/// Below, `exp` is less than the smallest normal number, and given as 0: making denormals takes the processor a hundred
/// cycles. Above the other it is more than the largest number.
const EXP_RANGE: (f32, f32) = (-87.336_54, 89.0);
/// Results beyond are 0 and infinite, of `exp2`, as they are at these.
const EXP2_RANGE: (f32, f32) = (-127.0, 128.0);

/// `n` is rounded down, so that its power of two is 0 exactly where the result would be less than the smallest normal
/// number, and infinite exactly where it is: neither needs a choice.
pub(super) fn exp(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let x = r.at_least(EXP_CLAMP.0, x);
    let x = r.at_most(EXP_CLAMP.1, x);
    let (log2_e, half, rounder) = (r.k(LOG2_E), r.k(-BELOW_HALF), r.k(ROUNDER + 127.0));
    let lowered = r.fma(x, log2_e, half);
    let shifted = r.add(lowered, rounder);
    let (n, scale) = (r.sub(shifted, rounder), power(r, shifted));
    let rest = reduce(r, x, n);
    let p = exp_near_zero(r, &EXP_ABOVE, rest);
    r.mul(p, scale)
}

/// Whether `sigmoid` of a number is 0 for being less than the smallest normal number.
fn is_tiny(r: &mut Real, x: Value) -> Value {
    let least = r.k(EXP_RANGE.0);
    r.less(x, least)
}

/// `2^n 2^f` of the whole number below `x` and the rest: the power is 0 where the result would be less than the smallest
/// normal number, and infinite where it is, as in [`exp`]. Most of it is left to the pipes that add.
pub(super) fn exp2(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let x = r.at_least(EXP2_RANGE.0, x);
    let x = r.at_most(EXP2_RANGE.1, x);
    let n = r.b.vec(VecOp::Floor, &[x]);
    let f = r.sub(x, n);
    let rounder = r.k(ROUNDER + 127.0);
    let shifted = r.add(n, rounder);
    let scale = power(r, shifted);
    let (q, one) = (r.horner(&EXP2_ABOVE, f), r.k(1.0));
    let p = r.fma(q, f, one);
    r.mul(p, scale)
}

/// `n = round(x * factor)` and `2^(n + lift)`.
pub(super) fn split(r: &mut Real, x: Value, factor: f32, lift: i32) -> (Value, Value) {
    let (factor, rounder) = (r.k(factor), r.k(ROUNDER + (127 + lift) as f32));
    let shifted = r.fma(x, factor, rounder);
    (r.sub(shifted, rounder), power(r, shifted))
}

/// The power of two whose biased exponent stands in the low bits.
fn power(r: &mut Real, shifted: Value) -> Value {
    let bits = r.as_int(shifted);
    let bits = r.shl(bits, 23);
    r.as_real(bits)
}

/// `x - n * ln 2`.
pub(super) fn reduce(r: &mut Real, x: Value, n: Value) -> Value {
    let (hi, lo) = (r.k(LN_2[0]), r.k(LN_2[1]));
    let rest = r.fnma(n, hi, x);
    r.fnma(n, lo, rest)
}

/// `1 + x + x^2 q(x)`.
pub(super) fn exp_near_zero(r: &mut Real, q: &[f32], x: Value) -> Value {
    let one = r.k(1.0);
    let q = r.horner(q, x);
    let q = r.fma(q, x, one);
    r.fma(q, x, one)
}

/// `2 (s p + (s - 1/2))` with `s = 2^(n-1)` and `p = exp(r) - 1`: exact scaling up to the largest number.
/// `n` is rounded towards zero by a fifth, which keeps the sum free of cancellation next to `n = 0`.
pub(super) fn expm1(b: &mut Builder, argument: Value) -> Value {
    let r = &mut Real::new(b, argument);
    let x = r.at_least(-30.0, argument);
    let x = r.at_most(EXP_RANGE.1, x);
    let sign = r.sign(x);
    let fifth = r.k(-0.2);
    let bias = r.op(VecOp::Xor, sign, fifth);
    let (log2_e, rounder) = (r.k(LOG2_E), r.k(ROUNDER + 126.0));
    let scaled = r.fma(x, log2_e, bias);
    let shifted = r.add(scaled, rounder);
    let n = r.sub(shifted, rounder);
    let scale = power(r, shifted);
    let rest = reduce(r, x, n);
    let q = r.horner(&EXPM1, rest);
    let square = r.mul(rest, rest);
    let p = r.fma(square, q, rest);
    let half = r.k(0.5);
    let offset = r.sub(scale, half);
    let y = r.fma(scale, p, offset);
    let y = r.add(y, y);
    // The sums above lose the sign of -0.
    let zero = r.k(0.0);
    let is_zero = r.equal(argument, zero);
    r.select(is_zero, argument, y)
}

/// `1 / (1 + exp(-x))` with `exp(-x) = s + s w`, `s = 2^n`: `1 + s` is exact or what it loses is known, so that one
/// rounding makes the divisor. Above and below the line stand 2^-64 times that, which keeps it finite and the
/// quotient right to the last denormal.
pub(super) fn sigmoid(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let tiny = is_tiny(r, x);
    let minus = r.bits(0x8000_0000);
    let y = r.op(VecOp::Xor, x, minus);
    let y = r.at_least(-18.0, y);
    let y = r.at_most(-EXP_RANGE.0, y);
    let (n, scale) = split(r, y, LOG2_E, -64);
    let rest = reduce(r, y, n);
    let q = r.horner(&EXP, rest);
    let square = r.mul(rest, rest);
    let w = r.fma(square, q, rest);
    let unit = r.k(2f32.powi(-64));
    let sum = r.add(unit, scale);
    let kept = r.sub(sum, scale);
    let lost = r.sub(unit, kept);
    let tail = r.fma(scale, w, lost);
    let bottom = r.add(sum, tail);
    let y = r.div(unit, bottom);
    let zero = r.k(0.0);
    r.select(tiny, zero, y)
}
