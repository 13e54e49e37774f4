//! Puts loops that do not depend on each other into one fork, so that threads may run them at once: the two directions
//! of a recurrent layer.
//!
//! Before: a verified host function.  After: of each two loops of a region, the later of which needs nothing from the
//! earlier or from a step that does, a `fork` at the later's place holds both. Loops inside of loops stay as they are: a fork
//! each round would cost more than it gives.
//! What the earlier loop passes on its way must neither need nor change what it touches (`touched.rs`).

mod touched;

use tegula_host::{HostFunc, HostOp};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::{OpId, RegionId};
use touched::Touched;

pub fn fork_loops(func: &mut HostFunc, cx: &mut PassCx) -> Changed {
    let mut changed = Changed::No;
    let mut waiting = vec![func.body()];
    while let Some(region) = waiting.pop() {
        while let Some((first, second)) = pair(func, region) {
            cx.count("forked", 1);
            cx.remark(func.op(second).location.as_ref(), "runs beside the loop before it");
            fork(func, region, first, second);
            changed = Changed::Yes;
        }
        let branches = func.ops_in(region).iter().filter(|op| matches!(func.kind(**op), HostOp::If {}));
        waiting.extend(branches.flat_map(|op| func.regions_of(*op)).copied());
    }
    changed
}

/// The first loop with one behind it that may run at the same time.
fn pair(func: &HostFunc, region: RegionId) -> Option<(OpId, OpId)> {
    let ops = func.ops_in(region);
    let is_loop = |op: &OpId| matches!(func.kind(*op), HostOp::Loop { .. });
    ops.iter().enumerate().filter(|(_, op)| is_loop(op)).find_map(|(at, first)| {
        let own = Touched::by(func, *first);
        for op in &ops[at + 1..] {
            let other = Touched::by(func, *op);
            if own.conflicts_with(&other) {
                return None;
            }
            if is_loop(op) && own.is_apart_from(&other) {
                return Some((*first, *op));
            }
        }
        None
    })
}

/// Both loops as the branches of a fork where the second stood.
fn fork(func: &mut HostFunc, region: RegionId, first: OpId, second: OpId) {
    let mut ops = func.ops_in(region).to_vec();
    let location = func.op(second).location.clone();
    let fork = func.push_op(region, HostOp::Fork {}, &[], [], location);
    ops.retain(|op| *op != first);
    let place = ops.iter().position(|op| *op == second).expect("invariant: a loop stands in its region");
    ops[place] = fork;
    func.set_ops(region, ops);
    for (branch, op) in func.regions_of(fork).to_vec().into_iter().zip([first, second]) {
        func.append(op, branch);
        func.push_op(branch, HostOp::Yield {}, &[], [], None);
    }
}
