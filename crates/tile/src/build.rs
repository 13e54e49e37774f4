//! Builds tile functions: one method an op, index arithmetic folded and shared as it is built.
//!
//! Recipes are compiler code: an op that breaks a rule here is an internal error, so the methods panic through
//! `expect("invariant: ...")` instead of returning results that nobody can handle.

use crate::divisor::constant;
use crate::{Accumulation, IndexOp, TileFunc, TileKernel, TileOp, TileType};
use tegula_base::HashMap;
use tegula_base::{DType, Dim};
use tegula_ir::op::OpRules;
use tegula_ir::{Def, Effects, OpId, RegionId, ScalarOp, Value};

/// Elements of a tile that is computed before a loop at most: a number for each of some rows, all in registers.
const MOST_HOISTED: i64 = 4;

/// A loop being built; see [`TileBuilder::begin_for`].
pub struct ForScope {
    op: OpId,
    outer: RegionId,
    /// The induction variable.
    pub iv: Value,
    /// The carried values inside of the body.
    pub carried: Vec<Value>,
}

/// A branch being built; see [`TileBuilder::begin_if`].
pub struct IfScope {
    op: OpId,
    outer: RegionId,
}

/// Appends ops to a region of a tile function.
pub struct TileBuilder<'a> {
    pub func: &'a mut TileFunc,
    region: RegionId,
    /// Constants and sizes live at the top of the body, shared.
    shared: HashMap<TileOp, Value>,
}

impl<'a> TileBuilder<'a> {
    /// Builds into the body of a kernel.
    pub fn new(kernel: &'a mut TileKernel) -> TileBuilder<'a> {
        let region = kernel.func.body();
        TileBuilder { func: &mut kernel.func, region, shared: HashMap::default() }
    }

    fn op(&mut self, kind: TileOp, operands: &[Value]) -> Value {
        let op = self.func.build(self.region, kind, operands, None);
        let op = op.unwrap_or_else(|error| panic!("invariant: recipes build valid tile ops: {error}"));
        self.func.result(op)
    }

    fn effect(&mut self, kind: TileOp, operands: &[Value]) {
        let op = self.func.build(self.region, kind, operands, None);
        op.unwrap_or_else(|error| panic!("invariant: recipes build valid tile ops: {error}"));
    }

    /// An op without operands, made once at the top of the body.
    fn shared(&mut self, kind: TileOp) -> Value {
        if let Some(value) = self.shared.get(&kind) {
            return *value;
        }
        let body = self.func.body();
        let op =
            self.func.build(body, kind.clone(), &[], None).expect("invariant: a constant has no constraint");
        if self.region != body {
            // Region ops may already use later values; a constant goes first.
            let mut ops = self.func.ops_in(body).to_vec();
            let moved = ops.pop().expect("invariant: just pushed");
            ops.insert(0, moved);
            self.func.set_ops(body, ops);
        }
        let value = self.func.result(op);
        self.shared.insert(kind, value);
        value
    }

    // --- indexes ---------------------------------------------------------------------------------------

    pub fn index(&mut self, value: i64) -> Value {
        self.shared(TileOp::Const { value })
    }

    /// The run's value of a size.
    pub fn size(&mut self, dim: &Dim) -> Value {
        match dim.as_const() {
            Some(n) => self.index(n),
            None => self.shared(TileOp::Size { dim: dim.clone() }),
        }
    }

    /// The value of an index known while building.
    pub fn known(&self, value: Value) -> Option<i64> {
        constant(self.func, value)
    }

    pub fn index_op(&mut self, op: IndexOp, a: Value, b: Value) -> Value {
        let (x, y) = (self.known(a), self.known(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.index(fold_index(op, x, y));
        }
        match (op, x, y) {
            (IndexOp::Add, Some(0), _) | (IndexOp::Mul, Some(1), _) => b,
            (IndexOp::Add | IndexOp::Sub, _, Some(0)) | (IndexOp::Mul | IndexOp::FloorDiv, _, Some(1)) => a,
            (IndexOp::Mul, Some(0), _) | (IndexOp::Mul, _, Some(0)) | (IndexOp::Mod, _, Some(1)) => {
                self.index(0)
            }
            _ => self.op(TileOp::Index { op }, &[a, b]),
        }
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Mul, a, b)
    }

    pub fn to_index(&mut self, tile: Value) -> Value {
        self.op(TileOp::ToIndex {}, &[tile])
    }

    pub fn from_index(&mut self, dtype: DType, index: Value) -> Value {
        self.op(TileOp::FromIndex { dtype }, &[index])
    }

    // --- tiles -----------------------------------------------------------------------------------------

    pub fn tile_type(&self, tile: Value) -> (DType, Vec<i64>) {
        let (dtype, shape) = self.func.ty(tile).as_tile().expect("invariant: a tile value");
        (dtype, shape.to_vec())
    }

    pub fn splat(&mut self, dtype: DType, shape: &[i64], bits: i64) -> Value {
        self.shared(TileOp::Splat { dtype, shape: shape.to_vec(), bits })
    }

    pub fn iota(&mut self, dtype: DType, shape: &[i64], axis: usize) -> Value {
        self.shared(TileOp::Iota { dtype, shape: shape.to_vec(), axis })
    }

    /// Behind transposes alike that move axes of one element only, and one of these behind the lanes, the result is transposed in
    /// their place: what is computed in lanes stays in them, and another transpose may meet it.
    pub fn elementwise(&mut self, f: ScalarOp, args: &[Value]) -> Value {
        match self.before_transposes(args) {
            Some((args, perm)) => {
                let tile = self.op(TileOp::Elementwise { f }, &args);
                self.transpose(tile, &perm)
            }
            None => self.op(TileOp::Elementwise { f }, args),
        }
    }

    /// What such tiles were before, and their permutation; numbers for all elements have none.
    fn before_transposes(&mut self, tiles: &[Value]) -> Option<(Vec<Value>, Vec<usize>)> {
        let (source, perm) = tiles.iter().find_map(|tile| self.transposed(*tile))?;
        let perm = perm.to_vec();
        let (_, shape) = self.tile_type(source);
        let moves_one_only = perm.iter().filter(|axis| shape[**axis] != 1).is_sorted();
        let has_lanes = shape.last().is_some_and(|lanes| *lanes != 1);
        let is_alike = |tile: &Value| match self.transposed(*tile) {
            Some((_, other)) => other == perm,
            None => self.spread_number(*tile).is_some(),
        };
        if !moves_one_only || !has_lanes || !tiles.iter().all(is_alike) {
            return None;
        }
        let before = |tile: &Value| match self.transposed(*tile).map(|(source, _)| source) {
            Some(source) => Some(source),
            None => self.spread_number(*tile).map(|number| self.broadcast(number, &shape)),
        };
        let before = tiles.iter().map(before).collect::<Option<_>>()?;
        Some((before, perm))
    }

    /// The tile that is transposed, and how.
    fn transposed(&self, tile: Value) -> Option<(Value, &[usize])> {
        let op = self.func.def_op(tile)?;
        match self.func.kind(op) {
            TileOp::Transpose { perm } => Some((self.func.operand(op, 0), perm)),
            _ => None,
        }
    }

    /// The one element that all are.
    fn spread_number(&self, tile: Value) -> Option<Value> {
        let op = self.func.def_op(tile)?;
        let TileOp::Broadcast { .. } = self.func.kind(op) else { return None };
        let number = self.func.operand(op, 0);
        self.func.ty(number).as_tile()?.1.iter().all(|extent| *extent == 1).then_some(number)
    }

    /// No op where the shape is the tile's already.
    pub fn broadcast(&mut self, tile: Value, shape: &[i64]) -> Value {
        if self.tile_type(tile).1 == shape {
            return tile;
        }
        self.op(TileOp::Broadcast { shape: shape.to_vec() }, &[tile])
    }

    /// No op where the shape is the tile's already.
    pub fn reshape(&mut self, tile: Value, shape: &[i64]) -> Value {
        if self.tile_type(tile).1 == shape {
            return tile;
        }
        self.op(TileOp::Reshape { shape: shape.to_vec() }, &[tile])
    }

    /// No op where no axis moves, and one for two in turn.
    pub fn transpose(&mut self, tile: Value, perm: &[usize]) -> Value {
        if perm.iter().copied().eq(0..perm.len()) {
            return tile;
        }
        if let Some((source, before)) = self.transposed(tile) {
            let both: Vec<usize> = perm.iter().map(|axis| before[*axis]).collect();
            return self.transpose(source, &both);
        }
        self.op(TileOp::Transpose { perm: perm.to_vec() }, &[tile])
    }

    pub fn extract(&mut self, tile: Value, offsets: &[i64], sizes: &[i64]) -> Value {
        self.op(TileOp::Extract { offsets: offsets.to_vec(), sizes: sizes.to_vec() }, &[tile])
    }

    pub fn concat(&mut self, tiles: &[Value], axis: usize) -> Value {
        self.op(TileOp::Concat { axis }, tiles)
    }

    pub fn dot(&mut self, acc: Value, a: Value, b: Value) -> Value {
        self.dot_with(None, acc, a, b)
    }

    /// As [`Self::dot`], its products added up in this way.
    pub fn dot_with(&mut self, accumulation: Option<Accumulation>, acc: Value, a: Value, b: Value) -> Value {
        self.op(TileOp::Dot { accumulation }, &[acc, a, b])
    }

    pub fn reduce(&mut self, f: ScalarOp, tile: Value, axis: usize) -> Value {
        self.op(TileOp::Reduce { f, axis }, &[tile])
    }

    pub fn scan(&mut self, f: ScalarOp, tile: Value, axis: usize, reverse: bool) -> Value {
        self.op(TileOp::Scan { f, axis, reverse }, &[tile])
    }

    // --- memory ----------------------------------------------------------------------------------------

    /// A view of memory of the work unit's own.
    pub fn scratch(&mut self, dtype: DType, shape: &[i64]) -> Value {
        assert_eq!(self.region, self.func.body(), "scratch memory is made outside of regions");
        self.op(TileOp::Scratch { dtype, shape: shape.to_vec() }, &[])
    }

    pub fn load(
        &mut self,
        view: Value,
        offsets: &[Value],
        shape: &[i64],
        steps: &[i64],
        bounded: &[bool],
        pad: i64,
    ) -> Value {
        let kind =
            TileOp::Load { shape: shape.to_vec(), steps: steps.to_vec(), bounded: bounded.to_vec(), pad };
        let operands: Vec<Value> = [view].into_iter().chain(offsets.iter().copied()).collect();
        self.op(kind, &operands)
    }

    pub fn store(&mut self, view: Value, tile: Value, offsets: &[Value], steps: &[i64], bounded: &[bool]) {
        let kind = TileOp::Store { steps: steps.to_vec(), bounded: bounded.to_vec() };
        let operands: Vec<Value> = [view, tile].into_iter().chain(offsets.iter().copied()).collect();
        self.effect(kind, &operands);
    }

    pub fn gather(&mut self, view: Value, coordinates: Value) -> Value {
        self.op(TileOp::Gather {}, &[view, coordinates])
    }

    pub fn scatter(&mut self, view: Value, tile: Value, coordinates: Value) {
        self.effect(TileOp::Scatter {}, &[view, tile, coordinates]);
    }

    pub fn view_rank(&self, view: Value) -> usize {
        self.func.ty(view).as_view().expect("invariant: a view").shape.rank()
    }

    pub fn prefetch(&mut self, view: Value, offsets: &[Value]) {
        let operands: Vec<Value> = [view].into_iter().chain(offsets.iter().copied()).collect();
        self.effect(TileOp::Prefetch {}, &operands);
    }

    // --- control ---------------------------------------------------------------------------------------

    /// Opens a loop: what follows goes into its body, until [`Self::end_for`].
    pub fn begin_for(&mut self, lo: Value, hi: Value, step: i64, inits: &[Value]) -> ForScope {
        let operands: Vec<Value> = [lo, hi].into_iter().chain(inits.iter().copied()).collect();
        let op = self
            .func
            .build(self.region, TileOp::For { step }, &operands, None)
            .unwrap_or_else(|error| panic!("invariant: recipes build valid tile ops: {error}"));
        let inner = self.func.regions_of(op)[0];
        let iv = self.func.add_arg(inner, TileType::Index);
        let types: Vec<TileType> = inits.iter().map(|init| self.func.ty(*init).clone()).collect();
        let carried = types.into_iter().map(|ty| self.func.add_arg(inner, ty)).collect();
        let outer = std::mem::replace(&mut self.region, inner);
        ForScope { op, outer, iv, carried }
    }

    /// Closes a loop; `next` are the next iteration's carried values. Gives the loop's results. What every step
    /// would compute alike for a few rows, as their means and deviations, stands before the loop then.
    pub fn end_for(&mut self, scope: ForScope, next: &[Value]) -> Vec<Value> {
        self.effect(TileOp::Yield {}, next);
        self.hoist(self.region, scope.op);
        self.region = scope.outer;
        self.func.results(scope.op).to_vec()
    }

    /// Moves invariant tiles of few elements from a loop's body to before the loop. They need no memory and cannot fail,
    /// so it does not matter that a loop may have no step.
    fn hoist(&mut self, body: RegionId, of: OpId) {
        let mut before = Vec::new();
        let mut rest = Vec::new();
        for op in self.func.ops_in(body) {
            let varies = |value: &Value| match self.func.def(*value) {
                Def::Arg(region, _) => region == body,
                Def::Result(op, _) => self.func.parent(op) == Some(body) && !before.contains(&op),
            };
            let is_small = || match self.func.results(*op) {
                [only] => {
                    let shape = self.func.ty(*only).as_tile().map(|(_, shape)| shape);
                    shape.is_some_and(|shape| shape.iter().product::<i64>() <= MOST_HOISTED)
                }
                _ => false,
            };
            let is_invariant = self.func.kind(*op).effects() == Effects::Pure
                && is_small()
                && !self.func.operands(*op).iter().any(varies);
            if is_invariant { before.push(*op) } else { rest.push(*op) }
        }
        if before.is_empty() {
            return;
        }
        let outer = self.func.parent(of).expect("invariant: a loop stands in a region");
        self.func.set_ops(body, rest);
        let mut ops = self.func.ops_in(outer).to_vec();
        let last = ops.pop();
        debug_assert_eq!(last, Some(of), "a loop that is being built is its region's last op");
        ops.extend(before);
        ops.push(of);
        self.func.set_ops(outer, ops);
    }

    /// Opens the branch taken when `condition` is not 0.
    pub fn begin_if(&mut self, condition: Value) -> IfScope {
        let op = self.func.push_op(self.region, TileOp::If {}, &[condition], [], None);
        let outer = std::mem::replace(&mut self.region, self.func.regions_of(op)[0]);
        IfScope { op, outer }
    }

    /// Closes the first branch, opens the other.
    pub fn begin_else(&mut self, scope: &IfScope, yielded: &[Value]) {
        self.effect(TileOp::Yield {}, yielded);
        let types: Vec<TileType> = yielded.iter().map(|value| self.func.ty(*value).clone()).collect();
        for ty in types {
            self.func.add_result(scope.op, ty);
        }
        self.region = self.func.regions_of(scope.op)[1];
    }

    /// Closes the other branch, which yields values of the same types. Gives the results.
    pub fn end_if(&mut self, scope: IfScope, yielded: &[Value]) -> Vec<Value> {
        self.effect(TileOp::Yield {}, yielded);
        self.region = scope.outer;
        self.func.results(scope.op).to_vec()
    }

    pub fn finish(mut self) {
        self.region = self.func.body();
        self.effect(TileOp::Return {}, &[]);
    }
}

/// The meaning of [`IndexOp`], shared with the executor.
pub fn fold_index(op: IndexOp, a: i64, b: i64) -> i64 {
    match op {
        IndexOp::Add => a.wrapping_add(b),
        IndexOp::Sub => a.wrapping_sub(b),
        IndexOp::Mul => a.wrapping_mul(b),
        IndexOp::FloorDiv => {
            let quotient = a.checked_div(b).unwrap_or(0);
            if b != 0 && a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
        }
        IndexOp::Mod => {
            let remainder = a.checked_rem(b).unwrap_or(0);
            if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
        }
        IndexOp::Min => a.min(b),
        IndexOp::Max => a.max(b),
        IndexOp::Eq => i64::from(a == b),
        IndexOp::Ne => i64::from(a != b),
        IndexOp::Lt => i64::from(a < b),
        IndexOp::Le => i64::from(a <= b),
        IndexOp::And => a & b,
    }
}
