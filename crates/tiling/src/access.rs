//! Tiles of tensor values on demand: a recipe asks for a box of a value, and gets a tile computed from boxes of the
//! operands, down to loads of the kernel's views.
//!
//! Invariant: a tile for box `b` has b's extents. Along a `bounded` axis the box may leave the value's extent;
//! the elements there are unspecified (loads touch no memory outside), so stores are bounded too and reductions
//! mask. Tiles are shared within a scope; a scope is a region of the tile function.

mod coordinates;
mod ops;
mod reshape;
mod views;

use super::BufferRef;
use crate::body::Body;
use smallvec::SmallVec;
use tegula_base::{DType, Dim, HashMap, Symbols};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::layout::Physical;
use tegula_tile::{IndexOp, TileBuilder, TileKernel};
use views::Role;

pub(super) use coordinates::Coordinate;
pub(super) use reshape::groups;
pub(super) use views::{Part, Temporary, Views, begin, begin_part};

/// One axis of a box: elements `offset + i * step` for `i` in `0..extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Axis {
    pub offset: Value,
    pub extent: i64,
    pub step: i64,
    pub bounded: bool,
}

pub(super) type TileBox = SmallVec<[Axis; 4]>;

/// A tile kernel under construction over a body.
pub(super) struct Lowering<'a> {
    pub body: &'a Body,
    pub b: TileBuilder<'a>,
    buffers: Vec<BufferRef>,
    /// View of each argument, and of each result after them.
    arg_views: HashMap<Value, Value>,
    result_views: Vec<Value>,
    /// Rank-1 views of arguments for gathers, made up front.
    flat_views: HashMap<Value, Value>,
    /// Rank-1 view of the first result.
    flat_result: Option<Value>,
    /// Views of memory between launches, in the order of the part's.
    temporaries: Vec<Value>,
    /// Grid coordinates of the work unit.
    pub unit: Vec<Value>,
    /// What is known of sizes, where a recipe's reshapes need it.
    pub symbols: Option<&'a Symbols>,
    /// Tiles by value and box; one map a scope.
    memo: Vec<HashMap<(Value, TileBox), Value>>,
    /// Tiles that a recipe has computed whole (roots, reductions), whatever box asks; one map a scope.
    fixed: Vec<HashMap<Value, Value>>,
}

impl<'a> Lowering<'a> {
    pub fn new(body: &'a Body, kernel: &'a mut TileKernel, views: Views) -> Lowering<'a> {
        let args = kernel.func.args(kernel.func.body()).to_vec();
        let (view_args, unit) = args.split_at(views.roles.len());
        let extents: Vec<Dim> = kernel.grid.iter().map(|dim| dim.extent.clone()).collect();
        let mut cx = Lowering {
            body,
            buffers: views.buffers,
            arg_views: HashMap::default(),
            result_views: vec![],
            flat_views: HashMap::default(),
            flat_result: None,
            temporaries: vec![],
            unit: vec![],
            symbols: None,
            b: TileBuilder::new(kernel),
            memo: vec![HashMap::default()],
            fixed: vec![HashMap::default()],
        };
        // An axis of one place is at 0: what follows from that, as whether a panel is whole, is decided here.
        let place = |(place, extent): (&Value, &Dim)| if extent.is_const(1) { cx.b.index(0) } else { *place };
        cx.unit = unit.iter().zip(&extents).map(place).collect();
        for (role, view) in views.roles.into_iter().zip(view_args.iter().copied()) {
            match role {
                Role::Arg(arg) => drop(cx.arg_views.insert(arg, view)),
                Role::Result => cx.result_views.push(view),
                Role::FlatResult => cx.flat_result = Some(view),
                Role::Temporary => cx.temporaries.push(view),
                Role::FlatArg(arg) => drop(cx.flat_views.insert(arg, view)),
            }
        }
        cx
    }

    /// Ends the kernel; gives the buffers behind its views.
    pub fn finish(self) -> Vec<BufferRef> {
        self.b.finish();
        self.buffers
    }

    pub fn arg_view(&self, arg: Value) -> Option<Value> {
        self.arg_views.get(&arg).copied()
    }

    /// The view of the part's temporary `i`.
    pub fn temporary(&self, i: usize) -> Value {
        self.temporaries[i]
    }

    // --- scopes ----------------------------------------------------------------------------------------

    fn enter(&mut self) {
        self.memo.push(HashMap::default());
        self.fixed.push(HashMap::default());
    }

    fn leave(&mut self) {
        self.memo.pop();
        self.fixed.pop();
    }

    /// Builds `body` as a scope of its own, in place.
    pub fn scope<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.enter();
        let value = body(self);
        self.leave();
        value
    }

    /// A loop whose tiles stay inside of it. `body` gets the induction variable and the carried values and gives
    /// the next ones. A loop of at most one step known while building becomes straight code.
    pub fn for_(
        &mut self,
        lo: Value,
        hi: Value,
        step: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        if let (Some(lo_n), Some(hi_n)) = (self.b.known(lo), self.b.known(hi)) {
            if hi_n <= lo_n {
                return inits.to_vec();
            }
            if hi_n - lo_n <= step {
                return self.scope(|cx| body(cx, lo, inits));
            }
        }
        let scope = self.b.begin_for(lo, hi, step, inits);
        let (iv, carried) = (scope.iv, scope.carried.clone());
        let next = self.scope(|cx| body(cx, iv, &carried));
        self.b.end_for(scope, &next)
    }

    /// Code that runs only where `condition` is not 0; decided here when it is known.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        match self.b.known(condition) {
            Some(0) => {}
            Some(_) => self.scope(then),
            None => {
                let scope = self.b.begin_if(condition);
                self.scope(then);
                self.b.begin_else(&scope, &[]);
                self.b.end_if(scope, &[]);
            }
        }
    }

    /// `lo..hi` along the innermost axis: whole tiles of `tile` elements unbounded, the rest in bounded tiles of
    /// `lanes`. `body` gets the axis of the box.
    pub fn lane_loop(
        &mut self,
        lo: Value,
        hi: Value,
        tile: i64,
        lanes: i64,
        inits: &[Value],
        mut body: impl FnMut(&mut Self, Axis, &[Value]) -> Vec<Value>,
    ) -> (Vec<Value>, Option<Vec<Value>>) {
        let span = self.b.sub(hi, lo);
        let tile_size = self.b.index(tile);
        let whole = self.b.index_op(IndexOp::FloorDiv, span, tile_size);
        let whole = self.b.mul(whole, tile_size);
        let main_hi = self.b.add(lo, whole);
        // Never before `lo`, which is known without knowing `hi`: the tail is stored without asking where each lane lies.
        let main_hi = match self.b.known(lo) {
            Some(_) => main_hi,
            None => self.b.index_op(IndexOp::Max, main_hi, lo),
        };
        let main = self.for_(lo, main_hi, tile, inits, |cx, j, carried| {
            body(cx, Axis { offset: j, extent: tile, step: 1, bounded: false }, carried)
        });
        if let (Some(a), Some(b)) = (self.b.known(main_hi), self.b.known(hi))
            && a >= b
        {
            return (main, None);
        }
        // The tail's carried values are tiles of `lanes`; the recipe joins both kinds.
        let tail_inits: Vec<Value> = inits.iter().map(|init| self.narrow(*init, tile, lanes)).collect();
        let tail = self.for_(main_hi, hi, lanes, &tail_inits, |cx, j, carried| {
            body(cx, Axis { offset: j, extent: lanes, step: 1, bounded: true }, carried)
        });
        (main, Some(tail))
    }

    /// The first `lanes` elements of an initial tile along its axis of `width` elements (all are the same).
    fn narrow(&mut self, tile: Value, width: i64, lanes: i64) -> Value {
        let (_, mut shape) = self.b.tile_type(tile);
        match shape.iter_mut().rev().find(|extent| **extent == width) {
            Some(extent) if width > lanes => *extent = lanes,
            _ => return tile,
        }
        let zeros = vec![0; shape.len()];
        self.b.extract(tile, &zeros, &shape)
    }

    // --- tiles -----------------------------------------------------------------------------------------

    /// Makes `tile` the answer for every box of `value` until the scope ends: a root's or reduction's result.
    pub fn fix(&mut self, value: Value, tile: Value) {
        self.fixed.last_mut().expect("invariant: the body is a scope").insert(value, tile);
    }

    /// The tile of a box of a value. Errors: the kernel holds an op that no recipe takes (formation's fault).
    pub fn pull(&mut self, value: Value, at: &[Axis]) -> Result<Value, String> {
        let shape = self.body.shape(value).clone();
        debug_assert_eq!(shape.rank(), at.len(), "a box has an axis a dim");
        let zero = self.b.index(0);
        let within: TileBox = at
            .iter()
            .zip(shape.iter())
            .map(|(axis, dim)| match dim.is_const(1) {
                true => Axis { offset: zero, extent: 1, step: 1, bounded: false },
                false => *axis,
            })
            .collect();
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        if let Some(tile) = self.fixed.iter().rev().find_map(|scope| scope.get(&value)).copied() {
            // A root's tile may be wider than an extent of 1; the element inside counts.
            let own: Vec<i64> = within.iter().map(|axis| axis.extent).collect();
            let (_, shape) = self.b.tile_type(tile);
            let wider = shape.len() == own.len() && shape.iter().zip(&own).any(|(have, want)| have > want);
            let tile = match wider {
                true => self.b.extract(tile, &vec![0; own.len()], &own),
                false => self.b.reshape(tile, &own),
            };
            return Ok(self.b.broadcast(tile, &extents));
        }
        let key = (value, within);
        let known = self.memo.iter().rev().find_map(|scope| scope.get(&key)).copied();
        let tile = match known {
            Some(tile) => tile,
            None => {
                let tile = self.tile_of(value, &key.1)?;
                self.memo.last_mut().expect("invariant: the body is a scope").insert(key, tile);
                tile
            }
        };
        Ok(self.b.broadcast(tile, &extents))
    }

    /// Stores a tile at a box of result `i`; along a split axis the box lies in one part of it.
    pub fn store(&mut self, i: usize, tile: Value, at: &[Axis]) {
        let layout = self.body.result_types[i].layout_or_default();
        if layout.is_row_major() {
            return self.store_at(self.result_views[i], tile, at);
        }
        let inner = layout.0.iter().filter_map(|dim| match *dim {
            Physical::Axis(axis) | Physical::Inner { axis, .. } => Some(axis),
            Physical::Outer { .. } => None,
        });
        let order: Vec<usize> = inner.collect();
        let physical: TileBox = layout.0.iter().map(|dim| self.physical(dim, at)).collect();
        let extents: Vec<i64> = physical.iter().map(|axis| axis.extent).collect();
        let tile = self.b.transpose(tile, &order);
        let tile = self.b.reshape(tile, &extents);
        self.store_at(self.result_views[i], tile, &physical);
    }

    /// A box along a physical dim. Past the end of a split axis there is padding, so nothing ends inside of a part.
    fn physical(&mut self, dim: &Physical, at: &[Axis]) -> Axis {
        let mut part = |op: IndexOp, axis: usize, tile: i64| {
            let tile = self.b.index(tile);
            self.b.index_op(op, at[axis].offset, tile)
        };
        match *dim {
            Physical::Axis(axis) => at[axis],
            Physical::Outer { axis, tile } => {
                Axis { offset: part(IndexOp::FloorDiv, axis, tile), extent: 1, step: 1, bounded: false }
            }
            Physical::Inner { axis, tile } => {
                debug_assert!(at[axis].extent <= tile && at[axis].step == 1, "a box lies in one part");
                Axis { offset: part(IndexOp::Mod, axis, tile), bounded: false, ..at[axis] }
            }
        }
    }

    /// What was stored at a box of result `i`, which is row-major.
    pub fn load_result(&mut self, i: usize, at: &[Axis]) -> Value {
        self.load(self.result_views[i], at, 0)
    }

    /// Stores a tile at a box of a view.
    pub fn store_at(&mut self, view: Value, tile: Value, at: &[Axis]) {
        let offsets: Vec<Value> = at.iter().map(|axis| axis.offset).collect();
        let steps: Vec<i64> = at.iter().map(|axis| axis.step).collect();
        let bounded: Vec<bool> = at.iter().map(|axis| axis.bounded).collect();
        self.b.store(view, tile, &offsets, &steps, &bounded);
    }

    /// Pulls result `i` and stores it.
    pub fn store_result(&mut self, i: usize, at: &[Axis]) -> Result<(), String> {
        let tile = self.pull(self.body.results[i], at)?;
        self.store(i, tile, at);
        Ok(())
    }

    pub fn flat_result(&self) -> Option<Value> {
        self.flat_result
    }

    /// Logical axes of an argument in memory order. Errors: the argument is packed in tiles.
    pub fn axis_order(&self, arg: Value) -> Result<Vec<usize>, String> {
        let whole = |dim: &Physical| match dim {
            Physical::Axis(axis) => Ok(*axis),
            Physical::Outer { .. } | Physical::Inner { .. } => Err(format!("{arg} is packed in tiles")),
        };
        self.body.func.ty(arg).layout_or_default().0.iter().map(whole).collect()
    }

    /// A logical box of an argument, as a tile whose axes are in memory order.
    pub fn load_physical(&mut self, arg: Value, order: &[usize], at: &[Axis], pad: i64) -> Value {
        let physical: TileBox = order.iter().map(|axis| at[*axis]).collect();
        self.load(self.arg_views[&arg], &physical, pad)
    }

    pub fn load(&mut self, view: Value, at: &[Axis], pad: i64) -> Value {
        let offsets: Vec<Value> = at.iter().map(|axis| axis.offset).collect();
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let steps: Vec<i64> = at.iter().map(|axis| axis.step).collect();
        let bounded: Vec<bool> = at.iter().map(|axis| axis.bounded).collect();
        self.b.load(view, &offsets, &extents, &steps, &bounded, pad)
    }

    /// Whether elements of a box along axis `axis` lie in `0..extent`: a `bool` tile of the box's extents.
    pub fn inside(&mut self, at: &[Axis], axis: usize, extent: &tegula_base::Dim) -> Value {
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let position = self.positions(at, axis, DType::I32, &extents);
        let size = self.b.size(extent);
        let size = self.spread(DType::I32, size, &extents);
        let below = self.b.elementwise(ScalarOp::Lt, &[position, size]);
        let zero = self.b.splat(DType::I32, &extents, 0);
        let above = self.b.elementwise(ScalarOp::Ge, &[position, zero]);
        self.b.elementwise(ScalarOp::And, &[below, above])
    }

    /// An index in every element of a tile.
    pub fn spread(&mut self, dtype: DType, index: Value, extents: &[i64]) -> Value {
        let scalar = self.b.from_index(dtype, index);
        let ones = vec![1; extents.len()];
        let tile = self.b.reshape(scalar, &ones);
        self.b.broadcast(tile, extents)
    }

    /// The coordinate along `axis` of each element of a box.
    pub fn positions(&mut self, at: &[Axis], axis: usize, dtype: DType, extents: &[i64]) -> Value {
        let offset = self.spread(dtype, at[axis].offset, extents);
        if extents[axis] == 1 {
            return offset;
        }
        let mut iota = self.b.iota(dtype, extents, axis);
        if at[axis].step != 1 {
            let step = self.b.index(at[axis].step);
            let step = self.spread(dtype, step, extents);
            iota = self.b.elementwise(ScalarOp::Mul, &[iota, step]);
        }
        self.b.elementwise(ScalarOp::Add, &[iota, offset])
    }
}
