//! Elements of tiles on demand: for each place a register that holds the element for each thread.
//!
//! Pieces are made in the region where their tile is defined and shared from there on. An element that is outside of
//! the tile is some number; nobody stores it.

use super::{Lower, Made};
use crate::coord::{Coord, Place};
use crate::scalar::{Refused, apply, hold, select};
use crate::spread::Spread;
use tegula_base::DType;
use tegula_ir::{Def, OpId, ScalarOp, Value};
use tegula_isa_ptx::Operand;
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::types::CompareType;
use tegula_tile::{Accumulation, TileOp};

impl Lower<'_> {
    /// The elements at some places of a tile.
    pub fn pieces(&mut self, value: Value, places: &[Place]) -> Made<Vec<Operand>> {
        if let Some(op) = self.func.def_op(value) {
            // Cheaper made again than kept.
            match self.func.kind(op) {
                TileOp::Splat { dtype, bits, .. } => {
                    let bits = *bits as u64 & (u64::MAX >> (64 - 8 * dtype.size()));
                    return Ok(vec![hold(*dtype, bits); places.len()]);
                }
                TileOp::Iota { dtype, axis, .. } => {
                    return places.iter().map(|place| self.iota(*dtype, place[*axis])).collect();
                }
                _ => {}
            }
        }
        self.land(value);
        let home = self.level_of(value);
        let mut missing: Vec<Place> = Vec::new();
        for place in places {
            let known = self.scopes[home].pieces.contains_key(&(value, place.clone()));
            if !known && !missing.contains(place) {
                missing.push(place.clone());
            }
        }
        if !missing.is_empty() {
            let level = self.code.set_level(home);
            let made = self.make(value, &missing);
            self.code.set_level(level);
            for (place, piece) in missing.into_iter().zip(made?) {
                self.scopes[home].pieces.insert((value, place), piece);
            }
        }
        let scope = &self.scopes[home];
        Ok(places.iter().map(|place| scope.pieces[&(value, place.clone())]).collect())
    }

    /// As [`Self::pieces`], for whoever rounds two to 16 bits at once: of a value that is rounded to them, what it is the
    /// rounding of.
    pub fn unrounded_pieces(&mut self, value: Value, places: &[Place]) -> Made<Vec<Operand>> {
        let mut from = value;
        let mut at = places.to_vec();
        while let Some(op) = self.func.def_op(from) {
            let operand = || self.func.operand(op, 0);
            match self.func.kind(op) {
                TileOp::Elementwise { f: ScalarOp::Cast { to: DType::BF16 | DType::F16, .. } }
                    if self.tile(operand()).0 == DType::F32 =>
                {
                    return self.pieces(operand(), &at);
                }
                TileOp::Reshape { .. } => match self.moved(op, &at) {
                    Some(inner) => (from, at) = (operand(), inner),
                    None => break,
                },
                _ => break,
            }
        }
        self.pieces(value, places)
    }

    /// Pieces that are not there yet; the region of the tile is written to.
    fn make(&mut self, value: Value, places: &[Place]) -> Made<Vec<Operand>> {
        let home = self.level_of(value);
        if self.scopes[home].anchors.contains_key(&value) {
            return self.staged(value, places);
        }
        let Def::Result(op, _) = self.func.def(value) else {
            unreachable!("invariant: arguments of open regions are anchored")
        };
        let operands = self.func.operands(op).to_vec();
        let (dtype, shape) = self.tile(value);
        match self.func.kind(op).clone() {
            TileOp::Elementwise { f } => {
                let dtypes: Vec<DType> = operands.iter().map(|operand| self.tile(*operand).0).collect();
                let mut columns = Vec::new();
                for operand in &operands {
                    columns.push(self.pieces(*operand, places)?);
                }
                let row = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<_>>();
                (0..places.len()).map(|i| apply(&mut self.code, f, &dtypes, &row(i))).collect()
            }
            TileOp::Broadcast { .. }
            | TileOp::Transpose { .. }
            | TileOp::Extract { .. }
            | TileOp::Reshape { .. } => match self.moved(op, places) {
                Some(inner) => self.pieces(operands[0], &inner),
                None => self.staged_as(operands[0], &shape, places),
            },
            TileOp::Concat { axis } => self.concat(&operands, axis, dtype, places),
            TileOp::FromIndex { dtype } => {
                let index = self.index(operands[0])?;
                let cast = ScalarOp::Cast { to: dtype, saturate: true };
                let piece = apply(&mut self.code, cast, &[DType::I64], &[index])?;
                Ok(vec![piece; places.len()])
            }
            TileOp::Load { .. } if self.is_streamed(op) => self.slot_pieces(op, places),
            TileOp::Load { .. } => self.load(op, places),
            TileOp::Gather {} => self.gather(op, places),
            TileOp::Reduce { .. } | TileOp::Scan { .. } | TileOp::Dot { .. } => {
                match self.func.kind(op) {
                    TileOp::Reduce { f, axis } => self.reduce(op, *f, *axis)?,
                    TileOp::Scan { f, axis, reverse } => self.scan(op, *f, *axis, *reverse)?,
                    TileOp::Dot { accumulation: Some(Accumulation::I16Pairs) } => {
                        return Err(Refused { what: "sums of pairs of products".into(), dtype: DType::I16 });
                    }
                    _ => self.dot(op)?,
                }
                self.pieces(value, places)
            }
            other => unreachable!("invariant: `{}` makes no tile on demand", tegula_ir::Op::name(&other)),
        }
    }

    /// Where an op that only moves elements finds those of some places in its operand; none where a merged axis does not
    /// split over threads.
    pub fn moved(&mut self, op: OpId, places: &[Place]) -> Option<Vec<Place>> {
        let (_, from) = self.tile(self.func.operand(op, 0));
        let (_, shape) = self.tile(self.func.result(op));
        let func = self.func;
        let mut own = |place: &Place| -> Option<Place> {
            Some(match func.kind(op) {
                TileOp::Broadcast { .. } => {
                    let own = |(extent, coord): (&i64, &Coord)| match extent {
                        1 => Coord::uniform(0),
                        _ => *coord,
                    };
                    from.iter().zip(place).map(own).collect()
                }
                TileOp::Transpose { perm } => {
                    let mut own = place.clone();
                    for (i, axis) in perm.iter().enumerate() {
                        own[*axis] = place[i];
                    }
                    own
                }
                TileOp::Extract { offsets, .. } => {
                    place.iter().zip(offsets).map(|(coord, offset)| coord.plus(*offset)).collect()
                }
                TileOp::Reshape { .. } => return self.maps.unreshape(&from, &shape, place),
                _ => unreachable!("invariant: an op that moves elements"),
            })
        };
        places.iter().map(&mut own).collect()
    }

    /// Makes a tile exist as a whole, in the spread that it prefers.
    pub fn anchor(&mut self, value: Value) -> Made<()> {
        let home = self.level_of(value);
        if self.scopes[home].anchors.contains_key(&value) {
            return Ok(());
        }
        let spread = self.spread_of(value);
        self.pieces(value, &spread.places)?;
        // Reductions and products have made themselves.
        let anchors = &mut self.scopes[home].anchors;
        anchors.entry(value).or_insert(spread);
        Ok(())
    }

    /// Notes a tile that exists as a whole; `registers` are its elements at the places of the spread.
    pub fn anchor_at(&mut self, value: Value, spread: Spread, registers: &[Operand]) {
        let home = self.level_of(value);
        let scope = &mut self.scopes[home];
        for (place, register) in spread.places.iter().zip(registers) {
            scope.pieces.insert((value, place.clone()), *register);
        }
        scope.anchors.insert(value, spread);
    }

    fn iota(&mut self, dtype: DType, coord: Coord) -> Made<Operand> {
        let thread = self.thread(coord.map);
        let position = self.code.add32(thread, Operand::i32(coord.at as i32));
        apply(&mut self.code, ScalarOp::Cast { to: dtype, saturate: true }, &[DType::I32], &[position])
    }

    /// Each thread takes its element from the part that has it; where threads differ in that, from all of them.
    fn concat(&mut self, parts: &[Value], axis: usize, dtype: DType, places: &[Place]) -> Made<Vec<Operand>> {
        let mut starts = vec![0];
        for part in parts {
            starts.push(starts[starts.len() - 1] + self.tile(*part).1[axis]);
        }
        let mut results = Vec::new();
        for place in places {
            let (at, reach) = (place[axis].at, self.maps.most(place[axis].map));
            let meets = |i: &usize| at < starts[i + 1] && at + reach >= starts[*i];
            let within: Vec<usize> = (0..parts.len()).filter(meets).collect();
            let mut result: Option<Operand> = None;
            for i in within {
                let mut own = place.clone();
                own[axis] = own[axis].plus(-starts[i]);
                let piece = self.pieces(parts[i], &[own])?[0];
                result = Some(match result {
                    None => piece,
                    Some(before) => {
                        let thread = self.thread(place[axis].map);
                        let position = self.code.add32(thread, Operand::i32(at as i32));
                        let start = Operand::i32(starts[i] as i32);
                        let later = self.code.compare(Compare::Ge, CompareType::S32, position, start);
                        select(&mut self.code, dtype, later.into(), piece, before)
                    }
                });
            }
            results.push(result.unwrap_or(Operand::Imm(0)));
        }
        Ok(results)
    }
}
