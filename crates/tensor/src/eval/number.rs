//! Accumulators: floats as `f64`, integers as wrapping `i64`; and keys that order any element type.

use tegula_base::{DType, HostTensor};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval_slice;

/// What sums and products are kept in.
pub(super) trait Accumulator: Copy {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn plus_product(self, a: Self, b: Self) -> Self;
    /// Integers truncate; by zero gives zero.
    fn over(self, count: usize) -> Self;
}

impl Accumulator for f64 {
    const ZERO: f64 = 0.0;
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn plus_product(self, a: f64, b: f64) -> f64 {
        self + a * b
    }
    fn over(self, count: usize) -> f64 {
        self / count as f64
    }
}

impl Accumulator for i64 {
    const ZERO: i64 = 0;
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
    fn plus_product(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
    fn over(self, count: usize) -> i64 {
        self.checked_div(count as i64).unwrap_or(0)
    }
}

/// Runs `$body` with `$widen` and `$narrow` for the accumulator that fits `$dtype`.
macro_rules! with_accumulator {
    ($dtype:expr, ($widen:ident, $narrow:ident) => $body:expr) => {
        if $dtype.is_float() {
            use crate::eval::number::{floats as $widen, store_floats as $narrow};
            $body
        } else {
            use crate::eval::number::{ints as $widen, store_ints as $narrow};
            $body
        }
    };
}
pub(super) use with_accumulator;

pub(super) fn floats(x: &HostTensor) -> Vec<f64> {
    x.to_f64()
}

pub(super) fn ints(x: &HostTensor) -> Vec<i64> {
    x.to_i64()
}

/// Rounds each once to the tensor's type.
pub(super) fn store_floats(values: &[f64], out: &mut HostTensor) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    convert(&bytes, DType::F64, out);
}

/// Wraps each to the tensor's type.
pub(super) fn store_ints(values: &[i64], out: &mut HostTensor) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    convert(&bytes, DType::I64, out);
}

fn convert(bytes: &[u8], from: DType, out: &mut HostTensor) {
    let cast = ScalarOp::Cast { to: out.dtype, saturate: false };
    let mut converted = Vec::with_capacity(out.bytes.len());
    eval_slice(cast, &[(bytes, from)], &mut converted);
    out.bytes = converted;
}

/// How keys order what comparison leaves open.
#[derive(Clone, Copy)]
pub(super) struct KeyOrder {
    /// The key of NaN.
    pub nan: i64,
    /// Whether -0 comes before +0; else they are equal.
    pub signed_zeros: bool,
}

/// Integers that order as the elements do.
pub(super) fn order_keys(x: &HostTensor, order: KeyOrder) -> Vec<i64> {
    if x.dtype == DType::U64 {
        return x.to_i64().into_iter().map(|bits| bits ^ i64::MIN).collect();
    }
    if !x.dtype.is_float() {
        return x.to_i64();
    }
    let key = |value: f64| {
        if value.is_nan() {
            return order.nan;
        }
        let value = if order.signed_zeros { value } else { value + 0.0 };
        let bits = value.to_bits() as i64;
        // Negative floats order backwards by their bits.
        if bits < 0 { bits ^ i64::MAX } else { bits }
    };
    x.to_f64().into_iter().map(key).collect()
}
