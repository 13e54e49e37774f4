//! Stores on their way to L1, and what a load of the same bytes takes from them.
//!
//! Before: stores and loads in the program's order, with addresses. After: the cycle from which a load has its bytes.
//! Loads and stores wider than the datapath go in parts. A part of a load whose bytes one part of a store has all is
//! forwarded from it; one whose bytes several have, or one only some, or one under a mask, waits until all of them are
//! written, which happens in order and not before they leave.

use super::sampler::Access;
use tegula_machine::Core;

const LINE: u64 = 64;

#[derive(Clone, Copy, Default)]
struct Store {
    begin: u64,
    end: u64,
    masked: bool,
    /// When its data is there, and when it is written.
    data: u64,
    written: u64,
}

pub struct Stores {
    /// The last ones, a ring with as many places as wait to be written.
    ring: Vec<Store>,
    count: usize,
    load_bytes: u64,
    store_bytes: u64,
    forward: [u64; 2],
    blocked: u64,
}

impl Stores {
    pub fn new(core: &Core) -> Stores {
        Stores {
            ring: vec![Store::default(); core.stores],
            count: 0,
            load_bytes: core.datapath as u64,
            store_bytes: core.store_bytes as u64,
            // Copies of general registers are renamed.
            forward: [0, u64::from(core.vector_load + core.forward)],
            blocked: u64::from(core.blocked_load),
        }
    }

    /// When there is a place for one more.
    pub fn open(&self) -> u64 {
        self.ring[self.count % self.ring.len()].written
    }

    /// Notes a store whose data is there at `data`, and whose lines could be written from `from` on: one a cycle, after
    /// those before it. Neighbours in a line are written at once. No loads wait for one without an address.
    pub fn push(&mut self, access: Option<&Access>, masked: bool, data: u64, from: u64) {
        let (begin, end) = access.map_or((0, 0), range);
        let length = self.ring.len();
        let last = self.ring[(self.count + length - 1) % length];
        let line_of_last = last.end.saturating_sub(1) / LINE;
        let (first_line, last_line) = (begin / LINE, end.saturating_sub(1) / LINE);
        let lines = u64::from(line_of_last != first_line) + (last_line - first_line);
        let written = from.max(last.written + lines);
        self.ring[self.count % length] = Store { begin, end, masked, data, written };
        self.count += 1;
    }

    /// From when a load that begins at `now` can have its bytes from stores before it; none where no store on its way
    /// has any.
    pub fn answer(&self, access: &Access, now: u64) -> Option<u64> {
        parts(access, self.load_bytes).filter_map(|(begin, end)| self.of_part(begin, end, now)).max()
    }

    fn of_part(&self, begin: u64, end: u64, now: u64) -> Option<u64> {
        let length = self.ring.len();
        let mut blocked: Option<u64> = None;
        for back in 1..=self.count.min(length) {
            let store = &self.ring[(self.count - back) % length];
            if store.written <= now {
                break;
            }
            if store.end <= begin || store.begin >= end {
                continue;
            }
            if blocked.is_none() && !store.masked && self.is_in_one_part(store, begin, end) {
                return Some(store.data + self.forward[usize::from(end - begin > 8)]);
            }
            blocked = blocked.max(Some(store.written + self.blocked));
        }
        blocked
    }

    /// Whether one part of a store has all of some bytes.
    fn is_in_one_part(&self, store: &Store, begin: u64, end: u64) -> bool {
        let part = |address: u64| (address - store.begin) / self.store_bytes;
        store.begin <= begin && end <= store.end && part(begin) == part(end - 1)
    }
}

fn range(access: &Access) -> (u64, u64) {
    (access.address, access.address.saturating_add(u64::from(access.bytes)))
}

/// The ranges of an access of which each has so many bytes at most.
fn parts(access: &Access, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let (begin, end) = range(access);
    (begin..end).step_by(bytes as usize).map(move |begin| (begin, end.min(begin.saturating_add(bytes))))
}
