//! Contractions of dequantised tensors: the bytes are contracted, the scales multiply the sums.

use crate::passes::canonicalise::{Applied, Rule, Site};
use crate::passes::decompose_composites::quantised;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::TensorOp;

pub(super) const CONV: &[Rule] =
    &[Rule { name: "conv(dequantize(x), dequantize(w)) => conv(x, w) * scales", apply: conv }];
pub(super) const DOT: &[Rule] =
    &[Rule { name: "dot(dequantize(x), dequantize(w)) => dot(x, w) * scales", apply: dot }];

/// A dequantised byte tensor.
struct Stored {
    bytes: Value,
    scale: Value,
    zero: Option<Value>,
    /// The axis along which scales differ.
    axis: Option<usize>,
}

fn stored(site: &Site, value: Value) -> Option<Stored> {
    let (op, TensorOp::Dequantize { scheme }) = site.def(value)? else { return None };
    let byte = matches!(scheme.storage, DType::I8 | DType::U8);
    if !byte || scheme.block.is_some() || site.b.dtype(value) != DType::F32 {
        return None;
    }
    let operands = site.b.func.operands(op);
    Some(Stored { bytes: operands[0], scale: operands[1], zero: operands.get(2).copied(), axis: scheme.axis })
}

fn conv(site: &mut Site) -> Applied {
    let TensorOp::Conv { window, groups, out: DType::F32 } = site.kind().clone() else { return Ok(None) };
    let (Some(x), Some(w)) = (stored(site, site.operand(0)), stored(site, site.operand(1))) else {
        return Ok(None);
    };
    if x.axis.is_some() || w.axis.is_some_and(|axis| axis != 0) {
        return Ok(None);
    }
    let sums = quantised::conv(&mut site.b, [x.bytes, w.bytes], [x.zero, w.zero], &window, groups)?;
    let Some(sums) = sums else { return Ok(None) };
    let scale = site.b.mul(x.scale, w.scale)?;
    let rank = site.b.rank(sums);
    let scale = quantised::along(&mut site.b, scale, 1, rank)?;
    scaled(site, sums, scale)
}

fn dot(site: &mut Site) -> Applied {
    let TensorOp::Dot { dims, out: DType::F32 } = site.kind().clone() else { return Ok(None) };
    let (Some(lhs), Some(rhs)) = (stored(site, site.operand(0)), stored(site, site.operand(1))) else {
        return Ok(None);
    };
    // Scales may differ along the result's last axis only.
    let rank = site.b.rank(rhs.bytes);
    let free = |axis: &usize| !dims.rhs_batch.contains(axis) && !dims.rhs_contract.contains(axis);
    let column = (0..rank).rev().find(free);
    if lhs.axis.is_some() || rhs.axis.is_some_and(|axis| Some(axis) != column) {
        return Ok(None);
    }
    let sums = quantised::dot(&mut site.b, [lhs.bytes, rhs.bytes], [lhs.zero, rhs.zero], &dims)?;
    let Some(sums) = sums else { return Ok(None) };
    let scale = site.b.mul(lhs.scale, rhs.scale)?;
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), site.b.rank(sums)).collect();
    if let (Some(last), Some(extent)) = (shape.0.last_mut(), site.b.shape(scale).last()) {
        *last = extent.clone();
    }
    let scale = site.b.reshape(scale, shape)?;
    scaled(site, sums, scale)
}

fn scaled(site: &mut Site, sums: Value, scale: Value) -> Applied {
    let sums = site.b.cast(sums, DType::F32)?;
    site.b.mul(sums, scale).map(Some)
}
