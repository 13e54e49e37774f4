//! Operations on `bool`, which is a mask; false is below true.

use crate::schedule::{Builder, VecOp};
use tegula_ir::{ScalarOp, Value};

pub(super) fn expand(b: &mut Builder, op: ScalarOp, args: &[Value]) -> Value {
    let x = args[0];
    let not = |b: &mut Builder, x: Value| {
        let all = b.mask_const(b.lanes(x), true);
        b.mask_op(VecOp::Xor, x, all)
    };
    if op == ScalarOp::Not {
        return not(b, x);
    }
    let y = args[1];
    match op {
        ScalarOp::And | ScalarOp::Min => b.mask_op(VecOp::And, x, y),
        ScalarOp::Or | ScalarOp::Max => b.mask_op(VecOp::Or, x, y),
        ScalarOp::Xor | ScalarOp::Ne => b.mask_op(VecOp::Xor, x, y),
        ScalarOp::Eq => {
            let differ = b.mask_op(VecOp::Xor, x, y);
            not(b, differ)
        }
        ScalarOp::Lt => b.mask_op(VecOp::AndNot, x, y),
        ScalarOp::Gt => b.mask_op(VecOp::AndNot, y, x),
        ScalarOp::Le => {
            let above = b.mask_op(VecOp::AndNot, y, x);
            not(b, above)
        }
        ScalarOp::Ge => {
            let below = b.mask_op(VecOp::AndNot, x, y);
            not(b, below)
        }
        other => unreachable!("invariant: `{other}` is refused on bool"),
    }
}
