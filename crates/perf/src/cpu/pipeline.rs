//! One core: instructions enter in order, run when operands and ports are there, and leave in order.
//!
//! Before: instructions with their accesses' levels. After: the cycle at which each leaves.
//! Ports are taken by the cycle, so that an instruction that waits does not keep younger ones from a free port. Lines
//! move over one path a level, each in so many cycles; what was fetched ahead began so many cycles before.

use super::Level;
use super::caches::Found;
use super::sampler::Access;
use super::stores::Stores;
use super::units::{self, Inst, Ports, Register};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tegula_machine::Core;

/// Cycles ahead for which ports are booked.
const BOOKED: usize = 1 << 13;

/// What was busy, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Busy {
    pub arithmetic: f64,
    pub l1: f64,
    pub l2: f64,
    pub l3: f64,
    pub dram: f64,
    pub front: f64,
}

impl Busy {
    pub fn add(&mut self, other: &Busy) {
        self.arithmetic += other.arithmetic;
        self.l1 += other.l1;
        self.l2 += other.l2;
        self.l3 += other.l3;
        self.dram += other.dram;
        self.front += other.front;
    }
}

/// Instructions on vectors between the front end and their pipes. Places in the scheduler are given in order, and
/// left in any; before it some wait in line, who keep nobody from entering but each other.
struct Vectors {
    /// When each in the scheduler leaves it.
    leave: BinaryHeap<Reverse<u64>>,
    places: usize,
    /// When the last ones came into the scheduler, a ring as long as the line.
    came: Vec<u64>,
    entered: usize,
    last: u64,
}

impl Vectors {
    fn new(core: &Core) -> Vectors {
        let places = core.vector_scheduler;
        let leave = BinaryHeap::with_capacity(places);
        Vectors { leave, places, came: vec![0; core.vector_line], entered: 0, last: 0 }
    }

    /// When the line has a place.
    fn open(&self) -> u64 {
        self.came[self.entered % self.came.len()]
    }

    /// When one that enters the line at `now` is in the scheduler.
    fn come(&mut self, now: u64) -> u64 {
        self.last = self.last.max(now);
        if self.leave.len() == self.places
            && let Some(Reverse(left)) = self.leave.pop()
        {
            self.last = self.last.max(left);
        }
        let length = self.came.len();
        self.came[self.entered % length] = self.last;
        self.entered += 1;
        self.last
    }

    fn leave(&mut self, cycle: u64) {
        self.leave.push(Reverse(cycle));
    }
}

pub struct Pipeline<'a> {
    core: &'a Core,
    ports: Vec<Ports>,
    /// Cycles before this one hold no bookings.
    cleared: u64,
    ready: [u64; Register::COUNT],
    /// Leaving times of the last instructions, a ring.
    window: Vec<u64>,
    entered: usize,
    /// The cycle in which instructions enter, and places left in it.
    now: u64,
    places: u16,
    left: u64,
    /// When each path has moved its last line: from L2, L3, memory.
    paths: [f64; 3],
    /// How often each port was booked.
    bookings: [u32; 32],
    vectors: Vectors,
    unwritten: Stores,
    pub busy: Busy,
}

impl<'a> Pipeline<'a> {
    pub fn new(core: &'a Core) -> Pipeline<'a> {
        Pipeline {
            core,
            ports: vec![0; BOOKED],
            cleared: 0,
            ready: [0; Register::COUNT],
            window: vec![0; core.window],
            entered: 0,
            now: 0,
            places: core.dispatch,
            left: 0,
            paths: [0.0; 3],
            bookings: [0; 32],
            vectors: Vectors::new(core),
            unwritten: Stores::new(core),
            busy: Busy::default(),
        }
    }

    /// The cycle at which all so far have left.
    pub fn cycle(&self) -> u64 {
        self.left
    }

    /// Runs an instruction that makes these accesses; `found` are the lines that it reads or writes.
    pub fn run(&mut self, inst: &Inst, accesses: &[Access], found: &[Found], foreseen: bool) {
        let figures = inst.unit.figures(inst.bytes, self.core);
        let on_vectors = inst.unit.is_vector();
        self.enter(figures.slots);
        if on_vectors {
            self.wait(self.vectors.open());
        }
        let at = |reads: &[Register], ready: &[u64; Register::COUNT]| {
            reads.iter().map(|r| ready[r.index()]).max().unwrap_or(0)
        };
        let addressed = at(&inst.address, &self.ready).max(self.now);
        let mut operands = at(&inst.reads, &self.ready).max(self.now);
        if inst.loads {
            let parts = parts_a_line(inst, found, self.core.datapath);
            let ports = units::load_ports(inst.memory_bytes, self.core);
            for found in found {
                let mut begin = addressed;
                for _ in 0..parts {
                    begin = begin.max(self.book(addressed, ports, 1));
                    self.busy.l1 += 1.0 / f64::from(ports.count_ones());
                }
                operands = operands.max(self.arrival(begin, *found, inst.bytes));
            }
            if let [access] = accesses
                && let Some(answer) = self.unwritten.answer(access, addressed)
            {
                operands = operands.max(answer);
            }
        }
        let mut done = operands;
        if figures.ports != 0 {
            if on_vectors {
                operands = operands.max(self.vectors.come(self.now));
            }
            if figures.divides != 0 {
                operands = self.book(operands, units::DIVIDER, figures.divides);
            }
            let begin = self.book(operands, figures.ports, figures.taken);
            done = begin + u64::from(figures.latency);
            if on_vectors {
                self.vectors.leave(begin);
                let taken = figures.taken.max(figures.divides);
                self.busy.arithmetic += f64::from(taken) / f64::from(figures.ports.count_ones());
            }
        }
        if inst.stores {
            done = self.store(inst, accesses, found, done.max(addressed));
        }
        for register in &inst.writes {
            self.ready[register.index()] = done;
        }
        self.left = self.left.max(done);
        let length = self.window.len();
        self.window[self.entered % length] = self.left;
        self.entered += 1;
        if inst.branches && !foreseen {
            self.wait(done + u64::from(self.core.mispredict));
            self.places = self.core.dispatch;
        }
    }

    /// Waits for places in the front end and in the window.
    fn enter(&mut self, slots: u16) {
        self.busy.front += f64::from(slots) / f64::from(self.core.dispatch);
        let mut slots = slots;
        while slots > self.places {
            slots -= self.places;
            self.now += 1;
            self.places = self.core.dispatch;
        }
        self.places -= slots;
        self.wait(self.window[self.entered % self.window.len()]);
        self.clear();
    }

    /// Nothing enters before a cycle.
    fn wait(&mut self, until: u64) {
        if until > self.now {
            self.now = until;
            self.places = self.core.dispatch;
        }
    }

    fn clear(&mut self) {
        let behind = self.now.min(self.cleared + BOOKED as u64);
        while self.cleared < behind {
            self.ports[self.cleared as usize % BOOKED] = 0;
            self.cleared += 1;
        }
        self.cleared = self.cleared.max(self.now);
    }

    /// The first cycle from `from` on in which one of the ports is free for `taken` cycles.
    fn book(&mut self, from: u64, ports: Ports, taken: u16) -> u64 {
        let last = self.cleared + BOOKED as u64 - 1;
        let mut cycle = from;
        loop {
            if cycle + u64::from(taken) >= last {
                return cycle;
            }
            let mut free = ports;
            for ahead in 0..u64::from(taken) {
                free &= !self.ports[(cycle + ahead) as usize % BOOKED];
            }
            if free != 0 {
                let port = self.least_booked(free);
                for ahead in 0..u64::from(taken) {
                    self.ports[(cycle + ahead) as usize % BOOKED] |= port;
                }
                return cycle;
            }
            cycle += 1;
        }
    }

    /// Of some ports the one that took the least so far: what has few to choose from then finds its own free.
    fn least_booked(&mut self, free: Ports) -> Ports {
        let ports = (0..32).filter(|port| free >> port & 1 == 1);
        let port = ports.min_by_key(|port| self.bookings[*port]).unwrap_or(0);
        self.bookings[port] += 1;
        1 << port
    }

    /// When a load that begins now has its line.
    fn arrival(&mut self, begin: u64, found: Found, bytes: usize) -> u64 {
        let hit = u64::from(if bytes > 8 { self.core.vector_load } else { self.core.load });
        match found.level {
            Level::L1 => begin + hit,
            _ => self.moved(begin, found.level, found.ahead, 1.0).max(begin + hit),
        }
    }

    /// When a line from beyond L1 has come, which counts as so many on its way.
    fn moved(&mut self, begin: u64, level: Level, ahead: bool, count: f64) -> u64 {
        let core = self.core;
        let (levels, latency) = match level {
            Level::L1 => (0, 0.0),
            Level::L2 => (1, core.latency[0]),
            Level::L3 => (2, core.latency[1]),
            Level::Dram => (3, core.latency[2]),
        };
        let mut done = begin as f64;
        for path in 0..levels {
            let from = if ahead { begin as f64 - core.ahead } else { begin as f64 };
            let start = self.paths[path].max(from);
            let taken = count * core.line[path];
            self.paths[path] = start + taken;
            done = done.max(self.paths[path]);
            match path {
                0 => self.busy.l2 += taken,
                1 => self.busy.l3 += taken,
                _ => self.busy.dram += taken,
            }
        }
        if !ahead {
            done += latency;
        }
        done as u64
    }

    /// A store leaves when its data is there and it has a place, and is written after that, when its lines have come.
    fn store(&mut self, inst: &Inst, accesses: &[Access], found: &[Found], ready: u64) -> u64 {
        let ports = if inst.bytes > self.core.twin_store_bytes { units::WIDE_STORE } else { units::STORE };
        let parts = parts_a_line(inst, found, self.core.store_bytes);
        let (mut data, mut lines) = (ready, ready);
        for found in found {
            let begin = self.book(ready, ports, parts) + u64::from(parts - 1);
            self.busy.l1 += f64::from(parts) / f64::from(ports.count_ones());
            data = data.max(begin + 1);
            if found.level != Level::L1 {
                // Loads of instructions behind this one that begin before it do not wait for its lines.
                let count = self.core.written_line;
                lines = lines.max(self.moved(self.now, found.level, true, count));
            }
        }
        let done = data.max(self.unwritten.open());
        // A scatter's elements have addresses that nobody knows.
        let access = if let [access] = accesses { Some(access) } else { None };
        self.unwritten.push(access, inst.masked, done, lines.max(done).max(self.left));
        done
    }

    /// A line asked for by the program.
    pub fn prefetch(&mut self, level: Level) {
        if level > Level::L2 {
            let begin = self.now;
            self.moved(begin, level, true, 1.0);
        }
    }
}

/// How often an access goes to each of its lines, of which so many bytes pass at once.
fn parts_a_line(inst: &Inst, found: &[Found], bytes: usize) -> u16 {
    inst.memory_bytes.div_ceil(bytes).div_ceil(found.len().max(1)).max(1) as u16
}
