//! The scalar functions behind word 0 of every argument block (`docs/abi.md`): numbers, names, results.
//!
//! The list is append-only: a number means the same function in every package ever written. Operands and
//! results are raw bits, low bits first. Functions on `f32` are computed in `f64` and rounded once; those on
//! `f64` are libm's (below 1 ulp for all but the hyperbolics, 2 ulp).

use half::{bf16, f16};
use tegula_base::{DType, small_float};

/// Declares the enum and its tables: `Variant = number, "name", operand dtype => result from (a, b)`.
macro_rules! functions {
    ($($variant:ident = $number:literal, $name:literal, $dtype:ident => $call:expr;)*) => {
        /// One entry of the function table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum Function { $($variant = $number),* }

        impl Function {
            /// All functions; entry `i` has number `i`.
            pub const ALL: [Function; [$($number),*].len()] = [$(Function::$variant),*];

            /// The spelling of the operation, e.g. `pow`; with the dtype it is unique.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name),* }
            }

            /// The dtype of the operands.
            pub fn dtype(self) -> DType {
                match self { $(Function::$variant => DType::$dtype),* }
            }

            /// The result's bits. A function of one operand ignores `b`.
            #[inline]
            pub fn call(self, a: u64, b: u64) -> u64 {
                let call: fn(u64, u64) -> u64 = match self { $(Function::$variant => $call),* };
                call(a, b)
            }
        }
    };
}

functions! {
    PowF32 = 0, "pow", F32 => |a, b| f32_2(a, b, libm::pow);
    PowF64 = 1, "pow", F64 => |a, b| f64_2(a, b, libm::pow);
    Atan2F32 = 2, "atan2", F32 => |a, b| f32_2(a, b, libm::atan2);
    Atan2F64 = 3, "atan2", F64 => |a, b| f64_2(a, b, libm::atan2);
    RemF32 = 4, "rem", F32 => |a, b| f32_2(a, b, remainder_of_f32);
    RemF64 = 5, "rem", F64 => |a, b| f64_2(a, b, libm::fmod);
    ModF32 = 6, "mod", F32 => |a, b| f32_2(a, b, |a, b| floored(remainder_of_f32(a, b), b));
    ModF64 = 7, "mod", F64 => |a, b| f64_2(a, b, |a, b| floored(libm::fmod(a, b), b));
    ExpF32 = 8, "exp", F32 => |a, _| f32_1(a, libm::exp);
    ExpF64 = 9, "exp", F64 => |a, _| f64_1(a, libm::exp);
    LogF32 = 10, "log", F32 => |a, _| f32_1(a, libm::log);
    LogF64 = 11, "log", F64 => |a, _| f64_1(a, libm::log);
    Log1pF32 = 12, "log1p", F32 => |a, _| f32_1(a, libm::log1p);
    Log1pF64 = 13, "log1p", F64 => |a, _| f64_1(a, libm::log1p);
    Expm1F32 = 14, "expm1", F32 => |a, _| f32_1(a, libm::expm1);
    Expm1F64 = 15, "expm1", F64 => |a, _| f64_1(a, libm::expm1);
    SinF32 = 16, "sin", F32 => |a, _| f32_1(a, libm::sin);
    SinF64 = 17, "sin", F64 => |a, _| f64_1(a, libm::sin);
    CosF32 = 18, "cos", F32 => |a, _| f32_1(a, libm::cos);
    CosF64 = 19, "cos", F64 => |a, _| f64_1(a, libm::cos);
    TanF32 = 20, "tan", F32 => |a, _| f32_1(a, libm::tan);
    TanF64 = 21, "tan", F64 => |a, _| f64_1(a, libm::tan);
    AsinF32 = 22, "asin", F32 => |a, _| f32_1(a, libm::asin);
    AsinF64 = 23, "asin", F64 => |a, _| f64_1(a, libm::asin);
    AcosF32 = 24, "acos", F32 => |a, _| f32_1(a, libm::acos);
    AcosF64 = 25, "acos", F64 => |a, _| f64_1(a, libm::acos);
    AtanF32 = 26, "atan", F32 => |a, _| f32_1(a, libm::atan);
    AtanF64 = 27, "atan", F64 => |a, _| f64_1(a, libm::atan);
    SinhF32 = 28, "sinh", F32 => |a, _| f32_1(a, libm::sinh);
    SinhF64 = 29, "sinh", F64 => |a, _| f64_1(a, libm::sinh);
    CoshF32 = 30, "cosh", F32 => |a, _| f32_1(a, libm::cosh);
    CoshF64 = 31, "cosh", F64 => |a, _| f64_1(a, libm::cosh);
    TanhF32 = 32, "tanh", F32 => |a, _| f32_1(a, libm::tanh);
    TanhF64 = 33, "tanh", F64 => |a, _| f64_1(a, libm::tanh);
    AsinhF32 = 34, "asinh", F32 => |a, _| f32_1(a, libm::asinh);
    AsinhF64 = 35, "asinh", F64 => |a, _| f64_1(a, libm::asinh);
    AcoshF32 = 36, "acosh", F32 => |a, _| f32_1(a, acosh);
    AcoshF64 = 37, "acosh", F64 => |a, _| f64_1(a, acosh);
    AtanhF32 = 38, "atanh", F32 => |a, _| f32_1(a, libm::atanh);
    AtanhF64 = 39, "atanh", F64 => |a, _| f64_1(a, libm::atanh);
    ErfF32 = 40, "erf", F32 => |a, _| f32_1(a, libm::erf);
    ErfF64 = 41, "erf", F64 => |a, _| f64_1(a, libm::erf);
    SigmoidF32 = 42, "sigmoid", F32 => |a, _| f32_1(a, sigmoid);
    SigmoidF64 = 43, "sigmoid", F64 => |a, _| f64_1(a, sigmoid);
    PowI32 = 44, "pow", I32 => |a, b| u64::from(int_pow(i128::from(a as i32), i128::from(b as i32)) as u32);
    PowU32 = 45, "pow", U32 => |a, b| u64::from(int_pow(i128::from(a as u32), i128::from(b as u32)) as u32);
    PowI64 = 46, "pow", I64 => |a, b| int_pow(i128::from(a as i64), i128::from(b as i64)) as u64;
    PowU64 = 47, "pow", U64 => |a, b| int_pow(i128::from(a), i128::from(b)) as u64;
    DivI64 = 48, "div", I64 => |a, b| int(a, b, i64::wrapping_div);
    DivU64 = 49, "div", U64 => |a, b| a.checked_div(b).unwrap_or(0);
    RemI64 = 50, "rem", I64 => |a, b| int(a, b, i64::wrapping_rem);
    RemU64 = 51, "rem", U64 => |a, b| a.checked_rem(b).unwrap_or(0);
    ModI64 = 52, "mod", I64 => |a, b| int(a, b, floored_mod_int);
    CastF64ToF16 = 53, "cast:f16", F64 => |a, _| u64::from(f16::from_f64(f64::from_bits(a)).to_bits());
    CastF64ToBF16 = 54, "cast:bf16", F64 => |a, _| u64::from(bf16::from_f64(f64::from_bits(a)).to_bits());
    CastF32ToF8E4M3FN = 55, "cast:f8e4m3fn", F32 => |a, _| to_float8(a, DType::F8E4M3FN, true);
    CastF32ToF8E4M3FNWrap = 56, "cast:f8e4m3fn:wrap", F32 => |a, _| to_float8(a, DType::F8E4M3FN, false);
    CastF32ToF8E5M2 = 57, "cast:f8e5m2", F32 => |a, _| to_float8(a, DType::F8E5M2, true);
    CastF32ToF8E5M2Wrap = 58, "cast:f8e5m2:wrap", F32 => |a, _| to_float8(a, DType::F8E5M2, false);
    CastF8E4M3FNToF32 = 59, "cast:f32", F8E4M3FN => |a, _| from_float8(a, DType::F8E4M3FN);
    CastF8E5M2ToF32 = 60, "cast:f32", F8E5M2 => |a, _| from_float8(a, DType::F8E5M2);
}

impl Function {
    /// Its index in the table.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The function of this name on this dtype.
    pub fn find(name: &str, dtype: DType) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name && function.dtype() == dtype)
    }
}

fn f32_1(a: u64, f: fn(f64) -> f64) -> u64 {
    u64::from((f(f64::from(f32::from_bits(a as u32))) as f32).to_bits())
}

fn f32_2(a: u64, b: u64, f: fn(f64, f64) -> f64) -> u64 {
    let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    u64::from((f(f64::from(a), f64::from(b)) as f32).to_bits())
}

fn f64_1(a: u64, f: fn(f64) -> f64) -> u64 {
    f(f64::from_bits(a)).to_bits()
}

fn f64_2(a: u64, b: u64, f: fn(f64, f64) -> f64) -> u64 {
    f(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

/// An integer operation with 0 for a zero divisor.
fn int(a: u64, b: u64, f: fn(i64, i64) -> i64) -> u64 {
    if b == 0 { 0 } else { f(a as i64, b as i64) as u64 }
}

fn floored_mod_int(a: i64, b: i64) -> i64 {
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// Up to here a whole number times one of 24 bits is exact in `f64`.
const MOST_STEPS: f64 = (1u64 << 29) as f64;

/// As `libm::fmod`, of numbers of `f32`: that takes a step for each bit of the quotient. Here a step takes off the largest
/// multiple of the divisor, or of the divisor times a power of two, of which the quotient has 29 bits: the multiple and what
/// is left are exact.
fn remainder_of_f32(a: f64, b: f64) -> f64 {
    let (mut rest, b) = (a.abs(), b.abs());
    if !rest.is_finite() || b.is_nan() || b == 0.0 {
        return f64::NAN;
    }
    while rest >= b && b.is_finite() {
        let (mut divisor, mut quotient) = (b, rest / b);
        if quotient >= MOST_STEPS {
            let bits = (quotient.to_bits() >> 52) - (MOST_STEPS.to_bits() >> 52) + 1;
            let power = f64::from_bits((1023 + bits) << 52);
            (divisor, quotient) = (b * power, quotient / power);
        }
        rest -= f64::from(quotient as i32) * divisor;
        // The quotient was rounded up.
        if rest < 0.0 {
            rest += divisor;
        }
    }
    libm::copysign(rest, a)
}

/// A remainder with the divisor's sign; a zero result has the divisor's sign too.
fn floored(rest: f64, b: f64) -> f64 {
    if rest == 0.0 {
        libm::copysign(0.0, b)
    } else if (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// NaN below 1; `libm` gives numbers far below.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The form whose exponential cannot overflow.
fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0 / (1.0 + libm::exp(-x));
    }
    let e = libm::exp(x);
    e / (1.0 + e)
}

/// Wraps on overflow. A negative exponent gives the exact quotient truncated: 0 unless the base is 1 or -1.
fn int_pow(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let (mut result, mut square, mut rest) = (1i128, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}

fn to_float8(a: u64, dtype: DType, saturate: bool) -> u64 {
    u64::from(small_float::from_f64(dtype, f64::from(f32::from_bits(a as u32)), saturate))
}

fn from_float8(a: u64, dtype: DType) -> u64 {
    u64::from((small_float::to_f64(dtype, a as u8) as f32).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions_and_names_are_unique() {
        for (i, function) in Function::ALL.into_iter().enumerate() {
            assert_eq!(function.number() as usize, i);
            assert_eq!(Function::find(function.name(), function.dtype()), Some(function));
        }
    }

    #[test]
    fn remainders_of_f32_are_exact() {
        let mut random = tegula_base::random::SplitMix64::new(23);
        let special =
            [0.0, -0.0, 1.0, -3.0, f32::INFINITY, f32::NAN, f32::from_bits(1), f32::MIN_POSITIVE, f32::MAX];
        let drawn = (0..200_000).map(|_| {
            let bits = random.next_u64();
            (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32))
        });
        let near = special.iter().flat_map(|a| special.map(|b| (*a, b)));
        for (a, b) in near.chain(drawn) {
            let (exact, found) = (a % b, remainder_of_f32(a.into(), b.into()) as f32);
            assert!(exact.to_bits() == found.to_bits() || exact.is_nan() && found.is_nan(), "{a:e} % {b:e}");
        }
    }

    #[test]
    fn results_follow_the_semantics_table() {
        let f32s = |f: Function, a: f32, b: f32| {
            f32::from_bits(f.call(u64::from(a.to_bits()), u64::from(b.to_bits())) as u32)
        };
        assert_eq!(f32s(Function::PowF32, 2.0, 0.5), std::f32::consts::SQRT_2);
        assert_eq!(f32s(Function::ModF32, -3.0, 2.0), 1.0);
        assert_eq!(f32s(Function::RemF32, -3.0, 2.0), -1.0);
        assert_eq!(Function::PowI64.call((-3i64) as u64, 3) as i64, -27);
        assert_eq!(Function::PowI32.call((-1i32) as u32 as u64, (-3i32) as u32 as u64) as u32 as i32, -1);
        assert_eq!(Function::DivI64.call(7, 0), 0);
        assert_eq!(Function::DivI64.call(i64::MIN as u64, u64::MAX) as i64, i64::MIN);
        assert_eq!(Function::ModI64.call((-7i64) as u64, 3) as i64, 2);
        assert_eq!(Function::CastF64ToF16.call(1.5f64.to_bits(), 0), u64::from(f16::from_f32(1.5).to_bits()));
    }
}
