//! Lane-wise arithmetic.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, VReg};
use crate::schedule::ops::{CpuOp, VecOp};
use crate::schedule::{CpuType, Elem};
use crate::tier::Tier;
use tegula_base::EntityId;
use tegula_ir::{Def, OpId, Value};

impl Select<'_> {
    pub(super) fn vec(&mut self, op: OpId, kind: VecOp) -> Selected<()> {
        let func = self.func;
        let (elem, lanes, width) = self.shape(func.result(op))?;
        let operands = func.operands(op);
        let reg = match kind {
            VecOp::Fma | VecOp::Fnma => self.fma(op, kind, elem, width)?,
            VecOp::Sqrt | VecOp::Floor | VecOp::Ceil | VecOp::Trunc | VecOp::RoundEven => {
                let a = self.reg(operands[0])?;
                self.unary(kind, elem, width, a)?
            }
            VecOp::Div | VecOp::Rem | VecOp::DivU | VecOp::RemU if !elem.is_float() => {
                self.divide_lanes(op, kind, elem, lanes, width)?
            }
            VecOp::Shl | VecOp::Shr | VecOp::Sar if self.lane_constant(operands[1], elem).is_some() => {
                let a = self.reg(operands[0])?;
                let count = self.lane_constant(operands[1], elem).unwrap_or(0);
                match shift_by_constant(kind, elem) {
                    Some(isa) => self.vi(isa, width, a, count),
                    None => {
                        let b = self.reg(operands[1])?;
                        self.binary(kind, elem, width, a, b)?
                    }
                }
            }
            _ => match self.joined_and(op, kind) {
                Some(and) => self.or_and(op, and, width)?,
                None => self.two_operands(op, kind, elem, width)?,
            },
        };
        self.define(op, reg);
        Ok(())
    }

    /// The count of a shift that is the same constant in every lane and in range.
    fn lane_constant(&self, value: Value, elem: Elem) -> Option<i64> {
        match self.func.def_op(value).map(|op| self.func.kind(op)) {
            Some(CpuOp::VecConst { bits, .. }) => {
                let bits = if elem.bytes() == 4 { *bits & 0xffff_ffff } else { *bits };
                (0..8 * elem.bytes() as i64).contains(&bits).then_some(bits)
            }
            _ => None,
        }
    }

    /// A value as an operand that may stand in memory; true when one element is repeated.
    pub(super) fn source(&mut self, value: Value, width: Width) -> Selected<(Arg, bool)> {
        if let Some(op) = self.func.def_op(value).filter(|op| self.plan.is_absorbed(*op)) {
            let splat = matches!(self.func.kind(op), CpuOp::LoadSplat { .. });
            return Ok((Arg::Mem(self.address(op)?), splat));
        }
        Ok((Arg::Reg(self.reg(value)?, width.into()), false))
    }

    fn is_in_memory(&self, value: Value) -> bool {
        self.func.def_op(value).is_some_and(|op| self.plan.is_absorbed(op))
    }

    fn two_operands(&mut self, op: OpId, kind: VecOp, elem: Elem, width: Width) -> Selected<VReg> {
        let (mut a, mut b) = (self.func.operand(op, 0), self.func.operand(op, 1));
        if self.is_in_memory(a) {
            // Only commuting operations absorb their first operand.
            (a, b) = (b, a);
        }
        if !self.is_in_memory(b) {
            let (a, b) = (self.reg(a)?, self.reg(b)?);
            return self.binary(kind, elem, width, a, b);
        }
        let Some(isa) = self.simple(kind, elem) else {
            return Err(self.internal("a memory operand where the instruction takes none"));
        };
        let a = self.reg(a)?;
        let (source, broadcast) = self.source(b, width)?;
        let dst = self.b.vec(width);
        let inst = self.b.isa(isa, width, &[Arg::Reg(dst, width.into()), Arg::Reg(a, width.into()), source]);
        inst.broadcast = broadcast;
        Ok(dst)
    }

    /// The `and` that an `or` has absorbed.
    fn joined_and(&self, op: OpId, kind: VecOp) -> Option<OpId> {
        if kind != VecOp::Or {
            return None;
        }
        let defs = self.func.operands(op).iter().filter_map(|v| self.func.def_op(*v));
        let is_and = |def: &OpId| matches!(self.func.kind(*def), CpuOp::Vec { op: VecOp::And });
        defs.filter(is_and).find(|def| self.plan.is_absorbed(*def))
    }

    /// `a | b & c`.
    fn or_and(&mut self, op: OpId, and: OpId, width: Width) -> Selected<VReg> {
        let func = self.func;
        let other = func.operands(op).iter().copied().find(|v| func.def_op(*v) != Some(and));
        let other = other.ok_or_else(|| self.internal("an `and` joined with itself"))?;
        let (mut b, mut c) = (func.operand(and, 0), func.operand(and, 1));
        if self.is_in_memory(b) {
            (b, c) = (c, b);
        }
        let (a, b) = (self.reg(other)?, self.reg(b)?);
        let (c, broadcast) = self.source(c, width)?;
        let dst = self.b.copy(a);
        let args = [Arg::Reg(dst, width.into()), Arg::Reg(b, width.into()), c, Arg::Imm(0xf8)];
        self.b.isa(Isa::Vpternlogd, width, &args).broadcast = broadcast;
        Ok(dst)
    }

    /// The one instruction that does a binary operation, where there is one.
    fn simple(&self, kind: VecOp, elem: Elem) -> Option<Isa> {
        use Elem::{F32, F64, I32, I64};
        let avx512 = self.tier == Tier::Avx512;
        Some(match (kind, elem) {
            (VecOp::And, _) => Isa::Vpand,
            (VecOp::Or, _) => Isa::Vpor,
            (VecOp::Xor, _) => Isa::Vpxor,
            (VecOp::AndNot, _) => Isa::Vpandn,
            (VecOp::Add, F32) => Isa::Vaddps,
            (VecOp::Add, F64) => Isa::Vaddpd,
            (VecOp::Add, I32) => Isa::Vpaddd,
            (VecOp::Add, I64) => Isa::Vpaddq,
            (VecOp::Sub, F32) => Isa::Vsubps,
            (VecOp::Sub, F64) => Isa::Vsubpd,
            (VecOp::Sub, I32) => Isa::Vpsubd,
            (VecOp::Sub, I64) => Isa::Vpsubq,
            (VecOp::Mul, F32) => Isa::Vmulps,
            (VecOp::Mul, F64) => Isa::Vmulpd,
            (VecOp::Mul, I32) => Isa::Vpmulld,
            (VecOp::Mul, I64) if avx512 => Isa::Vpmullq,
            (VecOp::Div, F32) => Isa::Vdivps,
            (VecOp::Div, F64) => Isa::Vdivpd,
            (VecOp::Min, F32) => Isa::Vminps,
            (VecOp::Min, F64) => Isa::Vminpd,
            (VecOp::Max, F32) => Isa::Vmaxps,
            (VecOp::Max, F64) => Isa::Vmaxpd,
            (VecOp::Min, I32) => Isa::Vpminsd,
            (VecOp::Max, I32) => Isa::Vpmaxsd,
            (VecOp::MinU, I32) => Isa::Vpminud,
            (VecOp::MaxU, I32) => Isa::Vpmaxud,
            (VecOp::Min, I64) if avx512 => Isa::Vpminsq,
            (VecOp::Max, I64) if avx512 => Isa::Vpmaxsq,
            (VecOp::MinU, I64) if avx512 => Isa::Vpminuq,
            (VecOp::MaxU, I64) if avx512 => Isa::Vpmaxuq,
            (VecOp::Shl, I32) => Isa::Vpsllvd,
            (VecOp::Shl, I64) => Isa::Vpsllvq,
            (VecOp::Shr, I32) => Isa::Vpsrlvd,
            (VecOp::Shr, I64) => Isa::Vpsrlvq,
            (VecOp::Sar, I32) => Isa::Vpsravd,
            (VecOp::Sar, I64) if avx512 => Isa::Vpsravq,
            _ => return None,
        })
    }

    /// A binary operation between registers.
    pub(super) fn binary(
        &mut self,
        kind: VecOp,
        elem: Elem,
        width: Width,
        a: VReg,
        b: VReg,
    ) -> Selected<VReg> {
        if let Some(isa) = self.simple(kind, elem) {
            return Ok(self.vv(isa, width, a, b));
        }
        match (kind, elem) {
            (VecOp::Mul, Elem::I64) => Ok(self.multiply_i64(width, a, b)),
            (VecOp::Maximum, Elem::F32 | Elem::F64) => Ok(self.maximum(elem, width, a, b)),
            (VecOp::Min | VecOp::Max | VecOp::MinU | VecOp::MaxU, Elem::I64) => {
                let (mut x, mut y) = (a, b);
                if matches!(kind, VecOp::MinU | VecOp::MaxU) {
                    let sign = self.splat_i64(width, i64::MIN);
                    x = self.vv(Isa::Vpxor, width, a, sign);
                    y = self.vv(Isa::Vpxor, width, b, sign);
                }
                let greater = self.vv(Isa::Vpcmpgtq, width, x, y);
                let (yes, no) = if matches!(kind, VecOp::Max | VecOp::MaxU) { (a, b) } else { (b, a) };
                Ok(self.blend_by(Isa::Vblendvpd, width, greater, yes, no))
            }
            (VecOp::Sar, Elem::I64) => {
                // Shifts the bits that differ from the sign.
                let zero = self.splat_i64(width, 0);
                let sign = self.vv(Isa::Vpcmpgtq, width, zero, a);
                let differ = self.vv(Isa::Vpxor, width, a, sign);
                let shifted = self.vv(Isa::Vpsrlvq, width, differ, b);
                Ok(self.vv(Isa::Vpxor, width, shifted, sign))
            }
            _ => Err(self.internal(&format!("`{}` of {} lanes", kind.name(), elem.name()))),
        }
    }

    /// The machine's maximum gives its second operand with NaN and for two zeros, so both orders together know all:
    /// they differ in no other case.
    fn maximum(&mut self, elem: Elem, width: Width, a: VReg, b: VReg) -> VReg {
        let (isa, magnitude) = match elem {
            Elem::F32 => (Isa::Vmaxps, self.splat_i32(width, i32::MAX)),
            _ => (Isa::Vmaxpd, self.splat_i64(width, i64::MAX)),
        };
        let (one, two) = (self.vv(isa, width, a, b), self.vv(isa, width, b, a));
        if self.tier == Tier::Avx512 {
            // Where the third is on, `or`, else `and`: what two of three say.
            let reg = self.b.copy(one);
            let args = [reg, two, magnitude].map(|reg| Arg::Reg(reg, width.into()));
            let [reg_arg, two, magnitude] = args;
            self.b.isa(Isa::Vpternlogd, width, &[reg_arg, two, magnitude, Arg::Imm(0xe8)]);
            return reg;
        }
        let common = self.vv(Isa::Vpand, width, one, two);
        let joined = self.vv(Isa::Vpor, width, one, two);
        let joined = self.vv(Isa::Vpand, width, joined, magnitude);
        self.vv(Isa::Vpor, width, common, joined)
    }

    /// From 32-bit halves: `lo * lo + ((lo * hi + hi * lo) << 32)`.
    fn multiply_i64(&mut self, width: Width, a: VReg, b: VReg) -> VReg {
        let (a_high, b_high) = (self.vi(Isa::Vpsrlq, width, a, 32), self.vi(Isa::Vpsrlq, width, b, 32));
        let cross = self.vv(Isa::Vpmuludq, width, a_high, b);
        let other = self.vv(Isa::Vpmuludq, width, a, b_high);
        let cross = self.vv(Isa::Vpaddq, width, cross, other);
        let cross = self.vi(Isa::Vpsllq, width, cross, 32);
        let low = self.vv(Isa::Vpmuludq, width, a, b);
        self.vv(Isa::Vpaddq, width, low, cross)
    }

    fn unary(&mut self, kind: VecOp, elem: Elem, width: Width, a: VReg) -> Selected<VReg> {
        let double = match elem {
            Elem::F32 => false,
            Elem::F64 => true,
            _ => return Err(self.internal(&format!("`{}` of {} lanes", kind.name(), elem.name()))),
        };
        // Rounding modes without the inexact exception.
        let mode = match kind {
            VecOp::Sqrt => {
                return Ok(self.v(if double { Isa::Vsqrtpd } else { Isa::Vsqrtps }, width, a));
            }
            VecOp::Floor => 9,
            VecOp::Ceil => 10,
            VecOp::Trunc => 11,
            _ => 8,
        };
        Ok(self.vi(if double { Isa::Vroundpd } else { Isa::Vroundps }, width, a, mode))
    }

    /// `a * b + c`. The form is the one that overwrites a value nobody needs afterwards, the addend first: so an
    /// accumulator stays in its register.
    fn fma(&mut self, op: OpId, kind: VecOp, elem: Elem, width: Width) -> Selected<VReg> {
        let operands = [0, 1, 2].map(|i| self.func.operand(op, i));
        let memory = operands.iter().position(|v| self.is_in_memory(*v));
        let order = [2, 0, 1];
        let tied = order
            .into_iter()
            .find(|&i| Some(i) != memory && self.dies_at(operands[i], op))
            .or_else(|| order.into_iter().find(|&i| Some(i) != memory))
            .unwrap_or(2);
        // The last operand may be memory.
        let (form, second, third) = match (tied, memory) {
            (2, Some(0)) => (Form::F231, 1, 0),
            (2, _) => (Form::F231, 0, 1),
            (0, Some(1)) => (Form::F132, 2, 1),
            (0, _) => (Form::F213, 1, 2),
            (_, Some(0)) => (Form::F132, 2, 0),
            _ => (Form::F213, 0, 2),
        };
        let isa = fma_isa(kind, elem, form);
        let tied_reg = self.reg(operands[tied])?;
        let second = self.reg(operands[second])?;
        let (third, broadcast) = self.source(operands[third], width)?;
        let dst = self.b.copy(tied_reg);
        let inst =
            self.b.isa(isa, width, &[Arg::Reg(dst, width.into()), Arg::Reg(second, width.into()), third]);
        inst.broadcast = broadcast;
        Ok(dst)
    }

    /// Whether a value's only use is `op`, where it was made in the same region.
    fn dies_at(&self, value: Value, op: OpId) -> bool {
        let func = self.func;
        let region = match func.def(value) {
            Def::Result(def, _) => {
                if matches!(func.kind(def), CpuOp::VecConst { .. } | CpuOp::Iota { .. }) {
                    return false;
                }
                func.parent(def)
            }
            Def::Arg(region, _) => Some(region),
        };
        func.users(value).len() == 1 && region == func.parent(op)
    }

    /// Whether a value is a mask (and not a vector).
    pub(super) fn is_mask(&self, value: Value) -> bool {
        debug_assert!(value.index() < self.values.len());
        matches!(self.func.ty(value), CpuType::Mask { .. })
    }
}

#[derive(Clone, Copy)]
enum Form {
    /// `dst = dst * third + second`.
    F132,
    /// `dst = second * dst + third`.
    F213,
    /// `dst = second * third + dst`.
    F231,
}

fn fma_isa(kind: VecOp, elem: Elem, form: Form) -> Isa {
    match (kind, elem, form) {
        (VecOp::Fnma, Elem::F64, Form::F132) => Isa::Vfnmadd132pd,
        (VecOp::Fnma, Elem::F64, Form::F213) => Isa::Vfnmadd213pd,
        (VecOp::Fnma, Elem::F64, Form::F231) => Isa::Vfnmadd231pd,
        (VecOp::Fnma, _, Form::F132) => Isa::Vfnmadd132ps,
        (VecOp::Fnma, _, Form::F213) => Isa::Vfnmadd213ps,
        (VecOp::Fnma, _, Form::F231) => Isa::Vfnmadd231ps,
        (_, Elem::F64, Form::F132) => Isa::Vfmadd132pd,
        (_, Elem::F64, Form::F213) => Isa::Vfmadd213pd,
        (_, Elem::F64, Form::F231) => Isa::Vfmadd231pd,
        (_, _, Form::F132) => Isa::Vfmadd132ps,
        (_, _, Form::F213) => Isa::Vfmadd213ps,
        (_, _, Form::F231) => Isa::Vfmadd231ps,
    }
}

fn shift_by_constant(kind: VecOp, elem: Elem) -> Option<Isa> {
    match (kind, elem) {
        (VecOp::Shl, Elem::I32) => Some(Isa::Vpslld),
        (VecOp::Shl, Elem::I64) => Some(Isa::Vpsllq),
        (VecOp::Shr, Elem::I32) => Some(Isa::Vpsrld),
        (VecOp::Shr, Elem::I64) => Some(Isa::Vpsrlq),
        (VecOp::Sar, Elem::I32) => Some(Isa::Vpsrad),
        _ => None,
    }
}
