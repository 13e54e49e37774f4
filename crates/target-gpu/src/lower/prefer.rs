//! Which spread a tile takes that exists as a whole: that of the matrix product it comes from, else rows of vectors.

use super::Lower;
use crate::coord::Place;
use crate::spread::Spread;
use tegula_base::DType;
use tegula_ir::{Def, Value};
use tegula_tile::TileOp;

impl Lower<'_> {
    pub fn spread_of(&mut self, value: Value) -> Spread {
        let home = self.scopes.iter().rev().find_map(|scope| scope.anchors.get(&value));
        if let Some(spread) = home {
            return spread.clone();
        }
        if let Some(places) = self.preferred(value) {
            return Spread { places };
        }
        let (dtype, shape) = self.tile(value);
        // All tiles of rows take the vectors of the halves among them: what is computed of one is not computed again.
        let dtype = if dtype == DType::F32 && self.moves_halves { DType::BF16 } else { dtype };
        Spread::rows(&mut self.maps, &shape, dtype, self.thread_bits)
    }

    /// The spread that follows from where a tile comes from, and for a loop's value from where the next one comes from.
    pub fn preferred(&mut self, value: Value) -> Option<Vec<Place>> {
        if !self.has_matrix {
            return None;
        }
        if let Some(known) = self.preferred.get(&value) {
            return known.clone();
        }
        if self.asking.contains(&value) {
            // Around a loop: whoever asked first will know.
            self.asked_again = true;
            return None;
        }
        let before = std::mem::replace(&mut self.asked_again, false);
        self.asking.push(value);
        let found = self.find_preferred(value);
        self.asking.pop();
        // Nothing found on a way that was cut short says nothing.
        if found.is_some() || !self.asked_again || self.asking.is_empty() {
            self.preferred.insert(value, found.clone());
        }
        self.asked_again |= before;
        found
    }

    fn find_preferred(&mut self, value: Value) -> Option<Vec<Place>> {
        let func = self.func;
        let (op, number) = match func.def(value) {
            Def::Result(op, number) => (op, number as usize),
            Def::Arg(region, number) => {
                let owner = func.owner(region)?;
                return self.carried_by_loop(owner, (number as usize).checked_sub(1)?);
            }
        };
        match func.kind(op) {
            TileOp::Elementwise { .. } => {
                func.operands(op).iter().find_map(|operand| self.preferred(*operand))
            }
            TileOp::Reshape { shape } => {
                let (_, from) = self.tile(func.operand(op, 0));
                let places = self.preferred(func.operand(op, 0))?;
                places.iter().map(|place| self.maps.unreshape(shape, &from, place)).collect()
            }
            TileOp::Transpose { perm } => {
                let places = self.preferred(func.operand(op, 0))?;
                Some(places.iter().map(|place| perm.iter().map(|axis| place[*axis]).collect()).collect())
            }
            TileOp::Dot { .. } => {
                let chain = self.preferred(func.operand(op, 0));
                chain.or_else(|| self.dot_places(op))
            }
            TileOp::Reduce { axis, .. } => {
                let places = self.preferred(func.operand(op, 0))?;
                Some(Spread { places }.reduced(*axis))
            }
            TileOp::For { .. } => self.carried_by_loop(op, number),
            TileOp::If {} => {
                let end = func.terminator(func.regions_of(op)[0])?;
                self.preferred(func.operand(end, number))
            }
            _ => None,
        }
    }

    fn carried_by_loop(&mut self, op: tegula_ir::OpId, number: usize) -> Option<Vec<Place>> {
        let func = self.func;
        let init = func.operand(op, 2 + number);
        let end = func.terminator(func.regions_of(op)[0])?;
        let next = func.operand(end, number);
        self.preferred(init).or_else(|| self.preferred(next))
    }
}
