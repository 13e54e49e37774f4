//! Movement: most ops are a copy with strides of their own.

use super::index::{around, strides};
use super::strided::strided_copy;
use crate::PadMode;
use std::borrow::Cow;
use tegula_base::{DType, HostTensor};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval_slice;

pub(super) fn iota(axis: usize, out: &mut HostTensor) {
    let (outer, n, inner) = around(&out.shape, axis);
    let row: Vec<u8> =
        (0..n as i64).flat_map(|i| std::iter::repeat_n(i.to_le_bytes(), inner)).flatten().collect();
    let mut converted = Vec::new();
    eval_slice(ScalarOp::Cast { to: out.dtype, saturate: true }, &[(&row, DType::I64)], &mut converted);
    out.bytes = converted.repeat(outer);
}

/// To a shape of the same or higher rank.
pub(super) fn broadcast(x: &HostTensor, shape: &[usize]) -> HostTensor {
    let lead = shape.len() - x.shape.len();
    let own = strides(&x.shape);
    let steps: Vec<isize> = (0..shape.len())
        .map(|axis| if axis < lead || x.shape[axis - lead] == 1 { 0 } else { own[axis - lead] as isize })
        .collect();
    strided_copy(x, 0, &steps, shape)
}

pub(super) fn transpose<'a>(x: &'a HostTensor, perm: &[usize]) -> Cow<'a, HostTensor> {
    if perm.iter().copied().eq(0..perm.len()) {
        return Cow::Borrowed(x);
    }
    let own = strides(&x.shape);
    let steps: Vec<isize> = perm.iter().map(|axis| own[*axis] as isize).collect();
    let shape: Vec<usize> = perm.iter().map(|axis| x.shape[*axis]).collect();
    Cow::Owned(strided_copy(x, 0, &steps, &shape))
}

pub(super) fn slice(x: &HostTensor, starts: &[i64], steps: &[i64], out: &mut HostTensor) {
    let own = strides(&x.shape);
    let start: isize =
        starts.iter().zip(&own).map(|(start, stride)| *start as isize * *stride as isize).sum();
    let steps: Vec<isize> =
        steps.iter().zip(&own).map(|(step, stride)| *step as isize * *stride as isize).collect();
    *out = strided_copy(x, start, &steps, &out.shape);
}

/// The slices of x along an axis at these places.
pub(super) fn select_along(x: &HostTensor, axis: usize, places: &[usize]) -> HostTensor {
    let (outer, n, inner) = around(&x.shape, axis);
    let chunk = inner * x.dtype.size();
    let mut shape = x.shape.clone();
    shape[axis] = places.len();
    let mut bytes = Vec::with_capacity(outer * places.len() * chunk);
    for block in 0..outer {
        for place in places {
            let at = (block * n + place) * chunk;
            bytes.extend_from_slice(&x.bytes[at..at + chunk]);
        }
    }
    HostTensor { dtype: x.dtype, shape, bytes }
}

pub(super) fn pad(x: &[&HostTensor], low: &[i64], mode: PadMode, out: &mut HostTensor) {
    let data = x[0];
    if mode == PadMode::Constant {
        let size = data.dtype.size();
        for element in out.bytes.chunks_exact_mut(size) {
            element.copy_from_slice(&x[1].bytes);
        }
        paste(data, low, out);
        return;
    }
    let mut padded = data.clone();
    for (axis, low) in low.iter().enumerate() {
        let n = data.shape[axis] as i64;
        if out.shape[axis] as i64 == n {
            continue;
        }
        let places: Vec<usize> =
            (0..out.shape[axis] as i64).map(|i| border(i - low, n, mode) as usize).collect();
        padded = select_along(&padded, axis, &places);
    }
    *out = padded;
}

/// The place inside `0..n` that stands for place `i`.
fn border(i: i64, n: i64, mode: PadMode) -> i64 {
    match mode {
        PadMode::Constant | PadMode::Edge => i.clamp(0, n - 1),
        PadMode::Wrap => i.rem_euclid(n),
        PadMode::Reflect if n == 1 => 0,
        PadMode::Reflect => {
            let i = i.rem_euclid(2 * (n - 1));
            i.min(2 * (n - 1) - i)
        }
    }
}

/// Copies x into a larger tensor, its first element at `low`.
pub(super) fn paste(x: &HostTensor, low: &[i64], out: &mut HostTensor) {
    let size = x.dtype.size();
    let Some((&last, outer)) = x.shape.split_last() else {
        out.bytes.clone_from(&x.bytes);
        return;
    };
    let row = last * size;
    let to = strides(&out.shape);
    let mut from = 0;
    super::index::for_each_index(outer, |index| {
        let at: usize =
            index.iter().zip(low).zip(&to).map(|((i, low), step)| (i + *low as usize) * step).sum();
        let at = (at + low[outer.len()] as usize) * size;
        out.bytes[at..at + row].copy_from_slice(&x.bytes[from..from + row]);
        from += row;
    });
}

pub(super) fn concat(x: &[&HostTensor], axis: usize, out: &mut HostTensor) {
    let (outer, _, _) = around(&out.shape, axis);
    out.bytes.clear();
    for block in 0..outer {
        for tensor in x {
            let chunk = tensor.bytes.len() / outer;
            out.bytes.extend_from_slice(&tensor.bytes[block * chunk..(block + 1) * chunk]);
        }
    }
}
