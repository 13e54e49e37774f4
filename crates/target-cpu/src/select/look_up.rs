//! Tables: bytes looked up among 256, by two permutations of half a table each or as the low bytes of words; numbers
//! among as many as a register holds, by one permutation.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Masking, Mem, Size, VReg};
use crate::schedule::ops::Address;
use crate::tier::Tier;
use tegula_ir::OpId;

/// Bytes of a table half, which a permutation of two registers covers.
const HALF: i32 = 128;
/// `vpcmpd`'s predicate for `not <=`.
const ABOVE: i64 = 6;

impl Select<'_> {
    /// Where no register is free for the table, the permutation reads it from behind the code.
    pub(super) fn tabulated(&mut self, op: OpId, bits: &[u32]) -> Selected<()> {
        let (_, _, width) = self.shape(self.func.result(op))?;
        let places = self.operand(op, 0)?;
        let table = self.vector_constant(width, bits.iter().flat_map(|entry| entry.to_le_bytes()).collect());
        let reg = self.vv(Isa::Vpermd, width, places, table);
        self.define(op, reg);
        Ok(())
    }

    pub(super) fn look_up(&mut self, op: OpId, lanes: u32, at: Address) -> Selected<()> {
        let table = self.address(op)?;
        let (rest, _) = self.memory_operands(op, at);
        let (_, _, width) = self.shape(rest[0])?;
        let places = self.reg(rest[0])?;
        let words = match (self.tier, width) {
            (Tier::Avx512, Width::Z) => self.permuted(table, places),
            _ => self.words_at(table, places, width, lanes)?,
        };
        let low = self.splat_i32(width, 0xff);
        let bytes = self.vv(Isa::Vpand, width, words, low);
        self.define(op, bytes);
        Ok(())
    }

    fn permuted(&mut self, table: Mem, places: VReg) -> VReg {
        let half = |s: &mut Self, start: i32| {
            let part = |from: i32| Arg::Mem(Mem { disp: table.disp + from, ..table });
            let (low, found) = (s.b.vec(Width::Z), s.b.copy(places));
            s.b.isa(Isa::VmovupsLoad, Width::Z, &[Arg::Reg(low, Size::Z), part(start)]);
            let args = [Arg::Reg(found, Size::Z), Arg::Reg(low, Size::Z), part(start + HALF / 2)];
            s.b.isa(Isa::Vpermi2b, Width::Z, &args);
            found
        };
        let (lower, upper) = (half(self, 0), half(self, HALF));
        let last = self.splat_i32(Width::Z, HALF - 1);
        let mask = self.b.mask();
        let compared = [Arg::Reg(mask, Size::K), Arg::Reg(places, Size::Z), Arg::Reg(last, Size::Z)];
        self.b.isa(Isa::VpcmpdK, Width::Z, &[&compared[..], &[Arg::Imm(ABOVE)]].concat());
        self.blend_under(Isa::Vpblendmd, Width::Z, mask, upper, lower)
    }

    fn words_at(&mut self, table: Mem, places: VReg, width: Width, lanes: u32) -> Selected<VReg> {
        let size = Size::from(width);
        let mem = Mem { index: Some((places, size)), scale: 1, ..table };
        // Gathers use up their mask.
        let (reg, all) = (self.zero(width), self.first_lanes(lanes, lanes)?);
        let mask = self.b.copy(all);
        match self.tier {
            Tier::Avx512 => {
                let inst = self.b.isa(Isa::VpgatherddK, width, &[Arg::Reg(reg, size), Arg::Mem(mem)]);
                inst.mask = Some((mask, Masking::Merge));
            }
            Tier::Avx2 => {
                self.b.isa(
                    Isa::Vpgatherdd,
                    width,
                    &[Arg::Reg(reg, size), Arg::Mem(mem), Arg::Reg(mask, size)],
                );
            }
        }
        Ok(reg)
    }
}
