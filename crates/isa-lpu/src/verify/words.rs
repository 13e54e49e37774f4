//! What a word may say on a machine: its unit, streams, lanes, ALUs, factors and masks. Addresses are in `addresses.rs`.

use crate::floor::{Direction, QueueId, Stream};
use crate::word::{Alu, EndKind, Factors, Operand, WHOLE, Word, Write};
use tegula_machine::Lpu;

type Checked = Result<(), String>;

/// Whose queue a word stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Any,
    Mem,
    Weights,
    Rows,
    Sums,
    Alu,
    Sxm,
}

/// Checks a word of a queue that exists. Errors: what the machine does not have.
pub(super) fn check(word: &Word, queue: QueueId, lpu: &Lpu) -> Checked {
    let unit = unit(word);
    require(unit == Unit::Any || unit == unit_of(queue), || format!("the word is not one of {queue}"))?;
    check_streams(word, lpu)?;
    match *word {
        Word::Mem { read, write } => {
            let one_port = read.zip(write).is_some_and(|(read, write)| read.bank == write.bank);
            require(!one_port, || "the word reads and writes one bank, which has one port".to_string())?;
            write.map_or(Ok(()), |write| check_mask(write, lpu))
        }
        Word::Multiply { factors, .. } => check_factors(factors, queue, lpu),
        Word::Alu(alu) => check_alu(&alu, queue, lpu),
        Word::Shift { streams, .. } | Word::Permute { streams, .. } | Word::Blend { streams, .. } => {
            check_group(streams)
        }
        Word::Broadcast { lane, streams, .. } => {
            check_group(streams)?;
            let lanes = lpu.vector();
            require(u32::from(lane) < lanes, || format!("a vector of {lanes} lanes has no lane {lane}"))
        }
        Word::Send { .. } | Word::Receive { .. } => {
            Err("the word uses a link, and links are not verified yet".to_string())
        }
        Word::Nop { .. }
        | Word::Repeat { .. }
        | Word::Sync
        | Word::Notify
        | Word::Fetch { .. }
        | Word::Halt
        | Word::Gather { .. }
        | Word::Scatter { .. }
        | Word::LoadWeights { .. }
        | Word::InstallWeights
        | Word::Accumulate { .. }
        | Word::Transpose { .. } => Ok(()),
    }
}

/// Whether a `repeat` behind it would repeat it.
pub(super) fn can_be_repeated(word: &Word) -> bool {
    unit(word) != Unit::Any || matches!(word, Word::Fetch { .. })
}

fn require(holds: bool, message: impl Fn() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

fn unit(word: &Word) -> Unit {
    match word {
        Word::Nop { .. }
        | Word::Repeat { .. }
        | Word::Sync
        | Word::Notify
        | Word::Fetch { .. }
        | Word::Halt => Unit::Any,
        Word::Mem { .. } | Word::Gather { .. } | Word::Scatter { .. } => Unit::Mem,
        Word::LoadWeights { .. } | Word::InstallWeights => Unit::Weights,
        Word::Multiply { .. } => Unit::Rows,
        Word::Accumulate { .. } => Unit::Sums,
        Word::Alu(_) => Unit::Alu,
        Word::Shift { .. }
        | Word::Permute { .. }
        | Word::Broadcast { .. }
        | Word::Transpose { .. }
        | Word::Blend { .. }
        | Word::Send { .. }
        | Word::Receive { .. } => Unit::Sxm,
    }
}

fn unit_of(queue: QueueId) -> Unit {
    match queue {
        QueueId::Mem { .. } => Unit::Mem,
        QueueId::Weights { .. } => Unit::Weights,
        QueueId::Rows { .. } => Unit::Rows,
        QueueId::Sums { .. } => Unit::Sums,
        QueueId::Alu(_) => Unit::Alu,
        QueueId::Sxm { .. } => Unit::Sxm,
    }
}

/// Groups and bundles lie within the streams of their direction.
fn check_streams(word: &Word, lpu: &Lpu) -> Checked {
    for end in word.ends(lpu) {
        if let EndKind::Sense(stream) | EndKind::Drive(stream, _) = end.kind {
            check_span(stream, end.count, lpu)?;
        }
    }
    Ok(())
}

fn check_span(stream: Stream, count: u32, lpu: &Lpu) -> Checked {
    let (way, have) = match stream.direction {
        Direction::East => ("east", lpu.streams_east),
        Direction::West => ("west", lpu.streams_west),
    };
    require(u32::from(stream.id) + count <= have, || {
        format!("{count} streams from {stream} on: the machine has {have} to the {way}")
    })
}

/// Streams of an SXM's operand.
fn check_group(streams: u8) -> Checked {
    require(matches!(streams, 1 | 2 | 4), || format!("{streams} streams are no group: 1, 2 or 4 are"))
}

fn check_mask(write: Write, lpu: &Lpu) -> Checked {
    require(write.mask != 0, || "the write's mask is empty".to_string())?;
    let all = super::memory::all_parts(lpu);
    require(write.mask == WHOLE || write.mask & !all == 0, || {
        format!("the mask {:#x} has more parts than a vector", write.mask)
    })
}

/// Factors of 16 bits take this plane and the next.
fn check_factors(factors: Factors, queue: QueueId, lpu: &Lpu) -> Checked {
    require(factors.k(lpu).is_some(), || "the machine does not multiply such factors".to_string())?;
    let QueueId::Rows { plane, .. } = queue else { return Ok(()) };
    let pair = plane.is_multiple_of(2) && u32::from(plane) + 1 < lpu.mxm.planes;
    require(factors != Factors::F16 || pair, || {
        format!("factors of 16 bits take an even plane and the next, not plane {plane}")
    })
}

fn check_alu(alu: &Alu, queue: QueueId, lpu: &Lpu) -> Checked {
    let large = match queue {
        QueueId::Alu(number) => u32::from(number) < lpu.vxm.large,
        QueueId::Mem { .. }
        | QueueId::Weights { .. }
        | QueueId::Rows { .. }
        | QueueId::Sums { .. }
        | QueueId::Sxm { .. } => false,
    };
    require(large || !alu.op.is_large(), || {
        format!("{queue} lacks the operation: only the first {} ALUs have it", lpu.vxm.large)
    })?;
    for (slot, operand) in alu.operands.into_iter().enumerate() {
        let wanted = slot < alu.op.operands();
        require(wanted == (operand != Operand::None), || {
            format!("the operation takes {} operands", alu.op.operands())
        })?;
        if let Operand::Alu(other) = operand {
            require(u32::from(other) < lpu.vxm.alus, || format!("the machine has no ALU {other}"))?;
        }
    }
    Ok(())
}
