//! What a builder has computed or loaded, by the hash of op and operands: equal hashes may be of different ops.

use super::ops::CpuOp;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use tegula_base::HashMap;
use tegula_base::hash::Mixer;
use tegula_ir::{RegionId, Value};

pub(super) struct Known {
    /// With the region that each was computed in: what is in one that has ended is not to be used again.
    values: HashMap<u64, SmallVec<[(Value, RegionId); 1]>>,
    /// Whole vectors loaded since something was last written, or a region began or ended.
    loaded: HashMap<u64, Value>,
}

impl Known {
    /// With room for `values` values.
    pub fn new(values: usize) -> Known {
        let values = HashMap::with_capacity_and_hasher(values, Default::default());
        Known { values, loaded: HashMap::default() }
    }

    pub fn of(&self, hash: u64) -> &[(Value, RegionId)] {
        self.values.get(&hash).map_or(&[], SmallVec::as_slice)
    }

    /// Notes what `region` computes; the regions that are still filled are `open`.
    pub fn add(&mut self, hash: u64, value: Value, region: RegionId, open: &[RegionId]) {
        let values = self.values.entry(hash).or_default();
        values.retain(|(_, region)| open.contains(region));
        values.push((value, region));
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
