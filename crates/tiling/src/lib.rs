//! Lowers kernels to tile functions: one recipe a kind of root, for any machine that computes on tiles.
//!
//! ```text
//! kernel ─► body (own function) ─► collapse (fewer axes) ─► recipe ─► TileKernel ─► TileMachine::compile
//!                                                             │ asks access for tiles of any value
//! ```
//! In: a `tgn.kernel` and a `TileMachine`.  Out: tile kernels; through `Tiled`, a `backend::Target`.
//! May use: backend, tensor, tile, machine, package, ir, base.  Never knows: passes on tensors, any particular machine, files.
//! Start reading at `machine.rs` (what a machine answers), `tiled.rs` (its `Target`), then `recipes.rs`.

mod access;
mod attention;
mod body;
pub mod coefficients;
mod collapse;
mod concat;
mod contract;
mod layouts;
mod machine;
mod pool;
mod recipes;
mod rows;
mod scan;
mod scatter;
mod tiled;
pub mod tuning;

pub use machine::{
    Attention, AttentionFacts, AttentionSplits, AttentionTile, ByteProductFacts, Contract, ContractForm,
    ContractTile, ContractionFacts, Edges, Facts, Panels, Prologue, RowFacts, Scores, TileMachine,
};
pub use recipes::{Lowered, TileLaunches, contract_of, lower_kernel};
pub use tiled::Tiled;

use recipes::columns_together;
use tegula_backend::BufferRef;
