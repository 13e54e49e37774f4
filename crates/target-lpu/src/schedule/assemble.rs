//! Vectors that pass a shifter alone: superlanes that are transposed, and parts that are written under a mask.

use super::shifter;
use super::template::{Burst, Clock, outwards_of};
use crate::flow::walk::for_each_round;
use crate::flow::{Access, Flow, Part};
use tegula_isa_lpu::word::{WHOLE, Word};
use tegula_isa_lpu::{Half, Tag, Tags};

/// Each part moves and is written where it belongs. Parts of one half come through its shifters.
pub(super) fn assemble(
    burst: &mut Burst<'_>,
    flow: &Flow,
    parts: &[Part],
    (pace, pause): (i64, i64),
) -> Option<()> {
    let width = burst.width(flow.out.value);
    let mut ways = [None; 2];
    let delay = i64::from(burst.lpu().sxm.shift_delay);
    let mut clock = Clock::new(pace, pause);
    let mut was_whole = true;
    for part in parts {
        let half = burst.half(part.from.0)?;
        // What the shifters of one half drive overtakes what those of the other do.
        let is_whole = part.superlanes == u32::MAX;
        if was_whole && !is_whole {
            clock.cycle += 2 * i64::from(burst.lpu().sxm_position().unsigned_abs() * burst.lpu().hop);
        }
        was_whole = is_whole;
        let way = &mut ways[usize::from(half == Half::East)];
        let (queue, (stream, to)) = match *way {
            Some(way) => way,
            None => *way.insert((burst.shifter(half)?, both_ways(burst, half, width)?)),
        };
        let position = queue.position(burst.lpu());
        let cycle = clock.cycle;
        burst.read(part.from, width, stream, position, cycle);
        let own = (flow.out.value, part.to);
        let tags = [Tag::new(part.from.0.0, part.from.1), Tag::new(own.0.0, own.1)];
        burst.issue(queue, cycle, shifter(part.how, width as u8, stream, to), Tags::from_slice(&tags));
        let mask = if is_whole { WHOLE } else { part.superlanes };
        burst.write_masked(own, width, to, position, cycle + delay, mask);
        clock.next_round();
    }
    Some(())
}

/// A byte of all vectors of a round at once.
pub(super) fn transpose(
    burst: &mut Burst<'_>,
    flow: &Flow,
    (from, size): (&Access, u32),
    pace: i64,
) -> Option<()> {
    let width = burst.width(flow.out.value);
    let half = burst.half(from.value)?;
    let (stream, to) = both_ways(burst, half, size)?;
    let queue = burst.shifter(half)?;
    let position = half.sign() * burst.lpu().sxm_position();
    let delay = i64::from(burst.lpu().sxm.transpose_delay);
    let mut cycle = 0;
    for_each_round(&flow.loops, |round| {
        let (first, own) = (from.at(round), flow.out.at(round));
        for part in 0..width {
            for n in 0..size {
                burst.read_part((from.value, first + n), part, stream.plus(n), position, cycle);
                let written = (flow.out.value, own + n);
                burst.write_part(written, part, to.plus(n), position, cycle + delay);
            }
            let tags = [Tag::new(from.value.0, first), Tag::new(flow.out.value.0, own)];
            let tags = tags.map(|tag| tag.part(part as u8));
            burst.issue(queue, cycle, Word::Transpose { from: stream, to }, Tags::from_slice(&tags));
            cycle += pace;
        }
    });
    Some(())
}

/// Streams to the shifters of a half, and back.
fn both_ways(
    burst: &mut Burst<'_>,
    half: Half,
    count: u32,
) -> Option<(tegula_isa_lpu::Stream, tegula_isa_lpu::Stream)> {
    Some((burst.streams(outwards_of(half), count)?, burst.streams(outwards_of(half.other()), count)?))
}
