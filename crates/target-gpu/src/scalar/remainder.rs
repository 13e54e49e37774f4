//! Remainders of floats, in `f64`: exact for every pair of numbers.
//!
//! Method: while `a >= b`, `a -= q b 2^d` where `q = floor(a / (b 2^d)) < 2^52`. A quotient rounded towards zero has
//! the floor's digits; the rest is a multiple of the last place of `b 2^d` and less than it, so that the fused
//! multiply-add is exact. Each round takes 51 bits off the quotient; one is enough below 2^51.

use super::double::Double;
use crate::code::{Item, Loop};
use tegula_isa_ptx::Operand;
use tegula_isa_ptx::modifiers::{Compare, DivRound};

/// With the sign of the dividend (`fmod`).
pub(super) fn rem(r: &mut Double, x: Operand, y: Operand) -> Operand {
    let (a, b) = (r.abs(x), r.abs(y));
    // Infinity has no remainder, zero gives none.
    let finite = r.less(a, Operand::f64(f64::INFINITY));
    let a = r.select(finite, a, Operand::f64(f64::NAN));
    let divides = r.compare(Compare::Gt, b, Operand::f64(0.0));
    let a = r.select(divides, a, Operand::f64(f64::NAN));
    // Denormal divisors get an exponent of their own.
    let tiny = r.less(b, Operand::f64(f64::MIN_POSITIVE));
    let lifted = r.mul(b, Operand::f64(2f64.powi(54)));
    let normal = r.select(tiny, lifted, b);
    let lift = r.select(tiny, Operand::i64(54 - 51), Operand::i64(-51));
    let exponent = r.exponent(normal);
    let least = r.int_sub(exponent, lift);

    let rest = r.code.b64();
    r.code.copy_to(rest, a);
    let level = r.code.level();
    r.code.open();
    let go_on = r.compare(Compare::Ge, rest.into(), b);
    let head = r.code.close(level);
    r.code.open();
    let exponent = r.exponent(rest.into());
    let up = r.int_sub(exponent, least);
    let above = r.code.compare64(Compare::Gt, up, Operand::i64(0));
    let up = r.select(above, up, Operand::i64(0));
    let divisor = r.scale(b, up);
    let quotient = r.quotient(DivRound::Rz, rest.into(), divisor);
    let quotient = r.trunc(quotient);
    let minus = r.neg(quotient);
    let left = r.fma(minus, divisor, rest.into());
    r.code.copy_to(rest, left);
    let body = r.code.close(level);
    r.code.push(Item::Loop(Box::new(Loop { head, go_on: go_on.into(), body })));
    r.signed(rest.into(), x)
}

/// With the sign of the divisor, also on zero (Python's `%`).
pub(super) fn modulo(r: &mut Double, x: Operand, y: Operand) -> Operand {
    let zero = Operand::f64(0.0);
    let rest = rem(r, x, y);
    let sum = r.add(rest, y);
    // The magnitudes are less than the divisor's: a product of signs that is negative tells the sides apart.
    let sign = r.signed(Operand::f64(1.0), y);
    let product = r.mul(rest, sign);
    let other_side = r.less(product, zero);
    let result = r.select(other_side, sum, rest);
    let none = r.equal(rest, zero);
    let signed_zero = r.signed(zero, y);
    r.select(none, signed_zero, result)
}
