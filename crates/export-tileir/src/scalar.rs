//! Scalar operations on tiles: what a dtype is in Tile IR, and which file writes an op.
//! 8-bit floats are computed in f32, functions of 16-bit floats too; results are rounded once.

mod cast;
mod float;
mod int;

use crate::writer::Writer;
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{ScalarType, Value};
use tegula_base::DType;
use tegula_ir::ScalarOp;

/// What is not expressed, in the user's words.
#[derive(Clone, Debug)]
pub(crate) struct Refused(pub String);

pub(crate) type Made<T> = Result<T, Refused>;

/// The element of a tile in registers. Narrower integers are held in a byte, extended.
pub(crate) fn element(dtype: DType) -> ScalarType {
    match dtype {
        DType::Bool => ScalarType::I1,
        DType::I2 | DType::U2 | DType::I4 | DType::U4 | DType::I8 | DType::U8 => ScalarType::I8,
        // Bytes in kernels.
        DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2 => ScalarType::I8,
        DType::F8E4M3FNUZ | DType::F8E5M2FNUZ | DType::F8E8M0 => ScalarType::I8,
        DType::I16 | DType::U16 => ScalarType::I16,
        DType::I32 | DType::U32 => ScalarType::I32,
        DType::I64 | DType::U64 => ScalarType::I64,
        DType::F8E4M3FN => ScalarType::F8E4M3FN,
        DType::F8E5M2 => ScalarType::F8E5M2,
        DType::F16 => ScalarType::F16,
        DType::BF16 => ScalarType::BF16,
        DType::F32 => ScalarType::F32,
        DType::F64 => ScalarType::F64,
    }
}

/// The element in memory: a boolean is a byte.
pub(crate) fn memory_element(dtype: DType) -> ScalarType {
    if dtype == DType::Bool { ScalarType::I8 } else { element(dtype) }
}

/// The low bits of a byte, extended; other types as they are.
pub(crate) fn wrapped(w: &mut Writer, dtype: DType, value: Value) -> Value {
    match dtype {
        DType::U2 | DType::U4 => {
            let low = w.int(value, (1 << dtype.bits()) - 1);
            w.and(value, low)
        }
        DType::I2 | DType::I4 => {
            let unused = w.int(value, 8 - i64::from(dtype.bits()));
            let high = w.shl(value, unused);
            w.signed(Opcode::ShRI, high, unused, true)
        }
        _ => value,
    }
}

/// `op` on each element of `args`, whose dtypes the verifier has checked.
pub(crate) fn apply(w: &mut Writer, op: ScalarOp, dtypes: &[DType], args: &[Value]) -> Made<Value> {
    use ScalarOp::*;
    let dtype = if op == Select { dtypes[1] } else { dtypes[0] };
    match op {
        Cast { to, saturate } => return cast::cast(w, dtype, to, saturate, args[0]),
        Bitcast { to } => {
            let value = w.bitcast(args[0], element(to));
            return Ok(wrapped(w, to, value));
        }
        Select => return Ok(w.select(args[0], args[1], args[2])),
        _ => {}
    }
    if !dtype.is_float() {
        let value = int::apply(w, op, dtype, args)?;
        return Ok(if op.is_comparison() { value } else { wrapped(w, dtype, value) });
    }
    let wide = match dtype {
        DType::F8E4M3FN | DType::F8E5M2 => true,
        DType::F16 | DType::BF16 => !float::is_native(op),
        _ => false,
    };
    if !wide {
        return float::apply(w, op, dtype, args);
    }
    let mut widened = Vec::new();
    for arg in args {
        widened.push(cast::cast(w, dtype, DType::F32, true, *arg)?);
    }
    let result = float::apply(w, op, DType::F32, &widened)?;
    match op.result_type(&[DType::F32; 3][..args.len()]) {
        Ok(DType::Bool) => Ok(result),
        _ => cast::cast(w, DType::F32, dtype, true, result),
    }
}

pub(crate) use cast::cast;
