//! Runs a flattened kernel, one instruction after the other.

use super::lanes::Apply2;
use super::program::{
    Active, Addressing, Executable, Fault, Files, Inst, MaskOp, Place, Reg, Spread, Vec32, Vec64,
};
use super::storage::{narrow, widen};
use crate::schedule::Elem;
use tegula_base::DType;
use tegula_package::{Function, Memory, OutOfBounds};

impl Executable {
    /// Does the work units `[begin, end)`; `args` and `scratch` as in `docs/abi.md`.
    /// Errors: the first access outside of the memory's buffers, or to an argument word that is not there.
    pub fn run(
        &self,
        args: &[u64],
        scratch: u64,
        begin: u64,
        end: u64,
        memory: &dyn Memory,
    ) -> Result<(), Fault> {
        let mut machine =
            Machine { exe: self, files: self.initial.clone(), args, scratch, begin, end, memory, rounds: 0 };
        let mut at = 0;
        while let Some(inst) = self.insts.get(at) {
            if matches!(inst, Inst::Stop) {
                break;
            }
            at = machine.step(inst, at + 1).map_err(|access| {
                let (op, name) = self.origins[at];
                Fault { op, name, access }
            })?;
        }
        Ok(())
    }
}

struct Machine<'a> {
    exe: &'a Executable,
    files: Files,
    args: &'a [u64],
    scratch: u64,
    begin: u64,
    end: u64,
    memory: &'a dyn Memory,
    /// Rounds of loops so far.
    rounds: u32,
}

/// Rounds between two questions whether the run was stopped.
const ROUNDS: u32 = 1 << 10;

/// Behind every instruction.
const NOWHERE: usize = usize::MAX;

type Access<T> = Result<T, OutOfBounds>;

impl Machine<'_> {
    /// Does one instruction; the place of the next one.
    #[inline(always)]
    fn step(&mut self, inst: &Inst, next: usize) -> Access<usize> {
        let files = &mut self.files;
        match *inst {
            Inst::Arg { d, word } => {
                let missing = OutOfBounds { address: 8 * word as u64, len: 8 };
                files.index[d as usize] = *self.args.get(word).ok_or(missing)? as i64;
            }
            Inst::Scratch { d } => files.index[d as usize] = self.scratch as i64,
            Inst::Begin { d } => files.index[d as usize] = self.begin as i64,
            Inst::End { d } => files.index[d as usize] = self.end as i64,
            Inst::Index { op, d, a, b } => {
                files.index[d as usize] = op.eval(files.index[a as usize], files.index[b as usize]);
            }
            Inst::IndexSelect { d, c, a, b } => {
                let chosen = if files.index[c as usize] != 0 { a } else { b };
                files.index[d as usize] = files.index[chosen as usize];
            }
            Inst::Move { d, s } => match (d, s) {
                (Place::Index(d), Place::Index(s)) => files.index[d as usize] = files.index[s as usize],
                (Place::Mask(d), Place::Mask(s)) => files.mask[d as usize] = files.mask[s as usize],
                (Place::Vector(Reg::V32(d)), Place::Vector(Reg::V32(s))) => {
                    files.v32[d as usize] = files.v32[s as usize];
                }
                (Place::Vector(Reg::V64(d)), Place::Vector(Reg::V64(s))) => {
                    files.v64[d as usize] = files.v64[s as usize];
                }
                _ => unreachable!("invariant: `check` gives moved values equal types"),
            },
            Inst::Jump { to } => return Ok(to),
            Inst::JumpIfZero { c, to } => {
                if files.index[c as usize] == 0 {
                    return Ok(to);
                }
            }
            Inst::LoopTest { iv, hi, exit } => {
                if files.index[iv as usize] >= files.index[hi as usize] {
                    return Ok(exit);
                }
            }
            Inst::LoopStep { iv, step, test } => {
                self.rounds = self.rounds.wrapping_add(1);
                if self.rounds.is_multiple_of(ROUNDS) && self.memory.is_stopped() {
                    return Ok(NOWHERE);
                }
                if let Some(after) = files.index[iv as usize].checked_add(step) {
                    files.index[iv as usize] = after;
                    return Ok(test);
                }
            }
            Inst::Load { d, dtype, n, at, spread } => self.load(d, dtype, n, at, spread)?,
            Inst::LoadSplat { d, dtype, n, at } => {
                let bits = self.read_element(dtype, self.address(at))?;
                self.set_lanes(d, [bits; 16], n);
            }
            Inst::LoadRaw { d, size, n, at } => {
                let mut bytes = [0; 64];
                let active = self.active(at, n) * size;
                if active > 0 {
                    self.memory.read(self.address(at), &mut bytes[..active])?;
                }
                self.set_bytes(d, &bytes);
            }
            Inst::LoadWords { d, n, at } => {
                let mut bytes = [0; 32];
                self.memory.read(self.address(at), &mut bytes[..2 * n])?;
                let word = |byte: u8| u32::from(byte as i8 as u16);
                let lanes = &mut self.files.v32[d as usize];
                *lanes = std::array::from_fn(|i| word(bytes[2 * i]) | word(bytes[2 * i + 1]) << 16);
            }
            Inst::Store { s, dtype, n, at, spread } => self.store(s, dtype, n, at, spread)?,
            Inst::Splat { d, elem, n, s } => {
                let value = files.index[s as usize];
                self.set_splat(d, elem, n, value);
            }
            Inst::Map32x1 { f, d, a, n } => {
                let mut out = [0; 16];
                f(&mut out[..n], &files.v32[a as usize][..n]);
                files.v32[d as usize] = out;
            }
            Inst::Map32x2 { f, d, a, b, n } => {
                let mut out = [0; 16];
                f(&mut out[..n], &files.v32[a as usize][..n], &files.v32[b as usize][..n]);
                files.v32[d as usize] = out;
            }
            Inst::Map32x3 { f, d, a, b, c, n } => {
                let mut out = [0; 16];
                let [a, b, c] = [a, b, c].map(|slot| &files.v32[slot as usize][..n]);
                f(&mut out[..n], a, b, c);
                files.v32[d as usize] = out;
            }
            Inst::Map64x1 { f, d, a, n } => {
                let mut out = [0; 8];
                f(&mut out[..n], &files.v64[a as usize][..n]);
                files.v64[d as usize] = out;
            }
            Inst::Map64x2 { f, d, a, b, n } => {
                let mut out = [0; 8];
                f(&mut out[..n], &files.v64[a as usize][..n], &files.v64[b as usize][..n]);
                files.v64[d as usize] = out;
            }
            Inst::Map64x3 { f, d, a, b, c, n } => {
                let mut out = [0; 8];
                let [a, b, c] = [a, b, c].map(|slot| &files.v64[slot as usize][..n]);
                f(&mut out[..n], a, b, c);
                files.v64[d as usize] = out;
            }
            Inst::Widen { f, d, a, n } => {
                for i in 0..n {
                    files.v64[d as usize][i] = f(files.v32[a as usize][i]);
                }
            }
            Inst::Narrow { f, d, a, n } => {
                for i in 0..n {
                    files.v32[d as usize][i] = f(files.v64[a as usize][i]);
                }
            }
            Inst::Test32 { f, d, a, b, n } => {
                files.mask[d as usize] = f(&files.v32[a as usize][..n], &files.v32[b as usize][..n]);
            }
            Inst::Test64 { f, d, a, b, n } => {
                files.mask[d as usize] = f(&files.v64[a as usize][..n], &files.v64[b as usize][..n]);
            }
            Inst::Select32 { d, m, a, b, n } => {
                let mask = files.mask[m as usize];
                let (a, b) = (files.v32[a as usize], files.v32[b as usize]);
                for i in 0..n {
                    files.v32[d as usize][i] = if mask >> i & 1 != 0 { a[i] } else { b[i] };
                }
            }
            Inst::Select64 { d, m, a, b, n } => {
                let mask = files.mask[m as usize];
                let (a, b) = (files.v64[a as usize], files.v64[b as usize]);
                for i in 0..n {
                    files.v64[d as usize][i] = if mask >> i & 1 != 0 { a[i] } else { b[i] };
                }
            }
            Inst::SelectMask { d, m, a, b } => {
                let [m, a, b] = [m, a, b].map(|slot| files.mask[slot as usize]);
                files.mask[d as usize] = m & a | !m & b;
            }
            Inst::MaskOp { op, d, a, b } => {
                let (a, b) = (files.mask[a as usize], files.mask[b as usize]);
                files.mask[d as usize] = match op {
                    MaskOp::And => a & b,
                    MaskOp::Or => a | b,
                    MaskOp::Xor => a ^ b,
                    MaskOp::AndNot => !a & b,
                };
            }
            Inst::MaskFirst { d, s, n } => {
                let count = files.index[s as usize].clamp(0, n as i64) as u32;
                files.mask[d as usize] = u64::MAX.checked_shr(64 - count).unwrap_or(0);
            }
            Inst::MaskToVec { d, m, n } => {
                let mask = files.mask[m as usize];
                for i in 0..n {
                    files.v32[d as usize][i] = (mask >> i & 1) as u32;
                }
            }
            Inst::Extract { d, s, elem, lane } => {
                let bytes = self.bytes(s);
                let size = elem.bytes();
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(&bytes[lane * size..(lane + 1) * size]);
                let unused = 64 - 8 * size as u32;
                let bits = i64::from_le_bytes(bits);
                self.files.index[d as usize] = if elem.is_float() { bits } else { bits << unused >> unused };
            }
            Inst::Reduce32 { f, d, a, n } => {
                let mut lanes = files.v32[a as usize];
                let all = tree(f, lanes, n);
                lanes[..n].fill(all);
                files.v32[d as usize] = lanes;
            }
            Inst::Reduce64 { f, d, a, n } => {
                let mut lanes = files.v64[a as usize];
                let all = tree(f, lanes, n);
                lanes[..n].fill(all);
                files.v64[d as usize] = lanes;
            }
            Inst::Shuffle { d, a, b, size, n, picks } => {
                let (a, b) = (self.bytes(a), self.bytes(b));
                let mut out = [0; 64];
                for (out, pick) in out.chunks_exact_mut(size).zip(&self.exe.shuffles[picks]) {
                    let pick = *pick as usize;
                    let (from, lane) = if pick < n { (&a, pick) } else { (&b, pick - n) };
                    out.copy_from_slice(&from[lane * size..(lane + 1) * size]);
                }
                self.set_bytes(d, &out);
            }
            Inst::Tabulated { d, places, table } => {
                let table = &self.exe.tables[table];
                let places = files.v32[places as usize];
                for (lane, place) in files.v32[d as usize].iter_mut().zip(places).take(table.len()) {
                    *lane = table[place as usize % table.len()];
                }
            }
            Inst::Call { f, d, a, b, n } => self.call(f, d, a, b, n),
            Inst::Stop => {}
        }
        Ok(next)
    }

    // --- memory ----------------------------------------------------------------------------------------

    fn address(&self, at: Addressing) -> u64 {
        let index = at.index.map_or(0, |slot| self.files.index[slot as usize].wrapping_mul(at.scale));
        self.files.index[at.base as usize].wrapping_add(index).wrapping_add(at.disp) as u64
    }

    /// Number of active lanes, which come first.
    fn active(&self, at: Addressing, n: usize) -> usize {
        match at.active {
            Active::All => n,
            Active::First(slot) => self.files.index[slot as usize].clamp(0, n as i64) as usize,
            Active::Masked(_) => unreachable!("invariant: loads alone have masks"),
        }
    }

    /// Distance of a lane's element from the address, in bytes.
    fn offset(&self, at: Addressing, spread: Spread, size: usize, lane: usize) -> u64 {
        let offset = match spread {
            Spread::Consecutive => (size * lane) as i64,
            Spread::Strided(stride) => self.files.index[stride as usize].wrapping_mul(lane as i64),
            Spread::Offsets(Reg::V32(slot)) => {
                i64::from(self.files.v32[slot as usize][lane] as i32).wrapping_mul(at.scale)
            }
            Spread::Offsets(Reg::V64(slot)) => {
                (self.files.v64[slot as usize][lane] as i64).wrapping_mul(at.scale)
            }
        };
        offset as u64
    }

    fn read_element(&self, dtype: DType, address: u64) -> Access<u64> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..dtype.size()];
        self.memory.read(address, bytes)?;
        Ok(widen(dtype, bytes))
    }

    fn load(&mut self, d: Reg, dtype: DType, n: usize, at: Addressing, spread: Spread) -> Access<()> {
        let (address, size) = (self.address(at), dtype.size());
        let mut lanes = [0; 16];
        if let Active::Masked(slot) = at.active {
            let mask = self.files.mask[slot as usize];
            for (i, lane) in lanes[..n].iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 != 0) {
                *lane = self.read_element(dtype, address.wrapping_add(self.offset(at, spread, size, i)))?;
            }
            self.set_lanes(d, lanes, n);
            return Ok(());
        }
        let active = self.active(at, n);
        if matches!(spread, Spread::Consecutive) {
            let mut bytes = [0; 128];
            let bytes = &mut bytes[..active * size];
            if active > 0 {
                self.memory.read(address, bytes)?;
            }
            for (lane, bytes) in lanes.iter_mut().zip(bytes.chunks_exact(size)) {
                *lane = widen(dtype, bytes);
            }
        } else {
            for (i, lane) in lanes[..active].iter_mut().enumerate() {
                *lane = self.read_element(dtype, address.wrapping_add(self.offset(at, spread, size, i)))?;
            }
        }
        self.set_lanes(d, lanes, n);
        Ok(())
    }

    fn store(&mut self, s: Reg, dtype: DType, n: usize, at: Addressing, spread: Spread) -> Access<()> {
        let (address, active, size) = (self.address(at), self.active(at, n), dtype.size());
        let lanes = self.lanes(s);
        if matches!(spread, Spread::Consecutive) {
            let mut bytes = [0; 128];
            for (bytes, bits) in bytes.chunks_exact_mut(size).zip(&lanes[..active]) {
                bytes.copy_from_slice(&narrow(dtype, *bits).to_le_bytes()[..size]);
            }
            return if active > 0 { self.memory.write(address, &bytes[..active * size]) } else { Ok(()) };
        }
        for (i, bits) in lanes[..active].iter().enumerate() {
            let bytes = narrow(dtype, *bits).to_le_bytes();
            self.memory.write(address.wrapping_add(self.offset(at, spread, size, i)), &bytes[..size])?;
        }
        Ok(())
    }

    // --- registers -------------------------------------------------------------------------------------

    /// Lanes of at least 32 bits, zero-extended.
    fn lanes(&self, s: Reg) -> [u64; 16] {
        let mut lanes = [0; 16];
        match s {
            Reg::V32(slot) => {
                for (lane, word) in lanes.iter_mut().zip(self.files.v32[slot as usize]) {
                    *lane = word.into();
                }
            }
            Reg::V64(slot) => lanes[..8].copy_from_slice(&self.files.v64[slot as usize]),
        }
        lanes
    }

    fn set_lanes(&mut self, d: Reg, lanes: [u64; 16], n: usize) {
        match d {
            Reg::V32(slot) => {
                for (word, lane) in self.files.v32[slot as usize].iter_mut().zip(&lanes[..n]) {
                    *word = *lane as u32;
                }
            }
            Reg::V64(slot) => self.files.v64[slot as usize][..n].copy_from_slice(&lanes[..n]),
        }
    }

    fn set_splat(&mut self, d: Reg, elem: Elem, n: usize, value: i64) {
        let bits = match elem {
            Elem::F32 => u64::from((value as f32).to_bits()),
            Elem::F64 => (value as f64).to_bits(),
            Elem::I8 => u64::from_le_bytes([value as u8; 8]),
            Elem::I16 => u64::from(value as u16) * 0x0001_0001_0001_0001,
            Elem::I32 | Elem::I64 => value as u64,
        };
        self.set_lanes(d, [bits; 16], (n * elem.bytes()).div_ceil(elem.bytes().max(4)));
    }

    fn bytes(&self, s: Reg) -> [u8; 64] {
        let mut bytes = [0; 64];
        match s {
            Reg::V32(slot) => {
                for (bytes, word) in bytes.chunks_exact_mut(4).zip(self.files.v32[slot as usize]) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
            Reg::V64(slot) => {
                for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.files.v64[slot as usize]) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
        }
        bytes
    }

    fn set_bytes(&mut self, d: Reg, bytes: &[u8; 64]) {
        match d {
            Reg::V32(slot) => self.files.v32[slot as usize] = words32(bytes),
            Reg::V64(slot) => self.files.v64[slot as usize] = words64(bytes),
        }
    }

    fn call(&mut self, f: Function, d: Reg, a: Reg, b: Option<Reg>, n: usize) {
        let a = self.lanes(a);
        let b = b.map_or([0; 16], |b| self.lanes(b));
        let mut out = [0; 16];
        for i in 0..n {
            out[i] = f.call(a[i], b[i]);
        }
        self.set_lanes(d, out, n);
    }
}

/// Lane `i` with lane `i + n/2`, until one is left.
fn tree<W: Copy + Default, const N: usize>(f: Apply2<W>, mut lanes: [W; N], n: usize) -> W {
    let mut width = n;
    while width > 1 {
        width /= 2;
        let mut out = [W::default(); N];
        f(&mut out[..width], &lanes[..width], &lanes[width..2 * width]);
        lanes = out;
    }
    lanes[0]
}

pub(super) fn words32(bytes: &[u8; 64]) -> Vec32 {
    std::array::from_fn(|i| {
        u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
    })
}

pub(super) fn words64(bytes: &[u8; 64]) -> Vec64 {
    let words = words32(bytes);
    std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32)
}
