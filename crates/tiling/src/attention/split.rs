//! Split-KV, for few blocks of queries over many keys. Each unit sees one split of the keys, and leaves its running
//! maximum, sum and unfinished result in memory. A second launch merges the splits of a row in their order.
//!
//! Method: "Flash-Decoding" (T. Dao et al., 2023), the merge by the same identity as a step of the online softmax:
//! `m = max m_r`, `l = sum l_r 2^(m_r - m)`, `acc = sum acc_r 2^(m_r - m)`, maxima in exponents of 2.

use super::{Recipe, Running, number, one};
use crate::AttentionSplits;
use crate::access::{Axis, Lowering, Part, Temporary, TileBox, begin_part};
use crate::body::Body;
use crate::contract::{epilogue, used_axis};
use crate::{Lowered, TileLaunches};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tile::{IndexOp, ViewType};

/// Splits that a step of the merge takes at once: their loads wait for memory at the same time.
const MERGED: i64 = 16;

/// Memory of maxima and sums `[split, batch, head, part, row]`, and of results `[split, batch, head, row, element]`.
fn temporaries(recipe: &Recipe, splits: &Dim) -> [Temporary; 3] {
    let outer = [splits.clone(), recipe.batch.clone(), recipe.heads.clone()];
    let of = |number: usize, inner: [Dim; 2]| Temporary {
        number,
        ty: ViewType::row_major(DType::F32, outer.iter().cloned().chain(inner).collect()),
    };
    let statistic = || [Dim::from(recipe.parts()), recipe.rows.clone()];
    let (max, sum) = (of(0, statistic()), of(1, statistic()));
    [max, sum, of(2, [recipe.rows.clone(), Dim::from(recipe.v_dim)])]
}

/// The launches of the program's runs in which keys are split.
pub(super) fn lower(body: &Body, recipe: &Recipe, splits: &AttentionSplits) -> Result<TileLaunches, String> {
    let memory = temporaries(recipe, &splits.splits);
    let bytes = |temporary: &Temporary| {
        temporary.ty.shape.count() * Dim::from(temporary.ty.dtype.size()) * splits.used.clone()
    };
    let list = vec![
        ("parts".to_string(), parts(body, recipe, splits, memory.to_vec())?),
        ("merged".to_string(), merged(body, recipe, splits, memory.to_vec())?),
    ];
    let reason = match splits.reason.as_str() {
        "" => format!("keys in {} splits", splits.splits),
        reason => format!("keys in {} splits: {reason}", splits.splits),
    };
    Ok(TileLaunches { list, temporaries: memory.iter().map(bytes).collect(), reasons: vec![reason] })
}

/// The keys of one of so many splits, as even as whole blocks of `width` keys are.
pub(super) fn keys_of_split(
    cx: &mut Lowering,
    keys: [Value; 2],
    width: i64,
    [split, splits]: [Value; 2],
) -> [Value; 2] {
    let [lo, hi] = keys;
    let (one, width) = (cx.b.index(1), cx.b.index(width));
    let ceil_div = |cx: &mut Lowering, a: Value, b: Value| {
        let rounded = cx.b.add(a, b);
        let rounded = cx.b.sub(rounded, one);
        cx.b.index_op(IndexOp::FloorDiv, rounded, b)
    };
    let span = cx.b.sub(hi, lo);
    let blocks = ceil_div(cx, span, width);
    let blocks = ceil_div(cx, blocks, splits);
    let length = cx.b.mul(blocks, width);
    let before = cx.b.mul(split, length);
    let begin = cx.b.add(lo, before);
    let end = cx.b.add(begin, length);
    [begin, cx.b.index_op(IndexOp::Min, end, hi)]
}

/// The launch of all splits.
fn parts(
    body: &Body,
    recipe: &Recipe,
    splits: &AttentionSplits,
    memory: Vec<Temporary>,
) -> Result<Lowered, String> {
    let mut outer = used_axis(&splits.used);
    let axis = outer.len();
    outer.push(splits.splits.clone());
    let part = Part::before(body, recipe.root, memory);
    let (mut kernel, views) = begin_part(body, recipe.grid(outer), &part);
    let mut cx = Lowering::new(body, &mut kernel, views);
    let (split, count) = (cx.unit[axis], cx.b.size(&splits.splits));
    let (end, at) = recipe.walk(&mut cx, Some([split, count]))?;
    let [batch, head, rows, columns] = at[..] else { return Err("attention's result has four axes".into()) };
    let part = cx.unit[cx.unit.len() - 1];
    // Maxima of splits compare in exponents of 2, whatever the scores' scale.
    let factor = number(&mut cx, &[rows.extent, 1], recipe.factor());
    let max = cx.b.elementwise(ScalarOp::Mul, &[end.max, factor]);
    for (i, statistic) in [max, end.sum].into_iter().enumerate() {
        let at = [one(split), batch, head, one(part), rows];
        let tile = cx.b.reshape(statistic, &at.map(|axis| axis.extent));
        cx.store_at(cx.temporary(i), tile, &at);
    }
    let at = [one(split), batch, head, rows, columns];
    let tile = cx.b.reshape(end.acc, &at.map(|axis| axis.extent));
    cx.store_at(cx.temporary(2), tile, &at);
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// The launch that merges the splits of each row.
fn merged(
    body: &Body,
    recipe: &Recipe,
    splits: &AttentionSplits,
    memory: Vec<Temporary>,
) -> Result<Lowered, String> {
    let mut grid = used_axis(&splits.used);
    grid.extend([recipe.batch.clone(), recipe.heads.clone(), recipe.rows.clone(), Dim::from(recipe.parts())]);
    let part = Part::after(body, recipe.root, memory);
    let (mut kernel, views) = begin_part(body, grid, &part);
    let mut cx = Lowering::new(body, &mut kernel, views);
    let &[.., batch, head, row, part] = cx.unit.as_slice() else {
        return Err("the merge has four axes".into());
    };
    let columns = recipe.columns(&mut cx, part);
    let width = columns.extent;
    let views = [0, 1, 2].map(|i| cx.temporary(i));
    let start = Running {
        max: number(&mut cx, &[1, 1], f32::NEG_INFINITY),
        sum: number(&mut cx, &[1, 1], 0.0),
        acc: number(&mut cx, &[1, width], 0.0),
    };
    let (zero, count) = (cx.b.index(0), cx.b.size(&splits.splits));
    let bounded = splits.splits.as_const().is_none_or(|n| n % MERGED != 0);
    let end = cx.for_(zero, count, MERGED, &start.values(), |cx, first, carried| {
        let these = Axis { offset: first, extent: MERGED, step: 1, bounded };
        let nothing = i64::from(f32::NEG_INFINITY.to_bits());
        let at = [these, one(batch), one(head), one(part), one(row)];
        let [max, sum] = [(views[0], nothing), (views[1], 0)].map(|(view, pad)| {
            let tile = cx.load(view, &at, pad);
            cx.b.reshape(tile, &[MERGED, 1])
        });
        let acc = cx.load(views[2], &[these, one(batch), one(head), one(row), columns], 0);
        let acc = cx.b.reshape(acc, &[MERGED, width]);
        merge(cx, Running::of(carried), Running { max, sum, acc }).values().to_vec()
    });
    let acc = recipe.finish(&mut cx, Running::of(&end));
    let at: TileBox = [one(batch), one(head), one(row), columns].into_iter().collect();
    epilogue(&mut cx, recipe.root, acc, &at)?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// What a row has seen with what it sees in some splits, one below the other.
fn merge(cx: &mut Lowering, before: Running, these: Running) -> Running {
    let (_, shape) = cx.b.tile_type(these.acc);
    let (column, row) = ([shape[0], 1], [1, shape[1]]);
    let highest = cx.b.reduce(ScalarOp::Max, these.max, 0);
    let max = cx.b.elementwise(ScalarOp::Max, &[before.max, highest]);
    // Rows that have seen nothing take any finite maximum: their weights are 0.
    let lowest = number(cx, &[1, 1], f32::NEG_INFINITY);
    let nothing = cx.b.elementwise(ScalarOp::Eq, &[max, lowest]);
    let zero = number(cx, &[1, 1], 0.0);
    let shift = cx.b.elementwise(ScalarOp::Select, &[nothing, zero, max]);
    let weight = |cx: &mut Lowering, max: Value, shift: Value| {
        let exponent = cx.b.elementwise(ScalarOp::Sub, &[max, shift]);
        cx.b.elementwise(ScalarOp::Exp2, &[exponent])
    };
    let old = weight(cx, before.max, shift);
    let shifts = cx.b.broadcast(shift, &column);
    let own = weight(cx, these.max, shifts);
    let sums = cx.b.elementwise(ScalarOp::Mul, &[these.sum, own]);
    let sums = cx.b.reduce(ScalarOp::Add, sums, 0);
    let sum = cx.b.elementwise(ScalarOp::Fma, &[before.sum, old, sums]);
    let own = cx.b.broadcast(own, &shape);
    let accs = cx.b.elementwise(ScalarOp::Mul, &[these.acc, own]);
    let accs = cx.b.reduce(ScalarOp::Add, accs, 0);
    let old = cx.b.broadcast(old, &row);
    Running { max, sum, acc: cx.b.elementwise(ScalarOp::Fma, &[before.acc, old, accs]) }
}
