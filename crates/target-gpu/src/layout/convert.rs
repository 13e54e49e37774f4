//! Plans how a tile goes from one register layout to another: the cheapest of nothing, a renaming of registers, shuffles
//! within warps, and shared memory. The algebra decides; nothing is searched but a short list of memory layouts.

mod shuffle;

use super::access::{Access, MatrixMoves, plan_access};
use super::register::RegisterLayout;
use super::shared::SharedLayout;
use super::swizzle::{CHUNK, Swizzle};

pub use shuffle::{ConditionalSwap, Round, ShufflePlan};

/// How the elements move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// They are where they should be.
    Identity,
    /// Register `i` of the result is register `from[i]` of the same thread.
    Registers { from: Vec<u32> },
    /// They stay in their warps.
    Shuffle(ShufflePlan),
    /// All threads store, wait for each other, and load.
    Shared(Box<SharedTrip>),
}

/// A tile's way through shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTrip {
    pub layout: SharedLayout,
    pub store: Access,
    pub load: Access,
}

/// What moves matrices the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixUnits {
    pub ldmatrix: MatrixMoves,
    pub stmatrix: MatrixMoves,
}

/// From one layout to another of the same tile, of elements of so many bytes. Slots of padding may receive anything.
/// Panics where the extents differ.
pub fn plan_conversion(
    from: &RegisterLayout,
    to: &RegisterLayout,
    element: u32,
    units: MatrixUnits,
) -> Conversion {
    assert_eq!(from.extents(), to.extents(), "invariant: a conversion keeps the tile's shape");
    if from == to {
        return Conversion::Identity;
    }
    match shuffle::plan(from, to) {
        Some(plan) => match plan.as_registers() {
            Some(from) if from.iter().copied().eq(0..from.len() as u32) => Conversion::Identity,
            Some(from) => Conversion::Registers { from },
            None => Conversion::Shuffle(plan),
        },
        None => Conversion::Shared(Box::new(shared_trip(from, to, element, units))),
    }
}

/// The layout of memory with the fewest wavefronts of those that conversions may use; of equals the smallest.
fn shared_trip(from: &RegisterLayout, to: &RegisterLayout, element: u32, units: MatrixUnits) -> SharedTrip {
    let trips = candidates(from.extents(), element).into_iter().map(|layout| {
        let store = plan_access(from, &layout, units.stmatrix);
        let load = plan_access(to, &layout, units.ldmatrix);
        SharedTrip { layout, store, load }
    });
    let cost = |trip: &SharedTrip| {
        let instructions = trip.store.moves.len() + trip.load.moves.len();
        (trip.store.wavefronts + trip.load.wavefronts + instructions as u32, trip.layout.size())
    };
    trips.min_by_key(cost).expect("invariant: there is a candidate")
}

/// Rows of each dim in turn, plain, padded, or swizzled.
fn candidates(extents: &[u32], element: u32) -> Vec<SharedLayout> {
    let rank = extents.len();
    let mut layouts = Vec::new();
    for inner in (0..rank.max(1)).rev() {
        let mut order: Vec<usize> = (0..rank).filter(|dim| *dim != inner).collect();
        let outer = order.last().copied();
        order.extend((0..rank).filter(|dim| *dim == inner));
        layouts.push(SharedLayout::rows(extents, element, &order, 0));
        layouts.push(SharedLayout::rows(extents, element, &order, CHUNK.max(element)));
        if let Some(outer) = outer {
            let swizzles = Swizzle::ALL.into_iter().skip(1);
            layouts.extend(
                swizzles.map(|swizzle| SharedLayout::panels(extents, element, inner, outer, swizzle)),
            );
        }
    }
    layouts
}
