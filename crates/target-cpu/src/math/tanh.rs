//! The hyperbolic tangent on `f32` lanes.
//!
//! Method, in whole AVX-512 registers: pieces of `x`, four to each doubling of `x + 1`, so that bits of that sum are a
//! piece's place; on each a polynomial around its middle whose coefficients one permutation each looks up. In narrower
//! registers a table takes more look-ups than they save: near zero an odd polynomial; beyond, `1 - 2 / (exp(2|x|) + 1)`.

use super::exp::{exp_near_zero, reduce, split};
use super::real::Real;
use crate::schedule::{Builder, VecOp};
use std::f32::consts::LOG2_E;
use tegula_ir::Value;
use tegula_tiling::coefficients::{EXP, TANH, TANH_MIDDLES, TANH_PIECES};

/// From here on `1 - tanh` is below half an ulp of 1.
const TANH_ONE: f32 = 9.1;
/// Likewise of the pieces: the middle of the last one, whose polynomial gives 1 there.
const TANH_PIECES_ONE: f32 = 10.0;
/// The lowest of the bits of `x + 1` that are a piece's place: the upper two of the mantissa, the lower two of the exponent.
const PLACE_BIT: i32 = 21;

pub(super) fn tanh(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (a, sign) = (r.abs(x), r.sign(x));
    let y = if r.lanes as usize == TANH_MIDDLES.len() { piecewise(r, a) } else { by_exp(r, a) };
    r.op(VecOp::Or, y, sign)
}

fn piecewise(r: &mut Real, a: Value) -> Value {
    let a = r.at_most(TANH_PIECES_ONE, a);
    let one = r.k(1.0);
    let sum = r.add(a, one);
    let bits = r.as_int(sum);
    let place = r.sar(bits, PLACE_BIT);
    let middle = r.b.tabulated(&TANH_MIDDLES, place);
    // Exact: 0, or within a factor of 2 of `a`.
    let d = r.sub(a, middle);
    r.tabulated_polynomial(&TANH_PIECES, d, place)
}

fn by_exp(r: &mut Real, a: Value) -> Value {
    let t = r.mul(a, a);
    let q = r.horner(&TANH, t);
    let cube = r.mul(a, t);
    let near = r.fma(cube, q, a);

    let (one, two) = (r.k(1.0), r.k(2.0));
    let y = r.at_most(TANH_ONE, a);
    let y = r.add(y, y);
    let (n, scale) = split(r, y, LOG2_E, 0);
    let rest = reduce(r, y, n);
    let p = exp_near_zero(r, &EXP, rest);
    let bottom = r.fma(p, scale, one);
    let gap = r.div(two, bottom);
    let far = r.sub(one, gap);

    let limit = r.k(0.65);
    let is_near = r.less(a, limit);
    r.select(is_near, near, far)
}
