//! The recipe of attention: a block of queries stays in registers with its running maximum, sum and result while the
//! keys and values go by in blocks, so that no score is ever written.
//!
//! Method: T. Dao, "FlashAttention-2", arXiv 2307.08691, algorithm 1: `m' = max(m, rows(s))`, `p = 2^(c (s - m'))`,
//! `l = l 2^(c (m - m')) + sum p`, `acc = acc 2^(c (m - m')) + p v`, at the end `acc / l`; `c` is `log2 e` and, where
//! nothing is added to the scores, their scale. Blocks that causality or the window hides are not visited
//! (`visible.rs`), and only blocks on an edge are masked. Few queries of several heads that share their keys are rows
//! of one block (`pack.rs`). Keys and values in pages are read where they lie (`pages.rs`). Few blocks over many keys
//! split them (split-KV), and the outcomes are merged (`split.rs`). Where factors are read from memory, scores lie there
//! transposed (`transposed.rs`).

mod pack;
pub(crate) mod pages;
mod split;
mod transposed;
mod visible;

use super::access::{Axis, Lowering, TileBox, begin};
use super::body::Body;
use super::contract::{epilogue, used_axis};
use super::{Lowered, TileLaunches};
use crate::{Attention, AttentionTile, Scores, TileMachine};
use pages::Pages;
use std::f64::consts::LOG2_E;
use tegula_base::{DType, Dim, Symbols};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{TensorFunc, TensorOp};
use tegula_tile::IndexOp;
use visible::Visible;

/// Scales below would take usual queries towards the least numbers of `f32`; usual ones are 1/4 to 1/16.
const LEAST_SCALE: f64 = 1.0 / (1 << 20) as f64;
/// The largest multiple that products' inner extents and columns are padded to.
const EDGE: i64 = 16;

/// Whether the recipe computes an attention.
pub(crate) fn can_lower_attention(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> bool {
    machine.facts().attention.has_recipe && tile_of(func, op, machine).is_some()
}

/// The keys of a block where they may be read through the table of their pages.
pub(crate) fn block_of_paged_keys(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> Option<i64> {
    tile_of(func, op, machine).filter(|tile| tile.scores == Scores::Rows).map(|tile| tile.keys)
}

/// Whether rows of queries, keys and values may lie anywhere.
pub(crate) fn reads_moved_rows(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> bool {
    tile_of(func, op, machine).is_some_and(|tile| tile.scores != Scores::Rows)
}

/// The tile that the machine computes an attention in; `None` where it takes the decomposition.
fn tile_of(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> Option<AttentionTile> {
    machine.attention_tile(&sizes(func, op)?)
}

/// `None` where a head's size is not constant.
fn sizes(func: &TensorFunc, op: OpId) -> Option<Attention> {
    let TensorOp::Attention { causal, window, .. } = func.kind(op) else { return None };
    let [q, k, v] = [0, 1, 2].map(|i| func.ty(func.operand(op, i)));
    Some(Attention {
        batch: q.shape[0].clone(),
        heads: q.shape[1].clone(),
        kv_heads: k.shape[1].clone(),
        queries: q.shape[2].clone(),
        keys: k.shape[2].clone(),
        qk_dim: q.shape[3].as_const()?,
        v_dim: v.shape[3].as_const()?,
        dtype: q.dtype,
        causal: *causal,
        window: *window,
        masked: func.operands(op).len() > 3,
        scattered: (1..3).any(|i| pages::are_single_keys(func, func.operand(op, i))),
    })
}

pub(super) fn lower(
    body: &Body,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<TileLaunches, String> {
    let root = body.root().ok_or("an attention is expected")?;
    let tile = tile_of(&body.func, root, machine).ok_or("the target takes no such attention")?;
    if let Scores::Transposed { rows, queries } = tile.scores {
        let recipe = Recipe::new(body, root, tile, None, symbols)?;
        return transposed::lower(body, &recipe, [rows, queries], machine.lanes(DType::F32))
            .map(TileLaunches::from);
    }
    let packed = pack::pack_heads(body, root, tile);
    let (body, row_period) = match &packed {
        Some(packed) => (&packed.body, Some(packed.row_period)),
        None => (body, None),
    };
    let recipe = Recipe::new(body, root, tile, row_period, symbols)?;
    let whole = |used: &Dim| -> Result<Lowered, String> {
        let (mut kernel, views) = begin(body, recipe.grid(used_axis(used)));
        let mut cx = Lowering::new(body, &mut kernel, views);
        recipe.unit(&mut cx)?;
        let buffers = cx.finish();
        Ok(Lowered { kernel, buffers })
    };
    let splits = sizes(&body.func, root).and_then(|sizes| machine.attention_splits(&sizes, &tile, symbols));
    let Some(splits) = splits else { return whole(&Dim::from(1)).map(TileLaunches::from) };
    let mut launches = split::lower(body, &recipe, &splits)?;
    let unsplit = Dim::from(1) - splits.used;
    if !unsplit.is_const(0) {
        launches.list.push(("whole".into(), whole(&unsplit)?));
    }
    Ok(launches)
}

/// What the recipe knows before it builds.
struct Recipe {
    root: OpId,
    q: Value,
    k: Source,
    v: Source,
    mask: Option<Value>,
    dtype: DType,
    batch: Dim,
    heads: Dim,
    /// Query heads that share a head of keys.
    group: Dim,
    rows: Dim,
    visible: Visible,
    tile: AttentionTile,
    qk_dim: i64,
    v_dim: i64,
    scale: f64,
    softcap: f64,
}

/// What a block of queries carries from one block of keys to the next.
#[derive(Clone, Copy)]
struct Running {
    max: Value,
    sum: Value,
    acc: Value,
}

impl Running {
    fn of(values: &[Value]) -> Running {
        Running { max: values[0], sum: values[1], acc: values[2] }
    }

    fn values(self) -> [Value; 3] {
        [self.max, self.sum, self.acc]
    }
}

/// What a unit is for.
struct Block {
    batch: Value,
    head: Value,
    /// The head of keys and values.
    shared: Value,
    /// The part of the values' elements.
    part: Value,
    rows: Axis,
}

/// Where keys or values lie.
enum Source {
    Plain(Value),
    Paged(Pages),
}

impl Source {
    fn of(body: &Body, value: Value, block: i64) -> Source {
        pages::behind(&body.func, value, block).map_or(Source::Plain(value), Source::Paged)
    }

    fn load(&self, cx: &mut Lowering, at: [Axis; 4]) -> Result<Value, String> {
        match self {
            Source::Plain(value) => matrix(cx, *value, &at),
            Source::Paged(pages) => pages.load(cx, [at[0].offset, at[1].offset], at[2], at[3]),
        }
    }
}

impl Recipe {
    fn new(
        body: &Body,
        root: OpId,
        tile: AttentionTile,
        row_period: Option<i64>,
        symbols: &Symbols,
    ) -> Result<Recipe, String> {
        let TensorOp::Attention { scale, causal, window, softcap } = *body.func.kind(root) else {
            return Err("an attention is expected".into());
        };
        let [q, k, v] = [0, 1, 2].map(|i| body.func.operand(root, i));
        let [q_shape, k_shape, v_shape] = [q, k, v].map(|value| body.shape(value).clone());
        let group = q_shape[1].div_exact(&k_shape[1]).ok_or("key heads do not divide query heads")?;
        let constant = |dim: &Dim| dim.as_const().ok_or("a head's size must be constant");
        let keys = k_shape[2].clone();
        // Rows of keys that are left over are fewer.
        let is_transposed = tile.scores != Scores::Rows;
        let source = |value| match is_transposed {
            true => Source::Plain(value),
            false => Source::of(body, value, tile.keys),
        };
        Ok(Recipe {
            root,
            q,
            k: source(k),
            v: source(v),
            mask: body.func.operands(root).get(3).copied(),
            dtype: body.func.ty(q).dtype,
            batch: q_shape[0].clone(),
            heads: q_shape[1].clone(),
            group,
            rows: q_shape[2].clone(),
            visible: Visible {
                causal,
                window,
                queries: row_period.map_or(q_shape[2].clone(), Dim::from),
                ends_whole: is_transposed || symbols.divides(tile.keys, &keys),
                may_be_empty: symbols.bounds(&keys).0 < 1,
                keys,
                is_packed: row_period.is_some(),
                query_axis: usize::from(is_transposed),
            },
            tile,
            qk_dim: constant(&q_shape[3])?,
            v_dim: constant(&v_shape[3])?,
            scale: scale.0,
            softcap: softcap.0,
        })
    }

    /// Units that share a block of queries, each with a part of the values' elements.
    fn parts(&self) -> i64 {
        (self.v_dim + self.tile.v_dim - 1) / self.tile.v_dim
    }

    fn blocks(&self) -> Dim {
        self.rows.ceil_div(&Dim::from(self.tile.queries))
    }

    /// A unit for each sequence, head, block of queries and part of a value's elements, below axes of the caller's.
    fn grid(&self, mut outer: Vec<Dim>) -> Vec<Dim> {
        outer.extend([self.batch.clone(), self.heads.clone(), self.blocks(), Dim::from(self.parts())]);
        outer
    }

    /// One block of queries of one head.
    fn unit(&self, cx: &mut Lowering) -> Result<(), String> {
        let (end, at) = self.walk(cx, None)?;
        let acc = self.finish(cx, end);
        epilogue(cx, self.root, acc, &at)
    }

    /// The columns of a part of the values' elements.
    fn columns(&self, cx: &mut Lowering, part: Value) -> Axis {
        match self.parts() {
            1 => padded(cx.b.index(0), self.v_dim),
            parts => {
                let width = cx.b.index(self.tile.v_dim);
                let bounded = parts * self.tile.v_dim != self.v_dim;
                Axis { offset: cx.b.mul(part, width), extent: self.tile.v_dim, step: 1, bounded }
            }
        }
    }

    /// The block of queries of the unit at hand.
    fn block(&self, cx: &mut Lowering) -> Result<Block, String> {
        let &[.., batch, head, mut block, part] = cx.unit.as_slice() else {
            return Err("attention's grid has four axes".into());
        };
        if self.visible.causal {
            // The last rows see the most keys: they begin first.
            let last = cx.b.size(&(self.blocks() - Dim::from(1)));
            block = cx.b.sub(last, block);
        }
        let height = cx.b.index(self.tile.queries);
        let first = cx.b.mul(block, height);
        let whole = self.rows.as_const().is_some_and(|rows| rows % self.tile.queries == 0);
        let rows = Axis { offset: first, extent: self.tile.queries, step: 1, bounded: !whole };
        let group = cx.b.size(&self.group);
        let shared = cx.b.index_op(IndexOp::FloorDiv, head, group);
        Ok(Block { batch, head, shared, part, rows })
    }

    /// What a unit's queries make of the keys that they see, or of one of so many splits of them; and where its result is.
    fn walk(&self, cx: &mut Lowering, split: Option<[Value; 2]>) -> Result<(Running, TileBox), String> {
        let zero = cx.b.index(0);
        let Block { batch, head, shared, part, rows } = self.block(cx)?;
        let inner = padded(zero, self.qk_dim);
        let columns = self.columns(cx, part);
        let q = matrix(cx, self.q, &[one(batch), one(head), rows, inner])?;

        let range = self.visible.range(cx, &rows, self.tile.keys);
        let [lo, hi] = match split {
            Some(own) => split::keys_of_split(cx, [range.lo, range.hi], self.tile.keys, own),
            None => [range.lo, range.hi],
        };
        let (height, width) = (self.tile.queries, columns.extent);
        let start = Running {
            max: number(cx, &[height, 1], f32::NEG_INFINITY),
            sum: number(cx, &[height, 1], 0.0),
            acc: number(cx, &[height, width], 0.0),
        };
        let mut outcome = Ok(());
        let end = cx.for_(lo, hi, self.tile.keys, &start.values(), |cx, key, carried| {
            let running = Running::of(carried);
            let keys =
                Axis { offset: key, extent: self.tile.keys, step: 1, bounded: !self.visible.ends_whole };
            let k = self.k.load(cx, [one(batch), one(shared), keys, inner]);
            let next = k.and_then(|k| {
                let k = cx.b.transpose(k, &[1, 0]);
                let none = number(cx, &[height, self.tile.keys], 0.0);
                let scores = cx.b.dot(none, q, k);
                let scores = self.shaped(cx, scores, &[one(batch), one(head), rows, keys])?;
                let scores = self.visible.mask(cx, &range, scores, key);
                let v = self.v.load(cx, [one(batch), one(shared), keys, columns])?;
                Ok(self.step(cx, running, scores, v))
            });
            match next {
                Ok(next) => next.values().to_vec(),
                Err(error) => {
                    outcome = Err(error);
                    carried.to_vec()
                }
            }
        });
        outcome?;
        let at: TileBox = [one(batch), one(head), rows, columns].into_iter().collect();
        Ok((Running::of(&end), at))
    }

    /// Whether the scores are scaled before the exponential does it.
    fn scales_first(&self) -> bool {
        self.mask.is_some() || self.softcap != 0.0 || self.scale <= 0.0
    }

    /// The factor of scores in the exponent of 2.
    fn factor(&self) -> f32 {
        if self.scales_first() { LOG2_E as f32 } else { (self.scale * LOG2_E) as f32 }
    }

    /// Scale, softcap and mask, where something comes between the scale and the exponential.
    fn shaped(&self, cx: &mut Lowering, scores: Value, at: &[Axis]) -> Result<Value, String> {
        if !self.scales_first() {
            return Ok(scores);
        }
        let scores = self.scaled(cx, scores);
        self.capped_and_masked(cx, scores, at)
    }

    fn scaled(&self, cx: &mut Lowering, tile: Value) -> Value {
        let (_, shape) = cx.b.tile_type(tile);
        let scale = number(cx, &shape, self.scale as f32);
        cx.b.elementwise(ScalarOp::Mul, &[tile, scale])
    }

    /// Whether queries times the scale are as good as scores times it.
    fn scales_queries(&self) -> bool {
        (LEAST_SCALE..=1.0).contains(&self.scale.abs())
    }

    fn capped_and_masked(&self, cx: &mut Lowering, mut scores: Value, at: &[Axis]) -> Result<Value, String> {
        let (_, shape) = cx.b.tile_type(scores);
        if self.softcap != 0.0 {
            let cap = number(cx, &shape, self.softcap as f32);
            let bent = cx.b.elementwise(ScalarOp::Div, &[scores, cap]);
            let bent = cx.b.elementwise(ScalarOp::Tanh, &[bent]);
            scores = cx.b.elementwise(ScalarOp::Mul, &[bent, cap]);
        }
        if let Some(mask) = self.mask {
            let mask = cx.pull(mask, at)?;
            let mask = cx.b.reshape(mask, &[at[2].extent, at[3].extent]);
            let order = [self.visible.query_axis, 1 - self.visible.query_axis];
            let mask = cx.b.transpose(mask, &order);
            let mask = wide(cx, mask);
            scores = cx.b.elementwise(ScalarOp::Add, &[scores, mask]);
        }
        Ok(scores)
    }

    /// Takes one block of keys in.
    fn step(&self, cx: &mut Lowering, running: Running, scores: Value, v: Value) -> Running {
        let (_, acc_shape) = cx.b.tile_type(running.acc);
        let highest = cx.b.reduce(ScalarOp::Max, scores, 1);
        let max = cx.b.elementwise(ScalarOp::Max, &[running.max, highest]);
        let shift = self.shift(cx, max);
        let old = self.weight(cx, running.max, shift);
        let weights = self.weight(cx, scores, shift);
        let block = cx.b.reduce(ScalarOp::Add, weights, 1);
        let sum = cx.b.elementwise(ScalarOp::Fma, &[running.sum, old, block]);
        let old = cx.b.broadcast(old, &acc_shape);
        let acc = cx.b.elementwise(ScalarOp::Mul, &[running.acc, old]);
        let weights = match self.dtype {
            DType::F32 => weights,
            narrow => cx.b.elementwise(ScalarOp::Cast { to: narrow, saturate: true }, &[weights]),
        };
        Running { max, sum, acc: cx.b.dot(acc, weights, v) }
    }

    /// What is added to the exponents of rows with these maxima.
    fn shift(&self, cx: &mut Lowering, max: Value) -> Value {
        let (_, shape) = cx.b.tile_type(max);
        let finite = finite(cx, max);
        let minus = number(cx, &shape, -self.factor());
        cx.b.elementwise(ScalarOp::Mul, &[finite, minus])
    }

    /// The weights of scores under the shifts of their rows.
    fn weight(&self, cx: &mut Lowering, scores: Value, shift: Value) -> Value {
        let (_, shape) = cx.b.tile_type(scores);
        let factor = number(cx, &shape, self.factor());
        let shift = cx.b.broadcast(shift, &shape);
        let exponent = cx.b.elementwise(ScalarOp::Fma, &[scores, factor, shift]);
        cx.b.elementwise(ScalarOp::Exp2, &[exponent])
    }

    /// The weighted mean; NaN in rows that see no key, 0 where there is none to see.
    fn finish(&self, cx: &mut Lowering, running: Running) -> Value {
        let (_, shape) = cx.b.tile_type(running.acc);
        let inverse = self.inverse(cx, running.sum);
        let inverse = cx.b.broadcast(inverse, &shape);
        cx.b.elementwise(ScalarOp::Mul, &[running.acc, inverse])
    }

    /// What weighted sums are multiplied by in the end, of the rows' sums of weights.
    fn inverse(&self, cx: &mut Lowering, mut sum: Value) -> Value {
        let (_, column) = cx.b.tile_type(sum);
        if self.visible.may_be_empty {
            let (keys, zero) = (cx.b.size(&self.visible.keys), cx.b.index(0));
            let empty = cx.b.index_op(IndexOp::Eq, keys, zero);
            let empty = cx.spread(DType::F32, empty, &column);
            sum = cx.b.elementwise(ScalarOp::Add, &[sum, empty]);
        }
        cx.b.elementwise(ScalarOp::Reciprocal, &[sum])
    }
}

fn one(offset: Value) -> Axis {
    Axis { offset, extent: 1, step: 1, bounded: false }
}

/// A head's elements, filled up with zeros.
fn padded(zero: Value, extent: i64) -> Axis {
    let whole = (extent + EDGE - 1) / EDGE * EDGE;
    Axis { offset: zero, extent: whole, step: 1, bounded: whole != extent }
}

/// A box over the last two axes of an argument, or of one that is moved.
fn matrix(cx: &mut Lowering, value: Value, at: &[Axis]) -> Result<Value, String> {
    let row_major = cx.body.func.ty(value).layout_or_default().is_row_major();
    let tile = match cx.arg_view(value).filter(|_| row_major) {
        Some(view) => cx.load(view, at, 0),
        None => cx.pull(value, at)?,
    };
    Ok(cx.b.reshape(tile, &[at[2].extent, at[3].extent]))
}

/// Maxima of rows. Those that have seen nothing yet take any finite one: their weights are 0.
fn finite(cx: &mut Lowering, max: Value) -> Value {
    let (_, shape) = cx.b.tile_type(max);
    let lowest = number(cx, &shape, f32::NEG_INFINITY);
    let nothing = cx.b.elementwise(ScalarOp::Eq, &[max, lowest]);
    let zero = number(cx, &shape, 0.0);
    cx.b.elementwise(ScalarOp::Select, &[nothing, zero, max])
}

/// The same number in every element.
fn number(cx: &mut Lowering, shape: &[i64], value: f32) -> Value {
    cx.b.splat(DType::F32, shape, i64::from(value.to_bits()))
}

fn wide(cx: &mut Lowering, tile: Value) -> Value {
    match cx.b.tile_type(tile).0 {
        DType::F32 => tile,
        _ => cx.b.elementwise(ScalarOp::Cast { to: DType::F32, saturate: true }, &[tile]),
    }
}
