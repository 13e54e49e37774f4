//! Constants that the input of a contraction is multiplied with, or that are added to it: as weights and a bias.

use super::{CHANNEL, is_channel_constant, is_stored, is_wide, may_scale, scaled_along};
use crate::passes::canonicalise::{Applied, Rule, Site};
use tegula_base::{Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "conv(x * c, w) => conv(x, w * c)", apply: scaled_input },
    Rule { name: "conv(x + b, w) => conv(x, w) + sum(w * b) without padding", apply: shifted_input },
];

/// The contraction's weights, where they are its own and known, with the axis of input channels and the groups.
fn weights(site: &Site) -> Option<(Value, usize, i64)> {
    let w = site.operand(1);
    let found = match site.kind() {
        TensorOp::Conv { groups, .. } => (w, 1, *groups),
        TensorOp::Dot { dims, .. } if site.b.rank(site.operand(0)) == 2 && site.b.rank(w) == 2 => {
            (dims.rhs_batch.is_empty() && dims.lhs_contract.as_slice() == [CHANNEL])
                .then(|| (w, dims.rhs_contract[0], 1))?
        }
        _ => return None,
    };
    let same = site.b.dtype(site.operand(0)) == site.b.dtype(w);
    // Weights that several contractions share would be stored again.
    let contractions =
        site.b.func.users(w).iter().filter(|reader| {
            matches!(site.b.func.kind(**reader), TensorOp::Conv { .. } | TensorOp::Dot { .. })
        });
    (same && is_stored(site, w) && contractions.count() == 1).then_some(found)
}

/// `x` and the constant of an input that only this contraction reads; a difference counts with its second operand.
fn input(site: &Site, f: ScalarOp) -> Option<(Value, Value)> {
    let input = site.operand(0);
    let (op, TensorOp::Elementwise { f: found }) = site.def(input)? else { return None };
    if *found != f || site.b.func.users(input).len() != 1 {
        return None;
    }
    let (a, b) = (site.b.func.operand(op, 0), site.b.func.operand(op, 1));
    let (x, c) = match (is_channel_constant(site, a), is_channel_constant(site, b)) {
        (false, true) => (a, b),
        (true, false) if f != ScalarOp::Sub => (b, a),
        _ => return None,
    };
    (site.shape(x) == site.shape(input) && is_wide(site, c)).then_some((x, c))
}

fn scaled_input(site: &mut Site) -> Applied {
    let (Some((w, axis, groups)), Some((x, c))) = (weights(site), input(site, ScalarOp::Mul)) else {
        return Ok(None);
    };
    if !may_scale(site, c) {
        return Ok(None);
    }
    let w = scaled_along(site, w, c, axis, groups)?;
    let kind = site.kind().clone();
    site.b.emit(kind, &[x, w]).map(Some)
}

/// Padding is 0 and not the constant, so there is none.
fn shifted_input(site: &mut Site) -> Applied {
    let whole = match site.kind() {
        TensorOp::Conv { window, .. } => window.low.iter().chain(&window.high).all(|pad| pad.is_const(0)),
        _ => true,
    };
    let (Some((w, axis, groups)), true) = (weights(site), whole) else { return Ok(None) };
    let (x, b) = match (input(site, ScalarOp::Add), input(site, ScalarOp::Sub)) {
        (Some(found), _) => found,
        (None, Some((x, c))) => (x, site.b.neg(c)?),
        _ => return Ok(None),
    };
    if site.b.rank(site.b.func.result(site.op)) != site.b.rank(x) {
        return Ok(None);
    }
    let kind = site.kind().clone();
    let product = site.b.emit(kind, &[x, w])?;
    let terms = scaled_along(site, w, b, axis, groups)?;
    let own = if axis == 1 && site.b.rank(w) > 2 { 0 } else { 1 - axis };
    let others: Vec<usize> = (0..site.b.rank(w)).filter(|axis| *axis != own).collect();
    let sums = site.b.reduce(ScalarOp::Add, terms, &others, true)?;
    let mut shape: Shape = site.b.shape(sums).iter().map(|_| Dim::from(1)).collect();
    shape[CHANNEL] = site.shape(w)[own].clone();
    let sums = site.b.reshape(sums, shape)?;
    site.b.add(product, sums).map(Some)
}
