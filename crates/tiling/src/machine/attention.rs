//! What a machine is asked about attention, and the blocks that it answers with.

use tegula_base::{DType, Dim};

/// The sizes of `softmax(q k^T) v`, as `tgn.attention` names them.
#[derive(Clone, Debug)]
pub struct Attention {
    pub batch: Dim,
    pub heads: Dim,
    /// Heads of keys and values, a divisor of `heads`.
    pub kv_heads: Dim,
    pub queries: Dim,
    pub keys: Dim,
    /// Elements of a query or key, and of a value.
    pub qk_dim: i64,
    pub v_dim: i64,
    pub dtype: DType,
    pub causal: bool,
    /// Keys that a query sees at most; 0 is all.
    pub window: i64,
    /// Something is added to the scores.
    pub masked: bool,
    /// Keys and values lie anywhere, one by one.
    pub scattered: bool,
}

/// What a work unit holds of an attention: a block of queries, while blocks of keys go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionTile {
    pub queries: i64,
    pub keys: i64,
    /// Elements of a value at most: wider ones are parts of several units, each with scores of its own.
    pub v_dim: i64,
    pub scores: Scores,
}

/// How a work unit of an attention holds its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Rows of queries, as factors of the next product right away.
    Rows,
    /// Transposed, in memory of the unit's own: rows of keys, so many made at once, with the queries across lanes. Maxima
    /// and sums then go from row to row, and keys and values are factors as they lie. A unit takes whole values, and sums those
    /// of so many queries at once.
    Transposed { rows: i64, queries: i64 },
}

/// Splits of the keys, which different units see (split-KV).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionSplits {
    /// How many, at least 1.
    pub splits: Dim,
    /// 1 where keys are split, 0 where they are not.
    pub used: Dim,
    /// What was predicted, in one line; empty where nothing was.
    pub reason: String,
}
