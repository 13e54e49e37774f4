//! Float operations: `f32` and `f64` in their own lanes; narrower types compute in `f32` lanes and are rounded.
//!
//! Rounding `+ - * / sqrt` of `f32` a second time to at most 11 bits is innocuous, as 24 >= 2 * 11 + 2
//! (Figueroa, "When is double rounding innocuous?", SIGNUM 1995). Only products and quotients that are denormal
//! in `bf16` are denormal in `f32` too, and may be off by one of its smallest steps.

use super::{cast, erf, exp, log, pow, quantise, tanh, trig};
use crate::schedule::{Builder, CompareOp, Elem, VecOp};
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_package::Function;

pub(super) fn expand(b: &mut Builder, op: ScalarOp, dtype: DType, args: &[Value]) -> Value {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(x);
    match op {
        // Results that are no new numbers: nothing to round.
        ScalarOp::Neg => {
            let sign = sign_bit(b, x);
            b.vec(VecOp::Xor, &[x, sign])
        }
        ScalarOp::Abs => abs(b, x),
        ScalarOp::Sign => sign(b, x),
        ScalarOp::Ceil => b.vec(VecOp::Ceil, &[x]),
        ScalarOp::Floor => b.vec(VecOp::Floor, &[x]),
        ScalarOp::Round => b.vec(VecOp::RoundEven, &[x]),
        ScalarOp::Trunc => b.vec(VecOp::Trunc, &[x]),
        ScalarOp::Min => minimum(b, x, y),
        ScalarOp::Max => maximum(b, x, y),
        ScalarOp::IsNan => b.compare(CompareOp::Ne, x, x),
        ScalarOp::IsInf => {
            let magnitude = abs(b, x);
            let infinity = constant(b, x, f64::INFINITY);
            b.compare(CompareOp::Eq, magnitude, infinity)
        }
        ScalarOp::Eq => b.compare(CompareOp::Eq, x, y),
        ScalarOp::Ne => b.compare(CompareOp::Ne, x, y),
        ScalarOp::Lt => b.compare(CompareOp::Lt, x, y),
        ScalarOp::Le => b.compare(CompareOp::Le, x, y),
        ScalarOp::Gt => b.compare(CompareOp::Lt, y, x),
        ScalarOp::Ge => b.compare(CompareOp::Le, y, x),
        _ => {
            let wide = match op {
                ScalarOp::Fma if dtype.bits() < 32 => narrow_fma(b, args),
                _ => wide(b, op, args),
            };
            cast::round(b, dtype, false, wide)
        }
    }
}

/// `a b + c` of narrow floats rounded to odd, ready for the rounding to their type. The product is exact in `f32`
/// lanes; the error of the sum is Knuth's TwoSum.
fn narrow_fma(b: &mut Builder, args: &[Value]) -> Value {
    let (x, y, c) = (args[0], args[1], args[2]);
    let product = b.vec(VecOp::Mul, &[x, y]);
    // Fused only for products below the range of `f32`, which `bf16` has.
    let sum = b.vec(VecOp::Fma, &[x, y, c]);
    let part = b.vec(VecOp::Sub, &[sum, product]);
    let back = b.vec(VecOp::Sub, &[sum, part]);
    let lost = b.vec(VecOp::Sub, &[product, back]);
    let other = b.vec(VecOp::Sub, &[c, part]);
    let error = b.vec(VecOp::Add, &[lost, other]);
    let (sign, zero) = (sign_bit(b, x), constant(b, x, 0.0));
    let sign = b.vec(VecOp::And, &[sum, sign]);
    let outwards = b.vec(VecOp::Xor, &[error, sign]);
    let too_small = b.compare(CompareOp::Lt, zero, outwards);
    let too_large = b.compare(CompareOp::Lt, outwards, zero);
    cast::odd_neighbour(b, sum, too_small, too_large)
}

/// The op in the lanes that it is computed in, not yet rounded to a narrower type.
fn wide(b: &mut Builder, op: ScalarOp, args: &[Value]) -> Value {
    let x = args[0];
    match op {
        ScalarOp::Add => b.vec(VecOp::Add, args),
        ScalarOp::Sub => quantise::byte_less(b, args[0], args[1]).unwrap_or_else(|| b.vec(VecOp::Sub, args)),
        ScalarOp::Mul => b.vec(VecOp::Mul, args),
        ScalarOp::Div => b.vec(VecOp::Div, args),
        ScalarOp::Fma => b.vec(VecOp::Fma, args),
        ScalarOp::Sqrt => b.vec(VecOp::Sqrt, args),
        ScalarOp::Rsqrt => {
            let root = b.vec(VecOp::Sqrt, args);
            let one = constant(b, x, 1.0);
            b.vec(VecOp::Div, &[one, root])
        }
        ScalarOp::Reciprocal => {
            let one = constant(b, x, 1.0);
            b.vec(VecOp::Div, &[one, x])
        }
        ScalarOp::Exp if is_f32(b, x) => exp::exp(b, x),
        ScalarOp::Exp2 => exp::exp2(b, x),
        ScalarOp::Expm1 if is_f32(b, x) => exp::expm1(b, x),
        ScalarOp::Sigmoid if is_f32(b, x) => exp::sigmoid(b, x),
        ScalarOp::Tanh if is_f32(b, x) => tanh::tanh(b, x),
        ScalarOp::Log if is_f32(b, x) => log::log(b, x),
        ScalarOp::Log1p if is_f32(b, x) => log::log1p(b, x),
        ScalarOp::Erf if is_f32(b, x) => erf::erf(b, x),
        ScalarOp::Sin if is_f32(b, x) => trig::sin(b, x),
        ScalarOp::Cos if is_f32(b, x) => trig::cos(b, x),
        ScalarOp::Pow if is_f32(b, x) => pow::pow(b, x, args[1]),
        _ => {
            let dtype = if is_f32(b, x) { DType::F32 } else { DType::F64 };
            let function = Function::find(op.name(), dtype);
            b.call(
                function.unwrap_or_else(|| unreachable!("invariant: `{op}` is in the function table")),
                args,
            )
        }
    }
}

fn is_f32(b: &Builder, x: Value) -> bool {
    b.shape(x).0 == Elem::F32
}

/// A number in lanes like those of `x`.
pub(super) fn constant(b: &mut Builder, x: Value, value: f64) -> Value {
    match b.shape(x) {
        (Elem::F32, lanes) => b.f32(lanes, value as f32),
        (_, lanes) => b.f64(lanes, value),
    }
}

/// -0, in lanes like those of `x`.
pub(super) fn sign_bit(b: &mut Builder, x: Value) -> Value {
    constant(b, x, -0.0)
}

pub(super) fn abs(b: &mut Builder, x: Value) -> Value {
    let sign = sign_bit(b, x);
    b.vec(VecOp::AndNot, &[sign, x])
}

/// 1 with the sign of `x`; zero and NaN stay.
fn sign(b: &mut Builder, x: Value) -> Value {
    let (zero, one, bit) = (constant(b, x, 0.0), constant(b, x, 1.0), sign_bit(b, x));
    let magnitude = abs(b, x);
    let signed = b.vec(VecOp::And, &[x, bit]);
    let unit = b.vec(VecOp::Or, &[signed, one]);
    let nonzero = b.compare(CompareOp::Lt, zero, magnitude);
    b.select(nonzero, unit, x)
}

/// NaN if either is NaN, -0 below +0. The machine's minimum gives its second operand in these cases, so both
/// orders together know all; their bits joined have the sign of -0 and the exponent of NaN.
fn minimum(b: &mut Builder, x: Value, y: Value) -> Value {
    if let Some((constant, other)) = plain_constant(b, x, y, -0.0) {
        return b.vec(VecOp::Min, &[constant, other]);
    }
    let one = b.vec(VecOp::Min, &[x, y]);
    let two = b.vec(VecOp::Min, &[y, x]);
    b.vec(VecOp::Or, &[one, two])
}

/// NaN if either is NaN, +0 above -0.
fn maximum(b: &mut Builder, x: Value, y: Value) -> Value {
    if let Some((constant, other)) = plain_constant(b, x, y, 0.0) {
        return b.vec(VecOp::Max, &[constant, other]);
    }
    if let Some((constant, other)) = zero_constant(b, x, y) {
        // Only -0 is left wrong, and adding +0 mends it.
        let larger = b.vec(VecOp::Max, &[constant, other]);
        return b.vec(VecOp::Add, &[larger, constant]);
    }
    b.vec(VecOp::Maximum, &[x, y])
}

/// A constant operand that is neither NaN nor `hard`, first, and the other one. With the constant first the
/// machine's order rules are the wanted ones.
fn plain_constant(b: &Builder, x: Value, y: Value, hard: f64) -> Option<(Value, Value)> {
    constant_first(b, x, y, |value| !value.is_nan() && value.to_bits() != hard.to_bits())
}

/// As [`plain_constant`], for +0.
fn zero_constant(b: &Builder, x: Value, y: Value) -> Option<(Value, Value)> {
    constant_first(b, x, y, |value| value.to_bits() == 0)
}

fn constant_first(b: &Builder, x: Value, y: Value, wanted: impl Fn(f64) -> bool) -> Option<(Value, Value)> {
    let value = |v: Value| {
        let bits = b.as_vec_const(v)?;
        Some(if is_f32(b, v) { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) })
    };
    let fits = |v: Value| value(v).is_some_and(&wanted);
    if fits(x) { Some((x, y)) } else { fits(y).then_some((y, x)) }
}
