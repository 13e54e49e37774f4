//! Rows of bytes in 16 bits, for targets that multiply words.
//!
//! Before: contractions in normal form; those whose products are to be summed in pairs say so (`sum_pairs.rs`).  After: where
//! the target multiplies words, rows that are not one alone, of an even number of `u8`, meet an `i8` matrix of enough columns
//! that is constant as `i16`, widened by whoever computes them. A byte would be taken apart again for each panel of weights.

use tegula_base::{DType, Diagnostic, Diagnostics};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId};
use tegula_target::TargetModel;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp, TensorProgram};

/// Columns from which on a kernel that widens rows costs half of what it saves: on a Zen 3 a byte takes 0.3 cycles, and a
/// product of it 0.009 less.
const FEWEST_COLUMNS: usize = 64;

/// Errors: internal, when what is built does not fit.
pub fn widen_rows(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    if !target.multiplies_words() {
        return Ok(Changed::No);
    }
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some(dims) = of_bytes(func, &program.consts, op) else { return Ok(Rewrite::Keep) };
            cx.count("widened", 1);
            cx.remark(func.op(op).location.as_ref(), "rows of bytes are multiplied in 16 bits");
            let [x, w] = [0, 1].map(|i| func.operand(op, i));
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let made = b.cast(x, DType::I16).and_then(|x| b.dot(x, w, dims, DType::I32));
            made.map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// A product of bytes by a constant, of an even number of steps.
fn of_bytes(func: &TensorFunc, consts: &ConstStore, op: OpId) -> Option<DotDims> {
    let TensorOp::Dot { dims, out: DType::I32, pair_sums: None } = func.kind(op) else { return None };
    let [x, w] = [0, 1].map(|i| func.operand(op, i));
    let TensorOp::Constant { id, .. } = func.kind(func.def_op(w)?) else { return None };
    let (x, w) = (func.ty(x), consts.get(*id)?);
    let (&[step_axis], &[weight_axis]) = (dims.lhs_contract.as_slice(), dims.rhs_contract.as_slice()) else {
        return None;
    };
    let is_plain = dims.lhs_batch.is_empty() && step_axis + 1 == x.rank() && w.shape.len() == 2;
    if (x.dtype, w.dtype) != (DType::U8, DType::I8) || !is_plain {
        return None;
    }
    let (steps, columns) = (w.shape[weight_axis], w.shape[1 - weight_axis]);
    // One row meets each weight once: there is nothing to share its widening with.
    let is_one = x.shape.iter().take(step_axis).all(|dim| dim.is_const(1));
    let fits = !is_one && steps > 0 && steps.is_multiple_of(2) && columns >= FEWEST_COLUMNS;
    fits.then(|| dims.as_ref().clone())
}
