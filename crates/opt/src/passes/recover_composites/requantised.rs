//! Bytes that are dequantised, moved and quantised alike: they move as bytes.

use crate::passes::canonicalise::{Applied, Site};
use crate::passes::fold_scales::is_moderate;
use tegula_base::{DType, Shape};
use tegula_ir::{OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{PadMode, PoolKind, QuantScheme, TensorOp};

/// Ops between the two.
const MOST: usize = 6;

/// How bytes stand for numbers.
pub(super) struct Coding {
    pub scheme: QuantScheme,
    pub scale: Value,
    pub zero: Option<Value>,
}

impl Coding {
    /// Of the bytes that a value is, dequantised and perhaps moved since.
    pub fn behind(site: &Site, value: Value) -> Option<Coding> {
        let mut source = value;
        for _ in 0..MOST {
            let (op, kind) = site.def(source)?;
            if let TensorOp::Dequantize { scheme } = kind {
                let coding = Coding::of(site, op, scheme)?;
                return is_stored(site, value, &coding, MOST).then_some(coding);
            }
            source = *site.b.func.operands(op).first()?;
        }
        None
    }

    fn of(site: &Site, op: OpId, scheme: &QuantScheme) -> Option<Coding> {
        let operands = site.b.func.operands(op);
        Some(Coding { scheme: scheme.clone(), scale: *operands.get(1)?, zero: operands.get(2).copied() })
    }

    fn is(&self, site: &Site, other: &Coding) -> bool {
        let same =
            |a: Value, b: Value| a == b || site.splat(a).is_some_and(|bits| site.splat(b) == Some(bits));
        let zeros = match (self.zero, other.zero) {
            (Some(a), Some(b)) => same(a, b),
            // A zero point that is not given is 0.
            (Some(zero), None) | (None, Some(zero)) => site.splat(zero) == Some(0),
            (None, None) => true,
        };
        let alike = self.scheme.storage == other.scheme.storage
            && self.scheme.axis == other.scheme.axis
            && self.scheme.block == other.scheme.block;
        alike && zeros && same(self.scale, other.scale)
    }
}

/// `(q - zero) * scale / scale` is within a rounding or two of `q - zero`, which is a whole number of at most 9 bits, where
/// the scale is neither tiny nor huge: rounding gives the number itself.
pub(super) fn quantize(site: &mut Site) -> Applied {
    let TensorOp::Quantize { scheme } = site.kind() else { return Ok(None) };
    let byte = matches!(scheme.storage, DType::I8 | DType::U8);
    let Some(coding) = Coding::of(site, site.op, scheme) else { return Ok(None) };
    if !byte || !is_moderate(site, coding.scale) {
        return Ok(None);
    }
    let value = site.operand(0);
    if site.b.dtype(value) != DType::F32 || !is_stored(site, value, &coding, MOST) {
        return Ok(None);
    }
    let zero = coding.zero;
    stored(site, value, zero).map(Some)
}

/// Whether a value is bytes of this coding, moved. What is read elsewhere, too, would be moved twice, which of a reshape
/// costs nothing.
fn is_stored(site: &Site, value: Value, coding: &Coding, left: usize) -> bool {
    let (Some((op, kind)), Some(left)) = (site.def(value), left.checked_sub(1)) else { return false };
    if let TensorOp::Dequantize { scheme } = kind {
        return Coding::of(site, op, scheme).is_some_and(|own| own.is(site, coding));
    }
    let mut operands = site.b.func.operands(op);
    let moves = match kind {
        TensorOp::Reshape { .. }
        | TensorOp::Transpose { .. }
        | TensorOp::Slice { .. }
        | TensorOp::Broadcast { .. }
        | TensorOp::Concat { .. } => true,
        // Around the numbers, others of them, or 0, which is stored as the zero point.
        TensorOp::Pad { mode, .. } => {
            operands = &operands[..1];
            *mode != PadMode::Constant || site.splat(site.b.func.operand(op, 1)) == Some(0)
        }
        // Numbers rise with their bytes; padding never wins.
        TensorOp::Pool { kind: PoolKind::Max, .. } => is_positive(site, coding.scale),
        _ => false,
    };
    // Scales along an axis would have to move, too.
    let is_free = matches!(kind, TensorOp::Reshape { .. });
    moves
        && coding.scheme.axis.is_none()
        && (is_free || site.b.func.users(value).len() == 1)
        && operands.iter().all(|operand| is_stored(site, *operand, coding, left))
}

fn is_positive(site: &Site, scale: Value) -> bool {
    super::algebra::Algebra::new(site).number(scale).is_some_and(|scale| scale > 0.0)
}

/// The bytes behind a value for which [`is_stored`] holds; `zero` is their zero point.
pub(super) fn stored(site: &mut Site, value: Value, zero: Option<Value>) -> Built {
    let Some((op, kind)) = site.def(value) else { return Err("an op is expected".into()) };
    let (kind, operands) = (kind.clone(), site.b.func.operands(op).to_vec());
    if matches!(kind, TensorOp::Dequantize { .. }) {
        return Ok(operands[0]);
    }
    let mut moved = Vec::with_capacity(operands.len());
    for (i, operand) in operands.into_iter().enumerate() {
        moved.push(match (&kind, zero) {
            (TensorOp::Pad { .. }, Some(zero)) if i == 1 => site.b.reshape(zero, Shape::scalar())?,
            (TensorOp::Pad { .. }, None) if i == 1 => {
                site.b.splat_int(site.b.dtype(moved[0]), Shape::scalar(), 0)?
            }
            _ => stored(site, operand, zero)?,
        });
    }
    site.b.emit(kind, &moved)
}
