//! Products of 16-bit integers and stored bytes, as products of bytes: the two digits of each integer are multiplied
//! apart, `q w = 256 (q1 w) + q0 w`.
//!
//! The low digit is an unsigned byte, the high one of zero point 128; each sum is exact in `i32`, and `f32` takes their
//! total. Bytes are widened one vector of floats at a time, and four of their products take the time of one of
//! floats: two digits are done before the weights would be floats.

use super::quantised;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_target::TargetModel;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp};

const DIGITS: i64 = 2;
/// What the high digit's byte says for 0.
const ZERO: i64 = 128;
/// Steps whose sums `i32` holds, whatever the bytes.
const MOST_STEPS: std::ops::RangeInclusive<i64> = 1..=1 << 16;

/// The integers `[..., k]` of a product of them, as floats, and bytes of a constant; `None`: the op is none such, or the
/// target is no faster with bytes.
pub(super) fn integers(func: &TensorFunc, op: OpId, target: &dyn TargetModel) -> Option<Value> {
    let TensorOp::Dot { dims, out: DType::F32 } = func.kind(op) else { return None };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    let plain = dims.lhs_batch.is_empty()
        && dims.lhs_contract.as_slice() == [x.rank().wrapping_sub(1)]
        && w.rank() == 2
        && w.dtype == DType::I8;
    let steps = w.shape.get(*dims.rhs_contract.first()?)?.as_const()?;
    let in_fours = steps % 4 == 0 && MOST_STEPS.contains(&steps);
    let fits = plain && in_fours && target.byte_products() > DIGITS && is_stored(func, func.operand(op, 1));
    fits.then(|| widened(func, func.operand(op, 0))).flatten()
}

/// The 16-bit integers that a value is, as floats, perhaps of another shape.
fn widened(func: &TensorFunc, mut value: Value) -> Option<Value> {
    loop {
        let op = func.def_op(value)?;
        let source = func.operands(op).first().copied();
        match func.kind(op) {
            TensorOp::Reshape { .. } => value = source?,
            TensorOp::Elementwise { f: ScalarOp::Cast { to: DType::F32, .. } } => {
                return source.filter(|source| func.ty(*source).dtype == DType::I16);
            }
            _ => return None,
        }
    }
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

/// The product of `integers` in the shape of `x`, and bytes `w`.
pub(super) fn dot(b: &mut Builder, integers: Value, [x, w]: [Value; 2], dims: &DotDims) -> Built {
    let (rank, shape) = (b.rank(x), b.shape(x));
    let integers = b.reshape(integers, shape)?;
    let digits = digits(b, integers)?;
    let dims = DotDims { lhs_contract: vec![rank], ..dims.clone() };
    let sums = b.dot(digits, w, dims.clone(), DType::I32)?;
    let digit = |b: &mut Builder, i: i64| {
        let sum = b.slice_axis(sums, 0, Dim::from(i), Dim::from(1))?;
        b.squeeze(sum, &[0])
    };
    let (high, low) = (digit(b, 0)?, digit(b, 1)?);
    let shift = column_sums(b, w, dims.rhs_contract[0])?;
    let shift = b.with_number(ScalarOp::Mul, shift, -ZERO as f64)?;
    let mut columns: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    columns[rank - 1] = b.shape(high)[rank - 1].clone();
    let shift = b.reshape(shift, columns)?;
    let high = b.add(high, shift)?;
    let (high, low) = (b.cast(high, DType::F32)?, b.cast(low, DType::F32)?);
    let high = b.with_number(ScalarOp::Mul, high, 256.0)?;
    b.add(high, low)
}

/// Sums of bytes along `axis`, right here of the constant behind moves.
fn column_sums(b: &mut Builder, mut w: Value, mut axis: usize) -> Built {
    while let Some(op) = b.func.def_op(w) {
        let TensorOp::Transpose { perm } = b.func.kind(op) else { break };
        (axis, w) = (perm[axis], b.func.operand(op, 0));
    }
    quantised::sums_over(b, w, &[axis])
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
