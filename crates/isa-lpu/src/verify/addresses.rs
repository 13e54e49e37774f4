//! Addresses and tags, which a `repeat` steps: banks, words and rows that the machine has, values that the image names.

use super::report::Report;
use super::schedule::Schedule;
use crate::issue::Issue;
use crate::tag::Tag;
use crate::word::Word;
use std::collections::BTreeSet;
use tegula_machine::Lpu;

/// Checks each issue. After, if it holds: every address is one of the machine, every tag one of the image.
pub(super) fn check(schedule: &Schedule, report: &mut Report) -> bool {
    let before = report.count();
    // A word that repeats a fault tells it once.
    let mut told = BTreeSet::new();
    for issue in &schedule.issues {
        let mut is_new = |fault: u8| told.insert((issue.chip, issue.queue, issue.place, fault));
        if let Some(message) = wrong_address(issue, schedule.lpu).filter(|_| is_new(0)) {
            report.fault(issue, message);
        }
        let unknown = issue.tags.iter().find(|tag| !report.knows(**tag));
        if let Some(Tag { value, .. }) = unknown.filter(|_| is_new(1)) {
            report.fault(issue, format!("a tag names value {value}, which the image does not have"));
        }
    }
    report.count() == before
}

fn wrong_address(issue: &Issue, lpu: &Lpu) -> Option<String> {
    match issue.word {
        Word::Mem { read, write } => {
            let read = read.and_then(|read| outside(lpu, read.bank, read.word, 1));
            read.or_else(|| write.and_then(|write| outside(lpu, write.bank, write.word, 1)))
        }
        Word::Gather { bank, word, count, .. } | Word::Scatter { bank, word, count, .. } => {
            outside(lpu, bank, word, count)
        }
        Word::Fetch { slice, bank, word } => {
            let text = lpu.text_slices;
            let none = (u32::from(slice) >= text)
                .then(|| format!("slice {slice} holds no text: the first {text} do"));
            none.or_else(|| outside(lpu, bank, word, 2))
        }
        Word::LoadWeights { row, .. } => {
            let (first, last) = (u32::from(row), u32::from(row) + lpu.mxm.load_streams);
            (last > lpu.mxm.k)
                .then(|| format!("rows {first} to {} of weights: a plane has {}", last - 1, lpu.mxm.k))
        }
        Word::Accumulate { row, .. } => {
            let have = lpu.mxm.accumulators;
            (u32::from(row) >= have).then(|| format!("row {row} of sums: a plane has {have}"))
        }
        Word::Nop { .. }
        | Word::Repeat { .. }
        | Word::Sync
        | Word::Notify
        | Word::Halt
        | Word::InstallWeights
        | Word::Multiply { .. }
        | Word::Alu(_)
        | Word::Shift { .. }
        | Word::Permute { .. }
        | Word::Broadcast { .. }
        | Word::Transpose { .. }
        | Word::Blend { .. }
        | Word::Send { .. }
        | Word::Receive { .. } => None,
    }
}

/// Words of a bank that the machine does not have.
fn outside(lpu: &Lpu, bank: u8, word: u16, count: u16) -> Option<String> {
    if u32::from(bank) >= lpu.mem.banks {
        return Some(format!("bank {bank}: a slice has {}", lpu.mem.banks));
    }
    if count == 0 {
        return Some("a range of no words".to_string());
    }
    let last = u32::from(word) + u32::from(count) - 1;
    (last >= lpu.mem.words).then(|| format!("word {last} of a bank: it has {}", lpu.mem.words))
}
