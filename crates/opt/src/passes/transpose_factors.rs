//! Contractions get their right side the way the target reads it best.
//!
//! Before: contractions in normal form.
//! After: where the target reads a transposed right side for free, no right side is a transpose of its last two axes.
//! On other targets, no right side is a single column that meets long rows.
//! Such rows are multiplied by the column element by element and summed; a product would fill one lane of a vector.

use super::canonicalise::{Applied, Rule, Site, apply_rules};
use tegula_backend::Target;
use tegula_base::{DType, Diagnostics};
use tegula_ir::ScalarOp;
use tegula_ir::pass::{Changed, PassCx};
use tegula_tensor::{TensorOp, TensorProgram};

const TRANSPOSED: &[Rule] = &[Rule { name: "dot(x, transpose(w)) => dot(x, w)", apply: as_it_lies }];
const COLUMNS: &[Rule] = &[Rule { name: "dot(x, column) => sum(x * row)", apply: sum_of_rows }];

#[cfg(test)]
pub(crate) const TABLES: [&[Rule]; 2] = [TRANSPOSED, COLUMNS];

/// Terms of a row from which its sum takes less than a lane of its products. Measured on one thread of an Emerald Rapids, 4096
/// rows: of 16 terms 28 us as a product and 30 as a sum, of 32 50 and 13, of 64 98 and 19, of 1024 2480 and 1180.
const FEWEST_TERMS: i64 = 32;

/// Errors: internal, when the rule builds what does not fit.
pub fn transpose_factors(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let rules: fn(&TensorOp) -> &'static [Rule] = match target.preferences().transposed_factors {
        true => |op| if matches!(op, TensorOp::Dot { .. }) { TRANSPOSED } else { &[] },
        false => |op| if matches!(op, TensorOp::Dot { .. }) { COLUMNS } else { &[] },
    };
    apply_rules(program, rules, cx)
}

fn as_it_lies(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out, pair_sums: None } = site.kind() else { return Ok(None) };
    let Some((transpose, TensorOp::Transpose { perm })) = site.def(site.operand(1)) else { return Ok(None) };
    let (rank, n_batch) = (perm.len(), dims.rhs_batch.len());
    let transposed = (0..n_batch).chain([n_batch + 1, n_batch]);
    if rank != n_batch + 2 || dims.rhs_contract.len() != 1 || !perm.iter().copied().eq(transposed) {
        return Ok(None);
    }
    let w = site.b.func.operand(transpose, 0);
    let (mut dims, out) = (dims.as_ref().clone(), *out);
    dims.rhs_contract[0] = 2 * n_batch + 1 - dims.rhs_contract[0];
    let x = site.operand(0);
    site.b.dot(x, w, dims, out).map(Some)
}

/// Rows that lie along k, of floats that are summed as they are.
fn sum_of_rows(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out, pair_sums: None } = site.kind() else { return Ok(None) };
    let (x, column) = (site.operand(0), site.operand(1));
    let n_batch = dims.rhs_batch.len();
    let is_normal = [x, column].iter().all(|side| site.shape(*side).rank() == n_batch + 2)
        && dims.lhs_contract[..] == [n_batch + 1]
        && dims.rhs_contract.len() == 1;
    if !is_normal {
        return Ok(None);
    }
    let is_float =
        matches!(out, DType::F32 | DType::F64) && site.b.dtype(x) == *out && site.b.dtype(column) == *out;
    let is_long = site.shape(x)[n_batch + 1].as_const().is_some_and(|k| k >= FEWEST_TERMS);
    // Constants may have either axis first.
    let n_axis = 2 * n_batch + 1 - dims.rhs_contract[0];
    let is_column = site.shape(column)[n_axis].is_const(1);
    let is_transposed = matches!(site.def(x), Some((_, TensorOp::Transpose { .. })));
    if !is_float || !is_long || !is_column || is_transposed {
        return Ok(None);
    }
    let mut shape = site.shape(column).to_vec();
    if n_axis == n_batch + 1 {
        shape.swap(n_batch, n_axis);
    }
    let row = site.b.reshape(column, shape)?;
    let products = site.b.elementwise(ScalarOp::Mul, &[x, row])?;
    site.b.reduce(ScalarOp::Add, products, &[n_batch + 1], true).map(Some)
}
