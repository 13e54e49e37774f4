//! Words that data chooses: what says which one goes through an ALU, and from the centre to the slices.
//!
//! The slices of a value may stand at several positions. Each gets the number in the cycle that its byte is due.

use super::tag;
use super::template::{Burst, outwards_of};
use crate::flow::walk::for_each_round;
use crate::flow::{Access, Flow, ValueId};
use tegula_isa_lpu::word::{Alu, AluOp, Element, Operand, Word};
use tegula_isa_lpu::{Address, QueueId, Stream, Tag, Tags};

/// Bytes of an element.
const WIDTH: u32 = 4;

/// Bytes of a number that chooses.
const NUMBER: u32 = 2;

/// The ALUs of what is chosen, and of what chooses: one takes the number in, the other sends it out a step later. So it is
/// read in another cycle than the data, which may lie in the same slices.
const OF_DATA: QueueId = QueueId::Alu(0);
const TAKES: u8 = 1;
const TELLS: u8 = 2;

/// Names of vectors of a round at the most.
const NAMES: u32 = 8;

/// Hands a vector on at the centre.
fn pass(from: Stream, to: Stream) -> Word {
    let operands = [Operand::Stream(from), Operand::None, Operand::None];
    Word::Alu(Alu { op: AluOp::Move, operands, immediate: 0, hold: false, to: Some(to) })
}

/// What a flow of this kind reads: the index, the vectors, and among how many the index chooses.
type Reads<'a> = (&'a Access, &'a Access, u32);

/// The chosen vectors of a round come to the centre at once.
pub(super) fn gather(
    burst: &mut Burst<'_>,
    flow: &Flow,
    (index, from, count): Reads<'_>,
    pace: i64,
) -> Option<()> {
    let half = burst.half(from.value)?;
    let index_in = burst.inwards(index.value, WIDTH)?;
    let by = burst.streams(outwards_of(half), NUMBER)?;
    let come = burst.streams(outwards_of(half.other()), WIDTH)?;
    let to = burst.outwards(flow.out.value, WIDTH)?;
    let count = u16::try_from(count).ok()?;
    let delay = i64::from(AluOp::Move.delay(burst.lpu()));
    let (mut cycle, mut number) = (0, 0);
    for_each_round(&flow.loops, |round| {
        let mut told: Vec<i64> = Vec::new();
        for part in 0..WIDTH {
            let at = burst.address((from.value, from.at(round)), part);
            let queue = QueueId::Mem { half: at.half, slice: at.slice };
            let issue = cycle - burst.way(queue, 0) - i64::from(burst.lpu().mem.read_delay);
            let tells = issue - burst.way(queue, 0) - i64::from(NARROW.delay(burst.lpu()));
            let which = told.iter().position(|known| *known == tells).unwrap_or(told.len());
            let name = burst.moved(number * NAMES + which as u32);
            if which == told.len() {
                told.push(tells);
                tell(burst, (index, round), (index_in, by), tells, name);
            }
            let Address { bank, word, .. } = at;
            let word = Word::Gather { bank, word, count, by, to: come.plus(part) };
            let drives = tag(from, round).part(part as u8);
            burst.issue(queue, issue, word, Tags::from_slice(&[name, drives]));
        }
        let tags = Tags::from_slice(&[tag(from, round), tag(&flow.out, round)]);
        burst.issue(OF_DATA, cycle, pass(come, to), tags);
        burst.write((flow.out.value, flow.out.at(round)), WIDTH, to, 0, cycle + delay);
        number += 1;
        cycle += pace;
    });
    Some(())
}

/// A round's vector and the number leave the centre at once.
pub(super) fn scatter(
    burst: &mut Burst<'_>,
    flow: &Flow,
    (index, from, count): Reads<'_>,
    pace: i64,
) -> Option<()> {
    let index_in = burst.inwards(index.value, WIDTH)?;
    let data_in = burst.inwards(from.value, WIDTH)?;
    let by = burst.outwards(flow.out.value, NUMBER)?;
    let to = burst.outwards(flow.out.value, WIDTH)?;
    let count = u16::try_from(count).ok()?;
    let delays = [AluOp::Move, NARROW].map(|op| i64::from(op.delay(burst.lpu())));
    let (mut cycle, mut number) = (0, 0);
    for_each_round(&flow.loops, |round| {
        let name = burst.moved(number * NAMES);
        tell(burst, (index, round), (index_in, by), cycle + delays[0] - delays[1], name);
        burst.read((from.value, from.at(round)), WIDTH, data_in, 0, cycle);
        let own = tag(&flow.out, round);
        burst.issue(OF_DATA, cycle, pass(data_in, to), Tags::from_slice(&[tag(from, round), own]));
        for part in 0..WIDTH {
            let at = burst.address((flow.out.value, flow.out.at(round)), part);
            let queue = QueueId::Mem { half: at.half, slice: at.slice };
            let Address { bank, word, .. } = at;
            let word = Word::Scatter { bank, word, count, by, from: to.plus(part) };
            let own = own.part(part as u8);
            let issue = cycle + delays[0] + burst.way(queue, 0);
            burst.issue(queue, issue, word, Tags::from_slice(&[name, own, own]));
        }
        number += 1;
        cycle += pace;
    });
    Some(())
}

/// Sends the number outwards in a cycle.
fn tell(
    burst: &mut Burst<'_>,
    (index, round): (&Access, &[u32]),
    (from, by): (Stream, Stream),
    cycle: i64,
    name: Tag,
) {
    let vector: (ValueId, u32) = (index.value, index.at(round));
    let taken = cycle - i64::from(AluOp::Move.delay(burst.lpu()));
    let alu = |op, operand, to| {
        let operands = [operand, Operand::None, Operand::None];
        Word::Alu(Alu { op, operands, immediate: 0, hold: false, to })
    };
    burst.read(vector, WIDTH, from, 0, taken);
    let takes = alu(AluOp::Move, Operand::Stream(from), None);
    burst.issue(QueueId::Alu(TAKES), taken, takes, Tags::from_slice(&[tag(index, round), name]));
    let tells = alu(NARROW, Operand::Alu(TAKES), Some(by));
    burst.issue(QueueId::Alu(TELLS), cycle, tells, Tags::from_slice(&[name, name]));
}

/// Of an integer, the bytes that choose.
const NARROW: AluOp = AluOp::Cast { from: Element::I32, to: Element::I16, saturate: false, shift: 0 };
