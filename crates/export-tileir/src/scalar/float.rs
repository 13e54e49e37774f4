//! Operations on f16, bf16, f32 and f64. What has an op of Tile IR is that op; the rest is composed of them.

use super::{Made, Refused};
use crate::writer::Writer;
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{Attribute, ComparisonPredicate, ScalarType, Value};
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_tiling::coefficients::{ERF, ERFC_ROOT};

/// erfc below is less than half an ulp of 1: erf is 1.
const ERF_LIMIT: f64 = 4.1;
/// Above, `x^2 + 1` is `x^2` in f32 and f64, and `x^2` is finite in f32.
const SQUARE_LIMIT: f64 = 1e9;

/// Whether f16 and bf16 have the operation themselves, rounded once.
pub(super) fn is_native(op: ScalarOp) -> bool {
    use ScalarOp::*;
    matches!(op, Neg | Abs | Add | Sub | Mul | Min | Max | Eq | Ne | Lt | Le | Gt | Ge)
}

pub(super) fn apply(w: &mut Writer, op: ScalarOp, dtype: DType, args: &[Value]) -> Made<Value> {
    use ComparisonPredicate as Cmp;
    use ScalarOp::*;
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    Ok(match op {
        Neg => w.unary(Opcode::NegF, a),
        Abs => w.unary(Opcode::AbsF, a),
        Sign => {
            let (zero, one, minus) = (w.real(a, 0.0), w.real(a, 1.0), w.real(a, -1.0));
            let (above, below) = (w.comparef(Cmp::GreaterThan, a, zero), w.comparef(Cmp::LessThan, a, zero));
            let rest = w.select(below, minus, a);
            w.select(above, one, rest)
        }
        Ceil => w.unary(Opcode::Ceil, a),
        Floor => w.unary(Opcode::Floor, a),
        Trunc => {
            let zero = w.real(a, 0.0);
            let (up, down) = (w.unary(Opcode::Ceil, a), w.unary(Opcode::Floor, a));
            let below = w.comparef(Cmp::LessThan, a, zero);
            w.select(below, up, down)
        }
        Round => {
            // From here on every number is whole; adding it rounds to nearest, ties to even.
            let whole = if dtype == DType::F64 { (1u64 << 52) as f64 } else { (1u64 << 23) as f64 };
            let (whole, size) = (w.real(a, whole), w.unary(Opcode::AbsF, a));
            let sum = w.addf(size, whole);
            let rounded = w.subf(sum, whole);
            let small = w.comparef(Cmp::LessThan, size, whole);
            let rounded = with_sign(w, rounded, a);
            w.select(small, rounded, a)
        }
        Sqrt => w.sqrt(a),
        Rsqrt => w.unary(Opcode::Rsqrt, a),
        Reciprocal => {
            let one = w.real(a, 1.0);
            w.divf(one, a)
        }
        Exp => w.unary(Opcode::Exp, a),
        Exp2 => w.unary(Opcode::Exp2, a),
        Log => w.unary(Opcode::Log, a),
        Log1p => log1p(w, a),
        Expm1 => expm1(w, a),
        Sin => w.unary(Opcode::Sin, a),
        Cos => w.unary(Opcode::Cos, a),
        Tan => w.unary(Opcode::Tan, a),
        Sinh => w.unary(Opcode::SinH, a),
        Cosh => w.unary(Opcode::CosH, a),
        Tanh => w.unary(Opcode::TanH, a),
        Asin | Acos => {
            let one = w.real(a, 1.0);
            let (less, more) = (w.subf(one, a), w.addf(one, a));
            let square = w.mulf(less, more);
            let other = w.sqrt(square);
            match op {
                Asin => w.binary(Opcode::Atan2, a, other),
                _ => w.binary(Opcode::Atan2, other, a),
            }
        }
        Atan => {
            let one = w.real(a, 1.0);
            w.binary(Opcode::Atan2, a, one)
        }
        Atan2 => w.binary(Opcode::Atan2, a, b),
        Asinh => {
            let size = w.unary(Opcode::AbsF, a);
            let one = w.real(a, 1.0);
            let square = w.mulf(size, size);
            let sum = w.addf(square, one);
            let root = w.sqrt(sum);
            let below = w.addf(root, one);
            let part = w.divf(square, below);
            let x = w.addf(size, part);
            let near = log1p(w, x);
            let far = log_twice(w, size);
            let result = beyond(w, size, far, near);
            with_sign(w, result, a)
        }
        Acosh => {
            let one = w.real(a, 1.0);
            let x = w.subf(a, one);
            let twice = w.addf(x, x);
            let inner = w.fma(x, x, twice);
            let root = w.sqrt(inner);
            let sum = w.addf(x, root);
            let near = log1p(w, sum);
            let far = log_twice(w, a);
            beyond(w, a, far, near)
        }
        Atanh => {
            let size = w.unary(Opcode::AbsF, a);
            let (one, half) = (w.real(a, 1.0), w.real(a, 0.5));
            let twice = w.addf(size, size);
            let rest = w.subf(one, size);
            let ratio = w.divf(twice, rest);
            let log = log1p(w, ratio);
            let result = w.mulf(half, log);
            with_sign(w, result, a)
        }
        Erf if dtype == DType::F32 => erf(w, a),
        Sigmoid => {
            let one = w.real(a, 1.0);
            let negative = w.unary(Opcode::NegF, a);
            let exp = w.unary(Opcode::Exp, negative);
            let sum = w.addf(one, exp);
            w.divf(one, sum)
        }
        IsNan => w.comparef(Cmp::NotEqual, a, a),
        IsInf => {
            let (size, infinite) = (w.unary(Opcode::AbsF, a), w.real(a, f64::INFINITY));
            w.comparef(Cmp::Equal, size, infinite)
        }
        Add => w.addf(a, b),
        Sub => w.subf(a, b),
        Mul => w.mulf(a, b),
        Div => w.divf(a, b),
        Rem => w.binary(Opcode::RemF, a, b),
        Mod => {
            let rest = w.binary(Opcode::RemF, a, b);
            let zero = w.real(a, 0.0);
            let uneven = w.comparef(Cmp::NotEqual, rest, zero);
            let (x, y) = (w.comparef(Cmp::LessThan, rest, zero), w.comparef(Cmp::LessThan, b, zero));
            let opposed = w.xor(x, y);
            let moved = w.and(uneven, opposed);
            let other = w.addf(rest, b);
            w.select(moved, other, rest)
        }
        Pow => w.binary(Opcode::Pow, a, b),
        Min | Max => {
            let opcode = if op == Min { Opcode::MinF } else { Opcode::MaxF };
            let ty = w.ty(a);
            w.with(opcode, &[a, b], ty, &[("propagate_nan", Attribute::Bool(true))])
        }
        Eq => w.comparef(Cmp::Equal, a, b),
        Ne => w.comparef(Cmp::NotEqual, a, b),
        Lt => w.comparef(Cmp::LessThan, a, b),
        Le => w.comparef(Cmp::LessThanOrEqual, a, b),
        Gt => w.comparef(Cmp::GreaterThan, a, b),
        Ge => w.comparef(Cmp::GreaterThanOrEqual, a, b),
        Fma => w.fma(a, b, args[2]),
        other => return Err(Refused(format!("`{other}` on {dtype}"))),
    })
}

/// `size`, which is not negative, with the sign bit of `of`.
fn with_sign(w: &mut Writer, size: Value, of: Value) -> Value {
    let integer = if w.element(of) == ScalarType::F64 { ScalarType::I64 } else { ScalarType::I32 };
    let bits = w.bitcast(of, integer);
    let zero = w.int(bits, 0);
    let negative = w.compare(ComparisonPredicate::LessThan, bits, zero, true);
    let other = w.unary(Opcode::NegF, size);
    w.select(negative, other, size)
}

/// `far` where the square of `x` would overflow or hide a one, else `near`.
fn beyond(w: &mut Writer, x: Value, far: Value, near: Value) -> Value {
    let limit = w.real(x, SQUARE_LIMIT);
    let is_far = w.comparef(ComparisonPredicate::GreaterThan, x, limit);
    w.select(is_far, far, near)
}

/// `log(2 x)`.
fn log_twice(w: &mut Writer, x: Value) -> Value {
    let (log, two) = (w.unary(Opcode::Log, x), w.real(x, std::f64::consts::LN_2));
    w.addf(log, two)
}

/// `u = 1 + x` rounded; `log(u) x / (u - 1)` makes up for the rounding (Higham, "Accuracy and Stability of Numerical
/// Algorithms", problem 1.5).
fn log1p(w: &mut Writer, x: Value) -> Value {
    let one = w.real(x, 1.0);
    let u = w.addf(x, one);
    let log = w.unary(Opcode::Log, u);
    let rest = w.subf(u, one);
    let ratio = w.divf(x, rest);
    let near = w.mulf(log, ratio);
    let is_one = w.comparef(ComparisonPredicate::Equal, u, one);
    let near = w.select(is_one, x, near);
    let limit = w.real(x, SQUARE_LIMIT);
    let is_far = w.comparef(ComparisonPredicate::GreaterThan, x, limit);
    w.select(is_far, log, near)
}

/// `u = exp(x)` rounded; `(u - 1) x / log(u)` makes up for the rounding (the same, section 1.14.1).
fn expm1(w: &mut Writer, x: Value) -> Value {
    let (one, minus) = (w.real(x, 1.0), w.real(x, -1.0));
    let u = w.unary(Opcode::Exp, x);
    let rest = w.subf(u, one);
    let log = w.unary(Opcode::Log, u);
    let ratio = w.divf(x, log);
    let near = w.mulf(rest, ratio);
    let is_one = w.comparef(ComparisonPredicate::Equal, u, one);
    let near = w.select(is_one, x, near);
    // Far from zero nothing is lost, and the quotient may be of infinities.
    let low = w.comparef(ComparisonPredicate::LessThan, x, minus);
    let high = w.comparef(ComparisonPredicate::GreaterThan, x, one);
    let is_far = w.or(low, high);
    w.select(is_far, rest, near)
}

/// The polynomial with these coefficients from the constant term up.
fn horner(w: &mut Writer, coefficients: &[f32], x: Value) -> Value {
    let (last, rest) = coefficients.split_last().expect("invariant: a polynomial has a coefficient");
    let mut sum = w.real(x, f64::from(*last));
    for c in rest.iter().rev() {
        let c = w.real(x, f64::from(*c));
        sum = w.fma(x, sum, c);
    }
    sum
}

fn erf(w: &mut Writer, x: Value) -> Value {
    let (size, square, one) = (w.unary(Opcode::AbsF, x), w.mulf(x, x), w.real(x, 1.0));
    let inner = horner(w, &ERF, square);
    let near = w.fma(x, inner, x);
    let limit = w.real(x, ERF_LIMIT);
    let ty = w.ty(x);
    let bounded = w.with(Opcode::MinF, &[size, limit], ty, &[("propagate_nan", Attribute::Bool(true))]);
    let u = w.subf(bounded, one);
    let root = horner(w, &ERFC_ROOT, u);
    let square = w.mulf(root, root);
    let fourth = w.mulf(square, square);
    let rest = w.subf(one, fourth);
    let far = with_sign(w, rest, x);
    let is_near = w.comparef(ComparisonPredicate::LessThanOrEqual, size, one);
    w.select(is_near, near, far)
}
