//! The ops of a region in the order of their *levels*: the number of contractions, scans, ... that must have run
//! before. Ops of a level stand after its roots, so that whatever a root's epilogue may also read comes early.
//!
//! The order is a topological one. Where a size gets bound the list is cut, since what follows may need the size;
//! asserts on sizes come right after, before anything that may rely on them.

use smallvec::SmallVec;
use std::cmp::max;
use tegula_backend::Target;
use tegula_base::{Diagnostics, EntityId};
use tegula_ir::{OpId, RegionId, Value};
use tegula_tensor::{TensorFunc, TensorOp};

use super::rules::{self, Role};

/// The ops of a region with their uses of each other, by position in the order of levels.
pub(super) struct Listing {
    pub ops: Vec<OpId>,
    pub roles: Vec<Role>,
    /// All positions in program order, asserts moved up as far as their sizes are known.
    pub program_order: Vec<usize>,
    /// How many sizes are bound up to an op, by its position.
    pub segments: Vec<u32>,
    /// Users of an op's results in the same region, once each; an op that uses them in its regions counts.
    pub users: Vec<SmallVec<[usize; 2]>>,
    /// The position of the op that defines a value, by the value's index.
    definers: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Listing {
    /// The position of the op that defines a value in this region.
    pub fn definer(&self, value: Value) -> Option<usize> {
        self.definers.get(value.index()).filter(|at| **at != NOWHERE).map(|at| *at as usize)
    }
}

/// Method: every op is looked at once, in program order; what is found is then put in the order of levels.
/// Errors: internal, for an op that no kernel takes.
pub(super) fn list_ops(
    func: &TensorFunc,
    region: RegionId,
    target: &dyn Target,
) -> Result<Listing, Diagnostics> {
    let ops = func.ops_in(region);
    // Places in the region until positions are known.
    let mut definers = vec![NOWHERE; func.value_count()];
    // By place; of `order`, the level's rank in the upper half and the place in the lower.
    let mut order: Vec<u64> = Vec::with_capacity(ops.len());
    let mut roles: Vec<Role> = Vec::with_capacity(ops.len());
    let mut segments: Vec<u32> = Vec::with_capacity(ops.len());
    let mut levels: Vec<u32> = Vec::with_capacity(ops.len());
    let mut early: Vec<bool> = Vec::with_capacity(ops.len());
    // The ops of this region that each op uses; op `i`'s start at `starts[i]`.
    let (mut uses, mut starts) = (Vec::with_capacity(2 * ops.len()), Vec::with_capacity(ops.len() + 1));
    let mut errors = Diagnostics::default();
    let mut segment = 0;
    for (i, op) in ops.iter().enumerate() {
        let mut level = 0;
        starts.push(uses.len());
        for_each_use(func, *op, &mut |value| {
            let def = definers[value.index()];
            if def != NOWHERE {
                level = max(level, levels[def as usize]);
                uses.push(def);
            }
        });
        func.results(*op).iter().for_each(|value| definers[value.index()] = i as u32);
        let kind = func.kind(*op);
        let role = rules::role(func, *op, target);
        if role.is_none() {
            errors.push(rules::refusal(func, *op));
        }
        let role = role.unwrap_or(Role::Host);
        let binds = matches!(kind, TensorOp::Bind { .. });
        segment += u32::from(binds);
        let root = matches!(role, Role::Root(_) | Role::Reduce) || !func.regions_of(*op).is_empty();
        // A terminator stays last; a binding opens its segment.
        let rank = match kind {
            TensorOp::Yield {} | TensorOp::Return {} => u32::MAX,
            TensorOp::Bind { .. } => 0,
            _ => 2 * level + 1 + u32::from(root),
        };
        order.push(u64::from(rank) << 32 | i as u64);
        roles.push(role);
        segments.push(segment);
        levels.push(level + u32::from(root));
        early.push(binds || matches!(kind, TensorOp::AssertSize { .. }));
    }
    starts.push(uses.len());
    let mut positions = vec![0; ops.len()];
    let mut program_order = Vec::with_capacity(ops.len());
    for segment in segments.chunk_by(|one, next| one == next) {
        let places = program_order.len()..program_order.len() + segment.len();
        order[places.clone()].sort_unstable();
        places.clone().for_each(|position| positions[order[position] as u32 as usize] = position);
        program_order.extend(places.clone().filter(|i| early[*i]).map(|i| positions[i]));
        program_order.extend(places.filter(|i| !early[*i]).map(|i| positions[i]));
    }
    let mut users: Vec<SmallVec<[usize; 2]>> =
        std::iter::repeat_with(SmallVec::new).take(ops.len()).collect();
    let places = order.iter().map(|key| *key as u32 as usize);
    for (position, i) in places.clone().enumerate() {
        for used in &uses[starts[i]..starts[i + 1]] {
            let list = &mut users[positions[*used as usize]];
            if list.last() != Some(&position) {
                list.push(position);
            }
        }
    }
    definers.iter_mut().filter(|at| **at != NOWHERE).for_each(|at| *at = positions[*at as usize] as u32);
    let roles = places.clone().map(|i| roles[i]).collect();
    let ops = places.map(|i| ops[i]).collect();
    errors.into_result(Listing { ops, roles, program_order, segments, users, definers })
}

/// The operands of an op and of all ops in its regions.
pub(crate) fn for_each_use(func: &TensorFunc, op: OpId, f: &mut dyn FnMut(Value)) {
    func.operands(op).iter().for_each(|value| f(*value));
    for region in func.regions_of(op) {
        for inner in func.ops_in(*region) {
            for_each_use(func, *inner, f);
        }
    }
}
