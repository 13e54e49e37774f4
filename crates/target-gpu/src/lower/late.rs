//! Products of the round before: a loop's last product runs on matrix units while the next round computes its factor.
//!
//! A round of attention multiplies twice, with a softmax between. The second product of a round is started right
//! after the first of the next one, so that the softmax waits for the first alone: products end in order.
//!
//! ```text
//!   first round    S 0 ─ softmax 0
//!   round i        S i · late i-1 ─ softmax i ─ wait for late i-1
//!   behind them    late n-1
//! ```
//! Two warpgroups take turns in starting products, so that one multiplies while the other computes. Sums that a round
//! multiplies by a column are left alone where the column is 1 in all rows of a warp, as it is once maxima stand; the
//! branch also keeps the assembler from waiting before the softmax.
//! Source: J. Shah et al., "FlashAttention-3", arXiv 2407.08608, section 3.2 and algorithm 2.

use super::control::Rounds;
use super::stream::{Left, Product};
use super::wgmma::WARPGROUP_BIT;
use super::{Lower, Made, TURN_BARRIER};
use crate::code::{Branch, Item, Loop};
use crate::coord::{Coord, Place};
use crate::scalar::apply;
use tegula_base::DType;
use tegula_ir::{Def, OpId, ScalarOp, Value};
use tegula_isa_ptx::modifiers::{BoolOp, Compare, VoteMode};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::CompareType;
use tegula_isa_ptx::{Operand, Predicate, Reg};
use tegula_tile::TileOp;

/// A product that the loop being lowered starts a round late.
#[derive(Clone, Debug)]
pub(super) struct Late {
    op: OpId,
    plan: Product,
    /// The product that it is started after.
    after: OpId,
    /// The loop's value that has its sums: the region's argument, the registers.
    arg: Value,
    sums: Vec<Reg>,
    /// The left factor's registers from one round to the next.
    left: Vec<Reg>,
    /// The column that a round multiplies the sums by, and nothing else.
    column: Option<Value>,
    /// Whether there is a round before this one.
    runs: bool,
}

/// Both warpgroups: one waits, one arrives.
const TURN_THREADS: Operand = Operand::Imm(256);

impl Lower<'_> {
    /// Whether a product is left to the next round.
    pub fn is_late(&self, op: OpId) -> bool {
        self.late.iter().any(|late| late.op == op)
    }

    /// The last product of a loop's body, where another one does not wait for it and its sums are only carried on.
    pub fn late_product(&mut self, rounds: &Rounds) -> Option<Late> {
        let region = rounds.region;
        let streams = self.streams.filter(|_| !self.is_producer())?;
        let ops = self.func.ops_in(region).to_vec();
        let products: Vec<OpId> = ops.iter().copied().filter(|op| self.product(*op).is_some()).collect();
        let [after, .., op] = *products else { return None };
        let plan = self.product(op)?.clone();
        let end = self.func.terminator(region)?;
        let (result, left) = (self.func.result(op), self.func.operand(op, 1));
        let number = self.func.operands(end).iter().position(|value| *value == result)?;
        let own_slots = streams
            .rings
            .iter()
            .all(|ring| !ring.products.contains(&op) || ring.region == region && ring.products == [op]);
        let stays = own_slots
            && matches!(plan.left, Left::Registers)
            && self.func.users(result) == [end]
            && self.func.operands(end).iter().filter(|value| **value == result).count() == 1
            && matches!(self.func.def(left), Def::Result(maker, _) if self.func.parent(maker) == Some(region));
        let places = self.product_places(&plan);
        let carried = &rounds.carried[number];
        let same = carried.spread.as_ref().is_some_and(|spread| spread.places == places);
        if !stays || !same {
            return None;
        }
        // Nobody else may ask for sums that are not there yet.
        let (arg, before) = (self.func.args(region)[1 + number], self.func.operand(op, 0));
        let column = self.scaling_column(arg, before);
        if column.is_none() && (before != arg || self.func.users(arg) != [op]) {
            return None;
        }
        let count = 4 * plan.steps * plan.blocks;
        Some(Late {
            column,
            op,
            after,
            arg,
            sums: carried.registers.clone(),
            left: (0..count).map(|_| self.code.b32()).collect(),
            plan,
            runs: false,
        })
    }

    /// The loop with its late product: a round without, rounds with the one before, and the last one behind them.
    pub fn late_loop(&mut self, rounds: &Rounds, late: Late) -> Made<()> {
        let some = self.code.compare64(Compare::Lt, rounds.lo, rounds.hi).into();
        let ((), then) = self.in_region(rounds.region, |cx| {
            cx.late.push(late.clone());
            let (_, first) = cx.round(rounds)?;
            first.into_iter().for_each(|item| cx.code.push(item));
            let level = cx.code.level();
            cx.code.open();
            let go_on = cx.code.compare64(Compare::Lt, rounds.iv.into(), rounds.hi).into();
            let head = cx.code.close(level);
            cx.late.last_mut().expect("invariant: pushed above").runs = true;
            let (_, body) = cx.round(rounds)?;
            cx.late.pop();
            cx.code.push(Item::Loop(Box::new(Loop { head, go_on, body })));
            cx.start_late(&late);
            cx.code.emit(WgmmaWaitGroup { groups: 0 });
            cx.release_of(late.op);
            Ok(())
        })?;
        self.code.push(Item::Branch(Box::new(Branch { condition: some, then, other: Vec::new() })));
        Ok(())
    }

    /// The column in `scaled = arg * broadcast(column)`, where nobody else uses the two.
    fn scaling_column(&self, arg: Value, scaled: Value) -> Option<Value> {
        let alone = |value: Value| self.func.users(value).len() == 1;
        let op = self.func.def_op(scaled)?;
        let is_product = matches!(self.func.kind(op), TileOp::Elementwise { f: ScalarOp::Mul });
        if !is_product || !alone(arg) || !alone(scaled) || self.tile(arg).0 != DType::F32 {
            return None;
        }
        let factor = match *self.func.operands(op) {
            [one, factor] | [factor, one] if one == arg => factor,
            _ => return None,
        };
        let spread = self.func.def_op(factor)?;
        let TileOp::Broadcast { .. } = self.func.kind(spread) else { return None };
        let column = self.func.operand(spread, 0);
        matches!(self.tile(column).1[..], [rows, 1] if rows > 1).then_some(column)
    }

    /// Before a product is started: the other warpgroup has started its own, and computes.
    pub fn wait_turn(&mut self, op: OpId) {
        if self.late.iter().any(|late| late.after == op && late.runs) && self.takes_turns() {
            let id = self.turn();
            self.code.emit(BarrierSync { aligned: true, id, threads: Some(TURN_THREADS) });
        }
    }

    /// Behind the start of a product: the one that follows it late, then the other warpgroup's turn.
    pub fn start_late_after(&mut self, op: OpId) {
        let Some(late) = self.late.iter().find(|late| late.after == op && late.runs).cloned() else { return };
        self.start_late(&late);
        self.take_off(late.arg, late.op);
        if self.takes_turns() {
            let own = self.turn();
            let other = self.code.xor32(own, 1);
            self.code.emit(BarrierArrive { aligned: true, id: other, threads: TURN_THREADS });
        }
    }

    fn takes_turns(&self) -> bool {
        self.streams.is_some_and(|streams| streams.warpgroups == 2)
    }

    /// The barrier of this warpgroup's turns. The second warpgroup gives the first one the first turn, before all units;
    /// after the last one nobody waits for it.
    fn turn(&mut self) -> Operand {
        if let Some(turn) = self.turn {
            return turn;
        }
        let level = self.code.set_level(0);
        let number = self.maps.intern([(WARPGROUP_BIT, 1)].into_iter().collect());
        let number = self.uniform_thread(number);
        let turn = self.code.add32(number, Operand::u32(TURN_BARRIER));
        let second = self.code.compare(Compare::Ne, CompareType::U32, turn, Operand::u32(TURN_BARRIER));
        let first = BarrierArrive { aligned: true, id: Operand::u32(TURN_BARRIER), threads: TURN_THREADS };
        self.code.emit_if(Some(second.into()), first);
        self.code.set_level(level);
        self.turn = Some(turn);
        turn
    }

    fn start_late(&mut self, late: &Late) {
        self.get_first(late.op);
        self.instructions(&late.plan, &late.sums, &late.left, false);
    }

    /// What a round leaves to the next one: the late product's sums so far in place of its own; none where these stay
    /// where they are.
    pub fn carried_value(&self, value: Value) -> Option<Value> {
        match self.late.iter().find(|late| self.func.result(late.op) == value) {
            Some(late) => late.column.is_none().then(|| self.func.operand(late.op, 0)),
            None => Some(value),
        }
    }

    /// At the end of a round: the sums in place times their column, where a row of the warp has another factor than 1.
    pub fn scale_late(&mut self, rounds: &Rounds) -> Made<()> {
        let in_region = |late: &&Late| self.func.parent(late.op) == Some(rounds.region);
        let Some(late) = self.late.last().filter(in_region).cloned() else { return Ok(()) };
        let Some(column) = late.column else { return Ok(()) };
        let places = self.product_places(&late.plan);
        let rows: Vec<Place> =
            places.iter().map(|place| [place[0], Coord::uniform(0)].into_iter().collect()).collect();
        let factors = self.pieces(column, &rows)?;
        let mut rises: Option<Predicate> = None;
        let mut seen: Vec<Operand> = Vec::new();
        for factor in &factors {
            if !seen.contains(factor) {
                seen.push(*factor);
                let p = self.code.pred();
                self.code.emit(Setp {
                    cmp: Compare::Neu,
                    ty: CompareType::F32,
                    p,
                    a: *factor,
                    b: Operand::f32(1.0),
                    combine: rises.map(|_| BoolOp::Or),
                    c: rises,
                    ..Default::default()
                });
                rises = Some(p.into());
            }
        }
        let a = rises.expect("invariant: a product has sums");
        let p = self.code.pred();
        self.code.emit(Vote { mode: VoteMode::Any, p, a, mask: Operand::u32(u32::MAX) });
        let level = self.code.level();
        self.code.open();
        self.code.emit(WgmmaWaitGroup { groups: 0 });
        for (sum, factor) in late.sums.iter().zip(factors) {
            let scaled = apply(&mut self.code, ScalarOp::Mul, &[DType::F32; 2], &[(*sum).into(), factor])?;
            self.code.copy_to(*sum, scaled);
        }
        let then = self.code.close(level);
        self.code.push(Item::Branch(Box::new(Branch { condition: p.into(), then, other: Vec::new() })));
        Ok(())
    }

    /// The late product of the loop whose body ends: its left factor, not yet packed.
    pub fn late_left(&mut self, rounds: &Rounds) -> Made<Option<LateLeft>> {
        let in_region = |late: &&Late| self.func.parent(late.op) == Some(rounds.region);
        let Some(late) = self.late.last().filter(in_region).cloned() else { return Ok(None) };
        let value = self.func.operand(late.op, 1);
        let pieces = self.fragment_pieces(value, &late.plan)?;
        Ok(Some(LateLeft { value, pieces, registers: late.left }))
    }

    /// Packs it, once the round before has read its own.
    pub fn keep_left(&mut self, left: LateLeft) {
        let (dtype, _) = self.tile(left.value);
        let run = left.pieces.len() / left.registers.len();
        for (d, run) in left.registers.into_iter().zip(left.pieces.chunks(run)) {
            self.pack(d, dtype, run);
        }
    }
}

pub(super) struct LateLeft {
    value: Value,
    pieces: Vec<Operand>,
    registers: Vec<Reg>,
}
