//! Pad: amounts by attribute, by operand, or by run-time operand with run-time axes. Negative amounts cut.

use super::slicing::{element_where, not_negative};
use crate::build::axes_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{PadMode, TensorOp};

pub(super) const ROWS: &[Row] = &[op_between("Pad", 1, 10, pad_by_attributes), op_since("Pad", 11, pad)];

fn pad_mode(node: &Node) -> Outcome<PadMode> {
    match node.text("mode", "constant").as_str() {
        "constant" => Ok(PadMode::Constant),
        "edge" => Ok(PadMode::Edge),
        "reflect" => Ok(PadMode::Reflect),
        "wrap" => Ok(PadMode::Wrap),
        other => Err(Fault::invalid(format!("mode `{other}` is none of constant, edge, reflect, wrap"))),
    }
}

fn pad_by_attributes(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let pads = node.ints("pads").or_else(|| node.ints("paddings")).unwrap_or_default();
    let rank = cx.rank(x);
    if pads.len() != 2 * rank {
        return Err(Fault::invalid(format!("{} pads for {}", pads.len(), cx.ty(x))));
    }
    let (low, high) = pads.split_at(rank);
    let sizes = |pads: &[i64]| pads.iter().map(|n| Dim::from(*n)).collect::<Vec<_>>();
    let (low, high, mode) = (sizes(low), sizes(high), pad_mode(node)?);
    let dtype = cx.dtype(x);
    let value = cx.splat(dtype, Shape::scalar(), node.float("value", 0.0))?;
    Ok(vec![padded(cx, x, value, low, high, mode)?])
}

fn pad(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, list) = (node.operand(0)?, node.operand(1)?);
    let (rank, mode) = (cx.rank(x), pad_mode(node)?);
    let value = match node.optional(2) {
        Some(value) if mode == PadMode::Constant => cx.reshape(value, Shape::scalar())?,
        _ => {
            let dtype = cx.dtype(x);
            cx.splat(dtype, Shape::scalar(), 0.0)?
        }
    };
    let n = cx.element_count(list)? / 2;
    let zero = Dim::from(0);
    let (mut low, mut high) = (vec![zero.clone(); rank], vec![zero; rank]);
    let axes = match node.optional(3) {
        None => Some((0..n as i64).collect()),
        Some(axes) => cx.known_ints(axes),
    };
    match axes {
        Some(axes) => {
            let axes = axes_in(&axes, rank)?;
            if axes.len() != n || cx.element_count(list)? != 2 * n {
                return Err(Fault::invalid(format!("the pads do not fit {} axes", axes.len())));
            }
            let uppers: Vec<Dim> = axes.iter().map(|axis| pad_upper(cx, x, *axis)).collect();
            let sizes = match cx.known_sizes(list) {
                Some(sizes) => sizes,
                None => (0..2 * n)
                    .map(|i| {
                        let one = cx.int_at(list, i)?;
                        bind_amount(cx, one, uppers[i % n].clone())
                    })
                    .collect::<Outcome<_>>()?,
            };
            for (i, axis) in axes.into_iter().enumerate() {
                (low[axis], high[axis]) = (sizes[i].clone(), sizes[n + i].clone());
            }
        }
        None => {
            let axes = node.operand(3)?;
            let places = cx.wrap_indices(axes, Dim::from(rank))?;
            let zero = cx.int_list(&[0])?;
            let lows = cx.slice_axis(list, 0, Dim::from(0), Dim::from(n))?;
            let highs = cx.slice_axis(list, 0, Dim::from(n), Dim::from(n))?;
            for axis in 0..rank {
                let upper = pad_upper(cx, x, axis);
                let amount = element_where(cx, lows, places, axis, zero)?;
                low[axis] = bind_amount(cx, amount, upper.clone())?;
                let amount = element_where(cx, highs, places, axis, zero)?;
                high[axis] = bind_amount(cx, amount, upper)?;
            }
        }
    }
    Ok(vec![padded(cx, x, value, low, high, mode)?])
}

/// A pad that may be data, which then must not cut.
fn bind_amount(cx: &mut Cx, amount: Value, upper: Dim) -> Outcome<Dim> {
    if let Some([known]) = cx.known_sizes(amount).as_deref() {
        return Ok(known.clone());
    }
    let amount = cx.cast(amount, DType::I64)?;
    let below = cx.number_with(ScalarOp::Sub, 0.0, amount)?;
    let below = cx.number_with(ScalarOp::Max, 0.0, below)?;
    let cut = cx.size_or_bind(below, "cut", Dim::from(SymbolInfo::MAX))?;
    cx.assert_equal(&cut, &Dim::from(0), "pads that are data must not be negative")?;
    cx.size_or_bind(amount, "pad", upper)
}

/// What a pad along an axis may be at most, by the declared result.
fn pad_upper(cx: &Cx, x: Value, axis: usize) -> Dim {
    match (cx.declared_extent(0, axis).as_const(), cx.dim(x, axis).as_const()) {
        (Some(most), Some(own)) if most >= own => Dim::from(most - own),
        _ => Dim::from(SymbolInfo::MAX),
    }
}

const CUT_TOO_MUCH: &str = "negative pads cut more than the axis has";

/// Negative amounts cut.
fn padded(cx: &mut Cx, x: Value, value: Value, low: Vec<Dim>, high: Vec<Dim>, mode: PadMode) -> Outcome {
    let zero = Dim::from(0);
    let mut x = x;
    let (mut low, mut high) = (low, high);
    for axis in 0..low.len() {
        let cut = [&low[axis], &high[axis]].map(|pad| cx.most(&-pad.clone(), &zero));
        let [start, tail] = cut;
        if start.is_const(0) && tail.is_const(0) {
            continue;
        }
        let left = cx.dim(x, axis) - start.clone() - tail;
        let padding = [&low[axis], &high[axis]].map(|pad| cx.most(pad, &zero));
        let Some(missing) = left.as_const().filter(|left| *left < 0) else {
            let size = not_negative(cx, left, CUT_TOO_MUCH)?;
            x = cx.slice_axis(x, axis, start, size)?;
            [low[axis], high[axis]] = padding;
            continue;
        };
        // What one side cuts beyond the axis is cut from the other's padding: of one value, all of it.
        let [before, after] = padding;
        let rest = before + after + Dim::from(missing);
        if mode != PadMode::Constant || rest.as_const().is_some_and(|rest| rest < 0) {
            return Err(Fault::invalid(CUT_TOO_MUCH));
        }
        x = cx.slice_axis(x, axis, zero.clone(), zero.clone())?;
        (low[axis], high[axis]) = (not_negative(cx, rest, CUT_TOO_MUCH)?, zero.clone());
    }
    if low.iter().chain(&high).all(|dim| dim.is_const(0)) {
        return Ok(x);
    }
    match mode {
        PadMode::Constant => cx.emit(TensorOp::Pad { low, high, mode }, &[x, value]),
        _ => cx.emit(TensorOp::Pad { low, high, mode }, &[x]),
    }
}
