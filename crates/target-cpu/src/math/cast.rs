//! Conversions between dtypes: casts with their saturation and rounding, and bit casts.
//!
//! Narrow floats live in `f32` lanes, so a cast to one rounds the lanes. What comes from a wider form (`f64`,
//! 64-bit integers) is first rounded to odd, which keeps the second rounding right (Boldo and Melquiond,
//! "Emulation of FMA and correctly rounded sums", IEEE TC 2008).

use super::float::{abs, constant};
use super::int::wrap;
use super::quantise;
use crate::schedule::{Builder, CompareOp, ConvertOp, Elem, VecOp};
use tegula_base::DType;
use tegula_ir::Value;

pub(super) fn cast(b: &mut Builder, from: DType, to: DType, saturate: bool, x: Value) -> Value {
    match (from, to) {
        (DType::Bool, DType::Bool) => x,
        (DType::Bool, to) => {
            let number = b.mask_to_vec(x);
            cast(b, DType::U8, to, saturate, number)
        }
        (_, DType::Bool) => {
            let (elem, lanes) = b.shape(x);
            let zero = b.vec_const(elem, lanes, 0);
            b.compare(CompareOp::Ne, x, zero)
        }
        (from, to) if from.is_float() && to.is_float() => float_to_float(b, to, saturate, x),
        (from, to) if from.is_float() => float_to_int(b, to, x),
        (from, to) if to.is_float() => int_to_float(b, from, to, saturate, x),
        (from, to) => int_to_int(b, from, to, x),
    }
}

/// Rounds lanes in the register form of `dtype` to its values.
pub(super) fn round(b: &mut Builder, dtype: DType, saturate: bool, x: Value) -> Value {
    match dtype {
        DType::F16 => b.convert(ConvertOp::RoundToF16, Elem::F32, x),
        DType::BF16 => b.convert(ConvertOp::RoundToBf16, Elem::F32, x),
        DType::F8E4M3FN => round_to_f8(b, &E4M3FN, saturate, x),
        DType::F8E5M2 => round_to_f8(b, &E5M2, saturate, x),
        _ => x,
    }
}

// --- floats --------------------------------------------------------------------------------------------------

/// An 8-bit float format as `f32` lanes hold it.
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
fn round_to_f8(b: &mut Builder, format: &Float8, saturate: bool, x: Value) -> Value {
    let lanes = b.lanes(x);
    let magnitude = abs(b, x);
    let bits = b.bitcast(Elem::I32, magnitude);
    let dropped = 23 - format.mantissa_bits as i32;
    let (count, one) = (b.i32(lanes, dropped), b.i32(lanes, 1));
    let (below_half, kept) = (b.i32(lanes, (1 << (dropped - 1)) - 1), b.i32(lanes, -1 << dropped));
    let last = b.vec(VecOp::Shr, &[bits, count]);
    let odd = b.vec(VecOp::And, &[last, one]);
    let carry = b.vec(VecOp::Add, &[odd, below_half]);
    let carried = b.vec(VecOp::Add, &[bits, carry]);
    let normal = b.vec(VecOp::And, &[carried, kept]);
    let normal = b.bitcast(Elem::F32, normal);

    let rounder = b.f32(lanes, format.rounder);
    let sum = b.vec(VecOp::Add, &[magnitude, rounder]);
    let denormal = b.vec(VecOp::Sub, &[sum, rounder]);
    let (least, largest) = (b.f32(lanes, format.least), b.f32(lanes, format.largest));
    let is_denormal = b.compare(CompareOp::Lt, magnitude, least);
    let rounded = b.select(is_denormal, denormal, normal);

    let overflow = b.f32(lanes, if saturate { format.largest } else { format.overflow });
    let too_large = b.compare(CompareOp::Lt, largest, rounded);
    let rounded = b.select(too_large, overflow, rounded);
    let sign = b.f32(lanes, -0.0);
    let signed = b.vec(VecOp::And, &[x, sign]);
    let rounded = b.vec(VecOp::Or, &[rounded, signed]);
    let is_nan = b.compare(CompareOp::Ne, x, x);
    b.select(is_nan, x, rounded)
}

fn float_to_float(b: &mut Builder, to: DType, saturate: bool, x: Value) -> Value {
    match (b.shape(x).0, to) {
        (Elem::F64, DType::F64) => x,
        (_, DType::F64) => b.convert(ConvertOp::Extend, Elem::F64, x),
        (Elem::F64, DType::F32) => b.convert(ConvertOp::Round, Elem::F32, x),
        (Elem::F64, to) => {
            let odd = round_to_odd(b, x);
            round(b, to, saturate, odd)
        }
        (_, to) => round(b, to, saturate, x),
    }
}

/// `f64` to `f32` lanes; where the nearest number is inexact and even, its odd neighbour on the other side of `x`.
fn round_to_odd(b: &mut Builder, x: Value) -> Value {
    let nearest = b.convert(ConvertOp::Round, Elem::F32, x);
    let back = b.convert(ConvertOp::Extend, Elem::F64, nearest);
    let (exact, rounded) = (abs(b, x), abs(b, back));
    let too_small = b.compare(CompareOp::Lt, rounded, exact);
    let too_large = b.compare(CompareOp::Lt, exact, rounded);
    odd_neighbour(b, nearest, too_small, too_large)
}

/// Of an inexact `nearest` that is even, the neighbour in `f32` on the other side of the real number, which is odd.
/// The masks say where its magnitude was rounded down, and up.
pub(super) fn odd_neighbour(b: &mut Builder, nearest: Value, too_small: Value, too_large: Value) -> Value {
    let lanes = b.lanes(nearest);
    let bits = b.bitcast(Elem::I32, nearest);
    let (zero, one) = (b.i32(lanes, 0), b.i32(lanes, 1));
    let odd = b.vec(VecOp::And, &[bits, one]);
    let step = b.vec(VecOp::Xor, &[odd, one]);
    let up = b.select(too_small, step, zero);
    let down = b.select(too_large, step, zero);
    let bits = b.vec(VecOp::Add, &[bits, up]);
    let bits = b.vec(VecOp::Sub, &[bits, down]);
    b.bitcast(Elem::F32, bits)
}

// --- floats and integers ---------------------------------------------------------------------------------------

/// Truncates and saturates; NaN gives 0.
fn float_to_int(b: &mut Builder, to: DType, x: Value) -> Value {
    if let Some(bytes) = quantise::to_bytes(b, to, x) {
        return bytes;
    }
    let (lo, hi) = to.int_range().expect("invariant: the target is an integer");
    let elem = Elem::of(to);
    let wide_source = b.shape(x).0 == Elem::F64;
    if to.bits() < 32 || (wide_source && to.bits() == 32) {
        // The bounds are numbers of the source: clamp, then convert.
        let (lo, hi, zero) = (constant(b, x, lo as f64), constant(b, x, hi as f64), constant(b, x, 0.0));
        let ordered = b.compare(CompareOp::Eq, x, x);
        let x = b.select(ordered, x, zero);
        let x = b.vec(VecOp::Max, &[x, lo]);
        let x = b.vec(VecOp::Min, &[x, hi]);
        if to == DType::U32 {
            let long = b.convert(ConvertOp::FloatToInt, Elem::I64, x);
            return b.convert(ConvertOp::Truncate, Elem::I32, long);
        }
        return b.convert(ConvertOp::FloatToInt, elem, x);
    }
    let lanes = b.lanes(x);
    let half_range = constant(b, x, 2f64.powi(to.bits() as i32 - 1));
    let (zero, zero_int) = (constant(b, x, 0.0), b.vec_const(elem, lanes, 0));
    if to.is_signed() {
        // Out of range gives the least number already.
        let converted = b.convert(ConvertOp::FloatToInt, elem, x);
        let largest = b.vec_const(elem, lanes, hi as i64);
        let above = b.compare(CompareOp::Le, half_range, x);
        let converted = b.select(above, largest, converted);
        let ordered = b.compare(CompareOp::Eq, x, x);
        return b.select(ordered, converted, zero_int);
    }
    // NaN and negative numbers become 0; the upper half of the range converts less its start.
    let x = b.vec(VecOp::Max, &[x, zero]);
    let upper = b.compare(CompareOp::Le, half_range, x);
    let less = b.vec(VecOp::Sub, &[x, half_range]);
    let low = b.select(upper, less, x);
    let converted = b.convert(ConvertOp::FloatToInt, elem, low);
    let top_bit = b.vec_const(elem, lanes, 1 << (to.bits() - 1));
    let lifted = b.vec(VecOp::Xor, &[converted, top_bit]);
    let converted = b.select(upper, lifted, converted);
    let full_range = constant(b, x, 2f64.powi(to.bits() as i32));
    let ones = b.vec_const(elem, lanes, -1);
    let above = b.compare(CompareOp::Le, full_range, x);
    b.select(above, ones, converted)
}

fn int_to_float(b: &mut Builder, from: DType, to: DType, saturate: bool, x: Value) -> Value {
    if let (DType::F32, Some(byte)) = (to, quantise::byte_as_float(b, x)) {
        return byte;
    }
    let op =
        if from.is_signed() || from.bits() < 32 { ConvertOp::IntToFloat } else { ConvertOp::UintToFloat };
    match (from.bits(), to) {
        (_, DType::F32 | DType::F64) => b.convert(op, Elem::of(to), x),
        (64, to) => {
            let x = sticky(b, 12, 53, from.is_signed(), x);
            let wide = b.convert(op, Elem::F64, x);
            let odd = round_to_odd(b, wide);
            round(b, to, saturate, odd)
        }
        (32, to) => {
            let x = sticky(b, 9, 24, from.is_signed(), x);
            let wide = b.convert(op, Elem::F32, x);
            round(b, to, saturate, wide)
        }
        (_, to) => {
            let wide = b.convert(op, Elem::F32, x);
            round(b, to, saturate, wide)
        }
    }
}

/// Replaces the low bits of numbers of magnitude `2^large` and more by their middle when they are not 0. The
/// number then converts exactly, and lies on the same side of every point where a short float rounds.
fn sticky(b: &mut Builder, low_bits: u32, large: u32, signed: bool, x: Value) -> Value {
    let (elem, lanes) = b.shape(x);
    let mut k = |value: i64| b.vec_const(elem, lanes, value);
    let (low_mask, middle, zero, limit) =
        (k((1 << low_bits) - 1), k(1 << (low_bits - 1)), k(0), k(1 << large));
    let high_mask = k(-1 << low_bits);
    let low = b.vec(VecOp::And, &[x, low_mask]);
    let high = b.vec(VecOp::And, &[x, high_mask]);
    let high = b.vec(VecOp::Or, &[high, middle]);
    let exact = b.compare(CompareOp::Eq, low, zero);
    let magnitude = if signed {
        let minus = b.vec(VecOp::Sub, &[zero, x]);
        b.vec(VecOp::Max, &[x, minus])
    } else {
        x
    };
    let small = b.compare(CompareOp::LtU, magnitude, limit);
    let keep = b.mask_op(VecOp::Or, exact, small);
    b.select(keep, x, high)
}

fn int_to_int(b: &mut Builder, from: DType, to: DType, x: Value) -> Value {
    let x = match (Elem::of(from), Elem::of(to)) {
        (Elem::I64, Elem::I32) => b.convert(ConvertOp::Truncate, Elem::I32, x),
        (Elem::I32, Elem::I64) if from.is_signed() => b.convert(ConvertOp::SignExtend, Elem::I64, x),
        (Elem::I32, Elem::I64) => b.convert(ConvertOp::ZeroExtend, Elem::I64, x),
        _ => x,
    };
    let (from, range) = (from.int_range(), to.int_range());
    let fits = matches!((from, range), (Some(a), Some(r)) if r.0 <= a.0 && a.1 <= r.1);
    if fits { x } else { wrap(b, to, x) }
}

// --- bits ----------------------------------------------------------------------------------------------------

/// Same bits, other dtype of the same width.
pub(super) fn bitcast(b: &mut Builder, from: DType, to: DType, x: Value) -> Value {
    if from == to {
        return x;
    }
    let bits = match from {
        DType::Bool => b.mask_to_vec(x),
        DType::F8E4M3FN => small_float_bits(b, &SMALL_E4M3FN, x),
        DType::F8E5M2 => small_float_bits(b, &SMALL_E5M2, x),
        DType::F16 => small_float_bits(b, &SMALL_F16, x),
        DType::BF16 => {
            let sixteen = b.i32(b.lanes(x), 16);
            let bits = b.bitcast(Elem::I32, x);
            b.vec(VecOp::Shr, &[bits, sixteen])
        }
        _ => b.bitcast(if from.bits() == 64 { Elem::I64 } else { Elem::I32 }, x),
    };
    let lanes = b.lanes(bits);
    match to {
        DType::Bool => cast(b, DType::U8, DType::Bool, true, bits),
        DType::F8E4M3FN => small_float(b, &SMALL_E4M3FN, bits),
        DType::F8E5M2 => small_float(b, &SMALL_E5M2, bits),
        DType::F16 => small_float(b, &SMALL_F16, bits),
        DType::BF16 => {
            let sixteen = b.i32(lanes, 16);
            let bits = b.vec(VecOp::Shl, &[bits, sixteen]);
            b.bitcast(Elem::F32, bits)
        }
        DType::F32 | DType::F64 => b.bitcast(Elem::of(to), bits),
        _ => wrap(b, to, bits),
    }
}

/// How a float format below 32 bits lies in an `f32`: `drop` mantissa bits fewer, exponent bias lower by `bias`.
struct SmallFloat {
    width: i32,
    drop: i32,
    bias: i32,
    /// The least magnitude bits that are no finite number: infinity, or the only NaN.
    special: i32,
}

const SMALL_F16: SmallFloat = SmallFloat { width: 16, drop: 13, bias: 112, special: 0x7c00 };
const SMALL_E5M2: SmallFloat = SmallFloat { width: 8, drop: 21, bias: 112, special: 0x7c };
const SMALL_E4M3FN: SmallFloat = SmallFloat { width: 8, drop: 20, bias: 120, special: 0x7f };

/// The value times `2^-bias` has the small float's exponent, denormals included, and `drop` bits too many.
fn small_float_bits(b: &mut Builder, format: &SmallFloat, x: Value) -> Value {
    let lanes = b.lanes(x);
    let magnitude = abs(b, x);
    let (scale, limit) = (b.f32(lanes, 2f32.powi(-format.bias)), b.f32(lanes, f32::MAX));
    let scaled = b.vec(VecOp::Mul, &[magnitude, scale]);
    let finite = b.compare(CompareOp::Le, magnitude, limit);
    let (scaled, raw) = (b.bitcast(Elem::I32, scaled), b.bitcast(Elem::I32, magnitude));
    let (drop, rest) = (b.i32(lanes, format.drop), b.i32(lanes, (1 << (format.width - 1)) - 1));
    let scaled = b.vec(VecOp::Shr, &[scaled, drop]);
    // Infinity and NaN shifted fill the smaller exponent and keep the upper payload.
    let special = b.vec(VecOp::Shr, &[raw, drop]);
    let special = b.vec(VecOp::And, &[special, rest]);
    let least = b.i32(lanes, format.special);
    let special = b.vec(VecOp::Or, &[special, least]);
    let bits = b.select(finite, scaled, special);
    let (to_sign, sign_mask) = (b.i32(lanes, 32 - format.width), b.i32(lanes, 1 << (format.width - 1)));
    let sign = b.bitcast(Elem::I32, x);
    let sign = b.vec(VecOp::Shr, &[sign, to_sign]);
    let sign = b.vec(VecOp::And, &[sign, sign_mask]);
    b.vec(VecOp::Or, &[bits, sign])
}

/// The value of a small float's bits: the inverse of [`small_float_bits`].
fn small_float(b: &mut Builder, format: &SmallFloat, bits: Value) -> Value {
    let lanes = b.lanes(bits);
    let (rest, shift) = (b.i32(lanes, (1 << (format.width - 1)) - 1), b.i32(lanes, format.drop));
    let magnitude = b.vec(VecOp::And, &[bits, rest]);
    let shifted = b.vec(VecOp::Shl, &[magnitude, shift]);
    let (tiny, scale) = (b.bitcast(Elem::F32, shifted), b.f32(lanes, 2f32.powi(format.bias)));
    let finite = b.vec(VecOp::Mul, &[tiny, scale]);
    let (exponent, least) = (b.i32(lanes, 0x7f80_0000), b.i32(lanes, format.special));
    let special = b.vec(VecOp::Or, &[shifted, exponent]);
    let special = b.bitcast(Elem::F32, special);
    let is_special = b.compare(CompareOp::Le, least, magnitude);
    let value = b.select(is_special, special, finite);
    let (to_sign, sign_mask) = (b.i32(lanes, 32 - format.width), b.i32(lanes, 1 << (format.width - 1)));
    let sign = b.vec(VecOp::And, &[bits, sign_mask]);
    let sign = b.vec(VecOp::Shl, &[sign, to_sign]);
    let sign = b.bitcast(Elem::F32, sign);
    b.vec(VecOp::Or, &[value, sign])
}
