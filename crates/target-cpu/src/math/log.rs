//! `log` and `log1p` on `f32` lanes.
//!
//! Method: `x = 2^e m` with `m` in `[sqrt(1/2), sqrt(2))`, found by integer arithmetic on the bits;
//! `log(m) = f - f^2/2 + f^3 q(f)`, `f = m - 1`.

use super::real::Real;
use crate::schedule::{Builder, VecOp};
use tegula_ir::Value;
use tegula_tiling::coefficients::{LN_2, LOG};

/// The bits of sqrt(1/2), rounded down.
const ROOT_HALF: i32 = 0x3f35_04f3;

pub(super) fn log(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (e, m) = exponent_and_mantissa(r, x);
    let one = r.k(1.0);
    let f = r.sub(m, one);
    let y = combine(r, e, f);
    edges(r, x, x, y)
}

/// `log(u)` for `u = 1 + x` as rounded, with what the rounding lost put back into `f`.
pub(super) fn log1p(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let one = r.k(1.0);
    let u = r.add(x, one);
    let kept = r.sub(u, one);
    let lost = r.sub(x, kept);
    let (e, m) = decompose(r, u);
    let exponent = r.shl(e, 23);
    let bias = r.int(127 << 23);
    let scale = r.sub(bias, exponent);
    // The largest numbers have `e = 128`; they lose nothing.
    let none = r.int(0);
    let scale = r.op(VecOp::Max, scale, none);
    let scale = r.as_real(scale);
    let f = r.sub(m, one);
    let f = r.fma(lost, scale, f);
    let e = r.int_to_float(e);
    let y = combine(r, e, f);
    let y = edges(r, x, u, y);
    // The sums above lose the sign of -0.
    let zero = r.k(0.0);
    let is_zero = r.equal(x, zero);
    r.select(is_zero, x, y)
}

/// `e` and `m` of `x = 2^e m` for a finite number above 0.
pub(super) fn exponent_and_mantissa(r: &mut Real, x: Value) -> (Value, Value) {
    // Denormals are lifted by 2^23.
    let (least, lift) = (r.k(f32::MIN_POSITIVE), r.k(8_388_608.0));
    let tiny = r.less(x, least);
    let lifted = r.mul(x, lift);
    let normal = r.select(tiny, lifted, x);
    let (zero, drop) = (r.k(0.0), r.k(-23.0));
    let correction = r.select(tiny, drop, zero);

    let (e, m) = decompose(r, normal);
    let e = r.int_to_float(e);
    (r.add(e, correction), m)
}

/// The exponent (integer lanes) and the mantissa.
fn decompose(r: &mut Real, x: Value) -> (Value, Value) {
    let bits = r.as_int(x);
    let root_half = r.int(ROOT_HALF);
    let above = r.sub(bits, root_half);
    let e = r.sar(above, 23);
    let exponent = r.shl(e, 23);
    let m = r.sub(bits, exponent);
    (e, r.as_real(m))
}

/// `e ln 2 + log(1 + f)`.
fn combine(r: &mut Real, e: Value, f: Value) -> Value {
    let q = r.horner(&LOG, f);
    let (minus_half, hi, lo) = (r.k(-0.5), r.k(LN_2[0]), r.k(LN_2[1]));
    let h = r.fma(f, q, minus_half);
    let square = r.mul(f, f);
    let low = r.mul(e, lo);
    let tail = r.fma(square, h, low);
    let y = r.add(tail, f);
    r.fma(e, hi, y)
}

/// Infinity and NaN of `x` stay; `u = 0` gives minus infinity, below NaN.
fn edges(r: &mut Real, x: Value, u: Value, y: Value) -> Value {
    let (zero, infinity) = (r.k(0.0), r.k(f32::INFINITY));
    let (minus_infinity, nan) = (r.k(f32::NEG_INFINITY), r.k(f32::NAN));
    let finite = r.less(x, infinity);
    let y = r.select(finite, y, x);
    let at_zero = r.equal(u, zero);
    let outside = r.select(at_zero, minus_infinity, nan);
    let inside = r.less(zero, u);
    r.select(inside, y, outside)
}
