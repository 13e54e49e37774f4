//! Rules of contractions, convolutions and pooling.

use super::{Types, ensure, one, take};
use crate::{DotDims, TensorType, Window, winograd};
use smallvec::SmallVec;
use tegula_base::{DType, Dim, Shape};

pub(super) fn dot(
    name: &str,
    dims: &DotDims,
    out: DType,
    pair_sums: Option<DType>,
    x: &[&TensorType],
) -> Types {
    let [lhs, rhs] = take(name, x)?;
    let stored = matches!(rhs.dtype, DType::I8 | DType::F16 | DType::BF16);
    let narrow_weights = lhs.dtype == DType::F32 && stored && out == DType::F32;
    if !narrow_weights && !is_of_words(lhs, rhs, out) {
        accumulates(name, lhs, rhs, out)?;
    }
    let shape = dot_shape(name, dims, lhs, rhs)?;
    if let Some(sum) = pair_sums {
        let of_bytes = (sum, lhs.dtype, rhs.dtype) == (DType::I16, DType::U8, DType::I8);
        let in_pairs =
            matches!(dims.lhs_contract[..], [axis] if lhs.shape[axis].as_const().is_some_and(|k| k % 2 == 0));
        ensure(of_bytes && in_pairs, name, 4, || format!("no pairs of {lhs} by {rhs} are summed in {sum}"))?;
    }
    one(out, shape)
}

/// `[batch..., lhs free..., rhs free...]`, checking c1 and c2.
pub(super) fn dot_shape(
    name: &str,
    dims: &DotDims,
    lhs: &TensorType,
    rhs: &TensorType,
) -> Result<Shape, String> {
    one_role_each(name, &dims.lhs_batch, &dims.lhs_contract, lhs)?;
    one_role_each(name, &dims.rhs_batch, &dims.rhs_contract, rhs)?;
    for (what, left, right) in
        [("batch", &dims.lhs_batch, &dims.rhs_batch), ("inner", &dims.lhs_contract, &dims.rhs_contract)]
    {
        ensure(left.len() == right.len(), name, 1, || {
            format!("{} {what} axes of {lhs} for {} of {rhs}", left.len(), right.len())
        })?;
        for (l, r) in left.iter().zip(right) {
            let (l, r) = (&lhs.shape[*l], &rhs.shape[*r]);
            ensure(l == r, name, 2, || format!("{what} sizes {l} and {r} differ, of {lhs} and {rhs}"))?;
        }
    }
    let mut shape: SmallVec<[&Dim; 6]> = dims.lhs_batch.iter().map(|axis| &lhs.shape[*axis]).collect();
    for (ty, batch, inner) in
        [(lhs, &dims.lhs_batch, &dims.lhs_contract), (rhs, &dims.rhs_batch, &dims.rhs_contract)]
    {
        for (axis, dim) in ty.shape.iter().enumerate() {
            if !batch.contains(&axis) && !inner.contains(&axis) {
                shape.push(dim);
            }
        }
    }
    Ok(shape.iter().copied().cloned().collect())
}

/// Errors: an axis that is not there, or is named twice.
fn one_role_each(name: &str, batch: &[usize], inner: &[usize], ty: &TensorType) -> Result<(), String> {
    for (i, axis) in batch.iter().chain(inner).enumerate() {
        ensure(*axis < ty.rank(), name, 1, || format!("{ty} has no axis {axis}"))?;
        let again = batch.iter().chain(inner).take(i).any(|before| before == axis);
        ensure(!again, name, 1, || format!("axis {axis} of {ty} has two roles"))?;
    }
    Ok(())
}

fn is_of_words(lhs: &TensorType, rhs: &TensorType, out: DType) -> bool {
    (lhs.dtype, rhs.dtype, out) == (DType::I16, DType::I8, DType::I32)
}

fn accumulates(name: &str, lhs: &TensorType, rhs: &TensorType, out: DType) -> Result<(), String> {
    let byte = |ty: &TensorType| matches!(ty.dtype, DType::I8 | DType::U8);
    let half = |ty: &TensorType| matches!(ty.dtype, DType::F16 | DType::BF16);
    let eighth = |ty: &TensorType| matches!(ty.dtype, DType::F8E4M3FN | DType::F8E5M2);
    let same = lhs.dtype == rhs.dtype && lhs.dtype != DType::Bool;
    let fits = (same && out == lhs.dtype)
        || (byte(lhs) && byte(rhs) && out == DType::I32)
        || (same && half(lhs) && out == DType::F32)
        || (eighth(lhs) && eighth(rhs) && matches!(out, DType::F32 | DType::F16 | DType::BF16));
    ensure(fits, name, 3, || format!("{lhs} by {rhs} does not give {out}"))
}

pub(super) fn conv(name: &str, window: &Window, groups: i64, out: DType, x: &[&TensorType]) -> Types {
    let [x, w] = take(name, x)?;
    if !is_of_words(x, w, out) {
        accumulates(name, x, w, out)?;
    }
    one(out, conv_shape(name, window, groups, x, w)?)
}

/// `[N, O, s'...]`, checking c1 and c2.
pub(super) fn conv_shape(
    name: &str,
    window: &Window,
    groups: i64,
    x: &TensorType,
    w: &TensorType,
) -> Result<Shape, String> {
    kernel_fits(name, window, x, w)?;
    divides(name, groups, &x.shape[1], x)?;
    divides(name, groups, &w.shape[0], w)?;
    let channels = w.shape[1].clone() * Dim::from(groups);
    ensure(x.shape[1] == channels, name, 2, || {
        format!("{x} has {} channels, weights {w} in {groups} groups take {channels}", x.shape[1])
    })?;
    let spatial = (2..x.rank()).map(|axis| window.output(axis - 2, &x.shape[axis]));
    Ok([x.shape[0].clone(), w.shape[0].clone()].into_iter().chain(spatial).collect())
}

pub(super) fn winograd_conv(name: &str, window: &Window, x: &[&TensorType]) -> Types {
    let [x, u] = take(name, x)?;
    window_fits(name, window, x)?;
    ensure(winograd::suits(window, 1), name, 1, || {
        format!(
            "a window of {:?}, strides {:?}, dilations {:?}",
            window.size, window.strides, window.dilations
        )
    })?;
    let reach = Dim::from(winograd::REACH);
    let fits = u.rank() == 4 && u.shape[1] == x.shape[1] && u.shape[2..] == [reach.clone(), reach];
    ensure(fits, name, 2, || format!("transformed filters {u} for {x}"))?;
    ensure([x, u].iter().all(|ty| ty.dtype == DType::F32), name, 3, || format!("{x} by {u}"))?;
    let spatial = (2..x.rank()).map(|axis| window.output(axis - 2, &x.shape[axis]));
    one(DType::F32, [x.shape[0].clone(), u.shape[0].clone()].into_iter().chain(spatial).collect::<Shape>())
}

pub(super) fn conv_transpose(
    name: &str,
    window: &Window,
    groups: i64,
    output: &[Dim],
    x: &[&TensorType],
) -> Types {
    let [x, w] = take(name, x)?;
    accumulates(name, x, w, x.dtype)?;
    kernel_fits(name, window, x, w)?;
    divides(name, groups, &x.shape[1], x)?;
    ensure(x.shape[1] == w.shape[0], name, 2, || {
        format!("{x} has {} channels, weights {w} take {}", x.shape[1], w.shape[0])
    })?;
    ensure(output.len() == window.size.len(), name, 4, || {
        format!("{} output sizes for {} spatial axes", output.len(), window.size.len())
    })?;
    let shape = [x.shape[0].clone(), w.shape[1].clone() * Dim::from(groups)];
    one(x.dtype, shape.into_iter().chain(output.iter().cloned()).collect::<Shape>())
}

pub(super) fn pool(name: &str, window: &Window, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    ensure(x.dtype != DType::Bool, name, 0, || format!("takes numbers, got {x}"))?;
    window_fits(name, window, x)?;
    let spatial = (2..x.rank()).map(|axis| window.output(axis - 2, &x.shape[axis]));
    one(x.dtype, x.shape[..2].iter().cloned().chain(spatial).collect::<Shape>())
}

fn kernel_fits(name: &str, window: &Window, x: &TensorType, w: &TensorType) -> Result<(), String> {
    window_fits(name, window, x)?;
    ensure(x.rank() == w.rank(), name, 1, || format!("{x} by weights {w}: ranks differ"))?;
    let size: Shape = window.size.iter().copied().collect();
    ensure(w.shape[2..] == size[..], name, 1, || format!("a window of {size} for weights {w}"))
}

fn window_fits(name: &str, window: &Window, x: &TensorType) -> Result<(), String> {
    let n = window.size.len();
    ensure(x.rank() >= 3, name, 1, || format!("{x} has no spatial axes after batch and channels"))?;
    let lists = [n, window.strides.len(), window.dilations.len(), window.low.len(), window.high.len()];
    ensure(lists == [x.rank() - 2; 5], name, 1, || {
        format!("the window has lists of {lists:?}, {x} has {} spatial axes", x.rank() - 2)
    })?;
    let positive = window.size.iter().chain(&window.strides).chain(&window.dilations).all(|n| *n >= 1);
    ensure(positive, name, 1, || "window sizes, strides and dilations must be at least 1".into())?;
    let bounded = window.size.iter().chain(&window.strides).chain(&window.dilations).all(|n| *n <= 1 << 31);
    ensure(bounded, name, 1, || "window sizes, strides and dilations must be below 2^31".into())
}

fn divides(name: &str, groups: i64, channels: &Dim, ty: &TensorType) -> Result<(), String> {
    ensure(groups >= 1, name, 2, || format!("{groups} groups"))?;
    ensure(channels.as_const().is_none_or(|n| n % groups == 0), name, 2, || {
        format!("{channels} channels of {ty} do not divide into {groups} groups")
    })
}
