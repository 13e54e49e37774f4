//! Ops on strings, by their bytes; see `build/text.rs` for how strings lie.

use super::indexing::found;
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op_of_slots};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] =
    &[op_of_slots("StringConcat", concat), op_of_slots("StringNormalizer", normalize)];

/// The second string of each pair behind the first.
fn concat(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let (a, b) = (node.texts_operand(0)?, node.texts_operand(1)?);
    let width = cx.text_width(a) + cx.text_width(b);
    let (a, b) = (cx.widened_text(a, &width)?, cx.widened_text(b, &width)?);
    let shape = cx.broadcast_shape(&[a, b])?;
    let (a, b) = (cx.broadcast_to(a, &shape)?, cx.broadcast_to(b, &shape)?);
    let last = shape.rank() - 1;
    let length = cx.text_lengths(a)?;
    let length = cx.add_axes(length, &[last])?;
    let place = cx.iota(DType::I64, [width], 0)?;
    let behind = cx.sub(place, length)?;
    let behind = cx.broadcast_to(behind, &shape)?;
    let is_first = cx.with_number(ScalarOp::Lt, behind, 0.0)?;
    let from = cx.with_number(ScalarOp::Max, behind, 0.0)?;
    let second = cx.emit(tegula_tensor::TensorOp::GatherElements { axis: last }, &[b, from])?;
    Ok(vec![Slot::Text(cx.select(is_first, a, second)?)])
}

/// Leaves out stop words, and changes the case of letters. One empty string where nothing is left.
fn normalize(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let text = node.texts_operand(0)?;
    let (rank, width) = (cx.rank(text), cx.text_width(text));
    if !(rank == 2 || rank == 3 && cx.dim(text, 0).is_const(1)) {
        return Err(Fault::invalid(format!(
            "strings [C] or [1,C] are expected, got {}",
            cx.text_shape(text)
        )));
    }
    let n = cx.dim(text, rank - 2);
    let words = cx.reshape(text, [n, width.clone()])?;
    let change = node.text("case_change_action", "NONE");
    let is_sensitive = node.flag("is_case_sensitive", false);
    // Which letters there are, and how their case changes, differs by language beyond ASCII.
    node.text("locale", "");
    let stops = node.texts("stopwords").unwrap_or_default();
    let stops: Vec<Vec<u8>> = stops.into_iter().map(String::into_bytes).collect();
    let changed = match change.as_str() {
        "NONE" => words,
        "LOWER" => case_changed(cx, words, b'A', 32.0)?,
        "UPPER" => case_changed(cx, words, b'a', -32.0)?,
        other => {
            return Err(Fault::invalid(format!(
                "case_change_action `{other}` is none of NONE, LOWER, UPPER"
            )));
        }
    };
    if stops.is_empty() {
        let shape = cx.shape(text);
        return Ok(vec![Slot::Text(cx.reshape(changed, shape)?)]);
    }
    let mut compared = words;
    let mut stops = cx.texts(&stops, &[stops.len()])?;
    if !is_sensitive {
        compared = case_changed(cx, compared, b'A', 32.0)?;
        stops = case_changed(cx, stops, b'A', 32.0)?;
    }
    let column = cx.add_axes(compared, &[1])?;
    let stopped = cx.equal_texts(column, stops)?;
    let stopped = cx.reduce(ScalarOp::Or, stopped, &[1], false)?;
    let kept = cx.unary(ScalarOp::Not, stopped)?;
    // An empty string behind them all is kept where nothing else is.
    let any = cx.reduce(ScalarOp::Or, kept, &[0], true)?;
    let none = cx.unary(ScalarOp::Not, any)?;
    let kept = cx.concat(&[kept, none], 0)?;
    let high = vec![Dim::from(1), Dim::from(0)];
    let rows = cx.pad_with(changed, 0.0, vec![Dim::from(0); 2], high)?;
    let (places, count) = found(cx, kept)?;
    let places = cx.reshape(places, [count])?;
    let left = cx.gather(rows, places, 0)?;
    let left = if rank == 3 { cx.add_axes(left, &[0])? } else { left };
    Ok(vec![Slot::Text(left)])
}

/// Letters of the 26 from `first` on, moved by `distance`. Strings that have letters beyond ASCII stop the run.
fn case_changed(cx: &mut Cx, text: Value, first: u8, distance: f64) -> Outcome {
    let beyond = cx.with_number(ScalarOp::Ge, text, 128.0)?;
    let beyond = cx.cast(beyond, DType::I64)?;
    let axes: Vec<usize> = (0..cx.rank(text)).collect();
    let beyond = cx.reduce(ScalarOp::Add, beyond, &axes, false)?;
    let most = cx.shape(text).count();
    let beyond = cx.size_or_bind(beyond, "beyond_ascii", most)?;
    let message = "the case of letters is changed within ASCII only, but a string has bytes beyond it";
    cx.assert_equal(&beyond, &Dim::from(0), message)?;
    let from = cx.with_number(ScalarOp::Ge, text, f64::from(first))?;
    let to = cx.with_number(ScalarOp::Lt, text, f64::from(first) + 26.0)?;
    let is_letter = cx.binary(ScalarOp::And, from, to)?;
    let f = if distance < 0.0 { ScalarOp::Sub } else { ScalarOp::Add };
    let moved = cx.with_number(f, text, distance.abs())?;
    cx.select(is_letter, moved, text)
}
