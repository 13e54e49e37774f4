//! Moves constant scales before and behind a contraction into its weights, and joins constant biases: batch
//! normalisations vanish.
//!
//! Before: canonical form.  After: no convolution, transposed or not, or dot of constant weights, read by one op, is
//! followed by a multiplication with one constant a channel, also not across additions of such constants; nor are its
//! inputs multiplied so (`fold_scales/inputs.rs`).
//! Rounds differently by a last place or two, as `docs/numerics.md` allows for constants known before the run; scales
//! of 16-bit floats, and those without room on both sides, stay: products with weights could overflow, or vanish.

mod inputs;

use crate::passes::canonicalise::{Applied, Rule, Site, apply_rules};
use tegula_base::{DType, Diagnostics, Dim, HostTensor, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{TensorOp, TensorProgram, evaluate_op};

pub fn fold_scales(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    apply_rules(program, table, cx)
}

fn table(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Elementwise { f: ScalarOp::Mul } => MUL,
        TensorOp::Elementwise { f: ScalarOp::Div } => DIV,
        TensorOp::Elementwise { f: ScalarOp::Add } => ADD,
        TensorOp::Elementwise { f: ScalarOp::Sub } => SUB,
        TensorOp::Conv { .. } | TensorOp::Dot { .. } => inputs::RULES,
        _ => &[],
    }
}

#[cfg(test)]
pub(crate) const TABLES: [&[Rule]; 5] = [MUL, DIV, ADD, SUB, inputs::RULES];

const MUL: &[Rule] = &[
    Rule { name: "conv(x, w) * c => conv(x, w * c)", apply: scale_weights },
    Rule { name: "(y + b) * c => y * c + b * c", apply: scale_bias },
];
const DIV: &[Rule] = &[Rule { name: "y / c => y * (1 / c) after a contraction", apply: divide }];
const ADD: &[Rule] = &[Rule { name: "(y + a) + b => y + (a + b) after a contraction", apply: join_biases }];
const SUB: &[Rule] = &[Rule { name: "y - b => y + -b after a contraction", apply: subtract }];

/// Operands as (computed, constant a channel), where the op is such a pair.
fn split(site: &Site, ordered: bool) -> Option<(Value, Value)> {
    let (a, b) = (site.operand(0), site.operand(1));
    let (y, c) = if is_channel_constant(site, b) && follows_contraction(site, a) {
        (a, b)
    } else if !ordered && is_channel_constant(site, a) && follows_contraction(site, b) {
        (b, a)
    } else {
        return None;
    };
    // A contraction with one channel may be repeated for many constants.
    (site.shape(y) == &site.result_type().shape && is_wide(site, c)).then_some((y, c))
}

/// Whether numbers of a value's type have room for products and sums that the model does not make.
fn is_wide(site: &Site, value: Value) -> bool {
    matches!(site.b.dtype(value), DType::F32 | DType::F64)
}

/// The channel axis of a convolution's result, and of a dot's of rank 2.
const CHANNEL: usize = 1;

/// A float known before the run with extents of 1 but for the channel axis.
fn is_channel_constant(site: &Site, value: Value) -> bool {
    let shape = site.shape(value);
    shape.rank() > CHANNEL
        && shape.iter().enumerate().all(|(axis, dim)| axis == CHANNEL || dim.is_const(1))
        && is_stored(site, value)
}

/// Whether a value is floats known before the run: a constant, or what rules made of some.
pub(crate) fn is_stored(site: &Site, value: Value) -> bool {
    site.b.dtype(value).is_float() && is_known(site, value, DEEPEST)
}

fn is_known(site: &Site, value: Value, deepest: usize) -> bool {
    match site.def(value) {
        Some((_, TensorOp::Constant { .. } | TensorOp::Splat { .. })) => true,
        Some((op, TensorOp::Reshape { .. } | TensorOp::Elementwise { .. } | TensorOp::Reduce { .. })) => {
            deepest > 0 && site.b.func.operands(op).iter().all(|value| is_known(site, *value, deepest - 1))
        }
        _ => false,
    }
}

/// Whether a value is a contraction of constant weights, or that plus constants a channel, each read once.
fn follows_contraction(site: &Site, mut value: Value) -> bool {
    const LONGEST: usize = 8;
    for _ in 0..LONGEST {
        if site.b.func.users(value).len() != 1 {
            return false;
        }
        match site.def(value) {
            Some((
                op,
                TensorOp::Elementwise { f: ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Div },
            )) => {
                let (a, b) = (site.b.func.operand(op, 0), site.b.func.operand(op, 1));
                value = match (is_channel_constant(site, a), is_channel_constant(site, b)) {
                    (false, true) => a,
                    (true, false) => b,
                    _ => return false,
                };
            }
            Some((op, TensorOp::Conv { .. } | TensorOp::ConvTranspose { .. })) => {
                return is_stored(site, site.b.func.operand(op, 1));
            }
            Some((op, TensorOp::Dot { dims, .. })) => {
                let w = site.b.func.operand(op, 1);
                return dims.rhs_batch.is_empty()
                    && site.shape(value).rank() == 2
                    && site.shape(w).rank() == 2
                    && is_stored(site, w);
            }
            _ => return false,
        }
    }
    false
}

fn scale_weights(site: &mut Site) -> Applied {
    let Some((y, c)) = split(site, false).filter(|(_, c)| may_scale(site, *c)) else { return Ok(None) };
    let Some((op, kind)) = site.def(y) else { return Ok(None) };
    let kind = kind.clone();
    if !matches!(kind, TensorOp::Conv { .. } | TensorOp::ConvTranspose { .. } | TensorOp::Dot { .. }) {
        return Ok(None);
    }
    let (x, w) = (site.b.func.operand(op, 0), site.b.func.operand(op, 1));
    if site.b.dtype(y) != site.b.dtype(w) {
        return Ok(None);
    }
    // One scale a result channel, along that axis of the weights; each group of a transposed convolution has its own.
    let (axis, groups) = match &kind {
        TensorOp::Dot { dims, .. } => (1 - dims.rhs_contract[0], 1),
        TensorOp::ConvTranspose { groups, .. } => (1, *groups),
        _ => (0, 1),
    };
    let w = scaled_along(site, w, c, axis, groups)?;
    site.b.emit(kind, &[x, w]).map(Some)
}

/// Weights times constants `[1, n, 1...]`: along `axis`, in as many groups along axis 0 of the weights.
fn scaled_along(site: &mut Site, w: Value, c: Value, axis: usize, groups: i64) -> Built {
    let (full, n) = (site.shape(w).clone(), site.shape(c)[CHANNEL].clone());
    let mut apart = full.to_vec();
    let mut along = vec![Dim::from(1); full.rank()];
    along[axis] = n.clone();
    if groups > 1 && !n.is_const(1) {
        let in_group =
            |dim: &Dim| dim.div_exact(&Dim::from(groups)).ok_or("channels do not divide by groups");
        apart[0] = in_group(&apart[0])?;
        apart.insert(0, Dim::from(groups));
        along[axis] = in_group(&n)?;
        along.insert(0, Dim::from(groups));
    }
    let w = site.b.reshape(w, apart)?;
    let c = site.b.reshape(c, along)?;
    let w = site.b.mul(w, c)?;
    site.b.reshape(w, full)
}

/// The two operands of a sum after a contraction: what is computed, and the constant.
fn bias_of(site: &Site, value: Value) -> Option<(Value, Value)> {
    let (op, TensorOp::Elementwise { f: ScalarOp::Add }) = site.def(value)? else { return None };
    let (a, b) = (site.b.func.operand(op, 0), site.b.func.operand(op, 1));
    match (is_channel_constant(site, a), is_channel_constant(site, b)) {
        (false, true) => Some((a, b)),
        (true, false) => Some((b, a)),
        _ => None,
    }
    .filter(|(y, _)| site.shape(*y) == site.shape(value))
}

fn scale_bias(site: &mut Site) -> Applied {
    let Some((sum, c)) = split(site, false).filter(|(_, c)| may_scale(site, *c)) else { return Ok(None) };
    let Some((y, bias)) = bias_of(site, sum) else { return Ok(None) };
    let scaled = site.b.mul(y, c)?;
    let bias = site.b.mul(bias, c)?;
    site.b.add(scaled, bias).map(Some)
}

fn join_biases(site: &mut Site) -> Applied {
    let Some((sum, second)) = split(site, false) else { return Ok(None) };
    let Some((y, first)) = bias_of(site, sum) else { return Ok(None) };
    let bias = site.b.add(first, second)?;
    site.b.add(y, bias).map(Some)
}

fn subtract(site: &mut Site) -> Applied {
    let Some((y, bias)) = split(site, true) else { return Ok(None) };
    let bias = site.b.neg(bias)?;
    site.b.add(y, bias).map(Some)
}

/// Only where every reciprocal is a normal number with room on both sides.
fn divide(site: &mut Site) -> Applied {
    let Some((y, c)) = split(site, true) else { return Ok(None) };
    if !is_moderate(site, c) {
        return Ok(None);
    }
    let scale = site.b.reciprocal(c)?;
    site.b.mul(y, scale).map(Some)
}

/// Whether a value is a constant of `f32` or `f64` whose elements are all between 2^-60 and 2^60 in magnitude.
pub(crate) fn is_moderate(site: &Site, value: Value) -> bool {
    let is_moderate = |number: &f64| MODERATE.contains(&number.abs());
    is_wide(site, value)
        && numbers(site, value, DEEPEST).is_some_and(|numbers| numbers.to_f64().iter().all(is_moderate))
}

/// Whether weights may be multiplied with a constant: as [`is_moderate`], or 0.
fn may_scale(site: &Site, value: Value) -> bool {
    is_wide(site, value)
        && numbers(site, value, DEEPEST).is_some_and(|numbers| numbers.to_f64().iter().all(is_fit))
}

/// Whether a value that is known before the run has elements of no other magnitudes than 0 and moderate ones, however many
/// they are.
pub(crate) fn scales_exact_sums(site: &Site, value: Value) -> bool {
    match site.def(value) {
        Some((_, TensorOp::Constant { id, .. })) => site.b.consts[*id].to_host().to_f64().iter().all(is_fit),
        Some((_, TensorOp::Splat { dtype, bits, .. })) => {
            let one = TensorOp::Splat { dtype: *dtype, shape: Shape::scalar(), bits: *bits };
            evaluate_op(&one, &[]).is_ok_and(|values| values.iter().all(|v| v.to_f64().iter().all(is_fit)))
        }
        _ => may_scale(site, value),
    }
}

/// 0, or a moderate magnitude.
fn is_fit(number: &f64) -> bool {
    *number == 0.0 || MODERATE.contains(&number.abs())
}

/// Magnitudes that leave room on both sides of what they are multiplied with.
const MODERATE: std::ops::RangeInclusive<f64> = 8.673_617_379_884_035e-19..=1.152_921_504_606_847e18;

/// Ops behind a constant that is not computed yet.
const DEEPEST: usize = 6;

/// A constant, or what rules made of some ([`is_stored`]).
fn numbers(site: &Site, value: Value, deepest: usize) -> Option<HostTensor> {
    const LARGEST: i64 = 1 << 16;
    let (op, kind) = site.def(value)?;
    let count = site.shape(value).count().as_const();
    match kind {
        _ if count.is_none_or(|count| count > LARGEST) => None,
        TensorOp::Constant { id, .. } => Some(site.b.consts[*id].to_host()),
        TensorOp::Splat { .. } => evaluate_op(kind, &[]).ok()?.pop(),
        TensorOp::Reshape { .. } | TensorOp::Elementwise { .. } | TensorOp::Reduce { .. } if deepest > 0 => {
            let operands = site.b.func.operands(op).iter();
            let operands: Option<Vec<HostTensor>> =
                operands.map(|value| numbers(site, *value, deepest - 1)).collect();
            evaluate_op(kind, &operands?.iter().collect::<Vec<_>>()).ok()?.pop()
        }
        _ => None,
    }
}
