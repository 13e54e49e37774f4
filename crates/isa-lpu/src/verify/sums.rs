//! Sums of a plane: each multiplied row is taken in its cycle, and each row of accumulators is set, added to and emitted in
//! turn, under one tag. A row that was set is emitted before it is set again, and before the phase ends.

use super::report::{Report, at};
use super::schedule::Schedule;
use crate::floor::{Half, QueueId};
use crate::issue::Issue;
use crate::tag::Tag;
use crate::word::{Factors, Word};

/// What a row of accumulators holds until it is emitted.
#[derive(Clone, Copy)]
struct Row<'a> {
    tag: Tag,
    factors: Factors,
    last: &'a Issue,
}

/// Checks all planes of all chips.
pub(super) fn check(schedule: &Schedule, report: &mut Report) {
    for chip in schedule.chips() {
        for half in Half::BOTH {
            for plane in 0..schedule.lpu.mxm.planes as u8 {
                check_plane(schedule, chip, half, plane, report);
            }
        }
    }
}

fn check_plane(schedule: &Schedule, chip: u16, half: Half, plane: u8, report: &mut Report) {
    let late = i64::from(schedule.lpu.mxm.latency) - 1;
    let mut multiplies = schedule.of_queue(chip, QueueId::Rows { half, plane }).peekable();
    let mut rows: Vec<Option<Row>> = vec![None; schedule.lpu.mxm.accumulators as usize];
    for take in schedule.of_queue(chip, QueueId::Sums { half, plane }) {
        while let Some(lost) = multiplies.next_if(|multiply| multiply.cycle + late < take.cycle) {
            report_lost(lost, late, report);
        }
        match multiplies.next_if(|multiply| multiply.cycle + late == take.cycle) {
            Some(multiply) => accumulate(take, multiply, &mut rows, report),
            None => {
                let since = take.cycle - late;
                report
                    .fault(take, format!("no row was multiplied in cycle {since}, whose sums are taken now"));
            }
        }
    }
    for lost in multiplies {
        report_lost(lost, late, report);
    }
    for Row { tag, last, .. } in rows.into_iter().flatten() {
        report.fault(last, format!("{} is never emitted", report.name(tag)));
    }
}

fn report_lost(multiply: &Issue, late: i64, report: &mut Report) {
    let due = multiply.cycle + late;
    report.fault(multiply, format!("no `acc` takes the sums of the row in cycle {due}"));
}

fn accumulate<'a>(take: &'a Issue, multiply: &Issue, rows: &mut [Option<Row<'a>>], report: &mut Report) {
    let (Word::Accumulate { row, add, emit }, Word::Multiply { factors, .. }) = (take.word, multiply.word)
    else {
        return;
    };
    let (Some(tag), Some(kept)) = (take.tags.first().copied(), rows.get_mut(usize::from(row))) else {
        return;
    };
    if let Some(problem) = wrong_row(*kept, row, add, tag, factors, report) {
        let note = kept.map(|held| format!("it was left by {}", at(held.last)));
        report.fault_with(take, problem, note);
    }
    *kept = emit.is_none().then_some(Row { tag, factors, last: take });
}

/// What a row of accumulators must not hold.
fn wrong_row(
    kept: Option<Row>,
    row: u16,
    add: bool,
    tag: Tag,
    factors: Factors,
    report: &Report,
) -> Option<String> {
    let wanted = || report.name(tag);
    match (kept, add) {
        (None, true) => Some(format!("{} should be in row {row}, but no sums are", wanted())),
        (Some(held), true) if held.tag != tag => {
            Some(format!("{} should be in row {row}, but {} is", wanted(), report.name(held.tag)))
        }
        (Some(held), true) if is_float(held.factors) != is_float(factors) => {
            Some(format!("row {row} holds sums of another type"))
        }
        (Some(held), false) => Some(format!("row {row} is set before {} was emitted", report.name(held.tag))),
        (Some(_), true) | (None, false) => None,
    }
}

fn is_float(factors: Factors) -> bool {
    match factors {
        Factors::I8 => false,
        Factors::F16 | Factors::F8 => true,
    }
}
