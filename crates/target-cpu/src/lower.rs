//! Lowers a tile kernel to the CPU's schedule level: every tile becomes pieces of one vector register each.
//!
//! Before: a verified kernel whose recipe keeps its promises (boxes inside of views along unbounded axes).
//! After: a function by the ABI of `docs/abi.md` with the same effects: one loop over the work units, one
//! vector op a piece.
//! Method: *piecewise pull*. Index ops, stores and loops are lowered where they stand. A piece of any other
//! tile is made where it is first needed, right down to its loads, so that an elementwise chain runs one
//! register at a time. Pieces are shared within a region and those below it; a region's captured tiles are made
//! before it begins.
//!
//! ```text
//! region ops ─► store, control ─► piece ─► movement, reduce, dot ─► load ─► address
//! ```

mod address;
mod alias;
mod control;
mod dot;
mod facts;
mod geometry;
mod hoist;
mod load;
mod made;
mod memory;
mod movement;
mod pad;
mod piece;
mod products;
mod reduce;
mod scalars;
mod scattered;
mod store;
mod units;
mod window;

use crate::schedule::{Builder, CpuFunc, CpuOp};
use geometry::Geometry;
use made::Made;
use memory::Memories;
use pad::PadArea;
pub(crate) use products::wants_halves;
use std::rc::Rc;
use tegula_base::{DType, Dim, EntityId, Symbols};
use tegula_base::{HashMap, HashSet};
use tegula_ir::{OpId, Value};
use tegula_tile::{TileFunc, TileKernel};
use window::Window;

/// A kernel on the schedule level with what its launch needs.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub func: CpuFunc,
    /// Size words of the argument block, after the views.
    pub sizes: Vec<Dim>,
    /// Bytes of private memory a thread.
    pub scratch: Dim,
    /// Number of work units.
    pub units: Dim,
}

/// The vector registers that a kernel is lowered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub bits: u32,
    /// Whether work on half registers takes half of the time.
    pub halves: bool,
    /// Whether an instruction multiplies pairs of 16-bit floats.
    pub pairs: bool,
}

impl Registers {
    /// Registers all of whose lanes take the time of one; those of 512 bits multiply pairs.
    pub const fn whole(bits: u32) -> Registers {
        Registers { bits, halves: false, pairs: bits == 512 }
    }
}

/// Lowers a kernel for vector registers.
pub fn lower(name: &str, kernel: &TileKernel, registers: Registers, symbols: &Symbols) -> Schedule {
    let mut b = Builder::new(name);
    let index_scalars = scalars::index_scalars(&kernel.func);
    let Registers { bits: register_bits, halves, pairs } = registers;
    let lanes = scalars::lanes_of(&kernel.func, &index_scalars, register_bits);
    let mut cx = Lower {
        kernel,
        func: &kernel.func,
        symbols,
        register_bits,
        pairs,
        lanes: if halves { products::lanes(&kernel.func, lanes) } else { lanes },
        index_scalars,
        sizes: Vec::new(),
        memories: Memories::of(kernel),
        indexes: vec![None; kernel.func.value_count()],
        made: Made::new(kernel.func.value_count()),
        windows: HashMap::default(),
        loaded: HashMap::default(),
        open_reads: Vec::new(),
        pad_areas: Vec::new(),
        scratch_bytes: 0,
    };
    cx.units(&mut b);
    cx.fill_pad_areas(&mut b);
    let (sizes, scratch) = (cx.sizes, Dim::from(cx.scratch_bytes));
    let mut func = b.finish();
    put_units_last(&mut func);
    hoist::hoist_indexes(&mut func);
    tegula_ir::rewrite::dce(&mut func);
    Schedule { func, sizes, scratch, units: kernel.units() }
}

/// Moves the loop over the units behind what was built after it, which it needs.
fn put_units_last(func: &mut CpuFunc) {
    let body = func.body();
    let is_loop = |op: &OpId| matches!(func.kind(*op), CpuOp::For { .. });
    let (units, mut ops): (Vec<OpId>, Vec<OpId>) = func.ops_in(body).iter().copied().partition(is_loop);
    let end = ops.pop().expect("invariant: a finished body ends with `return`");
    ops.extend(units);
    ops.push(end);
    func.set_ops(body, ops);
}

struct Lower<'a> {
    kernel: &'a TileKernel,
    func: &'a TileFunc,
    symbols: &'a Symbols,
    register_bits: u32,
    /// Whether an instruction multiplies pairs of 16-bit floats.
    pairs: bool,
    /// Lanes of the pieces that are being made.
    lanes: u32,
    index_scalars: HashSet<Value>,
    sizes: Vec<Dim>,
    memories: Memories,
    /// The schedule's value of each index seen so far.
    indexes: Vec<Option<Value>>,
    /// The pieces of tiles that were made.
    made: Made,
    windows: HashMap<Value, Option<Rc<Window>>>,
    /// Of each load, the window that it reads, whether or not it may be read again later.
    loaded: HashMap<OpId, Rc<Window>>,
    /// Reads of memory that this kernel also writes, in sight and perhaps not made yet.
    open_reads: Vec<OpId>,
    /// Scratch to be filled before the first unit.
    pad_areas: Vec<PadArea>,
    scratch_bytes: i64,
}

fn tile(func: &TileFunc, value: Value) -> (DType, &[i64]) {
    func.ty(value).as_tile().expect("invariant: a verified op takes a tile here")
}

fn geometry(func: &TileFunc, value: Value, lanes: u32) -> Geometry<'_> {
    Geometry::new(tile(func, value).1, lanes)
}

impl<'a> Lower<'a> {
    fn tile(&self, value: Value) -> (DType, &'a [i64]) {
        tile(self.func, value)
    }

    fn geometry(&self, value: Value) -> Geometry<'a> {
        geometry(self.func, value, self.lanes)
    }

    fn index(&self, value: Value) -> Value {
        self.indexes[value.index()].expect("invariant: an index is seen before it is used")
    }

    fn bind_index(&mut self, value: Value, index: Value) {
        self.indexes[value.index()] = Some(index);
    }

    /// The run's value of a size: a constant, or a word of the argument block.
    fn size(&mut self, b: &mut Builder, dim: &Dim) -> Value {
        if let Some(n) = dim.as_const() {
            return b.index(n);
        }
        let place = self.sizes.iter().position(|known| known == dim).unwrap_or_else(|| {
            self.sizes.push(dim.clone());
            self.sizes.len() - 1
        });
        b.arg(1 + self.kernel.views.len() + place)
    }

    /// A part of the thread's scratch area; its byte offset, a multiple of 64.
    fn reserve_scratch(&mut self, bytes: i64) -> i64 {
        let offset = self.scratch_bytes;
        self.scratch_bytes += (bytes + 63) / 64 * 64;
        offset
    }
}
