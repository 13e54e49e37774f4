//! Stores of products' sums by the copy engine: rounded to 16 bits, by matrices into slices of shared memory, from there
//! as boxes of a tensor map, which leaves out what is outside of the view.
//!
//! Each warpgroup has [`DEPTH`] slices; it writes to one when the copy of the slice before the last has been read.

use super::stream::{self, Source};
use super::{Lower, Made, STORE_BARRIER};
use crate::coord::{Coord, Place};
use crate::encoding::{TensorCopies, tensor_copies};
use crate::layout::{
    Access, AccessKind, BitMatrix, MatrixMoves, SharedLayout, Swizzle, plan_access, wgmma_sums,
};
use crate::spread::low_bits;
use tegula_base::DType;
use tegula_ir::OpId;
use tegula_isa_ptx::modifiers::{Compare, LocalShared, ProxySpace};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Address, Operand, OperandList, Predicate, Reg, RegList};

/// Slices that a warpgroup may have on their way.
const DEPTH: u32 = 2;
const WARPGROUP_BITS: u32 = 7;
const ROWS: u32 = 64;
/// Bytes of the widest slice, 64 columns: warpgroups' parts of shared memory are the same for all stores.
const SLICE_BYTES: u32 = ROWS * 64 * 2;

/// How a tile of sums leaves.
struct Plan {
    /// Where it goes, with the box of a slice.
    target: Source,
    slice: SharedLayout,
    access: Access,
    columns: u32,
    /// Slices side by side, and blocks of 64 rows of a warpgroup.
    slices: u32,
    blocks: u32,
    /// Elements of all slices in the order of the sums' registers.
    places: Vec<Place>,
    warpgroups: u32,
}

impl Lower<'_> {
    /// Stores a tile by the copy engine, where it can; whether it did.
    pub fn bulk_store(&mut self, op: OpId) -> Made<bool> {
        let Some(plan) = self.bulk_plan(op) else { return Ok(false) };
        let value = self.func.operand(op, 1);
        let buffer = SLICE_BYTES;
        let buffers = self.bulk_buffers(buffer * DEPTH * plan.warpgroups);
        let leader = self.leader();
        let own = self.warpgroup_part(buffer * DEPTH);
        let base = self.shared_base();
        let own = self.code.add32(own, base.into());
        let own = self.code.in_reg(tegula_isa_ptx::RegClass::B32, own);
        let lanes = self.lane_offsets(&plan);
        let corners = self.corners(op, &plan)?;
        let map = self.map_at(&plan.target);
        let count = (plan.columns / 2) as usize;
        for number in 0..plan.blocks * plan.slices {
            let (block, slice) = (number / plan.slices, number % plan.slices);
            let at = buffers + number % DEPTH * buffer;
            let places = &plan.places[number as usize * count..][..count];
            let pieces = self.unrounded_pieces(value, places)?;
            self.code.emit_if(Some(leader), BulkWaitGroup { read: true, groups: DEPTH - 1 });
            self.warpgroup_barrier(plan.warpgroups);
            self.write_slice(&plan, &pieces, own, at, &lanes);
            self.code.emit(FenceProxyAsync { space: ProxySpace::SharedCta });
            self.warpgroup_barrier(plan.warpgroups);
            for copy in &plan.target.copies.copies {
                let mut corner = OperandList::new();
                for (i, start) in corners.iter().enumerate() {
                    let further = match i {
                        0 => slice * plan.columns + copy.corner[1],
                        1 => block * ROWS + copy.corner[0],
                        _ => 0,
                    };
                    corner.push(self.code.add32(*start, Operand::u32(further)));
                }
                let rank = super::ring::rank_of(corner.len());
                let a = Address::from(own).plus((at + copy.offset) as i32);
                let store = TensorStore { rank, map: map.into(), corner, a, ..Default::default() };
                self.code.emit_if(Some(leader), store);
            }
            self.code.emit_if(Some(leader), BulkCommitGroup {});
        }
        if !(plan.blocks * plan.slices).is_multiple_of(DEPTH) {
            // The next tile begins with the slice that this one ended with.
            self.code.emit_if(Some(leader), BulkWaitGroup { read: true, groups: 0 });
        }
        Ok(true)
    }

    /// Behind all units: what was stored is in memory before the CTA ends.
    pub fn end_bulk_stores(&mut self) {
        if self.bulk_buffers.is_some() {
            let leader = self.leader();
            self.code.emit_if(Some(leader), BulkWaitGroup { read: false, groups: 0 });
        }
    }

    /// None where other stores do: other elements, other places than a product's sums, other strides.
    fn bulk_plan(&mut self, op: OpId) -> Option<Plan> {
        let streams = self.streams.filter(|_| !self.is_ordered)?;
        let access = self.access(op);
        if !matches!(access.dtype, DType::BF16 | DType::F16) || access.steps.iter().any(|step| *step != 1) {
            return None;
        }
        let [row, column] = stream::matrix_axes(&access.shape)?;
        let map_axes = stream::map_axes(self, &access, column, row)?;
        let spread = self.spread_of(self.func.operand(op, 1));
        let products: Vec<_> = streams.products.values().cloned().collect();
        let embed = |place: &Place| -> Place {
            let own = |axis: usize| match axis {
                _ if axis == row => place[0],
                _ if axis == column => place[1],
                _ => Coord::uniform(0),
            };
            (0..access.shape.len()).map(own).collect()
        };
        let product = products.into_iter().find(|product| {
            let places = self.product_places(product);
            places.len() == spread.places.len()
                && places.iter().zip(&spread.places).all(|(own, place)| embed(own) == *place)
        })?;
        let n = product.n as u32;
        let columns = [64, 32, 16].into_iter().find(|columns| n.is_multiple_of(*columns))?;
        let swizzle = Swizzle::ALL.into_iter().rev().find(|swizzle| 2 * columns % swizzle.span() == 0)?;
        let slice = SharedLayout::panels(&[ROWS, columns], 2, 1, 0, swizzle);
        let moves = plan_access(&wgmma_sums(ROWS, columns, 1), &slice, MatrixMoves(true));
        if moves.kind != (AccessKind::Matrix { count: 4, transposed: false }) {
            return None;
        }
        let copies: TensorCopies = tensor_copies(&slice, &[1, 0], 1).ok()?;
        let target = Source {
            load: op,
            runs: vec![op],
            view: access.view,
            dtype: access.dtype,
            axes: [row, column],
            layout: slice.clone(),
            swizzle,
            copies,
            map_axes,
            users: Vec::new(),
            by_threads: false,
            offset: 0,
            share: stream::Share::Own,
        };
        Some(Plan {
            target,
            slice,
            access: moves,
            columns,
            slices: n / columns,
            blocks: product.blocks as u32,
            places: spread.places,
            warpgroups: product.warpgroups,
        })
    }

    /// Slices of all warpgroups, one place for all stores.
    fn bulk_buffers(&mut self, bytes: u32) -> u32 {
        let (start, size) = match self.bulk_buffers {
            Some((start, size)) if size >= bytes => (start, size),
            _ => {
                let start = self.shared_bytes.next_multiple_of(stream::SLOT_ALIGNMENT);
                self.shared_bytes = start + bytes;
                (start, bytes)
            }
        };
        self.bulk_buffers = Some((start, size));
        start
    }

    /// So many bytes for each warpgroup before the own one.
    fn warpgroup_part(&mut self, bytes: u32) -> Operand {
        let map = [(WARPGROUP_BITS as u8, i64::from(bytes))].into_iter().collect();
        let map = self.maps.intern(map);
        match self.cta_bits() > WARPGROUP_BITS {
            true => self.uniform_thread(map),
            false => Operand::u32(0),
        }
    }

    /// So many further for each CTA of the cluster before the own one.
    fn rank_part(&mut self, start: Operand, elements: u32) -> Operand {
        if self.cluster() == 1 {
            return start;
        }
        let rank = self.rank();
        let further = self.code.mul32(rank.into(), elements);
        self.code.add32(start, further)
    }

    /// The first element of the warpgroup's rows, in the order of the tensor map.
    fn corners(&mut self, op: OpId, plan: &Plan) -> Made<Vec<Operand>> {
        let access = self.access(op);
        let mut corners = Vec::new();
        for axis in &plan.target.map_axes {
            let start = self.index(access.offsets[*axis])?;
            let start = self.code.narrow(start);
            corners.push(match *axis == plan.target.axes[0] {
                true => {
                    let rows = self.warpgroup_part(plan.blocks * ROWS);
                    let start = self.code.add32(start, rows);
                    self.rank_part(start, plan.blocks * ROWS * plan.warpgroups)
                }
                false => start,
            });
        }
        Ok(corners)
    }

    /// True in the one thread of the warpgroup that starts its copies.
    fn leader(&mut self) -> Predicate {
        let map = (0..WARPGROUP_BITS as u8).map(|bit| (bit, 1 << bit)).collect();
        let map = self.maps.intern(map);
        let thread = self.thread(map);
        self.code.compare(Compare::Eq, CompareType::U32, thread, Operand::u32(0)).into()
    }

    /// Barrier numbers are immediates: one in a register would take all 16.
    fn warpgroup_barrier(&mut self, warpgroups: u32) {
        let threads = Some(Operand::u32(1 << WARPGROUP_BITS));
        for warpgroup in 0..warpgroups {
            let number = self.warpgroup_part(1);
            let guard = (warpgroups > 1).then(|| {
                let own = Operand::u32(warpgroup);
                Predicate::from(self.code.compare(Compare::Eq, CompareType::U32, number, own))
            });
            let id = Operand::u32(STORE_BARRIER + warpgroup);
            self.code.emit_if(guard, BarrierSync { aligned: true, id, threads });
        }
    }

    /// What each move's address adds to that of the first. Offsets in the slice are linear in the bits of the thread's
    /// number; moves differ by bits.
    fn lane_offsets(&mut self, plan: &Plan) -> (Operand, Vec<u32>) {
        let sums = wgmma_sums(ROWS, plan.columns, 1);
        let offset = |at: usize, thread: u32| {
            plan.slice.offset(&sums.coordinates(plan.access.addressed(at, thread % 32, thread / 32)))
        };
        let map = BitMatrix::new((0..WARPGROUP_BITS).map(|bit| u64::from(offset(0, 1 << bit))).collect());
        let moves: Vec<u32> = (0..plan.access.moves.len()).map(|at| offset(at, 0)).collect();
        let threads = low_bits(WARPGROUP_BITS);
        let linear = (0..=threads).all(|thread| {
            let first = map.apply(u64::from(thread)) as u32;
            moves.iter().enumerate().all(|(at, flips)| offset(at, thread) == first ^ flips)
        });
        assert!(linear, "invariant: a slice's elements lie within one F2 atom");
        let all = (0..WARPGROUP_BITS as u8).map(|bit| (bit, 1 << bit)).collect();
        let all = self.maps.intern(all);
        let thread = self.thread(all);
        (self.code.linear(thread, &map), moves)
    }

    fn write_slice(
        &mut self,
        plan: &Plan,
        pieces: &[Operand],
        own: Reg,
        buffer: u32,
        lanes: &(Operand, Vec<u32>),
    ) {
        for (elements, flips) in plan.access.moves.iter().zip(&lanes.1) {
            let run = |pair: &[u32]| [pieces[pair[0] as usize], pieces[pair[1] as usize]];
            let packed: RegList =
                elements.chunks(2).map(|pair| self.packed(plan.target.dtype, &run(pair))).collect();
            let offset = self.code.xor32(lanes.0, *flips);
            let at = self.code.add32(offset, own.into());
            let at = self.code.in_reg(tegula_isa_ptx::RegClass::B32, at);
            let address = Address::from(at).plus(buffer as i32);
            self.code.emit(Stmatrix { trans: false, space: LocalShared::Cta, address, a: packed });
        }
    }
}
