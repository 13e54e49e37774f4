//! Which keys a row sees: the blocks that a block of rows visits, and the mask of those on an edge.

use crate::access::{Axis, Lowering};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tile::IndexOp;

/// Row `i` stands at key `i + keys - queries`.
pub(super) struct Visible {
    pub causal: bool,
    /// Keys that a row sees, its own the last; 0 is all.
    pub window: i64,
    pub queries: Dim,
    pub keys: Dim,
    /// Blocks of keys end where the keys do.
    pub ends_whole: bool,
    /// There may be no key at all.
    pub may_be_empty: bool,
    /// Rows are several heads of `queries` rows each.
    pub is_packed: bool,
    /// The axis of a tile of scores along which the queries are; keys are along the other.
    pub query_axis: usize,
}

/// What a block of rows visits.
pub(super) struct Range {
    pub lo: Value,
    pub hi: Value,
    /// The keys where its rows stand: of the first and of the last row, and of each as `i32[rows, 1]`, or transposed.
    first: Value,
    last: Value,
    places: Option<Value>,
}

impl Visible {
    fn key_axis(&self) -> usize {
        1 - self.query_axis
    }

    /// The shape of one number for each of `rows` queries.
    fn row_shape(&self, rows: i64) -> [i64; 2] {
        let mut shape = [1; 2];
        shape[self.query_axis] = rows;
        shape
    }

    /// The blocks of `width` keys of a block of rows.
    pub fn range(&self, cx: &mut Lowering, rows: &Axis, width: i64) -> Range {
        let first = rows.offset;
        let (zero, one) = (cx.b.index(0), cx.b.index(1));
        let (keys, queries) = (cx.b.size(&self.keys), cx.b.size(&self.queries));
        let (begin, end) = match self.is_packed {
            true => (zero, queries),
            false => {
                let extent = cx.b.index(rows.extent);
                let end = cx.b.add(first, extent);
                (first, cx.b.index_op(IndexOp::Min, end, queries))
            }
        };
        let ahead = cx.b.size(&(self.keys.clone() - self.queries.clone()));
        let first_place = cx.b.add(begin, ahead);
        let end_place = cx.b.add(end, ahead);
        let last_place = cx.b.sub(end_place, one);
        let hi = if self.causal { cx.b.index_op(IndexOp::Min, end_place, keys) } else { keys };
        let lo = match self.window {
            0 => zero,
            window => {
                let reach = cx.b.index(window - 1);
                let earliest = cx.b.sub(first_place, reach);
                let earliest = cx.b.index_op(IndexOp::Max, earliest, zero);
                let width = cx.b.index(width);
                let block = cx.b.index_op(IndexOp::FloorDiv, earliest, width);
                cx.b.mul(block, width)
            }
        };
        let places = (self.causal || self.window > 0).then(|| {
            let shape = self.row_shape(rows.extent);
            let mut row = cx.b.iota(DType::I32, &shape, self.query_axis);
            let period = self.queries.as_const();
            if let (true, Some(period)) = (self.is_packed, period) {
                let first = cx.spread(DType::I32, first, &shape);
                row = cx.b.elementwise(ScalarOp::Add, &[row, first]);
                let period = cx.b.splat(DType::I32, &shape, period);
                row = cx.b.elementwise(ScalarOp::Rem, &[row, period]);
            }
            let start = cx.spread(DType::I32, first_place, &shape);
            cx.b.elementwise(ScalarOp::Add, &[row, start])
        });
        Range { lo, hi, first: first_place, last: last_place, places }
    }

    /// Minus infinity in place of the scores that a row does not see; nothing where the block lies inside.
    pub fn mask(&self, cx: &mut Lowering, range: &Range, scores: Value, key: Value) -> Value {
        let (_, shape) = cx.b.tile_type(scores);
        let on_edge = self.on_edge(cx, range, key, shape[self.key_axis()]);
        match on_edge.map(|edge| (edge, cx.b.known(edge))) {
            None | Some((_, Some(0))) => scores,
            Some((_, Some(_))) => self.masked(cx, range, scores, key, &shape),
            Some((edge, None)) => {
                let scope = cx.b.begin_if(edge);
                let hidden = self.masked(cx, range, scores, key, &shape);
                cx.b.begin_else(&scope, &[hidden]);
                cx.b.end_if(scope, &[scores])[0]
            }
        }
    }

    /// Whether some row does not see some of the `width` keys from `key` on.
    fn on_edge(&self, cx: &mut Lowering, range: &Range, key: Value, width: i64) -> Option<Value> {
        let width = cx.b.index(width);
        let end = cx.b.add(key, width);
        let mut edges = Vec::new();
        if self.causal {
            // The last key is after the first row's own.
            let one = cx.b.index(1);
            let own_end = cx.b.add(range.first, one);
            edges.push(cx.b.index_op(IndexOp::Lt, own_end, end));
        } else if !self.ends_whole {
            let keys = cx.b.size(&self.keys);
            edges.push(cx.b.index_op(IndexOp::Lt, keys, end));
        }
        if self.window > 0 {
            let window = cx.b.index(self.window);
            let before = cx.b.sub(range.last, window);
            edges.push(cx.b.index_op(IndexOp::Le, key, before));
        }
        edges.into_iter().reduce(|one, other| cx.b.index_op(IndexOp::Max, one, other))
    }

    fn masked(&self, cx: &mut Lowering, range: &Range, scores: Value, key: Value, shape: &[i64]) -> Value {
        let row_shape = self.row_shape(shape[self.query_axis]);
        let column = cx.b.iota(DType::I32, shape, self.key_axis());
        let relative = |cx: &mut Lowering, places: Value| {
            let key = cx.spread(DType::I32, key, &row_shape);
            let places = cx.b.elementwise(ScalarOp::Sub, &[places, key]);
            cx.b.broadcast(places, shape)
        };
        let mut seen = Vec::new();
        if let (true, Some(places)) = (self.causal, range.places) {
            let own = relative(cx, places);
            seen.push(cx.b.elementwise(ScalarOp::Le, &[column, own]));
        } else if !self.ends_whole {
            let keys = cx.b.size(&self.keys);
            let left = cx.b.sub(keys, key);
            let left = cx.spread(DType::I32, left, shape);
            seen.push(cx.b.elementwise(ScalarOp::Lt, &[column, left]));
        }
        if let (1.., Some(places)) = (self.window, range.places) {
            // Places are below 2^31: a longer window hides no more.
            let window = cx.b.splat(DType::I32, &row_shape, self.window.min(i64::from(i32::MAX)));
            let before = cx.b.elementwise(ScalarOp::Sub, &[places, window]);
            let before = relative(cx, before);
            seen.push(cx.b.elementwise(ScalarOp::Gt, &[column, before]));
        }
        let hidden = cx.b.splat(DType::F32, shape, i64::from(f32::NEG_INFINITY.to_bits()));
        let seen = seen.into_iter().reduce(|one, other| cx.b.elementwise(ScalarOp::And, &[one, other]));
        seen.map_or(scores, |seen| cx.b.elementwise(ScalarOp::Select, &[seen, scores, hidden]))
    }
}
