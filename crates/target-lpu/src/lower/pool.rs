//! Pools over images: maxima, sums and averages of windows of pixels.
//!
//! The axes whose pixels have rows of their own come first: one operand of a chain for each tap. Along the last axis pixels lie
//! side by side in rows, so each tap is a movement of pixels.

use super::alu::{Arg, Chain};
use super::images::{grouped, ordered};
use super::moves::strides;
use super::{Lower, Lowered, Tensor};
use crate::flow::{Access, Loops, Source};
use tegula_base::{DType, Dim};
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Number};
use tegula_tensor::{PoolKind, TensorOp, Window};

/// A window's sizes along one axis.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    stride: usize,
    dilation: usize,
    low: usize,
    high: usize,
}

impl Axis {
    fn is_trivial(&self) -> bool {
        self.size == 1 && self.stride == 1 && self.low == 0 && self.high == 0
    }
}

fn axes(window: &Window) -> Result<Vec<Axis>, String> {
    let constant = |dim: &Dim| {
        let known = dim.as_const().and_then(|n| usize::try_from(n).ok());
        known.ok_or_else(|| "a padding is open or negative".to_string())
    };
    let axis = |i: usize| -> Result<Axis, String> {
        Ok(Axis {
            size: window.size[i] as usize,
            stride: window.strides[i] as usize,
            dilation: window.dilations[i] as usize,
            low: constant(&window.low[i])?,
            high: constant(&window.high[i])?,
        })
    };
    (0..window.size.len()).map(axis).collect()
}

/// What combines the elements of a window, and the bits that change nothing.
fn operation(kind: PoolKind, dtype: DType) -> (AluOp, u32) {
    let number = if dtype.is_float() { Number::F32 } else { Number::I32 };
    match kind {
        PoolKind::Max if dtype.is_float() => (AluOp::Max(number), f32::NEG_INFINITY.to_bits()),
        PoolKind::Max => (AluOp::Max(number), i32::MIN as u32),
        PoolKind::Sum | PoolKind::Average | PoolKind::AverageInside => (AluOp::Add(number), 0),
    }
}

impl Lower<'_> {
    pub(super) fn pool(&mut self, op: OpId, shape: &[usize]) -> Result<Lowered, String> {
        let TensorOp::Pool { kind, window } = self.func.kind(op) else {
            return Err("it is no pool".to_string());
        };
        let (kind, operand): (PoolKind, Value) = (*kind, self.func.operand(op, 0));
        let axes = axes(window)?;
        let image = self.image(operand, 1)?;
        let before = ordered(&self.shape(operand)?, 1);
        let after = ordered(shape, 1);
        let (op, nothing) = operation(kind, image.dtype);
        let Some((along, outer)) = axes.split_last() else { return Err("it has no axis".to_string()) };
        let (tensor, before) = self.pooled_rows(image, &before, outer, (op, nothing));
        let tensor = self.pooled_pixels(tensor, [&before, &after], *along, (op, nothing));
        let tensor = match kind {
            PoolKind::Max | PoolKind::Sum => tensor,
            PoolKind::Average | PoolKind::AverageInside => {
                let spatial = self.shape(operand)?[2..].to_vec();
                self.averaged(tensor, &after, &spatial, &axes, kind)
            }
        };
        Ok(Lowered::Image { tensor, axis: 1 })
    }

    /// Windows over the axes whose pixels have rows of their own. Gives the shape with channels last as well.
    fn pooled_rows(
        &mut self,
        image: Tensor,
        before: &[usize],
        outer: &[Axis],
        (op, nothing): (AluOp, u32),
    ) -> (Tensor, Vec<usize>) {
        let lanes = self.lanes();
        if outer.iter().all(Axis::is_trivial) {
            return (image, before.to_vec());
        }
        let (mut padded, mut after) = (before.to_vec(), before.to_vec());
        let mut low = vec![0; before.len()];
        for (i, axis) in outer.iter().enumerate() {
            padded[i + 1] += axis.low + axis.high;
            low[i + 1] = axis.low as i64;
            after[i + 1] = (padded[i + 1] - axis.dilation * (axis.size - 1) - 1) / axis.stride + 1;
        }
        let image = self.padded_image(image, [before, &padded], &low, Some(nothing));
        let layout = grouped(&after, lanes);
        let chunks = super::chunks(&layout, lanes);
        let mut rows = grouped(&padded, lanes);
        *rows.last_mut().unwrap_or(&mut 0) = chunks;
        // Vectors from one step along each axis to the next.
        let steps = strides(&rows);
        let by = |i: usize| outer.get(i.wrapping_sub(1)).map_or(1, |axis| axis.stride);
        let own: Loops = steps.iter().enumerate().map(|(i, step)| (step * by(i)) as u32).collect();
        let taps: usize = outer.iter().map(|axis| axis.size).product();
        let (value, dtype) = (image.value, image.dtype);
        let tap = |mut tap: usize| {
            let mut base = 0;
            for (axis, step) in outer.iter().zip(&steps[1..]).rev() {
                base += (tap % axis.size * axis.dilation * step) as u32;
                tap /= axis.size;
            }
            Source::Vector(Access { value, base, strides: own.clone() })
        };
        let mut chain = Chain::over(self, &layout);
        let mut all = tap(0);
        for number in 1..taps {
            all = chain.alu(op, &[&all, &tap(number)]);
        }
        if taps == 1 {
            all = chain.alu(AluOp::Move, &[&all]);
        }
        (chain.finish(all, layout, dtype), after)
    }

    /// Windows along the axis whose pixels lie side by side.
    fn pooled_pixels(
        &mut self,
        tensor: Tensor,
        [before, after]: [&[usize]; 2],
        along: Axis,
        (op, nothing): (AluOp, u32),
    ) -> Tensor {
        if along.is_trivial() {
            return tensor;
        }
        let layout = grouped(after, self.lanes());
        let rank = after.len();
        let (to, own) = (strides(after), strides(before));
        let dtype = tensor.dtype;
        let mut taps = Vec::new();
        for tap in 0..along.size {
            let source = |flat: usize| {
                let at = |axis: usize| flat / to[axis] % after[axis];
                let x = (at(rank - 2) * along.stride + tap * along.dilation).checked_sub(along.low);
                let x = x.filter(|x| *x < before[rank - 2])?;
                let others = (0..rank).filter(|axis| *axis != rank - 2);
                Some((0, others.map(|axis| at(axis) * own[axis]).sum::<usize>() + x * own[rank - 2]))
            };
            taps.push(self.moved(std::slice::from_ref(&tensor), layout.clone(), dtype, nothing, &source));
        }
        let mut chain = Chain::over(self, &layout);
        let args: Vec<Arg> = taps.iter().map(|tensor| chain.arg(tensor)).collect();
        let all = args.iter().skip(1).fold(args[0].clone(), |all, own| chain.alu(op, &[&all, own]));
        chain.finish(all, layout, dtype)
    }

    /// Sums over the elements of their windows: all of them, or those inside.
    fn averaged(
        &mut self,
        sums: Tensor,
        after: &[usize],
        extents: &[usize],
        axes: &[Axis],
        kind: PoolKind,
    ) -> Tensor {
        let is_inside = |axis: &Axis, extent: usize, at: usize| {
            let taps = (0..axis.size).map(|tap| at * axis.stride + tap * axis.dilation);
            taps.filter(|x| kind == PoolKind::Average || (axis.low..axis.low + extent).contains(x)).count()
        };
        let to = strides(after);
        let count = |flat: usize| {
            let own = axes.iter().zip(extents).enumerate();
            let counts =
                own.map(|(i, (axis, extent))| is_inside(axis, *extent, flat / to[i + 1] % after[i + 1]));
            (counts.product::<usize>() as f32).to_bits()
        };
        let layout = sums.shape.clone();
        let counts: Vec<u32> = (0..after.iter().product()).map(count).collect();
        let same = counts.iter().all(|own| *own == counts[0]);
        let counts = match same {
            true => Err(counts[0]),
            false => {
                let value = self.known_bits(&counts, &layout);
                Ok(Tensor { value, shape: layout.clone(), dtype: DType::F32 })
            }
        };
        let mut chain = Chain::over(self, &layout);
        let x = chain.arg(&sums);
        let by = match &counts {
            Ok(tensor) => chain.arg(tensor),
            Err(bits) => Source::Immediate(*bits),
        };
        let quotient = chain.div(&x, &by);
        chain.finish(quotient, layout, DType::F32)
    }
}
