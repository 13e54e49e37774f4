//! Products by `wgmma`: sums in registers of one or two warpgroups, factors in slots of rings or, the left one, in registers.
//!
//! A product runs from its start to the first use of its sums (`land`). Where every product of a loop adds to sums that only it uses, products stay pending over the loop's edge: a slot is
//! released when the product after it has been started, and the sums are waited for behind the loop.
//! Layouts: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".

use super::ring::Taken;
use super::stream::{Left, OperandPlan, Product};
use super::{Lower, Made};
use crate::coord::{Coord, MapId, Place, ThreadMap};
use crate::spread::Spread;
use tegula_base::DType;
use tegula_ir::{Def, OpId, RegionId, Value};
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Predicate, Reg, RegClass, RegList};
use tegula_tile::TileOp;

/// Rows of one instruction, and of a warp's share of it.
const ROWS: i64 = 64;
/// The bit of the thread's number that names the second warpgroup.
pub(super) const WARPGROUP_BIT: u8 = 7;

/// A loop whose products stay pending over its edge.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub region: RegionId,
    /// In program order.
    products: Vec<OpId>,
    /// Whether this is not the first round.
    again: Reg,
}

impl Product {
    fn row_map(&self) -> ThreadMap {
        let own: ThreadMap = [(2, 1), (3, 2), (4, 4), (5, 16), (6, 32)].into_iter().collect();
        let own_rows = self.blocks * ROWS;
        let second = (self.warpgroups > 1).then_some((WARPGROUP_BIT, own_rows));
        let warpgroup_bits = self.warpgroups.trailing_zeros() as u8;
        let peer = (self.cluster > 1)
            .then_some((WARPGROUP_BIT + warpgroup_bits, own_rows * i64::from(self.warpgroups)));
        own.into_iter().chain(second).chain(peer).collect()
    }
}

/// Sums' columns, and k of a left factor of 16 bits: lanes have pairs.
fn pair_map() -> ThreadMap {
    [(0, 2), (1, 4)].into_iter().collect()
}

impl Lower<'_> {
    /// The plan of a product by warpgroups.
    pub fn product(&self, op: OpId) -> Option<&Product> {
        self.streams.and_then(|streams| streams.products.get(&op))
    }

    /// Where the sums lie: by block of 64 rows, then by 8 columns, four registers each.
    pub fn product_places(&mut self, plan: &Product) -> Vec<Place> {
        let (rows, columns) = (self.maps.intern(plan.row_map()), self.maps.intern(pair_map()));
        let mut places = Vec::new();
        for block in 0..plan.blocks {
            for column in (0..plan.n).step_by(8) {
                for (down, right) in [(0, 0), (0, 1), (8, 0), (8, 1)] {
                    let row = Coord { map: rows, at: block * ROWS + down };
                    let column = Coord { map: columns, at: column + right };
                    places.push([row, column].into_iter().collect());
                }
            }
        }
        places
    }

    /// Starts a product; waits for it unless it may stay pending.
    pub fn multiply(&mut self, op: OpId) -> Made<()> {
        let plan = self.product(op).expect("invariant: asked before").clone();
        let region = self.func.parent(op).expect("invariant: an op stands in a region");
        let places = self.product_places(&plan);
        let [acc, a, _] = *self.func.operands(op) else {
            unreachable!("invariant: a product has three operands")
        };
        let rings = self.rings_of(op, First);
        let by_threads = rings.iter().any(|ring| self.is_read_by_threads(*ring));
        if by_threads {
            self.get_first(op);
        }
        let lefts = match plan.left {
            Left::Registers => self.fragments(a, &plan)?,
            Left::Shared(_) => Vec::new(),
        };
        let fresh = self.is_zero(acc);
        let sums: Vec<Reg> = match self.in_place.get(&op) {
            Some(sums) => sums.clone(),
            None => {
                let pieces = if fresh { Vec::new() } else { self.pieces(acc, &places)? };
                let sums: Vec<Reg> = places.iter().map(|_| self.code.b32()).collect();
                sums.iter().zip(pieces).for_each(|(sum, piece)| self.code.copy_to(*sum, piece));
                sums
            }
        };
        if !by_threads {
            self.get_first(op);
        }
        self.wait_turn(op);
        self.instructions(&plan, &sums, &lefts, fresh && !self.in_place.contains_key(&op));
        let pending = self.pending.last().filter(|pending| pending.region == region).cloned();
        match pending {
            Some(pending) => {
                self.code.emit(WgmmaWaitGroup { groups: 1 });
                self.release_before(&pending, op);
            }
            None => self.take_off(self.func.result(op), op),
        }
        let sums: Vec<Operand> = sums.into_iter().map(Operand::from).collect();
        self.anchor_at(self.func.result(op), Spread { places }, &sums);
        self.start_late_after(op);
        Ok(())
    }

    /// Waits for the slots that a product is the first to use.
    pub fn get_first(&mut self, op: OpId) {
        self.rings_of(op, First).into_iter().for_each(|ring| self.get(ring));
    }

    /// Frees the slots that a product was the last to use.
    pub fn release_of(&mut self, op: OpId) {
        for ring in self.rings_of(op, Last) {
            if self.is_read_by_threads(ring) {
                // One lane speaks for all of its warp.
                self.code.emit(BarWarpSync { mask: Operand::u32(u32::MAX) });
            }
            self.release(ring, Taken::Last, None);
        }
    }

    // --- products on their way ------------------------------------------------------------------------------

    /// Notes a product that was started last; its sums are asked for as `value`.
    pub fn take_off(&mut self, value: Value, op: OpId) {
        self.flights.push((value, op));
    }

    /// Waits for the product of a value, if it is on its way, and for those before it; their slots are free then.
    pub fn land(&mut self, value: Value) {
        let Some(at) = self.flights.iter().position(|(own, _)| *own == value) else { return };
        let level = self.code.set_level(self.level_of(value));
        self.code.emit(WgmmaWaitGroup { groups: (self.flights.len() - 1 - at) as u32 });
        let landed: Vec<(Value, OpId)> = self.flights.drain(..=at).collect();
        landed.into_iter().for_each(|(_, op)| self.release_of(op));
        self.code.set_level(level);
    }

    pub fn land_all(&mut self) {
        if let Some((value, _)) = self.flights.last() {
            self.land(*value);
        }
    }

    /// Whether threads read a tile of the ring's slots themselves.
    fn is_read_by_threads(&self, ring: usize) -> bool {
        self.streams.is_some_and(|streams| streams.rings[ring].loads.iter().any(|source| source.by_threads))
    }

    fn is_zero(&self, value: Value) -> bool {
        let zero = |op| matches!(self.func.kind(op), TileOp::Splat { bits: 0, .. });
        self.func.def_op(value).is_some_and(zero)
    }

    /// Rings of this product's region that it is the first, or the last, to use.
    fn rings_of(&self, op: OpId, which: Which) -> Vec<usize> {
        let streams = self.streams.expect("invariant: a product has streams");
        let region = self.func.parent(op).expect("invariant: an op stands in a region");
        let own = |ring: &usize| {
            let products = &streams.rings[*ring].products;
            let inside = products.iter().all(|product| self.func.parent(*product) == Some(region));
            let named = if which == First { products.first() } else { products.last() };
            inside && named == Some(&op)
        };
        streams.rings_in(region).filter(own).collect()
    }

    /// Rings of a region that products further inside use: taken where the loads stand, released behind the last op that has one.
    pub fn outer_rings(&self, region: RegionId) -> Vec<usize> {
        let Some(streams) = self.streams else { return Vec::new() };
        let inside = |ring: &usize| {
            let products = &streams.rings[*ring].products;
            products.iter().any(|product| self.func.parent(*product) != Some(region))
        };
        streams.rings_in(region).filter(inside).collect()
    }

    /// Whether the last product that uses a ring stands inside of an op.
    pub fn is_last_user(&self, op: OpId, ring: usize) -> bool {
        let products = self.streams.map(|streams| &streams.rings[ring].products[..]).unwrap_or_default();
        let mut inner = products.last().copied();
        while let Some(at) = inner {
            if at == op {
                return true;
            }
            inner = self.func.parent(at).and_then(|region| self.func.owner(region));
        }
        false
    }

    pub fn instructions(&mut self, plan: &Product, sums: &[Reg], lefts: &[Reg], overwrite: bool) {
        let right = self.descriptor(&plan.right);
        let left = match &plan.left {
            Left::Shared(operand) => Some(self.descriptor(operand)),
            Left::Registers => None,
        };
        let [always, never] = [1, 0].map(|value| {
            let d = self.code.pred();
            self.code.emit(Mov { ty: LogicType::Pred, d, a: Operand::u32(value) });
            d
        });
        let count = sums.len() / plan.blocks as usize;
        self.code.emit(WgmmaFence {});
        for step in 0..plan.steps as usize {
            let b = self.advanced(right, plan.right.starts[0][step]);
            let accumulate = Predicate::from(if overwrite && step == 0 { never } else { always });
            for block in 0..plan.blocks as usize {
                let d: RegList = sums[block * count..(block + 1) * count].iter().copied().collect();
                let (shape, ty) = (plan.shape, plan.ty);
                let transpose_b = plan.right.operand.mn_major;
                match (&plan.left, left) {
                    (Left::Shared(operand), Some(left)) => {
                        let a = self.advanced(left, operand.starts[block][step]);
                        let transpose_a = operand.operand.mn_major;
                        let wgmma = Wgmma {
                            shape,
                            ty,
                            d,
                            a,
                            b,
                            accumulate,
                            transpose_a,
                            transpose_b,
                            ..Default::default()
                        };
                        self.code.emit(wgmma);
                    }
                    _ => {
                        let first = 4 * (step * plan.blocks as usize + block);
                        let a: RegList = lefts[first..first + 4].iter().copied().collect();
                        let wgmma = WgmmaRegisters {
                            shape,
                            ty,
                            d,
                            a,
                            b,
                            accumulate,
                            transpose_b,
                            ..Default::default()
                        };
                        self.code.emit(wgmma);
                    }
                }
            }
        }
        self.code.emit(WgmmaCommitGroup {});
    }

    /// The left factor in registers: by step along k, then by block of 64 rows, four registers each.
    fn fragments(&mut self, value: Value, plan: &Product) -> Made<Vec<Reg>> {
        let (dtype, _) = self.tile(value);
        if dtype.size() == 2 {
            let places = self.fragment_places(dtype, plan);
            return self.pairs(value, &places);
        }
        let pieces = self.fragment_pieces(value, plan)?;
        Ok(pieces.chunks(4 / dtype.size()).map(|run| self.packed(dtype, run)).collect())
    }

    /// Its elements, not yet packed, in the order of the registers.
    pub fn fragment_pieces(&mut self, value: Value, plan: &Product) -> Made<Vec<Operand>> {
        let (dtype, _) = self.tile(value);
        let places = self.fragment_places(dtype, plan);
        self.unrounded_pieces(value, &places)
    }

    /// The elements of a left factor that each thread holds, those of a register next to each other.
    pub fn fragment_places(&mut self, dtype: DType, plan: &Product) -> Vec<Place> {
        let run = 4 / dtype.size() as i64;
        let rows: MapId = self.maps.intern(plan.row_map());
        let inner = self.maps.intern([(0, run), (1, 2 * run)].into_iter().collect());
        let k = plan.ty.k() as i64;
        let mut places: Vec<Place> = Vec::new();
        for step in 0..plan.steps {
            for block in 0..plan.blocks {
                for (far, down) in [(0, 0), (0, 8), (1, 0), (1, 8)] {
                    let row = Coord { map: rows, at: block * ROWS + down };
                    let first = step * k + far * k / 2;
                    let along = (0..run).map(|i| Coord { map: inner, at: first + i });
                    places.extend(along.map(|column| -> Place { [row, column].into_iter().collect() }));
                }
            }
        }
        places
    }

    /// The descriptor of the warpgroup's first byte in the slot taken last.
    fn descriptor(&mut self, plan: &OperandPlan) -> Reg {
        let fields = plan.operand.descriptor.bits(0);
        let mut start = Operand::from(self.ends[plan.ring].bytes);
        if plan.warpgroup != 0 {
            let second = self.maps.intern([(WARPGROUP_BIT, i64::from(plan.warpgroup))].into_iter().collect());
            let offset = self.uniform_thread(second);
            start = self.code.add32(start, offset);
        }
        let start = self.code.in_reg(RegClass::B32, start);
        let address = self.code.b32();
        let (pos, len) = (Operand::u32(4), Operand::u32(14));
        self.code.emit(Bfe { ty: WideInt::U32, d: address, a: start.into(), pos, len });
        let low = self.code.add32(address.into(), Operand::u32(fields as u32));
        let low = self.code.in_reg(RegClass::B32, low);
        let high = self.code.in_reg(RegClass::B32, Operand::u32((fields >> 32) as u32));
        let d = self.code.b64();
        self.code.emit(PackWords { d, parts: [low, high].into_iter().collect() });
        d
    }

    /// The descriptor so many bytes further on.
    fn advanced(&mut self, descriptor: Reg, bytes: u32) -> Reg {
        let sum = self.code.add64(descriptor.into(), Operand::i64(i64::from(bytes >> 4)));
        self.code.in_reg(RegClass::B64, sum)
    }

    // --- pending products -----------------------------------------------------------------------------------

    /// Before a loop's body: whether all of its products may stay pending. `carried`: registers of the loop's values.
    pub fn begin_pending(
        &mut self,
        region: RegionId,
        carried: &[&[Reg]],
        iv: Reg,
        lo: Operand,
    ) -> Option<Pending> {
        if self.is_producer() {
            return None;
        }
        let ops = self.func.ops_in(region).to_vec();
        let products: Vec<OpId> = ops.into_iter().filter(|op| self.product(*op).is_some()).collect();
        let numbers: Vec<usize> =
            products.iter().map(|op| self.carried_sums(*op, region)).collect::<Option<_>>()?;
        // Registers of a factor must stay as they are while its product is pending.
        let shared = |op: &OpId| self.product(*op).is_some_and(|plan| matches!(plan.left, Left::Shared(_)));
        // A slot that products further inside use as well is freed behind them, whoever still reads it.
        let outer = self.outer_rings(region);
        let alone = |op: &OpId| {
            let streams = self.streams.expect("invariant: a product has streams");
            outer.iter().all(|ring| !streams.rings[*ring].products.contains(op))
        };
        if products.is_empty() || !products.iter().all(|op| shared(op) && alone(op)) {
            return None;
        }
        for (op, number) in products.iter().zip(numbers) {
            self.in_place.insert(*op, carried[number].to_vec());
        }
        let again = self.code.compare64(Compare::Ne, iv.into(), lo);
        Some(Pending { region, products, again })
    }

    /// The number of the loop's value that is a product's sums and nothing else.
    fn carried_sums(&self, op: OpId, region: RegionId) -> Option<usize> {
        let acc = self.func.operand(op, 0);
        let Def::Arg(owner, number) = self.func.def(acc) else { return None };
        let number = (number as usize).checked_sub(1)?;
        let end = self.func.terminator(region)?;
        let result = self.func.result(op);
        let alone = owner == region
            && self.func.users(acc) == [op]
            && self.func.users(result) == [end]
            && self.func.operands(end).iter().filter(|value| **value == result).count() == 1;
        (alone && self.func.operand(end, number) == result).then_some(number)
    }

    /// The product before this one is done: its slots are free.
    fn release_before(&mut self, pending: &Pending, op: OpId) {
        let at = pending.products.iter().position(|own| *own == op).expect("invariant: one of the loop's");
        let (before, guard) = match at {
            0 => (pending.products[pending.products.len() - 1], Some(pending.again.into())),
            _ => (pending.products[at - 1], None),
        };
        for ring in self.rings_of(before, Last) {
            let products = &self.streams.expect("invariant: a product has streams").rings[ring].products;
            // Whether this round has taken a slot of the ring already.
            let taken = if at == 0 && products[0] == op { Taken::Before } else { Taken::Last };
            self.release(ring, taken, guard);
        }
    }

    /// Behind a loop: its last product is waited for, and its slots are free.
    pub fn end_pending(&mut self, pending: &Pending, lo: Operand, hi: Operand) {
        self.code.emit(WgmmaWaitGroup { groups: 0 });
        let last = pending.products[pending.products.len() - 1];
        let ran = self.code.compare64(Compare::Lt, lo, hi);
        for ring in self.rings_of(last, Last) {
            self.release(ring, Taken::Last, Some(ran.into()));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    First,
    Last,
}
use Which::{First, Last};
