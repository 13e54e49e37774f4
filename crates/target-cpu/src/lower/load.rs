//! Loads a piece of a window: which lanes are inside of the view, and how they lie in memory.
//!
//! Invariant: no element outside of a view is touched but those between the ones of a view that takes every other. Rows
//! outside of the view, along bounded axes, are loaded from an area of pad values, or with a lane count of 0; elements
//! outside along the lane axis are cut off by the count; what was not loaded becomes the pad value.

use super::Lower;
use super::window::Window;
use crate::schedule::builder::At;
use crate::schedule::{Builder, CompareOp, Elem, IndexOp};
use tegula_base::{DType, Dim};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{OpId, ScalarOp, Value};

/// How the elements of a piece lie across lanes.
pub(super) enum Lanes {
    /// One element for all lanes.
    Splat,
    /// A vector of which this many lanes count (none: all); elements along this axis of the view.
    Along { axis: usize, count: Option<Value> },
    /// As `Along`, but the first lanes may lie outside of the view (`scattered.rs`).
    Scattered { axis: usize },
}

impl Lower<'_> {
    pub fn prefetch(&mut self, b: &mut Builder, op: OpId) {
        let rank = self.func.operands(op).len() - 1;
        let window = self.own_window(op, &vec![1; rank], &vec![false; rank], 0);
        let at = self.address(b, &window, &vec![0; rank], None);
        b.prefetch(at);
    }

    /// The elements from a tile's coordinate on along its last axis, `active` of them.
    pub fn load_window(&mut self, b: &mut Builder, window: &Window, coord: &[i64], active: i64) -> Value {
        match self.lanes_in(b, window, coord, active) {
            Lanes::Splat => self.load_splat(b, window, coord, (window.dtype, window.pad)),
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
        if data.step < 1 || window.may_begin_before(axis, coord) {
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
            let mut parts = vec![below];
            if window.may_begin_before(i, coord) {
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

    /// The element of `dtype` that begins at a coordinate, in every lane; its pad bits where that is outside.
    pub fn load_splat(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        (dtype, pad): (DType, i64),
    ) -> Value {
        let at = match self.row_inside(b, window, coord, None) {
            Some(row) => {
                let area = self.pad_area(dtype, pad);
                self.guarded(b, window, coord, row, area, dtype.size() as i64)
            }
            None => self.address(b, window, coord, None),
        };
        let value = b.load_splat(dtype, self.lanes, at);
        self.piece_of_lanes(b, dtype, value)
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
            let area = self.pad_area(window.dtype, window.pad);
            let at = self.guarded(b, window, coord, row, area, bytes);
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
        let value = match stride.as_const() {
            Some(1) => b.load_at(window.dtype, self.lanes, at),
            // Narrow elements that are counted go one by one on AVX2, twice as many here.
            Some(2) if count.is_none() || window.dtype.size() >= 4 => {
                self.load_every_other(b, window.dtype, at)
            }
            _ => {
                let stride = self.byte_stride(b, &stride, window.dtype.size() as i64);
                b.load_strided(window.dtype, self.lanes, at, stride)
            }
        };
        let bounded = row.is_some() || window.axes[axis].bounded;
        let value = match count.filter(|_| bounded) {
            Some(count) => {
                let lanes = self.lanes;
                self.padded(b, window, value, |b| b.mask_first(lanes, count))
            }
            None => value,
        };
        self.piece_of_lanes(b, window.dtype, value)
    }

    /// Every other element, as two vectors whose odd ones are dropped. The second begins an element early: nothing past the
    /// last element is read.
    fn load_every_other(&self, b: &mut Builder, dtype: DType, at: At) -> Value {
        let lanes = i64::from(self.lanes);
        let part = |b: &mut Builder, first: i64| {
            let count = at.count.map(|count| {
                let twice = b.mul_const(count, 2);
                b.add_const(twice, -1 - first)
            });
            b.load_at(dtype, self.lanes, At { disp: at.disp + first * dtype.size() as i64, count, ..at })
        };
        let [low, high] = [0, lanes - 1].map(|first| part(b, first));
        let picks = (0..lanes).map(|lane| if 2 * lane < lanes { 2 * lane } else { 2 * lane + 1 });
        b.shuffle(low, high, picks.map(|pick| pick as u32).collect())
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
