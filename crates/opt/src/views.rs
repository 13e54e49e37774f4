//! Ops outside of kernels that show a buffer as another tensor: nothing runs, nothing is copied.
//!
//! Reshapes, and from `assign_layouts` on transposes that leave every element in its place.

use tegula_ir::Value;
use tegula_tensor::{TensorFunc, TensorOp};

pub(crate) fn is_view(kind: &TensorOp) -> bool {
    matches!(kind, TensorOp::Reshape { .. } | TensorOp::Transpose { .. })
}

/// The value whose buffer a view, or a chain of them, shows.
pub(crate) fn source(func: &TensorFunc, mut value: Value) -> Value {
    while let Some(op) = func.def_op(value)
        && is_view(func.kind(op))
    {
        value = func.operand(op, 0);
    }
    value
}
