//! Element types of tensors: storage formats, without quantisation (scales are operands).

use std::fmt;
use std::str::FromStr;

/// The storage type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F4E2M1,
    F6E2M3,
    F6E3M2,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0,
    F16,
    BF16,
    F32,
    F64,
}

impl DType {
    pub const ALL: [DType; 25] = [
        DType::Bool,
        DType::I2,
        DType::U2,
        DType::I4,
        DType::U4,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::F4E2M1,
        DType::F6E2M3,
        DType::F6E3M2,
        DType::F8E4M3FN,
        DType::F8E4M3FNUZ,
        DType::F8E5M2,
        DType::F8E5M2FNUZ,
        DType::F8E8M0,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];

    /// The types that kernels compute with: all but those that are [stored only](DType::is_stored_only).
    pub const COMPUTED: [DType; 19] = [
        DType::Bool,
        DType::I2,
        DType::U2,
        DType::I4,
        DType::U4,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];

    /// Width of one element in bits.
    pub const fn bits(self) -> u32 {
        match self {
            DType::I2 | DType::U2 => 2,
            DType::I4 | DType::U4 | DType::F4E2M1 => 4,
            DType::F6E2M3 | DType::F6E3M2 => 6,
            DType::Bool | DType::I8 | DType::U8 => 8,
            DType::F8E4M3FN | DType::F8E4M3FNUZ | DType::F8E5M2 | DType::F8E5M2FNUZ | DType::F8E8M0 => 8,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 16,
            DType::I32 | DType::U32 | DType::F32 => 32,
            DType::I64 | DType::U64 | DType::F64 => 64,
        }
    }

    /// Bytes of one element. Sub-byte types are held one element a byte outside of packed constants.
    pub const fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    #[inline]
    pub const fn is_float(self) -> bool {
        self.small_float().is_some() || matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// A float that is moved, cast and compared for equality, and nothing else: no machine computes with it. Kernels
    /// hold it as a byte, casts are bit arithmetic (`opt`, `legalise_types`).
    #[inline]
    pub const fn is_stored_only(self) -> bool {
        self.small_float().is_some() && !matches!(self, DType::F8E4M3FN | DType::F8E5M2)
    }

    /// An integer; `Bool` is none.
    #[inline]
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, DType::Bool)
    }

    pub const fn is_signed(self) -> bool {
        match self {
            DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => true,
            _ => self.is_float(),
        }
    }

    /// Whether a byte is how an element of a type of at most 8 bits is held: `bool` as 0 or 1, integers extended, floats
    /// with zero bits above. Wider types take any bytes.
    pub const fn holds_byte(self, byte: u8) -> bool {
        let [first, span] = self.bytes();
        byte.wrapping_sub(first) <= span
    }

    /// The bytes that values of a type of one byte are stored in: the first, and how many follow it, past 255 from 0 on.
    pub const fn bytes(self) -> [u8; 2] {
        match self.int_range() {
            _ if self.bits() >= 8 && !matches!(self, DType::Bool) => [0, u8::MAX],
            Some((least, most)) => [least as u8, (most - least) as u8],
            None => [0, (1 << self.bits()) - 1],
        }
    }

    /// Tegula's name, as diagnostics and flags show it: `f32`, `i64`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I2 => "i2",
            DType::U2 => "u2",
            DType::I4 => "i4",
            DType::U4 => "u4",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I16 => "i16",
            DType::U16 => "u16",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::I64 => "i64",
            DType::U64 => "u64",
            DType::F4E2M1 => "f4e2m1",
            DType::F6E2M3 => "f6e2m3",
            DType::F6E3M2 => "f6e3m2",
            DType::F8E4M3FN => "f8e4m3fn",
            DType::F8E4M3FNUZ => "f8e4m3fnuz",
            DType::F8E5M2 => "f8e5m2",
            DType::F8E5M2FNUZ => "f8e5m2fnuz",
            DType::F8E8M0 => "f8e8m0",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// Smallest and largest value of an integer type (`Bool` is 0..=1); `None` for floats.
    pub const fn int_range(self) -> Option<(i128, i128)> {
        match self {
            DType::Bool => Some((0, 1)),
            _ if self.is_float() => None,
            _ if self.is_signed() => {
                let half = 1i128 << (self.bits() - 1);
                Some((-half, half - 1))
            }
            _ => Some((0, (1i128 << self.bits()) - 1)),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = String;
    fn from_str(text: &str) -> Result<DType, String> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == text)
            .ok_or_else(|| format!("no element type is called `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_types_are_those_not_stored_only() {
        let computed: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !dtype.is_stored_only()).collect();
        assert_eq!(computed, DType::COMPUTED);
    }

    #[test]
    fn bytes_of_narrow_types() {
        let held = |dtype: DType| (0..=u8::MAX).filter(|byte| dtype.holds_byte(*byte)).collect::<Vec<u8>>();
        assert_eq!(held(DType::Bool), [0, 1]);
        assert_eq!(held(DType::U2), [0, 1, 2, 3]);
        assert_eq!(held(DType::I2), [0, 1, 0xfe, 0xff]);
        assert_eq!(held(DType::I4).iter().map(|byte| *byte as i8).min(), Some(-8));
        assert_eq!(held(DType::I4).len(), 16);
        assert_eq!(held(DType::F4E2M1), (0..16).collect::<Vec<u8>>());
        for dtype in [DType::U8, DType::I8, DType::F8E4M3FN, DType::F16, DType::I64] {
            assert_eq!(held(dtype).len(), 256, "{dtype}");
        }
    }
}
