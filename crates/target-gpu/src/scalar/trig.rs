//! `sin`, `cos` and `tan` on `f32`.
//!
//! Method: `|x| = n pi/2 + r` with pi/2 in three parts (Cody and Waite); the first step is exact for `n < 2^17`, the
//! fused second rounds once. Beyond [`LIMIT`] the fraction of `|x| 2/pi` is taken from 96 bits of an integer product
//! with the bits of 2/pi that matter (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983).

use super::double::Double;
use super::exp::ROUNDER;
use super::real::Real;
use crate::code::{Branch, Item};
use std::f32::consts::FRAC_2_PI;
use std::f64::consts;
use tegula_base::DType;
use tegula_isa_ptx::modifiers::{Compare, ConvertRound, MulPart, Round};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg, RegClass};
use tegula_tiling::coefficients::{COS, PI_2, SIN};

/// Up to here the short reduction is good to the last bits.
const LIMIT: f32 = 1e5;

/// 2/pi by words, the highest first; behind two bits of 0.
const TWO_OVER_PI: [u32; 7] =
    [0x28be_60db, 0x9391_054a, 0x7f09_d5f4, 0x7d4d_3770, 0x36d8_a566, 0x4f10_e410, 0x7f94_58ea];

pub(super) fn sin(r: &mut Real, x: Operand) -> Operand {
    let (a, sign) = (r.abs(x), r.sign(x));
    let (quadrant, rest) = reduce(r, a);
    let y = of_quadrant(r, quadrant, rest);
    r.xor(y, sign)
}

/// The sine one quadrant on.
pub(super) fn cos(r: &mut Real, x: Operand) -> Operand {
    let a = r.abs(x);
    let (quadrant, rest) = reduce(r, a);
    let quadrant = r.int_add(quadrant, Operand::i32(1));
    of_quadrant(r, quadrant, rest)
}

/// In `f64`, not yet rounded: the quotient of sine and cosine by their series.
pub(super) fn tan(r: &mut Real, x: Operand) -> Operand {
    let a = r.abs(x);
    let (quadrant, rest) = reduce_double(r, a);
    let odd = r.and(quadrant, 1);
    let is_even = r.code.compare(Compare::Eq, CompareType::S32, odd, Operand::i32(0));
    let wide = super::cast::cast(r.code, DType::F32, DType::F64, false, x);
    let r = &mut Double::new(r.code);
    let t = r.mul(rest, rest);
    let cube = r.mul(rest, t);
    let sine = r.horner(&SIN_SERIES, t);
    let sine = r.fma(cube, sine, rest);
    let cosine = r.horner(&COS_SERIES, t);
    let minus = r.neg(cosine);
    let (top, bottom) = (r.select(is_even, sine, minus), r.select(is_even, cosine, sine));
    let y = r.div(top, bottom);
    // The angle was that of the magnitude.
    let unit = r.signed(Operand::f64(1.0), wide);
    r.mul(y, unit)
}

/// `(-1)^(k+1) / (2 k + 3)!`, for sines, and `(-1)^k / (2 k)!`; the rest is below 2^-40 for t <= (pi/4)^2.
const SIN_SERIES: [f64; 6] = alternating(-1.0 / 6.0, 3);
const COS_SERIES: [f64; 8] = alternating(1.0, 0);

/// A series whose term after `x^power` has `(power + 1) (power + 2)` times its divisor and the other sign.
const fn alternating<const N: usize>(first: f64, power: usize) -> [f64; N] {
    let mut series = [first; N];
    let mut k = 1;
    while k < N {
        let last = power + 2 * k;
        series[k] = -series[k - 1] / ((last - 1) * last) as f64;
        k += 1;
    }
    series
}

/// As [`reduce`], with what is left in `f64`.
fn reduce_double(r: &mut Real, a: Operand) -> (Operand, Operand) {
    let wide = super::cast::cast(r.code, DType::F32, DType::F64, false, a);
    let near = &mut Double::new(r.code);
    let (n, bits) = near.nearest(wide, consts::FRAC_2_PI);
    let rest = near.fma(n, Operand::f64(-consts::FRAC_PI_2), wide);
    let rest = near.fma(n, Operand::f64(-PI_2_REST), rest);
    let (quadrant, left) = (r.code.b32(), r.code.b64());
    let bits = r.code.in_reg(RegClass::B64, bits);
    r.code.emit(Cvt {
        to: ConvertType::U32,
        from: ConvertType::U64,
        d: quadrant,
        a: bits,
        ..Default::default()
    });
    r.code.copy_to(left, rest);
    if_far(r, a, |r| {
        let (q, angle) = far_angle(r, a);
        r.code.copy_to(quadrant, q.into());
        let finite = r.less(a, Operand::f32(f32::INFINITY));
        let angle = r.code.select64(finite, angle.into(), Operand::f64(f64::NAN));
        r.code.copy_to(left, angle);
    });
    (quadrant.into(), left.into())
}

/// pi/2 beyond its `f64`.
const PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// Code for numbers beyond [`LIMIT`].
fn if_far(r: &mut Real, a: Operand, code: impl FnOnce(&mut Real)) {
    let far = r.code.compare(Compare::Ge, CompareType::F32, a, Operand::f32(LIMIT));
    let level = r.code.level();
    r.code.open();
    code(r);
    let then = r.code.close(level);
    r.code.push(Item::Branch(Box::new(Branch { condition: far.into(), then, other: Vec::new() })));
}

/// The quadrant of `a` (in the low bits) and what is left, within pi/4 of 0. Infinity leaves NaN.
fn reduce(r: &mut Real, a: Operand) -> (Operand, Operand) {
    let rounder = r.k(ROUNDER);
    let shifted = r.fma(a, Operand::f32(FRAC_2_PI), rounder);
    let n = r.sub(shifted, rounder);
    let mut rest = a;
    for part in PI_2 {
        rest = r.fnma(part, n, rest);
    }
    let (quadrant, left) = (r.code.b32(), r.code.b32());
    r.code.copy_to(quadrant, shifted);
    r.code.copy_to(left, rest);
    if_far(r, a, |r| {
        let (q, angle) = far_angle(r, a);
        r.code.copy_to(quadrant, q.into());
        let rest = super::cast::cast(r.code, DType::F64, DType::F32, false, angle.into());
        let finite = r.less(a, Operand::f32(f32::INFINITY));
        let rest = r.select(finite, rest, Operand::f32(f32::NAN));
        r.code.copy_to(left, rest);
    });
    (quadrant.into(), left.into())
}

/// Quadrant and rest, an `f64` good to 2^-62, of a large number.
fn far_angle(r: &mut Real, a: Operand) -> (Reg, Reg) {
    let exponent = r.shr(a, 23);
    let exponent = r.int_sub(exponent, Operand::i32(126));
    let mantissa = r.shl(a, 8);
    let mantissa = r.or(mantissa, Operand::u32(0x8000_0000));
    let (word, by) = (r.shr(exponent, 5), r.and(exponent, 31));
    // The words from `word - 1` on; `LIMIT` is above 2^16, `word` 0 to 4.
    let mut words = [Operand::u32(0); 4];
    for (i, slot) in words.iter_mut().enumerate() {
        let mut value = Operand::u32(if i == 0 { 0 } else { TWO_OVER_PI[i - 1] });
        for w in 1..5 {
            let p = r.code.compare(Compare::Eq, CompareType::S32, word, Operand::u32(w));
            value = r.select(p, Operand::u32(TWO_OVER_PI[w as usize + i - 1]), value);
        }
        *slot = value;
    }
    let [hi, mid, lo] = [0, 1, 2].map(|i| funnel(r, words[i + 1], words[i], by));
    let low = wide_mul(r, mantissa, lo);
    let carry = high_word(r, low);
    let middle = r.code.b64();
    r.code.emit(MadWide { ty: NarrowInt::U32, d: middle, a: mantissa, b: mid, c: carry });
    let top = r.code.b32();
    r.code.emit(Mul { part: MulPart::Lo, ty: IntType::U32, d: top, a: mantissa, b: hi });
    let top = shifted_high(r, top);
    let product = r.code.add64(middle.into(), top);
    // Two bits of quadrant, then the fraction, rounded to the nearest quadrant.
    let (upper, q) = (r.code.b64(), r.code.b32());
    let half = r.code.add64(product, Operand::i64(1 << 61));
    r.code.emit(Shr { ty: ShiftRightType::U64, d: upper, a: half, b: Operand::u32(62) });
    r.code.emit(Cvt { to: ConvertType::U32, from: ConvertType::U64, d: q, a: upper, ..Default::default() });
    let (whole, fraction) = (r.code.b64(), r.code.b64());
    r.code.emit(Shl { ty: BitsType::B64, d: whole, a: upper.into(), b: Operand::u32(62) });
    r.code.emit(Sub { ty: IntType::S64, d: fraction, a: product, b: whole.into(), ..Default::default() });
    let (wide, angle) = (r.code.b64(), r.code.b64());
    let rn = Some(ConvertRound::Rn);
    r.code.emit(Cvt {
        round: rn,
        to: ConvertType::F64,
        from: ConvertType::S64,
        d: wide,
        a: fraction,
        ..Default::default()
    });
    let unit = Operand::f64(consts::FRAC_PI_2 * 2f64.powi(-62));
    r.code.emit(FMul {
        round: Some(Round::Rn),
        ty: FloatType::F64,
        d: angle,
        a: wide.into(),
        b: unit,
        ..Default::default()
    });
    (q, angle)
}

fn funnel(r: &mut Real, lo: Operand, hi: Operand, by: Operand) -> Operand {
    let d = r.code.b32();
    r.code.emit(Shf { d, lo, hi, by, ..Default::default() });
    d.into()
}

fn wide_mul(r: &mut Real, a: Operand, b: Operand) -> Reg {
    let d = r.code.b64();
    r.code.emit(MulWide { ty: NarrowInt::U32, d, a, b });
    d
}

fn high_word(r: &mut Real, a: Reg) -> Operand {
    let d = r.code.b64();
    r.code.emit(Shr { ty: ShiftRightType::U64, d, a: a.into(), b: Operand::u32(32) });
    d.into()
}

fn shifted_high(r: &mut Real, a: Reg) -> Operand {
    let wide = r.code.widen(a.into());
    let d = r.code.b64();
    r.code.emit(Shl { ty: BitsType::B64, d, a: wide, b: Operand::u32(32) });
    d.into()
}

/// The sine of `quadrant` quarter turns and `rest`: odd quadrants take the cosine, the third and fourth are negative.
fn of_quadrant(r: &mut Real, quadrant: Operand, rest: Operand) -> Operand {
    let t = r.mul(rest, rest);
    let q = r.horner(&SIN, t);
    let cube = r.mul(rest, t);
    let sine = r.fma(cube, q, rest);

    let q = r.horner(&COS, t);
    let one = r.k(1.0);
    let head = r.fnma(0.5, t, one);
    let square = r.mul(t, t);
    let cosine = r.fma(square, q, head);

    let odd = r.and(quadrant, 1);
    let is_even = r.code.compare(Compare::Eq, CompareType::S32, odd, Operand::i32(0));
    let y = r.select(is_even, sine, cosine);
    let negative = r.and(quadrant, 2);
    let sign = r.shl(negative, 30);
    r.xor(y, sign)
}
