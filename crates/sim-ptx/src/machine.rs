//! The machine of one grid: the CTAs of one cluster at a time, their warps in turn, and a clock of instructions.
//! A warp runs until it waits, ends, or has had its share; when nobody can run, time goes on to the next event; when
//! there is none, the warps wait for each other for ever, and the report names each with what it waits for.

use tegula_base::Diagnostic;
use tegula_package::Memory;

use crate::barrier::Named;
use crate::cluster::ClusterBarrier;
use crate::counters::Counters;
use crate::events::Events;
use crate::launch::{Launch, Stopped};
use crate::problem::{Problem, Run};
use crate::program::{Body, Program};
use crate::race::{History, Races};
use crate::random::Random;
use crate::shared::Shared;
use crate::warp::{Fragment, Waiting, Warp};
use crate::wgmma::Factors;

/// Instructions a warp runs before the next one has its turn.
const SHARE: u64 = 400;
/// Rounds of failed waits, without anything else happening, that are taken for ever.
const SPINS: u32 = 64;

pub struct Machine<'a> {
    pub program: &'a Program,
    pub launch: &'a Launch,
    pub memory: &'a dyn Memory,
    pub ctas: Vec<Cta>,
    pub cluster: ClusterBarrier,
    pub now: u64,
    /// Counts what may let others go on: stores, arrivals, ends, events.
    pub effects: u64,
    pub random: Random,
    pub events: Events,
    pub counters: Counters,
    /// Who is ordered with whom, where the launch asks.
    pub races: Option<Box<Races<'a>>>,
    /// Whether waits that may give up do so now.
    pub gives_up: bool,
    /// The grids before this one.
    pub earlier: Earlier,
    /// Some warp has waited for them.
    pub has_waited: bool,
    turns: Turns,
}

/// What a grid depends on.
#[derive(Clone, Copy, Debug)]
pub struct Earlier {
    /// Whether the grid before this one has ended, and with it all that its waits waited for.
    pub is_done: bool,
    /// The grids that may still run when this one begins: from the first number to its own.
    pub unknown: (u32, u32),
    /// Those that may still run when it has waited for the one before it.
    pub unknown_after_wait: (u32, u32),
}

/// Where a cluster's run stands.
#[derive(Default)]
struct Turns {
    order: Vec<(usize, usize)>,
    /// Effects at the last round in which nobody moved, and such rounds since.
    spins: (u64, u32),
    last_effect: (u64, u64),
}

/// How a round of turns ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Round {
    GoesOn,
    /// Nothing can happen before an earlier grid goes on.
    WaitsForGrids,
    /// All threads of the cluster have ended.
    Ended,
}

pub struct Cta {
    pub id: [u32; 3],
    pub rank: u32,
    pub shared: Shared,
    pub warps: Vec<Warp>,
    pub barriers: [Named; 16],
    pub factors: Factors,
    /// Registers that setmaxnreg may still give out.
    pub free_registers: u32,
    /// It has no objection to later grids beginning.
    pub lets_dependents: bool,
}

/// The place of a running group of lanes: CTA in the cluster, warp, fragment.
#[derive(Clone, Copy)]
pub struct Here {
    pub cta: usize,
    pub warp: usize,
    pub fragment: usize,
}

/// How an instruction leaves its lanes.
pub enum Outcome {
    Next,
    /// Cannot run yet.
    Wait(Waiting),
    /// Done, and others should run.
    Yield,
}

impl<'a> Machine<'a> {
    pub fn new(
        program: &'a Program,
        launch: &'a Launch,
        memory: &'a dyn Memory,
        history: &'a History<'a>,
        earlier: Earlier,
    ) -> Machine<'a> {
        let (seed, number) = (launch.options.seed.unwrap_or(0), earlier.unknown.1);
        Machine {
            program,
            launch,
            memory,
            ctas: Vec::new(),
            cluster: ClusterBarrier::default(),
            now: 0,
            effects: 0,
            random: Random::new(seed ^ u64::from(number) << 32),
            events: Events::default(),
            counters: Counters::default(),
            races: launch.options.races.then(|| Box::new(Races::new(history))),
            gives_up: false,
            earlier,
            has_waited: false,
            turns: Turns::default(),
        }
    }

    /// Starts the cluster whose first CTA is `first`.
    pub fn begin_cluster(&mut self, first: [u32; 3]) {
        let [x, y, z] = self.launch.cluster(self.program);
        self.ctas.clear();
        self.cluster = ClusterBarrier::default();
        self.now += 1;
        if let Some(races) = &mut self.races {
            races.begin(self.now);
        }
        for rank in 0..x * y * z {
            let id = [first[0] + rank % x, first[1] + rank / x % y, first[2] + rank / (x * y)];
            self.ctas.push(Cta::new(self.program, self.launch, id, rank));
        }
        let warps = |(c, cta): (usize, &Cta)| (0..cta.warps.len()).map(move |w| (c, w));
        self.turns = Turns {
            order: self.ctas.iter().enumerate().flat_map(warps).collect(),
            spins: (0, 0),
            last_effect: (self.effects, self.now),
        };
    }

    /// Whether the cluster lets later grids begin.
    pub fn lets_dependents(&self) -> bool {
        self.ctas.iter().all(|cta| cta.lets_dependents || cta.warps.iter().all(|warp| warp.live == 0))
    }

    /// Gives each warp a turn.
    pub fn round(&mut self) -> Result<Round, Stopped> {
        if self.memory.is_stopped() {
            return Err(Stopped::ByCaller);
        }
        let mut order = std::mem::take(&mut self.turns.order);
        if self.launch.options.seed.is_some() {
            self.random.shuffle(&mut order);
        }
        let mut moved = self.deliver()?;
        let mut alive = false;
        for &(c, w) in &order {
            if self.ctas[c].warps[w].live != 0 {
                moved |= self.turn(c, w)?;
                alive = true;
            }
        }
        self.turns.order = order;
        if !alive {
            self.end_cluster()?;
            return Ok(Round::Ended);
        }
        self.gives_up = false;
        if self.effects != self.turns.last_effect.0 {
            self.turns.last_effect = (self.effects, self.now);
        } else if self.now - self.turns.last_effect.1 > self.launch.options.patience {
            return Err(self.stuck("nothing has changed for a long time: the warps spin").into());
        }
        if moved || self.events.skip_to_next(&mut self.now) {
            return Ok(Round::GoesOn);
        }
        if !self.earlier.is_done && self.waits_for_grids() {
            return Ok(Round::WaitsForGrids);
        }
        let spins = &mut self.turns.spins;
        *spins = if spins.0 == self.effects { (self.effects, spins.1 + 1) } else { (self.effects, 1) };
        if spins.1 > SPINS {
            return Err(self.stuck("no warp can go on").into());
        }
        self.gives_up = true;
        Ok(Round::GoesOn)
    }

    fn waits_for_grids(&self) -> bool {
        let mut fragments = self.ctas.iter().flat_map(|cta| &cta.warps).flat_map(|warp| &warp.fragments);
        fragments.any(|fragment| matches!(fragment.waiting, Some(Waiting::Grids)))
    }

    /// All threads have ended. Errors: a copy still reads the shared memory that is gone with them.
    fn end_cluster(&mut self) -> Result<(), Stopped> {
        for (c, cta) in self.ctas.iter().enumerate() {
            if let Some(w) = cta.warps.iter().position(|warp| !warp.bulk_reads.is_idle()) {
                let message =
                    "ends while a bulk copy may still read its shared memory: no wait_group came before";
                let here = Here { cta: c, warp: w, fragment: 0 };
                return Err(self.report(here, Problem::new("sim-race", message)).into());
            }
        }
        self.drain()
    }

    /// Runs a warp for its share; whether it did anything.
    fn turn(&mut self, c: usize, w: usize) -> Result<bool, Stopped> {
        let mut moved = false;
        let mut at = 0;
        let until = self.now + SHARE;
        while at < self.ctas[c].warps[w].fragments.len() {
            let here = Here { cta: c, warp: w, fragment: at };
            let n_before = self.ctas[c].warps[w].fragments.len();
            match self.run_fragment(here, until) {
                Ok(Ran::Blocked { moved: has }) => {
                    moved |= has;
                    // A fragment that ended or met another one has left its place to the next.
                    if !has || self.ctas[c].warps[w].fragments.len() >= n_before {
                        at += 1;
                    }
                }
                Ok(Ran::Enough) => {
                    moved = true;
                    // Lanes behind the ones that spin have their turn, too.
                    at += 1;
                }
                Err(problem) => return Err(self.report(here, problem).into()),
            }
        }
        Ok(moved)
    }

    /// Runs the fragment at a place of the list until it waits, ends, or time is up.
    fn run_fragment(&mut self, here: Here, until: u64) -> Run<Ran> {
        let program = self.program;
        let mut moved = false;
        loop {
            let warp = &mut self.ctas[here.cta].warps[here.warp];
            let Some(&Fragment { pc, mask, .. }) = warp.fragments.get(here.fragment) else {
                return Ok(Ran::Blocked { moved });
            };
            let Some(step) = program.steps.get(pc as usize) else {
                warp.end(here.fragment, mask);
                self.effects += 1;
                moved = true;
                continue;
            };
            let active = match step.guard {
                Some(guard) => warp.guard(program, guard, mask)?,
                None => mask,
            };
            let outcome = match &step.body {
                Body::Map(map) => {
                    if active != 0 {
                        warp.map(program, map, active)?;
                    }
                    Outcome::Next
                }
                Body::Branch { target } => {
                    warp_branch(warp, here.fragment, active, *target);
                    self.count(active);
                    moved = true;
                    if self.now >= until {
                        return Ok(Ran::Enough);
                    }
                    continue;
                }
                Body::Exit => {
                    self.count(active);
                    moved = true;
                    self.effects += 1;
                    let warp = &mut self.ctas[here.cta].warps[here.warp];
                    if active == mask {
                        warp.end(here.fragment, mask);
                        return Ok(Ran::Blocked { moved });
                    }
                    warp.end(here.fragment, active);
                    continue;
                }
                _ if active == 0 => Outcome::Next,
                body => self.effect(here, body, mask, active)?,
            };
            let warp = &mut self.ctas[here.cta].warps[here.warp];
            match outcome {
                Outcome::Next => warp.advance(here.fragment, pc + 1),
                Outcome::Wait(waiting) => {
                    warp.fragments[here.fragment].waiting = Some(waiting);
                    return Ok(Ran::Blocked { moved });
                }
                Outcome::Yield => {
                    warp.advance(here.fragment, pc + 1);
                    self.count(active);
                    return Ok(Ran::Enough);
                }
            }
            moved = true;
            self.count(active);
        }
    }

    fn count(&mut self, active: u32) {
        self.now += 1;
        self.counters.warp_instructions += 1;
        self.counters.lane_instructions += active.count_ones() as u64;
    }

    /// The problem with its place.
    pub fn report(&self, here: Here, problem: Problem) -> Diagnostic {
        let cta = &self.ctas[here.cta];
        let pc = cta.warps[here.warp].fragments.get(here.fragment).map_or(u32::MAX, |fragment| fragment.pc);
        let [x, y, z] = cta.id;
        let place = format!("{}, CTA ({x}, {y}, {z}), warp {}", self.program.place(pc), here.warp);
        let found = Diagnostic::error(problem.code, format!("{place}: {}", problem.message));
        problem.notes.into_iter().fold(found, Diagnostic::note)
    }

    /// Who waits for what.
    fn stuck(&self, why: &str) -> Diagnostic {
        let mut found =
            Diagnostic::error("sim-deadlock", format!("`{}` never ends: {why}", self.program.name));
        for cta in &self.ctas {
            for (w, warp) in cta.warps.iter().enumerate() {
                for fragment in &warp.fragments {
                    let [x, y, z] = cta.id;
                    let lanes = if fragment.mask == warp.born {
                        String::new()
                    } else {
                        format!(" lanes {:#010x}", fragment.mask)
                    };
                    let waits = fragment.waiting.map_or("runs".to_string(), |waiting| waiting.to_string());
                    let place = self.program.place(fragment.pc);
                    found = found.note(format!("CTA ({x}, {y}, {z}) warp {w}{lanes} {waits} at {place}"));
                }
            }
        }
        found
    }
}

enum Ran {
    Blocked { moved: bool },
    Enough,
}

fn warp_branch(warp: &mut Warp, at: usize, taken: u32, target: u32) {
    let pc = warp.fragments[at].pc;
    if taken == 0 { warp.advance(at, pc + 1) } else { warp.split(at, taken, target) }
}

impl Cta {
    fn new(program: &Program, launch: &Launch, id: [u32; 3], rank: u32) -> Cta {
        let threads: u32 = launch.block.iter().product();
        let budget = launch.register_budget(program);
        let warps = (0..threads.div_ceil(32)).map(|w| {
            let lanes = (threads - 32 * w).min(32);
            Warp::new(program, crate::lanes::ones(lanes) as u32, budget)
        });
        Cta {
            id,
            rank,
            shared: Shared::new(launch.shared_end(program)),
            warps: warps.collect(),
            barriers: Default::default(),
            factors: Factors::default(),
            free_registers: 0,
            lets_dependents: false,
        }
    }
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Waiting::Lanes(mask) => write!(f, "waits for lanes {mask:#010x} of its warp"),
            Waiting::Barrier { id, arrived, expected } => {
                write!(f, "waits at barrier {id}, where {arrived} of {expected} threads have arrived,")
            }
            Waiting::Copies { groups } => write!(f, "waits for copies until {groups} groups are pending"),
            Waiting::Mbarrier { at, barrier } => {
                write!(f, "waits for the mbarrier at {:#x} of CTA rank {}, {barrier}", at.1, at.0)
            }
            Waiting::Cluster => write!(f, "waits for the threads of its cluster"),
            Waiting::Products { groups } => write!(f, "waits for wgmma until {groups} groups are pending"),
            Waiting::Bulk { groups } => write!(f, "waits for bulk copies until {groups} groups are pending"),
            Waiting::Grids => write!(f, "waits for the launches before"),
            Waiting::Registers { count } => write!(f, "waits for {count} registers a thread"),
        }
    }
}
