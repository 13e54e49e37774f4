//! The error function on `f32` lanes.
//!
//! Method: below 1 an odd polynomial; above, `1 - q^4` where `q` approximates the fourth root of `erfc`: near 1
//! the complement is small, so that the errors of `q` count little, and no exponential is needed.

use super::real::Real;
use crate::schedule::{Builder, VecOp};
use tegula_ir::Value;
use tegula_target::coefficients::{ERF, ERFC_ROOT};

/// From here on `erfc`, with the error of its approximation, is below half an ulp of 1.
const ERF_ONE: f32 = 4.1;

pub(super) fn erf(b: &mut Builder, x: Value) -> Value {
    let r = &mut Real::new(b, x);
    let (a, sign, one) = (r.abs(x), r.sign(x), r.k(1.0));
    let t = r.mul(a, a);
    let q = r.horner(&ERF, t);
    let near = r.fma(a, q, a);

    let u = r.at_most(ERF_ONE, a);
    let u = r.sub(u, one);
    let q = r.horner(&ERFC_ROOT, u);
    let square = r.mul(q, q);
    let far = r.fnma(square, square, one);

    let is_near = r.less(a, one);
    let y = r.select(is_near, near, far);
    r.op(VecOp::Or, y, sign)
}
