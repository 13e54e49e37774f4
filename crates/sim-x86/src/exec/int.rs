//! Arithmetic of integers, lane by lane, and bits.

use super::{Machine, binary, by_immediate, lanes, ternary, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::Run;

/// A lane of all ones or none.
fn all_bits(holds: bool) -> i64 {
    -i64::from(holds)
}

pub fn equal_d(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<i32>(machine, inst, |a, b| all_bits(a == b) as i32)
}

pub fn equal_q(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<i64>(machine, inst, |a, b| all_bits(a == b))
}

pub fn greater_d(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<i32>(machine, inst, |a, b| all_bits(a > b) as i32)
}

pub fn greater_q(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<i64>(machine, inst, |a, b| all_bits(a > b))
}

/// By the three low bits of the immediate, into a mask register.
pub fn compare<T: Lane + Ord>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let predicate = inst.immediate()? as u8 & 7;
    machine.put_bits(inst, lanes::<T>(inst), |i| {
        let (a, b): (T, T) = (a.lane(i), b.lane(i));
        match predicate {
            0 => a == b,
            1 => a < b,
            2 => a <= b,
            3 => false,
            4 => a != b,
            5 => a >= b,
            6 => a > b,
            _ => true,
        }
    })
}

/// Bit by bit: the truth table is the immediate, its index the bits of operands 0, 1 and 2.
pub fn ternary_logic(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let table = inst.immediate()? as u8;
    ternary::<u32>(machine, inst, |a, b, c| {
        (0..32).fold(0, |bits, i| {
            let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
            bits | u32::from(table >> index & 1) << i
        })
    })
}

/// By as many bits as the immediate or a lane of operand 2 says: those of the lane's width or more leave nothing, or the
/// sign.
macro_rules! shifts {
    ($($name:ident $by_lane:ident $ty:ident |$a:ident, $by:ident| $shifted:expr;)*) => {$(
        pub fn $name(machine: &mut Machine, inst: &Inst) -> Run<()> {
            by_immediate::<$ty>(machine, inst, |$a, by| {
                let $by = u64::from(by);
                $shifted
            })
        }

        pub fn $by_lane(machine: &mut Machine, inst: &Inst) -> Run<()> {
            binary::<$ty>(machine, inst, |$a, by| {
                let $by = (by as u64) & (u64::MAX >> (64 - 8 * size_of::<$ty>()));
                $shifted
            })
        }
    )*};
}

shifts! {
    shl_d shl_d_by u32 |a, by| if by < 32 { a << by } else { 0 };
    shl_q shl_q_by u64 |a, by| if by < 64 { a << by } else { 0 };
    shr_d shr_d_by u32 |a, by| if by < 32 { a >> by } else { 0 };
    shr_q shr_q_by u64 |a, by| if by < 64 { a >> by } else { 0 };
    sar_d sar_d_by i32 |a, by| a >> by.min(31);
}

pub fn sar_q_by(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<i64>(machine, inst, |a, by| a >> (by as u64).min(63))
}

/// Of words no memory operand is spared by a mask.
fn words<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T, u8) -> T) -> Run<()> {
    let (by, a, n) = (inst.immediate()? as u8, machine.whole::<T>(inst, 1)?, lanes::<T>(inst));
    machine.put::<T>(inst, n, Vector::of_lanes(n, a.lanes().map(|a| f(a, by))))
}

pub fn shl_w(machine: &mut Machine, inst: &Inst) -> Run<()> {
    words::<u16>(machine, inst, |a, by| if by < 16 { a << by } else { 0 })
}

pub fn shr_w(machine: &mut Machine, inst: &Inst) -> Run<()> {
    words::<u16>(machine, inst, |a, by| if by < 16 { a >> by } else { 0 })
}

pub fn sar_w(machine: &mut Machine, inst: &Inst) -> Run<()> {
    words::<i16>(machine, inst, |a, by| a >> by.min(15))
}

/// The low halves of lanes of 64 bits.
pub fn mul_u32(machine: &mut Machine, inst: &Inst) -> Run<()> {
    binary::<u64>(machine, inst, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))
}

/// Lanes of `R` from `k` neighbouring lanes of two operands, and from operand 0.
fn from_groups<A: Lane, B: Lane, R: Lane>(
    machine: &mut Machine,
    inst: &Inst,
    operands: [Vector; 2],
    f: impl Fn(R, &mut dyn Iterator<Item = (A, B)>) -> R,
) -> Run<()> {
    let Operand::Vector(to) = inst.operands[0] else { return Err(unusual()) };
    let before = machine.state.vectors[to];
    let [a, b] = operands;
    let (n, k) = (lanes::<R>(inst), R::BYTES / A::BYTES);
    let result = Vector::from_fn(n, |i| {
        let mut pairs = (k * i..k * (i + 1)).map(|j| (a.lane(j), b.lane(j)));
        f(before.lane(i), &mut pairs)
    });
    machine.put::<R>(inst, n, result)
}

/// Sums of two products, which saturate.
pub fn sum_pairs_of_bytes(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let operands = [machine.whole::<i16>(inst, 1)?, machine.whole::<i16>(inst, 2)?];
    from_groups::<u8, i8, i16>(machine, inst, operands, |_, pairs| {
        let sum: i32 = pairs.map(|(a, b)| i32::from(a) * i32::from(b)).sum();
        sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
    })
}

/// Sums of two products, which wrap.
pub fn sum_pairs_of_words(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let operands = [machine.whole::<i32>(inst, 1)?, machine.whole::<i32>(inst, 2)?];
    from_groups::<i16, i16, i32>(machine, inst, operands, |_, pairs| {
        pairs.fold(0, |sum: i32, (a, b)| sum.wrapping_add(i32::from(a) * i32::from(b)))
    })
}

/// Sums of four products and operand 0, which wrap.
pub fn dot_bytes(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let operands = [machine.vector::<i32>(inst, 1)?, machine.vector::<i32>(inst, 2)?];
    from_groups::<u8, i8, i32>(machine, inst, operands, |sum, pairs| {
        pairs.fold(sum, |sum, (a, b)| sum.wrapping_add(i32::from(a) * i32::from(b)))
    })
}
