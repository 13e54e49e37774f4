//! Merges ops that compute the same.

use crate::pass::Changed;
use crate::{Effects, Func, Op, OpId, RegionId};
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use tegula_base::HashMap;
use tegula_base::hash::Mixer;

/// Replaces each pure op without regions by an earlier equal one (same kind, operands and result types) that stands in
/// its region or in one around it. After: no two such ops are left, except where a region in between may not capture.
pub fn cse<O: Op>(func: &mut Func<O>) -> Changed {
    let mut merged = Vec::new();
    let mut scope = Scope::default();
    scope.known.reserve(func.ops_in(func.body()).len());
    visit(func, func.body(), &mut scope, &mut merged);
    if merged.is_empty() {
        return Changed::No;
    }
    func.erase_all(merged);
    Changed::Yes
}

/// The ops that may be reused here, by hash, or by the next number that is free; `entered` remembers what to forget at the
/// region's end.
#[derive(Default)]
struct Scope {
    known: HashMap<u64, OpId>,
    entered: Vec<u64>,
}

impl Scope {
    /// Forgets what was entered last first, so that no number is free before those that follow it.
    fn forget(&mut self, mark: usize) {
        for number in self.entered.drain(mark..).rev() {
            self.known.remove(&number);
        }
    }
}

fn visit<O: Op>(func: &mut Func<O>, region: RegionId, scope: &mut Scope, merged: &mut Vec<OpId>) {
    for op in func.ops_in(region).to_vec() {
        let captures = func.kind(op).regions_capture();
        for inner in func.regions_of(op).to_vec() {
            if captures {
                let mark = scope.entered.len();
                visit(func, inner, scope, merged);
                scope.forget(mark);
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
}

fn merge_or_enter<O: Op>(func: &mut Func<O>, op: OpId, scope: &mut Scope, merged: &mut Vec<OpId>) {
    let mut hasher = Mixer::default();
    func.kind(op).hash(&mut hasher);
    func.operands(op).hash(&mut hasher);
    let mut number = hasher.finish();
    let other = loop {
        match scope.known.entry(number) {
            Entry::Occupied(known) if is_equal(func, op, *known.get()) => break *known.get(),
            Entry::Occupied(_) => number = number.wrapping_add(1),
            Entry::Vacant(free) => {
                free.insert(op);
                return scope.entered.push(number);
            }
        }
    };
    for i in 0..func.results(op).len() {
        func.replace_uses(func.results(op)[i], func.results(other)[i]);
    }
    merged.push(op);
}

fn is_equal<O: Op>(func: &Func<O>, a: OpId, b: OpId) -> bool {
    let types = |op: OpId| func.results(op).iter().map(|value| func.ty(*value));
    func.kind(a) == func.kind(b) && func.operands(a) == func.operands(b) && types(a).eq(types(b))
}
