//! Scalar operations as PTX: every [`ScalarOp`] on every dtype that has one here, others are refused by name.
//!
//! Before: operands in their register form ([`held_class`]): `bool` a predicate, integers extended to 32 or 64 bits,
//! floats of less than 32 bits exact in `f32`. After: the result in its register form, bits as `docs/numerics.md` says.
//! Operands that are all constants give a constant.

mod boolean;
mod cast;
mod double;
mod exp;
mod float;
mod int;
mod inverse;
mod log;
mod memory;
mod real;
mod remainder;
mod trig;

pub(crate) use memory::{from_memory, raw_bits, raw_type, to_memory};

use crate::code::Code;
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval;
use tegula_isa_ptx::op::Selp;
use tegula_isa_ptx::types::SelectType;
use tegula_isa_ptx::{Operand, Reg, RegClass};

/// An operation that no PTX is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub what: String,
    pub dtype: DType,
}

pub(super) type Scalar = Result<Operand, Refused>;

/// The class of the register that holds an element.
pub(crate) fn held_class(dtype: DType) -> RegClass {
    match dtype {
        DType::Bool => RegClass::Pred,
        _ if dtype.bits() == 64 => RegClass::B64,
        _ => RegClass::B32,
    }
}

/// An element's bits in register form.
pub(crate) fn hold(dtype: DType, bits: u64) -> Operand {
    Operand::Imm(match dtype {
        DType::Bool => u64::from(bits != 0),
        _ if dtype.is_float() && dtype.bits() < 32 => cast_bits(dtype, DType::F32, bits),
        _ if dtype.is_int() && dtype.bits() < 32 => cast_bits(dtype, DType::I64, bits) & 0xffff_ffff,
        _ => bits,
    })
}

fn unhold(dtype: DType, held: u64) -> u64 {
    match dtype {
        _ if dtype.is_float() && dtype.bits() < 32 => cast_bits(DType::F32, dtype, held),
        _ if dtype.is_int() && dtype.bits() < 32 => held & ((1 << (8 * dtype.size())) - 1),
        _ => held,
    }
}

fn cast_bits(from: DType, to: DType, bits: u64) -> u64 {
    eval(ScalarOp::Cast { to, saturate: true }, &[from], &[bits])
}

/// The op on operands of these dtypes. Panics where they do not fit the op (the caller's bug).
pub(crate) fn apply(code: &mut Code, op: ScalarOp, dtypes: &[DType], args: &[Operand]) -> Scalar {
    let constants: Option<Vec<u64>> = args
        .iter()
        .zip(dtypes)
        .map(|(arg, dtype)| match arg {
            Operand::Imm(bits) => Some(unhold(*dtype, *bits)),
            Operand::Reg(_) => None,
        })
        .collect();
    if let Some(bits) = constants {
        let result = op.result_type(dtypes).expect("invariant: a verified op's dtypes fit");
        return Ok(hold(result, eval(op, dtypes, &bits)));
    }
    match (op, dtypes[0]) {
        (ScalarOp::Select, _) => Ok(select(code, dtypes[1], args[0], args[1], args[2])),
        (ScalarOp::Cast { to, saturate }, from) => Ok(cast::cast(code, from, to, saturate, args[0])),
        (ScalarOp::Bitcast { to }, from) => Ok(cast::bitcast(code, from, to, args[0])),
        (op, DType::Bool) => Ok(boolean::apply(code, op, args)),
        (op, dtype) if dtype.is_float() => float::apply(code, op, dtype, args),
        (op, dtype) => int::apply(code, op, dtype, args),
    }
}

/// `a` where the predicate is true, else `b`.
pub(crate) fn select(code: &mut Code, dtype: DType, p: Operand, a: Operand, b: Operand) -> Operand {
    let p = match p {
        Operand::Imm(bits) => return if bits != 0 { a } else { b },
        Operand::Reg(p) => p,
    };
    if dtype == DType::Bool {
        return boolean::select(code, p, a, b);
    }
    select_bits(code, held_class(dtype), p, a, b)
}

fn select_bits(code: &mut Code, class: RegClass, p: Reg, a: Operand, b: Operand) -> Operand {
    let ty = if class == RegClass::B64 { SelectType::B64 } else { SelectType::B32 };
    let d = code.fresh(class);
    code.emit(Selp { ty, d, a, b, p });
    d.into()
}

/// An op that nothing is made for.
fn refuse(op: ScalarOp, dtype: DType) -> Scalar {
    Err(Refused { what: op.to_string(), dtype })
}
