//! Visits ops in program order and lets a rule keep or replace each.

use super::OpSet;
use super::names::carry_names;
use crate::pass::Changed;
use crate::{Func, Op, OpId, RegionId, Value};
use tegula_base::Diagnostics;

/// What a rule decided about an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite {
    Keep,
    /// The op stays, but the rule edited it or built ops in front of it.
    Edited,
    /// One value per result; the op goes. An op without results is erased by an empty list.
    Replace(Vec<Value>),
}

/// Looks at one op, given the region it stands in.
pub type Rule<'a, O> = dyn FnMut(&mut Func<O>, RegionId, OpId) -> Result<Rewrite, Diagnostics> + 'a;

/// Runs `rule` on every op of every region, an op before the ops of its regions. Sealed regions
/// ([`regions_are_sealed`](crate::op::OpRules::regions_are_sealed)) are not entered.
///
/// While `rule` sees an op, the op is off its region's list and the end of `region` (its second argument) is the place
/// just before it: what the rule pushes there comes out in front of the op, or instead of it. All other ops of the region
/// are off the list too, so a rule must not walk `region`, nor move or erase what stands there. Ops that the rule builds
/// or inlines are not visited. What replaces an op takes the names of all that it computes (`names.rs`). Errors of all ops are collected; the function stays whole. A function without
/// [fuel](Func::fuel) is not rewritten.
pub fn rewrite_ops<O: Op>(func: &mut Func<O>, rule: &mut Rule<O>) -> Result<Changed, Diagnostics> {
    rewrite_chosen(func, &OpSet::all(func.op_count()), rule)
}

/// As [`rewrite_ops`], for the ops in `chosen`; the rule may choose more that stand behind the op at hand.
/// Ops that are not chosen cost next to nothing.
pub fn rewrite_chosen<O: Op>(
    func: &mut Func<O>,
    chosen: &OpSet,
    rule: &mut Rule<O>,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    let mut errors = Diagnostics::default();
    let mut waiting = vec![func.body()];
    while let Some(region) = waiting.pop() {
        match rewrite_ops_of(func, region, chosen, rule) {
            Ok(one) => changed |= one,
            Err(found) => errors.0.extend(found.0),
        }
        // Regions are few: where there are none, the ops need not be asked.
        if func.has_inner_regions() {
            let entered = func.ops_in(region).iter().filter(|op| !func.kind(**op).regions_are_sealed());
            let inner: Vec<RegionId> = entered.flat_map(|op| func.regions_of(*op)).copied().collect();
            waiting.extend(inner.into_iter().rev());
        }
    }
    errors.into_result(changed)
}

/// As [`rewrite_ops`], for the ops that stand directly in `region`.
pub fn rewrite_region<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    rule: &mut Rule<O>,
) -> Result<Changed, Diagnostics> {
    rewrite_ops_of(func, region, &OpSet::all(func.op_count()), rule)
}

fn rewrite_ops_of<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    chosen: &OpSet,
    rule: &mut Rule<O>,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    let mut errors = Diagnostics::default();
    let ops = func.unlist(region);
    // The list to be; of `ops`, those before `next` are in it or gone.
    let (mut list, mut next) = (Vec::with_capacity(ops.len()), 0);
    for (i, &op) in ops.iter().enumerate() {
        if !chosen.contains(op) || func.fuel.as_ref().is_some_and(|fuel| fuel.left == 0) {
            continue;
        }
        let first_built = func.op_count();
        let outcome = rule(func, region, op);
        // Most rules look at very few ops: what they keep is moved in runs.
        if matches!(outcome, Ok(Rewrite::Keep)) && func.ops_in(region).is_empty() {
            continue;
        }
        if let Ok(Rewrite::Replace(values)) = &outcome {
            carry_names(func, region, op, first_built, values);
        }
        list.extend_from_slice(&ops[next..i]);
        func.move_new(region, &mut list);
        next = i;
        if !matches!(outcome, Ok(Rewrite::Keep)) {
            burn(func, op);
        }
        match outcome {
            Ok(Rewrite::Replace(values)) => {
                replace(func, op, &values);
                changed = Changed::Yes;
                next = i + 1;
            }
            Ok(Rewrite::Edited) => changed = Changed::Yes,
            Ok(Rewrite::Keep) => {}
            Err(found) => errors.0.extend(found.0),
        }
    }
    list.extend_from_slice(&ops[next..]);
    func.relist(region, list);
    errors.into_result(changed)
}

/// A rewrite of an op costs fuel, where there is a limit to it.
fn burn<O: Op>(func: &mut Func<O>, op: OpId) {
    let last = func.fuel.is_some().then(|| (func.kind(op).name(), func.op(op).location.clone()));
    if let Some(fuel) = &mut func.fuel {
        fuel.left -= 1;
        fuel.last = last;
    }
}

/// Erases an op that is off its region's list; `values` stand for its results.
fn replace<O: Op>(func: &mut Func<O>, op: OpId, values: &[Value]) {
    let n = func.results(op).len();
    assert_eq!(n, values.len(), "invariant: a rule replaces every result of `{}`", func.kind(op).name());
    for (i, to) in values.iter().enumerate() {
        func.replace_uses(func.results(op)[i], *to);
    }
    func.detach(op);
    func.erase(op);
}
