//! TfIdfVectorizer over whole numbers: how often each n-gram of a pool occurs in each row.
//!
//! Every window of a row is compared with every n-gram of its length: work in proportion to row times pool.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{ScatterKind, TensorOp};

pub(super) const ROWS: &[Row] = &[op("TfIdfVectorizer", tf_idf_vectorizer)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weighting {
    Count,
    /// Whether it occurs.
    Presence,
    Both,
}

/// The n-grams that count, by length; `ids` are their places in the pool's list of n-grams.
struct Grams {
    length: usize,
    ids: Vec<usize>,
    items: Vec<Vec<i64>>,
}

fn tf_idf_vectorizer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    if node.has("pool_strings") {
        return Err(Fault::unsupported("strings are not supported"));
    }
    if !cx.dtype(x).is_int() || cx.rank(x) > 2 {
        return Err(Fault::from(format!("whole numbers [C] or [N,C] are expected, got {}", cx.ty(x))));
    }
    let weighting = match node.text("mode", "").as_str() {
        "TF" => Weighting::Count,
        "IDF" => Weighting::Presence,
        "TFIDF" => Weighting::Both,
        other => return Err(Fault::invalid(format!("mode `{other}` is none of TF, IDF, TFIDF"))),
    };
    let columns = node.ints("ngram_indexes").unwrap_or_default();
    if columns.is_empty() || columns.iter().any(|column| !(0..SymbolInfo::MAX).contains(column)) {
        return Err(Fault::invalid("ngram_indexes must be given, and not be negative"));
    }
    let skips = node.int("max_skip_count", 0);
    if !(0..=SymbolInfo::MAX).contains(&skips) {
        return Err(Fault::invalid(format!("max_skip_count is {skips}, but must not be negative")));
    }
    let grams = pool(node)?;
    let single = cx.rank(x) < 2;
    let flat = if single {
        let length = cx.shape(x).count();
        cx.reshape(x, [Dim::from(1), length])?
    } else {
        x
    };
    let flat = cx.cast(flat, DType::I64)?;
    let weights = node.floats("weights").filter(|weights| !weights.is_empty());
    let mut parts = vec![];
    let (mut places, mut factors) = (vec![], vec![]);
    for grams in &grams {
        parts.push(counts(cx, flat, grams, skips)?);
        for id in &grams.ids {
            let missing = |name: &str| Fault::invalid(format!("{name} has no entry for n-gram {id}"));
            places.push(*columns.get(*id).ok_or_else(|| missing("ngram_indexes"))?);
            factors.push(match &weights {
                Some(weights) => *weights.get(*id).ok_or_else(|| missing("weights"))?,
                None => 1.0,
            });
        }
    }
    let width = columns.iter().max().map_or(0, |most| most + 1);
    let batch = cx.dim(flat, 0);
    let mut y = cx.splat(DType::F32, [batch.clone(), Dim::from(width)], 0.0)?;
    if !parts.is_empty() {
        let mut values = cx.concat(&parts, 1)?;
        if weighting == Weighting::Presence {
            let any = cx.with_number(ScalarOp::Gt, values, 0.0)?;
            values = cx.cast(any, DType::F32)?;
        }
        if weighting != Weighting::Count {
            let factors = cx.constant(HostTensor::from_elements(&[1, factors.len()], &factors))?;
            values = cx.mul(values, factors)?;
        }
        let places = cx.constant(HostTensor::from_elements(&[1, places.len()], &places))?;
        let shape = cx.shape(values);
        let places = cx.broadcast_to(places, &shape)?;
        y = cx.emit(TensorOp::ScatterElements { axis: 1, kind: ScatterKind::Add }, &[y, places, values])?;
    }
    let result = if single { Shape::from([width]) } else { Shape::from([batch, Dim::from(width)]) };
    Ok(vec![cx.reshape(y, result)?])
}

/// The pool: all single items, then all pairs, and so on, from where `ngram_counts` says.
fn pool(node: &Node) -> Outcome<Vec<Grams>> {
    let items = node.ints("pool_int64s").unwrap_or_default();
    let starts = node.ints("ngram_counts").unwrap_or_default();
    let (least, most) = (node.int("min_gram_length", 1), node.int("max_gram_length", 1));
    let mut all = vec![];
    let mut id = 0;
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(items.len() as i64);
        let part = usize::try_from(*start)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(start, end)| items.get(start..end))
            .ok_or_else(|| {
                Fault::invalid(format!("ngram_counts {starts:?} do not cut {} items", items.len()))
            })?;
        let length = i + 1;
        let mut grams = Grams { length, ids: vec![], items: vec![] };
        for gram in part.chunks_exact(length) {
            // Of equal ones the last counts.
            if let Some(at) = grams.items.iter().position(|known| known == gram) {
                grams.ids[at] = id;
            } else {
                grams.items.push(gram.to_vec());
                grams.ids.push(id);
            }
            id += 1;
        }
        if (least..=most).contains(&(length as i64)) && !grams.ids.is_empty() {
            all.push(grams);
        }
    }
    Ok(all)
}

/// How often each n-gram of one length occurs in each row of `[N,C]`, with up to `skips` items left out between any two:
/// `f32[N, grams]`.
fn counts(cx: &mut Cx, x: Value, grams: &Grams, skips: i64) -> Outcome {
    let (batch, n) = (cx.dim(x, 0), grams.ids.len());
    let columns: Vec<Value> = (0..grams.length)
        .map(|at| {
            let column: Vec<i64> = grams.items.iter().map(|gram| gram[at]).collect();
            cx.constant(HostTensor::from_elements(&[1, 1, n], &column))
        })
        .collect::<Outcome<_>>()?;
    let mut sum = cx.splat(DType::F32, [batch, Dim::from(n)], 0.0)?;
    // Skipping changes nothing about single items.
    let last_skip = if grams.length == 1 { 0 } else { skips };
    let length = cx.dim(x, 1);
    for step in 1..=last_skip + 1 {
        let reach = Dim::from(step) * Dim::from(grams.length as i64 - 1);
        let windows = cx.most(&(length.clone() - reach), &Dim::from(0));
        if windows.is_const(0) {
            break;
        }
        let mut hit: Option<Value> = None;
        for (at, column) in columns.iter().enumerate() {
            let start = Dim::from(step) * Dim::from(at as i64);
            // A row that is shorter than the reach has no window, wherever it would start.
            let start = cx.least(&start, &(length.clone() - windows.clone()));
            let item = cx.slice_axis(x, 1, start, windows.clone())?;
            let item = cx.add_axes(item, &[2])?;
            let same = cx.binary(ScalarOp::Eq, item, *column)?;
            hit = Some(match hit {
                Some(hit) => cx.binary(ScalarOp::And, hit, same)?,
                None => same,
            });
        }
        let Some(hit) = hit else { break };
        let hit = cx.cast(hit, DType::F32)?;
        let found = cx.reduce(ScalarOp::Add, hit, &[1], false)?;
        sum = cx.add(sum, found)?;
    }
    Ok(sum)
}
