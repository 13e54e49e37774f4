//! Stores: sums to slices in shared memory by matrices, slices to the tensor by the copy engine.
//! A warpgroup has `depth` buffers; it writes to one when the copy before the last `depth - 1` has read it.

use tegula_isa_ptx::modifiers::{Compare, LocalShared, PackRound, ProxySpace};
use tegula_isa_ptx::op::{
    BarrierSync, BulkCommitGroup, BulkWaitGroup, CvtHalves, FenceProxyAsync, Stmatrix, TensorStore,
};
use tegula_isa_ptx::{Address, OperandList, Reg, RegList};

use super::super::asm::imm;
use super::super::plan::{PRODUCT_ROWS, StorePlan};
use super::super::{Step, StoreId, WARPGROUP};
use super::Emitter;
use super::flow::{Role, rank_of};
use crate::layout::{BitMatrix, wgmma_sums};

/// The first named barrier of those that warpgroups have to themselves; 0 is the CTA's.
const FIRST_BARRIER: u32 = 1;

pub(super) fn store(e: &mut Emitter, role: &Role, id: StoreId) {
    let store = &e.schedule.stores[id.0];
    let plan = &e.plan.stores[id.0];
    let sums = role.sums[store.product.0].clone();
    let leader = leader(e);
    let own = e.asm.mad(role.warpgroup, imm(plan.buffer * store.depth), e.memory);
    let lanes = lane_offsets(e, store, plan);
    let first_row = e.asm.mad(role.warpgroup, imm(PRODUCT_ROWS * sums.len() as u32), role.m);
    let per_slice = (plan.columns / 2) as usize;
    let slices = sums.iter().flat_map(|sums| sums.chunks(per_slice)).count() as u32;
    // Where tiles begin with another buffer than they end with, all copies must have read theirs.
    let pending = if slices.is_multiple_of(store.depth) { store.depth - 1 } else { 0 };
    let mut number = 0;
    for (block, sums) in sums.iter().enumerate() {
        for (slice, sums) in sums.chunks(per_slice).enumerate() {
            let buffer = plan.buffers + number % store.depth * plan.buffer;
            number += 1;
            e.asm.emit_if(leader, BulkWaitGroup { read: true, groups: pending });
            warpgroup_barrier(e, role);
            write_slice(e, id, plan, sums, own, buffer, &lanes);
            e.asm.emit(FenceProxyAsync { space: ProxySpace::SharedCta });
            warpgroup_barrier(e, role);
            let row = e.asm.add(first_row, imm(block as u32 * PRODUCT_ROWS));
            let column = e.asm.add(role.n, imm(slice as u32 * plan.columns));
            for copy in &plan.copies.copies {
                let corner: OperandList = [(column, copy.corner[1]), (row, copy.corner[0])]
                    .map(|(base, at)| e.asm.add(base, imm(at)).into())
                    .into_iter()
                    .collect();
                let map = e.maps[store.tensor].into();
                let a = Address::from(own).plus((buffer + copy.offset) as i32);
                let copy = TensorStore { rank: rank_of(2), map, corner, a, ..TensorStore::default() };
                e.asm.emit_if(leader, copy);
            }
            e.asm.emit_if(leader, BulkCommitGroup {});
        }
    }
}

/// Before the role ends, its copies must be done.
pub(super) fn finish(e: &mut Emitter, steps: &[Step]) {
    if super::super::any_step(steps, &|step| matches!(step, Step::Store(_))) {
        let leader = leader(e);
        e.asm.emit_if(leader, BulkWaitGroup { read: false, groups: 0 });
    }
}

/// The one thread of the warpgroup that starts its copies.
fn leader(e: &mut Emitter) -> Reg {
    let thread = e.asm.and(e.thread, imm(WARPGROUP - 1));
    e.asm.compare(Compare::Eq, thread, imm(0))
}

/// Barrier numbers are immediates: one in a register would take all 16.
fn warpgroup_barrier(e: &mut Emitter, role: &Role) {
    for warpgroup in 0..e.schedule.roles[role.number].warpgroups {
        let ours = e.asm.compare(Compare::Eq, role.warpgroup, imm(warpgroup));
        let (id, threads) = (imm(FIRST_BARRIER + warpgroup), Some(imm(WARPGROUP)));
        e.asm.emit_if(ours, BarrierSync { aligned: true, id, threads });
    }
}

/// What each move's address adds to that of the first: bits to flip, then bytes.
struct LaneOffsets {
    first: Reg,
    moves: Vec<u32>,
}

/// Offsets in the slice are linear in the bits of the thread's number; moves differ by bits.
fn lane_offsets(e: &mut Emitter, store: &super::super::Store, plan: &StorePlan) -> LaneOffsets {
    let sums = wgmma_sums(PRODUCT_ROWS, plan.columns, 1);
    let offset = |at: usize, thread: u32| {
        store.slice.offset(&sums.coordinates(plan.access.addressed(at, thread % 32, thread / 32)))
    };
    let bits = WARPGROUP.trailing_zeros();
    let map = BitMatrix::new((0..bits).map(|bit| u64::from(offset(0, 1 << bit))).collect());
    let moves: Vec<u32> = (0..plan.access.moves.len()).map(|at| offset(at, 0)).collect();
    let linear = (0..WARPGROUP).all(|thread| {
        let first = map.apply(u64::from(thread)) as u32;
        moves.iter().enumerate().all(|(at, flips)| offset(at, thread) == first ^ flips)
    });
    assert!(linear, "invariant: a slice's elements lie within one F2 atom");
    let thread = e.asm.and(e.thread, imm(WARPGROUP - 1));
    let first = e.asm.linear(thread, &map);
    LaneOffsets { first, moves }
}

fn write_slice(
    e: &mut Emitter,
    id: StoreId,
    plan: &StorePlan,
    sums: &[Reg],
    own: Reg,
    buffer: u32,
    lanes: &LaneOffsets,
) {
    let to = e.schedule.stores[id.0].to;
    for (elements, flips) in plan.access.moves.iter().zip(&lanes.moves) {
        let packed: RegList = elements
            .chunks(2)
            .map(|pair| {
                let d = e.asm.b32();
                let [low, high] = [pair[0], pair[1]].map(|element| sums[element as usize].into());
                e.asm.emit(CvtHalves { round: PackRound::Rn, relu: false, to, d, a: high, b: low });
                d
            })
            .collect();
        let offset = e.asm.xor(lanes.first, imm(*flips));
        let at = e.asm.add(offset, own);
        let address = Address::from(at).plus(buffer as i32);
        e.asm.emit(Stmatrix { trans: false, space: LocalShared::Cta, address, a: packed });
    }
}
