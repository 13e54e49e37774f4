//! Rules of gathers and scatters.

use super::{Types, ensure, has_axis, one, take};
use crate::{ScatterKind, TensorType};
use tegula_base::{DType, Shape};
use tegula_ir::ScalarOp;

pub(super) fn gather(name: &str, axis: usize, x: &[&TensorType]) -> Types {
    let [data, indices] = take(name, x)?;
    has_axis(name, axis, data)?;
    index_type(name, indices)?;
    let shape = data.shape[..axis].iter().chain(indices.shape.iter()).chain(&data.shape[axis + 1..]);
    one(data.dtype, shape.cloned().collect::<Shape>())
}

pub(super) fn gather_elements(name: &str, axis: usize, x: &[&TensorType]) -> Types {
    let [data, indices] = take(name, x)?;
    along_axis(name, axis, data, indices)?;
    one(data.dtype, indices.shape.clone())
}

pub(super) fn gather_nd(name: &str, batch_dims: usize, x: &[&TensorType]) -> Types {
    let [data, indices] = take(name, x)?;
    let depth = depth(name, batch_dims, data, indices)?;
    for axis in 0..batch_dims {
        ensure(data.shape[axis] == indices.shape[axis], name, 3, || {
            format!("batch sizes {} and {} differ", data.shape[axis], indices.shape[axis])
        })?;
    }
    let shape = indices.shape[..indices.rank() - 1].iter().chain(&data.shape[batch_dims + depth..]);
    one(data.dtype, shape.cloned().collect::<Shape>())
}

pub(super) fn scatter_elements(name: &str, axis: usize, kind: ScatterKind, x: &[&TensorType]) -> Types {
    let [data, indices, updates] = take(name, x)?;
    along_axis(name, axis, data, indices)?;
    combines(name, kind, data)?;
    super::has_type(name, "the updates", updates, data.dtype, &indices.shape)?;
    one(data.dtype, data.shape.clone())
}

pub(super) fn scatter_nd(name: &str, kind: ScatterKind, x: &[&TensorType]) -> Types {
    let [data, indices, updates] = take(name, x)?;
    let depth = depth(name, 0, data, indices)?;
    combines(name, kind, data)?;
    let shape = indices.shape[..indices.rank() - 1].iter().chain(&data.shape[depth..]);
    let shape: Shape = shape.cloned().collect();
    super::has_type(name, "the updates", updates, data.dtype, &shape)?;
    one(data.dtype, data.shape.clone())
}

/// What a scatter computes with the element there and the update; `None` overwrites.
pub(crate) fn scatter_op(kind: ScatterKind) -> Option<ScalarOp> {
    match kind {
        ScatterKind::Set => None,
        ScatterKind::Add => Some(ScalarOp::Add),
        ScatterKind::Mul => Some(ScalarOp::Mul),
        ScatterKind::Min => Some(ScalarOp::Min),
        ScatterKind::Max => Some(ScalarOp::Max),
    }
}

fn combines(name: &str, kind: ScatterKind, data: &TensorType) -> Result<(), String> {
    match scatter_op(kind) {
        Some(op) => op
            .result_type(&[data.dtype, data.dtype])
            .map(|_| ())
            .map_err(|error| format!("{name}_c4: {error}")),
        None => Ok(()),
    }
}

fn index_type(name: &str, indices: &TensorType) -> Result<(), String> {
    ensure(matches!(indices.dtype, DType::I32 | DType::I64), name, 2, || {
        format!("indices must be i32 or i64, got {indices}")
    })
}

fn along_axis(name: &str, axis: usize, data: &TensorType, indices: &TensorType) -> Result<(), String> {
    has_axis(name, axis, data)?;
    index_type(name, indices)?;
    ensure(data.rank() == indices.rank(), name, 3, || format!("{data} by {indices}: ranks differ"))?;
    for i in (0..data.rank()).filter(|i| *i != axis) {
        if let (Some(extent), Some(n)) = (data.shape[i].as_const(), indices.shape[i].as_const()) {
            ensure(n <= extent, name, 3, || {
                format!("{data} by {indices}: more indices than data along axis {i}")
            })?;
        }
    }
    Ok(())
}

/// The length of a coordinate, which must be constant and fit data.
fn depth(name: &str, batch_dims: usize, data: &TensorType, indices: &TensorType) -> Result<usize, String> {
    index_type(name, indices)?;
    ensure(batch_dims < data.rank().max(1) && batch_dims < indices.rank(), name, 1, || {
        format!("{batch_dims} batch axes of {data} by {indices}")
    })?;
    let depth = indices.shape.last().and_then(|dim| dim.as_const()).and_then(|n| usize::try_from(n).ok());
    match depth {
        Some(depth) if batch_dims + depth <= data.rank() => Ok(depth),
        Some(depth) => Err(format!("{name}_c1: coordinates of length {depth} into {data}")),
        None => Err(format!("{name}_c1: the last size of {indices} must be constant")),
    }
}
