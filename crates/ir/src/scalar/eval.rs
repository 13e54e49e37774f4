//! What each scalar operation computes: the one table that every executor is checked against.
//!
//! Before: the operand dtypes pass [`ScalarOp::result_type`].  After: bits as `docs/numerics.md` says; NaN payloads
//! are unspecified.  Method: a `match` picks the formula and the element type once, then one monomorphic loop runs.
//! Floats of at most 8 bits are computed in `f64` and rounded once (`small.rs`). Transcendental functions go through `f64` (crate `libm`, the same on every machine) and are rounded once.

use super::ScalarOp;
use super::lane::{Float, I2, I4, Int, Lane, U2, U4};
use super::small;
use half::{bf16, f16};
use tegula_base::{DType, HostTensor};

/// One element: the operands' bits, zero-extended, to the result's.
/// Panics when the dtypes do not fit the op (a caller's bug).
pub fn eval(op: ScalarOp, dtypes: &[DType], bits: &[u64]) -> u64 {
    let bytes: [[u8; 8]; 3] = std::array::from_fn(|i| bits.get(i).copied().unwrap_or(0).to_le_bytes());
    let mut operands: [(&[u8], DType); 3] = [(&[], DType::Bool); 3];
    for (i, dtype) in dtypes.iter().enumerate() {
        operands[i] = (&bytes[i][..dtype.size()], *dtype);
    }
    let result = result_type(op, dtypes);
    let mut out = [0; 8];
    apply(op, &operands[..dtypes.len()], result, &mut out[..result.size()]);
    u64::from_le_bytes(out)
}

/// Whole slices of little-endian elements. Every operand has the same number of elements, or one, which is then
/// used for all. `out` is replaced by the result.
/// Panics when dtypes or lengths do not fit (a caller's bug).
pub fn eval_slice(op: ScalarOp, operands: &[(&[u8], DType)], out: &mut Vec<u8>) {
    let counts = operands.iter().map(|(bytes, dtype)| bytes.len() / dtype.size());
    let count = counts.into_iter().find(|n| *n != 1).unwrap_or(1);
    let dtypes: Vec<DType> = operands.iter().map(|(_, dtype)| *dtype).collect();
    out.resize(count * result_type(op, &dtypes).size(), 0);
    eval_into(op, operands, out);
}

/// A tensor of real numbers, each rounded to the type as a cast does.
pub fn from_reals(dtype: DType, shape: &[usize], reals: &[f64]) -> HostTensor {
    let wide: Vec<u8> = reals.iter().flat_map(|real| real.to_le_bytes()).collect();
    let mut bytes = Vec::new();
    eval_slice(ScalarOp::Cast { to: dtype, saturate: true }, &[(&wide, DType::F64)], &mut bytes);
    HostTensor { dtype, shape: shape.to_vec(), bytes }
}

/// As [`eval_slice`], into a slice of the result's length.
pub fn eval_into(op: ScalarOp, operands: &[(&[u8], DType)], out: &mut [u8]) {
    let dtypes: Vec<DType> = operands.iter().map(|(_, dtype)| *dtype).collect();
    let result = result_type(op, &dtypes);
    let count = out.len() / result.size();
    let counts = operands.iter().map(|(bytes, dtype)| bytes.len() / dtype.size());
    assert!(counts.clone().all(|n| n == count || n == 1), "`{op}` on slices of different lengths");
    if counts.into_iter().all(|n| n == count) {
        apply(op, operands, result, out);
    } else {
        apply_broadcast(op, operands, result, out);
    }
}

/// What a reduction by `op` starts from; `None` when `op` is no reduction or is not defined on `dtype`.
pub fn identity(op: ScalarOp, dtype: DType) -> Option<u64> {
    op.result_type(&[dtype, dtype]).ok()?;
    // A type without an infinity starts from its largest or smallest value.
    let saturate = dtype.small_float().is_some_and(|format| !format.has_infinity());
    let float = |value: f64| eval(ScalarOp::Cast { to: dtype, saturate }, &[DType::F64], &[value.to_bits()]);
    let int =
        |value: i128| eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::I64], &[value as u64]);
    match (op, dtype.int_range()) {
        (ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor, _) => Some(0),
        (ScalarOp::Mul, None) => Some(float(1.0)),
        (ScalarOp::Mul, Some(_)) => Some(int(1)),
        (ScalarOp::Min, None) => Some(float(f64::INFINITY)),
        (ScalarOp::Max, None) => Some(float(f64::NEG_INFINITY)),
        (ScalarOp::Min, Some((_, max))) => Some(int(max)),
        (ScalarOp::Max, Some((min, _))) => Some(int(min)),
        (ScalarOp::And, Some(_)) => Some(int(-1)),
        _ => None,
    }
}

fn result_type(op: ScalarOp, dtypes: &[DType]) -> DType {
    op.result_type(dtypes)
        .unwrap_or_else(|error| panic!("invariant: scalar operands are checked before: {error}"))
}

/// Elements handled at once while a single element is repeated.
const BLOCK: usize = 512;

/// One-element operands are repeated into a block, so that the loops know only equal lengths.
fn apply_broadcast(op: ScalarOp, operands: &[(&[u8], DType)], result: DType, out: &mut [u8]) {
    let size = result.size();
    let blocks: Vec<Option<Vec<u8>>> = operands
        .iter()
        .map(|(bytes, dtype)| (bytes.len() == dtype.size()).then(|| bytes.repeat(BLOCK)))
        .collect();
    for (i, chunk) in out.chunks_mut(BLOCK * size).enumerate() {
        let count = chunk.len() / size;
        let part: Vec<(&[u8], DType)> = operands
            .iter()
            .zip(&blocks)
            .map(|((bytes, dtype), block)| {
                let start = if block.is_some() { 0 } else { i * BLOCK };
                let from = block.as_deref().unwrap_or(bytes);
                (&from[start * dtype.size()..(start + count) * dtype.size()], *dtype)
            })
            .collect();
        apply(op, &part, result, chunk);
    }
}

/// Runs `$body` with the type name `$t` standing for the dtype's lane.
macro_rules! with_int {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::I2 => {
                type $t = I2;
                $body
            }
            DType::U2 => {
                type $t = U2;
                $body
            }
            DType::I4 => {
                type $t = I4;
                $body
            }
            DType::U4 => {
                type $t = U4;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::U8 => {
                type $t = u8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::U16 => {
                type $t = u16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::U32 => {
                type $t = u32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::U64 => {
                type $t = u64;
                $body
            }
            other => unreachable!("invariant: {other} is an integer"),
        }
    };
}

macro_rules! with_float {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::F16 => {
                type $t = f16;
                $body
            }
            DType::BF16 => {
                type $t = bf16;
                $body
            }
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F64 => {
                type $t = f64;
                $body
            }
            other => unreachable!("invariant: {other} is a float"),
        }
    };
}

pub(super) fn apply(op: ScalarOp, operands: &[(&[u8], DType)], result: DType, out: &mut [u8]) {
    let bytes = |i: usize| operands[i].0;
    match (op, operands[0].1) {
        (ScalarOp::Select, _) => select(bytes(0), bytes(1), bytes(2), result.size(), out),
        (ScalarOp::Cast { to, saturate }, from) => cast(from, to, saturate, bytes(0), out),
        (ScalarOp::Bitcast { to }, _) => bitcast(to, bytes(0), out),
        (op, DType::Bool) => apply_bool(op, operands, out),
        (op, dtype) if dtype.small_float().is_some() => small::apply(op, operands, result, out),
        (op, dtype) if dtype.is_float() => with_float!(dtype, T => match op.arity() {
            1 => float_unary::<T>(op, bytes(0), out),
            2 => float_binary::<T>(op, bytes(0), bytes(1), out),
            _ => map3::<T>(bytes(0), bytes(1), bytes(2), out, T::fma),
        }),
        (op, dtype) => with_int!(dtype, T => match op.arity() {
            1 => int_unary::<T>(op, bytes(0), out),
            _ => int_binary::<T>(op, bytes(0), bytes(1), out),
        }),
    }
}

pub(super) fn map1<A: Lane, R: Lane>(a: &[u8], out: &mut [u8], f: impl Fn(A) -> R) {
    for (a, out) in a.chunks_exact(A::SIZE).zip(out.chunks_exact_mut(R::SIZE)) {
        f(A::load(a)).store(out);
    }
}

fn map2<A: Lane, R: Lane>(a: &[u8], b: &[u8], out: &mut [u8], f: impl Fn(A, A) -> R) {
    let operands = a.chunks_exact(A::SIZE).zip(b.chunks_exact(A::SIZE));
    for ((a, b), out) in operands.zip(out.chunks_exact_mut(R::SIZE)) {
        f(A::load(a), A::load(b)).store(out);
    }
}

fn map3<A: Lane>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8], f: impl Fn(A, A, A) -> A) {
    let operands = a.chunks_exact(A::SIZE).zip(b.chunks_exact(A::SIZE)).zip(c.chunks_exact(A::SIZE));
    for (((a, b), c), out) in operands.zip(out.chunks_exact_mut(A::SIZE)) {
        f(A::load(a), A::load(b), A::load(c)).store(out);
    }
}

fn select(which: &[u8], yes: &[u8], no: &[u8], size: usize, out: &mut [u8]) {
    let sources = yes.chunks_exact(size).zip(no.chunks_exact(size));
    for ((which, (yes, no)), out) in which.iter().zip(sources).zip(out.chunks_exact_mut(size)) {
        out.copy_from_slice(if *which != 0 { yes } else { no });
    }
}

fn bitcast(to: DType, bytes: &[u8], out: &mut [u8]) {
    match to {
        // Held wider than they are, so that the unused bits follow the type.
        DType::Bool => map1(bytes, out, |a: u8| a != 0),
        DType::I2 => map1(bytes, out, |a: I2| a),
        DType::U2 => map1(bytes, out, |a: U2| a),
        DType::I4 => map1(bytes, out, |a: I4| a),
        DType::U4 => map1(bytes, out, |a: U4| a),
        DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2 => map1(bytes, out, |a: u8| a & ((1 << to.bits()) - 1)),
        _ => out.copy_from_slice(bytes),
    }
}

fn cast(from: DType, to: DType, saturate: bool, a: &[u8], out: &mut [u8]) {
    match (from, to) {
        (from, to) if from.small_float().is_some() => small::cast_from(from, to, saturate, a, out),
        (from, to) if to.small_float().is_some() => small::cast_to(from, to, saturate, a, out),
        (DType::Bool, DType::Bool) => map1(a, out, |a: bool| a),
        (DType::Bool, to) if to.is_float() => {
            with_float!(to, R => map1(a, out, |a: bool| R::narrow(f64::from(u8::from(a)))))
        }
        (DType::Bool, to) => with_int!(to, R => map1(a, out, |a: bool| R::wrap(i64::from(a)))),
        (from, DType::Bool) if from.is_float() => {
            with_float!(from, A => map1(a, out, |a: A| a.wide() != 0.0))
        }
        (from, DType::Bool) => with_int!(from, A => map1(a, out, |a: A| a.wide() != 0)),
        (from, to) if from.is_float() && to.is_float() => with_float!(from, A => with_float!(to, R => {
            map1(a, out, |a: A| R::narrow(a.wide()));
        })),
        (from, to) if from.is_float() => {
            with_float!(from, A => with_int!(to, R => map1(a, out, |a: A| R::from_float(a.wide()))))
        }
        (from, to) if to.is_float() => with_int!(from, A => with_float!(to, R => {
            if A::SIGNED {
                map1(a, out, |a: A| R::from_i64(a.wide()));
            } else {
                map1(a, out, |a: A| R::from_u64(a.wide() as u64));
            }
        })),
        (from, to) => with_int!(from, A => with_int!(to, R => map1(a, out, |a: A| R::wrap(a.wide())))),
    }
}

fn apply_bool(op: ScalarOp, operands: &[(&[u8], DType)], out: &mut [u8]) {
    let a = operands[0].0;
    if op == ScalarOp::Not {
        return map1(a, out, |a: bool| !a);
    }
    let b = operands[1].0;
    match op {
        ScalarOp::And => map2(a, b, out, |a: bool, b: bool| a & b),
        ScalarOp::Or => map2(a, b, out, |a: bool, b: bool| a | b),
        ScalarOp::Xor => map2(a, b, out, |a: bool, b: bool| a ^ b),
        _ => ordered::<bool>(op, a, b, out),
    }
}

/// Minima, maxima and comparisons, which every dtype has.
fn ordered<T: Lane>(op: ScalarOp, a: &[u8], b: &[u8], out: &mut [u8]) {
    match op {
        ScalarOp::Min => map2(a, b, out, T::minimum),
        ScalarOp::Max => map2(a, b, out, T::maximum),
        ScalarOp::Eq => map2(a, b, out, |a: T, b: T| a == b),
        ScalarOp::Ne => map2(a, b, out, |a: T, b: T| a != b),
        ScalarOp::Lt => map2(a, b, out, |a: T, b: T| a < b),
        ScalarOp::Le => map2(a, b, out, |a: T, b: T| a <= b),
        ScalarOp::Gt => map2(a, b, out, |a: T, b: T| a > b),
        ScalarOp::Ge => map2(a, b, out, |a: T, b: T| a >= b),
        other => unreachable!("invariant: the dtype check refuses `{other}`"),
    }
}

// --- integers ------------------------------------------------------------------------------------------------

fn int_unary<T: Int>(op: ScalarOp, a: &[u8], out: &mut [u8]) {
    match op {
        ScalarOp::Neg => map1(a, out, |a: T| T::wrap(a.wide().wrapping_neg())),
        ScalarOp::Abs if T::SIGNED => map1(a, out, |a: T| T::wrap(a.wide().wrapping_abs())),
        ScalarOp::Sign if T::SIGNED => map1(a, out, |a: T| T::wrap(a.wide().signum())),
        ScalarOp::Sign => map1(a, out, |a: T| T::wrap(i64::from(a.wide() != 0))),
        ScalarOp::Not => map1(a, out, |a: T| T::wrap(!a.wide())),
        ScalarOp::Abs | ScalarOp::Ceil | ScalarOp::Floor | ScalarOp::Round | ScalarOp::Trunc => {
            out.copy_from_slice(a);
        }
        other => unreachable!("invariant: the dtype check refuses `{other}` on integers"),
    }
}

fn int_binary<T: Int>(op: ScalarOp, a: &[u8], b: &[u8], out: &mut [u8]) {
    let mut wide = |f: fn(i64, i64) -> i64| map2(a, b, out, |a: T, b: T| T::wrap(f(a.wide(), b.wide())));
    match op {
        ScalarOp::Add => map2(a, b, out, |a: T, b: T| T::wrap(a.wide().wrapping_add(b.wide()))),
        ScalarOp::Sub => map2(a, b, out, |a: T, b: T| T::wrap(a.wide().wrapping_sub(b.wide()))),
        ScalarOp::Mul => map2(a, b, out, |a: T, b: T| T::wrap(a.wide().wrapping_mul(b.wide()))),
        ScalarOp::And => map2(a, b, out, |a: T, b: T| T::wrap(a.wide() & b.wide())),
        ScalarOp::Or => map2(a, b, out, |a: T, b: T| T::wrap(a.wide() | b.wide())),
        ScalarOp::Xor => map2(a, b, out, |a: T, b: T| T::wrap(a.wide() ^ b.wide())),
        ScalarOp::Div => wide(if T::SIGNED { signed_div } else { unsigned_div }),
        ScalarOp::Rem => wide(if T::SIGNED { signed_rem } else { unsigned_rem }),
        ScalarOp::Mod => wide(if T::SIGNED { signed_mod } else { unsigned_rem }),
        ScalarOp::Pow => wide(if T::SIGNED { signed_pow } else { unsigned_pow }),
        ScalarOp::ShiftLeft => map2(a, b, out, |a: T, b: T| T::wrap(shift_left(a.wide(), b.wide(), T::BITS))),
        ScalarOp::ShiftRight if T::SIGNED => {
            map2(a, b, out, |a: T, b: T| T::wrap(shift_right(a.wide(), b.wide(), T::BITS)))
        }
        ScalarOp::ShiftRight => {
            map2(a, b, out, |a: T, b: T| T::wrap(shift_right_logical(a.wide(), b.wide(), T::BITS)))
        }
        other => ordered::<T>(other, a, b, out),
    }
}

fn signed_div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

fn unsigned_div(a: i64, b: i64) -> i64 {
    (a as u64).checked_div(b as u64).unwrap_or(0) as i64
}

fn signed_rem(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

fn unsigned_rem(a: i64, b: i64) -> i64 {
    (a as u64).checked_rem(b as u64).unwrap_or(0) as i64
}

fn signed_mod(a: i64, b: i64) -> i64 {
    let rem = signed_rem(a, b);
    if rem != 0 && (rem < 0) != (b < 0) { rem + b } else { rem }
}

/// By squaring, wrapping; a negative exponent gives the truncated reciprocal (0 for a base of 0).
fn signed_pow(base: i64, exponent: i64) -> i64 {
    match (base, exponent < 0) {
        (_, false) => unsigned_pow(base, exponent),
        (1, true) => 1,
        (-1, true) => 1 - 2 * (exponent & 1),
        _ => 0,
    }
}

fn unsigned_pow(base: i64, exponent: i64) -> i64 {
    let (mut power, mut square, mut left) = (1i64, base, exponent as u64);
    while left != 0 {
        if left & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    power
}

fn shift_left(a: i64, count: i64, bits: u32) -> i64 {
    if (count as u64) < u64::from(bits) { a << count } else { 0 }
}

fn shift_right(a: i64, count: i64, bits: u32) -> i64 {
    if (count as u64) < u64::from(bits) { a >> count } else { 0 }
}

fn shift_right_logical(a: i64, count: i64, bits: u32) -> i64 {
    if (count as u64) < u64::from(bits) { ((a as u64) >> count) as i64 } else { 0 }
}

// --- floats --------------------------------------------------------------------------------------------------

fn float_unary<T: Float>(op: ScalarOp, a: &[u8], out: &mut [u8]) {
    match op {
        ScalarOp::IsNan => return map1(a, out, |a: T| a.wide().is_nan()),
        ScalarOp::IsInf => return map1(a, out, |a: T| a.wide().is_infinite()),
        // Hot in real models, and cheaper than the call through a function pointer below.
        ScalarOp::Neg => return map1(a, out, |a: T| T::narrow(-a.wide())),
        ScalarOp::Abs => return map1(a, out, |a: T| T::narrow(a.wide().abs())),
        ScalarOp::Sqrt => return map1(a, out, |a: T| T::narrow(a.wide().sqrt())),
        ScalarOp::Reciprocal => return map1(a, out, |a: T| T::narrow(1.0 / a.wide())),
        ScalarOp::Exp => return map1(a, out, |a: T| T::narrow(libm::exp(a.wide()))),
        _ => {}
    }
    let f = real_function(op);
    map1(a, out, |a: T| T::narrow(f(a.wide())));
}

/// The function on `f64`; the caller rounds its value once.
fn real_function(op: ScalarOp) -> fn(f64) -> f64 {
    match op {
        ScalarOp::Neg => |x| -x,
        ScalarOp::Abs => f64::abs,
        ScalarOp::Sign => sign,
        ScalarOp::Ceil => f64::ceil,
        ScalarOp::Floor => f64::floor,
        ScalarOp::Round => f64::round_ties_even,
        ScalarOp::Trunc => f64::trunc,
        ScalarOp::Sqrt => f64::sqrt,
        ScalarOp::Rsqrt => |x| 1.0 / x.sqrt(),
        ScalarOp::Reciprocal => |x| 1.0 / x,
        ScalarOp::Exp => libm::exp,
        ScalarOp::Exp2 => libm::exp2,
        ScalarOp::Log => libm::log,
        ScalarOp::Log1p => libm::log1p,
        ScalarOp::Expm1 => libm::expm1,
        ScalarOp::Sin => libm::sin,
        ScalarOp::Cos => libm::cos,
        ScalarOp::Tan => libm::tan,
        ScalarOp::Asin => libm::asin,
        ScalarOp::Acos => libm::acos,
        ScalarOp::Atan => libm::atan,
        ScalarOp::Sinh => libm::sinh,
        ScalarOp::Cosh => libm::cosh,
        ScalarOp::Tanh => libm::tanh,
        ScalarOp::Asinh => libm::asinh,
        // `libm` gives numbers far below 1, where there are none.
        ScalarOp::Acosh => |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
        ScalarOp::Atanh => libm::atanh,
        ScalarOp::Erf => libm::erf,
        ScalarOp::Sigmoid => sigmoid,
        other => unreachable!("invariant: the dtype check refuses `{other}` on floats"),
    }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }
}

/// The form whose exponential cannot overflow.
fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0 / (1.0 + libm::exp(-x));
    }
    let e = libm::exp(x);
    e / (1.0 + e)
}

fn float_binary<T: Float>(op: ScalarOp, a: &[u8], b: &[u8], out: &mut [u8]) {
    let mut wide = |f: fn(f64, f64) -> f64| map2(a, b, out, |a: T, b: T| T::narrow(f(a.wide(), b.wide())));
    match op {
        ScalarOp::Add => map2(a, b, out, T::add),
        ScalarOp::Sub => map2(a, b, out, T::sub),
        ScalarOp::Mul => map2(a, b, out, T::mul),
        ScalarOp::Div => map2(a, b, out, T::div),
        ScalarOp::Rem => wide(libm::fmod),
        ScalarOp::Mod => wide(float_mod),
        ScalarOp::Pow => wide(libm::pow),
        ScalarOp::Atan2 => wide(libm::atan2),
        other => ordered::<T>(other, a, b, out),
    }
}

/// As Python: the sign of the divisor, also on zero.
fn float_mod(a: f64, b: f64) -> f64 {
    let rem = libm::fmod(a, b);
    if rem == 0.0 {
        rem.copysign(b)
    } else if (rem < 0.0) != (b < 0.0) {
        rem + b
    } else {
        rem
    }
}
