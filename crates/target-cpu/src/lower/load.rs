//! Loads a piece of a window: which lanes are inside of the view, and how they lie in memory.
//!
//! Invariant: no element outside of a view is touched. Rows outside of the view, along bounded axes, are loaded
//! from an area of pad values, or with a lane count of 0; elements outside along the lane axis are cut off by the
//! count; what was not loaded becomes the pad value.

use super::geometry::Coord;
use super::window::Window;
use super::{Lower, facts};
use crate::schedule::builder::At;
use crate::schedule::{Builder, CompareOp, Elem, IndexOp, VecOp};
use tegula_base::{DType, Dim};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ScalarOp, Value};

/// Bytes of an area of pad values: a displacement into it is below this, and a vector more fits.
const PAD_REACH: i64 = 1024;

/// A part of scratch that holds one pad value over and over, written when the kernel begins.
pub(super) struct PadArea {
    dtype: DType,
    pad: i64,
    /// Byte offset in scratch.
    offset: i64,
    /// Bytes that are read.
    bytes: i64,
}

/// How the elements of a piece lie across lanes.
pub(super) enum Lanes {
    /// One element for all lanes.
    Splat,
    /// A vector of which this many lanes count (none: all); elements along this axis of the view.
    Along { axis: usize, count: Option<Value> },
    /// As `Along`, but the first lanes may lie outside of the view: positions must be tested one by one.
    Scattered { axis: usize },
}

impl Lower<'_> {
    /// The elements from a tile's coordinate on along its last axis, `active` of them.
    pub fn load_window(&mut self, b: &mut Builder, window: &Window, coord: &[i64], active: i64) -> Value {
        match self.lanes_in(b, window, coord, active) {
            Lanes::Splat => self.load_splat(b, window, coord),
            Lanes::Along { axis, count } => {
                let row = self.row_inside(b, window, coord, Some(axis));
                self.load_along(b, window, coord, axis, count, row)
            }
            Lanes::Scattered { axis } => self.load_scattered(b, window, coord, axis),
        }
    }

    pub fn lanes_in(&mut self, b: &mut Builder, window: &Window, coord: &[i64], active: i64) -> Lanes {
        let Some(axis) = window.lane_axis().filter(|_| active > 1) else { return Lanes::Splat };
        let data = &window.axes[axis];
        let full = active == i64::from(self.lanes);
        if !data.bounded {
            if data.stride.is_const(0) {
                return Lanes::Splat;
            }
            let count = (!full).then(|| b.index(active));
            return Lanes::Along { axis, count };
        }
        let least = facts::least(self.kernel, self.symbols, data.offset);
        let start = data.start + window.along(axis, coord) * data.step;
        if data.step < 1 || least == i64::MIN || least.saturating_add(start) < 0 {
            return Lanes::Scattered { axis };
        }
        let position = self.position(b, window, axis, coord);
        let size = self.size(b, &data.size);
        let mut rest = b.sub(size, position);
        if data.step != 1 {
            rest = b.add_const(rest, data.step - 1);
            let step = b.index(data.step);
            rest = b.index_op(IndexOp::FloorDiv, rest, step);
        }
        let count = match full {
            true => rest,
            false => {
                let active = b.index(active);
                b.min(rest, active)
            }
        };
        let all = b.as_const(count).is_some_and(|n| n >= self.lanes.into());
        Lanes::Along { axis, count: (!all).then_some(count) }
    }

    /// Position along a view's axis.
    pub fn position(&mut self, b: &mut Builder, window: &Window, axis: usize, coord: &[i64]) -> Value {
        let data = &window.axes[axis];
        let offset = self.index(data.offset);
        b.add_const(offset, data.start + window.along(axis, coord) * data.step)
    }

    /// Whether the row of a coordinate is inside of the view along all bounded axes but `lane_axis`: none when
    /// it surely is, else an index that is 0 or 1.
    pub fn row_inside(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        lane_axis: Option<usize>,
    ) -> Option<Value> {
        let mut inside: Option<Value> = None;
        for (i, axis) in window.axes.iter().enumerate() {
            if !axis.bounded || Some(i) == lane_axis {
                continue;
            }
            let position = self.position(b, window, i, coord);
            let size = self.size(b, &axis.size);
            let below = b.index_op(IndexOp::Lt, position, size);
            let least = facts::least(self.kernel, self.symbols, axis.offset);
            let start = axis.start + window.along(i, coord) * axis.step;
            let mut parts = vec![below];
            if least == i64::MIN || least.saturating_add(start) < 0 {
                let zero = b.index(0);
                parts.push(b.index_op(IndexOp::Le, zero, position));
            }
            for part in parts {
                inside = Some(match inside {
                    Some(inside) => b.index_op(IndexOp::And, inside, part),
                    None => part,
                });
            }
        }
        inside.filter(|inside| b.as_const(*inside) != Some(1))
    }

    fn load_splat(&mut self, b: &mut Builder, window: &Window, coord: &[i64]) -> Value {
        let at = self.address(b, window, coord, None);
        self.load_splat_at(b, window, coord, at)
    }

    /// The element at an address, of `window.dtype`, in every lane; the pad where the coordinate is outside.
    pub fn load_splat_at(&mut self, b: &mut Builder, window: &Window, coord: &[i64], at: At) -> Value {
        let at = match self.row_inside(b, window, coord, None) {
            Some(row) => self.guarded(b, window, coord, row, window.dtype.size() as i64),
            None => at,
        };
        let value = b.load_splat(window.dtype, self.lanes, at);
        self.piece_of_lanes(b, window.dtype, value)
    }

    /// The address of a coordinate where `row` is not 0, else of pad values; `bytes` are read from there.
    /// What is walked along unbounded axes stays a displacement, so that neighbours share the choice.
    fn guarded(&mut self, b: &mut Builder, window: &Window, coord: &[i64], row: Value, bytes: i64) -> At {
        let mut origin: Coord = coord.into();
        for (c, walk) in origin.iter_mut().zip(&window.walks) {
            if walk.is_some_and(|axis| !window.axes[axis].bounded) {
                *c = 0;
            }
        }
        let size = window.dtype.size() as i64;
        let walked = |axis: usize| {
            let data = &window.axes[axis];
            let steps = window.along(axis, coord) - window.along(axis, &origin);
            if steps == 0 { Some(0) } else { Some(steps * data.step * data.stride.as_const()? * size) }
        };
        let mut disp = (0..window.axes.len()).try_fold(0, |sum, axis| Some(sum + walked(axis)?));
        if !disp.is_some_and(|disp| (0..PAD_REACH).contains(&disp)) {
            (origin, disp) = (coord.into(), Some(0));
        }
        let disp = disp.expect("invariant: known or replaced");
        let area = self.pad_area(window, disp + bytes);
        let at = self.address(b, window, &origin, None);
        let inside = self.flat_address(b, at);
        let scratch = b.scratch();
        let outside = b.add_const(scratch, area);
        At::new(b.index_select(row, inside, outside)).disp(disp)
    }

    /// Offset in scratch of at least `bytes` bytes of a window's pad value.
    fn pad_area(&mut self, window: &Window, bytes: i64) -> i64 {
        let known =
            self.pad_areas.iter_mut().find(|area| (area.dtype, area.pad) == (window.dtype, window.pad));
        if let Some(area) = known {
            area.bytes = area.bytes.max(bytes);
            return area.offset;
        }
        let offset = self.reserve_scratch(PAD_REACH + i64::from(self.register_bits));
        self.pad_areas.push(PadArea { dtype: window.dtype, pad: window.pad, offset, bytes });
        offset
    }

    /// Writes the pad areas that loads use; runs before everything else.
    pub fn fill_pad_areas(&mut self, b: &mut Builder) {
        for area in std::mem::take(&mut self.pad_areas) {
            let elem = Elem::of(area.dtype);
            let lanes = self.register_bits / (8 * elem.bytes() as u32);
            let value = b.vec_const(elem, lanes, register_bits(area.dtype, area.pad));
            let step = i64::from(lanes) * area.dtype.size() as i64;
            for disp in (0..area.bytes).step_by(step as usize) {
                let scratch = b.scratch();
                b.store(area.dtype, value, scratch, area.offset + disp);
            }
        }
    }

    fn load_along(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        axis: usize,
        count: Option<Value>,
        row: Option<Value>,
    ) -> Value {
        let stride = window.axes[axis].stride.clone() * Dim::from(window.axes[axis].step);
        if let (None, Some(row), true) = (count, row, stride.is_const(1)) {
            let bytes = i64::from(self.lanes) * window.dtype.size() as i64;
            let at = self.guarded(b, window, coord, row, bytes);
            let value = b.load_at(window.dtype, self.lanes, at);
            return self.piece_of_lanes(b, window.dtype, value);
        }
        let count = match (count, row) {
            (count, None) => count,
            (count, Some(row)) => {
                let count = count.unwrap_or_else(|| b.index(self.lanes.into()));
                let none = b.index(0);
                Some(b.index_select(row, count, none))
            }
        };
        let mut at = self.address(b, window, coord, None);
        at.count = count;
        let value = match stride.is_const(1) {
            true => b.load_at(window.dtype, self.lanes, at),
            false => {
                let stride = self.byte_stride(b, &stride, window.dtype.size() as i64);
                b.load_strided(window.dtype, self.lanes, at, stride)
            }
        };
        let bounded = row.is_some() || window.axes[axis].bounded;
        let value = match count.filter(|_| bounded) {
            Some(count) => self.padded(b, window, value, count),
            None => value,
        };
        self.piece_of_lanes(b, window.dtype, value)
    }

    /// A counted load with the pad value from lane `count` on; those lanes are 0 already.
    fn padded(&mut self, b: &mut Builder, window: &Window, value: Value, count: Value) -> Value {
        let bits = register_bits(window.dtype, window.pad);
        if bits == 0 {
            return value;
        }
        let pad = b.vec_const(Elem::of(window.dtype), self.lanes, bits);
        let mask = b.mask_first(self.lanes, count);
        b.select(mask, value, pad)
    }

    /// Tests every position on its own: windows that begin before the view, or walk backwards.
    fn load_scattered(&mut self, b: &mut Builder, window: &Window, coord: &[i64], axis: usize) -> Value {
        let (valid, position, count) = self.scattered_lanes(b, window, coord, axis);
        let mut at = self.address(b, window, coord, Some(axis));
        let row = self.row_inside(b, window, coord, Some(axis));
        let count = match row {
            Some(row) => {
                let none = b.index(0);
                b.index_select(row, count, none)
            }
            None => count,
        };
        let address = self.flat_address(b, at);
        at = At::new(address).count(count);
        let offsets = match window.axes[axis].stride.is_const(1) {
            true => position,
            false => {
                let stride = self.size(b, &window.axes[axis].stride.clone());
                let stride = b.splat(Elem::I32, self.lanes, stride);
                b.vec(VecOp::Mul, &[position, stride])
            }
        };
        at.scale = window.dtype.size() as u32;
        let value = b.gather(window.dtype, at, offsets);
        let valid = match row {
            Some(_) => {
                let read = b.mask_first(self.lanes, count);
                b.mask_op(VecOp::And, valid, read)
            }
            None => valid,
        };
        let pad = b.vec_const(Elem::of(window.dtype), self.lanes, register_bits(window.dtype, window.pad));
        let value = b.select(valid, value, pad);
        self.piece_of_lanes(b, window.dtype, value)
    }

    /// Of a lane axis: the lanes inside of the view, positions moved inside, and a count of all lanes, or of
    /// none when the view has no elements.
    fn scattered_lanes(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        axis: usize,
    ) -> (Value, Value, Value) {
        let first = self.position(b, window, axis, coord);
        let first = b.splat(Elem::I32, self.lanes, first);
        let step = b.i32(self.lanes, window.axes[axis].step as i32);
        let lane = b.iota(Elem::I32, self.lanes);
        let walked = b.vec(VecOp::Mul, &[lane, step]);
        let position = b.vec(VecOp::Add, &[first, walked]);
        let size = self.size(b, &window.axes[axis].size.clone());
        let end = b.splat(Elem::I32, self.lanes, size);
        let zero = b.i32(self.lanes, 0);
        let above = b.compare(CompareOp::Le, zero, position);
        let below = b.compare(CompareOp::Lt, position, end);
        let valid = b.mask_op(VecOp::And, above, below);
        let one = b.i32(self.lanes, 1);
        let greatest = b.vec(VecOp::Sub, &[end, one]);
        let clamped = b.vec(VecOp::Min, &[position, greatest]);
        let clamped = b.vec(VecOp::Max, &[clamped, zero]);
        let (none, all) = (b.index(0), b.index(self.lanes.into()));
        let some = b.index_op(IndexOp::Lt, none, size);
        let count = b.index_select(some, all, none);
        (valid, clamped, count)
    }

    // --- register forms --------------------------------------------------------------------------------

    /// A piece as it was loaded into lanes: `bool` becomes a mask.
    pub fn piece_of_lanes(&mut self, b: &mut Builder, dtype: DType, lanes: Value) -> Value {
        if dtype != DType::Bool {
            return lanes;
        }
        let zero = b.i32(self.lanes, 0);
        b.compare(CompareOp::Ne, lanes, zero)
    }

    /// A piece as lanes that can be stored or shuffled.
    pub fn lanes_of_piece(&mut self, b: &mut Builder, dtype: DType, piece: Value) -> Value {
        if dtype == DType::Bool { b.mask_to_vec(piece) } else { piece }
    }

    /// Every lane an element given by its bits.
    pub fn constant(&mut self, b: &mut Builder, dtype: DType, bits: i64) -> Value {
        match dtype {
            DType::Bool => b.mask_const(self.lanes, bits & 1 != 0),
            _ => b.vec_const(Elem::of(dtype), self.lanes, register_bits(dtype, bits)),
        }
    }
}

/// An element's bits in its register form.
pub(super) fn register_bits(dtype: DType, bits: i64) -> i64 {
    let to = match Elem::of(dtype) {
        Elem::F32 => DType::F32,
        Elem::F64 => DType::F64,
        Elem::I64 => return bits,
        Elem::I8 | Elem::I16 | Elem::I32 => DType::I32,
    };
    let mask = if dtype.bits() == 64 { u64::MAX } else { (1u64 << (8 * dtype.size())) - 1 };
    match dtype {
        DType::U32 | DType::F32 | DType::F64 => bits,
        _ => eval(ScalarOp::Cast { to, saturate: true }, &[dtype], &[bits as u64 & mask]) as i64,
    }
}
