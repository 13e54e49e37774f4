//! Pad values for what lies outside of a view: areas of scratch that rows past a border are read from, and the
//! lanes past a count.

use super::Lower;
use super::geometry::Coord;
use super::load::register_bits;
use super::window::Window;
use crate::schedule::builder::At;
use crate::schedule::{Builder, Elem};
use tegula_base::DType;
use tegula_ir::Value;

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

impl Lower<'_> {
    /// The address of a coordinate where `row` is not 0, else in a pad area; `bytes` are read from there.
    /// What is walked along unbounded axes stays a displacement, so that neighbours share the choice.
    pub fn guarded(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        row: Value,
        area: usize,
        bytes: i64,
    ) -> At {
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
        let area = &mut self.pad_areas[area];
        area.bytes = area.bytes.max(disp + bytes);
        let offset = area.offset;
        let at = self.address(b, window, &origin, None);
        let inside = self.flat_address(b, at);
        let scratch = b.scratch();
        let outside = b.add_const(scratch, offset);
        At::new(b.index_select(row, inside, outside)).disp(disp)
    }

    /// The area of a pad value: its number.
    pub fn pad_area(&mut self, dtype: DType, pad: i64) -> usize {
        let known = self.pad_areas.iter().position(|area| (area.dtype, area.pad) == (dtype, pad));
        known.unwrap_or_else(|| {
            let offset = self.reserve_scratch(PAD_REACH + i64::from(self.register_bits));
            self.pad_areas.push(PadArea { dtype, pad, offset, bytes: 0 });
            self.pad_areas.len() - 1
        })
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

    /// A load of some lanes, `inside`, with the pad value in the others, which are 0 already.
    pub fn padded(
        &mut self,
        b: &mut Builder,
        window: &Window,
        value: Value,
        inside: impl FnOnce(&mut Builder) -> Value,
    ) -> Value {
        let bits = register_bits(window.dtype, window.pad);
        if bits == 0 {
            return value;
        }
        let pad = b.vec_const(Elem::of(window.dtype), self.lanes, bits);
        let inside = inside(b);
        b.select(inside, value, pad)
    }
}
