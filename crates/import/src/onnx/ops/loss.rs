//! Losses: negative log-likelihood and softmax cross entropy, with class weights and an ignored class.

use crate::build::along;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op("NegativeLogLikelihoodLoss", negative_log_likelihood),
    op("SoftmaxCrossEntropyLoss", softmax_cross_entropy),
];

fn negative_log_likelihood(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![loss(cx, node, x)?])
}

/// Results: the loss, and the logarithms of the probabilities.
fn softmax_cross_entropy(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    if cx.rank(x) < 2 {
        return Err(Fault::from(format!("scores [N,C,...] are expected, got {}", cx.ty(x))));
    }
    let log = cx.emit(TensorOp::Softmax { axis: 1, log: true }, &[x])?;
    Ok(vec![loss(cx, node, log)?, log])
}

/// `-x[n, target[n, d], d] * weight[target]` over `[N,C,d...]`, reduced as the node says.
fn loss(cx: &mut Cx, node: &Node, x: Value) -> Outcome {
    let target = cx.cast(node.operand(1)?, DType::I64)?;
    let (rank, dtype) = (cx.rank(x), cx.dtype(x));
    if rank < 2 || cx.rank(target) + 1 != rank {
        return Err(Fault::from(format!("{} does not fit targets {}", cx.ty(x), cx.ty(target))));
    }
    let target = cx.add_axes(target, &[1])?;
    let ignored = match node.optional_int("ignore_index") {
        Some(index) => Some(cx.with_number(ScalarOp::Eq, target, index as f64)?),
        None => None,
    };
    // An ignored target may be no class at all; any class serves in its place.
    let class = match ignored {
        Some(ignored) => {
            let zero = cx.number_like(target, 0.0)?;
            cx.select(ignored, zero, target)?
        }
        None => target,
    };
    let extent = cx.dim(x, 1);
    let places = cx.iota(DType::I64, along(rank, 1, extent), 1)?;
    let hit = cx.binary(ScalarOp::Eq, places, class)?;
    let zero = cx.number_like(x, 0.0)?;
    let picked = cx.select(hit, x, zero)?;
    let picked = cx.reduce(ScalarOp::Add, picked, &[1], true)?;
    let mut losses = cx.unary(ScalarOp::Neg, picked)?;
    let mut weights = match node.optional(2) {
        Some(weights) => {
            let weights = cx.lay_along(weights, 1, rank)?;
            let zero = cx.number_like(weights, 0.0)?;
            let picked = cx.select(hit, weights, zero)?;
            Some(cx.reduce(ScalarOp::Add, picked, &[1], true)?)
        }
        None => None,
    };
    if let Some(ignored) = ignored {
        let zero = cx.number_like(x, 0.0)?;
        let base = match weights {
            Some(weights) => weights,
            None => cx.number_like(x, 1.0)?,
        };
        weights = Some(cx.select(ignored, zero, base)?);
        losses = cx.select(ignored, zero, losses)?;
    }
    if let Some(weights) = weights {
        losses = cx.mul(losses, weights)?;
    }
    let axes: Vec<usize> = (0..rank).collect();
    match node.text("reduction", "mean").as_str() {
        "none" => cx.drop_axes(losses, &[1]),
        "sum" => cx.reduce(ScalarOp::Add, losses, &axes, false),
        "mean" => {
            let sum = cx.reduce(ScalarOp::Add, losses, &axes, false)?;
            let total = match weights {
                Some(weights) => {
                    let shape = cx.shape(losses);
                    let weights = cx.broadcast_to(weights, &shape)?;
                    cx.reduce(ScalarOp::Add, weights, &axes, false)?
                }
                None => {
                    let count = cx.shape(losses).count();
                    let count = cx.size_as(count, dtype, 0)?;
                    cx.reshape(count, Shape::scalar())?
                }
            };
            cx.div(sum, total)
        }
        other => Err(Fault::invalid(format!("reduction `{other}` is none of none, sum, mean"))),
    }
}
