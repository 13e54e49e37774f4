//! Predicts time and bytes of kernels on a machine, and says why.
//! In: kernel facts and a `Machine`.  Out: `Estimate` with the bound that holds it.
//! May use: tensor, tile, machine, base, ir.  Never knows: targets, passes; it is asked and asks nobody.
//! Start reading at `lib.rs`.

use std::fmt;
use tegula_base::units::{Flops, Nanoseconds};
use tegula_base::{Bytes, DType};
use tegula_machine::Machine;

/// What keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// Arithmetic units.
    Compute,
    /// Traffic between a core and its L2 cache: the data fits there.
    L2,
    /// Traffic to memory, shared by all cores.
    Dram,
    /// Starting and joining threads.
    Launch,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Compute => "compute",
            Bound::L2 => "l2",
            Bound::Dram => "dram",
            Bound::Launch => "launch",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub time: Nanoseconds,
    pub bound: Bound,
}

/// Time of a kernel that moves `bytes` once and does `flops` on operands of `dtype`, spread over `threads` cores.
/// Method: roofline. The largest of arithmetic, cache and memory time, which overlap, plus the launch. Data that
/// fits the L2 caches of the threads is taken to be there.
/// Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Communications of the ACM 52(4), 2009.
pub fn estimate(bytes: Bytes, flops: Flops, dtype: DType, machine: &Machine, threads: u32) -> Estimate {
    let threads = f64::from(threads.max(1));
    let moved = bytes.0 as f64;
    let compute = 1e9 * flops.0 as f64 / (machine.peak(dtype).0 * threads);
    let l2 = 1e9 * moved / (machine.l2_bandwidth().0 * threads);
    let resident = moved <= machine.l2.0 as f64 * threads;
    // One core draws no more from memory than from its cache.
    let dram = if resident { 0.0 } else { (1e9 * moved / machine.memory_bandwidth.0).max(l2) };
    let launch = if threads > 1.0 { machine.launch_overhead.0 } else { 0.0 };
    let work = [(compute, Bound::Compute), (l2, Bound::L2), (dram, Bound::Dram)];
    let largest = work.into_iter().reduce(|a, b| if b.0 >= a.0 { b } else { a });
    let (time, bound) = largest.expect("invariant: three bounds");
    let bound = if launch > time { Bound::Launch } else { bound };
    Estimate { time: Nanoseconds(time + launch), bound }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound_of(bytes: u64, flops: u64, threads: u32) -> (String, i64) {
        let machine = Machine::class("zen5").expect("a class");
        let estimate = estimate(Bytes(bytes), Flops(flops), DType::F32, &machine, threads);
        (estimate.bound.to_string(), estimate.time.0 as i64)
    }

    #[test]
    fn names_the_bound() {
        // 1024^3 multiply-adds: 2.1 GFLOP at 204.8 GFLOP/s.
        assert_eq!(bound_of(12 << 20, 2 << 30, 1), ("compute".into(), 10_485_760));
        // 512 KiB at 204.8 GB/s.
        assert_eq!(bound_of(512 << 10, 1000, 1), ("l2".into(), 2_560));
        // 64 GiB at 576 GB/s, and the launch.
        assert_eq!(bound_of(64 << 30, 1000, 64).0, "dram");
        assert_eq!(bound_of(1000, 1000, 8), ("launch".into(), 1_000));
    }
}
