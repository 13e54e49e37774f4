//! Functions computed in `f64` and rounded once: powers, hyperbolic functions, inverse functions of both kinds.
//!
//! Method: `exp` and `log` of [`Double`]; the arc tangent by one step of the addition theorem and a series. Where a
//! formula cancels next to zero, the first terms of its series stand there; the inputs have at most 24 bits.

use super::double::Double;
use std::f64::consts::{FRAC_PI_2, PI};
use tegula_ir::ScalarOp;
use tegula_isa_ptx::Operand;
use tegula_isa_ptx::modifiers::Compare;

/// Below, two terms of a series are exact to 2^-45.
const SMALL: f64 = 1.0 / 4096.0;

/// Whether the op is computed here for floats of at most 32 bits.
pub(super) fn has(op: ScalarOp) -> bool {
    use ScalarOp::*;
    matches!(op, Pow | Atan2 | Asin | Acos | Atan | Sinh | Cosh | Asinh | Acosh | Atanh)
}

/// The op on `f64`s that hold narrower numbers; not yet rounded.
pub(super) fn apply(r: &mut Double, op: ScalarOp, args: &[Operand]) -> Operand {
    let x = args[0];
    let one = Operand::f64(1.0);
    match op {
        ScalarOp::Pow => pow(r, x, args[1]),
        ScalarOp::Atan2 => atan2(r, x, args[1]),
        ScalarOp::Atan => atan2(r, x, one),
        ScalarOp::Asin => {
            let side = other_side(r, x);
            atan2(r, x, side)
        }
        ScalarOp::Acos => {
            let side = other_side(r, x);
            atan2(r, side, x)
        }
        ScalarOp::Sinh => {
            let (e, inverse) = two_exponentials(r, x);
            let far = r.sub(e, inverse);
            odd(r, x, far, 1.0 / 6.0)
        }
        ScalarOp::Cosh => {
            let (e, inverse) = two_exponentials(r, x);
            r.add(e, inverse)
        }
        ScalarOp::Asinh => {
            let a = r.abs(x);
            let square = r.fma(a, a, one);
            let root = r.sqrt(square);
            let sum = r.add(a, root);
            let far = r.log(sum);
            odd(r, x, far, -1.0 / 6.0)
        }
        ScalarOp::Acosh => {
            let square = r.fma(x, x, Operand::f64(-1.0));
            let root = r.sqrt(square);
            let sum = r.add(x, root);
            let log = r.log(sum);
            let below = r.less(x, one);
            r.select(below, Operand::f64(f64::NAN), log)
        }
        ScalarOp::Atanh => {
            let a = r.abs(x);
            let (top, bottom) = (r.add(one, a), r.sub(one, a));
            let ratio = r.div(top, bottom);
            let log = r.log(ratio);
            let far = r.mul(log, Operand::f64(0.5));
            odd(r, x, far, 1.0 / 3.0)
        }
        other => unreachable!("invariant: `has` leaves out `{other}`"),
    }
}

/// `x + cubic x^3` next to zero, else `far` with the sign of `x`.
fn odd(r: &mut Double, x: Operand, far: Operand, cubic: f64) -> Operand {
    let square = r.mul(x, x);
    let cube = r.mul(square, x);
    let near = r.fma(cube, Operand::f64(cubic), x);
    // Where the cube is 0, adding it would lose the sign of -0.
    let near = r.signed(near, x);
    let far = r.signed(far, x);
    let a = r.abs(x);
    let small = r.less(a, Operand::f64(SMALL));
    r.select(small, near, far)
}

/// `sqrt(1 - x^2)`; NaN beyond 1.
fn other_side(r: &mut Double, x: Operand) -> Operand {
    let one = Operand::f64(1.0);
    let (above, below) = (r.add(one, x), r.sub(one, x));
    let product = r.mul(above, below);
    r.sqrt(product)
}

/// Half of `exp |x|` and of `exp -|x|`.
fn two_exponentials(r: &mut Double, x: Operand) -> (Operand, Operand) {
    let a = r.abs(x);
    let e = r.exp(a);
    let inverse = r.div(Operand::f64(0.5), e);
    (r.mul(e, Operand::f64(0.5)), inverse)
}

/// The angle of the point `(x, y)`.
pub(super) fn atan2(r: &mut Double, y: Operand, x: Operand) -> Operand {
    let (height, width) = (r.abs(y), r.abs(x));
    let flat = r.less(height, width);
    let small = r.select(flat, height, width);
    let large = r.select(flat, width, height);
    let ratio = r.div(small, large);
    // Equal sides make 1 even where both are infinite, and 0 where both are 0.
    let zero = r.equal(large, Operand::f64(0.0));
    let of_equal = r.select(zero, Operand::f64(0.0), Operand::f64(1.0));
    let equal = r.equal(small, large);
    let ratio = r.select(equal, of_equal, ratio);
    let angle = atan_of_unit(r, ratio);
    let other = r.sub(Operand::f64(FRAC_PI_2), angle);
    let steep = r.less(width, height);
    let angle = r.select(steep, other, angle);
    let behind = r.is_negative(x);
    let other = r.sub(Operand::f64(PI), angle);
    let angle = r.select(behind, other, angle);
    r.signed(angle, y)
}

/// Of a number from 0 to 1: the angle of the nearest `c = k/4`, and of `(x - c) / (1 + c x)` by its series.
fn atan_of_unit(r: &mut Double, x: Operand) -> Operand {
    let (k, _) = r.nearest(x, 4.0);
    let c = r.mul(k, Operand::f64(0.25));
    let (top, bottom) = (r.sub(x, c), r.fma(c, x, Operand::f64(1.0)));
    let t = r.div(top, bottom);
    let square = r.mul(t, t);
    let series = r.horner(&ATAN, square);
    let cube = r.mul(t, square);
    let rest = r.fma(cube, series, t);
    let mut start = Operand::f64(0.0);
    for k in 1..=4 {
        let p = r.equal(c, Operand::f64(f64::from(k) / 4.0));
        start = r.select(p, Operand::f64((f64::from(k) / 4.0).atan()), start);
    }
    r.add(start, rest)
}

/// `(-1)^(k+1) / (2 k + 3)`; the rest is below 2^-57 for t <= 1/8.
const ATAN: [f64; 9] = {
    let mut series = [0.0; 9];
    let mut k = 0;
    while k < series.len() {
        series[k] = (if k % 2 == 0 { -1.0 } else { 1.0 }) / (2 * k + 3) as f64;
        k += 1;
    }
    series
};

/// `exp(y log |x|)`, negative where `x` is and `y` is odd.
fn pow(r: &mut Double, x: Operand, y: Operand) -> Operand {
    let one = Operand::f64(1.0);
    let a = r.abs(x);
    let log = r.log(a);
    let product = r.mul(y, log);
    let power = r.exp(product);
    // `0 * inf` where the base is 1 or -1.
    let unit = r.equal(a, one);
    let power = r.select(unit, one, power);

    let whole = r.trunc(y);
    let is_whole = r.equal(whole, y);
    let half = r.mul(y, Operand::f64(0.5));
    let half_whole = r.trunc(half);
    let is_even = r.equal(half_whole, half);
    let minus = r.neg(power);
    let of_negative = r.select(is_even, power, minus);
    // A power that is no whole number is one of zero and of infinity only.
    let positive = r.compare(Compare::Gt, a, Operand::f64(0.0));
    let inside = r.less(a, Operand::f64(f64::INFINITY));
    let broken = r.select(inside, Operand::f64(f64::NAN), power);
    let broken = r.select(positive, broken, power);
    let of_negative = r.select(is_whole, of_negative, broken);
    let negative = r.is_negative(x);
    let result = r.select(negative, of_negative, power);

    // NaN to the power of 0, and 1 to that of NaN, are 1; NaN otherwise.
    let nan = r.compare(Compare::Nan, x, y);
    let result = r.select(nan, Operand::f64(f64::NAN), result);
    let no_factor = r.equal(y, Operand::f64(0.0));
    let result = r.select(no_factor, one, result);
    let is_one = r.equal(x, one);
    r.select(is_one, one, result)
}
