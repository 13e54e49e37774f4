//! A float that is only stored to `f32`, exactly.

use tegula_base::DType;
use tegula_base::small_float::{SmallFloat, Specials};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::Builder;
use tegula_tensor::build::Built;

/// Bits of `f32`.
const NAN: f64 = 0x7fc0_0000u32 as f64;

pub(super) fn decode(b: &mut Builder, x: Value) -> Built {
    let dtype = b.dtype(x);
    let format = dtype.small_float().ok_or_else(|| format!("{dtype} has no format"))?;
    let byte = b.elementwise(ScalarOp::Bitcast { to: DType::U8 }, &[x])?;
    let code = b.cast(byte, DType::U32)?;
    let bits = match format.specials {
        Specials::PowersOfTwo => power_of_two(b, code)?,
        _ => signed(b, code, format)?,
    };
    b.elementwise(ScalarOp::Bitcast { to: DType::F32 }, &[bits])
}

/// Exponent and mantissa in the places of an `f32`'s, scaled by the difference of the biases: exact for denormals too.
fn signed(b: &mut Builder, code: Value, format: SmallFloat) -> Built {
    let sign_bit = format.sign_bit();
    let magnitude = b.with_number(ScalarOp::And, code, f64::from(sign_bit - 1))?;
    let shifted = b.with_number(ScalarOp::ShiftLeft, magnitude, f64::from(23 - format.mantissa_bits))?;
    let tiny = b.elementwise(ScalarOp::Bitcast { to: DType::F32 }, &[shifted])?;
    let value = b.with_number(ScalarOp::Mul, tiny, 2f64.powi(127 - format.bias))?;
    let value = b.elementwise(ScalarOp::Bitcast { to: DType::U32 }, &[value])?;
    let sign = b.with_number(ScalarOp::And, code, f64::from(sign_bit))?;
    let sign = b.with_number(ScalarOp::ShiftLeft, sign, f64::from(31 - sign_bit.trailing_zeros()))?;
    let value = b.or(value, sign)?;
    match format.specials {
        Specials::NanAtMinusZero => replace(b, code, sign_bit, NAN, value),
        _ => Ok(value),
    }
}

fn power_of_two(b: &mut Builder, code: Value) -> Built {
    let normal = b.with_number(ScalarOp::ShiftLeft, code, 23.0)?;
    // 2^-127 lies below the normal range.
    let value = replace(b, code, 0, f64::from(1 << 22), normal)?;
    replace(b, code, 0xff, NAN, value)
}

/// `bits` where the code is `special`, else `value`.
fn replace(b: &mut Builder, code: Value, special: u8, bits: f64, value: Value) -> Built {
    let is_special = b.with_number(ScalarOp::Eq, code, f64::from(special))?;
    super::choose(b, is_special, bits, value)
}
