//! The ops of a region in the order of their *levels*: the number of contractions, scans, ... that must have run
//! before. Ops of a level stand after its roots, so that whatever a root's epilogue may also read comes early.
//!
//! The order is a topological one. Where a size gets bound the list is cut, since what follows may need the size;
//! asserts on sizes come right after, before anything that may rely on them.

use smallvec::SmallVec;
use std::cmp::max;
use tegula_base::EntityId;
use tegula_ir::{Def, OpId, RegionId};
use tegula_tensor::{TensorFunc, TensorOp};

use super::rules;

/// The ops of a region with their uses of each other, by position in the order of levels.
pub(super) struct Listing {
    pub ops: Vec<OpId>,
    /// Rank in program order, asserts moved up as far as their sizes are known.
    pub program_order: Vec<(usize, u8, usize)>,
    /// Users of an op's results in the same region, once each; an op that uses them in its regions counts.
    pub users: Vec<SmallVec<[usize; 2]>>,
    /// The position of an op, by its id.
    position: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Listing {
    /// The position of the op that defines a value in this region.
    pub fn definer(&self, func: &TensorFunc, value: tegula_ir::Value) -> Option<usize> {
        match func.def(value) {
            Def::Result(op, _) => self.position(op),
            Def::Arg(..) => None,
        }
    }

    pub fn position(&self, op: OpId) -> Option<usize> {
        self.position.get(op.index()).filter(|at| **at != NOWHERE).map(|at| *at as usize)
    }
}

pub(super) fn list_ops(func: &TensorFunc, region: RegionId) -> Listing {
    let ops = func.ops_in(region);
    let mut place = vec![NOWHERE; func.op_count()];
    for (i, op) in ops.iter().enumerate() {
        place[op.index()] = i as u32;
    }
    let mut keys = Vec::with_capacity(ops.len());
    let mut levels: Vec<usize> = Vec::with_capacity(ops.len());
    // The ops of this region that each op uses, by place in the region; op `i`'s start at `starts[i]`.
    let (mut uses, mut starts) = (Vec::with_capacity(2 * ops.len()), Vec::with_capacity(ops.len() + 1));
    let mut segment = 0;
    for (i, op) in ops.iter().enumerate() {
        let mut level = 0;
        starts.push(uses.len());
        for_each_use(func, *op, &mut |value| {
            if let Def::Result(def, _) = func.def(value)
                && place[def.index()] != NOWHERE
            {
                level = max(level, levels[place[def.index()] as usize]);
                uses.push(place[def.index()]);
            }
        });
        let kind = func.kind(*op);
        let binds = matches!(kind, TensorOp::Bind { .. });
        segment += usize::from(binds);
        let root = rules::is_root(kind) || !func.regions_of(*op).is_empty();
        levels.push(level + usize::from(root));
        let key = if root { 2 * level + 2 } else { 2 * level + 1 };
        // A terminator stays last; a binding opens its segment.
        let key = if tegula_ir::op::OpRules::is_terminator(kind) { usize::MAX } else { key };
        keys.push((segment, if binds { 0 } else { key }, i));
    }
    keys.sort_unstable();
    starts.push(uses.len());
    let sorted: Vec<OpId> = keys.iter().map(|(_, _, i)| ops[*i]).collect();
    let turn = |op: &OpId| match func.kind(*op) {
        TensorOp::Bind { .. } => 0,
        TensorOp::AssertSize { .. } => 1,
        _ => 2,
    };
    let program_order = keys.iter().map(|(segment, _, i)| (*segment, turn(&ops[*i]), *i)).collect();
    let mut positions = vec![0; ops.len()];
    for (position, (_, _, i)) in keys.iter().enumerate() {
        positions[*i] = position;
        place[ops[*i].index()] = position as u32;
    }
    let mut users = vec![SmallVec::new(); sorted.len()];
    for (position, (_, _, i)) in keys.iter().enumerate() {
        for used in &uses[starts[*i]..starts[*i + 1]] {
            let list: &mut SmallVec<[usize; 2]> = &mut users[positions[*used as usize]];
            if list.last() != Some(&position) {
                list.push(position);
            }
        }
    }
    Listing { ops: sorted, program_order, users, position: place }
}

/// The operands of an op and of all ops in its regions.
pub(super) fn for_each_use(func: &TensorFunc, op: OpId, f: &mut dyn FnMut(tegula_ir::Value)) {
    func.operands(op).iter().for_each(|value| f(*value));
    for region in func.regions_of(op) {
        for inner in func.ops_in(*region) {
            for_each_use(func, *inner, f);
        }
    }
}
