//! The model's face: graph inputs become arguments with symbolic dims, graph outputs the results.

use super::ImportOptions;
use super::cx::Cx;
use super::graph::initializer_names;
use super::proto::{GraphProto, TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto, type_proto};
use super::uses::{declared_in, n_names};
use super::weights::{Weights, dtype_of, is_text};
use crate::build::scope::Slot;
use crate::report::{Fault, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tegula_base::hash::SeededSet;
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo, Symbols};
use tegula_tensor::{TensorOp, TensorType};

/// Tensors of a sequence that is an input.
const MAX_LENGTH: i64 = 4096;

/// Axes of an input whose rank the caller says.
const MAX_RANK: usize = 64;

impl Cx<'_> {
    /// Builds the entry function's body from the model's graph.
    pub fn main_graph(&mut self, graph: &GraphProto, options: &ImportOptions) {
        /// What passes build on the way to kernels counts too.
        const OPS_A_NODE: usize = 6;
        const MOST: usize = 1 << 17;
        let names = n_names(graph);
        self.func.reserve((OPS_A_NODE * names).min(MOST));
        self.scopes.enter(names, declared_in(graph), true);
        let stored: SeededSet<&str> = initializer_names(graph).collect();
        let mut sizes = Sizes::of(graph, options, &mut self.symbols);
        let mut given = Vec::new();
        for info in &graph.input {
            // Files list initializers as inputs too; they are constants unless the caller means to give them.
            if stored.contains(info.name()) && !is_given(&options.dims, info.name()) {
                continue;
            }
            if given.iter().any(|name| name == info.name()) {
                self.report.part("input", info.name(), Fault::invalid("the input is listed twice"));
                continue;
            }
            given.push(info.name().to_string());
            self.input(info, &mut sizes);
        }
        self.check_asked_dims(graph, options);
        sizes.release(&mut self.symbols);
        self.initializers(graph, &given);
        given.extend(initializer_names(graph).map(str::to_string));
        self.nodes(&graph.node, &given, graph.output.iter().map(|info| info.name()));
        self.results(graph);
        self.scopes.leave();
    }

    /// Reports dims that were given a value and are none of the inputs'.
    fn check_asked_dims(&mut self, graph: &GraphProto, options: &ImportOptions) {
        let symbols: Vec<Arc<str>> = self.symbols.0.keys().cloned().collect();
        let mut known: BTreeSet<&str> = symbols.iter().map(|name| &**name).collect();
        let mut structure = BTreeSet::new();
        let stored: SeededSet<&str> = initializer_names(graph).collect();
        for info in &graph.input {
            if stored.contains(info.name()) {
                structure.insert(given_dim(info.name()));
            }
            for value in types_in(info) {
                known.extend(dim_params(value));
                match value {
                    type_proto::Value::OptionalType(_) => _ = structure.insert(present_dim(info.name())),
                    type_proto::Value::SequenceType(_) => _ = structure.insert(length_dim(info.name())),
                    type_proto::Value::TensorType(tensor) if tensor.shape.is_none() => {
                        structure.insert(rank_dim(info.name()));
                    }
                    _ => {}
                }
            }
        }
        known.extend(structure.iter().map(String::as_str));
        for name in options.dims.keys().filter(|name| !known.contains(name.as_str())) {
            let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let why = match listed.as_slice() {
                [] => format!("the model has no dim `{name}`; all its dims are constant"),
                _ => format!("the model has no dim `{name}`; its dims are {}", listed.join(", ")),
            };
            self.report.model(Fault { code: "unknown-dim", why });
        }
    }

    fn input(&mut self, info: &ValueInfoProto, sizes: &mut Sizes) {
        let slot = self.input_slot(info.name(), info.r#type.as_ref(), sizes).unwrap_or_else(|fault| {
            self.report.part("input", info.name(), fault);
            Slot::Failed
        });
        self.scopes.define(info.name(), slot);
    }

    /// Arguments for an input: one for a tensor, one for each tensor of a sequence, none for an optional value that is
    /// none. How many that is must be known.
    fn input_slot(&mut self, name: &str, ty: Option<&TypeProto>, sizes: &mut Sizes) -> Outcome<Slot> {
        match ty.and_then(|ty| ty.value.as_ref()) {
            Some(type_proto::Value::OptionalType(optional)) => match sizes.asked.get(&present_dim(name)) {
                Some(0) => Ok(Slot::Absent),
                Some(1) | None => self.input_slot(name, optional.elem_type.as_deref(), sizes),
                Some(n) => Err(Fault::invalid(format!("`{}` must be 0 or 1, not {n}", present_dim(name)))),
            },
            Some(type_proto::Value::SequenceType(sequence)) => {
                let length = length_dim(name);
                let n = *sizes.asked.get(&length).ok_or_else(|| {
                    Fault::unsupported(format!(
                        "how many tensors this sequence holds must be known before the run: give dim `{length}`"
                    ))
                })?;
                if !(0..=MAX_LENGTH).contains(&n) {
                    return Err(Fault::unsupported(format!(
                        "a sequence of {n} is not between 0 and {MAX_LENGTH}"
                    )));
                }
                let element = sequence.elem_type.as_deref().and_then(|ty| ty.value.as_ref());
                let values =
                    (0..n).map(|i| self.argument(&element_name(name, i as usize), element, sizes, true));
                Ok(Slot::Sequence(Arc::new(values.collect::<Outcome<_>>()?)))
            }
            Some(value @ type_proto::Value::TensorType(tensor)) if is_text(tensor.elem_type()) => {
                Ok(Slot::Text(self.argument(name, Some(value), sizes, false)?))
            }
            value => Ok(Slot::Value(self.argument(name, value, sizes, false)?)),
        }
    }

    fn argument(
        &mut self,
        name: &str,
        value: Option<&type_proto::Value>,
        sizes: &mut Sizes,
        is_element: bool,
    ) -> Outcome {
        let ty = self.input_type(name, value, sizes, is_element)?;
        let body = self.func.body();
        self.func.arg_names.push(name.to_string());
        Ok(self.func.add_arg(body, ty))
    }

    /// `is_element`: of a sequence, whose tensors each have sizes of their own.
    fn input_type(
        &mut self,
        name: &str,
        value: Option<&type_proto::Value>,
        sizes: &mut Sizes,
        is_element: bool,
    ) -> Outcome<TensorType> {
        let tensor = match value {
            Some(type_proto::Value::TensorType(tensor)) => tensor,
            Some(type_proto::Value::SequenceType(_) | type_proto::Value::OptionalType(_)) => {
                return Err(Fault::unsupported(
                    "sequences of sequences and of optional values are not supported",
                ));
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
        let is_text = is_text(tensor.elem_type());
        if is_text && is_element {
            return Err(Fault::unsupported("sequences of strings are not supported"));
        }
        let dtype = match is_text {
            true => DType::U8,
            false => dtype_of(tensor.elem_type()).map_err(Fault::unsupported)?,
        };
        let open;
        // All tensors of a sequence have one rank.
        let sequence = name.rsplit_once('[').filter(|_| is_element).map(|(sequence, _)| sequence);
        let rank_dim = rank_dim(sequence.unwrap_or(name));
        let shape = match (&tensor.shape, sizes.asked.get(&rank_dim)) {
            (Some(shape), _) => shape,
            (None, Some(rank)) => {
                let rank = usize::try_from(*rank).ok().filter(|rank| *rank <= MAX_RANK);
                let rank =
                    rank.ok_or_else(|| Fault::unsupported(format!("`{rank_dim}` must be 0 to {MAX_RANK}")))?;
                open = TensorShapeProto { dim: vec![Default::default(); rank] };
                &open
            }
            (None, None) => {
                return Err(Fault::unsupported(format!(
                    "the input has no shape, but its rank must be known before the run: give dim `{rank_dim}`"
                )));
            }
        };
        let input = self.func.arg_names.len() as u32;
        let dims: Shape = shape
            .dim
            .iter()
            .enumerate()
            .map(|(axis, dim)| {
                self.input_dim(name, dim, SymbolInfo::input(input, axis as u32), sizes, is_element)
            })
            .collect();
        let mut dims = dims;
        if is_text {
            let bytes = SymbolInfo::input(input, dims.rank() as u32);
            let bytes = sizes.size(&mut self.symbols, None, &format!("{name}_bytes"), bytes);
            dims = dims.iter().cloned().chain([bytes]).collect();
        }
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
        sizes: &mut Sizes,
        is_element: bool,
    ) -> Dim {
        let name = match &dim.value {
            Some(tensor_shape_proto::dimension::Value::DimValue(n)) if *n >= 0 => return Dim::from(*n),
            Some(tensor_shape_proto::dimension::Value::DimParam(name)) if is_name(name) => {
                Some(name.as_str())
            }
            _ => None,
        };
        if let Some(known) = name.and_then(|name| self.dim_names.get(name)).filter(|_| !is_element) {
            return known.clone();
        }
        let size = sizes.size(&mut self.symbols, name, &format!("{input}_dim"), origin);
        if let Some(name) = name.filter(|_| !is_element) {
            self.dim_names.insert(name.to_string(), size.clone());
        }
        size
    }

    fn results(&mut self, graph: &GraphProto) {
        let mut results = Vec::new();
        for info in &graph.output {
            match self.scopes.get(info.name()) {
                Some(Slot::Value(value) | Slot::Text(value)) => {
                    results.push(value);
                    self.func.result_names.push(info.name().to_string());
                }
                Some(Slot::Sequence(values)) => {
                    results.extend(&*values);
                    let names = (0..values.len()).map(|i| element_name(info.name(), i));
                    self.func.result_names.extend(names);
                }
                Some(Slot::Absent | Slot::Failed) => {}
                None => {
                    self.report.part("output", info.name(), Fault::invalid("nothing makes this output"));
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

/// The name of a sequence's tensor as an input or output of its own.
pub fn element_name(sequence: &str, i: usize) -> String {
    format!("{sequence}[{i}]")
}

/// The dim that says how many tensors a sequence holds.
pub fn length_dim(sequence: &str) -> String {
    format!("{sequence}.length")
}

/// The dim that says whether there is an optional value: 0 or 1.
pub fn present_dim(optional: &str) -> String {
    format!("{optional}.present")
}

/// What the name of a dim ends with that says whether callers may give an input that has a default: 0 or 1.
pub const GIVEN: &str = ".given";

/// The dim that says whether callers may give an input that has a default.
pub fn given_dim(input: &str) -> String {
    format!("{input}{GIVEN}")
}

/// The dim that says how many axes an input has whose shape the model leaves out.
pub fn rank_dim(input: &str) -> String {
    format!("{input}.rank")
}

fn is_given(dims: &BTreeMap<String, i64>, input: &str) -> bool {
    dims.get(&given_dim(input)).is_some_and(|given| *given != 0)
}

/// The initializers of inputs that callers may give, which they need not.
pub(super) fn defaults(
    graph: &GraphProto,
    dims: &BTreeMap<String, i64>,
    weights: &mut Weights,
) -> Outcome<Vec<(String, HostTensor)>> {
    let listed: SeededSet<&str> = graph.input.iter().map(|info| info.name()).collect();
    let is_open = |name: &str| listed.contains(name) && is_given(dims, name);
    let dense = graph.initializer.iter().filter(|tensor| is_open(tensor.name()));
    // The bytes of strings are laid out by the import.
    let dense = dense.filter(|tensor| !is_text(tensor.data_type()));
    dense
        .map(|tensor| {
            let data = weights.load(tensor).map_err(Fault::invalid)?;
            Ok((tensor.name().to_string(), data.to_host()))
        })
        .collect()
}

/// The dims that say what a caller gives: inputs with defaults that it names, ranks that the model leaves out.
pub(super) fn dims_of_given(graph: &GraphProto, given: &[(String, usize)]) -> BTreeMap<String, i64> {
    let stored: SeededSet<&str> = initializer_names(graph).collect();
    let mut dims = BTreeMap::new();
    for info in &graph.input {
        let name = info.name();
        // A sequence is given tensor by tensor.
        let is_of =
            |given: &str| given == name || given.strip_prefix(name).is_some_and(|i| i.starts_with('['));
        let Some((_, rank)) = given.iter().find(|(given, _)| is_of(given)) else { continue };
        if stored.contains(name) {
            dims.insert(given_dim(name), 1);
        }
        if types_in(info)
            .any(|ty| matches!(ty, type_proto::Value::TensorType(tensor) if tensor.shape.is_none()))
        {
            dims.insert(rank_dim(name), *rank as i64);
        }
    }
    dims
}

/// Values of the inputs' sizes, and the symbols of those that have none. Which symbol a size has does not hang on the
/// values of others: each takes its own until all inputs have theirs.
struct Sizes<'a> {
    asked: &'a BTreeMap<String, i64>,
    /// Names of the model's dims that no size has taken yet. None that is made up is one of these.
    reserved: BTreeSet<Arc<str>>,
    /// Symbols of sizes with values.
    settled: Vec<Arc<str>>,
}

impl<'a> Sizes<'a> {
    fn of(graph: &GraphProto, options: &'a ImportOptions, symbols: &mut Symbols) -> Sizes<'a> {
        let names = graph.input.iter().flat_map(types_in).flat_map(dim_params);
        let reserved: BTreeSet<Arc<str>> =
            names.filter(|name| Dim::symbol_name(name) == **name).map(Arc::from).collect();
        reserved.iter().for_each(|name| symbols.insert(name, SymbolInfo::data(Dim::from(0))));
        Sizes { asked: &options.dims, reserved, settled: vec![] }
    }

    /// A size with the dim's name, where it has one: the value that is asked for by that name or by the symbol, which is the
    /// one that users are shown, or the symbol.
    fn size(&mut self, symbols: &mut Symbols, name: Option<&str>, stem: &str, origin: SymbolInfo) -> Dim {
        let symbol = match name.and_then(|name| self.reserved.take(name)) {
            Some(own) => own,
            None => symbols.fresh_name(name.unwrap_or(stem)),
        };
        symbols.insert(&symbol, origin);
        let asked = name.and_then(|name| self.asked.get(name)).or_else(|| self.asked.get(&*symbol));
        let Some(n) = asked else { return Dim::symbol(&symbol) };
        self.settled.push(symbol);
        Dim::from(*n)
    }

    /// Takes the symbols that no size has out of the model's.
    fn release(self, symbols: &mut Symbols) {
        for name in self.settled.iter().chain(&self.reserved) {
            symbols.0.remove(name);
        }
    }
}

/// An input's type, and what that holds.
fn types_in(info: &ValueInfoProto) -> impl Iterator<Item = &type_proto::Value> {
    fn held<'a>(value: &&'a type_proto::Value) -> Option<&'a type_proto::Value> {
        let held = match value {
            type_proto::Value::OptionalType(optional) => optional.elem_type.as_deref(),
            type_proto::Value::SequenceType(sequence) => sequence.elem_type.as_deref(),
            _ => None,
        };
        held?.value.as_ref()
    }
    std::iter::successors(info.r#type.as_ref().and_then(|ty| ty.value.as_ref()), held)
}

/// The names of a tensor type's dims.
fn dim_params(ty: &type_proto::Value) -> impl Iterator<Item = &str> {
    let shape = match ty {
        type_proto::Value::TensorType(tensor) => tensor.shape.as_ref(),
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
