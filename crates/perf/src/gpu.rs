//! Kernels on a GPU, predicted in closed form: what each resource needs, and how those times add up.
//!
//!   shape, dtypes ─► candidates ─► predict each ─► the fastest, with its `Limits`
//!
//! `gemm.rs` and `attention.rs` hold shapes and predictions, `gemm/candidates.rs` the schedules tried, `stream.rs`
//! kernels that memory bounds. A choice is a pure function of shape, dtypes and machine: nothing is measured, and
//! no constant belongs to a single shape.

pub mod attention;
pub mod decode;
pub mod gemm;
mod limits;
pub mod stream;

pub use limits::{Limit, Limits, Prediction};

use tegula_machine::Gpu;

/// The part of the shorter of two pipelines (matrix units and softmax, matrix units and rescaling) that stays
/// visible beside the longer one, since the warpgroups that alternate wait for each other.
/// Source: J. Shah et al., "FlashAttention-3", arXiv 2407.08608, ablation: 661 TFLOP/s with both overlaps at head
/// dim 128 on an H100, where this model has 0.42 visible.
pub(crate) const VISIBLE_SHARE: f64 = 0.42;

/// Trips to memory before the first product: the tensor map (or the pointers), then the first stage.
pub(crate) const FIRST_TRIPS: f64 = 2.0;

/// Bytes a cycle between one SM and L2. Source: NVIDIA A100 Tensor Core GPU Architecture, 64 B a clock and SM; the
/// same bound in deepseek-ai/DeepGEMM, csrc/jit_kernels/heuristics/sm90.hpp.
pub(crate) const L2_PORT_BYTES: f64 = 64.0;

/// The part of L2 in which operands survive until they are read again; the rest holds results on their way out.
/// Assumed: each half of the L2 of GA100 and GH100 serves its own SMs and copies what the other one holds.
pub(crate) const L2_REUSE_SHARE: f64 = 0.5;

/// Times that differ by less tell nothing: the model's own error is larger.
pub(crate) const SAME_TIME: f64 = 1.02;

/// Rows of the operand that one warpgroup's or warp's product takes from shared memory or registers at a time.
pub(crate) const WARPGROUP_ROWS: u64 = 64;

/// Time in which a kernel made of tiles moves `bytes` between memory and the chip, in nanoseconds. Reading alone
/// brings it no more than a copy: rows of tiles lie apart. Source: deepseek-ai/FlashMLA, README.md, 3000 GB/s of
/// reads on an H800, where a copy reaches 3010 and a sum over one array 3240.
pub(crate) fn dram_ns(gpu: &Gpu, bytes: f64) -> f64 {
    1e9 * bytes / gpu.copy_bandwidth.0
}

/// Cycles a second while the tensor cores are busy for `share` of the time: from the boost clock down to what the
/// power limit leaves when they never rest. Assumed linear, since power is nearly so in what switches.
pub(crate) fn clock_hz(gpu: &Gpu, share: f64) -> f64 {
    gpu.max_clock_hz + share.clamp(0.0, 1.0) * (gpu.sustained_clock_hz - gpu.max_clock_hz)
}

/// The longer of two times that overlap, and what stays visible of the shorter.
pub(crate) fn overlapped(a: f64, b: f64) -> f64 {
    a.max(b) + VISIBLE_SHARE * a.min(b)
}

/// Bytes a cycle that each of `active` SMs draws from L2.
pub(crate) fn l2_share(gpu: &Gpu, active: f64) -> f64 {
    (gpu.l2_bytes_per_cycle / active.max(1.0)).min(L2_PORT_BYTES)
}
