//! Types that instructions give to the bits of registers and memory.

use crate::key::{keys, types};
use crate::reg::RegClass;

keys! {
    /// All types of the subset; the ops take the named subsets of it below.
    Scalar {
        Pred = "pred",
        B8 = "b8", U8 = "u8", S8 = "s8",
        B16 = "b16", U16 = "u16", S16 = "s16", F16 = "f16", BF16 = "bf16",
        B32 = "b32", U32 = "u32", S32 = "s32", F32 = "f32", TF32 = "tf32",
        U16x2 = "u16x2", S16x2 = "s16x2", F16x2 = "f16x2", BF16x2 = "bf16x2",
        B64 = "b64", U64 = "u64", S64 = "s64", F64 = "f64",
        E4M3 = "e4m3", E5M2 = "e5m2",
        /// Two 8-bit floats in 16 bits: 4 bits of exponent, 3 of fraction, no infinity.
        E4M3x2 = "e4m3x2",
        /// Two 8-bit floats in 16 bits: 5 bits of exponent, 2 of fraction.
        E5M2x2 = "e5m2x2",
    }
}

impl Scalar {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        use Scalar::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 | E4M3 | E5M2 => 8,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 => 16,
            B32 | U32 | S32 | F32 | TF32 | U16x2 | S16x2 | F16x2 | BF16x2 => 32,
            B64 | U64 | S64 | F64 => 64,
        }
    }

    /// The class of registers that hold it.
    pub fn class(self) -> RegClass {
        match self.bits() {
            1 => RegClass::Pred,
            8 | 16 => RegClass::B16,
            32 => RegClass::B32,
            _ => RegClass::B64,
        }
    }

    pub fn is_signed(self) -> bool {
        use Scalar::*;
        matches!(self, S8 | S16 | S32 | S64 | S16x2)
    }

    /// Floats of any width, packed ones too.
    pub fn is_float(self) -> bool {
        use Scalar::*;
        matches!(self, F16 | BF16 | F32 | TF32 | F16x2 | BF16x2 | F64 | E4M3 | E5M2 | E4M3x2 | E5M2x2)
    }

    /// Whether an operand of it may be an immediate: floats of 16 bits and packed values have none.
    pub fn has_immediates(self) -> bool {
        !self.is_packed() && (!self.is_float() || matches!(self, Scalar::F32 | Scalar::F64))
    }

    /// Two values in one register.
    pub fn is_packed(self) -> bool {
        use Scalar::*;
        matches!(self, U16x2 | S16x2 | F16x2 | BF16x2 | E4M3x2 | E5M2x2)
    }
}

types! {
    /// Integers that arithmetic takes.
    IntType { U16, S16, U32, S32, U64, S64 }

    /// Integers of sums, minima and maxima: packed ones too (sm_90).
    IntType2 { U16, S16, U32, S32, U64, S64, U16x2, S16x2 }

    /// Integers of 32 and 64 bits.
    WideInt { U32, S32, U64, S64 }

    /// Integers whose product of twice the width fits a register.
    NarrowInt { U16, S16, U32, S32 }

    /// Signed integers.
    SignedInt { S16, S32, S64 }

    /// Integers of 32 bits.
    Int32 { U32, S32 }

    /// Addresses, and what else has 32 or 64 bits without a sign.
    AddressType { U32, U64 }

    /// Bits of logic.
    LogicType { Pred, B16, B32, B64 }

    /// Bits of a shift to the left.
    BitsType { B16, B32, B64 }

    /// Bits of 32 or 64.
    Bits32Or64 { B32, B64 }

    /// What a shift to the right takes: `s` fills with the sign, `b` and `u` with zeros.
    ShiftRightType { B16, B32, B64, U16, S16, U32, S32, U64, S64 }

    /// Floats of arithmetic.
    FloatType { F16, F16x2, BF16, BF16x2, F32, F64 }

    /// Floats of 32 and 64 bits.
    Float32Or64 { F32, F64 }

    /// Floats of the special-function unit's exponential.
    Ex2Type { F32, F16, F16x2, BF16, BF16x2 }

    /// What `setp` compares.
    CompareType { B16, B32, B64, U16, S16, U32, S32, U64, S64, F16, F16x2, BF16, BF16x2, F32, F64 }

    /// What `selp` chooses.
    SelectType { B16, B32, B64, U16, S16, U32, S32, U64, S64, F32, F64 }

    /// What `ld` and `st` move, one element. Types of 8 bits go to and come from `B16`: zeros or the sign fill it.
    MemoryType { B8, U8, S8, B16, U16, S16, B32, U32, S32, F32, B64, U64, S64, F64 }

    /// What `st.async` moves, one element.
    AsyncType { B32, U32, S32, F32, B64, U64, S64, F64 }

    /// What atomic operations take.
    AtomicType { U32, S32, U64, S64, B32, B64, F32, F64, F16, F16x2, BF16, BF16x2 }

    /// What `redux.sync` takes.
    ReduxType { B32, U32, S32 }

    /// One value to one value.
    ConvertType { U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64 }

    /// Bytes that `cvt.pack` makes.
    ByteType { U8, S8 }

    /// Halves that `cvt.pack` makes.
    NarrowHalf { U16, S16 }

    /// Two values of 16 bits, made of two of `f32`.
    PackedHalf { F16x2, BF16x2 }

    /// Two floats of 8 bits.
    PackedF8 { E4M3x2, E5M2x2 }
}
