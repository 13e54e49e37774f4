//! Runs of words of a bank that hold vectors of one value and part: what a `gather` may range over, found in one look-up.

use super::{Bank, Held};
use crate::tag::Tag;
use std::collections::BTreeMap;

/// A value and part; none: no vector, or parts of several.
type Kind = Option<(u32, u8)>;

/// The first word of each run, the longest possible, beside what the run holds.
pub(super) struct Runs(BTreeMap<u16, Kind>);

impl Runs {
    pub(super) fn of(bank: &Bank) -> Runs {
        let mut runs = Runs(BTreeMap::from([(0, None)]));
        bank.iter().for_each(|(word, content)| runs.set(*word, &content.held));
        runs
    }

    fn at(&self, word: u16) -> Kind {
        self.0.range(..=word).next_back().and_then(|(_, kind)| *kind)
    }

    /// Takes what a write has left.
    pub(super) fn set(&mut self, word: u16, held: &Held) {
        let kind = kind(held);
        let old = self.at(word);
        if old == kind {
            return;
        }
        // The rest of the run starts behind the word; what does not differ from the run before it is no start.
        if let Some(next) = word.checked_add(1) {
            self.0.entry(next).or_insert(old);
            if self.0.get(&next) == Some(&kind) {
                self.0.remove(&next);
            }
        }
        let before = word.checked_sub(1).map(|before| self.at(before));
        if before == Some(kind) {
            self.0.remove(&word);
        } else {
            self.0.insert(word, kind);
        }
    }

    /// The first word of a range that does not hold a vector of the tag's value and part.
    pub(super) fn first_other(&self, word: u16, count: u16, tag: Tag) -> Option<u16> {
        let wanted = Some((tag.value, tag.part));
        if self.at(word) != wanted {
            return Some(word);
        }
        // Runs are the longest possible, so the next one holds something else.
        let last = word.checked_add(count.saturating_sub(1));
        let next = self.0.range(word..).find(|(start, _)| **start > word).map(|(start, _)| *start);
        next.filter(|next| last.is_none_or(|last| *next <= last))
    }
}

fn kind(held: &Held) -> Kind {
    match held {
        Held::Whole(tag) => Some((tag.value, tag.part)),
        Held::Parts(_) | Held::Text => None,
    }
}
