//! Pools over images: maxima, sums and averages of windows of pixels.
//!
//! The axes whose pixels have rows of their own come first: one operand of a chain for each tap. Along the last axis pixels lie
//! side by side in rows, so each tap is a movement of pixels.

use super::alu::{Arg, Chain};
use super::images::{grouped, ordered};
use super::moves::strides;
use super::{Lower, Lowered, Tensor};
use crate::flow::{Access, How, Kind, Loops, Source};
use smallvec::smallvec;
use tegula_base::{DType, Dim};
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Element, Number};
use tegula_tensor::{PoolKind, TensorOp, Window};

/// Results of an axis whose windows have the same taps on the operand.
#[derive(Clone)]
struct Reach {
    first: usize,
    count: usize,
    taps: Vec<usize>,
}

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

    fn reaches(&self, before: usize, after: usize) -> Vec<Reach> {
        let mut reaches: Vec<Reach> = Vec::new();
        for first in 0..after {
            let x = |tap: &usize| first * self.stride + tap * self.dilation;
            let taps = (0..self.size).filter(|tap| (self.low..self.low + before).contains(&x(tap)));
            let taps: Vec<usize> = taps.collect();
            match reaches.last_mut() {
                Some(last) if last.taps == taps => last.count += 1,
                _ => reaches.push(Reach { first, count: 1, taps }),
            }
        }
        reaches
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
        let mut after = before.to_vec();
        for (i, axis) in outer.iter().enumerate() {
            let padded = before[i + 1] + axis.low + axis.high;
            after[i + 1] = (padded - axis.dilation * (axis.size - 1) - 1) / axis.stride + 1;
        }
        let layout = grouped(&after, lanes);
        let dense = |layout: &[usize], value| {
            let chunks = super::chunks(layout, lanes) as u32;
            let rows = layout[..layout.len() - 1].iter().map(|extent| *extent as u32);
            let extents: Loops = rows.chain([chunks]).collect();
            (Access::dense(value, 0, &extents), extents)
        };
        let dtype = image.dtype;
        let value = self.fresh(Element::I32, super::vectors(&layout, lanes), false);
        let (to, extents) = dense(&layout, value);
        let (from, _) = dense(&grouped(before, lanes), image.value);
        // Results whose windows lie alike have flows of their own: a tap that is padding is none.
        let mut parts: Vec<Vec<Reach>> = vec![Vec::new()];
        for (i, axis) in outer.iter().enumerate() {
            let reaches = axis.reaches(before[i + 1], after[i + 1]);
            let longer = |part: &Vec<Reach>| {
                let part = part.clone();
                reaches.iter().map(move |reach| part.iter().cloned().chain([reach.clone()]).collect())
            };
            parts = parts.iter().flat_map(longer).collect();
        }
        for part in parts {
            let (mut loops, mut out, mut rows) = (extents.clone(), to.clone(), from.clone());
            for (i, (axis, reach)) in outer.iter().zip(&part).enumerate() {
                loops[i + 1] = reach.count as u32;
                out.base += reach.first as u32 * to.strides[i + 1];
                rows.strides[i + 1] *= axis.stride as u32;
            }
            let mut taps = vec![0i64];
            for (i, (axis, reach)) in outer.iter().zip(&part).enumerate() {
                let step = i64::from(from.strides[i + 1]);
                let place = |tap: &usize| {
                    ((reach.first * axis.stride + tap * axis.dilation) as i64 - axis.low as i64) * step
                };
                taps = taps
                    .iter()
                    .flat_map(|base| reach.taps.iter().map(move |tap| base + place(tap)))
                    .collect();
            }
            let taps =
                taps.into_iter().map(|base| Source::Vector(Access { base: base as u32, ..rows.clone() }));
            self.combined_into(op, taps.collect(), nothing, &loops, out);
        }
        (Tensor { value, shape: layout, dtype }, after)
    }

    /// Combines operands one after another; none give `nothing`.
    fn combined_into(&mut self, op: AluOp, taps: Vec<Source>, nothing: u32, loops: &[u32], out: Access) {
        let Some((first, others)) = taps.split_first() else {
            let from = Access::fixed(self.splat(nothing), 0, loops.len());
            return self.flow(loops, Kind::Move { how: How::Stay, from }, out);
        };
        let Some((last, others)) = others.split_last() else {
            return self.flow(loops, Kind::alu(AluOp::Move, smallvec![first.clone()]), out);
        };
        let mut all = first.clone();
        for tap in others {
            let value = self.fresh(Element::I32, loops.iter().product(), false);
            let own = Access::dense(value, 0, loops);
            self.flow(loops, Kind::alu(op, smallvec![all, tap.clone()]), own.clone());
            all = Source::Vector(own);
        }
        self.flow(loops, Kind::alu(op, smallvec![all, last.clone()]), out);
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
