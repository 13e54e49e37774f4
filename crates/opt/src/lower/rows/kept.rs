//! A row that takes long to compute and is needed in two passes is kept, in the memory of the result made of it.
//!
//! A softmax adds up the exponentials of a row, then divides them: the first pass leaves them where the second one puts
//! its results.

use crate::form_kernels::{COSTLY, weight};
use crate::lower::body::Body;
use tegula_ir::{OpId, Value};
use tegula_tensor::TensorOp;

/// What a row kernel keeps.
pub(super) struct Kept {
    /// The reduction whose pass computes the row, its operand.
    pub reduce: OpId,
    pub value: Value,
    /// The result whose memory it lies in until that result is computed.
    pub result: usize,
}

/// The first reduction of a costly row that a result of the same type is made of.
pub(super) fn find(body: &Body) -> Option<Kept> {
    body.reduces().into_iter().find_map(|reduce| {
        let value = body.func.operand(reduce, 0);
        let ty = body.func.ty(value);
        let fits = |i: usize| {
            let stored = &body.result_types[i];
            let same = (stored.dtype, &stored.shape) == (ty.dtype, &ty.shape);
            same && stored.layout_or_default().is_row_major()
                && body.results[i] != value
                && reaches(body, body.results[i], value)
        };
        let result = is_costly(body, value).then(|| (0..body.results.len()).find(|i| fits(*i)))??;
        Some(Kept { reduce, value, result })
    })
}

fn is_costly(body: &Body, value: Value) -> bool {
    let Some(op) = body.func.def_op(value) else { return false };
    let kind = body.func.kind(op);
    matches!(kind, TensorOp::Elementwise { .. })
        && (weight(kind) >= COSTLY || body.func.operands(op).iter().any(|operand| is_costly(body, *operand)))
}

/// Whether `value` is among what `from` is computed of, on a way along elementwise ops.
fn reaches(body: &Body, from: Value, value: Value) -> bool {
    if from == value {
        return true;
    }
    let Some(op) = body.func.def_op(from) else { return false };
    matches!(body.func.kind(op), TensorOp::Elementwise { .. })
        && body.func.operands(op).iter().any(|operand| reaches(body, *operand, value))
}
