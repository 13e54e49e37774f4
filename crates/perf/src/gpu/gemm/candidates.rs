//! The schedules of a matrix product that a chip can run, and the fastest of them.
//!
//! Every candidate keeps the rules by which such kernels compile without spills and load without gaps: see
//! `fits`. The order of candidates is fixed, and the first of equally fast ones is taken.

use super::{Cluster, Gemm, Order, Scales, Schedule, predict};
use crate::gpu::{Prediction, SAME_TIME, WARPGROUP_ROWS};
use tegula_machine::Gpu;

/// Accumulators of a thread that compile without spills beside addresses and fragments: `ptxas` 13.0 on `sm_90a`
/// with 2 consumer warpgroups takes 192, with 256 it spills 5 KB.
const MOST_ACCUMULATORS: u64 = 192;
/// With `mma.sync` fragments of both operands stand in registers too: 255 less 64 of accumulators for 128 x 128 by
/// 4 warps is what CUTLASS's sm_80 kernels use.
const MOST_WARP_ACCUMULATORS: u64 = 128;
/// Bytes of one row of a stage: the span of the widest swizzle.
const STAGE_ROW_BYTES: u64 = 128;
/// Stages that hide the latency of loads, and from which small tiles need one more.
/// Source: deepseek-ai/DeepGEMM, csrc/jit_kernels/heuristics/sm90.hpp.
const LEAST_STAGES: u64 = 3;
const SMALL_TILE: u64 = 128 * 192;
const MOST_STAGES: u64 = 8;
/// Bytes for barriers and alignment beside the stages.
const OTHER_SHARED: u64 = 2048;
/// More parts of `k` cost more in partial sums than they bring.
const MOST_SPLITS: u64 = 16;
/// Contraction steps of a part that still fill its stages.
const LEAST_SPLIT_DEPTH: u64 = 256;

/// Shares of the time that L2 and shared memory may be busy before waiting for them shows. Assumed.
const EASY_SHARE: f64 = 0.75;

/// The fastest schedule; of those as good as equally fast the one that strains L2 and shared memory least, and of
/// several at ease the first, which is the simplest. `None` where the tensor cores do not take the operands.
pub fn choose(gemm: &Gemm, gpu: &Gpu) -> Option<(Schedule, Prediction)> {
    let all = predicted(gemm, gpu);
    let least = all.iter().map(|(_, prediction)| prediction.time.0).reduce(f64::min)?;
    let strain = |prediction: &Prediction| {
        let limits = &prediction.limits;
        (limits.l2.max(limits.shared) / prediction.time.0).max(EASY_SHARE)
    };
    let fast = all.into_iter().filter(|(_, prediction)| prediction.time.0 <= SAME_TIME * least);
    fast.reduce(|a, b| if strain(&b.1) < strain(&a.1) { b } else { a })
}

/// All schedules, fastest first: what a measurement would try in this order.
pub fn rank(gemm: &Gemm, gpu: &Gpu) -> Vec<(Schedule, Prediction)> {
    let mut ranked = predicted(gemm, gpu);
    ranked.sort_by(|a, b| a.1.time.0.total_cmp(&b.1.time.0));
    ranked
}

fn predicted(gemm: &Gemm, gpu: &Gpu) -> Vec<(Schedule, Prediction)> {
    let all = candidates(gemm, gpu);
    all.into_iter().filter_map(|schedule| Some((schedule, predict(gemm, &schedule, gpu)?))).collect()
}

/// The schedules that fit the chip, in a fixed order.
pub fn candidates(gemm: &Gemm, gpu: &Gpu) -> Vec<Schedule> {
    let mut found = Vec::new();
    // With few tokens the weight's channels fill the rows of a product, and tokens its columns, 8 at a time.
    let swaps: &[bool] = match (gemm.unpacks(), gemm.m) {
        (true, _) => &[true],
        (false, ..=256) => &[false, true],
        (false, _) => &[false],
    };
    for &swap in swaps {
        let (high, columns) = if swap { (gemm.n, gemm.m) } else { (gemm.m, gemm.n) };
        let needed = high.next_multiple_of(WARPGROUP_ROWS);
        for &rows in row_sizes(gpu).iter().filter(|rows| **rows <= needed) {
            for width in column_sizes(columns) {
                let tile = Schedule {
                    swap,
                    rows,
                    columns: width,
                    depth: (8 * STAGE_ROW_BYTES / u64::from(gemm.a.bits())).max(1),
                    stages: 0,
                    consumers: if gpu.warpgroup_mma { (rows / WARPGROUP_ROWS).clamp(1, 2) } else { 2 },
                    cluster: Cluster::One,
                    splits: 1,
                    order: Order::Single,
                };
                if let Some(tile) = fits(gemm, tile, gpu) {
                    variants(gemm, tile, gpu, &mut found);
                }
            }
        }
    }
    found
}

/// The usual height first.
fn row_sizes(gpu: &Gpu) -> &'static [u64] {
    if gpu.warpgroup_mma { &[128, 64, 256, 192] } else { &[128, 64, 256] }
}

/// Multiples of 16, of 8 below 32, the widest first; nothing wider than the columns need.
fn column_sizes(columns: u64) -> impl Iterator<Item = u64> {
    let needed = columns.next_multiple_of(8).max(8);
    let sizes = (32..=256).rev().step_by(16).chain([24, 16, 8]);
    sizes.filter(move |size| *size < needed + 16)
}

/// The tile with as many stages as fit; `None` where too few do or registers would spill.
fn fits(gemm: &Gemm, tile: Schedule, gpu: &Gpu) -> Option<Schedule> {
    let area = tile.rows * tile.columns;
    let copies = if gemm.scales == Scales::Block128 { 2 } else { 1 };
    let most = if gpu.warpgroup_mma { MOST_ACCUMULATORS } else { MOST_WARP_ACCUMULATORS };
    if copies * area / (128 * tile.consumers) > most {
        return None;
    }
    let element = u64::from(gemm.a.bits());
    let (row_bits, column_bits) = match tile.swap {
        true => (u64::from(gemm.b.bits()), element),
        false => (element, u64::from(gemm.b.bits())),
    };
    let stage = tile.depth * (tile.rows * row_bits + tile.columns * column_bits) / 8;
    // The result passes through 64 columns at a time.
    let result = tile.rows * tile.columns.min(64) * u64::from(gemm.out.bits()) / 8;
    let free = gpu.shared_memory_per_cta.0.checked_sub(result + OTHER_SHARED)?;
    let stages = (free / stage).min(MOST_STAGES);
    let least = LEAST_STAGES + u64::from(area < SMALL_TILE && gpu.warpgroup_mma);
    (stages >= least).then_some(Schedule { stages, ..tile })
}

/// The ways to walk over tiles of one size.
fn variants(gemm: &Gemm, tile: Schedule, gpu: &Gpu, found: &mut Vec<Schedule>) {
    let (rows, columns) = if tile.swap { (gemm.n, gemm.m) } else { (gemm.m, gemm.n) };
    let (down, across) = (rows.div_ceil(tile.rows), columns.div_ceil(tile.columns));
    let tiles = gemm.groups * down * across;
    let sms = u64::from(gpu.sms);
    if tiles <= sms {
        // One round: nothing to share by multicast, nothing to hide an epilogue behind.
        found.push(tile);
        let splits = (2..=MOST_SPLITS).filter(|splits| gemm.k / splits >= LEAST_SPLIT_DEPTH);
        found.extend(
            splits.filter(|splits| tiles * splits <= 2 * sms).map(|splits| Schedule { splits, ..tile }),
        );
        return;
    }
    let pairs = gpu.max_cluster >= 2;
    let clusters =
        [(Cluster::One, true), (Cluster::Rows, pairs && down >= 2), (Cluster::Columns, pairs && across >= 2)];
    for (cluster, _) in clusters.into_iter().filter(|(_, fits)| *fits) {
        found.push(Schedule { cluster, order: Order::Cooperative, ..tile });
        // A tile for each consumer of its own: 64 rows each, both with all accumulators.
        if gpu.warpgroup_mma && tile.rows == WARPGROUP_ROWS {
            found.push(Schedule { cluster, order: Order::PingPong, consumers: 2, ..tile });
        }
        if tiles < 4 * sms && !tiles.is_multiple_of(sms) {
            found.push(Schedule { cluster, order: Order::StreamK, ..tile });
        }
    }
}
