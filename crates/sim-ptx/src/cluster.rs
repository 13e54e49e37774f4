//! The barrier of a cluster: threads arrive, go on, and later wait for all the others.

use crate::clock::Meet;
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run};
use crate::warp::Waiting;

#[derive(Default)]
pub struct ClusterBarrier {
    generation: u64,
}

impl Machine<'_> {
    /// Flags: whether all lanes come together, and whether what they did is to be seen.
    pub fn cluster_arrive(
        &mut self,
        here: Here,
        (aligned, release): (bool, bool),
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        if aligned && mask != warp.live {
            return Ok(Outcome::Wait(Waiting::Lanes(warp.live & !mask)));
        }
        if warp.cluster_arrived & active != 0 {
            return Err(Problem::new(
                "sim-barrier",
                "arrives at the cluster's barrier twice, without a wait between",
            ));
        }
        warp.cluster_arrived |= active;
        warp.cluster_ticket = self.cluster.generation + 1;
        self.effects += 1;
        if release {
            self.arrives(here, Meet::Cluster);
        } else {
            self.arrives_relaxed(here);
        }
        self.end_cluster_generation();
        Ok(Outcome::Next)
    }

    pub fn cluster_wait(&mut self, here: Here, aligned: bool, mask: u32) -> Run<Outcome> {
        self.end_cluster_generation();
        let generation = self.cluster.generation;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        if aligned && mask != warp.live {
            return Ok(Outcome::Wait(Waiting::Lanes(warp.live & !mask)));
        }
        if warp.cluster_ticket == 0 {
            return Err(Problem::new(
                "sim-barrier",
                "waits at the cluster's barrier, where it has not arrived",
            ));
        }
        if generation < warp.cluster_ticket {
            return Ok(Outcome::Wait(Waiting::Cluster));
        }
        self.leaves(here, Meet::Cluster);
        Ok(Outcome::Next)
    }

    /// All threads of the cluster that have not ended must have arrived.
    fn end_cluster_generation(&mut self) {
        let mut warps = self.ctas.iter().flat_map(|cta| &cta.warps);
        let is_full = warps.clone().all(|warp| warp.live & !warp.cluster_arrived == 0);
        if is_full && warps.any(|warp| warp.cluster_arrived != 0) {
            self.cluster.generation += 1;
            self.completes(Meet::Cluster);
            for warp in self.ctas.iter_mut().flat_map(|cta| &mut cta.warps) {
                warp.cluster_arrived = 0;
            }
        }
    }
}
