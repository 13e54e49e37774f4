//! The vector ALUs: results that are on their way, and what each holds.

use crate::trap::Fault;
use std::collections::VecDeque;
use std::sync::Arc;
use tegula_isa_lpu::Tag;

/// A word of each lane.
pub(crate) type Words = Arc<[u32]>;

#[derive(Default)]
pub(crate) struct AluState {
    /// In the order of their cycles.
    results: VecDeque<Given>,
    held: Option<(i64, Words)>,
    /// What is held from a later cycle on.
    coming: VecDeque<(i64, Words)>,
}

struct Given {
    cycle: i64,
    tag: Tag,
    words: Words,
}

impl AluState {
    pub(crate) fn give(&mut self, cycle: i64, tag: Tag, words: Words, hold: bool) -> Result<(), Fault> {
        if self.results.iter().any(|given| given.cycle == cycle) {
            return Err(Fault::TwoResults);
        }
        if hold {
            let at = self.coming.partition_point(|(earlier, _)| *earlier < cycle);
            self.coming.insert(at, (cycle, words.clone()));
        }
        let at = self.results.partition_point(|given| given.cycle < cycle);
        self.results.insert(at, Given { cycle, tag, words });
        Ok(())
    }

    /// The result that is given in this cycle, which must be the one wanted. Earlier ones are gone.
    pub(crate) fn result(&mut self, cycle: i64, wanted: Tag) -> Result<Words, Fault> {
        while self.results.front().is_some_and(|given| given.cycle < cycle) {
            self.results.pop_front();
        }
        match self.results.front() {
            Some(given) if given.cycle == cycle && given.tag == wanted => Ok(given.words.clone()),
            Some(given) if given.cycle == cycle => Err(Fault::Other { wanted, found: given.tag }),
            _ => Err(Fault::Nothing { wanted }),
        }
    }

    /// What it holds in this cycle.
    pub(crate) fn held(&mut self, cycle: i64) -> Result<Words, Fault> {
        while self.coming.front().is_some_and(|(from, _)| *from <= cycle) {
            self.held = self.coming.pop_front();
        }
        self.held.as_ref().map(|(_, words)| words.clone()).ok_or(Fault::NothingHeld)
    }
}
