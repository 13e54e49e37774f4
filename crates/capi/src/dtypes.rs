//! Element types as numbers: those of ONNX (`TensorProto.DataType`).

use tegula::{DType, Diagnostic};

/// Element types: the numbers of ONNX (`TensorProto.DataType`).
pub const TEGULA_F32: i32 = 1;
pub const TEGULA_U8: i32 = 2;
pub const TEGULA_I8: i32 = 3;
pub const TEGULA_U16: i32 = 4;
pub const TEGULA_I16: i32 = 5;
pub const TEGULA_I32: i32 = 6;
pub const TEGULA_I64: i32 = 7;
/// A byte each, 0 or 1.
pub const TEGULA_BOOL: i32 = 9;
pub const TEGULA_F16: i32 = 10;
pub const TEGULA_F64: i32 = 11;
pub const TEGULA_U32: i32 = 12;
pub const TEGULA_U64: i32 = 13;
pub const TEGULA_BF16: i32 = 16;
pub const TEGULA_F8E4M3FN: i32 = 17;
pub const TEGULA_F8E4M3FNUZ: i32 = 18;
pub const TEGULA_F8E5M2: i32 = 19;
pub const TEGULA_F8E5M2FNUZ: i32 = 20;
/// Types of less than 8 bits are a byte each: integers extended, floats with zeros above.
pub const TEGULA_U4: i32 = 21;
pub const TEGULA_I4: i32 = 22;
pub const TEGULA_F4E2M1: i32 = 23;
pub const TEGULA_F8E8M0: i32 = 24;
pub const TEGULA_U2: i32 = 25;
pub const TEGULA_I2: i32 = 26;
pub const TEGULA_F6E2M3: i32 = 27;
pub const TEGULA_F6E3M2: i32 = 28;

/// The number of an element type.
pub fn number(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => TEGULA_F32,
        DType::U8 => TEGULA_U8,
        DType::I8 => TEGULA_I8,
        DType::U16 => TEGULA_U16,
        DType::I16 => TEGULA_I16,
        DType::I32 => TEGULA_I32,
        DType::I64 => TEGULA_I64,
        DType::Bool => TEGULA_BOOL,
        DType::F16 => TEGULA_F16,
        DType::F64 => TEGULA_F64,
        DType::U32 => TEGULA_U32,
        DType::U64 => TEGULA_U64,
        DType::BF16 => TEGULA_BF16,
        DType::F8E4M3FN => TEGULA_F8E4M3FN,
        DType::F8E4M3FNUZ => TEGULA_F8E4M3FNUZ,
        DType::F8E5M2 => TEGULA_F8E5M2,
        DType::F8E5M2FNUZ => TEGULA_F8E5M2FNUZ,
        DType::U4 => TEGULA_U4,
        DType::I4 => TEGULA_I4,
        DType::F4E2M1 => TEGULA_F4E2M1,
        DType::F8E8M0 => TEGULA_F8E8M0,
        DType::U2 => TEGULA_U2,
        DType::I2 => TEGULA_I2,
        DType::F6E2M3 => TEGULA_F6E2M3,
        DType::F6E3M2 => TEGULA_F6E3M2,
    }
}

/// Errors: `bad-argument`, a number that no element type has.
pub fn dtype(given: i32) -> Result<DType, Diagnostic> {
    let found = DType::ALL.into_iter().find(|dtype| number(*dtype) == given);
    found.ok_or_else(|| Diagnostic::error("bad-argument", format!("{given} is no element type")))
}
