//! Merges ops that compute the same.

use crate::pass::Changed;
use crate::{Effects, Func, Op, OpId, RegionId};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use tegula_base::HashMap;
use tegula_base::hash::Mixer;

/// Replaces each pure op without regions by an earlier equal one (same kind, operands and result types) that stands in
/// its region or in one around it. After: no two such ops are left, except where a region in between may not capture.
pub fn cse<O: Op>(func: &mut Func<O>) -> Changed {
    let mut merged = Vec::new();
    visit(func, func.body(), &mut Scope::default(), &mut merged);
    if merged.is_empty() {
        return Changed::No;
    }
    func.erase_all(merged);
    Changed::Yes
}

/// The ops that may be reused here, by hash; `entered` remembers what to forget at the region's end.
#[derive(Default)]
struct Scope {
    known: HashMap<u64, SmallVec<[OpId; 1]>>,
    entered: Vec<u64>,
}

fn visit<O: Op>(func: &mut Func<O>, region: RegionId, scope: &mut Scope, merged: &mut Vec<OpId>) {
    let mark = scope.entered.len();
    for op in func.ops_in(region).to_vec() {
        let captures = func.kind(op).regions_capture();
        for inner in func.regions_of(op).to_vec() {
            if captures {
                visit(func, inner, scope, merged);
            } else {
                visit(func, inner, &mut Scope::default(), merged);
            }
        }
        if func.kind(op).effects() == Effects::Pure
            && func.regions_of(op).is_empty()
            && !func.results(op).is_empty()
        {
            merge_or_enter(func, op, scope, merged);
        }
    }
    for hash in scope.entered.drain(mark..) {
        scope.known.get_mut(&hash).and_then(SmallVec::pop);
    }
}

fn merge_or_enter<O: Op>(func: &mut Func<O>, op: OpId, scope: &mut Scope, merged: &mut Vec<OpId>) {
    let mut hasher = Mixer::default();
    func.kind(op).hash(&mut hasher);
    func.operands(op).hash(&mut hasher);
    let hash = hasher.finish();
    let candidates = scope.known.entry(hash).or_default();
    match candidates.iter().copied().find(|other| is_equal(func, op, *other)) {
        Some(other) => {
            for (from, to) in func.results(op).to_vec().into_iter().zip(func.results(other).to_vec()) {
                func.replace_uses(from, to);
            }
            merged.push(op);
        }
        None => {
            candidates.push(op);
            scope.entered.push(hash);
        }
    }
}

fn is_equal<O: Op>(func: &Func<O>, a: OpId, b: OpId) -> bool {
    let types = |op: OpId| func.results(op).iter().map(|value| func.ty(*value));
    func.kind(a) == func.kind(b) && func.operands(a) == func.operands(b) && types(a).eq(types(b))
}
