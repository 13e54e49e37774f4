//! Conversions between element types: by value, by another tensor's type, by bits.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[op("Cast", cast), op("CastLike", cast_like), op("BitCast", bit_cast)];

fn cast(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let to = stated_type(node)?;
    convert(cx, node, to)
}

fn cast_like(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let to = cx.dtype(node.operand(1)?);
    convert(cx, node, to)
}

fn convert(cx: &mut Cx, node: &Node, to: DType) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    if cx.dtype(x) == to {
        return Ok(vec![x]);
    }
    let x = match to {
        DType::F8E8M0 => to_power_of_two(cx, x, &node.text("round_mode", "up"))?,
        // The suite's integers of less than 8 bits wrap where wider ones are left undefined.
        to if to.is_int() && to.bits() < 8 && cx.dtype(x).is_float() => cx.cast(x, DType::I32)?,
        _ => x,
    };
    let saturate = node.flag("saturate", true);
    Ok(vec![cx.unary(ScalarOp::Cast { to, saturate }, x)?])
}

/// `x` in `f32`, rounded to a power of two of `f8e8m0`. What lies outside of its range and NaN stay: the cast that
/// follows knows what becomes of them, and rounds to nearest itself.
fn to_power_of_two(cx: &mut Cx, x: Value, round_mode: &str) -> Outcome {
    // The bits of 2^-127, the least power of two, and of infinity.
    const LEAST: f64 = 4_194_304.0;
    const INFINITY: f64 = 2_139_095_040.0;
    let x = cx.cast(x, DType::F32)?;
    let bits = cx.unary(ScalarOp::Bitcast { to: DType::U32 }, x)?;
    let bits = cx.with_number(ScalarOp::And, bits, f64::from(i32::MAX))?;
    let rounded = match round_mode {
        "nearest" => return Ok(x),
        "up" => {
            let above = cx.with_number(ScalarOp::Add, bits, 8_388_607.0)?;
            cx.with_number(ScalarOp::And, above, INFINITY)?
        }
        "down" => {
            let below = cx.with_number(ScalarOp::And, bits, INFINITY)?;
            cx.with_number(ScalarOp::Max, below, LEAST)?
        }
        other => {
            let message = format!("round_mode is `{other}`, but must be `up`, `down` or `nearest`");
            return Err(Fault::invalid(message));
        }
    };
    let rounded = cx.unary(ScalarOp::Bitcast { to: DType::F32 }, rounded)?;
    let is_least = cx.with_number(ScalarOp::Le, bits, LEAST)?;
    let is_special = cx.with_number(ScalarOp::Ge, bits, INFINITY)?;
    let stays = cx.binary(ScalarOp::Or, is_least, is_special)?;
    cx.select(stays, x, rounded)
}

fn bit_cast(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let to = stated_type(node)?;
    let x = node.operand(0)?;
    let from = cx.dtype(x);
    if from == to {
        return Ok(vec![x]);
    }
    if from.bits() != to.bits() {
        return Err(Fault::invalid(format!("{from} and {to} have different widths")));
    }
    Ok(vec![cx.unary(ScalarOp::Bitcast { to }, x)?])
}

fn stated_type(node: &Node) -> Outcome<DType> {
    node.element_type("to")?.ok_or_else(|| Fault::invalid("attribute `to` is missing"))
}
