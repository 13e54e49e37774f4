//! Elementwise arithmetic, comparisons, logic: one scalar op each, with broadcasting.

use super::means::whole_mean;
use crate::build::axis_in;
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_of_slots, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op("Add", |cx, node| two(cx, node, ScalarOp::Add)),
    op("Sub", |cx, node| two(cx, node, ScalarOp::Sub)),
    op("Mul", |cx, node| two(cx, node, ScalarOp::Mul)),
    op("Div", |cx, node| two(cx, node, ScalarOp::Div)),
    op("Pow", pow),
    op("Mod", |cx, node| two(cx, node, if node.flag("fmod", false) { ScalarOp::Rem } else { ScalarOp::Mod })),
    op("And", |cx, node| two(cx, node, ScalarOp::And)),
    op("Or", |cx, node| two(cx, node, ScalarOp::Or)),
    op("Xor", |cx, node| two(cx, node, ScalarOp::Xor)),
    op("BitwiseAnd", |cx, node| two(cx, node, ScalarOp::And)),
    op("BitwiseOr", |cx, node| two(cx, node, ScalarOp::Or)),
    op("BitwiseXor", |cx, node| two(cx, node, ScalarOp::Xor)),
    op("BitShift", bit_shift),
    op_of_slots("Equal", equal),
    op("Less", |cx, node| two(cx, node, ScalarOp::Lt)),
    op("LessOrEqual", |cx, node| two(cx, node, ScalarOp::Le)),
    op("Greater", |cx, node| two(cx, node, ScalarOp::Gt)),
    op("GreaterOrEqual", |cx, node| two(cx, node, ScalarOp::Ge)),
    op("Max", |cx, node| many(cx, node, ScalarOp::Max)),
    op("Min", |cx, node| many(cx, node, ScalarOp::Min)),
    op("Sum", |cx, node| many(cx, node, ScalarOp::Add)),
    op("Mean", mean).widens(),
    op("Where", where_).moves(),
    op("Neg", |cx, node| one(cx, node, ScalarOp::Neg)),
    op("Abs", |cx, node| one(cx, node, ScalarOp::Abs)),
    op("Sign", |cx, node| one(cx, node, ScalarOp::Sign)),
    op("Ceil", |cx, node| one(cx, node, ScalarOp::Ceil)),
    op("Floor", |cx, node| one(cx, node, ScalarOp::Floor)),
    op("Round", |cx, node| one(cx, node, ScalarOp::Round)),
    op("Sqrt", |cx, node| one(cx, node, ScalarOp::Sqrt)),
    op("Reciprocal", |cx, node| one(cx, node, ScalarOp::Reciprocal)),
    op("Exp", |cx, node| one(cx, node, ScalarOp::Exp)),
    op("Log", |cx, node| one(cx, node, ScalarOp::Log)),
    op("Sin", |cx, node| one(cx, node, ScalarOp::Sin)),
    op("Cos", |cx, node| one(cx, node, ScalarOp::Cos)),
    op("Tan", |cx, node| one(cx, node, ScalarOp::Tan)),
    op("Asin", |cx, node| one(cx, node, ScalarOp::Asin)),
    op("Acos", |cx, node| one(cx, node, ScalarOp::Acos)),
    op("Atan", |cx, node| one(cx, node, ScalarOp::Atan)),
    op("Sinh", |cx, node| one(cx, node, ScalarOp::Sinh)),
    op("Cosh", |cx, node| one(cx, node, ScalarOp::Cosh)),
    op("Tanh", |cx, node| one(cx, node, ScalarOp::Tanh)),
    op("Asinh", |cx, node| one(cx, node, ScalarOp::Asinh)),
    op("Acosh", |cx, node| one(cx, node, ScalarOp::Acosh)),
    op("Atanh", |cx, node| one(cx, node, ScalarOp::Atanh)),
    op("Erf", |cx, node| one(cx, node, ScalarOp::Erf)),
    op("Sigmoid", |cx, node| one(cx, node, ScalarOp::Sigmoid)),
    op("Not", |cx, node| one(cx, node, ScalarOp::Not)),
    op("BitwiseNot", |cx, node| one(cx, node, ScalarOp::Not)),
    op("IsNaN", |cx, node| one(cx, node, ScalarOp::IsNan)),
    op("IsInf", is_inf),
    op_between("Clip", 1, 10, clip_by_attributes),
    op_since("Clip", 11, clip),
    op_of_slots("Identity", |_, node| Ok(vec![node.slot(0)?])),
];

/// Of numbers or of strings.
fn equal(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let same = match (node.slot(0)?, node.slot(1)?) {
        (Slot::Text(a), Slot::Text(b)) => cx.equal_texts(a, b)?,
        _ => two(cx, node, ScalarOp::Eq)?[0],
    };
    Ok(vec![Slot::Value(same)])
}

fn one(cx: &mut Cx, node: &Node, f: ScalarOp) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![cx.unary(f, x)?])
}

fn two(cx: &mut Cx, node: &Node, f: ScalarOp) -> Outcome<Vec<Value>> {
    let (a, b) = pair(cx, node)?;
    Ok(vec![cx.binary(f, a, b)?])
}

/// Both operands. Before opset 7 the second may lie along inner axes of the first: from attribute `axis` on.
fn pair(cx: &mut Cx, node: &Node) -> Outcome<(Value, Value)> {
    let (a, b) = (node.operand(0)?, node.operand(1)?);
    let Some(axis) = node.optional_int("axis").filter(|_| node.version < 7 && node.flag("broadcast", false))
    else {
        return Ok((a, b));
    };
    let (rank_a, rank_b) = (cx.rank(a), cx.rank(b));
    let end = axis_in(axis, rank_a)? + rank_b;
    if end > rank_a {
        return Err(Fault::from(format!("{} does not lie in {} from axis {axis} on", cx.ty(b), cx.ty(a))));
    }
    let inner: Vec<usize> = (rank_b..rank_b + rank_a - end).collect();
    Ok((a, cx.add_axes(b, &inner)?))
}

/// One or more operands, combined from the left.
fn many(cx: &mut Cx, node: &Node, f: ScalarOp) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    let (first, rest) = operands.split_first().ok_or_else(|| Fault::invalid("takes one or more operands"))?;
    let mut result = *first;
    for operand in rest {
        result = cx.binary(f, result, *operand)?;
    }
    Ok(vec![result])
}

fn mean(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    if let Some(first) = operands.first().filter(|first| !cx.dtype(**first).is_float()) {
        let dtype = cx.dtype(*first);
        let count = cx.splat_int(DType::I64, Shape::scalar(), operands.len() as i64)?;
        let mean = whole_mean(cx, dtype, count, |cx, part| {
            let mut sum = part(cx, operands[0])?;
            for operand in &operands[1..] {
                let next = part(cx, *operand)?;
                sum = cx.add(sum, next)?;
            }
            Ok(sum)
        })?;
        return Ok(vec![mean]);
    }
    let sum = many(cx, node, ScalarOp::Add)?[0];
    Ok(vec![cx.with_number(ScalarOp::Div, sum, node.operands.len() as f64)?])
}

/// The exponent may have another element type; the result has the base's.
fn pow(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (base, exponent) = pair(cx, node)?;
    let (from, to) = (cx.dtype(exponent), cx.dtype(base));
    let raised = if from.is_float() && !to.is_float() {
        let base = cx.cast(base, from)?;
        let raised = cx.binary(ScalarOp::Pow, base, exponent)?;
        cx.cast(raised, to)?
    } else {
        let exponent = cx.cast(exponent, to)?;
        cx.binary(ScalarOp::Pow, base, exponent)?
    };
    Ok(vec![raised])
}

fn bit_shift(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    match node.text("direction", "").as_str() {
        "LEFT" => two(cx, node, ScalarOp::ShiftLeft),
        "RIGHT" => shift_right(cx, node),
        other => Err(Fault::invalid(format!("direction `{other}` is neither LEFT nor RIGHT"))),
    }
}

/// Counts beyond the width (negative ones too) leave only the sign.
fn shift_right(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, mut count) = (node.operand(0)?, node.operand(1)?);
    let dtype = cx.dtype(x);
    if dtype.is_int() && dtype.is_signed() {
        let last = f64::from(dtype.bits() - 1);
        let most = cx.number_like(count, last)?;
        let negative = cx.with_number(ScalarOp::Lt, count, 0.0)?;
        let bounded = cx.binary(ScalarOp::Min, count, most)?;
        count = cx.select(negative, most, bounded)?;
    }
    Ok(vec![cx.binary(ScalarOp::ShiftRight, x, count)?])
}

fn where_(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (condition, yes, no) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    Ok(vec![cx.select(condition, yes, no)?])
}

fn is_inf(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (negative, positive) = (node.flag("detect_negative", true), node.flag("detect_positive", true));
    let infinite = cx.unary(ScalarOp::IsInf, x)?;
    let sided = match (negative, positive) {
        (true, true) => return Ok(vec![infinite]),
        (true, false) => cx.with_number(ScalarOp::Lt, x, 0.0)?,
        (false, true) => cx.with_number(ScalarOp::Gt, x, 0.0)?,
        (false, false) => cx.binary(ScalarOp::Xor, infinite, infinite)?,
    };
    Ok(vec![cx.binary(ScalarOp::And, infinite, sided)?])
}

fn clip_by_attributes(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let mut x = node.operand(0)?;
    if let Some(min) = node.optional_float("min") {
        x = cx.with_number(ScalarOp::Max, x, min)?;
    }
    if let Some(max) = node.optional_float("max") {
        x = cx.with_number(ScalarOp::Min, x, max)?;
    }
    Ok(vec![x])
}

/// Where the bounds cross, the upper one wins.
fn clip(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let mut x = node.operand(0)?;
    if let Some(min) = node.optional(1) {
        x = cx.binary(ScalarOp::Max, x, min)?;
    }
    if let Some(max) = node.optional(2) {
        x = cx.binary(ScalarOp::Min, x, max)?;
    }
    Ok(vec![x])
}
