//! ONNX's Attention (opsets 23 to 25); beside this file RotaryEmbedding, LinearAttention, FlexAttention and what
//! ONNX Runtime has of its own.
//!
//! The tensor level's composite takes what it can say: scores, an additive mask, softmax, weighted sum. Intermediate
//! scores as a result, a softmax in another precision and rows without any allowed key are written out.

mod flex;
mod grouped;
mod linear;
mod multi_head;
mod rotary;

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, TensorOp};

pub(super) const ROWS: &[Row] = &[
    op("Attention", attention),
    op("LinearAttention", linear::linear_attention),
    op("RotaryEmbedding", rotary::rotary_embedding),
];

pub(super) const PREVIEW: &[Row] = &[op("FlexAttention", flex::flex_attention)];

pub(super) const MICROSOFT: &[Row] = &[
    op("Attention", multi_head::attention),
    op("GroupQueryAttention", grouped::group_query_attention),
    op("MultiHeadAttention", multi_head::multi_head_attention),
    op("QAttention", multi_head::q_attention),
    op("RotaryEmbedding", rotary::rotary_embedding_microsoft),
];

/// Query, key and value by heads: `[B,H,L,D]`.
struct Heads {
    q: Value,
    k: Value,
    v: Value,
    /// Whether they came as `[B,L,H*D]`.
    flat: bool,
}

/// Queries and the factor of their scores: that of the node, or one over the root of a head's size. Where that size is left
/// open, the queries are multiplied by it.
fn scaled(cx: &mut Cx, q: Value, scale: Option<f64>) -> Outcome<(Value, f64)> {
    let size = cx.dim(q, 3);
    match (scale, size.as_const()) {
        (Some(scale), _) => Ok((q, scale)),
        (None, Some(size)) => Ok((q, 1.0 / (size as f64).sqrt())),
        (None, None) => {
            let dtype = cx.dtype(q);
            let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
            let size = cx.size_as(size, wide, 4)?;
            let root = cx.unary(ScalarOp::Sqrt, size)?;
            let wide_q = cx.cast(q, wide)?;
            let q = cx.div(wide_q, root)?;
            Ok((cx.cast(q, dtype)?, 1.0))
        }
    }
}

/// Keys and values whose heads are known to divide those of the queries. Where the numbers of heads are left open, each
/// head of a query gets its own. Errors: they do not divide.
fn for_each_head(cx: &mut Cx, heads: &Dim, kv: [Value; 2]) -> Outcome<[Value; 2]> {
    let groups = cx.dim(kv[0], 1);
    if heads.div_exact(&groups).is_some() {
        return Ok(kv);
    }
    if heads.as_const().is_some() && groups.as_const().is_some() {
        return Err(Fault::from(format!("{groups} key heads do not divide {heads} query heads")));
    }
    let mut each = kv;
    for value in &mut each {
        let shape = cx.shape(*value);
        let times = heads.floor_div(&groups);
        let apart = cx.add_axes(*value, &[2])?;
        let wide = [&shape[0], &shape[1], &times, &shape[2], &shape[3]].map(Dim::clone);
        let repeated = cx.broadcast_to(apart, &Shape::from(wide))?;
        let joined = [&shape[0], heads, &shape[2], &shape[3]].map(Dim::clone);
        *value = cx.reshape(repeated, joined)?;
    }
    Ok(each)
}

fn attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let heads = heads_of(cx, node)?;
    let (past_k, past_v) = (node.optional(4), node.optional(5));
    let lengths = node.optional(6);
    let (k, v) = match (past_k, past_v) {
        (Some(past_k), Some(past_v)) => {
            (cx.concat(&[past_k, heads.k], 2)?, cx.concat(&[past_v, heads.v], 2)?)
        }
        (None, None) => (heads.k, heads.v),
        _ => return Err(Fault::invalid("past key and past value must be given together")),
    };
    if past_k.is_some() && lengths.is_some() {
        return Err(Fault::invalid("a past and lengths of a padded cache exclude each other"));
    }
    let q = heads.q;
    let k = {
        let shape = [cx.dim(q, 0), cx.dim(k, 1), cx.dim(k, 2), cx.dim(q, 3)];
        cx.respelled(k, shape, "keys must have the queries' batches and head size")?
    };
    let v = {
        let shape = [cx.dim(q, 0), cx.dim(k, 1), cx.dim(k, 2), cx.dim(v, 3)];
        cx.respelled(v, shape, "there must be a value for each key")?
    };
    let (b, h, l, s) = (cx.dim(q, 0), cx.dim(q, 1), cx.dim(q, 2), cx.dim(k, 2));
    let present = [k, v];
    let [k, v] = for_each_head(cx, &h, present)?;
    let (q, scale) = scaled(cx, q, node.optional_float("scale"))?;
    let softcap = node.float("softcap", 0.0);
    let offset = match (past_k, lengths) {
        (Some(past), _) => Offset::Fixed(cx.dim(past, 2)),
        (None, Some(lengths)) => Offset::PerBatch(lengths),
        (None, None) => Offset::Fixed(Dim::from(0)),
    };
    let (left, right) = (node.int("left_window_size", -1), node.int("right_window_size", -1));
    // The composite's causal rows end with the last key, which is so where nothing but the past comes first.
    let aligned = matches!(&offset, Offset::Fixed(offset) if *offset == s.clone() - l.clone());
    let causal = node.flag("is_causal", false);
    // The composite gives neither scores nor a choice of precision.
    let is_one = !node.wants(3) && node.int("softmax_precision", 0) == 0;
    // A window wider than any sequence is none.
    let window = if (0..SymbolInfo::MAX).contains(&left) { left + 1 } else { 0 };
    let by_place = right < 0 && lengths.is_none() && (aligned || !causal && window == 0);
    let bias = match is_one && by_place && node.optional(3).is_none() {
        true => None,
        false => bias_of(cx, node, q, &l, &s, &offset, lengths)?,
    };
    let sizes = [b, h, l, s];
    let (y, scores) = match bias {
        None if is_one => {
            let kind = Kind { scale, causal, window, softcap };
            (composite(cx, kind, [q, k, v], None)?, None)
        }
        // The bias says which places are seen. Narrow scores are rounded before it is added, which the composite does not.
        Some(bias) if is_one && cx.dtype(q).size() >= 4 && fits(cx, bias, &sizes) => {
            let kind = Kind { scale, causal: false, window: 0, softcap };
            let y = composite(cx, kind, [q, k, v], Some(bias))?;
            (zero_hidden_rows(cx, y, bias)?, None)
        }
        bias => {
            let (y, scores) = written_out(cx, node, [q, k, v], &sizes, bias, scale, softcap)?;
            (y, Some(scores))
        }
    };
    let y = if heads.flat { joined_heads(cx, y)? } else { y };
    let mut results = vec![y, present[0], present[1]];
    results.extend(scores);
    Ok(results)
}

/// Attributes of the composite.
struct Kind {
    scale: f64,
    causal: bool,
    window: i64,
    softcap: f64,
}

/// Whether a bias is one that the composite takes.
fn fits(cx: &Cx, bias: Value, sizes: &[Dim; 4]) -> bool {
    let shape = cx.shape(bias);
    let fits = |(own, full): (&Dim, &Dim)| own == full || own.is_const(1);
    shape.rank() == 4 && shape.iter().zip(sizes).all(fits) && shape[3] == sizes[3]
}

/// The op as one. ONNX scales query and key by a root each, which 16-bit floats show.
fn composite(cx: &mut Cx, kind: Kind, [q, k, v]: [Value; 3], bias: Option<Value>) -> Outcome {
    let Kind { scale, causal, window, softcap } = kind;
    let (q, k, scale) = match cx.dtype(q) {
        DType::F16 | DType::BF16 => {
            let root = scale.sqrt();
            (cx.with_number(ScalarOp::Mul, q, root)?, cx.with_number(ScalarOp::Mul, k, root)?, 1.0)
        }
        _ => (q, k, scale),
    };
    let operands: Vec<Value> = [q, k, v].into_iter().chain(bias).collect();
    let softcap = F64(softcap.max(0.0));
    cx.emit(TensorOp::Attention { scale: F64(scale), causal, window, softcap }, &operands)
}

fn heads_of(cx: &mut Cx, node: &Node) -> Outcome<Heads> {
    let operands = [node.operand(0)?, node.operand(1)?, node.operand(2)?];
    let rank = cx.rank(operands[0]);
    if operands.iter().any(|value| cx.rank(*value) != rank) || !matches!(rank, 3 | 4) {
        return Err(Fault::from(format!(
            "query, key and value of rank 3 or 4 are expected, got {}",
            cx.ty(operands[0])
        )));
    }
    if rank == 4 {
        let [q, k, v] = operands;
        return Ok(Heads { q, k, v, flat: false });
    }
    let (n_q, n_kv) = (node.int("q_num_heads", 0), node.int("kv_num_heads", 0));
    if n_q < 1 || n_kv < 1 {
        return Err(Fault::invalid("q_num_heads and kv_num_heads must be given for operands of rank 3"));
    }
    Ok(Heads {
        q: split_heads(cx, operands[0], n_q)?,
        k: split_heads(cx, operands[1], n_kv)?,
        v: split_heads(cx, operands[2], n_kv)?,
        flat: true,
    })
}

/// `[B,L,H*D]` to `[B,H,L,D]`.
fn split_heads(cx: &mut Cx, x: Value, heads: i64) -> Outcome {
    let shape = cx.shape(x);
    let heads = Dim::from(heads);
    let size = shape[2].floor_div(&heads);
    let x = cx.reshape(x, [shape[0].clone(), shape[1].clone(), heads, size])?;
    cx.transpose(x, &[0, 2, 1, 3])
}

fn joined_heads(cx: &mut Cx, x: Value) -> Outcome {
    let x = cx.transpose(x, &[0, 2, 1, 3])?;
    let shape = cx.shape(x);
    cx.reshape(x, [shape[0].clone(), shape[1].clone(), shape[2].clone() * shape[3].clone()])
}

/// How many keys come before the first query.
enum Offset {
    Fixed(Dim),
    /// A padded cache: its length less the number of queries, for each batch.
    PerBatch(Value),
}

/// What is added to the scores (0 or minus infinity where a key is hidden), broadcastable to `[B,H,L,S]`; `None`
/// where nothing is.
fn bias_of(
    cx: &mut Cx,
    node: &Node,
    q: Value,
    l: &Dim,
    s: &Dim,
    offset: &Offset,
    lengths: Option<Value>,
) -> Outcome<Option<Value>> {
    let dtype = cx.dtype(q);
    let mut bias = match node.optional(3) {
        Some(mask) => Some(additive_mask(cx, mask, dtype, s)?),
        None => None,
    };
    let (left, right) = (node.int("left_window_size", -1), node.int("right_window_size", -1));
    let causal = node.flag("is_causal", false);
    if causal || left >= 0 || right >= 0 {
        let row = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), l.clone(), Dim::from(1)], 2)?;
        let offset = match offset {
            Offset::Fixed(offset) => cx.size_as(offset.clone(), DType::I64, 4)?,
            Offset::PerBatch(lengths) => {
                let lengths = cx.cast(*lengths, DType::I64)?;
                let lengths = cx.lay_along(lengths, 0, 4)?;
                let queries = cx.size_as(l.clone(), DType::I64, 4)?;
                cx.sub(lengths, queries)?
            }
        };
        let place = cx.add(row, offset)?;
        let column = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), Dim::from(1), s.clone()], 3)?;
        let ahead = cx.sub(column, place)?;
        let mut limits = vec![];
        if causal {
            limits.push(cx.with_number(ScalarOp::Le, ahead, 0.0)?);
        }
        if left >= 0 {
            limits.push(cx.with_number(ScalarOp::Ge, ahead, -(left as f64))?);
        }
        if right >= 0 {
            limits.push(cx.with_number(ScalarOp::Le, ahead, right as f64)?);
        }
        for allowed in limits {
            bias = Some(hide(cx, bias, allowed, dtype)?);
        }
    }
    if let Some(lengths) = lengths {
        let column = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), Dim::from(1), s.clone()], 3)?;
        let lengths = cx.cast(lengths, DType::I64)?;
        let lengths = cx.lay_along(lengths, 0, 4)?;
        let allowed = cx.binary(ScalarOp::Lt, column, lengths)?;
        bias = Some(hide(cx, bias, allowed, dtype)?);
    }
    Ok(bias)
}

/// A mask as numbers to add, its last axis filled up with hidden keys to `s`.
fn additive_mask(cx: &mut Cx, mask: Value, dtype: DType, s: &Dim) -> Outcome {
    let rank = cx.rank(mask);
    let own = rank.checked_sub(1).map_or(Dim::from(1), |axis| cx.dim(mask, axis));
    let mask = if cx.dtype(mask) == DType::Bool {
        let zero = cx.splat(dtype, Shape::scalar(), 0.0)?;
        let hidden = cx.splat(dtype, Shape::scalar(), f64::NEG_INFINITY)?;
        cx.select(mask, zero, hidden)?
    } else {
        cx.cast(mask, dtype)?
    };
    let missing = s.clone() - own.clone();
    let shorter = cx.symbols.bounds(&missing).0 >= 0 && !missing.is_const(0);
    let mask = if rank > 0 && shorter && !(own.is_const(1) && missing.as_const().is_none()) {
        let mut high = vec![Dim::from(0); rank];
        high[rank - 1] = missing;
        cx.pad_with(mask, f64::NEG_INFINITY, vec![Dim::from(0); rank], high)?
    } else {
        mask
    };
    let axes: Vec<usize> = (0..4usize.saturating_sub(rank)).collect();
    cx.add_axes(mask, &axes)
}

/// Adds minus infinity where a key is not allowed.
fn hide(cx: &mut Cx, bias: Option<Value>, allowed: Value, dtype: DType) -> Outcome {
    let hidden = cx.splat(dtype, Shape::scalar(), f64::NEG_INFINITY)?;
    let base = match bias {
        Some(bias) => bias,
        None => cx.splat(dtype, Shape::scalar(), 0.0)?,
    };
    cx.select(allowed, base, hidden)
}

/// The composition that ONNX defines, with the scores that the fourth result asks for.
fn written_out(
    cx: &mut Cx,
    node: &Node,
    [q, k, v]: [Value; 3],
    [b, h, l, s]: &[Dim; 4],
    bias: Option<Value>,
    scale: f64,
    softcap: f64,
) -> Outcome<(Value, Value)> {
    let dtype = cx.dtype(q);
    let root = scale.sqrt();
    let q = cx.with_number(ScalarOp::Mul, q, root)?;
    let k = cx.with_number(ScalarOp::Mul, k, root)?;
    let groups = cx.dim(k, 1);
    let shared = h.floor_div(&groups);
    let split = |cx: &mut Cx, x: Value, last: Dim| {
        cx.reshape(x, [b.clone(), groups.clone(), shared.clone(), l.clone(), last])
    };
    let d = cx.dim(q, 3);
    let q = split(cx, q, d)?;
    let scores = grouped_product(cx, q, k, 3)?;
    let full: Shape = [b, h, l, s].into_iter().cloned().collect();
    let raw = cx.reshape(scores, full.clone())?;
    let capped = capped(cx, raw, softcap)?;
    let biased = match bias {
        Some(bias) => cx.add(capped, bias)?,
        None => capped,
    };
    let precise = match node.element_type("softmax_precision")? {
        None => biased,
        Some(to) => cx.cast(biased, to)?,
    };
    let weights = cx.softmax_of_scores(precise, 3)?;
    let weights = cx.cast(weights, dtype)?;
    let weights = match bias {
        Some(bias) => zero_hidden_rows(cx, weights, bias)?,
        None => weights,
    };
    let shown = match node.int("qk_matmul_output_mode", 0) {
        0 => raw,
        1 => capped,
        2 => biased,
        3 => weights,
        mode => return Err(Fault::invalid(format!("qk_matmul_output_mode {mode} is none of 0 to 3"))),
    };
    let grouped = split(cx, weights, s.clone())?;
    let e = cx.dim(v, 3);
    let y = grouped_product(cx, grouped, v, 2)?;
    Ok((cx.reshape(y, [b.clone(), h.clone(), l.clone(), e])?, shown))
}

/// `x: [B,G,H/G,L,K]` by `y: [B,G,...]`, whose axis `inner` is contracted.
fn grouped_product(cx: &mut Cx, x: Value, y: Value, inner: usize) -> Outcome {
    let dims = DotDims {
        lhs_batch: vec![0, 1],
        rhs_batch: vec![0, 1],
        lhs_contract: vec![4],
        rhs_contract: vec![inner],
    };
    let out = cx.dtype(x);
    cx.emit(TensorOp::dot(dims, out), &[x, y])
}

/// `cap * tanh(score / cap)`; a cap of 0 is none.
fn capped(cx: &mut Cx, scores: Value, cap: f64) -> Outcome {
    if cap <= 0.0 {
        return Ok(scores);
    }
    let bent = cx.with_number(ScalarOp::Div, scores, cap)?;
    let bent = cx.unary(ScalarOp::Tanh, bent)?;
    cx.with_number(ScalarOp::Mul, bent, cap)
}

/// A row whose keys are all hidden gives zeros.
fn zero_hidden_rows(cx: &mut Cx, rows: Value, bias: Value) -> Outcome {
    let most = cx.reduce(ScalarOp::Max, bias, &[3], true)?;
    let hidden = cx.number_like(most, f64::NEG_INFINITY)?;
    let empty = cx.binary(ScalarOp::Eq, most, hidden)?;
    let zero = cx.number_like(rows, 0.0)?;
    cx.select(empty, zero, rows)
}
