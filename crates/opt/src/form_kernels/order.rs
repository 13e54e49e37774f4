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
    /// All positions in program order, asserts moved up as far as their sizes are known.
    pub program_order: Vec<usize>,
    /// How many sizes are bound up to an op, by its position.
    pub segments: Vec<u32>,
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
    // By place in the region; of `order`, the level's rank and the place.
    let mut order: Vec<(u32, u32)> = Vec::with_capacity(ops.len());
    let mut segments: Vec<u32> = Vec::with_capacity(ops.len());
    let mut levels: Vec<u32> = Vec::with_capacity(ops.len());
    // The ops of this region that each op uses; op `i`'s start at `starts[i]`.
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
        segment += u32::from(binds(kind));
        segments.push(segment);
        let root = rules::is_root(kind) || !func.regions_of(*op).is_empty();
        levels.push(level + u32::from(root));
        // A terminator stays last; a binding opens its segment.
        let rank = match kind {
            TensorOp::Yield {} | TensorOp::Return {} => u32::MAX,
            TensorOp::Bind { .. } => 0,
            _ => 2 * level + 1 + u32::from(root),
        };
        order.push((rank, i as u32));
    }
    starts.push(uses.len());
    let mut positions = vec![0; ops.len()];
    let mut program_order = Vec::with_capacity(ops.len());
    for segment in ops.chunk_by(|_, next| !binds(func.kind(*next))) {
        let places = program_order.len()..program_order.len() + segment.len();
        order[places.clone()].sort_unstable();
        places.clone().for_each(|position| positions[order[position].1 as usize] = position);
        let early =
            |i: &usize| matches!(func.kind(ops[*i]), TensorOp::Bind { .. } | TensorOp::AssertSize { .. });
        let late = places.clone().filter(|i| !early(i));
        program_order.extend(places.filter(early).chain(late).map(|i| positions[i]));
    }
    let sorted: Vec<OpId> = order.iter().map(|(_, i)| ops[*i as usize]).collect();
    let mut users: Vec<SmallVec<[usize; 2]>> =
        std::iter::repeat_with(SmallVec::new).take(ops.len()).collect();
    for (position, (_, i)) in order.iter().enumerate() {
        let i = *i as usize;
        place[ops[i].index()] = position as u32;
        for used in &uses[starts[i]..starts[i + 1]] {
            let list = &mut users[positions[*used as usize]];
            if list.last() != Some(&position) {
                list.push(position);
            }
        }
    }
    Listing { ops: sorted, program_order, segments, users, position: place }
}

fn binds(kind: &TensorOp) -> bool {
    matches!(kind, TensorOp::Bind { .. })
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
