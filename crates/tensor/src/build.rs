//! Building tensor programs: one method an op, each giving its result or the constraint that is broken.
//!
//! Before: the builder points at a region without a terminator.  After: ops stand at its end, in call order.
//! The families: `build/elementwise.rs` (broadcasting as NumPy does), `build/movement.rs`, `build/contract.rs`,
//! `build/control.rs`. Importers, passes and decompositions all build through it.

mod contract;
mod control;
mod elementwise;
mod movement;

pub use contract::same_window;

use crate::{TensorFunc, TensorOp, TensorType};
use std::sync::Arc;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ConstData, ConstStore, OpId, RegionId, ScalarOp, Value};

/// Appends ops to one region of a function.
pub struct Builder<'a> {
    pub func: &'a mut TensorFunc,
    pub consts: &'a mut ConstStore,
    pub region: RegionId,
    /// The source node that the ops built from here on come from; `None`: that of `origin`.
    pub location: Option<Arc<str>>,
    origin: Option<OpId>,
}

/// A built value, or the broken constraint: "dot_c2: inner sizes 4 and 5 differ".
pub type Built<T = Value> = Result<T, String>;

impl<'a> Builder<'a> {
    /// A builder at the end of the function's body.
    #[inline]
    pub fn new(func: &'a mut TensorFunc, consts: &'a mut ConstStore) -> Builder<'a> {
        let region = func.body();
        Builder { func, consts, region, location: None, origin: None }
    }

    pub fn at(mut self, region: RegionId, location: Option<Arc<str>>) -> Builder<'a> {
        self.region = region;
        self.location = location;
        self
    }

    /// A builder at the end of `region` for what is built from an op, or instead of it.
    pub fn at_op(mut self, region: RegionId, origin: OpId) -> Builder<'a> {
        self.region = region;
        self.origin = Some(origin);
        self
    }

    // --- any op ----------------------------------------------------------------------------------------

    /// Any op; its results are as many as its rule gives.
    pub fn op(&mut self, kind: TensorOp, operands: &[Value]) -> Built<OpId> {
        let location = match (&self.location, self.origin) {
            (None, Some(origin)) => self.func.op(origin).location.clone(),
            (location, _) => location.clone(),
        };
        self.func.build(self.region, kind, operands, location)
    }

    /// Any op of one result.
    pub fn emit(&mut self, kind: TensorOp, operands: &[Value]) -> Built {
        let op = self.op(kind, operands)?;
        Ok(self.func.result(op))
    }

    /// Any op, all its results.
    pub fn emit_all(&mut self, kind: TensorOp, operands: &[Value]) -> Built<Vec<Value>> {
        let op = self.op(kind, operands)?;
        Ok(self.func.results(op).to_vec())
    }

    // --- reading ---------------------------------------------------------------------------------------

    #[inline]
    pub fn ty(&self, value: Value) -> &TensorType {
        self.func.ty(value)
    }

    pub fn shape(&self, value: Value) -> Shape {
        self.func.ty(value).shape.clone()
    }

    #[inline]
    pub fn dtype(&self, value: Value) -> DType {
        self.func.ty(value).dtype
    }

    #[inline]
    pub fn rank(&self, value: Value) -> usize {
        self.func.ty(value).rank()
    }

    // --- sources ---------------------------------------------------------------------------------------

    /// An argument of the builder's region.
    pub fn arg(&mut self, dtype: DType, shape: impl Into<Shape>) -> Value {
        self.func.add_arg(self.region, TensorType::new(dtype, shape))
    }

    /// A constant put into the store.
    pub fn constant(&mut self, data: impl Into<ConstData>) -> Built {
        let data: ConstData = data.into();
        let (dtype, shape) = (data.dtype, data.shape.iter().copied().collect());
        let id = self.consts.push(data);
        self.emit(TensorOp::Constant { id, dtype, shape }, &[])
    }

    /// A small constant: a splat where all elements are equal, else from the store.
    pub fn literal(&mut self, tensor: HostTensor) -> Built {
        let size = tensor.dtype.size();
        let (first, rest) = tensor.bytes.split_at(size.min(tensor.bytes.len()));
        if first.is_empty() || rest.chunks_exact(size).any(|element| element != first) {
            return self.constant(tensor);
        }
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(first);
        let shape = tensor.shape.iter().copied().collect();
        self.emit(TensorOp::Splat { dtype: tensor.dtype, shape, bits: i64::from_le_bytes(bits) }, &[])
    }

    /// Every element `value`, rounded to `dtype` as a cast does.
    pub fn splat(&mut self, dtype: DType, shape: impl Into<Shape>, value: f64) -> Built {
        let cast = ScalarOp::Cast { to: dtype, saturate: true };
        let bits = eval(cast, &[DType::F64], &[value.to_bits()]) as i64;
        self.emit(TensorOp::Splat { dtype, shape: shape.into(), bits }, &[])
    }

    /// Every element `value`, wrapped to `dtype`.
    pub fn splat_int(&mut self, dtype: DType, shape: impl Into<Shape>, value: i64) -> Built {
        let cast = ScalarOp::Cast { to: dtype, saturate: true };
        let bits = eval(cast, &[DType::I64], &[value as u64]) as i64;
        self.emit(TensorOp::Splat { dtype, shape: shape.into(), bits }, &[])
    }

    pub fn scalar_f32(&mut self, value: f32) -> Built {
        self.splat(DType::F32, Shape::scalar(), f64::from(value))
    }

    pub fn scalar_i64(&mut self, value: i64) -> Built {
        self.splat_int(DType::I64, Shape::scalar(), value)
    }

    pub fn scalar_bool(&mut self, value: bool) -> Built {
        self.splat_int(DType::Bool, Shape::scalar(), i64::from(value))
    }

    pub fn iota(&mut self, dtype: DType, shape: impl Into<Shape>, axis: usize) -> Built {
        self.emit(TensorOp::Iota { dtype, shape: shape.into(), axis }, &[])
    }

    /// Sizes as an `i64` list.
    pub fn sizes(&mut self, dims: &[Dim]) -> Built {
        self.emit(TensorOp::Sizes { dims: dims.to_vec() }, &[])
    }

    /// A size as an `i64` scalar.
    pub fn size(&mut self, dim: &Dim) -> Built {
        let list = self.sizes(std::slice::from_ref(dim))?;
        self.reshape(list, Shape::scalar())
    }
}
