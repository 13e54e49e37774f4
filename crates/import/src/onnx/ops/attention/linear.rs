//! ONNX's LinearAttention (opset 27): a matrix of state for each key head, decayed, corrected and written to by each
//! token in turn, and read by the query heads that share it.
//!
//! One token is straight code, more are a loop: tokens are not taken in chunks.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::ops::control::Round;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};

/// What every token brings, heads split: `[B,T,heads,size]`.
struct Tokens {
    /// `[B,T,kv,shared,dk]`, scaled.
    q: Value,
    k: Value,
    v: Value,
    /// The factor on the state, `[B,T,kv,dk or 1]`.
    decay: Option<Value>,
    /// The rate of correction, `[B,T,kv or 1,1]`.
    beta: Option<Value>,
}

/// `(q: [B,T,Hq*dk], k: [B,T,H*dk], v: [B,T,H*dv], state?: [B,H,dk,dv], decay?, beta?)`: `([B,T,Hq*dv], state)`.
pub(super) fn linear_attention(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (q, k, v) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    for value in [q, k, v] {
        cx.expect_rank(value, 3, "query, key and value [B,T,heads*size]")?;
    }
    let (n_q, n_kv) = (node.int("q_num_heads", 0), node.int("kv_num_heads", 0));
    if n_q < 1 || n_kv < 1 || n_q % n_kv != 0 {
        return Err(Fault::invalid(format!(
            "q_num_heads {n_q} must be a positive multiple of kv_num_heads {n_kv}"
        )));
    }
    let (batch, length) = (cx.dim(q, 0), cx.dim(q, 1));
    let per_head = |cx: &Cx, x: Value, heads: i64| {
        let last = cx.dim(x, 2);
        last.div_exact(&Dim::from(heads))
            .ok_or_else(|| Fault::from(format!("{heads} heads do not divide {}", cx.ty(x))))
    };
    let (dk, dv) = (per_head(cx, q, n_q)?, per_head(cx, v, n_kv)?);
    let wide = if cx.dtype(q) == DType::F64 { DType::F64 } else { DType::F32 };
    let heads = |cx: &mut Cx, x: Value, inner: &[Dim]| {
        let x = cx.cast(x, wide)?;
        let shape: Vec<Dim> = [batch.clone(), length.clone()].into_iter().chain(inner.to_vec()).collect();
        cx.reshape(x, shape)
    };
    let (kv, shared) = (Dim::from(n_kv), Dim::from(n_q / n_kv));
    let scale = match node.float("scale", 0.0) {
        0.0 => {
            let size = dk.as_const().filter(|size| *size > 0).ok_or_else(|| {
                Fault::unsupported("a head's size must be constant where no scale is given")
            })?;
            1.0 / (size as f64).sqrt()
        }
        scale => scale,
    };
    let q_heads = heads(cx, q, &[kv.clone(), shared, dk.clone()])?;
    let (decay, beta) = gates(cx, node)?;
    let decay = match decay {
        Some(decay) if cx.dim(decay, 2) == kv => Some(heads(cx, decay, &[kv.clone(), Dim::from(1)])?),
        Some(decay) => Some(heads(cx, decay, &[kv.clone(), dk.clone()])?),
        None => None,
    };
    let beta = match beta {
        Some(beta) => {
            let own = cx.dim(beta, 2);
            Some(heads(cx, beta, &[own, Dim::from(1)])?)
        }
        None => None,
    };
    let tokens = Tokens {
        q: cx.with_number(ScalarOp::Mul, q_heads, scale)?,
        k: heads(cx, k, &[kv.clone(), dk.clone()])?,
        v: heads(cx, v, &[kv.clone(), dv.clone()])?,
        decay: decay.map(|decay| cx.unary(ScalarOp::Exp, decay)).transpose()?,
        beta,
    };
    let wanted = [batch.clone(), kv, dk, dv.clone()];
    let (state, state_dtype) = match node.optional(3) {
        Some(state) => (cx.cast(state, wide)?, cx.dtype(state)),
        None => (cx.splat(wide, wanted.clone(), 0.0)?, cx.dtype(q)),
    };
    let state = cx.reshape(state, wanted)?;
    let (y, state) = over_tokens(cx, &tokens, state, &length)?;
    let y = cx.reshape(y, [batch, length, Dim::from(n_q) * dv])?;
    Ok(vec![cx.cast_like(y, q)?, cx.cast(state, state_dtype)?])
}

/// Decay and beta. Errors: the rule wants what is not given, or is given what it does not want.
fn gates(cx: &Cx, node: &Node) -> Outcome<(Option<Value>, Option<Value>)> {
    let rule = node.text("update_rule", "gated_delta");
    let (gated, corrected) = match rule.as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(Fault::invalid(format!("update_rule `{other}` is unknown"))),
    };
    let gate = |i: usize, name: &str, wanted: bool| match (node.optional(i), wanted) {
        (Some(value), true) => cx.expect_rank(value, 3, "gates [B,T,...]").map(|()| Some(value)),
        (None, false) => Ok(None),
        (given, _) => Err(Fault::invalid(format!(
            "update_rule `{rule}` and operand {i} ({name}) do not fit: it is {}",
            if given.is_some() { "given" } else { "missing" }
        ))),
    };
    Ok((gate(4, "decay", gated)?, gate(5, "beta", corrected)?))
}

/// `[B,T,...]` of results and the last state.
fn over_tokens(cx: &mut Cx, tokens: &Tokens, state: Value, length: &Dim) -> Outcome<(Value, Value)> {
    if length.is_const(1) {
        let first = cx.splat_int(DType::I64, tegula_base::Shape::scalar(), 0)?;
        let (y, state) = token(cx, tokens, state, first)?;
        return Ok((cx.add_axes(y, &[1])?, state));
    }
    let go = cx.true_scalar()?;
    let rounds = cx.rounds(length.clone(), go, &[state], 1, |cx, i, state| {
        let (y, state) = token(cx, tokens, state[0], i)?;
        Ok(Round { go: cx.true_scalar()?, carried: vec![state], stacked: vec![y] })
    })?;
    Ok((cx.move_axis(rounds.stacked[0], 0, 1)?, rounds.carried[0]))
}

/// `state = decay * state; state += k (beta * (v - state^T k))^T; y = q^T state`.
fn token(cx: &mut Cx, tokens: &Tokens, state: Value, i: Value) -> Outcome<(Value, Value)> {
    let at = |cx: &mut Cx, value: Value| cx.gather(value, i, 1);
    let (q, k, v) = (at(cx, tokens.q)?, at(cx, tokens.k)?, at(cx, tokens.v)?);
    let decay = tokens.decay.map(|decay| at(cx, decay)).transpose()?;
    let beta = tokens.beta.map(|beta| at(cx, beta)).transpose()?;
    let dtype = cx.dtype(state);
    let mut state = state;
    if let Some(decay) = decay {
        let decay = cx.add_axes(decay, &[3])?;
        state = cx.mul(state, decay)?;
    }
    let mut written = cx.add_axes(v, &[2])?;
    if let Some(beta) = beta {
        let row = cx.add_axes(k, &[2])?;
        let known = cx.matmul(row, state, dtype)?;
        let missing = cx.sub(written, known)?;
        let beta = cx.add_axes(beta, &[3])?;
        written = cx.mul(beta, missing)?;
    }
    let column = cx.add_axes(k, &[3])?;
    let outer = cx.mul(column, written)?;
    let state = cx.add(state, outer)?;
    Ok((cx.matmul(q, state, dtype)?, state))
}
