//! Contractions of bytes for machines that multiply unsigned by signed ones: a left side of signed bytes becomes unsigned, a
//! right side of unsigned ones signed, both by 128. With `x = u - 128` and `w = s + 128`,
//! `sum x w = sum u s - 128 sum s + 128 sum x`.
//!
//! The sums of one side are those that a zero point of the other asks for too, and are computed once for both.

use super::{few_rows, is_constant, quantised};
use tegula_backend::Target;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp, Window};

/// What is taken from unsigned bytes.
const MIDDLE: f64 = 128.0;
/// Products of a convolution whose sums `i32` holds, whatever the bytes.
const MOST_PRODUCTS: i64 = 1 << 16;

/// Whether an op is such a contraction; a convolution has constant weights, a computed right side of a product many rows.
pub(super) fn applies(func: &TensorFunc, op: OpId, target: &dyn Target) -> bool {
    let (TensorOp::Dot { out: DType::I32, .. } | TensorOp::Conv { out: DType::I32, .. }) = func.kind(op)
    else {
        return false;
    };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    let is_byte = |dtype: DType| matches!(dtype, DType::U8 | DType::I8);
    let is_mixed = (x.dtype, w.dtype) == (DType::U8, DType::I8);
    if !is_byte(x.dtype) || !is_byte(w.dtype) || is_mixed || !target.preferences().signed_weights {
        return false;
    }
    match func.kind(op) {
        TensorOp::Conv { groups, .. } => {
            let products = w.shape.iter().skip(1).fold(Dim::from(1), |count, dim| count * dim.clone());
            *groups == 1
                && products.as_const().is_some_and(|count| count <= MOST_PRODUCTS)
                && is_constant(func, func.operand(op, 1))
        }
        TensorOp::Dot { .. } => !few_rows::applies(func, op),
        _ => false,
    }
}

pub(super) fn dot(b: &mut Builder, [x, w]: [Value; 2], dims: &DotDims) -> Built {
    let (unsigned, signed) = (quantised::unsigned(b, x)?, quantised::signed(b, w)?);
    let mut sums = b.dot(unsigned, signed, dims.clone(), DType::I32)?;
    if unsigned != x {
        let of_columns = quantised::sums_of_columns(b, [x, signed], dims)?;
        let shift = b.with_number(ScalarOp::Mul, of_columns, -MIDDLE)?;
        sums = b.add(sums, shift)?;
    }
    if signed != w {
        let of_rows = quantised::sums_of_rows(b, [x, w], dims)?;
        let shift = b.with_number(ScalarOp::Mul, of_rows, MIDDLE)?;
        sums = b.add(sums, shift)?;
    }
    Ok(sums)
}

pub(super) fn conv(b: &mut Builder, [x, w]: [Value; 2], window: &Window) -> Built {
    let signed = quantised::signed(b, w)?;
    let sums = quantised::conv(b, [x, signed], [None, None], (window, 1), quantised::Channels::Fours)?
        .ok_or("sums of bytes may wrap")?;
    if signed == w {
        return Ok(sums);
    }
    let wide = b.cast(x, DType::I32)?;
    let channels = b.reduce(ScalarOp::Add, wide, &[1], true)?;
    let ones: Shape = [1, 1].iter().chain(&window.size).map(|n| Dim::from(*n)).collect();
    let ones = b.splat_int(DType::I32, ones, 1)?;
    let windows = b.conv(channels, ones, window.clone(), 1, DType::I32)?;
    let shift = b.with_number(ScalarOp::Mul, windows, MIDDLE)?;
    b.add(sums, shift)
}
