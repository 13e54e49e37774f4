//! Contractions of element types that no machine multiplies: on wider types, wrapped or rounded at the end.
//!
//! Integers keep their value modulo 2^width, 8-bit floats are accumulated in `f32` anyway (`docs/numerics.md`).

use tegula_base::DType;
use tegula_ir::Value;
use tegula_target::TargetModel;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorOp};

/// The type that stands for operands of this one; `None`: contractions take it as it is.
pub(super) fn wider(dtype: DType, target: &dyn TargetModel) -> Option<DType> {
    match dtype {
        DType::I4 | DType::U4 | DType::I16 | DType::U16 | DType::U32 => Some(DType::I32),
        DType::U64 => Some(DType::I64),
        // All 8-bit floats are numbers of `bf16`.
        DType::F8E4M3FN | DType::F8E5M2 if target.multiplies(DType::BF16) => Some(DType::BF16),
        DType::F8E4M3FN | DType::F8E5M2 => Some(DType::F32),
        DType::Bool | DType::I8 | DType::U8 | DType::I32 | DType::I64 => None,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => None,
    }
}

/// A `dot` or `conv` on operands cast to `to`.
pub(super) fn contract(b: &mut Builder, kind: &TensorOp, operands: &[Value], to: DType) -> Built {
    let mut kind = kind.clone();
    let dtype = match &mut kind {
        TensorOp::Dot { out, .. } | TensorOp::Conv { out, .. } => {
            let sums = if to == DType::BF16 { DType::F32 } else { to };
            std::mem::replace(out, sums)
        }
        other => return Err(format!("{other:?} is no contraction")),
    };
    let wide = operands.iter().map(|value| b.cast(*value, to)).collect::<Built<Vec<Value>>>()?;
    let sums = b.emit(kind, &wide)?;
    b.cast_with(sums, dtype, false)
}
