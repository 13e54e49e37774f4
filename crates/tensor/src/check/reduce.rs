//! Rules of reductions and scans.

use super::{Types, ensure, has_axis, one, take};
use crate::TensorType;
use tegula_base::{DType, Dim};
use tegula_ir::ScalarOp;

pub(super) fn reduce(name: &str, f: ScalarOp, axes: &[usize], x: &[&TensorType]) -> Types {
    use ScalarOp::{Add, And, Max, Min, Mul, Or, Xor};
    let [x] = take(name, x)?;
    ensure(matches!(f, Add | Mul | Min | Max | And | Or | Xor), name, 1, || {
        format!("`{f}` is no reduction")
    })?;
    f.result_type(&[x.dtype, x.dtype]).map_err(|error| format!("{name}_c1: {error}"))?;
    ensure(axes.is_sorted_by(|a, b| a < b), name, 2, || format!("axes {axes:?} must rise"))?;
    let mut shape = x.shape.clone();
    for axis in axes {
        ensure(*axis < x.rank(), name, 2, || format!("{x} has no axis {axis}"))?;
        shape[*axis] = Dim::from(1);
    }
    one(x.dtype, shape)
}

pub(super) fn arg_reduce(name: &str, axis: usize, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    has_axis(name, axis, x)?;
    ensure(!x.shape[axis].is_const(0), name, 2, || format!("axis {axis} of {x} is empty"))?;
    let mut shape = x.shape.clone();
    shape[axis] = Dim::from(1);
    one(DType::I64, shape)
}

pub(super) fn scan(name: &str, f: ScalarOp, axis: usize, x: &[&TensorType]) -> Types {
    use ScalarOp::{Add, Max, Min, Mul};
    let [x] = take(name, x)?;
    has_axis(name, axis, x)?;
    ensure(matches!(f, Add | Mul | Min | Max), name, 2, || format!("`{f}` is no scan"))?;
    f.result_type(&[x.dtype, x.dtype]).map_err(|error| format!("{name}_c2: {error}"))?;
    one(x.dtype, x.shape.clone())
}
