//! A total order on elements of any dtype, as unsigned keys: NaN is above all and equal to itself, -0 equals +0.

use tegula_base::{DType, small_float};

/// The key of one element; `bytes` is its storage.
pub(super) fn key(dtype: DType, bytes: &[u8]) -> u64 {
    match dtype {
        DType::Bool | DType::U2 | DType::U4 | DType::U8 => u64::from(bytes[0]),
        DType::I2 | DType::I4 | DType::I8 => signed(i64::from(bytes[0] as i8)),
        DType::I16 => signed(i64::from(i16::from_le_bytes(fixed(bytes)))),
        DType::U16 => u64::from(u16::from_le_bytes(fixed(bytes))),
        DType::I32 => signed(i64::from(i32::from_le_bytes(fixed(bytes)))),
        DType::U32 => u64::from(u32::from_le_bytes(fixed(bytes))),
        DType::I64 => signed(i64::from_le_bytes(fixed(bytes))),
        DType::U64 => u64::from_le_bytes(fixed(bytes)),
        DType::F4E2M1
        | DType::F6E2M3
        | DType::F6E3M2
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0 => float(small_float::to_f64(dtype, bytes[0])),
        DType::F16 => float(half::f16::from_le_bytes(fixed(bytes)).to_f64()),
        DType::BF16 => float(half::bf16::from_le_bytes(fixed(bytes)).to_f64()),
        DType::F32 => float(f64::from(f32::from_le_bytes(fixed(bytes)))),
        DType::F64 => float(f64::from_le_bytes(fixed(bytes))),
    }
}

/// The keys of all elements. Errors: there is no memory for them.
pub(super) fn keys(dtype: DType, bytes: &[u8]) -> Result<Vec<u64>, String> {
    super::gather(bytes.chunks_exact(dtype.size()).map(|element| key(dtype, element)))
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("invariant: one element's bytes")
}

fn signed(value: i64) -> u64 {
    (value as u64) ^ (1 << 63)
}

/// IEEE 754 numbers order like sign-magnitude integers.
fn float(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}
