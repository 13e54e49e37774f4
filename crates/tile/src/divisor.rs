//! What divides an index in every run, from the loops and arithmetic that it comes from.

use crate::{IndexOp, TileFunc, TileOp};
use tegula_base::Dim;
use tegula_ir::{Def, Value};

/// Nothing larger is asked about; 0 is a multiple of it too.
const MOST: i64 = 1 << 20;

/// A number that divides the index in every run; `of_size` says one for a size expression.
pub fn divisor(func: &TileFunc, value: Value, of_size: &dyn Fn(&Dim) -> i64) -> i64 {
    match func.def(value) {
        Def::Arg(region, 0) if region != func.body() => {
            let owner = func.owner(region).expect("invariant: a loop owns its body");
            match func.kind(owner) {
                TileOp::For { step } => gcd(divisor(func, func.operand(owner, 0), of_size), *step),
                _ => 1,
            }
        }
        Def::Arg(..) => 1,
        Def::Result(op, _) => {
            let operand = |i: usize| divisor(func, func.operand(op, i), of_size);
            match func.kind(op) {
                TileOp::Const { value } => gcd(*value, MOST),
                TileOp::Size { dim } => of_size(dim),
                TileOp::Index { op: IndexOp::Mul } => operand(0).saturating_mul(operand(1)).min(MOST),
                TileOp::Index { op: IndexOp::Add | IndexOp::Sub | IndexOp::Min | IndexOp::Max } => {
                    gcd(operand(0), operand(1))
                }
                TileOp::Index { op: IndexOp::FloorDiv } => match constant(func, func.operand(op, 1)) {
                    Some(by) if by > 0 && operand(0) % by == 0 => operand(0) / by,
                    _ => 1,
                },
                TileOp::Index { op: IndexOp::Mod } => gcd(operand(0), operand(1)),
                _ => 1,
            }
        }
    }
}

fn constant(func: &TileFunc, value: Value) -> Option<i64> {
    match func.kind(func.def_op(value)?) {
        TileOp::Const { value } => Some(*value),
        _ => None,
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { MOST } else { a.min(MOST as u64) as i64 }
}
