//! Index arithmetic in general registers.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Cond, Kind, Mem, Size, VReg};
use crate::schedule::ops::IndexOp;
use tegula_ir::OpId;

impl Select<'_> {
    pub(super) fn index(&mut self, op: OpId, kind: IndexOp) -> Selected<()> {
        let reg = match kind {
            IndexOp::Add => self.add_index(op)?,
            IndexOp::Sub => match self.immediate(self.func.operand(op, 1)).and_then(negated) {
                Some(c) => {
                    let a = self.operand(op, 0)?;
                    self.lea(Mem { disp: c, ..Mem::at(Base::Reg(a)) })
                }
                None => self.two_address(op, Isa::Sub, false)?,
            },
            IndexOp::Mul => self.multiply_index(op)?,
            IndexOp::And => self.two_address(op, Isa::And, true)?,
            IndexOp::Or => self.two_address(op, Isa::Or, true)?,
            IndexOp::Xor => self.two_address(op, Isa::Xor, true)?,
            IndexOp::Min => self.pick(op, Cond::Gt)?,
            IndexOp::Max => self.pick(op, Cond::Lt)?,
            IndexOp::ShiftLeft => self.shift_index(op, Isa::Shl, Isa::Shlx)?,
            IndexOp::ShiftRight => self.shift_index(op, Isa::Sar, Isa::Sarx)?,
            IndexOp::FloorDiv | IndexOp::Mod => self.divide_index(op, kind == IndexOp::Mod)?,
            IndexOp::Eq | IndexOp::Ne | IndexOp::Lt | IndexOp::Le => {
                let cond = self.compare_index(op, kind)?;
                self.truth(cond)
            }
        };
        self.define(op, reg);
        Ok(())
    }

    /// 0 or 1 by the flags.
    fn truth(&mut self, cond: Cond) -> VReg {
        let reg = self.b.gpr();
        self.b.isa(Isa::Mov32, Width::X, &[Arg::Reg(reg, Size::B32), Arg::Imm(0)]);
        self.b.isa(cond.set(), Width::X, &[Arg::Reg(reg, Size::B8)]);
        reg
    }

    pub(super) fn lea(&mut self, mem: Mem) -> VReg {
        let reg = self.b.gpr();
        self.g(Isa::Lea, reg, Arg::Mem(mem));
        reg
    }

    fn add_index(&mut self, op: OpId) -> Selected<VReg> {
        let (a, b) = (self.func.operand(op, 0), self.func.operand(op, 1));
        let mem = match (self.immediate(a), self.immediate(b)) {
            (_, Some(c)) => Mem { disp: c as i32, ..Mem::at(Base::Reg(self.reg(a)?)) },
            (Some(c), None) => Mem { disp: c as i32, ..Mem::at(Base::Reg(self.reg(b)?)) },
            (None, None) => {
                Mem { index: Some((self.reg(b)?, Size::B64)), ..Mem::at(Base::Reg(self.reg(a)?)) }
            }
        };
        Ok(self.lea(mem))
    }

    /// `dst = a; dst op= b`.
    fn two_address(&mut self, op: OpId, isa: Isa, commutes: bool) -> Selected<VReg> {
        let (mut a, mut b) = (self.func.operand(op, 0), self.func.operand(op, 1));
        if commutes && self.immediate(a).is_some() {
            (a, b) = (b, a);
        }
        let source = match self.immediate(b) {
            Some(c) => Arg::Imm(c),
            None => Arg::Reg(self.reg(b)?, Size::B64),
        };
        let a = self.reg(a)?;
        let dst = self.b.copy(a);
        self.g(isa, dst, source);
        Ok(dst)
    }

    fn multiply_index(&mut self, op: OpId) -> Selected<VReg> {
        let (mut a, mut b) = (self.func.operand(op, 0), self.func.operand(op, 1));
        if self.immediate(a).is_some() {
            (a, b) = (b, a);
        }
        let Some(c) = self.immediate(b) else { return self.two_address(op, Isa::Imul, true) };
        let a = self.reg(a)?;
        Ok(self.times(a, c))
    }

    /// `a * c` for a 32-bit constant.
    pub(super) fn times(&mut self, a: VReg, c: i64) -> VReg {
        match c {
            3 | 5 | 9 => {
                let scale = c as u8 - 1;
                self.lea(Mem { index: Some((a, Size::B64)), scale, ..Mem::at(Base::Reg(a)) })
            }
            _ if c > 0 && c.count_ones() == 1 => {
                let dst = self.b.copy(a);
                if c > 1 {
                    self.g(Isa::Shl, dst, Arg::Imm(i64::from(c.trailing_zeros())));
                }
                dst
            }
            _ => {
                let dst = self.b.gpr();
                let args = [Arg::Reg(dst, Size::B64), Arg::Reg(a, Size::B64), Arg::Imm(c)];
                self.b.isa(Isa::ImulI, Width::X, &args);
                dst
            }
        }
    }

    /// `a`, replaced by `b` when `a cond b`.
    fn pick(&mut self, op: OpId, cond: Cond) -> Selected<VReg> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let dst = self.b.copy(a);
        self.g(Isa::Cmp, dst, Arg::Reg(b, Size::B64));
        self.g(cond.cmov(), dst, Arg::Reg(b, Size::B64));
        Ok(dst)
    }

    fn shift_index(&mut self, op: OpId, by_constant: Isa, by_register: Isa) -> Selected<VReg> {
        let a = self.operand(op, 0)?;
        match self.immediate(self.func.operand(op, 1)) {
            Some(c) => {
                let dst = self.b.copy(a);
                self.g(by_constant, dst, Arg::Imm(c & 63));
                Ok(dst)
            }
            None => {
                let (dst, count) = (self.b.gpr(), self.operand(op, 1)?);
                let args = [Arg::Reg(dst, Size::B64), Arg::Reg(a, Size::B64), Arg::Reg(count, Size::B64)];
                self.b.isa(by_register, Width::X, &args);
                Ok(dst)
            }
        }
    }

    pub(super) fn index_select(&mut self, op: OpId) -> Selected<()> {
        let (a, b) = (self.operand(op, 1)?, self.operand(op, 2)?);
        // The copy comes before the comparison: nothing may stand between that and the move.
        let dst = self.b.copy(b);
        let cond = self.condition(self.func.operand(op, 0))?;
        self.g(cond.cmov(), dst, Arg::Reg(a, Size::B64));
        self.define(op, dst);
        Ok(())
    }

    fn divide_index(&mut self, op: OpId, modulo: bool) -> Selected<VReg> {
        let a = self.operand(op, 0)?;
        match self.immediate(self.func.operand(op, 1)) {
            Some(c) if c > 0 && c.count_ones() == 1 => {
                let dst = self.b.copy(a);
                if modulo {
                    self.g(Isa::And, dst, Arg::Imm(c - 1));
                } else {
                    self.g(Isa::Sar, dst, Arg::Imm(i64::from(c.trailing_zeros())));
                }
                Ok(dst)
            }
            Some(c) if c > 1 => {
                let b = self.index_constant(c);
                Ok(self.floor_divide(a, b, modulo))
            }
            _ => {
                let b = self.operand(op, 1)?;
                Ok(self.guarded_divide(a, b, true, modulo, |s, a, b| s.floor_divide(a, b, modulo)))
            }
        }
    }

    /// Floor division or modulo; `b` is neither 0 nor -1.
    fn floor_divide(&mut self, a: VReg, b: VReg, modulo: bool) -> VReg {
        let q = self.divide(a, b, true, false);
        let product = self.b.copy(q);
        self.g(Isa::Imul, product, Arg::Reg(b, Size::B64));
        let r = self.b.copy(a);
        self.g(Isa::Sub, r, Arg::Reg(product, Size::B64));
        // All ones where the remainder is not 0 and its sign is not the divisor's.
        let wrong = self.b.copy(r);
        self.g(Isa::Xor, wrong, Arg::Reg(b, Size::B64));
        self.g(Isa::Sar, wrong, Arg::Imm(63));
        let zero = self.index_constant(0);
        self.b.isa(Isa::Test, Width::X, &[Arg::Reg(r, Size::B64), Arg::Reg(r, Size::B64)]);
        self.g(Isa::Cmove, wrong, Arg::Reg(zero, Size::B64));
        if modulo {
            self.g(Isa::And, wrong, Arg::Reg(b, Size::B64));
            self.g(Isa::Add, wrong, Arg::Reg(r, Size::B64));
            wrong
        } else {
            self.g(Isa::Add, q, Arg::Reg(wrong, Size::B64));
            q
        }
    }

    pub(super) fn divide(&mut self, a: VReg, b: VReg, signed: bool, remainder: bool) -> VReg {
        let dst = self.b.gpr();
        let args = [Arg::Reg(dst, Size::B64), Arg::Reg(a, Size::B64), Arg::Reg(b, Size::B64)];
        self.b.push(Kind::Divide { signed, remainder }, &args);
        dst
    }

    /// Division that never traps: by 0 gives 0, by -1 (signed) negates.
    pub(super) fn guarded_divide(
        &mut self,
        a: VReg,
        b: VReg,
        signed: bool,
        remainder: bool,
        divide: impl FnOnce(&mut Self, VReg, VReg) -> VReg,
    ) -> VReg {
        let (dst, done, other) = (self.b.gpr(), self.b.label(), self.b.label());
        self.b.isa(Isa::Mov32, Width::X, &[Arg::Reg(dst, Size::B32), Arg::Imm(0)]);
        self.b.isa(Isa::Test, Width::X, &[Arg::Reg(b, Size::B64), Arg::Reg(b, Size::B64)]);
        self.b.branch(Cond::Eq, done);
        if signed {
            self.b.isa(Isa::Cmp, Width::X, &[Arg::Reg(b, Size::B64), Arg::Imm(-1)]);
            self.b.branch(Cond::Ne, other);
            if !remainder {
                self.b.copy_to(dst, a);
                self.b.isa(Isa::Neg, Width::X, &[Arg::Reg(dst, Size::B64)]);
            }
            self.b.jump(done);
            self.b.bind(other);
        }
        let q = divide(self, a, b);
        self.b.copy_to(dst, q);
        self.b.bind(done);
        dst
    }
}

fn negated(c: i64) -> Option<i32> {
    i32::try_from(-c).ok()
}
