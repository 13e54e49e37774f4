//! Channels: rings of slots in shared memory through which one role hands tiles to another.
//!
//! `channel<parts, depth>`: a producer acquires a slot, puts all parts and goes on; a consumer gets the slot when all has
//! arrived, and releases it. Each slot has two barriers: `full`, whose phase ends with the bytes of all parts, and `empty`,
//! whose phase ends with an arrival of each warp that reads the slot, in every CTA that was written to.
//! Parities need no thought: both sides count slots, and flip when the ring wraps; the producer begins one phase ahead.

use crate::layout::SharedLayout;

/// What a tile's dim runs along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    M,
    N,
    K,
}

/// A ring of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: &'static str,
    pub depth: u32,
    pub parts: Vec<Part>,
}

/// One tile of a slot, brought from a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub layout: SharedLayout,
    /// The axis of each dim of the tile; the tile's index along it times its extent is the corner.
    pub axes: Vec<Axis>,
    /// The tile's dims as the tensor has them, innermost first.
    pub order: Vec<usize>,
    pub tensor: usize,
    /// Whether all CTAs of the cluster need the same tile: each brings a share to all.
    pub shared: bool,
}
