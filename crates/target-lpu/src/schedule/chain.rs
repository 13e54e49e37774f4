//! A chain of operations: vectors come to the centre, ALUs pass results on, and what is stored leaves.

use super::plan::{Brought, From, Plan, Planned};
use super::template::{Burst, outwards_of};
use super::{shifter, tag};
use crate::flow::{Access, Flow, Step};
use smallvec::SmallVec;
use tegula_isa_lpu::word::{Alu, Operand, Word};
use tegula_isa_lpu::{QueueId, Stream, Tag, Tags};

/// How a vector comes to the centre.
struct Way {
    /// At the centre.
    stream: Stream,
    /// The shifter that it passes, and the streams to it.
    through: Option<(QueueId, Stream)>,
    /// Whether it is read for this way; else another vector of its cycle is the same.
    reads: bool,
}

pub(super) fn chain(burst: &mut Burst<'_>, flow: &Flow, steps: &[Step], pace: i64) -> Option<()> {
    let plan = Plan::of(steps, burst.lpu())?;
    let [alus, large] = plan.alus();
    if alus > burst.lpu().vxm.alus || large > burst.lpu().vxm.large {
        return None;
    }
    let mut ways: Vec<Way> = Vec::new();
    for (at, own) in plan.vectors.iter().enumerate() {
        let way = way(burst, own, plan.vectors.iter().zip(&ways).take(at))?;
        ways.push(way);
    }
    let streams: SmallVec<[Stream; 8]> = ways.iter().map(|way| way.stream).collect();
    let mut words: Vec<(Word, Option<Stream>)> = Vec::new();
    for op in &plan.ops {
        let to = match op.stores {
            Some(step) => Some(burst.outwards(stored(flow, steps, step).value, op.op.widths()[1])?),
            None => None,
        };
        words.push((word(op, &streams, to), to));
    }
    let (mut number, mut cycle) = (0, 0);
    crate::flow::walk::for_each_round(&flow.loops, |round| {
        // What goes to memory has its name there; other results have one until the next operation.
        let result = |burst: &Burst<'_>, op: usize| match plan.ops[op].stores {
            Some(step) => tag(stored(flow, steps, step), round),
            None => burst.moved(number * MOST_OPS + op as u32),
        };
        for (at, (own, way)) in plan.vectors.iter().zip(&ways).enumerate() {
            bring(burst, own, way, (cycle, round), burst.moved(number * MOST_OPS + MOST_OPS / 2 + at as u32));
        }
        for (own, (op, (word, to))) in plan.ops.iter().zip(&words).enumerate() {
            let mut tags = Tags::new();
            for operand in &op.operands {
                match operand {
                    From::Vector(at) => tags.push(match plan.vectors[*at].how {
                        Some(_) => burst.moved(number * MOST_OPS + MOST_OPS / 2 + *at as u32),
                        None => tag(&plan.vectors[*at].access, round),
                    }),
                    From::Op(other) => tags.push(result(burst, *other)),
                    From::Immediate(_) => {}
                }
            }
            tags.push(result(burst, own));
            burst.issue(QueueId::Alu(own as u8), cycle + op.cycle, *word, tags);
            if let (Some(step), Some(to)) = (op.stores, to) {
                let out = stored(flow, steps, step);
                let [_, width] = op.op.widths();
                let delay = i64::from(op.op.delay(burst.lpu()));
                burst.write((out.value, out.at(round)), width, *to, 0, cycle + op.cycle + delay);
            }
        }
        number += 1;
        cycle += pace;
    });
    Some(())
}

/// Words of a round, and vectors that move, at the most.
const MOST_OPS: u32 = 256;

/// Streams of a vector, and of shifters one where its lanes move. Two that are one vector in one cycle are read once.
fn way<'a>(
    burst: &mut Burst<'_>,
    own: &Brought,
    mut known: impl Iterator<Item = (&'a Brought, &'a Way)>,
) -> Option<Way> {
    if own.how.is_none() {
        return Some(Way { stream: burst.inwards(own.access.value, own.width)?, through: None, reads: true });
    }
    let half = burst.half(own.access.value)?;
    let same = |other: &Brought| {
        other.how.is_some()
            && (other.cycle, other.width) == (own.cycle, own.width)
            && other.access == own.access
    };
    let shared = known.find_map(|(other, way)| way.through.filter(|_| same(other)));
    let to = match shared {
        Some((_, to)) => to,
        None => burst.streams(outwards_of(half), own.width)?,
    };
    let stream = burst.streams(outwards_of(half.other()), own.width)?;
    Some(Way { stream, through: Some((burst.shifter(half)?, to)), reads: shared.is_none() })
}

/// Brings a vector to the centre in its cycle of a round. `name`: what it is called where its lanes have moved.
fn bring(burst: &mut Burst<'_>, own: &Brought, way: &Way, (cycle, round): (i64, &[u32]), name: Tag) {
    let (vector, cycle) = ((own.access.value, own.access.at(round)), cycle + own.cycle);
    let (Some((queue, to)), Some(how)) = (way.through, own.how) else {
        return burst.read(vector, own.width, way.stream, 0, cycle);
    };
    let lpu = burst.lpu();
    let position = queue.position(lpu);
    let back = i64::from(position.unsigned_abs() * lpu.hop) + i64::from(lpu.sxm.shift_delay);
    if way.reads {
        burst.read(vector, own.width, to, position, cycle - back);
    }
    let tags = Tags::from_slice(&[tag(&own.access, round), name]);
    burst.issue(queue, cycle - back, shifter(how, own.width as u8, to, way.stream), tags);
}

/// Where the result of a step that is stored goes.
fn stored<'a>(flow: &'a Flow, steps: &'a [Step], step: usize) -> &'a Access {
    if step + 1 == steps.len() { &flow.out } else { steps[step].out.as_ref().unwrap_or(&flow.out) }
}

fn word(op: &Planned, streams: &[Stream], to: Option<Stream>) -> Word {
    let mut operands = [Operand::None; 3];
    let mut immediate = 0;
    for (slot, from) in op.operands.iter().enumerate() {
        operands[slot] = match *from {
            From::Immediate(bits) => {
                immediate = bits;
                Operand::Immediate
            }
            From::Vector(vector) => Operand::Stream(streams[vector]),
            From::Op(other) => Operand::Alu(other as u8),
        };
    }
    Word::Alu(Alu { op: op.op, operands, immediate, hold: false, to })
}
