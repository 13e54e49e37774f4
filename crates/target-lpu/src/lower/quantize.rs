//! Quantisation by a known scale: `saturate(round(x / scale) + zero)` in a few operations.

use super::alu::{Chain, float};
use super::constants::{uniform, wide_bits};
use super::elementwise::range;
use super::quantised::{DEEPEST, is_known};
use super::{Lower, Tensor};
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Element, Number};
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
        let scale = f32::from_bits(scale);
        let whole = match (range(to), is_plain(scale)) {
            (Some((least, most)), true) => {
                // What is outside becomes the end of the range, as infinity does; the rest has an exact quotient in three steps.
                let end = |number: i32| float((number as f32 - zero as f32) * scale);
                let x = chain.alu(AluOp::Max(Number::F32), &[&x, &end(least)]);
                let x = chain.alu(AluOp::Min(Number::F32), &[&x, &end(most)]);
                let quotient = chain.finite_div(&x, scale);
                // A cast rounds to the nearest, ties to even.
                let moved = match zero {
                    0 => quotient,
                    zero => {
                        let near = chain.add(&quotient, &float(ROUNDS));
                        chain.add(&near, &float(zero as f32 - ROUNDS))
                    }
                };
                chain.cast(&moved, Element::F32, Element::I32)
            }
            _ => {
                let quotient = chain.div(&x, &float(scale));
                let near = chain.add(&quotient, &float(ROUNDS));
                let rounded = chain.add(&near, &float(-ROUNDS));
                let moved = if zero == 0 { rounded } else { chain.add(&rounded, &float(zero as f32)) };
                let whole = chain.cast(&moved, Element::F32, Element::I32);
                chain.saturate(&whole, to)
            }
        };
        Ok(chain.finish(whole, tensor.shape, to))
    }
}

/// Whether a scale, its inverse, and its products with bytes are normal numbers.
fn is_plain(scale: f32) -> bool {
    scale.is_sign_positive()
        && (1.0 / scale).is_normal()
        && (scale * f32::EPSILON).is_normal()
        && (scale * 512.0).is_normal()
}
