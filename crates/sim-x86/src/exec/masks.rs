//! Mask registers, and choices by them or by signs.

use super::{Machine, lanes, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::Run;

fn mask(machine: &Machine, inst: &Inst, i: usize) -> Run<u64> {
    match inst.operands[i] {
        Operand::Mask(number) => Ok(machine.state.masks[number]),
        _ => Err(unusual()),
    }
}

/// All 64 bits.
fn logic(machine: &mut Machine, inst: &Inst, f: impl Fn(u64, u64) -> u64) -> Run<()> {
    let Operand::Mask(to) = inst.operands[0] else { return Err(unusual()) };
    machine.state.masks[to] = f(mask(machine, inst, 1)?, mask(machine, inst, 2)?);
    Ok(())
}

pub fn and(machine: &mut Machine, inst: &Inst) -> Run<()> {
    logic(machine, inst, |a, b| a & b)
}

pub fn or(machine: &mut Machine, inst: &Inst) -> Run<()> {
    logic(machine, inst, |a, b| a | b)
}

pub fn xor(machine: &mut Machine, inst: &Inst) -> Run<()> {
    logic(machine, inst, |a, b| a ^ b)
}

pub fn and_not(machine: &mut Machine, inst: &Inst) -> Run<()> {
    logic(machine, inst, |a, b| !a & b)
}

/// All 64 bits, between masks, general registers and memory.
pub fn mov(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = match inst.operands[1] {
        Operand::Mask(number) => machine.state.masks[number],
        _ => machine.general(inst, 1)?,
    };
    match inst.operands[0] {
        Operand::Mask(to) => machine.state.masks[to] = value,
        _ => machine.put_general(inst, value)?,
    }
    Ok(())
}

/// A bit as a lane of all ones or none.
pub fn spread(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (bits, n) = (mask(machine, inst, 1)?, lanes::<u32>(inst));
    let spread = Vector::from_fn(n, |i| if bits >> i & 1 == 1 { u32::MAX } else { 0 });
    machine.put::<u32>(inst, n, spread)
}

/// Lanes that are on are operand 2's, others operand 1's, or 0.
pub fn blend<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(off) = inst.operands[1] else { return Err(unusual()) };
    let (off, on) = (machine.state.vectors[off], machine.vector::<T>(inst, 2)?);
    let n = lanes::<T>(inst);
    let mut result = Vector::ZERO;
    for lane in 0..n {
        match machine.is_on(inst, lane) {
            true => result.set(lane, on.lane::<T>(lane)),
            false if !inst.zeroing => result.set(lane, off.lane::<T>(lane)),
            false => {}
        }
    }
    machine.put::<T>(&Inst { mask: None, ..*inst }, n, result)
}

/// Lanes whose sign in operand 3 is set are operand 2's, others operand 1's.
pub fn blend_by_signs<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(signs) = inst.operands[3] else { return Err(unusual()) };
    let signs = machine.state.vectors[signs];
    let (off, on) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let n = lanes::<T>(inst);
    let result = Vector::from_fn(n, |lane| match signs.0[(lane + 1) * T::BYTES - 1] & 0x80 {
        0 => off.lane::<T>(lane),
        _ => on.lane(lane),
    });
    machine.put::<T>(inst, n, result)
}
