//! The cycles of one flow: every word that it issues, from cycle 0 on.
//!
//! Before: where the values that a flow reads and writes lie.  After: its words, no two in one cycle of a queue, no two
//! vectors in one cell of a stream.
//! Method: the rounds of a flow start a fixed number of cycles apart: the least of a few that brings no conflict. Reads are
//! timed back from the unit that senses them, writes follow from it. All products and shifts use the eastern half: whatever
//! lies to its west flows east, and results flow west past every slice.

mod burst;
mod merge;
mod product;

use crate::flow::walk::rounds;
use crate::flow::{Access, Flow, FlowProgram, How, Kind, Source, ValueId};
use crate::place::Homes;
use burst::Burst;
use smallvec::SmallVec;
use tegula_isa_lpu::word::{Alu, AluOp, Operand, Word};
use tegula_isa_lpu::{Half, QueueId, Tag, Tags};
use tegula_machine::Lpu;

/// A word in the cycle that it issues in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) queue: QueueId,
    pub(crate) cycle: i64,
    pub(crate) word: Word,
    pub(crate) tags: Tags,
}

/// Cycles between rounds that are tried, in order.
const PACES: [i64; 10] = [1, 2, 3, 4, 6, 8, 16, 32, 64, 128];

/// What a schedule needs to know.
pub(crate) struct Scene<'a> {
    pub(crate) lpu: &'a Lpu,
    pub(crate) program: &'a FlowProgram,
    pub(crate) homes: &'a Homes,
    /// What vectors between two units of a merge are called.
    pub(crate) moved: u32,
}

/// The words of a flow. None: it reads two vectors at once from one slice, or needs more streams than there are.
pub(crate) fn schedule(flow: &Flow, scene: &Scene<'_>) -> Option<Vec<Event>> {
    PACES.into_iter().find_map(|pace| at_pace(flow, scene, pace))
}

fn at_pace(flow: &Flow, scene: &Scene<'_>, pace: i64) -> Option<Vec<Event>> {
    let mut burst = Burst::new(scene);
    match &flow.kind {
        Kind::Alu { op, operands } => operation(&mut burst, flow, *op, operands, pace)?,
        Kind::Fold { op, inner, from } => fold(&mut burst, flow, *op, (inner, from), pace)?,
        Kind::Move { how, from } => moved(&mut burst, flow, *how, from, pace)?,
        Kind::Merge { fill, vectors } => merge::merge(&mut burst, flow, *fill, vectors, pace)?,
        Kind::Product(product) => product::product(&mut burst, flow, product, pace)?,
    }
    burst.finish()
}

fn tag(access: &Access, round: &[u32]) -> Tag {
    Tag::new(access.value.0, access.at(round))
}

fn operation(burst: &mut Burst<'_>, flow: &Flow, op: AluOp, sources: &[Source], pace: i64) -> Option<()> {
    let [width, result] = op.widths();
    let mut operands = [Operand::None; 3];
    let mut immediate = 0;
    // Operands that are the same vectors are read once.
    let mut read: SmallVec<[(&Access, tegula_isa_lpu::Stream); 3]> = SmallVec::new();
    for (slot, source) in sources.iter().enumerate() {
        operands[slot] = match source {
            Source::Immediate(bits) => {
                immediate = *bits;
                Operand::Immediate
            }
            Source::Vector(access) => {
                let known = read.iter().find(|(known, _)| *known == access).map(|(_, stream)| *stream);
                let stream = match known {
                    Some(stream) => stream,
                    None => {
                        let stream = burst.inwards(access.value, width)?;
                        read.push((access, stream));
                        stream
                    }
                };
                Operand::Stream(stream)
            }
        };
    }
    let to = burst.outwards(flow.out.value, result)?;
    let word = Word::Alu(Alu { op, operands, immediate, hold: false, to: Some(to) });
    let delay = i64::from(op.delay(burst.lpu()));
    let mut cycle = 0;
    crate::flow::walk::for_each_round(&flow.loops, |round| {
        let mut tags = Tags::new();
        for (access, stream) in &read {
            burst.read((access.value, access.at(round)), width, *stream, 0, cycle);
        }
        for source in sources {
            if let Source::Vector(access) = source {
                tags.push(tag(access, round));
            }
        }
        let own = tag(&flow.out, round);
        tags.push(own);
        burst.issue(QueueId::Alu(0), cycle, word, tags);
        burst.write((flow.out.value, flow.out.at(round)), result, to, 0, cycle + delay);
        cycle += pace;
    });
    Some(())
}

fn fold(
    burst: &mut Burst<'_>,
    flow: &Flow,
    op: AluOp,
    (inner, from): (&[u32], &Access),
    pace: i64,
) -> Option<()> {
    let stream = burst.inwards(from.value, 4)?;
    let to = burst.outwards(flow.out.value, 4)?;
    let delay = i64::from(op.delay(burst.lpu()).max(AluOp::Move.delay(burst.lpu())));
    let (count, pace) = (rounds(inner), pace.max(delay));
    let mut cycle = 0;
    crate::flow::walk::for_each_round(&flow.loops, |round| {
        let own = tag(&flow.out, round);
        let mut number = 0;
        crate::flow::walk::for_each_round(inner, |more| {
            let all: SmallVec<[u32; 8]> = round.iter().chain(more).copied().collect();
            burst.read((from.value, from.at(&all)), 4, stream, 0, cycle);
            let (first, last) = (number == 0, number + 1 == count);
            let (op, operands) = if first {
                (AluOp::Move, [Operand::Stream(stream), Operand::None, Operand::None])
            } else {
                (op, [Operand::Stream(stream), Operand::Held, Operand::None])
            };
            let to = last.then_some(to);
            let word = Word::Alu(Alu { op, operands, immediate: 0, hold: !last, to });
            burst.issue(QueueId::Alu(0), cycle, word, Tags::from_slice(&[tag(from, &all), own]));
            if let Some(to) = to {
                let delay = i64::from(op.delay(burst.lpu()));
                burst.write((flow.out.value, flow.out.at(round)), 4, to, 0, cycle + delay);
            }
            number += 1;
            cycle += pace;
        });
    });
    Some(())
}

fn moved(burst: &mut Burst<'_>, flow: &Flow, how: How, from: &Access, pace: i64) -> Option<()> {
    let width = burst.width(from.value);
    let stream = burst.east(width)?;
    let to = burst.west(width)?;
    let position = burst.lpu().sxm_position();
    let delay = i64::from(burst.lpu().sxm.shift_delay);
    let word = shifter(how, width as u8, stream, to);
    let mut cycle = 0;
    crate::flow::walk::for_each_round(&flow.loops, |round| {
        burst.read((from.value, from.at(round)), width, stream, position, cycle);
        let tags = Tags::from_slice(&[tag(from, round), tag(&flow.out, round)]);
        burst.issue(QueueId::Sxm { half: Half::East, queue: 0 }, cycle, word, tags);
        burst.write((flow.out.value, flow.out.at(round)), width, to, position, cycle + delay);
        cycle += pace;
    });
    Some(())
}

/// The word of an SXM.
fn shifter(how: How, streams: u8, from: tegula_isa_lpu::Stream, to: tegula_isa_lpu::Stream) -> Word {
    match how {
        How::Stay => Word::Shift { by: 0, rotate: false, streams, from, to },
        How::Shift(by) => Word::Shift { by, rotate: false, streams, from, to },
        How::Rotate(by) => Word::Shift { by, rotate: true, streams, from, to },
        How::Broadcast(lane) => Word::Broadcast { lane, streams, from, to },
    }
}

/// A vector of a value.
pub(crate) type Vector = (ValueId, u32);
