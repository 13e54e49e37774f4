//! `log`, `log1p` and `erf` on `f32`.
//!
//! Method of the logarithms: `x = 2^e m` with `m` in `[sqrt(1/2), sqrt(2))`, found by integer arithmetic on the bits;
//! `log(m) = f - f^2/2 + f^3 q(f)`, `f = m - 1`.

use super::real::Real;
use tegula_isa_ptx::Operand;
use tegula_tiling::coefficients::{ERF, ERFC_ROOT, LN_2, LOG};

/// The bits of sqrt(1/2), rounded down.
const ROOT_HALF: i32 = 0x3f35_04f3;
/// From here on `erfc`, with the error of its approximation, is below half an ulp of 1.
const ERF_ONE: f32 = 4.1;

pub(super) fn log(r: &mut Real, x: Operand) -> Operand {
    // Denormals are lifted by 2^23.
    let tiny = r.less(x, Operand::f32(f32::MIN_POSITIVE));
    let lifted = r.mul(x, Operand::f32(8_388_608.0));
    let normal = r.select(tiny, lifted, x);
    let correction = r.select(tiny, Operand::f32(-23.0), Operand::f32(0.0));

    let (e, m) = decompose(r, normal);
    let e = r.int_to_float(e);
    let e = r.add(e, correction);
    let f = r.sub(m, Operand::f32(1.0));
    let y = combine(r, e, f);
    edges(r, x, x, y)
}

/// `log(u)` for `u = 1 + x` as rounded, with what the rounding lost put back into `f`.
pub(super) fn log1p(r: &mut Real, x: Operand) -> Operand {
    let one = r.k(1.0);
    let u = r.add(x, one);
    let kept = r.sub(u, one);
    let lost = r.sub(x, kept);
    let (e, m) = decompose(r, u);
    let exponent = r.shl(e, 23);
    let scale = r.int_sub(Operand::i32(127 << 23), exponent);
    // The largest numbers have `e = 128`; they lose nothing.
    let scale = r.int_max(scale, 0);
    let f = r.sub(m, one);
    let f = r.fma(lost, scale, f);
    let e = r.int_to_float(e);
    let y = combine(r, e, f);
    let y = edges(r, x, u, y);
    // The sums above lose the sign of -0.
    let is_zero = r.equal(x, Operand::f32(0.0));
    r.select(is_zero, x, y)
}

/// The exponent (an integer) and the mantissa.
fn decompose(r: &mut Real, x: Operand) -> (Operand, Operand) {
    let above = r.int_sub(x, Operand::i32(ROOT_HALF));
    let e = r.sar(above, 23);
    let exponent = r.shl(e, 23);
    (e, r.int_sub(x, exponent))
}

/// `e ln 2 + log(1 + f)`.
fn combine(r: &mut Real, e: Operand, f: Operand) -> Operand {
    let q = r.horner(&LOG, f);
    let h = r.fma(f, q, Operand::f32(-0.5));
    let square = r.mul(f, f);
    let low = r.mul(e, Operand::f32(LN_2[1]));
    let tail = r.fma(square, h, low);
    let y = r.add(tail, f);
    r.fma(e, Operand::f32(LN_2[0]), y)
}

/// Infinity and NaN of `x` stay; `u = 0` gives minus infinity, below NaN.
fn edges(r: &mut Real, x: Operand, u: Operand, y: Operand) -> Operand {
    let finite = r.less(x, Operand::f32(f32::INFINITY));
    let y = r.select(finite, y, x);
    let at_zero = r.equal(u, Operand::f32(0.0));
    let outside = r.select(at_zero, Operand::f32(f32::NEG_INFINITY), Operand::f32(f32::NAN));
    let inside = r.code.compare(
        tegula_isa_ptx::modifiers::Compare::Gt,
        tegula_isa_ptx::types::CompareType::F32,
        u,
        Operand::f32(0.0),
    );
    let y = r.select(inside, y, outside);
    // NaN is not below infinity, and not above 0.
    let number = r.equal(x, x);
    r.select(number, y, x)
}

/// Below 1 an odd polynomial; above, `1 - q^4` where `q` approximates the fourth root of `erfc`: near 1 the complement
/// is small, so that the errors of `q` count little, and no exponential is needed.
pub(super) fn erf(r: &mut Real, x: Operand) -> Operand {
    let (a, sign, one) = (r.abs(x), r.sign(x), r.k(1.0));
    let t = r.mul(a, a);
    let q = r.horner(&ERF, t);
    let near = r.fma(a, q, a);

    let u = r.at_most(ERF_ONE, a);
    let u = r.sub(u, one);
    let q = r.horner(&ERFC_ROOT, u);
    let square = r.mul(q, q);
    let minus = r.neg(square);
    let far = r.fma(minus, square, one);

    let is_near = r.less(a, one);
    let y = r.select(is_near, near, far);
    r.or(y, sign)
}
