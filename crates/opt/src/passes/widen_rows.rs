//! Rows of bytes as `i16`, for targets that multiply `i16`.
//!
//! Before: contractions and convolutions in normal form; those whose products are to be summed in pairs say so
//! (`sum_pairs.rs`).
//! After: where the target multiplies `i16`, a left side of `u8` meets an `i8` constant as `i16`. Whoever computes that
//! side widens it. Its elements take part in enough products, and steps (a convolution's channels) are even in number.
//! A product of one row stays. A byte would be widened again for each panel of weights and each position of a window.

use super::decompose_composites::is_constant;
use super::sum_pairs::byte_product;
use tegula_backend::Target;
use tegula_base::{DType, Diagnostic, Diagnostics};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, Window};

/// Errors: internal, when what is built does not fit.
pub fn widen_rows(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let Some(fewest_products) = target.preferences().fewest_i16_products else { return Ok(Changed::No) };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            if !pays(func, &program.consts, op, fewest_products) {
                return Ok(Rewrite::Keep);
            }
            cx.count("widened", 1);
            cx.remark(func.op(op).location.as_ref(), "rows of bytes are multiplied in 16 bits");
            let [x, w] = [0, 1].map(|i| func.operand(op, i));
            let contraction = func.kind(op).clone();
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let made = b.cast(x, DType::I16).and_then(|x| b.emit(contraction, &[x, w]));
            made.map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// Whether the op is a contraction of bytes in which each element of the left side takes part in so many products.
fn pays(func: &TensorFunc, consts: &ConstStore, op: OpId, fewest_products: usize) -> bool {
    if let TensorOp::Conv { window, groups: 1, out: DType::I32 } = func.kind(op) {
        return pays_for_conv(func, op, window, fewest_products);
    }
    let Some(product) = byte_product(func, consts, op) else { return false };
    // One row meets each weight once: there is nothing to share its widening with.
    let is_one = func.ty(func.operand(op, 0)).shape.iter().rev().skip(1).all(|dim| dim.is_const(1));
    !is_one && product.steps.is_multiple_of(2) && product.columns >= fewest_products
}

fn pays_for_conv(func: &TensorFunc, op: OpId, window: &Window, fewest_products: usize) -> bool {
    let [x, w] = [0, 1].map(|i| func.operand(op, i));
    let (weights, result) = (&func.ty(w).shape, &func.ty(func.result(op)).shape);
    let [columns, channels] = [0, 1].map(|axis| weights[axis].as_const().unwrap_or(0));
    let is_one = result.iter().enumerate().all(|(axis, dim)| axis == 1 || dim.is_const(1));
    let positions: i64 = window.size.iter().product();
    // Of elements, as far as the window steps.
    let places = window.strides.iter().fold(1, |places: i64, stride| places.saturating_mul(*stride));
    (func.ty(x).dtype, func.ty(w).dtype) == (DType::U8, DType::I8)
        && is_constant(func, w)
        && !is_one
        && channels % 2 == 0
        && columns * positions / places >= fewest_products as i64
}
