//! Results that one ALU gives another in a cycle, and results that an ALU keeps.
//!
//! A result that goes onto a stream is given to no ALU. A kept result is the last `hold` of the queue, which must be complete:
//! the order of words then says what a word finds kept, whatever the delays are.

use super::report::{Report, did};
use super::schedule::Schedule;
use crate::floor::QueueId;
use crate::tag::Tag;
use crate::word::{Alu, EndKind, Operand, Word};

/// A result or the use of one; the order of fields is the order that they are read in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    chip: u16,
    alu: u8,
    cycle: i64,
    kind: Kind,
    issue: u32,
    tag: Tag,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Onto a stream.
    Driven,
    Given,
    Used,
}

/// Checks that an ALU has one result a cycle, that each use meets the result of its tag, and what is kept.
pub(super) fn check(schedule: &Schedule, report: &mut Report) {
    let mut points = points(schedule);
    points.sort_unstable();
    let same = |a: &Point, b: &Point| (a.chip, a.alu, a.cycle) == (b.chip, b.alu, b.cycle);
    for cell in points.chunk_by(same) {
        let results = cell.partition_point(|point| point.kind != Kind::Used);
        let (results, uses) = cell.split_at(results);
        if let [first, .., second] = results {
            let message =
                format!("{} has a second result in cycle {}", QueueId::Alu(second.alu), second.cycle);
            let note = did(schedule, first.issue, "the first is made");
            report.fault_with(schedule.issue(second.issue), message, Some(note));
        }
        let given = results.iter().find(|result| result.kind == Kind::Given);
        uses.iter().for_each(|point| check_use(point, given, schedule, report));
    }
    check_kept(schedule, report);
}

fn points(schedule: &Schedule) -> Vec<Point> {
    let mut points = Vec::new();
    for (number, issue) in schedule.issues.iter().enumerate() {
        let QueueId::Alu(own) = issue.queue else { continue };
        for (end, tag) in schedule.ends(issue) {
            let (alu, delay, kind) = match end.kind {
                EndKind::Drive(_, delay) => (own, delay, Kind::Driven),
                EndKind::Give(delay) => (own, delay, Kind::Given),
                EndKind::Result(other) => (other, 0, Kind::Used),
                EndKind::Sense(_) | EndKind::Store | EndKind::Install | EndKind::Weights | EndKind::Sums => {
                    continue;
                }
            };
            let cycle = issue.cycle + i64::from(delay);
            points.push(Point { chip: issue.chip, alu, cycle, kind, issue: number as u32, tag });
        }
    }
    points
}

fn check_use(point: &Point, given: Option<&Point>, schedule: &Schedule, report: &mut Report) {
    if given.is_some_and(|given| given.tag == point.tag) {
        return;
    }
    let (alu, wanted) = (QueueId::Alu(point.alu), report.name(point.tag));
    let found = given.map_or("nothing".to_string(), |given| report.name(given.tag));
    let message = format!("{alu} should give {wanted}, but gives {found}");
    let note = given.map(|given| did(schedule, given.issue, "it is made"));
    report.fault_with(schedule.issue(point.issue), message, note);
}

fn check_kept(schedule: &Schedule, report: &mut Report) {
    for queue in schedule.queues() {
        // When the last `hold` of the queue is complete.
        let mut kept: Option<i64> = None;
        for issue in queue.iter().map(|number| schedule.issue(*number)) {
            let Word::Alu(Alu { op, operands, hold, .. }) = issue.word else { continue };
            if operands.contains(&Operand::Held) {
                match kept {
                    None => report.fault(issue, format!("{} keeps no result yet", issue.queue)),
                    Some(since) if since > issue.cycle => {
                        let message = format!("the result that {} keeps comes in cycle {since}", issue.queue);
                        report.fault(issue, message);
                    }
                    Some(_) => {}
                }
            }
            if hold {
                let complete = issue.cycle + i64::from(op.delay(schedule.lpu));
                if kept.is_some_and(|last| last >= complete) {
                    report.fault(issue, "the result before it would be kept instead".to_string());
                }
                kept = Some(complete);
            }
        }
    }
}
