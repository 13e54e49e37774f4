//! Products of matrices: `mmaf` and `mmai` where the types are theirs; integers otherwise by products and sums.

use super::{Lower, padded};
use crate::scalar::{Made, cast, element};
use crate::writer::number;
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::Value as Written;
use tegula_base::DType;
use tegula_ir::{OpId, ScalarOp};

/// Products of integers that are held at once.
const PRODUCTS: i64 = 1 << 18;

impl Lower<'_> {
    pub(super) fn dot(&mut self, op: OpId) -> Made<Written> {
        let func = self.func;
        let ((acc, result), (lhs, shape)) = (self.tile(func.operand(op, 0)), self.tile(func.operand(op, 1)));
        let (rhs, _) = self.tile(func.operand(op, 2));
        let (sum, a, b) = (self.operand(op, 0), self.operand(op, 1), self.operand(op, 2));
        // Padding along the contraction is multiplied: on both sides it must be 0, since 0 times NaN is not.
        let (a, b) = (self.zeros_outside(a, lhs, shape[1], 1), self.zeros_outside(b, rhs, shape[1], 0));
        let ty = self.ty(func.result(op));
        if lhs.bits() == 8 && rhs.bits() == 8 && lhs.is_int() && rhs.is_int() && acc == DType::I32 {
            let attributes = [
                ("signedness_lhs", number(lhs.is_signed().into())),
                ("signedness_rhs", number(rhs.is_signed().into())),
            ];
            return Ok(self.w.with(Opcode::MmaI, &[a, b, sum], ty, &attributes));
        }
        let direct = lhs == rhs
            && match lhs {
                DType::F16 | DType::BF16 | DType::F8E4M3FN | DType::F8E5M2 => acc == DType::F32,
                _ => lhs == acc,
            };
        let to = if direct { lhs } else { acc };
        let (a, b) = (cast(&mut self.w, lhs, to, true, a)?, cast(&mut self.w, rhs, to, true, b)?);
        if acc.is_float() {
            return Ok(self.w.plain(Opcode::MmaF, &[a, b, sum], ty));
        }
        let (m, n, k) = {
            let (result, shape) = (padded(&result), padded(&shape));
            (result[0], result[1], shape[1])
        };
        if m * n * k > PRODUCTS {
            return self.refuse("an integer product with", func.operand(op, 1));
        }
        let cube = [m, k, n];
        let (a, b) = (self.w.reshape(a, &[m, k, 1]), self.w.reshape(b, &[1, k, n]));
        let (a, b) = (self.w.broadcast(a, &cube), self.w.broadcast(b, &cube));
        let products = self.w.mul(a, b);
        let sums = self.fold(products, ScalarOp::Add, acc, 1)?;
        let sums = self.w.reshape(sums, &[m, n]);
        Ok(self.w.add(sum, sums))
    }

    /// The tile with zeros from coordinate `n` on along `axis`.
    fn zeros_outside(&mut self, value: Written, dtype: DType, n: i64, axis: usize) -> Written {
        let shape = self.w.shape(value);
        if shape[axis] == n {
            return value;
        }
        let line = self.w.coordinates(cutile_ir::ir::ScalarType::I32, shape.len(), axis, shape[axis]);
        let inside = self.below(line, n);
        let inside = self.w.broadcast(inside, &shape);
        let zero = self.w.constant(element(dtype), &shape, 0);
        self.w.select(inside, value, zero)
    }
}
