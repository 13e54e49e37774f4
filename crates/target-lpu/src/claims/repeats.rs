//! Which loops a chip computes whole: those that run a known number of trips, and look at its number to choose rows only.

use super::{no, unfit};
use crate::lower::{self, Counted};
use std::collections::BTreeMap;
use tegula_backend::Claim;
use tegula_base::DType;
use tegula_ir::op::OpRules;
use tegula_ir::{Op, OpId, Value};
use tegula_machine::Lpu;
use tegula_tensor::facts::is_source;
use tegula_tensor::{TensorFunc, TensorOp};

/// The share of a bank that rows may take among which data chooses: they lie one behind the other.
const MOST_OF_BANK: u32 = 2;

/// `claim` tells of the ops inside.
pub(super) fn claims(func: &TensorFunc, op: OpId, lpu: &Lpu, claim: &dyn Fn(OpId) -> Claim) -> Claim {
    match refused(func, op, lpu, claim) {
        Some(refused) => refused,
        None => Claim::Yes,
    }
}

fn refused(func: &TensorFunc, op: OpId, lpu: &Lpu, claim: &dyn Fn(OpId) -> Claim) -> Option<Claim> {
    let TensorOp::Loop { trip, stacked } = func.kind(op) else { return Some(no("it is no loop")) };
    let trips = trip.as_const().and_then(|trips| u32::try_from(trips).ok()).filter(|trips| *trips > 0);
    let Some(trips) = trips else { return Some(no("its number of trips is open, or 0")) };
    let region = func.regions_of(op)[0];
    let Some(end) = func.terminator(region) else { return Some(no("it has no end")) };
    if !is_true(func, func.operand(op, 0)) || !is_true(func, func.operand(end, 0)) {
        return Some(no("it may end early"));
    }
    if !func.users(func.results(op)[0]).is_empty() {
        return Some(no("its number of trips is asked for"));
    }
    let values = func.operands(op)[1..].iter().chain(&func.results(op)[1..]).chain(&func.operands(end)[1..]);
    if let Some(problem) = values.copied().find_map(|value| unfit(func, value, lpu)) {
        return Some(problem);
    }
    let stacks = &func.results(op)[func.results(op).len() - stacked..];
    if let Some(problem) = stacks.iter().find_map(|value| long(func, *value, lpu)) {
        return Some(problem);
    }
    let mut counted = BTreeMap::from([(func.args(region)[0], Counted::TRIP)]);
    func.ops_in(region).iter().filter(|inner| **inner != end).find_map(|inner| {
        let name = func.kind(*inner).name();
        if let Some(number) = Counted::of(func, *inner, &|value| counted.get(&value).copied()) {
            counted.insert(func.results(*inner)[0], number);
            return None;
        }
        let is_known = func.results(*inner).iter().all(|value| lower::is_known(func, *value, lower::DEEPEST));
        if is_source(func.kind(*inner)) || is_known {
            return None;
        }
        let problem = match chosen_row(func, *inner, &counted) {
            Some(number) => misses(func, *inner, number, trips, lpu),
            None if func.kind(*inner).region_count() > 0 => Some(no("control flow in a loop")),
            None if func.operands(*inner).iter().any(|value| counted.contains_key(value)) => {
                Some(no("the number of the trip chooses rows only"))
            }
            None => match claim(*inner) {
                Claim::Yes => None,
                refused => Some(refused),
            },
        };
        problem.map(|problem| match problem {
            Claim::No(reason) => no(format!("`{name}` in it: {reason}")),
            other => other,
        })
    })
}

/// The number that chooses the row that a gather gives.
fn chosen_row(func: &TensorFunc, op: OpId, counted: &BTreeMap<Value, Counted>) -> Option<Counted> {
    match func.kind(op) {
        TensorOp::Gather { axis: 0 } if func.ty(func.operand(op, 1)).rank() == 0 => {
            counted.get(&func.operand(op, 1)).copied()
        }
        _ => None,
    }
}

/// What keeps rows from being chosen.
fn misses(func: &TensorFunc, op: OpId, number: Counted, trips: u32, lpu: &Lpu) -> Option<Claim> {
    let data = func.operand(op, 0);
    let rows = func.ty(data).shape.first().and_then(|dim| dim.as_const()).unwrap_or(0);
    let in_range = number.range(trips).is_some_and(|range| i64::from(*range.end()) < rows);
    if !in_range {
        return Some(no("it chooses rows that there are not"));
    }
    let values = [data, func.results(op)[0]];
    values.into_iter().find_map(|value| unfit(func, value, lpu)).or_else(|| long(func, data, lpu))
}

/// Why rows do not lie one behind the other.
pub(super) fn long(func: &TensorFunc, value: Value, lpu: &Lpu) -> Option<Claim> {
    let shape = func.ty(value).shape.as_static()?;
    let rows = lower::vectors(&lower::rows_apart(&shape), super::lanes(lpu));
    let most = lpu.mem.words / MOST_OF_BANK;
    (rows > most).then(|| {
        no(format!("a sequence of {rows} vectors is longer than the {most} words that it may take of a bank"))
    })
}

fn is_true(func: &TensorFunc, value: Value) -> bool {
    func.def_op(value).is_some_and(
        |op| matches!(func.kind(op), TensorOp::Splat { dtype: DType::Bool, bits, .. } if *bits != 0),
    )
}
