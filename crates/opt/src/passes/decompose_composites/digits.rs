//! Products of 16-bit integers and stored bytes. Where the target multiplies `i16` and no column's sum can leave `i32`,
//! they are products of `i16`. Elsewhere each integer's two digits multiply bytes apart: `q w = 256 (q1 w) + q0 w`.
//! Integers that are differences of bytes are one product of bytes less a multiple of the weights' sums.
//!
//! The low digit is an unsigned byte, the high one of zero point 128; each sum is exact in `i32`, and `f32` takes their
//! total. Bytes are widened one vector of floats at a time, and four of their products take the time of one of
//! floats: two digits are done before the weights would be floats.

use super::quantised;
use tegula_backend::Target;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::facts::integer_factor;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp};

const DIGITS: i64 = 2;
/// What the high digit's byte says for 0.
const ZERO: i64 = 128;
/// Steps whose sums `i32` holds, whatever the bytes.
const MOST_STEPS: std::ops::RangeInclusive<i64> = 1..=1 << 16;

/// The left side of a product, `[..., k]`.
pub(super) enum Integers {
    /// Of 16 bits.
    Whole(Value),
    /// Bytes, less a byte for each row.
    Difference(Value, Value),
}

/// What a product by bytes of a constant takes as floats; `None`: the op is none such, or the target is no faster
/// with bytes.
pub(super) fn integers(func: &TensorFunc, op: OpId, target: &dyn Target) -> Option<Integers> {
    let TensorOp::Dot { dims, .. } = func.kind(op) else { return None };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    let plain = dims.lhs_contract.as_slice() == [x.rank().wrapping_sub(1)] && w.rank() == 2;
    let steps = w.shape.get(*dims.rhs_contract.first()?)?.as_const()?;
    let in_fours = steps % 4 == 0 && MOST_STEPS.contains(&steps);
    let fits = plain && in_fours && is_stored(func, func.operand(op, 1));
    let integers = fits.then(|| integer_factor(func, op)).flatten()?;
    let (found, digits) = match difference(func, integers, &x.shape) {
        Some([bytes, zero]) => (Integers::Difference(bytes, zero), 1),
        None => (Integers::Whole(integers), DIGITS),
    };
    (target.preferences().byte_products > digits).then_some(found)
}

/// Bytes and the byte of each row that integers are the difference of, in rows of `shape`.
fn difference(func: &TensorFunc, integers: Value, shape: &Shape) -> Option<[Value; 2]> {
    let op = func.def_op(integers)?;
    let TensorOp::Elementwise { f: ScalarOp::Sub } = func.kind(op) else { return None };
    let byte = |i: usize| {
        let op = func.def_op(func.operand(op, i))?;
        let is_cast = matches!(func.kind(op), TensorOp::Elementwise { f: ScalarOp::Cast { .. } });
        let source = is_cast.then(|| func.operand(op, 0))?;
        (func.ty(source).dtype == DType::U8).then_some(source)
    };
    let (bytes, zero) = (byte(0)?, byte(1)?);
    let [own, of_rows] = [bytes, zero].map(|value| &func.ty(value).shape);
    let a_row_each = of_rows.last()?.is_const(1)
        && of_rows.rank() == own.rank()
        && own.iter().zip(of_rows.iter()).rev().skip(1).all(|(a, b)| a == b);
    (a_row_each && own.last() == shape.last()).then_some([bytes, zero])
}

/// Whether a value is a constant, perhaps moved.
fn is_stored(func: &TensorFunc, mut value: Value) -> bool {
    while let Some(op) = func.def_op(value) {
        match func.kind(op) {
            TensorOp::Constant { .. } => return true,
            TensorOp::Transpose { .. } | TensorOp::Reshape { .. } => value = func.operand(op, 0),
            _ => return false,
        }
    }
    false
}

/// The product of integers in the shape of `x`, and bytes `w`.
pub(super) fn dot(
    b: &mut Builder,
    integers: Integers,
    [x, w]: [Value; 2],
    dims: &DotDims,
    target: &dyn Target,
) -> Built {
    let shape = b.shape(x);
    match integers {
        Integers::Whole(integers) => {
            let integers = b.reshape(integers, shape)?;
            if target.preferences().fewest_i16_products.is_some() && i16_sums_fit(b, w, dims.rhs_contract[0])
            {
                let sums = b.dot(integers, w, dims.clone(), DType::I32)?;
                return b.cast(sums, DType::F32);
            }
            whole(b, integers, w, dims)
        }
        Integers::Difference(bytes, zero) => {
            let mut rows = shape.clone();
            *rows.last_mut().expect("invariant: the axis of the product") = Dim::from(1);
            let (bytes, zero) = (b.reshape(bytes, shape)?, b.reshape(zero, rows)?);
            let sums = b.dot(bytes, w, dims.clone(), DType::I32)?;
            let zero = b.cast(zero, DType::I32)?;
            let columns = columns(b, sums, w, dims)?;
            let shift = b.mul(zero, columns)?;
            let sums = b.sub(sums, shift)?;
            b.cast(sums, DType::F32)
        }
    }
}

fn whole(b: &mut Builder, integers: Value, w: Value, dims: &DotDims) -> Built {
    let rank = b.rank(integers);
    let digits = digits(b, integers)?;
    let dims = DotDims { lhs_contract: vec![rank], ..dims.clone() };
    let sums = b.dot(digits, w, dims.clone(), DType::I32)?;
    let digit = |b: &mut Builder, i: i64| {
        let sum = b.slice_axis(sums, 0, Dim::from(i), Dim::from(1))?;
        b.squeeze(sum, &[0])
    };
    let (high, low) = (digit(b, 0)?, digit(b, 1)?);
    let shift = columns(b, high, w, &dims)?;
    let shift = b.with_number(ScalarOp::Mul, shift, -ZERO as f64)?;
    let high = b.add(high, shift)?;
    let (high, low) = (b.cast(high, DType::F32)?, b.cast(low, DType::F32)?);
    let high = b.with_number(ScalarOp::Mul, high, 256.0)?;
    b.add(high, low)
}

/// Sums of the columns of w, for a product `[..., n]`.
fn columns(b: &mut Builder, product: Value, w: Value, dims: &DotDims) -> Built {
    let sums = column_sums(b, w, dims.rhs_contract[0])?;
    let rank = b.rank(product);
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    shape[rank - 1] = b.shape(product)[rank - 1].clone();
    b.reshape(sums, shape)
}

/// Sums of bytes along `axis`, right here of the constant behind moves.
fn column_sums(b: &mut Builder, w: Value, axis: usize) -> Built {
    let (w, axis) = before_transposes(b, w, axis);
    quantised::sums_over(b, w, &[axis])
}

fn before_transposes(b: &Builder, mut w: Value, mut axis: usize) -> (Value, usize) {
    while let Some(op) = b.func.def_op(w) {
        let TensorOp::Transpose { perm } = b.func.kind(op) else { break };
        (axis, w) = (perm[axis], b.func.operand(op, 0));
    }
    (w, axis)
}

/// Whether `i32` holds the sums of any `i16` by these bytes along `axis`, whatever the order.
fn i16_sums_fit(b: &Builder, w: Value, axis: usize) -> bool {
    let (w, axis) = before_transposes(b, w, axis);
    let Some(data) = quantised::constant_data(b, w).filter(|data| data.dtype == DType::I8) else {
        return false;
    };
    let &[rows, columns] = data.shape.as_slice() else { return false };
    let mut sums = vec![0u64; if axis == 0 { columns } else { rows }];
    for (i, row) in data.data.chunks_exact(columns.max(1)).enumerate() {
        for (j, byte) in row.iter().enumerate() {
            sums[if axis == 0 { j } else { i }] += u64::from((*byte as i8).unsigned_abs());
        }
    }
    sums.iter().all(|sum| sum << 15 <= i32::MAX as u64)
}

/// The bytes `[2, ...]` of 16-bit integers, the high digits first.
fn digits(b: &mut Builder, integers: Value) -> Built {
    let rank = b.rank(integers);
    let number = b.cast(integers, DType::I32)?;
    let number = b.with_number(ScalarOp::Add, number, (ZERO << 8) as f64)?;
    let number = b.unsqueeze(number, &[0])?;
    let mut shape = b.shape(number);
    shape[0] = Dim::from(DIGITS);
    let number = b.broadcast(number, shape)?;
    let mut places = vec![1; rank + 1];
    places[0] = DIGITS as usize;
    let places = b.constant(HostTensor::from_elements(&places, &[8i32, 0]))?;
    let digits = b.elementwise(ScalarOp::ShiftRight, &[number, places])?;
    b.cast(digits, DType::U8)
}
