//! Tiles of contractions, from the sizes and the chip: those of matrix units by prediction, others by rule. Blocks of
//! attention: `tiles/attention.rs`.

mod attention;

pub(crate) use attention::{attention, attention_splits};

use crate::lower::{CLUSTER_ROWS, MAP_RANK};
use tegula_base::{DType, Dim, Symbols};
use tegula_machine::{Gpu, Machine};
use tegula_perf::gpu::gemm::{Cluster, Gemm, Order, Scales, Schedule, predict, rank};
use tegula_tiling::{Contract, ContractForm, ContractTile, Edges, Prologue};

/// Result tile of a product without matrix units: 32 sums a thread, 8 rows by 4 columns, which read 12 elements of
/// shared memory for 32 multiply-adds (an SM reads 32 words and multiplies 128 times a cycle).
const TILE: (i64, i64) = (64, 64);
/// Steps of the contraction between barriers.
const STEPS: i64 = 8;
/// Result tile and steps of one warp's products, where warpgroups have none: four warps of 32 x 32 sums, 64 bytes of
/// each row a step.
const WARP_TILE: (i64, i64) = (64, 64);
const WARP_STEP_BYTES: i64 = 64;
/// Bytes of a row of one step of a warpgroup's product: the span of the widest swizzle.
const STEP_BYTES: i64 = 128;
/// Steps of a product whose weights are unpacked: the usual group of a scale, 64 bytes of a row of 4-bit weights.
const UNPACKED_STEPS: i64 = 128;
/// Sums of a thread that leave room for an epilogue's operands: of 176 `ptxas` 13.0 spills some beside a residual.
const MOST_SUMS: u64 = 128;
/// Row tiles of a band: 8 x 128 rows of the left side and the columns of a wave of CTAs fit L2 (60 MB on an H200).
const BAND: i64 = 8;
/// Runs of k of a product of warps at most, and steps of each at least: as `perf` tries them for warpgroups.
const MOST_RUNS: u64 = 16;
const LEAST_RUN: u64 = 256;
/// Rows, columns and steps that are assumed of sizes that only a run knows.
const USUAL: i64 = 4096;

/// The tile of a contraction, and what was predicted of it.
pub(crate) fn contract(machine: &Machine, contract: &Contract, symbols: &Symbols) -> (ContractTile, String) {
    let gpu = machine.gpu().expect("invariant: a target is of a GPU");
    let halves = |dtype: DType| matches!(dtype, DType::BF16 | DType::F16);
    let bytes = |dtype: DType| dtype.bits() == 8 && dtype != DType::Bool;
    let (lhs, rhs) = (contract.lhs, contract.rhs);
    let on_matrix_units = halves(lhs) && (lhs == rhs || bytes(rhs) && rhs.is_int())
        || bytes(lhs) && bytes(rhs) && lhs.is_int() == rhs.is_int();
    match on_matrix_units {
        true if contract.windowed => (of_vectors(contract, true), String::new()),
        true if gpu.warpgroup_mma && are_copied(contract, symbols) => of_warpgroups(gpu, contract, symbols),
        true => of_warps(gpu, contract),
        false => (of_vectors(contract, false), String::new()),
    }
}

/// Whether tensor maps can name rows of both sides: they begin at multiples of 16 bytes (`cuTensorMapEncodeTiled`).
fn are_copied(contract: &Contract, symbols: &Symbols) -> bool {
    // Of a side that is unpacked bytes are read.
    let rhs = match contract.prologue {
        Some(Prologue::Unpack { .. }) => DType::U8,
        Some(Prologue::BlockScales { .. }) | None => contract.rhs,
    };
    let sides = [contract.lhs, rhs].into_iter().zip(&contract.innermost);
    let whole = |(dtype, row): (DType, &Dim)| symbols.divides(16 / dtype.size() as i64, row);
    contract.batch_axes + 2 <= MAP_RANK && sides.into_iter().all(whole)
}

/// Multiply-adds, or products of warps in tiles that are cut at the edges.
fn of_vectors(contract: &Contract, on_matrix_units: bool) -> ContractTile {
    const MATRIX_ROWS: i64 = 16;
    const MATRIX_STEPS: i64 = 32;
    let up_to = |dim: &Dim, most: i64| dim.as_const().map_or(most, |n| n.clamp(1, most));
    let n = match contract.n.as_const() {
        Some(n) => (n.max(1) as u64).next_power_of_two().clamp(8, TILE.1 as u64) as i64,
        None => TILE.1,
    };
    let m = up_to(&contract.m, TILE.0);
    let (m, steps) = match on_matrix_units && m >= MATRIX_ROWS {
        true => (m / MATRIX_ROWS * MATRIX_ROWS, MATRIX_STEPS),
        false => (m, STEPS),
    };
    let k = up_to(&contract.k, steps);
    ContractTile {
        m,
        n,
        k,
        m_block: 1,
        n_slabs: 1,
        busy_rows: 1,
        converts_for: None,
        edges: Edges::Cut,
        swapped: false,
        splits: 1,
    }
}

/// Whole tiles of `mma.sync`; few of them over a long k in runs.
fn of_warps(gpu: &Gpu, contract: &Contract) -> (ContractTile, String) {
    let (m, n) = WARP_TILE;
    let k = WARP_STEP_BYTES / contract.lhs.size().max(contract.rhs.size()) as i64;
    let tile = ContractTile {
        m,
        n,
        k,
        m_block: 1,
        n_slabs: 1,
        busy_rows: 1,
        converts_for: None,
        edges: Edges::Padded,
        swapped: false,
        splits: 1,
    };
    let sizes = [&contract.batch, &contract.m, &contract.n, &contract.k].map(|dim| dim.as_const());
    let [Some(batch), Some(rows), Some(columns), Some(steps)] =
        sizes.map(|size| size.map(|n| n.max(1) as u64))
    else {
        return (tile, String::new());
    };
    let gemm = Gemm { groups: batch, ..Gemm::new(rows, columns, steps, contract.lhs, contract.lhs) };
    let of = |splits: u64| {
        let schedule = Schedule {
            swap: false,
            rows: m as u64,
            columns: n as u64,
            depth: k as u64,
            stages: 1,
            consumers: 1,
            cluster: Cluster::One,
            splits,
            order: Order::Single,
        };
        predict(&gemm, &schedule, gpu).map(|prediction| (splits, prediction))
    };
    let runs = (1..=MOST_RUNS).filter(|runs| *runs == 1 || steps / runs >= LEAST_RUN).filter_map(of);
    let best = runs.reduce(|best, next| if next.1.time.0 < best.1.time.0 { next } else { best });
    match best {
        Some((splits, prediction)) => {
            (ContractTile { splits: splits as i64, ..tile }, format!("splits={splits}: {prediction}"))
        }
        None => (tile, String::new()),
    }
}

/// Rows up to which forms of their own are chosen where only a run knows how many there are: those of a decoder's steps,
/// and of short prompts. Each is chosen for its largest number.
const FEW_ROWS: [i64; 2] = [64, 256];

/// The forms of a contraction: one for each range of rows that would not be computed alike.
pub(crate) fn forms(machine: &Machine, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
    let (low, high) = symbols.bounds(&contract.m);
    let few =
        FEW_ROWS.into_iter().filter(|rows| contract.m.as_const().is_none() && (low..high).contains(rows));
    let mut forms: Vec<ContractForm> = Vec::new();
    for most_rows in few.chain([i64::MAX]) {
        let m = if most_rows == i64::MAX { contract.m.clone() } else { Dim::from(most_rows) };
        let (tile, reason) = self::contract(machine, &Contract { m, ..contract.clone() }, symbols);
        if forms.last().is_some_and(|before| before.tile == tile) {
            forms.pop();
        }
        forms.push(ContractForm { most_rows, tile, reason });
    }
    // Forms with cut edges have tiles for all rows.
    if forms.iter().any(|form| form.tile.edges == Edges::Cut) {
        forms.drain(..forms.len() - 1);
    }
    forms
}

/// The fastest predicted of the schedules that the lowering has.
fn of_warpgroups(gpu: &Gpu, contract: &Contract, symbols: &Symbols) -> (ContractTile, String) {
    let usual = |dim: &Dim| -> u64 {
        let (low, high) = symbols.bounds(dim);
        dim.as_const().unwrap_or(USUAL.clamp(low, high.max(low))).max(1) as u64
    };
    let (m, n, k) = (usual(&contract.m), usual(&contract.n), usual(&contract.k));
    // Of sizes that only a run knows the tiles may be many, and k short.
    let may_split = [&contract.m, &contract.n, &contract.k].into_iter().all(|dim| dim.as_const().is_some());
    let packed = match contract.prologue {
        Some(Prologue::Unpack { bits: 4, .. }) => Some(DType::U4),
        Some(Prologue::Unpack { .. }) => Some(DType::U8),
        Some(Prologue::BlockScales { .. }) | None => None,
    };
    let is_scaled = matches!(contract.prologue, Some(Prologue::BlockScales { .. }));
    let gemm = Gemm {
        groups: usual(&contract.batch),
        b: packed.unwrap_or(contract.lhs),
        scales: if is_scaled { Scales::Block128 } else { Scales::Outside },
        ..Gemm::new(m, n, k, contract.lhs, contract.lhs)
    };
    let has = |schedule: &Schedule| {
        let order = matches!(schedule.order, Order::Single | Order::Cooperative);
        // Rows of more than one CTA are a cluster's.
        let rows = match schedule.cluster {
            Cluster::One => matches!(schedule.rows, 64 | 128),
            Cluster::Rows => 2 * schedule.rows == CLUSTER_ROWS as u64 && !schedule.swap,
            Cluster::Columns => false,
        };
        // Integers have no products of odd multiples of 8 columns beyond 24.
        let columns =
            contract.lhs.is_float() || schedule.columns <= 24 || schedule.columns.is_multiple_of(16);
        let sums = schedule.rows * schedule.columns / (128 * schedule.consumers);
        // Sums of a block beside those of all; a box of a scale's columns is a power of two.
        let fits = match is_scaled {
            true => 2 * sums <= MOST_SUMS && (schedule.swap || schedule.columns.is_power_of_two()),
            false => sums <= MOST_SUMS,
        };
        order && rows && columns && fits && (schedule.splits == 1 || may_split)
    };
    let found = rank(&gemm, gpu).into_iter().find(|(schedule, _)| has(schedule));
    let reason = found.map_or_else(String::new, |(schedule, prediction)| format!("{schedule}: {prediction}"));
    let (swapped, rows, columns, splits) = match found {
        Some((schedule, _)) => {
            let ctas = if schedule.cluster == Cluster::Rows { 2 } else { 1 };
            (schedule.swap, ctas * schedule.rows as i64, schedule.columns as i64, schedule.splits as i64)
        }
        None => (packed.is_some(), TILE.0, TILE.1, 1),
    };
    let (m, n) = if swapped { (columns, rows) } else { (rows, columns) };
    let k = if packed.is_some() { UNPACKED_STEPS } else { STEP_BYTES / contract.lhs.size() as i64 };
    let m_block = if swapped { 1 } else { BAND };
    (
        ContractTile {
            m,
            n,
            k,
            m_block,
            n_slabs: 1,
            busy_rows: 1,
            converts_for: None,
            edges: Edges::Padded,
            swapped,
            splits,
        },
        reason,
    )
}
