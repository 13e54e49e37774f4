//! Launches one after the other over one memory, of which a later one may begin before the earlier has ended
//! (programmatic dependent launch; PTX ISA, `griddepcontrol`; CUDA C++ Programming Guide, "Programmatic Dependent Launch
//! and Synchronization").
//!
//! A launch that may begin early does so at a random time after all CTAs of the one before it have let it, or have
//! ended. `griddepcontrol.wait` waits for the end of the one before, and of nothing else: what lies further back is
//! known only where that one has waited, too. Launches that overlap take turns at random. Without a seed each launch
//! begins when the one before has ended; races between them are told all the same.

use tegula_package::Memory;

use crate::counters::Counters;
use crate::launch::{Kernel, Launch, Stopped};
use crate::machine::{Earlier, Machine, Round};
use crate::race::History;
use crate::random::Random;

/// A launch in its place.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub kernel: &'a Kernel,
    pub launch: &'a Launch,
    /// May begin before the one ahead of it has ended.
    pub early: bool,
}

/// Runs all; the counters of each. The seed of the first is that of the order.
/// Errors: what a program does wrong, with the instruction that does it.
pub fn run_in_order(given: &[Given], memory: &dyn Memory) -> Result<Vec<Counters>, Stopped> {
    for Given { kernel, launch, .. } in given {
        launch.check(kernel.program())?;
    }
    let history = History::new(given.iter().map(|given| given.kernel.program()).collect());
    let seed = given.first().and_then(|given| given.launch.options.seed);
    let mut random = Random::new(seed.unwrap_or(0));
    let mut counters = vec![Counters::default(); given.len()];
    let mut running: Vec<Grid> = Vec::new();
    let mut known: Vec<Known> = Vec::with_capacity(given.len());
    loop {
        if let Some(next) = given.get(known.len()) {
            let lets_next = |last: &mut Grid, random: &mut Random| last.lets_next_begin(random);
            let overlaps = seed.is_some() && next.early;
            let begins = match running.last_mut() {
                None => true,
                // The last to begin may have ended before those that it overlaps.
                Some(last) => {
                    overlaps && (last.number() + 1 < known.len() as u32 || lets_next(last, &mut random))
                }
            };
            if begins {
                let is_done = running.last().is_none_or(|last| last.number() + 1 < known.len() as u32);
                let own = Known::new(&known, next.early);
                running.push(Grid::new(next, memory, &history, own.earlier(&known, is_done)));
                known.push(own);
            }
        }
        if running.is_empty() {
            return Ok(counters);
        }
        let turn = if seed.is_some() { random.below(running.len() as u64) as usize } else { 0 };
        if !running[turn].round()? {
            continue;
        }
        let ended = running.remove(turn);
        let number = ended.number();
        counters[number as usize] = ended.machine.counters;
        known[number as usize].has_waited = ended.machine.has_waited;
        if let Some(after) = running.iter_mut().find(|grid| grid.number() == number + 1) {
            after.machine.earlier = known[number as usize + 1].earlier(&known, true);
        }
    }
}

/// What a launch knows of those before it.
struct Known {
    number: u32,
    /// Those from this number to its own may still run when it begins.
    unknown_from: u32,
    has_waited: bool,
}

impl Known {
    /// Of the launch after those.
    fn new(before: &[Known], early: bool) -> Known {
        let number = before.len() as u32;
        let unknown_from = match before.last() {
            Some(before) if early => before.unknown_from,
            _ => number,
        };
        Known { number, unknown_from, has_waited: false }
    }

    fn earlier(&self, all: &[Known], is_done: bool) -> Earlier {
        // A wait adds the one before, and if that one has waited, the one before that, and so on.
        let mut unknown_to = self.number.saturating_sub(1);
        while unknown_to > self.unknown_from && all[unknown_to as usize].has_waited {
            unknown_to -= 1;
        }
        Earlier {
            is_done,
            unknown: (self.unknown_from, self.number),
            unknown_after_wait: (self.unknown_from, unknown_to.max(self.unknown_from)),
        }
    }
}

/// A launch that has begun.
struct Grid<'a> {
    machine: Machine<'a>,
    /// The first CTA of the next cluster; `None`: the last one runs.
    next: Option<[u32; 3]>,
    /// When the next launch may begin, by this one's clock.
    lets_next: Option<u64>,
}

impl<'a> Grid<'a> {
    fn new(
        given: &Given<'a>,
        memory: &'a dyn Memory,
        history: &'a History<'a>,
        earlier: Earlier,
    ) -> Grid<'a> {
        let launch = given.launch;
        let mut machine = Machine::new(given.kernel.program(), launch, memory, history, earlier);
        let is_empty = launch.grid.contains(&0);
        if !is_empty {
            machine.begin_cluster([0; 3]);
        }
        let mut grid = Grid { machine, next: None, lets_next: None };
        grid.next = if is_empty { None } else { grid.after([0; 3]) };
        grid
    }

    fn number(&self) -> u32 {
        self.machine.earlier.unknown.1
    }

    /// The cluster after one, x first.
    fn after(&self, at: [u32; 3]) -> Option<[u32; 3]> {
        let launch = self.machine.launch;
        let cluster = launch.cluster(self.machine.program);
        let mut at = at;
        for axis in 0..3 {
            at[axis] += cluster[axis];
            if at[axis] < launch.grid[axis] {
                return Some(at);
            }
            at[axis] = 0;
        }
        None
    }

    fn lets_next_begin(&mut self, random: &mut Random) -> bool {
        if self.next.is_some() || !self.machine.lets_dependents() {
            return false;
        }
        let now = self.machine.now;
        let delay = self.machine.launch.options.max_delay.max(1);
        now >= *self.lets_next.get_or_insert_with(|| now + random.below(delay))
    }

    /// Gives each warp a turn; whether the launch has ended.
    fn round(&mut self) -> Result<bool, Stopped> {
        if self.machine.round()? != Round::Ended {
            return Ok(false);
        }
        let Some(first) = self.next else { return Ok(true) };
        self.machine.begin_cluster(first);
        self.next = self.after(first);
        Ok(false)
    }
}
