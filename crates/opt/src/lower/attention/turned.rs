//! Attention where the factors of products are read from memory: scores lie in the unit's own, turned.
//!
//! Keys go down and queries lie across lanes. A row of scores is then a key's elements, one by one, times rows of the
//! turned queries; maxima and sums of weights go from row to row, never across lanes; and a row of the turned result is
//! a value's elements times rows of weights. Keys and values are read as they lie; only queries and the result are
//! turned, once each.
//!
//! The queries are scaled, not the scores, where that keeps them far from the ends of `f32`; and weights are `exp(s - m)`: the difference is nearly exact where weights
//! count, which `2^(c s - c m)` is not.

use super::{Block, Recipe, finite, number, one};
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, begin};
use crate::lower::body::Body;
use crate::lower::contract::epilogue;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_tile::IndexOp;

/// Steps of a product that are unrolled.
const UNROLLED: i64 = 4;
/// Rows of scores whose weights are computed at once.
const WEIGHED: i64 = 4;

pub(super) fn lower(body: &Body, recipe: &Recipe, rows: i64, lanes: i64) -> Result<Lowered, String> {
    let (mut kernel, views) = begin(body, recipe.grid(vec![]));
    let mut cx = Lowering::new(body, &mut kernel, views);
    if recipe.parts() != 1 {
        return Err("a unit that turns its scores takes whole values".into());
    }
    let height = recipe.tile.queries;
    let unit = Unit {
        recipe,
        block: recipe.block(&mut cx)?,
        rows,
        lanes: lanes.min(height),
        queries: cx.b.scratch(DType::F32, &[recipe.qk_dim, height]),
        scores: cx.b.scratch(DType::F32, &[recipe.tile.keys, height]),
        result: cx.b.scratch(DType::F32, &[recipe.v_dim, height]),
    };
    unit.build(&mut cx)?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// A block of queries of one head. Its views have a row for each element of a query, each key of a block, and each
/// element of a value; their columns are the queries.
struct Unit<'a> {
    recipe: &'a Recipe,
    block: Block,
    /// Rows of a product that are summed at once.
    rows: i64,
    /// The side of the squares that queries and results are turned in.
    lanes: i64,
    queries: Value,
    scores: Value,
    result: Value,
}

impl Unit<'_> {
    fn build(&self, cx: &mut Lowering) -> Result<(), String> {
        let recipe = self.recipe;
        let height = recipe.tile.queries;
        self.turn_queries(cx)?;
        self.rows_of(cx, recipe.v_dim, |cx, row, rows| {
            let none = number(cx, &[rows, height], 0.0);
            self.store(cx, self.result, none, row);
            Ok(())
        })?;
        let range = recipe.visible.range(cx, &self.block.rows, recipe.tile.keys);
        let max = number(cx, &[1, height], f32::NEG_INFINITY);
        let sum = number(cx, &[1, height], 0.0);
        let mut outcome = Ok(());
        let end = cx.for_(range.lo, range.hi, recipe.tile.keys, &[max, sum], |cx, key, carried| {
            let left = cx.b.sub(range.hi, key);
            let most = cx.b.index(recipe.tile.keys);
            let keys = cx.b.index_op(IndexOp::Min, left, most);
            let (max, sum) = (carried[0], carried[1]);
            let next = self.score(cx, key, keys, max, &range).and_then(|highest| {
                let base = finite(cx, highest);
                let old = weight(cx, max, base);
                let block = self.weigh(cx, keys, base);
                let sum = cx.b.elementwise(ScalarOp::Fma, &[sum, old, block]);
                self.add_values(cx, key, keys, old)?;
                Ok(vec![highest, sum])
            });
            next.unwrap_or_else(|error| {
                outcome = Err(error);
                carried.to_vec()
            })
        });
        outcome?;
        self.finish(cx, end[1])
    }

    /// Writes the scaled queries down their columns.
    fn turn_queries(&self, cx: &mut Lowering) -> Result<(), String> {
        self.squares(cx, self.recipe.qk_dim, |cx, square| {
            let Block { batch, head, .. } = self.block;
            let at = [one(batch), one(head), self.square_rows(cx, &square), self.square_columns(&square)];
            let queries = super::matrix(cx, self.recipe.q, &at)?;
            let queries =
                if self.recipe.scales_queries() { self.recipe.scaled(cx, queries) } else { queries };
            let turned = cx.b.transpose(queries, &[1, 0]);
            let (row, column) = (square.first_column, cx.b.index(square.first_row));
            cx.b.store(self.queries, turned, &[row, column], &[1, 1], &[false, false]);
            Ok(())
        })
    }

    /// Scores of so many keys from `key` on; the greatest of them and of `max`.
    fn score(
        &self,
        cx: &mut Lowering,
        key: Value,
        keys: Value,
        max: Value,
        range: &super::visible::Range,
    ) -> Result<Value, String> {
        let recipe = self.recipe;
        let Block { batch, head, shared, rows: queries, .. } = self.block;
        let zero = cx.b.index(0);
        self.in_rows(cx, zero, keys, self.rows, &[max], |cx, row, rows, carried| {
            let first = cx.b.add(key, row);
            let keys = Axis { offset: first, extent: rows, step: 1, bounded: false };
            let none = number(cx, &[rows, recipe.tile.queries], 0.0);
            let end = cx.b.index(recipe.qk_dim);
            let scores = self.in_rows(cx, zero, end, UNROLLED, &[none], |cx, step, steps, carried| {
                let inner = Axis { offset: step, extent: steps, step: 1, bounded: false };
                let k = recipe.k.load(cx, [one(batch), one(shared), keys, inner])?;
                let q = self.load(cx, self.queries, step, steps);
                Ok(vec![cx.b.dot(carried[0], k, q)])
            })?;
            let at = [one(batch), one(head), queries, keys];
            let scores = if recipe.scales_queries() { scores[0] } else { recipe.scaled(cx, scores[0]) };
            let scores = recipe.capped_and_masked(cx, scores, &at)?;
            let scores = recipe.visible.mask(cx, range, scores, first);
            self.store(cx, self.scores, scores, row);
            let highest = cx.b.reduce(ScalarOp::Max, scores, 0);
            Ok(vec![cx.b.elementwise(ScalarOp::Max, &[carried[0], highest])])
        })
        .map(|highest| highest[0])
    }

    /// Weights in place of the scores of so many keys; their sum.
    fn weigh(&self, cx: &mut Lowering, keys: Value, base: Value) -> Value {
        let zero = cx.b.index(0);
        let none = number(cx, &[1, self.recipe.tile.queries], 0.0);
        let sums = self.in_rows(cx, zero, keys, WEIGHED, &[none], |cx, row, rows, carried| {
            let scores = self.load(cx, self.scores, row, rows);
            let weights = weight(cx, scores, base);
            self.store(cx, self.scores, weights, row);
            let sum = cx.b.reduce(ScalarOp::Add, weights, 0);
            Ok(vec![cx.b.elementwise(ScalarOp::Add, &[carried[0], sum])])
        });
        sums.expect("invariant: weights are computed of what is there")[0]
    }

    /// Adds the weighted values of so many keys to `old` times what there is.
    fn add_values(&self, cx: &mut Lowering, key: Value, keys: Value, old: Value) -> Result<(), String> {
        let recipe = self.recipe;
        let Block { batch, shared, .. } = self.block;
        let zero = cx.b.index(0);
        self.rows_of(cx, recipe.v_dim, |cx, element, elements| {
            let before = self.load(cx, self.result, element, elements);
            let old = cx.b.broadcast(old, &[elements, recipe.tile.queries]);
            let before = cx.b.elementwise(ScalarOp::Mul, &[before, old]);
            let sums = self.in_rows(cx, zero, keys, UNROLLED, &[before], |cx, step, steps, carried| {
                let keys = Axis { offset: cx.b.add(key, step), extent: steps, step: 1, bounded: false };
                let columns = Axis { offset: element, extent: elements, step: 1, bounded: false };
                let v = recipe.v.load(cx, [one(batch), one(shared), keys, columns])?;
                let v = cx.b.transpose(v, &[1, 0]);
                let weights = self.load(cx, self.scores, step, steps);
                Ok(vec![cx.b.dot(carried[0], v, weights)])
            })?;
            self.store(cx, self.result, sums[0], element);
            Ok(())
        })
    }

    /// Weighted means, turned back and stored.
    fn finish(&self, cx: &mut Lowering, sum: Value) -> Result<(), String> {
        let inverse = self.recipe.inverse(cx, sum);
        self.squares(cx, self.recipe.v_dim, |cx, square| {
            let Block { batch, head, .. } = self.block;
            let at = [one(batch), one(head), self.square_rows(cx, &square), self.square_columns(&square)];
            let (row, column) = (square.first_column, cx.b.index(square.first_row));
            let shape = [square.columns, square.rows];
            let sums = cx.b.load(self.result, &[row, column], &shape, &[1, 1], &[false, false], 0);
            let inverse = cx.b.extract(inverse, &[0, square.first_row], &[1, square.rows]);
            let inverse = cx.b.broadcast(inverse, &shape);
            let means = cx.b.elementwise(ScalarOp::Mul, &[sums, inverse]);
            let means = cx.b.transpose(means, &[1, 0]);
            epilogue(cx, self.recipe.root, means, &at.into_iter().collect())
        })
    }

    // --- loops -------------------------------------------------------------------------------------------

    /// `lo..hi` in steps of `most`, then what is left one by one. `body` gets where a step begins and its size.
    fn in_rows(
        &self,
        cx: &mut Lowering,
        lo: Value,
        hi: Value,
        most: i64,
        inits: &[Value],
        mut body: impl FnMut(&mut Lowering, Value, i64, &[Value]) -> Result<Vec<Value>, String>,
    ) -> Result<Vec<Value>, String> {
        let mut outcome = Ok(());
        let mut build = |cx: &mut Lowering, row: Value, rows: i64, carried: &[Value]| {
            body(cx, row, rows, carried).unwrap_or_else(|error| {
                outcome = Err(error);
                carried.to_vec()
            })
        };
        let step = cx.b.index(most);
        let span = cx.b.sub(hi, lo);
        let whole = cx.b.index_op(IndexOp::FloorDiv, span, step);
        let whole = cx.b.mul(whole, step);
        let middle = cx.b.add(lo, whole);
        let main = cx.for_(lo, middle, most, inits, |cx, row, carried| build(cx, row, most, carried));
        let end = cx.for_(middle, hi, 1, &main, |cx, row, carried| build(cx, row, 1, carried));
        outcome.map(|()| end)
    }

    /// The elements of a query or value, as many at once as a product sums.
    fn rows_of(
        &self,
        cx: &mut Lowering,
        extent: i64,
        mut body: impl FnMut(&mut Lowering, Value, i64) -> Result<(), String>,
    ) -> Result<(), String> {
        let (lo, hi) = (cx.b.index(0), cx.b.index(extent));
        self.in_rows(cx, lo, hi, self.rows, &[], |cx, row, rows, _| body(cx, row, rows).map(|()| vec![]))
            .map(drop)
    }

    // --- memory ------------------------------------------------------------------------------------------

    fn load(&self, cx: &mut Lowering, view: Value, row: Value, rows: i64) -> Value {
        let zero = cx.b.index(0);
        cx.b.load(view, &[row, zero], &[rows, self.recipe.tile.queries], &[1, 1], &[false, false], 0)
    }

    fn store(&self, cx: &mut Lowering, view: Value, tile: Value, row: Value) {
        let zero = cx.b.index(0);
        cx.b.store(view, tile, &[row, zero], &[1, 1], &[false, false]);
    }

    /// Squares that cover the queries and so many elements of each.
    fn squares(
        &self,
        cx: &mut Lowering,
        elements: i64,
        mut body: impl FnMut(&mut Lowering, Square) -> Result<(), String>,
    ) -> Result<(), String> {
        let (lanes, height) = (self.lanes, self.recipe.tile.queries);
        let whole = elements / lanes * lanes;
        let (zero, middle) = (cx.b.index(0), cx.b.index(whole));
        let mut outcome = Ok(());
        for first_row in (0..height).step_by(lanes as usize) {
            let mut square = |cx: &mut Lowering, first_column: Value, columns: i64| {
                let rows = lanes.min(height - first_row);
                let built = body(cx, Square { first_row, first_column, rows, columns });
                outcome = std::mem::replace(&mut outcome, Ok(())).and(built);
            };
            cx.for_(zero, middle, lanes, &[], |cx, column, _| {
                square(cx, column, lanes);
                vec![]
            });
            if whole < elements {
                cx.scope(|cx| square(cx, middle, elements - whole));
            }
        }
        outcome
    }

    fn square_rows(&self, cx: &mut Lowering, square: &Square) -> Axis {
        let first = cx.b.index(square.first_row);
        let offset = cx.b.add(self.block.rows.offset, first);
        Axis { offset, extent: square.rows, step: 1, bounded: self.block.rows.bounded }
    }

    fn square_columns(&self, square: &Square) -> Axis {
        Axis { offset: square.first_column, extent: square.columns, step: 1, bounded: false }
    }
}

/// `exp(scores - base)`, the base the same for all keys.
fn weight(cx: &mut Lowering, scores: Value, base: Value) -> Value {
    let (_, shape) = cx.b.tile_type(scores);
    let base = cx.b.broadcast(base, &shape);
    let below = cx.b.elementwise(ScalarOp::Sub, &[scores, base]);
    cx.b.elementwise(ScalarOp::Exp, &[below])
}

/// Queries and elements of each.
struct Square {
    first_row: i64,
    first_column: Value,
    rows: i64,
    columns: i64,
}
