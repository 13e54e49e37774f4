//! Rules of convolutions and pools: padding in front of them becomes padding of their window.

use super::{Applied, Rule, Site};
use tegula_base::Dim;
use tegula_ir::scalar::eval::identity;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{PadMode, PoolKind, TensorOp, Window};

pub(super) const CONV: &[Rule] = &[
    Rule { name: "conv(pad(x) by 0) => conv(x) with padding", apply: conv_of_pad },
    Rule {
        name: "conv(transpose(pad(x) by 0)) => conv(transpose(x)) with padding",
        apply: conv_of_moved_pad,
    },
];
pub(in crate::passes) const POOL: &[Rule] = &[
    Rule { name: "pool max(pad(x)) => pool max(x) with padding", apply: max_of_pad },
    Rule { name: "pool sum(pad(x) by 0) => pool sum(x) with padding", apply: sum_of_pad },
];

/// A padding with its operand.
struct Padding {
    op: OpId,
    low: Vec<Dim>,
    high: Vec<Dim>,
    mode: PadMode,
}

fn padding(site: &Site, value: Value) -> Option<Padding> {
    let (op, TensorOp::Pad { low, high, mode }) = site.def(value)? else { return None };
    Some(Padding { op, low: low.clone(), high: high.clone(), mode: *mode })
}

/// Whether the padding is by this element's bits.
fn is_by(site: &Site, padding: &Padding, bits: impl Fn(i64) -> bool) -> bool {
    padding.mode == PadMode::Constant && site.splat(site.b.func.operand(padding.op, 1)).is_some_and(bits)
}

/// The window with spatial padding added; batch and channels must have none.
fn padded(window: &Window, low: &[Dim], high: &[Dim]) -> Option<Window> {
    let outside = low[..2].iter().chain(&high[..2]).any(|pad| !pad.is_const(0));
    if outside {
        return None;
    }
    let mut window = window.clone();
    for i in 0..window.size.len() {
        window.low[i] = window.low[i].clone() + low[2 + i].clone();
        window.high[i] = window.high[i].clone() + high[2 + i].clone();
    }
    Some(window)
}

fn conv_of_pad(site: &mut Site) -> Applied {
    let Some(pad) = padding(site, site.operand(0)) else { return Ok(None) };
    if !is_by(site, &pad, |bits| bits == 0) {
        return Ok(None);
    }
    let x = site.b.func.operand(pad.op, 0);
    conv_padded(site, x, &pad.low, &pad.high)
}

fn conv_of_moved_pad(site: &mut Site) -> Applied {
    let Some((op, TensorOp::Transpose { perm })) = site.def(site.operand(0)) else { return Ok(None) };
    let (perm, inner) = (perm.clone(), site.b.func.operand(op, 0));
    let Some(pad) = padding(site, inner) else { return Ok(None) };
    if !is_by(site, &pad, |bits| bits == 0) {
        return Ok(None);
    }
    let moved = |list: &[Dim]| perm.iter().map(|axis| list[*axis].clone()).collect::<Vec<Dim>>();
    let (low, high) = (moved(&pad.low), moved(&pad.high));
    if low[..2].iter().chain(&high[..2]).any(|pad| !pad.is_const(0)) {
        return Ok(None);
    }
    let source = site.b.func.operand(pad.op, 0);
    let x = site.b.transpose(source, &perm)?;
    conv_padded(site, x, &low, &high)
}

fn conv_padded(site: &mut Site, x: Value, low: &[Dim], high: &[Dim]) -> Applied {
    let TensorOp::Conv { window, groups, out } = site.kind().clone() else { return Ok(None) };
    let Some(window) = padded(&window, low, high) else { return Ok(None) };
    let w = site.operand(1);
    site.b.conv(x, w, window, groups, out).map(Some)
}

/// Padding never wins a maximum: neither the smallest element does, nor a border element that the window holds anyway.
fn max_of_pad(site: &mut Site) -> Applied {
    let TensorOp::Pool { kind: PoolKind::Max, window } = site.kind().clone() else { return Ok(None) };
    let Some(pad) = padding(site, site.operand(0)) else { return Ok(None) };
    let dtype = site.b.dtype(site.operand(0));
    let smallest = identity(ScalarOp::Max, dtype).map(|bits| bits as i64);
    let held = |i: usize| {
        let plain = window.low[i].is_const(0) && window.high[i].is_const(0) && window.dilations[i] == 1;
        let fits = |amount: &Dim| amount.as_const().is_some_and(|n| n < window.size[i]);
        plain && fits(&pad.low[2 + i]) && fits(&pad.high[2 + i])
    };
    let none_wins = is_by(site, &pad, |bits| Some(bits) == smallest)
        || (pad.mode == PadMode::Edge && (0..window.size.len()).all(held));
    if !none_wins {
        return Ok(None);
    }
    pool_padded(site, &pad, PoolKind::Max, &window)
}

fn sum_of_pad(site: &mut Site) -> Applied {
    let TensorOp::Pool { kind: kind @ (PoolKind::Sum | PoolKind::Average), window } = site.kind().clone()
    else {
        return Ok(None);
    };
    let Some(pad) = padding(site, site.operand(0)) else { return Ok(None) };
    if !is_by(site, &pad, |bits| bits == 0) {
        return Ok(None);
    }
    pool_padded(site, &pad, kind, &window)
}

fn pool_padded(site: &mut Site, pad: &Padding, kind: PoolKind, window: &Window) -> Applied {
    let Some(window) = padded(window, &pad.low, &pad.high) else { return Ok(None) };
    let x = site.b.func.operand(pad.op, 0);
    site.b.pool(kind, x, window).map(Some)
}
