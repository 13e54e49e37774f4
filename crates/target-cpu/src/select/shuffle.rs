//! Moving lanes: extraction, reduction over lanes, shuffles.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Size, VReg};
use crate::schedule::Elem;
use crate::schedule::ops::{ReduceOp, VecOp};
use crate::tier::Tier;
use tegula_ir::OpId;

impl Select<'_> {
    pub(super) fn extract(&mut self, op: OpId, lane: u32) -> Selected<()> {
        let (elem, _, _) = self.shape(self.func.operand(op, 0))?;
        let a = self.operand(op, 0)?;
        let word = self.extract_word(elem, a, lane);
        let (isa, size) = match elem {
            Elem::I8 => (Isa::MovsxB, Size::B8),
            Elem::I16 => (Isa::MovsxW, Size::B16),
            Elem::I32 => (Isa::Movsxd, Size::B32),
            Elem::I64 | Elem::F32 | Elem::F64 => {
                self.define(op, word);
                return Ok(());
            }
        };
        let wide = self.b.gpr();
        self.g(isa, wide, Arg::Reg(word, size));
        self.define(op, wide);
        Ok(())
    }

    /// A lane's bits in a general register, zero-extended.
    pub(super) fn extract_word(&mut self, elem: Elem, a: VReg, lane: u32) -> VReg {
        let per_chunk = (16 / elem.bytes()) as u32;
        let chunk = self.chunk128(a, lane / per_chunk);
        let at = i64::from(lane % per_chunk);
        let word = self.b.gpr();
        let (isa, size) = match (elem.bytes(), at) {
            (8, 0) => (Isa::VmovqToG, Size::B64),
            (8, _) => (Isa::Vpextrq, Size::B64),
            (4, 0) => (Isa::VmovdToG, Size::B32),
            (4, _) => (Isa::Vpextrd, Size::B32),
            (2, _) => (Isa::Vpextrw, Size::B32),
            _ => (Isa::Vpextrb, Size::B32),
        };
        let mut args = vec![Arg::Reg(word, size), Arg::Reg(chunk, Size::X)];
        if !matches!(isa, Isa::VmovqToG | Isa::VmovdToG) {
            args.push(Arg::Imm(at));
        }
        self.b.isa(isa, Width::X, &args);
        word
    }

    /// A lane moved to lane 0 of a vector register.
    pub(super) fn lane_to_front(&mut self, elem: Elem, a: VReg, lane: u32) -> VReg {
        let per_chunk = (16 / elem.bytes()) as u32;
        let chunk = self.chunk128(a, lane / per_chunk);
        match (elem.bytes(), lane % per_chunk) {
            (_, 0) => chunk,
            (8, _) => self.vi(Isa::Vpshufd, Width::X, chunk, 0xee),
            (_, at) => self.vi(Isa::Vpshufd, Width::X, chunk, i64::from(at)),
        }
    }

    /// 128 bits of a register, counted from the low end.
    fn chunk128(&mut self, a: VReg, chunk: u32) -> VReg {
        if chunk == 0 {
            return a;
        }
        let (width, size) = match self.b.mir.vregs[a.0 as usize].size {
            Size::Z => (Width::Z, Size::Z),
            _ => (Width::Y, Size::Y),
        };
        let reg = self.b.vec(Width::X);
        let args = [Arg::Reg(reg, Size::X), Arg::Reg(a, size), Arg::Imm(i64::from(chunk))];
        self.b.isa(Isa::Vextract128, width, &args);
        reg
    }

    pub(super) fn upper256(&mut self, a: VReg) -> VReg {
        let reg = self.b.vec(Width::Y);
        self.b.isa(Isa::Vextract256, Width::Z, &[Arg::Reg(reg, Size::Y), Arg::Reg(a, Size::Z), Arg::Imm(1)]);
        reg
    }

    /// Two registers as the halves of one of width `Y` or `Z`.
    pub(super) fn join_halves(&mut self, width: Width, low: VReg, high: VReg) -> VReg {
        let (isa, half) = match width {
            Width::Z => (Isa::Vinsert256, Size::Y),
            _ => (Isa::Vinsert128, Size::X),
        };
        let (reg, size) = (self.b.vec(width), Size::from(width));
        self.b.isa(
            isa,
            width,
            &[Arg::Reg(reg, size), Arg::Reg(low, size), Arg::Reg(high, half), Arg::Imm(1)],
        );
        reg
    }

    /// Halves are combined until one lane is left, which is then repeated.
    pub(super) fn reduce(&mut self, op: OpId, kind: ReduceOp) -> Selected<()> {
        let (elem, lanes, width) = self.shape(self.func.result(op))?;
        if elem.bytes() < 4 {
            return Err(self.internal(&format!("reducing {} lanes", elem.name())));
        }
        let kind = match kind {
            ReduceOp::Add => VecOp::Add,
            ReduceOp::Mul => VecOp::Mul,
            ReduceOp::Min => VecOp::Min,
            ReduceOp::Max => VecOp::Max,
            ReduceOp::MinU => VecOp::MinU,
            ReduceOp::MaxU => VecOp::MaxU,
            ReduceOp::And => VecOp::And,
            ReduceOp::Or => VecOp::Or,
            ReduceOp::Xor => VecOp::Xor,
        };
        let mut low = self.operand(op, 0)?;
        let mut half = lanes as usize * elem.bytes() / 2;
        while half >= elem.bytes() {
            let high = match half {
                32 => self.upper256(low),
                16 => self.upper128(low),
                8 => self.vi(Isa::Vpshufd, Width::X, low, 0x4e),
                _ => self.vi(Isa::Vpshufd, Width::X, low, 0xb1),
            };
            let half_width = if half == 32 { Width::Y } else { Width::X };
            low = self.binary(kind, elem, half_width, low, high)?;
            half /= 2;
        }
        let isa = if elem.bytes() == 8 { Isa::Vpbroadcastq } else { Isa::Vpbroadcastd };
        let reg = self.v_sized(isa, width, width, Width::X, low);
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn shuffle(&mut self, op: OpId, lanes: &[u32]) -> Selected<()> {
        let (elem, n, source) = self.shape(self.func.operand(op, 0))?;
        let result = self.width(elem, lanes.len() as u32)?;
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let reg = if elem.bytes() < 4 {
            self.shuffle_through_frame(elem, n, lanes, [a, b], result)
        } else {
            // In words of 4 bytes; the second operand's start at `n`.
            let per = elem.bytes() as u32 / 4;
            let n = n * per;
            let mut words: Vec<u32> = lanes.iter().flat_map(|l| (0..per).map(move |i| l * per + i)).collect();
            if a == b {
                words.iter_mut().for_each(|w| *w %= n);
            }
            self.shuffle_words(&words, n, [a, b], source, result)
        };
        self.define(op, reg);
        Ok(())
    }

    fn shuffle_words(
        &mut self,
        words: &[u32],
        n: u32,
        [a, b]: [VReg; 2],
        source: Width,
        result: Width,
    ) -> VReg {
        if words.iter().all(|w| *w >= n) {
            let words: Vec<u32> = words.iter().map(|w| w - n).collect();
            return self.shuffle_words(&words, u32::MAX, [b, b], source, result);
        }
        let single = words.iter().all(|w| *w < n);
        if let Some(reg) = self.take_chunk(words, n, [a, b], source, result) {
            return reg;
        }
        let whole = n == source.bytes() as u32 / 4;
        if source == result
            && (whole || single)
            && let Some(reg) =
                self.shuffle_within_chunks(words, if single { u32::MAX } else { n }, [a, b], source)
        {
            return reg;
        }
        let width = source.max(result);
        match self.tier {
            Tier::Avx512 if single && width > Width::X => {
                let indices = self.word_constant(width, words);
                self.vv(Isa::Vpermd, width, indices, a)
            }
            Tier::Avx512 => {
                let in_register = width.bytes() as u32 / 4;
                let words: Vec<u32> =
                    words.iter().map(|w| if *w < n { *w } else { in_register + w - n }).collect();
                let indices = self.word_constant(width, &words);
                let dst = self.b.copy(indices);
                let args = [dst, a, b].map(|reg| Arg::Reg(reg, width.into()));
                self.b.isa(Isa::Vpermi2d, width, &args);
                dst
            }
            Tier::Avx2 => {
                let from_a: Vec<u32> = words.iter().map(|w| if *w < n { *w } else { 0 }).collect();
                let first = self.permute_words(&from_a, a);
                if single {
                    return first;
                }
                let from_b: Vec<u32> = words.iter().map(|w| w.checked_sub(n).unwrap_or(0)).collect();
                let second = self.permute_words(&from_b, b);
                let pick = words.iter().enumerate().filter(|(_, w)| **w >= n).map(|(i, _)| 1 << i).sum();
                self.vvi(Isa::Vpblendd, Width::Y, first, second, pick)
            }
        }
    }

    /// AVX2: any word to any place of a 256-bit register.
    fn permute_words(&mut self, words: &[u32], a: VReg) -> VReg {
        let indices = self.word_constant(Width::Y, words);
        self.vv(Isa::Vpermd, Width::Y, indices, a)
    }

    fn word_constant(&mut self, width: Width, words: &[u32]) -> VReg {
        self.vector_constant(width, words.iter().flat_map(|w| w.to_le_bytes()).collect())
    }

    /// Runs of words that are whole registers or aligned parts of one.
    fn take_chunk(
        &mut self,
        words: &[u32],
        n: u32,
        [a, b]: [VReg; 2],
        source: Width,
        result: Width,
    ) -> Option<VReg> {
        let run = words.windows(2).all(|w| w[1] == w[0] + 1);
        let first = *words.first()?;
        if run && first == 0 && words.last().is_some_and(|w| *w < n) {
            return Some(a);
        }
        let single = words.last().is_some_and(|w| *w < n);
        if run && single && first % 4 == 0 && result == Width::X {
            return Some(self.chunk128(a, first / 4));
        }
        if run && single && first == 8 && result == Width::Y && source == Width::Z {
            return Some(self.upper256(a));
        }
        let whole = n == source.bytes() as u32 / 4;
        if run && first == 0 && whole && words.len() as u32 == 2 * n {
            return (result > Width::X).then(|| self.join_halves(result, a, b));
        }
        None
    }

    /// Shuffles that do the same in each 128-bit chunk, or move whole chunks. Whole registers only.
    fn shuffle_within_chunks(
        &mut self,
        words: &[u32],
        n: u32,
        [a, b]: [VReg; 2],
        width: Width,
    ) -> Option<VReg> {
        // Word `w` as (operand, chunk, place).
        let parts: Vec<(u32, u32, u32)> = words
            .iter()
            .map(|&w| if w < n { (0, w / 4, w % 4) } else { (1, (w - n) / 4, (w - n) % 4) })
            .collect();
        if !parts.len().is_multiple_of(4) {
            return None;
        }
        let in_place = parts.iter().enumerate().all(|(i, part)| part.1 == i as u32 / 4);
        let pattern: Vec<(u32, u32)> = parts[..4].iter().map(|part| (part.0, part.2)).collect();
        let same = parts.iter().enumerate().all(|(i, part)| (part.0, part.2) == pattern[i % 4]);
        let places = pattern.iter().enumerate().map(|(i, part)| i64::from(part.1) << (2 * i)).sum();
        if in_place && same {
            return match *pattern {
                [(0, _), (0, _), (0, _), (0, _)] => Some(self.vi(Isa::Vpshufd, width, a, places)),
                [(0, 0), (1, 0), (0, 1), (1, 1)] => Some(self.vv(Isa::Vpunpckldq, width, a, b)),
                [(0, 2), (1, 2), (0, 3), (1, 3)] => Some(self.vv(Isa::Vpunpckhdq, width, a, b)),
                [(0, _), (0, _), (1, _), (1, _)] => Some(self.vvi(Isa::Vshufps, width, a, b, places)),
                [(1, _), (1, _), (0, _), (0, _)] => Some(self.vvi(Isa::Vshufps, width, b, a, places)),
                _ => None,
            };
        }
        let whole = parts.iter().enumerate().all(|(i, part)| {
            part.2 == i as u32 % 4
                && *part == {
                    let first = parts[i / 4 * 4];
                    (first.0, first.1, part.2)
                }
        });
        if whole && width == Width::Y && self.tier == Tier::Avx2 {
            let half = |i: usize| i64::from(2 * parts[i].0 + parts[i].1);
            return Some(self.vvi(Isa::Vperm2f128, width, a, b, half(0) | half(4) << 4));
        }
        None
    }

    /// Bytes and half words: lane by lane.
    fn shuffle_through_frame(
        &mut self,
        elem: Elem,
        n: u32,
        lanes: &[u32],
        regs: [VReg; 2],
        result: Width,
    ) -> VReg {
        let bytes = elem.bytes();
        let (from, to) = (regs.map(|_| self.b.frame_area()), self.b.frame_area());
        for (area, reg) in from.into_iter().zip(regs) {
            self.store_packed(area, reg, (n as usize * bytes).next_power_of_two());
        }
        for (i, lane) in lanes.iter().enumerate() {
            let area = from[usize::from(*lane >= n)];
            let word = self.load_element(area.plus((lane % n) as i32 * bytes as i32), bytes);
            self.store_element(to.plus((i * bytes) as i32), word, bytes);
        }
        self.v_load(Isa::VmovupsLoad, result, to)
    }
}
