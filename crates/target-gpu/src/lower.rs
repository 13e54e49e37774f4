//! Lowers a tile kernel to structured code of one thread: the generic road, which takes every kernel.
//!
//! Before: a verified kernel whose recipe keeps its promises (boxes inside of views along unbounded axes).
//! After: an entry by the ABI of `docs/abi.md` with the same effects; one CTA does one work unit.
//! Method: *piecewise pull*. Stores and loops are lowered where they stand. A store says which element each register
//! of each thread holds (a [`Spread`]); the elements it needs of other tiles follow, right down to the loads, so that
//! chains of elementwise ops, broadcasts, slices and transposes move nothing between threads. Tiles that exist as a
//! whole (carried by loops, reduced, multiplied) have a spread of their own; who wants them otherwise reads them from
//! shared memory.
//!
//! ```text
//! walk ─► store, control ─► piece ─► load, reduce, dot, shared ─► scalar
//! ```

mod access;
mod ahead;
mod bulk_store;
mod control;
mod dot;
mod index;
mod late;
mod load;
mod mma;
mod pairs;
mod piece;
mod prefer;
mod reduce;
mod ring;
mod roles;
mod scan;
mod shared;
mod slot;
mod store;
mod stream;
mod wgmma;

use crate::code::Code;
use crate::coord::{MapId, Place, ThreadMaps};
use crate::scalar::Refused;
use crate::spread::Spread;
use late::Late;
use ring::{End, Taken};
use roles::Roles;
use shared::Area;
use slot::SlotPart;
use stream::Streams;
pub(crate) use stream::{CLUSTER_ROWS, MAP_RANK};
use tegula_base::{DType, Dim, HashMap, Symbols};
use tegula_ir::{Def, OpId, RegionId, Value};
use tegula_isa_ptx::op::{BarrierSync, GriddepLaunchDependents, GriddepWait};
use tegula_isa_ptx::{Entry, EntryBuilder, Operand, ParamId, ParamType, Predicate, Reg};
use tegula_package::{MapTemplate, PtxLaunch};
use tegula_tile::{TileFunc, TileKernel, TileOp};
use wgmma::Pending;

/// A kernel as an entry, with what its launch needs.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub entry: Entry,
    /// Size words of the argument block, after the views.
    pub sizes: Vec<Dim>,
    pub launch: PtxLaunch,
    /// What was done otherwise than the tiles ask for, and why.
    pub remarks: Vec<String>,
}

/// What the lowering asks of a chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chip {
    /// Whether it has `wgmma` and copies by tensor maps.
    pub has_warpgroups: bool,
    /// Whether a launch may begin before the one ahead of it ends (PTX ISA, `griddepcontrol`: sm_90).
    pub overlaps_launches: bool,
    /// Bytes of shared memory of a CTA, and registers of an SM.
    pub shared_memory: u32,
    pub registers: u32,
}

/// Threads of a CTA, as a power of two: between a warp and four, which fill the four schedulers of an SM.
const THREAD_BITS: (u32, u32) = (5, 7);
/// Of a CTA that reduces rows: as many as leave each so many elements, since the SM has registers for few rows at once,
/// and what it holds of them is what it has asked memory for. With 1024 threads, of 64 registers each, `ptxas` spills some.
const MOST_ROW_THREAD_BITS: u32 = 9;
const ROW_ELEMENT_BITS: u32 = 4;

/// What a launch passes: the argument block, then the first unit of the grid.
const ARGS: ParamId = ParamId(0);
const BEGIN: ParamId = ParamId(1);
/// Of persistent kernels: the unit behind the last, and the first of the tensor maps.
const END: ParamId = ParamId(2);
const FIRST_MAP: u32 = 3;

/// Lowers a kernel. Errors: a scalar operation that no PTX is made for.
pub(crate) fn lower(
    name: &str,
    kernel: &TileKernel,
    symbols: &Symbols,
    chip: &Chip,
) -> Result<Lowered, Refused> {
    let mut remarks = Vec::new();
    if chip.has_warpgroups {
        match roles::lower(name, kernel, symbols, chip)? {
            Roles::Lowered(lowered) => return Ok(*lowered),
            Roles::Full(full) => remarks.push(full.to_string()),
            Roles::None => {}
        }
    }
    let mut cx = Lower::new(kernel, symbols, Code::new(), thread_bits(&kernel.func));
    let unit = cx.first_unit();
    cx.bind_unit(unit);
    cx.wait_for_launches(chip);
    cx.region(kernel.func.body())?;
    let mut b = cx.entry(name);
    // Without a word the assembler spills a register to fit more CTAs than its products gain from.
    b.directives().minnctapersm = cx.has_matrix.then_some(MATRIX_CTAS);
    let dynamic_shared = if cx.shared_bytes > STATIC_SHARED { cx.shared_bytes } else { 0 };
    if cx.shared_bytes > 0 {
        b.shared("tiles", 16, (dynamic_shared == 0).then_some(cx.shared_bytes));
    }
    let entry = cx.code.finish(b);
    let launch = PtxLaunch { dynamic_shared, early: chip.overlaps_launches, ..PtxLaunch::default() };
    Ok(Lowered { entry, sizes: cx.sizes, launch, remarks })
}

/// CTAs of warps' products that an SM holds at least: a thread may have all the registers that it can name.
const MATRIX_CTAS: u32 = 2;
/// Bytes of shared memory that an entry may declare; more is given at the launch (CUDA C++ Programming Guide, 16.7.3).
const STATIC_SHARED: u32 = 48 << 10;

impl<'a> Lower<'a> {
    fn new(kernel: &'a TileKernel, symbols: &'a Symbols, code: Code, thread_bits: u32) -> Lower<'a> {
        let mut cx = Lower {
            kernel,
            func: &kernel.func,
            symbols,
            code,
            maps: ThreadMaps::new(),
            thread_bits,
            scopes: vec![Scope::of(kernel.func.body())],
            threads: HashMap::default(),
            uniform_threads: HashMap::default(),
            pointers: HashMap::default(),
            sizes: Vec::new(),
            size_words: HashMap::default(),
            free_areas: Vec::new(),
            shared_bytes: 0,
            shared_base: None,
            preferred: HashMap::default(),
            asking: Vec::new(),
            asked_again: false,
            has_matrix: false,
            moves_halves: false,
            is_ordered: false,
            streams: None,
            produces: false,
            ends: Vec::new(),
            maps_needed: Vec::new(),
            map_addresses: HashMap::default(),
            in_place: HashMap::default(),
            pending: Vec::new(),
            flights: Vec::new(),
            late: Vec::new(),
            turn: None,
            slot_parts: HashMap::default(),
            bulk_buffers: None,
        };
        cx.is_ordered = cx.reads_what_it_writes();
        cx.has_matrix = kernel.func.walk().into_iter().any(|op| cx.mma_plan(op).is_some());
        // Vectors of bytes are shorter.
        let has = |size: usize| kernel.views.iter().any(|view| view.ty.dtype.size() == size);
        cx.moves_halves = has(2) && !has(1) && !has_op(&kernel.func, |op| matches!(op, TileOp::Dot { .. }));
        cx
    }

    /// The entry's parameters and threads; the code is added when it ends.
    fn entry(&self, name: &str) -> EntryBuilder {
        let mut b = EntryBuilder::new(name);
        let words = 1 + self.kernel.views.len() + self.sizes.len();
        b.param("args", ParamType::Bytes { align: 8, size: 8 * words as u32 });
        b.param("begin", ParamType::Scalar(tegula_isa_ptx::types::Scalar::U64));
        b.directives().reqntid = Some([1 << self.thread_bits, 1, 1]);
        b
    }
}

/// As many threads as the largest tile has elements, within limits; more where rows are reduced.
fn thread_bits(func: &TileFunc) -> u32 {
    let count = |op: &OpId| -> i64 {
        let tiles = func.results(*op).iter().chain(func.operands(*op)).filter_map(|v| func.ty(*v).as_tile());
        tiles.map(|(_, shape)| shape.iter().product()).max().unwrap_or(1)
    };
    let largest = func.walk().iter().map(count).max().unwrap_or(1) as u64;
    let bits = largest.next_power_of_two().trailing_zeros();
    let reduces_rows = has_op(func, |op| matches!(op, TileOp::Reduce { .. }))
        && !has_op(func, |op| matches!(op, TileOp::Dot { .. }));
    let of_rows =
        if reduces_rows { bits.saturating_sub(ROW_ELEMENT_BITS).min(MOST_ROW_THREAD_BITS) } else { 0 };
    bits.clamp(THREAD_BITS.0, THREAD_BITS.1).max(of_rows)
}

fn has_op(func: &TileFunc, is_one: impl Fn(&TileOp) -> bool) -> bool {
    func.walk().into_iter().any(|op| is_one(func.kind(op)))
}

/// What an open region knows.
struct Scope {
    region: RegionId,
    indexes: HashMap<Value, Operand>,
    /// The register of an element for each thread.
    pieces: HashMap<(Value, Place), Operand>,
    /// Tiles that exist as a whole.
    anchors: HashMap<Value, Spread>,
    /// Tiles in shared memory, row-major.
    spilled: HashMap<Value, Area>,
    /// Shared memory that is free when the region ends.
    areas: Vec<Area>,
    /// Of an access: its first byte for coordinates of 0, by maps and by coordinates whose stride is not known.
    addresses: HashMap<(OpId, Vec<(MapId, i64)>), Reg>,
    /// Sums of a thread's part and the start of shared memory.
    shared_addresses: HashMap<MapId, Reg>,
    /// Of an access: the test whether a coordinate along an axis is inside, combined with those before it.
    insides: HashMap<(OpId, Vec<(MapId, i64)>), Option<Predicate>>,
    /// Sums of a slot's start and a thread's part.
    slot_addresses: HashMap<SlotPart, Reg>,
}

impl Scope {
    fn of(region: RegionId) -> Scope {
        Scope {
            region,
            indexes: HashMap::default(),
            pieces: HashMap::default(),
            anchors: HashMap::default(),
            spilled: HashMap::default(),
            areas: Vec::new(),
            addresses: HashMap::default(),
            shared_addresses: HashMap::default(),
            insides: HashMap::default(),
            slot_addresses: HashMap::default(),
        }
    }
}

struct Lower<'a> {
    kernel: &'a TileKernel,
    func: &'a TileFunc,
    symbols: &'a Symbols,
    code: Code,
    maps: ThreadMaps,
    thread_bits: u32,
    /// Open regions, as `code` has them.
    scopes: Vec<Scope>,
    /// Sums over the thread's bits, in registers.
    threads: HashMap<MapId, Operand>,
    /// Those that a warp's threads agree on.
    uniform_threads: HashMap<MapId, Operand>,
    /// Global addresses of views.
    pointers: HashMap<usize, Reg>,
    sizes: Vec<Dim>,
    size_words: HashMap<Dim, Operand>,
    free_areas: Vec<Area>,
    shared_bytes: u32,
    shared_base: Option<Reg>,
    /// Spreads of values that pass through loops and branches, found before their code is made.
    preferred: HashMap<Value, Option<Vec<Place>>>,
    /// Values whose spread is being looked for, and whether one of them was asked for again.
    asking: Vec<Value>,
    asked_again: bool,
    /// A product is computed by `mma.sync`; only these have spreads of their own.
    has_matrix: bool,
    /// Elements of 16 bits come from memory or go there, and no product decides how tiles are spread.
    moves_halves: bool,
    /// The kernel reads what it writes: every access to written memory waits for those before it.
    is_ordered: bool,
    /// Loads that the copy engine does, where a role of a kernel is lowered; what the role is.
    streams: Option<&'a Streams>,
    produces: bool,
    /// The role's ends of the rings.
    ends: Vec<End>,
    maps_needed: Vec<MapTemplate>,
    map_addresses: HashMap<usize, Reg>,
    /// Registers of sums that products add to where they are.
    in_place: HashMap<OpId, Vec<Reg>>,
    /// Open loops with pending products, outermost first.
    pending: Vec<Pending>,
    /// Products that were started and not yet waited for, oldest first, by the value that their sums are.
    flights: Vec<(Value, OpId)>,
    /// Open loops with a product that each round starts for the one before.
    late: Vec<Late>,
    /// The barrier of this warpgroup's turns, where warpgroups take turns.
    turn: Option<Operand>,
    /// Threads' parts of addresses in slots.
    slot_parts: HashMap<SlotPart, Operand>,
    /// Slices of shared memory through which sums leave: start and bytes.
    bulk_buffers: Option<(u32, u32)>,
}

type Made<T> = Result<T, Refused>;

/// The barrier of the threads that multiply; 0 is the CTA's.
const ROLE_BARRIER: u32 = 1;
/// The barriers of a warpgroup's own threads, and of warpgroups' turns: the first one's, an even number, and the second's.
const STORE_BARRIER: u32 = 2;
const TURN_BARRIER: u32 = 4;

impl Lower<'_> {
    fn tile(&self, value: Value) -> (DType, Vec<i64>) {
        let (dtype, shape) =
            self.func.ty(value).as_tile().expect("invariant: a verified op takes a tile here");
        (dtype, shape.to_vec())
    }

    /// The open region in which a value is defined.
    fn level_of(&self, value: Value) -> usize {
        let region = match self.func.def(value) {
            Def::Arg(region, _) => Some(region),
            Def::Result(op, _) => self.func.parent(op),
        };
        let level = self.scopes.iter().rposition(|scope| Some(scope.region) == region);
        level.expect("invariant: operands are defined in open regions")
    }

    /// Ops with effects, in order; what others compute is made when it is needed.
    fn region(&mut self, region: RegionId) -> Made<()> {
        if self.is_producer() {
            return self.produce(region);
        }
        let outer = self.outer_rings(region);
        let mut held = outer.clone();
        for &op in self.func.ops_in(region) {
            match self.func.kind(op) {
                TileOp::Load { .. } | TileOp::Concat { .. } if self.is_streamed(op) => {
                    if let Some(ring) = self.ring_of(op).filter(|ring| outer.contains(ring)) {
                        self.get(ring);
                    }
                }
                TileOp::Dot { .. } if self.is_late(op) => {}
                TileOp::Dot { .. } if self.product(op).is_some() => self.multiply(op)?,
                TileOp::Store { .. } => self.store(op)?,
                TileOp::Scatter {} => self.scatter(op)?,
                TileOp::For { step } => self.for_loop(op, *step)?,
                TileOp::If {} => self.branch(op)?,
                TileOp::Load { .. } | TileOp::Gather {} if self.is_written_view(self.view_of(op)) => {
                    // A later store may change what is read here.
                    self.sync();
                    self.anchor(self.func.result(op))?;
                }
                _ => {}
            }
            // The next unit's first loads wait for the slot: it is free before results leave.
            let (done, others): (Vec<usize>, Vec<usize>) =
                held.into_iter().partition(|ring| self.is_last_user(op, *ring));
            held = others;
            if !done.is_empty() {
                self.land_all();
            }
            done.into_iter().for_each(|ring| self.release(ring, Taken::Last, None));
        }
        Ok(())
    }

    /// The number of the view that a memory op uses.
    fn view_of(&self, op: OpId) -> usize {
        match self.func.def(self.func.operand(op, 0)) {
            Def::Arg(_, i) => i as usize,
            Def::Result(..) => unreachable!("invariant: views are arguments of the kernel"),
        }
    }

    /// Whether the kernel may change what the view reads. Written views may share a buffer.
    fn is_written_view(&self, view: usize) -> bool {
        let views = &self.kernel.views;
        views[view].written
            || views[view].in_place.is_some()
            || views.iter().any(|v| v.in_place == Some(view))
    }

    fn reads_what_it_writes(&self) -> bool {
        self.func.walk().into_iter().any(|op| match self.func.kind(op) {
            TileOp::Load { .. } | TileOp::Gather {} => self.is_written_view(self.view_of(op)),
            TileOp::Scatter {} => true,
            _ => false,
        })
    }

    /// CTAs whose threads have numbers together.
    fn cluster(&self) -> u32 {
        self.streams.map_or(1, |streams| streams.cluster)
    }

    /// Threads of a CTA that do other than copies, as a power of two.
    fn cta_bits(&self) -> u32 {
        self.thread_bits - self.cluster().trailing_zeros()
    }

    /// Waits for the launches before this one; what touches global memory stands behind (`docs/abi.md`, "Launches that
    /// overlap"). Then lets the next one begin: all of this one's CTAs have their place by then, and it only waits.
    fn wait_for_launches(&mut self, chip: &Chip) {
        if chip.overlaps_launches {
            self.code.emit(GriddepWait {});
            self.code.emit(GriddepLaunchDependents {});
        }
    }

    /// Waits for all threads of the CTA; what they wrote before is seen after.
    fn sync(&mut self) {
        let (id, threads) = match self.streams {
            Some(_) => (ROLE_BARRIER, Some(Operand::u32(1 << self.cta_bits()))),
            None => (0, None),
        };
        self.code.emit(BarrierSync { aligned: true, id: Operand::u32(id), threads });
    }

    /// A region's code: `body` runs inside of it.
    fn in_region<T>(
        &mut self,
        region: RegionId,
        body: impl FnOnce(&mut Self) -> Made<T>,
    ) -> Made<(T, Vec<crate::code::Item>)> {
        let level = self.code.level();
        self.code.open();
        self.scopes.push(Scope::of(region));
        let result = body(self);
        let scope = self.scopes.pop().expect("invariant: pushed above");
        self.free_areas.extend(scope.areas);
        Ok((result?, self.code.close(level)))
    }
}
