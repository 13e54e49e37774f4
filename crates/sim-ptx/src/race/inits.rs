//! Mbarriers that are used where their initialisation is not to be seen. A warp sees it after a synchronisation with the
//! one that initialised; the asynchronous proxy, and who comes by an arrival that is relaxed, only after a fence:
//! `fence.mbarrier_init` of the warp that initialised, or of the proxy (PTX ISA, "membar / fence").

use crate::clock::Agent;
use crate::machine::{Here, Machine};
use crate::mbarrier::BarrierAt;
use crate::problem::{Problem, Run};

/// Who initialised an mbarrier, and when.
#[derive(Clone, Copy)]
pub struct Init {
    agent: Agent,
    epoch: u32,
    warp: (usize, usize),
    lane: usize,
    pc: u32,
}

impl Machine<'_> {
    pub fn initialises(&mut self, here: Here, at: BarrierAt, lane: usize) {
        let pc = self.ctas[here.cta].warps[here.warp].fragments[here.fragment].pc;
        let Some(races) = &mut self.races else { return };
        let (agent, epoch) = races.clocks.now(here.cta, here.warp);
        races.inits.insert(at, Init { agent, epoch, warp: (here.cta, here.warp), lane, pc });
    }

    /// The warp arrives at an mbarrier, waits for it or changes it; `by_proxy`: an asynchronous copy will. Errors: it
    /// may find no mbarrier there.
    pub fn uses_barrier(&mut self, here: Here, at: BarrierAt, lane: usize, by_proxy: bool) -> Run<()> {
        let Some(races) = &mut self.races else { return Ok(()) };
        let Some(init) = races.inits.get(&at).copied() else { return Ok(()) };
        let (own, now) = races.clocks.now(here.cta, here.warp);
        let knowledge = races.clocks.warp(here.cta, here.warp);
        let is_fenced = knowledge.inits.get(init.agent) >= init.epoch;
        let is_seen = match init.agent == own {
            true => init.lane == lane || now > init.epoch,
            false => is_fenced || knowledge.seen.get(init.agent) >= init.epoch,
        };
        let missing = match by_proxy {
            _ if !is_seen => "nothing orders the two",
            true if !is_fenced && knowledge.visible.get(init.agent) < init.epoch => {
                "no fence.mbarrier_init makes that visible to the asynchronous proxy"
            }
            _ => return Ok(()),
        };
        let place = self.program.place(init.pc);
        let (cta, warp) = init.warp;
        Err(Problem::new(
            "sim-race",
            format!(
                "uses the mbarrier at {:#x} of CTA rank {}, which {place} of CTA rank {cta} warp {warp} lane {} \
                 initialises: {missing}",
                at.1, at.0, init.lane
            ),
        ))
    }

    /// What the warp's threads have initialised is to be seen by all who come after.
    pub fn fences_inits(&mut self, here: Here) {
        if let Some(races) = &mut self.races {
            races.clocks.init_fence(here.cta, here.warp);
        }
    }

    /// Arrives at the cluster's barrier without what the warp did, but for what it has fenced.
    pub fn arrives_relaxed(&mut self, here: Here) {
        if let Some(races) = &mut self.races {
            races.clocks.arrive_relaxed(crate::clock::Meet::Cluster, here.cta, here.warp);
        }
    }
}
