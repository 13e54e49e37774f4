//! Where a rule may newly match: the ops around a change.
//!
//! A rule looks at an op, at what its operands and their operands are, and at who reads it and its operands. So an op
//! is *near* when it, one of those two generations before it, or one of those readers is new or reads something new.
//! An op without operands is near only when it is new.

use tegula_base::EntityId;
use tegula_ir::rewrite::{OpSet, Rewrite};
use tegula_ir::{OpId, Value};
use tegula_tensor::TensorFunc;

/// The ops to try, among those that stood when the round began.
pub(super) struct Near {
    pub ops: OpSet,
    /// Ops whose readers are all near; shared constants have very many.
    spread: OpSet,
}

impl Near {
    pub fn everything(func: &TensorFunc) -> Near {
        Near { ops: OpSet::all(func.op_count()), spread: OpSet::default() }
    }

    /// What is near the changed ops that are left.
    pub fn around(func: &TensorFunc, changed: impl Iterator<Item = OpId>) -> Near {
        let near = Near { ops: OpSet::new(func.op_count()), spread: OpSet::new(func.op_count()) };
        for op in changed.filter(|op| func.parent(*op).is_some()) {
            near.add_around(func, op);
        }
        near
    }

    /// Adds what stands behind an op that was tried and is near what the rule built, which has ids from `built` on.
    pub fn note(&self, func: &TensorFunc, op: OpId, built: usize, rewrite: &Rewrite) {
        for op in (built..func.op_count()).map(OpId::new) {
            self.add_around(func, op);
        }
        if let Rewrite::Replace(_) = rewrite {
            self.add_readers(func, func.result(op));
        }
    }

    /// The op, two generations after it, its operands' ops and their readers.
    pub fn add_around(&self, func: &TensorFunc, op: OpId) {
        self.ops.insert(op);
        for value in func.results(op) {
            self.add_readers(func, *value);
        }
        for def in func.operands(op).iter().filter_map(|value| func.def_op(*value)) {
            // Rules of sources look at nobody else.
            if !func.operands(def).is_empty() {
                self.ops.insert(def);
            }
            if self.spread.insert(def) {
                let readers = func.results(def).iter().flat_map(|value| func.users(*value));
                readers.for_each(|reader| _ = self.ops.insert(*reader));
            }
        }
    }

    /// Who reads the value, and who reads their results.
    pub fn add_readers(&self, func: &TensorFunc, value: Value) {
        for reader in func.users(value) {
            self.ops.insert(*reader);
            let results = func.results(*reader).iter();
            results.flat_map(|value| func.users(*value)).for_each(|next| _ = self.ops.insert(*next));
        }
    }
}
