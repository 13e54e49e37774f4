//! SRAM: what each word of a bank holds, from phase to phase, and whether reads meet the vectors that they expect.
//!
//! A phase's accesses are sorted by bank and cycle, and read once: a write replaces the tags of what it covers, a read
//! compares them. A write that comes before the last reader of the old vector shows at that reader. A write is there for the
//! reads of later cycles; a bank has one port, so no two accesses are in one cycle.
//! Which word a `gather` reads is data. So all words that it may read hold vectors of one value; so do those of a `scatter`,
//! which leaves each word with the tag that it had: a row of a table remains the row of its place. So a `scatter` may not
//! reach the place of a constant, whose tag would hide that its bytes are others.

mod runs;

use super::report::Report;
use super::schedule::Schedule;
use crate::floor::{Half, QueueId};
use crate::image::Address;
use crate::issue::Issue;
use crate::tag::Tag;
use crate::word::{EndKind, WHOLE, Word};
use runs::Runs;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tegula_machine::Lpu;

/// What is known of all words that hold something.
#[derive(Clone, Default)]
pub(super) struct Memory {
    banks: BTreeMap<BankKey, Bank>,
    /// The places of constants, the same in every program.
    constants: Rc<BTreeMap<BankKey, BTreeSet<u16>>>,
}

/// Chip, half, slice, bank.
type BankKey = (u16, Half, u8, u8);

type Bank = BTreeMap<u16, Content>;

/// A word of a bank, and the write that left it so.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) held: Held,
    writer: Option<Writer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Writer {
    phase: usize,
    place: u32,
    cycle: i64,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// One vector, or the same vector in all parts that masks tell apart.
    Whole(Tag),
    /// Vectors of the parts, none where nothing was written.
    Parts(Vec<Option<Tag>>),
    /// Words of a queue.
    Text,
}

/// A word's access to a bank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    bank: BankKey,
    cycle: i64,
    issue: u32,
    kind: Kind,
    tag: Tag,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Read { word: u16 },
    Write { word: u16, mask: u32 },
    Gather { word: u16, count: u16 },
    Scatter { word: u16, count: u16 },
}

/// The mask of all parts of a vector.
pub(super) fn all_parts(lpu: &Lpu) -> u32 {
    let parts = lpu.vector() / lpu.mem.mask_lanes.max(1);
    1u32.checked_shl(parts).map_or(WHOLE, |bit| bit - 1)
}

impl Memory {
    pub(super) fn get(&self, chip: u16, at: Address) -> Option<&Held> {
        let bank = self.banks.get(&(chip, at.half, at.slice, at.bank))?;
        bank.get(&at.word).map(|content| &content.held)
    }

    /// Puts what lies there before the first phase.
    pub(super) fn put(&mut self, chip: u16, at: Address, held: Held) {
        let bank = self.banks.entry((chip, at.half, at.slice, at.bank)).or_default();
        bank.insert(at.word, Content { held, writer: None });
    }

    /// Marks the place of a constant.
    pub(super) fn keep(&mut self, chip: u16, at: Address) {
        let bank = (chip, at.half, at.slice, at.bank);
        Rc::make_mut(&mut self.constants).entry(bank).or_default().insert(at.word);
    }

    /// Lets a trip of a phase pass over the memory.
    pub(super) fn pass(&mut self, schedule: &Schedule, report: &mut Report) {
        let mut accesses = accesses(schedule);
        accesses.sort_unstable();
        for run in accesses.chunk_by(|a, b| a.bank == b.bank) {
            let bank = self.banks.entry(run[0].bank).or_default();
            pass_bank(bank, self.constants.get(&run[0].bank), run, schedule, report);
        }
    }
}

fn accesses(schedule: &Schedule) -> Vec<Access> {
    let mut accesses = Vec::new();
    for (number, issue) in schedule.issues.iter().enumerate() {
        let QueueId::Mem { half, slice } = issue.queue else { continue };
        let drive = schedule.tag(issue, |kind| matches!(kind, EndKind::Drive(..)));
        let store = schedule.tag(issue, |kind| kind == EndKind::Store);
        let mut access = |bank: u8, kind: Kind, tag: Option<Tag>| {
            let bank = (issue.chip, half, slice, bank);
            let tag = tag.unwrap_or_default();
            accesses.push(Access { bank, cycle: issue.cycle, issue: number as u32, kind, tag });
        };
        if let Word::Mem { read, write } = issue.word {
            if let Some(read) = read {
                access(read.bank, Kind::Read { word: read.word }, drive);
            }
            if let Some(write) = write {
                access(write.bank, Kind::Write { word: write.word, mask: write.mask }, store);
            }
        } else if let Word::Gather { bank, word, count, .. } = issue.word {
            access(bank, Kind::Gather { word, count }, drive);
        } else if let Word::Scatter { bank, word, count, .. } = issue.word {
            access(bank, Kind::Scatter { word, count }, store);
        }
    }
    accesses
}

/// One bank's accesses by cycle.
fn pass_bank(
    bank: &mut Bank,
    constants: Option<&BTreeSet<u16>>,
    accesses: &[Access],
    schedule: &Schedule,
    report: &mut Report,
) {
    let is_range = |access: &Access| matches!(access.kind, Kind::Gather { .. } | Kind::Scatter { .. });
    let mut runs = accesses.iter().any(is_range).then(|| Runs::of(bank));
    for access in accesses {
        let issue = schedule.issue(access.issue);
        match access.kind {
            Kind::Read { word } => read(bank.get(&word), access.tag, issue, report),
            Kind::Write { word, mask } => {
                let held = write(bank.get(&word), mask, access.tag, schedule.lpu);
                let Some(held) = held else {
                    report.fault(issue, format!("word {word} holds the text of a queue"));
                    continue;
                };
                if let Some(runs) = &mut runs {
                    runs.set(word, &held);
                }
                let writer = Some(Writer { phase: report.phase(), place: issue.place, cycle: issue.cycle });
                bank.insert(word, Content { held, writer });
            }
            Kind::Gather { word, count } | Kind::Scatter { word, count } => {
                let wrong = runs.as_ref().and_then(|runs| runs.first_other(word, count, access.tag));
                if let Some(wrong) = wrong {
                    read_range(bank.get(&wrong), wrong, access.tag, issue, report);
                }
                if let (Kind::Scatter { .. }, Some(constants)) = (access.kind, constants) {
                    let last = word.saturating_add(count.saturating_sub(1));
                    if let Some(kept) = constants.range(word..=last).next() {
                        report.fault(issue, format!("word {kept} is the place of a constant"));
                    }
                }
            }
        }
    }
}

fn read(content: Option<&Content>, wanted: Tag, issue: &Issue, report: &mut Report) {
    if content.is_some_and(|content| content.held == Held::Whole(wanted)) {
        return;
    }
    let message =
        format!("{} should lie there, but {}", report.name(wanted), describe(content, wanted, report));
    report.fault_with(issue, message, content.and_then(written));
}

fn read_range(content: Option<&Content>, word: u16, wanted: Tag, issue: &Issue, report: &mut Report) {
    let part = if wanted.part == 0 { String::new() } else { format!("part {} of ", wanted.part) };
    let value = report.value(wanted.value);
    let found = describe(content, wanted, report);
    let message = format!("{part}vectors of {value} should lie in all words, but in word {word} {found}");
    report.fault_with(issue, message, content.and_then(written));
}

fn written(content: &Content) -> Option<String> {
    let Writer { phase, place, cycle } = content.writer?;
    Some(format!("it was written by the slice's word {place} in phase {phase}, cycle {cycle}"))
}

/// What lies in a word instead.
fn describe(content: Option<&Content>, wanted: Tag, report: &Report) -> String {
    match content.map(|content| &content.held) {
        None => "nothing does".to_string(),
        Some(Held::Whole(tag)) => format!("{} does", report.name(*tag)),
        Some(Held::Text) => "the text of a queue does".to_string(),
        Some(Held::Parts(parts)) => {
            let other = parts.iter().position(|part| *part != Some(wanted)).unwrap_or(0);
            match parts.get(other).copied().flatten() {
                Some(tag) => format!("{} does in its part {other}", report.name(tag)),
                None => format!("nothing does in its part {other}"),
            }
        }
    }
}

/// What a write leaves; none: it may not write there.
fn write(content: Option<&Content>, mask: u32, tag: Tag, lpu: &Lpu) -> Option<Held> {
    let all = all_parts(lpu);
    let held = content.map(|content| &content.held);
    let mut parts = match held {
        Some(Held::Text) => return None,
        _ if mask & all == all => return Some(Held::Whole(tag)),
        Some(Held::Whole(old)) => vec![Some(*old); all.count_ones() as usize],
        Some(Held::Parts(parts)) => parts.clone(),
        None => vec![None; all.count_ones() as usize],
    };
    for (number, part) in parts.iter_mut().enumerate() {
        if mask >> number & 1 == 1 {
            *part = Some(tag);
        }
    }
    let same = parts.iter().all(|part| *part == Some(tag));
    Some(if same { Held::Whole(tag) } else { Held::Parts(parts) })
}
