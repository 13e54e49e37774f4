//! Scalar operations as lane ops: every [`ScalarOp`] on every dtype, written through the schedule builder.
//!
//! Before: operands in their register form: `bool` a mask, integers extended to 32 or 64 bits, narrow floats
//! exact in `f32` lanes. After: the result in its register form, bits as `docs/numerics.md` says: integers and
//! rounding operations exactly, functions within 2 ulp.
//!
//! ```text
//! expand ─┬─► boolean, int      bitwise results
//!         ├─► cast              conversions, saturation, 8-bit floats
//!         │     └─► quantise    bytes of numbers over a constant scale
//!         └─► float ─┬─► exp, log, erf, trig, pow    vector code, coefficients of tegula_tools/minimax.py
//!                    └─► `call`                      one lane at a time, the ABI's function table
//! ```

mod boolean;
mod cast;
mod erf;
mod exp;
mod float;
mod int;
mod log;
mod pow;
mod quantise;
mod real;
mod tanh;
mod trig;
pub mod ulp;

use crate::schedule::Builder;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};

/// The op on operands of these dtypes. Panics when the dtypes do not fit the op (the caller's bug: the tensor
/// level has checked them by [`ScalarOp::result_type`]).
pub fn expand(b: &mut Builder, op: ScalarOp, dtypes: &[DType], args: &[Value]) -> Value {
    match (op, dtypes[0]) {
        (ScalarOp::Select, _) => b.select(args[0], args[1], args[2]),
        (ScalarOp::Cast { to, saturate }, from) => cast::cast(b, from, to, saturate, args[0]),
        (ScalarOp::Bitcast { to }, from) => cast::bitcast(b, from, to, args[0]),
        (op, DType::Bool) => boolean::expand(b, op, args),
        (op, dtype) if dtype.is_float() => float::expand(b, op, dtype, args),
        (op, dtype) => int::expand(b, op, dtype, args),
    }
}
