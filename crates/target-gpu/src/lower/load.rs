//! Loads and gathers: each thread reads the elements that are asked of it, neighbours at once.

use super::{Lower, Made};
use crate::coord::Place;
use crate::scalar::{apply, from_memory, raw_bits, raw_type};
use tegula_base::DType;
use tegula_ir::{OpId, ScalarOp};
use tegula_isa_ptx::modifiers::StateSpace;
use tegula_isa_ptx::op::{Ld, PackHalves, UnpackHalves};
use tegula_isa_ptx::types::MemoryType;
use tegula_isa_ptx::{Address, Operand, Predicate, Reg, RegList};
use tegula_tile::TileOp;

/// Registers of one access at most.
pub(super) const REGISTERS: usize = 4;

impl Lower<'_> {
    pub fn load(&mut self, op: OpId, places: &[Place]) -> Made<Vec<Operand>> {
        let TileOp::Load { pad, .. } = self.func.kind(op) else { unreachable!("invariant: a load") };
        let access = self.access(op);
        let mut results = vec![Operand::Imm(0); places.len()];
        for run in self.vectors(&access, places) {
            let raws: RegList = run.iter().map(|_| self.raw_reg(access.dtype)).collect();
            let first = &places[run[0]];
            let inside = self.inside(&access, first)?;
            if inside.is_some() {
                let pad = raw_bits(access.dtype, *pad);
                raws.iter().for_each(|raw| self.code.copy_to(*raw, pad));
            }
            let address = self.address(&access, first)?;
            self.load_raw(inside, access.dtype, raws.clone(), address);
            for (i, raw) in run.iter().zip(raws) {
                results[*i] = from_memory(&mut self.code, access.dtype, raw);
            }
        }
        Ok(results)
    }

    fn load_raw(&mut self, guard: Option<Predicate>, dtype: DType, d: RegList, address: Address) {
        if d.len() > REGISTERS {
            // Two halves a register; where nothing is loaded they keep what they have.
            let words: RegList = d.chunks(2).map(|_| self.code.b32()).collect();
            if guard.is_some() {
                for (word, parts) in words.iter().zip(d.chunks(2)) {
                    self.code.emit(PackHalves { d: *word, parts: parts.iter().copied().collect() });
                }
            }
            let (space, ty, loaded) = (StateSpace::Global, MemoryType::B32, words.clone());
            self.code.emit_if(guard, Ld { space, ty, d: loaded, address, ..Default::default() });
            for (word, parts) in words.into_iter().zip(d.chunks(2)) {
                self.code.emit(UnpackHalves { parts: parts.iter().copied().collect(), a: word });
            }
            return;
        }
        let ty = raw_type(dtype).ty;
        self.code.emit_if(guard, Ld { space: StateSpace::Global, ty, d, address, ..Default::default() });
    }

    /// Elements of a view of rank 1 at the places that a tile of integers names.
    pub fn gather(&mut self, op: OpId, places: &[Place]) -> Made<Vec<Operand>> {
        let (view, coordinates) = (self.view_of(op), self.func.operand(op, 1));
        let dtype = self.kernel.views[view].ty.dtype;
        let (_, shape) = self.tile(coordinates);
        let indexes = self.pieces(coordinates, places)?;
        let mut results = Vec::new();
        for (place, index) in places.iter().zip(indexes) {
            let address = self.gathered(op, index)?;
            let raw = self.raw_reg(dtype);
            let inside = self.in_tile(&shape, place);
            if inside.is_some() {
                self.code.copy_to(raw, Operand::Imm(0));
            }
            self.load_raw(inside, dtype, [raw].into_iter().collect(), address.into());
            results.push(from_memory(&mut self.code, dtype, raw));
        }
        Ok(results)
    }

    /// The address of an element of a view of rank 1.
    pub fn gathered(&mut self, op: OpId, index: Operand) -> Made<Reg> {
        let view = self.view_of(op);
        let coordinates =
            *self.func.operands(op).last().expect("invariant: coordinates are the last operand");
        let (dtype, _) = self.tile(coordinates);
        let ty = &self.kernel.views[view].ty;
        let (stride, size) = (ty.strides[0].clone(), ty.dtype.size() as i64);
        let index =
            apply(&mut self.code, ScalarOp::Cast { to: DType::I64, saturate: true }, &[dtype], &[index])?;
        let stride = self.size(&stride);
        let stride = self.code.mul64(stride, Operand::i64(size));
        let offset = self.code.mul64(index, stride);
        let pointer = self.pointer(view);
        let sum = self.code.add64(pointer.into(), offset);
        Ok(self.code.in_reg(tegula_isa_ptx::RegClass::B64, sum))
    }
}
