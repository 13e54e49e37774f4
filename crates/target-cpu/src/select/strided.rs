//! Elements that do not lie side by side: strided access, gathers, scatters.

use super::storage::Packed;
use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Masking, Mem, Size, VReg};
use crate::schedule::Elem;
use crate::schedule::ops::Address;
use crate::tier::Tier;
use tegula_base::DType;
use tegula_ir::{OpId, Value};

/// The distance between elements, in bytes.
#[derive(Clone, Copy)]
enum Stride {
    Constant(i32),
    Reg(VReg),
}

impl Select<'_> {
    fn stride(&mut self, value: Value, lanes: u32) -> Selected<Stride> {
        let small = self
            .immediate(value)
            .and_then(|c| i32::try_from(c.checked_mul(i64::from(lanes))?).ok().map(|_| c));
        Ok(match small {
            Some(c) => Stride::Constant(c as i32),
            None => Stride::Reg(self.reg(value)?),
        })
    }

    /// The addresses of all elements; a pointer steps once every four.
    fn strided_elements(&mut self, start: Mem, stride: Stride, lanes: u32) -> Vec<Mem> {
        let mut pointer = self.lea(start);
        let at = |base: VReg| Mem::at(Base::Reg(base));
        match stride {
            Stride::Constant(c) => (0..lanes as i32).map(|i| Mem { disp: i * c, ..at(pointer) }).collect(),
            Stride::Reg(step) => {
                let index = Some((step, Size::B64));
                let triple = self.lea(Mem { index, scale: 2, ..at(step) });
                let mut elements = Vec::with_capacity(lanes as usize);
                for i in 0..lanes {
                    if i > 0 && i % 4 == 0 {
                        pointer = self.lea(Mem { index, scale: 4, ..at(pointer) });
                    }
                    elements.push(match i % 4 {
                        0 => at(pointer),
                        3 => Mem { index: Some((triple, Size::B64)), ..at(pointer) },
                        k => Mem { index, scale: k as u8, ..at(pointer) },
                    });
                }
                elements
            }
        }
    }

    pub(super) fn load_strided(&mut self, op: OpId, dtype: DType, lanes: u32, at: Address) -> Selected<()> {
        let start = self.address(op)?;
        let (rest, count) = self.memory_operands(op, at);
        let stride = self.stride(rest[0], lanes)?;
        let bytes = dtype.size();
        let packed = match count {
            None => {
                let elements = self.strided_elements(start, stride, lanes);
                Packed::Reg(self.collect(&elements, bytes))
            }
            Some(count) => {
                let area = self.cleared_area(lanes as usize * bytes);
                let n = self.clamped_count(count, lanes)?;
                let pointer = self.lea(start);
                self.repeat(Arg::Reg(n, Size::B64), |s, i| {
                    let word = s.load_element(Mem::at(Base::Reg(pointer)), bytes);
                    s.store_element(s.element(area, i, bytes), word, bytes);
                    s.step(pointer, stride);
                    Ok(())
                })?;
                Packed::Mem(area)
            }
        };
        let reg = self.widen(dtype, lanes, packed)?;
        self.define(op, reg);
        Ok(())
    }

    fn step(&mut self, pointer: VReg, stride: Stride) {
        let by = match stride {
            Stride::Constant(c) => Arg::Imm(i64::from(c)),
            Stride::Reg(reg) => Arg::Reg(reg, Size::B64),
        };
        self.g(Isa::Add, pointer, by);
    }

    /// Elements at any addresses, packed into one register.
    fn collect(&mut self, elements: &[Mem], bytes: usize) -> VReg {
        let chunks: Vec<VReg> =
            elements.chunks(16 / bytes).map(|part| self.collect_chunk(part, bytes)).collect();
        let pairs: Vec<VReg> = chunks
            .chunks(2)
            .map(|pair| match *pair {
                [low, high] => self.join_halves(Width::Y, low, high),
                _ => pair[0],
            })
            .collect();
        match pairs[..] {
            [low, high] => self.join_halves(Width::Z, low, high),
            _ => pairs[0],
        }
    }

    fn collect_chunk(&mut self, elements: &[Mem], bytes: usize) -> VReg {
        let first = self.load_packed(elements[0], bytes);
        let rest = elements.iter().enumerate().skip(1);
        rest.fold(first, |reg, (i, element)| self.with_element(reg, *element, bytes, i))
    }

    pub(super) fn store_strided(&mut self, op: OpId, dtype: DType, at: Address) -> Selected<()> {
        let start = self.address(op)?;
        let (rest, count) = self.memory_operands(op, at);
        let (_, lanes, _) = self.shape(rest[0])?;
        let stride = self.stride(rest[1], lanes)?;
        let area = self.packed_in_frame(rest[0], dtype)?;
        let bytes = dtype.size();
        match count {
            None => {
                for (i, element) in self.strided_elements(start, stride, lanes).into_iter().enumerate() {
                    let word = self.load_element(area.plus((i * bytes) as i32), bytes);
                    self.store_element(element, word, bytes);
                }
                Ok(())
            }
            Some(count) => {
                let n = self.clamped_count(count, lanes)?;
                let pointer = self.lea(start);
                self.repeat(Arg::Reg(n, Size::B64), |s, i| {
                    let word = s.load_element(s.element(area, i, bytes), bytes);
                    s.store_element(Mem::at(Base::Reg(pointer)), word, bytes);
                    s.step(pointer, stride);
                    Ok(())
                })
            }
        }
    }

    /// A value narrowed to its storage type, in the frame.
    fn packed_in_frame(&mut self, value: Value, dtype: DType) -> Selected<Mem> {
        let (_, lanes, _) = self.shape(value)?;
        let reg = self.reg(value)?;
        let packed = self.narrow(dtype, lanes, reg)?;
        let area = self.b.frame_area();
        self.store_packed(area, packed, lanes as usize * dtype.size());
        Ok(area)
    }

    pub(super) fn gather(&mut self, op: OpId, dtype: DType, lanes: u32, at: Address) -> Selected<()> {
        let start = self.address(op)?;
        let (rest, count) = self.memory_operands(op, at);
        let (offset_elem, _, offset_width) = self.shape(rest[0])?;
        if dtype.size() < 4 {
            return self.gather_small(op, dtype, lanes, at);
        }
        let width = self.width(Elem::of(dtype), lanes)?;
        let offsets = self.reg(rest[0])?;
        let scale = at.scale as u8;
        let mem = Mem { index: Some((offsets, offset_width.into())), scale, ..start };
        let (plain, masked) = match (offset_elem.bytes(), dtype.size()) {
            (4, 4) => (Isa::Vpgatherdd, Isa::VpgatherddK),
            (4, _) => (Isa::Vpgatherdq, Isa::VpgatherdqK),
            (_, 4) => (Isa::Vpgatherqd, Isa::VpgatherqdK),
            _ => (Isa::Vpgatherqq, Isa::VpgatherqqK),
        };
        let widest = width.max(offset_width);
        // Gathers use up their mask.
        let reg = self.zero(width);
        match self.tier {
            Tier::Avx512 => {
                let mask = match count {
                    Some(count) => self.count_mask(count, lanes)?,
                    None => self.first_lanes(lanes, lanes)?,
                };
                let mask = self.b.copy(mask);
                let inst = self.b.isa(masked, widest, &[Arg::Reg(reg, width.into()), Arg::Mem(mem)]);
                inst.mask = Some((mask, Masking::Merge));
            }
            Tier::Avx2 => {
                let mask = match (count, dtype.size()) {
                    (Some(count), 4) => self.count_mask(count, lanes)?,
                    (Some(count), _) => self.wide_count_mask(count, lanes)?,
                    (None, bytes) => {
                        let on = vec![0xff; lanes as usize * bytes];
                        self.vector_constant(width, on)
                    }
                };
                let mask = self.b.copy(mask);
                let size = Size::from(width);
                self.b.isa(plain, widest, &[Arg::Reg(reg, size), Arg::Mem(mem), Arg::Reg(mask, size)]);
            }
        }
        self.define(op, reg);
        Ok(())
    }

    fn gather_small(&mut self, op: OpId, dtype: DType, lanes: u32, at: Address) -> Selected<()> {
        let bytes = dtype.size();
        let area = self.cleared_area(lanes as usize * bytes);
        let (rest, _) = self.memory_operands(op, at);
        self.each_offset(op, rest[0], lanes, at, |s, element, i| {
            let word = s.load_element(element, bytes);
            s.store_element(s.element(area, i, bytes), word, bytes);
        })?;
        let reg = self.widen(dtype, lanes, Packed::Mem(area))?;
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn scatter(&mut self, op: OpId, dtype: DType, at: Address) -> Selected<()> {
        let (rest, _) = self.memory_operands(op, at);
        let (_, lanes, _) = self.shape(rest[0])?;
        let bytes = dtype.size();
        let area = self.packed_in_frame(rest[0], dtype)?;
        self.each_offset(op, rest[1], lanes, at, |s, element, i| {
            let word = s.load_element(s.element(area, i, bytes), bytes);
            s.store_element(element, word, bytes);
        })
    }

    /// Runs `body(address of element, lane)` for each active lane in order.
    fn each_offset(
        &mut self,
        op: OpId,
        offsets: Value,
        lanes: u32,
        at: Address,
        body: impl FnOnce(&mut Self, Mem, VReg),
    ) -> Selected<()> {
        let start = self.address(op)?;
        let (_, count) = self.memory_operands(op, at);
        let (elem, _, width) = self.shape(offsets)?;
        let reg = self.reg(offsets)?;
        let area = self.b.frame_area();
        self.store_packed(area, reg, width.bytes());
        let n = match count {
            Some(count) => Arg::Reg(self.clamped_count(count, lanes)?, Size::B64),
            None => Arg::Imm(i64::from(lanes)),
        };
        self.repeat(n, |s, i| {
            let from = s.element(area, i, elem.bytes());
            let offset = s.b.gpr();
            let isa = if elem.bytes() == 4 { Isa::Movsxd } else { Isa::Mov };
            s.g(isa, offset, Arg::Mem(from));
            let element = Mem { index: Some((offset, Size::B64)), scale: at.scale as u8, ..start };
            body(s, element, i);
            Ok(())
        })
    }
}
