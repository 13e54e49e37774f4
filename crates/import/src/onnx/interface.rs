//! The model's face: graph inputs become arguments with symbolic dims, graph outputs the results.

use super::ImportOptions;
use super::cx::Cx;
use super::fault::{Fault, Outcome};
use super::graph::Declared;
use super::proto::{GraphProto, ValueInfoProto, tensor_shape_proto, type_proto};
use super::scope::Slot;
use super::weights::dtype_of;
use std::collections::BTreeSet;
use tegula_base::hash::SeededSet;
use tegula_base::{Dim, Shape, SymbolInfo};
use tegula_tensor::{TensorOp, TensorType};

impl Cx<'_> {
    /// Builds the entry function's body from the model's graph.
    pub fn main_graph(&mut self, graph: &GraphProto, options: &ImportOptions) {
        /// What passes build on the way to kernels counts too.
        const OPS_A_NODE: usize = 6;
        const MOST: usize = 1 << 17;
        let nodes = graph.node.len() + graph.initializer.len();
        self.func.reserve((OPS_A_NODE * nodes).min(MOST));
        self.scopes.enter(Declared::of_graph(graph), true);
        let constant: SeededSet<&str> = graph
            .initializer
            .iter()
            .map(|tensor| tensor.name())
            .chain(graph.sparse_initializer.iter().filter_map(|sparse| Some(sparse.values.as_ref()?.name())))
            .collect();
        let mut given = Vec::new();
        for info in &graph.input {
            // Older files list initializers as inputs too; they are constants.
            if constant.contains(info.name()) {
                continue;
            }
            if given.iter().any(|name| name == info.name()) {
                self.report.node("input", info.name(), Fault::invalid("the input is listed twice"));
                continue;
            }
            given.push(info.name().to_string());
            self.input(info, options);
        }
        self.check_asked_dims(graph, options);
        self.initializers(graph);
        self.nodes(&graph.node, Some(&given));
        self.results(graph);
        self.scopes.leave();
    }

    /// Reports dims that were given a value and are none of the inputs'.
    fn check_asked_dims(&mut self, graph: &GraphProto, options: &ImportOptions) {
        let mut known: BTreeSet<&str> = self.symbols.0.keys().map(|name| &**name).collect();
        known.extend(graph.input.iter().flat_map(dim_params));
        for name in options.dims.keys().filter(|name| !known.contains(name.as_str())) {
            let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let why = match listed.as_slice() {
                [] => format!("the model has no dim `{name}`; all its dims are constant"),
                _ => format!("the model has no dim `{name}`; its dims are {}", listed.join(", ")),
            };
            self.report.model(Fault { code: "unknown-dim", why });
        }
    }

    fn input(&mut self, info: &ValueInfoProto, options: &ImportOptions) {
        let slot = match self.input_type(info, options) {
            Ok(ty) => {
                let body = self.func.body();
                self.func.arg_names.push(info.name().to_string());
                Slot::Value(self.func.add_arg(body, ty))
            }
            Err(fault) => {
                self.report.node("input", info.name(), fault);
                Slot::Failed
            }
        };
        self.scopes.define(info.name(), slot);
    }

    fn input_type(&mut self, info: &ValueInfoProto, options: &ImportOptions) -> Outcome<TensorType> {
        let value = info.r#type.as_ref().and_then(|ty| ty.value.as_ref());
        let tensor = match value {
            Some(type_proto::Value::TensorType(tensor)) => tensor,
            Some(type_proto::Value::SequenceType(_)) => {
                return Err(Fault::unsupported("sequences are not supported"));
            }
            Some(type_proto::Value::OptionalType(_)) => {
                return Err(Fault::unsupported("optional values are not supported"));
            }
            Some(type_proto::Value::MapType(_)) => return Err(Fault::unsupported("maps are not supported")),
            Some(type_proto::Value::SparseTensorType(_)) => {
                return Err(Fault::unsupported("sparse inputs are not supported"));
            }
            Some(type_proto::Value::OpaqueType(_)) => {
                return Err(Fault::unsupported("opaque values are not supported"));
            }
            None => return Err(Fault::invalid("the input has no type")),
        };
        let dtype = dtype_of(tensor.elem_type()).map_err(Fault::unsupported)?;
        let shape = tensor
            .shape
            .as_ref()
            .ok_or_else(|| Fault::unsupported("the input has no shape; at least its rank must be known"))?;
        let input = self.func.arg_names.len() as u32;
        let dims: Shape = shape
            .dim
            .iter()
            .enumerate()
            .map(|(axis, dim)| {
                self.input_dim(info.name(), dim, SymbolInfo::input(input, axis as u32), options)
            })
            .collect();
        let ty = TensorType::new(dtype, dims);
        ty.check_size()?;
        Ok(ty)
    }

    /// A constant, the symbol of a named dim, or a fresh symbol for one without a usable name.
    fn input_dim(
        &mut self,
        input: &str,
        dim: &tensor_shape_proto::Dimension,
        origin: SymbolInfo,
        options: &ImportOptions,
    ) -> Dim {
        let name = match &dim.value {
            Some(tensor_shape_proto::dimension::Value::DimValue(n)) if *n >= 0 => return Dim::from(*n),
            Some(tensor_shape_proto::dimension::Value::DimParam(name)) if is_name(name) => {
                Some(name.as_str())
            }
            _ => None,
        };
        if let Some(known) = name.and_then(|name| self.dim_names.get(name)) {
            return known.clone();
        }
        if let Some(n) = name.and_then(|name| options.dims.get(name)) {
            return Dim::from(*n);
        }
        let stem = name.map_or_else(|| format!("{input}_dim"), str::to_string);
        let symbol = self.symbols.fresh_name(&stem);
        self.symbols.insert(&symbol, origin);
        let size = Dim::symbol(&symbol);
        if let Some(name) = name {
            self.dim_names.insert(name.to_string(), size.clone());
        }
        size
    }

    fn results(&mut self, graph: &GraphProto) {
        let mut results = Vec::new();
        for info in &graph.output {
            match self.scopes.get(info.name()) {
                Some(Slot::Value(value)) => {
                    results.push(value);
                    self.func.result_names.push(info.name().to_string());
                }
                Some(Slot::Failed) => {}
                None => {
                    self.report.node("output", info.name(), Fault::invalid("nothing makes this output"));
                }
            }
        }
        if graph.output.is_empty() {
            self.report.model(Fault::invalid("the graph has no outputs"));
        }
        self.location = None;
        if self.report.is_empty()
            && let Err(fault) = self.emit_many(TensorOp::Return {}, &results)
        {
            self.report.model(fault);
        }
    }
}

/// The names of an input's dims.
fn dim_params(info: &ValueInfoProto) -> impl Iterator<Item = &str> {
    let shape = match info.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
        Some(type_proto::Value::TensorType(tensor)) => tensor.shape.as_ref(),
        _ => None,
    };
    shape.into_iter().flat_map(|shape| &shape.dim).filter_map(|dim| match &dim.value {
        Some(tensor_shape_proto::dimension::Value::DimParam(name)) if is_name(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Whether a dim's name says which dims are equal: `?` and `-1` stand in files for "unknown".
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "?" | "-1" | "None" | "*" | "unk" | "unknown")
}
