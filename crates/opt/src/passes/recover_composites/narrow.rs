//! Composites that a model computes in `f32` between casts: they do so anyway.

use crate::passes::canonicalise::{Applied, Site};
use tegula_base::DType;
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

/// Composites of narrow floats widen their operands to `f32` and round once at the end, so the casts are their own.
pub(super) fn composite(site: &mut Site) -> Applied {
    let (narrow, value) = (site.result_type().dtype, site.operand(0));
    let Some((op, kind)) = site.def(value) else { return Ok(None) };
    let rows = matches!(
        kind,
        TensorOp::Softmax { .. }
            | TensorOp::LayerNorm { .. }
            | TensorOp::RmsNorm { .. }
            | TensorOp::Gelu { .. }
    );
    if !matches!(narrow, DType::F16 | DType::BF16)
        || !rows
        || site.b.dtype(value) != DType::F32
        || site.b.func.users(value).len() != 1
    {
        return Ok(None);
    }
    let (kind, operands) = (kind.clone(), site.b.func.operands(op).to_vec());
    let mut narrowed = Vec::with_capacity(operands.len());
    for operand in operands {
        match narrow_of(site, operand, narrow)? {
            Some(value) => narrowed.push(value),
            None => return Ok(None),
        }
    }
    site.b.emit(kind, &narrowed).map(Some)
}

/// The narrow value that a wide one is the same number as.
fn narrow_of(site: &mut Site, value: Value, narrow: DType) -> Applied {
    match site.def(value) {
        Some((op, TensorOp::Elementwise { f: ScalarOp::Cast { .. } })) => {
            let source = site.b.func.operand(op, 0);
            Ok((site.b.dtype(source) == narrow).then_some(source))
        }
        Some((_, TensorOp::Splat { bits, shape, .. })) => {
            let (bits, shape) = (*bits, shape.clone());
            let cast = |from: DType, to: DType, bits: i64| {
                eval(ScalarOp::Cast { to, saturate: true }, &[from], &[bits as u64]) as i64
            };
            let rounded = cast(DType::F32, narrow, bits);
            if cast(narrow, DType::F32, rounded) != bits {
                return Ok(None);
            }
            site.b.emit(TensorOp::Splat { dtype: narrow, shape, bits: rounded }, &[]).map(Some)
        }
        _ => Ok(None),
    }
}
