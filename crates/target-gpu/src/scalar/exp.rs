//! `exp` and its kin on `f32`: `exp`, `expm1`, `sigmoid`, `tanh`.
//!
//! Method: `x = n ln 2 + r` with `n` from rounding by a magic addend, whose low bits then hold `n` plus the
//! exponent bias, so that one shift makes the power of two; `exp(r)` by a minimax polynomial. `exp` itself takes the
//! special function unit's `ex2` for it, of which the PTX ISA promises 2^-22.5 of its result and CUDA's table of
//! functions tells 2 ulp (`exp2f`, not guaranteed): all of what `docs/numerics.md` allows, and not yet measured over all
//! numbers on a card. The simulator's `ex2` is exact.

use super::real::Real;
use std::f32::consts::LOG2_E;
use tegula_isa_ptx::Operand;
use tegula_tiling::coefficients::{EXP, EXPM1, LN_2, TANH};

/// 1.5 * 2^23: added to a number below 2^22, it rounds it to an integer that stands in the low bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;
/// Below, `exp` is less than half of the smallest denormal; above the other, more than the largest number.
const EXP_RANGE: (f32, f32) = (-104.0, 89.0);
/// log2(e) less what an `f32` holds of it.
const LOG2_E_REST: f32 = 1.925_963e-8;
/// Powers of two that scale `exp`, as integers, and their number.
const LEAST_POWER: f32 = -126.0;
const POWERS: f32 = 252.0;
/// From here on `1 - tanh` is below half an ulp of 1.
const TANH_ONE: f32 = 9.1;

/// `2^n 2^f` with `n` kept among the powers that are normal numbers: what is left to `f` beyond them overflows and
/// underflows by itself. Saturation to 0..1 keeps `n` there; infinities pass through `f`.
pub(super) fn exp(r: &mut Real, x: Operand) -> Operand {
    let share = r.fma_within_one(x, Operand::f32(LOG2_E / POWERS), Operand::f32(-LEAST_POWER / POWERS));
    let rounder = r.k(ROUNDER + 1.0);
    let shifted = r.fma_down(share, Operand::f32(POWERS), rounder);
    let without = r.sub(Operand::f32(ROUNDER + 1.0 - LEAST_POWER), shifted);
    let f = r.fma(x, Operand::f32(LOG2_E), without);
    let f = r.fma(x, Operand::f32(LOG2_E_REST), f);
    let p = r.power_of_two(f);
    let scale = r.shl(shifted, 23);
    r.mul(p, scale)
}

/// `n = round(x * factor)` and `2^(n + lift)`.
fn split(r: &mut Real, x: Operand, factor: f32, lift: i32) -> (Operand, Operand) {
    let rounder = r.k(ROUNDER + (127 + lift) as f32);
    let shifted = r.fma(x, Operand::f32(factor), rounder);
    (r.sub(shifted, rounder), r.shl(shifted, 23))
}

/// `x - n * times * ln 2`.
fn reduce(r: &mut Real, x: Operand, n: Operand, times: f32) -> Operand {
    let rest = r.fnma(times * LN_2[0], n, x);
    r.fnma(times * LN_2[1], n, rest)
}

/// `1 + x + x^2 q(x)`.
fn exp_near_zero(r: &mut Real, q: &[f32], x: Operand) -> Operand {
    let one = r.k(1.0);
    let q = r.horner(q, x);
    let q = r.fma(q, x, one);
    r.fma(q, x, one)
}

/// `2 (s p + (s - 1/2))` with `s = 2^(n-1)` and `p = exp(r) - 1`: exact scaling up to the largest number.
/// `n` is rounded towards zero by a fifth, which keeps the sum free of cancellation next to `n = 0`.
pub(super) fn expm1(r: &mut Real, argument: Operand) -> Operand {
    let x = r.at_least(-30.0, argument);
    let x = r.at_most(EXP_RANGE.1, x);
    let sign = r.sign(x);
    let bias = r.xor(sign, Operand::f32(-0.2));
    let rounder = r.k(ROUNDER + 126.0);
    let scaled = r.fma(x, Operand::f32(LOG2_E), bias);
    let shifted = r.add(scaled, rounder);
    let n = r.sub(shifted, rounder);
    let scale = r.shl(shifted, 23);
    let rest = reduce(r, x, n, 1.0);
    let q = r.horner(&EXPM1, rest);
    let square = r.mul(rest, rest);
    let p = r.fma(square, q, rest);
    let offset = r.sub(scale, Operand::f32(0.5));
    let y = r.fma(scale, p, offset);
    let y = r.add(y, y);
    // The sums above lose the sign of -0.
    let is_zero = r.equal(argument, Operand::f32(0.0));
    r.select(is_zero, argument, y)
}

/// `1 / (1 + exp(-x))` with `exp(-x) = s + s w`, `s = 2^n`: `1 + s` is exact or what it loses is known, so that one
/// rounding makes the divisor. Above and below the line stand 2^-64 times that, which keeps it finite and the
/// quotient right to the last denormal.
pub(super) fn sigmoid(r: &mut Real, x: Operand) -> Operand {
    let y = r.neg(x);
    let y = r.at_least(-18.0, y);
    let y = r.at_most(-EXP_RANGE.0, y);
    let (n, scale) = split(r, y, LOG2_E, -64);
    let rest = reduce(r, y, n, 1.0);
    let q = r.horner(&EXP, rest);
    let square = r.mul(rest, rest);
    let w = r.fma(square, q, rest);
    let unit = r.k(2f32.powi(-64));
    let sum = r.add(scale, unit);
    let kept = r.sub(sum, scale);
    let lost = r.sub(unit, kept);
    let tail = r.fma(scale, w, lost);
    let bottom = r.add(sum, tail);
    r.near_quotient(unit, bottom)
}

/// Near zero an odd polynomial; beyond, `1 - 2 / (exp(2|x|) + 1)`.
pub(super) fn tanh(r: &mut Real, x: Operand) -> Operand {
    let (a, sign) = (r.abs(x), r.sign(x));
    let t = r.mul(a, a);
    let q = r.horner(&TANH, t);
    let cube = r.mul(a, t);
    let near = r.fma(cube, q, a);

    let (one, two) = (r.k(1.0), r.k(2.0));
    let y = r.at_most(TANH_ONE, a);
    let y = r.add(y, y);
    let (n, scale) = split(r, y, LOG2_E, 0);
    let rest = reduce(r, y, n, 1.0);
    let p = exp_near_zero(r, &EXP, rest);
    let bottom = r.fma(p, scale, one);
    let gap = r.near_quotient(two, bottom);
    let far = r.sub(one, gap);

    let limit = r.k(0.65);
    let is_near = r.less(a, limit);
    let y = r.select(is_near, near, far);
    r.or(y, sign)
}
