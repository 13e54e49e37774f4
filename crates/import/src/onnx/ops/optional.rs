//! Optional values: whether there is one is known before the run, so that one that is some is what it holds.

use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_of_slots};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::Value;

pub(super) const ROWS: &[Row] = &[
    op_of_slots("Optional", optional),
    op("OptionalHasElement", has_element),
    op_of_slots("OptionalGetElement", get_element),
];

fn given(node: &Node) -> Option<Slot> {
    node.operands.first().cloned().flatten().filter(|slot| *slot != Slot::Absent)
}

fn optional(_: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    Ok(vec![given(node).unwrap_or(Slot::Absent)])
}

fn has_element(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    Ok(vec![cx.splat_int(DType::Bool, Shape::scalar(), i64::from(given(node).is_some()))?])
}

fn get_element(_: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let held = given(node).ok_or_else(|| Fault::invalid("the element of an optional value that has none"))?;
    Ok(vec![held])
}
