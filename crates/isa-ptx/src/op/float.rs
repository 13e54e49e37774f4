//! Floating-point arithmetic.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::Operand;
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

ops! {
    /// `d = a + b`. `ftz` flushes subnormals to 0 (f32, f16); `sat` clamps to 0..1 (f32, f16), NaN to 0.
    struct FAdd "add" { round: Option<Round>, ftz: bool, sat: bool, ty: FloatType, d: Reg, a: Operand, b: Operand }
        form |v| v.opt_key(round).flag(ftz, "ftz").flag(sat, "sat").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check sum_rules(*round, *ftz, *sat, *ty);
        needs Needs::new(Target::Sm90, 7, 8).when(is_bf16(*ty));

    /// `d = a - b`; as `FAdd`.
    struct FSub "sub" { round: Option<Round>, ftz: bool, sat: bool, ty: FloatType, d: Reg, a: Operand, b: Operand }
        form |v| v.opt_key(round).flag(ftz, "ftz").flag(sat, "sat").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check sum_rules(*round, *ftz, *sat, *ty);
        needs Needs::new(Target::Sm90, 7, 8).when(is_bf16(*ty));

    /// `d = a * b`; as `FAdd`.
    struct FMul "mul" { round: Option<Round>, ftz: bool, sat: bool, ty: FloatType, d: Reg, a: Operand, b: Operand }
        form |v| v.opt_key(round).flag(ftz, "ftz").flag(sat, "sat").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check sum_rules(*round, *ftz, *sat, *ty);
        needs Needs::new(Target::Sm90, 7, 8).when(is_bf16(*ty));

    /// `d = a * b + c`, rounded once. `relu` makes it at least 0 (f16, bf16), NaN stays NaN.
    struct Fma "fma" {
        round: Round, ftz: bool, sat: bool, relu: bool, ty: FloatType, d: Reg, a: Operand, b: Operand, c: Operand,
    }
        form |v| v.key(round).flag(ftz, "ftz").flag(sat, "sat").flag(relu, "relu").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar()).operand(c, ty.scalar());
        check sum_rules(Some(*round), *ftz, *sat, *ty)
            .and(rule(!*relu || (ty.scalar().bits() == 16 || ty.scalar().is_packed()), "`.relu` is for f16 and bf16"))
            .and(rule(!*relu || !*sat, "`.sat` and `.relu` exclude each other"));

    /// Quotient. `Approx` is within 2 ulp for `|b|` in 2^-126..2^126, `Full` within 2 ulp everywhere (both f32).
    struct FDiv "div" { round: DivRound, ftz: bool, ty: Float32Or64, d: Reg, a: Operand, b: Operand }
        form |v| v.key(round).flag(ftz, "ftz").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check rule(*ty == Float32Or64::F32 || !*ftz && !matches!(round, DivRound::Approx | DivRound::Full),
            "f64 divides with a rounding, without `.ftz`");

    struct FAbs "abs" { ftz: bool, ty: FloatType, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check flush_rule(*ftz, *ty);

    struct FNeg "neg" { ftz: bool, ty: FloatType, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check flush_rule(*ftz, *ty);

    /// The lesser; of a number and NaN the number, with `nan` NaN. `xorsign`: of the magnitudes, with the product of
    /// the signs.
    struct FMin "min" { ftz: bool, nan: bool, xorsign: bool, ty: FloatType, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(ftz, "ftz").flag(nan, "NaN").flag(xorsign, "xorsign.abs").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check extremum_rules(*ftz, *nan || *xorsign, *ty);
        needs Needs::new(Target::Sm86, 7, 2).when(*xorsign);

    /// The greater; as `FMin`.
    struct FMax "max" { ftz: bool, nan: bool, xorsign: bool, ty: FloatType, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(ftz, "ftz").flag(nan, "NaN").flag(xorsign, "xorsign.abs").key(ty)
            .write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check extremum_rules(*ftz, *nan || *xorsign, *ty);
        needs Needs::new(Target::Sm86, 7, 2).when(*xorsign);

    /// `1 / a`. `Approx` within 1 ulp.
    struct Rcp "rcp" { round: ApproxRound, ftz: bool, ty: Float32Or64, d: Reg, a: Operand }
        form |v| v.key(round).flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check rule(*ty == Float32Or64::F32 || *ftz == (*round == ApproxRound::Approx),
            "f64 has `.approx.ftz` and rounded forms without `.ftz`");

    /// Square root. `Approx` is for f32.
    struct Sqrt "sqrt" { round: ApproxRound, ftz: bool, ty: Float32Or64, d: Reg, a: Operand }
        form |v| v.key(round).flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check rule(*ty == Float32Or64::F32 || !*ftz && *round != ApproxRound::Approx,
            "f64 has rounded forms without `.ftz`");

    /// `1 / sqrt(a)`, within 2^-22.9 relative.
    struct Rsqrt "rsqrt.approx" { ftz: bool, ty: Float32Or64, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// Within 2^-20.5 absolute for `|a| <= 2 pi`.
    struct Sin "sin.approx" { ftz: bool, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").word("f32").write(d, Scalar::F32).operand(a, Scalar::F32);

    /// Within 2^-20.5 absolute for `|a| <= 2 pi`.
    struct Cos "cos.approx" { ftz: bool, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").word("f32").write(d, Scalar::F32).operand(a, Scalar::F32);

    /// Logarithm to base 2.
    struct Lg2 "lg2.approx" { ftz: bool, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").word("f32").write(d, Scalar::F32).operand(a, Scalar::F32);

    /// `2^a`, within 2 ulp. `ftz` is always there for bf16 and never for f16.
    struct Ex2 "ex2.approx" { ftz: bool, ty: Ex2Type, d: Reg, a: Operand }
        form |v| v.flag(ftz, "ftz").key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check rule(match ty {
            Ex2Type::F32 => true,
            Ex2Type::F16 | Ex2Type::F16x2 => !*ftz,
            Ex2Type::BF16 | Ex2Type::BF16x2 => *ftz,
        }, "`.ftz` goes with f32, always with bf16, never with f16");
        needs Needs::new(Target::Sm90, 7, 8).when(matches!(ty, Ex2Type::BF16 | Ex2Type::BF16x2));

    /// Hyperbolic tangent, within 2^-11 relative for f32.
    struct Tanh "tanh.approx" { ty: Ex2Type, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        needs Needs::new(Target::Sm90, 7, 8).when(matches!(ty, Ex2Type::BF16 | Ex2Type::BF16x2));

    /// `p` = whether `a` is of the kind.
    struct Testp "testp" { test: FloatTest, ty: Float32Or64, p: Reg, a: Operand }
        form |v| v.key(test).key(ty).write(p, Scalar::Pred).operand(a, ty.scalar());

    /// The magnitude of `b` with the sign of `a`.
    struct Copysign "copysign" { ty: Float32Or64, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
}

fn is_bf16(ty: FloatType) -> bool {
    matches!(ty, FloatType::BF16 | FloatType::BF16x2)
}

fn flush_rule(ftz: bool, ty: FloatType) -> Result<(), &'static str> {
    let flushes = matches!(ty, FloatType::F16 | FloatType::F16x2 | FloatType::F32);
    rule(!ftz || flushes, "`.ftz` is for f16 and f32")
}

fn sum_rules(round: Option<Round>, ftz: bool, sat: bool, ty: FloatType) -> Result<(), &'static str> {
    let is_half = !matches!(ty, FloatType::F32 | FloatType::F64);
    let saturates = matches!(ty, FloatType::F16 | FloatType::F16x2 | FloatType::F32);
    rule(!is_half || matches!(round, None | Some(Round::Rn)), "types of 16 bits round to nearest")
        .and(rule(!sat || saturates, "`.sat` is for f16 and f32"))
        .and(flush_rule(ftz, ty))
}

fn extremum_rules(ftz: bool, nan_or_xorsign: bool, ty: FloatType) -> Result<(), &'static str> {
    rule(!nan_or_xorsign || ty != FloatType::F64, "f64 has neither `.NaN` nor `.xorsign.abs`")
        .and(flush_rule(ftz, ty))
}
