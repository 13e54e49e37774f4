//! Queues and their words one by one: each queue exists once, its words are of its unit, and tags stand for all ends.

use super::report::Report;
use super::words;
use crate::floor::QueueId;
use crate::image::{Image, Phase, Queue};
use crate::word::Word;
use tegula_machine::Lpu;

/// Checks what needs no cycle. After, if it holds: every word has streams, lanes and ALUs that the machine has.
pub(super) fn check(phase: &Phase, image: &Image, lpu: &Lpu, report: &mut Report) -> bool {
    let before = report.count();
    if phase.trips == 0 {
        report.image("a phase makes no trip".to_string());
    }
    let mut queues: Vec<(u16, QueueId)> = phase.queues.iter().map(|queue| (queue.chip, queue.id)).collect();
    queues.sort_unstable();
    for twice in queues.windows(2).filter(|pair| pair[0] == pair[1]) {
        report.word(twice[0].0, twice[0].1, 0, "the phase has the queue twice".to_string());
    }
    let mut absent = None;
    for queue in &phase.queues {
        if usize::from(queue.chip) >= image.chips.len() {
            // Told once, not of each of the chip's queues.
            if absent.replace(queue.chip) == Some(queue.chip) {
                continue;
            }
            report.word(queue.chip, queue.id, 0, format!("the image has no chip {}", queue.chip));
        } else if !queue.id.exists(lpu) {
            report.word(queue.chip, queue.id, 0, "the machine has no such queue".to_string());
        } else {
            check_words(queue, lpu, report);
        }
    }
    report.count() == before
}

fn check_words(queue: &Queue, lpu: &Lpu, report: &mut Report) {
    if queue.tags.len() != queue.words.len() {
        report.word(queue.chip, queue.id, 0, "the queue lacks the tags of some words".to_string());
        return;
    }
    // What a `repeat` repeats.
    let mut last = None;
    for (place, (word, tags)) in queue.words.iter().zip(&queue.tags).enumerate() {
        let ends = match word {
            Word::Repeat { .. } => last.map_or(0, |last: Word| last.ends(lpu).len()),
            other => other.ends(lpu).len(),
        };
        if tags.len() != ends {
            let message = format!("the word has {} tags for {ends} ends", tags.len());
            report.word(queue.chip, queue.id, place, message);
        }
        let problem = match (word, last) {
            (Word::Repeat { .. }, Some(Word::Fetch { .. })) => Err("a `fetch` is repeated".to_string()),
            (word, _) => words::check(word, queue.id, lpu),
        };
        if let Err(message) = problem {
            report.word(queue.chip, queue.id, place, message);
        }
        if words::can_be_repeated(word) {
            last = Some(*word);
        }
    }
}
