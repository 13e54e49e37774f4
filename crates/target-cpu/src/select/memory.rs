//! Loads and stores of consecutive elements.

use super::storage::Packed;
use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Masking, Mem, Size, VReg};
use crate::schedule::ops::Address;
use crate::schedule::{CpuType, Elem};
use crate::tier::Tier;
use tegula_base::{DType, EntityId};
use tegula_ir::{OpId, Value};

impl Select<'_> {
    /// The address of a memory op as an operand.
    pub(super) fn address(&mut self, op: OpId) -> Selected<Mem> {
        let mode = self.plan.mode(op);
        let base = self.reg(mode.base)?;
        let index = match mode.index {
            Some(index) => Some((self.reg(index)?, Size::B64)),
            None => None,
        };
        let mem = Mem { index, scale: mode.scale, ..Mem::at(Base::Reg(base)) };
        // Offsets of a few more bytes are added by the sequences that split an access.
        match i32::try_from(mode.disp) {
            Ok(disp) if disp.checked_add(4096).is_some() => Ok(Mem { disp, ..mem }),
            _ => {
                let sum = self.index_constant(mode.disp);
                let sum = self.b.copy(sum);
                self.g(Isa::Add, sum, Arg::Reg(base, Size::B64));
                Ok(Mem { base: Base::Reg(sum), ..mem })
            }
        }
    }

    /// The operands of a memory op after base and index, the count apart.
    pub(super) fn memory_operands(&self, op: OpId, at: Address) -> (Vec<Value>, Option<Value>) {
        let mut rest = self.func.operands(op)[1 + usize::from(at.indexed)..].to_vec();
        let count = if at.counted { rest.pop() } else { None };
        (rest, count)
    }

    pub(super) fn load(&mut self, op: OpId, dtype: DType, lanes: u32, at: Address) -> Selected<()> {
        let mem = self.address(op)?;
        let (_, count) = self.memory_operands(op, at);
        let reg = match count {
            None => self.widen(dtype, lanes, Packed::Mem(mem))?,
            Some(count) => self.load_counted(dtype, lanes, mem, count)?,
        };
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn prefetch(&mut self, op: OpId) -> Selected<()> {
        let mem = self.address(op)?;
        self.b.isa(Isa::Prefetch, Width::X, &[Arg::Mem(mem)]);
        Ok(())
    }

    pub(super) fn load_masked(&mut self, op: OpId, dtype: DType, lanes: u32, at: Address) -> Selected<()> {
        let mem = self.address(op)?;
        let (rest, _) = self.memory_operands(op, at);
        let reg = match (self.tier, dtype.size()) {
            (Tier::Avx512, _) => {
                let mask = self.reg(rest[0])?;
                self.widen(dtype, lanes, Packed::Masked(mem, mask))?
            }
            (Tier::Avx2, 4) => {
                let mask = self.reg(rest[0])?;
                self.load_by_vector(Isa::VpmaskmovdLoad, self.width(Elem::I32, lanes)?, mem, mask)
            }
            (Tier::Avx2, 8) => {
                let width = self.width(Elem::I64, lanes)?;
                let mask = self.wide_mask(rest[0], width)?;
                self.load_by_vector(Isa::VpmaskmovqLoad, width, mem, mask)
            }
            (Tier::Avx2, _) => return Err(self.internal("a masked load of narrow elements on AVX2")),
        };
        self.define(op, reg);
        Ok(())
    }

    /// AVX2: the lanes whose sign bits are set in `mask`.
    fn load_by_vector(&mut self, isa: Isa, width: Width, mem: Mem, mask: VReg) -> VReg {
        let (reg, size) = (self.b.vec(width), Size::from(width));
        self.b.isa(isa, width, &[Arg::Reg(reg, size), Arg::Reg(mask, size), Arg::Mem(mem)]);
        reg
    }

    fn load_counted(&mut self, dtype: DType, lanes: u32, mem: Mem, count: Value) -> Selected<VReg> {
        match (self.tier, dtype.size()) {
            (Tier::Avx512, _) => {
                let mask = self.count_mask(count, lanes)?;
                self.widen(dtype, lanes, Packed::Masked(mem, mask))
            }
            (Tier::Avx2, 4 | 8) => {
                let width = self.width(Elem::of(dtype), lanes)?;
                let (isa, mask) = if dtype.size() == 4 {
                    (Isa::VpmaskmovdLoad, self.count_mask(count, lanes)?)
                } else {
                    (Isa::VpmaskmovqLoad, self.wide_count_mask(count, lanes)?)
                };
                Ok(self.load_by_vector(isa, width, mem, mask))
            }
            (Tier::Avx2, bytes) if let Some(count) = self.immediate(count) => {
                let packed = self.load_few(mem, bytes * count.clamp(0, i64::from(lanes)) as usize);
                self.widen(dtype, lanes, Packed::Reg(packed))
            }
            (Tier::Avx2, bytes) if let Some(some) = self.all_or_none(count) => {
                let some = some.min(lanes.into()) as u32;
                let width = self.width(Elem::of(dtype), lanes)?;
                let reg = self.b.vec(width);
                let all = |s: &mut Self| {
                    let packed = s.load_few(mem, bytes * some as usize);
                    let wide = s.widen(dtype, lanes, Packed::Reg(packed))?;
                    s.b.copy_to(reg, wide);
                    Ok(())
                };
                self.where_full(count, some, all, |s| {
                    let none = s.zero(width);
                    s.b.copy_to(reg, none);
                    Ok(())
                })?;
                Ok(reg)
            }
            (Tier::Avx2, bytes) => {
                let width = self.width(Elem::of(dtype), lanes)?;
                let reg = self.b.vec(width);
                let all = |s: &mut Self| {
                    let wide = s.widen(dtype, lanes, Packed::Mem(mem))?;
                    s.b.copy_to(reg, wide);
                    Ok(())
                };
                self.where_full(count, lanes, all, |s| {
                    let area = s.copied_first(mem, bytes, lanes, count)?;
                    let wide = s.widen(dtype, lanes, Packed::Mem(area))?;
                    s.b.copy_to(reg, wide);
                    Ok(())
                })?;
                Ok(reg)
            }
        }
    }

    /// The first `count` of `lanes` elements of `bytes` each, and zeros, in a frame area.
    fn copied_first(&mut self, mem: Mem, bytes: usize, lanes: u32, count: Value) -> Selected<Mem> {
        let area = self.cleared_area(lanes as usize * bytes);
        let n = self.clamped_count(count, lanes)?;
        let start = self.lea(mem);
        self.repeat(Arg::Reg(n, Size::B64), |s, i| {
            let word = s.load_element(s.element(Mem::at(Base::Reg(start)), i, bytes), bytes);
            s.store_element(s.element(area, i, bytes), word, bytes);
            Ok(())
        })?;
        Ok(area)
    }

    /// Element `i` behind an address.
    pub(super) fn element(&self, start: Mem, i: VReg, bytes: usize) -> Mem {
        Mem { index: Some((i, Size::B64)), scale: bytes as u8, ..start }
    }

    /// One element's bits in a general register, zero-extended.
    pub(super) fn load_element(&mut self, mem: Mem, bytes: usize) -> VReg {
        let word = self.b.gpr();
        let (isa, size) = match bytes {
            1 => (Isa::MovzxB, Size::B32),
            2 => (Isa::MovzxW, Size::B32),
            4 => (Isa::Mov32, Size::B32),
            _ => (Isa::Mov, Size::B64),
        };
        self.b.isa(isa, Width::X, &[Arg::Reg(word, size), Arg::Mem(mem)]);
        word
    }

    pub(super) fn store_element(&mut self, mem: Mem, word: VReg, bytes: usize) {
        let (isa, size) = match bytes {
            1 => (Isa::Mov8Store, Size::B8),
            2 => (Isa::Mov16Store, Size::B16),
            4 => (Isa::Mov32Store, Size::B32),
            _ => (Isa::MovStore, Size::B64),
        };
        self.b.isa(isa, Width::X, &[Arg::Mem(mem), Arg::Reg(word, size)]);
    }

    /// A frame area of at least `bytes` zeros.
    pub(super) fn cleared_area(&mut self, bytes: usize) -> Mem {
        let area = self.b.frame_area();
        let width = if bytes <= 16 { Width::X } else { Width::Y };
        let zero = self.zero(width);
        for start in (0..bytes).step_by(width.bytes()) {
            self.store_packed(area.plus(start as i32), zero, width.bytes());
        }
        area
    }

    pub(super) fn load_raw(&mut self, op: OpId, elem: Elem, lanes: u32, at: Address) -> Selected<()> {
        let dtype = match elem {
            Elem::F32 | Elem::I32 => DType::I32,
            Elem::F64 | Elem::I64 => DType::I64,
            Elem::I8 | Elem::I16 => return self.load_raw_small(op, elem, lanes, at),
        };
        self.load(op, dtype, lanes, at)
    }

    fn load_raw_small(&mut self, op: OpId, elem: Elem, lanes: u32, at: Address) -> Selected<()> {
        let mem = self.address(op)?;
        let (_, count) = self.memory_operands(op, at);
        let bytes = lanes as usize * elem.bytes();
        self.width(elem, lanes)?;
        let reg = match count {
            None => self.load_packed(mem, bytes),
            Some(count) => {
                let area = self.copied_first(mem, elem.bytes(), lanes, count)?;
                self.load_packed(area, bytes)
            }
        };
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn load_words(&mut self, op: OpId, lanes: u32) -> Selected<()> {
        let mem = self.address(op)?;
        let width = self.width(Elem::I32, lanes)?;
        // Memory forms read what fills a register.
        let words = match lanes {
            1 | 2 => {
                let packed = self.load_packed(mem, 2 * lanes as usize);
                self.v_sized(Isa::Vpmovsxbw, width, width, Width::X, packed)
            }
            _ => self.v_load(Isa::Vpmovsxbw, width, mem),
        };
        self.define(op, words);
        Ok(())
    }

    pub(super) fn load_splat(&mut self, op: OpId, dtype: DType, lanes: u32) -> Selected<()> {
        let mem = self.address(op)?;
        let width = self.width(Elem::of(dtype), lanes)?;
        let reg = match dtype.size() {
            4 => self.v_load(Isa::Vpbroadcastd, width, mem),
            8 => self.v_load(Isa::Vpbroadcastq, width, mem),
            bytes => {
                let packed = self.load_packed(mem, bytes);
                let one = self.widen(dtype, 1, Packed::Reg(packed))?;
                self.v_sized(Isa::Vpbroadcastd, width, width, Width::X, one)
            }
        };
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn store(&mut self, op: OpId, dtype: DType, at: Address) -> Selected<()> {
        let mem = self.address(op)?;
        let (rest, count) = self.memory_operands(op, at);
        let lanes = self.lanes(rest[0])?;
        let value = self.reg(rest[0])?;
        match count {
            None => self.store_all(dtype, lanes, mem, value),
            Some(count) => self.store_counted(dtype, lanes, mem, value, count),
        }
    }

    fn lanes(&self, value: Value) -> Selected<u32> {
        match self.func.ty(value) {
            CpuType::Vector { lanes, .. } => Ok(u32::from(*lanes)),
            _ => Err(self.internal(&format!("{value} is stored but no vector (value {})", value.index()))),
        }
    }

    fn store_all(&mut self, dtype: DType, lanes: u32, mem: Mem, value: VReg) -> Selected<()> {
        let bytes = dtype.size() * lanes as usize;
        if dtype.size() < 4 && lanes >= 4 && (self.tier == Tier::Avx512 || dtype == DType::F16) {
            return self.store_narrowing(dtype, lanes, mem, value, None);
        }
        let packed = self.narrow(dtype, lanes, value)?;
        self.store_packed(mem, packed, bytes);
        Ok(())
    }

    /// Instructions that narrow and store in one, under a mask if need be.
    fn store_narrowing(
        &mut self,
        dtype: DType,
        lanes: u32,
        mem: Mem,
        value: VReg,
        mask: Option<VReg>,
    ) -> Selected<()> {
        let width = self.width(Elem::of(dtype), lanes)?;
        let value = self.encode(dtype, width, value);
        let mut args = vec![Arg::Mem(mem), Arg::Reg(value, width.into())];
        let isa = match (dtype, dtype.size()) {
            (DType::F16, _) => {
                args.push(Arg::Imm(0));
                Isa::Vcvtps2ph
            }
            (_, 1) => Isa::Vpmovdb,
            (_, 2) => Isa::Vpmovdw,
            (_, 4) => Isa::VmovupsStore,
            _ => Isa::Vmovdqu64Store,
        };
        let inst = self.b.isa(isa, width, &args);
        // Memory is never zeroed by a mask.
        inst.mask = mask.map(|mask| (mask, Masking::Plain));
        Ok(())
    }

    fn store_counted(
        &mut self,
        dtype: DType,
        lanes: u32,
        mem: Mem,
        value: VReg,
        count: Value,
    ) -> Selected<()> {
        match (self.tier, dtype.size()) {
            (Tier::Avx512, _) => {
                let mask = self.count_mask(count, lanes)?;
                self.store_narrowing(dtype, lanes, mem, value, Some(mask))
            }
            (Tier::Avx2, bytes) if let Some(count) = self.immediate(count) => {
                let packed = self.narrow(dtype, lanes, value)?;
                self.store_few(mem, packed, bytes * count.clamp(0, i64::from(lanes)) as usize);
                Ok(())
            }
            (Tier::Avx2, bytes) if let Some(some) = self.all_or_none(count) => {
                let some = some.min(lanes.into()) as u32;
                let packed = self.narrow(dtype, lanes, value)?;
                let all = |s: &mut Self| {
                    s.store_few(mem, packed, bytes * some as usize);
                    Ok(())
                };
                self.where_full(count, some, all, |_| Ok(()))
            }
            (Tier::Avx2, bytes) => {
                let packed = self.narrow(dtype, lanes, value)?;
                let all = |s: &mut Self| {
                    s.store_packed(mem, packed, bytes * lanes as usize);
                    Ok(())
                };
                self.where_full(count, lanes, all, |s| s.store_some(dtype, lanes, mem, packed, count))
            }
        }
    }

    /// AVX2: the first lanes of packed elements, which are fewer than all. A store of a whole register under a mask takes 12
    /// cycles on a Zen 3 for 32-bit lanes and 6 for those of 64, whatever the mask.
    fn store_some(&mut self, dtype: DType, lanes: u32, mem: Mem, packed: VReg, count: Value) -> Selected<()> {
        let (isa, mask) = match dtype.size() {
            4 => (Isa::VpmaskmovdStore, self.count_mask(count, lanes)?),
            8 => (Isa::VpmaskmovqStore, self.wide_count_mask(count, lanes)?),
            bytes => {
                let area = self.b.frame_area();
                self.store_packed(area, packed, bytes * lanes as usize);
                let n = self.clamped_count(count, lanes)?;
                let start = self.lea(mem);
                return self.repeat(Arg::Reg(n, Size::B64), |s, i| {
                    let word = s.load_element(s.element(area, i, bytes), bytes);
                    s.store_element(s.element(Mem::at(Base::Reg(start)), i, bytes), word, bytes);
                    Ok(())
                });
            }
        };
        let width = self.width(Elem::of(dtype), lanes)?;
        let size = Size::from(width);
        self.b.isa(isa, width, &[Arg::Mem(mem), Arg::Reg(mask, size), Arg::Reg(packed, size)]);
        Ok(())
    }
}
