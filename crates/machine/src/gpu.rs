//! What a machine file says of an NVIDIA GPU, in the words of the CUDA Programming Guide.
//! Rates "a cycle" are of one SM where nothing else is said.

use super::file::Facts;
use tegula_base::units::{BytesPerSecond, Nanoseconds};
use tegula_base::{Bytes, DType};

/// The tiers that the GPU target compiles.
pub(super) const TIERS: [&str; 4] = ["sm_80", "sm_86", "sm_89", "sm_90a"];

/// The facts of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// `wgmma`, bulk tensor copies and clusters: the tier is `sm_90a`. Else `mma.sync` and `cp.async`.
    pub warpgroup_mma: bool,
    pub sms: u32,
    /// CTAs of the largest cluster that runs everywhere; 1 where there are no clusters.
    pub max_cluster: u32,
    /// Boost clock of code that leaves the tensor cores idle.
    pub max_clock_hz: f64,
    /// Clock that the data sheet's tensor rates are of.
    pub tensor_clock_hz: f64,
    /// Clock that the power limit leaves while the tensor cores are busy.
    pub sustained_clock_hz: f64,
    pub tensor: TensorRates,
    /// Arithmetic outside of the tensor cores, FLOP a cycle; a multiply-add counts two.
    pub flops_f32: f64,
    /// On packed pairs of 16-bit floats.
    pub flops_f16: f64,
    pub flops_f64: f64,
    /// 32-bit integer additions a cycle.
    pub integer_rate: f64,
    /// `ex2`, `lg2`, `rcp`, `rsqrt`, `sin`, `cos`, `tanh` a cycle.
    pub special_rate: f64,
    /// Conversions between 32-bit and narrower types a cycle.
    pub conversion_rate: f64,
    /// Lanes shuffled a cycle.
    pub shuffle_rate: f64,
    /// 32-bit registers of an SM.
    pub registers: u32,
    /// Threads and CTAs that an SM holds at once.
    pub threads: u32,
    pub ctas: u32,
    /// Shared memory of an SM, and the most of it that one CTA can have.
    pub shared_memory: Bytes,
    pub shared_memory_per_cta: Bytes,
    /// Between shared memory and everything that reads or writes it.
    pub shared_bytes_per_cycle: f64,
    pub l2: Bytes,
    /// Between L2 and all SMs together.
    pub l2_bytes_per_cycle: f64,
    pub l2_latency_cycles: f64,
    pub memory: Bytes,
    /// The data sheet's.
    pub memory_bandwidth: BytesPerSecond,
    /// Reached by kernels that read much and write little.
    pub read_bandwidth: BytesPerSecond,
    /// Reached by kernels that write as much as they read; both directions are counted.
    pub copy_bandwidth: BytesPerSecond,
    pub memory_latency_cycles: f64,
    /// From the end of a kernel to the start of the next one, both known to the GPU beforehand.
    pub launch_overhead: Nanoseconds,
}

/// FLOP a cycle of one SM's tensor cores without sparsity, sums in f32 or i32; `None` where they do not take the type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorRates {
    /// Of bf16 too.
    pub f16: f64,
    pub tf32: f64,
    pub f8: Option<f64>,
    pub i8: f64,
    pub f64: Option<f64>,
}

impl TensorRates {
    /// Rate on operands of a dtype as they are, `f32` rounded to tf32; `None`: the tensor cores do not take it.
    pub fn rate(&self, dtype: DType) -> Option<f64> {
        match dtype {
            DType::F16 | DType::BF16 => Some(self.f16),
            DType::F32 => Some(self.tf32),
            DType::F8E4M3FN | DType::F8E5M2 => self.f8,
            DType::I8 | DType::U8 => Some(self.i8),
            DType::F64 => self.f64,
            DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
            | DType::I2
            | DType::U2
            | DType::I4
            | DType::U4
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32
            | DType::I64
            | DType::U64
            | DType::Bool => None,
        }
    }
}

impl Gpu {
    pub(super) fn read(facts: &mut Facts, tier: &str) -> Gpu {
        Gpu {
            warpgroup_mma: tier == "sm_90a",
            sms: facts.count("sms"),
            max_cluster: facts.count("max_cluster"),
            max_clock_hz: facts.take("max_clock", "Hz"),
            tensor_clock_hz: facts.take("tensor_clock", "Hz"),
            sustained_clock_hz: facts.take("sustained_clock", "Hz"),
            tensor: TensorRates {
                f16: facts.rate("tensor_f16"),
                tf32: facts.rate("tensor_tf32"),
                f8: facts.rate_if_any("tensor_f8"),
                i8: facts.rate("tensor_i8"),
                f64: facts.rate_if_any("tensor_f64"),
            },
            flops_f32: facts.rate("flops_f32"),
            flops_f16: facts.rate("flops_f16"),
            flops_f64: facts.rate("flops_f64"),
            integer_rate: facts.take("integer_rate", "op/cycle"),
            special_rate: facts.take("special_rate", "op/cycle"),
            conversion_rate: facts.take("conversion_rate", "op/cycle"),
            shuffle_rate: facts.take("shuffle_rate", "op/cycle"),
            registers: facts.count("registers"),
            threads: facts.count("threads"),
            ctas: facts.count("ctas"),
            shared_memory: facts.bytes("shared_memory"),
            shared_memory_per_cta: facts.bytes("shared_memory_per_cta"),
            shared_bytes_per_cycle: facts.take("shared_bandwidth", "B/cycle"),
            l2: facts.bytes("l2"),
            l2_bytes_per_cycle: facts.take("l2_bandwidth", "B/cycle"),
            l2_latency_cycles: facts.take("l2_latency", "cycle"),
            memory: facts.bytes("memory"),
            memory_bandwidth: BytesPerSecond(facts.take("memory_bandwidth", "B/s")),
            read_bandwidth: BytesPerSecond(facts.take("read_bandwidth", "B/s")),
            copy_bandwidth: BytesPerSecond(facts.take("copy_bandwidth", "B/s")),
            memory_latency_cycles: facts.take("memory_latency", "cycle"),
            launch_overhead: Nanoseconds(facts.take("launch_overhead", "ns")),
        }
    }
}
