//! Quantised contractions on the stored bytes: unsigned by signed products, zero points as corrections.
//!
//! With `x` unsigned and `w` signed of zero point 0, `sum (x - zx) w = sum x w - zx * sum w`; the second sum is of
//! constants. Padding is made explicit, since it stands for real 0, which is stored as `zx`.
//! Signed `x` is shifted by 128 together with its zero point, unsigned `w` likewise.

use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ConstData, Def, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, QuantScheme, TensorOp, Window};

/// `None`: the zero points are not what this is for.
pub(super) fn q_conv(b: &mut Builder, x: &[Value], window: &Window, groups: i64) -> Built<Option<Value>> {
    let rank = b.rank(x[0]);
    let Some(mut sums) = conv(b, [x[0], x[3]], [Some(x[2]), Some(x[5])], (window, groups), Channels::Fours)?
    else {
        return Ok(None);
    };
    if let Some(bias) = x.get(8) {
        let bias = along(b, *bias, 1, rank)?;
        sums = b.add(sums, bias)?;
    }
    let scale = b.scale_of_products(x[1], x[4])?;
    let scale = along(b, scale, 1, rank)?;
    b.requantize(sums, scale, x[6], x[7]).map(Some)
}

/// `None`: the zero points are not what this is for.
pub(super) fn q_dot(b: &mut Builder, x: &[Value], dims: &DotDims) -> Built<Option<Value>> {
    let (sides, zeros) = ([x[0], x[3]], [x[2], x[5]]);
    let sums = match dot(b, sides, zeros.map(Some), dims)? {
        Some(sums) => Some(sums),
        None => dot_off_middle(b, sides, zeros, dims)?,
    };
    let Some(sums) = sums else { return Ok(None) };
    let scale = b.scale_of_products(x[1], x[4])?;
    b.requantize(sums, scale, x[6], x[7]).map(Some)
}

/// The channels that a convolution of bytes may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channels {
    Any,
    /// A multiple of four, which a host multiplies at once: others, of 0, are put behind them.
    Fours,
}

/// `conv(x - x_zero, w - w_zero)` in `i32`, of bytes; a zero point that is not there is 0.
/// `None`: zero points are not constant, the weights' is not in the middle of its range, or sums might wrap.
pub(crate) fn conv(
    b: &mut Builder,
    [x, w]: [Value; 2],
    [x_zero, w_zero]: [Option<Value>; 2],
    (window, groups): (&Window, i64),
    channels: Channels,
) -> Built<Option<Value>> {
    if may_wrap(&b.shape(w)[1..]) {
        return Ok(None);
    }
    let Some((mut input, zero, weights)) = stored(b, x, x_zero, w, w_zero)? else { return Ok(None) };
    let rank = b.rank(input);
    let mut window = window.clone();
    let (mut low, mut high) = (vec![Dim::from(0); rank], vec![Dim::from(0); rank]);
    high[1] = Dim::from(match channels {
        Channels::Any => 0,
        Channels::Fours => missing_channels(b, weights, groups),
    });
    let filled = match high[1].is_const(0) {
        true => weights,
        false => {
            let none = b.splat_int(DType::I8, Shape::scalar(), 0)?;
            b.pad(weights, &low, &high, none)?
        }
    };
    let padded = window.low.iter().chain(&window.high).any(|pad| !pad.is_const(0));
    if padded && zero != 0 {
        low.splice(2.., std::mem::replace(&mut window.low, vec![Dim::from(0); rank - 2]));
        high.splice(2.., std::mem::replace(&mut window.high, vec![Dim::from(0); rank - 2]));
    }
    if low.iter().chain(&high).any(|pad| !pad.is_const(0)) {
        let fill = b.splat_int(DType::U8, Shape::scalar(), zero)?;
        input = b.pad(input, &low, &high, fill)?;
    }
    let sums = b.conv(input, filled, window, groups, DType::I32)?;
    if zero == 0 {
        return Ok(Some(sums));
    }
    let axes: Vec<usize> = (1..rank).collect();
    let sum = sums_over(b, weights, &axes)?;
    let sum = b.squeeze(sum, &axes)?;
    let sum = along(b, sum, 1, rank)?;
    let shift = b.with_number(ScalarOp::Mul, sum, -zero as f64)?;
    b.add(sums, shift).map(Some)
}

/// `dot(lhs - lhs_zero, rhs - rhs_zero)` in `i32`, of bytes, as [`conv`].
pub(crate) fn dot(
    b: &mut Builder,
    [lhs, rhs]: [Value; 2],
    [lhs_zero, rhs_zero]: [Option<Value>; 2],
    dims: &DotDims,
) -> Built<Option<Value>> {
    let summed: Vec<Dim> = dims.rhs_contract.iter().map(|axis| b.shape(rhs)[*axis].clone()).collect();
    if may_wrap(&summed) {
        return Ok(None);
    }
    let Some((lhs, zero, rhs)) = stored(b, lhs, lhs_zero, rhs, rhs_zero)? else { return Ok(None) };
    let sums = b.dot(lhs, rhs, dims.clone(), DType::I32)?;
    if zero == 0 {
        return Ok(Some(sums));
    }
    let sum = sums_of_columns(b, [lhs, rhs], dims)?;
    let shift = b.with_number(ScalarOp::Mul, sum, -zero as f64)?;
    b.add(sums, shift).map(Some)
}

/// `dot(lhs - lhs_zero, rhs - rhs_zero)` in `i32`, of bytes with any zero points that are one number each:
/// `sum x w - zx sum w - zw sum x + k zx zw`, each of which may wrap.
/// `None`: zero points are not so, or k is not known.
fn dot_off_middle(
    b: &mut Builder,
    sides: [Value; 2],
    zeros_of: [Value; 2],
    dims: &DotDims,
) -> Built<Option<Value>> {
    let known = zeros_of.map(|zero| zeros(b, Some(zero)));
    let [Some([x_zero]), Some([w_zero])] = known.each_ref().map(|zeros| zeros.as_deref()) else {
        return Ok(None);
    };
    let extents = dims.rhs_contract.iter().map(|axis| b.shape(sides[1])[*axis].as_const());
    let Some(k) = extents.product::<Option<i64>>() else { return Ok(None) };
    let mut sums = b.dot(sides[0], sides[1], dims.clone(), DType::I32)?;
    for (zero, sums_of) in [(*x_zero, sums_of_columns as SumsOf), (*w_zero, sums_of_rows)] {
        if zero != 0 {
            let of_other = sums_of(b, sides, dims)?;
            let shift = b.with_number(ScalarOp::Mul, of_other, -zero as f64)?;
            sums = b.add(sums, shift)?;
        }
    }
    let both = k.wrapping_mul(x_zero * w_zero) as i32;
    if both == 0 { Ok(Some(sums)) } else { b.with_number(ScalarOp::Add, sums, both.into()).map(Some) }
}

/// Sums of one side of a dot, where they belong in its result.
type SumsOf = fn(&mut Builder, [Value; 2], &DotDims) -> Built;

/// Sums over the contracted axes of a dot's right side, where its columns stand in the result.
pub(super) fn sums_of_columns(b: &mut Builder, [lhs, rhs]: [Value; 2], dims: &DotDims) -> Built {
    let rows = free_axes(b.rank(lhs), &dims.lhs_batch, &dims.lhs_contract).len();
    sums_beside(b, rhs, [&dims.rhs_batch, &dims.rhs_contract], [rows, 0])
}

/// Sums over the contracted axes of a dot's left side, where its rows stand in the result.
pub(super) fn sums_of_rows(b: &mut Builder, [lhs, rhs]: [Value; 2], dims: &DotDims) -> Built {
    let columns = free_axes(b.rank(rhs), &dims.rhs_batch, &dims.rhs_contract).len();
    sums_beside(b, lhs, [&dims.lhs_batch, &dims.lhs_contract], [0, columns])
}

/// A side's sums over its contracted axes, `[batch..., 1..., free..., 1...]` with so many ones of the other side's.
fn sums_beside(
    b: &mut Builder,
    side: Value,
    [batch, inner]: [&[usize]; 2],
    [before, behind]: [usize; 2],
) -> Built {
    let sum = sums_over(b, side, inner)?;
    let free = free_axes(b.rank(side), batch, inner);
    let order: Vec<usize> = batch.iter().chain(inner).chain(&free).copied().collect();
    let sum = b.transpose(sum, &order)?;
    let shape = b.shape(side);
    let kept = |axes: &[usize]| axes.iter().map(|axis| shape[*axis].clone()).collect::<Vec<Dim>>();
    let ones = |count: usize| std::iter::repeat_n(Dim::from(1), count);
    let shape = kept(batch).into_iter().chain(ones(before)).chain(kept(&free)).chain(ones(behind));
    b.reshape(sum, shape.collect::<Shape>())
}

fn free_axes(rank: usize, batch: &[usize], inner: &[usize]) -> Vec<usize> {
    (0..rank).filter(|axis| !batch.contains(axis) && !inner.contains(axis)).collect()
}

/// Whether sums over so many products of an unsigned and a signed byte are known to be more than `i32` holds
/// (`docs/numerics.md`).
fn may_wrap(summed: &[Dim]) -> bool {
    const MOST: i64 = i32::MAX as i64 / (255 * 128);
    let terms = summed.iter().try_fold(1i64, |terms, dim| terms.checked_mul(dim.as_const().unwrap_or(1)));
    terms.is_none_or(|terms| terms > MOST)
}

/// Sums of bytes along `axes`, which stay as extents of 1; of a constant of signed ones right here.
pub(super) fn sums_over(b: &mut Builder, w: Value, axes: &[usize]) -> Built {
    let Some(data) = constant_data(b, w).filter(|data| data.dtype == DType::I8) else {
        let wide = b.cast(w, DType::I32)?;
        return b.reduce(ScalarOp::Add, wide, axes, true);
    };
    let kept: Vec<usize> =
        (0..data.shape.len()).map(|axis| if axes.contains(&axis) { 1 } else { data.shape[axis] }).collect();
    let mut sums = vec![0i32; kept.iter().product()];
    let strides = strides(&kept);
    let steps: Vec<usize> =
        (0..kept.len()).map(|axis| if axes.contains(&axis) { 0 } else { strides[axis] }).collect();
    let inner = data.shape.last().copied().unwrap_or(1).max(1);
    let step = steps.last().copied().unwrap_or(0);
    for (row, bytes) in data.data.chunks_exact(inner).enumerate() {
        let (mut rest, mut place) = (row, 0);
        for axis in (0..data.shape.len().saturating_sub(1)).rev() {
            place += rest % data.shape[axis] * steps[axis];
            rest /= data.shape[axis];
        }
        match step {
            0 => sums[place] += bytes.iter().map(|byte| i32::from(*byte as i8)).sum::<i32>(),
            1 => sums[place..].iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += i32::from(*byte as i8)),
            _ => {
                for (sum, byte) in sums[place..].iter_mut().step_by(step).zip(bytes) {
                    *sum += i32::from(*byte as i8);
                }
            }
        }
    }
    b.constant(HostTensor::from_elements(&kept, &sums))
}

/// Row-major strides in elements.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

pub(super) fn constant_data(b: &Builder, value: Value) -> Option<ConstData> {
    let Def::Result(op, _) = b.func.def(value) else { return None };
    match b.func.kind(op) {
        TensorOp::Constant { id, .. } => b.consts.get(*id).cloned(),
        _ => None,
    }
}

/// A dequantised constant of bytes, computed right here as `tensor::decompose` says: `(x - zero) * scale`.
/// `None` where anything is not constant, or scales come in blocks.
pub(super) fn dequantized_constant(
    b: &mut Builder,
    operands: &[Value],
    scheme: &QuantScheme,
) -> Built<Option<Value>> {
    let Some(data) = constant_data(b, operands[0]) else { return Ok(None) };
    let zeros = operands.get(2).map_or(Some(vec![0]), |zero| constant(b, *zero));
    let (Some(scales), Some(zeros)) = (floats(b, operands[1]), zeros) else { return Ok(None) };
    if !matches!(scheme.storage, DType::I8 | DType::U8) || scheme.block.is_some() || data.data.is_empty() {
        return Ok(None);
    }
    let inner: usize = scheme.axis.map_or(data.data.len(), |axis| data.shape[axis + 1..].iter().product());
    let extent = scheme.axis.map_or(1, |axis| data.shape[axis]);
    let signed = scheme.storage == DType::I8;
    let mut bytes = vec![0; 4 * data.data.len()];
    for (i, (run, out)) in data.data.chunks_exact(inner).zip(bytes.chunks_exact_mut(4 * inner)).enumerate() {
        let place = i % extent;
        let scale = scales[place % scales.len()];
        let zero = zeros[place % zeros.len()] as i32;
        for (byte, out) in run.iter().zip(out.chunks_exact_mut(4)) {
            let stored = if signed { i32::from(*byte as i8) } else { i32::from(*byte) };
            out.copy_from_slice(&((stored - zero) as f32 * scale).to_le_bytes());
        }
    }
    b.constant(HostTensor { dtype: DType::F32, shape: data.shape, bytes }).map(Some)
}

/// The elements of a small `f32` constant.
fn floats(b: &Builder, value: Value) -> Option<Vec<f32>> {
    let Def::Result(op, _) = b.func.def(value) else { return None };
    match b.func.kind(op) {
        TensorOp::Constant { id, .. } => b.consts.get(*id)?.elements(),
        TensorOp::Splat { bits, dtype: DType::F32, .. } => Some(vec![f32::from_bits(*bits as u32)]),
        TensorOp::Reshape { .. } => floats(b, b.func.operand(op, 0)),
        _ => None,
    }
}

/// The left side unsigned with its zero point, the right side signed with zero point 0; `None` where constants do
/// not say so.
fn stored(
    b: &mut Builder,
    x: Value,
    x_zero: Option<Value>,
    w: Value,
    w_zero: Option<Value>,
) -> Built<Option<(Value, i64, Value)>> {
    let Some(zeros) = zeros(b, x_zero) else { return Ok(None) };
    let [zero] = zeros[..] else { return Ok(None) };
    let Some(weights) = centred(b, w, w_zero)? else { return Ok(None) };
    let (input, zero) = match b.dtype(x) {
        DType::U8 => (x, zero),
        _ => (unsigned(b, x)?, zero + 128),
    };
    Ok(Some((input, zero, weights)))
}

/// Channels of weight 0 that make groups of four, which machines multiply at once; none where channels come in groups
/// or their number is not known.
fn missing_channels(b: &Builder, weights: Value, groups: i64) -> i64 {
    const AT_ONCE: i64 = 4;
    let channels = b.shape(weights)[1].as_const().filter(|_| groups == 1);
    channels.map_or(0, |channels| (AT_ONCE - channels % AT_ONCE) % AT_ONCE)
}

/// Stored weights as signed bytes of zero point 0; `None`: their zero points are not the middle of their range.
pub(crate) fn centred(b: &mut Builder, w: Value, zero: Option<Value>) -> Built<Option<Value>> {
    let middle = if b.dtype(w) == DType::I8 { 0 } else { 128 };
    if !zeros(b, zero).is_some_and(|zeros| zeros.iter().all(|zero| *zero == middle)) {
        return Ok(None);
    }
    if b.dtype(w) == DType::I8 { Ok(Some(w)) } else { flip_sign(b, w, DType::I8).map(Some) }
}

/// Zero points, where they are constants; none is 0.
fn zeros(b: &Builder, zero: Option<Value>) -> Option<Vec<i64>> {
    zero.map_or(Some(vec![0]), |zero| constant(b, zero))
}

/// Bytes shifted by 128: from signed to unsigned by `+ 128`, back by `- 128`; both flip the top bit.
fn flip_sign(b: &mut Builder, x: Value, to: DType) -> Built {
    let bits = b.elementwise(ScalarOp::Bitcast { to: DType::U8 }, &[x])?;
    let flipped = b.with_number(ScalarOp::Xor, bits, 128.0)?;
    if to == DType::U8 { Ok(flipped) } else { b.elementwise(ScalarOp::Bitcast { to }, &[flipped]) }
}

/// Bytes as unsigned ones, 128 more where they are signed.
pub(super) fn unsigned(b: &mut Builder, x: Value) -> Built {
    if b.dtype(x) == DType::U8 { Ok(x) } else { flip_sign(b, x, DType::U8) }
}

/// Bytes as signed ones, 128 less where they are unsigned; of a constant right here.
pub(super) fn signed(b: &mut Builder, w: Value) -> Built {
    if b.dtype(w) == DType::I8 {
        return Ok(w);
    }
    let Some(data) = constant_data(b, w) else { return flip_sign(b, w, DType::I8) };
    let bytes = data.data.iter().map(|byte| byte ^ 128).collect();
    b.constant(HostTensor { dtype: DType::I8, shape: data.shape, bytes })
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
pub(crate) fn along(b: &mut Builder, list: Value, axis: usize, rank: usize) -> Built {
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    if b.rank(list) > 0 {
        shape[axis] = b.shape(list)[0].clone();
    }
    b.reshape(list, shape)
}
