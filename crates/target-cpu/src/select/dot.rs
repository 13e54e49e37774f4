//! Dot products of bytes and of bf16 pairs inside of lanes.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Size};
use crate::native::Tier;
use tegula_ir::OpId;

impl Select<'_> {
    pub(super) fn dot_u8s8(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        if self.tier == Tier::Avx512 {
            return self.dot_instruction(op, Isa::Vpdpbusd, width);
        }
        let [acc, a, b] = [self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?];
        // Even and odd bytes as 16-bit lanes: no pair of products overflows 32 bits.
        let low = self.splat_i32(width, 0x00ff_00ff);
        let a_even = self.vv(Isa::Vpand, width, a, low);
        let a_odd = self.vi(Isa::Vpsrlw, width, a, 8);
        let up = self.vi(Isa::Vpsllw, width, b, 8);
        let b_even = self.vi(Isa::Vpsraw, width, up, 8);
        let b_odd = self.vi(Isa::Vpsraw, width, b, 8);
        let even = self.vv(Isa::Vpmaddwd, width, a_even, b_even);
        let odd = self.vv(Isa::Vpmaddwd, width, a_odd, b_odd);
        let sum = self.vv(Isa::Vpaddd, width, acc, even);
        let sum = self.vv(Isa::Vpaddd, width, sum, odd);
        self.define(op, sum);
        Ok(())
    }

    /// AVX2: two fused steps, the upper product first, with denormals.
    pub(super) fn dot_bf16(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        if self.tier == Tier::Avx512 {
            return self.dot_instruction(op, Isa::Vdpbf16ps, width);
        }
        let [acc, a, b] = [self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?];
        let high = self.splat_i32(width, 0xffff_0000u32 as i32);
        let sum = self.b.copy(acc);
        let lows = [a, b].map(|v| self.vi(Isa::Vpslld, width, v, 16));
        let highs = [a, b].map(|v| self.vv(Isa::Vpand, width, v, high));
        for [x, y] in [highs, lows] {
            let size = Size::from(width);
            let args = [Arg::Reg(sum, size), Arg::Reg(x, size), Arg::Reg(y, size)];
            self.b.isa(Isa::Vfmadd231ps, width, &args);
        }
        self.define(op, sum);
        Ok(())
    }

    fn dot_instruction(&mut self, op: OpId, isa: Isa, width: Width) -> Selected<()> {
        let (acc, a) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (b, broadcast) = self.source(self.func.operand(op, 2), width)?;
        let dst = self.b.copy(acc);
        let inst = self.b.isa(isa, width, &[Arg::Reg(dst, width.into()), Arg::Reg(a, width.into()), b]);
        inst.broadcast = broadcast;
        self.define(op, dst);
        Ok(())
    }
}
