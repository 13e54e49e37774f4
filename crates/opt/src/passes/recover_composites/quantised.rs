//! Contractions of dequantised tensors: the bytes are contracted, the scales multiply the sums.
//!
//! Scales that are far from 1 stay where they are: sums of bare bytes could overflow, or vanish, or be 0 where a scale that
//! is no number makes them none. Those that the run computes are taken to be of numbers; between two sides of bytes, whose
//! sums are exact, they may leave their factors.
//! Where the weights alone are stored as bytes, they stay bytes: a product of few rows takes the time that its
//! weights take to arrive, and bytes are a quarter.

use super::requantised::{self, Coding};
use crate::passes::canonicalise::{Applied, Site};
use crate::passes::decompose_composites::quantised;
use crate::passes::fold_scales::{is_moderate, is_stored, scales_exact_sums};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, TensorOp};

/// A dequantised byte tensor, perhaps moved since.
struct Stored {
    /// The numbers.
    value: Value,
    scale: Value,
    zero: Option<Value>,
    /// The axis along which scales differ.
    axis: Option<usize>,
}

impl Stored {
    fn bytes(&self, site: &mut Site) -> Built {
        requantised::stored(site, self.value, self.zero)
    }
}

fn stored(site: &Site, value: Value) -> Option<Stored> {
    if site.b.dtype(value) != DType::F32 {
        return None;
    }
    let Coding { scheme, scale, zero } = Coding::behind(site, value)?;
    let byte = matches!(scheme.storage, DType::I8 | DType::U8);
    (byte && scheme.block.is_none()).then_some(Stored { value, scale, zero, axis: scheme.axis })
}

/// As [`conv`], of as many channels as a host multiplies at once.
pub(super) fn conv_of_fours(site: &mut Site) -> Applied {
    conv_of(site, quantised::Channels::Fours)
}

pub(super) fn conv(site: &mut Site) -> Applied {
    conv_of(site, quantised::Channels::Any)
}

fn conv_of(site: &mut Site, channels: quantised::Channels) -> Applied {
    let TensorOp::Conv { window, groups, out: DType::F32 } = site.kind() else { return Ok(None) };
    let (Some(x), Some(w)) = (stored(site, site.operand(0)), stored(site, site.operand(1))) else {
        return Ok(None);
    };
    let (window, groups) = (window.clone(), *groups);
    let is_factored = x.axis.is_none() && w.axis.is_none_or(|axis| axis == 0);
    if !is_factored || ![x.scale, w.scale].iter().all(|scale| may_leave(site, *scale)) {
        return Ok(None);
    }
    let bytes = [x.bytes(site)?, w.bytes(site)?];
    let sums = quantised::conv(&mut site.b, bytes, [x.zero, w.zero], (&window, groups), channels)?;
    let Some(sums) = sums else { return Ok(None) };
    let scale = site.b.mul(x.scale, w.scale)?;
    let rank = site.b.rank(sums);
    let scale = quantised::along(&mut site.b, scale, 1, rank)?;
    scaled(site, sums, scale)
}

pub(super) fn dot(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out: DType::F32, .. } = site.kind() else { return Ok(None) };
    let (Some(lhs), Some(rhs)) = (stored(site, site.operand(0)), stored(site, site.operand(1))) else {
        return Ok(None);
    };
    let dims = dims.clone();
    let is_factored = lhs.axis.is_none() && scales_columns(&rhs, site.b.rank(rhs.value), &dims);
    if !is_factored || ![lhs.scale, rhs.scale].iter().all(|scale| may_leave(site, *scale)) {
        return Ok(None);
    }
    let bytes = [lhs.bytes(site)?, rhs.bytes(site)?];
    let sums = quantised::dot(&mut site.b, bytes, [lhs.zero, rhs.zero], &dims)?;
    let Some(sums) = sums else { return Ok(None) };
    let scale = site.b.mul(lhs.scale, rhs.scale)?;
    let scale = along_columns(site, scale, sums)?;
    scaled(site, sums, scale)
}

/// Whether a scale of bytes may multiply exact sums instead: 0, a moderate one, or one of dynamic quantisation.
fn may_leave(site: &Site, scale: Value) -> bool {
    !is_stored(site, scale) || scales_exact_sums(site, scale)
}

pub(super) fn weights(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out: DType::F32, .. } = site.kind() else { return Ok(None) };
    let (x, w) = (site.operand(0), site.operand(1));
    let (source, perm) = match site.def(w) {
        Some((op, TensorOp::Transpose { perm })) => (site.b.func.operand(op, 0), Some(perm.clone())),
        _ => (w, None),
    };
    let Some(mut rhs) = stored(site, source) else { return Ok(None) };
    if let Some(perm) = &perm {
        rhs.axis = rhs.axis.and_then(|axis| perm.iter().position(|from| *from == axis));
    }
    let bytes = match site.def(source) {
        Some((op, TensorOp::Dequantize { .. })) => site.b.func.operand(op, 0),
        _ => return Ok(None),
    };
    let constant = matches!(site.def(bytes), Some((_, TensorOp::Constant { .. })));
    let matrix = site.b.rank(w) == 2 && dims.rhs_batch.is_empty() && dims.rhs_contract.len() == 1;
    if !constant || !matrix || !scales_columns(&rhs, 2, dims) || !is_moderate(site, rhs.scale) {
        return Ok(None);
    }
    let dims = dims.clone();
    let Some(bytes) = quantised::centred(&mut site.b, bytes, rhs.zero)? else { return Ok(None) };
    let bytes = match perm {
        Some(perm) => site.b.transpose(bytes, &perm)?,
        None => bytes,
    };
    let sums = site.b.dot(x, bytes, *dims, DType::F32)?;
    let scale = along_columns(site, rhs.scale, sums)?;
    site.b.mul(sums, scale).map(Some)
}

/// Whether scales differ along the result's last axis only.
fn scales_columns(rhs: &Stored, rank: usize, dims: &DotDims) -> bool {
    let free = |axis: &usize| !dims.rhs_batch.contains(axis) && !dims.rhs_contract.contains(axis);
    rhs.axis.is_none() || rhs.axis == (0..rank).rev().find(free)
}

/// One scale, or one a column, with the rank of the sums.
fn along_columns(site: &mut Site, scale: Value, sums: Value) -> Built {
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), site.b.rank(sums)).collect();
    if let (Some(last), Some(extent)) = (shape.last_mut(), site.b.shape(scale).last()) {
        *last = extent.clone();
    }
    site.b.reshape(scale, shape)
}

fn scaled(site: &mut Site, sums: Value, scale: Value) -> Applied {
    let sums = site.b.cast(sums, DType::F32)?;
    site.b.mul(sums, scale).map(Some)
}
