//! Computes what depends on constants only, by the reference evaluator.
//!
//! Before: any verified program.  After: no pure op is left whose operands are constants, whose result's size is known
//! and within the budget: at most [`FACTOR`] times its operands' and [`GROWTH`] more, so that a small file does not
//! unfold. Equal elements stay splats; reshapes share their bytes. Dequantisations stay for `recover_composites`, and so does
//! what contractions compute of constants in few bits on the way to their products.

use crate::lower::contract::prologue;
use std::collections::HashSet;
use tegula_base::{Diagnostics, HostTensor, Symbols};
use tegula_ir::op::OpRules;
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstData, ConstStore, Def, Effects, OpId, RegionId, Value};
use tegula_target::TargetModel;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, evaluate_op};

/// Bytes that a result may have beyond its operands'.
const GROWTH: usize = 1 << 16;
/// Bytes that become floats.
const FACTOR: usize = 4;

pub fn fold_constants(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let kept = prologues(func, &program.symbols, target);
        changed |= rewrite_ops(func, &mut |func, region, op| {
            if kept.contains(&op) {
                return Ok(Rewrite::Keep);
            }
            let Some(values) = fold(func, &mut program.consts, region, op) else { return Ok(Rewrite::Keep) };
            cx.count("folded", 1);
            cx.remark(func.op(op).location.as_ref(), "computed at compile time");
            Ok(Rewrite::Replace(values))
        })?;
    }
    Ok(changed)
}

/// Ops that the target computes between bytes and products: from the bytes on, and what says where a byte's parts are.
fn prologues(func: &TensorFunc, symbols: &Symbols, target: &dyn TargetModel) -> HashSet<OpId> {
    let mut kept = HashSet::new();
    for found in func.walk().into_iter().filter_map(|op| prologue::of_dot(func, op, symbols, target)) {
        for op in found.ops {
            let of_bytes = |value: &Value| {
                let is_place = |op| matches!(func.kind(op), TensorOp::Iota { .. }) || kept.contains(&op);
                found.stored.contains(value) || func.def_op(*value).is_some_and(is_place)
            };
            if func.operands(op).iter().any(of_bytes) {
                kept.insert(op);
            }
        }
    }
    kept
}

fn fold(func: &mut TensorFunc, consts: &mut ConstStore, region: RegionId, op: OpId) -> Option<Vec<Value>> {
    let kind = func.kind(op);
    let candidate = kind.effects() == Effects::Pure
        && kind.region_count() == 0
        && !func.operands(op).is_empty()
        && !matches!(kind, TensorOp::Relayout { .. } | TensorOp::Dequantize { .. });
    if !candidate || !func.operands(op).iter().all(|value| is_constant(func, *value)) {
        return None;
    }
    if let TensorOp::Reshape { .. } = kind {
        return fold_reshape(func, consts, region, op);
    }
    let bytes = |value: &Value| -> Option<usize> {
        let ty = func.ty(*value);
        let count = ty.shape.as_static()?.into_iter().try_fold(1usize, usize::checked_mul)?;
        count.checked_mul(ty.dtype.size())
    };
    let read: usize =
        func.operands(op).iter().filter(|value| is_stored(func, **value)).map(bytes).sum::<Option<_>>()?;
    let written: usize = func.results(op).iter().map(bytes).sum::<Option<_>>()?;
    // Splats are operands too, and as large as their shapes while evaluating.
    let evaluated: usize = func.operands(op).iter().map(bytes).sum::<Option<_>>()?;
    if written > FACTOR * read + GROWTH || evaluated > 2 * FACTOR * (read + GROWTH) {
        return None;
    }
    let operands: Vec<HostTensor> =
        func.operands(op).iter().map(|value| tensor(func, consts, *value)).collect::<Option<_>>()?;
    // What the evaluator refuses (a size that no operand gives) stays for the run.
    let results = evaluate_op(kind, &operands.iter().collect::<Vec<_>>()).ok()?;
    let location = func.op(op).location.clone();
    let mut b = Builder::new(func, consts).at(region, location);
    results.into_iter().map(|result| b.literal(result).ok()).collect()
}

fn fold_reshape(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    region: RegionId,
    op: OpId,
) -> Option<Vec<Value>> {
    let ty = func.ty(func.result(op));
    let shape = ty.shape.as_static()?;
    let Def::Result(source, _) = func.def(func.operand(op, 0)) else { return None };
    let TensorOp::Constant { id, .. } = func.kind(source) else { return None };
    let data = ConstData::new(ty.dtype, shape, consts.get(*id)?.data.clone()).ok()?;
    let location = func.op(op).location.clone();
    Some(vec![Builder::new(func, consts).at(region, location).constant(data).ok()?])
}

fn is_constant(func: &TensorFunc, value: Value) -> bool {
    let Def::Result(op, _) = func.def(value) else { return false };
    matches!(func.kind(op), TensorOp::Constant { .. } | TensorOp::Splat { .. } | TensorOp::Iota { .. })
}

fn is_stored(func: &TensorFunc, value: Value) -> bool {
    matches!(func.def(value), Def::Result(op, _) if matches!(func.kind(op), TensorOp::Constant { .. }))
}

/// The elements of a constant, splat or iota.
fn tensor(func: &TensorFunc, consts: &ConstStore, value: Value) -> Option<HostTensor> {
    let Def::Result(op, _) = func.def(value) else { return None };
    match func.kind(op) {
        TensorOp::Constant { id, .. } => Some(consts.get(*id)?.to_host()),
        kind => evaluate_op(kind, &[]).ok()?.pop(),
    }
}
