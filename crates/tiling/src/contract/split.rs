//! Split-K, for contractions whose tiles are too few to fill the machine. Each tile's sums over a split of k are left in
//! memory. A second launch adds them up in the order of the splits and does what follows the contraction.
//!
//! Why a second launch: the sum's own parallelism is that of the result's elements, not of its tiles; units stay
//! independent of one another, so that results are the same in any order of units; every form of product, with
//! whatever comes before it, splits alike. Sums through a cluster's shared memory save the trip through L2 (some
//! microseconds less one launch), but hold at most 8 splits, only on sm_90, and bind the product's pipeline; units that
//! wait for the ones before them need memory that is 0 at the start, and all units running at once.

use super::padded::used_axis;
use crate::Lowered;
use crate::access::{Axis, Lowering, Part, Temporary, TileBox, begin_part};
use crate::body::Body;
use crate::{Contract, ContractTile, TileMachine};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tile::{IndexOp, ViewType};

/// Elements of a sum's tile for each lane: 16 bytes of `f32`.
const LANE_ELEMENTS: i64 = 4;

/// How k is split, and the memory of the sums: `[split, batch..., m, n]`.
pub(super) struct Split {
    pub splits: i64,
    /// Steps of a split: whole tiles of k.
    length: Dim,
    k: Dim,
    sums: Temporary,
    bytes: Dim,
}

impl Split {
    /// `used` is 1 in runs of the program that split, else 0; `number` the temporary's.
    pub fn new(contract: &Contract, tile: ContractTile, batch: &[Dim], used: &Dim, number: usize) -> Split {
        let (splits, step) = (Dim::from(tile.splits), Dim::from(tile.k));
        let length = contract.k.ceil_div(&step).ceil_div(&splits) * step;
        let edge = [contract.m.clone(), contract.n.clone()];
        let shape: Shape = [splits].into_iter().chain(batch.iter().cloned()).chain(edge).collect();
        let bytes = shape.count() * Dim::from(contract.acc.size()) * used.clone();
        let sums = Temporary { number, ty: ViewType::row_major(contract.acc, shape) };
        Split { splits: tile.splits, length, k: contract.k.clone(), sums, bytes }
    }

    /// Bytes of the sums.
    pub fn bytes(&self) -> Dim {
        self.bytes.clone()
    }

    pub fn part_before(&self, body: &Body, root: OpId) -> Part {
        Part::before(body, root, vec![self.sums.clone()])
    }

    /// The steps of a split; none in splits beyond the end.
    pub fn range(&self, cx: &mut Lowering, number: Value) -> [Value; 2] {
        let (length, k) = (cx.b.size(&self.length), cx.b.size(&self.k));
        let begin = cx.b.mul(number, length);
        let end = cx.b.add(begin, length);
        [begin, cx.b.index_op(IndexOp::Min, end, k)]
    }

    /// Leaves a tile's sums over a split.
    pub fn store(&self, cx: &mut Lowering, number: Value, sum: Value, at: &TileBox) {
        let at = within_split(number, at);
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let tile = cx.b.reshape(sum, &extents);
        cx.store_at(cx.temporary(0), tile, &at);
    }
}

/// A box of the result as a box of one split's sums.
fn within_split(number: Value, at: &[Axis]) -> TileBox {
    let split = Axis { offset: number, extent: 1, step: 1, bounded: false };
    [split].into_iter().chain(at.iter().copied()).collect()
}

/// The launch that adds up the sums of all splits.
pub(super) fn sum(
    body: &Body,
    root: OpId,
    split: &Split,
    used: &Dim,
    machine: &dyn TileMachine,
) -> Result<Lowered, String> {
    let shape = &split.sums.ty.shape;
    let [_, batch @ .., m, n] = &shape[..] else { return Err("sums have splits, rows and columns".into()) };
    let elements = LANE_ELEMENTS * machine.lanes(DType::F32);
    let columns =
        n.as_const().map_or(elements, |n| (n.max(1) as u64).next_power_of_two() as i64).min(elements);
    let rows = m
        .as_const()
        .map_or(elements, |m| (m.max(1) as u64).next_power_of_two() as i64)
        .min(elements / columns);
    let tile = [rows, columns];
    let counts = [m, n].into_iter().zip(tile).map(|(extent, tile)| extent.ceil_div(&Dim::from(tile)));
    let mut grid = used_axis(used);
    let first = grid.len();
    grid.extend(batch.iter().cloned().chain(counts));
    let part = Part::after(body, root, vec![split.sums.clone()]);
    let (mut kernel, views) = begin_part(body, grid, &part);
    let mut cx = Lowering::new(body, &mut kernel, views);
    let unit = cx.unit[first..].to_vec();
    let (places, edges) = unit.split_at(batch.len());
    let one = |offset: &Value| Axis { offset: *offset, extent: 1, step: 1, bounded: false };
    let mut at: TileBox = places.iter().map(one).collect();
    for ((number, extent), width) in edges.iter().zip([m, n]).zip(tile) {
        let step = cx.b.index(width);
        let bounded = extent.as_const().is_none_or(|extent| extent % width != 0);
        at.push(Axis { offset: cx.b.mul(*number, step), extent: width, step: 1, bounded });
    }
    let view = cx.temporary(0);
    let of_split = |cx: &mut Lowering, number: i64| {
        let number = cx.b.index(number);
        let sums = cx.load(view, &within_split(number, &at), 0);
        cx.b.reshape(sums, &tile)
    };
    let first = of_split(&mut cx, 0);
    let total = (1..split.splits).fold(first, |total, number| {
        let sums = of_split(&mut cx, number);
        cx.b.elementwise(ScalarOp::Add, &[total, sums])
    });
    super::epilogue(&mut cx, root, total, &at)?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}
