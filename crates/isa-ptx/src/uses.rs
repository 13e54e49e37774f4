//! The registers of an instruction: which it reads, which it writes; and their renaming.

use crate::form::{Access, Place, Visitor};
use crate::key::Key;
use crate::module::{BlockId, Inst};
use crate::op::Op;
use crate::operand::{Address, Base, Operand, OperandList, Predicate, RegList};
use crate::reg::Reg;
use crate::types::Scalar;

impl Op {
    /// Calls `f` for each register with its access, in the order of the text; `f` may rename it within its class.
    pub fn for_each_reg(&mut self, f: impl FnMut(&mut Reg, Access)) {
        self.form(&mut Registers { f });
    }

    /// Registers read, accumulators among them, in the order of the text.
    pub fn reads(&self) -> Vec<Reg> {
        self.registers(|access| access != Access::Write)
    }

    /// Registers written, accumulators among them, in the order of the text.
    pub fn writes(&self) -> Vec<Reg> {
        self.registers(|access| access != Access::Read)
    }

    fn registers(&self, wanted: impl Fn(Access) -> bool) -> Vec<Reg> {
        let mut found = Vec::new();
        self.clone().for_each_reg(|reg, access| {
            if wanted(access) {
                found.push(*reg);
            }
        });
        found
    }
}

impl Inst {
    /// Registers read, the guard first.
    pub fn reads(&self) -> Vec<Reg> {
        self.guard.iter().map(|guard| guard.reg).chain(self.op.reads()).collect()
    }

    /// Registers written.
    pub fn writes(&self) -> Vec<Reg> {
        self.op.writes()
    }
}

struct Registers<F> {
    f: F,
}

impl<F: FnMut(&mut Reg, Access)> Registers<F> {
    fn read_operand(&mut self, operand: &mut Operand) {
        if let Operand::Reg(reg) = operand {
            (self.f)(reg, Access::Read);
        }
    }

    fn read_address(&mut self, address: &mut Address) {
        if let Base::Reg(reg) = &mut address.base {
            (self.f)(reg, Access::Read);
        }
    }
}

impl<F: FnMut(&mut Reg, Access)> Visitor for Registers<F> {
    fn word(&mut self, _: &'static str) -> &mut Self {
        self
    }

    fn key<K: Key>(&mut self, _: &mut K) -> &mut Self {
        self
    }

    fn opt_key<K: Key>(&mut self, _: &mut Option<K>) -> &mut Self {
        self
    }

    fn flag(&mut self, _: &mut bool, _: &'static str) -> &mut Self {
        self
    }

    fn presence<T: Default>(&mut self, _: &mut Option<T>, _: &'static str) -> &mut Self {
        self
    }

    fn count(&mut self, _: &mut RegList, _: &'static [(usize, &'static str)]) -> &mut Self {
        self
    }

    fn reg(&mut self, reg: &mut Reg, _: Scalar, access: Access) -> &mut Self {
        (self.f)(reg, access);
        self
    }

    fn operand(&mut self, operand: &mut Operand, _: Scalar) -> &mut Self {
        self.read_operand(operand);
        self
    }

    fn opt_operand(&mut self, operand: &mut Option<Operand>, _: Scalar) -> &mut Self {
        operand.iter_mut().for_each(|operand| self.read_operand(operand));
        self
    }

    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self {
        (self.f)(&mut predicate.reg, Access::Read);
        self
    }

    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self {
        predicate.iter_mut().for_each(|predicate| (self.f)(&mut predicate.reg, Access::Read));
        self
    }

    fn reg_and_predicate(&mut self, reg: &mut Reg, _: Scalar, predicate: &mut Option<Reg>) -> &mut Self {
        (self.f)(reg, Access::Write);
        predicate.iter_mut().for_each(|reg| (self.f)(reg, Access::Write));
        self
    }

    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, _: Scalar, predicate: &mut Reg) -> &mut Self {
        reg.iter_mut().for_each(|reg| (self.f)(reg, Access::Write));
        (self.f)(predicate, Access::Write);
        self
    }

    fn sink(&mut self, reg: &mut Option<Reg>, _: Scalar) -> &mut Self {
        reg.iter_mut().for_each(|reg| (self.f)(reg, Access::Write));
        self
    }

    fn regs(&mut self, regs: &mut RegList, _: usize, _: Scalar, access: Access) -> &mut Self {
        regs.iter_mut().for_each(|reg| (self.f)(reg, access));
        self
    }

    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        self.regs(regs, count, ty, access)
    }

    fn operands(&mut self, operands: &mut OperandList, _: usize, _: Scalar) -> &mut Self {
        operands.iter_mut().for_each(|operand| self.read_operand(operand));
        self
    }

    fn immediate(&mut self, _: &mut u32) -> &mut Self {
        self
    }

    fn sign(&mut self, _: &mut bool) -> &mut Self {
        self
    }

    fn bit(&mut self, _: &mut bool) -> &mut Self {
        self
    }

    fn address(&mut self, address: &mut Address, _: Place) -> &mut Self {
        self.read_address(address);
        self
    }

    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, rank: usize) -> &mut Self {
        self.read_address(map);
        self.operands(corner, rank, Scalar::S32)
    }

    fn label(&mut self, _: &mut BlockId) -> &mut Self {
        self
    }

    fn symbol(&mut self, _: &mut Address) -> &mut Self {
        self
    }

    fn name<K: Key>(&mut self, _: &mut K) -> &mut Self {
        self
    }

    fn fixed(&mut self, _: &'static str) -> &mut Self {
        self
    }
}
