//! Visits ops in program order and lets a rule keep or replace each.

use super::OpSet;
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

/// Runs `rule` on every op of every region, an op before the ops of its regions.
///
/// While `rule` sees an op, the op is off its region's list and the end of `region` (its second argument) is the place
/// just before it: what the rule pushes there comes out in front of the op, or instead of it. The ops behind it are off
/// the list too, so a rule must not walk `region`, nor move or erase its op. Ops that the rule builds or inlines are not
/// visited. Errors of all ops are collected; the function stays whole. A function without [fuel](Func::fuel) is not
/// rewritten.
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
            let inner: Vec<RegionId> =
                func.ops_in(region).iter().flat_map(|op| func.regions_of(*op)).copied().collect();
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
    for op in func.start_relisting(region) {
        if chosen.contains(op) && func.fuel.as_ref().is_none_or(|fuel| fuel.left > 0) {
            let outcome = rule(func, region, op);
            if !matches!(outcome, Ok(Rewrite::Keep)) {
                burn(func, op);
            }
            match outcome {
                Ok(Rewrite::Replace(values)) => {
                    replace(func, op, &values);
                    changed = Changed::Yes;
                    continue;
                }
                Ok(Rewrite::Edited) => changed = Changed::Yes,
                Ok(Rewrite::Keep) => {}
                Err(found) => errors.0.extend(found.0),
            }
        }
        func.relist(op, region);
    }
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
