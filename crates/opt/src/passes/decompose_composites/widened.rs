//! Contractions of element types that no machine multiplies, or that ours takes longer for: on wider types, wrapped or
//! rounded at the end.
//!
//! Constant right sides of 16-bit floats stay so: a product of few rows takes the time that its weights take to arrive.
//! Integers keep their value modulo 2^width, 8-bit floats are accumulated in `f32` anyway (`docs/numerics.md`).

use super::{few_rows, is_constant};
use crate::lower::contract::depthwise;
use tegula_backend::TargetModel;
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp};

/// What stands for a contraction's operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Wider {
    to: DType,
    /// The right side stays.
    left_alone: bool,
}

/// `None`: the op is no contraction, or is computed as it is.
pub(super) fn wider(func: &TensorFunc, op: OpId, target: &dyn TargetModel) -> Option<Wider> {
    let dtype = func.operands(op).first().map(|value| func.ty(*value).dtype)?;
    if matches!(dtype, DType::F16 | DType::BF16) {
        return halves(func, op, target);
    }
    let by_bytes = || func.operands(op).get(1).is_some_and(|w| func.ty(*w).dtype == DType::I8);
    let to = match func.kind(op) {
        TensorOp::Dot { .. } if dtype == DType::I16 && target.words_pay_from().is_some() && by_bytes() => {
            None
        }
        TensorOp::Dot { .. } if matches!(dtype, DType::F8E4M3FN | DType::F8E5M2) => {
            Some(target.product_of_bytes(dtype)).filter(|to| *to != dtype)
        }
        TensorOp::Dot { .. } | TensorOp::Conv { .. } => without_products(dtype),
        _ => None,
    }?;
    Some(Wider { to, left_alone: false })
}

fn halves(func: &TensorFunc, op: OpId, target: &dyn TargetModel) -> Option<Wider> {
    let [x, w] = [*func.operands(op).first()?, *func.operands(op).get(1)?];
    let dtypes = [x, w].map(|value| func.ty(value).dtype);
    if !target.widens(dtypes[0]) {
        return None;
    }
    let left_alone = match func.kind(op) {
        TensorOp::Dot { .. } => is_constant(func, w) || few_rows::applies(func, op),
        // Vectors run along the channels of both sides.
        TensorOp::Conv { groups, .. } if depthwise::takes(&func.ty(w).shape, *groups, dtypes, target) => {
            return None;
        }
        TensorOp::Conv { .. } => false,
        _ => return None,
    };
    Some(Wider { to: DType::F32, left_alone })
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

/// A `dot` or `conv` on operands cast to a wider type.
pub(super) fn contract(b: &mut Builder, kind: &TensorOp, operands: &[Value], wider: Wider) -> Built {
    let to = wider.to;
    let mut kind = kind.clone();
    let dtype = match &mut kind {
        TensorOp::Dot { out, .. } | TensorOp::Conv { out, .. } => {
            // Sums of floats have 32 bits.
            std::mem::replace(out, if to.is_float() { DType::F32 } else { to })
        }
        other => return Err(format!("{other:?} is no contraction")),
    };
    let mut wide = operands.to_vec();
    let widened = if wider.left_alone { 1 } else { wide.len() };
    for value in &mut wide[..widened] {
        *value = b.cast(*value, to)?;
    }
    let sums = b.emit(kind, &wide)?;
    b.cast_with(sums, dtype, false)
}
