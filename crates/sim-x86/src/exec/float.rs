//! Arithmetic of floats in the default environment: to the nearest, denormals kept, exceptions masked.
//! NaN: the first operand that is one, quieted; one that an operation makes has its sign set (SDM volume 1, 4.8.3).

use super::{Machine, binary, by_immediate, lanes, ternary, unary};
use crate::inst::Inst;
use crate::lanes::{BYTES, Lane, Vector};
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
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    fn negated(self) -> Self;
    /// `x y + z`, or `-x y + z`, of each lane, rounded once.
    fn fused(x: &Vector, y: &Vector, z: &Vector, negated: bool) -> Vector;
    fn root(self) -> Self;
    /// By the two low bits of `mode`: to the nearest even, down, up, towards zero.
    fn rounded(self, mode: u8) -> Self;
}

macro_rules! floats {
    ($($ty:ident, $quiet:literal, $indefinite:literal, $fused:path;)*) => {$(
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

            fn fused(x: &Vector, y: &Vector, z: &Vector, negated: bool) -> Vector {
                $fused(x, y, z, negated)
            }

            fn mul_add(self, factor: $ty, addend: $ty) -> $ty {
                <$ty>::mul_add(self, factor, addend)
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
    f32, 0x0040_0000, 0xffc0_0000, fused_f32;
    f64, 0x0008_0000_0000_0000, 0xfff8_0000_0000_0000, fused_each::<f64>;
}

/// The result of an operation on these operands. None of them is a NaN where what was computed is none.
fn result<T: Float>(operands: &[T], computed: T) -> T {
    if !computed.is_nan() {
        return computed;
    }
    match operands.iter().find(|operand| operand.is_nan()) {
        Some(nan) => nan.quieted(),
        None => T::INDEFINITE,
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
    let first = machine.vector::<T>(inst, 0)?;
    let (second, third) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let (x, y, z) = match order {
        Order::O132 => (first, third, second),
        Order::O213 => (second, first, third),
        Order::O231 => (second, third, first),
    };
    machine.put::<T>(inst, lanes::<T>(inst), T::fused(&x, &y, &z, negated))
}

fn fused_each<T: Float>(x: &Vector, y: &Vector, z: &Vector, negated: bool) -> Vector {
    Vector::from_fn(BYTES / T::BYTES, |i| {
        let (x, y, z): (T, T, T) = (x.lane(i), y.lane(i), z.lane(i));
        result(&[x, y, z], (if negated { x.negated() } else { x }).mul_add(y, z))
    })
}

/// Most instructions of most kernels are these. A product of two `f32` is exact in `f64`, and the rounded sum in `f64` lies
/// on the same side as the exact one of each number half-way between two `f32`, unless it is such a number: then, and
/// where the result has not all bits of a normal number, each lane is computed alone.
fn fused_f32(x: &Vector, y: &Vector, z: &Vector, negated: bool) -> Vector {
    const LANES: usize = BYTES / 4;
    const BELOW: u64 = (1 << 29) - 1;
    const HALF_WAY: u64 = 1 << 28;
    let wide = |v: &Vector| {
        let mut lanes = [0f64; LANES];
        lanes.iter_mut().zip(v.lanes::<f32>()).for_each(|(wide, lane)| *wide = f64::from(lane));
        lanes
    };
    let (x64, y64, z64) = (wide(x), wide(y), wide(z));
    let sign = if negated { -1.0 } else { 1.0 };
    let mut sums = [0f32; LANES];
    let mut is_rare = false;
    for i in 0..LANES {
        let sum = sign * x64[i] * y64[i] + z64[i];
        sums[i] = sum as f32;
        let is_normal = sum.abs() >= f64::from(f32::MIN_POSITIVE) && sum.abs() < f64::from(f32::MAX);
        is_rare |= !(is_normal | (sum == 0.0)) | (sum.to_bits() & BELOW == HALF_WAY);
    }
    match is_rare {
        true => fused_each::<f32>(x, y, z, negated),
        false => Vector::of_lanes(LANES, sums.into_iter()),
    }
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
/// zeros (SDM, `VDPBF16PS`). A sum just below the least normal number counts as what it is rounded to.
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
