//! The time of one schedule of a matrix product.
//! Before: the schedule's tile fits the SM (`candidates.rs`).  After: every term in cycles of one SM, added up.
//!
//! Results leave in the open: the time they take is added to everything else, since all SMs end their tiles at about
//! the same time. Source: deepseek-ai/DeepGEMM, README.md of 2025-02-26; 4096 x 32768 x 512 takes 233 us on an H800,
//! more than the 89 us in which its 268 MB of results pass and the 79 us of its products together.

use super::{Cluster, Gemm, Order, Scales, Schedule, bytes};
use crate::gpu::{
    FIRST_TRIPS, L2_REUSE_SHARE, Limits, Prediction, VISIBLE_SHARE, WARPGROUP_ROWS, clock_hz, dram_ns,
    l2_share, overlapped,
};
use tegula_base::DType;
use tegula_base::units::Nanoseconds;
use tegula_machine::Gpu;

/// Integer and conversion instructions that make one packed weight an operand: `lop3`, `prmt` or shift, a packed
/// multiply-add for scale and offset. Assumed: 12 instructions for 8 weights, after the recipe of IST-DASLab/marlin.
const UNPACK_OPS: f64 = 1.5;

/// Cycles of the copy engine for a row of 128 bytes that lies outside of its tensor: it is filled with zeros, where one
/// inside takes two. Source: measured on an H200 (2026-11-26), boxes of 64 rows of which 1, 16 and 64 are inside beside
/// 48 rows of weights: 800, 741 and at most 430 cycles a step.
const OUTSIDE_ROW_CYCLES: f64 = 11.0;

/// What a load from busy memory takes, in latencies of idle memory. Source: measured on an H200 (2026-11-26), 64 CTAs
/// with 8 stages of 64 rows of 128 bytes: 304 cycles a step, with one stage that is being read.
const BUSY_LATENCIES: f64 = 3.0;

/// Cycles of one SM for one tile.
#[derive(Clone, Copy, Default)]
struct TileCycles {
    tensor: f64,
    shared: f64,
    arithmetic: f64,
    l2: f64,
    /// Stages that are asked for ahead cover the latency of memory so fast.
    waits: f64,
    /// The part of the epilogue that nothing hides.
    epilogue: f64,
}

impl TileCycles {
    /// Loads, products and arithmetic overlap, the last two imperfectly.
    fn total(&self) -> f64 {
        overlapped(self.tensor.max(self.shared), self.arithmetic).max(self.l2).max(self.waits) + self.epilogue
    }
}

/// Operand bytes an element in shared memory; row and column operand are told apart by `swap`.
struct Sides {
    rows: u64,
    columns: u64,
    row_dtype: DType,
    column_dtype: DType,
}

impl Sides {
    fn of(gemm: &Gemm, swap: bool) -> Sides {
        if swap {
            Sides { rows: gemm.n, columns: gemm.m, row_dtype: gemm.b, column_dtype: gemm.a }
        } else {
            Sides { rows: gemm.m, columns: gemm.n, row_dtype: gemm.a, column_dtype: gemm.b }
        }
    }
}

/// The time of `gemm` by `schedule`; `None` where the tensor cores do not take the operands.
pub fn predict(gemm: &Gemm, schedule: &Schedule, gpu: &Gpu) -> Option<Prediction> {
    let rate = gpu.tensor.rate(gemm.a)?;
    let sides = Sides::of(gemm, schedule.swap);
    let tiles_down = sides.rows.div_ceil(schedule.rows);
    let tiles_across = sides.columns.div_ceil(schedule.columns);
    let tiles = gemm.groups * tiles_down * tiles_across;
    let units = tiles * schedule.splits;
    let sms = f64::from(gpu.sms);
    let active = (units as f64).min(sms);
    let depth = gemm.k.div_ceil(schedule.splits).next_multiple_of(schedule.depth) as f64;

    let tile = tile_cycles(gemm, schedule, &sides, depth, rate, active, gpu);
    let rounds = rounds(schedule, units as f64, sms);
    let (read, written) = traffic(gemm, schedule, &sides, [tiles_down, tiles_across], active, gpu);
    let (loads, results) = (dram_ns(gpu, read), dram_ns(gpu, written));
    let busiest = (rounds * tile.total()).max(loads * gpu.max_clock_hz / 1e9);
    let ns = 1e9 / clock_hz(gpu, rounds * tile.tensor / busiest);

    // Partial sums in f32 go out to L2 and come back.
    let partial = 4.0 * (sides.rows * sides.columns * gemm.groups) as f64;
    let reduction = match schedule.order {
        Order::StreamK => {
            let tile_bytes = 4.0 * (schedule.rows * schedule.columns) as f64;
            2.0 * tile_bytes / l2_share(gpu, active) + FIRST_TRIPS * gpu.l2_latency_cycles
        }
        _ if schedule.splits > 1 => {
            2.0 * partial * schedule.splits as f64 / gpu.l2_bytes_per_cycle
                + FIRST_TRIPS * gpu.memory_latency_cycles
        }
        _ => 0.0,
    };
    // A second kernel adds up the sums of runs.
    let launches = if schedule.splits > 1 { 2.0 } else { 1.0 };
    let launch = launches * gpu.launch_overhead.0;
    // First loads, and the last result on its way to memory.
    let ends = (FIRST_TRIPS + 1.0) * gpu.memory_latency_cycles;
    let refills = match schedule.order {
        Order::Single => (rounds - 1.0).max(0.0) * FIRST_TRIPS * gpu.l2_latency_cycles,
        Order::Cooperative | Order::PingPong | Order::StreamK => 0.0,
    };
    let busiest = (rounds * tile.total() * ns).max(loads);
    let latency = (ends + refills + reduction) * ns;
    let limits = Limits {
        tensor: rounds * tile.tensor * ns,
        shared: rounds * tile.shared * ns,
        special: 0.0,
        arithmetic: rounds * tile.arithmetic * ns,
        l2: rounds * tile.l2 * ns,
        dram: loads + results,
        latency: latency + rounds * tile.epilogue * ns,
        launch,
    };
    Some(Prediction {
        time: Nanoseconds(busiest + results + latency + launch),
        limits,
        flops: gemm.flops(),
        bytes: gemm.bytes(),
        units,
        rounds,
    })
}

/// Tiles that the busiest SM computes.
fn rounds(schedule: &Schedule, units: f64, sms: f64) -> f64 {
    match schedule.order {
        Order::StreamK => (units / sms).max(1.0),
        Order::Single | Order::Cooperative | Order::PingPong => (units / sms).ceil(),
    }
}

fn tile_cycles(
    gemm: &Gemm,
    schedule: &Schedule,
    sides: &Sides,
    depth: f64,
    rate: f64,
    active: f64,
    gpu: &Gpu,
) -> TileCycles {
    let (rows, columns) = (schedule.rows as f64, schedule.columns as f64);
    let element = f64::from(gemm.a.bits()) / 8.0;
    let area = rows * columns;
    // A product takes 64 rows, or 16 with `mma.sync`.
    let instruction_rows = if gpu.warpgroup_mma { WARPGROUP_ROWS as f64 } else { 16.0 };
    let padded = (rows / instruction_rows).ceil() * instruction_rows;
    let tensor = 2.0 * padded * columns * depth / rate;
    let out = area * f64::from(gemm.out.bits()) / 8.0;
    // Products read at the rate of their form; all traffic of the tile, each operand read once, passes too.
    let fed = shared_elements(gemm, schedule, padded, columns, gpu) * element * depth;
    let stored = |dtype: DType| f64::from(dtype.bits()) / 8.0;
    let operands = padded * stored(sides.row_dtype) + columns * stored(sides.column_dtype);
    let passed = 2.0 * operands * depth + 2.0 * out;
    let shared = fed.max(passed) / gpu.shared_bytes_per_cycle;

    let rescale = match gemm.scales {
        Scales::Outside => 0.0,
        Scales::Block128 => area * (depth / 128.0) / (gpu.flops_f32 / 2.0),
    };
    let packed = if schedule.swap { rows } else { columns };
    let unpack = if gemm.unpacks() { packed * depth * UNPACK_OPS / gpu.integer_rate } else { 0.0 };

    let (share_rows, share_columns) = match schedule.cluster {
        Cluster::One => (1.0, 1.0),
        Cluster::Rows => (1.0, 2.0),
        Cluster::Columns => (2.0, 1.0),
    };
    let loaded =
        rows * stored(sides.row_dtype) / share_rows + columns * stored(sides.column_dtype) / share_columns;
    let port = l2_share(gpu, active);
    let l2 = (depth * loaded + out) / port + outside_cycles(schedule, sides, depth, gpu);

    // Accumulators are packed two at a time, pass through shared memory and leave as a bulk copy.
    let packs = area / if gemm.out.bits() <= 16 { 2.0 } else { f64::INFINITY };
    let write_out = packs / gpu.conversion_rate + out / gpu.shared_bytes_per_cycle;
    let epilogue = match schedule.order {
        Order::PingPong => VISIBLE_SHARE * write_out,
        Order::Cooperative | Order::StreamK => write_out,
        Order::Single => write_out + out / port,
    };
    let ahead = schedule.stages.saturating_sub(1).max(1) as f64;
    let waits = match gpu.warpgroup_mma {
        true => depth / schedule.depth as f64 * BUSY_LATENCIES * gpu.memory_latency_cycles / ahead,
        false => 0.0,
    };
    TileCycles { tensor, shared, arithmetic: rescale + unpack, l2, waits, epilogue }
}

/// What the copy engine spends on rows and columns of a tile beyond the operands, on the average of all tiles.
fn outside_cycles(schedule: &Schedule, sides: &Sides, depth: f64, gpu: &Gpu) -> f64 {
    if !gpu.warpgroup_mma {
        return 0.0;
    }
    let outside = |extent: u64, tile: u64| tile as f64 - extent as f64 / extent.div_ceil(tile).max(1) as f64;
    let rows = outside(sides.rows, schedule.rows) + outside(sides.columns, schedule.columns);
    rows * depth / schedule.depth as f64 * OUTSIDE_ROW_CYCLES
}

/// Elements that products of one contraction step read from shared memory. A warpgroup reads its 64 rows once, from
/// registers if they were unpacked there, and all columns; warps in a grid read rows and columns as often as the
/// grid is wide and high.
fn shared_elements(gemm: &Gemm, schedule: &Schedule, rows: f64, columns: f64, gpu: &Gpu) -> f64 {
    if gpu.warpgroup_mma {
        let own = if gemm.unpacks() { 0.0 } else { WARPGROUP_ROWS as f64 };
        return rows / WARPGROUP_ROWS as f64 * (own + columns);
    }
    let warps_down = 2.0;
    let warps_across = 4.0 * schedule.consumers as f64 / warps_down;
    rows * warps_across + columns * warps_down
}

/// Bytes read and written over the kernel by an order of tiles that keeps each round as square as it can.
fn traffic(
    gemm: &Gemm,
    schedule: &Schedule,
    sides: &Sides,
    tiles: [u64; 2],
    active: f64,
    gpu: &Gpu,
) -> (f64, f64) {
    let rows = bytes(sides.row_dtype, sides.rows * gemm.k);
    let columns = bytes(sides.column_dtype, sides.columns * gemm.k);
    let groups = gemm.groups as f64;
    let once = groups * (rows + columns);
    let written = bytes(gemm.out, gemm.groups * gemm.m * gemm.n);
    if rows + columns <= L2_REUSE_SHARE * gpu.l2.0 as f64 {
        return (once, written);
    }
    let [down, across] = tiles.map(|n| n as f64);
    let (row_panel, column_panel) = (rows / down, columns / across);
    // A round of `high` by `active / high` tiles loads so many panels of either side; the best is where both cost
    // the same.
    let at_once = active / schedule.splits as f64;
    let high = (at_once * column_panel / row_panel).sqrt().clamp(1.0, down);
    let wide = (at_once / high).clamp(1.0, across);
    let rounds = (down / high) * (across / wide);
    let read = groups * rounds * (high * row_panel + wide * column_panel);
    (read.clamp(once, once.max(groups * (rows * across + columns * down))), written)
}
