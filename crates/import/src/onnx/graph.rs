//! Walks a graph: initializers, nodes in dependency order, each handed to its converter.
//!
//! A node that fails is reported and its results are replaced by what the model declares of them, so that the
//! nodes behind it are checked too; results of unknown type fail silently what uses them.

use super::cut::{makes, needed};
use super::cx::Cx;
use super::domain::{MICROSOFT, full_domain};
use super::node::{Node, Operands, display_name, display_op};
use super::proto::{GraphProto, NodeProto, ValueInfoProto};
use super::row::Results;
use super::table::{self, Found};
use super::uses::{declared_in, graphs_of, inner_names, n_names};
use crate::build::scope::{NameId, Scopes, Slot};
use crate::report::{Fault, Outcome, UNSUPPORTED_OP};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use tegula_base::hash::SeededSet;
use tegula_base::{Dim, EntityId, Shape};
use tegula_ir::Value;
use tegula_tensor::TensorType;

/// Nodes of one model, bodies of functions counted at each call.
const MAX_NODES: usize = 1 << 20;
/// Graphs inside graphs.
const MAX_DEPTH: usize = 64;

impl Cx<'_> {
    /// Defines a graph's initializers in the scope at hand, but those that are given.
    pub fn initializers(&mut self, graph: &GraphProto, given: &[String]) {
        self.consts.reserve(graph.initializer.len());
        let mut listed: SeededSet<&str> = SeededSet::default();
        for name in initializer_names(graph).filter(|name| !listed.insert(name)) {
            self.report.part("initializer", name, Fault::invalid("the initializer is listed twice"));
        }
        let is_given = |name: &str| given.iter().any(|given| given == name);
        for tensor in graph.initializer.iter().filter(|tensor| !is_given(tensor.name())) {
            self.location = Some(tensor.name().into());
            let stored = self.stored(tensor);
            self.initializer(tensor.name(), stored);
        }
        for sparse in &graph.sparse_initializer {
            let name = sparse.values.as_ref().map_or("", |values| values.name());
            if is_given(name) {
                continue;
            }
            self.location = Some(name.into());
            let loaded = self.weights.load_sparse(sparse).map_err(Fault::invalid);
            let stored = loaded.and_then(|data| self.constant(data));
            self.initializer(name, stored.map(Slot::Value));
        }
    }

    fn initializer(&mut self, name: &str, stored: Outcome<Slot>) {
        let slot = stored.unwrap_or_else(|fault| {
            self.report.part("initializer", name, fault);
            Slot::Failed
        });
        self.scopes.define(name, slot);
    }

    /// Converts nodes in an order in which operands come first. `given` names values that nodes must not make, `wanted`
    /// those that they must; a node that is legal and makes nothing of use need not be supported.
    pub fn nodes<'n>(
        &mut self,
        nodes: &'n [NodeProto],
        given: &[String],
        wanted: impl Iterator<Item = &'n str> + Clone,
    ) {
        let names = NodeNames::of(nodes, &mut self.scopes);
        let mut used: Option<HashSet<&str>> = None;
        for i in self.order(nodes, &names, given) {
            let Err(fault) = self.node(&nodes[i], names.operands(i), names.results(i)) else { continue };
            let (op, name) = (display_op(&nodes[i]), display_name(&nodes[i]));
            let mut is_used = || {
                let used = used.get_or_insert_with(|| needed(nodes, wanted.clone()));
                makes(&nodes[i]).any(|name| used.contains(name))
            };
            if !fault.is_unsupported() || is_used() {
                self.fail(&nodes[i], names.results(i));
                self.report.node(&op, name, fault);
            } else {
                names.results(i).iter().for_each(|id| self.scopes.define_id(*id, Slot::Failed));
                self.report.unused_node(&op, name, fault);
            }
        }
    }

    /// Errors: why the node is not converted.
    fn node(&mut self, proto: &NodeProto, operands: &[NameId], results: &[NameId]) -> Outcome<()> {
        self.n_nodes += 1;
        if self.n_nodes > MAX_NODES {
            if self.n_nodes == MAX_NODES + 1 {
                self.report.model(Fault::unsupported(format!("the model has more than {MAX_NODES} nodes")));
            }
            self.fail(proto, results);
            return Ok(());
        }
        self.location = Some(display_name(proto).into());
        self.result_names.clear();
        self.result_names.extend_from_slice(results);
        let values = self.convert(proto, operands)?;
        self.define_results(proto, results, values);
        Ok(())
    }

    fn convert(&mut self, proto: &NodeProto, operands: &[NameId]) -> Outcome<Results> {
        Node::check_attributes(proto)?;
        let domain = full_domain(proto.domain());
        let function = self.functions.find(proto);
        let operands = self.operands(proto, operands);
        let version = self.opsets.get(domain).copied();
        if let Some(function) = function {
            let node = Node::new(proto, operands?, version.unwrap_or(1));
            return Ok(self.call_function(function, &node)?.into());
        }
        let version =
            version.ok_or_else(|| Fault::invalid(format!("the model does not import domain `{domain}`")))?;
        let convert = match table::find(domain, proto.op_type(), version) {
            Found::Converter(convert) => convert,
            Found::Missing(why) => {
                self.survey_graphs(proto);
                return Err(Fault { code: UNSUPPORTED_OP, why });
            }
        };
        let operands = match operands {
            Ok(operands) => operands,
            Err(fault) => {
                self.survey_graphs(proto);
                return Err(fault);
            }
        };
        let node = Node::new(proto, operands, version);
        let results = convert.run(self, &node);
        // The reason behind whatever else the converter found.
        node.check_kinds()?;
        let results = results?;
        if proto.domain() == MICROSOFT {
            node.check_all_read()?;
        }
        Ok(results)
    }

    fn operands(&mut self, proto: &NodeProto, ids: &[NameId]) -> Outcome<Operands> {
        let mut missing = Vec::new();
        let mut failed = false;
        let mut operands = Operands::new();
        for (name, id) in proto.input.iter().zip(ids) {
            operands.push(match self.scopes.get_id(*id, name) {
                Some(Slot::Failed) => {
                    failed = true;
                    None
                }
                Some(slot) => Some(slot),
                None if id.is_nothing() => None,
                None => {
                    missing.push(format!("`{name}`"));
                    None
                }
            });
        }
        match (missing.is_empty(), failed) {
            (true, false) => Ok(operands),
            (true, true) => Err(Fault::reported()),
            // An input of a function that its caller left out reads as left out.
            (false, _) if self.is_unbound_input(&missing) => Ok(operands),
            (false, _) => Err(Fault::invalid(format!("nothing makes its operand {}", missing.join(", ")))),
        }
    }

    fn is_unbound_input(&self, missing: &[String]) -> bool {
        missing.iter().all(|name| self.functions.is_input(name.trim_matches('`')))
    }

    fn define_results(&mut self, proto: &NodeProto, ids: &[NameId], results: Results) {
        let mut results = results.into_iter();
        for (i, (name, id)) in proto.output.iter().zip(ids).enumerate() {
            match results.next() {
                Some(slot) => self.scopes.define_id(*id, slot),
                None if id.is_nothing() => {}
                None => {
                    let fault = Fault::unsupported(format!("result {i} (`{name}`) is not supported"));
                    self.report.node(&display_op(proto), display_name(proto), fault);
                    self.scopes.define_id(*id, Slot::Failed);
                }
            }
        }
    }

    /// Stands in for the results of a node that failed.
    fn fail(&mut self, proto: &NodeProto, results: &[NameId]) {
        for (name, id) in proto.output.iter().zip(results) {
            let ty = self.scopes.declared(*id).and_then(|declared| {
                let shape = declared.shape.as_ref()?;
                let shape: Option<Shape> =
                    shape.iter().map(|n| n.map(Dim::from)).collect::<Option<Vec<_>>>().map(Shape::from);
                Some(TensorType::new(declared.dtype?, shape?))
            });
            let slot = ty.map_or(Slot::Failed, |ty| Slot::Value(self.placeholder(ty)));
            self.scopes.define(name, slot);
        }
    }

    /// Reports ops without a converter in graphs that will not be walked.
    fn survey_graphs(&mut self, proto: &NodeProto) {
        for node in graphs_of(proto).flat_map(|graph| &graph.node) {
            let domain = full_domain(node.domain());
            let version = self.opsets.get(domain).copied().unwrap_or(1);
            if self.functions.find(node).is_none()
                && let Found::Missing(why) = table::find(domain, node.op_type(), version)
            {
                let fault = Fault { code: UNSUPPORTED_OP, why };
                self.report.node(&display_op(node), display_name(node), fault);
            }
            self.survey_graphs(node);
        }
    }

    /// A graph inside a node: fills the region at hand and gives the graph's outputs.
    /// `inputs` are the values of the graph's inputs. Errors: also where an output is no tensor.
    pub fn inner_graph(&mut self, graph: &GraphProto, inputs: &[Value]) -> Outcome<Vec<Value>> {
        let inputs: Vec<Slot> = inputs.iter().copied().map(Slot::Value).collect();
        let outputs = self.inner_slots(graph, &inputs)?;
        let tensor = |(slot, info): (&Slot, &ValueInfoProto)| match slot {
            Slot::Value(value) => Ok(*value),
            other => Err(Fault::unsupported(format!(
                "output `{}` of its graph is {} where a tensor is expected",
                info.name(),
                other.describe()
            ))),
        };
        outputs.iter().zip(&graph.output).map(tensor).collect()
    }

    /// As [`inner_graph`](Cx::inner_graph), with inputs and outputs of any kind.
    pub fn inner_slots(&mut self, graph: &GraphProto, inputs: &[Slot]) -> Outcome<Vec<Slot>> {
        if self.scopes.depth() > MAX_DEPTH {
            return Err(Fault::unsupported(format!("graphs nest more than {MAX_DEPTH} deep")));
        }
        if graph.input.len() != inputs.len() {
            return Err(Fault::invalid(format!(
                "its graph takes {} inputs, but {} are given",
                graph.input.len(),
                inputs.len()
            )));
        }
        let (location, results) = (self.location.clone(), std::mem::take(&mut self.result_names));
        self.scopes.enter(n_names(graph), declared_in(graph), false);
        self.initializers(graph, &[]);
        for (info, slot) in graph.input.iter().zip(inputs) {
            self.scopes.define(info.name(), slot.clone());
        }
        let inputs = graph.input.iter().map(|info| info.name());
        let given: Vec<String> = inputs.chain(initializer_names(graph)).map(str::to_string).collect();
        self.nodes(&graph.node, &given, graph.output.iter().map(|info| info.name()));
        let outputs: Vec<Option<Slot>> =
            graph.output.iter().map(|info| self.scopes.get(info.name())).collect();
        self.scopes.leave();
        (self.location, self.result_names) = (location, results);
        outputs
            .into_iter()
            .zip(&graph.output)
            .map(|(slot, info)| match slot {
                Some(Slot::Failed) => Err(Fault::reported()),
                Some(slot) => Ok(slot),
                None => Err(Fault::invalid(format!("nothing makes output `{}` of its graph", info.name()))),
            })
            .collect()
    }

    /// Node indices, operands first; as stored where that is possible. Reports names made twice and cycles.
    fn order(&mut self, nodes: &[NodeProto], names: &NodeNames, given: &[String]) -> Vec<usize> {
        /// No node makes it; inputs of the graph are made by nobody else.
        const NOBODY: u32 = u32::MAX;
        const CALLER: u32 = u32::MAX - 1;
        let given: Vec<NameId> = given.iter().map(|name| self.scopes.intern(name)).collect();
        let mut makers = vec![NOBODY; self.scopes.name_count()];
        given.iter().for_each(|name| makers[name.index()] = CALLER);
        for (i, node) in nodes.iter().enumerate() {
            let made = names.results(i).iter().enumerate();
            for (place, id) in made.filter(|(_, id)| !id.is_nothing()) {
                let before = std::mem::replace(&mut makers[id.index()], i as u32);
                if before != NOBODY {
                    let name = &node.output[place];
                    let fault = Fault::invalid(format!("`{name}` is made twice"));
                    self.report.node(&display_op(node), display_name(node), fault);
                }
            }
        }
        let makers_of = |i: usize| {
            let makers = names.used(i).iter().map(|id| makers[id.index()]);
            makers.filter(|maker| *maker < CALLER).map(|maker| maker as usize)
        };
        if (0..nodes.len()).all(|i| makers_of(i).all(|maker| maker < i)) {
            return (0..nodes.len()).collect();
        }
        let mut waits = vec![0usize; nodes.len()];
        let mut users: Vec<Vec<usize>> = vec![vec![]; nodes.len()];
        for (i, waits) in waits.iter_mut().enumerate() {
            let mut needed: Vec<usize> = makers_of(i).collect();
            needed.sort_unstable();
            needed.dedup();
            *waits = needed.len();
            for maker in needed {
                users[maker].push(i);
            }
        }
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..nodes.len()).filter(|i| waits[*i] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(Reverse(i)) = ready.pop() {
            order.push(i);
            for &user in &users[i] {
                waits[user] -= 1;
                if waits[user] == 0 {
                    ready.push(Reverse(user));
                }
            }
        }
        if order.len() < nodes.len() {
            for i in (0..nodes.len()).filter(|i| waits[*i] > 0) {
                let fault = Fault { code: "cycle", why: "its operands depend on its own results".into() };
                self.report.node(&display_op(&nodes[i]), display_name(&nodes[i]), fault);
                nodes[i].output.iter().for_each(|name| self.scopes.define(name, Slot::Failed));
            }
        }
        order
    }
}

/// The names of a graph's initializers, sparse ones last.
pub(super) fn initializer_names(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let sparse = graph.sparse_initializer.iter().filter_map(|sparse| Some(sparse.values.as_ref()?.name()));
    graph.initializer.iter().map(|tensor| tensor.name()).chain(sparse)
}

/// The names that nodes of one graph read and make, as ids of its scope.
struct NodeNames {
    ids: Vec<NameId>,
    /// Of each node: where in `ids` its results start, its operands, and what its inner graphs use; then the end.
    starts: Vec<[u32; 3]>,
}

impl NodeNames {
    fn of(nodes: &[NodeProto], scopes: &mut Scopes) -> NodeNames {
        let mut ids = Vec::with_capacity(4 * nodes.len());
        let mut starts = Vec::with_capacity(nodes.len() + 1);
        for node in nodes {
            let results = ids.len() as u32;
            ids.extend(node.output.iter().map(|name| scopes.intern(name)));
            let operands = ids.len() as u32;
            ids.extend(node.input.iter().map(|name| scopes.intern(name)));
            starts.push([results, operands, ids.len() as u32]);
            inner_names(node, &mut |name| ids.push(scopes.intern(name)));
        }
        starts.push([ids.len() as u32; 3]);
        NodeNames { ids, starts }
    }

    fn range(&self, from: u32, to: u32) -> &[NameId] {
        &self.ids[from as usize..to as usize]
    }

    fn results(&self, node: usize) -> &[NameId] {
        let [results, operands, _] = self.starts[node];
        self.range(results, operands)
    }

    fn operands(&self, node: usize) -> &[NameId] {
        let [_, operands, inner] = self.starts[node];
        self.range(operands, inner)
    }

    /// Operands and what inner graphs use.
    fn used(&self, node: usize) -> &[NameId] {
        self.range(self.starts[node][1], self.starts[node + 1][0])
    }
}
