//! `sin` and `cos` on `f32` lanes.
//!
//! Method: `|x| = n pi/2 + r` with pi/2 in three parts (Cody and Waite); the first step is exact for
//! `n < 2^17`, the fused second rounds once. Lanes beyond [`LIMIT`] go through the function table.

use super::exp::ROUNDER;
use super::real::Real;
use crate::schedule::{Builder, CompareOp, VecOp};
use std::f32::consts::FRAC_2_PI;
use tegula_ir::Value;
use tegula_package::Function;
use tegula_tiling::coefficients::{COS, PI_2, SIN};

/// Up to here the reduction is good to the last bits.
const LIMIT: f32 = 1e5;

pub(super) fn sin(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (a, sign) = (r.abs(x), r.sign(x));
    let (quadrant, sine, cosine) = both(r, a);
    let y = choose(r, quadrant, sine, cosine);
    let y = r.op(VecOp::Xor, y, sign);
    beyond(b, Function::SinF32, x, a, y)
}

/// The sine one quadrant on.
pub(super) fn cos(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let a = r.abs(x);
    let (quadrant, sine, cosine) = both(r, a);
    let one = r.int(1);
    let quadrant = r.add(quadrant, one);
    let y = choose(r, quadrant, sine, cosine);
    beyond(b, Function::CosF32, x, a, y)
}

/// The quadrant of `a` (in the low bits), sine and cosine of what is left.
fn both(r: &mut Real, a: Value) -> (Value, Value, Value) {
    let (factor, rounder) = (r.k(FRAC_2_PI), r.k(ROUNDER));
    let shifted = r.fma(a, factor, rounder);
    let n = r.sub(shifted, rounder);
    let mut rest = a;
    for part in PI_2 {
        let part = r.k(part);
        rest = r.fnma(n, part, rest);
    }
    let t = r.mul(rest, rest);
    let q = r.horner(&SIN, t);
    let cube = r.mul(rest, t);
    let sine = r.fma(cube, q, rest);

    let q = r.horner(&COS, t);
    let (one, half) = (r.k(1.0), r.k(0.5));
    let head = r.fnma(half, t, one);
    let square = r.mul(t, t);
    let cosine = r.fma(square, q, head);
    (r.as_int(shifted), sine, cosine)
}

/// Odd quadrants take the cosine; the third and fourth are negative.
fn choose(r: &mut Real, quadrant: Value, sine: Value, cosine: Value) -> Value {
    let (zero, one, two) = (r.int(0), r.int(1), r.int(2));
    let odd = r.op(VecOp::And, quadrant, one);
    let is_even = r.b.compare(CompareOp::Eq, odd, zero);
    let y = r.select(is_even, sine, cosine);
    let negative = r.op(VecOp::And, quadrant, two);
    let sign = r.shl(negative, 30);
    let sign = r.as_real(sign);
    r.op(VecOp::Xor, y, sign)
}

/// Replaces the lanes of `y` whose magnitude `a` is above the limit.
fn beyond(b: &mut Builder, function: Function, x: Value, a: Value, y: Value) -> Value {
    let limit = b.f32(b.lanes(x), LIMIT);
    let far = b.compare(CompareOp::Lt, limit, a);
    let any = b.any(far);
    let results = b.if_(
        any,
        |b| {
            let slow = b.call(function, &[x]);
            vec![b.select(far, slow, y)]
        },
        |_| vec![y],
    );
    results[0]
}
