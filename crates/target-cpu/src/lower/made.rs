//! What has been made of tiles so far, for the region that is being lowered and those below it.
//!
//! Invariant: what a scope adds is gone when it is closed, and what it covered is back.

use tegula_base::{EntityId, HashMap};
use tegula_ir::Value;

/// The pieces of tiles, and which tiles lie in scratch.
pub(super) struct Made {
    /// Of each value of the tile function, the first of its pieces in `pieces` and their number; 0 while none was made.
    places: Vec<(u32, u32)>,
    pieces: Vec<Option<Value>>,
    /// The pieces that open scopes made, by their places, with what was there before.
    covered: Vec<(u32, Option<Value>)>,
    scopes: Vec<Scope>,
}

#[derive(Default)]
struct Scope {
    /// How many of the pieces in `covered` the scopes around it made.
    outer: usize,
    /// Byte offset in scratch of tiles stored there, row-major in register elements.
    spilled: HashMap<Value, i64>,
}

impl Made {
    /// Of a function of so many values; the body's scope is open.
    pub fn new(values: usize) -> Made {
        let scopes = vec![Scope::default()];
        Made { places: vec![(0, 0); values], pieces: Vec::new(), covered: Vec::new(), scopes }
    }

    pub fn open(&mut self) {
        self.scopes.push(Scope { outer: self.covered.len(), ..Scope::default() });
    }

    pub fn close(&mut self) {
        let scope = self.scopes.pop().expect("invariant: closed as often as opened");
        for (place, before) in self.covered.drain(scope.outer..).rev() {
            self.pieces[place as usize] = before;
        }
    }

    pub fn piece(&self, tile: Value, piece: u32) -> Option<Value> {
        let (first, count) = self.places[tile.index()];
        if piece < count { self.pieces[(first + piece) as usize] } else { None }
    }

    /// Notes a piece of a tile of `count`.
    pub fn add_piece(&mut self, tile: Value, piece: u32, value: Value, count: impl FnOnce() -> u32) {
        let place = &mut self.places[tile.index()];
        if place.1 == 0 {
            *place = (self.pieces.len() as u32, count());
            self.pieces.resize(self.pieces.len() + place.1 as usize, None);
        }
        assert!(piece < place.1, "invariant: {tile} has {} pieces, not one with number {piece}", place.1);
        let place = place.0 + piece;
        let before = self.pieces[place as usize].replace(value);
        self.covered.push((place, before));
    }

    /// Where in scratch a tile lies.
    pub fn spilled(&self, tile: Value) -> Option<i64> {
        self.scopes.iter().rev().find_map(|scope| scope.spilled.get(&tile)).copied()
    }

    pub fn add_spilled(&mut self, tile: Value, offset: i64) {
        let scope = self.scopes.last_mut().expect("invariant: the body's scope stays open");
        scope.spilled.insert(tile, offset);
    }
}
