//! The nodes of an ONNX file that kernels are to be named by, and why some need none: told by walking the file, without the
//! compiler.
//!
//! Forwards, each value has what it depends on (nothing, sizes of inputs, their elements), a hash of how it is computed, and
//! the working nodes that it comes from. Backwards, each value is wanted or not.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use anyhow::{Context, Result};
use prost::Message;
use tegula_import::onnx::proto::{GraphProto, ModelProto, NodeProto, TensorProto};

/// A node that does real work.
#[derive(Clone, Debug)]
pub struct Node {
    /// As kernels are named by it.
    pub name: String,
    pub op: String,
    /// Why no kernel need be named by it.
    pub idle: Option<Idle>,
    /// The names of the working nodes that it reads, directly or through others.
    pub reads: BTreeSet<String>,
}

/// Why a node needs no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// No output of the model hangs on its elements.
    Dead,
    /// No element of an input decides it.
    Known,
    /// It stands in a branch that no element of an input decides.
    Branch,
    /// It computes what this node computes.
    Equal(String),
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Idle::Dead => "dead",
            Idle::Known => "known",
            Idle::Branch => "branch",
            Idle::Equal(_) => "equal",
        })
    }
}

/// What a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depends {
    Nothing,
    Sizes,
    Elements,
}

#[derive(Clone)]
struct Value {
    depends: Depends,
    hash: u64,
    comes_from: BTreeSet<String>,
}

/// Parts of op types that do real work.
const WORKING: [&str; 8] = ["Conv", "MatMul", "Gemm", "Attention", "LSTM", "GRU", "RNN", "Pool"];

fn works(node: &NodeProto) -> bool {
    WORKING.iter().any(|part| node.op_type().contains(part))
}

/// Every working node, those of inner graphs among them.
pub fn nodes_of(model: &[u8]) -> Result<Vec<Node>> {
    let model = ModelProto::decode(model).context("the model is no ONNX file")?;
    let graph = model.graph.context("the model has no graph")?;
    Ok(nodes_of_graph(&graph))
}

pub fn nodes_of_graph(graph: &GraphProto) -> Vec<Node> {
    let mut walk = Walk::default();
    walk.graph(graph, &HashMap::new(), Place { is_wanted: true, is_decided: false });
    walk.nodes
}

#[derive(Default)]
struct Walk {
    nodes: Vec<Node>,
    /// The first node of each way to compute.
    first: HashMap<u64, String>,
    /// Values that are equal to no other.
    n_unlike: u64,
}

/// Where a graph stands.
#[derive(Clone, Copy)]
struct Place {
    /// Whether what its node gives is wanted.
    is_wanted: bool,
    /// Whether it is a branch that is decided before the run.
    is_decided: bool,
}

type Scope = HashMap<String, Value>;

impl Walk {
    fn unlike(&mut self, depends: Depends) -> Value {
        self.n_unlike += 1;
        Value { depends, hash: hash_of(&("unlike", self.n_unlike)), comes_from: BTreeSet::new() }
    }

    /// Walks a graph in a scope, and gives the values of its outputs.
    fn graph(&mut self, graph: &GraphProto, outer: &Scope, place: Place) -> Vec<Value> {
        let mut scope = outer.clone();
        for input in &graph.input {
            let value = self.unlike(Depends::Elements);
            scope.insert(input.name().to_string(), value);
        }
        for tensor in &graph.initializer {
            scope.insert(tensor.name().to_string(), stored(tensor));
        }
        let wanted = wanted(graph);
        for node in &graph.node {
            let is_wanted = place.is_wanted && node.output.iter().any(|name| wanted.contains(name.as_str()));
            self.node(node, &mut scope, Place { is_wanted, ..place });
        }
        let outputs = graph.output.iter().map(|output| scope.get(output.name()).cloned());
        outputs.map(|value| value.unwrap_or_else(|| self.unlike(Depends::Elements))).collect()
    }

    fn node(&mut self, node: &NodeProto, scope: &mut Scope, place: Place) {
        let operands: Vec<Option<Value>> = node.input.iter().map(|name| scope.get(name).cloned()).collect();
        let mut depends =
            operands.iter().flatten().map(|value| value.depends).max().unwrap_or(Depends::Nothing);
        let mut comes_from: BTreeSet<String> =
            operands.iter().flatten().flat_map(|value| value.comes_from.iter().cloned()).collect();
        let is_branch = node.op_type() == "If";
        let is_decided = place.is_decided || is_branch && depends < Depends::Elements;
        let mut has_graphs = false;
        for graph in node.attribute.iter().filter_map(|attribute| attribute.g.as_deref()) {
            has_graphs = true;
            for value in self.graph(graph, scope, Place { is_decided, ..place }) {
                depends = depends.max(value.depends);
                comes_from.extend(value.comes_from);
            }
        }
        match node.op_type() {
            "Shape" | "Size" => {
                depends = depends.min(Depends::Sizes);
                comes_from.clear();
            }
            op if op.starts_with("Random") || op == "Multinomial" || op == "Bernoulli" => {
                depends = Depends::Elements;
            }
            _ => {}
        }
        let hash = if has_graphs { self.unlike(depends).hash } else { hash_of_node(node, &operands) };
        if works(node) {
            let name = display_name(node);
            let equal = self.first.get(&hash).cloned();
            self.first.entry(hash).or_insert_with(|| name.clone());
            let idle = match equal {
                _ if !place.is_wanted => Some(Idle::Dead),
                _ if depends < Depends::Elements => Some(Idle::Known),
                _ if place.is_decided => Some(Idle::Branch),
                equal => equal.map(Idle::Equal),
            };
            let reads = std::mem::replace(&mut comes_from, BTreeSet::from([name.clone()]));
            self.nodes.push(Node { name, op: node.op_type().to_string(), idle, reads });
        }
        for (i, name) in node.output.iter().enumerate() {
            let same = operands.first().cloned().flatten().filter(|_| node.op_type() == "Identity");
            let hash = same.map_or_else(|| hash_of(&(hash, i)), |operand| operand.hash);
            scope.insert(name.clone(), Value { depends, hash, comes_from: comes_from.clone() });
        }
    }
}

/// The values of a graph whose elements its outputs hang on. What only sizes are asked of is not wanted.
fn wanted(graph: &GraphProto) -> HashSet<&str> {
    let mut wanted: HashSet<&str> = graph.output.iter().map(|output| output.name()).collect();
    for node in graph.node.iter().rev() {
        if node.output.iter().any(|name| wanted.contains(name.as_str())) {
            if !matches!(node.op_type(), "Shape" | "Size") {
                wanted.extend(node.input.iter().map(String::as_str));
            }
            node.attribute.iter().filter_map(|attribute| attribute.g.as_deref()).for_each(|graph| {
                captured(graph, &mut wanted);
            });
        }
    }
    wanted
}

/// Every name that an inner graph reads: more than it captures.
fn captured<'a>(graph: &'a GraphProto, names: &mut HashSet<&'a str>) {
    names.extend(graph.output.iter().map(|output| output.name()));
    for node in &graph.node {
        names.extend(node.input.iter().map(String::as_str));
        let inner = node.attribute.iter().filter_map(|attribute| attribute.g.as_deref());
        inner.for_each(|graph| captured(graph, names));
    }
}

/// The node's name, or its first result's.
fn display_name(node: &NodeProto) -> String {
    match node.name() {
        "" => node.output.iter().find(|name| !name.is_empty()).cloned().unwrap_or_default(),
        name => name.to_string(),
    }
}

fn stored(tensor: &TensorProto) -> Value {
    let nameless = TensorProto { name: None, ..tensor.clone() };
    let hash = hash_of(&("stored", nameless.encode_to_vec()));
    Value { depends: Depends::Nothing, hash, comes_from: BTreeSet::new() }
}

fn hash_of_node(node: &NodeProto, operands: &[Option<Value>]) -> u64 {
    let mut attributes: Vec<Vec<u8>> = node.attribute.iter().map(Message::encode_to_vec).collect();
    attributes.sort();
    let operands: Vec<Option<u64>> =
        operands.iter().map(|operand| operand.as_ref().map(|value| value.hash)).collect();
    hash_of(&("node", node.domain(), node.op_type(), attributes, operands))
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
