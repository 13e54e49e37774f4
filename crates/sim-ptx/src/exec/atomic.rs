//! Atomic operations: lanes do theirs one after the other.

use tegula_isa_ptx::modifiers::AtomicOp;
use tegula_isa_ptx::types::Scalar;

use crate::exec::memory::{Place, check_alignment};
use crate::lanes::{Lanes, lanes, signed};
use crate::machine::{Here, Machine, Outcome};
use crate::number::{BF16, F16, Format, Rounding, add_odd};
use crate::problem::{Problem, Run, of_lane, outside};
use crate::program::{Atomic, AtomicKind};
use crate::race::Touch;

impl Machine<'_> {
    pub fn atomic(&mut self, here: Here, o: &Atomic, active: u32) -> Run<Outcome> {
        let program = self.program;
        let size = (o.ty.bits() / 8) as usize;
        let count = if o.kind == AtomicKind::Cas { 1 } else { o.b.len() };
        let warp = &self.ctas[here.cta].warps[here.warp];
        let addresses = warp.addresses(program, o.at, active)?;
        check_alignment(&addresses, active, size * count)?;
        let mut b: Vec<Lanes> = Vec::with_capacity(o.b.len());
        for row in &o.b {
            b.push(*warp.get(program, *row, active)?);
        }
        let mut old: Vec<Lanes> = vec![[0; 32]; o.d.len()];
        for lane in lanes(active) {
            for part in 0..count {
                let address = addresses[lane].wrapping_add((part * size) as u64);
                let place = self.place(here, o.space, address).map_err(|p| of_lane(p, lane))?;
                if self.races.is_some()
                    && let Some((area, address)) = place.area()
                {
                    self.hand_over(here, area, address);
                    self.touch(
                        here,
                        Touch { area, address, len: size, write: true, strong: true, lane, work: None },
                    )?;
                }
                let before = self.read_word(place, size, lane)?;
                let after = match o.kind {
                    AtomicKind::Op(op) => Some(combine(op, o.ty, before, b[part][lane])),
                    AtomicKind::Exchange => Some(b[part][lane]),
                    AtomicKind::Cas => (before == b[0][lane]).then_some(b[1][lane]),
                };
                if let Some(after) = after {
                    self.effects += (after != before) as u64;
                    self.write_word(place, size, after, lane)?;
                }
                if let Some(old) = old.get_mut(part) {
                    old[lane] = before;
                }
            }
        }
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        for (d, values) in o.d.iter().zip(&old) {
            warp.set(*d, active, values);
        }
        Ok(Outcome::Next)
    }

    fn read_word(&self, place: Place, size: usize, lane: usize) -> Run<u64> {
        let mut word = [0; 8];
        match place {
            Place::Global(address) => {
                self.memory.read(address, &mut word[..size]).map_err(|e| outside(e, lane))?
            }
            Place::Shared(cta, address) => {
                let bytes = self.ctas[cta].shared.read(address, size).map_err(|p| of_lane(p, lane))?;
                word[..size].copy_from_slice(bytes);
            }
            Place::Param(_) => return Err(parameters(lane)),
        }
        Ok(u64::from_le_bytes(word))
    }

    fn write_word(&mut self, place: Place, size: usize, value: u64, lane: usize) -> Run<()> {
        let bytes = &value.to_le_bytes()[..size];
        match place {
            Place::Global(address) => self.memory.write(address, bytes).map_err(|e| outside(e, lane)),
            Place::Shared(cta, address) => {
                self.ctas[cta].shared.write(address, bytes).map_err(|p| of_lane(p, lane))
            }
            Place::Param(_) => Err(parameters(lane)),
        }
    }
}

fn parameters(lane: usize) -> Problem {
    Problem::new("sim-out-of-bounds", format!("lane {lane} changes a parameter"))
}

/// `a op b` of the type's bits.
pub fn combine(op: AtomicOp, ty: Scalar, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    match ty {
        Scalar::F32 => {
            return (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits() as u64;
        }
        Scalar::F64 => return (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        Scalar::F16 => return half(F16, op, a, b),
        Scalar::BF16 => return half(BF16, op, a, b),
        Scalar::F16x2 => {
            return half(F16, op, a & 0xffff, b & 0xffff) | half(F16, op, a >> 16, b >> 16) << 16;
        }
        Scalar::BF16x2 => {
            return half(BF16, op, a & 0xffff, b & 0xffff) | half(BF16, op, a >> 16, b >> 16) << 16;
        }
        _ => {}
    }
    let is_less = if ty.is_signed() { signed(a, bits) < signed(b, bits) } else { a < b };
    let value = match op {
        AtomicOp::Add | AtomicOp::AddNoftz => a.wrapping_add(b),
        AtomicOp::Min => {
            if is_less {
                a
            } else {
                b
            }
        }
        AtomicOp::Max => {
            if is_less {
                b
            } else {
                a
            }
        }
        AtomicOp::Inc => {
            if a >= b {
                0
            } else {
                a + 1
            }
        }
        AtomicOp::Dec => {
            if a == 0 || a > b {
                b
            } else {
                a - 1
            }
        }
        AtomicOp::And => a & b,
        AtomicOp::Or => a | b,
        AtomicOp::Xor => a ^ b,
    };
    value & crate::lanes::ones(bits)
}

fn half(format: Format, op: AtomicOp, a: u64, b: u64) -> u64 {
    let (x, y) = (format.decode(a), format.decode(b));
    match op {
        AtomicOp::Min => {
            if x <= y || y.is_nan() {
                a
            } else {
                b
            }
        }
        AtomicOp::Max => {
            if x >= y || y.is_nan() {
                a
            } else {
                b
            }
        }
        _ => format.encode(add_odd(x, y), Rounding::Nearest),
    }
}
