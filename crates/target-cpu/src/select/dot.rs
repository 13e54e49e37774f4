//! Dot products of bytes and of bf16 pairs inside of lanes.

use super::made::Made;
use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Size, VReg};
use crate::tier::Tier;
use tegula_ir::{OpId, Value};

impl Select<'_> {
    pub(super) fn dot_u8s8(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        if self.byte_dots {
            let isa = if self.tier == Tier::Avx512 { Isa::Vpdpbusd } else { Isa::VexVpdpbusd };
            return self.dot_instruction(op, isa, width);
        }
        // No pair of products of 16-bit lanes overflows 32 bits.
        let a = self.byte_halves(self.func.operand(op, 1), width, false)?;
        let b = self.byte_halves(self.func.operand(op, 2), width, true)?;
        self.add_products(op, width, &[(a[0], b[0]), (a[1], b[1])])
    }

    pub(super) fn dot_u8s8_pairs(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        let a = self.operand(op, 1)?;
        let (b, _) = self.source(self.func.operand(op, 2), width)?;
        let pairs = self.b.vec(width);
        self.b.isa(Isa::Vpmaddubsw, width, &[Arg::Reg(pairs, width.into()), Arg::Reg(a, width.into()), b]);
        let ones = self.splat_i32(width, 0x0001_0001);
        self.add_products(op, width, &[(pairs, ones)])
    }

    pub(super) fn dot_words(&mut self, op: OpId) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        let [a, b] = [self.operand(op, 1)?, self.operand(op, 2)?];
        self.add_products(op, width, &[(a, b)])
    }

    /// The first operand, and to it the products of pairs of words. The sum keeps its register through all steps of a loop:
    /// where each step's lay in one of its own, other sums found none.
    fn add_products(&mut self, op: OpId, width: Width, factors: &[(VReg, VReg)]) -> Selected<()> {
        let acc = self.operand(op, 0)?;
        let sum = self.b.copy(acc);
        let size = Size::from(width);
        for &(a, b) in factors {
            let products = self.vv(Isa::Vpmaddwd, width, a, b);
            let args = [Arg::Reg(sum, size), Arg::Reg(sum, size), Arg::Reg(products, size)];
            self.b.isa(Isa::Vpaddd, width, &args);
        }
        self.define(op, sum);
        Ok(())
    }

    /// AVX2: the even and the odd bytes of a value, which are signed or not, as 16-bit lanes. A factor meets a whole row or
    /// column of others, and is taken apart once.
    fn byte_halves(&mut self, of: Value, width: Width, signed: bool) -> Selected<[VReg; 2]> {
        Ok([self.bytes(of, width, signed, false)?, self.bytes(of, width, signed, true)?])
    }

    fn bytes(&mut self, of: Value, width: Width, signed: bool, odd: bool) -> Selected<VReg> {
        self.made(Made::Bytes { of, signed, odd }, |s| {
            let bytes = s.reg(of)?;
            Ok(match (signed, odd) {
                (true, true) => s.vi(Isa::Vpsraw, width, bytes, 8),
                (true, false) => {
                    let up = s.vi(Isa::Vpsllw, width, bytes, 8);
                    s.vi(Isa::Vpsraw, width, up, 8)
                }
                (false, true) => s.vi(Isa::Vpsrlw, width, bytes, 8),
                (false, false) => {
                    let low = s.splat_i32(width, 0x00ff_00ff);
                    s.vv(Isa::Vpand, width, bytes, low)
                }
            })
        })
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
