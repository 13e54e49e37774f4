//! Which level of the cache hierarchy each line comes from, and whether it was fetched ahead.
//!
//! Before: accesses in the program's order. After: the level of each, the lines moved between levels counted.
//! Method: set-associative caches with the least recently used line replaced, a line in L1 also in L2. A line counts as
//! fetched ahead when its instruction moved by the same stride twice, or when a neighbour was missed shortly before.

use super::Level;
use tegula_machine::{Core, Cpu};

const LINE: u64 = 64;
const EMPTY: u64 = u64::MAX;
/// Misses that the fetching of neighbours remembers.
const STREAMS: usize = 32;

/// One level.
#[derive(Clone, Debug)]
struct Cache {
    /// Lines by set, the most recently used first.
    lines: Vec<u64>,
    ways: usize,
    /// The number of sets less one; they are a power of two.
    mask: u64,
}

impl Cache {
    fn new(bytes: u64, ways: usize) -> Cache {
        let sets = (bytes / LINE / ways as u64).max(1).next_power_of_two();
        Cache { lines: vec![EMPTY; sets as usize * ways], ways, mask: sets - 1 }
    }

    /// Whether the line is there; it is afterwards.
    #[inline]
    fn touch(&mut self, line: u64) -> bool {
        let set = (line & self.mask) as usize * self.ways;
        let ways = &mut self.lines[set..set + self.ways];
        let mut carried = line;
        for way in ways {
            std::mem::swap(way, &mut carried);
            if carried == line {
                return true;
            }
        }
        false
    }
}

/// Where an access finds its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub level: Level,
    /// Asked for before the access.
    pub ahead: bool,
}

/// The caches of one core.
#[derive(Clone, Debug)]
pub struct Caches {
    l1: Cache,
    l2: Cache,
    l3: Cache,
    streams: [u64; STREAMS],
    next: usize,
}

/// What one instruction touched last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stride {
    last: u64,
    stride: i64,
    steady: bool,
}

impl Stride {
    /// Notes an address; whether it was foreseeable.
    fn follow(&mut self, address: u64) -> bool {
        let stride = address.wrapping_sub(self.last) as i64;
        let foreseen = self.steady && stride == self.stride;
        self.steady = stride == self.stride && stride != 0;
        (self.last, self.stride) = (address, stride);
        foreseen || self.steady
    }
}

impl Caches {
    pub fn new(cpu: &Cpu, core: &Core) -> Caches {
        Caches {
            l1: Cache::new(cpu.l1d.0, core.l1_ways),
            l2: Cache::new(cpu.l2.0, core.l2_ways),
            l3: Cache::new(core.l3_reach.0, core.l3_ways),
            streams: [EMPTY; STREAMS],
            next: 0,
        }
    }

    /// An access by the instruction with this history; `each` is told of every line.
    pub fn access(&mut self, address: u64, bytes: u64, stride: &mut Stride, mut each: impl FnMut(Found)) {
        let foreseen = stride.follow(address);
        let (first, last) = (address / LINE, address.saturating_add(bytes.max(1) - 1) / LINE);
        for line in first..=last {
            let (level, ahead) = match self.l1.touch(line) {
                true => (Level::L1, false),
                false => {
                    let ahead = self.follows(line) || foreseen;
                    (self.beyond_l1(line), ahead)
                }
            };
            each(Found { level, ahead });
        }
    }

    /// A line that the program asks for ahead, to L2.
    pub fn prefetch(&mut self, address: u64) -> Level {
        self.beyond_l1(address / LINE)
    }

    fn beyond_l1(&mut self, line: u64) -> Level {
        if self.l2.touch(line) {
            Level::L2
        } else if self.l3.touch(line) {
            Level::L3
        } else {
            Level::Dram
        }
    }

    /// Whether a neighbour of the line was missed shortly before.
    fn follows(&mut self, line: u64) -> bool {
        let near = |known: &u64| line.abs_diff(*known) <= 2;
        match self.streams.iter().position(near) {
            Some(place) => {
                self.streams[place] = line;
                true
            }
            None => {
                self.streams[self.next] = line;
                self.next = (self.next + 1) % STREAMS;
                false
            }
        }
    }
}
