//! What a [`Builder`] computes itself, so that no code does: index arithmetic of constants, and lanes known to be whole
//! numbers in a row, or masks of first lanes, as the bounds of rows of known length are.

use super::ops::{CompareOp, CpuOp, IndexOp, VecOp};
use super::{Builder, Elem};
use tegula_ir::Value;

/// Sums of sums that are looked through: bounds are a place, a tile's and an extent's.
const SUMS: u32 = 4;

/// Lanes `first + i * step`.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: i64,
    step: i64,
}

impl Row {
    /// Lane `i`, where numbers of the element type hold it.
    fn lane(self, i: u32, elem: Elem) -> Option<i64> {
        let number = self.first.checked_add(self.step.checked_mul(i.into())?)?;
        match elem {
            Elem::I64 => Some(number),
            Elem::I32 => i32::try_from(number).ok().map(i64::from),
            _ => None,
        }
    }
}

impl Builder {
    /// The row of numbers that a vector of whole ones is known to be, by so many sums of sums at most: a sum may read
    /// another twice.
    fn row(&self, vector: Value, most: u32) -> Option<Row> {
        let op = self.func().def_op(vector)?;
        match self.func().kind(op) {
            CpuOp::VecConst { elem: Elem::I32 | Elem::I64, bits, .. } => Some(Row { first: *bits, step: 0 }),
            CpuOp::Iota { elem: Elem::I32 | Elem::I64, .. } => Some(Row { first: 0, step: 1 }),
            CpuOp::Vec { op: VecOp::Add } => {
                let deeper = most.checked_sub(1)?;
                let a = self.row(self.func().operand(op, 0), deeper)?;
                let b = self.row(self.func().operand(op, 1), deeper)?;
                Some(Row { first: a.first.checked_add(b.first)?, step: a.step.checked_add(b.step)? })
            }
            _ => None,
        }
    }

    /// A vector that is `op(a, b)` without any code.
    pub(super) fn known_vec(&self, op: VecOp, operands: &[Value]) -> Option<Value> {
        let (VecOp::Add, &[a, b]) = (op, operands) else { return None };
        // Of floats a sum with 0 is not always the other.
        let is_zero = |value: Value| self.as_vec_const(value) == Some(0) && !self.shape(value).0.is_float();
        match (is_zero(a), is_zero(b)) {
            (_, true) => Some(a),
            (true, _) => Some(b),
            _ => None,
        }
    }

    /// The op that chooses between floats as a mask that compares them does.
    pub(super) fn extreme(&self, mask: Value, a: Value, b: Value) -> Option<VecOp> {
        let op = self.func().def_op(mask)?;
        let CpuOp::Compare { op: CompareOp::Lt } = self.func().kind(op) else { return None };
        let compared = (self.func().operand(op, 0), self.func().operand(op, 1));
        let chosen = match compared {
            _ if compared == (a, b) => VecOp::Min,
            _ if compared == (b, a) => VecOp::Max,
            _ => return None,
        };
        self.shape(a).0.is_float().then_some(chosen)
    }

    /// The mask of a comparison that is true in the first lanes alone, or in all, or in none: their number.
    pub(super) fn known_first(&self, op: CompareOp, a: Value, b: Value) -> Option<u32> {
        let (a_row, b_row) = (self.row(a, SUMS)?, self.row(b, SUMS)?);
        let (elem, lanes) = self.shape(a);
        let holds = |i: u32| -> Option<bool> {
            let (a, b) = (a_row.lane(i, elem)?, b_row.lane(i, elem)?);
            Some(match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::LtU | CompareOp::LeU => return None,
            })
        };
        let all: Vec<bool> = (0..lanes).map(holds).collect::<Option<_>>()?;
        let first = all.iter().take_while(|holds| **holds).count();
        (!all[first..].contains(&true)).then_some(first as u32)
    }

    /// How many first lanes of a mask are true, and no others, where that is known.
    pub(super) fn first_lanes(&self, mask: Value) -> Option<u32> {
        let op = self.func().def_op(mask)?;
        let CpuOp::MaskFirst { lanes } = *self.func().kind(op) else { return None };
        let count = self.as_const(self.func().operand(op, 0))?;
        Some(count.clamp(0, lanes.into()) as u32)
    }

    /// A mask that is `op(a, b)` without any code but a constant's.
    pub(super) fn known_mask(&mut self, op: VecOp, a: Value, b: Value) -> Option<Value> {
        let lanes = self.lanes(a);
        let (x, y) = (self.first_lanes(a), self.first_lanes(b));
        match (op, x, y) {
            (VecOp::And, Some(x), Some(y)) => Some(self.mask_of_first(lanes, x.min(y))),
            (VecOp::Or, Some(x), Some(y)) => Some(self.mask_of_first(lanes, x.max(y))),
            (VecOp::And, Some(x), None) if x == lanes => Some(b),
            (VecOp::And, None, Some(y)) if y == lanes => Some(a),
            (VecOp::And, Some(0), None) | (VecOp::Or, None, Some(0)) => Some(a),
            (VecOp::And, None, Some(0)) | (VecOp::Or, Some(0), None) => Some(b),
            _ => None,
        }
    }
}

impl IndexOp {
    /// The op on two numbers, as the machine computes it.
    pub fn eval(self, a: i64, b: i64) -> i64 {
        match self {
            IndexOp::Add => a.wrapping_add(b),
            IndexOp::Sub => a.wrapping_sub(b),
            IndexOp::Mul => a.wrapping_mul(b),
            IndexOp::FloorDiv => {
                let (quotient, rest) = (a.checked_div(b), a.checked_rem(b));
                match (quotient, rest) {
                    (Some(q), Some(r)) => q - i64::from(r != 0 && (r < 0) != (b < 0)),
                    _ if b == 0 => 0,
                    _ => a,
                }
            }
            IndexOp::Mod => match a.checked_rem(b) {
                Some(r) if r != 0 && (r < 0) != (b < 0) => r + b,
                Some(r) => r,
                None => 0,
            },
            IndexOp::Min => a.min(b),
            IndexOp::Max => a.max(b),
            IndexOp::And => a & b,
            IndexOp::Or => a | b,
            IndexOp::Xor => a ^ b,
            // The machine takes counts modulo 64.
            IndexOp::ShiftLeft => a.wrapping_shl(b as u32),
            IndexOp::ShiftRight => a.wrapping_shr(b as u32),
            IndexOp::Eq => i64::from(a == b),
            IndexOp::Ne => i64::from(a != b),
            IndexOp::Lt => i64::from(a < b),
            IndexOp::Le => i64::from(a <= b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_constants_are_rounded_down() {
        for a in -9..=9i64 {
            for b in (-4..=4i64).filter(|b| *b != 0) {
                let quotient = (a as f64 / b as f64).floor() as i64;
                assert_eq!(IndexOp::FloorDiv.eval(a, b), quotient, "{a} / {b}");
                assert_eq!(IndexOp::Mod.eval(a, b), a - quotient * b, "{a} mod {b}");
            }
        }
    }

    /// Against each lane by hand: what is true of first lanes only is a constant, anything else is code.
    #[test]
    fn comparisons_of_rows_are_masks_of_first_lanes() {
        for first in -20..20i64 {
            for bound in -20..40i64 {
                for (op, holds) in [
                    (CompareOp::Lt, (|a, b| a < b) as fn(i64, i64) -> bool),
                    (CompareOp::Le, |a, b| a <= b),
                    (CompareOp::Eq, |a, b| a == b),
                    (CompareOp::Ne, |a, b| a != b),
                ] {
                    let mut b = Builder::new("test");
                    let (iota, offset) = (b.iota(Elem::I32, 16), b.i32(16, first as i32));
                    let row = b.vec(VecOp::Add, &[iota, offset]);
                    let bound_lanes = b.i32(16, bound as i32);
                    let mask = b.compare(op, row, bound_lanes);
                    let lanes: Vec<bool> = (0..16).map(|i| holds(first + i, bound)).collect();
                    let count = lanes.iter().filter(|holds| **holds).count();
                    let is_prefix = lanes[..count].iter().all(|holds| *holds);
                    assert_eq!(
                        b.first_lanes(mask),
                        is_prefix.then_some(count as u32),
                        "{first} {op:?} {bound}"
                    );
                }
            }
        }
    }

    /// Numbers that an element does not hold are not compared as if it did.
    #[test]
    fn rows_that_wrap_are_left_to_the_machine() {
        let mut b = Builder::new("test");
        let (iota, last) = (b.iota(Elem::I32, 16), b.i32(16, i32::MAX));
        let row = b.vec(VecOp::Add, &[iota, last]);
        let zero = b.i32(16, 0);
        let mask = b.compare(CompareOp::Le, zero, row);
        assert_eq!(b.first_lanes(mask), None);
    }

    #[test]
    fn masks_that_are_known_leave_one_side() {
        let mut b = Builder::new("test");
        let word = b.arg(0);
        let (all, none) = (b.mask_const(16, true), b.mask_const(16, false));
        let some = b.mask_first(16, word);
        assert_eq!(b.mask_op(VecOp::And, some, all), some);
        assert_eq!(b.mask_op(VecOp::And, some, none), none);
        assert_eq!(b.mask_op(VecOp::Or, none, some), some);
        let (x, y) = (b.splat(Elem::F32, 16, word), b.f32(16, 1.0));
        assert_eq!(b.select(all, x, y), x);
        assert_eq!(b.select(none, x, y), y);
        // A sum with 0 may turn -0 to 0.
        let zero = b.f32(16, 0.0);
        assert_ne!(b.vec(VecOp::Add, &[x, zero]), x);
    }
}
