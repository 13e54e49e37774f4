//! What is under way: asynchronous work that is done at a time of its own.

use std::collections::BTreeMap;

use crate::bulk::Bulk;
use crate::launch::Stopped;
use crate::machine::Machine;
use crate::problem::{Run, of_lane};

/// Work that no warp does.
pub enum Work {
    /// `cp.async` of some lanes: from, to, bytes that are read and bytes that are written, by lane.
    Copy {
        cta: usize,
        warp: usize,
        group: u64,
        serial: u64,
        pc: u32,
        moves: Vec<Move>,
    },
    Bulk(Issuer, Box<Bulk>),
    /// The next product of a warp.
    Product {
        cta: usize,
        warp: usize,
        pc: u32,
    },
}

/// Who started it.
#[derive(Clone, Copy)]
pub struct Issuer {
    pub cta: usize,
    pub warp: usize,
    pub lane: usize,
    pub pc: u32,
}

/// A copy from global to shared memory, zeros behind `read` bytes.
#[derive(Clone, Copy)]
pub struct Move {
    pub lane: usize,
    pub from: u64,
    pub to: u32,
    pub read: usize,
    pub written: usize,
}

#[derive(Default)]
pub struct Events {
    /// By the time when it is done; work of one time in the order of its issue.
    queue: BTreeMap<(u64, u64), Work>,
    issued: u64,
}

impl Events {
    pub fn push(&mut self, due: u64, work: Work) {
        self.issued += 1;
        self.queue.insert((due, self.issued), work);
    }

    fn pop(&mut self, now: u64) -> Option<Work> {
        let first = self.queue.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Moves the clock to the next event; `false`: there is none.
    pub fn skip_to_next(&self, now: &mut u64) -> bool {
        match self.queue.first_key_value() {
            Some(((due, _), _)) => {
                *now = (*now).max(*due);
                true
            }
            None => false,
        }
    }
}

impl Machine<'_> {
    /// Starts work: it is done at once, or at a random later time where the launch has a seed.
    pub fn start(&mut self, work: Work) -> Run<()> {
        match self.launch.options.seed {
            None => self.perform(work),
            Some(_) => {
                let due = self.now + 1 + self.random.below(self.launch.options.max_delay.max(1));
                self.events.push(due, work);
                Ok(())
            }
        }
    }

    /// Does what is due; whether there was anything.
    pub fn deliver(&mut self) -> Result<bool, Stopped> {
        let mut any = false;
        while let Some(work) = self.events.pop(self.now) {
            self.perform_or_report(work)?;
            any = true;
        }
        Ok(any)
    }

    /// Does all that is under way.
    pub fn drain(&mut self) -> Result<(), Stopped> {
        while self.events.skip_to_next(&mut self.now) {
            self.deliver()?;
        }
        Ok(())
    }

    fn perform_or_report(&mut self, work: Work) -> Result<(), Stopped> {
        let (cta, warp, pc) = work.issuer();
        self.perform(work).map_err(|problem| {
            let [x, y, z] = self.ctas[cta].id;
            let place = format!("{}, CTA ({x}, {y}, {z}), warp {warp}", self.program.place(pc));
            let found = tegula_base::Diagnostic::error(problem.code, format!("{place}: {}", problem.message));
            problem.notes.into_iter().fold(found, tegula_base::Diagnostic::note).into()
        })
    }

    fn perform(&mut self, work: Work) -> Run<()> {
        self.effects += 1;
        match work {
            Work::Bulk(issuer, bulk) => self.perform_bulk(issuer, *bulk).map_err(|p| of_lane(p, issuer.lane)),
            Work::Product { cta, warp, .. } => self.perform_product(cta, warp),
            Work::Copy { cta, warp, group, serial, moves, .. } => {
                for step in moves {
                    let mut bytes = [0; 16];
                    let into = &mut bytes[..step.read];
                    self.memory.read(step.from, into).map_err(|e| crate::problem::outside(e, step.lane))?;
                    let cta = &mut self.ctas[cta];
                    cta.shared.write(step.to, &bytes[..step.written]).map_err(|p| of_lane(p, step.lane))?;
                }
                let done = self.ctas[cta].warps[warp].copies.complete_serial(group, serial);
                done.into_iter().try_for_each(|(at, count)| self.arrive(at, count))
            }
        }
    }
}

impl Work {
    /// CTA, warp and instruction that started it.
    fn issuer(&self) -> (usize, usize, u32) {
        match self {
            Work::Copy { cta, warp, pc, .. } | Work::Product { cta, warp, pc } => (*cta, *warp, *pc),
            Work::Bulk(issuer, _) => (issuer.cta, issuer.warp, issuer.pc),
        }
    }
}
