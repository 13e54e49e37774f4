//! A kernel in roles: one thread of a producer warpgroup starts copies, one or two warpgroups do all the rest.
//! CTAs are persistent: each takes one unit after the other, so that the copies of a unit run while the one before is
//! stored.
//! Source: CUTLASS's warp-specialised persistent kernels for sm_90, for roles and register budgets.

use super::stream::{Full, Streams};
use super::{Chip, END, FIRST_MAP, Lower, Lowered, Made, Scope};
use crate::code::{Branch, Code, Item, Loop};
use crate::scalar::Refused;
use tegula_base::Symbols;
use tegula_ir::{OpId, RegionId};
use tegula_isa_ptx::modifiers::{ClusterArriveOrder, Compare, TensormapSpace};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Address, Base, Operand, ParamId, ParamType, Special};
use tegula_package::PtxLaunch;
use tegula_tile::{TileKernel, TileOp};

/// Threads of a warpgroup.
const WARPGROUP: u32 = 128;
/// Registers of a producer's thread, of those that CUTLASS's and FlashAttention-3's producers have (24 to 40).
const PRODUCER_REGISTERS: u32 = 40;
/// Registers are given to threads by so many, and at most so many.
const REGISTER_STEP: u32 = 8;
const MOST_REGISTERS: u32 = 240;
/// What shared memory must begin at: a whole swizzle pattern.
const ALIGNMENT: u32 = super::stream::SLOT_ALIGNMENT;

/// What becomes of a kernel here.
pub(super) enum Roles {
    Lowered(Box<Lowered>),
    /// It has no products that the copy engine can feed.
    None,
    /// It has such products, and their factors do not fit shared memory.
    Full(Full),
}

/// The kernel with roles. Errors: as `lower`.
pub(super) fn lower(
    name: &str,
    kernel: &TileKernel,
    symbols: &Symbols,
    chip: &Chip,
) -> Result<Roles, Refused> {
    let (mut rings, mut clusters) = (chip.shared_memory, true);
    loop {
        let streams = Streams::plan(&mut Lower::new(kernel, symbols, Code::new(), 0), rings, clusters);
        let streams = match streams {
            Ok(Some(streams)) => streams,
            Ok(None) => return Ok(Roles::None),
            Err(full) => return Ok(Roles::Full(full)),
        };
        let lowered = match with_streams(name, kernel, symbols, chip, &streams) {
            // Sums that CTAs would have to exchange stay in one.
            Err(_) if streams.cluster > 1 => {
                clusters = false;
                continue;
            }
            lowered => lowered?,
        };
        // What the warpgroups exchange among each other is known only now.
        match lowered.launch.dynamic_shared.checked_sub(chip.shared_memory) {
            Some(0) | None => return Ok(Roles::Lowered(Box::new(lowered))),
            Some(excess) => rings = streams.end.saturating_sub(excess),
        }
    }
}

fn with_streams(
    name: &str,
    kernel: &TileKernel,
    symbols: &Symbols,
    chip: &Chip,
    streams: &Streams,
) -> Result<Lowered, Refused> {
    let warpgroups = streams.warpgroups;
    let threads = warpgroups * WARPGROUP * streams.cluster;
    let mut shell = Lower::new(kernel, symbols, Code::new(), threads.trailing_zeros());
    shell.streams = Some(streams);
    let warpgroup = shell.prologue();
    let last = Operand::u32(warpgroups);
    let produces = shell.code.compare(Compare::Eq, CompareType::U32, warpgroup, last);
    let budget = consumer_registers(chip, warpgroups);
    let mut shared_bytes = streams.end;
    let mut role = |shell: &mut Lower, is_producer: bool| -> Result<Vec<Item>, Refused> {
        let mut cx = Lower::new(kernel, symbols, shell.code.beside(), shell.thread_bits);
        cx.streams = Some(streams);
        cx.has_matrix = true;
        cx.produces = is_producer;
        cx.sizes = std::mem::take(&mut shell.sizes);
        cx.maps_needed = std::mem::take(&mut shell.maps_needed);
        cx.shared_bytes = streams.end;
        if let Some(registers) = budget.filter(|_| !is_producer) {
            cx.code.emit(SetmaxnregInc { registers });
        }
        cx.open_ends();
        cx.each_unit()?;
        shell.sizes = cx.sizes;
        shell.maps_needed = cx.maps_needed;
        shared_bytes = shared_bytes.max(cx.shared_bytes);
        Ok(shell.code.join(cx.code))
    };
    let multiply = role(&mut shell, false)?;
    let produce = role(&mut shell, true)?;
    let produce = shell.one_thread(produce, budget.map(|_| PRODUCER_REGISTERS));
    shell.prefetch_maps();
    shell.wait_for_launches(chip);
    let branch = Branch { condition: produces.into(), then: produce, other: multiply };
    shell.code.push(Item::Branch(Box::new(branch)));
    shell.epilogue();
    let mut b = shell.entry(name);
    b.directives().cluster = (streams.cluster > 1).then_some([streams.cluster, 1, 1]);
    b.directives().reqntid = Some([(warpgroups + 1) * WARPGROUP, 1, 1]);
    // The assembler then gives all registers to one CTA, which `setmaxnreg` shares out.
    b.directives().minnctapersm = budget.map(|_| 1);
    b.param("end", ParamType::Scalar(Scalar::U64));
    for number in 0..shell.maps_needed.len() {
        b.param(format!("map{number}"), ParamType::Bytes { align: 64, size: 128 });
    }
    b.shared("tiles", ALIGNMENT, None);
    Ok(Lowered {
        entry: shell.code.finish(b),
        sizes: shell.sizes,
        launch: PtxLaunch {
            dynamic_shared: shared_bytes,
            maps: shell.maps_needed,
            persistent: Some(1),
            early: chip.overlaps_launches,
        },
        remarks: Vec::new(),
    })
}

/// Registers of a thread that multiplies, when the producer has given back its own; none where a thread has as many as
/// it can name from the start.
fn consumer_registers(chip: &Chip, warpgroups: u32) -> Option<u32> {
    let whole = |registers: u32| registers / REGISTER_STEP * REGISTER_STEP;
    let share = whole(chip.registers / ((warpgroups + 1) * WARPGROUP));
    // What a CTA has been given when it starts is all there is to share.
    let left = share * (warpgroups + 1) - PRODUCER_REGISTERS;
    (share < MOST_REGISTERS).then_some(whole(left / warpgroups).min(MOST_REGISTERS))
}

impl Lower<'_> {
    pub fn is_producer(&self) -> bool {
        self.produces
    }

    /// Whether the copy engine does the load.
    pub fn is_streamed(&self, load: OpId) -> bool {
        self.streams.is_some_and(|streams| streams.of_load.contains_key(&load))
    }

    /// The ring whose first load this is.
    pub fn ring_of(&self, load: OpId) -> Option<usize> {
        let (ring, number) = *self.streams?.of_load.get(&load)?;
        (number == 0).then_some(ring)
    }

    /// One thread makes the barriers; then all know them. The warpgroup's number.
    fn prologue(&mut self) -> Operand {
        let tid = self.code.b32();
        self.code.emit(MovSpecial { ty: AddressType::U32, d: tid, special: Special::TidX });
        let first = self.code.compare(Compare::Eq, CompareType::U32, tid.into(), Operand::u32(0));
        let level = self.code.level();
        self.shared_base();
        self.code.open();
        self.init_barriers();
        let then = self.code.close(level);
        self.code.push(Item::Branch(Box::new(Branch { condition: first.into(), then, other: Vec::new() })));
        if self.cluster() > 1 {
            // The barriers' own fence has released them.
            self.code.emit(ClusterArrive { order: ClusterArriveOrder::Relaxed, aligned: true });
            self.code.emit(ClusterWait { aligned: true, ..Default::default() });
        } else {
            self.code.emit(BarrierSync { aligned: true, id: Operand::u32(0), threads: None });
        }
        let own = self.code.b32();
        let (pos, len) = (Operand::u32(WARPGROUP.trailing_zeros()), Operand::u32(8));
        self.code.emit(Bfe { ty: WideInt::U32, d: own, a: tid.into(), pos, len });
        self.code.first_lane(own.into())
    }

    /// Tensor maps are parameters, there before the kernel begins.
    fn prefetch_maps(&mut self) {
        for number in 0..self.maps_needed.len() {
            let map = Address::new(Base::Param(ParamId(FIRST_MAP + number as u32)), 0);
            self.code.emit(PrefetchTensormap { space: TensormapSpace::Param, map });
        }
    }

    /// No CTA ends while a peer may still write to its slots or arrive at its barriers.
    fn epilogue(&mut self) {
        if self.cluster() > 1 {
            // Nothing is handed over: products and copies have been waited for.
            self.code.emit(ClusterArrive { order: ClusterArriveOrder::Relaxed, aligned: false });
            self.code.emit(ClusterWait::default());
        }
    }

    /// A role's work on all units of this CTA, or of its cluster.
    fn each_unit(&mut self) -> Made<()> {
        // The shell holds what all units share.
        let body = self.func.body();
        let first = self.first_unit();
        let (unit, end, ctas) = (self.code.b64(), self.code.b64(), self.code.b32());
        self.code.copy_to(unit, first);
        self.load_param(END, 0, end);
        let special = if self.cluster() > 1 { Special::NclusteridX } else { Special::NctaidX };
        self.code.emit(MovSpecial { ty: AddressType::U32, d: ctas, special });
        let step = self.code.widen(ctas.into());
        let level = self.code.level();
        self.code.open();
        let go_on = self.code.compare64(Compare::Lt, unit.into(), end.into()).into();
        let head = self.code.close(level);
        self.code.open();
        self.scopes.push(Scope::of(body));
        self.bind_unit(unit.into());
        self.region(body)?;
        self.land_all();
        let next = self.code.add64(unit.into(), step);
        self.code.copy_to(unit, next);
        self.scopes.pop();
        let items = self.code.close(level);
        self.code.push(Item::Loop(Box::new(Loop { head, go_on, body: items })));
        self.end_bulk_stores();
        Ok(())
    }

    /// All but one thread of the first of a warpgroup's warps leave out the code. All give back registers before.
    fn one_thread(&mut self, code: Vec<Item>, registers: Option<u32>) -> Vec<Item> {
        let level = self.code.level();
        self.code.open();
        if let Some(registers) = registers {
            self.code.emit(SetmaxnregDec { registers });
        }
        let (tid, warp) = (self.code.b32(), self.code.b32());
        self.code.emit(MovSpecial { ty: AddressType::U32, d: tid, special: Special::TidX });
        let (pos, len) = (Operand::u32(5), Operand::u32(2));
        self.code.emit(Bfe { ty: WideInt::U32, d: warp, a: tid.into(), pos, len });
        let warp = self.code.first_lane(warp.into());
        let first = self.code.compare(Compare::Eq, CompareType::U32, warp, Operand::u32(0));
        let outer = self.code.level();
        self.code.open();
        let elected = self.code.pred();
        self.code.emit(Elect { d: None, p: elected, mask: Operand::u32(u32::MAX) });
        let one = Branch { condition: elected.into(), then: code, other: Vec::new() };
        self.code.push(Item::Branch(Box::new(one)));
        let then = self.code.close(outer);
        self.code.push(Item::Branch(Box::new(Branch { condition: first.into(), then, other: Vec::new() })));
        self.code.close(level)
    }

    /// A producer's part of a region: copies in program order, and the loops and branches that have some inside.
    pub fn produce(&mut self, region: RegionId) -> Made<()> {
        for &op in self.func.ops_in(region) {
            match self.func.kind(op) {
                TileOp::Load { .. } | TileOp::Concat { .. } => {
                    if let Some(ring) = self.ring_of(op) {
                        self.put(ring)?;
                    }
                }
                TileOp::For { step } if self.has_copies(op) => self.for_loop(op, *step)?,
                TileOp::If {} if self.has_copies(op) => self.branch(op)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an op's regions have products by warpgroups inside.
    pub fn has_products(&self, op: OpId) -> bool {
        let inside = |region: &RegionId| {
            self.func.ops_in(*region).iter().any(|op| self.product(*op).is_some() || self.has_products(*op))
        };
        self.func.regions_of(op).iter().any(inside)
    }

    fn has_copies(&self, op: OpId) -> bool {
        let inside = |region: &RegionId| {
            self.func.ops_in(*region).iter().any(|op| self.is_streamed(*op) || self.has_copies(*op))
        };
        self.func.regions_of(op).iter().any(inside)
    }
}
