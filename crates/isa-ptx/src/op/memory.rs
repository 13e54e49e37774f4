//! Loads, stores, addresses of spaces, prefetches and cache policies.

use crate::form::{Access, ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Base, Operand, RegList};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::*;

/// How many elements a load or store moves, as the opcode says it.
const VECTORS: &[(usize, &str)] = &[(1, ""), (2, "v2"), (4, "v4")];

ops! {
    /// One element or a vector of 2 or 4 (16 bytes at most, aligned to its size) from memory.
    struct Ld "ld" {
        order: LoadOrder, space: StateSpace, cache: Option<LoadCache>, l1: Option<L1Eviction>,
        /// A cache policy, of 64 bits.
        policy: Option<Reg>,
        prefetch: Option<L2Prefetch>, ty: MemoryType,
        d: RegList, address: Address,
    }
        form |v| {
            v.key(order).key(space).opt_key(cache).opt_key(l1).presence(policy, "L2::cache_hint").opt_key(prefetch)
                .count(d, VECTORS).key(ty);
            let count = d.len();
            v.vector(d, count, ty.scalar(), Access::Write).address(address, space.place()).opt_read(policy, Scalar::B64)
        };
        check vector_rule(d.len(), *ty)
            .and(rule(matches!(space, StateSpace::Generic | StateSpace::Global)
                || cache.is_none() && l1.is_none() && policy.is_none() && prefetch.is_none(),
                "caching is for global memory"))
            .and(rule(cache.is_none() || *order == LoadOrder::Weak && l1.is_none() && policy.is_none()
                && prefetch.is_none(), "`.ca` and its like stand alone, in weak loads"))
            .and(rule(*order != LoadOrder::Volatile || l1.is_none() && policy.is_none() && prefetch.is_none(),
                "a volatile load has no hints"))
            .and(order_rule(*order != LoadOrder::Weak, *space));
        needs access_needs(*space, order.scope()).max(Needs::new(Target::Sm80, 7, 4)
            .when(l1.is_some() || policy.is_some() || prefetch.is_some()));

    /// As `Ld`, from global memory that nobody writes while the kernel runs.
    struct LdNc "ld.global" {
        cache: Option<LoadCache>, l1: Option<L1Eviction>,
        /// A cache policy, of 64 bits.
        policy: Option<Reg>,
        prefetch: Option<L2Prefetch>, ty: MemoryType,
        d: RegList, address: Address,
    }
        form |v| {
            v.opt_key(cache).word("nc").opt_key(l1).presence(policy, "L2::cache_hint").opt_key(prefetch)
                .count(d, VECTORS).key(ty);
            let count = d.len();
            v.vector(d, count, ty.scalar(), Access::Write).global(address).opt_read(policy, Scalar::B64)
        };
        check vector_rule(d.len(), *ty)
            .and(rule(matches!(cache, None | Some(LoadCache::Ca | LoadCache::Cg | LoadCache::Cs)),
                "`.nc` goes with `.ca`, `.cg` and `.cs`"))
            .and(rule(cache.is_none() || l1.is_none() && policy.is_none() && prefetch.is_none(),
                "`.ca` and its like stand alone"));
        needs Needs::new(Target::Sm80, 7, 4).when(l1.is_some() || policy.is_some() || prefetch.is_some());

    /// One element or a vector of 2 or 4 (16 bytes at most, aligned to its size) to memory.
    struct St "st" {
        order: StoreOrder, space: StateSpace, cache: Option<StoreCache>, l1: Option<L1Eviction>,
        /// A cache policy, of 64 bits.
        policy: Option<Reg>,
        ty: MemoryType,
        address: Address, a: RegList,
    }
        form |v| {
            v.key(order).key(space).opt_key(cache).opt_key(l1).presence(policy, "L2::cache_hint")
                .count(a, VECTORS).key(ty);
            let count = a.len();
            v.address(address, space.place()).vector(a, count, ty.scalar(), Access::Read).opt_read(policy, Scalar::B64)
        };
        check vector_rule(a.len(), *ty)
            .and(rule(!matches!(space, StateSpace::Param | StateSpace::Const), "nothing is stored there"))
            .and(rule(matches!(space, StateSpace::Generic | StateSpace::Global)
                || cache.is_none() && l1.is_none() && policy.is_none(), "caching is for global memory"))
            .and(rule(cache.is_none() || *order == StoreOrder::Weak && l1.is_none() && policy.is_none(),
                "`.wb` and its like stand alone, in weak stores"))
            .and(rule(*order != StoreOrder::Volatile || l1.is_none() && policy.is_none(),
                "a volatile store has no hints"))
            .and(order_rule(*order != StoreOrder::Weak, *space));
        needs access_needs(*space, order.scope())
            .max(Needs::new(Target::Sm80, 7, 4).when(l1.is_some() || policy.is_some()));

    /// Stores to a peer's shared memory; the mbarrier there counts the bytes when they have arrived.
    struct StAsync "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" {
        ty: AsyncType, address: Address, a: RegList, mbarrier: Address,
    }
        form |v| {
            v.count(a, VECTORS).key(ty);
            let count = a.len();
            v.shared(address).vector(a, count, ty.scalar(), Access::Read).shared(mbarrier)
        };
        check rule(a.len() as u32 * ty.scalar().bits() <= 128, "a vector has at most 16 bytes");
        needs Needs::new(Target::Sm90, 8, 1);

    /// The line of an address into a cache.
    struct Prefetch "prefetch" { space: PrefetchSpace, level: CacheLevel, address: Address }
        form |v| v.key(space).key(level).address(address, space.place());

    /// A tensor map into the cache of descriptors.
    struct PrefetchTensormap "prefetch" { space: TensormapSpace, map: Address }
        form |v| v.key(space).word("tensormap").address(map, space.place());
        needs Needs::new(Target::Sm90, 8, 0);

    /// 128 bytes back to normal priority in L2.
    struct ApplyPriority "applypriority.global.L2::evict_normal" { address: Address }
        form |v| v.global(address).fixed("128");
        needs Needs::new(Target::Sm80, 7, 4);

    /// 128 bytes of L2 need not be written back: their content is lost.
    struct Discard "discard.global.L2" { address: Address }
        form |v| v.global(address).fixed("128");
        needs Needs::new(Target::Sm80, 7, 4);

    /// A cache policy: `primary` for the fraction of the accesses, `secondary` (`evict_first`, `evict_unchanged`) for
    /// the rest. The fraction is f32, in 0 (excluded) to 1.
    struct CreatePolicyFractional "createpolicy.fractional" {
        primary: L2Priority, secondary: Option<L2Secondary>, d: Reg, fraction: Operand,
    }
        form |v| v.key(primary).opt_key(secondary).word("b64").write(d, Scalar::B64).operand(fraction, Scalar::F32);
        needs Needs::new(Target::Sm80, 7, 4);

    /// A cache policy by place: `primary` within `primary_size` bytes of the base, `secondary` up to `total_size`.
    struct CreatePolicyRange "createpolicy.range.global" {
        primary: L2Priority, secondary: Option<L2Secondary>,
        d: Reg, base: Address, primary_size: Operand, total_size: Operand,
    }
        form |v| v.key(primary).opt_key(secondary).word("b64").write(d, Scalar::B64).global(base)
            .operand(primary_size, Scalar::U32).operand(total_size, Scalar::U32);
        check rule(!matches!((primary_size, total_size), (Operand::Imm(primary), Operand::Imm(total)) if primary > total),
            "the primary size is part of the total one");
        needs Needs::new(Target::Sm80, 7, 4);

    /// The generic address of an address of a space.
    struct Cvta "cvta" { space: WindowSpace, ty: AddressType, d: Reg, a: Operand }
        form |v| v.key(space).key(ty).write(d, ty.scalar()).operand(a, ty.scalar());
        check rule(*ty == AddressType::U64, "generic addresses have 64 bits");
        needs space.needs();

    /// The generic address of a variable or a parameter.
    struct CvtaSymbol "cvta" { space: WindowSpace, d: Reg, symbol: Address }
        form |v| v.key(space).word("u64").write(d, Scalar::U64).symbol(symbol);
        check rule(match symbol.base {
            Base::Shared(_) => matches!(space, WindowSpace::Shared | WindowSpace::SharedCta),
            Base::Param(_) => *space == WindowSpace::Param,
            Base::Reg(_) => false,
        }, "the variable stands in another space");
        needs space.needs();

    /// The address within a space of a generic address.
    struct CvtaTo "cvta.to" { space: WindowSpace, d: Reg, a: Reg }
        form |v| v.key(space).word("u64").write(d, Scalar::U64).read(a, Scalar::U64);
        needs space.needs();

    /// Whether a generic address is of the space.
    struct Isspacep "isspacep" { space: WindowSpace, p: Reg, a: Reg }
        form |v| v.key(space).write(p, Scalar::Pred).read(a, Scalar::U64);
        needs space.needs();

    /// The address of the same place in the shared memory of another CTA of the cluster (`u32` rank).
    struct Mapa "mapa" { space: MapaSpace, ty: AddressType, d: Reg, a: Reg, rank: Operand }
        form |v| v.key(space).key(ty).write(d, ty.scalar()).read(a, ty.scalar()).operand(rank, Scalar::U32);
        check rule(*space != MapaSpace::Generic || *ty == AddressType::U64, "generic addresses have 64 bits");
        needs Needs::new(Target::Sm90, 7, 8);

    /// Whose shared memory an address is of: the CTA's rank in the cluster, 32 bits.
    struct GetCtaRank "getctarank" { space: MapaSpace, ty: AddressType, d: Reg, a: Reg }
        form |v| v.key(space).key(ty).write(d, Scalar::U32).read(a, ty.scalar());
        check rule(*space != MapaSpace::Generic || *ty == AddressType::U64, "generic addresses have 64 bits");
        needs Needs::new(Target::Sm90, 7, 8);
}

fn vector_rule(count: usize, ty: MemoryType) -> Result<(), &'static str> {
    rule(
        matches!(count, 1 | 2 | 4) && count as u32 * ty.scalar().bits() <= 128,
        "a vector has at most 16 bytes",
    )
}

fn order_rule(ordered: bool, space: StateSpace) -> Result<(), &'static str> {
    use StateSpace::*;
    let may = match space {
        Param | Const | Local => false,
        Generic | Global | Shared | SharedCta | SharedCluster => true,
    };
    rule(!ordered || may, "the space has no such order")
}

/// `shared::cta` came with sm_90's names; `shared::cluster` and the scope of clusters with sm_90.
fn access_needs(space: StateSpace, scope: Option<Scope>) -> Needs {
    let cluster = space == StateSpace::SharedCluster || scope == Some(Scope::Cluster);
    Needs::new(Target::Sm90, 7, 8)
        .when(cluster)
        .max(Needs::new(Target::Sm80, 7, 8).when(space == StateSpace::SharedCta))
}

impl WindowSpace {
    fn needs(self) -> Needs {
        match self {
            WindowSpace::Global | WindowSpace::Shared | WindowSpace::Local => Needs::BASE,
            WindowSpace::SharedCta => Needs::new(Target::Sm80, 7, 8),
            WindowSpace::SharedCluster => Needs::new(Target::Sm90, 7, 8),
            WindowSpace::Param => Needs::new(Target::Sm80, 7, 7),
        }
    }
}
