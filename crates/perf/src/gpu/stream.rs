//! Kernels that pass over their data once on a GPU: elementwise chains, norms, softmax, reductions, and products of
//! one or a few rows with a matrix outside of the tensor cores (GEMV).

use super::gemm::{Gemm, bytes};
use super::{FIRST_TRIPS, Limits, Prediction};
use tegula_base::units::Nanoseconds;
use tegula_machine::Gpu;

/// What a kernel reads, writes and computes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stream {
    pub read: f64,
    pub written: f64,
    /// Floating-point operations in f32.
    pub flops: f64,
    /// `ex2` and its like.
    pub special: f64,
    pub integer: f64,
}

/// Integer instructions that turn one 16-bit or packed weight into an f32: a shift or mask, and half a permutation.
const WIDEN_OPS: f64 = 1.5;

/// A product with so few rows that lanes keep up with memory: each weight is read and widened once.
pub fn gemv(gemm: &Gemm) -> Stream {
    let written = bytes(gemm.out, gemm.groups * gemm.m * gemm.n);
    let weights = (gemm.groups * gemm.n * gemm.k) as f64;
    let integer = if gemm.b.bits() < 32 { WIDEN_OPS * weights } else { 0.0 };
    Stream { read: gemm.bytes() - written, written, flops: gemm.flops(), special: 0.0, integer }
}

/// The time of a kernel that passes over its data once.
pub fn predict(stream: &Stream, gpu: &Gpu) -> Prediction {
    let sms = f64::from(gpu.sms);
    let ns = 1e9 / gpu.max_clock_hz;
    let dram = dram_ns(stream, gpu);
    let lanes = ns / sms;
    let arithmetic = (stream.flops / gpu.flops_f32 + stream.integer / gpu.integer_rate) * lanes;
    let special = stream.special / gpu.special_rate * lanes;
    let l2 = (stream.read + stream.written) / gpu.l2_bytes_per_cycle * ns;
    let busiest = dram.max(arithmetic).max(special).max(l2);
    let ends = (FIRST_TRIPS + 1.0) * gpu.memory_latency_cycles * ns;
    Prediction {
        time: Nanoseconds(busiest + ends + gpu.launch_overhead.0),
        limits: Limits {
            tensor: 0.0,
            shared: 0.0,
            special,
            arithmetic,
            l2,
            dram,
            latency: ends,
            launch: gpu.launch_overhead.0,
        },
        flops: stream.flops + stream.special,
        bytes: stream.read + stream.written,
        units: u64::from(gpu.sms),
        rounds: 1.0,
    }
}

/// Between reads alone and a copy the rate goes linearly from `read_bandwidth` to `copy_bandwidth`.
fn dram_ns(stream: &Stream, gpu: &Gpu) -> f64 {
    let total = (stream.read + stream.written).max(1.0);
    let share = (2.0 * stream.written / total).min(1.0);
    let rate = gpu.read_bandwidth.0 + share * (gpu.copy_bandwidth.0 - gpu.read_bandwidth.0);
    1e9 * total / rate
}
