//! What instructions share: operands are fetched, results put where they belong, under masks.

pub mod convert;
pub mod float;
pub mod general;
pub mod int;
pub mod masks;
pub mod moves;
pub mod scattered;
pub mod shuffle;

use crate::inst::{Address, Inst, Operand};
use crate::lanes::{BYTES, Lane, Vector};
use crate::problem::{Problem, Run};
use crate::space::Space;
use crate::state::{RDI, RSI, RSP, State};

pub struct Machine<'a> {
    pub state: State,
    pub space: Space<'a>,
}

impl Machine<'_> {
    pub fn address(&self, address: &Address) -> u64 {
        let register = |number: Option<usize>| number.map_or(0, |number| self.state.general[number]);
        let index = register(address.index).wrapping_mul(address.scale);
        register(address.base).wrapping_add(index).wrapping_add(address.disp)
    }

    pub fn read<T: Lane>(&mut self, address: u64) -> Run<T> {
        let mut bytes = [0; 16];
        self.space.read(address, &mut bytes[..T::BYTES])?;
        Ok(T::of(&bytes[..T::BYTES]))
    }

    pub fn write<T: Lane>(&mut self, address: u64, value: T) -> Run<()> {
        let mut bytes = [0; 16];
        value.put(&mut bytes[..T::BYTES]);
        self.space.write(address, &bytes[..T::BYTES])
    }

    // --- vectors ---------------------------------------------------------------------------------------

    /// Whether lane `i` is on.
    pub fn is_on(&self, inst: &Inst, i: usize) -> bool {
        inst.mask.is_none_or(|mask| self.state.masks[mask] >> i & 1 == 1)
    }

    /// Operand `i` with lanes of `T`. Of memory only the lanes are read that are on.
    pub fn vector<T: Lane>(&mut self, inst: &Inst, i: usize) -> Run<Vector> {
        match inst.operands[i] {
            Operand::Vector(number) => Ok(self.state.vectors[number]),
            Operand::Memory { address, bytes } => {
                let at = self.address(&address);
                if inst.broadcast {
                    let n = inst.bytes / T::BYTES;
                    if !(0..n).any(|lane| self.is_on(inst, lane)) {
                        return Ok(Vector::ZERO);
                    }
                    let element: T = self.read(at)?;
                    return Ok(Vector::from_fn(n, |_| element));
                }
                self.memory::<T>(inst, at, bytes)
            }
            _ => Err(unusual()),
        }
    }

    /// As [`Machine::vector`], of an instruction whose mask names lanes of the result alone: memory is read whole (SDM,
    /// exceptions of type E4NF).
    pub fn whole<T: Lane>(&mut self, inst: &Inst, i: usize) -> Run<Vector> {
        self.vector::<T>(&Inst { mask: None, ..*inst }, i)
    }

    fn memory<T: Lane>(&mut self, inst: &Inst, at: u64, bytes: usize) -> Run<Vector> {
        let mut vector = Vector::ZERO;
        if inst.mask.is_none() {
            self.space.read(at, vector.0.get_mut(..bytes).ok_or_else(unusual)?)?;
            return Ok(vector);
        }
        for lane in 0..bytes / T::BYTES {
            if self.is_on(inst, lane) {
                vector.set(lane, self.read::<T>(at.wrapping_add((lane * T::BYTES) as u64))?);
            }
        }
        Ok(vector)
    }

    /// Puts the first `n` lanes of `T` where operand 0 says, by the mask; a register has zeros above them.
    pub fn put<T: Lane>(&mut self, inst: &Inst, n: usize, result: Vector) -> Run<()> {
        match inst.operands[0] {
            Operand::Vector(number) => {
                let mut after = result.low(n * T::BYTES);
                if inst.mask.is_none() {
                    self.state.vectors[number] = after;
                    return Ok(());
                }
                let before = self.state.vectors[number];
                for lane in (0..n).filter(|lane| !self.is_on(inst, *lane)) {
                    let at = lane * T::BYTES..(lane + 1) * T::BYTES;
                    match inst.zeroing {
                        true => after.0[at].fill(0),
                        false => after.0[at.clone()].copy_from_slice(&before.0[at]),
                    }
                }
                self.state.vectors[number] = after;
                Ok(())
            }
            Operand::Memory { address, .. } => {
                let at = self.address(&address);
                if inst.mask.is_none() {
                    return self.space.write(at, &result.0[..n * T::BYTES]);
                }
                for lane in 0..n {
                    if self.is_on(inst, lane) {
                        self.write(at.wrapping_add((lane * T::BYTES) as u64), result.lane::<T>(lane))?;
                    }
                }
                Ok(())
            }
            _ => Err(unusual()),
        }
    }

    /// A bit for each of `n` lanes, into the mask register that operand 0 is; lanes that are off give 0.
    pub fn put_bits(&mut self, inst: &Inst, n: usize, bit: impl Fn(usize) -> bool) -> Run<()> {
        let Operand::Mask(to) = inst.operands[0] else { return Err(unusual()) };
        let bits = (0..n)
            .filter(|lane| bit(*lane) && self.is_on(inst, *lane))
            .fold(0, |bits, lane| bits | 1 << lane);
        self.state.masks[to] = bits;
        Ok(())
    }

    // --- calls -----------------------------------------------------------------------------------------

    pub fn push(&mut self, value: u64) -> Run<()> {
        let top = self.state.general[RSP].wrapping_sub(8);
        self.state.general[RSP] = top;
        self.write(top, value)
    }

    pub fn pop(&mut self) -> Run<u64> {
        let top = self.state.general[RSP];
        self.state.general[RSP] = top.wrapping_add(8);
        self.read(top)
    }

    /// A function of the table. Errors: no function begins there; the stack is not aligned, or upper halves are not clear.
    pub fn call(&mut self, inst: &Inst) -> Run<()> {
        let to = self.general(inst, 0)?;
        let function =
            Space::function(to).ok_or_else(|| Problem::new("calls what is no function of the table"))?;
        if !self.state.general[RSP].is_multiple_of(16) {
            return Err(Problem::new("calls with a stack that is not aligned to 16 bytes"));
        }
        if self.state.has_upper_halves() {
            return Err(Problem::new("calls with bits in upper halves of vector registers"));
        }
        let result = function.call(self.state.general[RDI], self.state.general[RSI]);
        self.space.after_call(self.state.general[RSP]);
        self.state.after_call(result);
        Ok(())
    }
}

/// Lanes of `T` in the instruction's vectors.
pub fn lanes<T: Lane>(inst: &Inst) -> usize {
    inst.bytes / T::BYTES
}

/// An operand of another kind than the table's row expects.
pub fn unusual() -> Problem {
    Problem::new("has operands that are not simulated")
}

// --- lane by lane ----------------------------------------------------------------------------------------

/// `f` of each lane of operand 1.
pub fn unary<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T) -> T) -> Run<()> {
    let a = machine.vector::<T>(inst, 1)?;
    let n = lanes::<T>(inst);
    machine.put::<T>(inst, n, Vector::of_lanes(n, a.lanes().map(f)))
}

/// `f` of the lanes of operands 1 and 2.
pub fn binary<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T, T) -> T) -> Run<()> {
    let (a, b) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let n = lanes::<T>(inst);
    machine.put::<T>(inst, n, Vector::of_lanes(n, a.lanes().zip(b.lanes()).map(|(a, b)| f(a, b))))
}

/// `f` of the lanes of operands 0, 1 and 2.
pub fn ternary<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T, T, T) -> T) -> Run<()> {
    let c = machine.vector::<T>(inst, 0)?;
    let (a, b) = (machine.vector::<T>(inst, 1)?, machine.vector::<T>(inst, 2)?);
    let n = lanes::<T>(inst);
    let lanes = c.lanes().zip(a.lanes()).zip(b.lanes()).map(|((c, a), b)| f(c, a, b));
    machine.put::<T>(inst, n, Vector::of_lanes(n, lanes))
}

/// `f` of each lane of operand 1 and the immediate.
pub fn by_immediate<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T, u8) -> T) -> Run<()> {
    let by = inst.immediate()? as u8;
    unary(machine, inst, |a| f(a, by))
}

/// Lanes of `R` from those of `T` at operand 1: as many as both have room for.
pub fn converted<T: Lane, R: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(T) -> R) -> Run<()> {
    let a = machine.vector::<T>(inst, 1)?;
    let n = inst.bytes / T::BYTES.max(R::BYTES);
    machine.put::<R>(inst, n, Vector::of_lanes(n, a.lanes().map(f)))
}

/// `f` of the 128-bit parts of operands 1 and 2, each by itself.
pub fn in_parts<T: Lane>(machine: &mut Machine, inst: &Inst, f: impl Fn(&[T], &[T], usize) -> T) -> Run<()> {
    let (a, b) = (machine.whole::<T>(inst, 1)?, machine.whole::<T>(inst, 2)?);
    let (n, of_part) = (lanes::<T>(inst), 16 / T::BYTES);
    let all = |v: &Vector| (0..BYTES / T::BYTES).map(|i| v.lane(i)).collect::<Vec<T>>();
    let (a, b) = (all(&a), all(&b));
    let result = Vector::from_fn(n, |i| {
        let part = i / of_part * of_part..(i / of_part + 1) * of_part;
        f(&a[part.clone()], &b[part], i % of_part)
    });
    machine.put::<T>(inst, n, result)
}
