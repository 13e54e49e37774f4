//! A short hand for arithmetic on `f32`, and on the bits of it as 32-bit integers.
//! Sums and products carry their rounding, so that nothing fuses them.

use crate::code::Code;
use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg};

pub(super) struct Real<'a> {
    pub code: &'a mut Code,
}

impl<'a> Real<'a> {
    pub fn new(code: &'a mut Code) -> Real<'a> {
        Real { code }
    }

    fn made(&mut self, make: impl FnOnce(Reg) -> Op) -> Operand {
        let d = self.code.b32();
        let op = make(d);
        self.code.emit(op);
        d.into()
    }

    /// A constant.
    pub fn k(&self, value: f32) -> Operand {
        Operand::f32(value)
    }

    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| {
            FAdd { round: Some(Round::Rn), ty: FloatType::F32, d, a, b, ..Default::default() }.into()
        })
    }

    pub fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| {
            FSub { round: Some(Round::Rn), ty: FloatType::F32, d, a, b, ..Default::default() }.into()
        })
    }

    pub fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| {
            FMul { round: Some(Round::Rn), ty: FloatType::F32, d, a, b, ..Default::default() }.into()
        })
    }

    /// `a / b` within an ulp, for `b` whose magnitude and reciprocal are normal numbers: the unit's reciprocal, and one
    /// step by what is left.
    pub fn near_quotient(&mut self, a: Operand, b: Operand) -> Operand {
        let inverse = self
            .made(|d| Rcp { round: ApproxRound::Approx, ftz: true, ty: Float32Or64::F32, d, a: b }.into());
        let near = self.mul(a, inverse);
        let negative = self.neg(b);
        let left = self.fma(negative, near, a);
        self.fma(left, inverse, near)
    }

    /// `a * b + c`.
    pub fn fma(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        self.made(|d| Fma { round: Round::Rn, ty: FloatType::F32, d, a, b, c, ..Default::default() }.into())
    }

    /// `a * b + c`, cut to 0..1; of NaN 0.
    pub fn fma_within_one(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        self.made(|d| {
            Fma { round: Round::Rn, sat: true, ty: FloatType::F32, d, a, b, c, ..Default::default() }.into()
        })
    }

    /// `a * b + c`, rounded towards minus infinity.
    pub fn fma_down(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        self.made(|d| Fma { round: Round::Rm, ty: FloatType::F32, d, a, b, c, ..Default::default() }.into())
    }

    /// `2^a` by the special function unit; denormals are 0.
    pub fn power_of_two(&mut self, a: Operand) -> Operand {
        self.made(|d| Ex2 { ftz: true, ty: Ex2Type::F32, d, a }.into())
    }

    /// `c - k * b`.
    pub fn fnma(&mut self, k: f32, b: Operand, c: Operand) -> Operand {
        self.fma(b, Operand::f32(-k), c)
    }

    /// The polynomial with these coefficients from the constant term up, by Horner's rule.
    pub fn horner(&mut self, coefficients: &[f32], x: Operand) -> Operand {
        let (last, rest) = coefficients.split_last().expect("invariant: a polynomial has a coefficient");
        let mut sum = Operand::f32(*last);
        for c in rest.iter().rev() {
            sum = self.fma(x, sum, Operand::f32(*c));
        }
        sum
    }

    /// At least `lo`; NaN stays.
    pub fn at_least(&mut self, lo: f32, a: Operand) -> Operand {
        let b = self.k(lo);
        self.made(|d| FMax { nan: true, ty: FloatType::F32, d, a, b, ..Default::default() }.into())
    }

    /// At most `hi`; NaN stays.
    pub fn at_most(&mut self, hi: f32, a: Operand) -> Operand {
        let b = self.k(hi);
        self.made(|d| FMin { nan: true, ty: FloatType::F32, d, a, b, ..Default::default() }.into())
    }

    pub fn abs(&mut self, a: Operand) -> Operand {
        self.and(a, 0x7fff_ffff)
    }

    /// The sign bit alone.
    pub fn sign(&mut self, a: Operand) -> Operand {
        self.and(a, 0x8000_0000)
    }

    pub fn neg(&mut self, a: Operand) -> Operand {
        self.xor(a, Operand::u32(0x8000_0000))
    }

    pub fn less(&mut self, a: Operand, b: Operand) -> Reg {
        self.code.compare(Compare::Lt, CompareType::F32, a, b)
    }

    pub fn equal(&mut self, a: Operand, b: Operand) -> Reg {
        self.code.compare(Compare::Eq, CompareType::F32, a, b)
    }

    pub fn select(&mut self, p: Reg, a: Operand, b: Operand) -> Operand {
        self.made(|d| Selp { ty: SelectType::B32, d, a, b, p }.into())
    }

    // --- bits ----------------------------------------------------------------------------------------------

    pub fn and(&mut self, a: Operand, mask: u32) -> Operand {
        self.made(|d| And { ty: LogicType::B32, d, a, b: Operand::u32(mask) }.into())
    }

    pub fn or(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| Or { ty: LogicType::B32, d, a, b }.into())
    }

    pub fn xor(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| Xor { ty: LogicType::B32, d, a, b }.into())
    }

    pub fn int_add(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| Add { ty: IntType2::S32, d, a, b, ..Default::default() }.into())
    }

    pub fn int_sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(|d| Sub { ty: IntType::S32, d, a, b, ..Default::default() }.into())
    }

    pub fn int_max(&mut self, a: Operand, b: i32) -> Operand {
        self.made(|d| Max { ty: IntType2::S32, d, a, b: Operand::i32(b), ..Default::default() }.into())
    }

    pub fn shl(&mut self, a: Operand, by: u32) -> Operand {
        self.made(|d| Shl { ty: BitsType::B32, d, a, b: Operand::u32(by) }.into())
    }

    /// Fills with zeros.
    pub fn shr(&mut self, a: Operand, by: u32) -> Operand {
        self.made(|d| Shr { ty: ShiftRightType::U32, d, a, b: Operand::u32(by) }.into())
    }

    /// Fills with the sign.
    pub fn sar(&mut self, a: Operand, by: u32) -> Operand {
        self.made(|d| Shr { ty: ShiftRightType::S32, d, a, b: Operand::u32(by) }.into())
    }

    pub fn int_to_float(&mut self, a: Operand) -> Operand {
        let a = self.code.in_reg(tegula_isa_ptx::RegClass::B32, a);
        self.made(|d| {
            Cvt {
                round: Some(ConvertRound::Rn),
                to: ConvertType::F32,
                from: ConvertType::S32,
                d,
                a,
                ..Default::default()
            }
            .into()
        })
    }
}
