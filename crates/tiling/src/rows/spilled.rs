//! A row that takes long to compute and is needed in two passes is spilled to the memory of the result made of it.
//!
//! A softmax adds up the exponentials of a row, then divides them: the first pass leaves them where the second one puts
//! its results. What is a result itself is stored by the first pass for good.

use crate::body::Body;
use tegula_base::HashSet;
use tegula_ir::{OpId, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::facts::{COSTLY, weight};

/// What a row kernel spills.
pub(super) struct Spilled {
    /// The reduction whose pass computes the row, its operand.
    pub reduce: OpId,
    pub value: Value,
    /// The result whose memory it is spilled to until that result is computed.
    pub result: usize,
    /// The row is that result.
    pub is_final: bool,
}

/// The first reduction of a costly row that a result of the same type is made of.
pub(super) fn find(body: &Body) -> Option<Spilled> {
    let is_function = |op: &OpId| is_elementwise(body, *op) && weight(body.func.kind(*op)) >= COSTLY;
    let functions = body.ops().iter().filter(|op| is_function(op)).map(|op| body.func.result(*op));
    let costly = made_of(body, functions.collect());
    body.reduces().into_iter().find_map(|reduce| {
        let value = body.func.operand(reduce, 0);
        if !costly.contains(&value) {
            return None;
        }
        let (ty, made) = (body.func.ty(value), made_of(body, HashSet::from_iter([value])));
        let fits = |i: &usize| {
            let stored = &body.result_types[*i];
            let same = (stored.dtype, &stored.shape) == (ty.dtype, &ty.shape);
            let result = body.results[*i];
            same && stored.layout_or_default().is_row_major() && made.contains(&result)
        };
        let is_final = |i: &usize| body.results[*i] == value;
        let mut results = (0..body.results.len()).filter(fits);
        let result = results.clone().find(is_final).or_else(|| results.next())?;
        Some(Spilled { reduce, value, result, is_final: is_final(&result) })
    })
}

fn is_elementwise(body: &Body, op: OpId) -> bool {
    matches!(body.func.kind(op), TensorOp::Elementwise { .. })
}

/// The values, and what elementwise ops make of them.
fn made_of(body: &Body, mut values: HashSet<Value>) -> HashSet<Value> {
    for op in body.ops().iter().filter(|op| is_elementwise(body, **op)) {
        if body.func.operands(*op).iter().any(|operand| values.contains(operand)) {
            values.insert(body.func.result(*op));
        }
    }
    values
}
