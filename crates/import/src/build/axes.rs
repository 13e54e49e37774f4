//! Axes as files write them, negative from the end, to axes of a tensor.

use crate::report::{Fault, Outcome};
use tegula_base::{Dim, Shape};

/// A possibly negative axis as an index below `rank`. Errors: there is no such axis.
pub(crate) fn axis_in(axis: i64, rank: usize) -> Outcome<usize> {
    let wrapped = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    usize::try_from(wrapped)
        .ok()
        .filter(|axis| *axis < rank)
        .ok_or_else(|| Fault::invalid(format!("axis {axis} is outside a tensor of rank {rank}")))
}

/// Axes made non-negative. Errors: out of range, or twice the same.
pub(crate) fn axes_in(axes: &[i64], rank: usize) -> Outcome<Vec<usize>> {
    let axes = axes.iter().map(|axis| axis_in(*axis, rank)).collect::<Outcome<Vec<usize>>>()?;
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Fault::invalid(format!("axes {axes:?} name one axis twice")));
    }
    Ok(axes)
}

/// A shape of rank `rank` with `dim` at `axis` and 1 elsewhere.
pub(crate) fn along(rank: usize, axis: usize, dim: Dim) -> Shape {
    (0..rank).map(|i| if i == axis { dim.clone() } else { Dim::from(1) }).collect()
}
