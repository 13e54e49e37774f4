//! Products whose right side is computed, of so few rows that a pass over that side before them costs more than it saves.

use super::is_constant;
use tegula_ir::OpId;
use tegula_tensor::{TensorFunc, TensorOp};

/// Rows from which a computed right side is transposed or widened before. Measured on an Ice Lake server, k and n of
/// 1024, bytes of both signs: one row 33 us as it is and 94 transposed first, four 120 and 190, eight alike, 64 a sixth.
const FEWEST_ROWS: i64 = 8;

/// Whether an op is such a product; rows that are not known are many.
pub(super) fn applies(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Dot { dims, .. } = func.kind(op) else { return false };
    let [x, w] = [0, 1].map(|i| func.operand(op, i));
    let axes = func.ty(x).shape.iter().enumerate();
    let rows = axes.filter(|(axis, _)| !dims.lhs_batch.contains(axis) && !dims.lhs_contract.contains(axis));
    let rows = rows.map(|(_, extent)| extent.as_const()).product::<Option<i64>>();
    !is_constant(func, w) && rows.is_some_and(|rows| rows < FEWEST_ROWS)
}
