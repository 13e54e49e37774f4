//! The issues of a phase, and those of each queue.

use super::report::Report;
use crate::floor::QueueId;
use crate::image::Phase;
use crate::issue::{Issue, issues};
use crate::tag::Tag;
use crate::word::{End, EndKind, Word};
use tegula_machine::Lpu;

/// A phase whose queues keep the rules of queues; its words and ends are in range.
pub(super) struct Schedule<'a> {
    pub(super) lpu: &'a Lpu,
    /// In the order of cycle, chip and queue.
    pub(super) issues: Vec<Issue>,
    pub(super) cycles: u64,
    /// Numbers of issues in the order of chip, queue and cycle.
    by_queue: Vec<u32>,
}

impl<'a> Schedule<'a> {
    /// None: a queue does not end, or waits for what does not come.
    pub(super) fn of(phase: &Phase, lpu: &'a Lpu, report: &mut Report) -> Option<Schedule<'a>> {
        let (issues, end) = match issues(phase, lpu) {
            Ok(timed) => timed,
            Err(bad) => {
                let message = format!("the queue {}", bad.problem.text());
                report.word(bad.chip, bad.queue, bad.place as usize, message);
                return None;
            }
        };
        let mut by_queue: Vec<u32> = (0..issues.len() as u32).collect();
        by_queue.sort_by_key(|at| {
            let Issue { chip, queue, .. } = issues[*at as usize];
            (chip, queue)
        });
        Some(Schedule { lpu, issues, cycles: end.max(0) as u64, by_queue })
    }

    pub(super) fn issue(&self, number: u32) -> &Issue {
        &self.issues[number as usize]
    }

    /// What a queue's unit does, by cycle: all its issues but fetches of text.
    pub(super) fn of_queue(&self, chip: u16, queue: QueueId) -> impl Iterator<Item = &Issue> {
        let key = |at: &u32| (self.issue(*at).chip, self.issue(*at).queue);
        let start = self.by_queue.partition_point(|at| key(at) < (chip, queue));
        let own = self.by_queue[start..].iter().take_while(move |at| key(at) == (chip, queue));
        own.map(|at| self.issue(*at)).filter(|issue| !matches!(issue.word, Word::Fetch { .. }))
    }

    /// Runs of issues, each of one queue by cycle.
    pub(super) fn queues(&self) -> impl Iterator<Item = &[u32]> {
        self.by_queue.chunk_by(|a, b| {
            let (a, b) = (self.issue(*a), self.issue(*b));
            (a.chip, a.queue) == (b.chip, b.queue)
        })
    }

    /// The chips that have issues, each once.
    pub(super) fn chips(&self) -> Vec<u16> {
        let mut chips: Vec<u16> = self.queues().map(|run| self.issue(run[0]).chip).collect();
        chips.dedup();
        chips
    }

    /// The ends of an issue beside their tags.
    pub(super) fn ends(&self, issue: &Issue) -> impl Iterator<Item = (End, Tag)> {
        issue.word.ends(self.lpu).into_iter().zip(issue.tags.clone())
    }

    /// The tag of the issue's first end of a kind.
    pub(super) fn tag(&self, issue: &Issue, is: impl Fn(EndKind) -> bool) -> Option<Tag> {
        self.ends(issue).find(|(end, _)| is(end.kind)).map(|(_, tag)| tag)
    }
}
