//! Moves index arithmetic out of loops that do not change it.
//!
//! Before: a well-formed function.  After: the same meaning; no loop body holds an index op whose operands all
//! come from outside of the loop. Vectors stay where they are: a register held across a loop costs more than
//! the op. Ops below an `if` stay below it.

use crate::schedule::{CpuFunc, CpuOp};
use tegula_base::HashSet;
use tegula_ir::{RegionId, Value};

pub(super) fn hoist_indexes(func: &mut CpuFunc) {
    let body = func.body();
    hoist_region(func, body);
}

fn hoist_region(func: &mut CpuFunc, region: RegionId) {
    let mut ops = Vec::with_capacity(func.ops_in(region).len());
    for op in func.ops_in(region).to_vec() {
        for inner in func.regions_of(op).to_vec() {
            hoist_region(func, inner);
        }
        if let CpuOp::For { .. } = func.kind(op) {
            let inner = func.regions_of(op)[0];
            let mut defined: HashSet<Value> = func.args(inner).iter().copied().collect();
            let mut kept = Vec::new();
            for candidate in func.ops_in(inner).to_vec() {
                let moves = matches!(func.kind(candidate), CpuOp::Index { .. } | CpuOp::IndexSelect {});
                if moves && func.operands(candidate).iter().all(|value| !defined.contains(value)) {
                    ops.push(candidate);
                } else {
                    defined.extend(func.results(candidate));
                    kept.push(candidate);
                }
            }
            func.set_ops(inner, kept);
        }
        ops.push(op);
    }
    func.set_ops(region, ops);
}
