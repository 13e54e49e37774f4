//! Reductions: along time in an ALU that holds, across lanes by rotations.

use super::alu::Chain;
use super::{Lower, Tensor, chunks, row, squeezed};
use crate::flow::{Access, How, Kind, Loops, Source, ValueId};
use tegula_backend::Claim;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_isa_lpu::word::{AluOp, Element, Number};

/// The operation, and the bits that change nothing.
pub(super) fn operation(f: ScalarOp, dtype: DType) -> Option<(AluOp, u32)> {
    let float = dtype == DType::F32;
    let number = if float { Number::F32 } else { Number::I32 };
    let either = |x: f32, i: i32| if float { x.to_bits() } else { i as u32 };
    let ints = matches!(dtype, DType::I32 | DType::Bool);
    match f {
        ScalarOp::Add if float || dtype == DType::I32 => Some((AluOp::Add(number), either(-0.0, 0))),
        ScalarOp::Mul if float || dtype == DType::I32 => Some((AluOp::Mul(number), either(1.0, 1))),
        ScalarOp::Min if float || ints => Some((AluOp::Min(number), either(f32::INFINITY, i32::MAX))),
        ScalarOp::Max if float || ints => Some((AluOp::Max(number), either(f32::NEG_INFINITY, i32::MIN))),
        ScalarOp::And if ints => Some((AluOp::And, u32::MAX)),
        ScalarOp::Or if ints => Some((AluOp::Or, 0)),
        ScalarOp::Xor if ints => Some((AluOp::Xor, 0)),
        _ => None,
    }
}

pub(crate) fn claims(f: ScalarOp, dtype: DType) -> Claim {
    match operation(f, dtype) {
        Some(_) => Claim::Yes,
        None => Claim::No(format!("the ALUs do not reduce {dtype} by `{}`", f.name()).into()),
    }
}

impl Lower<'_> {
    pub(super) fn reduce(
        &mut self,
        f: ScalarOp,
        operand: Value,
        axes: &[usize],
        shape: Vec<usize>,
    ) -> Result<Tensor, String> {
        let (tensor, own) = (self.tensor(operand)?, self.shape(operand)?);
        // Axes of 1 at the end are left out, unless the operand lies with them.
        let rank = if self.is_spread(operand) { own.len() } else { squeezed(&own).len() };
        let tensor = self.laid_as(tensor, &own[..rank]);
        let (shape, axes) = (shape[..rank].to_vec(), axes.iter().copied().filter(|axis| *axis < rank));
        let axes: &[usize] = &axes.collect::<Vec<_>>();
        let dtype = tensor.dtype;
        let (op, identity) = operation(f, dtype).ok_or("the ALUs have no such reduction")?;
        let last = tensor.shape.len().saturating_sub(1);
        let across = axes.contains(&last) && row(&tensor.shape) > 1;
        let tensor = if across { self.only_elements(tensor, identity) } else { tensor };
        let folded = self.fold(op, &tensor, axes, across);
        let vectors = self.program.value(folded).vectors;
        let value = if across { self.across_lanes(op, folded, vectors) } else { folded };
        Ok(Tensor { value, shape, dtype })
    }

    /// A reduction over axes before the last.
    pub(super) fn reduced_along_time(
        &mut self,
        f: ScalarOp,
        tensor: &Tensor,
        axes: &[usize],
        shape: Vec<usize>,
    ) -> Result<Tensor, String> {
        let (op, _) = operation(f, tensor.dtype).ok_or("the ALUs have no such reduction")?;
        let value = self.fold(op, tensor, axes, false);
        Ok(Tensor { value, shape, dtype: tensor.dtype })
    }

    /// Puts `identity` into the lanes behind the elements of each row. All lanes of the machine take part in rotations.
    pub(super) fn only_elements(&mut self, tensor: Tensor, identity: u32) -> Tensor {
        let lanes = self.lanes();
        let (row, chunks) = (row(&tensor.shape), chunks(&tensor.shape, lanes));
        if row.is_multiple_of(lanes) && lanes == self.lpu.vector() as usize {
            return tensor;
        }
        let bits: Vec<u32> = (0..chunks * lanes).map(|column| if column < row { 1 } else { 0 }).collect();
        let mask = self.known_bits(&bits, &[chunks * lanes]);
        let mut mask_shape = vec![1; tensor.shape.len()];
        *mask_shape.last_mut().unwrap_or(&mut 0) = chunks * lanes;
        let mask = Tensor { value: mask, shape: mask_shape, dtype: DType::I32 };
        let mut chain = Chain::over(self, &tensor.shape);
        let (mask, elements) = (chain.arg(&mask), chain.arg(&tensor));
        let result = chain.select(&mask, &elements, &Source::Immediate(identity));
        chain.finish(result, tensor.shape, tensor.dtype)
    }

    /// Folds the reduced axes before the last, and where it is reduced the vectors of a row.
    fn fold(&mut self, op: AluOp, tensor: &Tensor, axes: &[usize], across: bool) -> ValueId {
        let chunk_count = chunks(&tensor.shape, self.lanes()) as u32;
        let last = tensor.shape.len().saturating_sub(1);
        let mut stride = chunk_count;
        let mut strides = vec![0; tensor.shape.len().max(1)];
        strides[last] = 1;
        for axis in (0..last).rev() {
            strides[axis] = stride;
            stride *= tensor.shape[axis] as u32;
        }
        let extent = |axis: usize| if axis == last { chunk_count } else { tensor.shape[axis] as u32 };
        let is_inner = |axis: usize| if axis == last { across } else { axes.contains(&axis) };
        let (mut loops, mut inner) = (Loops::new(), Loops::new());
        let (mut outer_strides, mut inner_strides) = (Loops::new(), Loops::new());
        for (axis, stride) in strides.iter().enumerate() {
            let (extents, own) = if is_inner(axis) {
                (&mut inner, &mut inner_strides)
            } else {
                (&mut loops, &mut outer_strides)
            };
            extents.push(extent(axis));
            own.push(*stride);
        }
        if loops.is_empty() {
            loops.push(1);
            outer_strides.push(0);
        }
        if inner.iter().product::<u32>() == 1 {
            return tensor.value;
        }
        outer_strides.extend(inner_strides);
        let from = Access { value: tensor.value, base: 0, strides: outer_strides };
        let value = self.fresh(Element::I32, loops.iter().product(), false);
        let out = Access::dense(value, 0, &loops);
        self.flow(&loops, Kind::Fold { op, inner, from }, out);
        value
    }

    /// Combines all lanes of each vector; each lane gets the result. `n` lanes are combined by doubling: `2n` from `n` and
    /// its rotation by `n`, `n + 1` from `n` rotated by one and the first.
    fn across_lanes(&mut self, op: AluOp, first: ValueId, vectors: u32) -> ValueId {
        let lanes = self.lpu.vector();
        let (mut value, mut n) = (first, 1);
        for bit in (0..31 - lanes.leading_zeros()).rev() {
            let rotated = self.rotated(value, vectors, n as i16);
            value = self.combined(op, value, rotated, vectors);
            n *= 2;
            if lanes >> bit & 1 == 1 {
                let rotated = self.rotated(value, vectors, 1);
                value = self.combined(op, first, rotated, vectors);
                n += 1;
            }
        }
        value
    }

    fn rotated(&mut self, value: ValueId, vectors: u32, by: i16) -> ValueId {
        let to = self.fresh(Element::I32, vectors, false);
        let from = Access::dense(value, 0, &[vectors]);
        self.flow(&[vectors], Kind::Move { how: How::Rotate(by), from }, Access::dense(to, 0, &[vectors]));
        to
    }

    fn combined(&mut self, op: AluOp, a: ValueId, b: ValueId, vectors: u32) -> ValueId {
        let to = self.fresh(Element::I32, vectors, false);
        let operand = |value| Source::Vector(Access::dense(value, 0, &[vectors]));
        let operands = [operand(a), operand(b)].into_iter().collect();
        self.flow(&[vectors], Kind::alu(op, operands), Access::dense(to, 0, &[vectors]));
        to
    }
}
