//! Weights of a plane: loaded, installed, multiplied by.
//!
//! The rows loaded between two `iw` are one set of weights; the buffers take sets in turn. `iw` gives the set a name, and each
//! multiply says which one it means. So a multiply in the wrong cycle is found even where the installed weights change.
//! While a set is being installed nothing multiplies. Each row is loaded once before its `iw`.

use super::report::{Report, at};
use super::schedule::Schedule;
use crate::floor::{Half, QueueId};
use crate::issue::Issue;
use crate::tag::Tag;
use crate::word::{EndKind, Factors, Word};

/// Weights that are installed together.
struct Set<'a> {
    tag: Tag,
    install: &'a Issue,
    /// Its first load.
    first: Option<&'a Issue>,
    /// Rows that are loaded from row 0 on.
    rows: u32,
}

/// A plane's sets in order, and its multiplies.
struct Plane<'a> {
    sets: Vec<Set<'a>>,
    multiplies: Vec<&'a Issue>,
}

/// Checks all planes of all chips.
pub(super) fn check(schedule: &Schedule, report: &mut Report) {
    for chip in schedule.chips() {
        for half in Half::BOTH {
            let numbers = 0..schedule.lpu.mxm.planes as u8;
            let planes: Vec<Plane> =
                numbers.map(|plane| read_plane(schedule, chip, half, plane, report)).collect();
            for (number, plane) in planes.iter().enumerate() {
                for multiply in &plane.multiplies {
                    check_multiply(multiply, number, &planes, schedule, report);
                }
            }
        }
    }
}

fn read_plane<'a>(
    schedule: &'a Schedule,
    chip: u16,
    half: Half,
    plane: u8,
    report: &mut Report,
) -> Plane<'a> {
    let mut sets = Vec::new();
    let mut loaded = vec![false; schedule.lpu.mxm.k as usize];
    let mut first = None;
    for issue in schedule.of_queue(chip, QueueId::Weights { half, plane }) {
        if let Word::LoadWeights { row, .. } = issue.word {
            load(issue, row, &mut loaded, schedule, report);
            first = first.or(Some(issue));
        } else if let Some(tag) = schedule.tag(issue, |kind| kind == EndKind::Install) {
            let rows = loaded.iter().take_while(|loaded| **loaded).count() as u32;
            sets.push(Set { tag, install: issue, first: first.take(), rows });
            loaded.fill(false);
        }
    }
    if let Some(first) = first {
        report.fault(first, "rows of weights are loaded, but never installed".to_string());
    }
    let multiplies = schedule.of_queue(chip, QueueId::Rows { half, plane }).collect();
    Plane { sets, multiplies }
}

fn load(issue: &Issue, row: u16, loaded: &mut [bool], schedule: &Schedule, report: &mut Report) {
    let rows = usize::from(row)..usize::from(row) + schedule.lpu.mxm.load_streams as usize;
    let Some(own) = loaded.get_mut(rows) else { return };
    if own.contains(&true) {
        report.fault(issue, format!("rows of weights from {row} on are loaded twice before an `iw`"));
    }
    own.fill(true);
}

fn check_multiply(
    multiply: &Issue,
    number: usize,
    planes: &[Plane],
    schedule: &Schedule,
    report: &mut Report,
) {
    let Word::Multiply { factors, .. } = multiply.word else { return };
    let Some(tag) = schedule.tag(multiply, |kind| kind == EndKind::Weights) else { return };
    check_weights(multiply, factors, tag, &planes[number], schedule, report);
    if let (Factors::F16, Some(next)) = (factors, planes.get(number + 1)) {
        let high = tag.part(tag.part.wrapping_add(1));
        check_weights(multiply, factors, high, next, schedule, report);
        let own = next.multiplies.binary_search_by_key(&multiply.cycle, |own| own.cycle);
        if let Ok(own) = own {
            let note = format!("its own multiply is by {}", at(next.multiplies[own]));
            let message = "the next plane multiplies factors of its own in this cycle".to_string();
            report.fault_with(multiply, message, Some(note));
        }
    }
}

/// The plane has the weights that the multiply means, all rows of them, and keeps them.
fn check_weights(
    multiply: &Issue,
    factors: Factors,
    tag: Tag,
    plane: &Plane,
    schedule: &Schedule,
    report: &mut Report,
) {
    let installed = plane.sets.partition_point(|set| set.install.cycle <= multiply.cycle);
    let Some(set) = installed.checked_sub(1).and_then(|at| plane.sets.get(at)) else {
        report.fault(multiply, format!("{} should be installed, but no weights are", report.name(tag)));
        return;
    };
    let problem = if multiply.cycle < set.install.cycle + i64::from(schedule.lpu.mxm.install) {
        Some(format!("{} is being installed", report.name(set.tag)))
    } else if set.tag != tag {
        Some(format!("{} should be installed, but {} is", report.name(tag), report.name(set.tag)))
    } else if factors.k(schedule.lpu).is_none_or(|k| set.rows < k) {
        Some(format!("{} lacks row {}, which was not loaded", report.name(set.tag), set.rows))
    } else {
        None
    };
    if let Some(problem) = problem {
        let note = format!("they are installed by {}", at(set.install));
        report.fault_with(multiply, problem, Some(note));
    }
    check_buffer(multiply, installed, plane, schedule, report);
}

/// No load writes into the buffer of installed weights before the last multiply by them.
fn check_buffer(multiply: &Issue, installed: usize, plane: &Plane, schedule: &Schedule, report: &mut Report) {
    let taker = plane.sets.get(installed - 1 + schedule.lpu.mxm.buffers as usize);
    let Some(load) = taker.and_then(|set| set.first) else { return };
    if load.cycle <= multiply.cycle {
        let note = format!("the last multiply is by {}", at(multiply));
        let message = "the load goes into weights that are still multiplied by".to_string();
        report.fault_with(load, message, Some(note));
    }
}
