//! Moves index arithmetic out of loops that do not change it.
//!
//! Before: a well-formed function.  After: the same meaning; no loop body holds an index op whose operands all
//! come from outside of the loop. Vectors stay where they are: a register held across a loop costs more than
//! the op. Ops below an `if` stay below it.

use crate::schedule::{CpuFunc, CpuOp};
use tegula_base::EntityId;
use tegula_ir::{OpId, RegionId};

pub(super) fn hoist_indexes(func: &mut CpuFunc) {
    let body = func.body();
    let mut home = vec![body; func.value_count()];
    hoist_region(func, body, &mut home);
}

/// Takes those ops out of a loop's body, and out of loops in it, that come before the loop; other regions keep their own.
/// `home`: of each value that a loop's body defines, the innermost such loop's.
fn hoist_region(func: &mut CpuFunc, region: RegionId, home: &mut [RegionId]) -> Vec<OpId> {
    let is_loop = func.owner(region).is_some_and(|owner| matches!(func.kind(owner), CpuOp::For { .. }));
    if is_loop {
        func.args(region).iter().for_each(|arg| home[arg.index()] = region);
    }
    let old = func.ops_in(region).to_vec();
    let (mut kept, mut moved) = (Vec::with_capacity(old.len()), Vec::new());
    let mut place = |func: &CpuFunc, op: OpId, home: &mut [RegionId]| {
        let moves = matches!(func.kind(op), CpuOp::Index { .. } | CpuOp::IndexSelect {});
        if is_loop && moves && func.operands(op).iter().all(|value| home[value.index()] != region) {
            return moved.push(op);
        }
        if is_loop {
            func.results(op).iter().for_each(|value| home[value.index()] = region);
        }
        kept.push(op);
    };
    for op in &old {
        for i in 0..func.regions_of(*op).len() {
            let before = hoist_region(func, func.regions_of(*op)[i], home);
            before.into_iter().for_each(|op| place(func, op, home));
        }
        place(func, *op, home);
    }
    if kept != old {
        func.set_ops(region, kept);
    }
    moved
}
