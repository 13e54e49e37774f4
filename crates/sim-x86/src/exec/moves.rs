//! Loads, stores, and moves between registers of different kinds.

use super::{Machine, lanes, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::{Problem, Run};

/// Whole vectors.
pub fn whole<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = machine.vector::<T>(inst, 1)?;
    machine.put::<T>(inst, lanes::<T>(inst), value)
}

/// Errors: an address that is no multiple of the vector's bytes.
pub fn aligned<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    for operand in &inst.operands[..2] {
        if let Operand::Memory { address, .. } = operand
            && !machine.address(address).is_multiple_of(inst.bytes as u64)
        {
            return Err(Problem::new("needs an address that is a multiple of the vector's size"));
        }
    }
    whole::<T>(machine, inst)
}

/// One lane between memory and a vector's lowest; a load clears the others.
pub fn lowest<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    if inst.operands[2] != Operand::None || inst.mask.is_some() {
        return Err(unusual());
    }
    let value = machine.vector::<T>(inst, 1)?.lane::<T>(0);
    let result = Vector::from_fn(1, |_| value);
    match inst.operands[0] {
        Operand::Memory { .. } => machine.put::<T>(inst, 1, result),
        _ => machine.put::<u128>(inst, 1, result),
    }
}

/// `vmovd` and `vmovq`.
pub fn between<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    match (inst.operands[0], inst.operands[1]) {
        (Operand::Vector(_), Operand::General { .. } | Operand::Memory { .. }) => {
            let value = machine.general(inst, 1)?;
            machine.put::<u128>(inst, 1, Vector::from_fn(1, |_| value))
        }
        (Operand::General { .. } | Operand::Memory { .. }, Operand::Vector(from)) => {
            let value = machine.state.vectors[from];
            let mut word = [0; 8];
            value.lane::<T>(0).put(&mut word[..T::BYTES]);
            machine.put_general(inst, u64::from_le_bytes(word))
        }
        _ => Err(unusual()),
    }
}

/// One lane of operand 1's low 16 bytes, zeros above it.
pub fn extract<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(from) = inst.operands[1] else { return Err(unusual()) };
    let lane = inst.immediate()? as usize % (16 / T::BYTES);
    let mut word = [0; 8];
    machine.state.vectors[from].lane::<T>(lane).put(&mut word[..T::BYTES]);
    machine.put_general(inst, u64::from_le_bytes(word))
}

/// Operand 2's low bits as one lane among operand 1's.
pub fn insert<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(from) = inst.operands[1] else { return Err(unusual()) };
    let lane = inst.immediate()? as usize % (16 / T::BYTES);
    let value = machine.general(inst, 2)?.to_le_bytes();
    let mut result = machine.state.vectors[from].low(16);
    result.set(lane, T::of(&value[..T::BYTES]));
    machine.put::<u128>(inst, 1, result)
}

/// A part of `N` bytes of operand 1, which has the instruction's width; lanes of `T` are masked.
pub fn extract_part<T: Lane, const N: usize>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(from) = inst.operands[1] else { return Err(unusual()) };
    if matches!(inst.operands[0], Operand::Memory { .. }) && inst.mask.is_some() {
        // Lanes that are off are not spared.
        return Err(unusual());
    }
    let part = inst.immediate()? as usize % (inst.bytes / N);
    let mut result = Vector::ZERO;
    result.0[..N].copy_from_slice(&machine.state.vectors[from].0[N * part..N * (part + 1)]);
    machine.put::<T>(inst, N / T::BYTES, result)
}

/// Operand 2 as one part of `N` bytes among operand 1's.
pub fn insert_part<T: Lane, const N: usize>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(from) = inst.operands[1] else { return Err(unusual()) };
    if inst.mask.is_some() {
        return Err(unusual());
    }
    let part = inst.immediate()? as usize % (inst.bytes / N);
    let mut result = machine.state.vectors[from];
    let inserted = machine.vector::<T>(inst, 2)?;
    result.0[N * part..N * (part + 1)].copy_from_slice(&inserted.0[..N]);
    machine.put::<T>(inst, lanes::<T>(inst), result)
}

/// Bits 128 and up of the first 16 vectors become 0.
pub fn zero_upper(machine: &mut Machine, _: &Inst) -> Run<()> {
    machine.state.vectors[..16].iter_mut().for_each(|vector| *vector = vector.low(16));
    Ok(())
}

/// Lanes whose sign in operand 1 is set are loaded from operand 2, others are 0; or they are stored of operand 2, and
/// others left.
pub fn by_signs<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Vector(signs) = inst.operands[1] else { return Err(unusual()) };
    let signs = machine.state.vectors[signs];
    let on = |lane: usize| signs.0[(lane + 1) * T::BYTES - 1] & 0x80 != 0;
    let n = lanes::<T>(inst);
    match (inst.operands[0], inst.operands[2]) {
        (Operand::Vector(_), Operand::Memory { address, .. }) => {
            let at = machine.address(&address);
            let mut result = Vector::ZERO;
            for lane in (0..n).filter(|lane| on(*lane)) {
                result.set(lane, machine.read::<T>(at.wrapping_add((lane * T::BYTES) as u64))?);
            }
            machine.put::<T>(inst, n, result)
        }
        (Operand::Memory { address, .. }, Operand::Vector(from)) => {
            let (at, from) = (machine.address(&address), machine.state.vectors[from]);
            (0..n).filter(|lane| on(*lane)).try_for_each(|lane| {
                machine.write(at.wrapping_add((lane * T::BYTES) as u64), from.lane::<T>(lane))
            })
        }
        _ => Err(unusual()),
    }
}
