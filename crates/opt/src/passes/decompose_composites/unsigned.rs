//! Contractions of unsigned bytes on both sides, for machines that multiply unsigned by signed ones: weights below 128 and
//! above become signed, `sum x w = sum x (w - 128) + 128 sum x`.
//!
//! The sums of x are those that a zero point of the weights asks for too, and are computed once for both.

use super::quantised;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_target::TargetModel;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp, Window};

/// What is taken from the weights.
const MIDDLE: i64 = 128;
/// Products whose sums `i32` holds, whatever the bytes.
const MOST_PRODUCTS: i64 = 1 << 16;

/// Whether an op is such a contraction, of weights that are a constant.
pub(super) fn applies(func: &TensorFunc, op: OpId, target: &dyn TargetModel) -> bool {
    let (TensorOp::Dot { out: DType::I32, .. } | TensorOp::Conv { out: DType::I32, .. }) = func.kind(op)
    else {
        return false;
    };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    let products = match func.kind(op) {
        TensorOp::Dot { dims, .. } => {
            let rows = dims.lhs_batch.is_empty()
                && dims.lhs_contract.as_slice() == [x.rank().wrapping_sub(1)]
                && w.rank() == 2;
            rows.then(|| w.shape[dims.rhs_contract[0]].clone())
        }
        TensorOp::Conv { groups: 1, .. } => {
            Some(w.shape.iter().skip(1).fold(Dim::from(1), |count, dim| count * dim.clone()))
        }
        _ => None,
    };
    let few = products.and_then(|count| count.as_const()).is_some_and(|count| count <= MOST_PRODUCTS);
    let is_constant = || {
        matches!(func.def_op(func.operand(op, 1)).map(|op| func.kind(op)), Some(TensorOp::Constant { .. }))
    };
    few && (x.dtype, w.dtype) == (DType::U8, DType::U8) && target.wants_signed_bytes() && is_constant()
}

pub(super) fn dot(b: &mut Builder, [x, w]: [Value; 2], dims: &DotDims) -> Built {
    let signed = quantised::signed(b, w)?;
    let sums = b.dot(x, signed, dims.clone(), DType::I32)?;
    let wide = b.cast(x, DType::I32)?;
    let rows = b.reduce(ScalarOp::Add, wide, &dims.lhs_contract, true)?;
    let shift = b.with_number(ScalarOp::Mul, rows, MIDDLE as f64)?;
    b.add(sums, shift)
}

pub(super) fn conv(b: &mut Builder, [x, w]: [Value; 2], window: &Window) -> Built {
    let signed = quantised::signed(b, w)?;
    let sums = quantised::conv(b, [x, signed], [None, None], window, 1)?.ok_or("sums of bytes may wrap")?;
    let wide = b.cast(x, DType::I32)?;
    let channels = b.reduce(ScalarOp::Add, wide, &[1], true)?;
    let ones: Shape = [1, 1].iter().chain(&window.size).map(|n| Dim::from(*n)).collect();
    let ones = b.splat_int(DType::I32, ones, 1)?;
    let windows = b.conv(channels, ones, window.clone(), 1, DType::I32)?;
    let shift = b.with_number(ScalarOp::Mul, windows, MIDDLE as f64)?;
    b.add(sums, shift)
}
