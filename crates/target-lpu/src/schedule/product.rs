//! Bursts of a product: rows of weights that a plane loads at once, and rows that it multiplies.

use super::template::{Burst, Template, outwards_of};
use super::{Scene, shifter, tag};
use crate::flow::walk::for_each_round;
use crate::flow::{Flow, How, Product, Tile};
use tegula_isa_lpu::word::Word;
use tegula_isa_lpu::{Half, QueueId, Tag, Tags};

/// A plane, or the first of two in tandem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlaneId {
    pub(crate) half: Half,
    pub(crate) plane: u8,
}

impl PlaneId {
    pub(crate) const FIRST: PlaneId = PlaneId { half: Half::East, plane: 0 };
}

/// Rows of one of the planes, from `row` on, loaded in cycle 0 of the template's own count. Rows behind the tile's steps are 0.
pub(crate) fn load(
    scene: &Scene<'_>,
    product: &Product,
    tile: Tile,
    at: PlaneId,
    (part, row, is_last): (u32, u32, bool),
) -> Option<Template> {
    let mut burst = Burst::new(scene);
    let lpu = scene.lpu;
    let streams = burst.streams(outwards_of(at.half), lpu.mxm.load_streams)?;
    let position = at.half.sign() * lpu.mxm_position();
    let (value, vector) =
        if row < tile.steps { (product.weights, tile.first + row) } else { (product.zeros, 0) };
    for n in 0..lpu.mxm.load_streams {
        burst.read_part((value, vector + n), part, streams.plus(n), position, 0);
    }
    let word = Word::LoadWeights { row: row as u16, from: streams };
    let tags = Tags::from_slice(&[Tag::new(value.0, vector).part(part as u8)]);
    burst.issue(QueueId::Weights { half: at.half, plane: at.plane + part as u8 }, 0, word, tags);
    // Tile follows tile without an idle cycle otherwise, and none could fetch text.
    if is_last {
        burst.rest();
    }
    burst.finish()
}

/// What weights of a tile are called when they are installed.
pub(crate) fn weights_tag(product: &Product, tile: Tile) -> Tag {
    Tag::new(product.weights.0, tile.first)
}

/// All rows through the installed weights of tile `number`, the first of them in cycle 0 of the template's own count.
/// None: rows lie in slices of which one is read twice at once.
pub(crate) fn rows(
    scene: &Scene<'_>,
    flow: &Flow,
    product: &Product,
    number: usize,
    at: PlaneId,
) -> Option<Template> {
    super::PACES.into_iter().find_map(|pace| rows_at_pace(scene, flow, product, (number, pace), at))
}

fn rows_at_pace(
    scene: &Scene<'_>,
    flow: &Flow,
    product: &Product,
    (number, pace): (usize, i64),
    PlaneId { half, plane }: PlaneId,
) -> Option<Template> {
    let mut burst = Burst::new(scene);
    let (lpu, Product { factors, rows, tiles, .. }) = (scene.lpu, product);
    let tile = tiles[number];
    let (is_first, is_last) = (number == 0, number + 1 == tiles.len());
    let streams = burst.streams(outwards_of(half), factors.width())?;
    // Lanes that are not the first ones pass a shifter on their way.
    let shifted = match tile.lane {
        0 => None,
        lane => Some((
            burst.shifter(half)?,
            How::Shift(-(lane as i16)),
            burst.streams(outwards_of(half), factors.width())?,
        )),
    };
    let result = match is_last {
        true => Some(burst.streams(outwards_of(half.other()), 4)?),
        false => None,
    };
    let position = half.sign() * lpu.mxm_position();
    let late = i64::from(lpu.mxm.latency) - 1;
    let (mut cycle, mut row) = (0, 0u16);
    for_each_round(&flow.loops, |round| {
        let vector = (rows.value, rows.at(round) + tile.row);
        let stored = Tag::new(vector.0.0, vector.1);
        let (from, own) = match shifted {
            None => {
                burst.read(vector, factors.width(), streams, position, cycle);
                (streams, stored)
            }
            Some((queue, how, moved)) => {
                let at = queue.position(lpu);
                let way =
                    i64::from((position - at).unsigned_abs() * lpu.hop) + i64::from(lpu.sxm.shift_delay);
                let name = burst.moved(u32::from(row));
                burst.read(vector, factors.width(), streams, at, cycle - way);
                let word = shifter(how, factors.width() as u8, streams, moved);
                burst.issue(queue, cycle - way, word, Tags::from_slice(&[stored, name]));
                (moved, name)
            }
        };
        let word = Word::Multiply { factors: *factors, from };
        let tags = Tags::from_slice(&[own, weights_tag(product, tile)]);
        burst.issue(QueueId::Rows { half, plane }, cycle, word, tags);
        let word = Word::Accumulate { row, add: !is_first, emit: result };
        let own = tag(&flow.out, round);
        burst.issue(QueueId::Sums { half, plane }, cycle + late, word, Tags::from_slice(&[own]));
        if let Some(result) = result {
            burst.write((flow.out.value, flow.out.at(round)), 4, result, position, cycle + late + 1);
        }
        row += 1;
        cycle += pace;
    });
    burst.finish()
}
