//! Tensors whose channels lie last: what convolutions give, and what ops between them keep.
//!
//! A tensor `[batch, channel, spatial..]` then lies as `[batch, spatial.., channel]`, so that a pixel's channels are vectors.
//! Elementwise ops, quantisations, pools and reductions over pixels compute in that order; every other op gets the plain one.

use super::alu::{Arg, Chain};
use super::constants::uniform;
use super::moves::strides;
use super::{Lower, Lowered, Tensor};
use crate::flow::{Access, Loops, Source};
use smallvec::smallvec;
use std::sync::Arc;
use tegula_base::{DType, HostTensor};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_isa_lpu::word::{AluOp, Number};
use tegula_tensor::{TensorOp, Window};

/// A shape with its second axis last.
pub(crate) fn channels_last(shape: &[usize]) -> Vec<usize> {
    shape.iter().take(1).chain(shape.iter().skip(2)).chain(shape.iter().skip(1).take(1)).copied().collect()
}

/// Where an element of a tensor with channels last lies in the plain order, by its place.
fn plain_place(flat: usize, last: &[usize], own: &[usize]) -> usize {
    let to = strides(last);
    let at = |axis: usize| flat / to[axis] % last[axis];
    let rank = last.len();
    let spatial: usize = (1..rank - 1).map(|axis| at(axis) * own[axis + 1]).sum();
    at(0) * own[0] + at(rank - 1) * own[1] + spatial
}

impl Lower<'_> {
    /// A value that lies with its channels last.
    pub(super) fn with_channels_last(&self, value: Value) -> Option<Tensor> {
        match self.values.get(&value) {
            Some(Lowered::ChannelsLast(tensor)) => Some(tensor.clone()),
            _ => None,
        }
    }

    /// A tensor of a shape with its channels last.
    fn turned(&mut self, tensor: Tensor, shape: &[usize]) -> Tensor {
        let (to, from) = (channels_last(shape), strides(shape));
        let dtype = tensor.dtype;
        self.moved(&[tensor], to.clone(), dtype, 0, &|flat| Some((0, plain_place(flat, &to, &from))))
    }

    /// A tensor with channels last, in the plain order of its shape.
    pub(super) fn plain(&mut self, value: Value, tensor: Tensor) -> Result<Tensor, String> {
        if let Some(known) = self.plain.get(&value) {
            return Ok(known.clone());
        }
        let shape = self.shape(value)?;
        let own = strides(&tensor.shape);
        let to = strides(&shape);
        let rank = shape.len();
        let source = |flat: usize| {
            let at = |axis: usize| flat / to[axis] % shape[axis];
            let spatial: usize = (2..rank).map(|axis| at(axis) * own[axis - 1]).sum();
            Some((0, at(0) * own[0] + spatial + at(1) * own[rank - 1]))
        };
        let dtype = tensor.dtype;
        let plain = self.moved(&[tensor], super::squeezed(&shape).to_vec(), dtype, 0, &source);
        self.plain.insert(value, plain.clone());
        Ok(plain)
    }

    /// An op on tensors with channels last. None: it has no such operand, or needs the plain order.
    pub(super) fn keep_channels_last(&mut self, op: OpId) -> Result<Option<Tensor>, String> {
        let operands = self.func.operands(op).to_vec();
        if !operands.iter().any(|value| self.with_channels_last(*value).is_some()) {
            return Ok(None);
        }
        let result = self.func.results(op)[0];
        let shape = self.shape(result)?;
        let dtype = self.func.ty(result).dtype;
        match self.func.kind(op) {
            TensorOp::Elementwise { f } => self.elementwise_last(*f, &operands, &shape, dtype),
            TensorOp::Quantize { .. } => {
                let Some(tensor) = self.with_channels_last(operands[0]) else { return Ok(None) };
                self.quantized(tensor, &operands[1..], dtype).map(Some)
            }
            TensorOp::Reduce { f, axes } => {
                let Some(tensor) = self.with_channels_last(operands[0]) else { return Ok(None) };
                let last = tensor.shape.len() - 1;
                if axes.iter().any(|axis| *axis < 2) {
                    return Ok(None);
                }
                let axes: Vec<usize> = axes.iter().map(|axis| axis - 1).collect();
                let mut shape = tensor.shape.clone();
                axes.iter().for_each(|axis| shape[*axis] = 1);
                debug_assert!(axes.iter().all(|axis| *axis < last));
                self.reduced_along_time(*f, &tensor, &axes, shape).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn elementwise_last(
        &mut self,
        f: ScalarOp,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
    ) -> Result<Option<Tensor>, String> {
        let last = channels_last(shape);
        let mut args = Vec::new();
        for operand in operands {
            let own = self.shape(*operand)?;
            let is_uniform =
                matches!(self.values.get(operand), Some(Lowered::Known(known)) if uniform(known).is_some());
            if own.len() != shape.len() && !is_uniform {
                return Ok(None);
            }
            args.push(match self.values.get(operand).cloned() {
                Some(Lowered::Known(known)) => match uniform(&known) {
                    Some(bits) => Err(bits),
                    None => Ok(self.known(&turned_known(&known))?),
                },
                Some(Lowered::ChannelsLast(tensor)) => Ok(tensor),
                Some(Lowered::Computed(tensor)) => Ok(self.turned(tensor, &own)),
                None => return Err("an operand is not computed".to_string()),
            });
        }
        let from = self.func.ty(operands[operands.len() - 1]).dtype;
        let mut chain = Chain::over(self, &last);
        let args: Vec<Arg> = args
            .iter()
            .map(|arg| match arg {
                Ok(tensor) => chain.arg(tensor),
                Err(bits) => Source::Immediate(*bits),
            })
            .collect();
        let result = chain.scalar(f, from, dtype, &args)?;
        Ok(Some(chain.finish(result, last, dtype)))
    }

    /// The largest of each window: one operand of a chain for each of its pixels.
    pub(super) fn max_pool(
        &mut self,
        operand: Value,
        window: &Window,
        shape: &[usize],
    ) -> Result<Tensor, String> {
        let last = channels_last(shape);
        let tensor = match self.with_channels_last(operand) {
            Some(tensor) => tensor,
            None => {
                let (tensor, own) = (self.tensor(operand)?, self.shape(operand)?);
                self.turned(tensor, &own)
            }
        };
        let least = if tensor.dtype.is_float() { f32::NEG_INFINITY.to_bits() } else { i32::MIN as u32 };
        let padded = self.bordered(tensor, window, least)?;
        let (value, dtype) = (padded.value, padded.dtype);
        let number = if dtype.is_float() { Number::F32 } else { Number::I32 };
        let chunks = super::chunks(&last, self.lanes());
        let rank = last.len();
        // Vectors from one pixel of an axis to the next, of the padded operand.
        let steps: Vec<usize> = (1..rank - 1)
            .map(|axis| padded.shape[axis + 1..rank - 1].iter().product::<usize>() * chunks)
            .collect();
        let batch: usize = padded.shape[1..rank - 1].iter().product::<usize>() * chunks;
        let loops: Loops = last[..rank - 1].iter().map(|n| *n as u32).chain([chunks as u32]).collect();
        let mut own: Loops = smallvec![batch as u32];
        own.extend(steps.iter().zip(&window.strides).map(|(step, by)| *step as u32 * *by as u32));
        own.push(1);
        let taps = window.size.iter().product::<i64>() as usize;
        let mut chain = Chain::over(self, &last);
        debug_assert_eq!(loops.len(), own.len());
        let tap = |tap: usize| {
            let base = super::conv::tap_row(tap, window, &steps) as u32;
            Source::Vector(Access { value, base, strides: own.clone() })
        };
        let mut most = tap(0);
        for number_of_tap in 1..taps {
            most = chain.alu(AluOp::Max(number), &[&most, &tap(number_of_tap)]);
        }
        if taps == 1 {
            most = chain.alu(AluOp::Move, &[&most]);
        }
        Ok(chain.finish(most, last, dtype))
    }

    /// A tensor with channels last, with pixels of `fill` around it. Errors: a padding is open.
    pub(super) fn bordered(&mut self, tensor: Tensor, window: &Window, fill: u32) -> Result<Tensor, String> {
        let constant = |dim: &tegula_base::Dim| dim.as_const().map(|n| n as usize).ok_or("a padding is open");
        let low = window.low.iter().map(constant).collect::<Result<Vec<_>, _>>()?;
        let high = window.high.iter().map(constant).collect::<Result<Vec<_>, _>>()?;
        if low.iter().chain(&high).all(|n| *n == 0) {
            return Ok(tensor);
        }
        let mut shape = tensor.shape.clone();
        for (axis, (low, high)) in low.iter().zip(&high).enumerate() {
            shape[axis + 1] += low + high;
        }
        let (to, own) = (strides(&shape), strides(&tensor.shape));
        let from = tensor.shape.clone();
        let source = |flat: usize| {
            let mut place = 0;
            for axis in 0..from.len() {
                let i = flat / to[axis] % shape[axis];
                let padding = axis.checked_sub(1).and_then(|axis| low.get(axis)).copied().unwrap_or(0);
                place += i.checked_sub(padding).filter(|i| *i < from[axis])? * own[axis];
            }
            Some((0, place))
        };
        let dtype = tensor.dtype;
        Ok(self.moved(&[tensor], shape.clone(), dtype, fill, &source))
    }
}

/// A known tensor with its second axis last.
fn turned_known(known: &Arc<HostTensor>) -> HostTensor {
    let (last, own) = (channels_last(&known.shape), strides(&known.shape));
    let width = known.dtype.size();
    let count: usize = last.iter().product();
    let bytes = (0..count).flat_map(|flat| {
        let place = plain_place(flat, &last, &own);
        known.bytes[place * width..][..width].to_vec()
    });
    HostTensor { dtype: known.dtype, bytes: bytes.collect(), shape: last }
}
