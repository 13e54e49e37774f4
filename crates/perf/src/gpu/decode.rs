//! Attention of few queries over many keys on a GPU: the keys and values are read once, split over all SMs, and a
//! second kernel combines the parts.

use super::attention::{Attention, AttentionSchedule, BlockCycles};
use super::{FIRST_TRIPS, Limits, Prediction, WARPGROUP_ROWS, clock_hz, dram_ns, l2_share};
use tegula_base::units::Nanoseconds;
use tegula_machine::Gpu;

/// How the keys are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeSchedule {
    /// One CTA's part; the queries of all heads that share the keys fill its rows.
    pub part: AttentionSchedule,
    /// Parts of the keys of one sequence and key head.
    pub splits: u64,
}

/// Rows of one warpgroup's result that fit its registers: value elements of a warpgroup.
const MOST_VALUES: u64 = 256;
/// Parts that the second kernel combines at most.
const MOST_SPLITS: u64 = 256;
/// Keys of a step.
const KEYS: u64 = 64;

/// The time of `attention` by `schedule`; `None` where the tensor cores do not take the dtype.
pub fn predict(attention: &Attention, schedule: &DecodeSchedule, gpu: &Gpu) -> Option<Prediction> {
    let block = BlockCycles::of(attention, &schedule.part, gpu)?;
    let rows = attention.heads / attention.kv_heads.max(1) * attention.queries;
    let tiles = rows.div_ceil(schedule.part.queries);
    let units = attention.batch * attention.kv_heads * tiles * schedule.splits;
    let sms = f64::from(gpu.sms);
    let blocks = (attention.keys.div_ceil(schedule.splits)).div_ceil(schedule.part.keys) as f64;
    let rounds = (units as f64 / sms).ceil();
    let block_bytes = schedule.part.keys as f64 * attention.key_bytes();
    let l2 = blocks * block_bytes / l2_share(gpu, (units as f64).min(sms));
    let compute = block.chain(blocks, schedule.part.consumers);
    let bytes = attention.q_bytes() + attention.kv_bytes() + attention.out_bytes();
    let dram = dram_ns(gpu, bytes);
    let cycles = (rounds * compute.max(l2)).max(dram * gpu.max_clock_hz / 1e9);
    let ns = 1e9 / clock_hz(gpu, rounds * blocks * block.tensor / cycles);
    // Partial results in f32 go out and come back.
    let parts = if schedule.splits > 1 {
        4.0 * (units * schedule.part.queries * attention.v_dim) as f64
    } else {
        0.0
    };
    let kernels = if schedule.splits > 1 { 2.0 } else { 1.0 };
    // Page table and tensor map, first stage, result; the second kernel loads what the first one wrote.
    let ends = (FIRST_TRIPS + 2.0 * kernels - 1.0) * gpu.memory_latency_cycles * ns;
    let partial = 2.0 * parts / gpu.l2_bytes_per_cycle * ns;
    let busiest = (rounds * compute.max(l2) * ns).max(dram);
    let launch = kernels * gpu.launch_overhead.0;
    Some(Prediction {
        time: Nanoseconds(busiest + ends + partial + launch),
        limits: Limits {
            tensor: rounds * blocks * block.tensor * ns,
            shared: rounds * blocks * block.shared * ns,
            special: rounds * blocks * block.special * ns,
            arithmetic: rounds * blocks * block.arithmetic * ns,
            l2: rounds * l2 * ns,
            dram,
            latency: ends + partial,
            launch,
        },
        flops: attention.flops(),
        bytes,
        units,
        rounds,
    })
}

/// The fastest split; `None` where the tensor cores do not take the dtype.
pub fn choose(attention: &Attention, gpu: &Gpu) -> Option<(DecodeSchedule, Prediction)> {
    // Wide values are shared out between warpgroups that work on the same 64 queries.
    let consumers = attention.v_dim.div_ceil(MOST_VALUES);
    let part =
        AttentionSchedule { queries: WARPGROUP_ROWS, keys: KEYS, consumers, stages: 2, registers: true };
    let mut best: Option<(DecodeSchedule, Prediction)> = None;
    for splits in (1..=MOST_SPLITS).filter(|splits| splits * KEYS < attention.keys + KEYS) {
        let schedule = DecodeSchedule { part, splits };
        let prediction = predict(attention, &schedule, gpu)?;
        if best.is_none_or(|(_, least)| prediction.time.0 < least.time.0) {
            best = Some((schedule, prediction));
        }
    }
    best
}
