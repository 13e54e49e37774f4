//! Numbers of one type as another. What does not fit an integer is the indefinite one, its lowest.

use super::float::Float;
use super::{Machine, converted, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::Run;
use half::f16;

/// As the integer; the lowest where it is none.
macro_rules! to_int {
    ($($name:ident $from:ident $to:ident $rounding:ident;)*) => {$(
        fn $name(x: $from) -> $to {
            let x = x.$rounding();
            // Exact: powers of two.
            let (low, end) = (<$to>::MIN as $from, -(<$to>::MIN as $from));
            if x >= low && x < end { x as $to } else { <$to>::MIN }
        }
    )*};
}

to_int! {
    i32_of_f32 f32 i32 round_ties_even;
    i32_of_f64 f64 i32 round_ties_even;
    i64_of_f32 f32 i64 round_ties_even;
    i64_of_f64 f64 i64 round_ties_even;
    i32_in_f32 f32 i32 trunc;
    i32_in_f64 f64 i32 trunc;
    i64_in_f32 f32 i64 trunc;
    i64_in_f64 f64 i64 trunc;
}

/// One row an instruction on vectors.
macro_rules! conversions {
    ($($name:ident $from:ty => $to:ty, $f:expr;)*) => {$(
        pub fn $name(machine: &mut Machine, inst: &Inst) -> Run<()> {
            converted::<$from, $to>(machine, inst, $f)
        }
    )*};
}

conversions! {
    i8_to_i32 i8 => i32, i32::from;
    u8_to_u32 u8 => u32, u32::from;
    i16_to_i32 i16 => i32, i32::from;
    u16_to_u32 u16 => u32, u32::from;
    i32_to_i64 i32 => i64, i64::from;
    u32_to_u64 u32 => u64, u64::from;
    i8_to_i16 i8 => i16, i16::from;
    u8_to_u16 u8 => u16, u16::from;
    u32_to_u8 u32 => u8, |x| x as u8;
    u32_to_u16 u32 => u16, |x| x as u16;
    u64_to_u32 u64 => u32, |x| x as u32;
    i32_to_f32 i32 => f32, |x| x as f32;
    i32_to_f64 i32 => f64, f64::from;
    u32_to_f32 u32 => f32, |x| x as f32;
    u32_to_f64 u32 => f64, f64::from;
    i64_to_f32 i64 => f32, |x| x as f32;
    i64_to_f64 i64 => f64, |x| x as f64;
    u64_to_f32 u64 => f32, |x| x as f32;
    u64_to_f64 u64 => f64, |x| x as f64;
    f32_to_i32 f32 => i32, i32_of_f32;
    f64_to_i32 f64 => i32, i32_of_f64;
    f32_to_i64 f32 => i64, i64_of_f32;
    f64_to_i64 f64 => i64, i64_of_f64;
    f32_in_i32 f32 => i32, i32_in_f32;
    f64_in_i32 f64 => i32, i32_in_f64;
    f32_in_i64 f32 => i64, i64_in_f32;
    f64_in_i64 f64 => i64, i64_in_f64;
    f32_to_f64 f32 => f64, wider;
    f64_to_f32 f64 => f32, narrower;
    f16_to_f32 u16 => f32, from_half;
}

/// A NaN keeps its sign and its highest bits, quieted.
fn wider(x: f32) -> f64 {
    match x.is_nan() {
        true => {
            let bits = u64::from(x.to_bits());
            f64::from_bits((bits & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | (bits & 0x7f_ffff) << 29)
        }
        false => f64::from(x),
    }
}

fn narrower(x: f64) -> f32 {
    match x.is_nan() {
        true => {
            let bits = x.to_bits();
            f32::from_bits((bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x7f_ffff)
        }
        false => x as f32,
    }
}

fn from_half(bits: u16) -> f32 {
    let x = f16::from_bits(bits);
    match x.is_nan() {
        true => {
            let bits = u32::from(bits);
            f32::from_bits((bits & 0x8000) << 16 | 0x7fc0_0000 | (bits & 0x3ff) << 13)
        }
        false => x.to_f32(),
    }
}

fn to_half(x: f32) -> u16 {
    match x.is_nan() {
        true => (x.to_bits() >> 16 & 0x8000) as u16 | 0x7e00 | (x.to_bits() >> 13 & 0x3ff) as u16,
        false => f16::from_f32(x).to_bits(),
    }
}

/// Errors: another rounding than to the nearest even, the default.
pub fn f32_to_f16(machine: &mut Machine, inst: &Inst) -> Run<()> {
    if !matches!(inst.immediate()? & 7, 0 | 4) {
        return Err(unusual());
    }
    converted::<f32, u16>(machine, inst, to_half)
}

// --- one number ------------------------------------------------------------------------------------------

/// A general register as the lowest lane; the others are operand 1's.
fn from_general<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(i64) -> T) -> Run<()> {
    let Operand::Vector(others) = inst.operands[1] else { return Err(unusual()) };
    let mut result = machine.state.vectors[others].low(16);
    let value = match inst.operands[2] {
        Operand::General { bytes: 8, .. } | Operand::Memory { bytes: 8, .. } => machine.general(inst, 2)?,
        _ => return Err(unusual()),
    };
    result.set(0, f(value as i64));
    machine.put::<u128>(inst, 1, result)
}

pub fn general_to_f32(machine: &mut Machine, inst: &Inst) -> Run<()> {
    from_general::<f32>(machine, inst, |x| x as f32)
}

pub fn general_to_f64(machine: &mut Machine, inst: &Inst) -> Run<()> {
    from_general::<f64>(machine, inst, |x| x as f64)
}

fn to_general<T: Float>(machine: &mut Machine, inst: &Inst, f: impl Fn(T) -> i64) -> Run<()> {
    let Operand::General { bytes: 8, .. } = inst.operands[0] else { return Err(unusual()) };
    let value = machine.vector::<T>(inst, 1)?.lane(0);
    machine.put_general(inst, f(value) as u64)
}

pub fn f32_to_general(machine: &mut Machine, inst: &Inst) -> Run<()> {
    to_general::<f32>(machine, inst, i64_of_f32)
}

pub fn f64_to_general(machine: &mut Machine, inst: &Inst) -> Run<()> {
    to_general::<f64>(machine, inst, i64_of_f64)
}

pub fn f32_in_general(machine: &mut Machine, inst: &Inst) -> Run<()> {
    to_general::<f32>(machine, inst, i64_in_f32)
}

pub fn f64_in_general(machine: &mut Machine, inst: &Inst) -> Run<()> {
    to_general::<f64>(machine, inst, i64_in_f64)
}

/// Every lane is operand 1's lowest, a vector's, memory's or a general register's.
pub fn broadcast<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let n = inst.bytes / T::BYTES;
    let element: T = match inst.operands[1] {
        Operand::General { .. } => T::of(&machine.general(inst, 1)?.to_le_bytes()[..T::BYTES]),
        Operand::Vector(number) => machine.state.vectors[number].lane(0),
        Operand::Memory { address, .. } => {
            if !(0..n).any(|lane| machine.is_on(inst, lane)) {
                return machine.put::<T>(inst, n, Vector::ZERO);
            }
            let at = machine.address(&address);
            machine.read(at)?
        }
        _ => return Err(unusual()),
    };
    machine.put::<T>(inst, n, Vector::from_fn(n, |_| element))
}
