//! What the arithmetic words compute, bit for bit; the simulator and the stream executor both ask here.
//!
//! ALU operations take and give 32 bits: `i32`, or `f32` by IEEE 754 with one rounding an operation. `exp2`, `log2`, `rsqrt`,
//! `rcp` and `tanh` are the `f64` functions of the crate `libm`, rounded to `f32`: any platform repeats them.
//! A pass of floats through a matrix plane is the exact sum of its products, rounded once to `f32`: no order of rows to define.

pub use crate::exact::sum_of_products;
use crate::word::{AluOp, Element, Factors, Number};
use half::f16;
use tegula_base::DType;
use tegula_base::small_float;

/// What an operation gives of operands; those that it does not take are not looked at.
pub fn alu(op: AluOp, [a, b, c]: [u32; 3]) -> u32 {
    let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
    let (i, j, k) = (a as i32, b as i32, c as i32);
    let special = |f: fn(f64) -> f64| (f(f64::from(x)) as f32).to_bits();
    match op {
        AluOp::Move => a,
        AluOp::Add(Number::I32) => i.wrapping_add(j) as u32,
        AluOp::Add(Number::F32) => (x + y).to_bits(),
        AluOp::Sub(Number::I32) => i.wrapping_sub(j) as u32,
        AluOp::Sub(Number::F32) => (x - y).to_bits(),
        AluOp::Mul(Number::I32) => i.wrapping_mul(j) as u32,
        AluOp::Mul(Number::F32) => (x * y).to_bits(),
        AluOp::Fma(Number::I32) => i.wrapping_mul(j).wrapping_add(k) as u32,
        AluOp::Fma(Number::F32) => libm::fmaf(x, y, z).to_bits(),
        AluOp::Min(Number::I32) => i.min(j) as u32,
        AluOp::Min(Number::F32) => least(x, y).to_bits(),
        AluOp::Max(Number::I32) => i.max(j) as u32,
        AluOp::Max(Number::F32) => (-least(-x, -y)).to_bits(),
        AluOp::Equal(Number::I32) => u32::from(i == j),
        AluOp::Equal(Number::F32) => u32::from(x == y),
        AluOp::Less(Number::I32) => u32::from(i < j),
        AluOp::Less(Number::F32) => u32::from(x < y),
        AluOp::Select => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        AluOp::And => a & b,
        AluOp::Or => a | b,
        AluOp::Xor => a ^ b,
        AluOp::ShiftLeft => a << (b & 31),
        AluOp::ShiftRight => (i >> (b & 31)) as u32,
        AluOp::Exp2 => special(libm::exp2),
        AluOp::Log2 => special(libm::log2),
        AluOp::Rsqrt => special(|x| 1.0 / libm::sqrt(x)),
        AluOp::Rcp => special(|x| 1.0 / x),
        AluOp::Tanh => special(libm::tanh),
        AluOp::Cast { from, to, saturate, shift } => cast(a, from, to, saturate, shift),
    }
}

/// NaN if one is; -0 is less than +0.
fn least(x: f32, y: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    if x == y {
        return if x.is_sign_negative() { x } else { y };
    }
    if x < y { x } else { y }
}

/// Widens the low bytes of a stream's group to what an ALU computes with: integers keep their value, floats become `f32`.
pub fn widened(bits: u32, from: Element) -> u32 {
    match from {
        Element::I8 => bits as u8 as i8 as i32 as u32,
        Element::U8 => u32::from(bits as u8),
        Element::I16 => bits as u16 as i16 as i32 as u32,
        Element::I32 | Element::F32 => bits,
        Element::F16 => f16::from_bits(bits as u16).to_f32().to_bits(),
        Element::F8 => f8_to_f32(bits as u8).to_bits(),
    }
}

/// `f8E4M3FN` to `f32`.
pub fn f8_to_f32(bits: u8) -> f32 {
    small_float::to_f64(DType::F8E4M3FN, bits) as f32
}

/// An element of one type as the bits of another. Floats round to the nearest, ties to even; those that become integers round
/// so too, and NaN becomes 0; past the range they saturate, whether or not asked to.
fn cast(bits: u32, from: Element, to: Element, saturate: bool, shift: u8) -> u32 {
    let wide = widened(bits, from);
    if from.is_float() {
        let x = f32::from_bits(wide);
        return match to {
            Element::F32 => wide,
            Element::F16 => {
                let rounded = f16::from_f32(x);
                let finite = f16::from_f32(65504f32.copysign(x));
                let rounded = if saturate && rounded.is_infinite() { finite } else { rounded };
                u32::from(rounded.to_bits())
            }
            Element::F8 => u32::from(f8_of(x, saturate)),
            Element::I8 | Element::U8 | Element::I16 | Element::I32 => {
                let (least, most) = range(to);
                let whole = libm::rint(f64::from(x)).clamp(least as f64, most as f64);
                (if x.is_nan() { 0 } else { whole as i64 }) as u32 & mask(to)
            }
        };
    }
    let value = i64::from(wide as i32);
    match to {
        Element::F32 => (value as f32).to_bits(),
        Element::F16 => u32::from(f16::from_f32(value as f32).to_bits()),
        Element::F8 => u32::from(f8_of(value as f32, saturate)),
        Element::I8 | Element::U8 | Element::I16 | Element::I32 => {
            let half = if shift == 0 { 0 } else { 1i64 << (shift - 1) };
            let shifted = (value + half) >> shift;
            let (least, most) = range(to);
            let kept = if saturate { shifted.clamp(least, most) } else { shifted };
            kept as u32 & mask(to)
        }
    }
}

fn f8_of(x: f32, saturate: bool) -> u8 {
    small_float::from_f64(DType::F8E4M3FN, f64::from(x), saturate)
}

fn range(element: Element) -> (i64, i64) {
    match element {
        Element::I8 => (-128, 127),
        Element::U8 => (0, 255),
        Element::I16 => (-32768, 32767),
        Element::I32 | Element::F8 | Element::F16 | Element::F32 => {
            (i64::from(i32::MIN), i64::from(i32::MAX))
        }
    }
}

fn mask(element: Element) -> u32 {
    match element.width() {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
    }
}

/// One pass of a row through a column of a plane: bits of `i32`, or of `f32`.
pub fn pass(factors: Factors, pairs: impl Iterator<Item = (u16, u16)>) -> u32 {
    match factors {
        Factors::I8 => {
            let products = pairs.map(|(a, b)| i32::from(a as u8 as i8) * i32::from(b as u8 as i8));
            products.fold(0i32, i32::wrapping_add) as u32
        }
        Factors::F16 => {
            let of = |bits: u16| f16::from_bits(bits).to_f32();
            sum_of_products(pairs.map(|(a, b)| (of(a), of(b)))).to_bits()
        }
        Factors::F8 => {
            let of = |bits: u16| f8_to_f32(bits as u8);
            sum_of_products(pairs.map(|(a, b)| (of(a), of(b)))).to_bits()
        }
    }
}

/// Adds sums of passes: `i32` wraps, `f32` rounds once.
pub fn added(factors: Factors, sum: u32, pass: u32) -> u32 {
    match factors {
        Factors::I8 => sum.wrapping_add(pass),
        Factors::F16 | Factors::F8 => (f32::from_bits(sum) + f32::from_bits(pass)).to_bits(),
    }
}
