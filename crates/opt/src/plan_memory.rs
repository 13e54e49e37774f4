//! Lifetimes of the buffers of a host program, from which `package::plan` lays out the arena.
//!
//! Before: a verified host function.  After: for each buffer the inclusive range of step numbers (pre-order, a step
//! before those inside it) that need its content; an alias shares its root's.
//! A buffer made outside of a loop and used inside lives over the whole loop, since a round may read what an
//! earlier one wrote. What a branch of a fork uses lives over the whole fork, since the other branch may run at any
//! time of it. What the program returns lives to its end.

use tegula_base::HashMap;
use tegula_host::{HostFunc, HostOp};
use tegula_ir::{OpId, RegionId, Value};

/// First and last step of each buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// By root buffer.
    ranges: HashMap<Value, (u32, u32)>,
    roots: HashMap<Value, Value>,
}

impl Lifetimes {
    /// Inclusive; `(0, 0)` for a buffer that no step uses.
    pub fn of(&self, buffer: Value) -> (u32, u32) {
        let root = self.roots.get(&buffer).copied().unwrap_or(buffer);
        self.ranges.get(&root).copied().unwrap_or((0, 0))
    }

    fn extend(&mut self, root: Value, first: u32, last: u32) {
        let range = self.ranges.entry(root).or_insert((first, last));
        *range = (range.0.min(first), range.1.max(last));
    }
}

/// The number of each step.
pub fn step_numbers(func: &HostFunc) -> HashMap<OpId, u32> {
    let steps = func.walk().into_iter().filter(|op| func.kind(*op).is_step());
    steps.enumerate().map(|(number, op)| (op, number as u32)).collect()
}

pub fn plan_memory(func: &HostFunc) -> Lifetimes {
    let numbers = step_numbers(func);
    let end = (numbers.len() as u32).saturating_sub(1);
    let mut lifetimes = Lifetimes::default();
    for op in func.walk() {
        match func.kind(op) {
            HostOp::Alias { .. } => {
                let of = func.operand(op, 0);
                let root = lifetimes.roots.get(&of).copied().unwrap_or(of);
                lifetimes.roots.insert(func.result(op), root);
            }
            HostOp::Return { .. } => {
                for buffer in func.operands(op) {
                    let root = lifetimes.roots.get(buffer).copied().unwrap_or(*buffer);
                    lifetimes.extend(root, end, end);
                }
            }
            kind if kind.is_step() => {
                for buffer in func.operands(op) {
                    let root = lifetimes.roots.get(buffer).copied().unwrap_or(*buffer);
                    let (first, last) = extent(func, &numbers, op, home(func, root));
                    lifetimes.extend(root, first, last);
                }
            }
            _ => {}
        }
    }
    lifetimes
}

/// The region a buffer is made in.
fn home(func: &HostFunc, buffer: Value) -> Option<RegionId> {
    func.def_op(buffer).and_then(|op| func.parent(op))
}

/// The steps that an access at `op` to a buffer of region `home` stands for.
fn extent(func: &HostFunc, numbers: &HashMap<OpId, u32>, op: OpId, home: Option<RegionId>) -> (u32, u32) {
    let mut range = match func.kind(op) {
        // Condition and counter are touched before every round.
        HostOp::Loop { .. } => (numbers[&op], last_inside(func, numbers, op)),
        _ => (numbers[&op], numbers[&op]),
    };
    let (mut region, mut is_inside) = (func.parent(op), true);
    while let Some(owner) = region.and_then(|region| func.owner(region)) {
        is_inside &= region != home;
        let is_whole = match func.kind(owner) {
            HostOp::Loop { .. } => is_inside,
            kind => *kind == HostOp::Fork {},
        };
        if is_whole {
            range = (range.0.min(numbers[&owner]), range.1.max(last_inside(func, numbers, owner)));
        }
        region = func.parent(owner);
    }
    range
}

/// The number of the last step inside of an op, or its own.
fn last_inside(func: &HostFunc, numbers: &HashMap<OpId, u32>, op: OpId) -> u32 {
    let regions = func.regions_of(op).iter();
    let inside = regions.flat_map(|region| func.ops_in(*region)).filter(|op| func.kind(**op).is_step());
    inside.map(|op| last_inside(func, numbers, *op)).max().unwrap_or(0).max(numbers[&op])
}
