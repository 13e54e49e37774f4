//! Bytes of rounded numbers, and of numbers over a constant scale, without a division: `saturate(round(x / s) + z)`, bit for bit.
//!
//! The cast saturates, so `x` is first held between the numbers of the least and the largest byte; rounding and division
//! are monotonous. No step overflows then. With `r = 1 / s` and `q = x r`, `q + (x - q s) r` is `x / s` rounded once
//! (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM Journal of Research
//! and Development 34, 1990) wherever it is not far below 1/2. Adding 1.5 * 2^23 rounds to a whole number, and taking
//! off the same less `z` leaves the byte in a float lane. A cast back, as a dequantisation begins, takes it from there.

use super::float::constant;
use crate::schedule::{Builder, CompareOp, ConvertOp, CpuOp, Elem, VecOp};
use tegula_base::DType;
use tegula_ir::Value;

/// Scales that leave room for remainders on both sides, as `opt`'s rules have it: 2^-60 to 2^60.
const MODERATE: std::ops::RangeInclusive<f32> = 8.673_617_4e-19..=1.152_921_5e18;
/// Numbers of `f32` around this one are whole, and it is even itself.
const ROUNDER: f32 = 12_582_912.0;
/// Zero points, of whatever type, that keep all sums exact.
const LARGEST_ZERO: f32 = 65_536.0;

/// A cast to bytes of `x`, where that is `round(v)` or `round(v) + zero` of a constant; a `v` that is divided by a constant is
/// divided so.
pub(super) fn to_bytes(b: &mut Builder, to: DType, x: Value) -> Option<Value> {
    if b.shape(x).0 != Elem::F32 || to.bits() != 8 {
        return None;
    }
    let (rounded, zero) = match operands(b, VecOp::Add, x) {
        Some([a, c]) => match (number(b, a), number(b, c)) {
            (None, Some(zero)) => (a, zero),
            (Some(zero), None) => (c, zero),
            _ => return None,
        },
        None => (x, 0.0),
    };
    let [quotient] = operands(b, VecOp::RoundEven, rounded)?;
    let divided = operands(b, VecOp::Div, quotient).and_then(|[v, divisor]| {
        let scale = number(b, divisor).filter(|scale| MODERATE.contains(scale))?;
        Some((v, divisor, scale))
    });
    let (v, scale) = divided.map_or((quotient, 1.0), |(v, _, scale)| (v, scale));
    if !is_whole(zero) {
        return None;
    }
    let (lo, hi) = to.int_range()?;
    let (lo, hi) = (lo as f32 - zero, hi as f32 - zero);
    let held = if to.is_signed() {
        // NaN is 0 all the same; below it becomes the least byte, which of unsigned ones is 0.
        let (ordered, none) = (b.compare(CompareOp::Eq, v, v), constant(b, x, f64::from(-zero * scale)));
        b.select(ordered, v, none)
    } else {
        v
    };
    let (least, largest) = (constant(b, x, f64::from(lo * scale)), constant(b, x, f64::from(hi * scale)));
    let held = b.vec(VecOp::Max, &[held, least]);
    let held = b.vec(VecOp::Min, &[held, largest]);
    let quotient = match divided {
        None => held,
        Some((_, divisor, scale)) => {
            let reciprocal = constant(b, x, f64::from(1.0 / scale));
            let near = b.vec(VecOp::Mul, &[held, reciprocal]);
            let rest = b.vec(VecOp::Fnma, &[near, divisor, held]);
            b.vec(VecOp::Fma, &[rest, reciprocal, near])
        }
    };
    let rounder = constant(b, x, f64::from(ROUNDER));
    let raised = b.vec(VecOp::Add, &[quotient, rounder]);
    let lifted = constant(b, x, f64::from(ROUNDER - zero));
    let byte = b.vec(VecOp::Sub, &[raised, lifted]);
    Some(b.convert(ConvertOp::FloatToInt, Elem::of(to), byte))
}

/// The byte in a float lane, behind a result of [`to_bytes`].
pub(super) fn byte_as_float(b: &Builder, x: Value) -> Option<Value> {
    let op = b.func().def_op(x)?;
    let CpuOp::Convert { op: ConvertOp::FloatToInt, .. } = b.func().kind(op) else { return None };
    let byte = b.func().operand(op, 0);
    raised(b, byte).map(|_| byte)
}

/// `x - y` of a byte in a float lane and a constant: both constants at once.
pub(super) fn byte_less(b: &mut Builder, x: Value, y: Value) -> Option<Value> {
    let (sum, lifted) = raised(b, x)?;
    let more = number(b, y).filter(|more| is_whole(*more))?;
    let lifted = constant(b, x, f64::from(lifted + more));
    Some(b.vec(VecOp::Sub, &[sum, lifted]))
}

/// The sum with [`ROUNDER`], and what is taken off it.
fn raised(b: &Builder, byte: Value) -> Option<(Value, f32)> {
    let [sum, lifted] = operands(b, VecOp::Sub, byte)?;
    let [_, rounder] = operands(b, VecOp::Add, sum)?;
    let lifted = number(b, lifted).filter(|lifted| is_whole(lifted - ROUNDER))?;
    (number(b, rounder) == Some(ROUNDER)).then_some((sum, lifted))
}

fn is_whole(number: f32) -> bool {
    number.abs() <= LARGEST_ZERO && number.fract() == 0.0
}

/// The operands of an op of lanes.
fn operands<const N: usize>(b: &Builder, wanted: VecOp, x: Value) -> Option<[Value; N]> {
    let op = b.func().def_op(x)?;
    match b.func().kind(op) {
        CpuOp::Vec { op: own, .. } if *own == wanted => b.func().operands(op).try_into().ok(),
        _ => None,
    }
}

/// The number that all lanes have.
fn number(b: &Builder, x: Value) -> Option<f32> {
    b.as_vec_const(x).map(|bits| f32::from_bits(bits as u32))
}
