//! Puts the branch that is taken in place of an `if` whose condition is known.
//!
//! Before: any verified program.  After: no `if` has a condition that sizes and constants decide.

use tegula_base::Diagnostics;
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, inline_region, rewrite_ops};
use tegula_tensor::size_values::SizeValues;
use tegula_tensor::{TensorOp, TensorProgram};

pub fn inline_branches(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        // Inlined branches may hold further ones.
        loop {
            let mut sizes = SizeValues::default();
            let round = rewrite_ops(func, &mut |func, region, op| {
                if !matches!(func.kind(op), TensorOp::If {}) {
                    return Ok(Rewrite::Keep);
                }
                let condition = sizes.constant(func, &program.consts, func.operand(op, 0));
                let Some(&[bits]) = condition.as_deref() else { return Ok(Rewrite::Keep) };
                let taken = func.regions_of(op)[usize::from(bits == 0)];
                cx.count("inlined", 1);
                cx.remark(func.op(op).location.as_ref(), format!("the condition is always {}", bits != 0));
                Ok(Rewrite::Replace(inline_region(func, taken, region, &[])))
            })?;
            changed |= round;
            if !round.is_yes() {
                break;
            }
        }
    }
    Ok(changed)
}
