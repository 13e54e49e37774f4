//! Integer arithmetic.

use crate::form::{ops, rule};
use crate::modifiers::MulPart;
use crate::operand::Operand;
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

ops! {
    /// `d = a + b`, modulo the width; `sat` clamps (`s32` only).
    struct Add "add" { sat: bool, ty: IntType2, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(sat, "sat").key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check rule(!*sat || *ty == IntType2::S32, "`.sat` is for s32");
        needs Needs::new(Target::Sm90, 8, 0).when(ty.scalar().is_packed());

    /// `d = a - b`, modulo the width; `sat` clamps (`s32` only).
    struct Sub "sub" { sat: bool, ty: IntType, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(sat, "sat").key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check rule(!*sat || *ty == IntType::S32, "`.sat` is for s32");

    /// One half of the product.
    struct Mul "mul" { part: MulPart, ty: IntType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(part).key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    /// The whole product, `d` of twice the width.
    struct MulWide "mul.wide" { ty: NarrowInt, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, wide(*ty)).operand(a, ty.scalar()).operand(b, ty.scalar());

    /// One half of the product, plus `c`.
    struct Mad "mad" { part: MulPart, ty: IntType, d: Reg, a: Operand, b: Operand, c: Operand }
        form |v| v.key(part).key(ty).write(d, ty.scalar())
            .operand(a, ty.scalar()).operand(b, ty.scalar()).operand(c, ty.scalar());

    /// The whole product plus `c`; `c` and `d` of twice the width.
    struct MadWide "mad.wide" { ty: NarrowInt, d: Reg, a: Operand, b: Operand, c: Operand }
        form |v| v.key(ty).write(d, wide(*ty)).operand(a, ty.scalar()).operand(b, ty.scalar()).operand(c, wide(*ty));

    /// Quotient, towards zero. By zero: unspecified.
    struct Div "div" { ty: IntType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    /// Remainder, with the sign of `a`. By zero: unspecified.
    struct Rem "rem" { ty: IntType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    /// `|a|`, modulo the width.
    struct Abs "abs" { ty: SignedInt, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// `-a`, modulo the width.
    struct Neg "neg" { ty: SignedInt, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// The lesser; `relu` makes it at least 0 (`s32` and `s16x2`).
    struct Min "min" { relu: bool, ty: IntType2, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(relu, "relu").key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check may_relu(*relu, *ty);
        needs Needs::new(Target::Sm90, 8, 0).when(*relu || ty.scalar().is_packed());

    /// The greater; `relu` makes it at least 0 (`s32` and `s16x2`).
    struct Max "max" { relu: bool, ty: IntType2, d: Reg, a: Operand, b: Operand }
        form |v| v.flag(relu, "relu").key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());
        check may_relu(*relu, *ty);
        needs Needs::new(Target::Sm90, 8, 0).when(*relu || ty.scalar().is_packed());

    /// Sum of four products of bytes, plus `c`; signed bytes where the types say so.
    struct Dp4a "dp4a" { a_ty: Int32, b_ty: Int32, d: Reg, a: Operand, b: Operand, c: Operand }
        form |v| v.key(a_ty).key(b_ty).write(d, Scalar::B32)
            .operand(a, Scalar::B32).operand(b, Scalar::B32).operand(c, Scalar::B32);

    /// How many bits are set; `d` of 32 bits.
    struct Popc "popc" { ty: Bits32Or64, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, Scalar::U32).operand(a, ty.scalar());

    /// How many zeros lead; `d` of 32 bits.
    struct Clz "clz" { ty: Bits32Or64, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, Scalar::U32).operand(a, ty.scalar());

    /// Bits in reverse.
    struct Brev "brev" { ty: Bits32Or64, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// Place of the highest bit that is set (of a negative number: that is clear), or all ones; with `shift_amount`
    /// how far it is from the top. `d` of 32 bits.
    struct Bfind "bfind" { shift_amount: bool, ty: WideInt, d: Reg, a: Operand }
        form |v| v.flag(shift_amount, "shiftamt").key(ty).write(d, Scalar::U32).operand(a, ty.scalar());

    /// `len` bits of `a` from bit `pos`; signed types extend the sign.
    struct Bfe "bfe" { ty: WideInt, d: Reg, a: Operand, pos: Operand, len: Operand }
        form |v| v.key(ty).write(d, ty.scalar())
            .operand(a, ty.scalar()).operand(pos, Scalar::U32).operand(len, Scalar::U32);

    /// `b` with the low `len` bits of `a` at bit `pos`.
    struct Bfi "bfi" { ty: Bits32Or64, d: Reg, a: Operand, b: Operand, pos: Operand, len: Operand }
        form |v| v.key(ty).write(d, ty.scalar())
            .operand(a, ty.scalar()).operand(b, ty.scalar()).operand(pos, Scalar::U32).operand(len, Scalar::U32);
}

/// Of twice the width.
fn wide(ty: NarrowInt) -> Scalar {
    match ty {
        NarrowInt::U16 => Scalar::U32,
        NarrowInt::S16 => Scalar::S32,
        NarrowInt::U32 => Scalar::U64,
        NarrowInt::S32 => Scalar::S64,
    }
}

fn may_relu(relu: bool, ty: IntType2) -> Result<(), &'static str> {
    rule(!relu || matches!(ty, IntType2::S32 | IntType2::S16x2), "`.relu` is for s32 and s16x2")
}
