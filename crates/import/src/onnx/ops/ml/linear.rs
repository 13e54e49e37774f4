//! LinearRegressor and LinearClassifier.

use super::scores::{Labels, PostTransform, with_other_class};
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, HostTensor};
use tegula_ir::{ScalarOp, Value};

/// `x: [N,F]` times rows of coefficients `[targets,F]`, as one list, plus intercepts.
fn affine(cx: &mut Cx, x: Value, coefficients: &[f32], targets: usize, intercepts: &[f32]) -> Outcome {
    let rows = cx.feature_rows(x)?;
    if targets == 0 || coefficients.is_empty() || !coefficients.len().is_multiple_of(targets) {
        return Err(Fault::invalid(format!(
            "{} coefficients are no matrix of {targets} rows",
            coefficients.len()
        )));
    }
    let features = coefficients.len() / targets;
    let matrix = cx.constant(HostTensor::from_elements(&[targets, features], coefficients))?;
    let matrix = cx.cast_like(matrix, rows)?;
    let matrix = cx.transpose_matrix(matrix)?;
    let dtype = cx.dtype(rows);
    let y = cx.matmul(rows, matrix, dtype)?;
    if intercepts.is_empty() {
        return Ok(y);
    }
    let row = cx.float_row(intercepts)?;
    let row = cx.cast_like(row, y)?;
    cx.add(y, row)
}

fn coefficients(node: &Node) -> (Vec<f32>, Vec<f32>) {
    (node.floats("coefficients").unwrap_or_default(), node.floats("intercepts").unwrap_or_default())
}

pub(super) fn linear_regressor(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (weights, intercepts) = coefficients(node);
    let targets = usize::try_from(node.int("targets", 1)).unwrap_or(0);
    let y = affine(cx, node.operand(0)?, &weights, targets, &intercepts)?;
    let y = PostTransform::of(node)?.apply(cx, y)?;
    Ok(vec![cx.cast(y, DType::F32)?])
}

/// Labels `[N]` and scores `[N,classes]`. One row of coefficients for two labels gives the second one's score.
pub(super) fn linear_classifier(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let (weights, intercepts) = coefficients(node);
    let labels = Labels::of(node, "classlabels_ints")?;
    let transform = PostTransform::of(node)?;
    let classes = if intercepts.is_empty() { labels.count() } else { intercepts.len() };
    let raw = affine(cx, node.operand(0)?, &weights, classes, &intercepts)?;
    let (label, scores) = match (classes, labels.count()) {
        (1, 2) => {
            let other = cx.unary(ScalarOp::Neg, raw)?;
            let both = with_other_class(cx, raw, other)?;
            (labels.of_one_score(cx, raw, ScalarOp::Gt, 0.0)?, transform.apply(cx, both)?)
        }
        (1, _) => {
            let scores = transform.apply(cx, raw)?;
            let threshold = if transform == PostTransform::None { 0.0 } else { 0.5 };
            (labels.of_one_score(cx, scores, ScalarOp::Ge, threshold)?, scores)
        }
        _ => (labels.of_largest(cx, raw)?, transform.apply(cx, raw)?),
    };
    Ok(vec![label, Slot::Value(cx.cast(scores, DType::F32)?)])
}
