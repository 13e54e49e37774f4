//! Products of 16-bit integers, which the model has as floats, and bytes: exact sums of two digits.
//!
//! `x w = 256 (high w) + (low w)`: the high digit is a signed byte, the low one is moved by 128, and the sums of columns put
//! that right. Both digits are rows of one product, so that weights are loaded once for both.

use super::alu::{Chain, float, int};
use super::dot::{Extents, Side, extents};
use super::{Lower, Lowered, Tensor, vectors};
use crate::flow::{Access, Kind, Source, ValueId};
use smallvec::smallvec;
use std::sync::Arc;
use tegula_base::DType;
use tegula_ir::Value;
use tegula_isa_lpu::word::{AluOp, Element, Factors, Number};
use tegula_tensor::DotDims;

/// Bits of a digit, and what the low one is moved by.
const BITS: i32 = 8;
const MOVED: i32 = 128;

impl Lower<'_> {
    /// `left` is what the contraction takes of the integers, perhaps in another shape.
    pub(super) fn integer_dot(
        &mut self,
        dims: &DotDims,
        integers: Value,
        [left, right]: [Value; 2],
    ) -> Result<Tensor, String> {
        let shapes = [self.shape(left)?, self.shape(right)?];
        let extents = extents(dims, &shapes[0], &shapes[1]);
        let Extents { m, k, n, .. } = extents;
        let rows = self.tensor(integers)?;
        let rows = self.arranged(rows, &Side::left(dims, &shapes[0]), vec![1, m, k]);
        let digits = self.digits(&rows)?;
        let side = Side::right(dims, &shapes[1]);
        let known = match self.values.get(&right) {
            Some(Lowered::Known(known)) => Some(Arc::clone(known)),
            _ => None,
        };
        let (weights, columns) = match known {
            Some(known) => self.known_bytes(&known, &side, extents, 0, MOVED)?,
            None => {
                let tensor = self.tensor(right)?;
                let tensor = self.arranged(tensor, &side, vec![1, k, n]);
                let bytes = self.as_bytes(tensor, 0);
                let weights = self.held(bytes, Element::I8, extents);
                let columns = self.column_sums(&weights, extents, MOVED);
                (weights, Some(columns))
            }
        };
        let columns = columns.ok_or("the columns have no sums")?;
        let sums = self.product(Factors::I8, digits, &weights, Extents { m: 2 * m, ..extents }, DType::I32);
        let shape = vec![1, m, n];
        let part = Tensor { shape: shape.clone(), ..sums };
        let mut chain = Chain::over(self, &shape);
        let (high, columns) = (chain.arg(&part), chain.arg(&columns));
        let low = behind(&high, vectors(&shape, chain.lower.lanes()));
        let low = chain.alu(AluOp::Add(Number::I32), &[&low, &columns]);
        let [high, low] = [high, low].map(|digit| chain.cast(&digit, Element::I32, Element::F32));
        let high = chain.mul(&high, &float((1 << BITS) as f32));
        let sum = chain.add(&high, &low);
        Ok(chain.finish(sum, shape, DType::F32))
    }

    /// Rows of the high digits, then as many of the low ones.
    fn digits(&mut self, rows: &Tensor) -> Result<ValueId, String> {
        let count = vectors(&rows.shape, self.lanes());
        let mut chain = Chain::over(self, &rows.shape);
        let x = chain.arg(rows);
        let high = chain.alu(AluOp::ShiftRight, &[&x, &int(BITS)]);
        let low = chain.and(&x, &int((1 << BITS) - 1));
        let low = chain.alu(AluOp::Add(Number::I32), &[&low, &int(-MOVED)]);
        let (high, low) = (value_of(high)?, value_of(low)?);
        let value = self.fresh(Element::I8, 2 * count, false);
        let op = AluOp::Cast { from: Element::I32, to: Element::I8, saturate: false, shift: 0 };
        for (digit, base) in [(high, 0), (low, count)] {
            let source = Source::Vector(Access::dense(digit, 0, &[count]));
            self.flow(&[count], Kind::alu(op, smallvec![source]), Access::dense(value, base, &[count]));
        }
        Ok(value)
    }
}

/// What an operation has made.
fn value_of(made: Source) -> Result<ValueId, String> {
    match made {
        Source::Vector(access) => Ok(access.value),
        Source::Immediate(_) => Err("a digit is a constant".to_string()),
    }
}

/// The vectors so far behind those of an operand.
fn behind(operand: &Source, vectors: u32) -> Source {
    match operand {
        Source::Vector(access) => Source::Vector(Access { base: access.base + vectors, ..access.clone() }),
        Source::Immediate(bits) => Source::Immediate(*bits),
    }
}
