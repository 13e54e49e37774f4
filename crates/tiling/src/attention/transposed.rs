//! Attention where products read their factors from memory: scores lie transposed, in memory of the unit's own.
//!
//! Keys go down and queries lie across lanes. A row of scores is then a key's elements, one by one, times rows of the
//! transposed queries; and maxima and sums of weights go from row to row, never across lanes. Rows of the result are a
//! query's weights, one by one down the scores, times rows of values. Keys, values and the result are read and
//! written as they lie; only queries are transposed, once each. Keys of one block leave no result to be added to.
//!
//! The queries are scaled, not the scores, where that keeps them far from the ends of `f32`; and weights are `2^(c (s - m))`: the
//! difference is nearly exact where weights count, which `c s - c m` is not.

use super::visible::Range;
use super::{Block, Recipe, finite, number, one};
use crate::Lowered;
use crate::access::{Axis, Lowering, begin};
use crate::body::Body;
use crate::contract::epilogue;
use std::f64::consts::LOG2_E;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_tile::IndexOp;

/// Steps of a product that are unrolled.
const UNROLLED: i64 = 4;
/// Rows of scores whose weights are computed at once.
const WEIGHED: i64 = 4;

/// `rows`: of scores, and of results, that a product sums at once.
pub(super) fn lower(
    body: &Body,
    recipe: &Recipe,
    [score_rows, result_rows]: [i64; 2],
    lanes: i64,
) -> Result<Lowered, String> {
    let (mut kernel, views) = begin(body, recipe.grid(vec![]));
    let mut cx = Lowering::new(body, &mut kernel, views);
    if recipe.parts() != 1 {
        return Err("a unit that transposes its scores takes whole values".into());
    }
    let height = recipe.tile.queries;
    let unit = Unit {
        recipe,
        block: recipe.block(&mut cx)?,
        score_rows,
        result_rows,
        lanes: lanes.min(height),
        queries: cx.b.scratch(DType::F32, &[recipe.qk_dim, height]),
        scores: cx.b.scratch(DType::F32, &[recipe.tile.keys, height]),
        factors: cx.b.scratch(DType::F32, &[1, height]),
    };
    unit.build(&mut cx)?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// A block of queries of one head. Its views have a row for each element of a query and each key of a block; their columns
/// are the queries.
struct Unit<'a> {
    recipe: &'a Recipe,
    block: Block,
    /// Rows of products that are summed at once.
    score_rows: i64,
    result_rows: i64,
    /// The side of the squares that queries are transposed in, half the columns of a product.
    lanes: i64,
    queries: Value,
    scores: Value,
    /// A number for each query.
    factors: Value,
}

/// Queries, and elements of their results.
struct Part {
    first_row: Value,
    rows: i64,
    first_column: i64,
    columns: i64,
}

impl Unit<'_> {
    fn build(&self, cx: &mut Lowering) -> Result<(), String> {
        let recipe = self.recipe;
        self.transpose_queries(cx)?;
        let range = recipe.visible.range(cx, &self.block.rows, recipe.tile.keys);
        let ends = cx.b.known(range.lo).zip(cx.b.known(range.hi));
        if ends.is_some_and(|(lo, hi)| (1..=recipe.tile.keys).contains(&(hi - lo))) {
            let keys = cx.b.sub(range.hi, range.lo);
            let max = self.number(cx, f32::NEG_INFINITY);
            let highest = self.score(cx, range.lo, keys, max, &range)?;
            let base = finite(cx, highest);
            let sum = self.weigh(cx, keys, base);
            let inverse = recipe.inverse(cx, sum);
            self.spill(cx, inverse);
            return self.parts(cx, |cx, part| {
                let none = part.zeros(cx);
                let sums = self.add_values(cx, range.lo, keys, part, none)?;
                self.store_means(cx, part, sums)
            });
        }
        self.blocks(cx, &range)
    }

    /// Keys by blocks; the results so far are spilled between them.
    fn blocks(&self, cx: &mut Lowering, range: &Range) -> Result<(), String> {
        let recipe = self.recipe;
        let result = cx.b.scratch(DType::F32, &[recipe.tile.queries, recipe.v_dim]);
        self.parts(cx, |cx, part| {
            let none = part.zeros(cx);
            part.store(cx, result, none);
            Ok(())
        })?;
        let inits = [self.number(cx, f32::NEG_INFINITY), self.number(cx, 0.0)];
        let mut outcome = Ok(());
        let end = cx.for_(range.lo, range.hi, recipe.tile.keys, &inits, |cx, key, carried| {
            let left = cx.b.sub(range.hi, key);
            let most = cx.b.index(recipe.tile.keys);
            let keys = cx.b.index_op(IndexOp::Min, left, most);
            let (max, sum) = (carried[0], carried[1]);
            let next = self.score(cx, key, keys, max, range).and_then(|highest| {
                let base = finite(cx, highest);
                let old = weight(cx, max, base);
                let block = self.weigh(cx, keys, base);
                let sum = cx.b.elementwise(ScalarOp::Fma, &[sum, old, block]);
                self.spill(cx, old);
                self.parts(cx, |cx, part| {
                    let before = part.load(cx, result);
                    let before = self.scaled(cx, part, before);
                    let sums = self.add_values(cx, key, keys, part, before)?;
                    part.store(cx, result, sums);
                    Ok(())
                })?;
                Ok(vec![highest, sum])
            });
            next.unwrap_or_else(|error| {
                outcome = Err(error);
                carried.to_vec()
            })
        });
        outcome?;
        let inverse = recipe.inverse(cx, end[1]);
        self.spill(cx, inverse);
        self.parts(cx, |cx, part| {
            let sums = part.load(cx, result);
            self.store_means(cx, part, sums)
        })
    }

    /// Writes the scaled queries down their columns.
    fn transpose_queries(&self, cx: &mut Lowering) -> Result<(), String> {
        self.squares(cx, |cx, square| {
            let Block { batch, head, .. } = self.block;
            let at = [one(batch), one(head), self.square_rows(cx, &square), self.square_columns(&square)];
            let queries = super::matrix(cx, self.recipe.q, &at)?;
            let queries =
                if self.recipe.scales_queries() { self.recipe.scaled(cx, queries) } else { queries };
            let transposed = cx.b.transpose(queries, &[1, 0]);
            let (row, column) = (square.first_column, cx.b.index(square.first_row));
            cx.b.store(self.queries, transposed, &[row, column], &[1, 1], &[false, false]);
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
        range: &Range,
    ) -> Result<Value, String> {
        let recipe = self.recipe;
        let Block { batch, head, shared, rows: queries, .. } = self.block;
        let zero = cx.b.index(0);
        self.in_rows(cx, zero, keys, self.score_rows, &[max], |cx, row, rows, carried| {
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
            let row = |cx: &mut Lowering, row| cx.b.extract(scores, &[row, 0], &[1, recipe.tile.queries]);
            Ok(vec![(0..rows).fold(carried[0], |highest, at| {
                let own = row(cx, at);
                higher(cx, own, highest)
            })])
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

    /// `before` and the weighted values of so many keys.
    fn add_values(
        &self,
        cx: &mut Lowering,
        key: Value,
        keys: Value,
        part: &Part,
        before: Value,
    ) -> Result<Value, String> {
        let recipe = self.recipe;
        let Block { batch, shared, .. } = self.block;
        let (zero, first_column) = (cx.b.index(0), cx.b.index(part.first_column));
        let sums = self.in_rows(cx, zero, keys, UNROLLED, &[before], |cx, step, steps, carried| {
            let keys = Axis { offset: cx.b.add(key, step), extent: steps, step: 1, bounded: false };
            let columns = Axis { offset: first_column, extent: part.columns, step: 1, bounded: false };
            let v = recipe.v.load(cx, [one(batch), one(shared), keys, columns])?;
            let at = [step, part.first_row];
            let weights = cx.b.load(self.scores, &at, &[steps, part.rows], &[1, 1], &[false, false], 0);
            let weights = cx.b.transpose(weights, &[1, 0]);
            Ok(vec![cx.b.dot(carried[0], weights, v)])
        })?;
        Ok(sums[0])
    }

    /// Weighted means of these sums.
    fn store_means(&self, cx: &mut Lowering, part: &Part, sums: Value) -> Result<(), String> {
        let Block { batch, head, rows, .. } = self.block;
        let means = self.scaled(cx, part, sums);
        let offset = cx.b.add(rows.offset, part.first_row);
        let rows = Axis { offset, extent: part.rows, step: 1, bounded: rows.bounded };
        let offset = cx.b.index(part.first_column);
        let columns = Axis { offset, extent: part.columns, step: 1, bounded: false };
        let at = [one(batch), one(head), rows, columns];
        epilogue(cx, self.recipe.root, means, &at.into_iter().collect())
    }

    /// Rows times the spilled numbers of their queries.
    fn scaled(&self, cx: &mut Lowering, part: &Part, tile: Value) -> Value {
        let at = [cx.b.index(0), part.first_row];
        let factors = cx.b.load(self.factors, &at, &[1, part.rows], &[1, 1], &[false, false], 0);
        let factors = cx.b.transpose(factors, &[1, 0]);
        let factors = cx.b.broadcast(factors, &part.shape());
        cx.b.elementwise(ScalarOp::Mul, &[tile, factors])
    }

    fn spill(&self, cx: &mut Lowering, factors: Value) {
        let zero = cx.b.index(0);
        self.store(cx, self.factors, factors, zero);
    }

    /// The same number for each query.
    fn number(&self, cx: &mut Lowering, value: f32) -> Value {
        number(cx, &[1, self.recipe.tile.queries], value)
    }

    // --- loops -------------------------------------------------------------------------------------------

    /// `lo..hi` in steps of `most`, then what is left at once where its number is known, else one by one. `body` gets where a
    /// step begins and its size.
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
        let rest = cx.b.known(span).map_or(1, |span| (span % most).max(1));
        let end = cx.for_(middle, hi, rest, &main, |cx, row, carried| build(cx, row, rest, carried));
        outcome.map(|()| end)
    }

    /// All queries and elements of their results, as many at once as a product sums.
    fn parts(
        &self,
        cx: &mut Lowering,
        mut body: impl FnMut(&mut Lowering, &Part) -> Result<(), String>,
    ) -> Result<(), String> {
        let height = self.recipe.tile.queries;
        let whole = height / self.result_rows * self.result_rows;
        let [zero, middle, end] = [0, whole, height].map(|row| cx.b.index(row));
        let mut outcome = Ok(());
        for first_column in (0..self.recipe.v_dim).step_by(2 * self.lanes as usize) {
            let columns = (2 * self.lanes).min(self.recipe.v_dim - first_column);
            for (lo, hi, rows) in [(zero, middle, self.result_rows), (middle, end, height - whole)] {
                cx.for_(lo, hi, rows.max(1), &[], |cx, first_row, _| {
                    let built = body(cx, &Part { first_row, rows, first_column, columns });
                    outcome = std::mem::replace(&mut outcome, Ok(())).and(built);
                    vec![]
                });
            }
        }
        outcome
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

    /// Squares that cover the queries.
    fn squares(
        &self,
        cx: &mut Lowering,
        mut body: impl FnMut(&mut Lowering, Square) -> Result<(), String>,
    ) -> Result<(), String> {
        let (lanes, height, elements) = (self.lanes, self.recipe.tile.queries, self.recipe.qk_dim);
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

impl Part {
    fn shape(&self) -> [i64; 2] {
        [self.rows, self.columns]
    }

    fn zeros(&self, cx: &mut Lowering) -> Value {
        number(cx, &self.shape(), 0.0)
    }

    fn load(&self, cx: &mut Lowering, view: Value) -> Value {
        let at = [self.first_row, cx.b.index(self.first_column)];
        cx.b.load(view, &at, &self.shape(), &[1, 1], &[false, false], 0)
    }

    fn store(&self, cx: &mut Lowering, view: Value, tile: Value) {
        let at = [self.first_row, cx.b.index(self.first_column)];
        cx.b.store(view, tile, &at, &[1, 1], &[false, false]);
    }
}

/// `exp(scores - base)`, the base the same for all keys, as a power of two: what the rounded exponent is off by is least
/// where the weight is most.
fn weight(cx: &mut Lowering, scores: Value, base: Value) -> Value {
    let (_, shape) = cx.b.tile_type(scores);
    let base = cx.b.broadcast(base, &shape);
    let below = cx.b.elementwise(ScalarOp::Sub, &[scores, base]);
    let factor = number(cx, &shape, LOG2_E as f32);
    let exponent = cx.b.elementwise(ScalarOp::Mul, &[below, factor]);
    cx.b.elementwise(ScalarOp::Exp2, &[exponent])
}

/// The greater of each pair; of one that is not a number, the second. Weights of such are none either, whatever their base.
fn higher(cx: &mut Lowering, a: Value, b: Value) -> Value {
    let is_higher = cx.b.elementwise(ScalarOp::Gt, &[a, b]);
    cx.b.elementwise(ScalarOp::Select, &[is_higher, a, b])
}

/// Queries and elements of each.
struct Square {
    first_row: i64,
    first_column: Value,
    rows: i64,
    columns: i64,
}
