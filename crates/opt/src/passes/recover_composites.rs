//! Finds composites that exporters have spelled out.
//!
//! Before: canonical form, sizes folded.  After: contractions of dequantised bytes are integer contractions.
//! A pattern matches its meaning exactly: every constant, axis and variant.

mod quantised;

use crate::passes::canonicalise::{Rule, apply_rules};
use tegula_base::Diagnostics;
use tegula_ir::pass::{Changed, PassCx};
use tegula_tensor::{TensorOp, TensorProgram};

pub fn recover_composites(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    apply_rules(program, table, cx)
}

#[cfg(test)]
pub(crate) const TABLES: [&[Rule]; 2] = [quantised::CONV, quantised::DOT];

fn table(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Conv { .. } => quantised::CONV,
        TensorOp::Dot { .. } => quantised::DOT,
        _ => &[],
    }
}
