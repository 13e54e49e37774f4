//! `ai.onnx.preview::FlexAttention`: attention whose scores and weights go through graphs that the model brings.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

/// `(q: [B,H,L,D], k: [B,G,S,D], v: [B,G,S,E])`: `[B,H,L,E]`.
pub(super) fn flex_attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (q, k, v) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    for value in [q, k, v] {
        cx.expect_rank(value, 4, "query, key and value [B,heads,length,size]")?;
    }
    let heads = cx.dim(q, 1);
    let k = {
        let shape = [cx.dim(q, 0), cx.dim(k, 1), cx.dim(k, 2), cx.dim(q, 3)];
        cx.respelled(k, shape, "keys must have the queries' batches and head size")?
    };
    let v = {
        let shape = [cx.dim(q, 0), cx.dim(k, 1), cx.dim(k, 2), cx.dim(v, 3)];
        cx.respelled(v, shape, "there must be a value for each key")?
    };
    let [k, v] = super::for_each_head(cx, &heads, [k, v])?;
    let groups = cx.dim(k, 1);
    let shared = heads.div_exact(&groups).unwrap_or_else(|| Dim::from(1));
    let (q, scale) = super::scaled(cx, q, node.optional_float("scale"))?;
    let dtype = cx.dtype(q);
    let precise = node.element_type("softmax_precision")?.unwrap_or(match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    });
    if !node.has("score_mod") && !node.has("prob_mod") && precise == dtype {
        let kind = TensorOp::Attention { scale: F64(scale), causal: false, window: 0, softcap: F64(0.0) };
        return Ok(vec![cx.emit(kind, &[q, k, v])?]);
    }
    let (batch, length, keys) = (cx.dim(q, 0), cx.dim(q, 2), cx.dim(k, 2));
    let root = scale.sqrt();
    let (scaled_q, scaled_k) =
        (cx.with_number(ScalarOp::Mul, q, root)?, cx.with_number(ScalarOp::Mul, k, root)?);
    // Heads that share a key stand side by side.
    let grouped = [batch.clone(), groups.clone(), shared.clone() * length.clone()];
    let rows = |cx: &mut Cx, x: Value, last: Dim| {
        let shape: Vec<Dim> = grouped.iter().cloned().chain([last]).collect();
        cx.reshape(x, shape)
    };
    let size = cx.dim(q, 3);
    let scaled_q = rows(cx, scaled_q, size)?;
    let turned = cx.transpose_matrix(scaled_k)?;
    let scores = cx.matmul(scaled_q, turned, dtype)?;
    let scores = cx.reshape(scores, [batch.clone(), heads.clone(), length.clone(), keys.clone()])?;
    let scores = cx.cast(scores, precise)?;
    let scores = modified(cx, node, "score_mod", scores)?;
    let weights = cx.softmax_of_scores(scores, 3)?;
    let weights = modified(cx, node, "prob_mod", weights)?;
    let weights = rows(cx, weights, keys)?;
    let values = cx.cast(v, precise)?;
    let y = cx.matmul(weights, values, precise)?;
    let extent = cx.dim(v, 3);
    let y = cx.reshape(y, [batch, heads, length, extent])?;
    Ok(vec![cx.cast_like(y, v)?])
}

/// The value through the graph of that name, where there is one. Errors: the graph gives another type.
fn modified(cx: &mut Cx, node: &Node, name: &str, value: Value) -> Outcome {
    if !node.has(name) {
        return Ok(value);
    }
    let results = cx.inner_graph(node.graph(name)?, &[value])?;
    let [result] = results[..] else {
        return Err(Fault::invalid(format!("`{name}` must give one result, not {}", results.len())));
    };
    let wanted = cx.ty(value).clone();
    if cx.dtype(result) != wanted.dtype || cx.rank(result) != wanted.rank() {
        return Err(Fault::from(format!("`{name}` must give {wanted}, not {}", cx.ty(result))));
    }
    cx.reshape(result, wanted.shape)
}
