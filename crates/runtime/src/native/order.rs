//! A total order on elements of any dtype, as signed keys: NaN is above all and equal to itself, -0 equals +0.
//! Loops over plain elements without a branch, so that several keys are made at once.

use tegula_base::{DType, small_float};

/// Whether keys of 32 bits tell all elements apart.
pub(super) fn is_narrow(dtype: DType) -> bool {
    !matches!(dtype, DType::I64 | DType::U64 | DType::F64)
}

/// The keys of all elements, of any type, in place of what `keys` held.
pub(super) fn wide_keys(dtype: DType, bytes: &[u8], keys: &mut Vec<i64>) {
    match dtype {
        DType::I64 => fill(keys, bytes, i64::from_le_bytes),
        DType::U64 => fill(keys, bytes, |x| i64::from_le_bytes(x) ^ i64::MIN),
        DType::F64 => fill(keys, bytes, |x| {
            let value = f64::from_le_bytes(x);
            let bits = (value + 0.0).to_bits() as i64;
            if value.is_nan() { i64::MAX } else { bits ^ (bits >> 63) & i64::MAX }
        }),
        _ => narrow_keys(dtype, bytes, keys),
    }
}

/// The keys of all elements, of a narrow type, in place of what `keys` held.
pub(super) fn narrow_keys<K: From<i32>>(dtype: DType, bytes: &[u8], keys: &mut Vec<K>) {
    match dtype {
        DType::Bool | DType::U2 | DType::U4 | DType::U8 => fill(keys, bytes, |[x]| i32::from(x).into()),
        DType::I2 | DType::I4 | DType::I8 => fill(keys, bytes, |[x]| i32::from(x as i8).into()),
        DType::I16 => fill(keys, bytes, |x| i32::from(i16::from_le_bytes(x)).into()),
        DType::U16 => fill(keys, bytes, |x| i32::from(u16::from_le_bytes(x)).into()),
        DType::I32 => fill(keys, bytes, |x| i32::from_le_bytes(x).into()),
        DType::U32 => fill(keys, bytes, |x| (i32::from_le_bytes(x) ^ i32::MIN).into()),
        DType::F4E2M1
        | DType::F6E2M3
        | DType::F6E3M2
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0 => fill(keys, bytes, |[x]| float(small_float::to_f64(dtype, x) as f32).into()),
        DType::F16 => fill(keys, bytes, |x| float(half::f16::from_le_bytes(x).to_f32()).into()),
        DType::BF16 => fill(keys, bytes, |x| float(half::bf16::from_le_bytes(x).to_f32()).into()),
        DType::F32 => fill(keys, bytes, |x| float(f32::from_le_bytes(x)).into()),
        DType::I64 | DType::U64 | DType::F64 => unreachable!("invariant: {dtype} is not narrow"),
    }
}

fn fill<const N: usize, K>(keys: &mut Vec<K>, bytes: &[u8], key: impl Fn([u8; N]) -> K) {
    keys.clear();
    keys.extend(bytes.as_chunks().0.iter().map(|element| key(*element)));
}

/// IEEE 754 numbers order like sign-magnitude integers.
fn float(value: f32) -> i32 {
    let bits = (value + 0.0).to_bits() as i32;
    if value.is_nan() { i32::MAX } else { bits ^ (bits >> 31) & i32::MAX }
}
