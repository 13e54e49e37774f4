//! Float operations: `f32` and `f64` in their own registers; narrower types compute in `f32` and are rounded.
//!
//! Rounding `+ - * / sqrt` of `f32` a second time to at most 11 bits is innocuous, as 24 >= 2 * 11 + 2
//! (Figueroa, "When is double rounding innocuous?", SIGNUM 1995). Only products and quotients that are denormal
//! in `bf16` are denormal in `f32` too, and may be off by one of its smallest steps.

use super::double::Double;
use super::real::Real;
use super::{Scalar, cast, exp, inverse, log, refuse, remainder, select_bits, trig};
use crate::code::Code;
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg, RegClass};

/// `f32`, or `f64`.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    double: bool,
}

impl Wide {
    pub fn of(dtype: DType) -> Wide {
        Wide { double: dtype == DType::F64 }
    }

    fn class(self) -> RegClass {
        if self.double { RegClass::B64 } else { RegClass::B32 }
    }

    fn ty(self) -> FloatType {
        if self.double { FloatType::F64 } else { FloatType::F32 }
    }

    fn ty2(self) -> Float32Or64 {
        if self.double { Float32Or64::F64 } else { Float32Or64::F32 }
    }

    pub fn compared(self) -> CompareType {
        if self.double { CompareType::F64 } else { CompareType::F32 }
    }

    pub fn imm(self, value: f64) -> Operand {
        if self.double { Operand::f64(value) } else { Operand::f32(value as f32) }
    }
}

pub(super) fn apply(code: &mut Code, op: ScalarOp, dtype: DType, args: &[Operand]) -> Scalar {
    let wide = Wide::of(dtype);
    let ty = wide.ty();
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    let compare =
        |code: &mut Code, cmp: Compare| -> Scalar { Ok(code.compare(cmp, wide.compared(), a, b).into()) };
    match op {
        // Results that are no new numbers: nothing to round.
        ScalarOp::Neg => Ok(made(code, wide, |d| FNeg { ty, d, a, ..Default::default() }.into())),
        ScalarOp::Abs => Ok(made(code, wide, |d| FAbs { ty, d, a, ..Default::default() }.into())),
        ScalarOp::Sign => Ok(sign(code, wide, a)),
        ScalarOp::Ceil => Ok(integral(code, wide, ConvertRound::Rpi, a)),
        ScalarOp::Floor => Ok(integral(code, wide, ConvertRound::Rmi, a)),
        ScalarOp::Round => Ok(integral(code, wide, ConvertRound::Rni, a)),
        ScalarOp::Trunc => Ok(integral(code, wide, ConvertRound::Rzi, a)),
        ScalarOp::Min | ScalarOp::Max => Ok(extremum(code, wide, op == ScalarOp::Max, a, b)),
        ScalarOp::IsNan => Ok(code.compare(Compare::Nan, wide.compared(), a, a).into()),
        ScalarOp::IsInf => {
            let p = code.pred();
            code.emit(Testp { test: FloatTest::Infinite, ty: wide.ty2(), p, a });
            Ok(p.into())
        }
        ScalarOp::Eq => compare(code, Compare::Eq),
        ScalarOp::Ne => compare(code, Compare::Neu),
        ScalarOp::Lt => compare(code, Compare::Lt),
        ScalarOp::Le => compare(code, Compare::Le),
        ScalarOp::Gt => compare(code, Compare::Gt),
        ScalarOp::Ge => compare(code, Compare::Ge),
        ScalarOp::Rem | ScalarOp::Mod | ScalarOp::Tan => through_double(code, op, dtype, args),
        op if inverse::has(op) => through_double(code, op, dtype, args),
        _ => {
            let result = match op {
                ScalarOp::Fma if dtype.bits() < 32 => narrow_fma(&mut Real::new(code), args),
                _ => number(code, op, dtype, wide, args)?,
            };
            Ok(cast::round(code, dtype, false, result))
        }
    }
}

/// The op in the type that it is computed in, not yet rounded to a narrower one.
fn number(code: &mut Code, op: ScalarOp, dtype: DType, wide: Wide, args: &[Operand]) -> Scalar {
    let (ty, ty2) = (wide.ty(), wide.ty2());
    let round = Some(Round::Rn);
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    let ratio = |a: Operand, b: Operand| {
        move |d: Reg| FDiv { round: DivRound::Rn, ty: ty2, d, a, b, ..Default::default() }.into()
    };
    let root = |d: Reg| Sqrt { round: ApproxRound::Rn, ty: ty2, d, a, ..Default::default() }.into();
    Ok(match op {
        ScalarOp::Add => made(code, wide, |d| FAdd { round, ty, d, a, b, ..Default::default() }.into()),
        ScalarOp::Sub => made(code, wide, |d| FSub { round, ty, d, a, b, ..Default::default() }.into()),
        ScalarOp::Mul => made(code, wide, |d| FMul { round, ty, d, a, b, ..Default::default() }.into()),
        ScalarOp::Fma => {
            let c = args[2];
            made(code, wide, |d| Fma { round: Round::Rn, ty, d, a, b, c, ..Default::default() }.into())
        }
        ScalarOp::Div => made(code, wide, ratio(a, b)),
        ScalarOp::Sqrt => made(code, wide, root),
        ScalarOp::Rsqrt => {
            let root = made(code, wide, root);
            made(code, wide, ratio(wide.imm(1.0), root))
        }
        ScalarOp::Reciprocal => {
            made(code, wide, |d| Rcp { round: ApproxRound::Rn, ty: ty2, d, a, ..Default::default() }.into())
        }
        ScalarOp::Exp if wide.double => Double::new(code).exp(a),
        ScalarOp::Log if wide.double => Double::new(code).log(a),
        _ if wide.double => return refuse(op, dtype),
        ScalarOp::Exp2 => made(code, wide, |d| Ex2 { ftz: true, ty: Ex2Type::F32, d, a }.into()),
        ScalarOp::Exp => exp::exp(&mut Real::new(code), a),
        ScalarOp::Expm1 => exp::expm1(&mut Real::new(code), a),
        ScalarOp::Sigmoid => exp::sigmoid(&mut Real::new(code), a),
        ScalarOp::Tanh => exp::tanh(&mut Real::new(code), a),
        ScalarOp::Log => log::log(&mut Real::new(code), a),
        ScalarOp::Log1p => log::log1p(&mut Real::new(code), a),
        ScalarOp::Erf => log::erf(&mut Real::new(code), a),
        ScalarOp::Sin => trig::sin(&mut Real::new(code), a),
        ScalarOp::Cos => trig::cos(&mut Real::new(code), a),
        other => return refuse(other, dtype),
    })
}

/// An op that is computed in `f64` and rounded once.
fn through_double(code: &mut Code, op: ScalarOp, dtype: DType, args: &[Operand]) -> Scalar {
    let right_for_double = matches!(op, ScalarOp::Rem | ScalarOp::Mod | ScalarOp::Atan);
    if dtype == DType::F64 && !right_for_double {
        return refuse(op, dtype);
    }
    let result = if op == ScalarOp::Tan {
        trig::tan(&mut Real::new(code), args[0])
    } else {
        let args: Vec<Operand> =
            args.iter().map(|arg| cast::cast(code, dtype, DType::F64, false, *arg)).collect();
        let r = &mut Double::new(code);
        match op {
            ScalarOp::Rem => remainder::rem(r, args[0], args[1]),
            ScalarOp::Mod => remainder::modulo(r, args[0], args[1]),
            _ => inverse::apply(r, op, &args),
        }
    };
    Ok(cast::cast(code, DType::F64, dtype, false, result))
}

fn made(code: &mut Code, wide: Wide, make: impl FnOnce(Reg) -> Op) -> Operand {
    let d = code.fresh(wide.class());
    let op = make(d);
    code.emit(op);
    d.into()
}

/// To an integral value of the same type.
fn integral(code: &mut Code, wide: Wide, round: ConvertRound, a: Operand) -> Operand {
    let ty = if wide.double { ConvertType::F64 } else { ConvertType::F32 };
    let a = code.in_reg(wide.class(), a);
    made(code, wide, |d| Cvt { round: Some(round), to: ty, from: ty, d, a, ..Default::default() }.into())
}

/// 1 with the sign of `a`; zero and NaN stay.
fn sign(code: &mut Code, wide: Wide, a: Operand) -> Operand {
    let unit = made(code, wide, |d| Copysign { ty: wide.ty2(), d, a, b: wide.imm(1.0) }.into());
    // Holds for NaN too.
    let stays = code.compare(Compare::Equ, wide.compared(), a, wide.imm(0.0));
    select_bits(code, wide.class(), stays, a, unit)
}

/// NaN if either is NaN, -0 below +0.
pub(super) fn extremum(code: &mut Code, wide: Wide, largest: bool, a: Operand, b: Operand) -> Operand {
    let (ty, nan) = (wide.ty(), !wide.double);
    let number = made(code, wide, |d| match largest {
        true => FMax { nan, ty, d, a, b, ..Default::default() }.into(),
        false => FMin { nan, ty, d, a, b, ..Default::default() }.into(),
    });
    if nan {
        return number;
    }
    let unordered = code.compare(Compare::Nan, wide.compared(), a, b);
    select_bits(code, wide.class(), unordered, wide.imm(f64::NAN), number)
}

/// `a b + c` of narrow floats rounded to odd, ready for the rounding to their type. The product is exact in `f32`;
/// the error of the sum is Knuth's TwoSum.
fn narrow_fma(r: &mut Real, args: &[Operand]) -> Operand {
    let (x, y, c) = (args[0], args[1], args[2]);
    let product = r.mul(x, y);
    // Fused only for products below the range of `f32`, which `bf16` has.
    let sum = r.fma(x, y, c);
    let part = r.sub(sum, product);
    let back = r.sub(sum, part);
    let lost = r.sub(product, back);
    let other = r.sub(c, part);
    let error = r.add(lost, other);
    let sign = r.sign(sum);
    let outwards = r.xor(error, sign);
    let zero = Operand::f32(0.0);
    let too_small = r.code.compare(Compare::Gt, CompareType::F32, outwards, zero);
    let too_large = r.less(outwards, zero);
    cast::odd_neighbour(r, sum, too_small, too_large)
}
