//! What a builder has computed or loaded, by the hash of op and operands: equal hashes may be of different ops.

use super::ops::CpuOp;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use tegula_base::HashMap;
use tegula_base::hash::Mixer;
use tegula_ir::Value;

/// Of the open scopes.
pub(super) struct Known {
    /// With the number of the scope, 0 the function's.
    values: HashMap<u64, SmallVec<[(Value, u32); 1]>>,
    /// Hashes that each scope inside of the function's added.
    added: Vec<Vec<u64>>,
    /// Whole vectors loaded since something was last written, or a region began or ended.
    loaded: HashMap<u64, Value>,
}

impl Known {
    /// With room for `values` values.
    pub fn new(values: usize) -> Known {
        let values = HashMap::with_capacity_and_hasher(values, Default::default());
        Known { values, added: Vec::new(), loaded: HashMap::default() }
    }

    pub fn of(&self, hash: u64) -> impl Iterator<Item = Value> {
        self.values.get(&hash).into_iter().flatten().map(|(value, _)| *value)
    }

    /// Of the innermost scope, or the function's.
    pub fn add(&mut self, hash: u64, value: Value, for_all: bool) {
        let scope = if for_all { 0 } else { self.added.len() as u32 };
        self.values.entry(hash).or_default().push((value, scope));
        if let Some(added) = self.added.last_mut().filter(|_| !for_all) {
            added.push(hash);
        }
    }

    pub fn open(&mut self) {
        self.added.push(Vec::new());
    }

    pub fn close(&mut self) {
        let scope = self.added.len() as u32;
        for hash in self.added.pop().unwrap_or_default() {
            if let Some(values) = self.values.get_mut(&hash) {
                values.retain(|(_, own)| *own < scope);
            }
        }
    }

    pub fn loaded(&self, hash: u64) -> Option<Value> {
        self.loaded.get(&hash).copied()
    }

    pub fn load(&mut self, hash: u64, value: Value) {
        self.loaded.insert(hash, value);
    }

    pub fn forget_loaded(&mut self) {
        self.loaded.clear();
    }
}

pub(super) fn hash(kind: &CpuOp, operands: &[Value]) -> u64 {
    let mut mixer = Mixer::default();
    kind.hash(&mut mixer);
    operands.hash(&mut mixer);
    mixer.finish()
}
