//! What is known of an index: what it is a multiple of, and that it is not negative.

use tegula_base::Symbols;
use tegula_ir::{Def, Value};
use tegula_tile::{IndexOp, TileFunc, TileKernel, TileOp};

pub(crate) struct Facts<'a> {
    pub kernel: &'a TileKernel,
    pub symbols: &'a Symbols,
}

impl Facts<'_> {
    fn func(&self) -> &TileFunc {
        &self.kernel.func
    }

    /// The bounds and the step of the loop whose induction variable this is.
    fn loop_of(&self, value: Value) -> Option<(Value, i64)> {
        let Def::Arg(region, 0) = self.func().def(value) else { return None };
        let op = self.func().owner(region)?;
        match self.func().kind(op) {
            TileOp::For { step } => Some((self.func().operand(op, 0), *step)),
            _ => None,
        }
    }

    /// Whether the index is a multiple of `n`, a power of two.
    pub fn is_multiple(&self, value: Value, n: i64) -> bool {
        if n == 1 {
            return true;
        }
        let Some(op) = self.func().def_op(value) else {
            let of_loop = self.loop_of(value);
            return of_loop.is_some_and(|(lo, step)| step % n == 0 && self.is_multiple(lo, n));
        };
        let operand = |i: usize| self.func().operand(op, i);
        match self.func().kind(op) {
            TileOp::Const { value } => value % n == 0,
            TileOp::Size { dim } => self.symbols.divides(n, dim),
            TileOp::Index { op: IndexOp::Mul } => (0..=n.trailing_zeros()).any(|bits| {
                self.is_multiple(operand(0), 1 << bits) && self.is_multiple(operand(1), n >> bits)
            }),
            TileOp::Index { op: IndexOp::Add | IndexOp::Sub | IndexOp::Min | IndexOp::Max } => {
                self.is_multiple(operand(0), n) && self.is_multiple(operand(1), n)
            }
            _ => false,
        }
    }

    /// Whether the index is at least 0 for sure.
    pub fn is_natural(&self, value: Value) -> bool {
        let Some(op) = self.func().def_op(value) else {
            return match self.func().def(value) {
                // The unit's coordinates.
                Def::Arg(region, _) if region == self.func().body() => true,
                _ => self.loop_of(value).is_some_and(|(lo, _)| self.is_natural(lo)),
            };
        };
        let operand = |i: usize| self.func().operand(op, i);
        match self.func().kind(op) {
            TileOp::Const { value } => *value >= 0,
            TileOp::Size { .. } => true,
            TileOp::Index { op } => match op {
                IndexOp::Eq | IndexOp::Ne | IndexOp::Lt | IndexOp::Le => true,
                IndexOp::Max => self.is_natural(operand(0)) || self.is_natural(operand(1)),
                IndexOp::Sub => false,
                _ => self.is_natural(operand(0)) && self.is_natural(operand(1)),
            },
            _ => false,
        }
    }
}
