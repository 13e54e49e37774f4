//! What converters build with: the program in the making, and what the model says at the node at hand.
//!
//! Helpers that add ops are [`ProgramBuilder`]'s, through which a `Cx` is used. `graph.rs` walks the model.

use super::functions::Functions;
use super::proto::TensorProto;
use super::weights::{Weights, is_text};
use crate::build::ProgramBuilder;
use crate::build::scope::{NameId, Scopes, Slot};
use crate::report::{Fault, Outcome, Report};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use tegula_base::{Dim, SymbolInfo};
use tegula_ir::{RegionId, Value};

pub(crate) struct Cx<'m> {
    program: ProgramBuilder,
    /// The names of the results of the node at hand.
    pub result_names: Vec<NameId>,
    pub scopes: Scopes,
    pub functions: Functions<'m>,
    /// The versions of the domains that the graph at hand imports.
    pub opsets: BTreeMap<String, i64>,
    pub weights: Weights<'m>,
    pub report: Report,
    /// Symbols of named dims, by the model's name.
    pub dim_names: BTreeMap<String, Dim>,
    /// The rounds of the loops at hand, outermost first: `i64` scalars.
    pub iterations: Vec<Value>,
    /// Random nodes without a seed so far.
    pub n_unseeded: u32,
    /// Whether gathers and scatters assert that their indices are inside of their axes.
    pub checked: bool,
    /// Nodes converted so far, bodies of functions included; see `graph::MAX_NODES`.
    pub n_nodes: usize,
}

impl Deref for Cx<'_> {
    type Target = ProgramBuilder;

    fn deref(&self) -> &ProgramBuilder {
        &self.program
    }
}

impl DerefMut for Cx<'_> {
    fn deref_mut(&mut self) -> &mut ProgramBuilder {
        &mut self.program
    }
}

impl<'m> Cx<'m> {
    pub fn new(
        functions: Functions<'m>,
        opsets: BTreeMap<String, i64>,
        weights: Weights<'m>,
        report: Report,
    ) -> Cx<'m> {
        Cx {
            program: ProgramBuilder::new("main"),
            result_names: vec![],
            scopes: Scopes::default(),
            functions,
            opsets,
            weights,
            report,
            dim_names: BTreeMap::new(),
            iterations: vec![],
            n_unseeded: 0,
            checked: false,
            n_nodes: 0,
        }
    }

    /// The program, and what keeps it from being one.
    pub fn finish(self) -> (ProgramBuilder, Report) {
        (self.program, self.report)
    }

    /// Runs `fill` with insertion at the end of `region`; facts that it establishes end with it.
    pub fn within<T>(&mut self, region: RegionId, fill: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.enter(region);
        let result = fill(self);
        self.leave(outer);
        result
    }

    /// A stored tensor: numbers, or strings.
    pub fn stored(&mut self, tensor: &TensorProto) -> Outcome<Slot> {
        if is_text(tensor.data_type()) {
            let shape: Option<Vec<usize>> = tensor.dims.iter().map(|n| usize::try_from(*n).ok()).collect();
            let shape =
                shape.ok_or_else(|| Fault::invalid(format!("dims {:?} are negative", tensor.dims)))?;
            let texts: Vec<Vec<u8>> = tensor.string_data.iter().map(|text| text.to_vec()).collect();
            return Ok(Slot::Text(self.texts(&texts, &shape)?));
        }
        let data = self.weights.load(tensor).map_err(Fault::invalid)?;
        Ok(Slot::Value(self.constant(data)?))
    }

    /// The shape that the model declares for a result of the node at hand, empty where it does not; a hint, never trusted.
    pub fn declared_shape(&self, result: usize) -> &[Option<i64>] {
        let declared = self.result_names.get(result).and_then(|name| self.scopes.declared(*name));
        declared.and_then(|declared| declared.shape.as_deref()).unwrap_or_default()
    }

    /// The declared extent of a result's axis, as an upper bound for what is only known at run time.
    pub fn declared_extent(&self, result: usize, axis: usize) -> Dim {
        let extent = self.declared_shape(result).get(axis).copied().flatten();
        extent.map_or(Dim::from(SymbolInfo::MAX), Dim::from)
    }
}
