//! Gathers: tiles whose elements' places come from other tiles.
//!
//! Where all indices of a box are one scalar, the gather is a load at that offset. Else each element's linear
//! coordinate in the data is computed, and the data is read through a view of rank 1.

use super::{Axis, Lowering, TileBox};
use crate::body::Body;
use tegula_base::{DType, Dim};
use tegula_ir::{Def, ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::lookup::names_bytes;
use tegula_tile::IndexOp;

/// Where a coordinate of gathered or scattered data comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinate {
    /// The box's own position along this axis of it.
    Own(usize),
    /// An integer tile of the box's extents.
    Index(Value),
}

/// The arguments of a body that gathers read, in order of first use.
pub(super) fn gathered_args(body: &Body) -> Vec<Value> {
    let mut args = Vec::new();
    for op in body.ops() {
        let data = match body.func.kind(*op) {
            TensorOp::Gather { .. } | TensorOp::GatherElements { .. } | TensorOp::GatherNd { .. } => {
                body.func.operand(*op, 0)
            }
            _ => continue,
        };
        if matches!(body.func.def(data), Def::Arg(..)) && !args.contains(&data) {
            args.push(data);
        }
    }
    args
}

impl Lowering<'_> {
    /// `data` with axis `axis` replaced by the axes of `indices`.
    pub(super) fn gather(
        &mut self,
        data: Value,
        indices: Value,
        axis: usize,
        at: &TileBox,
    ) -> Result<Value, String> {
        let n_index_axes = self.body.shape(indices).rank();
        let (before, rest) = at.split_at(axis);
        let (index_box, after) = rest.split_at(n_index_axes);
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let tile = self.pull(indices, index_box)?;
        if index_box.iter().all(|axis| axis.extent == 1) {
            let scalar = self.b.reshape(tile, &[]);
            let index = self.b.to_index(scalar);
            let offset = self.wrap_index(index, &self.body.shape(data)[axis].clone());
            // An axis that may be empty has no element to clamp to: the load is bounded.
            let bounded = may_be_empty(&self.body.shape(data)[axis]);
            let here = Axis { offset, extent: 1, step: 1, bounded };
            let inner: TileBox = before.iter().chain([&here]).chain(after).copied().collect();
            let tile = self.pull(data, &inner)?;
            return Ok(self.b.reshape(tile, &extents));
        }
        if axis == 0
            && let Some(view) = self.flat_views.get(&data).copied()
            && is_byte_of(self.body, indices, &self.body.shape(data)[..])
        {
            return Ok(self.b.gather(view, tile));
        }
        // The index tile takes its place among the result's axes.
        let mut shape = vec![1; at.len()];
        for (i, axis_box) in index_box.iter().enumerate() {
            shape[axis + i] = axis_box.extent;
        }
        let tile = self.b.reshape(tile, &shape);
        let tile = self.b.broadcast(tile, &extents);
        let rank = self.body.shape(data).rank();
        let coordinates = (0..rank)
            .map(|k| match k.cmp(&axis) {
                std::cmp::Ordering::Less => Coordinate::Own(k),
                std::cmp::Ordering::Equal => Coordinate::Index(tile),
                std::cmp::Ordering::Greater => Coordinate::Own(k - 1 + n_index_axes),
            })
            .collect::<Vec<_>>();
        self.gather_at(data, &coordinates, at)
    }

    pub(super) fn gather_elements(
        &mut self,
        data: Value,
        indices: Value,
        axis: usize,
        at: &TileBox,
    ) -> Result<Value, String> {
        let tile = self.pull(indices, at)?;
        let coordinates: Vec<Coordinate> = (0..at.len())
            .map(|k| if k == axis { Coordinate::Index(tile) } else { Coordinate::Own(k) })
            .collect();
        self.gather_at(data, &coordinates, at)
    }

    /// `indices: [batch..., outer..., k]`, result `[batch..., outer..., data axes after batch + k]`.
    pub(super) fn gather_nd(
        &mut self,
        data: Value,
        indices: Value,
        batch_dims: usize,
        at: &TileBox,
    ) -> Result<Value, String> {
        let rank = self.body.shape(data).rank();
        let (mut coordinates, outer) = self.nd_coordinates(indices, batch_dims, at)?;
        let slice_axes = rank - coordinates.len();
        coordinates.extend((0..slice_axes).map(|i| Coordinate::Own(outer + i)));
        self.gather_at(data, &coordinates, at)
    }

    /// The coordinates that the last axis of `indices` lists, after `batch_dims` own ones; and the number of axes
    /// of a box that indices cover.
    pub(crate) fn nd_coordinates(
        &mut self,
        indices: Value,
        batch_dims: usize,
        at: &[Axis],
    ) -> Result<(Vec<Coordinate>, usize), String> {
        let index_shape = self.body.shape(indices).clone();
        let outer = index_shape.rank() - 1;
        let Some(depth) = index_shape[outer].as_const() else {
            return Err("indices need a constant depth".into());
        };
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let mut coordinates: Vec<Coordinate> = (0..batch_dims).map(Coordinate::Own).collect();
        for k in 0..depth {
            let offset = self.b.index(k);
            let mut index_box: TileBox = at[..outer].into();
            index_box.push(Axis { offset, extent: 1, step: 1, bounded: false });
            let tile = self.pull(indices, &index_box)?;
            let mut shape = extents[..outer].to_vec();
            shape.resize(extents.len(), 1);
            let tile = self.b.reshape(tile, &shape);
            coordinates.push(Coordinate::Index(self.b.broadcast(tile, &extents)));
        }
        Ok((coordinates, outer))
    }

    /// Reads `data` at one coordinate an axis of it, each a tile of the box's extents.
    pub(crate) fn gather_at(
        &mut self,
        data: Value,
        coordinates: &[Coordinate],
        at: &TileBox,
    ) -> Result<Value, String> {
        let Some(view) = self.flat_views.get(&data).copied() else {
            return Err("a gather by many indices reads a buffer, not a value in a kernel".into());
        };
        let ty = self.body.func.ty(data).clone();
        let Some(strides) = ty.layout_or_default().strides(&ty.shape) else {
            return Err("a gather reads packed data".into());
        };
        let linear = self.linear(&ty.shape, &strides, coordinates, at);
        let Some(filled) = self.is_filled(&ty.shape) else { return Ok(self.b.gather(view, linear)) };
        // Data that may be empty is read only when it is not.
        let (_, shape) = self.b.tile_type(linear);
        let scope = self.b.begin_if(filled);
        let tile = self.b.gather(view, linear);
        self.b.begin_else(&scope, &[tile]);
        let nothing = self.b.splat(ty.dtype, &shape, 0);
        Ok(self.b.end_if(scope, &[nothing])[0])
    }

    /// 1 where a shape has elements; `None` when it always has.
    pub(crate) fn is_filled(&mut self, shape: &[Dim]) -> Option<Value> {
        if !shape.iter().any(may_be_empty) {
            return None;
        }
        let count = shape.iter().fold(Dim::from(1), |count, dim| count * dim.clone());
        let (zero, count) = (self.b.index(0), self.b.size(&count));
        Some(self.b.index_op(IndexOp::Lt, zero, count))
    }

    /// The linear coordinate, as an `i64` tile: each coordinate wrapped, clamped to its extent, times its stride.
    pub(crate) fn linear(
        &mut self,
        shape: &[Dim],
        strides: &[Dim],
        coordinates: &[Coordinate],
        at: &[Axis],
    ) -> Value {
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let mut linear = self.b.splat(DType::I64, &extents, 0);
        for (k, coordinate) in coordinates.iter().enumerate() {
            if shape[k].is_const(1) {
                continue;
            }
            let size = self.b.size(&shape[k]);
            let position = match *coordinate {
                Coordinate::Own(axis) => {
                    let position = self.positions(at, axis, DType::I64, &extents);
                    if at[axis].bounded { self.clamp(position, size, &extents) } else { position }
                }
                Coordinate::Index(tile) => {
                    let wide = match self.b.tile_type(tile).0 {
                        DType::I64 => tile,
                        _ => self.b.elementwise(ScalarOp::Cast { to: DType::I64, saturate: true }, &[tile]),
                    };
                    let zero = self.b.splat(DType::I64, &extents, 0);
                    let negative = self.b.elementwise(ScalarOp::Lt, &[wide, zero]);
                    let spread = self.spread(DType::I64, size, &extents);
                    let wrapped = self.b.elementwise(ScalarOp::Add, &[wide, spread]);
                    let position = self.b.elementwise(ScalarOp::Select, &[negative, wrapped, wide]);
                    self.clamp(position, size, &extents)
                }
            };
            let stride = self.b.size(&strides[k]);
            let term = if self.b.known(stride) == Some(1) {
                position
            } else {
                let stride = self.spread(DType::I64, stride, &extents);
                self.b.elementwise(ScalarOp::Mul, &[position, stride])
            };
            linear = self.b.elementwise(ScalarOp::Add, &[linear, term]);
        }
        linear
    }

    /// `min(max(position, 0), size - 1)`.
    fn clamp(&mut self, position: Value, size: Value, extents: &[i64]) -> Value {
        let one = self.b.index(1);
        let last = self.b.sub(size, one);
        let last = self.spread(DType::I64, last, extents);
        let zero = self.b.splat(DType::I64, extents, 0);
        let low = self.b.elementwise(ScalarOp::Max, &[position, zero]);
        self.b.elementwise(ScalarOp::Min, &[low, last])
    }

    /// A scalar index: negative counts from the end, then clamped to the extent.
    pub(crate) fn wrap_index(&mut self, index: Value, extent: &Dim) -> Value {
        let size = self.b.size(extent);
        let zero = self.b.index(0);
        let one = self.b.index(1);
        let negative = self.b.index_op(IndexOp::Lt, index, zero);
        let shift = self.b.mul(negative, size);
        let wrapped = self.b.add(index, shift);
        let low = self.b.index_op(IndexOp::Max, wrapped, zero);
        let last = self.b.sub(size, one);
        self.b.index_op(IndexOp::Min, low, last)
    }
}

/// Whether indices are bytes, and a table has an element for each.
fn is_byte_of(body: &Body, indices: Value, table: &[Dim]) -> bool {
    let ([extent], Some(op)) = (table, body.func.def_op(indices)) else { return false };
    let TensorOp::Elementwise { f } = body.func.kind(op) else { return false };
    names_bytes(*f, body.func.ty(body.func.operand(op, 0)).dtype, extent)
}

fn may_be_empty(extent: &Dim) -> bool {
    extent.as_const().is_none_or(|n| n < 1)
}
