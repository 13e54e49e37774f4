//! The recipe of elementwise, movement, reduction, softmax and normalisation kernels: rows along one *lane axis*.
//!
//! The iteration space is the join of the results' shapes and the reductions' operands. The lane axis is the
//! innermost axis in memory. Reductions share one set of axes. Three cases:
//! * no reduction: tiles along the lane axis, pulled and stored; where a buffer runs along another axis, squares of
//!   both, which the target transposes in registers, or tiles along that axis where the innermost one is short (a few
//!   elements, as an image's channels, are woven into runs: `interleaved.rs`); a result in panels is written a panel at a
//!   time;
//! * the lane axis is reduced: a work unit owns whole rows; each reduction is a pass along the row, then a pass
//!   stores. A row short enough to stay in registers is one tile, and the passes share it. Some rows are passed over
//!   together where the target wants it and their number divides so;
//! * other axes are reduced: a work unit owns a piece of the lane axis and walks the reduced axes for each tile.

mod interleaved;
mod spilled;
mod transposed;

use super::Lowered;
use super::access::{Axis, Lowering, Part, TileBox, begin_part};
use super::body::Body;
use crate::TileMachine;
use interleaved::Interleaved;
use spilled::Spilled;
use tegula_base::{DType, Dim, Shape, Symbols};
use tegula_ir::scalar::eval::identity;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::facts::weight;
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorOp};
use tegula_tile::IndexOp;
use transposed::Transposed;

/// Instructions of an element from which a work unit is measured by them, not by its bytes: several functions.
const HEAVY: i64 = 48;

/// Rows that one sum adds one after another. Rounding grows with their number, and what a longer sum is made of has as many
/// terms: of 6,400 rows 64 + 100, not 6,400 (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section
/// 4.1). The second sum costs one addition in 64.
const RUN: i64 = 64;

/// What the recipe decided before it builds.
struct Plan {
    space: Shape,
    /// Reduced axes, sorted; empty without reductions.
    reduced: Vec<usize>,
    /// The axis that vectors run along; `None` when every extent is 1.
    lane: Option<usize>,
    /// Axes of the grid, outermost first; the last one in blocks of `block` rows, which a tile takes `rows` at a time.
    outer: Vec<usize>,
    block: i64,
    rows: i64,
    /// Elements of the lane axis a work unit owns; `None`: all of them.
    chunk: Option<i64>,
    /// Elements a step along the lane axis, and a vector.
    tile: i64,
    lanes: i64,
    /// The lane axis is reduced and its whole extent is one tile.
    resident: bool,
    spilled: Option<Spilled>,
    interleaved: Option<Interleaved>,
}

pub(super) fn lower(body: &Body, machine: &dyn TileMachine, symbols: &Symbols) -> Result<Lowered, String> {
    let plan = plan(body, machine, symbols)?;
    let part = plan.interleaved.map_or_else(|| Part::whole(body), |_| Part::with_flat_result(body));
    let (mut kernel, buffers) = begin_part(body, grid(&plan), &part);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    emit_unit(&mut cx, &plan)?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

fn plan(body: &Body, machine: &dyn TileMachine, symbols: &Symbols) -> Result<Plan, String> {
    let space = space(body)?;
    let reduced = reduced_axes(body)?;
    let widest = body.widest();
    let lanes = machine.lanes(widest);
    let innermost = lane_axis(body, &space);
    let transposed =
        machine.transposed_square(widest).and_then(|side| Transposed::find(body, &space, innermost, side));
    let lane = match transposed {
        Some(Transposed { column, is_square: false, .. }) => Some(column),
        Some(_) | None => innermost,
    };
    let interleaved = lane.zip(innermost).and_then(|axes| interleaved::find(body, &space, axes));
    let extent = lane.map_or(Dim::from(1), |axis| space[axis].clone());
    let lane_reduced = lane.is_some_and(|axis| reduced.contains(&axis));
    let round_up = |n: i64| n.saturating_add(lanes - 1) / lanes * lanes;
    let resident =
        lane_reduced && extent.as_const().is_some_and(|n| round_up(n) <= machine.resident_row(widest));
    let mut outer: Vec<usize> = (0..space.rank())
        .filter(|axis| Some(*axis) != lane && !reduced.contains(axis) && !space[*axis].is_const(1))
        .collect();
    let row_tile = |rows: i64| match extent.as_const() {
        Some(n) if resident => round_up(n.max(1)),
        Some(n) if lane_reduced => machine.long_row_tile(widest, rows).min(round_up(n.max(1))),
        Some(n) => machine.row_tile(widest, rows).min(round_up(n.max(1))),
        None => machine.row_tile(widest, rows),
    };
    let in_turn = lane_reduced && reduced.len() == 1 && !gathers(body);
    let together = |rows: &i64| {
        let are_live = !resident || row_tile(*rows) * rows <= machine.resident_row(widest);
        let last = outer.last().and_then(|axis| space[*axis].as_const());
        are_live && last.is_some_and(|n| n % rows == 0)
    };
    let mut rows =
        (1..=machine.facts().rows.rows_together).rev().find(|rows| in_turn && together(rows)).unwrap_or(1);
    let panel = lane.and_then(|axis| panel_width(body, axis));
    let mut tile = row_tile(rows);
    if let Some(width) = panel {
        if width % lanes != 0 {
            return Err("panels are of whole vectors".into());
        }
        tile = if width <= tile { width } else { lanes };
    }
    if let Some(Transposed { side, column, is_square: true }) = transposed {
        (rows, tile) = (side, side);
        outer.retain(|axis| *axis != column);
        outer.push(column);
    }
    let mut unit = unit(body, &reduced, machine);
    if let Some(Interleaved { axis, extent: elements }) = interleaved {
        outer.retain(|outer| *outer != axis);
        unit /= elements;
        // What is left over is stored an element at a time.
        tile = if extent.as_const().is_some_and(|n| n % tile == 0) { tile } else { lanes };
    }
    let unit = unit.max(tile);
    let (_, longest) = symbols.bounds(&extent);
    let chunk = match (lane_reduced, reduced.is_empty()) {
        (true, _) => None,
        (false, false) => Some(tile),
        (false, true) if let Some(width) = panel => {
            let rows = outer.last().and_then(|axis| space[*axis].as_const()).unwrap_or(unit);
            Some((unit / (width * rows.max(1))).max(1) * width)
        }
        (false, true) => (longest > unit / rows).then_some((unit / rows / tile).max(1) * tile),
    };
    // Short rows share a work unit; rows of unknown length count as one vector step each.
    let row_work = reduced.iter().fold(extent.clone(), |work, axis| work * space[*axis].clone());
    let row_work = if panel.is_some() { chunk } else { row_work.as_const() }.unwrap_or(unit);
    let block = if chunk.is_some() && !reduced.is_empty() { 1 } else { (unit / row_work.max(1)).max(1) };
    let block = (block + rows - 1) / rows * rows;
    let passes = lane_reduced && !resident && reduced.len() == 1;
    let spilled = if passes && machine.facts().rows.rereads_results { spilled::find(body) } else { None };
    Ok(Plan { space, reduced, lane, outer, block, rows, chunk, tile, lanes, resident, spilled, interleaved })
}

/// Elements of a work unit. Each that takes many functions, as those of a recurrent layer's step do, is more work than its
/// bytes: one thread would compute all of a step while the others wait.
fn unit(body: &Body, reduced: &[usize], machine: &dyn TileMachine) -> i64 {
    let widest = body.widest();
    let unit = machine.facts().rows.unit_bytes.0 as i64 / widest.size() as i64;
    let ops = body.func.walk();
    let weight: i64 = ops.into_iter().map(|op| i64::from(weight(body.func.kind(op)))).sum();
    match machine.facts().rows.unit_instructions {
        Some(most) if reduced.is_empty() && weight >= HEAVY => {
            unit.min(machine.lanes(widest) * most / weight)
        }
        Some(_) | None => unit,
    }
}

/// The join of results and reduced operands: each axis's extent that is not 1.
fn space(body: &Body) -> Result<Shape, String> {
    let reduced = body.reduces().into_iter().map(|op| body.func.operand(op, 0));
    let values: Vec<Value> = body.results.iter().copied().chain(reduced).collect();
    let rank = values.iter().map(|value| body.shape(*value).rank()).max().unwrap_or(0);
    if values.iter().any(|value| body.shape(*value).rank() != rank) {
        return Err("results of one kernel have one rank".into());
    }
    let extent = |axis: usize| {
        let mut extents = values.iter().map(|value| &body.shape(*value)[axis]);
        extents.find(|dim| !dim.is_const(1)).cloned().unwrap_or(Dim::from(1))
    };
    Ok((0..rank).map(extent).collect())
}

fn reduced_axes(body: &Body) -> Result<Vec<usize>, String> {
    let mut common: Option<Vec<usize>> = None;
    for op in body.reduces() {
        let TensorOp::Reduce { axes, .. } = body.func.kind(op) else { continue };
        match &common {
            Some(known) if known != axes => return Err("reductions of one kernel share their axes".into()),
            _ => common = Some(axes.clone()),
        }
    }
    Ok(common.unwrap_or_default())
}

/// The innermost axis, in the memory order of the largest buffer of the space's rank, that is not 1.
fn lane_axis(body: &Body, space: &Shape) -> Option<usize> {
    let args = body.args().iter().map(|arg| body.func.ty(*arg));
    let full = |ty: &&tegula_tensor::TensorType| ty.shape.iter().filter(|dim| !dim.is_const(1)).count();
    let mut candidates: Vec<_> =
        body.result_types.iter().chain(args).filter(|ty| ty.rank() == space.rank()).collect();
    // Results decide unless they are reduced; the first of the largest wins.
    candidates.sort_by_key(|ty| std::cmp::Reverse(full(ty)));
    let order = candidates.first().map(|ty| ty.layout_or_default().0).unwrap_or_default();
    let axes = order.iter().rev().filter_map(|dim| match dim {
        Physical::Axis(axis) | Physical::Inner { axis, .. } => Some(*axis),
        Physical::Outer { .. } => None,
    });
    let mut axes = axes.filter(|axis| !space[*axis].is_const(1));
    axes.next().or_else(|| (0..space.rank()).rev().find(|axis| !space[*axis].is_const(1)))
}

/// Elements along the lane axis that a result in panels has next to each other.
fn panel_width(body: &Body, lane: usize) -> Option<i64> {
    let innermost = |layout: Layout| match layout.0.last() {
        Some(Physical::Inner { axis, tile }) if *axis == lane => Some(*tile),
        _ => None,
    };
    body.result_types.iter().find_map(|ty| innermost(ty.layout_or_default()))
}

/// Whether a value's place hangs on another value: for one row at a time that is where a row begins.
fn gathers(body: &Body) -> bool {
    let is_gather = |op: OpId| {
        matches!(
            body.func.kind(op),
            TensorOp::Gather { .. } | TensorOp::GatherElements { .. } | TensorOp::GatherNd { .. }
        )
    };
    body.func.walk().into_iter().any(is_gather)
}

fn grid(plan: &Plan) -> Vec<Dim> {
    let mut grid: Vec<Dim> = plan.outer.iter().map(|axis| plan.space[*axis].clone()).collect();
    if let Some(last) = grid.last_mut() {
        *last = last.ceil_div(&Dim::from(plan.block));
    }
    if let (Some(lane), Some(chunk)) = (plan.lane, plan.chunk) {
        grid.push(plan.space[lane].ceil_div(&Dim::from(chunk)));
    }
    grid
}

fn emit_unit(cx: &mut Lowering, plan: &Plan) -> Result<(), String> {
    let zero = cx.b.index(0);
    let unit_axis = Axis { offset: zero, extent: 1, step: 1, bounded: false };
    let mut at: TileBox = std::iter::repeat_n(unit_axis, plan.space.rank()).collect();
    for (i, axis) in plan.outer.iter().enumerate() {
        at[*axis].offset = cx.unit[i];
    }
    let Some(&rows) = plan.outer.last() else { return emit_row(cx, plan, &at) };
    if plan.block == 1 {
        return emit_row(cx, plan, &at);
    }
    let block = cx.b.index(plan.block);
    let first = cx.unit[plan.outer.len() - 1];
    let first = cx.b.mul(first, block);
    let is_whole = plan.space[rows].as_const().is_some_and(|n| n % plan.rows == 0);
    if is_whole && plan.block == plan.rows {
        at[rows] = Axis { offset: first, extent: plan.rows, step: 1, bounded: false };
        return emit_row(cx, plan, &at);
    }
    let end = cx.b.add(first, block);
    let all = cx.b.size(&plan.space[rows]);
    let end = cx.b.index_op(IndexOp::Min, end, all);
    let mut outcome = Ok(());
    let bounded = plan.rows > 1 && !is_whole;
    cx.for_(first, end, plan.rows, &[], |cx, row, _| {
        at[rows] = Axis { offset: row, extent: plan.rows, step: 1, bounded };
        outcome = emit_row(cx, plan, &at);
        vec![]
    });
    outcome
}

/// One row, or a chunk of one: `at` holds the coordinates of the outer axes.
fn emit_row(cx: &mut Lowering, plan: &Plan, at: &[Axis]) -> Result<(), String> {
    let Some(lane) = plan.lane else { return emit_tiles(cx, plan, at) };
    if plan.reduced.contains(&lane) {
        return emit_tiles(cx, plan, at);
    }
    let extent = cx.b.size(&plan.space[lane]);
    let (lo, hi) = match plan.chunk {
        None => (cx.b.index(0), extent),
        Some(chunk) => {
            let chunk = cx.b.index(chunk);
            let position = cx.unit[plan.outer.len()];
            let lo = cx.b.mul(position, chunk);
            let end = cx.b.add(lo, chunk);
            (lo, cx.b.index_op(IndexOp::Min, end, extent))
        }
    };
    let mut outcome = Ok(());
    let mut tile = |cx: &mut Lowering, axis: Axis| {
        let mut at: TileBox = at.into();
        at[lane] = axis;
        outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| emit_tiles(cx, plan, &at));
        vec![]
    };
    // Chunks are whole tiles, the last one too where the axis is.
    let is_whole = plan.chunk.is_some_and(|chunk| chunk % plan.tile == 0)
        && plan.space[lane].as_const().is_some_and(|n| n % plan.tile == 0);
    if is_whole {
        let extent = plan.tile;
        cx.for_(lo, hi, extent, &[], |cx, offset, _| {
            tile(cx, Axis { offset, extent, step: 1, bounded: false })
        });
    } else {
        cx.lane_loop(lo, hi, plan.tile, plan.lanes, &[], |cx, axis, _| tile(cx, axis));
    }
    outcome
}

/// Reductions, then stores, for one tile of kept axes (or one row whose lane axis is reduced).
fn emit_tiles(cx: &mut Lowering, plan: &Plan, at: &[Axis]) -> Result<(), String> {
    if let Some(interleaved) = plan.interleaved {
        return interleaved.store(cx, &plan.space, at);
    }
    for op in cx.body.reduces() {
        let tile = reduce(cx, plan, op, at)?;
        let result = cx.body.func.result(op);
        cx.fix(result, tile);
    }
    for i in 0..cx.body.results.len() {
        let shape = cx.body.result_types[i].shape.clone();
        let walked: Vec<usize> =
            plan.reduced.iter().copied().filter(|axis| !shape[*axis].is_const(1)).collect();
        let mut own: TileBox = at.into();
        for (axis, dim) in shape.iter().enumerate() {
            if dim.is_const(1) {
                own[axis] = Axis { offset: cx.b.index(0), extent: 1, step: 1, bounded: false };
            }
        }
        let spilled = plan.spilled.as_ref().filter(|spilled| spilled.result == i);
        if spilled.is_some_and(|spilled| spilled.is_final) {
            continue;
        }
        let mut store = |cx: &mut Lowering, at: &[Axis]| {
            if let Some(spilled) = spilled {
                let tile = cx.load_result(i, at);
                cx.fix(spilled.value, tile);
            }
            cx.store_result(i, at)
        };
        walk(cx, plan, &walked, &own, &mut store)?;
    }
    Ok(())
}

/// Visits every tile of the axes `walked`, the lane axis innermost.
fn walk(
    cx: &mut Lowering,
    plan: &Plan,
    walked: &[usize],
    at: &[Axis],
    visit: &mut dyn FnMut(&mut Lowering, &[Axis]) -> Result<(), String>,
) -> Result<(), String> {
    let mut outcome = Ok(());
    match ordered(plan, walked).as_slice() {
        [] => visit(cx, at),
        [axis] if Some(*axis) == plan.lane => {
            if plan.resident {
                let at = resident_box(cx, plan, at);
                return visit(cx, &at);
            }
            let (lo, hi) = (cx.b.index(0), cx.b.size(&plan.space[*axis]));
            cx.lane_loop(lo, hi, plan.tile, plan.lanes, &[], |cx, lane, _| {
                let mut at: TileBox = at.into();
                at[*axis] = lane;
                outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| visit(cx, &at));
                vec![]
            });
            outcome
        }
        [axis, rest @ ..] => {
            let (lo, hi) = (cx.b.index(0), cx.b.size(&plan.space[*axis]));
            cx.for_(lo, hi, 1, &[], |cx, i, _| {
                let mut at: TileBox = at.into();
                at[*axis].offset = i;
                outcome = walk(cx, plan, rest, &at, visit);
                vec![]
            });
            outcome
        }
    }
}

/// Axes with the lane axis last.
fn ordered(plan: &Plan, axes: &[usize]) -> Vec<usize> {
    let mut axes = axes.to_vec();
    axes.sort_by_key(|axis| Some(*axis) == plan.lane);
    axes
}

fn resident_box(cx: &mut Lowering, plan: &Plan, at: &[Axis]) -> TileBox {
    let lane = plan.lane.expect("invariant: a resident row has a lane axis");
    let whole = plan.space[lane].is_const(plan.tile);
    let mut at: TileBox = at.into();
    at[lane] = Axis { offset: cx.b.index(0), extent: plan.tile, step: 1, bounded: !whole };
    at
}

/// What a reduction is kept in: sums and products of narrow floats in `f32` (`docs/numerics.md`).
pub(super) fn accumulator(f: ScalarOp, dtype: DType) -> DType {
    match f {
        ScalarOp::Add | ScalarOp::Mul if dtype.is_float() && dtype.bits() < 32 => DType::F32,
        _ => dtype,
    }
}

/// The result tile of one reduction: extents of `at`, 1 along the reduced axes.
fn reduce(cx: &mut Lowering, plan: &Plan, op: OpId, at: &[Axis]) -> Result<Value, String> {
    let TensorOp::Reduce { f, .. } = cx.body.func.kind(op) else {
        return Err("a reduction is expected".into());
    };
    let (f, operand) = (*f, cx.body.func.operand(op, 0));
    let dtype = cx.body.func.ty(operand).dtype;
    let acc = accumulator(f, dtype);
    let neutral = identity(f, acc).ok_or_else(|| format!("`{f}` does not reduce {dtype}"))? as i64;
    let lane = plan.lane.filter(|axis| plan.reduced.contains(axis));
    let of_row = plan.spilled.as_ref().filter(|spilled| spilled.value == operand);
    let (spilled, reread) = match of_row.map(|spilled| (spilled.result, spilled.reduce == op)) {
        Some((result, true)) => (Some(result), None),
        Some((result, false)) => (None, Some(result)),
        None => (None, None),
    };
    let pass = Pass { plan, f, operand, acc, neutral, lane, spilled, reread };
    let sum = match (lane, plan.resident && plan.reduced.len() == 1) {
        (Some(lane), true) => {
            let at = resident_box(cx, plan, at);
            let tile = pass.masked(cx, &at)?;
            cx.b.reduce(f, tile, lane)
        }
        _ => {
            let axes = ordered(plan, &plan.reduced);
            pass.over(cx, &axes, at)?
        }
    };
    Ok(match acc == dtype {
        true => sum,
        false => cx.b.elementwise(ScalarOp::Cast { to: dtype, saturate: false }, &[sum]),
    })
}

/// One reduction's walk over the reduced axes.
struct Pass<'p> {
    plan: &'p Plan,
    f: ScalarOp,
    operand: Value,
    /// What the operand is widened to, and the identity of `f` in it.
    acc: DType,
    neutral: i64,
    /// The lane axis when it is reduced.
    lane: Option<usize>,
    /// The result to whose memory the operand is spilled for a later pass.
    spilled: Option<usize>,
    /// The result to whose memory an earlier pass spilled it.
    reread: Option<usize>,
}

impl Pass<'_> {
    /// The reduction over `axes` of what is at `at`.
    fn over(&self, cx: &mut Lowering, axes: &[usize], at: &[Axis]) -> Result<Value, String> {
        match axes {
            [] => {
                let start = self.start(cx, at);
                self.add(cx, at, start)
            }
            [axis] if Some(*axis) == self.lane => self.along_lane(cx, *axis, at),
            [axis, rest @ ..] => {
                let extent = &self.plan.space[*axis];
                let (lo, hi) = (cx.b.index(0), cx.b.size(extent));
                if !self.rounds() || extent.as_const().is_some_and(|n| n <= RUN) {
                    return self.along(cx, (*axis, rest), (lo, hi), at);
                }
                self.each(cx, (lo, hi), RUN, at, |cx, first, carried| {
                    let run = cx.b.index(RUN);
                    let last = cx.b.add(first, run);
                    let last = cx.b.index_op(IndexOp::Min, last, hi);
                    let sum = self.along(cx, (*axis, rest), (first, last), at)?;
                    Ok(cx.b.elementwise(self.f, &[carried, sum]))
                })
            }
        }
    }

    /// Over a range of one axis, and all of the axes inside of it.
    fn along(
        &self,
        cx: &mut Lowering,
        (axis, inner): (usize, &[usize]),
        range: (Value, Value),
        at: &[Axis],
    ) -> Result<Value, String> {
        self.each(cx, range, 1, at, |cx, i, carried| {
            let mut at: TileBox = at.into();
            at[axis].offset = i;
            if inner.is_empty() {
                return self.add(cx, &at, carried);
            }
            let sum = self.over(cx, inner, &at)?;
            Ok(cx.b.elementwise(self.f, &[carried, sum]))
        })
    }

    /// A loop that carries a tile of the extents of `at`.
    fn each(
        &self,
        cx: &mut Lowering,
        (lo, hi): (Value, Value),
        step: i64,
        at: &[Axis],
        body: impl FnOnce(&mut Lowering, Value, Value) -> Result<Value, String>,
    ) -> Result<Value, String> {
        let mut outcome = Ok(());
        let start = self.start(cx, at);
        let last = cx.for_(lo, hi, step, &[start], |cx, i, carried| {
            let next = body(cx, i, carried[0]);
            vec![next.unwrap_or_else(|error| {
                outcome = Err(error);
                carried[0]
            })]
        });
        outcome.map(|()| last[0])
    }

    /// Whether the order of the operands shows in the result.
    fn rounds(&self) -> bool {
        self.f == ScalarOp::Add && self.acc.is_float()
    }

    /// The identity of `f`, with the extents of `at`.
    fn start(&self, cx: &mut Lowering, at: &[Axis]) -> Value {
        let shape: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        cx.b.splat(self.acc, &shape, self.neutral)
    }

    fn add(&self, cx: &mut Lowering, at: &[Axis], acc: Value) -> Result<Value, String> {
        if let Some(result) = self.spilled {
            let tile = cx.pull(self.operand, at)?;
            cx.store(result, tile, at);
        }
        let tile = match self.reread {
            None => self.masked(cx, at)?,
            Some(result) => cx.scope(|cx| {
                let tile = cx.load_result(result, at);
                cx.fix(self.operand, tile);
                self.masked(cx, at)
            })?,
        };
        Ok(cx.b.elementwise(self.f, &[acc, tile]))
    }

    fn along_lane(&self, cx: &mut Lowering, lane: usize, at: &[Axis]) -> Result<Value, String> {
        let mut outcome = Ok(());
        let mut wide: TileBox = at.into();
        wide[lane].extent = self.plan.tile;
        let acc = self.start(cx, &wide);
        let (lo, hi) = (cx.b.index(0), cx.b.size(&self.plan.space[lane]));
        let (tile, lanes) = (self.plan.tile, self.plan.lanes);
        let (main, tail) = cx.lane_loop(lo, hi, tile, lanes, &[acc], |cx, axis, carried| {
            let mut at: TileBox = at.into();
            at[lane] = axis;
            match self.add(cx, &at, carried[0]) {
                Ok(sum) => vec![sum],
                Err(error) => {
                    outcome = Err(error);
                    vec![carried[0]]
                }
            }
        });
        outcome?;
        let sum = cx.b.reduce(self.f, main[0], lane);
        Ok(match tail {
            None => sum,
            Some(tail) => {
                let rest = cx.b.reduce(self.f, tail[0], lane);
                cx.b.elementwise(self.f, &[sum, rest])
            }
        })
    }

    /// The operand's tile with the neutral element where a bounded lane axis leaves the row.
    fn masked(&self, cx: &mut Lowering, at: &[Axis]) -> Result<Value, String> {
        let mut tile = cx.pull(self.operand, at)?;
        if cx.b.tile_type(tile).0 != self.acc {
            tile = cx.b.elementwise(ScalarOp::Cast { to: self.acc, saturate: false }, &[tile]);
        }
        let Some(lane) = self.lane.filter(|axis| at[*axis].bounded) else { return Ok(tile) };
        let (_, shape) = cx.b.tile_type(tile);
        let inside = cx.inside(at, lane, &self.plan.space[lane]);
        let fill = cx.b.splat(self.acc, &shape, self.neutral);
        Ok(cx.b.elementwise(ScalarOp::Select, &[inside, tile, fill]))
    }
}
