//! What is known of indexes while lowering: least values, nesting depths, sums of terms.

use smallvec::SmallVec;
use tegula_base::Symbols;
use tegula_ir::{Def, RegionId, Value};
use tegula_tile::divisor::constant;
use tegula_tile::{IndexOp, TileFunc, TileKernel, TileOp};

/// `constant + sum of value * factor`.
pub(super) struct Sum {
    pub constant: i64,
    pub terms: SmallVec<[(Value, i64); 4]>,
}

/// Splits an index into terms, through additions, subtractions and products with constants.
pub(super) fn sum_of(func: &TileFunc, index: Value) -> Sum {
    let mut sum = Sum { constant: 0, terms: SmallVec::new() };
    collect(func, index, 1, &mut sum);
    sum
}

fn collect(func: &TileFunc, index: Value, factor: i64, sum: &mut Sum) {
    if let Some(op) = func.def_op(index) {
        let operands = func.operands(op);
        match func.kind(op) {
            TileOp::Const { value } => {
                sum.constant = sum.constant.wrapping_add(value.wrapping_mul(factor));
                return;
            }
            TileOp::Index { op: IndexOp::Add } => {
                collect(func, operands[0], factor, sum);
                return collect(func, operands[1], factor, sum);
            }
            TileOp::Index { op: IndexOp::Sub } => {
                collect(func, operands[0], factor, sum);
                return collect(func, operands[1], factor.wrapping_neg(), sum);
            }
            TileOp::Index { op: IndexOp::Mul } => {
                for (a, b) in [(0, 1), (1, 0)] {
                    if let Some(n) = constant(func, operands[b]) {
                        return collect(func, operands[a], factor.wrapping_mul(n), sum);
                    }
                }
            }
            _ => {}
        }
    }
    match sum.terms.iter_mut().find(|(value, _)| *value == index) {
        Some((_, own)) => *own = own.wrapping_add(factor),
        None => sum.terms.push((index, factor)),
    }
}

/// How many regions lie around the place where a value is defined; 0 in the body.
pub(super) fn depth(func: &TileFunc, value: Value) -> u32 {
    let mut region = match func.def(value) {
        Def::Arg(region, _) => Some(region),
        Def::Result(op, _) => func.parent(op),
    };
    let mut depth = 0;
    while let Some(owner) = region.and_then(|region: RegionId| func.owner(region)) {
        depth += 1;
        region = func.parent(owner);
    }
    depth
}

/// A lower bound of an index in every run; `i64::MIN` when nothing is known.
/// Sizes are taken to be so small that sums and products of what is known do not wrap.
pub(super) fn least(kernel: &TileKernel, symbols: &Symbols, index: Value) -> i64 {
    let func = &kernel.func;
    let least = |value: Value| least(kernel, symbols, value);
    let op = match func.def(index) {
        Def::Arg(region, 0) if region != func.body() => {
            let owner = func.owner(region).expect("invariant: a region that is not the body has an owner");
            return match func.kind(owner) {
                TileOp::For { .. } => least(func.operand(owner, 0)),
                _ => i64::MIN,
            };
        }
        // Grid coordinates count from 0; carried values are unknown.
        Def::Arg(region, _) => return if region == func.body() { 0 } else { i64::MIN },
        Def::Result(op, _) => op,
    };
    let operand = |i: usize| func.operand(op, i);
    match func.kind(op) {
        TileOp::Const { value } => *value,
        TileOp::Size { dim } => symbols.bounds(dim).0,
        TileOp::Index { op: kind } => {
            let (a, b) = (least(operand(0)), least(operand(1)));
            let n = constant(func, operand(1));
            match kind {
                IndexOp::Add if a != i64::MIN && b != i64::MIN => a.saturating_add(b),
                IndexOp::Sub if a != i64::MIN => n.map_or(i64::MIN, |n| a.saturating_sub(n)),
                IndexOp::Mul if a >= 0 && b >= 0 => a.saturating_mul(b),
                IndexOp::Mul if a != i64::MIN && n.is_some_and(|n| n > 0) => {
                    a.saturating_mul(n.expect("invariant: just tested"))
                }
                IndexOp::FloorDiv if a >= 0 && b >= 0 => 0,
                IndexOp::FloorDiv if a != i64::MIN && n.is_some_and(|n| n > 0) => {
                    a.div_euclid(n.expect("invariant: just tested"))
                }
                IndexOp::Mod if b >= 0 => 0,
                IndexOp::Min => a.min(b),
                IndexOp::Max => a.max(b),
                IndexOp::And if a >= 0 || b >= 0 => 0,
                IndexOp::Eq | IndexOp::Ne | IndexOp::Lt | IndexOp::Le => 0,
                _ => i64::MIN,
            }
        }
        _ => i64::MIN,
    }
}
