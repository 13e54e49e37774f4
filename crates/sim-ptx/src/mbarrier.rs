//! Barriers in shared memory that count arrivals and bytes.
//! A phase ends when no arrival is pending and as many bytes have come as were expected; the number of phases that
//! have ended is kept whole, its lowest bit is the parity that waits name.

use crate::clock::{Meet, Who};
use crate::exec::memory::Place;
use crate::lanes::lanes;
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run, of_lane};
use crate::program::{At, Guard, Row, Space};
use crate::warp::Waiting;

/// Arrivals and bytes that a barrier can count (PTX ISA, "Contents of the mbarrier object").
const MOST: i64 = (1 << 20) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// Arrivals of each phase.
    pub count: i64,
    pub pending: i64,
    /// Bytes expected less bytes that have come.
    pub bytes: i64,
    /// Phases that have ended.
    pub phase: u64,
}

/// Where an mbarrier is: CTA of the cluster, address.
pub type BarrierAt = (usize, u32);

/// An instruction on an mbarrier, for each lane.
pub enum MbarrierStep {
    Init {
        count: Row,
    },
    Inval,
    Expect {
        bytes: Row,
    },
    Complete {
        bytes: Row,
    },
    /// `count` arrivals, 1 where it is missing; `expect`: bytes are added first; `drop`: later phases wait for fewer.
    Arrive {
        count: Option<Row>,
        expect: Option<Row>,
        drop: bool,
        completes: bool,
        state: Option<Row>,
    },
    /// `parity` or state; `blocks`: may wait a while.
    Wait {
        done: Row,
        parity: bool,
        value: Row,
        blocks: bool,
    },
}

pub struct MbarrierOp {
    pub space: Space,
    pub at: At,
    pub step: MbarrierStep,
}

/// The phase in a state that an arrival gave; arrivals that were pending are below.
const PHASE_SHIFT: u32 = 24;

impl Machine<'_> {
    pub fn mbarrier(&mut self, here: Here, o: &MbarrierOp, active: u32) -> Run<Outcome> {
        let addresses = self.ctas[here.cta].warps[here.warp].addresses(self.program, o.at, active)?;
        if let MbarrierStep::Wait { done, parity, value, blocks } = &o.step {
            let guard = Guard { row: *done, negated: *parity };
            return self.mbarrier_wait(here, o.space, &addresses, guard, *value, *blocks, active);
        }
        for lane in lanes(active) {
            let at = self.barrier_at(here, o.space, addresses[lane]).map_err(|p| of_lane(p, lane))?;
            if !matches!(o.step, MbarrierStep::Init { .. }) {
                self.uses_barrier(here, at, lane, false).map_err(|p| of_lane(p, lane))?;
            }
            self.mbarrier_lane(here, &o.step, at, lane).map_err(|p| of_lane(p, lane))?;
        }
        Ok(Outcome::Next)
    }

    /// Arrivals that were pending in a state.
    pub fn pending_count(&mut self, here: Here, d: Row, state: Row, active: u32) -> Run<Outcome> {
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let states = *warp.get(self.program, state, active)?;
        warp.set(d, active, &states.map(|state| state & ((1 << PHASE_SHIFT) - 1)));
        Ok(Outcome::Next)
    }

    fn operand(&self, here: Here, row: Row, lane: usize) -> Run<i64> {
        let warp = &self.ctas[here.cta].warps[here.warp];
        Ok(warp.get(self.program, row, 1 << lane)?[lane] as i64)
    }

    fn mbarrier_lane(&mut self, here: Here, step: &MbarrierStep, at: BarrierAt, lane: usize) -> Run<()> {
        self.effects += 1;
        match step {
            MbarrierStep::Init { count } => {
                let count = self.operand(here, *count, lane)?;
                if !(1..=MOST).contains(&count) {
                    return Err(Problem::new(
                        "sim-mbarrier",
                        format!("an mbarrier counts 1 to {MOST}, not {count}"),
                    ));
                }
                let barrier = Mbarrier { count, pending: count, bytes: 0, phase: 0 };
                self.initialises(here, at, lane);
                self.ctas[at.0].shared.add_barrier(at.1, barrier)
            }
            MbarrierStep::Inval => self.ctas[at.0].shared.remove_barrier(at.1),
            MbarrierStep::Expect { bytes } => {
                let bytes = self.operand(here, *bytes, lane)?;
                self.change_bytes(at, bytes)
            }
            MbarrierStep::Complete { bytes } => {
                let bytes = self.operand(here, *bytes, lane)?;
                self.change_bytes(at, -bytes)
            }
            MbarrierStep::Arrive { count, expect, drop, completes, state } => {
                let count = match count {
                    Some(row) => self.operand(here, *row, lane)?,
                    None => 1,
                };
                if let Some(expect) = expect {
                    let bytes = self.operand(here, *expect, lane)?;
                    self.ctas[at.0].shared.barrier(at.1)?.bytes += bytes;
                }
                self.arrives(here, Meet::Mbarrier(at));
                let barrier = self.ctas[at.0].shared.barrier(at.1)?;
                let before = barrier.phase << PHASE_SHIFT | barrier.pending as u64;
                barrier.count -= if *drop { count } else { 0 };
                let phase = barrier.phase;
                self.arrive(at, count)?;
                if !completes && self.ctas[at.0].shared.barrier(at.1)?.phase != phase {
                    return Err(Problem::new(
                        "sim-mbarrier",
                        "ends the phase, though it says that it does not",
                    ));
                }
                if let Some(state) = state {
                    let warp = &mut self.ctas[here.cta].warps[here.warp];
                    warp.set(*state, 1 << lane, &[before; 32]);
                }
                Ok(())
            }
            MbarrierStep::Wait { .. } => unreachable!("invariant: waits are of all lanes"),
        }
    }

    /// Errors: the place holds no mbarrier's address.
    pub fn barrier_at(&self, here: Here, space: Space, address: u64) -> Run<BarrierAt> {
        match self.place(here, space, address)? {
            Place::Shared(cta, address) if address.is_multiple_of(8) => Ok((cta, address)),
            Place::Shared(_, address) => Err(Problem::new(
                "sim-misaligned",
                format!("an mbarrier at {address:#x}, which is no multiple of 8"),
            )),
            _ => Err(Problem::new("sim-out-of-bounds", "an mbarrier stands in shared memory")),
        }
    }

    /// Arrivals of a phase that has begun. Errors: there are more than it waits for.
    pub fn arrive(&mut self, at: BarrierAt, count: i64) -> Run<()> {
        let barrier = self.ctas[at.0].shared.barrier(at.1)?;
        barrier.pending -= count;
        if barrier.pending < 0 {
            return Err(Problem::new(
                "sim-mbarrier",
                format!("arrives at the mbarrier at {:#x} more often than its count {}", at.1, barrier.count),
            ));
        }
        self.end_phase(at)
    }

    /// One more arrival is awaited in this phase.
    pub fn await_more(&mut self, at: BarrierAt, count: i64) -> Run<()> {
        self.ctas[at.0].shared.barrier(at.1)?.pending += count;
        Ok(())
    }

    /// More bytes are expected, or (fewer than 0) have come.
    pub fn change_bytes(&mut self, at: BarrierAt, bytes: i64) -> Run<()> {
        let barrier = self.ctas[at.0].shared.barrier(at.1)?;
        barrier.bytes += bytes;
        if barrier.bytes.abs() > MOST {
            let message =
                format!("the mbarrier at {:#x} has {} bytes to come, beyond {MOST}", at.1, barrier.bytes);
            return Err(Problem::new("sim-mbarrier", message));
        }
        self.end_phase(at)
    }

    fn end_phase(&mut self, at: BarrierAt) -> Run<()> {
        let barrier = self.ctas[at.0].shared.barrier(at.1)?;
        if barrier.pending == 0 && barrier.bytes == 0 {
            barrier.phase += 1;
            barrier.pending = barrier.count;
            self.completes(Meet::Mbarrier(at));
        }
        self.effects += 1;
        Ok(())
    }

    /// `done.negated`: the value is a parity, else a state. All lanes of the group wait together.
    #[expect(clippy::too_many_arguments, reason = "one wait has as many parts")]
    fn mbarrier_wait(
        &mut self,
        here: Here,
        space: Space,
        addresses: &crate::lanes::Lanes,
        done: Guard,
        value: Row,
        blocks: bool,
        active: u32,
    ) -> Run<Outcome> {
        let program = self.program;
        let values = *self.ctas[here.cta].warps[here.warp].get(program, value, active)?;
        let mut results = [0; 32];
        let mut waiting = None;
        for lane in lanes(active) {
            let at = self.barrier_at(here, space, addresses[lane]).map_err(|p| of_lane(p, lane))?;
            let barrier = *self.ctas[at.0].shared.barrier(at.1).map_err(|p| of_lane(p, lane))?;
            self.uses_barrier(here, at, lane, false).map_err(|p| of_lane(p, lane))?;
            let has_ended = if done.negated {
                if values[lane] > 1 {
                    return Err(of_lane(Problem::new("sim-mbarrier", "a parity is 0 or 1"), lane));
                }
                barrier.phase & 1 != values[lane]
            } else {
                barrier.phase > values[lane] >> PHASE_SHIFT
            };
            results[lane] = has_ended as u64;
            if has_ended && self.races.is_some() {
                self.leaves(here, Meet::Mbarrier(at));
                self.learns(here, Who::Barrier(at), barrier.phase);
            }
            if !has_ended {
                waiting = Some(Waiting::Mbarrier { at, barrier });
            }
        }
        let all = waiting.is_none();
        if let Some(waiting) = waiting
            && blocks
            && !self.gives_up
        {
            return Ok(Outcome::Wait(waiting));
        }
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        warp.fragments[here.fragment].waiting = waiting;
        warp.set(done.row, active, &results);
        Ok(if all { Outcome::Next } else { Outcome::Yield })
    }
}

impl std::fmt::Display for Mbarrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Mbarrier { count, pending, bytes, phase } = self;
        write!(f, "in phase {phase}, with {pending} of {count} arrivals and {bytes} bytes to come,")
    }
}
