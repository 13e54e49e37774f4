//! Counts of active lanes as masks. A mask is made once a region for each count and number of lanes; on AVX2 in each store, which
//! makes it where not all lanes are on.

use super::made::Made;
use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Kind, Size, VReg};
use crate::schedule::{CpuOp, Elem};
use crate::tier::Tier;
use tegula_ir::Value;

impl Select<'_> {
    /// The count clamped to `0..=lanes`.
    pub(super) fn clamped_count(&mut self, count: Value, lanes: u32) -> Selected<VReg> {
        if let Some(c) = self.immediate(count) {
            return Ok(self.index_constant(c.clamp(0, i64::from(lanes))));
        }
        if self.all_or_none(count).is_some_and(|c| c <= i64::from(lanes)) {
            return self.reg(count);
        }
        self.made(Made::Count { count, lanes }, |s| {
            let count = s.reg(count)?;
            let (most, none) = (s.index_constant(i64::from(lanes)), s.index_constant(0));
            let reg = s.b.copy(count);
            s.g(Isa::Cmp, reg, Arg::Imm(i64::from(lanes)));
            s.g(Isa::Cmovg, reg, Arg::Reg(most, Size::B64));
            s.b.isa(Isa::Test, Width::X, &[Arg::Reg(reg, Size::B64), Arg::Reg(reg, Size::B64)]);
            s.g(Isa::Cmovs, reg, Arg::Reg(none, Size::B64));
            Ok(reg)
        })
    }

    /// What a count is where it is not 0, and is known to be one number then.
    pub(super) fn all_or_none(&self, count: Value) -> Option<i64> {
        let op = self.func.def_op(count)?;
        let CpuOp::IndexSelect {} = self.func.kind(op) else { return None };
        let [yes, no] = [1, 2].map(|i| self.immediate(self.func.operand(op, i)));
        match (yes?, no?) {
            (n, 0) | (0, n) => Some(n).filter(|n| *n > 0),
            _ => None,
        }
    }

    /// A mask whose first `count` lanes are on.
    pub(super) fn count_mask(&mut self, count: Value, lanes: u32) -> Selected<VReg> {
        if let Some(c) = self.immediate(count) {
            return self.first_lanes(c.clamp(0, i64::from(lanes)) as u32, lanes);
        }
        self.made(Made::CountMask { count, lanes }, |s| {
            let clamped = s.clamped_count(count, lanes)?;
            match s.tier {
                Tier::Avx512 => {
                    let (ones, bits) = (s.index_constant(-1), s.b.gpr());
                    let args = [ones, clamped].map(|reg| Arg::Reg(reg, Size::B64));
                    s.b.isa(Isa::Bzhi, Width::X, &[Arg::Reg(bits, Size::B64), args[0], args[1]]);
                    let mask = s.b.mask();
                    let args = [Arg::Reg(mask, Size::K), Arg::Reg(bits, Size::B64)];
                    s.b.isa(Isa::KmovFromG, Width::X, &args);
                    Ok(mask)
                }
                Tier::Avx2 => {
                    let width = s.width(Elem::I32, lanes)?;
                    let counts = s.splat_gpr(Elem::I32, width, clamped);
                    let lane = s.iota(Elem::I32, width);
                    Ok(s.vv(Isa::Vpcmpgtd, width, counts, lane))
                }
            }
        })
    }

    /// AVX2: the mask for 64-bit lanes.
    pub(super) fn wide_count_mask(&mut self, count: Value, lanes: u32) -> Selected<VReg> {
        self.made(Made::WideCountMask { count, lanes }, |s| {
            let mask = s.count_mask(count, lanes)?;
            let width = s.width(Elem::I64, lanes)?;
            Ok(s.v_sized(Isa::Vpmovsxdq, width, width, Width::X, mask))
        })
    }

    /// A constant mask: `on` of `lanes` lanes.
    pub(super) fn first_lanes(&mut self, on: u32, lanes: u32) -> Selected<VReg> {
        match self.tier {
            Tier::Avx512 => {
                let bits = u64::MAX.checked_shr(64 - on).unwrap_or(0);
                let source = self.b.pool(bits.to_le_bytes().to_vec());
                let kind = Kind::Isa(Isa::Kmov, Width::X);
                Ok(self.b.constant(kind, Size::K, Some(Arg::Mem(source))))
            }
            Tier::Avx2 => {
                let width = self.width(Elem::I32, lanes)?;
                let lane = |i: u32| if i < on { [0xff; 4] } else { [0; 4] };
                Ok(self.vector_constant(width, (0..lanes).flat_map(lane).collect()))
            }
        }
    }
}
