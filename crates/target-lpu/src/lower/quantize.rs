//! Quantisation by a known scale: `saturate(round(x / scale) + zero)` in a few operations.

use super::alu::{Chain, float};
use super::constants::{uniform, wide_bits};
use super::quantised::{DEEPEST, is_known};
use super::{Lower, Tensor};
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::Element;
use tegula_tensor::{TensorFunc, TensorOp};

/// A float near it has no fraction: what is added to it and taken off again is rounded, ties to even. NaN stays, and what is
/// too large for that stays large.
const ROUNDS: f32 = 12_582_912.0;

/// Whether an op quantises `f32` to bytes by one known scale.
pub(super) fn is_direct(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Quantize { scheme } = func.kind(op) else { return false };
    let numbers = &func.operands(op)[1..];
    let is_one = |rank: usize| rank == 0 || scheme.axis.is_none();
    matches!(scheme.storage, DType::I8 | DType::U8)
        && scheme.block.is_none()
        && func.ty(func.operand(op, 0)).dtype == DType::F32
        && func.ty(func.operand(op, 1)).dtype == DType::F32
        && numbers.iter().all(|value| is_known(func, *value, DEEPEST) && is_one(func.ty(*value).rank()))
}

impl Lower<'_> {
    pub(super) fn quantize(&mut self, op: OpId, shape: &[usize], to: DType) -> Result<Tensor, String> {
        let operands = self.func.operands(op).to_vec();
        let tensor = self.tensor(operands[0])?;
        // Axes of 1 at the end are left out, unless the operand lies with them.
        let rank = if self.is_spread(operands[0]) { shape.len() } else { super::squeezed(shape).len() };
        let tensor = self.laid_as(tensor, &shape[..rank]);
        self.quantized(tensor, &operands[1..], to)
    }

    /// A tensor by a scale and, where there is one, a zero point. Errors: either is not one number.
    pub(super) fn quantized(
        &mut self,
        tensor: Tensor,
        numbers: &[Value],
        to: DType,
    ) -> Result<Tensor, String> {
        let scale = self.known_of(numbers[0])?;
        let scale = uniform(&scale).ok_or("there are several scales")?;
        let zero = match numbers.get(1) {
            Some(zero) => {
                let known = self.known_of(*zero)?;
                wide_bits(&known)?.first().map_or(0, |bits| *bits as i32)
            }
            None => 0,
        };
        let mut chain = Chain::over(self, &tensor.shape);
        let x = chain.arg(&tensor);
        let quotient = chain.div(&x, &float(f32::from_bits(scale)));
        let near = chain.add(&quotient, &float(ROUNDS));
        let rounded = chain.add(&near, &float(-ROUNDS));
        let moved = if zero == 0 { rounded } else { chain.add(&rounded, &float(zero as f32)) };
        let whole = chain.cast(&moved, Element::F32, Element::I32);
        let result = chain.saturate(&whole, to);
        Ok(chain.finish(result, tensor.shape, to))
    }
}
