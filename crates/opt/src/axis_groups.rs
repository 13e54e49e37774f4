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

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups as text: `0..1=0..2 1..2=2..3`; `known` are sizes that are equal.
    fn split(from: &str, to: &str, known: &[(&str, &str)]) -> Option<String> {
        let dim = |text: &str| text.parse::<Dim>().unwrap();
        let shape = |text: &str| text.split(',').map(&dim).collect::<Vec<Dim>>().into();
        let known: Vec<(Dim, Dim)> = known.iter().map(|(a, b)| (dim(a), dim(b))).collect();
        let equal = |a: &Dim, b: &Dim| known.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a));
        let groups = axis_groups(&shape(from), &shape(to), &equal)?;
        Some(
            groups
                .iter()
                .map(|group| format!("{:?}={:?}", group.from, group.to))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    #[test]
    fn axes_are_cut_and_joined() {
        assert_eq!(split("n,6", "n,2,3", &[]).as_deref(), Some("0..1=0..1 1..2=1..3"));
        assert_eq!(split("n,2,3", "n,6", &[]).as_deref(), Some("0..1=0..1 1..3=1..2"));
        assert_eq!(split("1,4", "4", &[]).as_deref(), Some("0..1=0..0 1..2=0..1"));
        assert_eq!(split("n,6", "m,6", &[]), None);
    }

    #[test]
    fn asserted_sizes_are_one_size() {
        assert_eq!(split("n,6", "m,6", &[("n", "m")]).as_deref(), Some("0..1=0..1 1..2=1..2"));
        // A product that is asserted to be a size, on either side, is no multiple that expressions show.
        assert_eq!(split("a,b,4", "m,4", &[("a * b", "m")]).as_deref(), Some("0..2=0..1 2..3=1..2"));
        assert_eq!(split("m,4", "a,b,4", &[("a * b", "m")]).as_deref(), Some("0..1=0..2 1..2=2..3"));
        assert_eq!(split("a,b,4", "m,4", &[("a * c", "m")]), None);
    }
}
