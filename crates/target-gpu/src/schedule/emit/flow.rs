//! A role's steps: loops over tiles and blocks, and its ends of channels.

use tegula_isa_ptx::modifiers::{BulkDestination, Compare, LocalShared, MbarrierSpace, TensorRank};
use tegula_isa_ptx::op::Selp;
use tegula_isa_ptx::op::{
    MbarrierArrive, MbarrierArriveExpectTx, MbarrierTryWaitParity, Mov, TensorLoad, WgmmaWaitGroup,
};
use tegula_isa_ptx::types::{LogicType, SelectType};
use tegula_isa_ptx::{Address, Operand, OperandList, Reg, RegList, Special};

use super::super::asm::imm;
use super::super::{Axis, ChannelId, Step, TileOrder};
use super::{Emitter, product, store};

/// What a role keeps in registers.
pub(super) struct Role {
    pub number: usize,
    /// The warpgroup's number within the role.
    pub warpgroup: Reg,
    /// For each channel of which the role has an end.
    ends: Vec<Option<End>>,
    /// For each product that the role computes: sums by block of 64 rows.
    pub sums: Vec<Vec<RegList>>,
    /// The current tile's corner.
    pub m: Reg,
    pub n: Reg,
    /// The current block along k.
    pub block: Reg,
    blocks: Reg,
}

/// One end of a channel: the next slot, and what is known of the current one.
struct End {
    slot: Reg,
    phase: Reg,
    /// The current slot's bytes, and its barrier that this end arrives at.
    bytes: Reg,
    barrier: Reg,
    /// The barrier of the slot before.
    before: Reg,
}

/// Runs the role's steps once.
pub(super) fn run(e: &mut Emitter, number: usize) {
    let steps = e.schedule.roles[number].steps.clone();
    let first = e.schedule.first_warpgroup(number);
    let warpgroup = e.asm.sub(e.warpgroup, imm(first));
    let k = e.size(e.schedule.tiles.k_word);
    let blocks = e.asm.div_ceil(k, e.schedule.tiles.k);
    let ends = (0..e.schedule.channels.len()).map(|channel| {
        let ours = |step: &Step| matches!(step, Step::Acquire(id) | Step::Get(id) if id.0 == channel);
        super::super::any_step(&steps, &ours).then(|| End {
            slot: e.asm.mov(imm(0)),
            phase: e.asm.mov(imm(0)),
            bytes: e.asm.b32(),
            barrier: e.asm.mov(e.memory),
            before: e.asm.b32(),
        })
    });
    let ends = ends.collect();
    let sums = (0..e.schedule.products.len()).map(|id| product::sums(e, &steps, id)).collect();
    let (m, n, block) = (e.asm.b32(), e.asm.b32(), e.asm.b32());
    let mut role = Role { number, warpgroup, ends, sums, m, n, block, blocks };
    e.steps(&mut role, &steps);
    store::finish(e, &steps);
}

impl Emitter<'_> {
    fn steps(&mut self, role: &mut Role, steps: &[Step]) {
        for step in steps {
            match step {
                Step::EachTile(inner) => self.each_tile(role, inner),
                Step::EachBlock(inner) => self.each_block(role, inner),
                Step::Acquire(channel) => self.acquire(role, *channel),
                Step::Put { channel, part } => self.put(role, *channel, *part),
                Step::Get(channel) => self.get(role, *channel),
                Step::Multiply(id) => {
                    let channel = self.schedule.products[id.0].channel;
                    let slot = role.end(channel).bytes;
                    product::multiply(self, role, *id, slot);
                }
                Step::AwaitProducts { pending } => self.asm.emit(WgmmaWaitGroup { groups: *pending }),
                Step::Release { channel, behind } => self.release(role, *channel, *behind),
                Step::Store(id) => store::store(self, role, *id),
            }
        }
    }

    /// As `TileScheduler::tile` says, for this cluster's numbers.
    fn each_tile(&mut self, role: &mut Role, steps: &[Step]) {
        let tiles = self.schedule.tiles;
        let cluster = self.schedule.cluster;
        let (m, n) = (self.size(tiles.m_word), self.size(tiles.n_word));
        let asm = &mut self.asm;
        let rows = asm.div_ceil(m, tiles.m * cluster);
        let columns = asm.div_ceil(n, tiles.n);
        let total = asm.mul(rows, columns);
        let (first, count) = if cluster > 1 {
            (Special::ClusteridX, Special::NclusteridX)
        } else {
            (Special::CtaidX, Special::NctaidX)
        };
        let (tile, step) = (asm.special(first), asm.special(count));
        let (again, done) = (asm.label(), asm.label());
        asm.place(again, "tile");
        let beyond = asm.compare(Compare::Ge, tile, total);
        asm.branch_if(beyond, done);
        let (row, column) = match tiles.order {
            TileOrder::RowMajor => (asm.div(tile, columns), asm.rem(tile, columns)),
            TileOrder::Grouped { rows: band } => {
                let size = asm.mul(columns, imm(band));
                let number = asm.div(tile, size);
                let first = asm.mul(number, imm(band));
                let left = asm.sub(rows, first);
                let height = asm.min(left, imm(band));
                let before = asm.mul(first, columns);
                let within = asm.sub(tile, before);
                let row = asm.rem(within, height);
                (asm.add(row, first), asm.div(within, height))
            }
        };
        let row = match self.rank {
            Some(rank) => asm.mad(row, imm(cluster), rank),
            None => row,
        };
        let (m, n) = (asm.mul(row, imm(tiles.m)), asm.mul(column, imm(tiles.n)));
        asm.set(role.m, m);
        asm.set(role.n, n);
        self.steps(role, steps);
        self.asm.add_to(tile, tile, step);
        self.asm.branch(again);
        self.asm.place(done, "tiles_done");
    }

    fn each_block(&mut self, role: &mut Role, steps: &[Step]) {
        let (again, done) = (self.asm.label(), self.asm.label());
        self.asm.set(role.block, imm(0));
        self.asm.place(again, "block");
        let beyond = self.asm.compare(Compare::Ge, role.block, role.blocks);
        self.asm.branch_if(beyond, done);
        self.steps(role, steps);
        self.asm.add_to(role.block, role.block, imm(1));
        self.asm.branch(again);
        self.asm.place(done, "blocks_done");
    }

    /// The slot's barrier in the ring that begins at an offset.
    fn barrier(&mut self, ring: u32, slot: Reg) -> Reg {
        let at = self.asm.mad(slot, imm(8), self.memory);
        self.asm.add(at, imm(ring))
    }

    fn acquire(&mut self, role: &mut Role, channel: ChannelId) {
        let plan = &self.plan.channels[channel.0];
        let end = role.end(channel);
        let (empty, full) = (self.barrier(plan.empty, end.slot), self.barrier(plan.full, end.slot));
        // The first round finds all slots free: the phase before the first one counts as ended.
        let parity = self.asm.xor(end.phase, imm(1));
        self.wait(empty, parity);
        let (space, address) = (MbarrierSpace::Cta, Address::from(full));
        let bytes = imm(plan.bytes);
        self.asm.emit(MbarrierArriveExpectTx { space, address, bytes, ..MbarrierArriveExpectTx::default() });
        self.asm.set(end.barrier, full);
        self.enter(role, channel);
    }

    fn get(&mut self, role: &mut Role, channel: ChannelId) {
        let plan = &self.plan.channels[channel.0];
        let end = role.end(channel);
        let full = self.barrier(plan.full, end.slot);
        self.wait(full, end.phase);
        let empty = self.barrier(plan.empty, end.slot);
        self.asm.set(end.before, end.barrier);
        self.asm.set(end.barrier, empty);
        self.enter(role, channel);
    }

    /// The next slot becomes the current one; the ring's end flips the phase.
    fn enter(&mut self, role: &mut Role, channel: ChannelId) {
        let plan = &self.plan.channels[channel.0];
        let depth = self.schedule.channels[channel.0].depth;
        let end = role.end(channel);
        let asm = &mut self.asm;
        let at = asm.mad(end.slot, imm(plan.slot), self.memory);
        asm.add_to(end.bytes, at, imm(plan.slots));
        asm.add_to(end.slot, end.slot, imm(1));
        let wraps = asm.compare(Compare::Eq, end.slot, imm(depth));
        let flipped = asm.xor(end.phase, imm(1));
        let mut choose = |d: Reg, a: Operand| {
            asm.emit(Selp { ty: SelectType::B32, d, a, b: d.into(), p: wraps });
        };
        choose(end.slot, imm(0));
        choose(end.phase, flipped.into());
    }

    /// Waits until the barrier's phase of this parity has ended.
    fn wait(&mut self, barrier: Reg, parity: Reg) {
        let again = self.asm.label();
        let done = self.asm.pred();
        self.asm.place(again, "wait");
        self.asm.emit(MbarrierTryWaitParity {
            space: LocalShared::Cta,
            done,
            address: barrier.into(),
            parity: parity.into(),
            ..MbarrierTryWaitParity::default()
        });
        self.asm.branch_if(!tegula_isa_ptx::Predicate::from(done), again);
    }

    fn put(&mut self, role: &mut Role, channel: ChannelId, part: usize) {
        let plan = &self.plan.channels[channel.0].parts[part];
        let description = &self.schedule.channels[channel.0].parts[part];
        let end = role.end(channel);
        let multicast = description.shared.then(|| {
            let d = self.asm.b16();
            let mask = imm((1 << self.schedule.cluster) - 1);
            self.asm.emit(Mov { ty: LogicType::B16, d, a: mask });
            d
        });
        let share = plan.share.zip(self.rank);
        let bytes = match share {
            Some((share, rank)) => self.asm.mad(rank, imm(share.bytes), end.bytes),
            None => end.bytes,
        };
        for copy in &plan.copies {
            let corner: OperandList = plan
                .order
                .iter()
                .map(|&dim| {
                    let base = match description.axes[dim] {
                        Axis::M => role.m,
                        Axis::N => role.n,
                        Axis::K => self.asm.mul(role.block, imm(self.schedule.tiles.k)),
                    };
                    let at = self.asm.add(base, imm(copy.corner[dim]));
                    match share {
                        Some((share, rank)) if share.dim == dim => {
                            self.asm.mad(rank, imm(share.elements), at).into()
                        }
                        _ => at.into(),
                    }
                })
                .collect();
            self.asm.emit(TensorLoad {
                rank: rank_of(corner.len()),
                space: BulkDestination::Cluster,
                multicast,
                d: Address::from(bytes).plus((plan.offset + copy.offset) as i32),
                map: self.maps[description.tensor].into(),
                corner,
                mbarrier: end.barrier.into(),
                ..TensorLoad::default()
            });
        }
    }

    /// One arrival of each warp at each CTA that writes to it.
    fn release(&mut self, role: &mut Role, channel: ChannelId, behind: u32) {
        let plan = &self.plan.channels[channel.0];
        let end = role.end(channel);
        let arrives = self.asm.compare(Compare::Lt, self.lane, imm(plan.listeners));
        let (arrives, barrier) = match behind {
            0 => (arrives, end.barrier),
            _ => (self.asm.compare_and(Compare::Ge, role.block, imm(behind), arrives), end.before),
        };
        let (space, address) = match self.peer_memory.filter(|_| plan.listeners > 1) {
            Some(peer) => {
                let offset = self.asm.sub(barrier, self.memory);
                (MbarrierSpace::Cluster, self.asm.add(peer, offset))
            }
            None => (MbarrierSpace::Cta, barrier),
        };
        let arrive = MbarrierArrive { space, address: address.into(), ..MbarrierArrive::default() };
        self.asm.emit_if(arrives, arrive);
    }
}

impl Role {
    fn end(&self, channel: ChannelId) -> &End {
        self.ends[channel.0].as_ref().expect("invariant: a role has ends of the channels that its steps name")
    }
}

pub(super) fn rank_of(dims: usize) -> TensorRank {
    [TensorRank::D1, TensorRank::D2, TensorRank::D3, TensorRank::D4, TensorRank::D5][dims - 1]
}
