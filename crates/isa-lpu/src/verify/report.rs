//! Faults as they are found, in the user's words: places by queue and cycle, vectors by the names of values and nodes.

use super::schedule::Schedule;
use crate::floor::QueueId;
use crate::image::ValueName;
use crate::issue::Issue;
use crate::tag::Tag;
use tegula_base::{Diagnostic, Diagnostics};

/// Faults that are told.
const MOST_FAULTS: usize = 20;
/// Faults that are kept until the first of them are chosen.
const MOST_KEPT: usize = 1000;

/// The faults of an image; the first by program, phase and cycle are told.
pub(super) struct Report<'a> {
    values: &'a [ValueName],
    program: usize,
    phase: usize,
    /// The trip that memory passes through, from 0.
    trip: u32,
    /// As the spans of faults start.
    place: String,
    kept: Vec<(Key, Diagnostic)>,
    count: usize,
}

/// Program, phase, cycle and number of a fault.
type Key = (usize, usize, i64, usize);

impl<'a> Report<'a> {
    pub(super) fn new(values: &'a [ValueName]) -> Report<'a> {
        Report { values, program: 0, phase: 0, trip: 0, place: String::new(), kept: Vec::new(), count: 0 }
    }

    pub(super) fn enter(&mut self, number: usize, program: &str) {
        self.program = number;
        self.place = format!("program {program:?}");
    }

    pub(super) fn enter_phase(&mut self, number: usize) {
        (self.phase, self.trip) = (number, 0);
    }

    pub(super) fn phase(&self) -> usize {
        self.phase
    }

    pub(super) fn enter_second_trip(&mut self) {
        self.trip = 1;
    }

    /// What follows is behind all phases of the program.
    pub(super) fn leave_phases(&mut self) {
        self.phase = usize::MAX;
    }

    pub(super) fn is_faulty(&self) -> bool {
        self.count > 0
    }

    /// Faults so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// A fault of the image or of a whole program.
    pub(super) fn image(&mut self, message: String) {
        let diagnostic = Diagnostic::error("lpu-verify", message);
        let diagnostic = if self.place.is_empty() { diagnostic } else { diagnostic.at(&self.place) };
        self.keep(0, diagnostic);
    }

    /// A fault of a word as it stands in its queue.
    pub(super) fn word(&mut self, chip: u16, queue: QueueId, place: usize, message: String) {
        let at = format!("{}, phase {}, chip {chip}, {queue}, word {place}", self.place, self.phase);
        self.keep(0, Diagnostic::error("lpu-verify", message).at(at));
    }

    /// A fault of a word in its cycle.
    pub(super) fn fault(&mut self, issue: &Issue, message: String) {
        self.fault_with(issue, message, None);
    }

    /// The same, with what another word did.
    pub(super) fn fault_with(&mut self, issue: &Issue, message: String, note: Option<String>) {
        let trip = if self.trip == 0 { "" } else { ", second trip" };
        let at = format!("{}, phase {}{trip}, {}", self.place, self.phase, at(issue));
        let diagnostic = Diagnostic::error("lpu-verify", message).at(at);
        let diagnostic = note.into_iter().fold(diagnostic, Diagnostic::note);
        self.keep(issue.cycle, diagnostic);
    }

    fn keep(&mut self, cycle: i64, diagnostic: Diagnostic) {
        self.kept.push(((self.program, self.phase, cycle, self.count), diagnostic));
        self.count += 1;
        if self.kept.len() >= MOST_KEPT {
            self.choose();
        }
    }

    fn choose(&mut self) {
        self.kept.sort_by_key(|(key, _)| *key);
        self.kept.truncate(MOST_FAULTS);
    }

    /// A vector as `vector 3 of "W" (gemm)`.
    pub(super) fn name(&self, tag: Tag) -> String {
        let part = if tag.part == 0 { String::new() } else { format!("part {} of ", tag.part) };
        match self.values.get(tag.value as usize) {
            Some(ValueName { name, node }) if node.is_empty() => {
                format!("{part}vector {} of {name:?}", tag.index)
            }
            Some(ValueName { name, node }) => format!("{part}vector {} of {name:?} ({node})", tag.index),
            None => format!("{part}vector {} of unknown value {}", tag.index, tag.value),
        }
    }

    /// A value's name.
    pub(super) fn value(&self, value: u32) -> String {
        match self.values.get(value as usize) {
            Some(ValueName { name, .. }) => format!("{name:?}"),
            None => format!("unknown value {value}"),
        }
    }

    /// Whether a tag names a value of the image.
    pub(super) fn knows(&self, tag: Tag) -> bool {
        (tag.value as usize) < self.values.len()
    }

    pub(super) fn result<T>(mut self, value: T) -> Result<T, Diagnostics> {
        self.choose();
        let found = self.kept.into_iter().map(|(_, diagnostic)| diagnostic);
        Diagnostics(found.collect()).into_result(value)
    }
}

/// Where and when a word issues.
pub(super) fn at(issue: &Issue) -> String {
    format!("chip {}, {}, word {}, cycle {}", issue.chip, issue.queue, issue.place, issue.cycle)
}

/// What the issue with this number did.
pub(super) fn did(schedule: &Schedule, issue: u32, what: &str) -> String {
    format!("{what} by {}", at(&schedule.issues[issue as usize]))
}
