//! Atomic operations on memory, with and without the old value.

use crate::form::{Access, ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand, RegList};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

/// Vectors of sums (sm_90).
const VECTORS: &[(usize, &str)] = &[(1, ""), (2, "v2"), (4, "v4"), (8, "v8")];

ops! {
    /// `d` = the old value; memory gets `old op b`, element by element.
    struct Atom "atom" {
        order: AtomicOrder, space: AtomicSpace, op: AtomicOp, policy: Option<Reg>, ty: AtomicType,
        d: RegList, address: Address, b: RegList,
    }
        form |v| {
            v.key(order).key(space).key(op).presence(policy, "L2::cache_hint").count(d, VECTORS).key(ty);
            let count = d.len();
            v.vector(d, count, ty.scalar(), Access::Write).address(address, space.place())
                .vector(b, count, ty.scalar(), Access::Read).opt_read(policy, Scalar::B64)
        };
        check atomic_rules(*op, *ty, d.len(), *space, policy.is_some());
        needs atomic_needs(*ty, d.len(), *space, order.scope(), policy.is_some());

    /// Memory gets `old op b`, element by element.
    struct Red "red" {
        order: ReductionOrder, space: AtomicSpace, op: AtomicOp, policy: Option<Reg>, ty: AtomicType,
        address: Address, b: RegList,
    }
        form |v| {
            v.key(order).key(space).key(op).presence(policy, "L2::cache_hint").count(b, VECTORS).key(ty);
            let count = b.len();
            v.address(address, space.place()).vector(b, count, ty.scalar(), Access::Read).opt_read(policy, Scalar::B64)
        };
        check atomic_rules(*op, *ty, b.len(), *space, policy.is_some());
        needs atomic_needs(*ty, b.len(), *space, order.scope(), policy.is_some());

    /// `d` = the old value; memory gets `b`.
    struct AtomExch "atom" {
        order: AtomicOrder, space: AtomicSpace, policy: Option<Reg>, ty: Bits32Or64,
        d: Reg, address: Address, b: Operand,
    }
        form |v| v.key(order).key(space).word("exch").presence(policy, "L2::cache_hint").key(ty)
            .write(d, ty.scalar()).address(address, space.place()).operand(b, ty.scalar()).opt_read(policy, Scalar::B64);
        check hint_rule(*space, policy.is_some());
        needs space_needs(*space, order.scope(), policy.is_some());

    /// `d` = the old value; memory gets `new` where that is `expected`.
    struct AtomCas "atom" {
        order: AtomicOrder, space: AtomicSpace, ty: BitsType,
        d: Reg, address: Address, expected: Operand, new: Operand,
    }
        form |v| v.key(order).key(space).word("cas").key(ty)
            .write(d, ty.scalar()).address(address, space.place())
            .operand(expected, ty.scalar()).operand(new, ty.scalar());
        needs space_needs(*space, order.scope(), false);
}

fn atomic_rules(
    op: AtomicOp,
    ty: AtomicType,
    count: usize,
    space: AtomicSpace,
    hint: bool,
) -> Result<(), &'static str> {
    use AtomicType::*;
    let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
    let has = match op {
        AtomicOp::Add => matches!(ty, U32 | S32 | U64 | F32 | F64),
        AtomicOp::AddNoftz => half,
        AtomicOp::Min | AtomicOp::Max => matches!(ty, U32 | S32 | U64 | S64),
        AtomicOp::Inc | AtomicOp::Dec => ty == U32,
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => matches!(ty, B32 | B64),
    };
    let vector = match ty {
        F32 | F16x2 | BF16x2 => matches!(count, 2 | 4),
        F16 | BF16 => matches!(count, 2 | 4 | 8),
        _ => false,
    };
    rule(has, "the operation has no such type")
        .and(rule(
            count == 1 || vector && space == AtomicSpace::Global,
            "vectors are sums of floats in global memory",
        ))
        .and(hint_rule(space, hint))
}

fn hint_rule(space: AtomicSpace, hint: bool) -> Result<(), &'static str> {
    rule(!hint || matches!(space, AtomicSpace::Generic | AtomicSpace::Global), "caching is for global memory")
}

fn atomic_needs(ty: AtomicType, count: usize, space: AtomicSpace, scope: Option<Scope>, hint: bool) -> Needs {
    let bf16 = matches!(ty, AtomicType::BF16 | AtomicType::BF16x2);
    Needs::new(Target::Sm90, 7, 8)
        .when(bf16)
        .max(Needs::new(Target::Sm90, 8, 1).when(count > 1))
        .max(space_needs(space, scope, hint))
}

fn space_needs(space: AtomicSpace, scope: Option<Scope>, hint: bool) -> Needs {
    Needs::new(Target::Sm90, 7, 8)
        .when(space == AtomicSpace::SharedCluster || scope == Some(Scope::Cluster))
        .max(Needs::new(Target::Sm80, 7, 8).when(space == AtomicSpace::SharedCta))
        .max(Needs::new(Target::Sm80, 7, 4).when(hint))
}
