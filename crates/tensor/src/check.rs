//! Shape rules and numbered constraints of every op of the tensor level.
//!
//! Before: operands have types.  After: the result types, or the constraint that is broken, in the user's words.
//! Sizes are symbolic: equal means equal as expressions; a bound is checked where it is constant. Layouts are
//! ignored. One file a family, each a function from attributes and operand types; only ops with regions look at
//! the function.

mod composite;
mod contract;
mod control;
mod indexing;
mod movement;
mod order;
mod program;
mod quant;
mod reduce;

pub use control::finish_region_op;
pub(crate) use indexing::scatter_op;
pub use program::check_program;

use crate::{KernelClass, TensorFunc, TensorOp, TensorType};
use smallvec::{SmallVec, smallvec};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::op::{NameRank, OpRules};
use tegula_ir::{Effects, Op, OpId, Value};

type Types = Result<tegula_ir::op::Types<TensorType>, String>;

impl OpRules for TensorOp {
    type Type = TensorType;

    fn effects(&self) -> Effects {
        use TensorOp::*;
        match self {
            Bind { .. } | AssertSize { .. } | Yield {} | Return {} => Effects::Writes,
            // What is inside may assert, so it moves with care; unused, it may go.
            If {} | Loop { .. } => Effects::Reads,
            Constant { .. }
            | Splat { .. }
            | Iota { .. }
            | Sizes { .. }
            | Elementwise { .. }
            | Broadcast { .. }
            | Reshape { .. }
            | Transpose { .. }
            | Slice { .. }
            | Pad { .. }
            | Concat { .. }
            | Gather { .. }
            | GatherElements { .. }
            | GatherNd { .. }
            | ScatterElements { .. }
            | ScatterNd { .. }
            | Reduce { .. }
            | ArgReduce { .. }
            | Scan { .. }
            | Dot { .. }
            | Conv { .. }
            | WinogradConv { .. }
            | ConvTranspose { .. }
            | Pool { .. }
            | MaxPoolIndices { .. }
            | Softmax { .. }
            | LayerNorm { .. }
            | RmsNorm { .. }
            | Gelu { .. }
            | Attention { .. }
            | Lstm { .. }
            | Gru { .. }
            | Quantize { .. }
            | Dequantize { .. }
            | QDot { .. }
            | QConv { .. }
            | TopK { .. }
            | NonZero {}
            | Unique { .. }
            | NonMaxSuppression { .. }
            | Relayout { .. }
            | Kernel { .. } => Effects::Pure,
        }
    }

    fn is_terminator(&self) -> bool {
        matches!(self, TensorOp::Yield {} | TensorOp::Return {})
    }

    fn name_rank(&self) -> NameRank {
        use TensorOp::*;
        match self {
            Constant { .. } | Splat { .. } | Iota { .. } | Yield {} | Return {} => NameRank::None,
            Dot { .. }
            | Conv { .. }
            | WinogradConv { .. }
            | ConvTranspose { .. }
            | QDot { .. }
            | QConv { .. }
            | Pool { .. }
            | MaxPoolIndices { .. }
            | Attention { .. }
            | Lstm { .. }
            | Gru { .. } => NameRank::Root,
            Sizes { .. }
            | Elementwise { .. }
            | Broadcast { .. }
            | Reshape { .. }
            | Transpose { .. }
            | Slice { .. }
            | Pad { .. }
            | Concat { .. }
            | Gather { .. }
            | GatherElements { .. }
            | GatherNd { .. }
            | ScatterElements { .. }
            | ScatterNd { .. }
            | Reduce { .. }
            | ArgReduce { .. }
            | Scan { .. }
            | Softmax { .. }
            | LayerNorm { .. }
            | RmsNorm { .. }
            | Gelu { .. }
            | Quantize { .. }
            | Dequantize { .. }
            | TopK { .. }
            | NonZero {}
            | Unique { .. }
            | NonMaxSuppression { .. }
            | Bind { .. }
            | AssertSize { .. }
            | If {}
            | Loop { .. }
            | Relayout { .. }
            | Kernel { .. } => NameRank::Fused,
        }
    }

    fn region_count(&self) -> usize {
        match self {
            TensorOp::If {} => 2,
            TensorOp::Loop { .. } | TensorOp::Kernel { .. } => 1,
            _ => 0,
        }
    }

    fn regions_are_sealed(&self) -> bool {
        matches!(self, TensorOp::Kernel { class: KernelClass::Region })
    }

    fn regions_capture(&self) -> bool {
        !matches!(self, TensorOp::Kernel { .. })
    }

    fn check(func: &TensorFunc, op: OpId) -> Types {
        let kind = func.kind(op);
        let mut types = if kind.region_count() > 0 {
            control::region_op(func, op)?
        } else {
            control::placed(func, op)?;
            // Most ops read few values.
            let ty = |value: Value| func.ty(value);
            match *func.operands(op) {
                [] => infer(kind, &[])?,
                [a] => infer(kind, &[ty(a)])?,
                [a, b] => infer(kind, &[ty(a), ty(b)])?,
                [a, b, c] => infer(kind, &[ty(a), ty(b), ty(c)])?,
                ref all => {
                    let all: SmallVec<[&TensorType; 8]> = all.iter().map(|value| ty(*value)).collect();
                    infer(kind, &all)?
                }
            }
        };
        let results = func.results(op);
        // An op in the making has none yet.
        if results.is_empty() || matches!(kind, TensorOp::Relayout { .. }) {
            return Ok(types);
        }
        if let (TensorOp::Transpose { perm }, &[x], &[result]) = (kind, func.operands(op), results) {
            movement::transpose_in_place(perm, func.ty(x), func.ty(result))?;
        }
        // Layouts never change meaning: where only they differ, what is declared holds.
        for (ty, declared) in types.iter_mut().zip(results) {
            let declared = func.ty(*declared);
            if (ty.dtype, &ty.shape) == (declared.dtype, &declared.shape) {
                ty.layout = declared.layout.clone();
            }
        }
        Ok(types)
    }
}

/// Result types of an op without regions, from its attributes and operand types.
/// Errors: the numbered constraint that is broken.
pub fn infer(kind: &TensorOp, x: &[&TensorType]) -> Types {
    if let Some(ty) = x.iter().find(|ty| ty.dtype.is_stored_only() && computes(kind)) {
        return Err(format!("{}_c0: {ty} is only stored: cast it first", kind.name()));
    }
    let types = rule(kind, x)?;
    for ty in types.iter().filter(|ty| !ty.is_sound()) {
        if let Some(dim) = ty.shape.iter().find(|dim| dim.as_const().is_some_and(|n| n < 0)) {
            return Err(format!("{}_c0: the result {ty} would have the negative size {dim}", kind.name()));
        }
        ty.check_size().map_err(|error| format!("{}_c0: the result {error}", kind.name()))?;
    }
    Ok(types)
}

/// Whether the op takes part in arithmetic or order, which types that are only stored have not. Scalar operations and
/// quantisation have their own rules.
fn computes(kind: &TensorOp) -> bool {
    use TensorOp::*;
    match kind {
        Constant { .. } | Splat { .. } | Iota { .. } | Sizes { .. } | Elementwise { .. } => false,
        Broadcast { .. } | Reshape { .. } | Transpose { .. } | Slice { .. } | Pad { .. } => false,
        Concat { .. } | Gather { .. } | GatherElements { .. } | GatherNd { .. } => false,
        ScatterElements { .. } | ScatterNd { .. } | Quantize { .. } | Dequantize { .. } => false,
        Bind { .. } | AssertSize { .. } | If {} | Loop { .. } | Yield {} | Return {} => false,
        Relayout { .. } | Kernel { .. } => false,
        Reduce { .. } | ArgReduce { .. } | Scan { .. } | Dot { .. } | Conv { .. } => true,
        WinogradConv { .. } => true,
        ConvTranspose { .. } | Pool { .. } | MaxPoolIndices { .. } | Softmax { .. } => true,
        LayerNorm { .. } | RmsNorm { .. } | Gelu { .. } | Attention { .. } | Lstm { .. } | Gru { .. } => true,
        QDot { .. } | QConv { .. } => true,
        TopK { .. } | NonZero {} | Unique { .. } | NonMaxSuppression { .. } => true,
    }
}

fn rule(kind: &TensorOp, x: &[&TensorType]) -> Types {
    use TensorOp::*;
    let name = kind.name();
    match kind {
        Constant { dtype, shape, .. } | Splat { dtype, shape, .. } | Iota { dtype, shape, .. } => {
            let [] = take(name, x)?;
            if let Constant { .. } = kind {
                let constant = shape.iter().all(|dim| dim.as_const().is_some_and(|n| n >= 0));
                ensure(constant, name, 2, || format!("sizes {shape} must be constant"))?;
            }
            if let Iota { axis, .. } = kind {
                ensure(*axis < shape.rank(), name, 1, || format!("{shape} has no axis {axis}"))?;
                let counts = *dtype != DType::Bool && !dtype.is_stored_only();
                ensure(counts, name, 2, || format!("{dtype} does not count"))?;
            }
            one(*dtype, shape.clone())
        }
        Sizes { dims } => {
            let [] = take(name, x)?;
            one(DType::I64, [dims.len()])
        }
        Elementwise { f } => elementwise(name, *f, x),
        Broadcast { shape } => movement::broadcast(name, shape, x),
        Reshape { shape } => movement::reshape(name, shape, x),
        Transpose { perm } => movement::transpose(name, perm, x),
        Slice { starts, sizes, steps } => movement::slice(name, starts, sizes, steps, x),
        Pad { low, high, mode } => movement::pad(name, low, high, *mode, x),
        Concat { axis } => movement::concat(name, *axis, x),
        Gather { axis } => indexing::gather(name, *axis, x),
        GatherElements { axis } => indexing::gather_elements(name, *axis, x),
        GatherNd { batch_dims } => indexing::gather_nd(name, *batch_dims, x),
        ScatterElements { axis, kind } => indexing::scatter_elements(name, *axis, *kind, x),
        ScatterNd { kind } => indexing::scatter_nd(name, *kind, x),
        Reduce { f, axes } => reduce::reduce(name, *f, axes, x),
        ArgReduce { axis, .. } => reduce::arg_reduce(name, *axis, x),
        Scan { f, axis, .. } => reduce::scan(name, *f, *axis, x),
        Dot { dims, out, pair_sums } => contract::dot(name, dims, *out, *pair_sums, x),
        Conv { window, groups, out } => contract::conv(name, window, *groups, *out, x),
        WinogradConv { window } => contract::winograd_conv(name, window, x),
        ConvTranspose { window, groups, output } => {
            contract::conv_transpose(name, window, *groups, output, x)
        }
        Pool { window, .. } => contract::pool(name, window, x),
        MaxPoolIndices { window, .. } => {
            let pooled = contract::pool(name, window, x)?;
            let indices = TensorType::new(DType::I64, pooled[0].shape.clone());
            Ok(smallvec![pooled[0].clone(), indices])
        }
        Softmax { axis, .. } => composite::softmax(name, *axis, x),
        LayerNorm { axis, .. } => composite::norm(name, *axis, 3, x),
        RmsNorm { axis, .. } => composite::norm(name, *axis, 2, x),
        Gelu { .. } => {
            let [x] = take(name, x)?;
            float(name, x)?;
            one(x.dtype, x.shape.clone())
        }
        Attention { .. } => composite::attention(name, x),
        Lstm { .. } => composite::lstm(name, x),
        Gru { .. } => composite::gru(name, x),
        Quantize { scheme } => quant::quantize(name, scheme, x),
        Dequantize { scheme } => quant::dequantize(name, scheme, x),
        QDot { dims } => quant::q_dot(name, dims, x),
        QConv { window, groups } => quant::q_conv(name, window, *groups, x),
        TopK { axis, k, .. } => order::top_k(name, *axis, k, x),
        NonZero {} => order::non_zero(name, x),
        Unique { axis, .. } => order::unique(name, *axis, x),
        NonMaxSuppression { limit, .. } => order::non_max_suppression(name, limit, x),
        Bind { symbol } => control::bind(name, symbol, x),
        AssertSize { .. } => take::<0>(name, x).map(|_| smallvec![]),
        Yield {} | Return {} => Ok(smallvec![]),
        Relayout { layout } => {
            let [x] = take(name, x)?;
            Ok(smallvec![TensorType { layout: Some(Box::new(layout.clone())), ..x.clone() }])
        }
        If {} | Loop { .. } | Kernel { .. } => {
            Err(format!("{name}_c0: the types of `{name}` come from its regions"))
        }
    }
}

fn elementwise(name: &str, f: tegula_ir::ScalarOp, x: &[&TensorType]) -> Types {
    let dtype = match x {
        [a] => f.result_type(&[a.dtype]),
        [a, b] => f.result_type(&[a.dtype, b.dtype]),
        all => f.result_type(&all.iter().map(|ty| ty.dtype).collect::<SmallVec<[DType; 4]>>()),
    };
    let dtype = dtype.map_err(|error| format!("{name}_c1: {error}"))?;
    let mut shape = x[0].shape.clone();
    for ty in &x[1..] {
        ensure(ty.rank() == shape.rank(), name, 2, || format!("`{f}` of {} and {ty}: ranks differ", x[0]))?;
        // Most often one operand has the result's shape, which is then shared.
        if ty.shape.repeats_to(&shape) {
            continue;
        }
        if shape.repeats_to(&ty.shape) {
            shape = ty.shape.clone();
            continue;
        }
        for (dim, other) in shape.iter_mut().zip(ty.shape.iter()) {
            if dim.is_const(1) {
                *dim = other.clone();
            }
            ensure(*dim == *other || other.is_const(1), name, 3, || {
                format!("`{f}` of {} and {ty}: sizes {dim} and {other} differ", x[0])
            })?;
        }
    }
    one(dtype, shape)
}

// --- words the families share ------------------------------------------------------------------------------

fn one(dtype: DType, shape: impl Into<Shape>) -> Types {
    Ok(smallvec![TensorType::new(dtype, shape)])
}

/// Exactly `N` operands (constraint 0).
fn take<'a, const N: usize>(name: &str, x: &[&'a TensorType]) -> Result<[&'a TensorType; N], String> {
    x.try_into().map_err(|_| broken(name, 0, || format!("takes {N} operands, got {}", x.len())))
}

fn count_between(name: &str, x: &[&TensorType], least: usize, most: usize) -> Result<(), String> {
    ensure((least..=most).contains(&x.len()), name, 0, || {
        format!("takes {least} to {most} operands, got {}", x.len())
    })
}

#[inline]
fn ensure(holds: bool, name: &str, number: u32, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken(name, number, message)) }
}

/// Apart, so that what holds is checked in little code.
#[cold]
fn broken(name: &str, number: u32, message: impl FnOnce() -> String) -> String {
    format!("{name}_c{number}: {}", message())
}

fn float(name: &str, ty: &TensorType) -> Result<(), String> {
    ensure(ty.dtype.is_float(), name, 0, || format!("takes floats, got {ty}"))
}

fn has_type(name: &str, role: &str, ty: &TensorType, dtype: DType, shape: &Shape) -> Result<(), String> {
    ensure(ty.dtype == dtype && ty.shape == *shape, name, 0, || {
        format!("{role} must be {dtype}{shape}, got {ty}")
    })
}

fn has_axis(name: &str, axis: usize, ty: &TensorType) -> Result<(), String> {
    ensure(axis < ty.rank(), name, 1, || format!("{ty} has no axis {axis}"))
}

/// False only where the sizes differ for every value of the symbols by a constant.
fn may_equal(a: &Dim, b: &Dim) -> bool {
    a == b || (a.clone() - b.clone()).as_const().is_none_or(|difference| difference == 0)
}
