//! Conversions between types.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::Operand;
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

ops! {
    /// One value to another type. Integers from floats round to an integral value and clamp to the range;
    /// `sat` clamps integers to the type, floats to 0..1. Types of 8 bits stand in `B16`.
    struct Cvt "cvt" {
        round: Option<ConvertRound>, ftz: bool, relu: bool, sat: bool,
        to: ConvertType, from: ConvertType, d: Reg, a: Reg,
    }
        form |v| v.opt_key(round).flag(ftz, "ftz").flag(relu, "relu").flag(sat, "sat").key(to).key(from)
            .write(d, to.scalar()).read(a, from.scalar());
        check convert_rules(*round, *ftz, *relu, *sat, *to, *from);
        needs convert_needs(*round, *to, *from);

    /// f32 to tf32 in 32 bits: `rna` to nearest, ties away from zero; else to nearest even (sm_90).
    struct CvtTf32 "cvt" { round: Tf32Round, relu: bool, d: Reg, a: Operand }
        form |v| v.key(round).flag(relu, "relu").word("tf32.f32").write(d, Scalar::B32).operand(a, Scalar::F32);
        check rule(!*relu || *round != Tf32Round::Rna, "`.relu` goes with `.rn` and `.rz`");
        needs Needs::new(Target::Sm90, 7, 8).when(*round != Tf32Round::Rna);

    /// Two of f32 to two of 16 bits: `a` becomes the high half, `b` the low one.
    struct CvtHalves "cvt" { round: PackRound, relu: bool, to: PackedHalf, d: Reg, a: Operand, b: Operand }
        form |v| v.key(round).flag(relu, "relu").key(to).word("f32")
            .write(d, to.scalar()).operand(a, Scalar::F32).operand(b, Scalar::F32);

    /// Two of f32 to two floats of 8 bits, clamped to the finite range: `a` becomes the high one, `b` the low one.
    struct CvtF8 "cvt.rn.satfinite" { relu: bool, to: PackedF8, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(relu, "relu").key(to).word("f32")
            .write(d, to.scalar()).operand(a, Scalar::F32).operand(b, Scalar::F32);
        needs Needs::new(Target::Sm89, 8, 1);

    /// Two of f16 to two floats of 8 bits, clamped to the finite range.
    struct CvtF8FromHalves "cvt.rn.satfinite" { relu: bool, to: PackedF8, d: Reg, a: Reg }
        form |v| v.flag(relu, "relu").key(to).word("f16x2").write(d, to.scalar()).read(a, Scalar::F16x2);
        needs Needs::new(Target::Sm89, 8, 1);

    /// Two floats of 8 bits to two of f16, exactly.
    struct CvtHalvesFromF8 "cvt.rn" { relu: bool, from: PackedF8, d: Reg, a: Reg }
        form |v| v.flag(relu, "relu").word("f16x2").key(from).write(d, Scalar::F16x2).read(a, from.scalar());
        needs Needs::new(Target::Sm89, 8, 1);

    /// `a` and `b` clamped to bytes; `d` = `a` in byte 1, `b` in byte 0, and the low half of `c` above.
    struct CvtPackBytes "cvt.pack.sat" { to: ByteType, d: Reg, a: Operand, b: Operand, c: Operand }
        form |v| v.key(to).word("s32.b32").write(d, Scalar::B32)
            .operand(a, Scalar::S32).operand(b, Scalar::S32).operand(c, Scalar::B32);

    /// `a` and `b` clamped to 16 bits; `d` = `a` in the high half, `b` in the low one.
    struct CvtPackHalves "cvt.pack.sat" { to: NarrowHalf, d: Reg, a: Operand, b: Operand }
        form |v| v.key(to).word("s32").write(d, Scalar::B32).operand(a, Scalar::S32).operand(b, Scalar::S32);
}

fn is_float(ty: ConvertType) -> bool {
    ty.scalar().is_float()
}

/// Whether every value of `from` is one of `to`.
fn is_exact(to: ConvertType, from: ConvertType) -> bool {
    use ConvertType::*;
    to == from || matches!((to, from), (F32, F16 | BF16) | (F64, F16 | BF16 | F32))
}

fn convert_rules(
    round: Option<ConvertRound>,
    ftz: bool,
    relu: bool,
    sat: bool,
    to: ConvertType,
    from: ConvertType,
) -> Result<(), &'static str> {
    use ConvertRound::*;
    use ConvertType::*;
    let integral = matches!(round, Some(Rni | Rzi | Rmi | Rpi));
    let to_half = matches!(to, F16 | BF16);
    let rounding = match (is_float(to), is_float(from)) {
        (false, false) => round.is_none(),
        (false, true) => integral,
        (true, false) => round.is_some() && !integral,
        (true, true) if to == from => integral,
        (true, true) if is_exact(to, from) => round.is_none(),
        (true, true) => round.is_some() && !integral,
    };
    let widens = !is_float(to) && !is_float(from) && {
        let (to, from) = (to.scalar(), from.scalar());
        let room = |ty: Scalar| ty.bits() - u32::from(ty.is_signed());
        room(to) >= room(from) && (to.is_signed() || !from.is_signed())
    };
    rule(rounding, "this conversion rounds otherwise")
        .and(rule(!sat || !widens, "`.sat` is for results that may not fit"))
        .and(rule(
            !ftz || (to == F32 || from == F32) && (is_float(to) || is_float(from)),
            "`.ftz` is for f32",
        ))
        .and(rule(
            !relu || to_half && from == F32 && matches!(round, Some(Rn | Rz)),
            "`.relu` is for f32 to f16 and bf16",
        ))
        .and(rule(!relu || !sat && !ftz, "`.relu` goes with neither `.sat` nor `.ftz`"))
        .and(rule(to != BF16 && from != BF16 || !ftz && !sat, "bf16 has neither `.ftz` nor `.sat`"))
        .and(rule(
            !matches!((to, from), (BF16, U8 | S8) | (U8 | S8, BF16)),
            "bf16 is converted from and to integers of 16 bits and more",
        ))
}

fn convert_needs(round: Option<ConvertRound>, to: ConvertType, from: ConvertType) -> Needs {
    use ConvertType::*;
    let plain = (to == BF16 && from == F32) && matches!(round, Some(ConvertRound::Rn | ConvertRound::Rz));
    let widens = to == F32 && from == BF16;
    Needs::new(Target::Sm90, 7, 8)
        .when((to == BF16 || from == BF16) && !plain && !widens)
        .max(Needs::new(Target::Sm80, 7, 1).when(widens))
}
