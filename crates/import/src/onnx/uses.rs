//! What graphs and nodes say of names: which they use, make and declare the types of.

use super::proto::{GraphProto, NodeProto, ValueInfoProto, tensor_shape_proto, type_proto};
use super::weights::dtype_of;
use crate::build::scope::Declared;
use std::collections::HashSet;

/// Names that a node uses from its own graph: its operands, and what its inner graphs use but do not make.
pub(in crate::onnx) fn used_names<'a>(node: &'a NodeProto, f: &mut dyn FnMut(&'a str)) {
    node.input.iter().filter(|name| !name.is_empty()).for_each(|name| f(name));
    inner_names(node, f);
}

/// About how many names a graph defines: most nodes have one result.
pub(in crate::onnx) fn n_names(graph: &GraphProto) -> usize {
    graph.input.len() + graph.initializer.len() + graph.node.len()
}

/// The graphs inside a node.
pub(in crate::onnx) fn graphs_of(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute.iter().flat_map(|attribute| attribute.g.as_deref().into_iter().chain(&attribute.graphs))
}

/// Names that the graphs inside a node use but do not make.
pub(in crate::onnx) fn inner_names<'a>(node: &'a NodeProto, f: &mut dyn FnMut(&'a str)) {
    for graph in graphs_of(node) {
        let inputs = graph.input.iter().map(|info| info.name());
        let stored = graph.initializer.iter().map(|tensor| tensor.name());
        let made = graph.node.iter().flat_map(|node| node.output.iter().map(String::as_str));
        let own: HashSet<&str> = inputs.chain(stored).chain(made).collect();
        let mut captured = |name: &'a str| {
            if !own.contains(name) {
                f(name);
            }
        };
        for node in &graph.node {
            used_names(node, &mut captured);
        }
        graph.output.iter().for_each(|info| captured(info.name()));
    }
}

/// The values that a graph declares, by name.
pub(in crate::onnx) fn declared_in(graph: &GraphProto) -> impl Iterator<Item = (&str, Declared)> {
    let infos = graph.value_info.iter().chain(&graph.output);
    infos.filter_map(|info| Some((info.name(), declared(info)?)))
}

/// Nothing where it is no tensor.
pub(in crate::onnx) fn declared(info: &ValueInfoProto) -> Option<Declared> {
    let Some(type_proto::Value::TensorType(tensor)) = info.r#type.as_ref()?.value.as_ref() else {
        return None;
    };
    let extent = |dim: &tensor_shape_proto::Dimension| match &dim.value {
        Some(tensor_shape_proto::dimension::Value::DimValue(n)) if *n >= 0 => Some(*n),
        _ => None,
    };
    let shape = tensor.shape.as_ref().map(|shape| shape.dim.iter().map(extent).collect());
    Some(Declared { dtype: dtype_of(tensor.elem_type()).ok(), shape })
}
