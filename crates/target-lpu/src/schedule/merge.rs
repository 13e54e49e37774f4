//! Vectors that are put together from pieces: the SXM moves a piece, an ALU selects its lanes over those that it holds.

use super::shifter;
use super::template::{Burst, Clock};
use crate::compile::has_many_streams;
use crate::flow::{Flow, How, Piece, ValueId};
use tegula_isa_lpu::word::{Alu, AluOp, Operand, Word};
use tegula_isa_lpu::{Direction, Half, QueueId, Stream, Tag, Tags};

/// Streams of a merge, each taken when a piece first needs it.
#[derive(Default)]
struct Streams {
    /// From memory to the SXM, and from there to the centre.
    outwards: Option<Stream>,
    back: Option<Stream>,
    shifter: Option<QueueId>,
    /// From either half to the centre: a piece that stays, and a mask.
    piece: [Option<Stream>; 2],
    mask: [Option<Stream>; 2],
}

pub(super) fn merge(
    burst: &mut Burst<'_>,
    flow: &Flow,
    fill: u32,
    vectors: &[Vec<Piece>],
    (pace, pause): (i64, i64),
) -> Option<()> {
    let result = burst.outwards(flow.out.value, 4)?;
    let mut streams = Streams::default();
    let pace = pace.max(i64::from(AluOp::Select.delay(burst.lpu())));
    let (mut clock, mut number) = (Clock::new(pace, pause), 0);
    for (index, pieces) in vectors.iter().enumerate() {
        let out = (flow.out.value, flow.out.at(&[index as u32]));
        let own = Tag::new(out.0.0, out.1);
        if pieces.is_empty() {
            let cycle = clock.cycle;
            let word = Word::Alu(Alu {
                op: AluOp::Move,
                operands: [Operand::Immediate, Operand::None, Operand::None],
                immediate: fill,
                hold: false,
                to: Some(result),
            });
            burst.issue(QueueId::Alu(0), cycle, word, Tags::from_slice(&[own]));
            burst.write(out, 4, result, 0, cycle + i64::from(AluOp::Move.delay(burst.lpu())));
            clock.next_round();
        }
        for (place, piece) in pieces.iter().enumerate() {
            let cycle = clock.cycle;
            let (first, last) = (place == 0, place + 1 == pieces.len());
            let (stream, sensed) = bring(burst, piece, &mut streams, cycle, number)?;
            number += 1;
            let mut tags = Tags::new();
            let before = if first { Operand::Immediate } else { Operand::Held };
            let (op, operands) = match piece.mask {
                Some(mask) => {
                    let from = at_half(burst, mask.0, &mut streams.mask)?;
                    burst.read(mask, 4, from, 0, cycle);
                    tags.push(Tag::new(mask.0.0, mask.1));
                    (AluOp::Select, [Operand::Stream(from), Operand::Stream(stream), before])
                }
                None => (AluOp::Move, [Operand::Stream(stream), Operand::None, Operand::None]),
            };
            tags.extend([sensed, own]);
            let to = last.then_some(result);
            let word = Word::Alu(Alu { op, operands, immediate: fill, hold: !last, to });
            burst.issue(QueueId::Alu(0), cycle, word, tags);
            if let Some(to) = to {
                burst.write(out, 4, to, 0, cycle + i64::from(op.delay(burst.lpu())));
            }
            clock.next_round();
        }
    }
    Some(())
}

/// The stream from where a value lies to the centre.
fn at_half(burst: &mut Burst<'_>, value: ValueId, [west, east]: &mut [Option<Stream>; 2]) -> Option<Stream> {
    let known = match burst.half(value)? {
        Half::West => west,
        Half::East => east,
    };
    if known.is_none() {
        *known = Some(burst.inwards(value, 4)?);
    }
    *known
}

/// Brings a piece to the centre in a cycle; the stream that it comes on, and what it is called there.
fn bring(
    burst: &mut Burst<'_>,
    piece: &Piece,
    streams: &mut Streams,
    cycle: i64,
    number: u32,
) -> Option<(Stream, Tag)> {
    let from = Tag::new(piece.from.0.0, piece.from.1);
    // Where streams are few, what stays takes those of what moves.
    if piece.how == How::Stay && has_many_streams(burst.lpu()) {
        let stream = at_half(burst, piece.from.0, &mut streams.piece)?;
        burst.read(piece.from, 4, stream, 0, cycle);
        return Some((stream, from));
    }
    let lpu = burst.lpu();
    let position = lpu.sxm_position();
    let back = i64::from(position.unsigned_abs() * lpu.hop) + i64::from(lpu.sxm.shift_delay);
    let moved = burst.moved(number);
    let outwards = match streams.outwards {
        Some(stream) => stream,
        None => *streams.outwards.insert(burst.streams(Direction::East, 4)?),
    };
    let homewards = match streams.back {
        Some(stream) => stream,
        None => *streams.back.insert(burst.streams(Direction::West, 4)?),
    };
    burst.read(piece.from, 4, outwards, position, cycle - back);
    let word = shifter(piece.how, 4, outwards, homewards);
    let queue = match streams.shifter {
        Some(queue) => queue,
        None => *streams.shifter.insert(burst.shifter(Half::East)?),
    };
    burst.issue(queue, cycle - back, word, Tags::from_slice(&[from, moved]));
    Some((homewards, moved))
}
