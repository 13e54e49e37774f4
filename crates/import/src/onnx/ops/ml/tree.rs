//! Ensembles of decision trees: all rows go down all trees at once, a level a round, as gathers from tables of nodes.
//!
//! A leaf leads to itself, so that rows on short ways wait there for the others.

mod forest;

use super::scores::{Labels, PostTransform, with_other_class};
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::ops::control::Round;
use crate::report::{Fault, Outcome};
use forest::{Forest, Mode, numbers};
use std::collections::BTreeSet;
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Average,
    Sum,
    Min,
    Max,
}

/// `x: [N,F]` to `[N,n_targets]`.
pub(super) fn tree_ensemble(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let forest = Forest::of_lists(cx, node)?;
    let aggregate = match node.int("aggregate_function", 1) {
        0 => Aggregate::Average,
        1 => Aggregate::Sum,
        2 => Aggregate::Min,
        3 => Aggregate::Max,
        other => return Err(Fault::invalid(format!("aggregate_function {other} is none of 0 to 3"))),
    };
    let transform = PostTransform::of_number(node.int("post_transform", 0))?;
    let rows = cx.widened(x)?;
    let rows = cx.feature_rows(rows)?;
    let sums = aggregated(cx, &forest, rows, node.int("n_targets", 1), aggregate)?;
    let y = transform.apply(cx, sums)?;
    Ok(vec![cx.cast_like(y, x)?])
}

pub(super) fn tree_ensemble_regressor(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let forest = Forest::of_trees(cx, node, "target")?;
    let aggregate = match node.text("aggregate_function", "SUM").as_str() {
        "AVERAGE" => Aggregate::Average,
        "SUM" => Aggregate::Sum,
        "MIN" => Aggregate::Min,
        "MAX" => Aggregate::Max,
        other => return Err(Fault::invalid(format!("aggregate_function `{other}` is unknown"))),
    };
    let rows = cx.feature_rows(x)?;
    let sums = aggregated(cx, &forest, rows, node.int("n_targets", 1), aggregate)?;
    let sums = with_base(cx, node, sums)?;
    let y = PostTransform::of(node)?.apply(cx, sums)?;
    Ok(vec![cx.cast(y, DType::F32)?])
}

/// Labels `[N]` and scores `[N,classes]`. Where all weights are of one class they are scores of the second of two.
pub(super) fn tree_ensemble_classifier(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let x = node.operand(0)?;
    let forest = Forest::of_trees(cx, node, "class")?;
    let labels = Labels::of(node, "classlabels_int64s")?;
    let rows = cx.feature_rows(x)?;
    let transform = PostTransform::of(node)?;
    let classes: BTreeSet<i64> =
        forest.nodes.iter().flat_map(|node| node.outputs.iter().map(|(class, _)| *class)).collect();
    let only = classes.iter().next().copied().filter(|_| classes.len() == 1 && labels.count() <= 2);
    let Some(only) = only else {
        let sums = aggregated(cx, &forest, rows, labels.count() as i64, Aggregate::Sum)?;
        let sums = with_base(cx, node, sums)?;
        let label = labels.of_largest(cx, sums)?;
        let scores = transform.apply(cx, sums)?;
        return Ok(vec![label, Slot::Value(cx.cast(scores, DType::F32)?)]);
    };
    let sums = aggregated(cx, &forest, rows, only + 1, Aggregate::Sum)?;
    let sum = cx.slice_axis(sums, 1, Dim::from(only), Dim::from(1))?;
    let (_, base) = numbers(cx, node, "base_values")?;
    let sum = match base.last() {
        Some(base) => cx.with_number(ScalarOp::Add, sum, *base)?,
        None => sum,
    };
    // Weights that are never negative are shares of 1, others a margin around 0.
    let shares = forest.nodes.iter().all(|node| node.outputs.iter().all(|(_, weight)| *weight >= 0.0));
    let threshold = if shares { 0.5 } else { 0.0 };
    let label = labels.of_one_score(cx, sum, ScalarOp::Gt, threshold)?;
    let scores = if shares && transform != PostTransform::Logistic {
        let other = cx.number_with(ScalarOp::Sub, 1.0, sum)?;
        with_other_class(cx, sum, other)?
    } else {
        let other = cx.unary(ScalarOp::Neg, sum)?;
        let both = with_other_class(cx, sum, other)?;
        transform.apply(cx, both)?
    };
    Ok(vec![label, Slot::Value(cx.cast(scores, DType::F32)?)])
}

fn with_base(cx: &mut Cx, node: &Node, sums: Value) -> Outcome {
    let (_, base) = numbers(cx, node, "base_values")?;
    if base.is_empty() {
        return Ok(sums);
    }
    let row = cx.constant(HostTensor::from_elements(&[1, base.len()], &base))?;
    let row = cx.cast_like(row, sums)?;
    cx.add(sums, row)
}

/// What the leaves that each row `[N,F]` reaches add up to: `[N,targets]`.
fn aggregated(cx: &mut Cx, forest: &Forest, rows: Value, targets: i64, aggregate: Aggregate) -> Outcome {
    if !(1..SymbolInfo::MAX).contains(&targets) {
        return Err(Fault::invalid(format!("{targets} targets, but there must be one at least")));
    }
    let outputs = forest.nodes.iter().flat_map(|node| &node.outputs);
    if let Some((target, _)) = outputs.into_iter().find(|(target, _)| !(0..targets).contains(target)) {
        return Err(Fault::invalid(format!("a leaf adds to target {target} of {targets}")));
    }
    let leaves = leaves(cx, forest, rows)?;
    let (n, width) = (cx.dim(rows, 0), forest.longest(|node| node.outputs.len())?.max(1));
    let dtype = if [cx.dtype(rows), forest.weights].contains(&DType::F64) { DType::F64 } else { DType::F32 };
    // Of each node as many targets and weights as any has; a target of -1 is none.
    let mut table = (vec![-1i64; forest.nodes.len() * width], vec![0f64; forest.nodes.len() * width]);
    for (node, at) in forest.nodes.iter().zip((0..).step_by(width)) {
        for (i, (target, weight)) in node.outputs.iter().enumerate() {
            (table.0[at + i], table.1[at + i]) = (*target, *weight);
        }
    }
    let shape = [forest.nodes.len(), width];
    let count = Dim::from(forest.roots.len()) * Dim::from(width);
    let column: Shape = [n.clone(), count, Dim::from(1)].into_iter().collect();
    let weights = cx.constant(HostTensor::from_elements(&shape, &table.1))?;
    let weights = cx.cast(weights, dtype)?;
    let weights = cx.gather(weights, leaves, 0)?;
    let weights = cx.reshape(weights, column.clone())?;
    let target = cx.constant(HostTensor::from_elements(&shape, &table.0))?;
    let target = cx.gather(target, leaves, 0)?;
    let target = cx.reshape(target, column)?;
    let wanted = cx.iota(DType::I64, Shape::from([1, 1, targets]), 2)?;
    let hit = cx.binary(ScalarOp::Eq, target, wanted)?;
    let (f, nothing) = match aggregate {
        Aggregate::Average | Aggregate::Sum => (ScalarOp::Add, 0.0),
        Aggregate::Min => (ScalarOp::Min, largest(dtype)),
        Aggregate::Max => (ScalarOp::Max, -largest(dtype)),
    };
    let nothing = cx.number_like(weights, nothing)?;
    let parts = cx.select(hit, weights, nothing)?;
    let sums = cx.reduce(f, parts, &[1], false)?;
    match aggregate {
        Aggregate::Average => cx.with_number(ScalarOp::Div, sums, forest.roots.len() as f64),
        _ => Ok(sums),
    }
}

fn largest(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::MAX } else { f64::from(f32::MAX) }
}

/// Tables of nodes, as tensors to gather from.
struct Tables {
    feature: Value,
    split: Value,
    /// `None` where all nodes ask alike.
    mode: Option<Value>,
    modes: Vec<Mode>,
    /// `[nodes, most members]`, filled up with NaN.
    members: Option<Value>,
    nan_is_true: Option<Value>,
    yes: Value,
    no: Value,
}

impl Tables {
    fn of(cx: &mut Cx, forest: &Forest, dtype: DType) -> Outcome<Tables> {
        let nodes = &forest.nodes;
        let n = nodes.len();
        let branches =
            || nodes.iter().enumerate().filter(|(own, node)| !node.is_leaf(*own)).map(|(_, node)| node);
        let modes: BTreeSet<Mode> = branches().map(|node| node.mode).collect();
        let whole = |cx: &mut Cx, list: Vec<i64>| cx.constant(HostTensor::from_elements(&[n], &list));
        let split: Vec<f64> = nodes.iter().map(|node| node.split).collect();
        let split = cx.constant(HostTensor::from_elements(&[n], &split))?;
        let mode = match modes.len() {
            0 | 1 => None,
            _ => Some(whole(cx, nodes.iter().map(|node| node.mode as i64).collect())?),
        };
        let most = forest.longest(|node| node.members.len())?;
        let members = if modes.contains(&Mode::Member) {
            let mut table = vec![f64::NAN; n * most];
            for (row, node) in table.chunks_mut(most.max(1)).zip(nodes) {
                row[..node.members.len()].copy_from_slice(&node.members);
            }
            let table = cx.constant(HostTensor::from_elements(&[n, most], &table))?;
            Some(cx.cast(table, dtype)?)
        } else {
            None
        };
        let nan_is_true = match branches().any(|node| node.nan_is_true) {
            true => Some(whole(cx, nodes.iter().map(|node| i64::from(node.nan_is_true)).collect())?),
            false => None,
        };
        Ok(Tables {
            feature: whole(cx, nodes.iter().map(|node| node.feature).collect())?,
            split: cx.cast(split, dtype)?,
            mode,
            modes: modes.into_iter().collect(),
            members,
            nan_is_true,
            yes: whole(cx, nodes.iter().map(|node| node.yes as i64).collect())?,
            no: whole(cx, nodes.iter().map(|node| node.no as i64).collect())?,
        })
    }
}

/// The leaf of each tree that each row reaches: `i64[N,T]`.
fn leaves(cx: &mut Cx, forest: &Forest, rows: Value) -> Outcome {
    let tables = Tables::of(cx, forest, cx.dtype(rows))?;
    let roots: Vec<i64> = forest.roots.iter().map(|root| *root as i64).collect();
    let roots = cx.constant(HostTensor::from_elements(&[1, roots.len()], &roots))?;
    let all: Shape = [cx.dim(rows, 0), Dim::from(forest.roots.len())].into_iter().collect();
    let at = cx.broadcast_to(roots, &all)?;
    if forest.depth == 0 {
        return Ok(at);
    }
    if forest.depth == 1 {
        return below(cx, &tables, rows, at);
    }
    let go = cx.true_scalar()?;
    let rounds = cx.rounds(Dim::from(forest.depth), go, &[at], 0, |cx, _, at| {
        let next = below(cx, &tables, rows, at[0])?;
        Ok(Round { go: cx.true_scalar()?, carried: vec![next], stacked: vec![] })
    })?;
    Ok(rounds.carried[0])
}

/// One level down.
fn below(cx: &mut Cx, tables: &Tables, rows: Value, at: Value) -> Outcome {
    let feature = cx.gather(tables.feature, at, 0)?;
    let value = cx.emit(TensorOp::GatherElements { axis: 1 }, &[rows, feature])?;
    let split = cx.gather(tables.split, at, 0)?;
    let mode = tables.mode.map(|mode| cx.gather(mode, at, 0)).transpose()?;
    let mut holds: Option<Value> = None;
    for kind in &tables.modes {
        let own = match kind {
            Mode::LessOrEqual => cx.binary(ScalarOp::Le, value, split)?,
            Mode::Less => cx.binary(ScalarOp::Lt, value, split)?,
            Mode::GreaterOrEqual => cx.binary(ScalarOp::Ge, value, split)?,
            Mode::Greater => cx.binary(ScalarOp::Gt, value, split)?,
            Mode::Equal => cx.binary(ScalarOp::Eq, value, split)?,
            Mode::NotEqual => cx.binary(ScalarOp::Ne, value, split)?,
            Mode::Member => is_member(cx, tables, value, at)?,
        };
        holds = Some(match (holds, mode) {
            (Some(others), Some(mode)) => {
                let here = cx.with_number(ScalarOp::Eq, mode, f64::from(*kind as u8))?;
                cx.select(here, own, others)?
            }
            _ => own,
        });
    }
    let mut holds = holds.ok_or_else(|| Fault::invalid("there are no branches"))?;
    if let Some(list) = tables.nan_is_true {
        let there = cx.gather(list, at, 0)?;
        let there = cx.cast(there, DType::Bool)?;
        let missing = cx.unary(ScalarOp::IsNan, value)?;
        let there = cx.binary(ScalarOp::And, missing, there)?;
        holds = cx.binary(ScalarOp::Or, holds, there)?;
    }
    let (yes, no) = (cx.gather(tables.yes, at, 0)?, cx.gather(tables.no, at, 0)?);
    cx.select(holds, yes, no)
}

fn is_member(cx: &mut Cx, tables: &Tables, value: Value, at: Value) -> Outcome {
    let members = tables.members.ok_or_else(|| Fault::invalid("there are no sets"))?;
    let members = cx.gather(members, at, 0)?;
    let value = cx.add_axes(value, &[2])?;
    let same = cx.binary(ScalarOp::Eq, value, members)?;
    cx.reduce(ScalarOp::Or, same, &[2], false)
}
