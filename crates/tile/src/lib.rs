//! Tile level (`tgt`): tiles, views, structured loops; executor.
//! In: tile functions built by recipes.  Out: verified `TileFunc`s and their meaning.
//! May use: ir, machine, base, mlir.  Never knows: tensors, registers, a particular machine.
//! Start reading at `ops.rs`, then `exec.rs`.
//!
//! ```text
//! recipes (opt/lower) ─► TileKernel { grid, views, func } ─┬─► exec (meaning)
//!                                                          └─► a target's schedule level
//! ```

pub mod build;
mod check;
pub mod divisor;
pub mod exec;
pub mod kernel;
pub mod ops;
pub mod types;

pub use build::TileBuilder;
pub use kernel::{GridDim, TileKernel, ViewParam};
pub use ops::{Accumulation, IndexOp, TileOp};
pub use types::{TileType, ViewType};

/// The body of a tile kernel; its arguments are the kernel's views, in order.
pub type TileFunc = tegula_ir::Func<TileOp>;
