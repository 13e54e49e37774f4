//! Rules of sorting and counting: results have the shape of their upper bound, with a count.

use super::{Types, ensure, has_axis, has_type, take};
use crate::TensorType;
use smallvec::smallvec;
use tegula_base::{DType, Dim, Shape};

pub(super) fn top_k(name: &str, axis: usize, k: &Dim, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    has_axis(name, axis, x)?;
    let extent = &x.shape[axis];
    if let (Some(k), Some(n)) = (k.as_const(), extent.as_const()) {
        ensure(k <= n, name, 2, || format!("k is {k}, {x} has {n} elements along axis {axis}"))?;
    }
    let mut shape = x.shape.clone();
    shape[axis] = k.clone();
    Ok(smallvec![TensorType::new(x.dtype, shape.clone()), TensorType::new(DType::I64, shape)])
}

pub(super) fn non_zero(name: &str, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    let shape = [Dim::from(x.rank()), x.shape.count()];
    Ok(smallvec![TensorType::new(DType::I64, shape), TensorType::scalar(DType::I64)])
}

pub(super) fn unique(name: &str, axis: Option<usize>, x: &[&TensorType]) -> Types {
    let [x] = take(name, x)?;
    let (values, extent) = match axis {
        Some(axis) => {
            has_axis(name, axis, x)?;
            (x.shape.clone(), x.shape[axis].clone())
        }
        None => (Shape::from([x.shape.count()]), x.shape.count()),
    };
    let list = TensorType::new(DType::I64, [extent]);
    let count = TensorType::scalar(DType::I64);
    Ok(smallvec![TensorType::new(x.dtype, values), list.clone(), list.clone(), list, count])
}

pub(super) fn non_max_suppression(name: &str, limit: &Dim, x: &[&TensorType]) -> Types {
    let [boxes, scores, per_class, iou, score] = take(name, x)?;
    let f32s = boxes.dtype == DType::F32 && scores.dtype == DType::F32;
    ensure(f32s && boxes.rank() == 3 && scores.rank() == 3, name, 1, || {
        format!("takes boxes f32[N,B,4] and scores f32[N,C,B], got {boxes} and {scores}")
    })?;
    let fits =
        boxes.shape[2].is_const(4) && boxes.shape[0] == scores.shape[0] && boxes.shape[1] == scores.shape[2];
    ensure(fits, name, 1, || format!("boxes {boxes} and scores {scores} do not fit"))?;
    has_type(name, "the limit per class", per_class, DType::I64, &Shape::scalar())?;
    has_type(name, "the overlap threshold", iou, DType::F32, &Shape::scalar())?;
    has_type(name, "the score threshold", score, DType::F32, &Shape::scalar())?;
    let kept = boxes.shape[1].minimum(limit);
    let rows = scores.shape[0].clone() * scores.shape[1].clone() * kept;
    Ok(smallvec![TensorType::new(DType::I64, [rows, Dim::from(3)]), TensorType::scalar(DType::I64)])
}
