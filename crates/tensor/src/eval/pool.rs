//! Pooling. A maximum is found by key, so that every element type, NaN and signed zeros are ordered alike.

use super::contract::Reach;
use super::number::{Accumulator, KeyOrder, order_keys, with_accumulator};
use crate::{PoolKind, Window};
use tegula_base::HostTensor;
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::identity;

pub(super) fn pool(
    x: &HostTensor,
    kind: PoolKind,
    window: &Window,
    out: &mut HostTensor,
) -> Result<(), String> {
    if kind == PoolKind::Max {
        return max_pool(x, window, out, None);
    }
    let reach = Reach::new(window, &x.shape[2..], &out.shape[2..])?;
    with_accumulator!(x.dtype, (widen, store) => {
        let mut sums = vec![Accumulator::ZERO; out.count()];
        sum_windows(&widen(x), &reach, kind, &mut sums);
        store(&sums, out);
    });
    Ok(())
}

fn sum_windows<A: Accumulator>(x: &[A], reach: &Reach, kind: PoolKind, out: &mut [A]) {
    let (places, extent) = (reach.output_count(), reach.input_count());
    for place in 0..places {
        let sources: Vec<usize> = (0..reach.kernel_count()).filter_map(|k| reach.source(place, k)).collect();
        let count = match kind {
            PoolKind::Max | PoolKind::Sum => None,
            PoolKind::Average => Some(reach.kernel_count()),
            PoolKind::AverageInside => Some(sources.len()),
        };
        for (channel, sums) in out.chunks_exact_mut(places).enumerate() {
            let sum = sources.iter().fold(A::ZERO, |sum, source| sum.plus(x[channel * extent + source]));
            sums[place] = count.map_or(sum, |count| sum.over(count));
        }
    }
}

/// Maxima, and where they are in x; a window that sees only padding gives the lowest value and index 0.
/// The index counts the spatial axes row-major, or the first axis fastest when the flag is set.
pub(super) fn max_pool(
    x: &HostTensor,
    window: &Window,
    values: &mut HostTensor,
    indices: Option<(&mut HostTensor, bool)>,
) -> Result<(), String> {
    let reach = Reach::new(window, &x.shape[2..], &values.shape[2..])?;
    let keys = order_keys(x, KeyOrder { nan: i64::MAX, signed_zeros: true });
    let (places, extent, size) = (reach.output_count(), reach.input_count(), x.dtype.size());
    let lowest = identity(ScalarOp::Max, x.dtype).unwrap_or(0).to_le_bytes();
    let column_major = indices.as_ref().is_some_and(|(_, column_major)| *column_major);
    let mut found = vec![0i64; values.count()];
    for place in 0..places {
        let sources: Vec<usize> = (0..reach.kernel_count()).filter_map(|k| reach.source(place, k)).collect();
        for channel in 0..values.count() / places {
            let at = channel * places + place;
            let base = channel * extent;
            let best =
                sources.iter().copied().reduce(|a, b| if keys[base + b] > keys[base + a] { b } else { a });
            let bytes = match best {
                Some(best) => &x.bytes[(base + best) * size..][..size],
                None => &lowest[..size],
            };
            values.bytes[at * size..][..size].copy_from_slice(bytes);
            found[at] = match best {
                Some(best) if column_major => (base + first_axis_fastest(best, &x.shape[2..])) as i64,
                Some(best) => (base + best) as i64,
                None => -1,
            };
        }
    }
    if let Some((indices, _)) = indices {
        *indices = HostTensor::from_elements(&indices.shape, &found);
    }
    Ok(())
}

fn first_axis_fastest(place: usize, shape: &[usize]) -> usize {
    let mut rest = place;
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    index.iter().zip(shape).rev().fold(0, |sum, (i, n)| sum * n + i)
}
