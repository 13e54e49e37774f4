//! Elements as they lie in memory: from raw registers to register form and back.

use super::boolean::as_int;
use super::cast::convert;
use super::real::Real;
use crate::code::Code;
use tegula_base::DType;
use tegula_isa_ptx::modifiers::{Compare, ConvertRound};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Reg, RegClass};

/// How a load or store of one element is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawType {
    pub ty: MemoryType,
    pub class: RegClass,
}

pub(crate) fn raw_type(dtype: DType) -> RawType {
    let ty = match dtype {
        DType::I8 | DType::I4 | DType::I2 => MemoryType::S8,
        _ if dtype.size() == 1 => MemoryType::U8,
        _ if dtype.size() == 2 => MemoryType::B16,
        _ if dtype.size() == 4 => MemoryType::B32,
        _ => MemoryType::B64,
    };
    RawType { ty, class: ty.class() }
}

/// An element's bits as its load leaves them in a register: a byte of a signed type is extended by its sign.
pub(crate) fn raw_bits(dtype: DType, bits: i64) -> Operand {
    Operand::Imm(match raw_type(dtype).ty {
        MemoryType::S8 => u64::from(i16::from(bits as i8) as u16),
        _ => bits as u64 & (u64::MAX >> (u64::BITS as usize - 8 * dtype.size())),
    })
}

/// What was loaded as [`raw_type`] says, in register form.
pub(crate) fn from_memory(code: &mut Code, dtype: DType, raw: Reg) -> Operand {
    match dtype {
        DType::Bool => code.compare(Compare::Ne, CompareType::U16, raw.into(), Operand::Imm(0)).into(),
        DType::F16 => convert(code, None, ConvertType::F32, ConvertType::F16, raw.into()),
        DType::BF16 => {
            let d = code.b32();
            let zero = code.in_reg(RegClass::B16, Operand::Imm(0));
            code.emit(PackHalves { d, parts: [zero, raw].into_iter().collect() });
            d.into()
        }
        _ if dtype.bits() >= 32 => raw.into(),
        _ => {
            let signed = dtype.is_signed() && dtype.is_int();
            let (to, from) = if signed {
                (ConvertType::S32, ConvertType::S16)
            } else {
                (ConvertType::U32, ConvertType::U16)
            };
            let bits = convert(code, None, to, from, raw.into());
            match dtype.is_float() {
                true => float_of_bits(code, dtype, bits),
                // Sub-byte types hold whatever their byte says; the unused bits follow the type.
                false if dtype.bits() < 8 => super::int::wrap(code, dtype, bits),
                false => bits,
            }
        }
    }
}

/// An element in register form as it is stored.
pub(crate) fn to_memory(code: &mut Code, dtype: DType, held: Operand) -> Reg {
    let class = raw_type(dtype).class;
    if class != RegClass::B16 {
        return code.in_reg(class, held);
    }
    let bits = match dtype {
        DType::F16 => {
            return half_bits(code, ConvertType::F16, held);
        }
        DType::BF16 => {
            return half_bits(code, ConvertType::BF16, held);
        }
        DType::Bool => as_int(code, held),
        _ if dtype.is_float() => float_bits(code, dtype, held),
        _ => held,
    };
    match bits {
        Operand::Imm(bits) => code.in_reg(class, Operand::Imm(bits & 0xffff)),
        Operand::Reg(a) => {
            let d = code.b16();
            code.emit(Cvt { to: ConvertType::U16, from: ConvertType::U32, d, a, ..Default::default() });
            d
        }
    }
}

fn half_bits(code: &mut Code, to: ConvertType, held: Operand) -> Reg {
    let a = code.in_reg(RegClass::B32, held);
    let d = code.b16();
    code.emit(Cvt { round: Some(ConvertRound::Rn), to, from: ConvertType::F32, d, a, ..Default::default() });
    d
}

/// The bits of a float of less than 32 bits, in 32; numbers of 16 bits are rounded, those of 8 must be exact.
pub(super) fn float_bits(code: &mut Code, dtype: DType, held: Operand) -> Operand {
    let half = match dtype {
        DType::F16 => half_bits(code, ConvertType::F16, held),
        DType::BF16 => half_bits(code, ConvertType::BF16, held),
        _ => return f8_bits(&mut Real::new(code), format(dtype), held),
    };
    convert(code, None, ConvertType::U32, ConvertType::U16, half.into())
}

/// The inverse of [`float_bits`].
pub(super) fn float_of_bits(code: &mut Code, dtype: DType, bits: Operand) -> Operand {
    match dtype {
        DType::F16 => {
            let half = convert(code, None, ConvertType::U16, ConvertType::U32, bits);
            convert(code, None, ConvertType::F32, ConvertType::F16, half)
        }
        DType::BF16 => Real::new(code).shl(bits, 16),
        _ => f8_of_bits(&mut Real::new(code), format(dtype), bits),
    }
}

/// How an 8-bit float lies in an `f32`: `drop` mantissa bits fewer, exponent bias lower by `bias`.
struct SmallFloat {
    drop: u32,
    bias: i32,
    /// The least magnitude bits that are no finite number: infinity, or the only NaN.
    special: u32,
}

fn format(dtype: DType) -> &'static SmallFloat {
    match dtype {
        DType::F8E5M2 => &SmallFloat { drop: 21, bias: 112, special: 0x7c },
        _ => &SmallFloat { drop: 20, bias: 120, special: 0x7f },
    }
}

/// The value times `2^-bias` has the small float's exponent, denormals included, and `drop` bits too many.
fn f8_bits(r: &mut Real, format: &SmallFloat, x: Operand) -> Operand {
    let magnitude = r.abs(x);
    let scaled = r.mul(magnitude, Operand::f32(2f32.powi(-format.bias)));
    let finite = r.code.compare(Compare::Le, CompareType::F32, magnitude, Operand::f32(f32::MAX));
    let scaled = r.shr(scaled, format.drop);
    let number = r.equal(x, x);
    let special = r.select(number, Operand::u32(format.special), Operand::u32(0x7f));
    let bits = r.select(finite, scaled, special);
    let sign = r.shr(x, 24);
    let sign = r.and(sign, 0x80);
    r.or(bits, sign)
}

fn f8_of_bits(r: &mut Real, format: &SmallFloat, bits: Operand) -> Operand {
    let magnitude = r.and(bits, 0x7f);
    let shifted = r.shl(magnitude, format.drop);
    let finite = r.mul(shifted, Operand::f32(2f32.powi(format.bias)));
    let special = r.or(shifted, Operand::u32(0x7f80_0000));
    let is_special = r.code.compare(Compare::Ge, CompareType::U32, magnitude, Operand::u32(format.special));
    let value = r.select(is_special, special, finite);
    let sign = r.and(bits, 0x80);
    let sign = r.shl(sign, 24);
    r.or(value, sign)
}
