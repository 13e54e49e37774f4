//! Arithmetic of floats in the default environment: to the nearest, denormals kept, exceptions masked.
//! NaN: the first operand that is one, quieted; one that an operation makes has its sign set (SDM volume 1, 4.8.3).

use super::{Machine, binary, by_immediate, lanes, ternary, unary};
use crate::inst::Inst;
use crate::lanes::{Lane, Vector};
use crate::problem::{Problem, Run};

/// What the float types share.
pub trait Float: Lane + PartialOrd {
    /// The NaN that an invalid operation gives.
    const INDEFINITE: Self;
    fn is_nan(self) -> bool;
    fn quieted(self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn fused(self, factor: Self, addend: Self) -> Self;
    fn negated(self) -> Self;
    fn root(self) -> Self;
    /// By the two low bits of `mode`: to the nearest even, down, up, towards zero.
    fn rounded(self, mode: u8) -> Self;
}

macro_rules! floats {
    ($($ty:ident, $bits:ty, $quiet:literal, $indefinite:literal;)*) => {$(
        impl Float for $ty {
            const INDEFINITE: $ty = $ty::from_bits($indefinite);

            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }

            fn quieted(self) -> $ty {
                $ty::from_bits(self.to_bits() | $quiet)
            }

            fn add(self, other: $ty) -> $ty {
                self + other
            }

            fn sub(self, other: $ty) -> $ty {
                self - other
            }

            fn mul(self, other: $ty) -> $ty {
                self * other
            }

            fn div(self, other: $ty) -> $ty {
                self / other
            }

            fn fused(self, factor: $ty, addend: $ty) -> $ty {
                self.mul_add(factor, addend)
            }

            fn negated(self) -> $ty {
                -self
            }

            fn root(self) -> $ty {
                self.sqrt()
            }

            fn rounded(self, mode: u8) -> $ty {
                match mode & 3 {
                    0 => self.round_ties_even(),
                    1 => self.floor(),
                    2 => self.ceil(),
                    _ => self.trunc(),
                }
            }
        }
    )*};
}

floats! {
    f32, u32, 0x0040_0000, 0xffc0_0000;
    f64, u64, 0x0008_0000_0000_0000, 0xfff8_0000_0000_0000;
}

/// The result of an operation on these operands.
fn result<T: Float>(operands: &[T], computed: T) -> T {
    match operands.iter().find(|operand| operand.is_nan()) {
        Some(nan) => nan.quieted(),
        None if computed.is_nan() => T::INDEFINITE,
        None => computed,
    }
}

pub fn add<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| result(&[a, b], a.add(b)))
}

pub fn sub<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| result(&[a, b], a.sub(b)))
}

pub fn mul<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| result(&[a, b], a.mul(b)))
}

pub fn div<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| result(&[a, b], a.div(b)))
}

/// Of two zeros and beside a NaN the second operand.
pub fn min<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| if a < b { a } else { b })
}

pub fn max<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<T>(machine, inst, |a, b| if a > b { a } else { b })
}

pub fn sqrt<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    unary::<T>(machine, inst, |a| result(&[a], a.root()))
}

/// Errors: rounding to fractions.
pub fn round<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    if inst.immediate()? as u8 >> 4 != 0 {
        return Err(Problem::new("rounds to fractions, which is not simulated"));
    }
    by_immediate::<T>(machine, inst, |a, how| {
        // Bit 2: the environment's rounding, to the nearest.
        let mode = if how & 4 != 0 { 0 } else { how };
        result(&[a], a.rounded(mode))
    })
}

/// Which operands are multiplied; the third is added.
#[derive(Clone, Copy)]
pub enum Order {
    /// First and third.
    O132,
    /// Second and first.
    O213,
    /// Second and third.
    O231,
}

fn fused<T: Float>(machine: &mut Machine, inst: &Inst, order: Order, negated: bool) -> Run<()> {
    ternary::<T>(machine, inst, |first, second, third| {
        let (x, y, z) = match order {
            Order::O132 => (first, third, second),
            Order::O213 => (second, first, third),
            Order::O231 => (second, third, first),
        };
        let product = if negated { x.negated() } else { x };
        result(&[x, y, z], product.fused(y, z))
    })
}

macro_rules! fused {
    ($($name:ident $order:ident $negated:literal;)*) => {$(
        pub fn $name<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
            fused::<T>(machine, inst, Order::$order, $negated)
        }
    )*};
}

fused! {
    fmadd132 O132 false;
    fmadd213 O213 false;
    fmadd231 O231 false;
    fnmadd132 O132 true;
    fnmadd213 O213 true;
    fnmadd231 O231 true;
}

/// The comparison of an immediate (SDM, `CMPPS`, table of predicates); those from 16 on differ in exceptions alone.
fn compares<T: Float>(predicate: u8, a: T, b: T) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match predicate & 15 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => unordered,
        4 => a != b,
        5 => unordered || a >= b,
        6 => unordered || a > b,
        7 => !unordered,
        8 => unordered || a == b,
        9 => unordered || a < b,
        10 => unordered || a <= b,
        11 => false,
        12 => !unordered && a != b,
        13 => a >= b,
        14 => a > b,
        _ => true,
    }
}

/// Into a mask register.
pub fn compare_bits<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let predicate = inst.immediate()? as u8;
    machine.put_bits(inst, lanes::<T>(inst), |i| compares::<T>(predicate, a.lane(i), b.lane(i)))
}

/// Into a vector: all bits of a lane or none.
pub fn compare<T: Float>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let (predicate, n) = (inst.immediate()? as u8, lanes::<T>(inst));
    let mut bits = Vector::ZERO;
    for i in (0..n).filter(|i| compares::<T>(predicate, a.lane(*i), b.lane(*i))) {
        bits.0[i * T::BYTES..(i + 1) * T::BYTES].fill(0xff);
    }
    machine.put::<T>(inst, n, bits)
}

/// Products of pairs of `bf16`, the odd one added first; each step rounds to the nearest even and takes denormals for
/// zeros (SDM, `VDPBF16PS`).
pub fn dot_bf16(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let float = |bits: u32| flushed(f32::from_bits(bits));
    ternary::<u32>(machine, inst, |sum, a, b| {
        let step = |sum: f32, a: f32, b: f32| {
            let sum = flushed(sum);
            flushed(result(&[a, b, sum], a.mul_add(b, sum)))
        };
        let odd = step(float(sum), float(a & 0xffff_0000), float(b & 0xffff_0000));
        step(odd, float(a << 16), float(b << 16)).to_bits()
    })
}

fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}
