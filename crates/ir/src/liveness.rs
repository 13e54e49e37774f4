//! When values die.

use crate::{Def, Func, Op, OpId, RegionId, Value};
use tegula_base::{HashMap, HashSet};

/// For one region: after which of its ops each value defined there is no longer needed.
/// A use inside an op's regions counts at that op. Holds until the function is edited.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    dying: HashMap<OpId, Vec<Value>>,
    unused_args: Vec<Value>,
}

impl Liveness {
    pub fn of<O: Op>(func: &Func<O>, region: RegionId) -> Liveness {
        let mut liveness = Liveness::default();
        let mut seen = HashSet::default();
        for &op in func.ops_in(region).iter().rev() {
            let mut dying = Vec::new();
            note_uses(func, region, op, &mut seen, &mut dying);
            dying.extend(func.results(op).iter().copied().filter(|value| seen.insert(*value)));
            if !dying.is_empty() {
                liveness.dying.insert(op, dying);
            }
        }
        liveness.unused_args = func.args(region).iter().copied().filter(|arg| !seen.contains(arg)).collect();
        liveness
    }

    /// The values (arguments and results of the region) whose last use is `op`, and results of `op` without a use.
    pub fn dying_after(&self, op: OpId) -> &[Value] {
        self.dying.get(&op).map_or(&[], Vec::as_slice)
    }

    pub fn unused_args(&self) -> &[Value] {
        &self.unused_args
    }
}

fn note_uses<O: Op>(
    func: &Func<O>,
    region: RegionId,
    op: OpId,
    seen: &mut HashSet<Value>,
    dying: &mut Vec<Value>,
) {
    for &value in func.operands(op) {
        let home = match func.def(value) {
            Def::Arg(home, _) => Some(home),
            Def::Result(def, _) => func.parent(def),
        };
        if home == Some(region) && seen.insert(value) {
            dying.push(value);
        }
    }
    for &inner in func.regions_of(op) {
        for &op in func.ops_in(inner) {
            note_uses(func, region, op, seen, dying);
        }
    }
}
