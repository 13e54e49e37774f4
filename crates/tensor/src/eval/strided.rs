//! A copy whose source has steps of its own along the result's axes: broadcasts, transposes, slices.
//!
//! Weights of many megabytes pass here while a model is compiled. Axes of one element are left out, and neighbours whose
//! elements follow each other in the source too become one. Where neighbours in the result are far apart in the source, but
//! neighbours along another axis are not, squares of both are moved: a line of memory comes once for all its elements.

use tegula_base::HostTensor;

/// An axis of the result, with the elements that its steps move in the source and in the result.
#[derive(Clone, Copy)]
struct Axis {
    extent: usize,
    from: isize,
    to: usize,
}

/// Elements on a side of a square: of four bytes they are a line.
const SQUARE: usize = 16;

/// Element `index` of the result is element `start + index . steps` of x; all must be inside x.
pub(super) fn strided_copy(x: &HostTensor, start: isize, steps: &[isize], shape: &[usize]) -> HostTensor {
    let mut out = HostTensor::zeros(x.dtype, shape);
    if out.bytes.is_empty() {
        return out;
    }
    let axes = axes(steps, shape);
    match x.dtype.size() {
        1 => copy::<1>(x, start, &axes, &mut out),
        2 => copy::<2>(x, start, &axes, &mut out),
        4 => copy::<4>(x, start, &axes, &mut out),
        _ => copy::<8>(x, start, &axes, &mut out),
    }
    out
}

/// The axes that are needed, outermost first.
fn axes(steps: &[isize], shape: &[usize]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::with_capacity(shape.len());
    let mut to = 1;
    for (&extent, &from) in shape.iter().zip(steps).rev().filter(|(extent, _)| **extent != 1) {
        match axes.last_mut() {
            Some(inner) if from == inner.from * inner.extent as isize => inner.extent *= extent,
            _ => axes.push(Axis { extent, from, to }),
        }
        to *= extent;
    }
    axes.reverse();
    axes
}

fn copy<const SIZE: usize>(x: &HostTensor, start: isize, axes: &[Axis], out: &mut HostTensor) {
    let (from, to) = (x.bytes.as_chunks::<SIZE>().0, out.bytes.as_chunks_mut::<SIZE>().0);
    let Some((row, outer)) = axes.split_last() else {
        to[0] = from[start as usize];
        return;
    };
    let near = outer.iter().position(|axis| axis.from == 1);
    match (row.from, near) {
        (0, _) => walk(outer, start, 0, &mut |begin, at| {
            to[at..at + row.extent].fill(from[begin as usize]);
        }),
        (1, _) => walk(outer, start, 0, &mut |begin, at| {
            let begin = begin as usize;
            to[at..at + row.extent].copy_from_slice(&from[begin..begin + row.extent]);
        }),
        (_, Some(near)) => {
            let mut outer = outer.to_vec();
            let column = outer.remove(near);
            walk(&outer, start, 0, &mut |begin, at| squares(from, begin, column, *row, &mut to[at..]));
        }
        (step, None) => walk(outer, start, 0, &mut |begin, at| {
            for (i, element) in to[at..at + row.extent].iter_mut().enumerate() {
                *element = from[(begin + i as isize * step) as usize];
            }
        }),
    }
}

/// Calls `f` with the place in the source and in the result of every index along `axes`.
fn walk(axes: &[Axis], begin: isize, at: usize, f: &mut impl FnMut(isize, usize)) {
    let Some((axis, inner)) = axes.split_first() else { return f(begin, at) };
    for i in 0..axis.extent {
        walk(inner, begin + i as isize * axis.from, at + i * axis.to, f);
    }
}

/// A plane: elements along `row` are neighbours in the result, those along `column` in the source.
fn squares<T: Copy>(from: &[T], begin: isize, column: Axis, row: Axis, to: &mut [T]) {
    for top in (0..column.extent).step_by(SQUARE) {
        for left in (0..row.extent).step_by(SQUARE) {
            let width = SQUARE.min(row.extent - left);
            for i in top..column.extent.min(top + SQUARE) {
                let place = begin + i as isize + left as isize * row.from;
                let at = i * column.to + left;
                for (j, element) in to[at..at + width].iter_mut().enumerate() {
                    *element = from[(place + j as isize * row.from) as usize];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::index::for_each_index;

    /// Against the definition, element by element.
    #[test]
    fn copies_as_defined() {
        let cases: [(&[usize], isize, &[isize], &[usize]); 9] = [
            // All of it, in order.
            (&[4, 6], 0, &[6, 1], &[4, 6]),
            // Transposes, with sides that squares do not divide.
            (&[35, 50], 0, &[1, 50], &[50, 35]),
            (&[3, 20, 18], 0, &[1, 18, 360], &[18, 20, 3]),
            (&[40, 1, 33], 0, &[1, 33, 33], &[33, 1, 40]),
            // Broadcasts.
            (&[5], 0, &[0, 1, 0, 0], &[2, 5, 3, 1]),
            (&[1], 0, &[], &[]),
            // Slices, also backwards.
            (&[9, 8], 10, &[16, 2], &[3, 3]),
            (&[9, 8], 71, &[-8, -1], &[9, 8]),
            (&[9, 8], 0, &[0, 8, 1], &[4, 9, 0]),
        ];
        for (from, start, steps, shape) in cases {
            let count: usize = from.iter().product();
            let elements: Vec<i32> = (0..count as i32).collect();
            let x = HostTensor::from_elements(from, &elements);
            let mut expected = Vec::new();
            for_each_index(shape, |index| {
                let place: isize = index.iter().zip(steps).map(|(i, step)| *i as isize * step).sum();
                expected.push(elements[(start + place) as usize]);
            });
            let out = strided_copy(&x, start, steps, shape);
            assert_eq!(out, HostTensor::from_elements(shape, &expected), "{from:?} {steps:?} {shape:?}");
        }
    }
}
