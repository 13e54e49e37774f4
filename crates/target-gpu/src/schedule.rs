//! The schedule level of warp-specialised kernels: which warpgroups do what, and through which channels tiles flow.
//!
//! ```text
//!   tile loop  │ producer: acquire ─ put ─ put          (copy engine)      ┐ channel: `depth` slots of shared memory
//!   (tiles.rs) │ consumer: get ─ multiply ─ release     (tensor cores)     ┘
//!              │           store                        (copy engine)
//! ```
//!
//! A schedule says nothing of barriers, parities, byte counts, descriptors or tensor maps: `plan.rs` derives them from the
//! channels and the layouts, `emit.rs` writes PTX. What a schedule must keep is checked by `verify`.
//! Source: Tawa, "Automatic Warp Specialization for Modern GPUs with Asynchronous References", for channels.

mod asm;
pub mod channel;
mod emit;
pub mod gemm;
pub mod plan;
pub mod tiles;
mod verify;

use tegula_isa_ptx::mma::WgmmaType;
use tegula_isa_ptx::types::PackedHalf;
use tegula_package::MapElement;

use crate::encoding::MapSize;
use crate::layout::SharedLayout;

pub use channel::{Axis, Channel, Part};
pub use emit::{Kernel, emit};
pub use plan::{Plan, Unplanned};
pub use tiles::{TileOrder, TileScheduler};
pub use verify::verify;

/// Threads of a warpgroup.
pub const WARPGROUP: u32 = 128;

/// A kernel. Its parameters are the argument block, then the tensor maps in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub name: String,
    /// Words of the argument block.
    pub arg_words: u32,
    /// CTAs of a cluster: they have neighbouring tiles along m.
    pub cluster: u32,
    pub tiles: TileScheduler,
    /// Each has a tensor map as a parameter, in this order.
    pub tensors: Vec<Tensor>,
    pub channels: Vec<Channel>,
    pub products: Vec<Product>,
    pub stores: Vec<Store>,
    /// In the order of their warpgroups.
    pub roles: Vec<Role>,
}

/// A tensor in global memory; the box that copies move follows from the tile's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub element: MapElement,
    /// The word with its address.
    pub address_word: usize,
    /// Elements, innermost first.
    pub dims: Vec<MapSize>,
    /// Bytes, of each dim but the innermost.
    pub strides: Vec<MapSize>,
}

/// What some warpgroups of each CTA do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: &'static str,
    pub warpgroups: u32,
    /// Registers of each thread.
    pub registers: u32,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProductId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreId(pub usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// For each tile of this CTA.
    EachTile(Vec<Step>),
    /// For each block along k of the tile.
    EachBlock(Vec<Step>),
    /// Waits until the channel's next slot is free.
    Acquire(ChannelId),
    /// Brings a part of the block to the acquired slot, at some later time.
    Put { channel: ChannelId, part: usize },
    /// Waits until the channel's next slot holds all parts.
    Get(ChannelId),
    /// Begins to multiply parts of the slot; the tile's first block overwrites the sums.
    Multiply(ProductId),
    /// Waits until at most so many of the latest products are pending.
    AwaitProducts { pending: u32 },
    /// Frees the slot got so many gets ago; nothing where the tile had fewer.
    Release { channel: ChannelId, behind: u32 },
    /// Writes the sums to memory, at some later time.
    Store(StoreId),
}

/// Sums of a consumer's warpgroups, each a run of m of the CTA's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    pub channel: ChannelId,
    /// Parts of the channel: tiles (m, k) and (n, k).
    pub left: usize,
    pub right: usize,
    pub ty: WgmmaType,
}

/// Sums to a tensor through shared memory, in slices of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub product: ProductId,
    pub to: PackedHalf,
    /// A slice of one warpgroup: 64 rows and some columns.
    pub slice: SharedLayout,
    /// Slices that a warpgroup may have on their way.
    pub depth: u32,
    /// The tensor, of dims (m, n), n innermost.
    pub tensor: usize,
}

impl Schedule {
    pub fn warpgroups(&self) -> u32 {
        self.roles.iter().map(|role| role.warpgroups).sum()
    }

    /// Threads of a CTA.
    pub fn threads(&self) -> u32 {
        self.warpgroups() * WARPGROUP
    }

    /// Warpgroups before those of the role.
    pub fn first_warpgroup(&self, role: usize) -> u32 {
        self.roles[..role].iter().map(|role| role.warpgroups).sum()
    }

    /// The role with a step of the kind on its own loops.
    pub fn role_that(&self, does: impl Fn(&Step) -> bool) -> Option<usize> {
        self.roles.iter().position(|role| any_step(&role.steps, &does))
    }
}

/// Whether a step is among these or inside of them.
pub fn any_step(steps: &[Step], holds: &dyn Fn(&Step) -> bool) -> bool {
    steps.iter().any(|step| match step {
        Step::EachTile(inner) | Step::EachBlock(inner) => any_step(inner, holds),
        _ => holds(step),
    })
}
