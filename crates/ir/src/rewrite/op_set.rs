//! A set of a function's ops as one bit each.

use crate::OpId;
use std::cell::Cell;
use tegula_base::EntityId;

/// Ops with ids below a bound; others are never members. Shared references may add, so that a walk over the members
/// can be told of more while it runs.
#[derive(Clone, Debug, Default)]
pub struct OpSet {
    words: Vec<Cell<u64>>,
}

impl OpSet {
    /// The empty set that can hold ids below `bound`.
    pub fn new(bound: usize) -> OpSet {
        OpSet { words: vec![Cell::new(0); bound.div_ceil(64)] }
    }

    /// All ids below `bound`.
    pub fn all(bound: usize) -> OpSet {
        OpSet { words: vec![Cell::new(u64::MAX); bound.div_ceil(64)] }
    }

    pub fn contains(&self, op: OpId) -> bool {
        let (word, bit) = place(op);
        self.words.get(word).is_some_and(|word| word.get() & bit != 0)
    }

    /// Whether the op was no member before and is one now.
    pub fn insert(&self, op: OpId) -> bool {
        let (word, bit) = place(op);
        let Some(word) = self.words.get(word) else { return false };
        let before = word.get();
        word.set(before | bit);
        before & bit == 0
    }
}

fn place(op: OpId) -> (usize, u64) {
    (op.index() / 64, 1 << (op.index() % 64))
}
