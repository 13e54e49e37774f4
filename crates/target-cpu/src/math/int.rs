//! Integer operations. Types below 32 bits compute in `i32` lanes and are wrapped back after what can leave them.

use crate::schedule::{Builder, CompareOp, Elem, VecOp};
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_package::Function;

pub(super) fn expand(b: &mut Builder, op: ScalarOp, dtype: DType, args: &[Value]) -> Value {
    let x = args[0];
    let (elem, lanes) = b.shape(x);
    // Below 32 bits unsigned values are positive lanes: signed ops serve them.
    let unsigned = !dtype.is_signed() && dtype.bits() >= 32;
    let pick = |signed: VecOp, other: VecOp| if unsigned { other } else { signed };
    match op {
        ScalarOp::Neg => {
            let zero = b.vec_const(elem, lanes, 0);
            wrapped(b, dtype, VecOp::Sub, zero, x)
        }
        ScalarOp::Abs if dtype.is_signed() => {
            let zero = b.vec_const(elem, lanes, 0);
            let minus = b.vec(VecOp::Sub, &[zero, x]);
            wrapped(b, dtype, VecOp::Max, x, minus)
        }
        ScalarOp::Sign => {
            let one = b.vec_const(elem, lanes, 1);
            if unsigned {
                return b.vec(VecOp::MinU, &[x, one]);
            }
            let minus = b.vec_const(elem, lanes, -1);
            let low = b.vec(VecOp::Max, &[x, minus]);
            b.vec(VecOp::Min, &[low, one])
        }
        ScalarOp::Abs | ScalarOp::Ceil | ScalarOp::Floor | ScalarOp::Round | ScalarOp::Trunc => x,
        ScalarOp::Not => {
            let ones = b.vec_const(elem, lanes, -1);
            wrapped(b, dtype, VecOp::Xor, x, ones)
        }
        ScalarOp::Add => wrapped(b, dtype, VecOp::Add, x, args[1]),
        ScalarOp::Sub => wrapped(b, dtype, VecOp::Sub, x, args[1]),
        ScalarOp::Mul => wrapped(b, dtype, VecOp::Mul, x, args[1]),
        ScalarOp::Div => wrapped(b, dtype, pick(VecOp::Div, VecOp::DivU), x, args[1]),
        ScalarOp::Rem => b.vec(pick(VecOp::Rem, VecOp::RemU), &[x, args[1]]),
        ScalarOp::Mod if dtype.is_signed() => floor_mod(b, x, args[1]),
        ScalarOp::Mod => b.vec(pick(VecOp::Rem, VecOp::RemU), &[x, args[1]]),
        ScalarOp::Pow => {
            let power = match (elem, dtype.is_signed()) {
                (Elem::I64, true) => Function::PowI64,
                (Elem::I64, false) => Function::PowU64,
                (_, true) => Function::PowI32,
                (_, false) => Function::PowU32,
            };
            let power = b.call(power, &[x, args[1]]);
            wrap(b, dtype, power)
        }
        ScalarOp::Min => b.vec(pick(VecOp::Min, VecOp::MinU), &[x, args[1]]),
        ScalarOp::Max => b.vec(pick(VecOp::Max, VecOp::MaxU), &[x, args[1]]),
        ScalarOp::And => b.vec(VecOp::And, &[x, args[1]]),
        ScalarOp::Or => b.vec(VecOp::Or, &[x, args[1]]),
        ScalarOp::Xor => b.vec(VecOp::Xor, &[x, args[1]]),
        // Bits that leave a narrow type are gone after wrapping, whatever the count.
        ScalarOp::ShiftLeft => wrapped(b, dtype, VecOp::Shl, x, args[1]),
        ScalarOp::ShiftRight if dtype.is_signed() => {
            let width = b.vec_const(elem, lanes, dtype.bits().into());
            let zero = b.vec_const(elem, lanes, 0);
            let shifted = b.vec(VecOp::Sar, &[x, args[1]]);
            let within = b.compare(CompareOp::LtU, args[1], width);
            b.select(within, shifted, zero)
        }
        ScalarOp::ShiftRight => b.vec(VecOp::Shr, &[x, args[1]]),
        ScalarOp::Eq => b.compare(CompareOp::Eq, x, args[1]),
        ScalarOp::Ne => b.compare(CompareOp::Ne, x, args[1]),
        ScalarOp::Lt => less(b, unsigned, x, args[1]),
        ScalarOp::Gt => less(b, unsigned, args[1], x),
        ScalarOp::Le => less_or_equal(b, unsigned, x, args[1]),
        ScalarOp::Ge => less_or_equal(b, unsigned, args[1], x),
        ScalarOp::Fma => {
            let product = b.vec(VecOp::Mul, &[x, args[1]]);
            wrapped(b, dtype, VecOp::Add, product, args[2])
        }
        other => unreachable!("invariant: `{other}` is refused on {dtype}"),
    }
}

/// The value modulo the type's width, extended as its register form is.
pub(super) fn wrap(b: &mut Builder, dtype: DType, x: Value) -> Value {
    let bits = dtype.bits();
    if bits >= 32 {
        return x;
    }
    let (elem, lanes) = b.shape(x);
    if !dtype.is_signed() {
        let mask = b.vec_const(elem, lanes, (1 << bits) - 1);
        return b.vec(VecOp::And, &[x, mask]);
    }
    let unused = b.vec_const(elem, lanes, (8 * elem.bytes() as u32 - bits).into());
    let high = b.vec(VecOp::Shl, &[x, unused]);
    b.vec(VecOp::Sar, &[high, unused])
}

fn wrapped(b: &mut Builder, dtype: DType, op: VecOp, x: Value, y: Value) -> Value {
    let result = b.vec(op, &[x, y]);
    wrap(b, dtype, result)
}

/// A remainder that is not 0 and has not the divisor's sign is one divisor too low.
fn floor_mod(b: &mut Builder, x: Value, y: Value) -> Value {
    let (elem, lanes) = b.shape(x);
    let zero = b.vec_const(elem, lanes, 0);
    let rem = b.vec(VecOp::Rem, &[x, y]);
    let signs = b.vec(VecOp::Xor, &[rem, y]);
    let differ = b.compare(CompareOp::Lt, signs, zero);
    let inexact = b.compare(CompareOp::Ne, rem, zero);
    let fix = b.mask_op(VecOp::And, differ, inexact);
    let up = b.vec(VecOp::Add, &[rem, y]);
    b.select(fix, up, rem)
}

fn less(b: &mut Builder, unsigned: bool, x: Value, y: Value) -> Value {
    b.compare(if unsigned { CompareOp::LtU } else { CompareOp::Lt }, x, y)
}

fn less_or_equal(b: &mut Builder, unsigned: bool, x: Value, y: Value) -> Value {
    b.compare(if unsigned { CompareOp::LeU } else { CompareOp::Le }, x, y)
}
