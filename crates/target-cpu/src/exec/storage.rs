//! Elements in memory to and from their register form (`Elem::of`): widening loads, narrowing stores.

use half::{bf16, f16};
use tegula_base::{DType, small_float};

/// The register bits of one stored element: low 32 or all 64 by its register form.
/// `bytes` holds exactly the element.
pub(super) fn widen(dtype: DType, bytes: &[u8]) -> u64 {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let raw = u64::from_le_bytes(raw);
    match dtype {
        DType::Bool | DType::U8 | DType::U16 | DType::I32 | DType::U32 | DType::F32 => raw,
        DType::I64 | DType::U64 | DType::F64 => raw,
        // Bytes in kernels.
        DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2 => raw,
        DType::F8E4M3FNUZ | DType::F8E5M2FNUZ | DType::F8E8M0 => raw,
        DType::I2 => sign_extend(raw, 2),
        DType::U2 => raw & 0x3,
        DType::I4 => sign_extend(raw, 4),
        DType::U4 => raw & 0xf,
        DType::I8 => sign_extend(raw, 8),
        DType::I16 => sign_extend(raw, 16),
        DType::F16 => f16::from_bits(raw as u16).to_f32().to_bits().into(),
        DType::BF16 => bf16::from_bits(raw as u16).to_f32().to_bits().into(),
        DType::F8E4M3FN | DType::F8E5M2 => (small_float::to_f64(dtype, raw as u8) as f32).to_bits().into(),
    }
}

/// The stored form of register bits, in the low bytes.
pub(super) fn narrow(dtype: DType, bits: u64) -> u64 {
    let real = || f32::from_bits(bits as u32);
    match dtype {
        DType::I2 => sign_extend(bits, 2) & 0xff,
        DType::U2 => bits & 0x3,
        DType::I4 => sign_extend(bits, 4) & 0xff,
        DType::U4 => bits & 0xf,
        DType::F16 => f16::from_f32(real()).to_bits().into(),
        DType::BF16 => bf16::from_f32(real()).to_bits().into(),
        DType::F8E4M3FN | DType::F8E5M2 => small_float::from_f64(dtype, real().into(), false).into(),
        _ => bits,
    }
}

/// The low `width` bits as a signed number in 32 bits.
fn sign_extend(raw: u64, width: u32) -> u64 {
    let unused = 32 - width;
    u64::from((((raw as u32) << unused) as i32 >> unused) as u32)
}
