//! Reshapes inside of kernels: a box of the result as a box of the operand.
//!
//! Both shapes split into groups of axes with equal counts. A group of one operand axis takes the group's linear
//! position; a group of several takes it apart by quotient and remainder, one element at a time.

use super::{Axis, Lowering, TileBox};
use std::ops::Range;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tile::IndexOp;

/// Runs of axes of equal count, in order, as short as they can be; an axis of extent 1 may stand alone.
/// `None`: the counts do not split alike.
pub(in crate::lower) fn groups(from: &Shape, to: &Shape) -> Option<Vec<(Range<usize>, Range<usize>)>> {
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

/// Whether every group of a reshape has at most one operand axis that is not 1: the reshape only splits axes
/// and adds or drops ones, so a box whose inner axis is a row of its group maps to a box.
pub(in crate::lower) fn maps_to_one_axis(from: &Shape, to: &Shape) -> bool {
    groups(from, to).is_some_and(|groups| {
        groups.iter().all(|(left, _)| left.clone().filter(|axis| !from[*axis].is_const(1)).count() <= 1)
    })
}

impl Lowering<'_> {
    pub(super) fn reshape(&mut self, operand: Value, shape: &Shape, at: &TileBox) -> Result<Value, String> {
        let from = self.body.shape(operand).clone();
        let groups = groups(&from, shape).ok_or_else(|| format!("{from} does not split like {shape}"))?;
        let zero = self.b.index(0);
        let unit = Axis { offset: zero, extent: 1, step: 1, bounded: false };
        let mut inner: TileBox = std::iter::repeat_n(unit, from.rank()).collect();
        for (left, right) in groups {
            let Some(last) = right.clone().rev().find(|axis| !shape[*axis].is_const(1)) else { continue };
            if right.clone().any(|axis| axis != last && at[axis].extent != 1) {
                return Err(format!("a tile of several rows of {shape} is no box of {from}"));
            }
            // The linear position of the group's first element.
            let mut position = zero;
            for axis in right {
                let size = self.b.size(&shape[axis]);
                position = self.b.mul(position, size);
                position = self.b.add(position, at[axis].offset);
            }
            let taken: Vec<usize> = left.filter(|axis| !from[*axis].is_const(1)).collect();
            match taken.as_slice() {
                [] => {}
                [axis] => inner[*axis] = Axis { offset: position, ..at[last] },
                several if at[last].extent == 1 => {
                    for axis in several.iter().rev() {
                        let size = self.b.size(&from[*axis]);
                        inner[*axis].offset = self.b.index_op(IndexOp::Mod, position, size);
                        inner[*axis].bounded = at[last].bounded;
                        position = self.b.index_op(IndexOp::FloorDiv, position, size);
                    }
                }
                _ => return Err(format!("a row of {shape} is no box of {from}")),
            }
        }
        let tile = self.pull(operand, &inner)?;
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        Ok(self.b.reshape(tile, &extents))
    }
}
