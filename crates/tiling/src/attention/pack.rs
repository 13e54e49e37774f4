//! Few queries: the heads that share their keys stand below each other as rows of one block, so that keys are read
//! once for all of them.
//!
//! `q: [B, G R, L, D]` is read as `[B, G, R L, D]`, which is the same memory; the result likewise.

use super::pages;
use crate::AttentionTile;
use crate::body::Body;
use tegula_base::{Dim, Shape};
use tegula_ir::OpId;
use tegula_tensor::TensorOp;

pub(super) struct Packed {
    pub body: Body,
    /// Rows of a head.
    pub row_period: i64,
}

/// The same attention with as many heads as its keys have; `None` where a block of queries holds no second head.
pub(super) fn pack_heads(body: &Body, root: OpId, tile: AttentionTile) -> Option<Packed> {
    let [q, k, v] = [0, 1, 2].map(|i| body.func.operand(root, i));
    let (q_shape, k_shape) = (body.shape(q).clone(), body.shape(k).clone());
    let queries = q_shape[2].as_const()?;
    let shared = q_shape[1].div_exact(&k_shape[1])?.as_const()?;
    let paged = [k, v].map(|value| pages::behind(&body.func, value, tile.keys));
    let behind = |op: &OpId| paged.iter().flatten().any(|pages| pages.ops.contains(op));
    let ends = |op: &OpId| matches!(body.func.kind(*op), TensorOp::Return {} | TensorOp::Yield {});
    let alone = body.ops().iter().all(|op| *op == root || ends(op) || behind(op));
    let rows = tile.queries;
    if shared < 2 || queries < 1 || 2 * queries > rows || !alone || q == k || q == v {
        return None;
    }
    let row_major = body.result_types.iter().all(|ty| ty.layout_or_default().is_row_major());
    let mask = body.func.operands(root).get(3).copied();
    let stacked = |shape: &Shape| -> Shape {
        let columns = shape[3].clone();
        [shape[0].clone(), k_shape[1].clone(), Dim::from(shared * queries), columns].into_iter().collect()
    };
    let mut packed = body.clone();
    let mut retype = |value| {
        let mut ty = packed.func.ty(value).clone();
        ty.shape = stacked(&ty.shape);
        packed.func.set_type(value, ty);
    };
    if let Some(mask) = mask {
        let shape = body.shape(mask);
        match (shape[1].is_const(1), shape[2].is_const(1)) {
            (true, true) => {}
            // Each row its own.
            (false, _) if shape[2] == q_shape[2] => retype(mask),
            _ => return None,
        }
    }
    if !row_major || !body.func.ty(q).layout_or_default().is_row_major() {
        return None;
    }
    retype(q);
    retype(body.func.result(root));
    for ty in &mut packed.result_types {
        ty.shape = stacked(&ty.shape);
    }
    Some(Packed { body: packed, row_period: queries })
}
