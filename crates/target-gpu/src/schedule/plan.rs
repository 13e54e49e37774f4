//! What follows from a schedule: places in shared memory, barriers with their counts, bytes of a slot, descriptors, copies.
//! Errors are those of layouts that the machine cannot read or write, and of too much shared memory.

use std::fmt;

use tegula_base::Bytes;
use tegula_package::MapSwizzle;

use super::{Channel, Part, Product, Schedule, Step, Store, WARPGROUP};
use crate::encoding::matrix::{K_BYTES, window_start};
use crate::encoding::{
    BoxCopy, MapTemplate, MatrixOperand, NotCanonical, TensorCopies, Window, matrix_operand, tensor_copies,
};
use crate::layout::{Access, AccessKind, MatrixMoves, plan_access, wgmma_sums};

/// Rows of one `wgmma`.
pub const PRODUCT_ROWS: u32 = 64;
const WARPS: u32 = WARPGROUP / 32;
/// Bytes of a barrier.
const BARRIER: u32 = 8;

/// All that is derived. Offsets are bytes from the start of shared memory.
#[derive(Clone, Debug)]
pub struct Plan {
    pub channels: Vec<ChannelPlan>,
    pub products: Vec<ProductPlan>,
    pub stores: Vec<StorePlan>,
    /// One for each tensor.
    pub maps: Vec<MapTemplate>,
    /// Bytes of shared memory.
    pub shared: u32,
    /// What shared memory must be aligned to.
    pub alignment: u32,
}

#[derive(Clone, Debug)]
pub struct ChannelPlan {
    /// The first of the slots' `full` barriers, then those of `empty`.
    pub full: u32,
    pub empty: u32,
    /// Arrivals that end a phase of `full`: the producer's, with the bytes it expects.
    pub full_count: u32,
    /// Arrivals that end a phase of `empty`: one of each warp that reads what the producer writes, of all CTAs.
    pub empty_count: u32,
    /// CTAs whose producers write to this one's slots, and so wait for its warps.
    pub listeners: u32,
    /// The first slot, and bytes from one to the next.
    pub slots: u32,
    pub slot: u32,
    /// Bytes that arrive in a slot.
    pub bytes: u32,
    pub parts: Vec<PartPlan>,
}

#[derive(Clone, Debug)]
pub struct PartPlan {
    /// Bytes from the slot's start.
    pub offset: u32,
    /// What this CTA copies, as if it were the cluster's first.
    pub copies: Vec<BoxCopy>,
    pub order: Vec<usize>,
    pub box_dims: Vec<u32>,
    pub swizzle: MapSwizzle,
    /// For each CTA further in the cluster: elements along a dim of the tile and bytes in shared memory.
    pub share: Option<Share>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub dim: usize,
    pub elements: u32,
    pub bytes: u32,
}

#[derive(Clone, Debug)]
pub struct ProductPlan {
    /// Columns of the sums.
    pub n: u32,
    /// Blocks of 64 rows that a warpgroup has.
    pub blocks: u32,
    pub left: OperandPlan,
    pub right: OperandPlan,
}

#[derive(Clone, Debug)]
pub struct OperandPlan {
    pub operand: MatrixOperand,
    /// Bytes from the slot's start to what each instruction reads: by block of 64 rows, then by step along k.
    pub starts: Vec<Vec<u32>>,
    /// Bytes from one warpgroup's rows to the next one's.
    pub warpgroup: u32,
}

#[derive(Clone, Debug)]
pub struct StorePlan {
    /// The first warpgroup's slices, and bytes of each.
    pub buffers: u32,
    pub buffer: u32,
    /// Columns of a slice.
    pub columns: u32,
    pub copies: TensorCopies,
    pub access: Access,
}

/// Why a schedule cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unplanned {
    Layout(NotCanonical),
    /// A part that CTAs share is not made of equal shares.
    Uneven,
    /// A slice of a result that matrices do not fill.
    Slice,
    /// A tensor that nothing copies, or that is copied in different boxes.
    Tensor,
    /// Shared memory: bytes needed, and there.
    Memory {
        needed: u32,
        there: Bytes,
    },
}

impl fmt::Display for Unplanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unplanned::Layout(reason) => write!(f, "{reason}"),
            Unplanned::Uneven => f.write_str("the CTAs of a cluster cannot bring equal shares of a tile"),
            Unplanned::Slice => f.write_str("a slice of a result has 64 rows that `stmatrix` can write"),
            Unplanned::Tensor => f.write_str("a tensor map has one box"),
            Unplanned::Memory { needed, there } => {
                write!(f, "the schedule needs {needed} bytes of shared memory, a CTA has {}", there.0)
            }
        }
    }
}

impl From<NotCanonical> for Unplanned {
    fn from(reason: NotCanonical) -> Unplanned {
        Unplanned::Layout(reason)
    }
}

impl Plan {
    /// `shared_memory`: bytes that a CTA may have.
    pub fn new(schedule: &Schedule, shared_memory: Bytes) -> Result<Plan, Unplanned> {
        let mut memory = Memory::default();
        let mut channels = Vec::new();
        for channel in &schedule.channels {
            channels.push(plan_channel(schedule, channel, channels.len(), &mut memory)?);
        }
        let mut products = Vec::new();
        for product in &schedule.products {
            products.push(plan_product(schedule, product, &channels[product.channel.0])?);
        }
        let stores = schedule.stores.iter().map(|store| plan_store(schedule, store, &mut memory));
        let stores = stores.collect::<Result<Vec<_>, _>>()?;
        for (plan, channel) in channels.iter_mut().zip(&schedule.channels) {
            plan.full = memory.place(channel.depth * BARRIER, BARRIER);
            plan.empty = memory.place(channel.depth * BARRIER, BARRIER);
        }
        let maps = (0..schedule.tensors.len()).map(|number| plan_map(schedule, number, &channels, &stores));
        let maps = maps.collect::<Option<Vec<_>>>().ok_or(Unplanned::Tensor)?;
        let needed = memory.end;
        if u64::from(needed) > shared_memory.0 {
            return Err(Unplanned::Memory { needed, there: shared_memory });
        }
        Ok(Plan { channels, products, stores, maps, shared: needed, alignment: memory.alignment })
    }
}

/// The tensor's map, with the box of the copies that use it.
fn plan_map(
    schedule: &Schedule,
    number: usize,
    channels: &[ChannelPlan],
    stores: &[StorePlan],
) -> Option<MapTemplate> {
    let parts = schedule
        .channels
        .iter()
        .zip(channels)
        .flat_map(|(channel, plan)| channel.parts.iter().zip(&plan.parts));
    let loads =
        parts.filter(|(part, _)| part.tensor == number).map(|(_, plan)| (&plan.box_dims, plan.swizzle));
    let stores = schedule.stores.iter().zip(stores).filter(|(store, _)| store.tensor == number);
    let mut boxes = loads.chain(stores.map(|(_, plan)| (&plan.copies.box_dims, plan.copies.swizzle)));
    let (box_dims, swizzle) = boxes.next()?;
    let tensor = &schedule.tensors[number];
    boxes.all(|other| other == (box_dims, swizzle)).then(|| MapTemplate {
        element: tensor.element,
        address_word: tensor.address_word,
        offset: 0,
        dims: tensor.dims.clone(),
        strides: tensor.strides.clone(),
        box_dims: box_dims.clone(),
        swizzle,
    })
}

/// Places in shared memory, one behind the other.
#[derive(Default)]
struct Memory {
    end: u32,
    alignment: u32,
}

impl Memory {
    fn place(&mut self, size: u32, alignment: u32) -> u32 {
        let at = self.end.next_multiple_of(alignment);
        self.end = at + size;
        self.alignment = self.alignment.max(alignment);
        at
    }
}

fn plan_channel(
    schedule: &Schedule,
    channel: &Channel,
    number: usize,
    memory: &mut Memory,
) -> Result<ChannelPlan, Unplanned> {
    let mut parts = Vec::new();
    let (mut end, mut bytes, mut alignment) = (0_u32, 0, 1);
    for part in &channel.parts {
        let offset = end.next_multiple_of(part.layout.alignment());
        alignment = alignment.max(part.layout.alignment());
        end = offset + part.layout.size();
        let plan = plan_part(schedule, part, offset)?;
        bytes += part.layout.size();
        parts.push(plan);
    }
    let slot = end.next_multiple_of(alignment);
    let slots = memory.place(slot * channel.depth, alignment);
    let gets = |step: &Step| matches!(step, Step::Get(id) if id.0 == number);
    let consumer = schedule.role_that(gets).map_or(0, |role| schedule.roles[role].warpgroups);
    let shared = channel.parts.iter().any(|part| part.shared);
    let listeners = if shared { schedule.cluster } else { 1 };
    Ok(ChannelPlan {
        full: 0,
        empty: 0,
        full_count: 1,
        empty_count: consumer * WARPS * listeners,
        listeners,
        slots,
        slot,
        bytes,
        parts,
    })
}

/// The copies of a part; where CTAs share it, those of the first one, and how the others' differ.
fn plan_part(schedule: &Schedule, part: &Part, offset: u32) -> Result<PartPlan, Unplanned> {
    let split = if part.shared { schedule.cluster } else { 1 };
    let TensorCopies { order, box_dims, swizzle, copies, .. } =
        tensor_copies(&part.layout, &part.order, split)?;
    let plan = |copies, share| PartPlan {
        offset,
        copies,
        order: order.clone(),
        box_dims: box_dims.clone(),
        swizzle,
        share,
    };
    if split == 1 {
        return Ok(plan(copies, None));
    }
    let dim = *order.get(1).ok_or(Unplanned::Uneven)?;
    let elements = part.layout.extents()[dim] / split;
    let (first, rest): (Vec<BoxCopy>, Vec<BoxCopy>) =
        copies.into_iter().partition(|copy| copy.corner[dim] < elements);
    let next = rest.iter().find(|copy| {
        first[0].corner[dim] + elements == copy.corner[dim]
            && other_dims(copy, dim) == other_dims(&first[0], dim)
    });
    let bytes = next.ok_or(Unplanned::Uneven)?.offset - first[0].offset;
    let moved = |copy: &BoxCopy, times: u32| {
        let mut copy = copy.clone();
        copy.corner[dim] += times * elements;
        copy.offset += times * bytes;
        copy
    };
    let even = (1..split).all(|times| first.iter().all(|copy| rest.contains(&moved(copy, times))));
    even.then(|| plan(first, Some(Share { dim, elements, bytes }))).ok_or(Unplanned::Uneven)
}

fn other_dims(copy: &BoxCopy, dim: usize) -> Vec<u32> {
    copy.corner.iter().enumerate().filter(|(other, _)| *other != dim).map(|(_, at)| *at).collect()
}

fn plan_product(
    schedule: &Schedule,
    product: &Product,
    channel: &ChannelPlan,
) -> Result<ProductPlan, Unplanned> {
    let parts = &schedule.channels[product.channel.0].parts;
    let multiplies = |step: &Step| matches!(step, Step::Multiply(id) if schedule.products[id.0] == *product);
    let warpgroups = schedule.role_that(multiplies).map_or(1, |role| schedule.roles[role].warpgroups);
    let (left, right) = (&parts[product.left], &parts[product.right]);
    let rows = left.layout.extents()[0] / warpgroups;
    let n = right.layout.extents()[0];
    let operand = |part: &Part, number: usize, mn: u32, blocks: u32| -> Result<OperandPlan, Unplanned> {
        let window = Window { mn_dim: 0, k_dim: 1, mn };
        let operand = matrix_operand(&part.layout, window)?;
        let at = |mn, k| channel.parts[number].offset + window_start(&part.layout, window, mn, k);
        let k_step = K_BYTES / part.layout.element();
        let starts = |block: u32| {
            let steps = (0..part.layout.extents()[1]).step_by(k_step as usize);
            steps.map(|k| at(block * PRODUCT_ROWS, k)).collect()
        };
        let warpgroup = if blocks > 0 && warpgroups > 1 { at(rows, 0) - at(0, 0) } else { 0 };
        let even = (0..warpgroups).all(|number| at(number * rows, 0) == at(0, 0) + number * warpgroup);
        if blocks > 0 && !even {
            return Err(NotCanonical::MatrixDescriptor.into());
        }
        let starts: Vec<Vec<u32>> = (0..blocks.max(1)).map(starts).collect();
        Ok(OperandPlan { operand, starts, warpgroup })
    };
    let blocks = rows / PRODUCT_ROWS;
    Ok(ProductPlan {
        n,
        blocks,
        left: operand(left, product.left, PRODUCT_ROWS, blocks)?,
        right: operand(right, product.right, n, 0)?,
    })
}

fn plan_store(schedule: &Schedule, store: &Store, memory: &mut Memory) -> Result<StorePlan, Unplanned> {
    let [rows, columns] = store.slice.extents()[..] else { return Err(NotCanonical::TensorMap.into()) };
    let sums = wgmma_sums(rows, columns, 1);
    let access = plan_access(&sums, &store.slice, MatrixMoves(true));
    if rows != PRODUCT_ROWS || access.kind != (AccessKind::Matrix { count: 4, transposed: false }) {
        return Err(Unplanned::Slice);
    }
    let copies = tensor_copies(&store.slice, &[1, 0], 1)?;
    let stores = |step: &Step| matches!(step, Step::Store(id) if schedule.stores[id.0] == *store);
    let warpgroups = schedule.role_that(stores).map_or(1, |role| schedule.roles[role].warpgroups);
    let buffer = store.slice.size().next_multiple_of(store.slice.alignment());
    let buffers = memory.place(buffer * store.depth * warpgroups, store.slice.alignment());
    Ok(StorePlan { buffers, buffer, columns, copies, access })
}
