//! Replaces composite ops by simpler ones that kernels are made of.
//!
//! Before: any verified program.  After: the only composites are those whose kernels the target claims; no argument
//! reduction, transposed convolution, padding from the tensor's own elements or maximum of a large window is left.
//! Most meanings come from `tensor::decompose`. What a machine does faster another way is here: quantised
//! contractions on the stored bytes (`quantised.rs`), transposed convolutions (`transposed.rs`), argument reductions
//! and paddings (`indexed.rs`), contractions of rare element types (`widened.rs`), products of 16-bit integers by
//! stored bytes (`digits.rs`), contractions of bytes of other signs than it multiplies (`signs.rs`), extremes of whole tensors
//! (`extremes.rs`), maxima of large windows (`separable.rs`), cubes (`cubes.rs`).

mod cubes;
mod digits;
mod extremes;
mod few_rows;
mod indexed;
pub(crate) mod quantised;
mod separable;
mod signs;
mod transposed;
mod widened;

use super::round_factors::{FEW_STEPS, Precision};
use tegula_backend::{Contractions, Place, Target, Targets};
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, Op, OpId, RegionId, ScalarOp, Value};
use tegula_tensor::decompose::{expand, is_composite};
use tegula_tensor::{Builder, PadMode, TensorFunc, TensorOp, TensorProgram};

/// Errors: internal, when a decomposition does not fit its op.
pub fn decompose_composites(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        // Decompositions hold composites in turn (attention a softmax); nesting is shallow.
        let wanted = |func: &TensorFunc, op| needs_decomposition(func, op, target);
        while decompose_once(func, &mut program.consts, target, &wanted, cx)?.is_yes() {
            changed = Changed::Yes;
        }
    }
    Ok(changed)
}

/// Where `precision` rounds factors of products, attention of heads of more than [`FEW_STEPS`] elements, where its kernel would compute both
/// products in `f32`: taken apart they are contractions whose factors are rounded.
/// Errors: internal, when a decomposition does not fit its op.
pub fn decompose_wide_attention(
    program: &mut TensorProgram,
    target: &dyn Target,
    precision: Precision,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let symbols = &program.symbols;
    let wanted = |func: &TensorFunc, op| {
        let TensorOp::Attention { .. } = func.kind(op) else { return false };
        let queries = &func.ty(func.operand(op, 0)).shape;
        let wide = queries[3].as_const().is_none_or(|steps| steps > FEW_STEPS);
        wide && target.fuses(func, op, Place::MovedRows, symbols).is_some()
    };
    let mut changed = Changed::No;
    for func in program.funcs.iter_mut().filter(|_| precision.rounds_both(target)) {
        changed |= decompose_once(func, &mut program.consts, target, &wanted, cx)?;
    }
    Ok(changed)
}

/// Recurrent layers alone, and early: rules on contractions then see those of their loops. A device gets those that it
/// claims whole. Where all contractions are the device's, quantised ones as well: their integer contractions are what it may
/// claim.
/// Errors: internal, when a decomposition does not fit its op.
pub fn decompose_recurrent(
    program: &mut TensorProgram,
    targets: Targets<'_>,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let target = targets.host;
    let is_devices =
        |func: &TensorFunc, op| targets.device.is_some_and(|device| device.claims(func, op).is_yes());
    let all_are_devices = targets.contractions == Contractions::Device;
    let wanted = |func: &TensorFunc, op| {
        let is_quantised = matches!(func.kind(op), TensorOp::QDot { .. } | TensorOp::QConv { .. });
        let is_early = is_recurrent(func, op) && needs_decomposition(func, op, target);
        (is_early || is_quantised && all_are_devices) && !is_devices(func, op)
    };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= decompose_once(func, &mut program.consts, target, &wanted, cx)?;
    }
    Ok(changed)
}

/// Decomposes the ops that are `wanted`.
fn decompose_once(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    target: &dyn Target,
    wanted: &dyn Fn(&TensorFunc, OpId) -> bool,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    rewrite_ops(func, &mut |func, region, op| {
        if !wanted(func, op) {
            return Ok(Rewrite::Keep);
        }
        let name = func.kind(op).name();
        let location = func.op(op).location.clone();
        cx.count("decomposed", 1);
        cx.remark(location.as_ref(), format!("decomposed {name}: the target takes its decomposition"));
        decompose(func, consts, region, op, target).map(Rewrite::Replace).map_err(|error| {
            let place = location.as_deref().unwrap_or("an op without a name").to_string();
            Diagnostic::internal(format!("`{name}` does not decompose: {error}")).at(place).into()
        })
    })
}

fn needs_decomposition(func: &TensorFunc, op: OpId, target: &dyn Target) -> bool {
    match func.kind(op) {
        TensorOp::Dot { .. } | TensorOp::Conv { .. } => {
            widened::wider(func, op, target).is_some()
                || digits::integers(func, op, target).is_some()
                || signs::applies(func, op, target)
        }
        TensorOp::Reduce { .. } => extremes::row_axis(func, op, target).is_some(),
        TensorOp::ArgReduce { .. } | TensorOp::ConvTranspose { .. } => !target.claims(func, op).is_yes(),
        TensorOp::Pad { mode, .. } => *mode != PadMode::Constant && !target.claims(func, op).is_yes(),
        TensorOp::Elementwise { f: ScalarOp::Pow } => cubes::applies(func, op),
        TensorOp::Pool { .. } => separable::applies(func, op),
        kind => is_composite(kind) && !target.claims(func, op).is_yes(),
    }
}

pub(super) fn is_constant(func: &TensorFunc, value: Value) -> bool {
    func.def_op(value).is_some_and(|op| matches!(func.kind(op), TensorOp::Constant { .. }))
}

fn is_recurrent(func: &TensorFunc, op: OpId) -> bool {
    matches!(func.kind(op), TensorOp::Lstm { .. } | TensorOp::Gru { .. })
}

/// Builds at the end of `region`; gives the values that stand for the op's results.
fn decompose(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    region: RegionId,
    op: OpId,
    target: &dyn Target,
) -> Result<Vec<Value>, String> {
    let kind = func.kind(op).clone();
    let operands = func.operands(op).to_vec();
    let location = func.op(op).location.clone();
    let wider = widened::wider(func, op, target);
    let integers = digits::integers(func, op, target);
    let has_other_signs = signs::applies(func, op, target);
    let rows = extremes::row_axis(func, op, target);
    let one = |value: Value| vec![value];
    let mut b = Builder::new(func, consts).at(region, location);
    match &kind {
        TensorOp::Dot { .. } | TensorOp::Conv { .. } => match (&kind, integers, wider) {
            (TensorOp::Dot { dims, .. }, Some(integers), _) => {
                digits::dot(&mut b, integers, [operands[0], operands[1]], dims, target).map(one)
            }
            (TensorOp::Dot { dims, .. }, ..) if has_other_signs => {
                signs::dot(&mut b, [operands[0], operands[1]], dims).map(one)
            }
            (TensorOp::Conv { window, .. }, ..) if has_other_signs => {
                signs::conv(&mut b, [operands[0], operands[1]], window).map(one)
            }
            (_, _, Some(to)) => widened::contract(&mut b, &kind, &operands, to).map(one),
            _ => Err("the contraction is as wide as it can be".into()),
        },
        TensorOp::Reduce { f, axes } => {
            let row = rows.ok_or("the reduction has no rows")?;
            extremes::reduce(&mut b, operands[0], *f, axes, row).map(one)
        }
        TensorOp::ArgReduce { max, axis, last } => {
            indexed::arg_reduce(&mut b, operands[0], *max, *axis, *last).map(one)
        }
        TensorOp::Elementwise { .. } => cubes::cube(&mut b, operands[0]).map(one),
        TensorOp::Pool { window, .. } => separable::pool(&mut b, operands[0], window).map(one),
        TensorOp::Pad { low, high, mode } => indexed::pad(&mut b, operands[0], low, high, *mode).map(one),
        TensorOp::ConvTranspose { window, groups, output } => {
            transposed::conv_transpose(&mut b, &operands, window, *groups, output).map(one)
        }
        TensorOp::QConv { window, groups } => match quantised::q_conv(&mut b, &operands, window, *groups)? {
            Some(value) => Ok(one(value)),
            None => expand(&mut b, &kind, &operands),
        },
        TensorOp::Dequantize { scheme } => {
            match quantised::dequantized_constant(&mut b, &operands, scheme)? {
                Some(value) => Ok(one(value)),
                None => expand(&mut b, &kind, &operands),
            }
        }
        TensorOp::QDot { dims } => match quantised::q_dot(&mut b, &operands, dims)? {
            Some(value) => Ok(one(value)),
            None => expand(&mut b, &kind, &operands),
        },
        kind => expand(&mut b, kind, &operands),
    }
}
