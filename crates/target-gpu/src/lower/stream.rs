//! Streams: which loads the copy engine does, through which rings of shared memory they reach the products of warpgroups.
//!
//! A load is streamed where only such products use it, and where a tensor map can name its boxes. Loads of one region
//! that serve the same products share a ring: a slot holds a tile of each. Rings of loops have as many slots as fit, a
//! ring outside of loops has one.
//!
//! ```text
//!   producer ── copies ─► ring (full, empty) ─► wgmma ── releases ─► ...
//! ```
//! Source: Tawa, "Automatic Warp Specialization for Modern GPUs with Asynchronous References", for rings as channels.

mod product;
mod source;

pub(super) use product::{Left, OperandPlan, Product};
pub(crate) use source::MAP_RANK;
pub(super) use source::{Share, Source, map_axes, map_element, matrix_axes};

use super::Lower;
use std::fmt;
use tegula_base::HashMap;
use tegula_ir::{OpId, RegionId};
use tegula_tile::TileOp;

/// Bytes of an mbarrier.
pub(super) const BARRIER: u32 = 8;
/// CTAs of a cluster (more did not help deepseek-ai/DeepGEMM on sm_90), and rows of products that they share out: a
/// tile has as many only to be shared.
pub(crate) const CLUSTER: u32 = 2;
pub(crate) const CLUSTER_ROWS: i64 = 256;
/// Slots of a ring: so many, and more where they are so small that their bytes do not cover the latency of memory on
/// half of an H200's SMs (4.8 TB/s for 1 us, by 66).
const MANY_SLOTS: u32 = 8;
const MOST_SLOTS: u32 = 32;
const IN_FLIGHT: u32 = 72 << 10;
/// Copies in flight while one slot is multiplied: fewer than two slots is no ring.
const FEWEST_SLOTS: u32 = 2;

/// A ring of slots in shared memory, each with a tile of every load.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    /// Where its loads stand.
    pub region: RegionId,
    pub loads: Vec<Source>,
    /// Its products in program order.
    pub products: Vec<OpId>,
    pub depth: u32,
    /// Bytes from the start of shared memory to the first slot, and from one slot to the next.
    pub slots: u32,
    pub slot: u32,
    /// The first of the slots' barriers, which end a phase when all bytes have arrived and when all warps have released.
    pub full: u32,
    pub empty: u32,
    /// Bytes that arrive in a slot.
    pub bytes: u32,
}

/// All that the roles of a kernel share.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub rings: Vec<Ring>,
    /// The ring of a load, and which of its loads it is.
    pub of_load: HashMap<OpId, (usize, usize)>,
    pub products: HashMap<OpId, Product>,
    /// Warpgroups of a CTA that multiply.
    pub warpgroups: u32,
    /// CTAs of a cluster: each has a run of the products' rows, and brings a share of the right factors to all.
    pub cluster: u32,
    /// Bytes of shared memory that rings and barriers take.
    pub end: u32,
}

/// Rings that shared memory has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// Bytes that rings of the fewest slots take, and that there are.
    needed: u32,
    bytes: u32,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Full { needed, bytes } = self;
        write!(
            f,
            "warps multiply, not warpgroups: {FEWEST_SLOTS} slots of the tiles of factors take {needed} bytes of "
        )?;
        write!(f, "shared memory, and there are {bytes}")
    }
}

impl Streams {
    /// The streams of a kernel in so many bytes of shared memory, perhaps over the CTAs of a cluster; none where there is
    /// nothing to stream. Errors: they do not fit.
    pub fn plan(cx: &mut Lower, bytes: u32, clusters: bool) -> Result<Option<Streams>, Full> {
        let (sources, dots) = candidates(cx);
        if dots.is_empty() {
            return Ok(None);
        }
        let multiple = |of: i64| dots.iter().all(|dot| product::rows(cx, *dot) % of == 0);
        let warpgroups = if multiple(2 * product::ROWS) { 2 } else { 1 };
        let clustered = (clusters && multiple(CLUSTER_ROWS)).then(|| split(cx, &sources, &dots)).flatten();
        let cluster = if clustered.is_some() { CLUSTER } else { 1 };
        let sources = clustered.unwrap_or(sources);
        let mut rings = group(cx, &sources, &dots);
        let end = place(cx, &mut rings, bytes)?;
        let of_load = rings.iter().enumerate().flat_map(|(ring, it)| {
            it.loads.iter().enumerate().map(move |(load, source)| (source.load, (ring, load)))
        });
        let of_load: HashMap<OpId, (usize, usize)> = of_load.collect();
        let products = dots.iter().map(|dot| {
            let plan = product::plan(cx, *dot, &rings, &of_load, [warpgroups, cluster])?;
            Some((*dot, plan))
        });
        let products: Option<HashMap<OpId, Product>> = products.collect();
        Ok(products.map(|products| Streams { rings, of_load, products, warpgroups, cluster, end }))
    }

    /// Rings whose loads stand in the region, in their order.
    pub fn rings_in(&self, region: RegionId) -> impl Iterator<Item = usize> + '_ {
        (0..self.rings.len()).filter(move |ring| self.rings[*ring].region == region)
    }
}

/// Sources as the CTAs of a cluster bring them: left factors in runs of rows, right ones in shares for all. None where a
/// factor serves on both sides, is in registers, or does not split.
fn split(cx: &Lower, sources: &[Source], dots: &[OpId]) -> Option<Vec<Source>> {
    let source = |source: &Source| -> Option<Source> {
        let sides: Vec<bool> =
            source.users.iter().map(|dot| product::is_left(cx, *dot, source.load)).collect();
        let left = *sides.first()?;
        if sides.iter().any(|side| *side != left) {
            return None;
        }
        match left {
            true => source::run_of_rows(source, product::mn_dim(cx, source.users[0], source.load)?, CLUSTER),
            false => source::shared(source, CLUSTER),
        }
    };
    let lefts = dots.iter().all(|dot| {
        source::behind(cx, cx.func.operand(*dot, 1)).is_some_and(|(load, _)| find(sources, load).is_some())
    });
    lefts.then(|| sources.iter().map(source).collect()).flatten()
}

/// Loads that may be streamed and the products that then take them. A load goes with all of its products, a product
/// with its right factor.
fn candidates(cx: &Lower) -> (Vec<Source>, Vec<OpId>) {
    let ops = cx.func.walk();
    let mut sources: Vec<Source> = ops.iter().filter_map(|op| source::of_load(cx, *op)).collect();
    let mut dots: Vec<OpId> = ops.into_iter().filter(|op| product::fits(cx, *op)).collect();
    loop {
        let before = (sources.len(), dots.len());
        dots.retain(|dot| {
            let [_, a, b] = *cx.func.operands(*dot) else { return false };
            let streamed = |value| source::behind(cx, value).and_then(|(load, _)| find(&sources, load));
            let right = streamed(b).is_some_and(|source| product::reads(cx, *dot, source, false));
            let left = match streamed(a) {
                Some(source) => product::reads(cx, *dot, source, true),
                None => product::from_registers(cx, *dot),
            };
            left && right
        });
        sources.retain(|source| source.users.iter().all(|user| dots.contains(user)));
        if before == (sources.len(), dots.len()) {
            return (sources, dots);
        }
    }
}

pub(super) fn find(sources: &[Source], load: OpId) -> Option<&Source> {
    sources.iter().find(|source| source.load == load)
}

/// Loads of one region with the same products share a ring.
fn group(cx: &Lower, sources: &[Source], dots: &[OpId]) -> Vec<Ring> {
    let mut rings: Vec<Ring> = Vec::new();
    for source in sources {
        let region = cx.func.parent(source.load).expect("invariant: a load stands in a region");
        let products: Vec<OpId> = dots.iter().copied().filter(|dot| source.users.contains(dot)).collect();
        let same = |ring: &&mut Ring| ring.region == region && ring.products == products;
        match rings.iter_mut().find(same) {
            Some(ring) => ring.loads.push(source.clone()),
            None => rings.push(Ring {
                region,
                loads: vec![source.clone()],
                products,
                depth: 1,
                slots: 0,
                slot: 0,
                full: 0,
                empty: 0,
                bytes: 0,
            }),
        }
    }
    rings
}

/// Gives rings their slots and barriers; the end of them. Errors: they do not fit.
fn place(cx: &Lower, rings: &mut [Ring], bytes: u32) -> Result<u32, Full> {
    let (mut once, mut each) = (0, 0);
    for ring in rings.iter_mut() {
        let (mut end, mut alignment) = (0_u32, 1);
        for load in &mut ring.loads {
            alignment = alignment.max(load.layout.alignment());
            load.offset = end.next_multiple_of(load.layout.alignment());
            end = load.offset + load.layout.size();
            ring.bytes += load.bytes();
        }
        ring.slot = end.next_multiple_of(alignment.max(SLOT_ALIGNMENT));
        match in_loop(cx, ring.region) {
            true => each += ring.slot,
            false => once += ring.slot,
        }
    }
    let most = IN_FLIGHT.checked_div(each).unwrap_or(1).clamp(MANY_SLOTS, MOST_SLOTS);
    let barriers = 2 * BARRIER * most * rings.len() as u32;
    let full = Full { needed: once + barriers + FEWEST_SLOTS * each, bytes };
    let free = bytes.checked_sub(once + barriers).ok_or(full)?;
    let depth = free.checked_div(each).unwrap_or(1).min(most);
    if each > 0 && depth < FEWEST_SLOTS {
        return Err(full);
    }
    let mut end = 0;
    for ring in rings.iter_mut() {
        ring.depth = if in_loop(cx, ring.region) { depth } else { 1 };
        ring.slots = end;
        end += ring.slot * ring.depth;
    }
    for ring in rings.iter_mut() {
        ring.full = end;
        ring.empty = end + BARRIER * ring.depth;
        end = ring.empty + BARRIER * ring.depth;
    }
    if end <= bytes { Ok(end) } else { Err(full) }
}

/// Slots begin at whole swizzle patterns.
pub(super) const SLOT_ALIGNMENT: u32 = 1024;

fn in_loop(cx: &Lower, mut region: RegionId) -> bool {
    while let Some(owner) = cx.func.owner(region) {
        if matches!(cx.func.kind(owner), TileOp::For { .. }) {
            return true;
        }
        region = cx.func.parent(owner).expect("invariant: an op with regions stands in one");
    }
    false
}
