//! Loops and branches. All threads of the CTA take them alike, as indexes decide.

use super::ahead::Ahead;
use super::wgmma::Pending;
use super::{Lower, Made};
use crate::code::{Branch, Item, Loop};
use crate::scalar::held_class;
use crate::spread::Spread;
use tegula_ir::{OpId, RegionId, Value};
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::{Operand, Reg, RegClass};
use tegula_tile::TileType;

/// A value that passes an edge of a region, in registers that each round writes.
pub(super) struct Carried {
    pub registers: Vec<Reg>,
    /// Of a tile; none of an index.
    pub spread: Option<Spread>,
}

/// A loop that is being lowered.
pub(super) struct Rounds {
    pub region: RegionId,
    pub lo: Operand,
    pub hi: Operand,
    pub step: i64,
    /// The counter.
    pub iv: Reg,
    pub carried: Vec<Carried>,
    /// Loads that a round finds done.
    pub ahead: Vec<Ahead>,
}

impl Lower<'_> {
    pub fn for_loop(&mut self, op: OpId, step: i64) -> Made<()> {
        let operands = self.func.operands(op).to_vec();
        self.land_all();
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
        let ahead = self.loads_ahead(region);
        self.load_first(region, &ahead, [lo, hi])?;
        let iv = self.code.b64();
        self.code.copy_to(iv, lo);
        let rounds = Rounds { region, lo, hi, step, iv, carried, ahead };
        match self.late_product(&rounds) {
            Some(late) => self.late_loop(&rounds, late)?,
            None => self.plain_loop(&rounds)?,
        }
        let results = self.func.results(op).to_vec();
        results.iter().zip(&rounds.carried).for_each(|(result, own)| self.bind(*result, own));
        Ok(())
    }

    fn plain_loop(&mut self, rounds: &Rounds) -> Made<()> {
        let Rounds { lo, hi, iv, .. } = *rounds;
        let level = self.code.level();
        self.code.open();
        let go_on = self.code.compare64(Compare::Lt, iv.into(), hi).into();
        let head = self.code.close(level);
        let (pending, body) = self.round(rounds)?;
        self.code.push(Item::Loop(Box::new(Loop { head, go_on, body })));
        if let Some(pending) = pending {
            self.pending.pop();
            self.end_pending(&pending, lo, hi);
        }
        Ok(())
    }

    /// One round's code, and what of it may stay pending.
    pub fn round(&mut self, rounds: &Rounds) -> Made<(Option<Pending>, Vec<Item>)> {
        let region = rounds.region;
        let args = self.func.args(region).to_vec();
        self.in_region(region, |cx| {
            let scope = cx.scopes.last_mut().expect("invariant: the body is open");
            scope.indexes.insert(args[0], rounds.iv.into());
            for (arg, own) in args[1..].iter().zip(&rounds.carried) {
                cx.bind(*arg, own);
            }
            let sums: Vec<&[Reg]> = rounds.carried.iter().map(|own| own.registers.as_slice()).collect();
            let pending = cx.begin_pending(region, &sums, rounds.iv, rounds.lo);
            cx.pending.extend(pending.clone());
            cx.load_next(rounds)?;
            cx.region(region)?;
            let left = cx.late_left(rounds)?;
            let moves = cx.next_values(region, &rounds.carried)?;
            cx.scale_late(rounds)?;
            cx.land_all();
            left.into_iter().for_each(|left| cx.keep_left(left));
            cx.move_all(moves);
            let next = cx.code.add64(rounds.iv.into(), Operand::i64(rounds.step));
            cx.code.copy_to(rounds.iv, next);
            Ok(pending)
        })
    }

    pub fn branch(&mut self, op: OpId) -> Made<()> {
        let multiplies = self.has_products(op);
        if multiplies {
            self.land_all();
        }
        let condition = self.index(self.func.operand(op, 0))?;
        let results = if self.is_producer() { Vec::new() } else { self.func.results(op).to_vec() };
        let carried: Vec<Carried> = results.iter().map(|result| self.carried(*result)).collect();
        let condition = self.code.in_reg(RegClass::B64, condition);
        let p = self.code.compare64(Compare::Ne, condition.into(), Operand::i64(0));
        let mut arms = Vec::new();
        for region in self.func.regions_of(op).to_vec() {
            let ((), items) = self.in_region(region, |cx| {
                cx.region(region)?;
                let moves = cx.next_values(region, &carried)?;
                if multiplies {
                    cx.land_all();
                }
                cx.move_all(moves);
                Ok(())
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

    /// The next values of what a region gives, by register.
    fn next_values(&mut self, region: RegionId, carried: &[Carried]) -> Made<Vec<(Reg, Operand)>> {
        let end = self.func.terminator(region).expect("invariant: a region ends with `yield`");
        let operands = self.func.operands(end).to_vec();
        let mut moves: Vec<(Reg, Operand)> = Vec::new();
        for (value, own) in operands.iter().zip(carried) {
            let Some(value) = self.carried_value(*value) else { continue };
            let elements = self.elements(value, own)?;
            moves.extend(own.registers.iter().copied().zip(elements));
        }
        Ok(moves)
    }

    /// All are read before the first is written.
    fn move_all(&mut self, mut moves: Vec<(Reg, Operand)>) {
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
    }
}
