//! Helpers that move elements: reshape, transpose, slices and joins, gathers by computed index.

use super::{ProgramBuilder, along, axis_in};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, TensorOp};

/// What joining asks for.
const BESIDE: &str = "sizes beside the joined axis must be equal";

impl ProgramBuilder {
    /// Same elements, other extents; counts that differ as expressions are asserted equal.
    pub fn reshape(&mut self, x: Value, shape: impl Into<Shape>) -> Outcome {
        let shape = shape.into();
        let from = &self.ty(x).shape;
        if *from == shape {
            return Ok(x);
        }
        if !from.has_factors_of(&shape) {
            self.assert_same_count(x, &shape)?;
        }
        self.emit(TensorOp::Reshape { shape }, &[x])
    }

    /// `x` with the sizes of `shape`, which are asserted to be its own as far as that is not known before the run.
    /// Errors: they are known to differ.
    pub fn respelled(&mut self, x: Value, shape: impl Into<Shape>, message: &str) -> Outcome {
        let (own, shape) = (self.shape(x), shape.into());
        if own.rank() != shape.rank() {
            return Err(Fault::from(format!("{message}, got {own} where {shape} is expected")));
        }
        for (own, wanted) in own.iter().zip(shape.iter()) {
            self.assert_equal(own, wanted, message)?;
        }
        self.reshape(x, shape)
    }

    /// `x`, whose extent along an axis weights tell: a model may leave it open. Errors: it is known to be another.
    pub fn with_extent(&mut self, x: Value, axis: usize, extent: &Dim, message: &str) -> Outcome {
        let mut shape = self.shape(x);
        if axis >= shape.rank() || shape[axis] == *extent || shape[axis].as_const().is_some() {
            return Ok(x);
        }
        self.assert_equal(&shape[axis], extent, message)?;
        shape[axis] = extent.clone();
        self.reshape(x, shape)
    }

    fn assert_same_count(&mut self, x: Value, shape: &Shape) -> Outcome<()> {
        let from = &self.ty(x).shape;
        let (old, new) = (from.count(), shape.count());
        if old == new || self.same_but_for_established(from, shape) {
            return Ok(());
        }
        if old.as_const().is_some() && new.as_const().is_some() {
            return Err(Fault::from(format!("{} cannot be reshaped to {shape}", self.ty(x))));
        }
        self.assert_equal(&old, &new, "a reshape must keep the number of elements")
    }

    /// Whether extents differ only where sizes were asserted to be equal already.
    fn same_but_for_established(&self, from: &Shape, to: &Shape) -> bool {
        let mut rest: Vec<&Dim> = to.iter().filter(|dim| !dim.is_const(1)).collect();
        for extent in from.iter() {
            let place = rest.iter().position(|dim| self.is_established(dim, extent));
            match place {
                Some(place) => _ = rest.remove(place),
                None if self.is_established(extent, &Dim::from(1)) => {}
                None => return false,
            }
        }
        rest.iter().all(|dim| self.is_established(dim, &Dim::from(1)))
    }

    pub fn transpose(&mut self, x: Value, perm: &[usize]) -> Outcome {
        self.build(|b| b.transpose(x, perm))
    }

    /// Moves one axis to another place, the others keep their order.
    pub fn move_axis(&mut self, x: Value, from: usize, to: usize) -> Outcome {
        let mut perm: Vec<usize> = (0..self.rank(x)).filter(|axis| *axis != from).collect();
        perm.insert(to.min(perm.len()), from);
        self.transpose(x, &perm)
    }

    /// Takes away axes of extent 1.
    pub fn drop_axes(&mut self, x: Value, axes: &[usize]) -> Outcome {
        if axes.is_empty() {
            return Ok(x);
        }
        let shape: Shape = self
            .ty(x)
            .shape
            .iter()
            .enumerate()
            .filter(|(axis, _)| !axes.contains(axis))
            .map(|(_, dim)| dim.clone())
            .collect();
        self.reshape(x, shape)
    }

    /// Puts axes of extent 1 at places of the *result*.
    pub fn add_axes(&mut self, x: Value, axes: &[usize]) -> Outcome {
        let from = self.shape(x);
        let mut rest = from.iter().cloned();
        let rank = from.rank() + axes.len();
        let shape: Shape = (0..rank)
            .map(|axis| if axes.contains(&axis) { Dim::from(1) } else { rest.next().unwrap_or(Dim::from(1)) })
            .collect();
        self.reshape(x, shape)
    }

    /// `[start, start + size)` along one axis.
    pub fn slice_axis(&mut self, x: Value, axis: usize, start: Dim, size: Dim) -> Outcome {
        self.expect_axis(x, axis)?;
        self.build(|b| b.slice_axis(x, axis, start, size))
    }

    /// The same elements in opposite order along one axis.
    pub fn flip(&mut self, x: Value, axis: usize) -> Outcome {
        self.expect_axis(x, axis)?;
        self.build(|b| b.reverse(x, axis))
    }

    /// Joins along an axis; sizes beside it must be equal.
    pub fn concat(&mut self, parts: &[Value], axis: usize) -> Outcome {
        let (first, rest) = match parts {
            [] => return Err(Fault::invalid("takes one or more operands")),
            [one] => return Ok(*one),
            [first, rest @ ..] => (*first, rest),
        };
        // Of the spellings of a size the one that says most is used.
        let mut common = self.shape(first);
        for part in rest {
            let shape = self.shape(*part);
            if shape.rank() != common.rank() {
                return Err(Fault::from(format!("{} and {} differ in rank", self.ty(first), self.ty(*part))));
            }
            for (i, size) in
                shape.iter().enumerate().filter(|(i, size)| *i != axis && size.as_const().is_some())
            {
                self.assert_equal(&common[i], size, BESIDE)?;
                common[i] = size.clone();
            }
        }
        let mut aligned = Vec::with_capacity(parts.len());
        for part in parts {
            let mut shape = common.clone();
            shape[axis] = self.dim(*part, axis);
            aligned.push(self.respelled(*part, shape, BESIDE)?);
        }
        self.build(|b| b.concat(&aligned, axis))
    }

    pub fn gather(&mut self, data: Value, indices: Value, axis: usize) -> Outcome {
        self.build(|b| b.gather(data, indices, axis))
    }

    /// Elements `start + i * step` for `i < size` along an axis, where start and step are `i64` of one element.
    pub fn gather_range(&mut self, x: Value, axis: usize, start: Value, step: Value, size: Dim) -> Outcome {
        let places = self.iota(DType::I64, [size], 0)?;
        let start = self.reshape(start, [1i64])?;
        let step = self.reshape(step, [1i64])?;
        let places = self.mul(places, step)?;
        let places = self.add(places, start)?;
        self.gather(x, places, axis)
    }

    /// Pads one scalar value around; amounts per axis.
    pub fn pad_with(&mut self, x: Value, value: f64, low: Vec<Dim>, high: Vec<Dim>) -> Outcome {
        if low.iter().chain(&high).all(|dim| dim.is_const(0)) {
            return Ok(x);
        }
        let fill = self.splat(self.dtype(x), Shape::scalar(), value)?;
        self.build(|b| b.pad(x, &low, &high, fill))
    }

    /// Repeats each axis whole, `repeats[i]` times.
    pub fn tile(&mut self, x: Value, repeats: &[Dim]) -> Outcome {
        let from = self.shape(x);
        if repeats.iter().all(|n| n.is_const(1)) {
            return Ok(x);
        }
        let pairs = |left: &dyn Fn(usize) -> Dim| -> Shape {
            (0..from.rank()).flat_map(|i| [left(i), from[i].clone()]).collect()
        };
        let (split, wide) = (pairs(&|_| Dim::from(1)), pairs(&|i| repeats[i].clone()));
        let tiled: Shape = from.iter().zip(repeats).map(|(n, times)| n.clone() * times.clone()).collect();
        let x = self.reshape(x, split)?;
        let x = self.broadcast_to(x, &wide)?;
        self.reshape(x, tiled)
    }

    /// Matrix product over the last two axes with broadcasting batch axes; `out` is the result's dtype.
    pub fn matmul(&mut self, a: Value, b: Value, out: DType) -> Outcome {
        self.matmul_with(a, b, |cx, x, y, dims| cx.build(|b| b.dot(x, y, dims, out)))
    }

    /// As [`matmul`](Self::matmul), by a contraction of the caller's.
    pub fn matmul_with(
        &mut self,
        a: Value,
        b: Value,
        contract: impl FnOnce(&mut Self, Value, Value, DotDims) -> Outcome,
    ) -> Outcome {
        let (rank_a, rank_b) = (self.rank(a), self.rank(b));
        if rank_a == 0 || rank_b == 0 {
            return Err(Fault::from("a matrix product takes operands of rank 1 or more".to_string()));
        }
        let a = if rank_a == 1 { self.add_axes(a, &[0])? } else { a };
        let b = if rank_b == 1 { self.add_axes(b, &[1])? } else { b };
        let product = self.matmul_matrices(a, b, contract)?;
        let rank = self.rank(product);
        let mut dropped = vec![];
        if rank_a == 1 {
            dropped.push(rank - 2);
        }
        if rank_b == 1 {
            dropped.push(rank - 1);
        }
        self.drop_axes(product, &dropped)
    }

    fn matmul_matrices(
        &mut self,
        a: Value,
        b: Value,
        contract: impl FnOnce(&mut Self, Value, Value, DotDims) -> Outcome,
    ) -> Outcome {
        let (rank_a, rank_b) = (self.rank(a), self.rank(b));
        let (a, b) = self.with_one_inner_size((a, rank_a - 1), (b, rank_b - 2))?;
        // A plain matrix at the right serves every batch of the left.
        if rank_b == 2 {
            let dims = contraction(&[], &[], rank_a - 1, 0);
            return contract(self, a, b, dims);
        }
        let (batch_a, batch_b) = (self.shape(a)[..rank_a - 2].to_vec(), self.shape(b)[..rank_b - 2].to_vec());
        let batch = self.common_batch(&batch_a, &batch_b)?;
        let a = self.with_batch(a, &batch, 2)?;
        let b = self.with_batch(b, &batch, 2)?;
        let axes: Vec<usize> = (0..batch.len()).collect();
        let dims = contraction(&axes, &axes, batch.len() + 1, batch.len());
        contract(self, a, b, dims)
    }

    /// Both sides of a product, whose sizes along an axis of each are asserted to be equal, in one spelling of it: a
    /// number where either has one, so that a product of weights of a known shape is one.
    pub fn with_one_inner_size(
        &mut self,
        (a, axis_a): (Value, usize),
        (b, axis_b): (Value, usize),
    ) -> Outcome<(Value, Value)> {
        let (inner_a, inner_b) = (self.dim(a, axis_a), self.dim(b, axis_b));
        if inner_a == inner_b {
            return Ok((a, b));
        }
        if inner_a.as_const().is_some() && inner_b.as_const().is_some() {
            let (a, b) = (self.ty(a), self.ty(b));
            return Err(Fault::from(format!("inner sizes {inner_a} and {inner_b} differ ({a} and {b})")));
        }
        let respell = |cx: &mut Self, value, axis: usize, size| {
            let mut shape = cx.shape(value);
            shape[axis] = size;
            cx.respelled(value, shape, "the inner sizes of a matrix product must be equal")
        };
        Ok(match inner_b.as_const() {
            Some(_) => (respell(self, a, axis_a, inner_b)?, b),
            None => (a, respell(self, b, axis_b, inner_a)?),
        })
    }

    fn common_batch(&mut self, a: &[Dim], b: &[Dim]) -> Outcome<Vec<Dim>> {
        let rank = a.len().max(b.len());
        let at = |dims: &[Dim], axis: usize| {
            (axis + dims.len()).checked_sub(rank).map_or(Dim::from(1), |i| dims[i].clone())
        };
        (0..rank)
            .map(|axis| {
                let (x, y) = (at(a, axis), at(b, axis));
                if y.is_const(1) || x == y {
                    return Ok(x);
                }
                if x.is_const(1) || self.repeats(&x, &y)? {
                    return Ok(y);
                }
                if self.repeats(&y, &x)? {
                    return Ok(x);
                }
                if x.as_const().is_some() && y.as_const().is_some() {
                    return Err(Fault::from(format!("batch sizes {x} and {y} do not broadcast")));
                }
                self.joined_extent(&x, &y)
            })
            .collect()
    }

    /// `x` with its leading axes broadcast to `batch`; `kept` trailing axes stay.
    pub fn with_batch(&mut self, x: Value, batch: &[Dim], kept: usize) -> Outcome {
        self.expect_axis(x, kept.saturating_sub(1))?;
        let shape = &self.ty(x).shape;
        let (own, inner) = shape.split_at(shape.rank() - kept);
        if own == batch {
            return Ok(x);
        }
        let full: Shape = batch.iter().chain(inner).cloned().collect();
        self.broadcast_to(x, &full)
    }

    /// Errors: there is no such axis.
    pub fn expect_axis(&self, x: Value, axis: usize) -> Outcome<()> {
        if axis < self.rank(x) {
            Ok(())
        } else {
            Err(Fault::from(format!("{} has no axis {axis}", self.ty(x))))
        }
    }

    /// Swaps the last two axes.
    pub fn transpose_matrix(&mut self, x: Value) -> Outcome {
        self.expect_axis(x, 1)?;
        let rank = self.rank(x);
        self.build(|b| b.swap_axes(x, rank - 2, rank - 1))
    }

    /// A rank-1 tensor laid along `axis` of a rank.
    pub fn lay_along(&mut self, x: Value, axis: usize, rank: usize) -> Outcome {
        let count = self.shape(x).count();
        self.reshape(x, along(rank, axis, count))
    }

    /// `x` cut along an axis into parts of these sizes, which must sum to its extent.
    pub fn parts(&mut self, x: Value, axis: usize, sizes: Vec<Dim>) -> Outcome<Vec<Value>> {
        let total = sizes.iter().cloned().fold(Dim::from(0), |a, b| a + b);
        let extent = self.dim(x, axis);
        self.assert_equal(&total, &extent, "the parts must sum to the whole axis")?;
        let mut start = Dim::from(0);
        let mut parts = Vec::with_capacity(sizes.len());
        for size in sizes {
            parts.push(self.slice_axis(x, axis, start.clone(), size.clone())?);
            start = start + size;
        }
        Ok(parts)
    }

    /// Axes before `axis` as one, the others as one; a negative axis counts from the end and may be the rank.
    pub fn flatten_from(&mut self, x: Value, axis: i64) -> Outcome {
        let shape = self.shape(x);
        let rank = shape.rank();
        let axis = if axis == rank as i64 { rank } else { axis_in(axis, rank)? };
        let count = |dims: &[Dim]| Shape::from(dims).count();
        self.reshape(x, [count(&shape[..axis]), count(&shape[axis..])])
    }

    /// `i64` indices below 0 counted from `extent`.
    pub fn wrap_indices(&mut self, indices: Value, extent: Dim) -> Outcome {
        let indices = self.cast(indices, DType::I64)?;
        let extent = self.size_as(extent, DType::I64, self.rank(indices))?;
        let wrapped = self.add(indices, extent)?;
        let negative = self.with_number(ScalarOp::Lt, indices, 0.0)?;
        self.select(negative, wrapped, indices)
    }
}

/// One contracted axis on each side.
pub(crate) fn contraction(lhs_batch: &[usize], rhs_batch: &[usize], lhs: usize, rhs: usize) -> DotDims {
    DotDims {
        lhs_batch: lhs_batch.to_vec(),
        rhs_batch: rhs_batch.to_vec(),
        lhs_contract: vec![lhs],
        rhs_contract: vec![rhs],
    }
}
