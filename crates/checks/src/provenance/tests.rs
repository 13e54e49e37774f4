//! The check finds what it is for: names taken away, exchanged or given twice.

use std::collections::BTreeMap;

use prost::Message;
use tegula_import::onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto,
    ValueInfoProto, tensor_shape_proto, type_proto,
};

use super::judge::judge;
use super::kernels::{Kernel, Kernels, Work};
use super::of_model;
use super::source::{Idle, Node, nodes_of_graph};

fn node(op: &str, name: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_string()),
        name: Some(name.to_string()),
        input: inputs.iter().map(|input| input.to_string()).collect(),
        output: vec![output.to_string()],
        ..NodeProto::default()
    }
}

fn weights(name: &str, dims: &[i64], value: f32) -> TensorProto {
    let count = dims.iter().product::<i64>() as usize;
    TensorProto {
        name: Some(name.to_string()),
        dims: dims.to_vec(),
        data_type: Some(1),
        float_data: (0..count).map(|i| value + i as f32 / 64.0).collect(),
        ..TensorProto::default()
    }
}

fn tensor(name: &str, dims: &[i64]) -> ValueInfoProto {
    let dim = |n: &i64| tensor_shape_proto::Dimension {
        value: Some(tensor_shape_proto::dimension::Value::DimValue(*n)),
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = type_proto::Tensor { elem_type: Some(1), shape: Some(shape) };
    let ty = TypeProto { value: Some(type_proto::Value::TensorType(tensor)) };
    ValueInfoProto { name: Some(name.to_string()), r#type: Some(ty) }
}

/// A convolution that is scaled and cut off, then one that reads it; beside them one that nobody reads, and a twin.
fn graph() -> GraphProto {
    let size = [1, 8, 12, 12];
    GraphProto {
        name: Some("main".to_string()),
        input: vec![tensor("x", &size)],
        output: vec![tensor("z", &[1, 8, 8, 8])],
        initializer: vec![
            weights("w", &[8, 8, 3, 3], 0.5),
            weights("v", &[8, 8, 3, 3], 0.25),
            weights("s", &[1, 8, 1, 1], 2.0),
        ],
        node: vec![
            node("Conv", "first", &["x", "w"], "a"),
            node("Mul", "scale", &["a", "s"], "b"),
            node("Relu", "cut", &["b"], "c"),
            node("Conv", "second", &["c", "v"], "d"),
            node("Relu", "cut again", &["d"], "e"),
            node("Conv", "unread", &["x", "v"], "f"),
            node("Conv", "twin", &["c", "v"], "g"),
            node("Add", "both", &["e", "g"], "z"),
        ],
        ..GraphProto::default()
    }
}

fn model() -> Vec<u8> {
    let opset = OperatorSetIdProto { version: Some(17), ..OperatorSetIdProto::default() };
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![opset],
        graph: Some(graph()),
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

#[test]
fn names_of_a_compiled_model_hold() {
    let findings = of_model(&model(), "zen5").unwrap().unwrap();
    assert_eq!(findings.faults, [""; 0]);
    assert_eq!(findings.nodes, 4);
    let listed = BTreeMap::from([("dead".to_string(), 1), ("equal".to_string(), 1)]);
    assert_eq!(findings.listed, listed);
}

#[test]
fn the_file_says_which_nodes_need_no_kernel() {
    let nodes = nodes_of_graph(&graph());
    let idle: Vec<Option<Idle>> = nodes.into_iter().map(|node| node.idle).collect();
    assert_eq!(idle, [None, None, Some(Idle::Dead), Some(Idle::Equal("second".to_string()))]);
}

/// Three nodes in a row, a kernel each.
fn row() -> (Vec<Node>, BTreeMap<String, Work>, Vec<Kernel>) {
    let names = ["one", "two", "three"];
    let node = |i: usize| Node {
        name: names[i].to_string(),
        op: "Conv".to_string(),
        idle: None,
        reads: names[..i].last().map(|name| name.to_string()).into_iter().collect(),
    };
    let kernel = |i: usize| Kernel {
        title: format!("conv_{i}"),
        nodes: vec![names[i].to_string(), format!("Relu after {}", names[i])],
        work: 100.0,
        place: i,
        reads: i.checked_sub(1).into_iter().collect(),
        ..Kernel::default()
    };
    let work = Work { amount: 100.0, is_one_step: false };
    let work = names.iter().map(|name| (name.to_string(), work)).collect();
    ((0..3).map(node).collect(), work, (0..3).map(kernel).collect())
}

fn faults_after(change: impl FnOnce(&mut Vec<Kernel>)) -> Vec<String> {
    let (nodes, work, mut kernels) = row();
    change(&mut kernels);
    judge(&nodes, &work, &Kernels::in_a_row(kernels)).faults
}

#[track_caller]
fn finds(fault: &str, change: impl FnOnce(&mut Vec<Kernel>)) {
    let faults = faults_after(change);
    assert!(faults.iter().any(|line| line.starts_with(fault)), "{faults:?}");
}

#[test]
fn right_names_are_no_fault() {
    assert_eq!(faults_after(|_| {}), [""; 0]);
    // A part of `one`, its bias, is left to the kernel that reads it.
    assert_eq!(faults_after(|kernels| kernels[1].nodes.push("one".to_string())), [""; 0]);
}

#[test]
fn wrong_names_are_found() {
    finds("missing: Conv \"two\"", |kernels| drop(kernels[1].nodes.remove(0)));
    finds("misnamed: conv_1", |kernels| kernels[1].nodes.reverse());
    finds("misplaced: \"three\"", |kernels| {
        let name = std::mem::replace(&mut kernels[1].nodes[0], "three".to_string());
        kernels[2].nodes[0] = name;
    });
    finds("doubled: \"one\"", |kernels| kernels[2].nodes[0] = "one".to_string());
    finds("doubled: conv_2 is not of \"one\"", |kernels| kernels[2].nodes.push("one".to_string()));
    finds("doubled: \"two\"", |kernels| {
        // Two nodes in the kernel of one.
        kernels[1].nodes.push("three".to_string());
        kernels.pop();
        kernels[1].work = 90.0;
    });
}
