//! Both ends of the rings: the producer acquires a slot and starts copies, warpgroups get a slot and release it.
//! Parities need no thought: both ends count slots and flip when the ring wraps; the producer begins one phase ahead.

use super::stream::{BARRIER, CLUSTER, Share, Source, map_element};
use super::{Lower, Made};
use crate::code::{Item, Loop};
use tegula_base::Dim;
use tegula_isa_ptx::modifiers::{
    BulkDestination, Compare, LocalShared, MapaSpace, MbarrierSpace, TensorRank,
};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Address, Base, Operand, OperandList, ParamId, Predicate, Reg, RegClass};
use tegula_package::{MapSize, MapTemplate};

/// One end of a ring: the next slot and its phase, and what is known of the slot that was taken last.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    slot: Reg,
    phase: Reg,
    /// The taken slot's first byte.
    pub bytes: Reg,
    /// The barrier that this end arrives at, of the taken slot and of the one before.
    barrier: Reg,
    before: Reg,
}

/// Which of the slots taken last is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Last,
    Before,
}

impl Lower<'_> {
    /// Registers of this role's ends of all rings; nothing is taken yet.
    pub fn open_ends(&mut self) {
        let rings = self.streams.map_or(0, |streams| streams.rings.len());
        for _ in 0..rings {
            let [slot, phase, bytes, barrier, before] = [(); 5].map(|()| self.code.b32());
            for register in [slot, phase, bytes, barrier, before] {
                self.code.copy_to(register, Operand::u32(0));
            }
            self.ends.push(End { slot, phase, bytes, barrier, before });
        }
    }

    /// Producer: waits for a free slot and starts the copies of all of the ring's loads.
    pub fn put(&mut self, ring: usize) -> Made<()> {
        let streams = self.streams.expect("invariant: a producer has streams");
        let plan = &streams.rings[ring];
        let end = self.ends[ring];
        let (empty, full) = (self.barrier(plan.empty, end.slot), self.barrier(plan.full, end.slot));
        // The first round finds all slots free: the phase before the first one counts as ended.
        let parity = self.code.b32();
        self.code.emit(Xor { ty: LogicType::B32, d: parity, a: end.phase.into(), b: Operand::u32(1) });
        self.wait(empty, parity);
        let (space, bytes) = (MbarrierSpace::Cta, Operand::u32(plan.bytes));
        self.code.emit(MbarrierArriveExpectTx { space, address: full.into(), bytes, ..Default::default() });
        self.take(ring);
        for source in &plan.loads {
            self.copies(source, end.bytes, full)?;
        }
        Ok(())
    }

    fn copies(&mut self, source: &Source, slot: Reg, full: Reg) -> Made<()> {
        let map = self.map_at(source);
        let mut all_starts = Vec::new();
        for run in &source.runs {
            let access = self.access(*run);
            let mut starts = Vec::new();
            for axis in &source.map_axes {
                let start = self.index(access.offsets[*axis])?;
                starts.push(self.code.narrow(start));
            }
            all_starts.push(starts);
        }
        let (dim, elements, bytes) = match source.share {
            Share::Own => (0, 0, 0),
            Share::Run { dim, elements } => (dim, elements, 0),
            Share::All { dim, elements, bytes } => (dim, elements, bytes),
        };
        let mut slot = slot;
        if elements > 0 {
            let rank = self.rank();
            let further = self.code.mul32(rank.into(), elements);
            let axis = source.map_axes.iter().position(|axis| *axis == source.axes[dim]);
            let axis = axis.expect("invariant: a map has the matrix's axes");
            // Several runs are not shared out.
            all_starts[0][axis] = self.code.add32(all_starts[0][axis], further);
            let part = self.code.mul32(rank.into(), bytes);
            let sum = self.code.add32(slot.into(), part);
            slot = self.code.in_reg(RegClass::B32, sum);
        }
        let multicast = matches!(source.share, Share::All { .. }).then(|| {
            let mask = Operand::u32((1 << CLUSTER) - 1);
            self.code.in_reg(RegClass::B16, mask)
        });
        let rows = source.rows_of_run();
        for copy in &source.copies.copies {
            let run = if source.runs.len() == 1 { 0 } else { copy.corner[0] / rows };
            let starts = &all_starts[run as usize];
            let mut corner = OperandList::new();
            for (i, axis) in source.map_axes.iter().enumerate() {
                // The matrix has the first two axes of the map.
                let dim = source.axes.iter().position(|own| own == axis).filter(|_| i < 2);
                let before = if dim == Some(0) { run * rows } else { 0 };
                let at = dim.map_or(0, |dim| copy.corner[dim]) - before;
                corner.push(self.code.add32(starts[i], Operand::u32(at)));
            }
            self.code.emit(TensorLoad {
                rank: rank_of(corner.len()),
                space: BulkDestination::Cluster,
                multicast,
                d: Address::from(slot).plus((source.offset + copy.offset) as i32),
                map: map.into(),
                corner,
                mbarrier: full.into(),
                ..Default::default()
            });
        }
        Ok(())
    }

    /// The generic address of a source's tensor map.
    pub fn map_at(&mut self, source: &Source) -> Reg {
        let template = self.template(source);
        let number = self.maps_needed.iter().position(|known| *known == template).unwrap_or_else(|| {
            self.maps_needed.push(template);
            self.maps_needed.len() - 1
        });
        if let Some(known) = self.map_addresses.get(&number) {
            return *known;
        }
        let level = self.code.set_level(0);
        let d = self.code.b64();
        let symbol = ParamId(super::FIRST_MAP + number as u32).into();
        self.code.emit(CvtaSymbol { space: tegula_isa_ptx::modifiers::WindowSpace::Param, d, symbol });
        self.code.set_level(level);
        self.map_addresses.insert(number, d);
        d
    }

    fn template(&mut self, source: &Source) -> MapTemplate {
        let ty = self.kernel.views[source.view].ty.clone();
        let element = map_element(source.dtype).expect("invariant: a source has such elements");
        let mut size = |dim: &Dim, factor: u64| match dim.as_const() {
            Some(n) => MapSize::Const(n as u64 * factor),
            None => MapSize::Word { word: self.size_word(dim), factor },
        };
        let dims = source.map_axes.iter().map(|axis| size(&ty.shape[*axis], 1)).collect();
        let bytes = source.dtype.size() as u64;
        let strides = source.map_axes[1..].iter().map(|axis| size(&ty.strides[*axis], bytes)).collect();
        let mut box_dims = source.copies.box_dims.clone();
        box_dims.resize(source.map_axes.len(), 1);
        let swizzle = source.copies.swizzle;
        MapTemplate { element, address_word: 1 + source.view, offset: 0, dims, strides, box_dims, swizzle }
    }

    /// Warpgroup: waits until all loads of the next slot have arrived.
    pub fn get(&mut self, ring: usize) {
        let plan = &self.streams.expect("invariant: a ring belongs to streams").rings[ring];
        let end = self.ends[ring];
        let full = self.barrier(plan.full, end.slot);
        self.wait(full, end.phase);
        let empty = self.barrier(plan.empty, end.slot);
        self.code.copy_to(end.before, end.barrier.into());
        self.code.copy_to(end.barrier, empty.into());
        self.take(ring);
    }

    /// Warpgroup: frees a slot that was taken; one arrival of each warp, where the guard is true.
    pub fn release(&mut self, ring: usize, taken: Taken, guard: Option<Predicate>) {
        let end = self.ends[ring];
        let barrier = if taken == Taken::Last { end.barrier } else { end.before };
        let lane = self.lane();
        let listeners = self.listeners(ring);
        let arrives =
            self.code.compare_and(Compare::Lt, CompareType::U32, lane, Operand::u32(listeners), guard);
        let (space, address) = match listeners {
            1 => (MbarrierSpace::Cta, barrier),
            // Lanes beyond the cluster name no CTA, and never use their address.
            _ => {
                let (rank, d) = (self.code.b32(), self.code.b32());
                let b = Operand::u32(listeners - 1);
                self.code.emit(Min { relu: false, ty: IntType2::U32, d: rank, a: lane, b });
                let (space, ty) = (MapaSpace::SharedCluster, AddressType::U32);
                self.code.emit(Mapa { space, ty, d, a: barrier, rank: rank.into() });
                (MbarrierSpace::Cluster, d)
            }
        };
        let arrive = MbarrierArrive { space, address: address.into(), ..Default::default() };
        self.code.emit_if(Some(arrives), arrive);
    }

    /// CTAs whose producers write to a ring's slots, and so wait for its readers.
    fn listeners(&self, ring: usize) -> u32 {
        let streams = self.streams.expect("invariant: a ring belongs to streams");
        let shared = |source: &Source| matches!(source.share, Share::All { .. });
        if streams.rings[ring].loads.iter().any(shared) { streams.cluster } else { 1 }
    }

    /// The lane in its warp.
    pub fn lane(&mut self) -> Operand {
        let lane = self.maps.intern((0..5).map(|bit| (bit, 1 << bit)).collect());
        self.thread(lane)
    }

    /// The next slot becomes the taken one; the ring's end flips the phase.
    fn take(&mut self, ring: usize) {
        let plan = &self.streams.expect("invariant: a ring belongs to streams").rings[ring];
        let end = self.ends[ring];
        let base = self.shared_base();
        let at = self.code.mul32(end.slot.into(), plan.slot);
        let at = self.code.add32(at, base.into());
        let at = self.code.add32(at, Operand::u32(plan.slots));
        self.code.copy_to(end.bytes, at);
        let next = self.code.add32(end.slot.into(), Operand::u32(1));
        let wraps = self.code.compare(Compare::Eq, CompareType::U32, next, Operand::u32(plan.depth));
        let flipped = self.code.b32();
        self.code.emit(Xor { ty: LogicType::B32, d: flipped, a: end.phase.into(), b: Operand::u32(1) });
        let mut choose = |d: Reg, a: Operand, b: Operand| {
            self.code.emit(Selp { ty: SelectType::B32, d, a, b, p: wraps });
        };
        choose(end.slot, Operand::u32(0), next);
        choose(end.phase, flipped.into(), end.phase.into());
    }

    /// A slot's barrier.
    fn barrier(&mut self, first: u32, slot: Reg) -> Reg {
        let base = self.shared_base();
        let at = self.code.mul32(slot.into(), BARRIER);
        let at = self.code.add32(at, base.into());
        let at = self.code.add32(at, Operand::u32(first));
        self.code.in_reg(RegClass::B32, at)
    }

    /// Waits until the barrier's phase of this parity has ended.
    fn wait(&mut self, barrier: Reg, parity: Reg) {
        let level = self.code.level();
        self.code.open();
        let done = self.code.pred();
        self.code.emit(MbarrierTryWaitParity {
            space: LocalShared::Cta,
            done,
            address: barrier.into(),
            parity: parity.into(),
            ..Default::default()
        });
        let head = self.code.close(level);
        let go_on = !Predicate::from(done);
        self.code.push(Item::Loop(Box::new(Loop { head, go_on, body: Vec::new() })));
    }

    /// One thread makes the barriers of all rings.
    pub fn init_barriers(&mut self) {
        let streams = self.streams.expect("invariant: barriers belong to streams");
        let warps = 4 * streams.warpgroups;
        for (ring, plan) in streams.rings.iter().enumerate() {
            for (first, count) in [(plan.full, 1), (plan.empty, warps * self.listeners(ring))] {
                for slot in 0..plan.depth {
                    let base = self.shared_base();
                    let address = Address::new(Base::Reg(base), (first + BARRIER * slot) as i32);
                    let count = Operand::u32(count);
                    self.code.emit(MbarrierInit { space: LocalShared::Cta, address, count });
                }
            }
        }
        self.code.emit(FenceMbarrierInit {});
    }
}

pub(super) fn rank_of(dims: usize) -> TensorRank {
    [TensorRank::D1, TensorRank::D2, TensorRank::D3, TensorRank::D4, TensorRank::D5][dims - 1]
}
