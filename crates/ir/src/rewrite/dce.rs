//! Removes what nobody sees.

use crate::pass::Changed;
use crate::{Def, Effects, Func, Op, OpId, Value};
use tegula_base::EntityId;

/// Erases ops whose results nobody needs and that write nothing, in any region, chains and regions included.
/// Method: mark from the writes and the body's terminator; an op needs its operands, its regions' terminators and
/// the op around it; sweep the rest.
pub fn dce<O: Op>(func: &mut Func<O>) -> Changed {
    let all = func.walk();
    let mut needed = vec![false; func.op_count()];
    let mut waiting: Vec<OpId> = all.iter().copied().filter(|op| is_root(func, *op)).collect();
    while let Some(op) = waiting.pop() {
        if std::mem::replace(&mut needed[op.index()], true) {
            continue;
        }
        waiting.extend(func.operands(op).iter().filter_map(|value| provider(func, *value)));
        waiting.extend(func.regions_of(op).iter().filter_map(|region| func.terminator(*region)));
        waiting.extend(func.parent(op).and_then(|region| func.owner(region)));
    }
    let dead: Vec<OpId> = all.into_iter().filter(|op| !needed[op.index()]).collect();
    if dead.is_empty() {
        return Changed::No;
    }
    func.erase_all(dead);
    Changed::Yes
}

/// A terminator inside an op matters only when that op does.
fn is_root<O: Op>(func: &Func<O>, op: OpId) -> bool {
    let kind = func.kind(op);
    match kind.is_terminator() {
        true => func.parent(op) == Some(func.body()),
        false => kind.effects() == Effects::Writes,
    }
}

/// The op without which the value would not be.
fn provider<O: Op>(func: &Func<O>, value: Value) -> Option<OpId> {
    match func.def(value) {
        Def::Result(op, _) => Some(op),
        Def::Arg(region, _) => func.owner(region),
    }
}
