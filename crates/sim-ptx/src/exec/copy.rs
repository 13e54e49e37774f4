//! `cp.async`: each lane copies up to 16 bytes from global to shared memory, later.

use crate::clock::{Meet, Who};
use crate::events::{Move, Work};
use crate::exec::memory::check_alignment;
use crate::lanes::lanes;
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run, of_lane};
use crate::program::{At, Copy, Space};
use crate::race::{Area, Touch};

impl Machine<'_> {
    pub fn copy(&mut self, here: Here, o: &Copy, active: u32) -> Run<Outcome> {
        let program = self.program;
        let warp = &self.ctas[here.cta].warps[here.warp];
        let (to, from) = (warp.addresses(program, o.d, active)?, warp.addresses(program, o.a, active)?);
        check_alignment(&to, active, o.size as usize)?;
        check_alignment(&from, active, o.size as usize)?;
        let read = match o.source_size {
            Some(row) => *warp.get(program, row, active)?,
            None => [o.size as u64; 32],
        };
        let mut moves = Vec::with_capacity(32);
        for lane in lanes(active) {
            if read[lane] > o.size as u64 {
                let message = format!("lane {lane} reads {} bytes of a copy of {}", read[lane], o.size);
                return Err(Problem::new("sim-program", message));
            }
            moves.push(Move {
                lane,
                from: from[lane],
                to: to[lane] as u32,
                read: read[lane] as usize,
                written: o.size as usize,
            });
        }
        if self.races.is_some() {
            let who = Who::Copies(here.cta, here.warp);
            let group = self.ctas[here.cta].warps[here.warp].copies.closed() as u32 + 1;
            for step in &moves {
                let touch = Touch {
                    area: Area::Global,
                    address: step.from,
                    len: step.read,
                    write: false,
                    strong: false,
                    lane: step.lane,
                    work: Some((who, group, false)),
                };
                self.touch(here, touch)?;
                let area = Area::Shared(here.cta);
                let touch = Touch { area, address: step.to as u64, len: step.written, write: true, ..touch };
                self.touch(here, touch)?;
            }
        }
        let asked: Vec<u64> = moves.iter().filter(|step| step.read > 0).map(|step| step.from).collect();
        self.counters.global(&asked, o.size as usize);
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let pc = warp.fragments[here.fragment].pc;
        let (group, serial) = warp.copies.issue_serial(active);
        self.start(Work::Copy { cta: here.cta, warp: here.warp, group, serial, pc, moves })?;
        Ok(Outcome::Next)
    }

    pub fn copy_arrive(&mut self, here: Here, noinc: bool, at: At, active: u32) -> Run<Outcome> {
        let addresses = self.ctas[here.cta].warps[here.warp].addresses(self.program, at, active)?;
        for lane in lanes(active) {
            let at = self.barrier_at(here, Space::Shared, addresses[lane]).map_err(|p| of_lane(p, lane))?;
            self.uses_barrier(here, at, lane, false).map_err(|p| of_lane(p, lane))?;
            // Those who wait for the barrier know of the copies.
            let closed = self.ctas[here.cta].warps[here.warp].copies.closed();
            self.vouches(here, Who::Copies(here.cta, here.warp), closed + 1, Meet::Mbarrier(at));
            if !noinc {
                self.await_more(at, 1).map_err(|p| of_lane(p, lane))?;
            }
            if !self.ctas[here.cta].warps[here.warp].copies.arrive_later(at, 1) {
                self.arrive(at, 1).map_err(|p| of_lane(p, lane))?;
            }
        }
        Ok(Outcome::Next)
    }
}
