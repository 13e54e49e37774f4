//! A complex transform of a length `n = p q` as two of lengths p and q with factors between (Cooley and Tukey 1965):
//! `n (p + q)` products instead of `n^2`.
//!
//! Element `q a + b` of the signal is element `(a, b)` of a matrix; transformed along a it is multiplied by the waves of
//! length n at `c b`, transformed along b it is element `c + p d` of the spectrum.

use super::{Transform, waves};
use crate::onnx::cx::Cx;
use crate::report::Outcome;
use tegula_base::{Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, TensorOp};

/// Real and imaginary parts.
pub(super) type Parts = (Value, Value);

/// A signal beyond this is not looked at for factors.
const LONGEST: i64 = 1 << 24;

/// The nearest two factors of a length, where two steps are less work than one.
pub(super) fn factors(n: i64) -> Option<(i64, i64)> {
    let p = (2..=n.clamp(0, LONGEST).isqrt()).rev().find(|p| n % p == 0)?;
    Some((p, n / p)).filter(|(p, q)| p + q < n)
}

/// Along `axis`, whose extent is `p * q`.
pub(super) fn in_two_steps(
    cx: &mut Cx,
    (real, imaginary): Parts,
    axis: usize,
    (p, q): (i64, i64),
    inverse: bool,
) -> Outcome<Parts> {
    let whole = cx.shape(real);
    let mut split = whole.to_vec();
    split.splice(axis..=axis, [Dim::from(p), Dim::from(q)]);
    let parts = (cx.reshape(real, split.clone())?, cx.reshape(imaginary, split)?);
    let parts = along(cx, parts, axis, p, inverse)?;
    let between = turns(cx, real, (p, q), p * q, inverse)?;
    let shape: Shape = (0..cx.rank(parts.0))
        .map(|i| {
            Dim::from(if i == axis {
                p
            } else if i == axis + 1 {
                q
            } else {
                1
            })
        })
        .collect();
    let between = (cx.reshape(between.0, shape.clone())?, cx.reshape(between.1, shape)?);
    let parts = complex_product(cx, parts, between, &|cx, a, b| cx.mul(a, b))?;
    let parts = along(cx, parts, axis + 1, q, inverse)?;
    let mut done = |part: Value| {
        let part = cx.move_axis(part, axis + 1, axis)?;
        let part = cx.reshape(part, whole.clone())?;
        if inverse { cx.with_number(ScalarOp::Div, part, (p * q) as f64) } else { Ok(part) }
    };
    Ok((done(parts.0)?, done(parts.1)?))
}

/// One step: a product with the waves of a length.
fn along(cx: &mut Cx, parts: Parts, axis: usize, n: i64, inverse: bool) -> Outcome<Parts> {
    let matrix = turns(cx, parts.0, (n, n), n, inverse)?;
    complex_product(cx, parts, matrix, &|cx, x, wave| {
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![axis], rhs_contract: vec![0] };
        let kind = TensorOp::dot(dims, cx.dtype(x));
        let y = cx.emit(kind, &[x, wave])?;
        let rank = cx.rank(y);
        cx.move_axis(y, rank - 1, axis)
    })
}

/// Cosines and sines `[rows, columns]` of the turns `row * column / length`, backward for the inverse.
fn turns(
    cx: &mut Cx,
    like: Value,
    (rows, columns): (i64, i64),
    length: i64,
    inverse: bool,
) -> Outcome<Parts> {
    let forward = Transform { length: Dim::from(length), inverse: false, onesided: false };
    let (cos, sin) = waves(cx, &Dim::from(rows), &Dim::from(columns), &forward, cx.dtype(like))?;
    Ok((cos, if inverse { cx.unary(ScalarOp::Neg, sin)? } else { sin }))
}

/// `(real + i imaginary) (cos - i sin)`.
fn complex_product(
    cx: &mut Cx,
    (real, imaginary): Parts,
    (cos, sin): Parts,
    product: &dyn Fn(&mut Cx, Value, Value) -> Outcome,
) -> Outcome<Parts> {
    let (real_cos, imaginary_sin) = (product(cx, real, cos)?, product(cx, imaginary, sin)?);
    let (imaginary_cos, real_sin) = (product(cx, imaginary, cos)?, product(cx, real, sin)?);
    Ok((cx.add(real_cos, imaginary_sin)?, cx.sub(imaginary_cos, real_sin)?))
}
