//! General registers: arithmetic, flags, moves, the stack. What computes has 64 bits (`table.rs` sees to that), what
//! moves has any.

use super::{Machine, unusual};
use crate::inst::{Inst, Operand};
use crate::problem::{Problem, Run};
use crate::state::{Flags, RAX, RDX};

impl Machine<'_> {
    /// Operand `i` in 64 bits, zeros above its own.
    pub fn general(&mut self, inst: &Inst, i: usize) -> Run<u64> {
        let low = |value: u64, bytes: usize| match bytes {
            8 => value,
            _ => value & ((1 << (8 * bytes)) - 1),
        };
        match inst.operands[i] {
            Operand::General { number, bytes } => Ok(low(self.state.general[number], bytes)),
            Operand::Immediate(value) => Ok(value as u64),
            Operand::Memory { address, bytes } => {
                let at = self.address(&address);
                let mut word = [0; 8];
                self.space.read(at, word.get_mut(..bytes).ok_or_else(unusual)?)?;
                Ok(u64::from_le_bytes(word))
            }
            _ => Err(unusual()),
        }
    }

    /// As [`Machine::general`], with the sign in the bits above.
    fn signed(&mut self, inst: &Inst, i: usize) -> Run<u64> {
        let value = self.general(inst, i)?;
        let bits = match inst.operands[i] {
            Operand::General { bytes, .. } | Operand::Memory { bytes, .. } => 8 * bytes as u32,
            _ => 64,
        };
        Ok(((value << (64 - bits)) as i64 >> (64 - bits)) as u64)
    }

    /// To operand 0. 32 bits clear those above, fewer keep them.
    pub fn put_general(&mut self, inst: &Inst, value: u64) -> Run<()> {
        match inst.operands[0] {
            Operand::General { number, bytes } => {
                let register = &mut self.state.general[number];
                *register = match bytes {
                    8 => value,
                    4 => value & 0xffff_ffff,
                    2 => *register & !0xffff | value & 0xffff,
                    _ => *register & !0xff | value & 0xff,
                };
                Ok(())
            }
            Operand::Memory { address, bytes } => {
                let at = self.address(&address);
                self.space.write(at, value.to_le_bytes().get(..bytes).ok_or_else(unusual)?)
            }
            _ => Err(unusual()),
        }
    }

    fn pair(&mut self, inst: &Inst) -> Run<(u64, u64)> {
        Ok((self.general(inst, 0)?, self.general(inst, 1)?))
    }
}

pub fn add(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    let (sum, carry) = a.overflowing_add(b);
    let overflow = (a as i64).overflowing_add(b as i64).1;
    machine.state.flags = Flags::of(sum, Some(carry), Some(overflow));
    machine.put_general(inst, sum)
}

fn difference(machine: &mut Machine, a: u64, b: u64) -> u64 {
    let (rest, carry) = a.overflowing_sub(b);
    let overflow = (a as i64).overflowing_sub(b as i64).1;
    machine.state.flags = Flags::of(rest, Some(carry), Some(overflow));
    rest
}

pub fn sub(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    let rest = difference(machine, a, b);
    machine.put_general(inst, rest)
}

pub fn cmp(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    difference(machine, a, b);
    Ok(())
}

pub fn neg(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let a = machine.general(inst, 0)?;
    let rest = difference(machine, 0, a);
    machine.put_general(inst, rest)
}

fn logic(machine: &mut Machine, result: u64) {
    machine.state.flags = Flags::of(result, Some(false), Some(false));
}

pub fn and(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    logic(machine, a & b);
    machine.put_general(inst, a & b)
}

pub fn or(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    logic(machine, a | b);
    machine.put_general(inst, a | b)
}

/// Of 32 bits, too, where both operands are one register: that is how it becomes 0.
pub fn xor(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    logic(machine, a ^ b);
    machine.put_general(inst, a ^ b)
}

pub fn test(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, b) = machine.pair(inst)?;
    logic(machine, a & b);
    Ok(())
}

/// With two operands or three.
pub fn imul(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let with_three = inst.operands[2] != Operand::None;
    let (a, b) = match with_three {
        true => (machine.general(inst, 1)?, machine.general(inst, 2)?),
        false => (machine.general(inst, 0)?, machine.general(inst, 1)?),
    };
    let (product, lost) = (a as i64).overflowing_mul(b as i64);
    machine.state.flags = Flags { carry: Some(lost), overflow: Some(lost), ..Flags::default() };
    machine.put_general(inst, product as u64)
}

/// By an immediate that is not 0: then flags would stay.
fn shifted(machine: &mut Machine, inst: &Inst, f: fn(u64, u32) -> u64) -> Run<()> {
    let (a, by) = machine.pair(inst)?;
    let by = by as u32 & 63;
    if by == 0 {
        return Err(unusual());
    }
    let result = f(a, by);
    machine.state.flags = Flags::of(result, None, None);
    machine.put_general(inst, result)
}

pub fn shl(machine: &mut Machine, inst: &Inst) -> Run<()> {
    shifted(machine, inst, |a, by| a << by)
}

pub fn sar(machine: &mut Machine, inst: &Inst) -> Run<()> {
    shifted(machine, inst, |a, by| (a as i64 >> by) as u64)
}

pub fn shlx(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, by) = (machine.general(inst, 1)?, machine.general(inst, 2)?);
    machine.put_general(inst, a << (by & 63))
}

pub fn sarx(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, by) = (machine.general(inst, 1)?, machine.general(inst, 2)?);
    machine.put_general(inst, (a as i64 >> (by & 63)) as u64)
}

/// The number of bits is the low byte of operand 2.
pub fn bzhi(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (a, n) = (machine.general(inst, 1)?, machine.general(inst, 2)? & 0xff);
    let result = if n < 64 { a & ((1 << n) - 1) } else { a };
    machine.state.flags = Flags::of(result, Some(n > 63), Some(false));
    machine.put_general(inst, result)
}

pub fn lea(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let Operand::Memory { address, .. } = inst.operands[1] else { return Err(unusual()) };
    let at = machine.address(&address);
    machine.put_general(inst, at)
}

/// `mov` and `movzx`.
pub fn mov(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = machine.general(inst, 1)?;
    machine.put_general(inst, value)
}

/// `movsx` and `movsxd`.
pub fn movsx(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = machine.signed(inst, 1)?;
    machine.put_general(inst, value)
}

/// Operand 1 is read, and operand 0 written, whether or not the condition holds.
pub fn cmov(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let (before, value) = (machine.general(inst, 0)?, machine.general(inst, 1)?);
    let holds = machine.state.flags.hold(inst.condition)?;
    machine.put_general(inst, if holds { value } else { before })
}

pub fn set(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let holds = machine.state.flags.hold(inst.condition)?;
    machine.put_general(inst, u64::from(holds))
}

pub fn push(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = machine.general(inst, 0)?;
    machine.push(value)
}

pub fn pop(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let value = machine.pop()?;
    machine.put_general(inst, value)
}

/// The sign of rax in all bits of rdx.
pub fn cqo(machine: &mut Machine, _: &Inst) -> Run<()> {
    machine.state.general[RDX] = (machine.state.general[RAX] as i64 >> 63) as u64;
    Ok(())
}

fn divided(machine: &mut Machine, quotient: u64, remainder: u64) {
    machine.state.general[RAX] = quotient;
    machine.state.general[RDX] = remainder;
    machine.state.flags = Flags::default();
}

fn no_quotient() -> Problem {
    Problem::new("divides by zero, or has a quotient of more than 64 bits")
}

/// rdx:rax by operand 0.
pub fn div(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = u128::from(machine.general(inst, 0)?);
    let a = u128::from(machine.state.general[RDX]) << 64 | u128::from(machine.state.general[RAX]);
    let quotient = a.checked_div(by).and_then(|q| u64::try_from(q).ok()).ok_or_else(no_quotient)?;
    divided(machine, quotient, (a % by) as u64);
    Ok(())
}

pub fn idiv(machine: &mut Machine, inst: &Inst) -> Run<()> {
    let by = i128::from(machine.general(inst, 0)? as i64);
    let a = (u128::from(machine.state.general[RDX]) << 64 | u128::from(machine.state.general[RAX])) as i128;
    let quotient = a.checked_div(by).and_then(|q| i64::try_from(q).ok()).ok_or_else(no_quotient)?;
    divided(machine, quotient as u64, (a % by) as u64);
    Ok(())
}
