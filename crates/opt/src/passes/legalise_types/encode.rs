//! Any number to a float that is only stored, rounded once.

use super::{choose, of_byte};
use tegula_base::DType;
use tegula_base::small_float::{SmallFloat, Specials};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::Builder;
use tegula_tensor::build::Built;

pub(super) fn encode(b: &mut Builder, x: Value, to: DType, format: SmallFloat, saturate: bool) -> Built {
    let x = to_f32(b, x)?;
    let bits = b.elementwise(ScalarOp::Bitcast { to: DType::U32 }, &[x])?;
    let code = match format.specials {
        Specials::PowersOfTwo => power_of_two(b, bits, saturate)?,
        _ => signed(b, bits, format, saturate)?,
    };
    let is_nan = b.is_nan(x)?;
    let code = choose(b, is_nan, f64::from(format.nan()), code)?;
    let byte = b.cast(code, DType::U8)?;
    of_byte(b, byte, to)
}

/// To nearest even by an addition to the bits of an `f32`; below the normal range by one to the number.
fn signed(b: &mut Builder, bits: Value, format: SmallFloat, saturate: bool) -> Built {
    let dropped = 23 - format.mantissa_bits;
    let magnitude = b.with_number(ScalarOp::And, bits, f64::from(i32::MAX))?;
    let last = b.with_number(ScalarOp::ShiftRight, magnitude, f64::from(dropped))?;
    let odd = b.with_number(ScalarOp::And, last, 1.0)?;
    let carried = b.with_number(ScalarOp::Add, magnitude, f64::from((1u32 << (dropped - 1)) - 1))?;
    let carried = b.add(carried, odd)?;
    let kept = b.with_number(ScalarOp::ShiftRight, carried, f64::from(dropped))?;
    let rebias = (127 - format.bias) << format.mantissa_bits;
    let normal = b.with_number(ScalarOp::Sub, kept, f64::from(rebias))?;

    // The ulp of this number is the smallest denormal.
    let rounder = 2f32.powi(23 + format.least_exponent() - format.mantissa_bits as i32);
    let number = b.elementwise(ScalarOp::Bitcast { to: DType::F32 }, &[magnitude])?;
    let sum = b.with_number(ScalarOp::Add, number, f64::from(rounder))?;
    let sum = b.elementwise(ScalarOp::Bitcast { to: DType::U32 }, &[sum])?;
    let denormal = b.with_number(ScalarOp::Sub, sum, f64::from(rounder.to_bits()))?;
    let is_denormal = b.with_number(ScalarOp::Lt, number, 2f64.powi(format.least_exponent()))?;
    let code = b.select(is_denormal, denormal, normal)?;

    let too_large = b.with_number(ScalarOp::Gt, code, f64::from(format.largest()))?;
    let code = choose(b, too_large, f64::from(format.overflow(saturate)), code)?;
    let sign = b.with_number(ScalarOp::ShiftRight, bits, 31.0)?;
    let sign = b.with_number(ScalarOp::ShiftLeft, sign, f64::from(format.sign_bit().trailing_zeros()))?;
    let signed = b.or(code, sign)?;
    if format.specials != Specials::NanAtMinusZero {
        return Ok(signed);
    }
    let is_zero = b.with_number(ScalarOp::Eq, code, 0.0)?;
    choose(b, is_zero, 0.0, signed)
}

/// To nearest, up between two: by an addition to the bits of an `f32`, of which 2^-127 is no normal number.
fn power_of_two(b: &mut Builder, bits: Value, saturate: bool) -> Built {
    /// Of 2^-127, of one and a half times that, and of 2^127.
    const LEAST: f64 = 0x40_0000 as f64;
    const FIRST_TIE: f64 = 0x60_0000 as f64;
    const MOST: f64 = 0x7f00_0000 as f64;
    let up = b.with_number(ScalarOp::Add, bits, LEAST)?;
    let normal = b.with_number(ScalarOp::ShiftRight, up, 23.0)?;
    let is_least = b.with_number(ScalarOp::Lt, bits, FIRST_TIE)?;
    let code = choose(b, is_least, 0.0, normal)?;
    // Negative numbers have the largest bits.
    let too_large = b.with_number(ScalarOp::Gt, bits, MOST)?;
    if saturate {
        let code = choose(b, too_large, 254.0, code)?;
        let is_negative = b.with_number(ScalarOp::Gt, bits, f64::from(i32::MAX))?;
        return choose(b, is_negative, 0.0, code);
    }
    let too_small = b.with_number(ScalarOp::Lt, bits, LEAST)?;
    let outside = b.or(too_large, too_small)?;
    choose(b, outside, 255.0, code)
}

// --- to `f32` ------------------------------------------------------------------------------------------------

/// The number itself where it is one of `f32`, else rounded to odd.
fn to_f32(b: &mut Builder, x: Value) -> Built {
    let wide = match b.dtype(x) {
        DType::F64 => x,
        DType::I32 | DType::U32 => b.cast(x, DType::F64)?,
        DType::I64 | DType::U64 => {
            let x = sticky(b, x)?;
            b.cast(x, DType::F64)?
        }
        _ => return b.cast(x, DType::F32),
    };
    let nearest = b.cast(wide, DType::F32)?;
    let back = b.cast(nearest, DType::F64)?;
    let (exact, rounded) = (b.abs(wide)?, b.abs(back)?);
    let bits = b.elementwise(ScalarOp::Bitcast { to: DType::U32 }, &[nearest])?;
    let odd = b.with_number(ScalarOp::And, bits, 1.0)?;
    let step = b.with_number(ScalarOp::Xor, odd, 1.0)?;
    let too_small = b.lt(rounded, exact)?;
    let too_large = b.gt(rounded, exact)?;
    let above = b.add(bits, step)?;
    let below = b.sub(bits, step)?;
    let bits = b.select(too_small, above, bits)?;
    let bits = b.select(too_large, below, bits)?;
    b.elementwise(ScalarOp::Bitcast { to: DType::F32 }, &[bits])
}

/// Replaces the low 12 bits of 64 by their middle where they are not 0 and `f64` would not hold them: the number then
/// converts exactly, and lies on the same side of every point where a short float rounds.
fn sticky(b: &mut Builder, x: Value) -> Built {
    let limit = 2f64.powi(53);
    let low = b.with_number(ScalarOp::And, x, 4095.0)?;
    let high = b.sub(x, low)?;
    let middle = b.with_number(ScalarOp::Or, high, 2048.0)?;
    let inexact = b.with_number(ScalarOp::Ne, low, 0.0)?;
    let mut large = b.with_number(ScalarOp::Gt, x, limit)?;
    if b.dtype(x) == DType::I64 {
        let negative = b.with_number(ScalarOp::Lt, x, -limit)?;
        large = b.or(large, negative)?;
    }
    let replaced = b.and(inexact, large)?;
    b.select(replaced, middle, x)
}
