//! Comparisons, masks, selection and splats.

use super::made::Made;
use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Masking, Size, VReg};
use crate::schedule::Elem;
use crate::schedule::ops::{CompareOp, VecOp};
use crate::tier::Tier;
use tegula_ir::{OpId, Value};

impl Select<'_> {
    pub(super) fn compare(&mut self, op: OpId, kind: CompareOp) -> Selected<()> {
        let func = self.func;
        let (elem, lanes, width) = self.shape(func.operand(op, 0))?;
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        if elem.bytes() < 4 {
            return Err(self.internal(&format!("comparing {} lanes", elem.name())));
        }
        let mask = match self.tier {
            Tier::Avx512 => self.compare_to_mask(kind, elem, width, a, b),
            Tier::Avx2 => {
                let full = self.compare_lanes(kind, elem, width, a, b);
                if elem.bytes() == 8 {
                    self.made.add(Made::WideMask(func.result(op)), full);
                    self.narrow_mask(width, full, lanes)
                } else {
                    full
                }
            }
        };
        self.define(op, mask);
        Ok(())
    }

    fn compare_to_mask(&mut self, kind: CompareOp, elem: Elem, width: Width, a: VReg, b: VReg) -> VReg {
        let unsigned = matches!(kind, CompareOp::LtU | CompareOp::LeU);
        let isa = match (elem, unsigned) {
            (Elem::F32, _) => Isa::VcmppsK,
            (Elem::F64, _) => Isa::VcmppdK,
            (Elem::I64, false) => Isa::VpcmpqK,
            (Elem::I64, true) => Isa::VpcmpuqK,
            (_, false) => Isa::VpcmpdK,
            (_, true) => Isa::VpcmpudK,
        };
        let (mask, size) = (self.b.mask(), Size::from(width));
        let predicate = predicate(kind, elem.is_float());
        let args = [Arg::Reg(mask, Size::K), Arg::Reg(a, size), Arg::Reg(b, size), Arg::Imm(predicate)];
        self.b.isa(isa, width, &args);
        mask
    }

    /// AVX2: all ones or zeros in lanes of the operands' width.
    fn compare_lanes(&mut self, kind: CompareOp, elem: Elem, width: Width, a: VReg, b: VReg) -> VReg {
        if elem.is_float() {
            let isa = if elem == Elem::F32 { Isa::Vcmpps } else { Isa::Vcmppd };
            return self.vvi(isa, width, a, b, predicate(kind, true));
        }
        let wide = elem == Elem::I64;
        let (eq, gt) = if wide { (Isa::Vpcmpeqq, Isa::Vpcmpgtq) } else { (Isa::Vpcmpeqd, Isa::Vpcmpgtd) };
        let (mut a, mut b) = (a, b);
        if matches!(kind, CompareOp::LtU | CompareOp::LeU) {
            let sign = if wide { self.splat_i64(width, i64::MIN) } else { self.splat_i32(width, i32::MIN) };
            a = self.vv(Isa::Vpxor, width, a, sign);
            b = self.vv(Isa::Vpxor, width, b, sign);
        }
        let ones = self.splat_i32(width, -1);
        match kind {
            CompareOp::Eq => self.vv(eq, width, a, b),
            CompareOp::Ne => {
                let equal = self.vv(eq, width, a, b);
                self.vv(Isa::Vpxor, width, equal, ones)
            }
            CompareOp::Lt | CompareOp::LtU => self.vv(gt, width, b, a),
            CompareOp::Le | CompareOp::LeU => {
                let greater = self.vv(gt, width, a, b);
                self.vv(Isa::Vpxor, width, greater, ones)
            }
        }
    }

    /// AVX2: 64-bit lanes of a mask to 32-bit ones.
    fn narrow_mask(&mut self, width: Width, full: VReg, lanes: u32) -> VReg {
        let high = if lanes > 2 { self.upper128(full) } else { full };
        debug_assert!(lanes <= 2 || width == Width::Y);
        self.vvi(Isa::Vshufps, Width::X, full, high, 0x88)
    }

    /// AVX2: a mask value in lanes of 64 bits.
    pub(super) fn wide_mask(&mut self, value: Value, width: Width) -> Selected<VReg> {
        self.made(Made::WideMask(value), |s| {
            let mask = s.reg(value)?;
            Ok(s.v_sized(Isa::Vpmovsxdq, width, width, Width::X, mask))
        })
    }

    pub(super) fn select_lanes(&mut self, op: OpId) -> Selected<()> {
        let func = self.func;
        let (mask_value, result) = (func.operand(op, 0), func.result(op));
        let (elem, _, width) = self.shape(result)?;
        let (a, b) = (self.operand(op, 1)?, self.operand(op, 2)?);
        let reg = match self.tier {
            _ if elem.bytes() < 4 => return Err(self.internal(&format!("selecting {} lanes", elem.name()))),
            Tier::Avx512 => {
                let mask = self.reg(mask_value)?;
                if self.is_mask(result) {
                    let yes = self.kk(Isa::Kand, mask, a);
                    let no = self.kk(Isa::Kandn, mask, b);
                    self.kk(Isa::Kor, yes, no)
                } else {
                    let isa = if elem.bytes() == 8 { Isa::Vpblendmq } else { Isa::Vpblendmd };
                    self.blend_under(isa, width, mask, a, b)
                }
            }
            Tier::Avx2 if elem.bytes() == 8 => {
                let mask = self.wide_mask(mask_value, width)?;
                self.blend_by(Isa::Vblendvpd, width, mask, a, b)
            }
            Tier::Avx2 => {
                let mask = self.reg(mask_value)?;
                self.blend_by(Isa::Vblendvps, width, mask, a, b)
            }
        };
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn mask_op(&mut self, op: OpId, kind: VecOp) -> Selected<()> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (k, v) = match kind {
            VecOp::And => (Isa::Kand, Isa::Vpand),
            VecOp::Or => (Isa::Kor, Isa::Vpor),
            VecOp::Xor => (Isa::Kxor, Isa::Vpxor),
            VecOp::AndNot => (Isa::Kandn, Isa::Vpandn),
            _ => return Err(self.internal(&format!("`{}` of masks", kind.name()))),
        };
        let reg = match self.tier {
            Tier::Avx512 => self.kk(k, a, b),
            Tier::Avx2 => {
                let (_, _, width) = self.shape(self.func.result(op))?;
                self.vv(v, width, a, b)
            }
        };
        self.define(op, reg);
        Ok(())
    }

    fn kk(&mut self, isa: Isa, a: VReg, b: VReg) -> VReg {
        let mask = self.b.mask();
        self.b.isa(isa, Width::X, &[mask, a, b].map(|reg| Arg::Reg(reg, Size::K)));
        mask
    }

    pub(super) fn mask_to_vec(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        let mask = self.operand(op, 0)?;
        let ones = match self.tier {
            Tier::Avx512 => {
                let reg = self.b.vec(width);
                self.b.isa(Isa::Vpmovm2d, width, &[Arg::Reg(reg, width.into()), Arg::Reg(mask, Size::K)]);
                reg
            }
            Tier::Avx2 => mask,
        };
        let reg = self.vi(Isa::Vpsrld, width, ones, 31);
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn splat(&mut self, op: OpId, elem: Elem, lanes: u32) -> Selected<()> {
        let width = self.width(elem, lanes)?;
        let index = self.operand(op, 0)?;
        let reg = match elem {
            Elem::F32 | Elem::F64 => {
                let double = elem == Elem::F64;
                let one = self.float_of_index(index, double);
                let isa = if double { Isa::Vpbroadcastq } else { Isa::Vpbroadcastd };
                self.v_sized(isa, width, width, Width::X, one)
            }
            _ => self.splat_gpr(elem, width, index),
        };
        self.define(op, reg);
        Ok(())
    }

    /// A 64-bit integer rounded to a float in lane 0.
    pub(super) fn float_of_index(&mut self, index: VReg, double: bool) -> VReg {
        // A zero that the result does not depend on.
        let (zero, one) = (self.splat_i32(Width::X, 0), self.b.vec(Width::X));
        let isa = if double { Isa::Vcvtsi2sd } else { Isa::Vcvtsi2ss };
        let args = [Arg::Reg(one, Size::X), Arg::Reg(zero, Size::X), Arg::Reg(index, Size::B64)];
        self.b.isa(isa, Width::X, &args);
        one
    }

    /// The low bits of a general register in every lane.
    pub(super) fn splat_gpr(&mut self, elem: Elem, width: Width, word: VReg) -> VReg {
        let (from_gpr, from_vec) = match elem.bytes() {
            1 => (Isa::VpbroadcastbG, Isa::Vpbroadcastb),
            2 => (Isa::VpbroadcastwG, Isa::Vpbroadcastw),
            4 => (Isa::VpbroadcastdG, Isa::Vpbroadcastd),
            _ => (Isa::VpbroadcastqG, Isa::Vpbroadcastq),
        };
        let size = if elem.bytes() == 8 { Size::B64 } else { Size::B32 };
        match self.tier {
            Tier::Avx512 => {
                let reg = self.b.vec(width);
                self.b.isa(from_gpr, width, &[Arg::Reg(reg, width.into()), Arg::Reg(word, size)]);
                reg
            }
            Tier::Avx2 => {
                let one = self.b.vec(Width::X);
                let isa = if elem.bytes() == 8 { Isa::VmovqFromG } else { Isa::VmovdFromG };
                self.b.isa(isa, Width::X, &[Arg::Reg(one, Size::X), Arg::Reg(word, size)]);
                self.v_sized(from_vec, width, width, Width::X, one)
            }
        }
    }

    // --- masks inside of sequences, of either tier -----------------------------------------------------

    pub(super) fn equal_i32(&mut self, width: Width, a: VReg, b: VReg) -> VReg {
        match self.tier {
            Tier::Avx512 => self.compare_to_mask(CompareOp::Eq, Elem::I32, width, a, b),
            Tier::Avx2 => self.vv(Isa::Vpcmpeqd, width, a, b),
        }
    }

    pub(super) fn greater_i32(&mut self, width: Width, a: VReg, b: VReg) -> VReg {
        match self.tier {
            Tier::Avx512 => self.compare_to_mask(CompareOp::Lt, Elem::I32, width, b, a),
            Tier::Avx2 => self.vv(Isa::Vpcmpgtd, width, a, b),
        }
    }

    /// `yes` where the mask is on.
    pub(super) fn blend_i32(&mut self, width: Width, mask: VReg, yes: VReg, no: VReg) -> VReg {
        match self.tier {
            Tier::Avx512 => self.blend_under(Isa::Vpblendmd, width, mask, yes, no),
            Tier::Avx2 => self.blend_by(Isa::Vblendvps, width, mask, yes, no),
        }
    }

    pub(super) fn blend_under(&mut self, isa: Isa, width: Width, mask: VReg, yes: VReg, no: VReg) -> VReg {
        let reg = self.vv(isa, width, no, yes);
        if let Some(inst) = self.b.mir.insts.last_mut() {
            inst.mask = Some((mask, Masking::Plain));
        }
        reg
    }

    pub(super) fn blend_by(&mut self, isa: Isa, width: Width, mask: VReg, yes: VReg, no: VReg) -> VReg {
        let (reg, size) = (self.b.vec(width), Size::from(width));
        self.b.isa(isa, width, &[reg, no, yes, mask].map(|reg| Arg::Reg(reg, size)));
        reg
    }
}

/// The immediate of a comparison: ordered and quiet, but for `Ne`, which is true with NaN.
fn predicate(kind: CompareOp, float: bool) -> i64 {
    match (kind, float) {
        (CompareOp::Eq, _) => 0,
        (CompareOp::Ne, _) => 4,
        (CompareOp::Lt | CompareOp::LtU, false) => 1,
        (CompareOp::Le | CompareOp::LeU, false) => 2,
        (CompareOp::Lt | CompareOp::LtU, true) => 17,
        (CompareOp::Le | CompareOp::LeU, true) => 18,
    }
}
