//! Calls of a model's own functions: the body is copied in, node by node.

use super::cx::Cx;
use super::domain::domain_versions;
use super::functions::key;
use super::node::{Node, display_op};
use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};
use crate::build::scope::Slot;
use crate::report::{Fault, Outcome};
use std::collections::HashMap;

/// Calls nested deeper are refused.
const MAX_CALLS: usize = 48;

impl Cx<'_> {
    /// Copies a function's body in: its inputs are the node's operands, its attributes the node's.
    pub fn call_function(&mut self, function: &FunctionProto, node: &Node) -> Outcome<Vec<Slot>> {
        let called = key(function.domain(), function.name(), function.overload());
        if self.functions.calls.contains(&called) {
            return Err(Fault::invalid("the function calls itself"));
        }
        if self.functions.calls.len() >= MAX_CALLS {
            return Err(Fault::unsupported(format!("functions call each other more than {MAX_CALLS} deep")));
        }
        if node.operands.len() > function.input.len() {
            return Err(Fault::invalid(format!(
                "the function takes {} operands, got {}",
                function.input.len(),
                node.operands.len()
            )));
        }
        let attributes = bind_attributes(function, node.proto)?;
        let body: Vec<NodeProto> = function.node.iter().map(|node| substitute(node, &attributes)).collect();
        let versions = domain_versions(&function.opset_import)?;
        self.functions.calls.push(called);
        let opsets = std::mem::replace(&mut self.opsets, versions);
        self.scopes.enter(body.len(), [], true);
        for (name, operand) in function.input.iter().zip(&node.operands) {
            if let Some(slot) = operand {
                self.scopes.define(name, slot.clone());
            }
        }
        let location = self.location.clone();
        self.nodes(&body, &function.input, function.output.iter().map(String::as_str));
        self.location = location;
        let results = function.output.iter().map(|name| self.scopes.get(name)).collect::<Vec<_>>();
        self.scopes.leave();
        self.opsets = opsets;
        self.functions.calls.pop();
        results
            .into_iter()
            .zip(&function.output)
            .map(|(slot, name)| match slot {
                Some(Slot::Failed) => Err(Fault::reported()),
                Some(slot) => Ok(slot),
                None => Err(Fault::invalid(format!(
                    "nothing in function `{}` makes its output `{name}`",
                    display_op(node.proto)
                ))),
            })
            .collect()
    }
}

/// The call's attributes and the defaults of those it leaves out.
fn bind_attributes<'a>(
    function: &'a FunctionProto,
    call: &'a NodeProto,
) -> Outcome<HashMap<&'a str, &'a AttributeProto>> {
    let mut bound: HashMap<&str, &AttributeProto> =
        function.attribute_proto.iter().map(|attribute| (attribute.name(), attribute)).collect();
    for attribute in &call.attribute {
        bound.insert(attribute.name(), attribute);
    }
    Ok(bound)
}

/// A node of the body with references to the function's attributes resolved; unbound ones are left out.
fn substitute(node: &NodeProto, bound: &HashMap<&str, &AttributeProto>) -> NodeProto {
    let mut copy = node.clone();
    copy.attribute = node.attribute.iter().filter_map(|a| substitute_attribute(a, bound)).collect();
    copy
}

fn substitute_attribute(
    attribute: &AttributeProto,
    bound: &HashMap<&str, &AttributeProto>,
) -> Option<AttributeProto> {
    if !attribute.ref_attr_name().is_empty() {
        let mut value = (*bound.get(attribute.ref_attr_name())?).clone();
        value.name = attribute.name.clone();
        value.ref_attr_name = None;
        return Some(value);
    }
    let mut copy = attribute.clone();
    let inner = |graph: &mut GraphProto| {
        graph.node = graph.node.iter().map(|node| substitute(node, bound)).collect();
    };
    copy.g.as_deref_mut().into_iter().for_each(inner);
    copy.graphs.iter_mut().for_each(inner);
    Some(copy)
}
