//! Streams: who drives each vector that is sensed.
//!
//! A vector keeps its diagonal while it hops, so a stream's diagonal is a line of positions. Drives and senses on a line are
//! sorted in the direction that vectors move in. Then each sense meets the drive before it: that replaced what came in.

use super::report::{Report, did};
use super::schedule::Schedule;
use crate::floor::{Direction, Stream};
use crate::tag::Tag;
use crate::word::EndKind;

/// A drive or a sense of one stream; the order of fields is the order that lines are read in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    chip: u16,
    stream: Stream,
    diagonal: i64,
    /// The position, counted in the direction of the stream.
    along: i32,
    /// At one position a drive comes before what is sensed there.
    sense: bool,
    issue: u32,
    tag: Tag,
}

impl Point {
    fn is_on_line_of(&self, other: &Point) -> bool {
        (self.chip, self.stream, self.diagonal) == (other.chip, other.stream, other.diagonal)
    }
}

/// Checks that each cell has one driver, and that each sense meets the vector of its tag.
pub(super) fn check(schedule: &Schedule, report: &mut Report) {
    let mut points = points(schedule);
    points.sort_unstable();
    let mut driver: Option<Point> = None;
    for point in points {
        let before = driver.filter(|driver| point.is_on_line_of(driver));
        if point.sense {
            check_sense(&point, before, schedule, report);
        } else {
            check_drive(&point, before, schedule, report);
            driver = Some(point);
        }
    }
}

fn points(schedule: &Schedule) -> Vec<Point> {
    let mut points = Vec::new();
    for (number, issue) in schedule.issues.iter().enumerate() {
        let position = issue.queue.position(schedule.lpu);
        for (end, tag) in schedule.ends(issue) {
            let (stream, delay, sense) = match end.kind {
                EndKind::Sense(stream) => (stream, 0, true),
                EndKind::Drive(stream, delay) => (stream, delay, false),
                EndKind::Result(_)
                | EndKind::Give(_)
                | EndKind::Store
                | EndKind::Install
                | EndKind::Weights
                | EndKind::Sums => continue,
            };
            let diagonal = stream.diagonal(position, issue.cycle + i64::from(delay), schedule.lpu.hop);
            let along = match stream.direction {
                Direction::East => position,
                Direction::West => -position,
            };
            points.extend((0..end.count).map(|member| Point {
                chip: issue.chip,
                stream: stream.plus(member),
                diagonal,
                along,
                sense,
                issue: number as u32,
                tag: tag.member(member, end.shape),
            }));
        }
    }
    points
}

fn check_sense(sense: &Point, driver: Option<Point>, schedule: &Schedule, report: &mut Report) {
    if driver.is_some_and(|driver| driver.tag == sense.tag) {
        return;
    }
    let found = driver.map_or("nothing".to_string(), |driver| report.name(driver.tag));
    let message = format!("{} should come on {}, but {found} does", report.name(sense.tag), sense.stream);
    let note = driver.map(|driver| did(schedule, driver.issue, "it is driven"));
    report.fault_with(schedule.issue(sense.issue), message, note);
}

fn check_drive(drive: &Point, before: Option<Point>, schedule: &Schedule, report: &mut Report) {
    let Some(other) = before.filter(|other| other.along == drive.along) else { return };
    let (own, others) = (report.name(drive.tag), report.name(other.tag));
    let message = format!("{own} is driven onto {} in the cycle and place of {others}", drive.stream);
    let note = did(schedule, other.issue, "the other is driven");
    report.fault_with(schedule.issue(drive.issue), message, Some(note));
}
