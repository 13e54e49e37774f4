//! Floats of at most 8 bits: widened to `f64`, computed there, rounded once.
//!
//! Exact for arithmetic: sums and products of two such numbers, and `a * b + c` of three, fit the 53 bits of `f64`
//! for every format that has arithmetic; quotients and roots are rounded twice, which is innocuous at 4 bits.

use super::ScalarOp;
use super::eval::{self, map1};
use super::lane::odd_from_u64;
use tegula_base::{DType, small_float};

/// An op with operands of one small type, by its meaning on `f64`.
pub(super) fn apply(op: ScalarOp, operands: &[(&[u8], DType)], result: DType, out: &mut [u8]) {
    let wide: Vec<Vec<u8>> = operands.iter().map(|(bytes, dtype)| widened(*dtype, bytes)).collect();
    let wide: Vec<(&[u8], DType)> = wide.iter().map(|bytes| (&bytes[..], DType::F64)).collect();
    if result.small_float().is_none() {
        return eval::apply(op, &wide, result, out);
    }
    let mut real = vec![0; out.len() * size_of::<f64>()];
    eval::apply(op, &wide, DType::F64, &mut real);
    cast_to(DType::F64, result, false, &real, out);
}

/// From a small type to any.
pub(super) fn cast_from(from: DType, to: DType, saturate: bool, a: &[u8], out: &mut [u8]) {
    let wide = widened(from, a);
    eval::apply(ScalarOp::Cast { to, saturate }, &[(&wide, DType::F64)], to, out);
}

/// To a small type from one that is not.
pub(super) fn cast_to(from: DType, to: DType, saturate: bool, a: &[u8], out: &mut [u8]) {
    let narrow = |value: f64| small_float::from_f64(to, value, saturate);
    match from {
        DType::F64 => map1(a, out, |a: f64| narrow(a)),
        // To odd, so that the second rounding sees what the first one lost.
        DType::I64 => map1(a, out, |a: i64| {
            let magnitude = odd_from_u64(a.unsigned_abs());
            narrow(if a < 0 { -magnitude } else { magnitude })
        }),
        DType::U64 => map1(a, out, |a: u64| narrow(odd_from_u64(a))),
        exact => {
            let mut wide = vec![0; out.len() * size_of::<f64>()];
            let cast = ScalarOp::Cast { to: DType::F64, saturate };
            eval::apply(cast, &[(a, exact)], DType::F64, &mut wide);
            map1(&wide, out, |a: f64| narrow(a));
        }
    }
}

fn widened(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| small_float::to_f64(dtype, *byte).to_le_bytes()).collect()
}
