//! Predicts time and bytes of kernels on a machine, and says why.
//! In: kernel facts and a `Machine`.  Out: `Estimate` with the bound that holds it.
//! May use: tensor, tile, machine, base, ir.  Never knows: targets, passes; it is asked and asks nobody.
//! Start reading at `lib.rs` (rooflines, for any kernel), then `cpu.rs` (machine code on a core), `gpu.rs` (kernels of a GPU, term by term),
//! `lpu.rs` (closed forms of streaming chips).

pub mod cpu;
pub mod gpu;
pub mod lpu;

use std::fmt;
use tegula_base::units::{Flops, Nanoseconds};
use tegula_base::{Bytes, DType};
use tegula_machine::{Cpu, Gpu, Kind, Lpu, Machine};

/// What keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// Arithmetic units, or the front end.
    Compute,
    /// Loads and stores.
    L1,
    /// Traffic between a core and its L2 cache: the data fits there.
    L2,
    /// Traffic from the level 3 cache.
    L3,
    /// Traffic to memory, shared by all cores.
    Dram,
    /// Instructions that wait for one another's results.
    Latency,
    /// Starting and joining threads.
    Launch,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Compute => "compute",
            Bound::L1 => "l1",
            Bound::L2 => "l2",
            Bound::L3 => "l3",
            Bound::Latency => "latency",
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

/// Which units of a GPU do a kernel's multiply-adds; the cores of a CPU have one rate a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuUnit {
    /// Tensor cores: `mma.sync`, `wgmma`.
    Matrix,
    /// One multiply-add a lane: `fma.rn.f32`, `fma.rn.f64`, `mad`.
    Vector,
}

/// Time of a kernel that moves `bytes` once and does `flops` on operands of `dtype`; on a CPU spread over `threads`
/// cores, on a GPU over all of it, in its `unit`.
/// Method: roofline. The largest of arithmetic, cache and memory time, which overlap, plus the launch. Data that
/// fits the L2 caches of the threads is taken to be there.
/// Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Communications of the ACM 52(4), 2009.
pub fn estimate(
    bytes: Bytes,
    flops: Flops,
    (dtype, unit): (DType, GpuUnit),
    machine: &Machine,
    threads: u32,
) -> Estimate {
    match &machine.kind {
        Kind::Cpu(cpu) => on_cpu(bytes, flops, dtype, cpu, f64::from(threads.max(1))),
        Kind::Gpu(gpu) => on_gpu(bytes, flops, (dtype, unit), gpu),
        Kind::Lpu(lpu) => on_lpu(bytes, flops, dtype, lpu),
    }
}

fn on_cpu(bytes: Bytes, flops: Flops, dtype: DType, cpu: &Cpu, threads: f64) -> Estimate {
    let moved = bytes.0 as f64;
    let compute = 1e9 * flops.0 as f64 / (cpu.peak(dtype).0 * threads);
    let l2 = 1e9 * moved / (cpu.l2_bandwidth().0 * threads);
    let resident = moved <= cpu.l2.0 as f64 * threads;
    // One core draws no more from memory than from its cache.
    let dram = if resident { 0.0 } else { (1e9 * moved / cpu.memory_bandwidth.0).max(l2) };
    let launch = if threads > 1.0 { cpu.launch_overhead.0 } else { 0.0 };
    largest(compute, l2, dram, launch)
}

/// Operations a cycle of one SM. Outside of the tensor cores 16-bit floats are computed as `f32`.
fn gpu_rate(gpu: &Gpu, dtype: DType, unit: GpuUnit) -> f64 {
    let lanes = match dtype {
        DType::F64 => gpu.flops_f64,
        _ if dtype.is_float() => gpu.flops_f32,
        _ => gpu.integer_rate,
    };
    match unit {
        GpuUnit::Matrix => gpu.tensor.rate(dtype).unwrap_or(lanes),
        GpuUnit::Vector => lanes,
    }
}

fn on_gpu(bytes: Bytes, flops: Flops, (dtype, unit): (DType, GpuUnit), gpu: &Gpu) -> Estimate {
    let moved = bytes.0 as f64;
    let rate = gpu_rate(gpu, dtype, unit);
    let compute = 1e9 * flops.0 as f64 / (rate * gpu.sustained_clock_hz * f64::from(gpu.sms));
    let l2 = 1e9 * moved / (gpu.l2_bytes_per_cycle * gpu.sustained_clock_hz);
    let resident = moved <= gpu.l2.0 as f64;
    let dram = if resident { 0.0 } else { (1e9 * moved / gpu.copy_bandwidth.0).max(l2) };
    largest(compute, l2, dram, gpu.launch_overhead.0)
}

/// All planes multiply in every cycle, or every bank of SRAM reads or writes a vector.
fn on_lpu(bytes: Bytes, flops: Flops, dtype: DType, lpu: &Lpu) -> Estimate {
    let [of_bytes, of_halves] = lpu.multiply_adds();
    let multiply_adds = if dtype.size() == 1 { of_bytes } else { of_halves };
    let compute = 1e9 * flops.0 as f64 / (2.0 * multiply_adds as f64 * lpu.clock_hz);
    let ports = f64::from(2 * lpu.mem.slices * lpu.mem.banks * lpu.vector());
    let sram = 1e9 * bytes.0 as f64 / (ports * lpu.clock_hz);
    let (time, bound) = if sram > compute { (sram, Bound::L1) } else { (compute, Bound::Compute) };
    Estimate { time: Nanoseconds(time), bound }
}

/// All times in nanoseconds.
fn largest(compute: f64, l2: f64, dram: f64, launch: f64) -> Estimate {
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
        let estimate = estimate(Bytes(bytes), Flops(flops), (DType::F32, GpuUnit::Vector), &machine, threads);
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

    #[test]
    fn gpus_have_their_own_roofs() {
        let machine = Machine::class("h200").expect("a class");
        let time = |bytes, flops, work| estimate(Bytes(bytes), Flops(flops), work, &machine, 1);
        let bound = |bytes, flops| {
            let estimate = time(bytes, flops, (DType::BF16, GpuUnit::Matrix));
            (estimate.bound.to_string(), estimate.time.0 as i64)
        };
        // The same in `fma.rn.f32`, at 132 x 256 x 1.6 GHz; tf32 of the tensor cores would take an eighth.
        let of_lanes = time(384 << 20, 2 << 39, (DType::F32, GpuUnit::Vector));
        assert_eq!((of_lanes.bound, of_lanes.time.0 as i64), (Bound::Compute, 20_337_319));
        // 8192^3 multiply-adds at 132 x 4096 x 1.6 GHz.
        assert_eq!(bound(384 << 20, 2 << 39), ("compute".into(), 1_272_301));
        // 4.3 GB at 4.3 TB/s.
        assert_eq!(bound(4_300_000_000, 1000), ("dram".into(), 1_001_300));
        assert_eq!(bound(16 << 20, 1000).0, "l2");
        assert_eq!(bound(1000, 1000).0, "launch");
    }

    #[test]
    fn streaming_chips_have_planes_and_ports() {
        let machine = Machine::class("tsp1").expect("a class");
        let time = |bytes, flops, dtype| {
            let estimate = estimate(Bytes(bytes), Flops(flops), (dtype, GpuUnit::Vector), &machine, 1);
            (estimate.bound.to_string(), estimate.time.0 as i64)
        };
        // 8192^3 multiply-adds of bytes at 4 x 320 x 320 x 0.9 GHz; a quarter as many of f16.
        assert_eq!(time(1 << 20, 2 << 39, DType::I8), ("compute".into(), 1_491_308));
        assert_eq!(time(1 << 20, 2 << 39, DType::F16), ("compute".into(), 5_965_232));
        // 220 MiB through 176 banks of 320 bytes at 0.9 GHz.
        assert_eq!(time(220 << 20, 0, DType::I8), ("l1".into(), 4_551));
    }
}
