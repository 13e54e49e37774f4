//! Barriers of the CTA, of warps and of the cluster; fences between accesses and between proxies.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand, Predicate};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

ops! {
    /// Waits for `threads` threads (all of the CTA where missing) at the barrier `id` (0 to 15).
    /// `aligned`: all threads of a warp run it together. An `id` in a register makes `ptxas` reserve all 16.
    struct BarrierSync "barrier.sync" { aligned: bool, id: Operand, threads: Option<Operand> }
        form |v| v.flag(aligned, "aligned").operand(id, Scalar::U32).opt_operand(threads, Scalar::U32);
        check barrier_rule(id, threads);

    /// Arrives at the barrier `id` without waiting.
    struct BarrierArrive "barrier.arrive" { aligned: bool, id: Operand, threads: Operand }
        form |v| v.flag(aligned, "aligned").operand(id, Scalar::U32).operand(threads, Scalar::U32);
        check barrier_rule(id, &Some(*threads));

    /// As `BarrierSync`; `d` = how many threads gave a true `p`; 32 bits.
    struct BarrierRedPopc "barrier.red.popc" {
        aligned: bool, d: Reg, id: Operand, threads: Option<Operand>, p: Predicate,
    }
        form |v| v.flag(aligned, "aligned").word("u32").write(d, Scalar::U32)
            .operand(id, Scalar::U32).opt_operand(threads, Scalar::U32).predicate(p);
        check barrier_rule(id, threads);

    /// As `BarrierSync`; `d` = whether all (any) threads gave a true `p`.
    struct BarrierRed "barrier.red" {
        op: BarrierRedOp, aligned: bool, d: Reg, id: Operand, threads: Option<Operand>, p: Predicate,
    }
        form |v| v.key(op).flag(aligned, "aligned").word("pred").write(d, Scalar::Pred)
            .operand(id, Scalar::U32).opt_operand(threads, Scalar::U32).predicate(p);
        check barrier_rule(id, threads);

    /// Waits for the lanes of `mask`; orders their memory accesses.
    struct BarWarpSync "bar.warp.sync" { mask: Operand }
        form |v| v.operand(mask, Scalar::B32);

    /// Arrives at the cluster's barrier; unwritten, it releases.
    struct ClusterArrive "barrier.cluster.arrive" { order: ClusterArriveOrder, aligned: bool }
        form |v| v.key(order).flag(aligned, "aligned");
        needs Needs::new(Target::Sm90, 7, 8)
            .max(Needs::new(Target::Sm90, 8, 0).when(*order != ClusterArriveOrder::Default));

    /// Waits until all threads of the cluster have arrived; acquires.
    struct ClusterWait "barrier.cluster.wait" { acquire: bool, aligned: bool }
        form |v| v.flag(acquire, "acquire").flag(aligned, "aligned");
        needs Needs::new(Target::Sm90, 7, 8).max(Needs::new(Target::Sm90, 8, 0).when(*acquire));

    /// Orders memory accesses before it against those after it.
    struct Fence "fence" { order: FenceOrder }
        form |v| v.key(order);
        needs Needs::new(Target::Sm90, 7, 8).when(order.scope() == Some(Scope::Cluster));

    /// Makes `mbarrier.init` seen by the cluster.
    struct FenceMbarrierInit "fence.mbarrier_init.release.cluster" {}
        form |v| {};
        needs Needs::new(Target::Sm90, 8, 0);

    /// Orders accesses by ordinary instructions against those of the asynchronous proxy (TMA, wgmma).
    struct FenceProxyAsync "fence.proxy.async" { space: ProxySpace }
        form |v| v.key(space);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Orders accesses through aliases of the same memory.
    struct FenceProxyAlias "fence.proxy.alias" {}
        form |v| {};
        needs Needs::new(Target::Sm80, 7, 5);

    /// Releases what was written to a tensor map.
    struct FenceProxyTensormapRelease "fence.proxy.tensormap::generic.release" { scope: Scope }
        form |v| v.key(scope);
        needs Needs::new(Target::Sm90, 8, 3);

    /// Acquires a tensor map (128 bytes) for later accesses through it.
    struct FenceProxyTensormapAcquire "fence.proxy.tensormap::generic.acquire" { scope: Scope, map: Address }
        form |v| v.key(scope).generic(map).fixed("128");
        needs Needs::new(Target::Sm90, 8, 3);
}

fn barrier_rule(id: &Operand, threads: &Option<Operand>) -> Result<(), &'static str> {
    rule(!matches!(id, Operand::Imm(16..)), "barriers are 0 to 15").and(rule(
        !matches!(threads, Some(Operand::Imm(count)) if count % 32 != 0 || *count == 0),
        "a barrier has whole warps",
    ))
}
