//! Loads whose first lanes may lie before the view, or that walk backwards.
//!
//! Elements next to each other are loaded under a mask of the lanes inside; of others every lane's position is tested.

use super::Lower;
use super::load::register_bits;
use super::window::Window;
use crate::schedule::builder::At;
use crate::schedule::{Builder, CompareOp, Elem, IndexOp, VecOp};
use tegula_ir::Value;

/// The lanes of a piece relative to the position inside of the view that is nearest to the first lane's.
struct Lanes {
    /// That position.
    origin: Value,
    /// Which lanes are inside of the view.
    inside: Value,
    /// Steps from the origin, moved inside for lanes that are not.
    steps: Value,
}

impl Lower<'_> {
    pub fn load_scattered(&mut self, b: &mut Builder, window: &Window, coord: &[i64], axis: usize) -> Value {
        let dtype = window.dtype;
        let data = &window.axes[axis];
        // AVX2 has no masks of narrow elements.
        let has_masks = dtype.size() >= 4 || self.register_bits == 512;
        if data.step == 1 && data.stride.is_const(1) && has_masks {
            return self.load_inside(b, window, coord, axis);
        }
        let size = self.size(b, &window.axes[axis].size.clone());
        let lanes = self.scattered_lanes(b, window, coord, axis, size);
        // A view without elements is not read; nor is a row outside.
        let (none, all) = (b.index(0), b.index(self.lanes.into()));
        let some = b.index_op(IndexOp::Lt, none, size);
        let readable = match self.row_inside(b, window, coord, Some(axis)) {
            Some(row) => b.index_op(IndexOp::And, some, row),
            None => some,
        };
        let count = b.index_select(readable, all, none);
        let at = self.address(b, window, coord, Some(axis));
        let start = self.flat_address(b, at);
        let stride = self.byte_stride(b, &window.axes[axis].stride.clone(), dtype.size() as i64);
        let origin = b.mul(lanes.origin, stride);
        let start = b.add(start, origin);
        let offsets = match window.axes[axis].stride.is_const(1) {
            true => lanes.steps,
            false => {
                let stride = self.size(b, &window.axes[axis].stride.clone());
                let stride = b.splat(Elem::I32, self.lanes, stride);
                b.vec(VecOp::Mul, &[lanes.steps, stride])
            }
        };
        let at = At { scale: dtype.size() as u32, ..At::new(start).count(count) };
        let value = b.gather(dtype, at, offsets);
        let read = b.mask_first(self.lanes, count);
        let valid = b.mask_op(VecOp::And, lanes.inside, read);
        let pad = b.vec_const(Elem::of(dtype), self.lanes, register_bits(dtype, window.pad));
        let value = b.select(valid, value, pad);
        self.piece_of_lanes(b, dtype, value)
    }

    /// A vector of neighbours, of which those inside are a run of lanes.
    fn load_inside(&mut self, b: &mut Builder, window: &Window, coord: &[i64], axis: usize) -> Value {
        let first = self.position(b, window, axis, coord);
        let size = self.size(b, &window.axes[axis].size.clone());
        let zero = b.index(0);
        let before = b.sub(zero, first);
        let mut end = b.sub(size, first);
        if let Some(row) = self.row_inside(b, window, coord, Some(axis)) {
            end = b.index_select(row, end, zero);
        }
        let [before, until] = [before, end].map(|count| b.mask_first(self.lanes, count));
        let inside = b.mask_op(VecOp::AndNot, before, until);
        let at = self.address(b, window, coord, None);
        let value = b.load_masked(window.dtype, self.lanes, at, inside);
        let value = self.padded(b, window, value, |_| inside);
        self.piece_of_lanes(b, window.dtype, value)
    }

    /// Extents fit 32 bits (`SymbolInfo::MAX`), and so do the lanes' positions relative to each other.
    fn scattered_lanes(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        axis: usize,
        size: Value,
    ) -> Lanes {
        let first = self.position(b, window, axis, coord);
        let zero = b.index(0);
        let last = b.add_const(size, -1);
        let origin = b.min(first, last);
        let origin = b.max(origin, zero);
        // Inside are the lanes with low <= walked <= high.
        let low = b.sub(zero, first);
        let high = b.sub(last, first);
        let shift = b.sub(first, origin);
        let spread = |cx: &Self, b: &mut Builder, index: Value| b.splat(Elem::I32, cx.lanes, index);
        let (low, high, shift) = (spread(self, b, low), spread(self, b, high), spread(self, b, shift));
        let step = b.i32(self.lanes, window.axes[axis].step as i32);
        let lane = b.iota(Elem::I32, self.lanes);
        let walked = b.vec(VecOp::Mul, &[lane, step]);
        let above = b.compare(CompareOp::Le, low, walked);
        let below = b.compare(CompareOp::Le, walked, high);
        let inside = b.mask_op(VecOp::And, above, below);
        let moved = b.vec(VecOp::Min, &[walked, high]);
        let moved = b.vec(VecOp::Max, &[moved, low]);
        Lanes { origin, inside, steps: b.vec(VecOp::Add, &[moved, shift]) }
    }
}
