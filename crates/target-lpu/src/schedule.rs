//! The cycles of one flow: a rigid shape of words around the units that it passes.
//!
//! Before: where the values that a flow reads and writes lie.  After: its words, no two in one cycle of a queue, no two
//! vectors in one cell of a stream; which streams, ALUs and shifters it takes is open.
//! Method: the rounds of a flow start a fixed number of cycles apart: the least of a few that brings no conflict. Reads are
//! timed back from the unit that senses them, writes follow from it. A shifter is one of the half that the operand lies in.

mod assemble;
mod chain;
mod chosen;
mod merge;
pub(crate) mod plan;
pub(crate) mod product;
pub(crate) mod template;

use crate::flow::walk::rounds;
use crate::flow::{Access, Flow, FlowProgram, How, Kind, ValueId};
use crate::place::Homes;
use smallvec::SmallVec;
use tegula_isa_lpu::word::{Alu, AluOp, Operand, Word};
use tegula_isa_lpu::{QueueId, Tag, Tags};
use tegula_machine::Lpu;
use template::{Burst, Template, outwards_of};

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
    /// What vectors between two units are called.
    pub(crate) moved: u32,
}

/// The words of a flow that is no product, and the cycles between its rounds. None: it reads two vectors at once from one slice,
/// or needs more streams or ALUs than there are.
pub(crate) fn schedule(flow: &Flow, scene: &Scene<'_>) -> Option<(Template, i64)> {
    PACES.into_iter().find_map(|pace| Some((at_pace(flow, scene, pace)?, pace)))
}

fn at_pace(flow: &Flow, scene: &Scene<'_>, pace: i64) -> Option<Template> {
    let mut burst = self::burst(flow, scene, (pace, 0))?;
    // What comes piece by piece has a word for each: with pauses, its text can come in time.
    let is_pieces = matches!(flow.kind, Kind::Merge { .. } | Kind::Assemble { .. });
    if is_pieces && burst.has_many_words() {
        burst = self::burst(flow, scene, (pace, PAUSE))?;
    }
    burst.finish()
}

/// Cycles of a pause.
const PAUSE: i64 = 2;

fn burst<'a>(flow: &Flow, scene: &'a Scene<'a>, (pace, pause): (i64, i64)) -> Option<Burst<'a>> {
    let mut burst = Burst::new(scene);
    match &flow.kind {
        Kind::Alu { steps } => chain::chain(&mut burst, flow, steps, pace)?,
        Kind::Fold { op, inner, from } => fold(&mut burst, flow, *op, (inner, from), pace)?,
        Kind::Move { how, from } => moved(&mut burst, flow, *how, from, pace)?,
        Kind::Merge { fill, vectors } => merge::merge(&mut burst, flow, *fill, vectors, (pace, pause))?,
        Kind::Assemble { parts } => assemble::assemble(&mut burst, flow, parts, (pace, pause))?,
        Kind::Transpose { from, size } => assemble::transpose(&mut burst, flow, (from, *size), pace)?,
        Kind::Gather { index, from, count } => chosen::gather(&mut burst, flow, (index, from, *count), pace)?,
        Kind::Scatter { index, from, count } => {
            chosen::scatter(&mut burst, flow, (index, from, *count), pace)?
        }
        Kind::Product(_) => return None,
    }
    Some(burst)
}

fn tag(access: &Access, round: &[u32]) -> Tag {
    Tag::new(access.value.0, access.at(round))
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
    let half = burst.half(from.value)?;
    let stream = burst.streams(outwards_of(half), width)?;
    let to = burst.streams(outwards_of(half.other()), width)?;
    let queue = burst.shifter(half)?;
    let position = half.sign() * burst.lpu().sxm_position();
    let delay = i64::from(burst.lpu().sxm.shift_delay);
    let word = shifter(how, width as u8, stream, to);
    let mut cycle = 0;
    crate::flow::walk::for_each_round(&flow.loops, |round| {
        burst.read((from.value, from.at(round)), width, stream, position, cycle);
        let tags = Tags::from_slice(&[tag(from, round), tag(&flow.out, round)]);
        burst.issue(queue, cycle, word, tags);
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
