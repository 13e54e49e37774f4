//! A short hand for `f32` lane arithmetic: the builder with the lane count in it.

use crate::schedule::{Builder, CompareOp, ConvertOp, Elem, VecOp};
use tegula_ir::Value;

pub(super) struct Real<'a> {
    pub b: &'a mut Builder,
    pub lanes: u32,
}

impl<'a> Real<'a> {
    /// `x` says how many lanes.
    pub fn new(b: &'a mut Builder, x: Value) -> Real<'a> {
        let lanes = b.lanes(x);
        Real { b, lanes }
    }

    /// A constant.
    pub fn k(&mut self, value: f32) -> Value {
        self.b.f32(self.lanes, value)
    }

    /// The bits of a constant, in `f32` lanes.
    pub fn bits(&mut self, bits: u32) -> Value {
        self.k(f32::from_bits(bits))
    }

    pub fn int(&mut self, value: i32) -> Value {
        self.b.i32(self.lanes, value)
    }

    pub fn op(&mut self, op: VecOp, a: Value, b: Value) -> Value {
        self.b.vec(op, &[a, b])
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.op(VecOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.op(VecOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.op(VecOp::Mul, a, b)
    }

    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.op(VecOp::Div, a, b)
    }

    /// `a * b + c`.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.b.vec(VecOp::Fma, &[a, b, c])
    }

    /// `c - a * b`.
    pub fn fnma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.b.vec(VecOp::Fnma, &[a, b, c])
    }

    /// The polynomial with these coefficients from the constant term up, by Horner's rule.
    pub fn horner(&mut self, coefficients: &[f32], x: Value) -> Value {
        let (last, rest) = coefficients.split_last().expect("invariant: a polynomial has a coefficient");
        let mut sum = self.k(*last);
        for c in rest.iter().rev() {
            let c = self.k(*c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    /// An increasing odd function by pieces: at each lane the polynomial in `d`, the distance from a piece's middle, whose
    /// coefficients stand in the rows at the piece's place, from the constant term up. Of the piece around zero the
    /// tables are of `f(d) - d`, so that `d + slope d` keeps its relative error; no other's constant is below its `d`.
    pub fn tabulated_polynomial(&mut self, tables: &[[f32; 16]], d: Value, place: Value) -> Value {
        let (constant, rest) = tables.split_first().expect("invariant: a polynomial has a constant term");
        let (last, rest) = rest.split_last().expect("invariant: a polynomial has a slope");
        let mut slope = self.b.tabulated(last, place);
        for table in rest.iter().rev() {
            let c = self.b.tabulated(table, place);
            slope = self.fma(slope, d, c);
        }
        let constant = self.b.tabulated(constant, place);
        let start = self.op(VecOp::Max, constant, d);
        self.fma(slope, d, start)
    }

    /// At least `lo`; NaN stays.
    pub fn at_least(&mut self, lo: f32, x: Value) -> Value {
        let lo = self.k(lo);
        self.op(VecOp::Max, lo, x)
    }

    /// At most `hi`; NaN stays.
    pub fn at_most(&mut self, hi: f32, x: Value) -> Value {
        let hi = self.k(hi);
        self.op(VecOp::Min, hi, x)
    }

    pub fn abs(&mut self, x: Value) -> Value {
        let rest = self.bits(0x7fff_ffff);
        self.op(VecOp::And, x, rest)
    }

    /// The sign bit alone.
    pub fn sign(&mut self, x: Value) -> Value {
        let sign = self.bits(0x8000_0000);
        self.op(VecOp::And, x, sign)
    }

    pub fn less(&mut self, a: Value, b: Value) -> Value {
        self.b.compare(CompareOp::Lt, a, b)
    }

    pub fn equal(&mut self, a: Value, b: Value) -> Value {
        self.b.compare(CompareOp::Eq, a, b)
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.b.select(mask, a, b)
    }

    pub fn as_int(&mut self, x: Value) -> Value {
        self.b.bitcast(Elem::I32, x)
    }

    pub fn as_real(&mut self, x: Value) -> Value {
        self.b.bitcast(Elem::F32, x)
    }

    pub fn int_to_float(&mut self, x: Value) -> Value {
        self.b.convert(ConvertOp::IntToFloat, Elem::F32, x)
    }

    /// Shifts integer lanes left by a constant.
    pub fn shl(&mut self, x: Value, count: i32) -> Value {
        let count = self.int(count);
        self.op(VecOp::Shl, x, count)
    }

    /// Shifts integer lanes right by a constant, keeping the sign.
    pub fn sar(&mut self, x: Value, count: i32) -> Value {
        let count = self.int(count);
        self.op(VecOp::Sar, x, count)
    }
}
