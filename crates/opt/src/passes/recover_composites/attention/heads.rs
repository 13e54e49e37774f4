//! Queries, keys and values on their way to the products: scaled by numbers, transposed, and repeated for the query
//! heads that share them.

use crate::passes::canonicalise::{Applied, Site};
use crate::passes::recover_composites::algebra::Algebra;
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::build::Built;

/// A value without the number that it is multiplied by, also below movement; and the number.
pub(super) fn unscaled(site: &mut Site, value: Value) -> Built<(Value, f64)> {
    if let Some((x, by)) = scaled(site, value) {
        let (x, rest) = unscaled(site, x)?;
        return Ok((x, by * rest));
    }
    let Some((op, kind)) = site.def(value) else { return Ok((value, 1.0)) };
    if !matches!(kind, TensorOp::Transpose { .. } | TensorOp::Reshape { .. } | TensorOp::Broadcast { .. }) {
        return Ok((value, 1.0));
    }
    let (kind, source) = (kind.clone(), site.b.func.operand(op, 0));
    match unscaled(site, source)? {
        (_, 1.0) => Ok((value, 1.0)),
        (x, by) => Ok((site.b.emit(kind, &[x])?, by)),
    }
}

fn scaled(site: &Site, value: Value) -> Option<(Value, f64)> {
    let (op, TensorOp::Elementwise { f }) = site.def(value)? else { return None };
    let &[a, b] = site.b.func.operands(op) else { return None };
    let algebra = Algebra::new(site);
    let (x, by) = match (f, algebra.number(a), algebra.number(b)) {
        (ScalarOp::Mul, None, Some(by)) => (a, by),
        (ScalarOp::Mul, Some(by), None) => (b, by),
        (ScalarOp::Div, None, Some(by)) => (a, 1.0 / by),
        _ => return None,
    };
    // A number may be repeated along axes that the value has not.
    (site.shape(x) == site.shape(value)).then_some((x, by))
}

/// A value as it was before a cast to a wider type, also below movement: the scores are summed up widely anyway.
pub(super) fn narrowed(site: &mut Site, value: Value, narrow: DType) -> Applied {
    if site.b.dtype(value) == narrow {
        return Ok(Some(value));
    }
    let Some((op, kind)) = site.def(value) else { return Ok(None) };
    let Some(source) = site.b.func.operands(op).first().copied() else { return Ok(None) };
    let kind = kind.clone();
    match kind {
        TensorOp::Elementwise { f: ScalarOp::Cast { to: DType::F32, .. } } => {
            Ok((site.b.dtype(source) == narrow).then_some(source))
        }
        TensorOp::Transpose { .. } | TensorOp::Reshape { .. } | TensorOp::Broadcast { .. } => {
            match narrowed(site, source, narrow)? {
                Some(x) => site.b.emit(kind, &[x]).map(Some),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// [`unscaled`] with the last two axes exchanged, without a transpose where the value comes from one.
pub(super) fn transposed(site: &mut Site, value: Value) -> Built<(Value, f64)> {
    let rank = site.b.rank(value);
    if let Some((x, by)) = scaled(site, value) {
        let (x, rest) = transposed(site, x)?;
        return Ok((x, by * rest));
    }
    let mut shape = site.shape(value).clone();
    shape.swap(rank - 2, rank - 1);
    match site.def(value) {
        Some((op, TensorOp::Transpose { perm })) => {
            let mut perm = perm.clone();
            perm.swap(rank - 2, rank - 1);
            let source = site.b.func.operand(op, 0);
            let (source, by) = unscaled(site, source)?;
            Ok((site.b.transpose(source, &perm)?, by))
        }
        Some((op, TensorOp::Reshape { .. })) if moves(site, site.b.func.operand(op, 0), value) => {
            let source = site.b.func.operand(op, 0);
            let (source, by) = transposed(site, source)?;
            Ok((site.b.reshape(source, shape)?, by))
        }
        Some((op, TensorOp::Broadcast { .. })) if moves(site, site.b.func.operand(op, 0), value) => {
            let source = site.b.func.operand(op, 0);
            let (source, by) = transposed(site, source)?;
            Ok((site.b.broadcast(source, shape)?, by))
        }
        _ => {
            let (x, by) = unscaled(site, value)?;
            Ok((site.b.swap_axes(x, rank - 2, rank - 1)?, by))
        }
    }
}

/// Whether an op leaves the last two axes of its source alone, which is transposed itself.
fn moves(site: &Site, source: Value, value: Value) -> bool {
    matches!(site.def(source), Some((_, TensorOp::Transpose { .. })))
        && super::keeps_matrices(site.shape(source), site.shape(value))
}

/// Keys and values `[B,G,S,D]` that are repeated for the heads of a group.
pub(super) fn shared(site: &mut Site, k: Value, v: Value) -> Built<Option<[Value; 2]>> {
    let [Some(a), Some(b)] = [once(site, k)?, once(site, v)?] else { return Ok(None) };
    let equal = site.shape(a)[1] == site.shape(b)[1];
    Ok(equal.then_some([a, b]))
}

/// `x: [B,G,S,D]` of `[B,G,1,S,D]` repeated along the third axis and joined to `[B,H,S,D]`; or `[B,1,S,D]`, repeated.
fn once(site: &mut Site, value: Value) -> Applied {
    let Some((op, kind)) = site.def(value) else { return Ok(None) };
    let full = site.shape(value).clone();
    let source = match kind {
        TensorOp::Reshape { .. } => site.b.func.operand(op, 0),
        TensorOp::Broadcast { .. } => value,
        _ => return Ok(None),
    };
    let Some((broadcast, TensorOp::Broadcast { .. })) = site.def(source) else { return Ok(None) };
    let x = site.b.func.operand(broadcast, 0);
    let (from, to) = (site.shape(x).clone(), site.shape(source).clone());
    let repeated: Vec<usize> = (0..to.rank()).filter(|axis| from[*axis] != to[*axis]).collect();
    if repeated.iter().any(|axis| !from[*axis].is_const(1)) {
        return Ok(None);
    }
    let grouped = to.rank() == 5
        && repeated == [2]
        && to[0] == full[0]
        && to[1].clone() * to[2].clone() == full[1]
        && to[3..] == full[2..];
    let single = to.rank() == 4 && repeated == [1] && to == full;
    if !grouped && !single {
        return Ok(None);
    }
    let shape: Shape = [&full[0], &from[1], &full[2], &full[3]].map(Clone::clone).into();
    site.b.reshape(x, shape).map(Some)
}
