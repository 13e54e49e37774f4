//! Contractions of element types that no machine multiplies: on wider types, wrapped or rounded at the end.
//!
//! Integers keep their value modulo 2^width, 8-bit floats are accumulated in `f32` anyway (`docs/numerics.md`).

use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_target::TargetModel;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp};

/// The type that stands for a contraction's operands; `None`: the op is none, or is computed as it is.
pub(super) fn wider(func: &TensorFunc, op: OpId, target: &dyn TargetModel) -> Option<DType> {
    let dtype = func.operands(op).first().map(|value| func.ty(*value).dtype)?;
    match func.kind(op) {
        TensorOp::Dot { .. } if matches!(dtype, DType::F8E4M3FN | DType::F8E5M2) => {
            Some(target.product_of_bytes(dtype)).filter(|to| *to != dtype)
        }
        TensorOp::Dot { .. } | TensorOp::Conv { .. } => without_products(dtype),
        _ => None,
    }
}

fn without_products(dtype: DType) -> Option<DType> {
    match dtype {
        DType::I2 | DType::U2 | DType::I4 | DType::U4 | DType::I16 | DType::U16 | DType::U32 => {
            Some(DType::I32)
        }
        DType::U64 => Some(DType::I64),
        // All 8-bit floats are numbers of `bf16`.
        narrow if narrow.small_float().is_some() => Some(DType::F32),
        _ => None,
    }
}

/// A `dot` or `conv` on operands cast to `to`.
pub(super) fn contract(b: &mut Builder, kind: &TensorOp, operands: &[Value], to: DType) -> Built {
    let mut kind = kind.clone();
    let dtype = match &mut kind {
        TensorOp::Dot { out, .. } | TensorOp::Conv { out, .. } => {
            // Sums of floats have 32 bits.
            std::mem::replace(out, if to.is_float() { DType::F32 } else { to })
        }
        other => return Err(format!("{other:?} is no contraction")),
    };
    let wide = operands.iter().map(|value| b.cast(*value, to)).collect::<Built<Vec<Value>>>()?;
    let sums = b.emit(kind, &wide)?;
    b.cast_with(sums, dtype, false)
}
