//! Loops and branches. All threads of the CTA take them alike, as indexes decide.

use super::{Lower, Made};
use crate::code::{Branch, Item, Loop};
use crate::scalar::held_class;
use crate::spread::Spread;
use tegula_ir::{OpId, RegionId, Value};
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::{Operand, Reg, RegClass};
use tegula_tile::TileType;

/// A value that passes an edge of a region, in registers that each round writes.
struct Carried {
    registers: Vec<Reg>,
    /// Of a tile; none of an index.
    spread: Option<Spread>,
}

impl Lower<'_> {
    pub fn for_loop(&mut self, op: OpId, step: i64) -> Made<()> {
        let operands = self.func.operands(op).to_vec();
        let (lo, hi) = (self.index(operands[0])?, self.index(operands[1])?);
        let region = self.func.regions_of(op)[0];
        let args = self.func.args(region).to_vec();
        let mut carried = Vec::new();
        // A producer's loops count rounds, and nothing else.
        let inits = if self.is_producer() { &[] } else { &operands[2..] };
        for init in inits {
            // The spread that the loop's body wants, where the value has none of its own.
            let arg = args[1 + carried.len()];
            let own = self.carried(arg);
            self.assign(*init, &own)?;
            carried.push(own);
        }
        let iv = self.code.b64();
        self.code.copy_to(iv, lo);
        let level = self.code.level();
        self.code.open();
        let go_on = self.code.compare64(Compare::Lt, iv.into(), hi).into();
        let head = self.code.close(level);
        let (pending, body) = self.in_region(region, |cx| {
            let scope = cx.scopes.last_mut().expect("invariant: the body is open");
            scope.indexes.insert(args[0], iv.into());
            for (arg, own) in args[1..].iter().zip(&carried) {
                cx.bind(*arg, own);
            }
            let sums: Vec<&[Reg]> = carried.iter().map(|own| own.registers.as_slice()).collect();
            let pending = cx.begin_pending(region, &sums, iv, lo);
            cx.pending.extend(pending.clone());
            cx.region(region)?;
            cx.yield_to(region, &carried)?;
            let next = cx.code.add64(iv.into(), Operand::i64(step));
            cx.code.copy_to(iv, next);
            Ok(pending)
        })?;
        self.code.push(Item::Loop(Box::new(Loop { head, go_on, body })));
        if let Some(pending) = pending {
            self.pending.pop();
            self.end_pending(&pending, lo, hi);
        }
        let results = self.func.results(op).to_vec();
        results.iter().zip(&carried).for_each(|(result, own)| self.bind(*result, own));
        Ok(())
    }

    pub fn branch(&mut self, op: OpId) -> Made<()> {
        let condition = self.index(self.func.operand(op, 0))?;
        let results = if self.is_producer() { Vec::new() } else { self.func.results(op).to_vec() };
        let carried: Vec<Carried> = results.iter().map(|result| self.carried(*result)).collect();
        let condition = self.code.in_reg(RegClass::B64, condition);
        let p = self.code.compare64(Compare::Ne, condition.into(), Operand::i64(0));
        let mut arms = Vec::new();
        for region in self.func.regions_of(op).to_vec() {
            let ((), items) = self.in_region(region, |cx| {
                cx.region(region)?;
                cx.yield_to(region, &carried)
            })?;
            arms.push(items);
        }
        let other = arms.pop().expect("invariant: a branch has two regions");
        let then = arms.pop().expect("invariant: a branch has two regions");
        self.code.push(Item::Branch(Box::new(Branch { condition: p.into(), then, other })));
        results.iter().zip(&carried).for_each(|(result, own)| self.bind(*result, own));
        Ok(())
    }

    /// Registers for a value that passes an edge.
    fn carried(&mut self, value: Value) -> Carried {
        match self.func.ty(value).clone() {
            TileType::Tile { dtype, .. } => {
                let spread = self.spread_of(value);
                let class = held_class(dtype);
                let registers = spread.places.iter().map(|_| self.code.fresh(class)).collect();
                Carried { registers, spread: Some(spread) }
            }
            TileType::Index | TileType::View(_) => Carried { registers: vec![self.code.b64()], spread: None },
        }
    }

    fn bind(&mut self, value: Value, own: &Carried) {
        let registers: Vec<Operand> = own.registers.iter().map(|reg| (*reg).into()).collect();
        match &own.spread {
            Some(spread) => self.anchor_at(value, spread.clone(), &registers),
            None => {
                let home = self.level_of(value);
                self.scopes[home].indexes.insert(value, registers[0]);
            }
        }
    }

    fn elements(&mut self, value: Value, own: &Carried) -> Made<Vec<Operand>> {
        match &own.spread {
            Some(spread) => self.pieces(value, &spread.places),
            None => Ok(vec![self.index(value)?]),
        }
    }

    fn assign(&mut self, value: Value, own: &Carried) -> Made<()> {
        let elements = self.elements(value, own)?;
        for (register, element) in own.registers.iter().zip(elements) {
            self.code.copy_to(*register, element);
        }
        Ok(())
    }

    /// The next values of what a region gives, all read before the first is written.
    fn yield_to(&mut self, region: RegionId, carried: &[Carried]) -> Made<()> {
        let end = self.func.terminator(region).expect("invariant: a region ends with `yield`");
        let operands = self.func.operands(end).to_vec();
        let mut moves: Vec<(Reg, Operand)> = Vec::new();
        for (value, own) in operands.iter().zip(carried) {
            let elements = self.elements(*value, own)?;
            moves.extend(own.registers.iter().copied().zip(elements));
        }
        moves.retain(|(to, from)| *from != Operand::Reg(*to));
        let written: Vec<Reg> = moves.iter().map(|(to, _)| *to).collect();
        for (_, from) in &mut moves {
            if let Operand::Reg(reg) = *from
                && written.contains(&reg)
            {
                let copy = self.code.fresh(reg.class());
                self.code.copy_to(copy, reg.into());
                *from = copy.into();
            }
        }
        moves.into_iter().for_each(|(to, from)| self.code.copy_to(to, from));
        Ok(())
    }
}
