//! Ops that keep images: what stands between convolutions computes on rows of pixels ([`super::images`]).
//!
//! Elementwise ops, quantisations, reductions over pixels, paddings of pixels and transposes that move channels alone do;
//! every other op gets the plain order.

use super::alu::{Arg, Chain};
use super::constants::{uniform, wide_bits};
use super::images::{grouped, moved_alone, ordered};
use super::moves::strides;
use super::{Lower, Lowered, Tensor};
use crate::flow::Source;
use tegula_base::{DType, EntityId};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{PadMode, TensorOp};

/// Where an element of an image of a shape lies in the plain order, by its place with channels last.
fn plain_place(flat: usize, shape: &[usize], axis: usize) -> usize {
    let (last, own) = (ordered(shape, axis), strides(shape));
    let (to, rank) = (strides(&last), shape.len());
    let at = |other: usize| flat / to[other] % last[other];
    let others = (0..rank).filter(|other| *other != axis);
    others.enumerate().map(|(place, other)| at(place) * own[other]).sum::<usize>() + at(rank - 1) * own[axis]
}

/// Where an element of a tensor of a shape lies with channels last, by its place in the plain order.
fn last_place(flat: usize, shape: &[usize], axis: usize) -> usize {
    let (own, last) = (strides(shape), strides(&ordered(shape, axis)));
    let at = |other: usize| flat / own[other] % shape[other];
    let others = (0..shape.len()).filter(|other| *other != axis);
    others.enumerate().map(|(place, other)| at(other) * last[place]).sum::<usize>()
        + at(axis) * last[shape.len() - 1]
}

/// How rows of an operand of an op on images lie: where the element of a place of its layout lies with channels last.
struct Rows {
    layout: Vec<usize>,
    /// The operand's shape with channels last, and the channels of the result.
    last: Vec<usize>,
    channels: usize,
}

impl Rows {
    /// Of an operand whose axes are those of the result, or 1.
    fn of(own: &[usize], shape: &[usize], axis: usize, lanes: usize) -> Rows {
        let (last, result) = (ordered(own, axis), ordered(shape, axis));
        let (groups, rank) = (grouped(&result, lanes), own.len());
        let mut layout = last.clone();
        if last[rank - 2..] != [1, 1] {
            layout[rank - 2] = if last[rank - 2] == 1 { 1 } else { groups[rank - 2] };
            layout[rank - 1] = groups[rank - 1];
        }
        Rows { layout, last, channels: result[rank - 1] }
    }

    fn place(&self, flat: usize) -> usize {
        let (to, from) = (strides(&self.layout), strides(&self.last));
        let rank = self.layout.len();
        let at = |axis: usize| flat / to[axis] % self.layout[axis];
        let (row, column) = (at(rank - 2), at(rank - 1));
        let pixels = self.layout[rank - 1] / self.channels.min(self.layout[rank - 1]);
        let pixel = if self.last[rank - 2] == 1 { 0 } else { row * pixels + column / self.channels };
        let channel = if self.last[rank - 1] == 1 { 0 } else { column % self.channels };
        (0..rank - 2).map(|axis| at(axis) * from[axis]).sum::<usize>() + pixel * from[rank - 2] + channel
    }

    fn count(&self) -> usize {
        self.layout.iter().product()
    }
}

impl Lower<'_> {
    /// A value as an image whose channels are an axis of its shape, each row with as many pixels as fill it.
    pub(super) fn image(&mut self, value: Value, axis: usize) -> Result<Tensor, String> {
        let shape = self.shape(value)?;
        match self.image_operand(value, axis, &shape)? {
            Ok(tensor) => Ok(tensor),
            Err(bits) => {
                let layout = grouped(&ordered(&shape, axis), self.lanes());
                let count: usize = layout.iter().product();
                let value_of = self.known_bits(&vec![bits; count], &layout);
                Ok(Tensor { value: value_of, shape: layout, dtype: self.func.ty(value).dtype })
            }
        }
    }

    /// An operand of an op whose result is an image of a shape; bits where all its elements are the same and known.
    fn image_operand(
        &mut self,
        value: Value,
        axis: usize,
        shape: &[usize],
    ) -> Result<Result<Tensor, u32>, String> {
        let own = self.shape(value)?;
        let lowered = self.values.get(&value).cloned().ok_or("an operand is not computed")?;
        if let Lowered::Known(known) = &lowered
            && let Some(bits) = uniform(known)
        {
            return Ok(Err(bits));
        }
        if own.len() != shape.len() {
            return Err("operands of an op on images differ in their ranks".to_string());
        }
        let rows = Rows::of(&own, shape, axis, self.lanes());
        if let Lowered::Known(known) = &lowered {
            let bits = wide_bits(known)?;
            let bits: Vec<u32> =
                (0..rows.count()).map(|flat| bits[plain_place(rows.place(flat), &own, axis)]).collect();
            let value_of = self.known_bits(&bits, &rows.layout);
            return Ok(Ok(Tensor { value: value_of, shape: rows.layout, dtype: known.dtype }));
        }
        let (tensor, is_image) = match lowered {
            Lowered::Image { tensor, axis: other } if other == axis => (tensor, true),
            _ => (self.tensor(value)?, axis + 1 == own.len()),
        };
        // In the order of channels last, rows may lie as they should.
        if is_image
            && rows.count() == own.iter().product::<usize>()
            && self.lies_alike(&tensor.shape, &rows.layout)
        {
            return Ok(Ok(Tensor { shape: rows.layout, ..tensor }));
        }
        let key = (tensor.value, rows.layout.clone());
        if let Some(known) = self.laid.get(&key).filter(|_| is_image) {
            return Ok(Ok(Tensor { dtype: tensor.dtype, ..known.clone() }));
        }
        let source = |flat: usize| {
            let place = rows.place(flat);
            Some((0, if is_image { place } else { plain_place(place, &own, axis) }))
        };
        let dtype = tensor.dtype;
        let laid = self.moved(&[tensor], rows.layout.clone(), dtype, 0, &source);
        if is_image {
            self.laid.insert(key, laid.clone());
        }
        Ok(Ok(laid))
    }

    /// An image in the plain order of its shape.
    pub(super) fn plain(&mut self, value: Value, tensor: Tensor, axis: usize) -> Result<Tensor, String> {
        let shape = self.shape(value)?;
        if axis + 1 == shape.len() {
            return Ok(tensor);
        }
        if let Some(known) = self.plain.get(&value) {
            return Ok(known.clone());
        }
        let source = |flat: usize| Some((0, last_place(flat, &shape, axis)));
        let dtype = tensor.dtype;
        let plain = self.moved(&[tensor], super::squeezed(&shape).to_vec(), dtype, 0, &source);
        self.plain.insert(value, plain.clone());
        Ok(plain)
    }

    /// An op whose result is an image. None: none of its operands is one, or it needs the plain order.
    pub(super) fn keep_image(&mut self, op: OpId) -> Result<Option<Lowered>, String> {
        let operands = self.func.operands(op).to_vec();
        let result = self.func.results(op)[0];
        let (Some(axis), dtype) = (self.axes[result.index()], self.func.ty(result).dtype) else {
            return Ok(None);
        };
        let image = |lower: &Self, value: Value| match lower.values.get(&value) {
            Some(Lowered::Image { tensor, axis }) => Some((tensor.clone(), *axis)),
            _ => None,
        };
        let shape = self.shape(result)?;
        let kept = |tensor: Tensor| Ok(Some(Lowered::Image { tensor, axis }));
        match self.func.kind(op) {
            TensorOp::Elementwise { f } => {
                let is_one = |value: &Value| image(self, *value).is_some_and(|(_, own)| own == axis);
                if !operands.iter().any(is_one) {
                    return Ok(None);
                }
                match self.elementwise_image(*f, &operands, (&shape, axis), dtype)? {
                    Some(tensor) => kept(tensor),
                    None => Ok(None),
                }
            }
            TensorOp::Quantize { .. } => match image(self, operands[0]) {
                Some((tensor, own)) if own == axis => kept(self.quantized(tensor, &operands[1..], dtype)?),
                _ => Ok(None),
            },
            TensorOp::Transpose { perm } if moved_alone(perm, axis) => {
                let before = self.shape(operands[0])?;
                let tensor = match image(self, operands[0]) {
                    Some((tensor, own)) if own == perm[axis] => tensor,
                    // Channels that lie last are in their place already.
                    None if perm[axis] + 1 == before.len() => {
                        let tensor = self.tensor(operands[0])?;
                        self.laid_as(tensor, &grouped(&before, self.lanes()))
                    }
                    _ => return Ok(None),
                };
                kept(tensor)
            }
            TensorOp::Reduce { f, axes } => match image(self, operands[0]) {
                Some((tensor, own)) if own == axis && !axes.contains(&axis) => {
                    let before = ordered(&self.shape(operands[0])?, axis);
                    let place = |other: &usize| if *other < axis { *other } else { other - 1 };
                    let axes: Vec<usize> = axes.iter().map(place).collect();
                    kept(self.reduced_pixels(*f, &tensor, &before, &axes)?)
                }
                _ => Ok(None),
            },
            TensorOp::Pad { low, mode, .. } => {
                let Some((tensor, _)) = image(self, operands[0]).filter(|(_, own)| *own == axis) else {
                    return Ok(None);
                };
                let fill = match (mode, operands.get(1).and_then(|value| self.values.get(value))) {
                    (PadMode::Edge, _) => None,
                    (PadMode::Constant, Some(Lowered::Known(known))) => uniform(known),
                    _ => return Ok(None),
                };
                let low: Option<Vec<i64>> = low.iter().map(|dim| dim.as_const()).collect();
                let low = ordered_by(&low.ok_or("a padding is open")?, axis);
                let before = ordered(&self.shape(operands[0])?, axis);
                kept(self.padded_image(tensor, [&before, &ordered(&shape, axis)], &low, fill))
            }
            _ => Ok(None),
        }
    }

    fn elementwise_image(
        &mut self,
        f: ScalarOp,
        operands: &[Value],
        (shape, axis): (&[usize], usize),
        dtype: DType,
    ) -> Result<Option<Tensor>, String> {
        for operand in operands {
            let is_uniform =
                matches!(self.values.get(operand), Some(Lowered::Known(known)) if uniform(known).is_some());
            if !is_uniform && self.func.ty(*operand).rank() != shape.len() {
                return Ok(None);
            }
        }
        let args = operands
            .iter()
            .map(|operand| self.image_operand(*operand, axis, shape))
            .collect::<Result<Vec<_>, String>>()?;
        let from = self.func.ty(operands[operands.len() - 1]).dtype;
        let layout = grouped(&ordered(shape, axis), self.lanes());
        let mut chain = Chain::over(self, &layout);
        let args: Vec<Arg> = args
            .iter()
            .map(|arg| match arg {
                Ok(tensor) => chain.arg(tensor),
                Err(bits) => Source::Immediate(*bits),
            })
            .collect();
        let result = chain.scalar(f, from, dtype, &args)?;
        Ok(Some(chain.finish(result, layout, dtype)))
    }

    /// A reduction over axes of pixels, or of the batch. `before`: the operand's shape with channels last; axes are of that.
    fn reduced_pixels(
        &mut self,
        f: ScalarOp,
        tensor: &Tensor,
        before: &[usize],
        axes: &[usize],
    ) -> Result<Tensor, String> {
        let rank = before.len();
        let mut shape = grouped(before, self.lanes());
        let pixels = before[rank - 2] / shape[rank - 2];
        let tensor = Tensor { shape: shape.clone(), ..tensor.clone() };
        axes.iter().for_each(|axis| shape[*axis] = 1);
        let folded = self.reduced_along_time(f, &tensor, axes, shape.clone())?;
        if !axes.contains(&(rank - 2)) || pixels == 1 {
            return Ok(folded);
        }
        // The pixels of a row, one after another.
        let channels = before[rank - 1];
        shape[rank - 1] = channels;
        let pixel = |lower: &mut Self, pixel: usize| {
            let source = |flat: usize| {
                Some((0, flat / channels * channels * pixels + pixel * channels + flat % channels))
            };
            lower.moved(std::slice::from_ref(&folded), shape.clone(), folded.dtype, 0, &source)
        };
        let all: Vec<Tensor> = (0..pixels).map(|number| pixel(self, number)).collect();
        let (op, _) = super::reduce::operation(f, folded.dtype).ok_or("the ALUs have no such reduction")?;
        let mut chain = Chain::over(self, &shape);
        let args: Vec<Arg> = all.iter().map(|tensor| chain.arg(tensor)).collect();
        let sum = args.iter().skip(1).fold(args[0].clone(), |sum, own| chain.alu(op, &[&sum, own]));
        Ok(chain.finish(sum, shape, folded.dtype))
    }

    /// An image with pixels around it: of `fill`, or such as lie at its border. Shapes have their channels last.
    pub(super) fn padded_image(
        &mut self,
        tensor: Tensor,
        [before, after]: [&[usize]; 2],
        low: &[i64],
        fill: Option<u32>,
    ) -> Tensor {
        if before == after {
            return tensor;
        }
        let layout = grouped(after, self.lanes());
        let (to, own) = (strides(after), strides(before));
        let source = |flat: usize| {
            let mut place = 0;
            for axis in 0..after.len() {
                let at = (flat / to[axis] % after[axis]) as i64 - low[axis];
                let extent = before[axis] as i64;
                let at = if fill.is_none() { at.clamp(0, extent - 1) } else { at };
                place += usize::try_from(at).ok().filter(|at| *at < before[axis])? * own[axis];
            }
            Some((0, place))
        };
        let dtype = tensor.dtype;
        self.moved(&[tensor], layout, dtype, fill.unwrap_or(0), &source)
    }
}

fn ordered_by(sizes: &[i64], axis: usize) -> Vec<i64> {
    let others = sizes.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, size)| *size);
    others.chain([sizes[axis]]).collect()
}
