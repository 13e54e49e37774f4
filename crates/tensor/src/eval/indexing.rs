//! Gathers and scatters. A negative index counts from the end; beyond the border it is the border.

use super::index::{for_each_index, strides};
use super::movement::select_along;
use crate::ScatterKind;
use crate::check::scatter_op;
use tegula_base::HostTensor;
use tegula_ir::scalar::eval::eval_slice;

/// Errors: the axis is empty.
fn resolve(index: i64, extent: usize) -> Result<usize, String> {
    if extent == 0 {
        return Err(format!("index {index} into an empty axis"));
    }
    let n = extent as i64;
    let index = if index < 0 { index.saturating_add(n) } else { index };
    Ok(index.clamp(0, n - 1) as usize)
}

pub(super) fn gather(
    data: &HostTensor,
    indices: &HostTensor,
    axis: usize,
    out: &mut HostTensor,
) -> Result<(), String> {
    let places: Vec<usize> =
        indices.to_i64().into_iter().map(|i| resolve(i, data.shape[axis])).collect::<Result<_, String>>()?;
    out.bytes = select_along(data, axis, &places).bytes;
    Ok(())
}

pub(super) fn gather_elements(
    data: &HostTensor,
    indices: &HostTensor,
    axis: usize,
    out: &mut HostTensor,
) -> Result<(), String> {
    let size = data.dtype.size();
    for (place, element) in
        element_places(data, indices, axis)?.into_iter().zip(out.bytes.chunks_exact_mut(size))
    {
        element.copy_from_slice(&data.bytes[place * size..][..size]);
    }
    Ok(())
}

pub(super) fn scatter_elements(
    data: &HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    axis: usize,
    kind: ScatterKind,
    out: &mut HostTensor,
) -> Result<(), String> {
    out.bytes.clone_from(&data.bytes);
    scatter(&element_places(data, indices, axis)?, 1, updates, kind, out);
    Ok(())
}

/// For each element of indices: the element of data it means.
fn element_places(data: &HostTensor, indices: &HostTensor, axis: usize) -> Result<Vec<usize>, String> {
    let steps = strides(&data.shape);
    let values = indices.to_i64();
    let mut places = Vec::with_capacity(values.len());
    let mut error = None;
    for_each_index(&indices.shape, |index| {
        let at = resolve(values[places.len()], data.shape[axis]).unwrap_or_else(|e| {
            error = Some(e);
            0
        });
        let place = (0..index.len()).map(|i| if i == axis { at } else { index[i] } * steps[i]).sum();
        places.push(place);
    });
    match error {
        Some(error) => Err(error),
        None => Ok(places),
    }
}

pub(super) fn gather_nd(
    data: &HostTensor,
    indices: &HostTensor,
    batch_dims: usize,
    out: &mut HostTensor,
) -> Result<(), String> {
    let (places, chunk) = block_places(data, indices, batch_dims)?;
    let bytes = chunk * data.dtype.size();
    out.bytes.clear();
    for place in places {
        out.bytes.extend_from_slice(&data.bytes[place * bytes..][..bytes]);
    }
    Ok(())
}

pub(super) fn scatter_nd(
    data: &HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    kind: ScatterKind,
    out: &mut HostTensor,
) -> Result<(), String> {
    let (places, chunk) = block_places(data, indices, 0)?;
    out.bytes.clone_from(&data.bytes);
    scatter(&places, chunk, updates, kind, out);
    Ok(())
}

/// For each coordinate: which block of data it means, and the elements of a block.
fn block_places(
    data: &HostTensor,
    indices: &HostTensor,
    batch_dims: usize,
) -> Result<(Vec<usize>, usize), String> {
    let Some((&depth, outer)) = indices.shape.split_last() else {
        return Err("indices are a scalar".into());
    };
    let shape = &data.shape[..batch_dims + depth];
    let chunk = data.shape[batch_dims + depth..].iter().product();
    let steps = strides(shape);
    let values = indices.to_i64();
    let mut places = Vec::new();
    let mut error = None;
    for_each_index(outer, |index| {
        let coordinate = &values[places.len() * depth..][..depth];
        let mut place: usize = index[..batch_dims].iter().zip(&steps).map(|(i, step)| i * step).sum();
        for (i, value) in coordinate.iter().enumerate() {
            match resolve(*value, shape[batch_dims + i]) {
                Ok(at) => place += at * steps[batch_dims + i],
                Err(e) => error = Some(e),
            }
        }
        places.push(place);
    });
    match error {
        Some(error) => Err(error),
        None => Ok((places, chunk)),
    }
}

/// Applies update blocks in order.
fn scatter(places: &[usize], chunk: usize, updates: &HostTensor, kind: ScatterKind, out: &mut HostTensor) {
    let bytes = chunk * out.dtype.size();
    if bytes == 0 {
        return;
    }
    let mut combined = Vec::new();
    for (place, update) in places.iter().zip(updates.bytes.chunks_exact(bytes)) {
        let target = &mut out.bytes[place * bytes..][..bytes];
        match scatter_op(kind) {
            None => target.copy_from_slice(update),
            Some(op) => {
                eval_slice(op, &[(target, updates.dtype), (update, updates.dtype)], &mut combined);
                target.copy_from_slice(&combined);
            }
        }
    }
}
