//! `wgmma`: products of a warpgroup (128 threads), asynchronous, of operands in shared memory.

use crate::form::{Access, ops, rule};
use crate::mma::{WgmmaShape, WgmmaType};
use crate::operand::{Predicate, RegList};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

ops! {
    /// Orders registers and shared memory before the products that follow; before the first one after other writes to
    /// the sums or to `a` in registers.
    struct WgmmaFence "wgmma.fence.sync.aligned" {}
        form |v| {};
        needs Needs::new(Target::Sm90a, 8, 0);

    /// Closes the group of the products before.
    struct WgmmaCommitGroup "wgmma.commit_group.sync.aligned" {}
        form |v| {};
        needs Needs::new(Target::Sm90a, 8, 0);

    /// Waits until at most `groups` (0 to 7) of the latest groups are pending.
    struct WgmmaWaitGroup "wgmma.wait_group.sync.aligned" { groups: u32 }
        form |v| v.immediate(groups);
        check rule(*groups < 8, "at most 7 groups may stay pending");
        needs Needs::new(Target::Sm90a, 8, 0);

    /// `d = a b + d`, or `a b` where `accumulate` is false; both operands by descriptors of shared memory (64 bits).
    /// The flags negate the operands, and take them with m or n along rows (16-bit types).
    struct Wgmma "wgmma.mma_async.sync.aligned" {
        shape: WgmmaShape, satfinite: bool, ty: WgmmaType,
        d: RegList, a: Reg, b: Reg, accumulate: Predicate,
        negate_a: bool, negate_b: bool, transpose_a: bool, transpose_b: bool,
    }
        form |v| {
            v.key(shape).flag(satfinite, "satfinite").key(ty)
                .regs(d, ty.sum_count(*shape), ty.sum_register(), Access::Update)
                .read(a, Scalar::B64).read(b, Scalar::B64).predicate(accumulate);
            if !ty.is_integer() {
                v.sign(negate_a).sign(negate_b);
            }
            if ty.factor_bits() == 16 {
                v.bit(transpose_a).bit(transpose_b);
            }
        };
        check shape_rules(*shape, *satfinite, *ty, *accumulate)
            .and(flag_rules(*ty, *negate_a || *negate_b, *transpose_a || *transpose_b));
        needs ty.needs();

    /// As `Wgmma` with `a` in 4 registers, its fragment as that of `mma`'s 16 rows for each of the 4 warps.
    struct WgmmaRegisters "wgmma.mma_async.sync.aligned" {
        shape: WgmmaShape, satfinite: bool, ty: WgmmaType,
        d: RegList, a: RegList, b: Reg, accumulate: Predicate,
        negate_a: bool, negate_b: bool, transpose_b: bool,
    }
        form |v| {
            v.key(shape).flag(satfinite, "satfinite").key(ty)
                .regs(d, ty.sum_count(*shape), ty.sum_register(), Access::Update)
                .regs(a, 4, Scalar::B32, Access::Read).read(b, Scalar::B64).predicate(accumulate);
            if !ty.is_integer() {
                v.sign(negate_a).sign(negate_b);
            }
            if ty.factor_bits() == 16 {
                v.bit(transpose_b);
            }
        };
        check shape_rules(*shape, *satfinite, *ty, *accumulate)
            .and(flag_rules(*ty, *negate_a || *negate_b, *transpose_b));
        needs ty.needs();
}

fn shape_rules(
    shape: WgmmaShape,
    satfinite: bool,
    ty: WgmmaType,
    accumulate: Predicate,
) -> Result<(), &'static str> {
    rule(ty.has(shape), "the type has no such shape")
        .and(rule(!satfinite || ty.is_integer(), "`.satfinite` is for integers"))
        .and(rule(!accumulate.negated, "`wgmma` takes a predicate as it is"))
}

fn flag_rules(ty: WgmmaType, negates: bool, transposes: bool) -> Result<(), &'static str> {
    rule(!negates || !ty.is_integer(), "integers are not negated")
        .and(rule(!transposes || ty.factor_bits() == 16, "only types of 16 bits are transposed"))
}
