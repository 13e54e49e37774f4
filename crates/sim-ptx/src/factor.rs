//! Elements of matrix factors as f32, which holds each of them and, but for f64, each product of two exactly.

use tegula_isa_ptx::mma::{MmaType, WgmmaType};

/// Types of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    F16,
    BF16,
    /// The low 13 bits are not looked at.
    TF32,
    E4M3,
    E5M2,
    S8,
    U8,
    S4,
    U4,
}

impl Factor {
    pub fn bits(self) -> u32 {
        match self {
            Factor::TF32 => 32,
            Factor::F16 | Factor::BF16 => 16,
            Factor::E4M3 | Factor::E5M2 | Factor::S8 | Factor::U8 => 8,
            Factor::S4 | Factor::U4 => 4,
        }
    }

    /// The element whose bits are lowest.
    #[inline(always)]
    pub fn float(self, bits: u32) -> f32 {
        match self {
            Factor::F16 => half(bits & 0xffff),
            Factor::BF16 => f32::from_bits(bits << 16),
            Factor::TF32 => f32::from_bits(bits & !0x1fff),
            Factor::E4M3 => {
                let magnitude = if bits & 0x7f == 0x7f {
                    f32::NAN
                } else {
                    // Moves the exponent's bias from 7 to 127.
                    f32::from_bits((bits & 0x7f) << 20) * f32::from_bits(247 << 23)
                };
                f32::from_bits(magnitude.to_bits() | (bits & 0x80) << 24)
            }
            Factor::E5M2 => half((bits & 0xff) << 8),
            Factor::S8 | Factor::U8 | Factor::S4 | Factor::U4 => self.integer(bits) as f32,
        }
    }

    /// Of the integer types.
    #[inline(always)]
    pub fn integer(self, bits: u32) -> i32 {
        match self {
            Factor::S8 => bits as u8 as i8 as i32,
            Factor::U8 => bits as u8 as i32,
            Factor::S4 => (((bits as u8) << 4) as i8 >> 4) as i32,
            _ => (bits & 15) as i32,
        }
    }
}

#[inline(always)]
fn half(bits: u32) -> f32 {
    let infinite = bits & 0x7c00 == 0x7c00;
    // Moves the exponent's bias from 15 to 127.
    let scaled = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(239 << 23);
    let magnitude = if infinite { 0x7f80_0000 | (bits & 0x3ff) << 13 } else { scaled.to_bits() };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// Of `a` and of `b`; `None` for f64.
pub fn factors(ty: MmaType) -> Option<(Factor, Factor)> {
    use Factor::*;
    Some(match ty {
        MmaType::F64F64 => return None,
        MmaType::F32F16 | MmaType::F16F16 => (F16, F16),
        MmaType::F32BF16 => (BF16, BF16),
        MmaType::F32TF32 => (TF32, TF32),
        MmaType::S32S8S8 => (S8, S8),
        MmaType::S32S8U8 => (S8, U8),
        MmaType::S32U8S8 => (U8, S8),
        MmaType::S32U8U8 => (U8, U8),
        MmaType::S32S4S4 => (S4, S4),
        MmaType::S32S4U4 => (S4, U4),
        MmaType::S32U4S4 => (U4, S4),
        MmaType::S32U4U4 => (U4, U4),
        MmaType::F32E4M3E4M3 => (E4M3, E4M3),
        MmaType::F32E4M3E5M2 => (E4M3, E5M2),
        MmaType::F32E5M2E4M3 => (E5M2, E4M3),
        MmaType::F32E5M2E5M2 => (E5M2, E5M2),
    })
}

/// Of `a` and of `b`.
pub fn group_factors(ty: WgmmaType) -> (Factor, Factor) {
    use Factor::*;
    match ty {
        WgmmaType::F32F16 | WgmmaType::F16F16 => (F16, F16),
        WgmmaType::F32BF16 => (BF16, BF16),
        WgmmaType::F32TF32 => (TF32, TF32),
        WgmmaType::F32E4M3E4M3 | WgmmaType::F16E4M3E4M3 => (E4M3, E4M3),
        WgmmaType::F32E4M3E5M2 | WgmmaType::F16E4M3E5M2 => (E4M3, E5M2),
        WgmmaType::F32E5M2E4M3 | WgmmaType::F16E5M2E4M3 => (E5M2, E4M3),
        WgmmaType::F32E5M2E5M2 | WgmmaType::F16E5M2E5M2 => (E5M2, E5M2),
        WgmmaType::S32S8S8 => (S8, S8),
        WgmmaType::S32S8U8 => (S8, U8),
        WgmmaType::S32U8S8 => (U8, S8),
        WgmmaType::S32U8U8 => (U8, U8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    #[test]
    fn elements_agree_with_their_formats() {
        let same = |factor: Factor, format: number::Format, bits: u32| {
            let (fast, slow) = (factor.float(bits) as f64, format.decode(bits as u64));
            assert!(fast == slow || fast.is_nan() && slow.is_nan(), "{factor:?} {bits:#x}: {fast} {slow}");
        };
        for bits in 0..1 << 16 {
            same(Factor::F16, number::F16, bits);
            same(Factor::BF16, number::BF16, bits);
            same(Factor::E4M3, number::E4M3, bits & 0xff);
            same(Factor::E5M2, number::E5M2, bits & 0xff);
        }
        assert_eq!([0xfu32, 7, 8].map(|bits| Factor::S4.integer(bits)), [-1, 7, -8]);
    }
}
