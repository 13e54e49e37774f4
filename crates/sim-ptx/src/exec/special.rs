//! Special registers, and the registers that warps give to each other.

use tegula_isa_ptx::Special;

use crate::lanes::{Lanes, ones};
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run};
use crate::program::{Row, SHARED_START};
use crate::warp::Waiting;

impl Machine<'_> {
    pub fn special(&mut self, here: Here, d: Row, special: Special, active: u32) -> Run<Outcome> {
        use Special::*;
        let cta = &self.ctas[here.cta];
        let (grid, block) = (self.launch.grid, self.launch.block);
        let cluster = self.launch.cluster(self.program);
        let thread = |lane: usize| 32 * here.warp as u32 + lane as u32;
        let same = |value: u32| -> Lanes { [value as u64; 32] };
        let values: Lanes = match special {
            TidX => std::array::from_fn(|l| (thread(l) % block[0]) as u64),
            TidY => std::array::from_fn(|l| (thread(l) / block[0] % block[1]) as u64),
            TidZ => std::array::from_fn(|l| (thread(l) / (block[0] * block[1])) as u64),
            NtidX => same(block[0]),
            NtidY => same(block[1]),
            NtidZ => same(block[2]),
            CtaidX => same(cta.id[0]),
            CtaidY => same(cta.id[1]),
            CtaidZ => same(cta.id[2]),
            NctaidX => same(grid[0]),
            NctaidY => same(grid[1]),
            NctaidZ => same(grid[2]),
            Laneid => std::array::from_fn(|l| l as u64),
            Warpid => same(here.warp as u32),
            Nwarpid => same(cta.warps.len() as u32),
            Smid | Gridid => same(0),
            Nsmid => same(1),
            LanemaskEq => std::array::from_fn(|l| 1 << l),
            LanemaskLt => std::array::from_fn(|l| ones(l as u32)),
            LanemaskLe => std::array::from_fn(|l| ones(l as u32 + 1)),
            LanemaskGt => std::array::from_fn(|l| ones(32) & !ones(l as u32 + 1)),
            LanemaskGe => std::array::from_fn(|l| ones(32) & !ones(l as u32)),
            Clock | GlobaltimerLo => same(self.now as u32),
            ClockHi | GlobaltimerHi => same((self.now >> 32) as u32),
            Clock64 | Globaltimer => [self.now; 32],
            DynamicSmemSize => same(self.launch.dynamic_shared),
            TotalSmemSize => same(cta.shared.end() - SHARED_START),
            ClusteridX => same(cta.id[0] / cluster[0]),
            ClusteridY => same(cta.id[1] / cluster[1]),
            ClusteridZ => same(cta.id[2] / cluster[2]),
            NclusteridX => same(grid[0] / cluster[0]),
            NclusteridY => same(grid[1] / cluster[1]),
            NclusteridZ => same(grid[2] / cluster[2]),
            ClusterCtaidX => same(cta.id[0] % cluster[0]),
            ClusterCtaidY => same(cta.id[1] % cluster[1]),
            ClusterCtaidZ => same(cta.id[2] % cluster[2]),
            ClusterNctaidX => same(cluster[0]),
            ClusterNctaidY => same(cluster[1]),
            ClusterNctaidZ => same(cluster[2]),
            ClusterCtarank => same(cta.rank),
            ClusterNctarank => same(cluster.iter().product()),
        };
        self.ctas[here.cta].warps[here.warp].set(d, active, &values);
        Ok(Outcome::Next)
    }

    pub fn set_registers(
        &mut self,
        here: Here,
        count: u32,
        grow: bool,
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let cta = &mut self.ctas[here.cta];
        let warp = &mut cta.warps[here.warp];
        if grow {
            let Some(more) = count.checked_sub(warp.budget) else {
                return Err(wrong(count, warp.budget, "fewer"));
            };
            if 32 * more > cta.free_registers {
                return Ok(Outcome::Wait(Waiting::Registers { count }));
            }
            cta.free_registers -= 32 * more;
        } else {
            let Some(fewer) = warp.budget.checked_sub(count) else {
                return Err(wrong(count, warp.budget, "more"));
            };
            cta.free_registers += 32 * fewer;
            self.effects += 1;
        }
        warp.budget = count;
        Ok(Outcome::Next)
    }
}

fn wrong(count: u32, budget: u32, than: &str) -> Problem {
    Problem::new(
        "sim-program",
        format!("{count} registers are {than} than the {budget} that each thread has"),
    )
}
