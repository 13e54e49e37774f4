//! Loads a piece of a window: which lanes are inside of the view, and how they lie in memory.
//!
//! Invariant: no element outside of a view is touched. Rows outside of the view, along bounded axes, are loaded
//! with a lane count of 0; elements outside along the lane axis are cut off by the count; what was not loaded
//! becomes the pad value.

use super::window::Window;
use super::{Lower, facts};
use crate::schedule::builder::At;
use crate::schedule::{Builder, CompareOp, Elem, IndexOp, VecOp};
use tegula_base::{DType, Dim};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ScalarOp, Value};

/// Bytes of scratch that loads of rows outside of their view read instead.
const SAFE_BYTES: i64 = 64;

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
        let row = self.row_inside(b, window, coord, None);
        let value = match row {
            Some(row) => {
                let safe = self.safe_address(b);
                let address = self.flat_address(b, at);
                let address = b.index_select(row, address, safe);
                let value = b.load_splat(window.dtype, self.lanes, At::new(address));
                let all = b.index(self.lanes.into());
                let none = b.index(0);
                let count = b.index_select(row, all, none);
                self.padded(b, window, value, count, false)
            }
            None => b.load_splat(window.dtype, self.lanes, at),
        };
        self.from_lanes(b, window.dtype, value)
    }

    /// Some readable bytes.
    fn safe_address(&mut self, b: &mut Builder) -> Value {
        if self.scratch_bytes == 0 {
            self.reserve_scratch(SAFE_BYTES);
        }
        b.scratch()
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
        let data = &window.axes[axis];
        let stride = data.stride.clone() * Dim::from(data.step);
        let value = match stride.is_const(1) {
            true => b.load_at(window.dtype, self.lanes, at),
            false => {
                let stride = self.byte_stride(b, &stride, window.dtype.size() as i64);
                b.load_strided(window.dtype, self.lanes, at, stride)
            }
        };
        let bounded = row.is_some() || data.bounded;
        let value = match count.filter(|_| bounded) {
            Some(count) => self.padded(b, window, value, count, true),
            None => value,
        };
        self.from_lanes(b, window.dtype, value)
    }

    /// The pad value from lane `count` on; `read_zero` says that those lanes are 0 already.
    fn padded(&mut self, b: &mut Builder, window: &Window, value: Value, count: Value, read_zero: bool) -> Value {
        let bits = register_bits(window.dtype, window.pad);
        if read_zero && bits == 0 {
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
        self.from_lanes(b, window.dtype, value)
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
    pub fn from_lanes(&mut self, b: &mut Builder, dtype: DType, lanes: Value) -> Value {
        if dtype != DType::Bool {
            return lanes;
        }
        let zero = b.i32(self.lanes, 0);
        b.compare(CompareOp::Ne, lanes, zero)
    }

    /// A piece as lanes that can be stored or shuffled.
    pub fn to_lanes(&mut self, b: &mut Builder, dtype: DType, piece: Value) -> Value {
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
