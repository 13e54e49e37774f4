//! Elements of a ring's slot in the registers of the threads that multiply: weights, on their way from few bits to factors.
//!
//! An address has three parts. What a swizzle mixes with the thread's own row is computed once, before all loops; the
//! slot is added once a round; whole patterns further on, and bytes inside of a chunk, are the load's immediate.

use super::stream::Source;
use super::{Lower, Made};
use crate::coord::{Coord, MapId, Place};
use crate::layout::Swizzle;
use crate::layout::swizzle::{CHUNK, ROWS};
use crate::scalar::{from_memory, raw_type};
use crate::spread::vector_elements;
use tegula_ir::OpId;
use tegula_isa_ptx::modifiers::StateSpace;
use tegula_isa_ptx::op::{And, Ld, Shr, Xor};
use tegula_isa_ptx::types::{LogicType, ShiftRightType};
use tegula_isa_ptx::{Address, Operand, Reg, RegClass, RegList};

/// The thread's part of an address: a load, and coordinates that immediates leave (row, then bytes of the row).
pub(super) type SlotPart = (OpId, [(MapId, i64); 2]);

impl Lower<'_> {
    /// The elements at some places of a load whose slot was taken last.
    pub fn slot_pieces(&mut self, op: OpId, places: &[Place]) -> Made<Vec<Operand>> {
        let streams = self.streams.expect("invariant: a streamed load has streams");
        let (ring, number) = streams.of_load[&op];
        let source = &streams.rings[ring].loads[number];
        let last = self.tile(self.func.result(op)).1.len() - 1;
        let most = if source.map_axes[0] == last { vector_elements(source.dtype) } else { 1 };
        let mut results = vec![Operand::Imm(0); places.len()];
        for run in self.runs(places, most) {
            let raws: RegList = run.iter().map(|_| self.raw_reg(source.dtype)).collect();
            let address = self.slot_address(ring, source, &places[run[0]]);
            let (space, ty) = (StateSpace::Shared, raw_type(source.dtype).ty);
            self.code.emit(Ld { space, ty, d: raws.clone(), address, ..Default::default() });
            for (i, raw) in run.iter().zip(raws) {
                results[*i] = from_memory(&mut self.code, source.dtype, raw);
            }
        }
        Ok(results)
    }

    fn slot_address(&mut self, ring: usize, source: &Source, place: &Place) -> Address {
        let (inner, outer) = (source.map_axes[0], source.map_axes[1]);
        let (element, span) = (source.layout.element(), i64::from(source.swizzle.span()));
        let row = place[outer];
        let bytes = Coord {
            map: self.maps.scale(place[inner].map, i64::from(element)),
            at: place[inner].at * i64::from(element),
        };
        // Rows of whole patterns, and panels that no thread leaves.
        let row_rest = row.at.rem_euclid(i64::from(ROWS));
        let mut fixed = (row.at - row_rest) * span;
        let reach = self.maps.most(bytes.map);
        let mut byte_rest = bytes.at;
        let within = bytes.at.rem_euclid(span);
        if within + reach < span {
            fixed += (bytes.at - within) / span * self.panel(source);
            byte_rest = within;
            let in_chunk = within % i64::from(CHUNK);
            if in_chunk + reach < i64::from(CHUNK) {
                fixed += in_chunk;
                byte_rest -= in_chunk;
            }
        }
        let part = (source.load, [(row.map, row_rest), (bytes.map, byte_rest)]);
        let level = self.code.level();
        let base = match self.scopes[level].slot_addresses.get(&part) {
            Some(known) => *known,
            None => {
                let own = self.slot_part(source, part);
                let sum = self.code.add32(self.ends[ring].bytes.into(), own);
                let sum = self.code.in_reg(RegClass::B32, sum);
                self.scopes[level].slot_addresses.insert(part, sum);
                sum
            }
        };
        Address::from(base).plus(source.offset as i32 + fixed as i32)
    }

    /// Bytes from one panel, as wide as the swizzle's span, to the next.
    fn panel(&self, source: &Source) -> i64 {
        let outer = usize::from(source.axes[1] == source.map_axes[1]);
        let groups = source.layout.extents()[outer].div_ceil(ROWS);
        i64::from(groups * source.swizzle.atom())
    }

    fn slot_part(&mut self, source: &Source, part: SlotPart) -> Operand {
        if let Some(known) = self.slot_parts.get(&part) {
            return *known;
        }
        let level = self.code.set_level(0);
        let [row, bytes] = part.1.map(|(map, at)| {
            let thread = self.thread(map);
            self.code.add32(thread, Operand::i32(at as i32))
        });
        let span = source.swizzle.span();
        let in_row = self.masked(bytes, span - 1);
        let rows = self.code.mul32(row, span);
        let linear = self.code.add32(rows, in_row);
        let linear = self.swizzled(linear, source.swizzle);
        let panels = self.shifted(bytes, span.trailing_zeros());
        let panels = self.code.mul32(panels, self.panel(source) as u32);
        let sum = self.code.add32(linear, panels);
        self.code.set_level(level);
        self.slot_parts.insert(part, sum);
        sum
    }

    /// As [`Swizzle::apply`].
    fn swizzled(&mut self, offset: Operand, swizzle: Swizzle) -> Operand {
        let mask = swizzle.span() - CHUNK;
        if mask == 0 {
            return offset;
        }
        if let Operand::Imm(offset) = offset {
            return Operand::u32(swizzle.apply(offset as u32));
        }
        let chunk = self.shifted(offset, 3);
        let chunk = self.masked(chunk, mask);
        let d = self.code.b32();
        self.code.emit(Xor { ty: LogicType::B32, d, a: offset, b: chunk });
        d.into()
    }

    fn masked(&mut self, a: Operand, mask: u32) -> Operand {
        if let Operand::Imm(bits) = a {
            return Operand::u32(bits as u32 & mask);
        }
        let d = self.code.b32();
        self.code.emit(And { ty: LogicType::B32, d, a, b: Operand::u32(mask) });
        d.into()
    }

    fn shifted(&mut self, a: Operand, by: u32) -> Operand {
        if let Operand::Imm(bits) = a {
            return Operand::u32(bits as u32 >> by);
        }
        let d: Reg = self.code.b32();
        self.code.emit(Shr { ty: ShiftRightType::U32, d, a, b: Operand::u32(by) });
        d.into()
    }
}
