//! Which streams, ALUs and shifters a burst takes at a start.

use super::{Timeline, renamed};
use crate::calendar::Pattern;
use crate::schedule::Event;
use crate::schedule::template::{Group, Template};
use tegula_isa_lpu::word::{Operand, Word};
use tegula_isa_lpu::{QueueId, Stream};

/// What each group, ALU and shifter of a template becomes.
pub(super) struct Choice {
    /// The first stream of each group.
    pub(super) streams: Vec<u8>,
    pub(super) alus: Vec<u8>,
    pub(super) shifters: Vec<QueueId>,
}

/// The first of all that are free at a start. Errors: the next start that is worth a try.
pub(super) fn choose(timeline: &mut Timeline<'_>, template: &Template, start: i64) -> Result<Choice, i64> {
    let shifters = shifters(timeline, template, start)?;
    let alus = alus(timeline, template, start)?;
    let streams = streams(timeline, template, start)?;
    Ok(Choice { streams, alus, shifters })
}

/// The first of some that is free. Errors: when the first of them is.
fn first_free<T: Copy>(candidates: impl Iterator<Item = (T, i64)>, start: i64) -> Result<T, i64> {
    let mut later = i64::MAX;
    for (candidate, fit) in candidates {
        if fit == start {
            return Ok(candidate);
        }
        later = later.min(fit);
    }
    Err(later)
}

fn shifters(timeline: &mut Timeline<'_>, template: &Template, start: i64) -> Result<Vec<QueueId>, i64> {
    let mut chosen: Vec<QueueId> = Vec::new();
    for (queue, pattern) in &template.shifters {
        let QueueId::Sxm { half, .. } = *queue else { continue };
        let all = (0..timeline.lpu.sxm.queues as u8).map(|queue| QueueId::Sxm { half, queue });
        let open = all.filter(|queue| !chosen.contains(queue));
        timeline.probes += 1;
        let found = first_free(open.map(|queue| (queue, timeline.queue_fit(queue, pattern, start))), start)?;
        chosen.push(found);
    }
    Ok(chosen)
}

fn alus(timeline: &mut Timeline<'_>, template: &Template, start: i64) -> Result<Vec<u8>, i64> {
    let mut chosen: Vec<Option<u8>> = vec![None; template.alus.len()];
    let (all, large) = (timeline.lpu.vxm.alus as u8, timeline.lpu.vxm.large as u8);
    // Large ALUs are few: what needs one chooses first, and others take them last.
    for is_large in [true, false] {
        for (at, usage) in template.alus.iter().enumerate().filter(|(_, usage)| usage.is_large == is_large) {
            let numbers = if is_large { 0..large } else { 0..all };
            let open = numbers.rev().filter(|number| !chosen.contains(&Some(*number)));
            timeline.probes += 1;
            let fits =
                open.map(|number| (number, timeline.queue_fit(QueueId::Alu(number), &usage.interval, start)));
            chosen[at] = Some(first_free(fits, start)?);
        }
    }
    Ok(chosen.into_iter().flatten().collect())
}

fn streams(timeline: &mut Timeline<'_>, template: &Template, start: i64) -> Result<Vec<u8>, i64> {
    let mut chosen: Vec<u8> = Vec::new();
    for (at, group) in template.groups.iter().enumerate() {
        let most = match super::side(group.first.direction) {
            0 => timeline.lpu.streams_east,
            _ => timeline.lpu.streams_west,
        };
        let step = usize::from(group.count.max(1)).next_power_of_two();
        let others: Vec<(&Group, u8)> = template.groups[..at].iter().zip(chosen.iter().copied()).collect();
        let taken = |id: u8| others.iter().any(|(other, first)| other.meets(group, *first, id));
        let last = (most as u8 + 1).saturating_sub(group.count);
        let mut open = (0..last).step_by(step).filter(|id| !taken(*id)).peekable();
        if open.peek().is_none() {
            // Streams of a machine whose number is no multiple of the group.
            let any = (0..last).filter(|id| !taken(*id));
            let found = first_free(any.map(|id| (id, timeline.stream_fit(group, id, start))), start)?;
            chosen.push(found);
            continue;
        }
        timeline.probes += 1;
        chosen.push(first_free(open.map(|id| (id, timeline.stream_fit(group, id, start))), start)?);
    }
    Ok(chosen)
}

impl Timeline<'_> {
    fn queue_fit(&self, queue: QueueId, pattern: &Pattern, start: i64) -> i64 {
        self.queues.get(&queue).map_or(i64::MAX, |calendar| calendar.next_fit(pattern, start))
    }
}

impl Group {
    /// Whether two groups of one burst, from streams `own` and `others` on, have a stream in common.
    fn meets(&self, other: &Group, own: u8, others: u8) -> bool {
        let apart = own + self.count <= others || others + other.count <= own;
        let share = self.segments.iter().zip(other.segments).any(|(a, b)| *a && b);
        self.first.direction == other.first.direction && !apart && share
    }
}

impl Choice {
    /// A word of the template with what was chosen.
    pub(super) fn applied(&self, event: &Event, template: &Template) -> Event {
        let mut event = event.clone();
        let stream = |own: Stream| {
            let belongs = |group: &&Group| {
                let same = group.first.direction == own.direction;
                same && (group.first.id..group.first.id + group.count).contains(&own.id)
            };
            let at = template.groups.iter().position(|group| belongs(&group));
            at.map_or(own, |at| renamed(own, template.groups[at].first, self.streams[at]))
        };
        for own in event.word.streams_mut() {
            *own = stream(*own);
        }
        let alu = |number: u8| {
            let at = template.alus.iter().position(|usage| usage.number == number);
            at.map_or(number, |at| self.alus[at])
        };
        if let Word::Alu(word) = &mut event.word {
            for operand in &mut word.operands {
                if let Operand::Alu(number) = operand {
                    *number = alu(*number);
                }
            }
        }
        match &mut event.queue {
            QueueId::Alu(number) => *number = alu(*number),
            queue @ QueueId::Sxm { .. } => {
                let at = template.shifters.iter().position(|(own, _)| own == queue);
                *queue = at.map_or(*queue, |at| self.shifters[at]);
            }
            QueueId::Mem { .. } | QueueId::Weights { .. } | QueueId::Rows { .. } | QueueId::Sums { .. } => {}
        }
        event
    }
}
