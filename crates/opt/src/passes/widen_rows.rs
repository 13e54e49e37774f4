//! Rows of bytes in 16 bits, for targets that multiply words.
//!
//! Before: contractions in normal form; those whose products are to be summed in pairs say so (`sum_pairs.rs`).  After: where
//! the target multiplies words, rows that are not one alone, of an even number of `u8`, meet an `i8` matrix of enough columns
//! that is constant as `i16`, widened by whoever computes them. A byte would be taken apart again for each panel of weights.

use super::sum_pairs::byte_product;
use tegula_base::{DType, Diagnostic, Diagnostics};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId};
use tegula_target::TargetModel;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorProgram};

/// Errors: internal, when what is built does not fit.
pub fn widen_rows(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let Some(fewest_columns) = target.words_pay_from() else { return Ok(Changed::No) };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some(dims) = of_bytes(func, &program.consts, op, fewest_columns) else {
                return Ok(Rewrite::Keep);
            };
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

/// `None`: the op is no product of bytes for which it pays.
fn of_bytes(func: &TensorFunc, consts: &ConstStore, op: OpId, fewest_columns: usize) -> Option<DotDims> {
    let product = byte_product(func, consts, op)?;
    // One row meets each weight once: there is nothing to share its widening with.
    let rows = func.ty(func.operand(op, 0)).shape.iter().rev().skip(1);
    let is_one = rows.into_iter().all(|dim| dim.is_const(1));
    let fits = !is_one && product.steps.is_multiple_of(2) && product.columns >= fewest_columns;
    fits.then_some(product.dims)
}
