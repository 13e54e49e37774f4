//! Gathers: each lane from an address of its own.

use super::{Machine, unusual};
use crate::inst::{Inst, Operand};
use crate::lanes::{Lane, Vector};
use crate::problem::Run;

/// Lanes that are on, by the mask register or by the signs of operand 2, are read at `base + index * scale + disp`;
/// others stay. The mask is 0 afterwards, whichever it was.
pub fn gather<T: Lane>(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (Operand::Vector(to), Operand::Memory { address, .. }) = (inst.operands[0], inst.operands[1]) else {
        return Err(unusual());
    };
    let Some(indices) = address.index else { return Err(unusual()) };
    let indices = machine.state.vectors[indices];
    let n = inst.gathered.min(inst.bytes / T::BYTES);
    let mut result = machine.state.vectors[to].low(n * T::BYTES);
    let signs = match inst.operands[2] {
        Operand::Vector(signs) => Some(signs),
        _ => None,
    };
    for lane in 0..n {
        let on = match signs {
            Some(signs) => machine.state.vectors[signs].0[(lane + 1) * T::BYTES - 1] & 0x80 != 0,
            None => machine.is_on(inst, lane),
        };
        if on {
            let index = match inst.wide_index {
                true => indices.lane::<i64>(lane),
                false => i64::from(indices.lane::<i32>(lane)),
            };
            let base = address.base.map_or(0, |base| machine.state.general[base]);
            let at = base.wrapping_add((index as u64).wrapping_mul(address.scale)).wrapping_add(address.disp);
            result.set(lane, machine.read::<T>(at)?);
        }
    }
    machine.state.vectors[to] = result;
    match (signs, inst.mask) {
        (Some(signs), _) => machine.state.vectors[signs] = Vector::ZERO,
        (None, Some(mask)) => machine.state.masks[mask] = 0,
        (None, None) => return Err(unusual()),
    }
    Ok(())
}
