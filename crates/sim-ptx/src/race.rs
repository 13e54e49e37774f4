//! Finds accesses that nothing orders: for each word of memory the last write and four readers (of the warp's own
//! cluster, of another one, of an earlier launch), with the agent and epoch of each (see `clock.rs`). An access must come after the last write, and a write after the readers.
//! What the generic proxy wrote must also have passed a proxy fence before the asynchronous proxy uses it.
//! What is said of mbarriers stands in `race/inits.rs`.
//! Accesses of one warp's lanes to the same bytes are ordered by what the warp meets at, not by their lockstep.
//! What an earlier launch did is ordered before all of this one where that has ended when this one begins; where it may
//! still run, only before what comes after a wait for it.
//! A missed race is possible (of each kind of reader only the last is kept); a report is always of two accesses that
//! nothing orders.

mod inits;

use std::cell::RefCell;
use std::collections::HashMap;

use crate::clock::{Agent, Clocks, Meet, Who};
use crate::machine::{Here, Machine};
use crate::mbarrier::BarrierAt;
use crate::problem::{Problem, Run};
use crate::program::Program;

/// Words of a page of shadow.
const PAGE: u64 = 1024;

/// The accesses of several launches, over one memory.
pub struct History<'a> {
    programs: Vec<&'a Program>,
    global: RefCell<Shadow>,
}

type Shadow = HashMap<(Area, u64), Box<[Cell]>>;

pub struct Races<'a> {
    pub clocks: Clocks,
    history: &'a History<'a>,
    /// Of the cluster's shared memory.
    shared: Shadow,
    /// Of its mbarriers.
    inits: HashMap<BarrierAt, inits::Init>,
    /// When this cluster began: what is older is of other clusters.
    began: u64,
    /// Until when the work of clusters before is known by an atomic operation; and when each place was last changed.
    known_until: u64,
    released: HashMap<u64, u64>,
}

/// A memory: of all CTAs, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    Global,
    Shared(usize),
}

/// What is accessed, and how.
#[derive(Clone, Copy)]
pub struct Touch {
    pub area: Area,
    pub address: u64,
    pub len: usize,
    pub write: bool,
    /// Does not race with its like.
    pub strong: bool,
    pub lane: usize,
    /// Asynchronous work: its agent and epoch; and whether it is of the asynchronous proxy.
    pub work: Option<(Who, u32, bool)>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    write: Mark,
    readers: Readers,
}

/// Who read a word since it was written, as far as is kept.
#[derive(Clone, Copy, Default)]
struct Readers {
    last: Mark,
    /// The last of another agent of the same cluster, of another cluster of the same launch, and of a launch before.
    agent: Mark,
    cluster: Mark,
    launch: Mark,
}

impl Readers {
    fn each(&self) -> [&Mark; 4] {
        [&self.last, &self.agent, &self.cluster, &self.launch]
    }

    /// One more, of the cluster that began at `began`; agents of clusters before have numbers of their own. An earlier
    /// launch that `may_run` still is kept before one that has ended.
    fn add(&mut self, mark: Mark, began: u64, may_run: impl Fn(u32) -> bool) {
        let before = std::mem::replace(&mut self.last, mark);
        if before.epoch == 0 {
            return;
        }
        if before.grid != mark.grid {
            if self.launch.epoch == 0 || !may_run(self.launch.grid) {
                self.launch = before;
            }
            (self.agent, self.cluster) = (Mark::default(), Mark::default());
        } else if before.time < began {
            self.cluster = before;
            self.agent = Mark::default();
        } else if before.agent != mark.agent {
            self.agent = before;
        }
    }
}

/// An access; epoch 0: none.
#[derive(Clone, Copy, Default)]
struct Mark {
    epoch: u32,
    agent: Agent,
    lane: u8,
    /// Bytes of the word.
    bytes: u8,
    strong: bool,
    /// By the asynchronous proxy; and whether it is not the warp itself that did it.
    proxy: bool,
    work: bool,
    pc: u32,
    /// The number of its launch; the warp that did or started it, and when.
    grid: u32,
    warp: (u16, u16),
    time: u64,
}

impl<'a> History<'a> {
    /// Of launches of these programs, in order.
    pub fn new(programs: Vec<&'a Program>) -> History<'a> {
        History { programs, global: RefCell::default() }
    }
}

impl<'a> Races<'a> {
    pub fn new(history: &'a History<'a>) -> Races<'a> {
        Races {
            clocks: Clocks::default(),
            history,
            shared: Shadow::default(),
            inits: HashMap::default(),
            began: 0,
            known_until: 0,
            released: HashMap::default(),
        }
    }

    pub fn begin(&mut self, now: u64) {
        self.clocks = Clocks::default();
        self.shared.clear();
        self.inits.clear();
        self.began = now;
    }
}

/// Why two accesses are unordered.
enum Gap {
    Order,
    Proxy,
    /// They are of two launches.
    Launches,
}

impl Machine<'_> {
    /// Records an access. Errors: one before that it is not ordered with.
    pub fn touch(&mut self, here: Here, touch: Touch) -> Run<()> {
        let pc = self.ctas[here.cta].warps[here.warp].fragments[here.fragment].pc;
        let (now, earlier) = (self.now, self.earlier);
        let grid = earlier.unknown.1;
        let Some(races) = &mut self.races else { return Ok(()) };
        let waits = races.clocks.agent(Who::EarlierGrids);
        let own = races.clocks.agent(Who::Warp(here.cta, here.warp));
        let own_epoch = races.clocks.warp(here.cta, here.warp).seen.get(own);
        let (agent, epoch, proxy) = match touch.work {
            Some((who, epoch, proxy)) => (races.clocks.agent(who), epoch, proxy),
            None => (own, own_epoch, false),
        };
        let mut mark = Mark {
            epoch,
            agent,
            lane: touch.lane as u8,
            bytes: 0,
            strong: touch.strong,
            proxy,
            work: touch.work.is_some(),
            pc,
            grid,
            warp: (here.cta as u16, here.warp as u16),
            time: now,
        };
        let mut conflict = None;
        let (began, known_until) = (races.began, races.known_until);
        let Races { clocks, history, shared, .. } = &mut **races;
        let mut global = history.global.borrow_mut();
        let shadow = if touch.area == Area::Global { &mut *global } else { shared };
        let knowledge = &*clocks.warp(here.cta, here.warp);
        let end = touch.address.saturating_add(touch.len as u64);
        let mut page: Option<(u64, &mut Box<[Cell]>)> = None;
        let mut word = touch.address / 4;
        while word * 4 < end && conflict.is_none() {
            let page_number = word / PAGE;
            if page.as_ref().is_none_or(|(number, _)| *number != page_number) {
                let cells = shadow.entry((touch.area, page_number));
                page =
                    Some((page_number, cells.or_insert_with(|| vec![Cell::default(); PAGE as usize].into())));
            }
            let Some((_, cells)) = &mut page else { break };
            let cell = &mut cells[(word % PAGE) as usize];
            let first = touch.address.max(word * 4) - word * 4;
            let last = (end - word * 4).min(4);
            mark.bytes = ((1u16 << last) - (1 << first)) as u8;
            let gap = |before: &Mark, was_write: bool| {
                if before.epoch == 0 || before.bytes & mark.bytes == 0 || before.strong && mark.strong {
                    return None;
                }
                if before.grid != grid {
                    let unknown = match knowledge.seen.get(waits) {
                        0 => earlier.unknown,
                        _ => earlier.unknown_after_wait,
                    };
                    let is_known = before.grid < grid && !(unknown.0..unknown.1).contains(&before.grid);
                    return (!is_known).then_some(Gap::Launches);
                }
                if before.time < began {
                    return (before.time > known_until).then_some(Gap::Order);
                }
                if before.agent == own && !before.work && !mark.work {
                    let lockstep = before.lane != mark.lane && before.epoch == own_epoch;
                    // Lanes that store at once are looked at by value.
                    let at_once = before.pc == mark.pc && before.time == mark.time;
                    return (lockstep && !at_once).then_some(Gap::Order);
                }
                if knowledge.seen.get(before.agent) < before.epoch {
                    return Some(Gap::Order);
                }
                let hidden = was_write
                    && mark.proxy
                    && !before.proxy
                    && knowledge.visible.get(before.agent) < before.epoch;
                hidden.then_some(Gap::Proxy)
            };
            if let Some(gap) = gap(&cell.write, true) {
                conflict = Some((cell.write, true, gap));
            } else if touch.write
                && let Some((reader, gap)) =
                    cell.readers.each().into_iter().find_map(|r| gap(r, false).map(|gap| (*r, gap)))
            {
                conflict = Some((reader, false, gap));
            }
            if touch.write {
                if cell.write.agent == mark.agent
                    && cell.write.epoch == mark.epoch
                    && cell.write.pc == mark.pc
                {
                    mark.bytes |= cell.write.bytes;
                }
                cell.write = mark;
            } else {
                cell.readers.add(mark, began, |grid| (earlier.unknown.0..earlier.unknown.1).contains(&grid));
            }
            word += 1;
        }
        drop(global);
        match conflict {
            None => Ok(()),
            Some((before, was_write, gap)) => Err(self.race(touch, before, was_write, gap)),
        }
    }

    fn race(&self, touch: Touch, before: Mark, was_write: bool, gap: Gap) -> Problem {
        let verb = |write: bool| if write { "writes" } else { "reads" };
        let memory = match touch.area {
            Area::Global => "global memory".to_string(),
            Area::Shared(cta) => format!("shared memory of CTA rank {cta}"),
        };
        let (cta, warp) = before.warp;
        let own_grid = self.earlier.unknown.1;
        let whose = if before.grid != own_grid {
            format!("launch {}", before.grid)
        } else if before.time < self.races.as_ref().map_or(0, |races| races.began) {
            "a CTA before".to_string()
        } else {
            format!("CTA rank {cta} warp {warp} lane {}", before.lane)
        };
        let programs = self.races.as_ref().map(|races| &races.history.programs);
        let program = programs.and_then(|all| all.get(before.grid as usize)).copied().unwrap_or(self.program);
        let place = program.place(before.pc);
        let missing = match gap {
            Gap::Launches => "no griddepcontrol.wait orders the two launches",
            Gap::Proxy => "no fence.proxy.async makes that visible to the asynchronous proxy",
            Gap::Order if before.work => "no wait says that it is done",
            Gap::Order => "nothing orders the two",
        };
        Problem::new(
            "sim-race",
            format!(
                "lane {} {} {} bytes at {:#x} of {memory}, which {place} of {whose} {}: {missing}",
                touch.lane,
                verb(touch.write),
                touch.len,
                touch.address,
                verb(was_write),
            ),
        )
    }

    /// An atomic operation, or one that is relaxed or stronger: hands on what is known at its place.
    pub fn hand_over(&mut self, here: Here, area: Area, address: u64) {
        let now = self.now;
        let Some(races) = &mut self.races else { return };
        let meet = match area {
            Area::Global => Meet::Global(address),
            Area::Shared(cta) => Meet::Shared(cta, address as u32),
        };
        races.clocks.leave(meet, here.cta, here.warp);
        races.clocks.arrive(meet, here.cta, here.warp);
        races.clocks.complete(meet);
        if area == Area::Global {
            let began = races.began;
            let before = races.released.insert(address, now).unwrap_or(0);
            if before < began {
                races.known_until = races.known_until.max(before);
            }
        }
    }

    pub fn arrives(&mut self, here: Here, meet: Meet) {
        if let Some(races) = &mut self.races {
            races.clocks.arrive(meet, here.cta, here.warp);
        }
    }

    pub fn completes(&mut self, meet: Meet) {
        if let Some(races) = &mut self.races {
            races.clocks.complete(meet);
        }
    }

    pub fn leaves(&mut self, here: Here, meet: Meet) {
        if let Some(races) = &mut self.races {
            races.clocks.leave(meet, here.cta, here.warp);
        }
    }

    /// The warp has waited for the agent's work up to an epoch.
    pub fn learns(&mut self, here: Here, who: Who, epoch: u64) {
        if let Some(races) = &mut self.races {
            races.clocks.learn(here.cta, here.warp, who, epoch as u32);
        }
    }

    /// Arrives with what the warp knows and, beyond that, an agent's work.
    pub fn vouches(&mut self, here: Here, who: Who, epoch: u64, meet: Meet) {
        if let Some(races) = &mut self.races {
            races.clocks.vouch(here.cta, here.warp, who, epoch as u32, meet);
        }
    }

    pub fn passes(&mut self, here: Here, proxy: bool) {
        if let Some(races) = &mut self.races {
            if proxy {
                races.clocks.proxy_fence(here.cta, here.warp);
            } else {
                races.clocks.next_epoch(here.cta, here.warp);
            }
        }
    }
}
