//! Rules of the floating-point composites: softmax, norms, attention, recurrent layers.

use super::{Types, count_between, ensure, float, has_axis, has_type, one, take};
use crate::TensorType;
use smallvec::smallvec;
use tegula_base::{Dim, Shape};

pub(super) fn softmax(name: &str, axis: usize, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    float(name, x)?;
    has_axis(name, axis, x)?;
    one(x.dtype, x.shape.clone())
}

/// `(x, scale)`, and with `most` 3 an optional bias.
pub(super) fn norm(name: &str, axis: usize, most: usize, x: &[&TensorType]) -> Types {
    count_between(name, x, 2, most)?;
    float(name, x[0])?;
    has_axis(name, axis, x[0])?;
    let inner = Shape::from(&x[0].shape[axis..]);
    for (role, ty) in ["the scale", "the bias"].iter().zip(&x[1..]) {
        has_type(name, role, ty, x[0].dtype, &inner)?;
    }
    one(x[0].dtype, x[0].shape.clone())
}

pub(super) fn attention(name: &str, x: &[&TensorType]) -> Types {
    count_between(name, x, 3, 4)?;
    let (q, k, v) = (x[0], x[1], x[2]);
    float(name, q)?;
    for ty in x {
        ensure(ty.dtype == q.dtype && ty.rank() == 4, name, 1, || {
            format!("takes {}[B,H,L,D], got {ty}", q.dtype)
        })?;
    }
    let (b, h, l) = (&q.shape[0], &q.shape[1], &q.shape[2]);
    let s = &k.shape[2];
    ensure(k.shape[0] == *b && v.shape[0] == *b, name, 2, || format!("batches of {q}, {k} and {v} differ"))?;
    ensure(k.shape[3] == q.shape[3], name, 2, || format!("inner sizes of {q} and {k} differ"))?;
    ensure(k.shape[1] == v.shape[1] && *s == v.shape[2], name, 2, || {
        format!("heads or lengths of {k} and {v} differ")
    })?;
    ensure(h.div_exact(&k.shape[1]).is_some(), name, 3, || {
        format!("{} key heads do not divide {h} query heads", k.shape[1])
    })?;
    if let Some(mask) = x.get(3) {
        let fits = |dim: &Dim, full: &Dim| dim == full || dim.is_const(1);
        let all = fits(&mask.shape[0], b) && fits(&mask.shape[1], h) && fits(&mask.shape[2], l);
        ensure(all && mask.shape[3] == *s, name, 4, || {
            format!("mask {mask} does not fit [{b},{h},{l},{s}]")
        })?;
    }
    one(q.dtype, [b.clone(), h.clone(), l.clone(), v.shape[3].clone()])
}

/// Sequence, batch, input and hidden size, from `x: [S,B,I]` and `h0: [B,H]`.
struct Sizes {
    s: Dim,
    b: Dim,
    i: Dim,
    h: Dim,
}

fn sizes(name: &str, x: &TensorType, h0: &TensorType) -> Result<Sizes, String> {
    float(name, x)?;
    ensure(x.rank() == 3 && h0.rank() == 2, name, 1, || {
        format!("takes x [S,B,I] and h0 [B,H], got {x} and {h0}")
    })?;
    Ok(Sizes { s: x.shape[0].clone(), b: x.shape[1].clone(), i: x.shape[2].clone(), h: h0.shape[1].clone() })
}

/// Checks w, r, bias and h0 of a layer with `gates` gates.
fn weights(name: &str, gates: i64, sizes: &Sizes, x: &[&TensorType]) -> Result<(), String> {
    let Sizes { b, i, h, .. } = sizes;
    let rows = Dim::from(gates) * h.clone();
    let dtype = x[0].dtype;
    has_type(name, "w", x[1], dtype, &Shape::from([rows.clone(), i.clone()]))?;
    has_type(name, "r", x[2], dtype, &Shape::from([rows.clone(), h.clone()]))?;
    has_type(name, "the bias", x[3], dtype, &Shape::from([rows * Dim::from(2)]))?;
    has_type(name, "h0", x[4], dtype, &Shape::from([b.clone(), h.clone()]))
}

pub(super) fn lstm(name: &str, x: &[&TensorType]) -> Types {
    count_between(name, x, 6, 7)?;
    let dtype = x[0].dtype;
    let sizes = sizes(name, x[0], x[4])?;
    weights(name, 4, &sizes, x)?;
    let state = Shape::from([sizes.b.clone(), sizes.h.clone()]);
    has_type(name, "c0", x[5], dtype, &state)?;
    if let Some(peephole) = x.get(6) {
        has_type(name, "the peephole", peephole, dtype, &Shape::from([sizes.h.clone() * Dim::from(3)]))?;
    }
    let state = TensorType::new(dtype, state);
    Ok(smallvec![TensorType::new(dtype, [sizes.s, sizes.b, sizes.h]), state.clone(), state])
}

pub(super) fn gru(name: &str, x: &[&TensorType]) -> Types {
    let [_, _, _, _, h0] = take(name, x)?;
    let dtype = x[0].dtype;
    let sizes = sizes(name, x[0], h0)?;
    weights(name, 3, &sizes, x)?;
    let state = TensorType::new(dtype, [sizes.b.clone(), sizes.h.clone()]);
    Ok(smallvec![TensorType::new(dtype, [sizes.s, sizes.b, sizes.h]), state])
}
