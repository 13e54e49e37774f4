//! Rules of ops that move elements: broadcast, reshape, transpose, slice, pad, concat.

use super::{Types, ensure, has_axis, may_equal, one, take};
use crate::types::MAX_BYTES;
use crate::{PadMode, TensorType};
use smallvec::SmallVec;
use tegula_base::{Dim, Shape};

pub(super) fn broadcast(name: &str, shape: &Shape, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    ensure(x.rank() == shape.rank(), name, 1, || format!("{x} to {shape}: ranks differ"))?;
    for (from, to) in x.shape.iter().zip(shape.iter()) {
        let may_be_one = from.as_const().is_none() || from.is_const(1);
        ensure(from == to || may_be_one, name, 2, || format!("{x} to {shape}: {from} is not 1"))?;
    }
    one(x.dtype, shape.clone())
}

pub(super) fn reshape(name: &str, shape: &Shape, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    let fits = x.shape.has_factors_of(shape) || may_equal(&x.shape.count(), &shape.count());
    ensure(fits, name, 1, || format!("{x} has {} elements, {shape} has {}", x.shape.count(), shape.count()))?;
    one(x.dtype, shape.clone())
}

pub(super) fn transpose(name: &str, perm: &[usize], x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    let mut sorted: SmallVec<[usize; 8]> = perm.into();
    sorted.sort();
    ensure(sorted.iter().copied().eq(0..x.rank()), name, 1, || {
        format!("{perm:?} is no permutation of the axes of {x}")
    })?;
    one(x.dtype, perm.iter().map(|axis| x.shape[*axis].clone()).collect::<Shape>())
}

/// Of a result with a layout: inside of kernels, where elements move, there is none.
pub(super) fn transpose_in_place(perm: &[usize], from: &TensorType, to: &TensorType) -> Result<(), String> {
    ensure(to.layout.is_none() || to.shows(from, perm), "transpose", 2, || {
        format!("no buffer is both {from} and, transposed by {perm:?}, {to}")
    })
}

pub(super) fn slice(name: &str, starts: &[Dim], sizes: &[Dim], steps: &[i64], x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    let rank = x.rank();
    ensure([starts.len(), sizes.len(), steps.len()] == [rank; 3], name, 1, || {
        format!("{} starts, {} sizes and {} steps for {x}", starts.len(), sizes.len(), steps.len())
    })?;
    for axis in 0..rank {
        ensure(steps[axis] != 0, name, 2, || format!("the step along axis {axis} is 0"))?;
        let start = u128::from(starts[axis].as_const().unwrap_or(0).unsigned_abs());
        ensure(start.saturating_mul(bytes_beside(x, axis)) <= MAX_BYTES, name, 4, || {
            format!(
                "a start of {} along axis {axis} of {x} is beyond what a process can address",
                starts[axis]
            )
        })?;
        if let (Some(start), Some(size), Some(extent)) =
            (starts[axis].as_const(), sizes[axis].as_const(), x.shape[axis].as_const())
        {
            let last = i128::from(start) + (i128::from(size) - 1) * i128::from(steps[axis]);
            let inside = |i: i128| (0..i128::from(extent)).contains(&i);
            ensure(size <= 0 || (inside(i128::from(start)) && inside(last)), name, 3, || {
                format!("elements {start} to {last} along axis {axis} are not all inside {x}")
            })?;
        }
    }
    one(x.dtype, Shape::from(sizes))
}

/// Bytes of one step along an axis at least, whatever the layout: of the constant extents of all other axes.
fn bytes_beside(ty: &TensorType, axis: usize) -> u128 {
    let others = ty.shape.iter().enumerate().filter(|(i, _)| *i != axis);
    let constant = others.filter_map(|(_, dim)| dim.as_const()).map(|n| n.max(0) as u128);
    constant.fold(ty.dtype.size() as u128, u128::saturating_mul)
}

pub(super) fn pad(name: &str, low: &[Dim], high: &[Dim], mode: PadMode, x: &[&TensorType]) -> Types {
    let x = if mode == PadMode::Constant {
        let [x, fill] = take(name, x)?;
        super::has_type(name, "the fill", fill, x.dtype, &Shape::scalar())?;
        x
    } else {
        let [x] = take(name, x)?;
        x
    };
    ensure([low.len(), high.len()] == [x.rank(); 2], name, 1, || {
        format!("{} low and {} high amounts for {x}", low.len(), high.len())
    })?;
    for amount in low.iter().chain(high) {
        ensure(amount.as_const().is_none_or(|n| n >= 0), name, 2, || {
            format!("the amount {amount} is negative")
        })?;
    }
    for axis in 0..x.rank() {
        let grows = !low[axis].is_const(0) || !high[axis].is_const(0);
        ensure(mode == PadMode::Constant || !grows || !x.shape[axis].is_const(0), name, 3, || {
            format!("axis {axis} of {x} is empty, there is nothing to repeat")
        })?;
    }
    let extent = |axis: usize| low[axis].clone() + x.shape[axis].clone() + high[axis].clone();
    one(x.dtype, (0..x.rank()).map(extent).collect::<Shape>())
}

pub(super) fn concat(name: &str, axis: usize, x: &[&TensorType]) -> Types {
    let Some((first, rest)) = x.split_first() else {
        return Err(format!("{name}_c0: takes 1 or more operands, got 0"));
    };
    has_axis(name, axis, first)?;
    let mut shape = first.shape.clone();
    for ty in rest {
        ensure(ty.dtype == first.dtype && ty.rank() == shape.rank(), name, 0, || {
            format!("{first} and {ty}: element types or ranks differ")
        })?;
        for i in (0..shape.rank()).filter(|i| *i != axis) {
            ensure(shape[i] == ty.shape[i], name, 1, || {
                format!("{first} and {ty} along axis {axis}: sizes {} and {} differ", shape[i], ty.shape[i])
            })?;
        }
        shape[axis] = shape[axis].clone() + ty.shape[axis].clone();
    }
    one(first.dtype, shape)
}
