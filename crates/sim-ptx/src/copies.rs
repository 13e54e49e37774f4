//! A warp's asynchronous copies in groups: which are not yet done, and arrivals that wait for them.

use std::collections::{BTreeSet, VecDeque};

use crate::mbarrier::BarrierAt;

#[derive(Default)]
pub struct Copies {
    groups: VecDeque<Group>,
    /// Number of the oldest group that is kept.
    first: u64,
    /// Copies that are in no group yet.
    open: u32,
    open_lanes: u32,
    /// Copies under way, by their number.
    under_way: BTreeSet<u64>,
    issued: u64,
    /// Arrivals that wait for all copies before a number.
    arrivals: Vec<(u64, BarrierAt, i64)>,
}

struct Group {
    lanes: u32,
    pending: u32,
}

impl Copies {
    /// One more copy of the lanes; gives the number of the group that it will be in.
    pub fn issue(&mut self, lanes: u32) -> u64 {
        self.open += 1;
        self.open_lanes |= lanes;
        self.first + self.groups.len() as u64
    }

    /// As `issue`; and the number of the copy.
    pub fn issue_serial(&mut self, lanes: u32) -> (u64, u64) {
        self.issued += 1;
        self.under_way.insert(self.issued);
        (self.issue(lanes), self.issued)
    }

    /// As `complete`; and the arrivals that waited for it.
    pub fn complete_serial(&mut self, group: u64, serial: u64) -> Vec<(BarrierAt, i64)> {
        self.complete(group);
        self.under_way.remove(&serial);
        let oldest = self.under_way.first().copied().unwrap_or(u64::MAX);
        let (done, waiting) = self.arrivals.iter().partition(|(after, ..)| oldest > *after);
        self.arrivals = waiting;
        done.into_iter().map(|(_, at, count): (u64, BarrierAt, i64)| (at, count)).collect()
    }

    /// Arrivals when all copies so far are done; `false`: they are.
    pub fn arrive_later(&mut self, at: BarrierAt, count: i64) -> bool {
        let waits = !self.under_way.is_empty();
        if waits {
            self.arrivals.push((self.issued, at, count));
        }
        waits
    }

    /// Groups that were ever closed.
    pub fn closed(&self) -> u64 {
        self.first + self.groups.len() as u64
    }

    pub fn is_idle(&self) -> bool {
        self.open == 0 && self.groups.iter().all(|group| group.pending == 0)
    }

    pub fn commit(&mut self, lanes: u32) {
        self.groups.push_back(Group { lanes: lanes | self.open_lanes, pending: self.open });
        self.open = 0;
        self.open_lanes = 0;
    }

    pub fn complete(&mut self, group: u64) {
        let at = group.saturating_sub(self.first) as usize;
        match self.groups.get_mut(at) {
            Some(group) => group.pending -= 1,
            None => self.open -= 1,
        }
        while self.groups.front().is_some_and(|group| group.pending == 0) {
            self.groups.pop_front();
            self.first += 1;
        }
    }

    /// Whether all but the latest `keep` groups of the lanes are done; `None`: and what is in no group.
    pub fn is_done(&self, lanes: u32, keep: Option<u32>) -> bool {
        let mine = self.groups.iter().rev().filter(|group| group.lanes & lanes != 0);
        match keep {
            Some(keep) => mine.skip(keep as usize).all(|group| group.pending == 0),
            None => self.open == 0 && mine.into_iter().all(|group| group.pending == 0),
        }
    }
}
