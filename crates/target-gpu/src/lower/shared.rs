//! Tiles in shared memory, row-major, an element in register form (4 or 8 bytes): how a tile changes its spread.
//!
//! Each tile has an area of its own while its region is open. Before an area is written again, in a loop or by another
//! tile, all threads have passed a barrier behind the last read.

use super::{Lower, Made};
use crate::coord::{Place, UNIFORM};
use crate::scalar::{Refused, held_class};
use crate::spread::low_bits;
use tegula_base::DType;
use tegula_ir::Value;
use tegula_isa_ptx::modifiers::{Compare, StateSpace};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Address, Operand, Predicate, Reg, RegClass, RegList, SharedId};

/// Bytes of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub start: u32,
    pub bytes: u32,
}

const TILES: SharedId = SharedId(0);
const ALIGN: u32 = 16;

/// Bytes of an element.
fn held_bytes(dtype: DType) -> u32 {
    if dtype.bits() == 64 { 8 } else { 4 }
}

impl Lower<'_> {
    /// A part of shared memory that nobody uses until the region that is written to ends.
    pub fn reserve(&mut self, bytes: u32) -> Area {
        let bytes = bytes.next_multiple_of(ALIGN);
        let free = self.free_areas.iter().position(|area| area.bytes >= bytes);
        let start = match free {
            Some(i) => {
                let area = &mut self.free_areas[i];
                let start = area.start;
                (area.start, area.bytes) = (start + bytes, area.bytes - bytes);
                start
            }
            None => {
                self.shared_bytes += bytes;
                self.shared_bytes - bytes
            }
        };
        let area = Area { start, bytes };
        let level = self.code.level();
        self.scopes[level].areas.push(area);
        area
    }

    pub fn shared_base(&mut self) -> Reg {
        if let Some(base) = self.shared_base {
            return base;
        }
        let level = self.code.set_level(0);
        let d = self.code.b32();
        self.code.emit(MovAddress { ty: AddressType::U32, d, symbol: TILES.into() });
        self.code.set_level(level);
        self.shared_base = Some(d);
        d
    }

    /// Pieces of a tile that exists as a whole, through shared memory.
    pub fn staged(&mut self, value: Value, places: &[Place]) -> Made<Vec<Operand>> {
        let (_, shape) = self.tile(value);
        self.staged_as(value, &shape, places)
    }

    /// As [`Self::staged`], of the tile reshaped.
    pub fn staged_as(&mut self, value: Value, shape: &[i64], places: &[Place]) -> Made<Vec<Operand>> {
        let area = self.spill(value)?;
        let (dtype, _) = self.tile(value);
        let mut results = vec![Operand::Imm(0); places.len()];
        let most = if dtype.bits() == 64 { 2 } else { 4 };
        let most = if shape.last().is_some_and(|n| n % most == 0) { most } else { 1 };
        for run in self.runs(places, most) {
            let first = &places[run[0]];
            let inside = self.in_tile(shape, first);
            let (ty, class) = held_memory(dtype);
            let raws: RegList = run.iter().map(|_| self.code.fresh(class)).collect();
            if inside.is_some() {
                raws.iter().for_each(|raw| self.code.copy_to(*raw, Operand::Imm(0)));
            }
            let address = self.shared_address(area, shape, held_bytes(dtype), first);
            self.code.emit_if(
                inside,
                Ld { space: StateSpace::Shared, ty, d: raws.clone(), address, ..Default::default() },
            );
            for (i, raw) in run.iter().zip(raws) {
                results[*i] = self.of_word(dtype, raw);
            }
        }
        Ok(results)
    }

    /// Puts a tile into shared memory, once a region.
    pub fn spill(&mut self, value: Value) -> Made<Area> {
        let home = self.level_of(value);
        if let Some(area) = self.scopes[home].spilled.get(&value) {
            return Ok(*area);
        }
        self.anchor(value)?;
        self.within_cta(value)?;
        let level = self.code.set_level(home);
        let (dtype, shape) = self.tile(value);
        let count: i64 = shape.iter().product();
        let area = self.reserve(count as u32 * held_bytes(dtype));
        let places = self.scopes[home].anchors[&value].places.clone();
        let pieces = self.pieces(value, &places)?;
        // Somebody may still read what was here before.
        self.sync();
        let most = if dtype.bits() == 64 { 2 } else { 4 };
        let most = if shape.last().is_some_and(|n| n % most == 0) { most } else { 1 };
        for run in self.runs(&places, most) {
            let first = places[run[0]].clone();
            let words: RegList = run.iter().map(|i| self.word(dtype, pieces[*i])).collect();
            let guard = self.owner(&shape, &first);
            let address = self.shared_address(area, &shape, held_bytes(dtype), &first);
            let (ty, _) = held_memory(dtype);
            self.code.emit_if(
                guard,
                St { space: StateSpace::Shared, ty, address, a: words, ..Default::default() },
            );
        }
        self.sync();
        self.code.set_level(level);
        self.scopes[home].spilled.insert(value, area);
        Ok(area)
    }

    /// Errors: the tile's elements lie in several CTAs, which do not read each other's shared memory.
    pub fn within_cta(&self, value: Value) -> Made<()> {
        if self.cluster() == 1 {
            return Ok(());
        }
        let (dtype, _) = self.tile(value);
        Err(Refused { what: "an exchange between the CTAs of a cluster".to_string(), dtype })
    }

    /// True in the one thread that an element belongs to: inside of the tile, and no copy. None where all own theirs.
    pub fn owner(&mut self, shape: &[i64], place: &Place) -> Option<Predicate> {
        let inside = self.in_tile(shape, place);
        let mut copies = low_bits(self.thread_bits);
        for coord in place {
            self.maps.get(coord.map).iter().for_each(|(bit, _)| copies &= !(1 << bit));
        }
        if copies == 0 {
            return inside;
        }
        let all = self.maps.intern((0..self.thread_bits as u8).map(|bit| (bit, 1 << bit)).collect());
        let thread = self.thread(all);
        let d = self.code.b32();
        self.code.emit(And { ty: LogicType::B32, d, a: thread, b: Operand::u32(copies) });
        Some(self.code.compare_and(Compare::Eq, CompareType::U32, d.into(), Operand::u32(0), inside))
    }

    pub fn shared_address(&mut self, area: Area, shape: &[i64], size: u32, place: &Place) -> Address {
        let (mut stride, mut map, mut at) = (i64::from(size), UNIFORM, 0);
        for (extent, coord) in shape.iter().zip(place).rev() {
            let scaled = self.maps.scale(coord.map, stride);
            map = self.maps.add(map, scaled);
            at += coord.at * stride;
            stride *= extent;
        }
        let offset = area.start as i32 + at as i32;
        let base = self.shared_base();
        if map == UNIFORM {
            return Address::from(base).plus(offset);
        }
        let thread = self.thread(map);
        let level = self.code.level();
        // The sum is shared where the code is, not at the top: it costs one instruction, there a register.
        let known = self.scopes[level].shared_addresses.get(&map).copied();
        let sum = known.unwrap_or_else(|| {
            let sum = self.code.add32(base.into(), thread);
            let sum = self.code.in_reg(RegClass::B32, sum);
            self.scopes[level].shared_addresses.insert(map, sum);
            sum
        });
        Address::from(sum).plus(offset)
    }

    /// An element in register form as bits that move between threads.
    pub fn word(&mut self, dtype: DType, piece: Operand) -> Reg {
        if dtype == DType::Bool {
            let word =
                crate::scalar::select(&mut self.code, DType::I32, piece, Operand::u32(1), Operand::u32(0));
            return self.code.in_reg(RegClass::B32, word);
        }
        self.code.in_reg(held_class(dtype), piece)
    }

    pub fn of_word(&mut self, dtype: DType, word: Reg) -> Operand {
        match dtype {
            DType::Bool => {
                self.code.compare(Compare::Ne, CompareType::B32, word.into(), Operand::u32(0)).into()
            }
            _ => word.into(),
        }
    }
}

/// How an element in register form is moved.
fn held_memory(dtype: DType) -> (MemoryType, RegClass) {
    if dtype.bits() == 64 { (MemoryType::B64, RegClass::B64) } else { (MemoryType::B32, RegClass::B32) }
}
