//! Contractions of element types that no machine multiplies, or that ours takes longer for: on wider types, wrapped or
//! rounded at the end.
//!
//! Constant right sides of 16-bit floats stay so: a product of few rows takes the time that its weights take to arrive.
//! Integers keep their value modulo 2^width, 8-bit floats are accumulated in `f32` anyway (`docs/numerics.md`).

use super::{few_rows, is_constant};
use tegula_backend::Target;
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::facts::wider_product;
use tegula_tensor::{Builder, TensorFunc, TensorOp};

/// What stands for a contraction's operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Wider {
    to: DType,
    /// The right side stays.
    left_alone: bool,
}

/// `None`: the op is no contraction, or is computed as it is.
pub(super) fn wider(func: &TensorFunc, op: OpId, target: &dyn Target) -> Option<Wider> {
    if !matches!(func.kind(op), TensorOp::Dot { .. } | TensorOp::Conv { .. })
        || target.claims(func, op).is_yes()
    {
        return None;
    }
    let [x, w] = [0, 1].map(|i| func.operand(op, i));
    let dtype = func.ty(x).dtype;
    let is_dot = matches!(func.kind(op), TensorOp::Dot { .. });
    let (to, left_alone) = match dtype {
        DType::F16 | DType::BF16 => {
            (DType::F32, is_dot && (is_constant(func, w) || few_rows::applies(func, op)))
        }
        DType::F8E4M3FN | DType::F8E5M2 if is_dot => (target.preferences().f8_products?, false),
        _ => (wider_product(dtype)?, false),
    };
    Some(Wider { to, left_alone })
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
