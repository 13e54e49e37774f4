//! Single elements that only become indexes: they must not decide how many lanes all other tiles have.
//!
//! A 64-bit index that is read from memory, wrapped and used as an offset is one element; were it to count, the
//! `f32` rows that it selects would run in half-filled registers. Such values get vectors of their own lane count.

use crate::schedule::Elem;
use tegula_base::HashSet;
use tegula_ir::{OpId, Value};
use tegula_tile::{TileFunc, TileOp};

/// Tiles of one element, each computed from others of the set and used by the set or as an index, alone.
/// `splat` tiles belong to everyone and to no set.
pub(super) fn index_scalars(func: &TileFunc) -> HashSet<Value> {
    let ops = func.walk();
    let mut scalars: HashSet<Value> = HashSet::default();
    for op in &ops {
        for result in func.results(*op) {
            if is_candidate(func, *op) && is_single(func, *result) {
                scalars.insert(*result);
            }
        }
    }
    loop {
        let misfits: Vec<Value> =
            scalars.iter().copied().filter(|value| !fits(func, &scalars, *value)).collect();
        if misfits.is_empty() {
            return scalars;
        }
        for value in misfits {
            scalars.remove(&value);
        }
    }
}

fn is_single(func: &TileFunc, value: Value) -> bool {
    func.ty(value).as_tile().is_some_and(|(_, shape)| shape.iter().all(|n| *n == 1))
}

fn is_candidate(func: &TileFunc, op: OpId) -> bool {
    matches!(
        func.kind(op),
        TileOp::Load { .. } | TileOp::FromIndex { .. } | TileOp::Reshape { .. } | TileOp::Elementwise { .. }
    )
}

fn is_splat(func: &TileFunc, value: Value) -> bool {
    func.def_op(value).is_some_and(|op| matches!(func.kind(op), TileOp::Splat { .. }))
}

fn fits(func: &TileFunc, scalars: &HashSet<Value>, value: Value) -> bool {
    let op = func.def_op(value).expect("invariant: candidates are results");
    let operand_fits = |operand: &Value| {
        func.ty(*operand).as_tile().is_none() || scalars.contains(operand) || is_splat(func, *operand)
    };
    let user_fits = |user: &OpId| {
        matches!(func.kind(*user), TileOp::ToIndex {})
            || func.results(*user).iter().all(|result| scalars.contains(result)) && is_candidate(func, *user)
    };
    func.operands(op).iter().all(operand_fits) && func.users(value).iter().all(user_fits)
}

/// Lanes of every other tile: as many as the widest register element lets fit.
pub(super) fn lanes_of(func: &TileFunc, scalars: &HashSet<Value>, register_bits: u32) -> u32 {
    let makes_scalar =
        |user: &OpId| func.results(*user).first().is_some_and(|result| scalars.contains(result));
    let mut bytes = 4;
    for op in func.walk() {
        for value in func.results(op).iter().filter(|value| !scalars.contains(value)) {
            let own_lanes = is_splat(func, *value) && func.users(*value).iter().all(makes_scalar);
            if let Some((dtype, _)) = func.ty(*value).as_tile().filter(|_| !own_lanes) {
                bytes = bytes.max(Elem::of(dtype).bytes() as u32);
            }
        }
    }
    register_bits / 8 / bytes
}
