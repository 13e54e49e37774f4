//! Runs one instruction with effects for some lanes of a warp.

pub mod atomic;
mod collective;
mod copy;
mod matrix;
pub mod memory;
mod special;

use crate::clock::Who;
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run};
use crate::program::Body;
use crate::warp::Waiting;

impl Machine<'_> {
    /// `mask`: the lanes that are here; `active`: those of them for which the guard holds, at least one.
    pub fn effect(&mut self, here: Here, body: &Body, mask: u32, active: u32) -> Run<Outcome> {
        match body {
            Body::Map(_) | Body::Branch { .. } | Body::Exit => {
                unreachable!("invariant: the machine runs these")
            }
            Body::Special { d, special } => self.special(here, *d, *special, active),
            Body::Trap => Err(Problem::new("sim-trap", "the program stopped itself")),
            Body::Hint | Body::Fence => Ok(Outcome::Next),
            Body::ProxyFence => {
                self.passes(here, true);
                Ok(Outcome::Next)
            }
            Body::InitFence => {
                self.fences_inits(here);
                Ok(Outcome::Next)
            }
            Body::Sleep => Ok(Outcome::Yield),
            Body::LetDependents => {
                self.ctas[here.cta].lets_dependents = true;
                Ok(Outcome::Next)
            }
            Body::WaitForGrids if !self.earlier.is_done => Ok(Outcome::Wait(Waiting::Grids)),
            Body::WaitForGrids => {
                self.has_waited = true;
                self.learns(here, Who::EarlierGrids, 1);
                Ok(Outcome::Next)
            }
            Body::Load(load) => self.load(here, load, active),
            Body::Store(store) => self.store(here, store, active),
            Body::Atomic(atomic) => self.atomic(here, atomic, active),
            Body::Window { space, to_space, d, a } => self.window(here, *space, *to_space, *d, *a, active),
            Body::IsSpace { space, p, a } => self.is_space(here, *space, *p, *a, active),
            Body::Mapa { generic, d, a, rank } => self.mapa(here, *generic, [*d, *a, *rank], active),
            Body::CtaRank { generic, d, a } => self.cta_rank(here, *generic, *d, *a, active),
            Body::Shuffle { mode, d, p, a, b, clamp, mask: named } => {
                self.shuffle(here, *mode, (*d, *p), [*a, *b, *clamp, *named], mask, active)
            }
            Body::Vote { mode, p, a, mask: named } => self.vote(here, *mode, (*p, *a, *named), mask, active),
            Body::Ballot { d, a, mask: named } => self.ballot(here, *d, *a, *named, mask, active),
            Body::Match { all, d, p, a, mask: named } => {
                self.match_lanes(here, *all, (*d, *p), [*a, *named], mask, active)
            }
            Body::Redux { op, ty, d, a, mask: named } => {
                self.redux(here, *op, *ty, [*d, *a, *named], mask, active)
            }
            Body::ActiveMask { d } => {
                let warp = &mut self.ctas[here.cta].warps[here.warp];
                warp.set(*d, active, &[active as u64; 32]);
                Ok(Outcome::Next)
            }
            Body::Elect { d, p, mask: named } => self.elect(here, *d, *p, *named, mask, active),
            Body::WarpSync { mask: named } => self.warp_sync(here, *named, mask, active),
            Body::Barrier(barrier) => self.barrier(here, barrier, mask, active),
            Body::Copy(copy) => self.copy(here, copy, active),
            Body::CopyCommit => {
                self.ctas[here.cta].warps[here.warp].copies.commit(active);
                Ok(Outcome::Next)
            }
            Body::CopyArrive { noinc, at } => self.copy_arrive(here, *noinc, *at, active),
            Body::Mbarrier(o) => self.mbarrier(here, o, active),
            Body::PendingCount { d, state } => self.pending_count(here, *d, *state, active),
            Body::ClusterArrive { aligned, release } => {
                self.cluster_arrive(here, (*aligned, *release), mask, active)
            }
            Body::ClusterWait { aligned } => self.cluster_wait(here, *aligned, mask),
            Body::Bulk(o) => self.bulk(here, o, active),
            Body::ToPeer(o) => self.send_to_peer(here, o, active),
            Body::StAsync(o) => self.st_async(here, o, active),
            Body::BulkCommit => {
                let warp = &mut self.ctas[here.cta].warps[here.warp];
                warp.bulk_reads.commit(active);
                warp.bulk_writes.commit(active);
                Ok(Outcome::Next)
            }
            Body::BulkWait { read, groups } => {
                let warp = &self.ctas[here.cta].warps[here.warp];
                let copies = if *read { &warp.bulk_reads } else { &warp.bulk_writes };
                if !copies.is_done(active, Some(*groups)) {
                    return Ok(Outcome::Wait(Waiting::Bulk { groups: *groups }));
                }
                let known = copies.closed().saturating_sub(*groups as u64);
                self.learns(here, Who::BulkReads(here.cta, here.warp), known);
                if !read {
                    self.learns(here, Who::BulkWrites(here.cta, here.warp), known);
                }
                Ok(Outcome::Next)
            }
            Body::Wgmma(o) => self.wgmma(here, o, mask, active),
            Body::WgmmaFence => self.wgmma_fence(here, mask, active),
            Body::WgmmaCommit => self.wgmma_commit(here, mask, active),
            Body::WgmmaWait { groups } => self.wgmma_wait(here, *groups, mask, active),
            Body::CopyWait { groups } => {
                let copies = &mut self.ctas[here.cta].warps[here.warp].copies;
                if !copies.is_done(active, *groups) {
                    return Ok(Outcome::Wait(Waiting::Copies { groups: groups.unwrap_or(0) }));
                }
                if groups.is_none() {
                    copies.commit(active);
                }
                let known = copies.closed().saturating_sub(groups.unwrap_or(0) as u64);
                self.learns(here, Who::Copies(here.cta, here.warp), known);
                Ok(Outcome::Next)
            }
            Body::Ldmatrix { trans, d, at } => self.ldmatrix(here, *trans, d, *at, mask, active),
            Body::Stmatrix { trans, a, at } => self.stmatrix(here, *trans, a, *at, mask, active),
            Body::Movmatrix { d, a } => self.movmatrix(here, *d, *a, mask, active),
            Body::Mma(mma) => self.mma(here, mma, mask, active),
            Body::Registers { count, grow } => self.set_registers(here, *count, *grow, mask, active),
        }
    }

    /// All lanes of the warp must run this together: `Some` says whom to wait for.
    pub fn whole_warp(&self, here: Here, mask: u32, active: u32) -> Run<Option<Outcome>> {
        let warp = &self.ctas[here.cta].warps[here.warp];
        if mask != warp.live {
            return Ok(Some(Outcome::Wait(Waiting::Lanes(warp.live & !mask))));
        }
        if active != u32::MAX {
            let message = format!("needs all 32 lanes of the warp, of which {active:#010x} run it");
            return Err(Problem::new("sim-divergent", message));
        }
        Ok(None)
    }
}
