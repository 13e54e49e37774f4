//! Lane conversions, one function a (op, from, to), on raw bits.

use super::lanes::Apply1;
use crate::schedule::{ConvertOp, Elem};
use half::{bf16, f16};

/// A conversion by the files that it reads and writes.
pub(super) enum Conversion {
    Keep32(Apply1<u32>),
    Keep64(Apply1<u64>),
    Widen(fn(u32) -> u64),
    Narrow(fn(u64) -> u32),
}

fn map<W: Copy>(out: &mut [W], a: &[W], f: impl Fn(W) -> W) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = f(*a);
    }
}

/// The value of `x` as an integer of `bits` bits when it is in range, else the integer indefinite.
fn to_int(x: f64, bits: u32) -> i64 {
    let limit = 2f64.powi(bits as i32 - 1);
    if x >= -limit && x < limit { x as i64 } else { i64::MIN >> (64 - bits) }
}

fn f32_of(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// `None` where the level has no such conversion.
pub(super) fn conversion(op: ConvertOp, from: Elem, to: Elem) -> Option<Conversion> {
    use Conversion::{Keep32, Keep64, Narrow, Widen};
    use Elem::{F32, F64, I32, I64};
    Some(match (op, from, to) {
        (ConvertOp::SignExtend, I32, I64) => Widen(|a| i64::from(a as i32) as u64),
        (ConvertOp::ZeroExtend, I32, I64) => Widen(u64::from),
        (ConvertOp::Truncate, I64, I32) => Narrow(|a| a as u32),

        (ConvertOp::IntToFloat, I32, F32) => Keep32(|o, a| map(o, a, |a| (a as i32 as f32).to_bits())),
        (ConvertOp::IntToFloat, I32, F64) => Widen(|a| f64::from(a as i32).to_bits()),
        (ConvertOp::IntToFloat, I64, F32) => Narrow(|a| (a as i64 as f32).to_bits()),
        (ConvertOp::IntToFloat, I64, F64) => Keep64(|o, a| map(o, a, |a| (a as i64 as f64).to_bits())),
        (ConvertOp::UintToFloat, I32, F32) => Keep32(|o, a| map(o, a, |a| (a as f32).to_bits())),
        (ConvertOp::UintToFloat, I32, F64) => Widen(|a| f64::from(a).to_bits()),
        (ConvertOp::UintToFloat, I64, F32) => Narrow(|a| (a as f32).to_bits()),
        (ConvertOp::UintToFloat, I64, F64) => Keep64(|o, a| map(o, a, |a| (a as f64).to_bits())),

        (ConvertOp::FloatToInt, F32, I32) => {
            Keep32(|o, a| map(o, a, |a| to_int(f32_of(a).trunc().into(), 32) as u32))
        }
        (ConvertOp::FloatToInt, F32, I64) => Widen(|a| to_int(f32_of(a).trunc().into(), 64) as u64),
        (ConvertOp::FloatToInt, F64, I32) => Narrow(|a| to_int(f64_of(a).trunc(), 32) as u32),
        (ConvertOp::FloatToInt, F64, I64) => {
            Keep64(|o, a| map(o, a, |a| to_int(f64_of(a).trunc(), 64) as u64))
        }
        (ConvertOp::FloatToIntNearest, F32, I32) => {
            Keep32(|o, a| map(o, a, |a| to_int(f32_of(a).round_ties_even().into(), 32) as u32))
        }
        (ConvertOp::FloatToIntNearest, F32, I64) => {
            Widen(|a| to_int(f32_of(a).round_ties_even().into(), 64) as u64)
        }
        (ConvertOp::FloatToIntNearest, F64, I32) => {
            Narrow(|a| to_int(f64_of(a).round_ties_even(), 32) as u32)
        }
        (ConvertOp::FloatToIntNearest, F64, I64) => {
            Keep64(|o, a| map(o, a, |a| to_int(f64_of(a).round_ties_even(), 64) as u64))
        }

        (ConvertOp::Extend, F32, F64) => Widen(|a| f64::from(f32_of(a)).to_bits()),
        (ConvertOp::Round, F64, F32) => Narrow(|a| (f64_of(a) as f32).to_bits()),
        (ConvertOp::RoundToF16, F32, F32) => {
            Keep32(|o, a| map(o, a, |a| f16::from_f32(f32_of(a)).to_f32().to_bits()))
        }
        (ConvertOp::RoundToBf16, F32, F32) => {
            Keep32(|o, a| map(o, a, |a| bf16::from_f32(f32_of(a)).to_f32().to_bits()))
        }
        (ConvertOp::Bitcast, from, to) if from.bytes() == to.bytes() && from.bytes() == 8 => {
            Keep64(|o, a| map(o, a, |a| a))
        }
        (ConvertOp::Bitcast, from, to) if from.bytes() == to.bytes() => Keep32(|o, a| map(o, a, |a| a)),
        _ => return None,
    })
}
