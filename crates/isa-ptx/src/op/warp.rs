//! What lanes of a warp do together. `mask` names the lanes that take part.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::{Operand, Predicate};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

ops! {
    /// `d` = `a` of the lane that `b` and the mode name, within segments that `clamp` describes; its own `a`, and `p`
    /// false, where that lane is outside.
    struct Shfl "shfl.sync" { mode: ShuffleMode, d: Reg, p: Option<Reg>, a: Operand, b: Operand, clamp: Operand, mask: Operand }
        form |v| v.key(mode).word("b32").reg_and_predicate(d, Scalar::B32, p)
            .operand(a, Scalar::B32).operand(b, Scalar::B32).operand(clamp, Scalar::B32).operand(mask, Scalar::B32);

    /// Whether all, any, or uniformly all or none of the lanes have a true `a`.
    struct Vote "vote.sync" { mode: VoteMode, p: Reg, a: Predicate, mask: Operand }
        form |v| v.key(mode).word("pred").write(p, Scalar::Pred).predicate(a).operand(mask, Scalar::B32);

    /// The lanes with a true `a`, as a mask.
    struct Ballot "vote.sync.ballot.b32" { d: Reg, a: Predicate, mask: Operand }
        form |v| v.write(d, Scalar::B32).predicate(a).operand(mask, Scalar::B32);

    /// The lanes with the same `a`, as a mask of 32 bits.
    struct MatchAny "match.any.sync" { ty: Bits32Or64, d: Reg, a: Operand, mask: Operand }
        form |v| v.key(ty).write(d, Scalar::B32).operand(a, ty.scalar()).operand(mask, Scalar::B32);

    /// `mask` and a true `p` where all lanes have the same `a`, else 0 and false.
    struct MatchAll "match.all.sync" { ty: Bits32Or64, d: Reg, p: Option<Reg>, a: Operand, mask: Operand }
        form |v| v.key(ty).reg_and_predicate(d, Scalar::B32, p).operand(a, ty.scalar()).operand(mask, Scalar::B32);

    /// One value of all lanes' `a`.
    struct Redux "redux.sync" { op: ReduxOp, ty: ReduxType, d: Reg, a: Reg, mask: Operand }
        form |v| v.key(op).key(ty).write(d, ty.scalar()).read(a, ty.scalar()).operand(mask, Scalar::B32);
        check rule(matches!(op, ReduxOp::And | ReduxOp::Or | ReduxOp::Xor) == (*ty == ReduxType::B32),
            "logic is of b32, arithmetic of u32 and s32");

    /// The lanes that run this, as a mask.
    struct Activemask "activemask.b32" { d: Reg }
        form |v| v.write(d, Scalar::B32);

    /// Chooses one lane: `p` is true there, `d` is its number.
    struct Elect "elect.sync" { d: Option<Reg>, p: Reg, mask: Operand }
        form |v| v.sink_and_predicate(d, Scalar::B32, p).operand(mask, Scalar::B32);
        needs Needs::new(Target::Sm90, 8, 0);
}
