//! Integer division of lanes, and calls of scalar functions: what the hardware does one element at a time.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Mem, Size, VReg};
use crate::schedule::Elem;
use crate::schedule::ops::VecOp;
use tegula_ir::OpId;

impl Select<'_> {
    /// Signed 32-bit division in f64, whose quotient truncates to the integer one: a quotient that is no integer
    /// is at least 2^-31 of its size away from one. The hardware's result for -2^31 / -1 wraps.
    fn divide_i32(&mut self, op: OpId, remainder: bool, lanes: u32, width: Width) -> Selected<VReg> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let quotient = if 8 * lanes as usize <= self.tier.vector_bytes() {
            self.quotient_i32(lanes, a, b)?
        } else {
            let highs = [a, b].map(|v| if width == Width::Z { self.upper256(v) } else { self.upper128(v) });
            let low = self.quotient_i32(lanes / 2, a, b)?;
            let high = self.quotient_i32(lanes / 2, highs[0], highs[1])?;
            self.join_halves(width, low, high)
        };
        let zero = self.splat_i32(width, 0);
        let result = if remainder {
            let product = self.vv(Isa::Vpmulld, width, quotient, b);
            self.vv(Isa::Vpsubd, width, a, product)
        } else {
            quotient
        };
        let by_zero = self.equal_i32(width, b, zero);
        Ok(self.blend_i32(width, by_zero, zero, result))
    }

    fn quotient_i32(&mut self, lanes: u32, a: VReg, b: VReg) -> Selected<VReg> {
        let (narrow, wide) = (self.width(Elem::I32, lanes)?, self.width(Elem::F64, lanes)?);
        let [a, b] = [a, b].map(|v| self.v_sized(Isa::Vcvtdq2pd, wide, wide, narrow, v));
        let quotient = self.vv(Isa::Vdivpd, wide, a, b);
        Ok(self.v_sized(Isa::Vcvttpd2dq, wide, narrow, wide, quotient))
    }

    /// Integer division lane by lane through the frame.
    pub(super) fn divide_lanes(
        &mut self,
        op: OpId,
        kind: VecOp,
        elem: Elem,
        lanes: u32,
        width: Width,
    ) -> Selected<VReg> {
        let signed = matches!(kind, VecOp::Div | VecOp::Rem);
        let remainder = matches!(kind, VecOp::Rem | VecOp::RemU);
        if signed && elem == Elem::I32 {
            return self.divide_i32(op, remainder, lanes, width);
        }
        let areas = [0, 1].map(|_| self.b.frame_area());
        for (i, area) in areas.into_iter().enumerate() {
            let value = self.operand(op, i)?;
            self.store_packed(area, value, width.bytes());
        }
        let bytes = elem.bytes();
        self.repeat(Arg::Imm(i64::from(lanes)), |s, i| {
            let [a, b] = areas.map(|area| s.load_integer(s.element(area, i, bytes), bytes, signed));
            let q = s.guarded_divide(a, b, signed, remainder, |s, a, b| s.divide(a, b, signed, remainder));
            let to = s.element(areas[0], i, bytes);
            s.store_element(to, q, bytes);
            Ok(())
        })?;
        Ok(self.v_load(Isa::VmovupsLoad, width, areas[0]))
    }

    fn load_integer(&mut self, mem: Mem, bytes: usize, signed: bool) -> VReg {
        if bytes == 4 && signed {
            let word = self.b.gpr();
            self.g(Isa::Movsxd, word, Arg::Mem(mem));
            return word;
        }
        self.load_element(mem, bytes)
    }

    /// Calls a function of the table for each lane.
    pub(super) fn call(&mut self, op: OpId, function: &str) -> Selected<()> {
        let Some(entry) = crate::schedule::calls::function(function) else {
            return Err(self.internal(&format!("no function is called `{function}`")));
        };
        let (elem, lanes, width) = self.shape(self.func.result(op))?;
        let n = self.func.operands(op).len();
        let mut areas = Vec::with_capacity(2);
        for i in 0..n {
            let value = self.operand(op, i)?;
            let area = self.b.frame_area();
            self.store_packed(area, value, width.bytes());
            areas.push(area);
        }
        let table = self.load_word(Mem::at(Base::Reg(self.entry[0])));
        let bytes = elem.bytes();
        self.repeat(Arg::Imm(i64::from(lanes)), |s, i| {
            let result = s.b.gpr();
            let mut args = vec![Arg::Reg(result, Size::B64), Arg::Reg(table, Size::B64)];
            for area in &areas {
                let word = s.load_element(s.element(*area, i, bytes), bytes);
                args.push(Arg::Reg(word, Size::B64));
            }
            s.b.push(crate::mir::Kind::Call { entry: entry as u32 }, &args);
            let to = s.element(areas[0], i, bytes);
            s.store_element(to, result, bytes);
            Ok(())
        })?;
        let reg = self.v_load(Isa::VmovupsLoad, width, areas[0]);
        self.define(op, reg);
        Ok(())
    }
}
