//! The error function on `f32` lanes.
//!
//! Method, in whole AVX-512 registers: 16 pieces of equal width, on each a polynomial around its middle whose
//! coefficients one permutation each looks up. In narrower ones a table takes more look-ups than they save: below 1 an odd
//! polynomial; above, `1 - q^4` where `q` approximates the fourth root of `erfc`: near 1 the complement is small, so that
//! the errors of `q` count little, and no exponential is needed.

use super::exp::ROUNDER;
use super::real::Real;
use crate::schedule::{Builder, VecOp};
use tegula_ir::Value;
use tegula_tiling::coefficients::{ERF, ERF_PIECES, ERF_STEP, ERFC_ROOT};

/// From here on `erfc`, with the error of its approximation, is below half an ulp of 1.
const ERF_ONE: f32 = 4.1;
/// Likewise of the pieces: in the last one, whose polynomial gives 1 here.
const ERF_PIECES_ONE: f32 = 3.935;

pub(super) fn erf(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (a, sign) = (r.abs(x), r.sign(x));
    let y = if r.lanes as usize == ERF_PIECES[0].len() { piecewise(r, a) } else { by_halves(r, a) };
    r.op(VecOp::Or, y, sign)
}

/// The piece's number is `a / step` rounded, and stands in the low bits of what rounds it.
fn piecewise(r: &mut Real, a: Value) -> Value {
    let a = r.at_most(ERF_PIECES_ONE, a);
    let (per_step, step, rounder) = (r.k(1.0 / ERF_STEP), r.k(ERF_STEP), r.k(ROUNDER));
    let shifted = r.fma(a, per_step, rounder);
    let n = r.sub(shifted, rounder);
    // Exact: the step has 7 bits, the number 4.
    let d = r.fnma(n, step, a);
    let place = r.as_int(shifted);
    r.tabulated_polynomial(&ERF_PIECES, d, place)
}

fn by_halves(r: &mut Real, a: Value) -> Value {
    let one = r.k(1.0);
    let t = r.mul(a, a);
    let q = r.horner(&ERF, t);
    let near = r.fma(a, q, a);

    let u = r.at_most(ERF_ONE, a);
    let u = r.sub(u, one);
    let q = r.horner(&ERFC_ROOT, u);
    let square = r.mul(q, q);
    let far = r.fnma(square, square, one);

    let is_near = r.less(a, one);
    r.select(is_near, near, far)
}
