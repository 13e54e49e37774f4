//! Contractions read a right side as it lies, where the target reads it turned for nothing.
//!
//! Before: contractions in normal form.  After: no right side is the transpose of its last two axes.

use super::canonicalise::{Applied, Rule, Site, apply_rules};
use tegula_base::Diagnostics;
use tegula_ir::pass::{Changed, PassCx};
use tegula_target::TargetModel;
use tegula_tensor::{TensorOp, TensorProgram};

const RULES: &[Rule] = &[Rule { name: "dot(x, transpose(w)) => dot(x, w)", apply: as_it_lies }];

/// Errors: internal, when the rule builds what does not fit.
pub fn turn_factors(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    match target.reads_turned() {
        true => apply_rules(program, rules, cx),
        false => Ok(Changed::No),
    }
}

fn rules(op: &TensorOp) -> &'static [Rule] {
    match op {
        TensorOp::Dot { .. } => RULES,
        _ => &[],
    }
}

fn as_it_lies(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out } = site.kind() else { return Ok(None) };
    let Some((transpose, TensorOp::Transpose { perm })) = site.def(site.operand(1)) else { return Ok(None) };
    let (rank, n_batch) = (perm.len(), dims.rhs_batch.len());
    let turned = (0..n_batch).chain([n_batch + 1, n_batch]);
    if rank != n_batch + 2 || dims.rhs_contract.len() != 1 || !perm.iter().copied().eq(turned) {
        return Ok(None);
    }
    let w = site.b.func.operand(transpose, 0);
    let (mut dims, out) = (dims.as_ref().clone(), *out);
    dims.rhs_contract[0] = 2 * n_batch + 1 - dims.rhs_contract[0];
    let x = site.operand(0);
    site.b.dot(x, w, dims, out).map(Some)
}
