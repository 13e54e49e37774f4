//! Blocked layouts: neighbours along the last dim in one thread, then in neighbouring lanes, so that a warp reads and
//! writes memory of row-major order in whole lines.

use super::atom::Part;
use super::register::{LANES, LayoutBuilder, RegisterLayout};

/// The part of a dim's slots that may hold padding so that more lanes lie along it.
const PADDING: (u32, u32) = (1, 4);

/// `vector` neighbouring elements a thread, lanes along the last dims, warps along the first, what is left in registers.
/// Panics where `vector` is not a power of two, or there is no warp.
pub fn blocked(extents: &[u32], vector: u32, warps: u32) -> RegisterLayout {
    assert!(vector.is_power_of_two() && warps > 0, "invariant: a vector is a power of two, of some warp");
    let mut builder = LayoutBuilder::new();
    let Some(last) = extents.len().checked_sub(1) else {
        return builder.broadcast(Part::Warp, warps).finish(extents);
    };
    builder = builder.take(Part::Register, last, vector);
    for dim in (0..=last).rev() {
        let lanes = divisor_within(LANES / builder.count(Part::Lane), rest(&builder, extents, dim));
        builder = builder.take(Part::Lane, dim, lanes);
    }
    for dim in 0..=last {
        let left = warps / builder.count(Part::Warp);
        let along = divisor_within(left, rest(&builder, extents, dim));
        builder = builder.take(Part::Warp, dim, along);
    }
    let copies = warps / builder.count(Part::Warp);
    builder.broadcast(Part::Warp, copies).finish(extents)
}

/// How often the dim's steps so far must be repeated.
fn rest(builder: &LayoutBuilder, extents: &[u32], dim: usize) -> u32 {
    extents[dim].div_ceil(builder.covered(dim)).max(1)
}

/// The largest divisor of `total` that pads `count` by no more than `PADDING`.
fn divisor_within(total: u32, count: u32) -> u32 {
    let fits = |divisor: &u32| {
        let slots = count.next_multiple_of(*divisor);
        total.is_multiple_of(*divisor) && (slots - count) * PADDING.1 <= slots * PADDING.0
    };
    (1..=total.min(count)).rev().find(fits).unwrap_or(1)
}
