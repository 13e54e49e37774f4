//! Reshapes, transposes, slices, pads, gathers. Ops that would change nothing are not built.

use super::{Builder, Built};
use crate::{PadMode, ScatterKind, TensorOp};
use tegula_base::{Dim, Shape};
use tegula_ir::Value;

impl Builder<'_> {
    pub fn reshape(&mut self, x: Value, shape: impl Into<Shape>) -> Built {
        let shape = shape.into();
        if self.ty(x).shape == shape {
            return Ok(x);
        }
        self.emit(TensorOp::Reshape { shape }, &[x])
    }

    /// Extents of 1 become those of `shape`; a lower rank is padded with leading 1s first.
    pub fn broadcast(&mut self, x: Value, shape: impl Into<Shape>) -> Built {
        let shape = shape.into();
        let x = self.pad_rank(x, shape.rank())?;
        if self.ty(x).shape == shape {
            return Ok(x);
        }
        self.emit(TensorOp::Broadcast { shape }, &[x])
    }

    pub fn transpose(&mut self, x: Value, perm: &[usize]) -> Built {
        if perm.iter().copied().eq(0..self.rank(x)) {
            return Ok(x);
        }
        self.emit(TensorOp::Transpose { perm: perm.to_vec() }, &[x])
    }

    /// Exchanges two axes.
    pub fn swap_axes(&mut self, x: Value, a: usize, b: usize) -> Built {
        let mut perm: Vec<usize> = (0..self.rank(x)).collect();
        if a.max(b) >= perm.len() {
            return Err(format!("transpose_c1: {} has no axes {a} and {b}", self.ty(x)));
        }
        perm.swap(a, b);
        self.transpose(x, &perm)
    }

    /// Drops axes, which must have extent 1.
    pub fn squeeze(&mut self, x: Value, axes: &[usize]) -> Built {
        let shape = self.shape(x);
        let kept = (0..shape.rank()).filter(|axis| !axes.contains(axis));
        let kept: Shape = kept.map(|axis| shape[axis].clone()).collect();
        self.reshape(x, kept)
    }

    /// Puts extents of 1 so that they stand at `axes` of the result.
    pub fn unsqueeze(&mut self, x: Value, axes: &[usize]) -> Built {
        let shape = self.shape(x);
        let mut dims = shape.iter().cloned();
        let rank = dims.len() + axes.len();
        let shape: Option<Shape> = (0..rank)
            .map(|axis| if axes.contains(&axis) { Some(Dim::from(1)) } else { dims.next() })
            .collect::<Option<Vec<Dim>>>()
            .map(Shape::from);
        match shape {
            Some(shape) if dims.next().is_none() => self.reshape(x, shape),
            _ => Err(format!("reshape_c1: axes {axes:?} are not places of a result of rank {rank}")),
        }
    }

    pub fn slice(&mut self, x: Value, starts: &[Dim], sizes: &[Dim], steps: &[i64]) -> Built {
        let whole = starts.iter().all(|start| start.is_const(0)) && steps.iter().all(|step| *step == 1);
        if whole && self.ty(x).shape[..] == *sizes {
            return Ok(x);
        }
        let (starts, sizes, steps) = (starts.to_vec(), sizes.to_vec(), steps.to_vec());
        self.emit(TensorOp::Slice { starts, sizes, steps }, &[x])
    }

    /// `size` elements from `start` along one axis.
    pub fn slice_axis(
        &mut self,
        x: Value,
        axis: usize,
        start: impl Into<Dim>,
        size: impl Into<Dim>,
    ) -> Built {
        let rank = self.rank(x);
        if axis >= rank {
            return Err(format!("slice_c1: {} has no axis {axis}", self.ty(x)));
        }
        let mut starts = vec![Dim::from(0); rank];
        let mut sizes = self.shape(x).to_vec();
        (starts[axis], sizes[axis]) = (start.into(), size.into());
        self.slice(x, &starts, &sizes, &vec![1; rank])
    }

    /// The elements along an axis in the other direction.
    pub fn reverse(&mut self, x: Value, axis: usize) -> Built {
        let shape = self.shape(x);
        let mut starts = vec![Dim::from(0); shape.rank()];
        let mut steps = vec![1; shape.rank()];
        if axis >= shape.rank() {
            return Err(format!("slice_c1: {} has no axis {axis}", self.ty(x)));
        }
        (starts[axis], steps[axis]) = (shape[axis].clone() - Dim::from(1), -1);
        self.slice(x, &starts, &shape, &steps)
    }

    /// Pads with a scalar of x's type.
    pub fn pad(&mut self, x: Value, low: &[Dim], high: &[Dim], fill: Value) -> Built {
        let (low, high) = (low.to_vec(), high.to_vec());
        self.emit(TensorOp::Pad { low, high, mode: PadMode::Constant }, &[x, fill])
    }

    /// Pads from x's own elements.
    pub fn pad_with(&mut self, x: Value, low: &[Dim], high: &[Dim], mode: PadMode) -> Built {
        let (low, high) = (low.to_vec(), high.to_vec());
        self.emit(TensorOp::Pad { low, high, mode }, &[x])
    }

    pub fn concat(&mut self, operands: &[Value], axis: usize) -> Built {
        match operands {
            [only] => Ok(*only),
            _ => self.emit(TensorOp::Concat { axis }, operands),
        }
    }

    pub fn gather(&mut self, data: Value, indices: Value, axis: usize) -> Built {
        self.emit(TensorOp::Gather { axis }, &[data, indices])
    }

    pub fn gather_elements(&mut self, data: Value, indices: Value, axis: usize) -> Built {
        self.emit(TensorOp::GatherElements { axis }, &[data, indices])
    }

    pub fn gather_nd(&mut self, data: Value, indices: Value, batch_dims: usize) -> Built {
        self.emit(TensorOp::GatherNd { batch_dims }, &[data, indices])
    }

    pub fn scatter_elements(
        &mut self,
        data: Value,
        indices: Value,
        updates: Value,
        axis: usize,
        kind: ScatterKind,
    ) -> Built {
        self.emit(TensorOp::ScatterElements { axis, kind }, &[data, indices, updates])
    }

    pub fn scatter_nd(&mut self, data: Value, indices: Value, updates: Value, kind: ScatterKind) -> Built {
        self.emit(TensorOp::ScatterNd { kind }, &[data, indices, updates])
    }
}
