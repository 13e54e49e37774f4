//! Conversions between register elements.
//!
//! AVX2 has no conversion between 64-bit integers and floats: those go lane by lane through general registers.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Size, VReg};
use crate::schedule::Elem;
use crate::schedule::ops::ConvertOp;
use crate::tier::Tier;
use tegula_ir::OpId;

impl Select<'_> {
    pub(super) fn convert(&mut self, op: OpId, kind: ConvertOp, to: Elem) -> Selected<()> {
        let value = self.func.operand(op, 0);
        let (from, lanes, from_width) = self.shape(value)?;
        let to_width = self.width(to, lanes)?;
        let a = self.operand(op, 0)?;
        let widest = from_width.max(to_width);
        let one = |isa| Some((isa, widest));
        let instruction = match kind {
            ConvertOp::Bitcast => {
                self.define(op, a);
                return Ok(());
            }
            ConvertOp::RoundToF16 => {
                let half = self.narrow(tegula_base::DType::F16, lanes, a)?;
                let packed = super::storage::Packed::Reg(half);
                let reg = self.widen(tegula_base::DType::F16, lanes, packed)?;
                self.define(op, reg);
                return Ok(());
            }
            ConvertOp::RoundToBf16 => {
                let bits = self.round_to_bf16_bits(from_width, a);
                let upper = self.splat_i32(from_width, 0xffff_0000u32 as i32);
                let reg = self.vv(Isa::Vpand, from_width, bits, upper);
                self.define(op, reg);
                return Ok(());
            }
            ConvertOp::SignExtend => one(Isa::Vpmovsxdq),
            ConvertOp::ZeroExtend => one(Isa::Vpmovzxdq),
            ConvertOp::Truncate if self.tier == Tier::Avx512 => one(Isa::Vpmovqd),
            ConvertOp::Truncate => {
                let high = if lanes > 2 { self.upper128(a) } else { a };
                let reg = self.vvi(Isa::Vshufps, Width::X, a, high, 0x88);
                self.define(op, reg);
                return Ok(());
            }
            ConvertOp::Extend => one(Isa::Vcvtps2pd),
            ConvertOp::Round => one(Isa::Vcvtpd2ps),
            ConvertOp::IntToFloat => match (from, to) {
                (Elem::I32, Elem::F32) => one(Isa::Vcvtdq2ps),
                (Elem::I32, _) => one(Isa::Vcvtdq2pd),
                _ => self.wide_only(if to == Elem::F32 { Isa::Vcvtqq2ps } else { Isa::Vcvtqq2pd }, widest),
            },
            ConvertOp::UintToFloat => match (from, to) {
                (Elem::I32, Elem::F32) => self.wide_only(Isa::Vcvtudq2ps, widest),
                (Elem::I32, _) => self.wide_only(Isa::Vcvtudq2pd, widest),
                _ => self.wide_only(if to == Elem::F32 { Isa::Vcvtuqq2ps } else { Isa::Vcvtuqq2pd }, widest),
            },
            ConvertOp::FloatToInt => match (from, to) {
                (Elem::F32, Elem::I32) => one(Isa::Vcvttps2dq),
                (Elem::F64, Elem::I32) => one(Isa::Vcvttpd2dq),
                (Elem::F32, _) => self.wide_only(Isa::Vcvttps2qq, widest),
                _ => self.wide_only(Isa::Vcvttpd2qq, widest),
            },
            ConvertOp::FloatToIntNearest => match (from, to) {
                (Elem::F32, Elem::I32) => one(Isa::Vcvtps2dq),
                (Elem::F64, Elem::I32) => one(Isa::Vcvtpd2dq),
                (Elem::F32, _) => self.wide_only(Isa::Vcvtps2qq, widest),
                _ => self.wide_only(Isa::Vcvtpd2qq, widest),
            },
        };
        let reg = match (instruction, kind) {
            (Some((isa, width)), _) => self.v_sized(isa, width, to_width, from_width, a),
            (None, ConvertOp::UintToFloat) if from == Elem::I32 => {
                self.float_of_u32(to, from_width, to_width, a)
            }
            (None, ConvertOp::IntToFloat) => self.float_of_i64(to, lanes, to_width, a),
            (None, ConvertOp::UintToFloat) => self.float_of_u64(to, lanes, from_width, to_width, a),
            (None, _) => self.i64_of_float(kind, from, lanes, to_width, a),
        };
        self.define(op, reg);
        Ok(())
    }

    /// An instruction that only AVX-512 has.
    fn wide_only(&self, isa: Isa, width: Width) -> Option<(Isa, Width)> {
        (self.tier == Tier::Avx512).then_some((isa, width))
    }

    /// AVX2. To f64: the bits become the mantissa of 2^52 + x, from which 2^52 is taken, exactly.
    /// To f32: halves of 16 bits, joined by one rounding.
    fn float_of_u32(&mut self, to: Elem, from_width: Width, to_width: Width, a: VReg) -> VReg {
        if to == Elem::F64 {
            let wide = self.v_sized(Isa::Vpmovzxdq, to_width, to_width, from_width, a);
            let two52 = self.splat_i64(to_width, 0x4330_0000_0000_0000);
            let sum = self.vv(Isa::Vpor, to_width, wide, two52);
            return self.vv(Isa::Vsubpd, to_width, sum, two52);
        }
        let low_mask = self.splat_i32(to_width, 0xffff);
        let low = self.vv(Isa::Vpand, to_width, a, low_mask);
        let low = self.v(Isa::Vcvtdq2ps, to_width, low);
        let high = self.vi(Isa::Vpsrld, to_width, a, 16);
        let high = self.v(Isa::Vcvtdq2ps, to_width, high);
        let scale = self.splat_i32(to_width, 65536f32.to_bits() as i32);
        let sum = self.b.copy(high);
        let args = [sum, scale, low].map(|reg| Arg::Reg(reg, to_width.into()));
        self.b.isa(Isa::Vfmadd213ps, to_width, &args);
        sum
    }

    /// AVX2, lane by lane.
    fn float_of_i64(&mut self, to: Elem, lanes: u32, to_width: Width, a: VReg) -> VReg {
        let mut parts = Vec::with_capacity(lanes as usize);
        for lane in 0..lanes {
            let word = self.extract_word(Elem::I64, a, lane);
            parts.push(self.float_of_index(word, to == Elem::F64));
        }
        self.join_lanes(to, to_width, &parts)
    }

    /// AVX2. Values from 2^63 on are halved (the lost bit kept sticky), converted and doubled.
    fn float_of_u64(&mut self, to: Elem, lanes: u32, from_width: Width, to_width: Width, a: VReg) -> VReg {
        let one = self.splat_i64(from_width, 1);
        let half = self.vi(Isa::Vpsrlq, from_width, a, 1);
        let odd = self.vv(Isa::Vpand, from_width, a, one);
        let half = self.vv(Isa::Vpor, from_width, half, odd);
        let small = self.blend_by(Isa::Vblendvpd, from_width, a, half, a);
        let value = self.float_of_i64(to, lanes, to_width, small);
        if to == Elem::F64 {
            let double = self.vv(Isa::Vaddpd, to_width, value, value);
            return self.blend_by(Isa::Vblendvpd, to_width, a, double, value);
        }
        // The signs in 32-bit lanes.
        let high = if lanes > 2 { self.upper128(a) } else { a };
        let signs = self.vvi(Isa::Vshufps, Width::X, a, high, 0xdd);
        let double = self.vv(Isa::Vaddps, to_width, value, value);
        self.blend_by(Isa::Vblendvps, to_width, signs, double, value)
    }

    /// AVX2, lane by lane.
    fn i64_of_float(&mut self, kind: ConvertOp, from: Elem, lanes: u32, to_width: Width, a: VReg) -> VReg {
        let truncate = kind == ConvertOp::FloatToInt;
        let isa = match (from, truncate) {
            (Elem::F32, true) => Isa::Vcvttss2si,
            (Elem::F32, false) => Isa::Vcvtss2si,
            (_, true) => Isa::Vcvttsd2si,
            (_, false) => Isa::Vcvtsd2si,
        };
        let mut parts = Vec::with_capacity(lanes as usize);
        for lane in 0..lanes {
            let one = self.lane_to_front(from, a, lane);
            let word = self.b.gpr();
            self.b.isa(isa, Width::X, &[Arg::Reg(word, Size::B64), Arg::Reg(one, Size::X)]);
            let part = self.b.vec(Width::X);
            self.b.isa(Isa::VmovqFromG, Width::X, &[Arg::Reg(part, Size::X), Arg::Reg(word, Size::B64)]);
            parts.push(part);
        }
        self.join_lanes(Elem::I64, to_width, &parts)
    }

    /// Up to four lanes, each in lane 0 of a register, as one vector.
    fn join_lanes(&mut self, elem: Elem, width: Width, parts: &[VReg]) -> VReg {
        let join = if elem.bytes() == 8 { Isa::Vpunpcklqdq } else { Isa::Vpunpckldq };
        let pair = |s: &mut Self, i: usize| match (parts.get(i), parts.get(i + 1)) {
            (Some(a), Some(b)) => Some(s.vv(join, Width::X, *a, *b)),
            (a, _) => a.copied(),
        };
        match (pair(self, 0), pair(self, 2)) {
            (Some(low), Some(high)) if elem.bytes() == 8 => self.join_halves(width, low, high),
            (Some(low), Some(high)) => self.vv(Isa::Vpunpcklqdq, Width::X, low, high),
            (Some(low), None) => low,
            _ => self.zero(width),
        }
    }
}
