//! Support vector machines: SVMRegressor and SVMClassifier, after libsvm (Chang, Lin 2011).

use super::scores::{Labels, PostTransform, with_other_class};
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::ops::control::Round;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ScalarOp, Value};

/// More classes than this have too long a step of the coupling of probabilities.
const MAX_COUPLED: usize = 64;

/// The likeness of each row `[N,F]` and each vector `[V,F]`: `[N,V]`.
fn likeness(cx: &mut Cx, node: &Node, rows: Value, vectors: &[f32], n: usize) -> Outcome {
    if n == 0 || vectors.is_empty() || !vectors.len().is_multiple_of(n) {
        return Err(Fault::invalid(format!("{} numbers are no {n} vectors", vectors.len())));
    }
    let params = node.floats("kernel_params").unwrap_or_default();
    let param = |i: usize| f64::from(params.get(i).copied().unwrap_or(0.0));
    let (gamma, offset, degree) = (param(0), param(1), param(2));
    let dtype = cx.dtype(rows);
    let vectors = cx.constant(HostTensor::from_elements(&[n, vectors.len() / n], vectors))?;
    let vectors = cx.cast(vectors, dtype)?;
    let kernel = node.text("kernel_type", "LINEAR");
    if kernel == "RBF" {
        let (row, vector) = (cx.add_axes(rows, &[1])?, cx.add_axes(vectors, &[0])?);
        let difference = cx.sub(row, vector)?;
        let square = cx.mul(difference, difference)?;
        let distance = cx.reduce(ScalarOp::Add, square, &[2], false)?;
        let scaled = cx.with_number(ScalarOp::Mul, distance, -gamma)?;
        return cx.unary(ScalarOp::Exp, scaled);
    }
    let turned = cx.transpose_matrix(vectors)?;
    let product = cx.matmul(rows, turned, dtype)?;
    let bent = |cx: &mut Cx| {
        let scaled = cx.with_number(ScalarOp::Mul, product, gamma)?;
        cx.with_number(ScalarOp::Add, scaled, offset)
    };
    match kernel.as_str() {
        "LINEAR" => Ok(product),
        "POLY" => {
            let bent = bent(cx)?;
            cx.with_number(ScalarOp::Pow, bent, degree.trunc())
        }
        "SIGMOID" => {
            let bent = bent(cx)?;
            cx.unary(ScalarOp::Tanh, bent)
        }
        other => Err(Fault::invalid(format!("kernel_type `{other}` is none of LINEAR, POLY, RBF, SIGMOID"))),
    }
}

/// `[N,F]` times `[F,n]`.
fn weighted(cx: &mut Cx, rows: Value, weights: &[f32], n: usize) -> Outcome {
    let matrix = cx.constant(HostTensor::from_elements(&[weights.len() / n.max(1), n], weights))?;
    let matrix = cx.cast_like(matrix, rows)?;
    let dtype = cx.dtype(rows);
    cx.matmul(rows, matrix, dtype)
}

pub(super) fn svm_regressor(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rows = cx.feature_rows(x)?;
    let coefficients = node.floats("coefficients").unwrap_or_default();
    let supports = usize::try_from(node.int("n_supports", 0)).unwrap_or(0);
    let rho = node.floats("rho").and_then(|rho| rho.first().copied()).unwrap_or(0.0);
    let features = if supports > 0 {
        let vectors = node.floats("support_vectors").unwrap_or_default();
        likeness(cx, node, rows, &vectors, supports)?
    } else {
        rows
    };
    let y = weighted(cx, features, &coefficients, 1)?;
    let mut y = cx.with_number(ScalarOp::Add, y, f64::from(rho))?;
    if node.flag("one_class", false) {
        let above = cx.with_number(ScalarOp::Gt, y, 0.0)?;
        let (inside, outside) = (cx.number_like(y, 1.0)?, cx.number_like(y, -1.0)?);
        y = cx.select(above, inside, outside)?;
    }
    let y = PostTransform::of(node)?.apply(cx, y)?;
    Ok(vec![cx.cast(y, DType::F32)?])
}

/// Labels `[N]` and scores: of classes where there are probabilities or no vectors, else of pairs of classes; one score is
/// given for both of two labels.
pub(super) fn svm_classifier(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let x = node.operand(0)?;
    let rows = cx.feature_rows(x)?;
    let labels = Labels::of(node, "classlabels_ints")?;
    let transform = PostTransform::of(node)?;
    let rho = node.floats("rho").unwrap_or_default();
    let per_class = node.ints("vectors_per_class").unwrap_or_default();
    let (label, scores) = if per_class.iter().all(|n| *n == 0) {
        let coefficients = node.floats("coefficients").unwrap_or_default();
        let classes = labels.count();
        if !coefficients.len().is_multiple_of(classes) {
            return Err(Fault::invalid(format!("{} coefficients for {classes} labels", coefficients.len())));
        }
        let matrix =
            cx.constant(HostTensor::from_elements(&[classes, coefficients.len() / classes], &coefficients))?;
        let matrix = cx.cast_like(matrix, rows)?;
        let turned = cx.transpose_matrix(matrix)?;
        let dtype = cx.dtype(rows);
        let scores = cx.matmul(rows, turned, dtype)?;
        let rho = rho.first().copied().unwrap_or(0.0);
        let scores = cx.with_number(ScalarOp::Add, scores, f64::from(rho))?;
        (labels.of_largest(cx, scores)?, scores)
    } else {
        let pairs = Pairs::of(node, &per_class, labels.count(), &rho)?;
        let vectors = node.floats("support_vectors").unwrap_or_default();
        let likeness = likeness(cx, node, rows, &vectors, pairs.vectors)?;
        let margins = pairs.margins(cx, likeness, &rho)?;
        let votes = pairs.votes(cx, margins)?;
        let label = labels.of_largest(cx, votes)?;
        let scores = match node.floats("prob_a").filter(|list| !list.is_empty()) {
            Some(a) => pairs.probabilities(cx, margins, &a, &node.floats("prob_b").unwrap_or_default())?,
            None => margins,
        };
        (label, scores)
    };
    let scores = if cx.dim(scores, 1).is_const(1) {
        let other = cx.unary(ScalarOp::Neg, scores)?;
        with_other_class(cx, scores, other)?
    } else {
        scores
    };
    let scores = transform.apply(cx, scores)?;
    Ok(vec![label, Slot::Value(cx.cast(scores, DType::F32)?)])
}

/// One machine for each pair of classes, the first class of a pair above 0.
struct Pairs {
    classes: usize,
    vectors: usize,
    pairs: Vec<(usize, usize)>,
    /// `[vectors, pairs]`.
    weights: Vec<f32>,
}

impl Pairs {
    fn of(node: &Node, per_class: &[i64], classes: usize, rho: &[f32]) -> Outcome<Pairs> {
        let fault = |why: String| Err(Fault::invalid(why));
        if per_class.len() != classes || per_class.iter().any(|n| *n < 0) {
            return fault(format!("vectors_per_class {per_class:?} do not fit {classes} labels"));
        }
        let coefficients = node.floats("coefficients").unwrap_or_default();
        let vectors = per_class.iter().try_fold(0usize, |sum, n| sum.checked_add(usize::try_from(*n).ok()?));
        let Some(vectors) = vectors.filter(|n| n.checked_mul(classes - 1) == Some(coefficients.len())) else {
            return fault(format!("{} coefficients do not fit {per_class:?} vectors", coefficients.len()));
        };
        let pairs: Vec<(usize, usize)> =
            (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j))).collect();
        if pairs.is_empty() {
            return fault("one class alone has no pairs".to_string());
        }
        if rho.len() != pairs.len() {
            return fault(format!("rho has {} entries for {} pairs of classes", rho.len(), pairs.len()));
        }
        let class_of: Vec<usize> = per_class
            .iter()
            .enumerate()
            .flat_map(|(class, n)| std::iter::repeat_n(class, usize::try_from(*n).unwrap_or(0)))
            .collect();
        // Row k of the coefficients holds those against class k, one's own left out.
        let mut weights = vec![0f32; vectors * pairs.len()];
        for (v, class) in class_of.into_iter().enumerate() {
            for (e, (i, j)) in pairs.iter().enumerate() {
                let row = if class == *i { *j - 1 } else { *i };
                if class == *i || class == *j {
                    weights[v * pairs.len() + e] = coefficients[row * vectors + v];
                }
            }
        }
        Ok(Pairs { classes, vectors, pairs, weights })
    }

    /// `[N,pairs]`.
    fn margins(&self, cx: &mut Cx, likeness: Value, rho: &[f32]) -> Outcome {
        let sums = weighted(cx, likeness, &self.weights, self.pairs.len())?;
        let rho = cx.float_row(rho)?;
        let rho = cx.cast_like(rho, sums)?;
        cx.add(sums, rho)
    }

    /// How many pairs each class wins: `[N,classes]`.
    fn votes(&self, cx: &mut Cx, margins: Value) -> Outcome {
        let (mut won, mut lost) =
            (vec![0f32; self.pairs.len() * self.classes], vec![0f32; self.pairs.len() * self.classes]);
        for (e, (i, j)) in self.pairs.iter().enumerate() {
            won[e * self.classes + i] = 1.0;
            lost[e * self.classes + j] = 1.0;
        }
        let above = cx.with_number(ScalarOp::Gt, margins, 0.0)?;
        let above = cx.cast(above, DType::F32)?;
        let below = cx.number_with(ScalarOp::Sub, 1.0, above)?;
        let (won, lost) =
            (weighted(cx, above, &won, self.classes)?, weighted(cx, below, &lost, self.classes)?);
        cx.add(won, lost)
    }

    /// The probability of each class from those of the pairs, coupled as Wu, Lin and Weng (2004) have it: `[N,classes]`.
    fn probabilities(&self, cx: &mut Cx, margins: Value, a: &[f32], b: &[f32]) -> Outcome {
        let k = self.classes;
        if [a.len(), b.len()] != [self.pairs.len(); 2] {
            return Err(Fault::invalid("prob_a and prob_b must have an entry for each pair of classes"));
        }
        if k > MAX_COUPLED {
            return Err(Fault::unsupported(format!("probabilities of more than {MAX_COUPLED} classes")));
        }
        let dtype = cx.dtype(margins);
        let (a, b) = (cx.float_row(a)?, cx.float_row(b)?);
        let (a, b) = (cx.cast(a, dtype)?, cx.cast(b, dtype)?);
        let place = cx.mul(margins, a)?;
        let place = cx.add(place, b)?;
        let place = cx.unary(ScalarOp::Neg, place)?;
        let first = cx.unary(ScalarOp::Sigmoid, place)?;
        let first = cx.with_number(ScalarOp::Max, first, 1e-7)?;
        let first = cx.with_number(ScalarOp::Min, first, 1.0 - 1e-7)?;
        let second = cx.number_with(ScalarOp::Sub, 1.0, first)?;
        // r[s][t]: the probability of s where it is s or t.
        let mut r = vec![vec![None; k]; k];
        for (e, (i, j)) in self.pairs.iter().enumerate() {
            r[*i][*j] = Some(cx.slice_axis(first, 1, Dim::from(e), Dim::from(1))?);
            r[*j][*i] = Some(cx.slice_axis(second, 1, Dim::from(e), Dim::from(1))?);
        }
        let mut entries = Vec::with_capacity(k * k);
        for t in 0..k {
            for s in 0..k {
                let mut sum: Option<Value> = None;
                let products = match s == t {
                    true => (0..k).filter_map(|u| r[u][t]).map(|r| (r, r)).collect(),
                    false => r[s][t].zip(r[t][s]).into_iter().collect::<Vec<_>>(),
                };
                for (one, other) in products {
                    let product = cx.mul(one, other)?;
                    sum = Some(match sum {
                        Some(sum) => cx.add(sum, product)?,
                        None => product,
                    });
                }
                let sum = sum.ok_or_else(|| Fault::invalid("one class alone has no probability"))?;
                entries.push(if s == t { sum } else { cx.unary(ScalarOp::Neg, sum)? });
            }
        }
        let q = cx.concat(&entries, 1)?;
        let n = cx.dim(margins, 0);
        let q = cx.reshape(q, [n.clone(), Dim::from(k), Dim::from(k)])?;
        let even: Shape = [n, Dim::from(k)].into_iter().collect();
        let even = cx.splat(dtype, even, 1.0 / k as f64)?;
        let go = cx.true_scalar()?;
        let rounds =
            cx.rounds(Dim::from(k.max(100)), go, &[even], 0, |cx, _, p| coupling_round(cx, q, p[0], k))?;
        Ok(rounds.carried[0])
    }
}

/// One pass over the classes; rows that are near enough keep what they have.
fn coupling_round(cx: &mut Cx, q: Value, p: Value, k: usize) -> Outcome<Round> {
    let dtype = cx.dtype(p);
    let column = cx.add_axes(p, &[2])?;
    let product = cx.matmul(q, column, dtype)?;
    let mut qp = cx.drop_axes(product, &[2])?;
    let both = cx.mul(p, qp)?;
    let mut pqp = cx.reduce(ScalarOp::Add, both, &[1], true)?;
    let off = cx.sub(qp, pqp)?;
    let off = cx.unary(ScalarOp::Abs, off)?;
    let error = cx.reduce(ScalarOp::Max, off, &[1], true)?;
    let open = cx.with_number(ScalarOp::Ge, error, 0.005 / k as f64)?;
    let mut next = p;
    for t in 0..k {
        let row = cx.slice_axis(q, 1, Dim::from(t), Dim::from(1))?;
        let row = cx.drop_axes(row, &[1])?;
        let own = cx.slice_axis(row, 1, Dim::from(t), Dim::from(1))?;
        let here = cx.slice_axis(qp, 1, Dim::from(t), Dim::from(1))?;
        let gap = cx.sub(pqp, here)?;
        let step = cx.div(gap, own)?;
        let grown = cx.with_number(ScalarOp::Add, step, 1.0)?;
        let inner = cx.mul(step, own)?;
        let twice = cx.add(here, here)?;
        let inner = cx.add(inner, twice)?;
        let inner = cx.mul(step, inner)?;
        let above = cx.add(pqp, inner)?;
        let square = cx.mul(grown, grown)?;
        pqp = cx.div(above, square)?;
        let along = cx.mul(step, row)?;
        let moved = cx.add(qp, along)?;
        qp = cx.div(moved, grown)?;
        let place = cx.iota(DType::I64, Shape::from([1, k as i64]), 1)?;
        let hit = cx.with_number(ScalarOp::Eq, place, t as f64)?;
        let raised = cx.add(next, step)?;
        let raised = cx.select(hit, raised, next)?;
        next = cx.div(raised, grown)?;
    }
    let p = cx.select(open, next, p)?;
    let any = cx.reduce(ScalarOp::Or, open, &[0, 1], false)?;
    Ok(Round { go: any, carried: vec![p], stacked: vec![] })
}
