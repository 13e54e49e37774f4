//! Who knows of whose work: vector clocks of warps and of asynchronous work (Lamport; Flanagan and Freund, "FastTrack").
//! An agent is a warp, or a source of asynchronous work whose parts end in order: an mbarrier's phases, a warp's
//! groups. A warp's `seen` says up to which of an agent's epochs it comes after; `visible` says the same of what the
//! asynchronous proxy will find written, which only a proxy fence raises; `inits` of the mbarriers that all will find, by
//! `fence.mbarrier_init`.

use std::collections::HashMap;

use crate::mbarrier::BarrierAt;

pub type Agent = u16;
/// Epochs of agents; those beyond its end are 0.
#[derive(Clone, Debug, Default)]
pub struct Clock(Vec<u32>);

/// What is known along with a synchronisation.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    pub seen: Clock,
    pub visible: Clock,
    pub inits: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// CTA of the cluster, warp.
    Warp(usize, usize),
    /// Phases of an mbarrier.
    Barrier(BarrierAt),
    /// Groups of a warp's `cp.async`.
    Copies(usize, usize),
    /// Groups of a warp's bulk copies: what they have read, what they have written.
    BulkReads(usize, usize),
    BulkWrites(usize, usize),
    /// Groups of a warp's `wgmma`.
    Products(usize, usize),
    /// Of epoch 1, what the grids that this one depends on did: known after a wait for them.
    EarlierGrids,
}

impl Clock {
    pub fn get(&self, agent: Agent) -> u32 {
        self.0.get(agent as usize).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, agent: Agent, epoch: u32) {
        if self.0.len() <= agent as usize {
            self.0.resize(agent as usize + 1, 0);
        }
        let mine = &mut self.0[agent as usize];
        *mine = epoch.max(*mine);
    }

    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*other);
        }
    }
}

impl Knowledge {
    pub fn join(&mut self, other: &Knowledge) {
        self.seen.join(&other.seen);
        self.visible.join(&other.visible);
        self.inits.join(&other.inits);
    }
}

/// A meeting place: what arrivals bring, and what is given to those who wait for the end of a generation.
#[derive(Clone, Debug, Default)]
pub struct Meeting {
    gathered: Knowledge,
    given: Knowledge,
}

/// All clocks of a cluster.
#[derive(Default)]
pub struct Clocks {
    numbers: HashMap<Who, Agent>,
    pub agents: Vec<Who>,
    warps: HashMap<(usize, usize), Knowledge>,
    meetings: HashMap<Meet, Meeting>,
}

/// Where knowledge is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meet {
    /// CTA, number.
    Named(usize, u32),
    Mbarrier(BarrierAt),
    Cluster,
    /// Shared memory of a CTA, or global memory, by address: an atomic operation.
    Shared(usize, u32),
    Global(u64),
}

impl Clocks {
    pub fn agent(&mut self, who: Who) -> Agent {
        let next = self.agents.len() as Agent;
        let agent = *self.numbers.entry(who).or_insert(next);
        if agent == next {
            self.agents.push(who);
        }
        agent
    }

    /// What a warp knows; at first, of its own first epoch.
    pub fn warp(&mut self, c: usize, w: usize) -> &mut Knowledge {
        let own = self.agent(Who::Warp(c, w));
        self.warps.entry((c, w)).or_insert_with(|| {
            let mut knowledge = Knowledge::default();
            knowledge.seen.raise(own, 1);
            knowledge
        })
    }

    /// What the warp does from now on is not known to those who learn what it knew until now.
    pub fn next_epoch(&mut self, c: usize, w: usize) {
        let own = self.agent(Who::Warp(c, w));
        let knowledge = self.warp(c, w);
        let epoch = knowledge.seen.get(own);
        knowledge.seen.raise(own, epoch + 1);
    }

    pub fn proxy_fence(&mut self, c: usize, w: usize) {
        let knowledge = self.warp(c, w);
        knowledge.visible.join(&knowledge.seen);
        self.next_epoch(c, w);
    }

    /// A warp as an agent, and its epoch.
    pub fn now(&mut self, c: usize, w: usize) -> (Agent, u32) {
        let own = self.agent(Who::Warp(c, w));
        (own, self.warp(c, w).seen.get(own))
    }

    /// Of `fence.mbarrier_init`: what the warp itself has initialised.
    pub fn init_fence(&mut self, c: usize, w: usize) {
        let (own, epoch) = self.now(c, w);
        self.warp(c, w).inits.raise(own, epoch);
        self.next_epoch(c, w);
    }

    /// Brings what fences have made visible to all.
    pub fn arrive_relaxed(&mut self, meet: Meet, c: usize, w: usize) {
        let inits = self.warp(c, w).inits.clone();
        self.meetings.entry(meet).or_default().gathered.inits.join(&inits);
    }

    /// Brings the warp's knowledge.
    pub fn arrive(&mut self, meet: Meet, c: usize, w: usize) {
        let knowledge = self.warp(c, w).clone();
        self.meetings.entry(meet).or_default().gathered.join(&knowledge);
        self.next_epoch(c, w);
    }

    /// Brings, too, an agent's work that the warp itself has not waited for.
    pub fn vouch(&mut self, c: usize, w: usize, who: Who, epoch: u32, meet: Meet) {
        let agent = self.agent(who);
        self.arrive(meet, c, w);
        self.meetings.entry(meet).or_default().gathered.seen.raise(agent, epoch);
    }

    /// What was brought is given to those who wait.
    pub fn complete(&mut self, meet: Meet) {
        let meeting = self.meetings.entry(meet).or_default();
        let gathered = meeting.gathered.clone();
        meeting.given.join(&gathered);
    }

    pub fn leave(&mut self, meet: Meet, c: usize, w: usize) {
        let given = self.meetings.entry(meet).or_default().given.clone();
        self.warp(c, w).join(&given);
    }

    /// The warp comes after the agent's epochs up to this one.
    pub fn learn(&mut self, c: usize, w: usize, who: Who, epoch: u32) {
        let agent = self.agent(who);
        self.warp(c, w).seen.raise(agent, epoch);
    }
}
