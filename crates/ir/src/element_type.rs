//! Element types as MLIR spells them: unsigned integers are `ui8`, signed ones signless `i8`, `bool` is `i1`.

use crate::mlir::{Sign, Type};
use tegula_base::DType;

pub fn element_type(dtype: DType) -> Type {
    let float = |spelling: &str| Type::Float(spelling.to_owned());
    match dtype {
        DType::Bool => Type::Integer { width: 1, sign: Sign::Signless },
        DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            Type::Integer { width: dtype.bits(), sign: Sign::Signless }
        }
        DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            Type::Integer { width: dtype.bits(), sign: Sign::Unsigned }
        }
        DType::F4E2M1 => float("f4E2M1FN"),
        DType::F6E2M3 => float("f6E2M3FN"),
        DType::F6E3M2 => float("f6E3M2FN"),
        DType::F8E4M3FN => float("f8E4M3FN"),
        DType::F8E4M3FNUZ => float("f8E4M3FNUZ"),
        DType::F8E5M2 => float("f8E5M2"),
        DType::F8E5M2FNUZ => float("f8E5M2FNUZ"),
        DType::F8E8M0 => float("f8E8M0FNU"),
        DType::F16 => float("f16"),
        DType::BF16 => float("bf16"),
        DType::F32 => float("f32"),
        DType::F64 => float("f64"),
    }
}

/// Also reads `si8` as a signed integer. Errors: no dtype is stored that way.
pub fn dtype_of(ty: &Type) -> Result<DType, String> {
    let signless = match ty {
        Type::Integer { width, sign: Sign::Signed } if *width > 1 => {
            &Type::Integer { width: *width, sign: Sign::Signless }
        }
        other => other,
    };
    DType::ALL
        .into_iter()
        .find(|dtype| element_type(*dtype) == *signless)
        .ok_or_else(|| format!("`{}` is no element type here", tegula_mlir::print_type(ty)))
}
