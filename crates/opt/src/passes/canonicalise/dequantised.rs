//! Weights that a model dequantises by arithmetic of its own, as exporters for runtimes without quantised ops write
//! them.

use super::{Applied, Site};
use crate::passes::fold_scales::is_stored;
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{QuantScheme, TensorOp};

/// The factor of a contraction stays bytes until it is known how the contraction is computed: folding would make floats
/// of them. The number of a byte, less a zero point, is exact, so that both ways round once.
pub(super) fn scaled_bytes(site: &mut Site) -> Applied {
    if site.result_type().dtype != DType::F32 || !is_factor(site) {
        return Ok(None);
    }
    let (a, b) = (site.operand(0), site.operand(1));
    let Some((stored, scale)) =
        centred_bytes(site, a).map(|a| (a, b)).or_else(|| centred_bytes(site, b).map(|b| (b, a)))
    else {
        return Ok(None);
    };
    let CentredBytes { bytes, zero } = stored;
    if site.shape(bytes) != &site.result_type().shape {
        return Ok(None);
    }
    let Some(axis) = scale_axis(site, scale) else { return Ok(None) };
    let shape = match axis {
        Some(axis) => Shape::from([site.shape(scale)[axis].clone()]),
        None => Shape::scalar(),
    };
    let storage = site.b.dtype(bytes);
    let mut operands = vec![bytes, site.b.reshape(scale, shape.clone())?];
    if zero != 0 {
        operands.push(site.b.splat_int(storage, shape, zero)?);
    }
    let scheme = QuantScheme { axis, block: None, storage, zero_point: zero != 0 };
    site.b.dequantize(&operands, scheme).map(Some)
}

/// Whether the result is read as right factors only, transposed or not.
fn is_factor(site: &Site) -> bool {
    let func = &site.b.func;
    let value = func.result(site.op);
    let mut readers = func.users(value).iter().peekable();
    readers.peek().is_some()
        && readers.all(|user| match func.kind(*user) {
            TensorOp::Dot { .. } => func.operand(*user, 0) != value,
            TensorOp::Transpose { .. } => true,
            _ => false,
        })
}

struct CentredBytes {
    /// A constant.
    bytes: Value,
    zero: i64,
}

/// What a value is that is `cast(constant bytes)` or `cast(constant bytes) - zero`.
fn centred_bytes(site: &Site, value: Value) -> Option<CentredBytes> {
    let (op, TensorOp::Elementwise { f }) = site.def(value)? else { return None };
    let operand = |i: usize| site.b.func.operand(op, i);
    match f {
        ScalarOp::Cast { .. } => {
            let bytes = operand(0);
            let is_constant = matches!(site.def(bytes)?, (_, TensorOp::Constant { .. }));
            let is_byte = matches!(site.b.dtype(bytes), DType::I8 | DType::U8);
            (is_constant && is_byte).then_some(CentredBytes { bytes, zero: 0 })
        }
        ScalarOp::Sub => {
            let CentredBytes { bytes, zero: 0 } = centred_bytes(site, operand(0))? else { return None };
            let zero = f32::from_bits(site.splat(operand(1))? as u32);
            let numbers = if site.b.dtype(bytes).is_signed() { -128.0..=127.0 } else { 0.0..=255.0 };
            let is_stored = zero.fract() == 0.0 && numbers.contains(&zero);
            is_stored.then_some(CentredBytes { bytes, zero: zero as i64 })
        }
        _ => None,
    }
}

/// The axis along which known scales differ, `Some(None)` where they are one number: constants, or reshapes of some, or
/// halves as floats, as exporters store them.
fn scale_axis(site: &Site, scale: Value) -> Option<Option<usize>> {
    if !is_stored(site, scale) {
        return None;
    }
    let mut wide = (0..site.b.rank(scale)).filter(|axis| !site.shape(scale)[*axis].is_const(1));
    let axis = wide.next();
    wide.next().is_none().then_some(axis)
}
