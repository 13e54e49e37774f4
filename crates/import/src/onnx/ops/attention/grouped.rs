//! ONNX Runtime's GroupQueryAttention: a decoder's step over a cache of keys and values.
//!
//! The cache has room for `max(past, total)` rows. A batch holds `seqlens_k + 1` of them once this step's are written
//! at its end; rows behind are zeros or what they were. Row `i` of the queries stands at the place of its key and sees
//! none behind it.

use super::super::indexing::written_from;
use super::rotary::rotate;
use super::{hide, joined_heads};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

/// Operands, in the order of ONNX Runtime's schema.
const PAST: [usize; 2] = [3, 4];
const LAST_PLACES: usize = 5;
const TOTAL: usize = 6;
const ANGLES: [usize; 2] = [7, 8];
const PLACES: usize = 9;
const BIAS: usize = 10;
const SINK: usize = 11;
const CACHE_SCALES: [usize; 2] = [12, 13];
const NORMS: [usize; 2] = [14, 15];

pub(super) fn group_query_attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    refuse_others(node)?;
    let [q, k, v] = by_heads(cx, node)?;
    let [q, k] = normed(cx, node, [q, k])?;
    let steps = Steps::of(cx, node, q)?;
    let [q, k] = if node.flag("do_rotary", false) { turned(cx, node, &steps, [q, k])? } else { [q, k] };
    let [q, k, v] = [q, k, v].map(|x| cx.transpose(x, &[0, 2, 1, 3]));
    let (q, k, v) = (q?, k?, v?);
    let keys = cached(cx, node.optional(PAST[0]), k, &steps)?;
    let values = cached(cx, node.optional(PAST[1]), v, &steps)?;

    let bias = bias_of(cx, node, &steps, cx.dtype(q))?;
    let stated = Some(node.float("scale", 0.0)).filter(|scale| *scale != 0.0);
    let (q, scale) = super::scaled(cx, q, stated)?;
    let softcap = node.float("softcap", 0.0).max(0.0);
    let sink = match node.optional(SINK) {
        None if node.int("smooth_softmax", 0) == 1 => {
            let dtype = cx.dtype(q);
            Some(cx.splat(dtype, [1i64], 0.0)?)
        }
        sink => sink,
    };
    let y = match sink {
        None => {
            let kind =
                TensorOp::Attention { scale: F64(scale), causal: false, window: 0, softcap: F64(softcap) };
            cx.emit(kind, &[q, keys, values, bias])?
        }
        Some(sink) => with_sink(cx, [q, keys, values], bias, sink, scale, softcap)?,
    };
    Ok(vec![joined_heads(cx, y)?, keys, values])
}

fn refuse_others(node: &Node) -> Outcome<()> {
    for name in ["k_quant_type", "v_quant_type"] {
        let kind = node.text(name, "NONE");
        if !matches!(kind.as_str(), "NONE" | "") {
            return Err(Fault::unsupported(format!("a quantised cache (`{name}` {kind}) is not supported")));
        }
    }
    if CACHE_SCALES.iter().any(|i| node.optional(*i).is_some()) || node.int("kv_cache_bit_width", 0) != 0 {
        return Err(Fault::unsupported("a quantised cache is not supported"));
    }
    if node.flag("sliding_window_cache", false) {
        return Err(Fault::unsupported("`sliding_window_cache` is not supported"));
    }
    if node.int("qk_output", 0) != 0 || node.wants(3) {
        return Err(Fault::unsupported("scores as a result (`qk_output`) are not supported"));
    }
    Ok(())
}

/// Query, key and value as `[B,L,H,D]`, from three operands or packed side by side in the first.
fn by_heads(cx: &mut Cx, node: &Node) -> Outcome<[Value; 3]> {
    let query = node.operand(0)?;
    cx.expect_rank(query, 3, "a query [batch,length,hidden]")?;
    let (n_q, n_kv) = (node.int("num_heads", 0), node.int("kv_num_heads", 0));
    if n_q < 1 || n_kv < 1 || n_q % n_kv != 0 || n_q > SymbolInfo::MAX {
        return Err(Fault::invalid(format!("{n_q} query heads cannot share {n_kv} key heads")));
    }
    let shape = cx.shape(query);
    let split = |cx: &mut Cx, x: Value, heads: i64, size: &Dim| {
        let own = cx.shape(x);
        cx.assert_equal(&own[1], &shape[1], "keys and values must be as many as queries")?;
        cx.reshape(x, [shape[0].clone(), shape[1].clone(), Dim::from(heads), size.clone()])
    };
    let (size, parts) = match (node.optional(1), node.optional(2)) {
        (Some(key), Some(value)) => {
            cx.expect_rank(key, 3, "a key [batch,length,hidden]")?;
            cx.expect_rank(value, 3, "a value [batch,length,hidden]")?;
            (head_size(&shape[2], n_q)?, [query, key, value])
        }
        (None, None) => {
            let size = head_size(&shape[2], n_q + 2 * n_kv)?;
            let mut parts = [query; 3];
            let mut start = Dim::from(0);
            for (part, heads) in parts.iter_mut().zip([n_q, n_kv, n_kv]) {
                let width = Dim::from(heads) * size.clone();
                *part = cx.slice_axis(query, 2, start.clone(), width.clone())?;
                start = start + width;
            }
            (size, parts)
        }
        _ => return Err(Fault::invalid("key and value must be given together")),
    };
    let [q, k, v] = parts;
    Ok([split(cx, q, n_q, &size)?, split(cx, k, n_kv, &size)?, split(cx, v, n_kv, &size)?])
}

fn head_size(hidden: &Dim, heads: i64) -> Outcome<Dim> {
    hidden
        .div_exact(&Dim::from(heads))
        .ok_or_else(|| Fault::from(format!("a hidden size of {hidden} does not divide into {heads} heads")))
}

/// Query and key normed by the root of their heads' mean square, where weights are given.
fn normed(cx: &mut Cx, node: &Node, parts: [Value; 2]) -> Outcome<[Value; 2]> {
    let eps = F64(node.float("qk_norm_epsilon", 1e-6));
    let [Some(q_weight), Some(k_weight)] = NORMS.map(|i| node.optional(i)) else {
        if NORMS.iter().any(|i| node.optional(*i).is_some()) {
            return Err(Fault::invalid("weights of the query's and the key's norm must be given together"));
        }
        return Ok(parts);
    };
    let [q, k] = parts;
    let q = cx.emit(TensorOp::RmsNorm { axis: 3, eps }, &[q, q_weight])?;
    Ok([q, cx.emit(TensorOp::RmsNorm { axis: 3, eps }, &[k, k_weight])?])
}

/// Where this step's rows stand.
struct Steps {
    /// Rows of the cache.
    room: Dim,
    /// Rows that the node says to be held.
    whole: Dim,
    /// Rows before this step's: `i64[B,1]`.
    before: Value,
    /// Rows with this step's: `i64[B,1]`.
    total: Value,
    /// The place of each row of this step: `i64[B,L]`.
    places: Value,
    /// `bool[1,1]`: nothing comes before this step.
    is_first: Value,
}

impl Steps {
    /// `x: [B,L,...]` has this step's rows.
    fn of(cx: &mut Cx, node: &Node, x: Value) -> Outcome<Steps> {
        let (batch, length) = (cx.dim(x, 0), cx.dim(x, 1));
        let past = match PAST.map(|i| node.optional(i)) {
            [Some(keys), Some(values)] => {
                cx.expect_rank(keys, 4, "a cache [batch,heads,rows,size]")?;
                cx.expect_rank(values, 4, "a cache [batch,heads,rows,size]")?;
                let (rows, others) = (cx.dim(keys, 2), cx.dim(values, 2));
                cx.assert_equal(&rows, &others, "past keys and values must be as many")?;
                rows
            }
            [None, None] => Dim::from(0),
            _ => return Err(Fault::invalid("past key and past value must be given together")),
        };
        let whole = node.operand(TOTAL)?;
        let whole = cx.size_or_bind(whole, "total", Dim::from(SymbolInfo::MAX))?;
        let room = cx.most(&past, &whole);
        let last = node.operand(LAST_PLACES)?;
        let last = cx.cast(last, DType::I64)?;
        let last = cx.reshape(last, [batch, Dim::from(1)])?;
        let total = cx.with_number(ScalarOp::Add, last, 1.0)?;
        let rows = cx.size_as(length.clone(), DType::I64, 2)?;
        let before = cx.sub(total, rows)?;
        let before = cx.with_number(ScalarOp::Max, before, 0.0)?;
        let steps = cx.iota(DType::I64, [Dim::from(1), length], 1)?;
        let places = cx.add(before, steps)?;
        let held = cx.size_as(whole.clone(), DType::I64, 2)?;
        let is_first = cx.binary(ScalarOp::Eq, rows, held)?;
        Ok(Steps { room, whole, before, total, places, is_first })
    }
}

/// Query and key turned by the angles of their places.
fn turned(cx: &mut Cx, node: &Node, steps: &Steps, parts: [Value; 2]) -> Outcome<[Value; 2]> {
    let [cos, sin] = ANGLES.map(|i| node.operand(i));
    let (cos, sin) = (cos?, sin?);
    cx.expect_rank(cos, 2, "a cache of angles [places,R/2]")?;
    let places = match node.optional(PLACES) {
        // The first step counts from the first position that is given.
        Some(given) => {
            cx.expect_rank(given, 2, "positions [batch,length]")?;
            let given = cx.cast(given, DType::I64)?;
            let start = cx.slice_axis(given, 0, Dim::from(0), Dim::from(1))?;
            let start = cx.slice_axis(start, 1, Dim::from(0), Dim::from(1))?;
            let length = cx.dim(parts[0], 1);
            let counted = cx.iota(DType::I64, [Dim::from(1), length], 1)?;
            let counted = cx.add(start, counted)?;
            cx.select(steps.is_first, counted, given)?
        }
        None => steps.places,
    };
    let size = cx.dim(cos, 1) * Dim::from(2);
    let (cos, sin) = (cx.gather(cos, places, 0)?, cx.gather(sin, places, 0)?);
    let interleaved = node.flag("rotary_interleaved", false);
    let [q, k] = parts;
    Ok([rotate(cx, q, size.clone(), cos, sin, interleaved)?, rotate(cx, k, size, cos, sin, interleaved)?])
}

/// The cache `[B,G,room,D]` with this step's rows `[B,G,L,D]` written at their places.
fn cached(cx: &mut Cx, past: Option<Value>, rows: Value, steps: &Steps) -> Outcome {
    let room = match past {
        Some(past) => {
            let missing = steps.room.clone() - cx.dim(past, 2);
            let none = vec![Dim::from(0); 4];
            let high = vec![Dim::from(0), Dim::from(0), missing, Dim::from(0)];
            cx.pad_with(past, 0.0, none, high)?
        }
        None if cx.dim(rows, 2) == steps.room => return Ok(rows),
        None => {
            let mut shape = cx.shape(rows);
            shape[2] = steps.room.clone();
            let dtype = cx.dtype(rows);
            cx.splat(dtype, shape, 0.0)?
        }
    };
    written_from(cx, room, rows, 2, Some(steps.before), false)
}

/// What is added to the scores `[B,H,L,room]`: the node's own bias, and minus infinity where a key is hidden.
fn bias_of(cx: &mut Cx, node: &Node, steps: &Steps, dtype: DType) -> Outcome {
    let mut bias = node.optional(BIAS).map(|bias| own_bias(cx, bias, steps)).transpose()?;
    let key = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), Dim::from(1), steps.room.clone()], 3)?;
    let place = cx.add_axes(steps.places, &[1, 3])?;
    let window = node.int("local_window_size", -1);
    let allowed = if node.int("causal", 1) != 0 {
        cx.binary(ScalarOp::Le, key, place)?
    } else {
        let total = cx.add_axes(steps.total, &[1, 2])?;
        cx.binary(ScalarOp::Lt, key, total)?
    };
    bias = Some(hide(cx, bias, allowed, dtype)?);
    if window > 0 {
        let ahead = cx.sub(place, key)?;
        let near = cx.with_number(ScalarOp::Lt, ahead, window as f64)?;
        bias = Some(hide(cx, bias, near, dtype)?);
    }
    bias.ok_or_else(|| Fault::invalid("no mask"))
}

/// The node's bias `[B|1,H|1,L,whole]` over all rows of the cache.
fn own_bias(cx: &mut Cx, bias: Value, steps: &Steps) -> Outcome {
    cx.expect_rank(bias, 4, "a bias [batch,heads,length,total]")?;
    let mut shape = cx.shape(bias);
    cx.assert_equal(&shape[3], &steps.whole, "a bias must have an entry for each row that is held")?;
    shape[3] = steps.whole.clone();
    let bias = cx.reshape(bias, shape)?;
    let missing = cx.most(&Dim::from(0), &(steps.room.clone() - steps.whole.clone()));
    let high = vec![Dim::from(0), Dim::from(0), Dim::from(0), missing];
    let padded = cx.pad_with(bias, 0.0, vec![Dim::from(0); 4], high)?;
    let mut shape = cx.shape(padded);
    shape[3] = steps.room.clone();
    cx.reshape(padded, shape)
}

/// Attention whose softmax sees one more score in each row, of no value: `sink: [1|H]`.
fn with_sink(
    cx: &mut Cx,
    [q, k, v]: [Value; 3],
    bias: Value,
    sink: Value,
    scale: f64,
    softcap: f64,
) -> Outcome {
    let [b, h, l, _] = [0, 1, 2, 3].map(|axis| cx.dim(q, axis));
    let (groups, rows) = (cx.dim(k, 1), cx.dim(k, 2));
    let dtype = cx.dtype(q);
    let split = |cx: &mut Cx, x: Value, last: Dim| {
        cx.reshape(x, [b.clone(), groups.clone(), h.floor_div(&groups), l.clone(), last])
    };
    let size = cx.dim(q, 3);
    let grouped = split(cx, q, size)?;
    let scores = super::grouped_product(cx, grouped, k, 3)?;
    let scores = cx.with_number(ScalarOp::Mul, scores, scale)?;
    let scores = cx.reshape(scores, [b.clone(), h.clone(), l.clone(), rows.clone()])?;
    let scores = super::capped(cx, scores, softcap)?;
    let scores = cx.add(scores, bias)?;
    let sink = cx.cast(sink, dtype)?;
    let sink = cx.lay_along(sink, 1, 4)?;
    let sink = cx.broadcast_to(sink, &[b.clone(), h.clone(), l.clone(), Dim::from(1)].into())?;
    let scores = cx.concat(&[scores, sink], 3)?;
    let weights = cx.softmax_of_scores(scores, 3)?;
    let weights = cx.slice_axis(weights, 3, Dim::from(0), rows.clone())?;
    let weights = split(cx, weights, rows)?;
    let y = super::grouped_product(cx, weights, v, 2)?;
    let size = cx.dim(v, 3);
    cx.reshape(y, [b.clone(), h, l.clone(), size])
}
