//! From scores to what a classifier or regressor gives: the transformations of the domain, and labels.

use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, HostTensor};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostTransform {
    None,
    Softmax,
    Logistic,
    /// Softmax over the scores that are not 0.
    SoftmaxZero,
    Probit,
}

impl PostTransform {
    pub fn of(node: &Node) -> Outcome<PostTransform> {
        Ok(match node.text("post_transform", "NONE").as_str() {
            "NONE" => PostTransform::None,
            "SOFTMAX" => PostTransform::Softmax,
            "LOGISTIC" => PostTransform::Logistic,
            "SOFTMAX_ZERO" => PostTransform::SoftmaxZero,
            "PROBIT" => PostTransform::Probit,
            other => return Err(Fault::invalid(format!("post_transform `{other}` is unknown"))),
        })
    }

    /// As `TreeEnsemble` numbers them.
    pub fn of_number(number: i64) -> Outcome<PostTransform> {
        Ok(match number {
            0 => PostTransform::None,
            1 => PostTransform::Softmax,
            2 => PostTransform::Logistic,
            3 => PostTransform::SoftmaxZero,
            4 => PostTransform::Probit,
            other => return Err(Fault::invalid(format!("post_transform {other} is none of 0 to 4"))),
        })
    }

    /// Of scores `[N,C]`.
    pub fn apply(self, cx: &mut Cx, scores: Value) -> Outcome {
        match self {
            PostTransform::None => Ok(scores),
            PostTransform::Softmax => cx.softmax(scores, 1, false),
            PostTransform::Logistic => cx.unary(ScalarOp::Sigmoid, scores),
            PostTransform::SoftmaxZero => softmax_of_nonzero(cx, scores),
            PostTransform::Probit => probit(cx, scores),
        }
    }
}

fn softmax_of_nonzero(cx: &mut Cx, scores: Value) -> Outcome {
    /// Nearer to 0 a score counts as 0.
    const NOTHING: f64 = 1e-7;
    let most = cx.reduce(ScalarOp::Max, scores, &[1], true)?;
    let below = cx.sub(scores, most)?;
    let grown = cx.unary(ScalarOp::Exp, below)?;
    let down = cx.unary(ScalarOp::Neg, most)?;
    let down = cx.unary(ScalarOp::Exp, down)?;
    let nothing = cx.mul(scores, down)?;
    let size = cx.unary(ScalarOp::Abs, scores)?;
    let counts = cx.with_number(ScalarOp::Gt, size, NOTHING)?;
    let shares = cx.select(counts, grown, nothing)?;
    let sum = cx.reduce(ScalarOp::Add, shares, &[1], true)?;
    let y = cx.div(shares, sum)?;
    let empty = cx.with_number(ScalarOp::Eq, sum, 0.0)?;
    let half = cx.number_like(y, 0.5)?;
    cx.select(empty, half, y)
}

/// Winitzki's approximation (2008) of the normal quantile, which the domain's implementations share.
fn probit(cx: &mut Cx, scores: Value) -> Outcome {
    const A: f64 = 0.147;
    let doubled = cx.with_number(ScalarOp::Mul, scores, 2.0)?;
    let x = cx.with_number(ScalarOp::Sub, doubled, 1.0)?;
    let (below, above) = (cx.number_with(ScalarOp::Sub, 1.0, x)?, cx.with_number(ScalarOp::Add, x, 1.0)?);
    let inside = cx.mul(below, above)?;
    let log = cx.unary(ScalarOp::Log, inside)?;
    let half = cx.with_number(ScalarOp::Mul, log, 0.5)?;
    let v = cx.with_number(ScalarOp::Add, half, 2.0 / (std::f64::consts::PI * A))?;
    let square = cx.mul(v, v)?;
    let other = cx.with_number(ScalarOp::Mul, log, 1.0 / A)?;
    let root = cx.sub(square, other)?;
    let root = cx.unary(ScalarOp::Sqrt, root)?;
    let root = cx.sub(root, v)?;
    let root = cx.unary(ScalarOp::Sqrt, root)?;
    let root = cx.with_number(ScalarOp::Mul, root, std::f64::consts::SQRT_2)?;
    let mirrored = cx.unary(ScalarOp::Neg, root)?;
    let negative = cx.with_number(ScalarOp::Lt, x, 0.0)?;
    let y = cx.select(negative, mirrored, root)?;
    let end = cx.with_number(ScalarOp::Eq, inside, 0.0)?;
    let zero = cx.number_like(y, 0.0)?;
    cx.select(end, zero, y)
}

/// The labels of a classifier, in the order of its scores.
pub(super) enum Labels {
    Numbers(Vec<i64>),
    Texts(Vec<Vec<u8>>),
}

impl Labels {
    /// `attribute` names the whole numbers. Errors: there are none, nor strings.
    pub fn of(node: &Node, attribute: &str) -> Outcome<Labels> {
        if let Some(texts) = node.texts("classlabels_strings").filter(|labels| !labels.is_empty()) {
            return Ok(Labels::Texts(texts.into_iter().map(String::into_bytes).collect()));
        }
        match node.ints(attribute).filter(|labels| !labels.is_empty()) {
            Some(labels) => Ok(Labels::Numbers(labels)),
            None => Err(Fault::invalid(format!("there are no labels: attribute `{attribute}` is missing"))),
        }
    }

    pub fn count(&self) -> usize {
        match self {
            Labels::Numbers(numbers) => numbers.len(),
            Labels::Texts(texts) => texts.len(),
        }
    }

    /// The label of the largest score of each row `[N,C]`: `[N]`.
    pub fn of_largest(&self, cx: &mut Cx, scores: Value) -> Outcome<Slot> {
        let n = self.count();
        if !cx.dim(scores, 1).is_const(n as i64) {
            return Err(Fault::invalid(format!("{n} labels do not fit scores {}", cx.ty(scores))));
        }
        let kind = TensorOp::ArgReduce { max: true, axis: 1, last: false };
        let place = cx.emit(kind, &[scores])?;
        let place = cx.drop_axes(place, &[1])?;
        self.at(cx, place)
    }

    /// Of one score a row `[N,1]`: the second label (of a single one: that one, else 0 or nothing) where it is above a
    /// threshold.
    pub fn of_one_score(&self, cx: &mut Cx, score: Value, f: ScalarOp, threshold: f64) -> Outcome<Slot> {
        let pair = match self {
            Labels::Numbers(numbers) => match numbers[..] {
                [only] => Labels::Numbers(vec![0, only]),
                _ => Labels::Numbers(numbers[..2].to_vec()),
            },
            Labels::Texts(texts) => match &texts[..] {
                [only] => Labels::Texts(vec![vec![], only.clone()]),
                _ => Labels::Texts(texts[..2].to_vec()),
            },
        };
        let above = cx.with_number(f, score, threshold)?;
        let above = cx.drop_axes(above, &[1])?;
        let place = cx.cast(above, DType::I64)?;
        pair.at(cx, place)
    }

    /// The labels at places.
    fn at(&self, cx: &mut Cx, places: Value) -> Outcome<Slot> {
        Ok(match self {
            Labels::Numbers(numbers) => {
                let labels = cx.constant(HostTensor::from_elements(&[numbers.len()], numbers))?;
                Slot::Value(cx.gather(labels, places, 0)?)
            }
            Labels::Texts(texts) => {
                let labels = cx.texts(texts, &[texts.len()])?;
                Slot::Text(cx.gather(labels, places, 0)?)
            }
        })
    }
}

/// `[N,1]` to `[N,2]`: what the other class gets, then the score.
pub(super) fn with_other_class(cx: &mut Cx, score: Value, other: Value) -> Outcome {
    cx.concat(&[other, score], 1)
}
