//! Attention: two products with a softmax between them, and what exporters put around it.
//!
//! Method: from the second product back to the first, through the weights (casts, a guard against rows without keys) and
//! the scores (scale, soft cap, masks in any order), each read by the next op only. Leading axes may be joined or split on
//! the way. The scale is gathered from wherever it stands: on the scores, on the queries, on the keys, a part on each.
//! What hides keys is in `attention/mask.rs`, heads that share keys in `attention/heads.rs`.

mod heads;
mod mask;

use crate::passes::canonicalise::{Applied, Site};
use mask::Mask;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, TensorOp};

/// Ops between the two products.
const MOST: usize = 12;

pub(super) fn attention(site: &mut Site) -> Applied {
    let Some([weights, v]) = product(site, site.op) else { return Ok(None) };
    let Some(found) = weights_of(site, weights) else { return Ok(None) };
    build(site, &found, v)
}

/// What stands before the second product.
struct Found {
    /// The operands of the first product: rows and columns; queries and keys, or with `transposed` keys and queries.
    rows: Value,
    columns: Value,
    transposed: bool,
    scale: f64,
    softcap: f64,
    masks: Vec<Mask>,
    /// Rows that are NaN because nothing is seen count as 0.
    guarded: bool,
    /// Scores of rank 4, the nearest to the first product.
    of_rank_4: Option<Shape>,
}

/// The operands of a product `[.., m, k]` by `[.., k, n]`.
fn product(site: &Site, op: OpId) -> Option<[Value; 2]> {
    let TensorOp::Dot { dims, .. } = site.b.func.kind(op) else { return None };
    let [lhs, rhs] = [0, 1].map(|i| site.b.func.operand(op, i));
    let rank = site.b.rank(lhs);
    let leading = rank.checked_sub(2).filter(|n| (1..=2).contains(n))?;
    let batch: Vec<usize> = (0..leading).collect();
    let expected = DotDims {
        lhs_batch: batch.clone(),
        rhs_batch: batch,
        lhs_contract: vec![leading + 1],
        rhs_contract: vec![leading],
    };
    (**dims == expected && site.b.rank(rhs) == rank).then_some([lhs, rhs])
}

/// The op behind a value that nobody else reads.
fn only(site: &Site, value: Value) -> Option<(OpId, TensorOp)> {
    let (op, kind) = site.def(value)?;
    (site.b.func.users(value).len() == 1).then(|| (op, kind.clone()))
}

/// Whether a reshape leaves the last two axes alone.
fn keeps_matrices(from: &Shape, to: &Shape) -> bool {
    let (a, b) = (from.rank(), to.rank());
    a >= 2 && b >= 2 && from[a - 2..] == to[b - 2..]
}

/// Whether a reshape leaves the last axis alone: rows stay, however they are counted.
fn keeps_rows(from: &Shape, to: &Shape) -> bool {
    from.rank() >= 2 && to.rank() >= 2 && from.last() == to.last()
}

fn weights_of(site: &Site, mut value: Value) -> Option<Found> {
    let mut guarded = false;
    for _ in 0..MOST {
        let (op, kind) = only_but_guarded(site, value)?;
        let x = *site.b.func.operands(op).first()?;
        match kind {
            TensorOp::Reshape { .. } if keeps_rows(site.shape(x), site.shape(value)) => value = x,
            TensorOp::Elementwise { f: ScalarOp::Cast { .. } } if site.b.dtype(x).is_float() => value = x,
            TensorOp::Elementwise { f: ScalarOp::Select } if !guarded => {
                value = guarded_weights(site, op)?;
                guarded = true;
            }
            TensorOp::Softmax { axis, log: false } if axis + 1 == site.b.rank(value) => {
                let start =
                    Scores { factor: 1.0, softcap: 0.0, masks: vec![], of_rank_4: None, transposed: false };
                return scores_of(site, x, start, MOST).map(|found| Found { guarded, ..found });
            }
            _ => return None,
        }
    }
    None
}

/// As [`only`]; a guard reads weights twice.
fn only_but_guarded(site: &Site, value: Value) -> Option<(OpId, TensorOp)> {
    let (op, kind) = site.def(value)?;
    let guards = |reader: &OpId| {
        let kind = site.b.func.kind(*reader);
        matches!(kind, TensorOp::Elementwise { f: ScalarOp::IsNan | ScalarOp::Select })
    };
    let users = site.b.func.users(value);
    if users.len() > 1 && matches!(kind, TensorOp::Softmax { .. }) && !users.iter().all(guards) {
        return site.miss("no attention: its weights are read elsewhere, too");
    }
    (users.len() == 1 || (users.len() == 2 && users.iter().all(guards))).then(|| (op, kind.clone()))
}

/// `w` of `is_nan(w) ? 0 : w`.
fn guarded_weights(site: &Site, select: OpId) -> Option<Value> {
    let &[condition, zero, weights] = site.b.func.operands(select) else { return None };
    let (test, TensorOp::Elementwise { f: ScalarOp::IsNan }) = only(site, condition)? else { return None };
    let is_guard = site.b.func.operand(test, 0) == weights && site.splat(zero) == Some(0);
    is_guard.then_some(weights)
}

/// What is known of the scores from their softmax on: they are `factor` times what comes next, plus masks.
#[derive(Clone)]
struct Scores {
    factor: f64,
    softcap: f64,
    masks: Vec<Mask>,
    of_rank_4: Option<Value>,
    /// From here on queries are columns; nothing is added any more.
    transposed: bool,
}

fn scores_of(site: &Site, value: Value, mut known: Scores, left: usize) -> Option<Found> {
    let left = left.checked_sub(1)?;
    let (op, kind) = only(site, value)?;
    if site.b.rank(value) == 4 {
        known.of_rank_4 = Some(value);
    }
    let operands = site.b.func.operands(op);
    match kind {
        TensorOp::Reshape { .. } => {
            let x = operands[0];
            (!known.transposed && keeps_rows(site.shape(x), site.shape(value))).then_some(())?;
            scores_of(site, x, known, left)
        }
        TensorOp::Dot { .. } => {
            let [rows, columns] = product(site, op)?;
            let Scores { factor: scale, softcap, masks, of_rank_4, transposed } = known;
            let of_rank_4 = of_rank_4.map(|value| site.shape(value).clone());
            Some(Found { rows, columns, transposed, scale, softcap, masks, guarded: false, of_rank_4 })
        }
        TensorOp::Transpose { perm } if !known.transposed && perm.len() >= 2 => {
            let swaps_last = perm.iter().rev().take(2).copied().eq([perm.len() - 2, perm.len() - 1]);
            let swaps = swaps_last && perm.iter().rev().skip(2).rev().copied().eq(0..perm.len() - 2);
            swaps.then_some(())?;
            scores_of(site, operands[0], Scores { transposed: true, ..known }, left)
        }
        TensorOp::Elementwise { f } => elementwise_scores(site, f, operands, known, left),
        _ => None,
    }
}

fn elementwise_scores(
    site: &Site,
    f: ScalarOp,
    operands: &[Value],
    known: Scores,
    left: usize,
) -> Option<Found> {
    let number = |value: Value| super::algebra::Algebra::new(site).number(value);
    match (f, operands) {
        (ScalarOp::Cast { to: DType::F32, .. }, [x]) if site.b.dtype(*x).is_float() => {
            scores_of(site, *x, known, left)
        }
        (ScalarOp::Mul | ScalarOp::Div, [a, b]) => {
            let (x, by) = match (number(*a), number(*b)) {
                (None, Some(by)) if f == ScalarOp::Div => (*a, 1.0 / by),
                (None, Some(by)) => (*a, by),
                (Some(by), None) if f == ScalarOp::Mul => (*b, by),
                _ => return None,
            };
            scores_of(site, x, Scores { factor: known.factor * by, ..known }, left)
        }
        (ScalarOp::Tanh, [x]) if known.softcap == 0.0 && known.factor > 0.0 => {
            scores_of(site, *x, Scores { softcap: known.factor, ..known }, left)
        }
        // What bends the scores comes before anything that is added.
        (ScalarOp::Add | ScalarOp::Sub, [a, b]) if known.softcap == 0.0 && !known.transposed => {
            let with = |x: Value, mask: Value, sign: f64| {
                let mut known = known.clone();
                known.masks.push(Mask::added(mask, sign * known.factor));
                scores_of(site, x, known, left)
            };
            let swapped = || (f == ScalarOp::Add).then(|| with(*b, *a, 1.0)).flatten();
            with(*a, *b, if f == ScalarOp::Add { 1.0 } else { -1.0 }).or_else(swapped)
        }
        (ScalarOp::Select, [condition, a, b])
            if known.softcap == 0.0 && known.factor > 0.0 && !known.transposed =>
        {
            let (x, hidden, where_true) = match (number(*a), number(*b)) {
                (None, Some(hidden)) => (*a, hidden, false),
                (Some(hidden), None) => (*b, hidden, true),
                _ => return None,
            };
            let Some(mask) = Mask::hidden(*condition, where_true, hidden * known.factor) else {
                return site.miss("no attention: the number that hides keys would show in rows hidden whole");
            };
            let mut known = known.clone();
            known.masks.push(mask);
            scores_of(site, x, known, left)
        }
        _ => None,
    }
}

fn build(site: &mut Site, found: &Found, v: Value) -> Applied {
    let dtype = site.result_type().dtype;
    if site.b.dtype(v) != dtype {
        return Ok(site.miss("no attention: values are of another type than the result"));
    }
    // Outermost first.
    if found.masks.iter().rev().skip(1).any(Mask::overrides) {
        return Ok(site.miss("no attention: a number stands in the place of scores that are masked before"));
    }
    if !found.masks.iter().all(|mask| mask.fits(site, dtype)) {
        return Ok(site.miss("no attention: a mask has numbers that the queries' type has not"));
    }
    let (rows, on_rows) = heads::unscaled(site, found.rows)?;
    let (columns, on_columns) = heads::transposed(site, found.columns)?;
    let narrowed = [heads::narrowed(site, rows, dtype)?, heads::narrowed(site, columns, dtype)?];
    let [Some(rows), Some(columns)] = narrowed else {
        return Ok(site.miss("no attention: queries or keys are of another type than the result"));
    };
    let [q, k] = if found.transposed { [columns, rows] } else { [rows, columns] };
    let [l, s] = [q, k].map(|value| site.shape(value)[site.b.rank(value) - 2].clone());
    // However the rows of weights were counted in between, they are the rows of the scores again.
    let of_result = &site.result_type().shape;
    if of_result[of_result.rank() - 2] != l {
        return Ok(None);
    }
    let leading =
        leading_axes(site, found.of_rank_4.as_ref().filter(|shape| shape[2..] == [l.clone(), s.clone()]), v);
    let scale = found.scale * on_rows * on_columns;
    let mut operands = Vec::with_capacity(4);
    for value in [q, k, v] {
        let shape = site.shape(value);
        let shape: Shape = leading.iter().chain(&shape[shape.rank() - 2..]).cloned().collect();
        operands.push(site.b.reshape(value, shape)?);
    }
    let full = [&leading[0], &leading[1], &l, &s].map(Dim::clone);
    let mut masks = vec![];
    let mut causal = false;
    let parts: Vec<Mask> = found.masks.iter().flat_map(|mask| mask.parts(site)).collect();
    let alone = parts.len() == 1;
    for mask in parts {
        if mask.is_causal(site, &full, alone) {
            causal = true;
            continue;
        }
        let Some(mask) = mask.build(site, dtype, &full)? else { return Ok(None) };
        masks.push(mask);
    }
    if let Some(mut sum) = masks.pop() {
        for mask in masks {
            sum = site.b.add(sum, mask)?;
        }
        let mut shape = site.shape(sum).clone();
        shape[3] = s;
        operands.push(site.b.broadcast(sum, shape)?);
    }
    // What a row without keys gives under a guard: 0, or NaN where a value is not finite.
    let nothing = if found.guarded { Some(nothing_seen(site, operands[2])?) } else { None };
    if let Some([k, v]) = heads::shared(site, operands[1], operands[2])? {
        (operands[1], operands[2]) = (k, v);
    }
    let mut result = site.b.attention(&operands, scale, causal, 0, found.softcap)?;
    if let Some(nothing) = nothing {
        let is_nan = site.b.is_nan(result)?;
        result = site.b.select(is_nan, nothing, result)?;
    }
    let shape = site.result_type().shape.clone();
    site.b.reshape(result, shape).map(Some)
}

/// Batch and heads: as the values have them, or the scores had them, or the values before they were joined.
fn leading_axes(site: &Site, scores: Option<&Shape>, v: Value) -> [Dim; 2] {
    let shape = site.shape(v);
    let joined_from = match site.def(v) {
        Some((op, TensorOp::Reshape { .. })) => Some(site.shape(site.b.func.operand(op, 0))),
        _ => None,
    };
    let joined_from = joined_from.filter(|from| keeps_matrices(from, shape));
    let apart = [Some(shape), scores, joined_from].into_iter().flatten().find(|shape| shape.rank() == 4);
    match apart {
        Some(apart) => [apart[0].clone(), apart[1].clone()],
        None => {
            let joined = shape[..shape.rank() - 2].iter().cloned().fold(Dim::from(1), |a, b| a * b);
            [Dim::from(1), joined]
        }
    }
}

/// The values times 0, summed over the keys.
fn nothing_seen(site: &mut Site, v: Value) -> Built {
    let zeros = site.b.with_number(ScalarOp::Mul, v, 0.0)?;
    site.b.reduce(ScalarOp::Add, zeros, &[2], true)
}
