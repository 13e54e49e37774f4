//! Means of whole numbers: the sum may be longer than the type, the mean never is.
//!
//! Before: a way to sum, and how many are summed. After: the quotient of the exact sum, truncated towards zero.

use crate::onnx::cx::Cx;
use crate::report::Outcome;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};

/// Bits of the lower part of a 64-bit number; sums of up to 2^31 such parts have 62.
const LOW: u32 = 31;

/// Replaces each element by a part of it, a whole number of 64 bits.
type Part<'p> = &'p dyn Fn(&mut Cx, Value) -> Outcome;

/// The mean of what `sum` sums, of type `dtype`; it sums a part of each element. `count` broadcasts to the sums.
/// Of no elements the mean is 0.
pub(super) fn whole_mean(
    cx: &mut Cx,
    dtype: DType,
    count: Value,
    sum: impl Fn(&mut Cx, Part) -> Outcome,
) -> Outcome {
    let wide = if dtype == DType::U64 { DType::U64 } else { DType::I64 };
    let count = cx.cast(count, wide)?;
    if dtype.bits() < 64 {
        let sum = sum(cx, &|cx, x| cx.cast(x, wide))?;
        let mean = cx.div(sum, count)?;
        return cx.cast(mean, dtype);
    }
    // x = high 2^31 + low, low not negative: so is their sum.
    let unit = (1u64 << LOW) as f64;
    let high = sum(cx, &|cx, x| cx.with_number(ScalarOp::ShiftRight, x, f64::from(LOW)))?;
    let low = sum(cx, &|cx, x| cx.with_number(ScalarOp::Mod, x, unit))?;
    // high = count quotient + rest; what is left to divide is rest 2^31 + low, of 62 bits each.
    let rest = cx.binary(ScalarOp::Mod, high, count)?;
    let quotient = cx.sub(high, rest)?;
    let quotient = cx.div(quotient, count)?;
    let quotient = cx.with_number(ScalarOp::Mul, quotient, unit)?;
    let left = cx.with_number(ScalarOp::Mul, rest, unit)?;
    let left = cx.add(left, low)?;
    let more = cx.div(left, count)?;
    let down = cx.add(quotient, more)?;
    if dtype == DType::U64 {
        return Ok(down);
    }
    // Rounded down so far: towards zero it is one more where a negative quotient has a remainder.
    let remainder = cx.binary(ScalarOp::Mod, left, count)?;
    let exact = cx.with_number(ScalarOp::Eq, remainder, 0.0)?;
    let negative = cx.with_number(ScalarOp::Lt, down, 0.0)?;
    let inexact = cx.unary(ScalarOp::Not, exact)?;
    let up = cx.binary(ScalarOp::And, negative, inexact)?;
    let up = cx.cast(up, dtype)?;
    cx.add(down, up)
}
