//! What converters build with: the function in the making, its constants and symbols, and the scopes of names.
//!
//! Every method that adds ops checks them by the tensor level's own rules, at the place of insertion
//! (`region`), under the name of the node at hand (`location`). `arith`, `movement`, `sizes` and `text` hold
//! the families of helpers; `graph.rs` walks the model.

mod arith;
mod movement;
mod sizes;
mod text;

use super::fault::{Fault, Outcome, Report};
use super::functions::Functions;
use super::scope::{NameId, Scopes};
use super::weights::Weights;
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::hash::HashMap;
use tegula_base::{DType, Dim, Shape, Symbols};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ConstData, ConstStore, OpId, RegionId, ScalarOp, Value};
use tegula_tensor::size_values::{MAX_ELEMENTS, SizeValues};
use tegula_tensor::{TensorFunc, TensorOp, TensorType};

pub(crate) struct Cx<'m> {
    pub func: TensorFunc,
    pub consts: ConstStore,
    pub symbols: Symbols,
    pub sizes: SizeValues,
    pub region: RegionId,
    pub location: Option<Arc<str>>,
    /// The names of the results of the node at hand.
    pub result_names: Vec<NameId>,
    /// What the region at hand has established, undone when it ends.
    established: Established,
    /// Values of fixed shape under leading extents of 1, by region and rank: biases and numbers are aligned often.
    aligned: HashMap<(Value, RegionId, usize), Value>,
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
    /// Nodes converted so far, bodies of functions included; see `graph::MAX_NODES`.
    pub n_nodes: usize,
}

/// Facts that hold from an op on, within its region.
#[derive(Default)]
struct Established {
    /// Sizes that were asserted to be equal.
    equal: Vec<(Dim, Dim)>,
    /// Scalars that were bound to symbols.
    bound: Vec<Value>,
}

impl<'m> Cx<'m> {
    pub fn new(
        name: &str,
        functions: Functions<'m>,
        opsets: BTreeMap<String, i64>,
        weights: Weights<'m>,
    ) -> Cx<'m> {
        let func = TensorFunc::new(name);
        let region = func.body();
        Cx {
            func,
            consts: ConstStore::default(),
            symbols: Symbols::default(),
            sizes: SizeValues::default(),
            region,
            location: None,
            result_names: vec![],
            established: Established::default(),
            aligned: HashMap::default(),
            scopes: Scopes::default(),
            functions,
            opsets,
            weights,
            report: Report::default(),
            dim_names: BTreeMap::new(),
            iterations: vec![],
            n_unseeded: 0,
            n_nodes: 0,
        }
    }

    // --- reading ---------------------------------------------------------------------------------------

    pub fn ty(&self, value: Value) -> &TensorType {
        self.func.ty(value)
    }

    pub fn dtype(&self, value: Value) -> DType {
        self.func.ty(value).dtype
    }

    pub fn shape(&self, value: Value) -> Shape {
        self.func.ty(value).shape.clone()
    }

    pub fn rank(&self, value: Value) -> usize {
        self.func.ty(value).shape.rank()
    }

    /// Panics where there is no such axis: converters check ranks first.
    #[track_caller]
    pub fn dim(&self, value: Value, axis: usize) -> Dim {
        self.func.ty(value).shape[axis].clone()
    }

    /// Errors: the rank is not `rank`; `form` says what is expected, `[N,C,H,W]`.
    pub fn expect_rank(&self, value: Value, rank: usize, form: &str) -> Outcome<()> {
        if self.rank(value) == rank {
            return Ok(());
        }
        Err(Fault::from(format!("{form} is expected, got {}", self.ty(value))))
    }

    // --- building --------------------------------------------------------------------------------------

    /// Appends an op with one result.
    pub fn emit(&mut self, kind: TensorOp, operands: &[Value]) -> Outcome {
        let op = self.emit_op(kind, operands)?;
        Ok(self.func.result(op))
    }

    /// Appends an op; all its results.
    pub fn emit_many(&mut self, kind: TensorOp, operands: &[Value]) -> Outcome<Vec<Value>> {
        let op = self.emit_op(kind, operands)?;
        Ok(self.func.results(op).to_vec())
    }

    fn emit_op(&mut self, kind: TensorOp, operands: &[Value]) -> Outcome<OpId> {
        let op = self.func.build(self.region, kind, operands, self.location.clone())?;
        for result in self.func.results(op) {
            if self.func.ty(*result).shape.iter().any(Dim::is_unwieldy) {
                return Err(Fault::unsupported(
                    "a dim of its result is too long a formula of the model's open dims",
                ));
            }
        }
        // Asked now, so that a later question finds its operands answered; what is made of sources alone can wait.
        let is_source =
            |value: &Value| self.func.def_op(*value).is_some_and(|op| self.func.operands(op).is_empty());
        if let [result] = *self.func.results(op)
            && self.may_carry_sizes(result)
            && !operands.iter().all(is_source)
        {
            self.sizes.ask(&self.func, &self.consts, result);
        }
        Ok(op)
    }

    fn may_carry_sizes(&self, value: Value) -> bool {
        let count =
            self.func.ty(value).shape.iter().try_fold(1i64, |count, dim| count.checked_mul(dim.as_const()?));
        count.is_some_and(|count| count <= MAX_ELEMENTS as i64)
    }

    pub fn constant(&mut self, data: impl Into<ConstData>) -> Outcome {
        let data: ConstData = data.into();
        let (dtype, shape) = (data.dtype, Shape::from_iter(data.shape.iter().copied()));
        let id = self.consts.push(data);
        self.emit(TensorOp::Constant { id, dtype, shape }, &[])
    }

    /// A tensor of equal elements: `value` rounded to the dtype.
    pub fn splat(&mut self, dtype: DType, shape: impl Into<Shape>, value: f64) -> Outcome {
        let bits = eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::F64], &[value.to_bits()]);
        self.emit(TensorOp::Splat { dtype, shape: shape.into(), bits: bits as i64 }, &[])
    }

    /// As [`Cx::splat`] for integers that `f64` would round.
    pub fn splat_int(&mut self, dtype: DType, shape: impl Into<Shape>, value: i64) -> Outcome {
        let bits = eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::I64], &[value as u64]);
        self.emit(TensorOp::Splat { dtype, shape: shape.into(), bits: bits as i64 }, &[])
    }

    /// A splat of `x`'s dtype and rank with extents of 1, to stand beside `x` in an elementwise op.
    pub fn number_like(&mut self, x: Value, value: f64) -> Outcome {
        let shape = Shape::from_iter(vec![1i64; self.rank(x)]);
        self.splat(self.dtype(x), shape, value)
    }

    pub fn iota(&mut self, dtype: DType, shape: impl Into<Shape>, axis: usize) -> Outcome {
        self.emit(TensorOp::Iota { dtype, shape: shape.into(), axis }, &[])
    }

    /// A rank-1 constant.
    pub fn int_list(&mut self, values: &[i64]) -> Outcome {
        self.sizes_tensor(values.iter().map(|n| Dim::from(*n)).collect())
    }

    /// Sizes as `i64[n]`.
    pub fn sizes_tensor(&mut self, dims: Vec<Dim>) -> Outcome {
        self.emit(TensorOp::Sizes { dims }, &[])
    }

    // --- regions ---------------------------------------------------------------------------------------

    /// Runs `fill` with insertion at the end of `region`; facts that it establishes end with it.
    pub fn within<T>(&mut self, region: RegionId, fill: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.region, region);
        let (equal, bound) = (self.established.equal.len(), self.established.bound.len());
        let result = fill(self);
        self.established.equal.truncate(equal);
        for value in self.established.bound.split_off(bound) {
            self.sizes.forget(value);
        }
        self.region = outer;
        result
    }

    /// A value for a result that could not be built, so that later nodes are still checked.
    pub fn placeholder(&mut self, ty: TensorType) -> Value {
        let body = self.func.body();
        self.func.add_arg(body, ty)
    }
}

/// A shape of rank `rank` with `dim` at `axis` and 1 elsewhere.
pub(crate) fn along(rank: usize, axis: usize, dim: Dim) -> Shape {
    (0..rank).map(|i| if i == axis { dim.clone() } else { Dim::from(1) }).collect()
}
