//! Text: no queue runs dry.
//!
//! At the start of each trip a queue holds its first `queue_words` words. Each `fetch` brings the next 40 when it issues, and
//! there must be room: a word makes room as it starts. Queues go in order, so places alone decide, whatever the cycles are.
//! The path of fetches takes one a cycle and half. ALUs, which stand between the halves, have the path of the west.

use super::report::{Report, at};
use super::schedule::Schedule;
use crate::floor::Half;
use crate::image::{Address, Image, Phase, Queue};
use crate::issue::Issue;
use crate::word::{FETCHED, FETCHED_FROM, Word};
use tegula_machine::Lpu;

/// Checks that words are there when they are due, and that fetches keep to their path.
pub(super) fn check(phase: &Phase, schedule: &Schedule, report: &mut Report) {
    for queue in &phase.queues {
        check_queue(queue, schedule.lpu, report);
    }
    let mut fetches: Vec<(u16, Half, i64, &Issue)> = Vec::new();
    for issue in schedule.issues.iter().filter(|issue| matches!(issue.word, Word::Fetch { .. })) {
        fetches.push((issue.chip, issue.queue.text_half(), issue.cycle, issue));
    }
    fetches.sort_by_key(|(chip, half, cycle, _)| (*chip, *half, *cycle));
    for pair in fetches.windows(2) {
        let [(.., first), (.., second)] = [&pair[0], &pair[1]];
        if (pair[0].0, pair[0].1, pair[0].2) == (pair[1].0, pair[1].1, pair[1].2) {
            let note = format!("the other is by {}", at(first));
            report.fault_with(second, "two queues of a half fetch in one cycle".to_string(), Some(note));
        }
    }
}

fn check_queue(queue: &Queue, lpu: &Lpu, report: &mut Report) {
    let holds = u64::from(lpu.queue_words);
    let mut fetched = 0u64;
    for (place, word) in queue.words.iter().enumerate() {
        let place_number = place as u64;
        if place_number >= holds + fetched {
            let message =
                format!("the queue runs dry: {} words were fetched before this one", holds + fetched);
            report.word(queue.chip, queue.id, place, message);
            return;
        }
        if matches!(word, Word::Fetch { .. }) {
            fetched += u64::from(FETCHED);
            if place_number + 1 < fetched {
                let message = format!("the queue has no room for {FETCHED} more words");
                report.word(queue.chip, queue.id, place, message);
                return;
            }
        }
    }
}

/// The chip and address of each word of SRAM that is fetched as text, each once.
pub(super) fn places(image: &Image) -> Vec<(u16, Address)> {
    let mut places = Vec::new();
    let phases = image.programs.iter().flat_map(|program| &program.phases);
    for queue in phases.flat_map(|phase| &phase.queues) {
        for word in &queue.words {
            if let Word::Fetch { slice, bank, word } = *word {
                let at = |word| Address { half: queue.id.text_half(), slice, bank, word };
                places.extend((0..FETCHED_FROM).map(|next| (queue.chip, at(word.saturating_add(next)))));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}
