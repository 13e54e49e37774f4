//! Rows through a plane, tile by tile of k: load, install, multiply all rows, add up.

use super::burst::Burst;
use super::tag;
use crate::flow::walk::{for_each_round, rounds};
use crate::flow::{Flow, Product, Tile};
use tegula_isa_lpu::word::Word;
use tegula_isa_lpu::{Half, QueueId, Stream, Tag, Tags};

/// The first of the planes that are used.
const HALF: Half = Half::East;

pub(super) fn product(burst: &mut Burst<'_>, flow: &Flow, product: &Product, pace: i64) -> Option<()> {
    let lpu = burst.lpu();
    let Product { factors, rows, tiles, .. } = product;
    let planes = factors.width();
    let k = factors.k(lpu)?;
    // Rows come when all weights are loaded, on the same streams.
    let streams = burst.east(lpu.mxm.load_streams.max(planes))?;
    let result = burst.west(4)?;
    let position = lpu.mxm_position();
    let count = rounds(&flow.loops);
    let queue = |plane: u32| QueueId::Weights { half: HALF, plane: plane as u8 };
    let mut cycle = 0;
    for (number, tile) in tiles.iter().enumerate() {
        let (is_first, is_last) = (number == 0, number + 1 == tiles.len());
        for plane in 0..planes {
            for row in (0..k).step_by(lpu.mxm.load_streams as usize) {
                load(burst, product, *tile, (plane, row), streams, cycle);
                cycle += 1;
            }
        }
        let name = Tag::new(product.weights.0, tile.first);
        for plane in 0..planes {
            burst.issue(
                queue(plane),
                cycle,
                Word::InstallWeights,
                Tags::from_slice(&[name.part(plane as u8)]),
            );
        }
        cycle += i64::from(lpu.mxm.install).max(1);
        let mut number = 0u16;
        for_each_round(&flow.loops, |round| {
            let vector = (rows.value, rows.at(round) + tile.row);
            burst.read(vector, factors.width(), streams, position, cycle);
            let word = Word::Multiply { factors: *factors, from: streams };
            let tags = Tags::from_slice(&[Tag::new(vector.0.0, vector.1), name]);
            burst.issue(QueueId::Rows { half: HALF, plane: 0 }, cycle, word, tags);
            let take = cycle + i64::from(lpu.mxm.latency) - 1;
            let emit = is_last.then_some(result);
            let word = Word::Accumulate { row: number, add: !is_first, emit };
            let own = tag(&flow.out, round);
            burst.issue(QueueId::Sums { half: HALF, plane: 0 }, take, word, Tags::from_slice(&[own]));
            if is_last {
                burst.write((flow.out.value, flow.out.at(round)), 4, result, position, take + 1);
            }
            number += 1;
            cycle += pace;
        });
        debug_assert_eq!(u32::from(number), count);
        // The next tile's weights may come from the slices of these rows.
        cycle += if pace == 1 { 0 } else { pace * APART };
    }
    Some(())
}

/// Cycles between tiles, in paces, where the closest schedule has a conflict.
const APART: i64 = 16;

/// Loads rows of a plane from `row` on; rows behind the tile's steps are 0.
fn load(
    burst: &mut Burst<'_>,
    product: &Product,
    tile: Tile,
    (plane, row): (u32, u32),
    streams: Stream,
    cycle: i64,
) {
    let lpu = burst.lpu();
    let (value, vector) =
        if row < tile.steps { (product.weights, tile.first + row) } else { (product.zeros, 0) };
    for n in 0..lpu.mxm.load_streams {
        burst.read_part((value, vector + n), plane, streams.plus(n), lpu.mxm_position(), cycle);
    }
    let word = Word::LoadWeights { row: row as u16, from: streams };
    let tags = Tags::from_slice(&[Tag::new(value.0, vector).part(plane as u8)]);
    burst.issue(QueueId::Weights { half: HALF, plane: plane as u8 }, cycle, word, tags);
}
