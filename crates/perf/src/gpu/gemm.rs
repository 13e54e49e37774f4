//! `out[m, n] = a[m, k] b[n, k]^T` on a GPU: what a schedule of it costs.
//!
//! Method: the L1, L2 and wave terms of deepseek-ai/DeepGEMM (csrc/jit_kernels/heuristics/sm90.hpp) in cycles of one
//! SM, with the tensor cores' own time, the rule of how shared memory feeds them, rescaling and unpacking of operands,
//! the epilogue, first loads, memory traffic of the tile order, and partial sums of split contractions.

mod candidates;
mod cost;

pub use candidates::{candidates, choose, rank};
pub use cost::predict;

use std::fmt;
use tegula_base::DType;

/// A matrix product, or `groups` equal ones in one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    pub groups: u64,
    /// Rows of `a` and of the result: tokens.
    pub m: u64,
    /// Rows of `b`, columns of the result: output channels.
    pub n: u64,
    pub k: u64,
    /// What the products are of.
    pub a: DType,
    /// Storage of `b`; a narrower integer than `a` is unpacked and scaled by group before its product.
    pub b: DType,
    pub out: DType,
    pub scales: Scales,
}

/// Factors of the operands that are no part of their elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// None, or some that the epilogue multiplies by.
    Outside,
    /// One for each block of 128 along `k`: the sum is scaled and added up outside of the tensor cores.
    Block128,
}

/// How the tiles of a product are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The weight (`b`) takes the rows of the tensor cores' product, the tokens its columns.
    pub swap: bool,
    /// Tile of the result, in rows and columns of the tensor cores' product.
    pub rows: u64,
    pub columns: u64,
    /// Contraction steps of one stage.
    pub depth: u64,
    pub stages: u64,
    /// Warpgroups that multiply; on a GPU without warpgroup products groups of four warps.
    pub consumers: u64,
    /// CTAs that share an operand by multicast.
    pub cluster: Cluster,
    /// Parts of `k` that different CTAs add up.
    pub splits: u64,
    pub order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    One,
    /// Two CTAs one above the other share the column operand.
    Rows,
    /// Two CTAs side by side share the row operand.
    Columns,
}

/// How CTAs take tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A CTA a tile.
    Single,
    /// As many CTAs as run at once walk over the tiles; all consumers on one tile.
    Cooperative,
    /// As before, each consumer on a tile of its own: epilogues hide behind the other's products.
    PingPong,
    /// As `Cooperative`, the last round's tiles cut along `k` so that all SMs end together.
    StreamK,
}

impl Gemm {
    /// A plain product: operands of one dtype, the result in `out`.
    pub fn new(m: u64, n: u64, k: u64, dtype: DType, out: DType) -> Gemm {
        Gemm { groups: 1, m, n, k, a: dtype, b: dtype, out, scales: Scales::Outside }
    }

    pub fn flops(&self) -> f64 {
        2.0 * self.groups as f64 * self.m as f64 * self.n as f64 * self.k as f64
    }

    /// Bytes of both operands and the result, each once.
    pub fn bytes(&self) -> f64 {
        let groups = self.groups as f64;
        let (a, b) = (bytes(self.a, self.m * self.k), bytes(self.b, self.n * self.k));
        groups * (a + b + bytes(self.out, self.m * self.n))
    }

    /// Whether `b` is unpacked to `a`'s type on its way to the tensor cores.
    pub fn unpacks(&self) -> bool {
        self.b.bits() < self.a.bits()
    }
}

/// Bytes of packed elements.
pub(in crate::gpu) fn bytes(dtype: DType, count: u64) -> f64 {
    count as f64 * f64::from(dtype.bits()) / 8.0
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.rows, self.columns, self.depth)?;
        write!(f, " stages={} consumers={}", self.stages, self.consumers)?;
        match self.cluster {
            Cluster::One => {}
            Cluster::Rows => f.write_str(" cluster=2x1")?,
            Cluster::Columns => f.write_str(" cluster=1x2")?,
        }
        if self.splits > 1 {
            write!(f, " splits={}", self.splits)?;
        }
        f.write_str(match self.order {
            Order::Single => " single",
            Order::Cooperative => " cooperative",
            Order::PingPong => " ping-pong",
            Order::StreamK => " stream-k",
        })?;
        f.write_str(if self.swap { " swapped" } else { "" })
    }
}
