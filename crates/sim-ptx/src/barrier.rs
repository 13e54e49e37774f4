//! Named barriers of a CTA.

use crate::clock::Meet;
use crate::lanes::{lanes, ones};
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run};
use crate::program::{Barrier, BarrierKind};
use crate::warp::Waiting;

/// How many results of past generations are kept for warps that were slow to see them.
const KEPT: usize = 8;

#[derive(Default)]
pub struct Named {
    /// Threads that have arrived in this generation; whole warps count 32.
    arrived: u32,
    /// As the first one to arrive has said; 0: all threads of the CTA.
    expected: u32,
    generation: u64,
    /// Votes of this generation: true ones, and all.
    votes: (u32, u32),
    results: [(u32, u32); KEPT],
}

impl Machine<'_> {
    pub fn barrier(&mut self, here: Here, b: &Barrier, mask: u32, active: u32) -> Run<Outcome> {
        let program = self.program;
        let cta = &mut self.ctas[here.cta];
        let everyone = 32 * cta.warps.iter().filter(|warp| warp.live != 0).count() as u32;
        let warp = &cta.warps[here.warp];
        if b.aligned && mask != warp.live {
            return Ok(Outcome::Wait(Waiting::Lanes(warp.live & !mask)));
        }
        if b.aligned && active != mask {
            return Err(Problem::new("sim-divergent", "only some lanes of the warp run an aligned barrier"));
        }
        let id = warp.uniform(program, b.id, active)? as u32;
        let threads = match b.threads {
            Some(row) => warp.uniform(program, row, active)? as u32,
            None => 0,
        };
        let ticket = warp.fragments[here.fragment].ticket;
        let votes = match &b.reduce {
            Some(reduce) => (warp.guard(program, reduce.p, active)?.count_ones(), active.count_ones()),
            None => (0, 0),
        };
        let arriving = if active == warp.live { 32 } else { active.count_ones() };
        let Some(barrier) = cta.barriers.get_mut(id as usize) else {
            return Err(Problem::new(
                "sim-barrier",
                format!("barrier {id} does not exist: they are 0 to 15"),
            ));
        };
        let mut arrived_now = false;
        let ticket = if ticket == 0 {
            if barrier.arrived == 0 {
                barrier.expected = threads;
            } else if barrier.expected != threads {
                return Err(Problem::new(
                    "sim-barrier",
                    format!(
                        "barrier {id} is for {} threads here and for {} elsewhere",
                        count(threads),
                        count(barrier.expected)
                    ),
                ));
            }
            barrier.arrived += arriving;
            barrier.votes = (barrier.votes.0 + votes.0, barrier.votes.1 + votes.1);
            self.effects += 1;
            arrived_now = true;
            barrier.generation + 1
        } else {
            ticket
        };
        let ended = barrier.finish_if_full(id, everyone)?;
        let (generation, arrived) = (barrier.generation, barrier.arrived);
        let expected = if barrier.expected == 0 { everyone } else { barrier.expected };
        let (yes, all) = barrier.results[ticket as usize % KEPT];
        let meet = Meet::Named(here.cta, id);
        if arrived_now {
            self.arrives(here, meet);
        }
        if ended {
            self.completes(meet);
        }
        if b.arrive {
            return Ok(Outcome::Next);
        }
        if generation >= ticket {
            self.leaves(here, meet);
        }
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        if generation < ticket {
            warp.fragments[here.fragment].ticket = ticket;
            return Ok(Outcome::Wait(Waiting::Barrier { id, arrived, expected }));
        }
        if let Some(reduce) = &b.reduce {
            let value = match reduce.kind {
                BarrierKind::Count => yes as u64,
                BarrierKind::All => (yes == all) as u64,
                BarrierKind::Any => (yes != 0) as u64,
            };
            warp.set(reduce.d, active, &[value; 32]);
        }
        Ok(Outcome::Next)
    }
}

fn count(threads: u32) -> String {
    if threads == 0 { "all".to_string() } else { threads.to_string() }
}

impl Named {
    /// Whether it was.
    fn finish_if_full(&mut self, id: u32, everyone: u32) -> Run<bool> {
        let expected = if self.expected == 0 { everyone } else { self.expected };
        if self.arrived == 0 || self.arrived < expected {
            return Ok(false);
        }
        if self.arrived > expected {
            return Err(Problem::new(
                "sim-barrier",
                format!("{} threads arrive at barrier {id}, which is for {expected}", self.arrived),
            ));
        }
        self.generation += 1;
        self.results[self.generation as usize % KEPT] = self.votes;
        self.arrived = 0;
        self.votes = (0, 0);
        Ok(true)
    }
}

/// Lanes that a `.sync` instruction names must be there: `None` where they are, else who is missing.
pub fn missing(live: u32, mask: u32, wanted: u32) -> Run<Option<Waiting>> {
    let gone = wanted & !live;
    if gone != 0 {
        let lane = lanes(gone).next().unwrap_or(0);
        return Err(Problem::new("sim-divergent", format!("its mask names lane {lane}, which has ended")));
    }
    let missing = wanted & !mask & ones(32) as u32;
    Ok((missing != 0).then_some(Waiting::Lanes(missing)))
}
