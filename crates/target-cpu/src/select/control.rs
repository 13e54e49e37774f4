//! Loops and branches.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Cond, Kind, Label, Size, VReg};
use crate::schedule::ops::{CpuOp, IndexOp};
use tegula_base::EntityId;
use tegula_ir::{OpId, RegionId, Value};

impl Select<'_> {
    /// The ops of a region. What was made inside of it for several ops is forgotten at its end.
    pub(super) fn region(&mut self, region: RegionId) -> Selected<()> {
        let ops = self.func.ops_in(region);
        self.forgetting(|s| ops.iter().try_for_each(|op| s.op(*op)))
    }

    /// ```text
    ///   iv = lo; carried = inits; if iv >= hi goto exit
    /// head: body; carried = yielded; iv += step; if iv < hi goto head
    /// exit:
    /// ```
    /// `hi + step` is below 2^63: bounds are sizes and addresses.
    pub(super) fn for_loop(&mut self, op: OpId, step: i64) -> Selected<()> {
        let func = self.func;
        let (operands, body) = (func.operands(op), func.regions_of(op)[0]);
        let args = func.args(body);
        let (lo, hi) = (operands[0], operands[1]);
        let bound = match self.immediate(hi) {
            Some(c) => Arg::Imm(c),
            None => Arg::Reg(self.reg(hi)?, Size::B64),
        };
        let iv = self.b.gpr();
        self.assign(iv, lo)?;
        self.values[args[0].index()] = Some(iv);
        let mut carried = Vec::with_capacity(args.len() - 1);
        for (&init, &arg) in operands[2..].iter().zip(&args[1..]) {
            let reg = self.fresh(*func.ty(arg))?;
            self.assign(reg, init)?;
            self.values[arg.index()] = Some(reg);
            carried.push(reg);
        }
        for (&result, &reg) in func.results(op).iter().zip(&carried) {
            self.values[result.index()] = Some(reg);
        }
        let exit = self.b.label();
        if !matches!((self.immediate(lo), self.immediate(hi)), (Some(lo), Some(hi)) if lo < hi) {
            self.compare_to(iv, bound);
            self.b.branch(Cond::Ge, exit);
        }
        let head = self.b.open_loop();
        self.region(body)?;
        self.b.op = Some(op);
        self.pass_on(body, &carried)?;
        self.advance(iv, step);
        self.compare_to(iv, bound);
        self.b.close_loop(Cond::Lt, head);
        self.b.bind(exit);
        Ok(())
    }

    /// Adds a constant to an induction variable.
    pub(super) fn advance(&mut self, iv: VReg, step: i64) {
        let step = match i32::try_from(step) {
            Ok(_) => Arg::Imm(step),
            Err(_) => Arg::Reg(self.index_constant(step), Size::B64),
        };
        self.g(Isa::Add, iv, step);
    }

    fn compare_to(&mut self, reg: VReg, bound: Arg) {
        self.b.isa(Isa::Cmp, Width::X, &[Arg::Reg(reg, Size::B64), bound]);
    }

    /// Copies a region's yielded values to `targets`, as if at once.
    fn pass_on(&mut self, region: RegionId, targets: &[VReg]) -> Selected<()> {
        let func = self.func;
        let Some(end) = func.terminator(region) else {
            return Err(self.internal("a region has no terminator"));
        };
        let mut sources = Vec::with_capacity(targets.len());
        for &value in func.operands(end) {
            sources.push(self.reg(value)?);
        }
        // A source that an earlier copy overwrites is saved first.
        for i in 0..sources.len() {
            if targets[..i].contains(&sources[i]) && sources[i] != targets[i] {
                sources[i] = self.b.copy(sources[i]);
                // The saved copy must be made before any target is written: no target is written yet.
            }
        }
        for (&target, &source) in targets.iter().zip(&sources) {
            if target != source {
                self.b.copy_to(target, source);
            }
        }
        Ok(())
    }

    /// `reg = value`, making constants in place.
    fn assign(&mut self, reg: VReg, value: Value) -> Selected<()> {
        let func = self.func;
        match func.def_op(value).map(|op| func.kind(op)) {
            Some(CpuOp::Const { value }) if i32::try_from(*value).is_ok() => {
                let size = if *value >= 0 { (Isa::Mov32, Size::B32) } else { (Isa::Mov, Size::B64) };
                self.b.isa(size.0, Width::X, &[Arg::Reg(reg, size.1), Arg::Imm(*value)]);
            }
            Some(CpuOp::VecConst { bits: 0, .. }) => {
                let (_, _, width) = self.shape(value)?;
                self.b.push(Kind::Zero, &[Arg::Reg(reg, width.into())]);
            }
            _ => {
                let source = self.reg(value)?;
                self.b.copy_to(reg, source);
            }
        }
        Ok(())
    }

    pub(super) fn if_else(&mut self, op: OpId) -> Selected<()> {
        let func = self.func;
        let (then, other) = (func.regions_of(op)[0], func.regions_of(op)[1]);
        let mut results = Vec::new();
        for &result in func.results(op) {
            let reg = self.fresh(*func.ty(result))?;
            self.values[result.index()] = Some(reg);
            results.push(reg);
        }
        let (to_else, end) = (self.b.label(), self.b.label());
        let has_else = func.ops_in(other).len() > 1 || !results.is_empty();
        let cond = self.condition(func.operand(op, 0))?;
        self.b.branch(cond.negate(), if has_else { to_else } else { end });
        self.region(then)?;
        self.pass_on(then, &results)?;
        if has_else {
            self.b.op = Some(op);
            self.b.jump(end);
            self.b.bind(to_else);
            self.region(other)?;
            self.pass_on(other, &results)?;
        }
        self.b.op = Some(op);
        self.b.bind(end);
        Ok(())
    }

    /// One of two ways to do a thing: `all` where a count is of all lanes or more.
    pub(super) fn where_full(
        &mut self,
        count: Value,
        lanes: u32,
        all: impl FnOnce(&mut Self) -> Selected<()>,
        some: impl FnOnce(&mut Self) -> Selected<()>,
    ) -> Selected<()> {
        let (to_some, end) = (self.b.label(), self.b.label());
        let count = self.reg(count)?;
        self.compare_to(count, Arg::Imm(i64::from(lanes)));
        self.b.branch(Cond::Lt, to_some);
        self.forgetting(all)?;
        self.b.jump(end);
        self.b.bind(to_some);
        self.forgetting(some)?;
        self.b.bind(end);
        Ok(())
    }

    /// Sets the flags for a condition value; true under the code returned. Nothing may come between that and its user.
    pub(super) fn condition(&mut self, value: Value) -> Selected<Cond> {
        let func = self.func;
        if let Some(op) = func.def_op(value).filter(|op| self.plan.is_absorbed(*op))
            && let CpuOp::Index { op: kind } = func.kind(op)
        {
            return self.compare_index(op, *kind);
        }
        let reg = self.reg(value)?;
        self.b.isa(Isa::Test, Width::X, &[Arg::Reg(reg, Size::B64), Arg::Reg(reg, Size::B64)]);
        Ok(Cond::Ne)
    }

    /// Compares the operands of an index comparison.
    pub(super) fn compare_index(&mut self, op: OpId, kind: IndexOp) -> Selected<Cond> {
        let a = self.operand(op, 0)?;
        let b = match self.immediate(self.func.operand(op, 1)) {
            Some(c) => Arg::Imm(c),
            None => Arg::Reg(self.operand(op, 1)?, Size::B64),
        };
        self.compare_to(a, b);
        Ok(match kind {
            IndexOp::Eq => Cond::Eq,
            IndexOp::Ne => Cond::Ne,
            IndexOp::Lt => Cond::Lt,
            _ => Cond::Le,
        })
    }

    /// A loop of selection's own: `body` once for `i` in `0..n`, where `n` may be 0 or negative.
    pub(super) fn repeat(
        &mut self,
        n: Arg,
        body: impl FnOnce(&mut Self, VReg) -> Selected<()>,
    ) -> Selected<()> {
        let i = self.b.gpr();
        let exit: Label = self.b.label();
        self.b.isa(Isa::Mov32, Width::X, &[Arg::Reg(i, Size::B32), Arg::Imm(0)]);
        if !matches!(n, Arg::Imm(n) if n > 0) {
            self.compare_to(i, n);
            self.b.branch(Cond::Ge, exit);
        }
        let head = self.b.open_loop();
        body(self, i)?;
        self.advance(i, 1);
        self.compare_to(i, n);
        self.b.close_loop(Cond::Lt, head);
        self.b.bind(exit);
        Ok(())
    }
}
