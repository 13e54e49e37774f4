//! Loads a round ahead: what a loop with products reads beside its rings, a scale of some rows, is on its way while the
//! round before multiplies.
//!
//! The registers hold the elements as memory has them; they become numbers when they are used, since whoever touches a
//! register waits for its load.

use super::control::Rounds;
use super::stream::Left;
use super::{Lower, Made, Scope};
use crate::code::{Branch, Item};
use crate::coord::Place;
use crate::scalar::{from_memory, raw_bits, raw_type};
use std::collections::BTreeMap;
use tegula_ir::{OpId, RegionId, Value};
use tegula_isa_ptx::modifiers::{Compare, StateSpace};
use tegula_isa_ptx::op::{Ld, Selp};
use tegula_isa_ptx::types::SelectType;
use tegula_isa_ptx::{Operand, Reg};
use tegula_tile::TileOp;

/// A load of a loop's body, the elements that each thread wants, and their registers.
pub(super) struct Ahead {
    load: OpId,
    places: Vec<Place>,
    raws: Vec<Reg>,
}

/// The elements that are wanted of tiles that were asked about.
type Wanted = BTreeMap<Value, Option<Vec<Place>>>;

/// Registers of a thread that one load may take.
const MOST: usize = 8;

impl Lower<'_> {
    /// The loads that a loop's rounds find done.
    pub fn loads_ahead(&mut self, region: RegionId) -> Vec<Ahead> {
        let ops = self.func.ops_in(region).to_vec();
        if self.is_producer() || !ops.iter().any(|op| self.product(*op).is_some()) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for load in ops {
            let is_read = matches!(self.func.kind(load), TileOp::Load { .. });
            if !is_read || self.is_streamed(load) || self.is_written_view(self.view_of(load)) {
                continue;
            }
            let Some(places) = self.wanted(self.func.result(load), &mut BTreeMap::new()) else { continue };
            if places.len() <= MOST {
                let class = raw_type(self.access(load).dtype).class;
                let raws = places.iter().map(|_| self.code.fresh(class)).collect();
                found.push(Ahead { load, places, raws });
            }
        }
        found
    }

    /// Before the loop: the first round's elements, where there is one.
    pub fn load_first(&mut self, region: RegionId, ahead: &[Ahead], [lo, hi]: [Operand; 2]) -> Made<()> {
        if ahead.is_empty() {
            return Ok(());
        }
        let iv = self.func.args(region)[0];
        let ((), then) = self.in_region(region, |cx| {
            let scope = cx.scopes.last_mut().expect("invariant: the body is open");
            scope.indexes.insert(iv, lo);
            ahead.iter().try_for_each(|own| cx.load_raws(own))
        })?;
        let condition = self.code.compare64(Compare::Lt, lo, hi).into();
        self.code.push(Item::Branch(Box::new(Branch { condition, then, other: Vec::new() })));
        Ok(())
    }

    /// In the loop: this round's elements are there, the next round's are asked for. After the last round the last
    /// elements are read again.
    pub fn load_next(&mut self, rounds: &Rounds) -> Made<()> {
        let Rounds { region, hi, step, iv, ref ahead, .. } = *rounds;
        if ahead.is_empty() {
            return Ok(());
        }
        for own in ahead {
            let (value, dtype) = (self.func.result(own.load), self.access(own.load).dtype);
            for (place, raw) in own.places.iter().zip(&own.raws) {
                let kept = self.code.fresh(raw.class());
                self.code.copy_to(kept, (*raw).into());
                let piece = from_memory(&mut self.code, dtype, kept);
                let scope = self.scopes.last_mut().expect("invariant: the body is open");
                scope.pieces.insert((value, place.clone()), piece);
            }
        }
        let next = self.code.add64(iv.into(), Operand::i64(step));
        let p = self.code.compare64(Compare::Lt, next, hi);
        let d = self.code.b64();
        self.code.emit(Selp { ty: SelectType::B64, d, a: next, b: iv.into(), p });
        // Indexes and addresses of the next round are not this one's.
        let counter = self.func.args(region)[0];
        let mut other = Scope::of(region);
        other.indexes.insert(counter, d.into());
        let own = std::mem::replace(self.scopes.last_mut().expect("invariant: the body is open"), other);
        let loaded = ahead.iter().try_for_each(|own| self.load_raws(own));
        *self.scopes.last_mut().expect("invariant: the body is open") = own;
        loaded
    }

    fn load_raws(&mut self, ahead: &Ahead) -> Made<()> {
        let TileOp::Load { pad, .. } = self.func.kind(ahead.load) else { unreachable!("invariant: a load") };
        let access = self.access(ahead.load);
        for (place, raw) in ahead.places.iter().zip(&ahead.raws) {
            let inside = self.inside(&access, place)?;
            if inside.is_some() {
                self.code.copy_to(*raw, raw_bits(access.dtype, *pad));
            }
            let address = self.address(&access, place)?;
            let (space, ty, d) =
                (StateSpace::Global, raw_type(access.dtype).ty, [*raw].into_iter().collect());
            self.code.emit_if(inside, Ld { space, ty, d, address, ..Default::default() });
        }
        Ok(())
    }

    /// The elements of a tile that each thread will use, once each, where products say so; `known` are those of other
    /// tiles.
    fn wanted(&mut self, value: Value, known: &mut Wanted) -> Option<Vec<Place>> {
        if let Some(places) = known.get(&value) {
            return places.clone();
        }
        let places = self.wanted_by_users(value, known).map(|mut places| {
            places.sort_unstable();
            places.dedup();
            places
        });
        known.insert(value, places.clone());
        places
    }

    fn wanted_by_users(&mut self, value: Value, known: &mut Wanted) -> Option<Vec<Place>> {
        let func = self.func;
        func.users(value).iter().find_map(|user| match func.kind(*user) {
            TileOp::Dot { .. } if func.operand(*user, 1) == value => {
                let plan = self.product(*user)?.clone();
                let (dtype, _) = self.tile(value);
                matches!(plan.left, Left::Registers).then(|| self.fragment_places(dtype, &plan))
            }
            TileOp::Elementwise { .. } => {
                let result = func.result(*user);
                self.preferred(result).or_else(|| self.wanted(result, known))
            }
            TileOp::Broadcast { .. } | TileOp::Reshape { .. } | TileOp::Transpose { .. } => {
                let wanted = self.wanted(func.result(*user), known)?;
                self.moved(*user, &wanted)
            }
            _ => None,
        })
    }
}
