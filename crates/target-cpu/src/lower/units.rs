//! The loop over the work units of a call, and where each stands in the grid.
//!
//! A unit's number is row-major in the grid. Where shifts and masks take it apart each unit does so; elsewhere only the
//! first of a call divides, and coordinates then count on as an odometer does: a Zen 5 took 90 cycles for the four divisions
//! of a grid of three axes.

use super::Lower;
use crate::schedule::{Builder, IndexOp, LoopLevel};
use smallvec::SmallVec;
use tegula_ir::Value;

type Coordinates = SmallVec<[Value; 4]>;

impl Lower<'_> {
    /// Lowers the kernel's body once, as a loop over the units of a call.
    pub fn units(&mut self, b: &mut Builder) {
        let grid = &self.kernel.grid;
        let long = grid.iter().map(|axis| &axis.extent).filter(|extent| !extent.is_const(1));
        // Of all axes of more than one unit but the outermost.
        let extents: Coordinates = long.skip(1).map(|extent| self.size(b, extent)).collect();
        let is_power = |extent: &Value| b.as_const(*extent).is_some_and(|n| n > 0 && n.count_ones() == 1);
        let counts_on = !extents.iter().all(is_power);
        let (begin, end) = (b.begin(), b.end());
        let first = if counts_on { taken_apart(b, begin, &extents) } else { Coordinates::new() };
        b.for_(begin, end, 1, LoopLevel::Parallel, &first, |b, unit, carried| {
            let coordinates = if counts_on { carried.into() } else { taken_apart(b, unit, &extents) };
            self.bind_unit(b, &coordinates);
            self.region_ops(b, self.kernel.func.body());
            if counts_on { next(b, &coordinates, &extents).to_vec() } else { vec![] }
        });
    }

    /// Coordinates along the axes of more than one unit; where there is no such axis, the first is not needed.
    fn bind_unit(&mut self, b: &mut Builder, coordinates: &[Value]) {
        let args = &self.func.args(self.func.body())[self.kernel.views.len()..];
        let mut long = coordinates.iter();
        for (arg, axis) in args.iter().zip(&self.kernel.grid) {
            let coordinate = match axis.extent.is_const(1) {
                true => b.index(0),
                false => *long.next().expect("invariant: a coordinate for each axis of more than one unit"),
            };
            self.bind_index(*arg, coordinate);
        }
    }
}

/// Coordinates of a unit by its number, outermost first; `extents` are of all axes but the outermost.
fn taken_apart(b: &mut Builder, unit: Value, extents: &[Value]) -> Coordinates {
    let mut rest = unit;
    let mut coordinates = Coordinates::new();
    for extent in extents.iter().rev() {
        coordinates.push(b.index_op(IndexOp::Mod, rest, *extent));
        rest = b.index_op(IndexOp::FloorDiv, rest, *extent);
    }
    coordinates.push(rest);
    coordinates.reverse();
    coordinates
}

/// Coordinates of the unit behind that at `coordinates`.
fn next(b: &mut Builder, coordinates: &[Value], extents: &[Value]) -> Coordinates {
    let (zero, mut carry) = (b.index(0), b.index(1));
    let mut next: Coordinates = coordinates.into();
    for (coordinate, extent) in next[1..].iter_mut().zip(extents).rev() {
        let counted = b.index_op(IndexOp::Add, *coordinate, carry);
        carry = b.index_op(IndexOp::Eq, counted, *extent);
        *coordinate = b.index_select(carry, zero, counted);
    }
    next[0] = b.index_op(IndexOp::Add, next[0], carry);
    next
}
