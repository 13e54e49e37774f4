//! What lanes of a warp do together: shuffles, votes, matches, reductions, elections, meetings.
//! The lanes that the mask names must come to the instruction; those that came earlier wait.

use tegula_isa_ptx::modifiers::{AtomicOp, ShuffleMode, VoteMode};
use tegula_isa_ptx::types::Scalar;

use crate::barrier::missing;
use crate::exec::atomic::combine;
use crate::lanes::{Lanes, lanes};
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run};
use crate::program::{Guard, Row};

impl Machine<'_> {
    /// The lanes that take part, or the outcome of those that must wait.
    fn gather(&self, here: Here, named: Row, mask: u32, active: u32) -> Run<Result<u32, Outcome>> {
        let warp = &self.ctas[here.cta].warps[here.warp];
        let wanted = warp.uniform(self.program, named, active)? as u32;
        if let Some(waiting) = missing(warp.live, mask, wanted)? {
            return Ok(Err(Outcome::Wait(waiting)));
        }
        if let Some(lane) = lanes(active & !wanted).next() {
            return Err(Problem::new(
                "sim-divergent",
                format!("lane {lane} runs it, which its mask {wanted:#010x} does not name"),
            ));
        }
        if let Some(lane) = lanes(wanted & !active).next() {
            return Err(Problem::new(
                "sim-divergent",
                format!("its mask names lane {lane}, whose guard does not hold"),
            ));
        }
        Ok(Ok(wanted))
    }

    /// Rows: `a`, `b`, clamp, mask.
    pub fn shuffle(
        &mut self,
        here: Here,
        mode: ShuffleMode,
        (d, p): (Row, Option<Row>),
        [a, b, clamp, named]: [Row; 4],
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let program = self.program;
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let a = *warp.get(program, a, who)?;
        let (b, clamp) = (*warp.get(program, b, who)?, *warp.get(program, clamp, who)?);
        let (mut values, mut found): (Lanes, Lanes) = ([0; 32], [0; 32]);
        for lane in lanes(who) {
            let (source, inside) = source_lane(mode, lane as u32, b[lane] as u32 & 31, clamp[lane] as u32);
            let source = if inside { source as usize } else { lane };
            if who >> source & 1 == 0 {
                let message =
                    format!("lane {lane} takes the value of lane {source}, which does not take part");
                return Err(Problem::new("sim-divergent", message));
            }
            values[lane] = a[source];
            found[lane] = inside as u64;
        }
        warp.set(d, who, &values);
        if let Some(p) = p {
            warp.set(p, who, &found);
        }
        Ok(Outcome::Next)
    }

    pub fn vote(
        &mut self,
        here: Here,
        mode: VoteMode,
        (p, a, named): (Row, Guard, Row),
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let yes = warp.guard(self.program, a, who)?;
        let value = match mode {
            VoteMode::All => yes == who,
            VoteMode::Any => yes != 0,
            VoteMode::Uni => yes == who || yes == 0,
        };
        warp.set(p, who, &[value as u64; 32]);
        Ok(Outcome::Next)
    }

    pub fn ballot(
        &mut self,
        here: Here,
        d: Row,
        a: Guard,
        named: Row,
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let yes = warp.guard(self.program, a, who)?;
        warp.set(d, who, &[yes as u64; 32]);
        Ok(Outcome::Next)
    }

    /// Rows: `a`, mask.
    pub fn match_lanes(
        &mut self,
        here: Here,
        all: bool,
        (d, p): (Row, Option<Row>),
        [a, named]: [Row; 2],
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let a = *warp.get(self.program, a, who)?;
        let same = |value: u64| {
            lanes(who).filter(|lane| a[*lane] == value).fold(0u32, |mask, lane| mask | 1 << lane)
        };
        let values: Lanes = std::array::from_fn(|lane| {
            let mask = same(a[lane]);
            if all && mask != who { 0 } else { mask as u64 }
        });
        warp.set(d, who, &values);
        if let Some(p) = p {
            warp.set(p, who, &values.map(|mask| (mask != 0) as u64));
        }
        Ok(Outcome::Next)
    }

    /// Rows: `d`, `a`, mask.
    pub fn redux(
        &mut self,
        here: Here,
        op: AtomicOp,
        ty: Scalar,
        [d, a, named]: [Row; 3],
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let a = *warp.get(self.program, a, who)?;
        let value = lanes(who).map(|lane| a[lane]).reduce(|x, y| combine(op, ty, x, y)).unwrap_or(0);
        warp.set(d, who, &[value; 32]);
        Ok(Outcome::Next)
    }

    /// The lowest lane is chosen.
    pub fn elect(
        &mut self,
        here: Here,
        d: Option<Row>,
        p: Row,
        named: Row,
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        let who = match self.gather(here, named, mask, active)? {
            Ok(who) => who,
            Err(wait) => return Ok(wait),
        };
        let leader = who.trailing_zeros() as u64;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        warp.set(p, who, &std::array::from_fn(|lane| (lane as u64 == leader) as u64));
        if let Some(d) = d {
            warp.set(d, who, &[leader; 32]);
        }
        Ok(Outcome::Next)
    }

    pub fn warp_sync(&mut self, here: Here, named: Row, mask: u32, active: u32) -> Run<Outcome> {
        Ok(match self.gather(here, named, mask, active)? {
            Ok(_) => {
                self.passes(here, false);
                Outcome::Next
            }
            Err(wait) => wait,
        })
    }
}

/// Where a shuffle takes a lane's value from, and whether that is within the segment (PTX ISA, "shfl.sync").
fn source_lane(mode: ShuffleMode, lane: u32, b: u32, clamp: u32) -> (u32, bool) {
    let segment = clamp >> 8 & 31;
    let c = clamp & 31;
    let top = lane & segment | c & !segment;
    let bottom = lane & segment;
    match mode {
        ShuffleMode::Up => {
            let source = lane as i32 - b as i32;
            (source.max(0) as u32, source >= top as i32)
        }
        ShuffleMode::Down => (lane + b, lane + b <= top),
        ShuffleMode::Bfly => (lane ^ b, lane ^ b <= top),
        ShuffleMode::Idx => {
            let source = bottom | b & !segment & 31;
            (source, source <= top)
        }
    }
}
