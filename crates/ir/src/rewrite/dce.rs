//! Removes what nobody sees.

use super::OpSet;
use crate::pass::Changed;
use crate::{Def, Effects, Func, Op, OpId, RegionId, Value};

/// Erases ops whose results nobody needs and that write nothing, in any region, chains and regions included.
/// Method: a region backwards, so that every reader is seen before what it reads; an op needs its operands, its
/// regions' terminators and the op around it.
pub fn dce<O: Op>(func: &mut Func<O>) -> Changed {
    let needed = OpSet::new(func.op_count());
    if func.has_inner_regions() {
        need_what_holds_writes(func, &needed);
    }
    let mut dead = Vec::new();
    find_dead(func, func.body(), &needed, &mut dead);
    erase(func, dead)
}

/// An op whose regions write is needed as they are.
fn need_what_holds_writes<O: Op>(func: &Func<O>, needed: &OpSet) {
    for op in func.walk() {
        if writes(func, op) {
            let mut around = func.parent(op).and_then(|region| func.owner(region));
            while let Some(owner) = around.filter(|owner| needed.insert(*owner)) {
                around = func.parent(owner).and_then(|region| func.owner(region));
            }
        }
    }
}

fn find_dead<O: Op>(func: &Func<O>, region: RegionId, needed: &OpSet, dead: &mut Vec<OpId>) {
    for &op in func.ops_in(region).iter().rev() {
        if !needed.contains(op) && func.kind(op).effects() != Effects::Writes {
            dead.push(op);
            continue;
        }
        for value in func.operands(op) {
            provider(func, *value).inspect(|def| _ = needed.insert(*def));
        }
        for inner in func.regions_of(op) {
            find_dead(func, *inner, needed, dead);
        }
    }
}

/// Erases those of `candidates` that are not needed, and what then is not needed any more: as [`dce`] where all
/// else is known to be needed, in time that depends on what goes.
pub fn erase_unneeded<O: Op>(func: &mut Func<O>, candidates: impl IntoIterator<Item = OpId>) -> Changed {
    let gone = OpSet::new(func.op_count());
    let mut dead = Vec::new();
    let mut waiting: Vec<OpId> = candidates.into_iter().collect();
    while let Some(op) = waiting.pop() {
        if gone.contains(op) || func.parent(op).is_none() || func.kind(op).effects() == Effects::Writes {
            continue;
        }
        let mut users = func.results(op).iter().flat_map(|value| func.users(*value));
        if !users.all(|user| gone.contains(*user)) {
            continue;
        }
        if !func.regions_of(op).is_empty() {
            // What is inside decides, and goes too.
            erase(func, dead);
            return dce(func) | Changed::Yes;
        }
        gone.insert(op);
        dead.push(op);
        waiting.extend(func.operands(op).iter().filter_map(|value| provider(func, *value)));
    }
    erase(func, dead)
}

fn erase<O: Op>(func: &mut Func<O>, dead: Vec<OpId>) -> Changed {
    if dead.is_empty() {
        return Changed::No;
    }
    func.erase_all(dead);
    Changed::Yes
}

/// A terminator inside an op matters only when that op does.
fn writes<O: Op>(func: &Func<O>, op: OpId) -> bool {
    let kind = func.kind(op);
    kind.effects() == Effects::Writes && !kind.is_terminator()
}

/// The op without which the value would not be.
fn provider<O: Op>(func: &Func<O>, value: Value) -> Option<OpId> {
    match func.def(value) {
        Def::Result(op, _) => Some(op),
        Def::Arg(region, _) => func.owner(region),
    }
}
