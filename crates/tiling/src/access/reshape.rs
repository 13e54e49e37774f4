//! Reshapes inside of kernels: a box of the result as a box of the operand.
//!
//! Both shapes split into groups of axes with equal counts, and a box is a run of the group's linear order. A group of
//! one operand axis takes the run as it is; a group of several takes apart by quotient and remainder a run of one
//! element, or one that begins where it must to be a box.

use super::{Axis, Lowering, TileBox};
use std::ops::Range;
use tegula_base::{Dim, Shape, Symbols};
use tegula_ir::Value;
use tegula_tile::IndexOp;
use tegula_tile::divisor::{divisor, exact_quotient};

/// Runs of axes of equal count, in order, as short as they can be; an axis of extent 1 may stand alone.
/// `None`: the counts do not split alike, as far as the divisors of symbols tell.
pub(crate) fn groups(
    from: &Shape,
    to: &Shape,
    symbols: Option<&Symbols>,
) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    if let Some(symbols) = symbols {
        let in_units = |shape: &Shape| -> Shape { shape.iter().map(|dim| symbols.in_units(dim)).collect() };
        return groups(&in_units(from), &in_units(to), None);
    }
    let (mut i, mut j) = (0, 0);
    let mut groups = Vec::new();
    while i < from.rank() || j < to.rank() {
        if i < from.rank() && from[i].is_const(1) {
            groups.push((i..i + 1, j..j));
            i += 1;
            continue;
        }
        if j < to.rank() && to[j].is_const(1) {
            groups.push((i..i, j..j + 1));
            j += 1;
            continue;
        }
        if i == from.rank() || j == to.rank() {
            return None;
        }
        let (start_i, start_j) = (i, j);
        let (mut left, mut right): (Dim, Dim) = (from[i].clone(), to[j].clone());
        (i, j) = (i + 1, j + 1);
        // Extend whichever side still divides the other.
        while left != right {
            if i < from.rank() && right.div_exact(&left).is_some() {
                left = left * from[i].clone();
                i += 1;
            } else if j < to.rank() && left.div_exact(&right).is_some() {
                right = right * to[j].clone();
                j += 1;
            } else {
                return None;
            }
        }
        groups.push((start_i..i, start_j..j));
    }
    Some(groups)
}

impl Lowering<'_> {
    pub(super) fn reshape(&mut self, operand: Value, shape: &Shape, at: &TileBox) -> Result<Value, String> {
        let inner = self.box_before(self.body.shape(operand), shape, at)?;
        let tile = self.pull(operand, &inner)?;
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        Ok(self.b.reshape(tile, &extents))
    }

    /// The box of a value of shape `from` that holds the elements of a box of its reshape to `shape`.
    /// Errors: they are no box.
    pub(crate) fn box_before(
        &mut self,
        from: &Shape,
        shape: &Shape,
        at: &TileBox,
    ) -> Result<TileBox, String> {
        let groups =
            groups(from, shape, self.symbols).ok_or_else(|| format!("{from} does not split like {shape}"))?;
        let zero = self.b.index(0);
        let unit = Axis { offset: zero, extent: 1, step: 1, bounded: false };
        let mut inner: TileBox = std::iter::repeat_n(unit, from.rank()).collect();
        for (left, right) in groups {
            let wide: Vec<usize> = right.clone().filter(|axis| !shape[*axis].is_const(1)).collect();
            let Some(&last) = wide.last() else { continue };
            let taken: Vec<usize> = left.filter(|axis| !from[*axis].is_const(1)).collect();
            let run = self
                .run(shape, &wide, at)
                .ok_or_else(|| format!("a tile of several rows of {shape} is no box of {from}"))?;
            match taken.as_slice() {
                [] => {}
                [axis] => inner[*axis] = Axis { step: at[last].step, ..run },
                several if run.extent == 1 => {
                    let mut position = run.offset;
                    for axis in several.iter().rev() {
                        let size = self.b.size(&from[*axis]);
                        inner[*axis].offset = self.b.index_op(IndexOp::Mod, position, size);
                        inner[*axis].bounded = run.bounded;
                        position = self.b.index_op(IndexOp::FloorDiv, position, size);
                    }
                }
                several => self
                    .cut(from, several, run, &mut inner)
                    .ok_or_else(|| format!("a row of {shape} is no box of {from}"))?,
            }
        }
        Ok(inner)
    }

    /// The box of a group's axes (none of extent 1) as consecutive elements: one axis in part, those inside of it whole.
    fn run(&mut self, shape: &Shape, axes: &[usize], at: &TileBox) -> Option<Axis> {
        let mut position = self.b.index(0);
        for axis in axes {
            position = self.times(position, &shape[*axis]);
            position = self.b.add(position, at[*axis].offset);
        }
        let whole = |axis: &&usize| {
            shape[**axis].is_const(at[**axis].extent) && self.b.known(at[**axis].offset) == Some(0)
        };
        let inside = axes.iter().rev().take_while(whole).count().min(axes.len() - 1);
        let (outer, inside) = axes.split_at(axes.len() - inside);
        let (part, before) = outer.split_last()?;
        if before.iter().any(|axis| at[*axis].extent != 1) || !inside.is_empty() && at[*part].step != 1 {
            return None;
        }
        let extent = inside.iter().fold(at[*part].extent, |extent, axis| extent * at[*axis].extent);
        let bounded = outer.iter().any(|axis| at[*axis].bounded);
        Some(Axis { offset: position, extent, step: at[*part].step, bounded })
    }

    /// `position * size`: what was divided before, if that left no rest.
    fn times(&mut self, position: Value, size: &Dim) -> Value {
        let exact = size.as_const().and_then(|size| exact_quotient(self.b.func, position, size));
        match exact {
            Some((dividend, 1)) => dividend,
            Some((dividend, factor)) => {
                let factor = self.b.index(factor);
                self.b.mul(dividend, factor)
            }
            None => {
                let size = self.b.size(size);
                self.b.mul(position, size)
            }
        }
    }

    /// Consecutive elements as a box of several axes: the innermost whole, then one in part. None where the run may begin
    /// in the middle of what it covers, or does not cover it evenly.
    fn cut(&mut self, from: &Shape, axes: &[usize], run: Axis, inner: &mut TileBox) -> Option<()> {
        let (mut position, mut extent) = (run.offset, run.extent);
        if run.step != 1 {
            return None;
        }
        let (outermost, rest) = axes.split_first()?;
        for axis in rest.iter().rev() {
            let size = from[*axis].as_const()?;
            let part = extent.min(size);
            if size % part != 0 || extent % part != 0 || divisor(self.b.func, position, &|_| 1) % part != 0 {
                return None;
            }
            let width = self.b.index(size);
            let offset = match part == size {
                true => self.b.index(0),
                false => self.b.index_op(IndexOp::Mod, position, width),
            };
            inner[*axis] = Axis { offset, extent: part, step: 1, bounded: false };
            extent /= part;
            position = self.b.index_op(IndexOp::FloorDiv, position, width);
        }
        inner[*outermost] = Axis { offset: position, extent, step: 1, bounded: run.bounded };
        Some(())
    }
}
