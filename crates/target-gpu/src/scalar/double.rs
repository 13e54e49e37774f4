//! A short hand for arithmetic on `f64`, and `exp` and `log` on it.
//!
//! Functions that models seldom call are computed here and rounded once: 53 bits leave so much room that no step needs
//! care for `f32`. The GPUs that run inference have half as many units for `f64` as for `f32`, or few.
//! Their series are those of Taylor, whose coefficients need no table.

use crate::code::Code;
use std::f64::consts::LOG2_E;
use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg, RegClass};

/// 1.5 * 2^52: added to a number below 2^51, it rounds it to an integer that stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// ln 2: 33 bits, so that products with exponents are exact, and the rest.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Bits of the exponent's place.
const FRACTION: u32 = 52;
const BIAS: i64 = 1023;

pub(super) struct Double<'a> {
    pub code: &'a mut Code,
}

impl<'a> Double<'a> {
    pub fn new(code: &'a mut Code) -> Double<'a> {
        Double { code }
    }

    fn made(&mut self, make: impl FnOnce(Reg) -> Op) -> Operand {
        let d = self.code.b64();
        let op = make(d);
        self.code.emit(op);
        d.into()
    }

    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        let (round, ty) = (Some(Round::Rn), FloatType::F64);
        self.made(|d| FAdd { round, ty, d, a, b, ..Default::default() }.into())
    }

    pub fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        let (round, ty) = (Some(Round::Rn), FloatType::F64);
        self.made(|d| FSub { round, ty, d, a, b, ..Default::default() }.into())
    }

    pub fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        let (round, ty) = (Some(Round::Rn), FloatType::F64);
        self.made(|d| FMul { round, ty, d, a, b, ..Default::default() }.into())
    }

    pub fn div(&mut self, a: Operand, b: Operand) -> Operand {
        self.quotient(DivRound::Rn, a, b)
    }

    pub fn quotient(&mut self, round: DivRound, a: Operand, b: Operand) -> Operand {
        self.made(|d| FDiv { round, ty: Float32Or64::F64, d, a, b, ..Default::default() }.into())
    }

    /// `a * b + c`.
    pub fn fma(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        self.made(|d| Fma { round: Round::Rn, ty: FloatType::F64, d, a, b, c, ..Default::default() }.into())
    }

    pub fn sqrt(&mut self, a: Operand) -> Operand {
        let (round, ty) = (ApproxRound::Rn, Float32Or64::F64);
        self.made(|d| Sqrt { round, ty, d, a, ..Default::default() }.into())
    }

    pub fn trunc(&mut self, a: Operand) -> Operand {
        let (round, a) = (Some(ConvertRound::Rzi), self.code.in_reg(RegClass::B64, a));
        let (to, from) = (ConvertType::F64, ConvertType::F64);
        self.made(|d| Cvt { round, to, from, d, a, ..Default::default() }.into())
    }

    /// The polynomial with these coefficients from the constant term up, by Horner's rule.
    pub fn horner(&mut self, coefficients: &[f64], x: Operand) -> Operand {
        let (last, rest) = coefficients.split_last().expect("invariant: a polynomial has a coefficient");
        rest.iter().rev().fold(Operand::f64(*last), |sum, c| self.fma(x, sum, Operand::f64(*c)))
    }

    /// At least `lo`; NaN stays.
    pub fn at_least(&mut self, lo: f64, a: Operand) -> Operand {
        let below = self.less(a, Operand::f64(lo));
        self.select(below, Operand::f64(lo), a)
    }

    /// At most `hi`; NaN stays.
    pub fn at_most(&mut self, hi: f64, a: Operand) -> Operand {
        let above = self.compare(Compare::Gt, a, Operand::f64(hi));
        self.select(above, Operand::f64(hi), a)
    }

    pub fn abs(&mut self, a: Operand) -> Operand {
        self.made(|d| FAbs { ty: FloatType::F64, d, a, ..Default::default() }.into())
    }

    pub fn neg(&mut self, a: Operand) -> Operand {
        self.made(|d| FNeg { ty: FloatType::F64, d, a, ..Default::default() }.into())
    }

    /// The magnitude with the sign of `sign`.
    pub fn signed(&mut self, magnitude: Operand, sign: Operand) -> Operand {
        self.made(|d| Copysign { ty: Float32Or64::F64, d, a: sign, b: magnitude }.into())
    }

    pub fn compare(&mut self, cmp: Compare, a: Operand, b: Operand) -> Reg {
        self.code.compare(cmp, CompareType::F64, a, b)
    }

    pub fn less(&mut self, a: Operand, b: Operand) -> Reg {
        self.compare(Compare::Lt, a, b)
    }

    pub fn equal(&mut self, a: Operand, b: Operand) -> Reg {
        self.compare(Compare::Eq, a, b)
    }

    pub fn select(&mut self, p: Reg, a: Operand, b: Operand) -> Operand {
        self.code.select64(p, a, b)
    }

    /// Whether the sign bit is set.
    pub fn is_negative(&mut self, a: Operand) -> Reg {
        self.code.compare64(Compare::Lt, a, Operand::i64(0))
    }

    // --- exponents -----------------------------------------------------------------------------------------

    pub fn int_sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| Sub { ty: IntType::S64, d, a, b, ..Default::default() }.into())
    }

    /// Shifted right, filled with the sign.
    pub fn sar(&mut self, a: Operand, by: u32) -> Operand {
        self.made(|d| Shr { ty: ShiftRightType::S64, d, a, b: Operand::u32(by) }.into())
    }

    fn shl(&mut self, a: Operand, by: u32) -> Operand {
        self.made(|d| Shl { ty: BitsType::B64, d, a, b: Operand::u32(by) }.into())
    }

    /// The exponent's bits of a number that is not negative.
    pub fn exponent(&mut self, a: Operand) -> Operand {
        self.sar(a, FRACTION)
    }

    /// `2^n`, n an integer from -1022 to 1023.
    pub fn power_of_two(&mut self, n: Operand) -> Operand {
        let biased = self.code.add64(n, Operand::i64(BIAS));
        self.shl(biased, FRACTION)
    }

    /// `a 2^n` rounded once, |n| <= 2044 and `a` about 1 or the result exact.
    pub fn scale(&mut self, a: Operand, n: Operand) -> Operand {
        let half = self.sar(n, 1);
        let rest = self.int_sub(n, half);
        let (first, second) = (self.power_of_two(half), self.power_of_two(rest));
        let a = self.mul(a, first);
        self.mul(a, second)
    }

    /// The nearest integer, as a number and as bits.
    pub fn nearest(&mut self, a: Operand, factor: f64) -> (Operand, Operand) {
        let shifted = self.fma(a, Operand::f64(factor), Operand::f64(ROUNDER));
        let number = self.sub(shifted, Operand::f64(ROUNDER));
        (number, self.int_sub(shifted, Operand::f64(ROUNDER)))
    }

    // --- functions -----------------------------------------------------------------------------------------

    /// `2^n exp(r)`, |r| <= ln 2 / 2.
    pub fn exp(&mut self, x: Operand) -> Operand {
        let x = self.at_least(-746.0, x);
        let x = self.at_most(710.0, x);
        let (number, n) = self.nearest(x, LOG2_E);
        let r = self.fma(number, Operand::f64(-LN_2[0]), x);
        let r = self.fma(number, Operand::f64(-LN_2[1]), r);
        let p = self.horner(&EXP, r);
        self.scale(p, n)
    }

    /// `x = 2^e m` with `m` in `[sqrt(1/2), sqrt(2))`; `log(m) = 2 atanh(s)`, `s = f / (2 + f)`, `f = m - 1`, so summed
    /// that only what `f - f^2/2` leaves comes from the series.
    pub fn log(&mut self, x: Operand) -> Operand {
        let tiny = self.less(x, Operand::f64(f64::MIN_POSITIVE));
        let lifted = self.mul(x, Operand::f64(2f64.powi(54)));
        let normal = self.select(tiny, lifted, x);
        let lift = self.select(tiny, Operand::f64(-54.0), Operand::f64(0.0));
        let above = self.int_sub(normal, Operand::f64(std::f64::consts::FRAC_1_SQRT_2));
        let e = self.sar(above, FRACTION);
        let exponent = self.shl(e, FRACTION);
        let m = self.int_sub(normal, exponent);
        let e = self.int_to_float(e);
        let e = self.add(e, lift);

        let f = self.sub(m, Operand::f64(1.0));
        let bottom = self.add(f, Operand::f64(2.0));
        let s = self.div(f, bottom);
        let t = self.mul(s, s);
        let series = self.horner(&ATANH, t);
        let series = self.mul(t, series);
        let half = self.mul(f, Operand::f64(0.5));
        let half_square = self.mul(half, f);
        let sum = self.add(half_square, series);
        let low = self.mul(e, Operand::f64(LN_2[1]));
        let tail = self.fma(s, sum, low);
        let tail = self.sub(half_square, tail);
        let tail = self.sub(tail, f);
        let minus = self.neg(tail);
        let y = self.fma(e, Operand::f64(LN_2[0]), minus);

        // Infinity and NaN stay; below 0 there is nothing.
        let finite = self.less(x, Operand::f64(f64::INFINITY));
        let y = self.select(finite, y, x);
        let negative = self.less(x, Operand::f64(0.0));
        let y = self.select(negative, Operand::f64(f64::NAN), y);
        let zero = self.equal(x, Operand::f64(0.0));
        self.select(zero, Operand::f64(f64::NEG_INFINITY), y)
    }

    fn int_to_float(&mut self, a: Operand) -> Operand {
        let (round, a) = (Some(ConvertRound::Rn), self.code.in_reg(RegClass::B64, a));
        let (to, from) = (ConvertType::F64, ConvertType::S64);
        self.made(|d| Cvt { round, to, from, d, a, ..Default::default() }.into())
    }
}

/// 1 / k!; the rest is below 2^-57 for |r| <= ln 2 / 2.
const EXP: [f64; 14] = {
    let mut series = [1.0; 14];
    let mut k = 1;
    while k < series.len() {
        series[k] = series[k - 1] / k as f64;
        k += 1;
    }
    series
};

/// `2 / (2 k + 3)`; the rest is below 2^-56 for t <= 0.0295.
const ATANH: [f64; 10] = {
    let mut series = [0.0; 10];
    let mut k = 0;
    while k < series.len() {
        series[k] = 2.0 / (2 * k + 3) as f64;
        k += 1;
    }
    series
};
