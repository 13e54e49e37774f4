//! The recipe of pools: vectors run along the innermost axis in memory (channels when channels-last), one result row
//! of it at a time, and the window's positions inside of the input are combined.

use super::access::{Axis, Lowering, TileBox, begin};
use super::body::Body;
use super::contract::{result_order, window_range, window_start};
use super::{Lowered, columns_together};
use crate::TileMachine;
use tegula_base::{DType, Dim};
use tegula_ir::scalar::eval::identity;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{PoolKind, TensorOp, Window};
use tegula_tile::IndexOp;

struct Pool<'a> {
    body: &'a Body,
    root: OpId,
    window: &'a Window,
    x: Value,
    /// `None`: the maximum and where it is.
    kind: Option<PoolKind>,
    column_major: bool,
    dtype: DType,
    acc: DType,
    /// The logical axis that vectors run along.
    lane: usize,
    order: Vec<usize>,
}

pub(super) fn lower(body: &Body, machine: &dyn TileMachine) -> Result<Lowered, String> {
    let root = body.root().ok_or("a pool is expected")?;
    let (window, kind, column_major) = match body.func.kind(root) {
        TensorOp::Pool { kind, window } => (window, Some(*kind), false),
        TensorOp::MaxPoolIndices { window, column_major } => (window, None, *column_major),
        _ => return Err("a pool is expected".into()),
    };
    let x = body.func.operand(root, 0);
    let x_shape = body.shape(x).clone();
    let rank = x_shape.rank();
    let spatial = (0..rank - 2).map(|i| window.output(i, &x_shape[2 + i]));
    let shape: Vec<Dim> = [x_shape[0].clone(), x_shape[1].clone()].into_iter().chain(spatial).collect();
    let order = result_order(body, rank);
    let dtype = body.func.ty(x).dtype;
    // Sums of narrow floats are kept wide; so are sums of integers that are divided before they wrap.
    let acc = match kind {
        Some(PoolKind::Max) | None => dtype,
        _ if dtype.is_float() && dtype.bits() < 32 => DType::F32,
        Some(PoolKind::Average | PoolKind::AverageInside) if dtype.is_int() && dtype.is_signed() => {
            DType::I64
        }
        Some(PoolKind::Average | PoolKind::AverageInside) if dtype.is_int() => DType::U64,
        Some(PoolKind::Sum | PoolKind::Average | PoolKind::AverageInside) => dtype,
    };
    let lane = *order.last().expect("invariant: a pool has axes");
    let pool = Pool { body, root, window, x, kind, column_major, dtype, acc, lane, order };
    let widest = if kind.is_none() { DType::I64 } else { body.widest() };
    let lanes = machine.lanes(widest);
    // Indices and sums that are wider than what they sum take enough registers by one vector.
    let tile = match kind.is_some() && acc.bits() <= widest.bits() {
        true => columns_together(&shape[lane], widest, machine),
        false => lanes,
    };
    let outer: Vec<usize> = (0..rank).filter(|axis| *axis != lane).collect();
    let grid: Vec<Dim> = outer.iter().map(|axis| shape[*axis].clone()).collect();
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let zero = cx.b.index(0);
    let mut at = vec![Axis { offset: zero, extent: 1, step: 1, bounded: false }; rank];
    for (i, axis) in outer.iter().enumerate() {
        at[*axis].offset = cx.unit[i];
    }
    let extent = cx.b.size(&shape[lane]);
    let mut outcome = Ok(());
    cx.lane_loop(zero, extent, tile, lanes, &[], |cx, axis, _| {
        at[lane] = axis;
        outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| pool.tile(cx, &at));
        vec![]
    });
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

impl Pool<'_> {
    /// Computes and stores the box `at` of the result, in logical axes.
    fn tile(&self, cx: &mut Lowering, at: &[Axis]) -> Result<(), String> {
        let width = at[self.lane].extent;
        let f = match self.kind {
            Some(PoolKind::Max) | None => ScalarOp::Max,
            Some(PoolKind::Sum | PoolKind::Average | PoolKind::AverageInside) => ScalarOp::Add,
        };
        let neutral =
            identity(f, self.dtype).ok_or_else(|| format!("`{f}` does not pool {}", self.dtype))? as i64;
        let mut inits = vec![cx.b.splat(self.acc, &[width], if f == ScalarOp::Add { 0 } else { neutral })];
        match self.kind {
            None => inits.push(cx.b.splat(DType::I64, &[width], -1)),
            Some(PoolKind::AverageInside) if self.lane >= 2 => inits.push(cx.b.splat(self.acc, &[width], 0)),
            Some(_) => {}
        }
        let walk = Walk { pool: self, at, f, neutral };
        let sums = walk.over(cx, 0, &mut Vec::new(), &inits);
        let mut tile = sums[0];
        match self.kind {
            Some(PoolKind::Average) => {
                let count = cx.b.index(self.window.size.iter().product());
                tile = self.divide_by(cx, tile, count, width);
            }
            Some(PoolKind::AverageInside) if self.lane >= 2 => {
                tile = cx.b.elementwise(ScalarOp::Div, &[tile, sums[1]]);
            }
            Some(PoolKind::AverageInside) => {
                let count = self.taps_inside(cx, at);
                tile = self.divide_by(cx, tile, count, width);
            }
            Some(PoolKind::Max | PoolKind::Sum) | None => {}
        }
        if self.acc != self.dtype {
            tile = cx.b.elementwise(ScalarOp::Cast { to: self.dtype, saturate: false }, &[tile]);
        }
        let results = cx.body.func.results(self.root).to_vec();
        let physical: TileBox = self.order.iter().map(|axis| at[*axis]).collect();
        let extents: Vec<i64> = physical.iter().map(|axis| axis.extent).collect();
        let tile = cx.b.reshape(tile, &extents);
        let indices = self.kind.is_none().then(|| cx.b.reshape(sums[1], &extents));
        cx.scope(|cx| {
            cx.fix(results[0], tile);
            if let Some(indices) = indices {
                cx.fix(results[1], indices);
            }
            (0..cx.body.results.len()).try_for_each(|i| cx.store_result(i, &physical))
        })
    }

    /// How many positions of the window are inside of the input, where all lanes are at one place of it.
    fn taps_inside(&self, cx: &mut Lowering, at: &[Axis]) -> Value {
        let zero = cx.b.index(0);
        (0..self.window.size.len()).fold(cx.b.index(1), |count, i| {
            let start = window_start(cx, self.window, i, at[2 + i].offset);
            let (lo, hi) = window_range(cx, self.window, self.body.shape(self.x), i, start);
            let taps = cx.b.sub(hi, lo);
            let taps = cx.b.index_op(IndexOp::Max, taps, zero);
            cx.b.mul(count, taps)
        })
    }

    fn divide_by(&self, cx: &mut Lowering, tile: Value, count: Value, width: i64) -> Value {
        let count = cx.spread(self.acc, count, &[width]);
        cx.b.elementwise(ScalarOp::Div, &[tile, count])
    }
}

/// One walk over the window of a tile.
struct Walk<'a> {
    pool: &'a Pool<'a>,
    at: &'a [Axis],
    f: ScalarOp,
    neutral: i64,
}

impl Walk<'_> {
    /// Loops over the window from spatial axis `i` on; `inputs` are the input axes so far.
    fn over(&self, cx: &mut Lowering, i: usize, inputs: &mut Vec<Axis>, carried: &[Value]) -> Vec<Value> {
        let pool = self.pool;
        let window = pool.window;
        if i == window.size.len() {
            return self.tap(cx, inputs, carried);
        }
        let axis = self.at[2 + i];
        let is_lane = pool.lane == 2 + i;
        let start = window_start(cx, window, i, axis.offset);
        let dilation = cx.b.index(window.dilations[i]);
        let (lo, hi) = match is_lane {
            // Lanes reach the border at different positions: all are visited, and those outside masked.
            true => (cx.b.index(0), cx.b.index(window.size[i])),
            false => window_range(cx, window, pool.body.shape(pool.x), i, start),
        };
        cx.for_(lo, hi, 1, carried, |cx, tap, carried| {
            let shift = cx.b.mul(tap, dilation);
            let offset = cx.b.add(start, shift);
            let input = match is_lane {
                true => Axis { offset, extent: axis.extent, step: window.strides[i], bounded: true },
                false => Axis { offset, extent: 1, step: 1, bounded: false },
            };
            inputs.push(input);
            let next = self.over(cx, i + 1, inputs, carried);
            inputs.pop();
            next
        })
    }

    fn tap(&self, cx: &mut Lowering, inputs: &[Axis], carried: &[Value]) -> Vec<Value> {
        let pool = self.pool;
        let width = self.at[pool.lane].extent;
        let mut logical = vec![self.at[0], self.at[1]];
        logical.extend(inputs.iter().copied());
        let order = cx.axis_order(pool.x).expect("invariant: a pool's input is not packed");
        let pad = if self.f == ScalarOp::Max { self.neutral } else { 0 };
        let tile = cx.load_physical(pool.x, &order, &logical, pad);
        let tile = cx.b.reshape(tile, &[width]);
        let wide = match pool.acc == pool.dtype {
            true => tile,
            false => cx.b.elementwise(ScalarOp::Cast { to: pool.acc, saturate: true }, &[tile]),
        };
        match pool.kind {
            Some(PoolKind::AverageInside) if pool.lane >= 2 => {
                let one = cx.b.index(1);
                let one = cx.spread(pool.acc, one, &[width]);
                let zero = cx.b.splat(pool.acc, &[width], 0);
                let inside = self.inside(cx, &logical);
                let one = cx.b.elementwise(ScalarOp::Select, &[inside, one, zero]);
                let sum = cx.b.elementwise(ScalarOp::Add, &[carried[0], wide]);
                vec![sum, cx.b.elementwise(ScalarOp::Add, &[carried[1], one])]
            }
            Some(_) => vec![cx.b.elementwise(self.f, &[carried[0], wide])],
            None => self.tap_with_index(cx, &logical, wide, carried),
        }
    }

    /// Which lanes of a box along a spatial lane axis are inside of the input.
    fn inside(&self, cx: &mut Lowering, logical: &[Axis]) -> Value {
        let lane = self.pool.lane;
        let extent = self.pool.body.shape(self.pool.x)[lane].clone();
        cx.inside(&[logical[lane]], 0, &extent)
    }

    /// Keeps the first of equal maxima, and NaN as the largest.
    fn tap_with_index(
        &self,
        cx: &mut Lowering,
        logical: &[Axis],
        tile: Value,
        carried: &[Value],
    ) -> Vec<Value> {
        let pool = self.pool;
        let width = self.at[pool.lane].extent;
        let shape = pool.body.shape(pool.x).clone();
        // The flat index: batch and channel outermost, then the spatial axes in the order asked for.
        let n_spatial = shape.rank() - 2;
        let mut order: Vec<usize> = (2..2 + n_spatial).collect();
        if pool.column_major {
            order.reverse();
        }
        let mut flat = cx.b.splat(DType::I64, &[width], 0);
        for axis in [0, 1].into_iter().chain(order) {
            let size = cx.b.size(&shape[axis]);
            let size = cx.spread(DType::I64, size, &[width]);
            flat = cx.b.elementwise(ScalarOp::Mul, &[flat, size]);
            let position = match axis == pool.lane {
                true => cx.positions(&[logical[axis]], 0, DType::I64, &[width]),
                false => cx.spread(DType::I64, logical[axis].offset, &[width]),
            };
            flat = cx.b.elementwise(ScalarOp::Add, &[flat, position]);
        }
        let unset = cx.b.splat(DType::I64, &[width], 0);
        let first = cx.b.elementwise(ScalarOp::Lt, &[carried[1], unset]);
        let greater = self.outdoes(cx, tile, carried[0]);
        let mut better = cx.b.elementwise(ScalarOp::Or, &[first, greater]);
        if pool.lane >= 2 {
            let inside = self.inside(cx, logical);
            better = cx.b.elementwise(ScalarOp::And, &[better, inside]);
        }
        let value = cx.b.elementwise(ScalarOp::Select, &[better, tile, carried[0]]);
        let index = cx.b.elementwise(ScalarOp::Select, &[better, flat, carried[1]]);
        vec![value, index]
    }

    /// Where `tile` is the maximum of both and not the same: as numbers, but NaN is largest and -0 below 0.
    fn outdoes(&self, cx: &mut Lowering, tile: Value, best: Value) -> Value {
        let greater = cx.b.elementwise(ScalarOp::Gt, &[tile, best]);
        let dtype = self.pool.acc;
        if !dtype.is_float() {
            return greater;
        }
        let not_a_number = |cx: &mut Lowering, x: Value| cx.b.elementwise(ScalarOp::IsNan, &[x]);
        let (new, known) = (not_a_number(cx, tile), not_a_number(cx, best));
        let known = cx.b.elementwise(ScalarOp::Not, &[known]);
        let first_nan = cx.b.elementwise(ScalarOp::And, &[new, known]);
        let bits = match dtype.bits() {
            8 => DType::I8,
            16 => DType::I16,
            32 => DType::I32,
            _ => DType::I64,
        };
        let cast = ScalarOp::Bitcast { to: bits };
        let (new, known) = (cx.b.elementwise(cast, &[tile]), cx.b.elementwise(cast, &[best]));
        // Equal as numbers and of greater bits: 0 over -0.
        let above = cx.b.elementwise(ScalarOp::Gt, &[new, known]);
        let equal = cx.b.elementwise(ScalarOp::Eq, &[tile, best]);
        let zero = cx.b.elementwise(ScalarOp::And, &[above, equal]);
        let greater = cx.b.elementwise(ScalarOp::Or, &[greater, first_nan]);
        cx.b.elementwise(ScalarOp::Or, &[greater, zero])
    }
}
