//! How the axes of two shapes with equal counts correspond: what a reshape does to axes.

use std::ops::Range;
use tegula_base::{Dim, Shape};

/// Axes of one shape that become axes of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AxisGroup {
    pub from: Range<usize>,
    pub to: Range<usize>,
}

/// Runs of axes with equal counts, in order, as short as they can be; an axis of extent 1 stands alone, with nothing
/// on the other side. `equal` may know more sizes to be equal than their expressions say.
/// `None`: the counts do not split alike.
pub(crate) fn axis_groups(
    from: &Shape,
    to: &Shape,
    equal: &dyn Fn(&Dim, &Dim) -> bool,
) -> Option<Vec<AxisGroup>> {
    let (mut i, mut j) = (0, 0);
    let mut groups = Vec::with_capacity(from.rank().max(to.rank()));
    let one = |shape: &Shape, axis: usize| shape.get(axis).is_some_and(|dim| dim.is_const(1));
    while i < from.rank() || j < to.rank() {
        let (start_i, start_j) = (i, j);
        if one(from, i) && one(to, j) {
            (i, j) = (i + 1, j + 1);
        } else if one(from, i) {
            i += 1;
        } else if one(to, j) {
            j += 1;
        } else {
            (i, j) = joined(from, to, i, j, equal)?;
        }
        groups.push(AxisGroup { from: start_i..i, to: start_j..j });
    }
    Some(groups)
}

/// The ends of the shortest runs from `i` and `j` on that have equal counts.
fn joined(
    from: &Shape,
    to: &Shape,
    mut i: usize,
    mut j: usize,
    equal: &dyn Fn(&Dim, &Dim) -> bool,
) -> Option<(usize, usize)> {
    let (mut left, mut right) = (from.get(i)?.clone(), to.get(j)?.clone());
    (i, j) = (i + 1, j + 1);
    while left != right && !equal(&left, &right) {
        // Extend whichever side still divides the other.
        if i < from.rank() && right.div_exact(&left).is_some() {
            left = left * from[i].clone();
            i += 1;
        } else if j < to.rank() && left.div_exact(&right).is_some() {
            right = right * to[j].clone();
            j += 1;
        } else if let Some(whole) = from.get(i).map(|next| left.clone() * next.clone())
            && (whole == right || equal(&whole, &right))
        {
            // What is only known to be equal is no visible multiple.
            (left, i) = (whole, i + 1);
        } else if let Some(whole) = to.get(j).map(|next| right.clone() * next.clone())
            && (left == whole || equal(&left, &whole))
        {
            (right, j) = (whole, j + 1);
        } else {
            return None;
        }
    }
    Some((i, j))
}
