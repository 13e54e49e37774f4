//! Attention forward on a GPU: products of two matrices with a softmax between them, tile by tile.
//!
//! Method: of each block of scores the tensor cores' time for both products (or shared memory's, if that is longer),
//! and the softmax's: one `ex2`, one multiply-add, one sum, one maximum and half a packed conversion an element, and
//! the running rescaling of the result. Two or more warpgroups overlap them but for `VISIBLE_SHARE` of the shorter.
//! Source of the recipe: J. Shah et al., "FlashAttention-3", arXiv 2407.08608.

use super::{
    FIRST_TRIPS, Limits, Prediction, SAME_TIME, VISIBLE_SHARE, WARPGROUP_ROWS, clock_hz, dram_ns, l2_share,
    overlapped,
};
use std::fmt;
use tegula_base::DType;
use tegula_base::units::Nanoseconds;
use tegula_machine::Gpu;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub batch: u64,
    pub heads: u64,
    /// Heads of keys and values, a divisor of `heads`.
    pub kv_heads: u64,
    pub queries: u64,
    pub keys: u64,
    /// Elements of a query or key, and of a value.
    pub qk_dim: u64,
    pub v_dim: u64,
    pub dtype: DType,
    /// Values are the first `v_dim` elements of the keys (multi-head latent attention): nothing of their own is loaded.
    pub values_in_keys: bool,
    /// A query sees the keys up to its own position, counted from the end.
    pub causal: bool,
    /// Keys before its own position that a causal query sees at most.
    pub window: Option<u64>,
}

/// How a CTA walks over keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionSchedule {
    /// Queries of a CTA, 64 a consumer warpgroup.
    pub queries: u64,
    /// Keys of a step.
    pub keys: u64,
    pub consumers: u64,
    /// Stages of keys and of values in shared memory.
    pub stages: u64,
    /// Probabilities go from registers to the second product; else through shared memory.
    pub registers: bool,
}

/// Registers of a consumer's thread by consumers, less addresses, statistics and scratch. Source: FlashAttention-3's
/// `setmaxnreg`, 240 with two consumers and 160 with three.
const CONSUMER_REGISTERS: [(u64, u64); 3] = [(1, 216), (2, 216), (3, 136)];
/// Shared memory for barriers and alignment.
const OTHER_SHARED: u64 = 1024;

impl Attention {
    /// Products that the mask leaves; a diagonal counts half, as benchmarks count it.
    pub fn flops(&self) -> f64 {
        let heads = (self.batch * self.heads) as f64;
        2.0 * heads * self.queries as f64 * self.seen() * (self.qk_dim + self.v_dim) as f64
    }

    /// Keys that a query sees on average.
    fn seen(&self) -> f64 {
        let (queries, keys) = (self.queries as f64, self.keys as f64);
        if !self.causal {
            return keys;
        }
        let all = keys - (queries / 2.0).min(keys / 2.0);
        self.window.map_or(all, |window| all.min(window as f64))
    }

    pub(super) fn kv_bytes(&self) -> f64 {
        (self.batch * self.kv_heads * self.keys) as f64 * self.key_bytes()
    }

    /// Of one key and its value.
    pub(super) fn key_bytes(&self) -> f64 {
        let values = if self.values_in_keys { 0 } else { self.v_dim };
        (self.qk_dim + values) as f64 * self.dtype.size() as f64
    }

    pub(super) fn q_bytes(&self) -> f64 {
        (self.batch * self.heads * self.queries * self.qk_dim) as f64 * self.dtype.size() as f64
    }

    /// The result, 16 bits an element at least.
    pub(super) fn out_bytes(&self) -> f64 {
        (self.batch * self.heads * self.queries * self.v_dim) as f64 * self.dtype.size().max(2) as f64
    }
}

/// Cycles of one SM for one block of scores.
#[derive(Clone, Copy)]
pub(super) struct BlockCycles {
    pub tensor: f64,
    pub shared: f64,
    pub special: f64,
    pub arithmetic: f64,
    /// The share of the products that runs beside the next block's softmax in one warpgroup alone: the second one's.
    beside: f64,
}

impl BlockCycles {
    /// `None` where the tensor cores do not take the dtype.
    pub(super) fn of(attention: &Attention, schedule: &AttentionSchedule, gpu: &Gpu) -> Option<BlockCycles> {
        let rate = gpu.tensor.rate(attention.dtype)?;
        let (queries, keys) = (schedule.queries as f64, schedule.keys as f64);
        let (qk, v) = (attention.qk_dim as f64, attention.v_dim as f64);
        let element = attention.dtype.size() as f64;
        let (scores, lanes) = (queries * keys, gpu.flops_f32 / 2.0);
        // The rows that share one reading of the keys, and are read themselves where they do not stay in registers.
        let (sharing, own) =
            if gpu.warpgroup_mma { (WARPGROUP_ROWS as f64, WARPGROUP_ROWS as f64) } else { (16.0, 0.0) };
        let groups = (queries / sharing).max(1.0);
        let first = groups * (own + keys) * qk;
        let second = groups * (if schedule.registers { 0.0 } else { 2.0 * own * keys } + keys * v);
        Some(BlockCycles {
            tensor: 2.0 * scores * (qk + v) / rate,
            shared: (first + second) * element / gpu.shared_bytes_per_cycle,
            special: scores / gpu.special_rate,
            arithmetic: (2.0 * scores + queries * v) / lanes
                + scores / gpu.integer_rate
                + scores / 2.0 / gpu.conversion_rate,
            beside: if gpu.warpgroup_mma { v / (qk + v) } else { 0.0 },
        })
    }

    pub(super) fn products(&self) -> f64 {
        self.tensor.max(self.shared)
    }

    pub(super) fn softmax(&self) -> f64 {
        self.special + self.arithmetic
    }

    /// Of `blocks` one after another. A single consumer has no other one to alternate with, only its own last product.
    pub(super) fn chain(&self, blocks: f64, consumers: u64) -> f64 {
        if consumers == 1 {
            let second = self.beside * self.products();
            return blocks * (self.products() - second + overlapped(second, self.softmax()));
        }
        // The first scores wait for nothing and the last softmax hides nothing.
        let exposed = (1.0 - VISIBLE_SHARE) * self.products().min(self.softmax());
        blocks * overlapped(self.products(), self.softmax()) + exposed
    }
}

/// The time of `attention` by `schedule`; `None` where the tensor cores do not take the dtype.
pub fn predict(attention: &Attention, schedule: &AttentionSchedule, gpu: &Gpu) -> Option<Prediction> {
    let block = BlockCycles::of(attention, schedule, gpu)?;
    let tiles = attention.queries.div_ceil(schedule.queries);
    let units = attention.batch * attention.heads * tiles;
    let sms = f64::from(gpu.sms);
    let blocks = blocks_a_tile(attention, schedule);
    let rounds = if attention.causal {
        // Long tiles go first, so that short ones fill the end.
        (units as f64 / sms).max(1.0)
    } else {
        (units as f64 / sms).ceil()
    };
    let out = (schedule.queries * attention.v_dim) as f64;
    let epilogue = out / (gpu.flops_f32 / 2.0)
        + out / 2.0 / gpu.conversion_rate
        + 2.0 * out / gpu.shared_bytes_per_cycle;
    // Queries are loaded when the tile before is done with its own.
    let refill = gpu.l2_latency_cycles
        + (schedule.queries * attention.qk_dim) as f64 * attention.dtype.size() as f64 / l2_share(gpu, sms);
    let l2 = blocks * schedule.keys as f64 * attention.key_bytes() / l2_share(gpu, (units as f64).min(sms));
    let tile = block.chain(blocks, schedule.consumers).max(l2) + epilogue + refill;
    // The longest tile is the least that a kernel of one round takes.
    let longest = if attention.causal && rounds <= 1.0 {
        tile * attention.keys as f64 / attention.seen()
    } else {
        tile
    };
    let ns = 1e9 / clock_hz(gpu, blocks * block.tensor / tile);
    let bytes = attention.q_bytes() + attention.kv_bytes() + attention.out_bytes();
    let dram = dram_ns(gpu, bytes);
    let ends = (FIRST_TRIPS + 1.0) * gpu.memory_latency_cycles * ns;
    let busiest = (rounds * tile).max(longest) * ns;
    Some(Prediction {
        time: Nanoseconds(busiest.max(dram) + ends + gpu.launch_overhead.0),
        limits: Limits {
            tensor: rounds * blocks * block.tensor * ns,
            shared: rounds * blocks * block.shared * ns,
            special: rounds * blocks * block.special * ns,
            arithmetic: rounds * blocks * block.arithmetic * ns,
            l2: rounds * l2 * ns,
            dram,
            latency: ends + rounds * (epilogue + refill) * ns,
            launch: gpu.launch_overhead.0,
        },
        flops: attention.flops(),
        bytes,
        units,
        rounds,
    })
}

/// Blocks of keys that a tile of queries visits on average: whole ones, of which the diagonal takes the last.
fn blocks_a_tile(attention: &Attention, schedule: &AttentionSchedule) -> f64 {
    let (queries, keys) = (schedule.queries as f64, schedule.keys as f64);
    if !attention.causal {
        return (attention.keys as f64 / keys).ceil();
    }
    // The last row of a tile sees half a tile more than the middle one, and half a block is cut off on average.
    let seen = attention.seen() + queries / 2.0;
    let edges = if attention.window.is_some() { queries / 2.0 + keys / 2.0 } else { 0.0 };
    ((seen + keys / 2.0 + edges) / keys).max(1.0)
}

/// The fastest schedule; of those as good as equally fast the one with the longest steps. `None` where the tensor
/// cores do not take the dtype.
pub fn choose(attention: &Attention, gpu: &Gpu) -> Option<(AttentionSchedule, Prediction)> {
    let all = candidates(attention, gpu);
    let all: Vec<_> = all
        .into_iter()
        .filter_map(|schedule| Some((schedule, predict(attention, &schedule, gpu)?)))
        .collect();
    let least = all.iter().map(|(_, prediction)| prediction.time.0).reduce(f64::min)?;
    all.into_iter().find(|(_, prediction)| prediction.time.0 <= SAME_TIME * least)
}

/// The schedules whose registers and shared memory fit, in a fixed order: long steps first.
pub fn candidates(attention: &Attention, gpu: &Gpu) -> Vec<AttentionSchedule> {
    let mut found = Vec::new();
    for keys in (16..=256).rev().step_by(16) {
        for (consumers, most) in CONSUMER_REGISTERS {
            for registers in [true, false] {
                let queries = consumers * WARPGROUP_ROWS;
                let schedule = AttentionSchedule { queries, keys, consumers, stages: 2, registers };
                if held_registers(attention, &schedule) <= most
                    && shared_bytes(attention, &schedule) <= gpu.shared_memory_per_cta.0
                {
                    found.push(schedule);
                }
            }
        }
    }
    found
}

/// Of a thread: scores and the result in f32, probabilities beside them if they stay in registers.
fn held_registers(attention: &Attention, schedule: &AttentionSchedule) -> u64 {
    let packed = schedule.keys / 2 * attention.dtype.size() as u64 / 4;
    let probabilities = if schedule.registers { packed } else { 0 };
    schedule.keys / 2 + attention.v_dim / 2 + probabilities
}

fn shared_bytes(attention: &Attention, schedule: &AttentionSchedule) -> u64 {
    let element = attention.dtype.size() as u64;
    let values = if attention.values_in_keys { 0 } else { attention.v_dim };
    let stages = schedule.stages * schedule.keys * (attention.qk_dim + values);
    let probabilities = if schedule.registers { 0 } else { schedule.queries * schedule.keys };
    (schedule.queries * attention.qk_dim + stages + probabilities) * element + OTHER_SHARED
}

impl fmt::Display for AttentionSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} stages={} ", self.queries, self.keys, self.stages)?;
        write!(f, "consumers={} ", self.consumers)?;
        f.write_str(if self.registers {
            "probabilities in registers"
        } else {
            "probabilities in shared memory"
        })
    }
}
