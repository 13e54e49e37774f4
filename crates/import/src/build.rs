//! What a reader of any format builds a tensor program with: ops with checks, sizes, movement, text, scopes of names.
//!
//! Before: a file's ops in order, operands first.  After: a [`TensorProgram`] whose ops keep the tensor level's rules, each
//! under the name of what it came from. Every op is appended by [`tensor::Builder`](tegula_tensor::Builder); what stands
//! here is what that knows nothing of: sizes that only the run knows (`sizes`), asserts that they fit (`arith`, `movement`),
//! strings as bytes (`text`), and what a name of the file stands for (`scope`).
//!
//! A format's own rules stay with the format: its defaults, attributes and versions, and which of these ops it means.

mod arith;
mod axes;
mod functions;
mod indices;
mod movement;
mod names;
pub(crate) mod scope;
mod sizes;
mod text;
pub(crate) mod window;

pub(crate) use axes::{along, axes_in, axis_in};

use crate::report::{Fault, Outcome};
use std::sync::Arc;
use tegula_base::hash::HashMap;
use tegula_base::{DType, Dim, EntityId, Shape, Symbols};
use tegula_ir::{ConstData, ConstStore, OpId, RegionId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::size_values::{MAX_ELEMENTS, SizeValues};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, TensorType};

/// A program in the making. Every method that adds ops checks them by the tensor level's own rules, at the place of
/// insertion (`region`), under the name of the node at hand (`location`).
pub(crate) struct ProgramBuilder {
    pub func: TensorFunc,
    pub consts: ConstStore,
    pub symbols: Symbols,
    /// What is known of small integer tensors before the run.
    sizes: SizeValues,
    pub region: RegionId,
    pub location: Option<Arc<str>>,
    /// What the region at hand has established, undone when it ends.
    established: Established,
    /// Values of fixed shape under leading extents of 1, by region and rank: biases and numbers are aligned often.
    aligned: HashMap<(Value, RegionId, usize), Value>,
}

/// Facts that hold from an op on, within its region.
#[derive(Default)]
struct Established {
    /// Sizes that were asserted to be equal.
    equal: Vec<(Dim, Dim)>,
    /// Scalars that were bound to symbols.
    bound: Vec<Value>,
}

/// Where insertion goes on when a region is filled, and what was established there.
#[must_use]
pub(crate) struct Outer {
    region: RegionId,
    equal: usize,
    bound: usize,
}

impl ProgramBuilder {
    pub fn new(name: &str) -> ProgramBuilder {
        let func = TensorFunc::new(name);
        let region = func.body();
        ProgramBuilder {
            func,
            consts: ConstStore::default(),
            symbols: Symbols::default(),
            sizes: SizeValues::default(),
            region,
            location: None,
            established: Established::default(),
            aligned: HashMap::default(),
        }
    }

    /// The program, whose body ends with a `tgn.return`.
    pub fn into_program(self) -> TensorProgram {
        let mut program = TensorProgram::new(self.func);
        program.symbols = self.symbols;
        program.consts = self.consts;
        program
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

    /// Panics where there is no such axis: readers check ranks first.
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
        let op = self.plain(|b| b.op(kind, operands))?;
        self.examine(op)?;
        Ok(op)
    }

    /// Appends an op whose results come with its regions, which the caller fills.
    pub fn emit_with_regions(&mut self, kind: TensorOp, operands: &[Value]) -> Outcome<OpId> {
        Ok(self.plain(|b| b.op(kind, operands))?)
    }

    /// Appends what `fill` builds with the tensor level's builder, which asserts nothing: shapes must fit as they stand.
    pub fn build<T>(&mut self, fill: impl FnOnce(&mut Builder) -> Built<T>) -> Outcome<T> {
        let first = self.func.op_count();
        let built = self.plain(fill)?;
        for op in first..self.func.op_count() {
            self.examine(OpId::new(op))?;
        }
        Ok(built)
    }

    fn plain<T>(&mut self, fill: impl FnOnce(&mut Builder) -> Built<T>) -> Built<T> {
        let location = self.location.take();
        let mut builder = Builder::new(&mut self.func, &mut self.consts).at(self.region, location);
        let built = fill(&mut builder);
        self.location = builder.location.take();
        built
    }

    /// Errors: sizes of a new op's results are beyond what passes handle.
    fn examine(&mut self, op: OpId) -> Outcome<()> {
        let results = self.func.results(op);
        if results.iter().any(|result| self.func.ty(*result).shape.iter().any(Dim::is_unwieldy)) {
            return Err(Fault::unsupported(
                "a dim of its result is too long a formula of the model's open dims",
            ));
        }
        // Asked now, so that a later question finds its operands answered; what is made of sources alone can wait.
        let is_source =
            |value: &Value| self.func.def_op(*value).is_some_and(|op| self.func.operands(op).is_empty());
        if let [result] = *results
            && self.may_carry_sizes(result)
            && !self.func.operands(op).iter().all(is_source)
        {
            self.sizes.ask(&self.func, &self.consts, result);
        }
        Ok(())
    }

    fn may_carry_sizes(&self, value: Value) -> bool {
        let count =
            self.func.ty(value).shape.iter().try_fold(1i64, |count, dim| count.checked_mul(dim.as_const()?));
        count.is_some_and(|count| count <= MAX_ELEMENTS as i64)
    }

    pub fn constant(&mut self, data: impl Into<ConstData>) -> Outcome {
        self.build(|b| b.constant(data))
    }

    /// A tensor of equal elements: `value` rounded to the dtype.
    pub fn splat(&mut self, dtype: DType, shape: impl Into<Shape>, value: f64) -> Outcome {
        self.build(|b| b.splat(dtype, shape, value))
    }

    /// As [`splat`](Self::splat) for integers that `f64` would round.
    pub fn splat_int(&mut self, dtype: DType, shape: impl Into<Shape>, value: i64) -> Outcome {
        self.build(|b| b.splat_int(dtype, shape, value))
    }

    pub fn true_scalar(&mut self) -> Outcome {
        self.build(|b| b.scalar_bool(true))
    }

    /// A splat of `x`'s dtype and rank with extents of 1, to stand beside `x` in an elementwise op.
    pub fn number_like(&mut self, x: Value, value: f64) -> Outcome {
        let shape = Shape::from_iter(vec![1i64; self.rank(x)]);
        self.splat(self.dtype(x), shape, value)
    }

    pub fn iota(&mut self, dtype: DType, shape: impl Into<Shape>, axis: usize) -> Outcome {
        self.build(|b| b.iota(dtype, shape, axis))
    }

    /// `i64` places `0, 1, ...` along an axis of `x`, extents of 1 elsewhere.
    pub fn places_along(&mut self, x: Value, axis: usize) -> Outcome {
        self.expect_axis(x, axis)?;
        let shape = along(self.rank(x), axis, self.dim(x, axis));
        self.iota(DType::I64, shape, axis)
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

    /// Insertion goes on at the end of `region`, until [`leave`](Self::leave).
    pub fn enter(&mut self, region: RegionId) -> Outer {
        let region = std::mem::replace(&mut self.region, region);
        Outer { region, equal: self.established.equal.len(), bound: self.established.bound.len() }
    }

    /// Insertion goes on where it was; facts that the region established end with it.
    pub fn leave(&mut self, outer: Outer) {
        self.established.equal.truncate(outer.equal);
        for value in self.established.bound.split_off(outer.bound) {
            self.sizes.forget(value);
        }
        self.region = outer.region;
    }

    /// A value for a result that could not be built, so that later nodes are still checked.
    pub fn placeholder(&mut self, ty: TensorType) -> Value {
        let body = self.func.body();
        self.func.add_arg(body, ty)
    }
}
