//! ONNX Runtime's MultiHeadAttention, Attention and QAttention: as many key heads as query heads, masks that say which
//! keys are seen, a past in front of the keys.
//!
//! A mask of integers adds `mask_filter_value` where it is 0, or behind the end of a batch; what is causal adds the lowest
//! float. So a row that sees no key spreads over all of them.

use super::super::quantisation::integer_product;
use super::{joined_heads, split_heads};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

/// Operands `query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value`.
pub(super) fn multi_head_attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let heads = heads_of(node)?;
    if node.optional(8).is_some() || node.optional(9).is_some() {
        return Err(Fault::unsupported("a shared buffer of the past and beams are not supported"));
    }
    if node.wants(3) {
        return Err(Fault::unsupported("scores as a result are not supported"));
    }
    let query = node.operand(0)?;
    let bias = node.optional(3);
    let [q, k, v] = match cx.rank(query) {
        5 => packed(cx, query, heads, 3)?.try_into().map_err(|_| Fault::invalid("no query"))?,
        _ => {
            cx.expect_rank(query, 3, "a query [batch,length,hidden]")?;
            let key = node.operand(1)?;
            let [k, v] = match cx.rank(key) {
                5 => packed(cx, key, heads, 2)?.try_into().map_err(|_| Fault::invalid("no key"))?,
                _ => [key, node.operand(2)?],
            };
            let mut parts = [query, k, v];
            if let Some(bias) = bias {
                parts = biased(cx, parts, heads, bias)?;
            }
            let [q, k, v] = parts;
            [in_heads(cx, q, heads)?, in_heads(cx, k, heads)?, in_heads(cx, v, heads)?]
        }
    };
    if bias.is_some() && cx.rank(query) == 5 {
        return Err(Fault::unsupported("a bias of packed operands is not supported"));
    }
    let past = match (node.optional(6), node.optional(7)) {
        (Some(keys), Some(values)) => Some([keys, values]),
        (None, None) => None,
        _ => return Err(Fault::invalid("past key and past value must be given together")),
    };
    let step = Step { q, k, v, past, mask: node.optional(4), added: node.optional(5) };
    let (y, [keys, values]) = step.attend(cx, node)?;
    Ok(vec![joined_heads(cx, y)?, keys, values])
}

/// Operands `x, weights, bias, mask_index, past, attention_bias`.
pub(super) fn attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    refuse_rotary(node)?;
    node.needs_not(&["rotary_embedding_dim"]);
    let (x, weights) = (node.operand(0)?, node.operand(1)?);
    cx.expect_rank(x, 3, "a tensor [batch,length,hidden]")?;
    let dtype = cx.dtype(x);
    let mut joint = cx.matmul(x, weights, dtype)?;
    if let Some(bias) = node.optional(2) {
        joint = cx.add(joint, bias)?;
    }
    let sizes = node.ints("qkv_hidden_sizes");
    from_joint(cx, node, joint, sizes, [3, 4, 5])
}

/// Operands `x, weights, bias, x_scale, weight_scale, mask_index, x_zero, weight_zero, past`.
pub(super) fn q_attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    refuse_rotary(node)?;
    let (x, weights, bias) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    cx.expect_rank(x, 3, "a tensor [batch,length,hidden]")?;
    let sums = integer_product(cx, x, weights, node.optional(6), node.optional(7))?;
    let scale = cx.mul(node.operand(3)?, node.operand(4)?)?;
    let sums = cx.cast_like(sums, bias)?;
    let joint = cx.mul(sums, scale)?;
    let joint = cx.add(joint, bias)?;
    from_joint(cx, node, joint, None, [5, 8, usize::MAX])
}

fn refuse_rotary(node: &Node) -> Outcome<()> {
    for name in ["do_rotary", "past_present_share_buffer"] {
        if node.flag(name, false) {
            return Err(Fault::unsupported(format!("`{name}` is not supported")));
        }
    }
    Ok(())
}

/// Query, key and value side by side in `joint: [B,L,...]`; places of the operands mask, past and addition.
fn from_joint(
    cx: &mut Cx,
    node: &Node,
    joint: Value,
    sizes: Option<Vec<i64>>,
    [mask, past, added]: [usize; 3],
) -> Outcome<Vec<Value>> {
    let heads = heads_of(node)?;
    let widths: Vec<Dim> = match sizes {
        Some(sizes) if sizes.len() == 3 && sizes.iter().all(|size| size % heads == 0 && *size > 0) => {
            sizes.into_iter().map(Dim::from).collect()
        }
        Some(sizes) => {
            return Err(Fault::invalid(format!("qkv_hidden_sizes {sizes:?} do not fit {heads} heads")));
        }
        None => {
            let width = cx.dim(joint, 2);
            let third = width.div_exact(&Dim::from(3 * heads)).map(|size| size * Dim::from(heads));
            vec![
                third.ok_or_else(|| Fault::from(format!("{width} columns are no {heads} heads of three")))?;
                3
            ]
        }
    };
    let mut parts = [joint; 3];
    let mut start = Dim::from(0);
    for (part, width) in parts.iter_mut().zip(&widths) {
        let one = cx.slice_axis(joint, 2, start.clone(), width.clone())?;
        *part = split_heads(cx, one, heads)?;
        start = start + width.clone();
    }
    let [q, k, v] = parts;
    let past = match node.optional(past) {
        Some(past) => {
            cx.expect_rank(past, 5, "a past [2,batch,heads,length,size]")?;
            let side = |cx: &mut Cx, i: i64| {
                let one = cx.slice_axis(past, 0, Dim::from(i), Dim::from(1))?;
                cx.drop_axes(one, &[0])
            };
            Some([side(cx, 0)?, side(cx, 1)?])
        }
        None => None,
    };
    let step = Step { q, k, v, past, mask: node.optional(mask), added: node.optional(added) };
    let (y, sides) = step.attend(cx, node)?;
    let y = joined_heads(cx, y)?;
    if !node.wants(1) {
        return Ok(vec![y]);
    }
    let [keys, values] = sides.map(|side| cx.add_axes(side, &[0]));
    Ok(vec![y, cx.concat(&[keys?, values?], 0)?])
}

fn heads_of(node: &Node) -> Outcome<i64> {
    match node.int("num_heads", 0) {
        heads @ 1..=SymbolInfo::MAX => Ok(heads),
        heads => Err(Fault::invalid(format!("num_heads is {heads}, but must be positive"))),
    }
}

/// `[B,L,heads,n,D]` as n times `[B,heads,L,D]`.
fn packed(cx: &mut Cx, x: Value, heads: i64, n: usize) -> Outcome<Vec<Value>> {
    if !cx.dim(x, 2).is_const(heads) || !cx.dim(x, 3).is_const(n as i64) {
        return Err(Fault::from(format!("[batch,length,{heads},{n},size] is expected, got {}", cx.ty(x))));
    }
    (0..n)
        .map(|i| {
            let part = cx.slice_axis(x, 3, Dim::from(i), Dim::from(1))?;
            let part = cx.drop_axes(part, &[3])?;
            cx.transpose(part, &[0, 2, 1, 3])
        })
        .collect()
}

/// `[B,L,H*D]` or `[B,H,L,D]` as the latter.
fn in_heads(cx: &mut Cx, x: Value, heads: i64) -> Outcome {
    match cx.rank(x) {
        4 => Ok(x),
        3 => split_heads(cx, x, heads),
        _ => Err(Fault::from(format!("a key or value of rank 3 or 4 is expected, got {}", cx.ty(x)))),
    }
}

/// Each part with its own piece of the bias; a part by heads has its piece already.
fn biased(cx: &mut Cx, parts: [Value; 3], heads: i64, bias: Value) -> Outcome<[Value; 3]> {
    let mut start = Dim::from(0);
    let mut done = parts;
    for part in &mut done {
        let by_heads = cx.rank(*part) == 4;
        let width = if by_heads { Dim::from(heads) * cx.dim(*part, 3) } else { cx.dim(*part, 2) };
        if !by_heads {
            let piece = cx.slice_axis(bias, 0, start.clone(), width.clone())?;
            *part = cx.add(*part, piece)?;
        }
        start = start + width;
    }
    Ok(done)
}

/// One attention by heads: `[B,H,L,D]` each.
struct Step {
    q: Value,
    k: Value,
    v: Value,
    past: Option<[Value; 2]>,
    mask: Option<Value>,
    /// Added to the scores: `[B|1,H|1,L,T]`.
    added: Option<Value>,
}

impl Step {
    /// The result by heads, and keys and values with the past in front.
    fn attend(&self, cx: &mut Cx, node: &Node) -> Outcome<(Value, [Value; 2])> {
        let (keys, values) = match self.past {
            Some([keys, values]) => (cx.concat(&[keys, self.k], 2)?, cx.concat(&[values, self.v], 2)?),
            None => (self.k, self.v),
        };
        let stated = Some(node.float("scale", 0.0)).filter(|scale| *scale != 0.0);
        let (q, scale) = super::scaled(cx, self.q, stated)?;
        let causal = node.flag("unidirectional", false);
        // The composite's causal rows end with the last key.
        let aligned = cx.dim(self.q, 2) == cx.dim(self.k, 2);
        let filter = node.float("mask_filter_value", -10000.0);
        let mut bias = self.mask.map(|mask| self.seen(cx, mask, &cx.dim(keys, 2), filter)).transpose()?;
        let apart = causal && (bias.is_some() || self.added.is_some() || !aligned);
        if apart {
            bias = Some(self.one_way(cx, bias, &cx.dim(keys, 2))?);
        }
        if let Some(added) = self.added {
            bias = Some(match bias {
                Some(bias) => cx.add(bias, added)?,
                None => added,
            });
        }
        let kind =
            TensorOp::Attention { scale: F64(scale), causal: causal && !apart, window: 0, softcap: F64(0.0) };
        let operands: Vec<Value> = [q, keys, values].into_iter().chain(bias).collect();
        Ok((cx.emit(kind, &operands)?, [keys, values]))
    }

    /// A mask of integers as numbers to add: by its rank 0 or 1 for each key, for each row and key, or one length for
    /// each batch, after which all starts may follow.
    fn seen(&self, cx: &mut Cx, mask: Value, total: &Dim, filter: f64) -> Outcome {
        let (batch, length) = (cx.dim(self.q, 0), cx.dim(self.q, 2));
        let mask = cx.cast(mask, DType::I64)?;
        let seen = match cx.rank(mask) {
            1 => {
                let key = cx.iota(DType::I64, [Dim::from(1), total.clone()], 1)?;
                let own = cx.dim(mask, 0);
                let two = own == batch.clone() * Dim::from(2);
                if !two {
                    cx.assert_equal(&own, &batch, "a mask of lengths must have one for each batch")?;
                }
                let ends = cx.slice_axis(mask, 0, Dim::from(0), batch.clone())?;
                let ends = cx.reshape(ends, [batch.clone(), Dim::from(1)])?;
                let mut seen = cx.binary(ScalarOp::Lt, key, ends)?;
                if two {
                    let starts = cx.slice_axis(mask, 0, batch.clone(), batch.clone())?;
                    let starts = cx.reshape(starts, [batch, Dim::from(1)])?;
                    let started = cx.binary(ScalarOp::Ge, key, starts)?;
                    seen = cx.binary(ScalarOp::And, seen, started)?;
                }
                cx.add_axes(seen, &[1, 2])?
            }
            rank @ (2 | 3) => {
                let own = cx.dim(mask, rank - 1);
                cx.assert_equal(&own, total, "a mask must have an entry for each key")?;
                let shape: Shape = match rank {
                    2 => [batch, Dim::from(1), Dim::from(1), total.clone()].into(),
                    _ => [batch, Dim::from(1), length, total.clone()].into(),
                };
                let mask = cx.reshape(mask, shape)?;
                cx.with_number(ScalarOp::Gt, mask, 0.0)?
            }
            _ => return Err(Fault::unsupported(format!("a mask {} is not supported", cx.ty(mask)))),
        };
        let dtype = cx.dtype(self.q);
        let none = cx.splat(dtype, Shape::scalar(), 0.0)?;
        let filter = cx.splat(dtype, Shape::scalar(), filter)?;
        cx.select(seen, none, filter)
    }

    /// The lowest float where a key is behind the row's own place, else the bias.
    fn one_way(&self, cx: &mut Cx, bias: Option<Value>, total: &Dim) -> Outcome {
        let dtype = cx.dtype(self.q);
        let length = cx.dim(self.q, 2);
        let before = match self.past {
            Some([keys, _]) => cx.dim(keys, 2),
            None => Dim::from(0),
        };
        let row = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), length, Dim::from(1)], 2)?;
        let before = cx.size_as(before, DType::I64, 4)?;
        let place = cx.add(row, before)?;
        let key = cx.iota(DType::I64, [Dim::from(1), Dim::from(1), Dim::from(1), total.clone()], 3)?;
        let seen = cx.binary(ScalarOp::Le, key, place)?;
        let bias = match bias {
            Some(bias) => bias,
            None => cx.splat(dtype, Shape::scalar(), 0.0)?,
        };
        let lowest = cx.splat(dtype, Shape::scalar(), lowest(dtype))?;
        cx.select(seen, bias, lowest)
    }
}

/// The lowest finite number.
fn lowest(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MIN,
        DType::F16 => -65504.0,
        DType::BF16 => -3.389_531_389_251_535_5e38,
        _ => f64::from(f32::MIN),
    }
}
