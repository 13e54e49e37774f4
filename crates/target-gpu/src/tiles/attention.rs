//! Blocks of attention: what fits the registers of the threads that hold scores and result.

use tegula_base::{DType, Dim, Symbols};
use tegula_machine::Gpu;
use tegula_perf::gpu::{attention::Attention as Shape, decode};
use tegula_tiling::{Attention, AttentionSplits, AttentionTile, Scores};

/// Queries of a block: two warpgroups of 64 (J. Shah et al., "FlashAttention-3", arXiv 2407.08608).
const WARPGROUP_ROWS: i64 = 64;
/// Rows of one `mma.sync`.
const WARP_ROWS: i64 = 16;

/// `None` where no product of the dtype is taken, or a head is too wide.
pub(crate) fn attention(gpu: &Gpu, attention: &Attention) -> Option<AttentionTile> {
    let half = matches!(attention.dtype, DType::F16 | DType::BF16);
    let widest = attention.qk_dim.max(attention.v_dim);
    // Warpgroups multiply what the copy engine brings.
    let warpgroups = gpu.warpgroup_mma && !attention.scattered;
    let (least, most, keys, v_dim) = match (half, warpgroups, widest) {
        // Scores and result: `keys / 2` and `widest / 2` registers of a thread; fewer keys where masks need some too.
        (true, true, ..=128) if attention.masked => (WARPGROUP_ROWS, 2 * WARPGROUP_ROWS, 64, 128),
        (true, true, ..=128) => (WARPGROUP_ROWS, 2 * WARPGROUP_ROWS, 128, 128),
        (true, true, ..=256) => (WARPGROUP_ROWS, 2 * WARPGROUP_ROWS, 64, 256),
        // Latent keys of 576 elements: two blocks of 32 and the queries are 147 KB of shared memory.
        (true, true, ..=576) => (WARPGROUP_ROWS, WARPGROUP_ROWS, 32, 256),
        // What `ptxas` compiles without spills where each thread of four warps also holds its part of the queries.
        (true, _, ..=64) => (WARP_ROWS, 64, 32, 64),
        (true, _, ..=128) => (WARP_ROWS, 64, 16, 128),
        (true, _, ..=256) => (WARP_ROWS, 16, 32, 256),
        (true, _, ..=576) => (WARP_ROWS, 16, 16, 256),
        (false, _, ..=256) if attention.dtype == DType::F32 => (WARP_ROWS, 16, 16, 256),
        _ => return None,
    };
    // Few queries leave one block for all heads that share their keys.
    let shared = attention.heads.div_exact(&attention.kv_heads).and_then(|n| n.as_const()).unwrap_or(1);
    let rows = attention.queries.as_const().map_or(most, |n| n.saturating_mul(shared).clamp(1, most));
    let queries = (rows as u64).next_power_of_two() as i64;
    Some(AttentionTile { queries: queries.clamp(least, most), keys, v_dim, scores: Scores::Rows })
}

/// Keys of a split at least, where only a program's run knows the sizes: what an SM reads of keys and values of 128 halves
/// in the time of the second launch (1.3 us at 36 B a cycle), twice over.
const LEAST_SPLIT: i64 = 256;
/// Splits at most.
const MOST_SPLITS: i64 = 256;

/// As many splits as are predicted to be fastest; where sizes are open, as many as fill the chip once.
pub(crate) fn attention_splits(
    gpu: &Gpu,
    attention: &Attention,
    tile: &AttentionTile,
    symbols: &Symbols,
) -> Option<AttentionSplits> {
    let parts = Dim::from((attention.v_dim + tile.v_dim - 1) / tile.v_dim);
    let blocks = attention.queries.ceil_div(&Dim::from(tile.queries));
    let units = attention.batch.clone() * attention.heads.clone() * blocks * parts;
    let (one, sms) = (Dim::from(1), Dim::from(i64::from(gpu.sms)));
    let chosen = chosen(gpu, attention, tile);
    let splits = match (&chosen, units.as_const()) {
        // A prompt's blocks fill the chip.
        (Some(_), Some(units)) if 2 * units > i64::from(gpu.sms) => one.clone(),
        (Some((splits, _)), _) => Dim::from(*splits),
        (None, _) => {
            let filling = sms.floor_div(&units.maximum(&one));
            let most = attention.keys.floor_div(&Dim::from(LEAST_SPLIT)).minimum(&Dim::from(MOST_SPLITS));
            filling.minimum(&most).maximum(&one)
        }
    };
    let used = (splits.clone() - one.clone()).minimum(&one);
    let reason = chosen.map_or_else(String::new, |(_, reason)| reason);
    (symbols.bounds(&splits).1 > 1).then_some(AttentionSplits { splits, used, reason })
}

/// The predicted choice and its prediction, where all sizes are known.
fn chosen(gpu: &Gpu, attention: &Attention, tile: &AttentionTile) -> Option<(i64, String)> {
    let size = |dim: &Dim| dim.as_const().and_then(|n| u64::try_from(n.max(1)).ok());
    let shape = Shape {
        batch: size(&attention.batch)?,
        heads: size(&attention.heads)?,
        kv_heads: size(&attention.heads)?,
        queries: size(&attention.queries)?,
        keys: size(&attention.keys)?,
        qk_dim: attention.qk_dim as u64,
        v_dim: attention.v_dim as u64,
        dtype: attention.dtype,
        values_in_keys: false,
        causal: attention.causal,
        window: (attention.window > 0).then_some(attention.window as u64),
    };
    let keys = tile.keys as u64;
    let (schedule, prediction) = decode::choose(&shape, gpu)?;
    let runs = schedule.splits.min(shape.keys.div_ceil(keys)) as i64;
    Some((runs.min(MOST_SPLITS), prediction.to_string()))
}
