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
struct Part {
    begin: u64,
    end: u64,
    masked: bool,
    /// When its data is there, and when it is written.
    data: u64,
    written: u64,
}

pub struct Stores {
    /// The last ones, a ring.
    ring: Vec<Part>,
    count: usize,
    load_bytes: u64,
    store_bytes: u64,
    forward: [u64; 2],
    blocked: u64,
}

impl Stores {
    pub fn new(core: &Core) -> Stores {
        Stores {
            ring: vec![Part::default(); core.stores],
            count: 0,
            load_bytes: core.datapath as u64,
            store_bytes: core.store_bytes as u64,
            // Copies of general registers are renamed.
            forward: [0, u64::from(core.vector_load + core.forward)],
            blocked: u64::from(core.blocked_load),
        }
    }

    /// Notes a store whose data is there at `data` and that leaves at `left`. Neighbours in a line are written at once.
    pub fn push(&mut self, access: &Access, masked: bool, data: u64, left: u64) {
        let length = self.ring.len();
        for (begin, end) in parts(access, self.store_bytes) {
            let last = self.ring[(self.count + length - 1) % length];
            let step = u64::from(last.begin / LINE != begin / LINE);
            let written = left.max(last.written + step);
            self.ring[self.count % length] = Part { begin, end, masked, data, written };
            self.count += 1;
        }
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
            if blocked.is_none() && !store.masked && store.begin <= begin && store.end >= end {
                return Some(store.data + self.forward[usize::from(end - begin > 8)]);
            }
            blocked = blocked.max(Some(store.written + self.blocked));
        }
        blocked
    }
}

/// The ranges of an access of which each has so many bytes at most.
fn parts(access: &Access, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = access.address.saturating_add(u64::from(access.bytes));
    (access.address..end)
        .step_by(bytes as usize)
        .map(move |begin| (begin, end.min(begin.saturating_add(bytes))))
}
