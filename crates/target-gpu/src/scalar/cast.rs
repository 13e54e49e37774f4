//! Conversions between dtypes: casts with their saturation and rounding, and bit casts.
//!
//! Narrow floats are held in `f32`, so a cast to one rounds. What comes from a wider form (`f64`, 64-bit integers) is
//! first rounded to odd, which keeps the second rounding right (Boldo and Melquiond, "Emulation of FMA and correctly
//! rounded sums", IEEE TC 2008).

use super::boolean::as_int;
use super::float::Wide;
use super::int::wrap;
use super::memory::{float_bits, float_of_bits};
use super::real::Real;
use super::{held_class, select_bits};
use crate::code::Code;
use tegula_base::DType;
use tegula_isa_ptx::modifiers::{Compare, ConvertRound};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg, RegClass};

pub(crate) fn cast(code: &mut Code, from: DType, to: DType, saturate: bool, a: Operand) -> Operand {
    match (from, to) {
        // Saturation takes infinity from an 8-bit float.
        _ if from == to && !(to == DType::F8E5M2 && saturate) => a,
        (DType::Bool, to) => {
            let number = as_int(code, a);
            cast(code, DType::U8, to, saturate, number)
        }
        (from, DType::Bool) if from.is_float() => {
            let wide = Wide::of(from);
            code.compare(Compare::Neu, wide.compared(), a, wide.imm(0.0)).into()
        }
        (from, DType::Bool) => {
            let ty = if from.bits() == 64 { CompareType::B64 } else { CompareType::B32 };
            code.compare(Compare::Ne, ty, a, Operand::Imm(0)).into()
        }
        (from, to) if from.is_float() && to.is_float() => float_to_float(code, from, to, saturate, a),
        (from, to) if from.is_float() => float_to_int(code, from, to, a),
        (from, to) if to.is_float() => int_to_float(code, from, to, saturate, a),
        (from, to) => int_to_int(code, from, to, a),
    }
}

/// Rounds a number in the register form of `dtype` to its values.
pub(super) fn round(code: &mut Code, dtype: DType, saturate: bool, a: Operand) -> Operand {
    match dtype {
        DType::F16 | DType::BF16 => {
            let bits = float_bits(code, dtype, a);
            float_of_bits(code, dtype, bits)
        }
        DType::F8E4M3FN => round_to_f8(&mut Real::new(code), &E4M3FN, saturate, a),
        DType::F8E5M2 => round_to_f8(&mut Real::new(code), &E5M2, saturate, a),
        _ => a,
    }
}

pub(super) fn convert(
    code: &mut Code,
    round: Option<ConvertRound>,
    to: ConvertType,
    from: ConvertType,
    a: Operand,
) -> Operand {
    let a = code.in_reg(from.class(), a);
    let d = code.fresh(to.class());
    code.emit(Cvt { round, to, from, d, a, ..Default::default() });
    d.into()
}

// --- floats --------------------------------------------------------------------------------------------------

/// An 8-bit float format as `f32` holds it.
struct Float8 {
    mantissa_bits: u32,
    /// Smallest normal number.
    least: f32,
    largest: f32,
    /// What is too large becomes, when it does not saturate.
    overflow: f32,
    /// Adding and subtracting it rounds numbers below `least`: its ulp is the smallest denormal.
    rounder: f32,
}

const E4M3FN: Float8 =
    Float8 { mantissa_bits: 3, least: 0.015_625, largest: 448.0, overflow: f32::NAN, rounder: 16_384.0 };
const E5M2: Float8 = Float8 {
    mantissa_bits: 2,
    least: 0.000_061_035_156,
    largest: 57_344.0,
    overflow: f32::INFINITY,
    rounder: 128.0,
};

/// To nearest even, by integer addition on the bits; below the normal range by a float addition.
fn round_to_f8(r: &mut Real, format: &Float8, saturate: bool, x: Operand) -> Operand {
    let magnitude = r.abs(x);
    let dropped = 23 - format.mantissa_bits;
    let last = r.shr(magnitude, dropped);
    let odd = r.and(last, 1);
    let carry = r.int_add(odd, Operand::u32((1 << (dropped - 1)) - 1));
    let carried = r.int_add(magnitude, carry);
    let normal = r.and(carried, u32::MAX << dropped);
    let rounder = r.k(format.rounder);
    let sum = r.add(magnitude, rounder);
    let denormal = r.sub(sum, rounder);
    let is_denormal = r.less(magnitude, Operand::f32(format.least));
    let rounded = r.select(is_denormal, denormal, normal);

    let overflow = r.k(if saturate { format.largest } else { format.overflow });
    let too_large = r.code.compare(Compare::Gt, CompareType::F32, rounded, Operand::f32(format.largest));
    let rounded = r.select(too_large, overflow, rounded);
    let signed = r.sign(x);
    let rounded = r.or(rounded, signed);
    let number = r.equal(x, x);
    r.select(number, rounded, x)
}

fn float_to_float(code: &mut Code, from: DType, to: DType, saturate: bool, a: Operand) -> Operand {
    match (from, to) {
        (_, DType::F64) => convert(code, None, ConvertType::F64, ConvertType::F32, a),
        (DType::F64, DType::F32) => {
            convert(code, Some(ConvertRound::Rn), ConvertType::F32, ConvertType::F64, a)
        }
        (DType::F64, to) => {
            let odd = round_to_odd(code, a);
            round(code, to, saturate, odd)
        }
        (_, to) => round(code, to, saturate, a),
    }
}

/// `f64` to `f32`; where the nearest number is inexact and even, its odd neighbour on the other side of `a`.
fn round_to_odd(code: &mut Code, a: Operand) -> Operand {
    let nearest = convert(code, Some(ConvertRound::Rn), ConvertType::F32, ConvertType::F64, a);
    let back = convert(code, None, ConvertType::F64, ConvertType::F32, nearest);
    let (exact, rounded) = (code.b64(), code.b64());
    code.emit(FAbs { ty: FloatType::F64, d: exact, a, ..Default::default() });
    code.emit(FAbs { ty: FloatType::F64, d: rounded, a: back, ..Default::default() });
    let too_small = code.compare(Compare::Lt, CompareType::F64, rounded.into(), exact.into());
    let too_large = code.compare(Compare::Gt, CompareType::F64, rounded.into(), exact.into());
    odd_neighbour(&mut Real::new(code), nearest, too_small, too_large)
}

/// Of an inexact `nearest` that is even, the neighbour in `f32` on the other side of the real number, which is odd.
/// The predicates say where its magnitude was rounded down, and up.
pub(super) fn odd_neighbour(r: &mut Real, nearest: Operand, too_small: Reg, too_large: Reg) -> Operand {
    let odd = r.and(nearest, 1);
    let step = r.xor(odd, Operand::u32(1));
    let up = r.select(too_small, step, Operand::u32(0));
    let down = r.select(too_large, step, Operand::u32(0));
    let bits = r.int_add(nearest, up);
    r.int_sub(bits, down)
}

// --- floats and integers ---------------------------------------------------------------------------------------

/// Truncates and saturates; NaN gives 0.
fn float_to_int(code: &mut Code, from: DType, to: DType, a: Operand) -> Operand {
    let source = if from == DType::F64 { ConvertType::F64 } else { ConvertType::F32 };
    let target = match (to.bits(), to.is_signed()) {
        (64, true) => ConvertType::S64,
        (64, false) => ConvertType::U64,
        (32, false) => ConvertType::U32,
        _ => ConvertType::S32,
    };
    let mut number = convert(code, Some(ConvertRound::Rzi), target, source, a);
    if to.bits() < 32 {
        let (lo, hi) = to.int_range().expect("invariant: the target is an integer");
        let (low, both) = (code.b32(), code.b32());
        let (lo, hi) = (Operand::i32(lo as i32), Operand::i32(hi as i32));
        code.emit(Max { ty: IntType2::S32, d: low, a: number, b: lo, ..Default::default() });
        code.emit(Min { ty: IntType2::S32, d: both, a: low.into(), b: hi, ..Default::default() });
        number = both.into();
    }
    let is_number = code.compare(Compare::Num, Wide::of(from).compared(), a, a);
    select_bits(code, held_class(to), is_number, number, Operand::Imm(0))
}

fn int_to_float(code: &mut Code, from: DType, to: DType, saturate: bool, a: Operand) -> Operand {
    let source = match (from.bits(), from.is_signed()) {
        (64, true) => ConvertType::S64,
        (64, false) => ConvertType::U64,
        (32, false) => ConvertType::U32,
        _ => ConvertType::S32,
    };
    let rn = Some(ConvertRound::Rn);
    match to {
        DType::F64 => convert(code, rn, ConvertType::F64, source, a),
        DType::F32 => convert(code, rn, ConvertType::F32, source, a),
        // Exact.
        to if from.bits() <= 16 => {
            let wide = convert(code, rn, ConvertType::F32, source, a);
            round(code, to, saturate, wide)
        }
        to => {
            let a = if from.bits() == 64 { sticky(code, from.is_signed(), a) } else { a };
            let wide = convert(code, rn, ConvertType::F64, source, a);
            let odd = round_to_odd(code, wide);
            round(code, to, saturate, odd)
        }
    }
}

/// Replaces the low 12 bits of numbers of magnitude 2^53 and more by their middle when they are not 0. The number then
/// converts exactly to `f64`, and lies on the same side of every point where a short float rounds.
fn sticky(code: &mut Code, signed: bool, a: Operand) -> Operand {
    let (low, high, middle) = (code.b64(), code.b64(), code.b64());
    code.emit(And { ty: LogicType::B64, d: low, a, b: Operand::i64(0xfff) });
    code.emit(And { ty: LogicType::B64, d: high, a, b: Operand::i64(!0xfff) });
    code.emit(Or { ty: LogicType::B64, d: middle, a: high.into(), b: Operand::i64(0x800) });
    let magnitude = if signed {
        let d = code.b64();
        code.emit(Abs { ty: SignedInt::S64, d, a });
        d.into()
    } else {
        a
    };
    let large = code.compare(Compare::Ge, CompareType::U64, magnitude, Operand::i64(1 << 53));
    let inexact =
        code.compare_and(Compare::Ne, CompareType::U64, low.into(), Operand::i64(0), Some(large.into()));
    select_bits(code, RegClass::B64, inexact.reg, middle.into(), a)
}

fn int_to_int(code: &mut Code, from: DType, to: DType, a: Operand) -> Operand {
    let a = match (from.bits() == 64, to.bits() == 64) {
        (true, false) => convert(code, None, ConvertType::U32, ConvertType::U64, a),
        (false, true) if from.is_signed() => convert(code, None, ConvertType::S64, ConvertType::S32, a),
        (false, true) => convert(code, None, ConvertType::U64, ConvertType::U32, a),
        _ => a,
    };
    let fits = matches!((from.int_range(), to.int_range()), (Some(a), Some(r)) if r.0 <= a.0 && a.1 <= r.1);
    if fits { a } else { wrap(code, to, a) }
}

// --- bits ----------------------------------------------------------------------------------------------------

/// Same bits, other dtype of the same width.
pub(super) fn bitcast(code: &mut Code, from: DType, to: DType, a: Operand) -> Operand {
    if from == to {
        return a;
    }
    let bits = match from {
        DType::Bool => as_int(code, a),
        _ if from.is_float() && from.bits() < 32 => float_bits(code, from, a),
        _ => a,
    };
    match to {
        DType::Bool => cast(code, DType::U8, DType::Bool, true, bits),
        _ if to.is_float() && to.bits() < 32 => float_of_bits(code, to, bits),
        _ => wrap(code, to, bits),
    }
}
