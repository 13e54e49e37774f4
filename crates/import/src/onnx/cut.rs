//! A part of a model: the graph that makes the values named, and nothing else.
//!
//! Before: names of values of the main graph. After: a graph whose outputs they are, in the order asked; its nodes,
//! inputs and initializers are those that the values need.

use super::proto::{GraphProto, NodeProto, ValueInfoProto};
use super::uses::used_names;
use crate::report::Fault;
use std::collections::{HashMap, HashSet};

/// At most this many names stand in a complaint.
const MAX_NAMES: usize = 8;

/// Errors: one for each name that is no value of the graph.
pub(crate) fn cut(graph: &GraphProto, results: &[String]) -> Result<GraphProto, Vec<Fault>> {
    let known: HashSet<&str> = value_names(graph).collect();
    let unknown = results.iter().filter(|name| !known.contains(name.as_str()));
    let faults: Vec<Fault> = unknown.map(|name| no_value(graph, name)).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let needed = needed(&graph.node, results.iter().map(String::as_str));
    let is_needed = |name: &str| needed.contains(name);
    let mut part = GraphProto {
        node: graph.node.iter().filter(|node| makes(node).any(is_needed)).cloned().collect(),
        input: graph.input.iter().filter(|info| is_needed(info.name())).cloned().collect(),
        initializer: graph.initializer.iter().filter(|tensor| is_needed(tensor.name())).cloned().collect(),
        sparse_initializer: graph.sparse_initializer.clone(),
        // What the model says of values is a hint wherever it stands.
        value_info: graph.value_info.iter().chain(&graph.output).cloned().collect(),
        ..GraphProto::default()
    };
    part.output = results
        .iter()
        .map(|name| ValueInfoProto { name: Some(name.clone()), ..ValueInfoProto::default() })
        .collect();
    Ok(part)
}

/// The names of a node's results.
pub(super) fn makes(node: &NodeProto) -> impl Iterator<Item = &str> {
    node.output.iter().map(String::as_str).filter(|name| !name.is_empty())
}

fn value_names(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let inputs = graph.input.iter().map(|info| info.name());
    let stored = graph.initializer.iter().map(|tensor| tensor.name());
    inputs.chain(stored).chain(graph.node.iter().flat_map(makes))
}

/// The names that the results depend on, themselves included.
pub(super) fn needed<'a>(nodes: &'a [NodeProto], results: impl Iterator<Item = &'a str>) -> HashSet<&'a str> {
    let makers: HashMap<&str, &NodeProto> =
        nodes.iter().flat_map(|node| makes(node).map(move |name| (name, node))).collect();
    let mut needed: HashSet<&str> = results.collect();
    let mut left: Vec<&str> = needed.iter().copied().collect();
    while let Some(name) = left.pop() {
        let Some(node) = makers.get(name) else { continue };
        used_names(node, &mut |used| {
            if needed.insert(used) {
                left.push(used);
            }
        });
    }
    needed
}

fn no_value(graph: &GraphProto, name: &str) -> Fault {
    let alike: Vec<String> = value_names(graph)
        .filter(|known| !name.is_empty() && known.contains(name))
        .take(MAX_NAMES)
        .map(|known| format!("`{known}`"))
        .collect();
    let outputs: Vec<String> = graph.output.iter().map(|info| format!("`{}`", info.name())).collect();
    let why = match alike.as_slice() {
        [] => format!("the model has no value `{name}`; its outputs are {}", outputs.join(", ")),
        _ => format!("the model has no value `{name}`; names that hold it are {}", alike.join(", ")),
    };
    Fault { code: "unknown-value", why }
}
