//! Functions of `f32` that no ALU has, from those that it has.
//!
//! `exp2`, `log2`, `rsqrt`, `rcp` and `tanh` of the ALUs are correctly rounded.

use super::alu::{Arg, Chain, float, int};
use tegula_isa_lpu::word::{AluOp, Element};
use tegula_tiling::coefficients::{ERF, ERFC_ROOT};

/// `log2(e)` in two parts, and `ln(2)`.
const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LOG2_E_REST: f32 = (std::f64::consts::LOG2_E - LOG2_E as f64) as f32;
/// Beyond these `exp` is infinite, or 0.
const EXP_MOST: f32 = 130.0;
const EXP_LEAST: f32 = -160.0;
/// From here on `erf` rounds to 1.
const ERF_ONE: f32 = 4.1;
/// All floats from here on are whole.
const ALL_WHOLE: f32 = 8_388_608.0;
const SIGN: i32 = i32::MIN;

impl Chain<'_, '_> {
    fn special(&mut self, op: AluOp, x: &Arg) -> Arg {
        self.alu(op, &[x])
    }

    pub(super) fn neg(&mut self, x: &Arg) -> Arg {
        self.xor(x, &int(SIGN))
    }

    pub(super) fn abs(&mut self, x: &Arg) -> Arg {
        self.and(x, &int(i32::MAX))
    }

    fn sign(&mut self, x: &Arg) -> Arg {
        self.and(x, &int(SIGN))
    }

    pub(super) fn reciprocal(&mut self, x: &Arg) -> Arg {
        self.special(AluOp::Rcp, x)
    }

    pub(super) fn rsqrt(&mut self, x: &Arg) -> Arg {
        self.special(AluOp::Rsqrt, x)
    }

    pub(super) fn tanh(&mut self, x: &Arg) -> Arg {
        self.special(AluOp::Tanh, x)
    }

    /// `a / b`: a product with the reciprocal, and one step of Markstein's correction (IBM J. Res. Dev. 34, 1990), which
    /// rounds correctly. Where that has no number (infinite operands, or 0), the product is right.
    pub(super) fn div(&mut self, a: &Arg, b: &Arg) -> Arg {
        let y = self.reciprocal(b);
        let q = self.mul(a, &y);
        let rest = match b {
            Arg::Immediate(bits) => self.fma(&q, &float(-f32::from_bits(*bits)), a),
            Arg::Vector(_) => {
                let minus = self.neg(&q);
                self.fma(&minus, b, a)
            }
        };
        let corrected = self.fma(&rest, &y, &q);
        let is_number = self.equal(&corrected, &corrected);
        self.select(&is_number, &corrected, &q)
    }

    /// Likewise, of a finite number by a known one; their quotient is no subnormal, or is 0.
    pub(super) fn finite_div(&mut self, a: &Arg, b: f32) -> Arg {
        let y = float(1.0 / b);
        let q = self.mul(a, &y);
        let rest = self.fma(&q, &float(-b), a);
        self.fma(&rest, &y, &q)
    }

    /// `x * rsqrt(x)`, corrected by one step of Newton's method; 0 and infinity stay.
    pub(super) fn sqrt(&mut self, x: &Arg) -> Arg {
        let y = self.rsqrt(x);
        let root = self.mul(x, &y);
        let minus = self.neg(&root);
        let rest = self.fma(&minus, &root, x);
        let half = self.mul(&y, &float(0.5));
        let corrected = self.fma(&rest, &half, &root);
        let doubled = self.add(x, x);
        // 0 and infinity are their own doubles; the root of -infinity is no number.
        let size = self.abs(x);
        let stays = self.equal(&doubled, &size);
        self.select(&stays, x, &corrected)
    }

    /// `2^(x log2(e))`; what the product loses comes back as a factor near 1.
    pub(super) fn exp(&mut self, x: &Arg) -> Arg {
        let x = self.alu(AluOp::Min(tegula_isa_lpu::word::Number::F32), &[x, &float(EXP_MOST)]);
        let x = self.alu(AluOp::Max(tegula_isa_lpu::word::Number::F32), &[&x, &float(EXP_LEAST)]);
        let y = self.mul(&x, &float(LOG2_E));
        let minus = self.neg(&y);
        let lost = self.fma(&x, &float(LOG2_E), &minus);
        let lost = self.fma(&x, &float(LOG2_E_REST), &lost);
        let power = self.special(AluOp::Exp2, &y);
        let lost = self.mul(&lost, &float(std::f32::consts::LN_2));
        let corrected = self.fma(&power, &lost, &power);
        let is_finite = self.less(&y, &float(128.0));
        let result = self.select(&is_finite, &corrected, &power);
        // NaN stays.
        let is_number = self.equal(&x, &x);
        self.select(&is_number, &result, &x)
    }

    pub(super) fn log(&mut self, x: &Arg) -> Arg {
        let y = self.special(AluOp::Log2, x);
        self.mul(&y, &float(std::f32::consts::LN_2))
    }

    pub(super) fn sigmoid(&mut self, x: &Arg) -> Arg {
        let minus = self.neg(x);
        let power = self.exp(&minus);
        let sum = self.add(&power, &float(1.0));
        self.reciprocal(&sum)
    }

    fn horner(&mut self, coefficients: &[f32], x: &Arg) -> Arg {
        let (last, rest) = coefficients.split_last().map_or((0.0, &[][..]), |(last, rest)| (*last, rest));
        let mut y = float(last);
        for coefficient in rest.iter().rev() {
            y = self.fma(&y, x, &float(*coefficient));
        }
        y
    }

    /// Below 1 an odd polynomial; above, `1 - q^4` where `q` approximates the fourth root of `erfc`.
    pub(super) fn erf(&mut self, x: &Arg) -> Arg {
        let (a, sign) = (self.abs(x), self.sign(x));
        let t = self.mul(&a, &a);
        let q = self.horner(&ERF, &t);
        let near = self.fma(&a, &q, &a);
        let u = self.alu(AluOp::Min(tegula_isa_lpu::word::Number::F32), &[&a, &float(ERF_ONE)]);
        let u = self.add(&u, &float(-1.0));
        let q = self.horner(&ERFC_ROOT, &u);
        let square = self.mul(&q, &q);
        let minus = self.neg(&square);
        let far = self.fma(&minus, &square, &float(1.0));
        let is_near = self.less(&a, &float(1.0));
        let y = self.select(&is_near, &near, &far);
        self.or(&y, &sign)
    }

    /// To the nearest whole number, ties to even; 0 keeps its sign, what is large or NaN stays.
    pub(super) fn round(&mut self, x: &Arg) -> Arg {
        let whole = self.cast(x, Element::F32, Element::I32);
        let rounded = self.cast(&whole, Element::I32, Element::F32);
        let sign = self.sign(x);
        let rounded = self.or(&rounded, &sign);
        let size = self.abs(x);
        let is_small = self.less(&size, &float(ALL_WHOLE));
        self.select(&is_small, &rounded, x)
    }

    pub(super) fn floor(&mut self, x: &Arg) -> Arg {
        let rounded = self.round(x);
        let is_above = self.less(x, &rounded);
        let step = self.cast(&is_above, Element::I32, Element::F32);
        self.sub(&rounded, &step)
    }

    pub(super) fn ceil(&mut self, x: &Arg) -> Arg {
        let minus = self.neg(x);
        let floor = self.floor(&minus);
        self.neg(&floor)
    }

    pub(super) fn trunc(&mut self, x: &Arg) -> Arg {
        let (size, sign) = (self.abs(x), self.sign(x));
        let floor = self.floor(&size);
        self.or(&floor, &sign)
    }
}
