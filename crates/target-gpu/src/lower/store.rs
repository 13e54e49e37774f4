//! Stores and scatters: each element by the one thread that it belongs to.

use super::access::Access;
use super::load::REGISTERS;
use super::{Lower, Made};
use crate::coord::{Coord, Place};
use crate::scalar::{raw_type, to_memory};
use tegula_base::DType;
use tegula_ir::OpId;
use tegula_isa_ptx::modifiers::{Compare, StateSpace};
use tegula_isa_ptx::op::{PackHalves, St};
use tegula_isa_ptx::types::{CompareType, MemoryType};
use tegula_isa_ptx::{Address, Operand, Predicate, Reg, RegList};

/// Elements of a thread that are made and stored together beside the sums of products.
const PART: usize = 32;

impl Lower<'_> {
    pub fn store(&mut self, op: OpId) -> Made<()> {
        if self.bulk_store(op)? {
            return Ok(());
        }
        let tile = self.func.operand(op, 1);
        let access = self.access(op);
        let spread = self.spread_of(tile);
        if self.is_ordered {
            self.pieces(tile, &spread.places)?;
            self.sync();
        }
        // Loads of one part do not pass the stores of the part before: parts only where sums fill the registers.
        let part = if self.streams.is_some() { PART } else { spread.places.len().max(1) };
        for places in spread.places.chunks(part) {
            let pieces = match access.dtype {
                DType::BF16 | DType::F16 => self.unrounded_pieces(tile, places)?,
                _ => self.pieces(tile, places)?,
            };
            self.store_places(&access, places, &pieces)?;
        }
        Ok(())
    }

    fn store_places(&mut self, access: &Access, places: &[Place], pieces: &[Operand]) -> Made<()> {
        for run in self.vectors(access, places) {
            let first = &places[run[0]];
            let own: Vec<Operand> = run.iter().map(|i| pieces[*i]).collect();
            let owner = self.owner(&access.shape, first);
            let inside = self.inside(access, first)?;
            let guard = match (owner, inside) {
                (Some(owner), inside) => Some(self.code.and_pred(inside, owner)),
                (None, inside) => inside,
            };
            let address = self.address(access, first)?;
            self.store_run(guard, access.dtype, &own, address);
        }
        Ok(())
    }

    /// Neighbours; halves go two in a register.
    fn store_run(&mut self, guard: Option<Predicate>, dtype: DType, run: &[Operand], address: Address) {
        let is_half = matches!(dtype, DType::BF16 | DType::F16);
        if is_half && run.len() > 1 {
            let a = run.chunks(2).map(|pair| self.packed(dtype, pair)).collect();
            let (space, ty) = (StateSpace::Global, MemoryType::B32);
            return self.code.emit_if(guard, St { space, ty, address, a, ..Default::default() });
        }
        let raws: RegList = run.iter().map(|piece| to_memory(&mut self.code, dtype, *piece)).collect();
        self.store_raw(guard, dtype, raws, address);
    }

    fn store_raw(&mut self, guard: Option<Predicate>, dtype: DType, a: RegList, address: Address) {
        let (words, ty) = match a.len() > REGISTERS {
            true => {
                let join = |parts: &[Reg]| {
                    let d = self.code.b32();
                    self.code.emit(PackHalves { d, parts: parts.iter().copied().collect() });
                    d
                };
                (a.chunks(2).map(join).collect(), MemoryType::B32)
            }
            false => (a, raw_type(dtype).ty),
        };
        let space = StateSpace::Global;
        self.code.emit_if(guard, St { space, ty, address, a: words, ..Default::default() });
    }

    /// One thread stores all elements in order, so that the last of equal places wins.
    pub fn scatter(&mut self, op: OpId) -> Made<()> {
        let (tile, coordinates) = (self.func.operand(op, 1), self.func.operand(op, 2));
        let (dtype, shape) = self.tile(tile);
        let places = every_place(&shape);
        let pieces = self.pieces(tile, &places)?;
        let indexes = self.pieces(coordinates, &places)?;
        self.sync();
        let all = self.maps.intern((0..self.thread_bits as u8).map(|bit| (bit, 1 << bit)).collect());
        let thread = self.thread(all);
        let first = self.code.compare(Compare::Eq, CompareType::U32, thread, Operand::u32(0));
        for (piece, index) in pieces.into_iter().zip(indexes) {
            let address = self.gathered(op, index)?;
            let raw = to_memory(&mut self.code, dtype, piece);
            self.store_raw(Some(first.into()), dtype, [raw].into_iter().collect(), address.into());
        }
        Ok(())
    }
}

/// All elements of a tile in row-major order, each the same for all threads.
pub(super) fn every_place(shape: &[i64]) -> Vec<Place> {
    let mut places = vec![Place::new()];
    for extent in shape {
        places = places
            .iter()
            .flat_map(|place| {
                (0..*extent).map(move |at| {
                    let mut place = place.clone();
                    place.push(Coord::uniform(at));
                    place
                })
            })
            .collect();
    }
    places
}
