//! Rows that are written to one place of an axis, which data chooses: a step's rows of a cache.

use super::alu::{Chain, int};
use super::{Lower, Tensor, chunks, vectors};
use crate::flow::{Access, Kind, Source, ValueId};
use smallvec::smallvec;
use tegula_base::DType;
use tegula_ir::OpId;
use tegula_isa_lpu::word::{AluOp, Number};
use tegula_tensor::facts::one_place;
use tegula_tensor::{ScatterKind, TensorFunc, TensorOp};

/// The axis of an op that writes whole rows to one place of it, which is no last one.
pub(crate) fn row_axis(func: &TensorFunc, op: OpId) -> Option<usize> {
    let TensorOp::ScatterElements { axis, kind: ScatterKind::Set } = *func.kind(op) else { return None };
    let [data, indices, rows] = *func.operands(op) else { return None };
    let [data, rows] = [data, rows].map(|value| &func.ty(value).shape);
    let are_whole = data.iter().zip(rows.iter()).enumerate().all(|(i, (all, own))| match i == axis {
        true => own.is_const(1),
        false => own == all,
    });
    let is_one = one_place(func, indices).is_some_and(|place| func.ty(place).dtype == DType::I32);
    let has_rows = axis + 1 < data.rank() && !data.last().is_some_and(|dim| dim.is_const(1));
    (are_whole && is_one && has_rows).then_some(axis)
}

impl Lower<'_> {
    /// The data with other rows.
    pub(super) fn scatter_rows(&mut self, op: OpId, axis: usize) -> Result<Tensor, String> {
        let [data, indices, rows] = *self.func.operands(op) else { return Err("it has no rows".to_string()) };
        let (shape, dtype) = (self.shape(data)?, self.func.ty(data).dtype);
        let of_rows = self.shape(rows)?;
        let (tensor, rows) = (self.tensor(data)?, self.tensor(rows)?);
        let (tensor, rows) = (self.laid_as(tensor, &shape), self.laid_as(rows, &of_rows));
        let lanes = self.lanes();
        let between: usize = shape[axis + 1..shape.len() - 1].iter().product();
        let (inner, extent) = ((between * chunks(&shape, lanes)) as u32, shape[axis] as u32);
        let outer = shape[..axis].iter().product::<usize>() as u32;
        let place = one_place(self.func, indices).ok_or("its places differ")?;
        let place = self.tensor(place)?;
        let index = self.place_of(place, extent, inner)?;
        let count = vectors(&shape, lanes);
        let value = self.fresh(self.program.value(tensor.value).element, count, false);
        self.program.values[value.0 as usize].indexed = true;
        let from = Source::Vector(Access::dense(tensor.value, 0, &[count]));
        self.flow(&[count], Kind::alu(AluOp::Move, smallvec![from]), Access::dense(value, 0, &[count]));
        let loops = [outer, inner];
        let kind = Kind::Scatter {
            index: Access::fixed(index, 0, loops.len()),
            from: Access::dense(rows.value, 0, &loops),
            count: (extent - 1) * inner + 1,
        };
        let out = Access { value, base: 0, strides: smallvec![extent * inner, 1] };
        self.flow(&loops, kind, out);
        Ok(Tensor { value, shape, dtype })
    }

    /// How many vectors a place lies behind the first, of `extent` that have so many each. A negative one counts from the end;
    /// beyond the border it is the border.
    fn place_of(&mut self, place: Tensor, extent: u32, vectors: u32) -> Result<ValueId, String> {
        let place = self.laid_as(place, &[1]);
        let mut chain = Chain::over(self, &[1]);
        let x = chain.arg(&place);
        let is_negative = chain.alu(AluOp::Less(Number::I32), &[&x, &int(0)]);
        let from_end = chain.alu(AluOp::Add(Number::I32), &[&x, &int(extent as i32)]);
        let x = chain.select(&is_negative, &from_end, &x);
        let x = chain.alu(AluOp::Max(Number::I32), &[&x, &int(0)]);
        let x = chain.alu(AluOp::Min(Number::I32), &[&x, &int(extent as i32 - 1)]);
        let x = chain.alu(AluOp::Mul(Number::I32), &[&x, &int(vectors as i32)]);
        Ok(chain.finish(x, vec![1], DType::I32).value)
    }
}
