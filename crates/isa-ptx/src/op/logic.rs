//! Bits: logic, shifts, permutation of bytes, moves, choices and comparisons.

use crate::form::{Access, ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand, Predicate, RegList};
use crate::reg::Reg;
use crate::special::Special;
use crate::target::{Needs, Target};
use crate::types::*;

ops! {
    struct And "and" { ty: LogicType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    struct Or "or" { ty: LogicType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    struct Xor "xor" { ty: LogicType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar());

    struct Not "not" { ty: LogicType, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// Each bit by a table: bit `4a + 2b + c` of `table`, where `0xf0`, `0xcc`, `0xaa` are `a`, `b`, `c`.
    struct Lop3 "lop3.b32" { d: Reg, a: Operand, b: Operand, c: Operand, table: u32 }
        form |v| v.write(d, Scalar::B32)
            .operand(a, Scalar::B32).operand(b, Scalar::B32).operand(c, Scalar::B32).immediate(table);
        check rule(*table < 256, "the table of `lop3` has 8 bits");

    /// To the left by `b` bits (`u32`), zeros from the right; beyond the width all are zeros.
    struct Shl "shl" { ty: BitsType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, Scalar::U32);

    /// To the right by `b` bits (`u32`), filled with the sign or zeros; beyond the width all are the filling.
    struct Shr "shr" { ty: ShiftRightType, d: Reg, a: Operand, b: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, Scalar::U32);

    /// A shift of the 64 bits `hi:lo`; to the left gives the high word, to the right the low one.
    struct Shf "shf" { direction: Direction, mode: ShiftMode, d: Reg, lo: Operand, hi: Operand, by: Operand }
        form |v| v.key(direction).key(mode).word("b32").write(d, Scalar::B32)
            .operand(lo, Scalar::B32).operand(hi, Scalar::B32).operand(by, Scalar::U32);

    /// Four of the eight bytes `b:a`, one per nibble of `selector`; a nibble's bit 3 spreads the byte's sign.
    struct Prmt "prmt.b32" { mode: Option<PermuteMode>, d: Reg, a: Operand, b: Operand, selector: Operand }
        form |v| v.opt_key(mode).write(d, Scalar::B32)
            .operand(a, Scalar::B32).operand(b, Scalar::B32).operand(selector, Scalar::B32);

    /// `d = a`. An immediate predicate is 0 or 1.
    struct Mov "mov" { ty: LogicType, d: Reg, a: Operand }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar());

    /// `d` = what the special register holds; of 64 bits for the clocks, else of 32.
    struct MovSpecial "mov" { ty: AddressType, d: Reg, special: Special }
        form |v| v.key(ty).write(d, ty.scalar()).name(special);
        check rule(special.ty() == *ty, "a special register has a width of its own");
        needs special.needs();

    /// `d` = the address in its space of a shared variable or a parameter.
    struct MovAddress "mov" { ty: AddressType, d: Reg, symbol: Address }
        form |v| v.key(ty).write(d, ty.scalar()).symbol(symbol);

    /// 32 bits of two of 16, the first one lowest.
    struct PackHalves "mov.b32" { d: Reg, parts: RegList }
        form |v| v.write(d, Scalar::B32).regs(parts, 2, Scalar::B16, Access::Read);

    /// Two of 16 bits out of 32, the lowest first.
    struct UnpackHalves "mov.b32" { parts: RegList, a: Reg }
        form |v| v.regs(parts, 2, Scalar::B16, Access::Write).read(a, Scalar::B32);

    /// 64 bits of two of 32, the first one lowest.
    struct PackWords "mov.b64" { d: Reg, parts: RegList }
        form |v| v.write(d, Scalar::B64).regs(parts, 2, Scalar::B32, Access::Read);

    /// Two of 32 bits out of 64, the lowest first.
    struct UnpackWords "mov.b64" { parts: RegList, a: Reg }
        form |v| v.regs(parts, 2, Scalar::B32, Access::Write).read(a, Scalar::B64);

    /// 64 bits of four of 16, the first one lowest.
    struct PackQuarters "mov.b64" { d: Reg, parts: RegList }
        form |v| v.write(d, Scalar::B64).regs(parts, 4, Scalar::B16, Access::Read);

    /// Four of 16 bits out of 64, the lowest first.
    struct UnpackQuarters "mov.b64" { parts: RegList, a: Reg }
        form |v| v.regs(parts, 4, Scalar::B16, Access::Write).read(a, Scalar::B64);

    /// `d = if p { a } else { b }`.
    struct Selp "selp" { ty: SelectType, d: Reg, a: Operand, b: Operand, p: Reg }
        form |v| v.key(ty).write(d, ty.scalar()).operand(a, ty.scalar()).operand(b, ty.scalar()).read(p, Scalar::Pred);

    /// `p = (a cmp b) combine c`, `q = !(a cmp b) combine c`; of packed types `p` is of the low half, `q` of the high.
    struct Setp "setp" {
        cmp: Compare, combine: Option<BoolOp>, ftz: bool, ty: CompareType,
        p: Reg, q: Option<Reg>, a: Operand, b: Operand,
        /// There with `combine`.
        c: Option<Predicate>,
    }
        form |v| v.key(cmp).opt_key(combine).flag(ftz, "ftz").key(ty)
            .reg_and_predicate(p, Scalar::Pred, q).operand(a, ty.scalar()).operand(b, ty.scalar()).opt_predicate(c);
        check rule(combine.is_some() == c.is_some(), "a predicate comes with `.and`, `.or` or `.xor`")
            .and(comparable(*cmp, *ftz, *ty, q.is_some()));
        needs Needs::new(Target::Sm90, 7, 8).when(matches!(ty, CompareType::BF16 | CompareType::BF16x2));
}

fn comparable(cmp: Compare, ftz: bool, ty: CompareType, has_q: bool) -> Result<(), &'static str> {
    use Compare::*;
    let scalar = ty.scalar();
    let flushes = matches!(ty, CompareType::F16 | CompareType::F16x2 | CompareType::F32);
    let fits = match cmp {
        Eq | Ne => true,
        Lt | Le | Gt | Ge => !matches!(ty, CompareType::B16 | CompareType::B32 | CompareType::B64),
        Lo | Ls | Hi | Hs => matches!(ty, CompareType::U16 | CompareType::U32 | CompareType::U64),
        Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan => scalar.is_float(),
    };
    rule(fits, "the type has no such comparison")
        .and(rule(!ftz || flushes, "`.ftz` is for f16 and f32"))
        .and(rule(!scalar.is_packed() || has_q, "a packed comparison gives two predicates"))
        .and(rule(
            !matches!(ty, CompareType::F16 | CompareType::BF16) || !has_q,
            "a comparison of one float of 16 bits gives one predicate",
        ))
}
