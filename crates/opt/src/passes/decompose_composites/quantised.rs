//! Quantised contractions on the stored bytes: unsigned by signed products, zero points as corrections.
//!
//! With `x` unsigned and `w` signed of zero point 0, `sum (x - zx) w = sum x w - zx * sum w`; the second sum is of
//! constants. Padding is made explicit, since it stands for real 0, which is stored as `zx`.
//! Signed `x` is shifted by 128 together with its zero point, unsigned `w` likewise.

use tegula_base::{DType, Dim, Shape};
use tegula_ir::{Def, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, QuantScheme, TensorOp, Window};

/// `None`: the zero points are not what this is for.
pub(super) fn q_conv(b: &mut Builder, x: &[Value], window: &Window, groups: i64) -> Built<Option<Value>> {
    let Some((input, zero, weights)) = stored(b, x[0], x[2], x[3], x[5])? else { return Ok(None) };
    let rank = b.rank(input);
    let mut window = window.clone();
    let mut input = input;
    let padded = window.low.iter().chain(&window.high).any(|pad| !pad.is_const(0));
    if padded && zero != 0 {
        let none = vec![Dim::from(0); 2];
        let low: Vec<Dim> = none.iter().chain(&window.low).cloned().collect();
        let high: Vec<Dim> = none.iter().chain(&window.high).cloned().collect();
        let fill = b.splat_int(DType::U8, Shape::scalar(), zero)?;
        input = b.pad(input, &low, &high, fill)?;
        window.low = vec![Dim::from(0); rank - 2];
        window.high = vec![Dim::from(0); rank - 2];
    }
    let mut sums = b.conv(input, weights, window, groups, DType::I32)?;
    let mut correction = match x.get(8) {
        Some(bias) => Some(along(b, *bias, 1, rank)?),
        None => None,
    };
    if zero != 0 {
        let wide = b.cast(weights, DType::I32)?;
        let axes: Vec<usize> = (1..rank).collect();
        let sum = b.reduce(ScalarOp::Add, wide, &axes, false)?;
        let sum = along(b, sum, 1, rank)?;
        let shift = b.with_number(ScalarOp::Mul, sum, -zero as f64)?;
        correction = Some(match correction {
            Some(bias) => b.add(bias, shift)?,
            None => shift,
        });
    }
    if let Some(correction) = correction {
        sums = b.add(sums, correction)?;
    }
    let scale = b.mul(x[1], x[4])?;
    let scale = along(b, scale, 1, rank)?;
    requantize(b, sums, scale, x[6], x[7]).map(Some)
}

/// `None`: the zero points are not what this is for.
pub(super) fn q_dot(b: &mut Builder, x: &[Value], dims: &DotDims) -> Built<Option<Value>> {
    let Some((lhs, zero, rhs)) = stored(b, x[0], x[2], x[3], x[5])? else { return Ok(None) };
    let mut sums = b.dot(lhs, rhs, dims.clone(), DType::I32)?;
    if zero != 0 {
        let wide = b.cast(rhs, DType::I32)?;
        let sum = b.reduce(ScalarOp::Add, wide, &dims.rhs_contract, true)?;
        let free = |rank: usize, batch: &[usize], inner: &[usize]| {
            (0..rank).filter(|axis| !batch.contains(axis) && !inner.contains(axis)).collect::<Vec<_>>()
        };
        let rhs_free = free(b.rank(rhs), &dims.rhs_batch, &dims.rhs_contract);
        let lhs_free = free(b.rank(lhs), &dims.lhs_batch, &dims.lhs_contract);
        let order: Vec<usize> =
            dims.rhs_batch.iter().chain(&dims.rhs_contract).chain(&rhs_free).copied().collect();
        let sum = b.transpose(sum, &order)?;
        // The contracted axes, of extent 1, stand where the left side's free ones do.
        let shape = b.shape(rhs);
        let batch = dims.rhs_batch.iter().map(|axis| shape[*axis].clone());
        let ones = std::iter::repeat_n(Dim::from(1), lhs_free.len());
        let columns = rhs_free.iter().map(|axis| shape[*axis].clone());
        let sum = b.reshape(sum, batch.chain(ones).chain(columns).collect::<Shape>())?;
        let shift = b.with_number(ScalarOp::Mul, sum, -zero as f64)?;
        sums = b.add(sums, shift)?;
    }
    let scale = b.mul(x[1], x[4])?;
    requantize(b, sums, scale, x[6], x[7]).map(Some)
}

/// The left side unsigned with its zero point, the right side signed with zero point 0; `None` where constants do
/// not say so.
fn stored(b: &mut Builder, x: Value, x_zero: Value, w: Value, w_zero: Value) -> Built<Option<(Value, i64, Value)>> {
    let (Some(x_zeros), Some(w_zeros)) = (constant(b, x_zero), constant(b, w_zero)) else { return Ok(None) };
    let [zero] = x_zeros[..] else { return Ok(None) };
    let signed_zero = if b.dtype(w) == DType::I8 { 0 } else { 128 };
    if w_zeros.iter().any(|zero| *zero != signed_zero) {
        return Ok(None);
    }
    let (input, zero) = match b.dtype(x) {
        DType::U8 => (x, zero),
        _ => (flip_sign(b, x, DType::U8)?, zero + 128),
    };
    let weights = if b.dtype(w) == DType::I8 { w } else { flip_sign(b, w, DType::I8)? };
    Ok(Some((input, zero, weights)))
}

/// Bytes shifted by 128: from signed to unsigned by `+ 128`, back by `- 128`; both flip the top bit.
fn flip_sign(b: &mut Builder, x: Value, to: DType) -> Built {
    let bits = b.elementwise(ScalarOp::Bitcast { to: DType::U8 }, &[x])?;
    let flipped = b.with_number(ScalarOp::Xor, bits, 128.0)?;
    if to == DType::U8 { Ok(flipped) } else { b.elementwise(ScalarOp::Bitcast { to }, &[flipped]) }
}

/// The elements of a small integer constant.
fn constant(b: &Builder, value: Value) -> Option<Vec<i64>> {
    let Def::Result(op, _) = b.func.def(value) else { return None };
    match b.func.kind(op) {
        TensorOp::Constant { id, .. } => Some(b.consts.get(*id)?.to_host().to_i64()),
        TensorOp::Splat { bits, dtype, .. } => {
            Some(vec![if *dtype == DType::I8 { i64::from(*bits as i8) } else { *bits & 255 }])
        }
        TensorOp::Reshape { .. } => constant(b, b.func.operand(op, 0)),
        _ => None,
    }
}

/// A list along one axis of a given rank; a scalar gets extents of 1.
fn along(b: &mut Builder, list: Value, axis: usize, rank: usize) -> Built {
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    if b.rank(list) > 0 {
        shape[axis] = b.shape(list)[0].clone();
    }
    b.reshape(list, shape)
}

fn requantize(b: &mut Builder, sums: Value, scale: Value, y_scale: Value, y_zero: Value) -> Built {
    let sums = b.cast(sums, b.dtype(scale))?;
    let real = b.mul(sums, scale)?;
    let scheme = QuantScheme { axis: None, block: None, storage: b.dtype(y_zero), zero_point: true };
    b.quantize(&[real, y_scale, y_zero], scheme)
}
