//! Reductions and scans: a region that combines two elements. Padding along the axis holds the identity.

use super::Lower;
use crate::scalar::{Made, Refused, apply, element};
use crate::writer::{number, tile};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{Attribute, RegionId, ScalarType, Type, Value as Written};
use tegula_base::DType;
use tegula_ir::scalar::eval::{eval, identity};
use tegula_ir::{OpId, ScalarOp};

impl Lower<'_> {
    pub(super) fn reduce(&mut self, op: OpId, f: ScalarOp, axis: usize) -> Made<Written> {
        let (dtype, shape) = self.tile(self.func.operand(op, 0));
        let value = self.operand(op, 0);
        let value = self.identity_outside(value, f, dtype, shape[axis], axis)?;
        self.fold(value, f, dtype, axis)
    }

    pub(super) fn scan(&mut self, op: OpId, f: ScalarOp, axis: usize, reverse: bool) -> Made<Written> {
        let (dtype, shape) = self.tile(self.func.operand(op, 0));
        let value = self.operand(op, 0);
        let value = if reverse { self.identity_outside(value, f, dtype, shape[axis], axis)? } else { value };
        let ty = self.w.ty(value);
        let region = self.combiner(f, dtype)?;
        let attributes = [
            ("dim", number(axis as i64)),
            ("reverse", Attribute::Bool(reverse)),
            ("identities", self.identities(f, dtype)?),
        ];
        Ok(self.w.op(Opcode::Scan, &[value], &[ty], &attributes, &[region])[0])
    }

    /// A reduction of all of an axis, which stays as 1.
    pub(super) fn fold(&mut self, value: Written, f: ScalarOp, dtype: DType, axis: usize) -> Made<Written> {
        let mut shape = self.w.shape(value);
        let region = self.combiner(f, dtype)?;
        let attributes = [("dim", number(axis as i64)), ("identities", self.identities(f, dtype)?)];
        let rest: Vec<i64> = (0..shape.len()).filter(|i| *i != axis).map(|i| shape[i]).collect();
        let ty = tile(element(dtype), &rest);
        let reduced = self.w.op(Opcode::Reduce, &[value], &[ty], &attributes, &[region])[0];
        shape[axis] = 1;
        Ok(self.w.reshape(reduced, &shape))
    }

    fn combiner(&mut self, f: ScalarOp, dtype: DType) -> Made<RegionId> {
        let scalar = tile(element(dtype), &[]);
        let (region, outer, args) = self.w.begin_region(&[scalar.clone(), scalar]);
        let combined = apply(&mut self.w, f, &[dtype, dtype], &args)?;
        self.w.op(Opcode::Yield, &[combined], &[], &[], &[]);
        self.w.block = outer;
        Ok(region)
    }

    fn identities(&self, f: ScalarOp, dtype: DType) -> Made<Attribute> {
        let (bits, ty) = (identity_bits(f, dtype)?, Type::Scalar(element(dtype)));
        let identity = match dtype.is_float() {
            true => {
                let cast = ScalarOp::Cast { to: DType::F64, saturate: true };
                Attribute::Float(f64::from_bits(eval(cast, &[dtype], &[bits])), ty)
            }
            false => Attribute::Integer(bits as i64, ty),
        };
        Ok(Attribute::Array(vec![identity]))
    }

    fn identity_outside(
        &mut self,
        value: Written,
        f: ScalarOp,
        dtype: DType,
        n: i64,
        axis: usize,
    ) -> Made<Written> {
        let shape = self.w.shape(value);
        if shape[axis] == n {
            return Ok(value);
        }
        let line = self.w.coordinates(ScalarType::I32, shape.len(), axis, shape[axis]);
        let inside = self.below(line, n);
        let inside = self.w.broadcast(inside, &shape);
        let none = self.w.constant(element(dtype), &shape, identity_bits(f, dtype)?);
        Ok(self.w.select(inside, value, none))
    }
}

fn identity_bits(f: ScalarOp, dtype: DType) -> Made<u64> {
    identity(f, dtype).ok_or_else(|| Refused(format!("a reduction by `{f}` on {dtype}")))
}
