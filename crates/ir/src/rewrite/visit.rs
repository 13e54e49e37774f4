//! Visits ops in program order and lets a rule keep or replace each.

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
/// While `rule` sees an op, the op is detached and the end of `region` (its second argument) is the place just before
/// it: what the rule pushes there comes out in front of the op, or instead of it. Ops that the rule builds or
/// inlines are not visited. Errors of all ops are collected; the function stays whole.
pub fn rewrite_ops<O: Op>(func: &mut Func<O>, rule: &mut Rule<O>) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    let mut errors = Diagnostics::default();
    let mut waiting = vec![func.body()];
    while let Some(region) = waiting.pop() {
        let mut inner = Vec::new();
        match rewrite_ops_of(func, region, rule, &mut inner) {
            Ok(one) => changed |= one,
            Err(found) => errors.0.extend(found.0),
        }
        waiting.extend(inner.into_iter().rev());
    }
    errors.into_result(changed)
}

/// As [`rewrite_ops`], for the ops that stand directly in `region`.
pub fn rewrite_region<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    rule: &mut Rule<O>,
) -> Result<Changed, Diagnostics> {
    rewrite_ops_of(func, region, rule, &mut Vec::new())
}

/// Puts the regions of the ops that were kept into `inner`.
fn rewrite_ops_of<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    rule: &mut Rule<O>,
    inner: &mut Vec<RegionId>,
) -> Result<Changed, Diagnostics> {
    let ops = func.ops_in(region).to_vec();
    func.set_ops(region, Vec::with_capacity(ops.len()));
    let mut changed = Changed::No;
    let mut errors = Diagnostics::default();
    for op in ops {
        match rule(func, region, op) {
            Ok(Rewrite::Replace(values)) => {
                let results: Vec<Value> = func.results(op).to_vec();
                assert_eq!(
                    results.len(),
                    values.len(),
                    "invariant: a rule replaces every result of `{}`",
                    func.kind(op).name()
                );
                for (from, to) in results.into_iter().zip(values) {
                    func.replace_uses(from, to);
                }
                func.erase(op);
                changed = Changed::Yes;
                continue;
            }
            Ok(Rewrite::Edited) => changed = Changed::Yes,
            Ok(Rewrite::Keep) => {}
            Err(found) => errors.0.extend(found.0),
        }
        func.place_op(op, region, func.ops_in(region).len());
        inner.extend_from_slice(func.regions_of(op));
    }
    errors.into_result(changed)
}
