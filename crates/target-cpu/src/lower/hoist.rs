//! Moves index arithmetic out of loops that do not change it.
//!
//! Before: a well-formed function.  After: the same meaning; no loop body holds an index op whose operands all
//! come from outside of the loop. Vectors stay where they are: a register held across a loop costs more than
//! the op. Ops below an `if` stay below it.

use crate::schedule::{CpuFunc, CpuOp};
use tegula_base::EntityId;
use tegula_ir::RegionId;

pub(super) fn hoist_indexes(func: &mut CpuFunc) {
    let body = func.body();
    let mut home = vec![body; func.value_count()];
    hoist_region(func, body, &mut home);
}

/// `home`: of each value that a loop's body defines, the innermost such loop's.
fn hoist_region(func: &mut CpuFunc, region: RegionId, home: &mut [RegionId]) {
    let mut ops = Vec::with_capacity(func.ops_in(region).len());
    for op in func.ops_in(region).to_vec() {
        for inner in func.regions_of(op).to_vec() {
            hoist_region(func, inner, home);
        }
        if let CpuOp::For { .. } = func.kind(op) {
            let inner = func.regions_of(op)[0];
            func.args(inner).iter().for_each(|arg| home[arg.index()] = inner);
            let mut kept = Vec::with_capacity(func.ops_in(inner).len());
            for candidate in func.ops_in(inner).to_vec() {
                let moves = matches!(func.kind(candidate), CpuOp::Index { .. } | CpuOp::IndexSelect {});
                if moves && func.operands(candidate).iter().all(|value| home[value.index()] != inner) {
                    ops.push(candidate);
                } else {
                    func.results(candidate).iter().for_each(|value| home[value.index()] = inner);
                    kept.push(candidate);
                }
            }
            func.set_ops(inner, kept);
        }
        ops.push(op);
    }
    func.set_ops(region, ops);
}
