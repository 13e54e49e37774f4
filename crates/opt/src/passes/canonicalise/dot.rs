//! The normal form of contractions: `[batch..., m, k]` (m and k in either order) by `[batch..., k, n]` (n before k
//! only in constants), leading batch axes in the same order, one axis each of m, k and n.

use super::{Applied, Rule, Site};
use smallvec::SmallVec;
use std::ops::Mul;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, TensorOp};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "dot(x, broadcast(w)) => dot(x, w) where only batch axes repeat", apply: shared_right_side },
    Rule { name: "dot(x, transpose(constant)) => dot(x, constant)", apply: transposed_constant },
    Rule { name: "dot => reshape(dot in normal form)", apply: normal_form },
];

/// A right side that all batches share needs no batch axes: the left side's become rows.
fn shared_right_side(site: &mut Site) -> Applied {
    let (lhs, rhs) = (site.operand(0), site.operand(1));
    let Some((broadcast, TensorOp::Broadcast { .. })) = site.def(rhs) else { return Ok(None) };
    let TensorOp::Dot { dims, out, pair_sums } = site.kind().clone() else { return Ok(None) };
    let w = site.b.func.operand(broadcast, 0);
    let (w_shape, full) = (site.shape(w).clone(), site.shape(rhs).clone());
    let shared = dims.rhs_batch.iter().all(|axis| w_shape[*axis].is_const(1));
    let others = (0..full.rank()).filter(|axis| !dims.rhs_batch.contains(axis));
    // Result order stays: the batch axes lead the left side.
    let leading = dims.lhs_batch.iter().copied().eq(0..dims.lhs_batch.len());
    if !shared
        || !leading
        || dims.rhs_batch.is_empty()
        || others.clone().any(|axis| w_shape[axis] != full[axis])
    {
        return Ok(None);
    }
    let kept: Vec<usize> = others.collect();
    let place = |axis: &usize| kept.iter().position(|kept| kept == axis);
    let Some(rhs_contract) = dims.rhs_contract.iter().map(place).collect::<Option<Vec<usize>>>() else {
        return Ok(None);
    };
    let w = site.b.squeeze(w, &dims.rhs_batch)?;
    let dims =
        DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: dims.lhs_contract, rhs_contract };
    site.b.emit(TensorOp::Dot { dims: Box::new(dims), out, pair_sums }, &[lhs, w]).map(Some)
}

/// Packing reads a constant either way, so it need not be transposed.
fn transposed_constant(site: &mut Site) -> Applied {
    let Some((transpose, TensorOp::Transpose { perm })) = site.def(site.operand(1)) else { return Ok(None) };
    let TensorOp::Dot { dims, out, pair_sums } = site.kind() else { return Ok(None) };
    let (out, pair_sums) = (*out, *pair_sums);
    let w = site.b.func.operand(transpose, 0);
    if perm.as_slice() != [1, 0]
        || !dims.rhs_batch.is_empty()
        || dims.rhs_contract.len() != 1
        || !is_constant(site, w)
    {
        return Ok(None);
    }
    let mut dims = dims.clone();
    dims.rhs_contract[0] = 1 - dims.rhs_contract[0];
    let x = site.operand(0);
    site.b.emit(TensorOp::Dot { dims, out, pair_sums }, &[x, w]).map(Some)
}

type Axes = SmallVec<[usize; 6]>;

/// The axes of one side by role.
struct Side {
    batch: Axes,
    free: Axes,
    inner: Axes,
}

impl Side {
    fn new(rank: usize, batch: &[usize], inner: &[usize]) -> Side {
        let free = (0..rank).filter(|axis| !batch.contains(axis) && !inner.contains(axis)).collect();
        Side { batch: batch.into(), free, inner: inner.into() }
    }
}

/// Leading batch axes in order, one free and one inner axis.
fn is_normal(rank: usize, batch: &[usize], inner: &[usize]) -> bool {
    batch.iter().copied().eq(0..batch.len()) && inner.len() == 1 && rank == batch.len() + 2
}

fn normal_form(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out, pair_sums } = site.kind() else { return Ok(None) };
    let (out, pair_sums) = (*out, *pair_sums);
    let (lhs, rhs) = (site.operand(0), site.operand(1));
    let (lhs_rank, rhs_rank) = (site.b.rank(lhs), site.b.rank(rhs));
    let left_in_place = is_normal(lhs_rank, &dims.lhs_batch, &dims.lhs_contract);
    let right_in_place = is_normal(rhs_rank, &dims.rhs_batch, &dims.rhs_contract)
        && (dims.rhs_contract[0] + 2 == rhs_rank || is_constant(site, rhs));
    if left_in_place && right_in_place {
        return Ok(None);
    }
    let left = Side::new(lhs_rank, &dims.lhs_batch, &dims.lhs_contract);
    let right = Side::new(rhs_rank, &dims.rhs_batch, &dims.rhs_contract);
    let n_batch = left.batch.len();
    let (lhs, lhs_contract) = match left_in_place {
        true => (lhs, left.inner[0]),
        false => (arranged(site, lhs, &left.batch, &left.free, &left.inner)?, n_batch + 1),
    };
    let (rhs, rhs_contract) = match right_in_place {
        true => (rhs, right.inner[0]),
        false => (arranged(site, rhs, &right.batch, &right.inner, &right.free)?, n_batch),
    };
    let batch: Vec<usize> = (0..n_batch).collect();
    let dims = DotDims {
        lhs_batch: batch.clone(),
        rhs_batch: batch,
        lhs_contract: vec![lhs_contract],
        rhs_contract: vec![rhs_contract],
    };
    let shape = site.result_type().shape.clone();
    let product = site.b.emit(TensorOp::Dot { dims: Box::new(dims), out, pair_sums }, &[lhs, rhs])?;
    site.b.reshape(product, shape).map(Some)
}

fn is_constant(site: &Site, value: Value) -> bool {
    matches!(site.def(value), Some((_, TensorOp::Constant { .. })))
}

/// A value as `[batch..., rows, columns]`, the axes of each role joined.
fn arranged(site: &mut Site, x: Value, batch: &[usize], rows: &[usize], columns: &[usize]) -> Built {
    let shape = site.shape(x).clone();
    let order: Axes = batch.iter().chain(rows).chain(columns).copied().collect();
    let product = |axes: &[usize]| -> Dim {
        let dims = axes.iter().map(|axis| shape[*axis].clone());
        dims.reduce(Dim::mul).unwrap_or(Dim::from(1))
    };
    let target: Shape =
        batch.iter().map(|axis| shape[*axis].clone()).chain([product(rows), product(columns)]).collect();
    let moved = site.b.transpose(x, &order)?;
    site.b.reshape(moved, target)
}
