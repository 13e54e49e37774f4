//! Arithmetic in place of casts from and to the floats that are only stored.
//!
//! Before: composites are decomposed.  After: an op whose operands or results have such a type moves elements, chooses
//! between them, or is a bit cast to or from `u8`. Kernels then hold the type as bytes (`lower/body.rs`), so that no
//! target knows it.
//! Method: values of these types are numbers of `f32`. Reading shifts exponent and mantissa to their places and scales
//! by the difference of the biases; rounding is an addition to the bits (`decode.rs`, `encode.rs`). What comes from
//! more than 24 bits is first rounded to odd, which keeps the second rounding right (Boldo and Melquiond, "Emulation
//! of FMA and correctly rounded sums", IEEE TC 2008).

mod decode;
mod encode;

use tegula_base::{DType, Diagnostic, Diagnostics, Dim, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

/// Errors: internal, when an expansion does not fit its op.
pub fn legalise_types(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some((f, stored)) = on_stored(func, op) else { return Ok(Rewrite::Keep) };
            let operands = func.operands(op).to_vec();
            let location = func.op(op).location.clone();
            cx.count("legalised", 1);
            let mut b = Builder::new(func, &mut program.consts).at(region, location);
            let built = expand(&mut b, f, &operands);
            built.map(|value| Rewrite::Replace(vec![value])).map_err(|error| {
                Diagnostic::internal(format!("`{f}` on {stored} does not expand: {error}")).into()
            })
        })?;
    }
    Ok(changed)
}

/// A scalar operation that reads or makes values of a type that is only stored, and that type.
fn on_stored(func: &TensorFunc, op: OpId) -> Option<(ScalarOp, DType)> {
    let TensorOp::Elementwise { f } = func.kind(op) else { return None };
    let from = func.ty(func.operand(op, 0)).dtype;
    match *f {
        ScalarOp::Cast { to, .. } => [from, to].into_iter().find(|dtype| dtype.is_stored_only()),
        ScalarOp::Bitcast { to: DType::U8 } => None,
        ScalarOp::Bitcast { to } if from == DType::U8 && is_masked(func, func.operand(op, 0), to) => None,
        ScalarOp::Bitcast { to } => [from, to].into_iter().find(|dtype| dtype.is_stored_only()),
        f if f.is_comparison() => Some(from).filter(|dtype| dtype.is_stored_only()),
        _ => None,
    }
    .map(|stored| (*f, stored))
}

fn expand(b: &mut Builder, f: ScalarOp, operands: &[Value]) -> Built {
    let x = operands[0];
    match f {
        ScalarOp::Cast { to, .. } if to == b.dtype(x) => Ok(x),
        ScalarOp::Cast { to, saturate } => {
            let value = if b.dtype(x).is_stored_only() { decode::decode(b, x)? } else { x };
            match to.small_float() {
                Some(format) if to.is_stored_only() => encode::encode(b, value, to, format, saturate),
                _ => b.elementwise(f, &[value]),
            }
        }
        ScalarOp::Bitcast { to } => {
            let is_byte = b.dtype(x) == DType::U8;
            let byte = if is_byte { x } else { b.elementwise(ScalarOp::Bitcast { to: DType::U8 }, &[x])? };
            of_byte(b, byte, to)
        }
        comparison => {
            let values = operands.iter().map(|x| decode::decode(b, *x)).collect::<Built<Vec<Value>>>()?;
            b.elementwise(comparison, &values)
        }
    }
}

/// The byte as an element of a type; its unused bits become 0, as kernels do not know them.
fn of_byte(b: &mut Builder, byte: Value, to: DType) -> Built {
    let byte = match to.is_stored_only() && to.bits() < 8 {
        true => b.with_number(ScalarOp::And, byte, used_bits(to) as f64)?,
        false => byte,
    };
    b.elementwise(ScalarOp::Bitcast { to }, &[byte])
}

/// Whether the bits that the type does not use are known to be 0.
fn is_masked(func: &TensorFunc, byte: Value, to: DType) -> bool {
    let and =
        func.def_op(byte).filter(|op| matches!(func.kind(*op), TensorOp::Elementwise { f: ScalarOp::And }));
    let is_mask = |value: &Value| {
        let kind = func.def_op(*value).map(|op| func.kind(op));
        matches!(kind, Some(TensorOp::Splat { bits, .. }) if *bits == used_bits(to))
    };
    to.bits() >= 8 || and.is_some_and(|op| func.operands(op).iter().any(is_mask))
}

fn used_bits(dtype: DType) -> i64 {
    (1 << dtype.bits()) - 1
}

/// `number` where the condition holds, else `value`; the number in its type.
fn choose(b: &mut Builder, condition: Value, number: f64, value: Value) -> Built {
    let ones: Shape = std::iter::repeat_n(Dim::from(1), b.rank(value)).collect();
    let number = b.splat(b.dtype(value), ones, number)?;
    b.select(condition, number, value)
}
