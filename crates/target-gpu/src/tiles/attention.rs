//! Blocks of attention: what fits the registers of the threads that hold scores and result.

use tegula_base::DType;
use tegula_machine::Gpu;
use tegula_target::{Attention, AttentionTile};

/// Queries of a block: two warpgroups of 64 (J. Shah et al., "FlashAttention-3", arXiv 2407.08608).
const WARPGROUP_ROWS: i64 = 64;
/// Rows of one `mma.sync`.
const WARP_ROWS: i64 = 16;

/// `None` where no product of the dtype is taken, or a head is too wide.
pub(crate) fn attention(gpu: &Gpu, attention: &Attention) -> Option<AttentionTile> {
    let half = matches!(attention.dtype, DType::F16 | DType::BF16);
    let widest = attention.qk_dim.max(attention.v_dim);
    let (least, most, keys, v_dim) = match (half, gpu.warpgroup_mma, widest) {
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
    Some(AttentionTile { queries: queries.clamp(least, most), keys, v_dim })
}
