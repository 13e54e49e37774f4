//! Types of the schedule level: `index`, `vector<8xf32>`, `!tgc.mask<8>`.

use tegula_base::DType;
use tegula_ir::mlir::{Sign, Type};
use tegula_ir::{AttrText, TypeText, enum_attr};

/// What one lane of a vector register holds. Narrower storage types are widened when loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// Raw bytes, operands of byte shuffles only.
    I8,
    /// Raw half words (bf16 pairs, i16 products).
    I16,
    I32,
    I64,
    F32,
    F64,
}

enum_attr!(Elem { I8 = "i8", I16 = "i16", I32 = "i32", I64 = "i64", F32 = "f32", F64 = "f64" });

impl Elem {
    pub const fn bytes(self) -> usize {
        match self {
            Elem::I8 => 1,
            Elem::I16 => 2,
            Elem::I32 | Elem::F32 => 4,
            Elem::I64 | Elem::F64 => 8,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    /// The register form of a storage type: integers of up to 16 bits, `bool` and `u32` live in 32-bit lanes
    /// (zero- or sign-extended), `f16`, `bf16` and 8-bit floats in `f32` lanes (exactly).
    pub const fn of(dtype: DType) -> Elem {
        match dtype {
            DType::I64 | DType::U64 => Elem::I64,
            DType::F64 => Elem::F64,
            DType::F8E4M3FN | DType::F8E5M2 | DType::F16 | DType::BF16 | DType::F32 => Elem::F32,
            DType::Bool
            | DType::I2
            | DType::U2
            | DType::I4
            | DType::U4
            | DType::I8
            | DType::U8
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32 => Elem::I32,
            // Bytes in kernels.
            DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F8E8M0 => Elem::I32,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuType {
    /// A signed 64-bit integer in a general register: size, offset, address, or 0/1 for a condition.
    Index,
    /// `lanes` is 1, 2, 4, 8 or 16 (up to 64 for `i8`); at most 512 bits.
    Vector { elem: Elem, lanes: u8 },
    /// One truth value a lane.
    Mask { lanes: u8 },
}

impl CpuType {
    pub const fn lanes(self) -> Option<u8> {
        match self {
            CpuType::Index => None,
            CpuType::Vector { lanes, .. } | CpuType::Mask { lanes } => Some(lanes),
        }
    }
}

impl TypeText for CpuType {
    fn to_mlir(&self) -> Type {
        match *self {
            CpuType::Index => Type::Index,
            CpuType::Mask { lanes } => Type::Dialect(format!("tgc.mask<{lanes}>")),
            CpuType::Vector { elem, lanes } => {
                let element = match elem {
                    Elem::F32 | Elem::F64 => Type::Float(elem.name().into()),
                    Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => {
                        Type::Integer { width: elem.bytes() as u32 * 8, sign: Sign::Signless }
                    }
                };
                Type::Vector { shape: vec![(u64::from(lanes), false)], element: Box::new(element) }
            }
        }
    }

    fn from_mlir(ty: &Type) -> Result<CpuType, String> {
        let error = || "`index`, a vector of lanes or `!tgc.mask<lanes>` is expected".to_string();
        match ty {
            Type::Index => Ok(CpuType::Index),
            Type::Dialect(body) => {
                let lanes = body.strip_prefix("tgc.mask<").and_then(|rest| rest.strip_suffix('>'));
                lanes.and_then(|n| n.parse().ok()).map(|lanes| CpuType::Mask { lanes }).ok_or_else(error)
            }
            Type::Vector { shape, element } => {
                let elem = match element.as_ref() {
                    Type::Float(name) => name.clone(),
                    Type::Integer { width, sign: Sign::Signless } => format!("i{width}"),
                    _ => return Err(error()),
                };
                let elem = Elem::from_attr(&tegula_ir::attr::string(elem))?;
                match shape.as_slice() {
                    [(lanes, false)] if *lanes <= 64 => Ok(CpuType::Vector { elem, lanes: *lanes as u8 }),
                    _ => Err(error()),
                }
            }
            _ => Err(error()),
        }
    }
}
