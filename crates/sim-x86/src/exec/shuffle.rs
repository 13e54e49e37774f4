//! Lanes of vectors in another order.

use super::{Machine, in_parts, lanes, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::Run;

/// Bytes of each 128-bit part by the numbers in operand 2; 0 where their sign is set.
pub fn bytes(machine: &mut Machine, inst: &Inst) -> Run<()> {
    in_parts::<u8>(machine, inst, |from, by, i| match by[i] & 0x80 {
        0 => from[usize::from(by[i] & 15)],
        _ => 0,
    })
}

/// The low halves of each part, woven.
pub fn unpack_low<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    in_parts::<T>(machine, inst, |a, b, i| if i % 2 == 0 { a[i / 2] } else { b[i / 2] })
}

pub fn unpack_high<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let half = 8 / T::BYTES;
    in_parts::<T>(machine, inst, |a, b, i| if i % 2 == 0 { a[half + i / 2] } else { b[half + i / 2] })
}

/// In each part by two bits of the immediate a lane.
pub fn dwords(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = inst.immediate()? as usize;
    let from = machine.whole::<u32>(inst, 1)?;
    let n = lanes::<u32>(inst);
    machine.put::<u32>(
        inst,
        n,
        Vector::from_fn(n, |i| from.lane::<u32>(i / 4 * 4 + (by >> (2 * (i % 4)) & 3))),
    )
}

/// In each part two lanes of operand 1, then two of operand 2.
pub fn two_and_two(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = inst.immediate()? as usize;
    in_parts::<u32>(machine, inst, |a, b, i| {
        let from = if i < 2 { a } else { b };
        from[by >> (2 * i) & 3]
    })
}

/// Halves of 128 bits of operands 1 and 2, or zeros.
pub fn halves(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = inst.immediate()? as usize;
    let (a, b) = (machine.whole::<u128>(inst, 1)?, machine.whole::<u128>(inst, 2)?);
    let half = |i: usize| {
        let by = by >> (4 * i);
        match (by & 8, by & 2) {
            (8, _) => 0,
            (_, 0) => a.lane::<u128>(by & 1),
            _ => b.lane(by & 1),
        }
    };
    machine.put::<u128>(inst, 2, Vector::from_fn(2, half))
}

/// Lanes by the bits of the immediate, repeated if there are more.
pub fn blend_dwords(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = inst.immediate()?;
    let (a, b) = (machine.whole::<u32>(inst, 1)?, machine.whole::<u32>(inst, 2)?);
    let n = lanes::<u32>(inst);
    let result = Vector::from_fn(n, |i| if by >> i & 1 == 1 { b.lane::<u32>(i) } else { a.lane(i) });
    machine.put::<u32>(inst, n, result)
}

/// Lanes of operand 2 by the numbers in operand 1.
pub fn permute_dwords(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (by, from) = (machine.whole::<u32>(inst, 1)?, machine.whole::<u32>(inst, 2)?);
    let n = lanes::<u32>(inst);
    machine.put::<u32>(inst, n, Vector::from_fn(n, |i| from.lane::<u32>(by.lane::<u32>(i) as usize % n)))
}

/// Lanes of operands 1 and 2, as one table, by the numbers in operand 0.
fn from_two<T: Lane>(machine: &mut Machine, inst: &Inst, number: impl Fn(T) -> usize) -> Run<()> {
    let Operand::Vector(by) = inst.operands[0] else { return Err(unusual()) };
    let by = machine.state.vectors[by];
    let (a, b) = (machine.whole::<T>(inst, 1)?, machine.whole::<T>(inst, 2)?);
    let n = lanes::<T>(inst);
    let result = Vector::from_fn(n, |i| {
        let number = number(by.lane(i)) % (2 * n);
        if number < n { a.lane::<T>(number) } else { b.lane(number - n) }
    });
    machine.put::<T>(inst, n, result)
}

pub fn permute_two_bytes(machine: &mut Machine, inst: &Inst) -> Run<()> {
    from_two::<u8>(machine, inst, usize::from)
}

pub fn permute_two_dwords(machine: &mut Machine, inst: &Inst) -> Run<()> {
    from_two::<u32>(machine, inst, |by| by as usize)
}
