//! Sums and products: contractions, convolutions, reductions, scans, averages, scatters that combine.
//!
//! Every quantity of a bound (sum of magnitudes, sum of operands' bounds, number of terms) is the op itself on other
//! numbers, in `f64`.

use super::Bounded;
use super::float::{accumulator, eta, gamma, largest, unit_roundoff};
use super::run::values;
use tegula_base::{DType, Dim, HostTensor};
use tegula_ir::ScalarOp;
use tegula_tensor::{DotDims, PoolKind, ScatterKind, TensorOp, winograd};

type Results = Result<Vec<Bounded>, String>;

fn f64s(shape: &[usize], numbers: Vec<f64>) -> HostTensor {
    HostTensor::from_elements(shape, &numbers)
}

/// |x|, with NaN and infinity as 0: elements that they reach are judged by the result.
fn magnitudes(x: &Bounded) -> HostTensor {
    let numbers = x.value.to_f64().into_iter().map(|x| if x.is_finite() { x.abs() } else { 0.0 });
    f64s(&x.value.shape, numbers.collect())
}

/// Bounds, where a finite one is known; infinite ones as 0.
fn known(x: &Bounded) -> HostTensor {
    let numbers = x.error_tensor().to_f64();
    f64s(&x.value.shape, numbers.into_iter().map(|e| if e.is_finite() { e } else { 0.0 }).collect())
}

/// 1 where a bound is not known.
fn unknown(x: &Bounded) -> HostTensor {
    let numbers = x.error_tensor().to_f64();
    f64s(&x.value.shape, numbers.into_iter().map(|e| f64::from(u8::from(!e.is_finite()))).collect())
}

fn ones(x: &Bounded) -> HostTensor {
    f64s(&x.value.shape, vec![1.0; x.value.count()])
}

fn has_unknown(x: &[Bounded]) -> bool {
    x.iter().any(|x| x.error.as_ref().is_some_and(|error| error.iter().any(|e| !e.is_finite())))
}

/// The op's result in `f64`, element by element.
fn reals(kind: &TensorOp, x: &[&HostTensor]) -> Result<Vec<f64>, String> {
    Ok(values(kind, x)?.remove(0).to_f64())
}

/// The same op with `f64` operands.
fn in_f64(kind: &TensorOp) -> TensorOp {
    let mut kind = kind.clone();
    match &mut kind {
        TensorOp::Dot { out, pair_sums, .. } => (*out, *pair_sums) = (DType::F64, None),
        TensorOp::Conv { out, .. } => *out = DType::F64,
        _ => {}
    }
    kind
}

/// What is known of one element of a sum.
struct Sum {
    result: f64,
    /// Sum of the terms' magnitudes.
    magnitude: f64,
    /// Number of terms.
    terms: f64,
    /// Sum of the terms' bounds.
    carried: f64,
    /// What products that underflow may lose together.
    underflow: f64,
    unknown: bool,
}

impl Sum {
    fn bound(&self, out: DType) -> f64 {
        let acc = accumulator(out);
        let own = gamma(self.terms, acc) * (self.magnitude + self.carried) + self.underflow;
        let error = own + self.carried;
        if self.unknown || self.magnitude + error >= largest(acc) {
            return f64::INFINITY;
        }
        if !self.result.is_finite() {
            // NaN and infinity come from operands, as no sum overflows (checked above), unless on rounding.
            let overflows = self.magnitude + error >= largest(out) * 0.999;
            return if overflows { f64::INFINITY } else { 0.0 };
        }
        if self.result.abs() + error >= largest(out) {
            return f64::INFINITY;
        }
        // A zero may have either sign: never 0.
        error + 2.0 * unit_roundoff(out) * self.result.abs() + 2.0 * eta(out)
    }
}

pub(super) fn contract(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let out = out.into_iter().next().ok_or("no result")?;
    let op = in_f64(kind);
    let (a, b) = (magnitudes(&x[0]), magnitudes(&x[1]));
    let transformed = may_be_transformed(kind, x);
    let magnitude = match transformed {
        true => reals(&op, &[&a, &spread(&b)])?.into_iter().map(|m| WINOGRAD_TERMS * m).collect(),
        false => reals(&op, &[&a, &b])?,
    };
    let endless = if transformed { reached_by_endless(&op, x)? } else { None };
    let terms = reals(&op, &[&ones(&x[0]), &ones(&x[1])])?;
    let mut carried = vec![0.0; magnitude.len()];
    if x[0].error.is_some() || x[1].error.is_some() {
        let (ea, eb) = (known(&x[0]), known(&x[1]));
        let parts = [reals(&op, &[&a, &eb])?, reals(&op, &[&ea, &b])?, reals(&op, &[&ea, &eb])?];
        for (i, carried) in carried.iter_mut().enumerate() {
            *carried = parts.iter().map(|part| part[i]).sum();
        }
    }
    if let TensorOp::Dot { dims, .. } = &op
        && x.iter().all(|x| x.is_small)
    {
        let short = lost_to_short_sums(&op, dims, x, [&a, &b])?;
        carried.iter_mut().zip(short).for_each(|(carried, short)| *carried += short);
    }
    let (mask, beside) = (reach(&op, x)?, completed(&op, x)?);
    let is_flushed = x.iter().all(|x| x.value.dtype == DType::BF16);
    let underflow = if is_flushed { LEAST_NORMAL } else { eta(accumulator(out.dtype)) };
    let lost = if is_flushed { flushed(&op, x, [&a, &b])? } else { None };
    let error = (0..magnitude.len()).zip(out.to_f64()).map(|(i, result)| {
        let lost = lost.as_ref().map_or(0.0, |lost| lost[i]);
        Sum {
            result,
            magnitude: magnitude[i],
            terms: terms[i],
            carried: carried[i] + lost,
            underflow: terms[i] * underflow,
            unknown: [&mask, &beside, &endless].into_iter().flatten().any(|mask| mask[i] > 0.0)
                || lost > 0.0 && !result.is_finite(),
        }
        .bound(out.dtype)
    });
    let error = error.collect();
    Ok(vec![Bounded::new(out, error)])
}

/// Products that a matrix unit adds to its sum at once, and what of the largest of them it drops: it keeps some 14 bits.
/// Source: DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2, of the H800; an H200 was seen to drop 2^-13.3
/// of the products' magnitudes, 128 of them or fewer (2026-11-26).
const SHORT_STEP: usize = 32;
const SHORT_LOSS: f64 = 1.0 / 8192.0;

/// What matrix units lose of sums of products of 8-bit floats: at each step a share of the largest sum so far, of any run
/// of steps (at most twice the largest from the start), and of the step's products.
fn lost_to_short_sums(
    op: &TensorOp,
    dims: &DotDims,
    x: &[Bounded],
    magnitudes: [&HostTensor; 2],
) -> Result<Vec<f64>, String> {
    let [(left, right)] = dims.lhs_contract.iter().zip(&dims.rhs_contract).collect::<Vec<_>>()[..] else {
        // Of no axis or several: no sum on the way is larger than all magnitudes.
        let terms: usize = dims.lhs_contract.iter().map(|axis| x[0].value.shape[*axis]).product();
        let share = 3.0 * terms.div_ceil(SHORT_STEP) as f64 * SHORT_LOSS;
        return Ok(reals(op, &magnitudes)?.into_iter().map(|m| share * m).collect());
    };
    let extent = x[0].value.shape[*left];
    let [lhs, rhs] = [&x[0], &x[1]].map(|x| f64s(&x.value.shape, x.value.to_f64()));
    let (mut sums, mut largest, mut step) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..extent).step_by(SHORT_STEP) {
        let end = extent.min(start + SHORT_STEP);
        let part = |x: &HostTensor, axis: usize| cut(x, axis, start, end);
        let own = reals(op, &[&part(&lhs, *left), &part(&rhs, *right)])?;
        let products = reals(op, &[&part(magnitudes[0], *left), &part(magnitudes[1], *right)])?;
        sums.resize(own.len(), 0.0);
        largest.resize(own.len(), 0.0);
        step.resize(own.len(), 0.0);
        for i in 0..own.len() {
            sums[i] += own[i];
            // Sums that are not finite are compared as they are.
            if sums[i].is_finite() {
                largest[i] = f64::max(largest[i], f64::abs(sums[i]));
            }
            step[i] = f64::max(step[i], products[i]);
        }
    }
    let steps = extent.div_ceil(SHORT_STEP) as f64;
    let loss = |(largest, step): (&f64, &f64)| steps * SHORT_LOSS * (2.0 * largest + step);
    Ok(largest.iter().zip(&step).map(loss).collect())
}

/// The elements from `start` to before `end` along an axis.
fn cut(x: &HostTensor, axis: usize, start: usize, end: usize) -> HostTensor {
    let inner = x.shape[axis + 1..].iter().product::<usize>() * x.dtype.size();
    let row = x.shape[axis] * inner;
    let bytes =
        x.bytes.chunks(row.max(1)).flat_map(|row| &row[start * inner..end * inner]).copied().collect();
    let mut shape = x.shape.clone();
    shape[axis] = end - start;
    HostTensor { dtype: x.dtype, shape, bytes }
}

/// Whether Winograd's algorithm may compute it: then elements of a window meet all of a filter, with either sign.
fn may_be_transformed(kind: &TensorOp, x: &[Bounded]) -> bool {
    let TensorOp::Conv { window, groups, out: DType::F32 } = kind else { return false };
    let [o, c, ..] = x[1].value.shape[..] else { return false };
    winograd::suits(window, *groups) && o.min(c) >= winograd::FEWEST_CHANNELS as usize
}

/// By how much the terms of a tile's transforms are together larger, at most, than each element of a window times each of its
/// filter: of `Aᵀ`, `G` and `Bᵀ`, along an axis, three products of `|d0| + |d1| + 2 |d2|` and `|g0| + |g1| + |g2|` at most.
const WINOGRAD_TERMS: f64 = 4.0;

/// Magnitudes of filters `[O, C, ...]`: their sum in every place.
fn spread(magnitudes: &HostTensor) -> HostTensor {
    let filter: usize = magnitudes.shape[2..].iter().product();
    let numbers = magnitudes.to_f64();
    let sums = numbers.chunks(filter.max(1)).flat_map(|taps| {
        let sum: f64 = taps.iter().sum();
        taps.iter().map(move |_| sum)
    });
    f64s(&magnitudes.shape, sums.collect())
}

/// How many elements that are not finite each result's window and filter have; `None`: there are none.
fn reached_by_endless(op: &TensorOp, x: &[Bounded]) -> Result<Option<Vec<f64>>, String> {
    let is_finite = |x: &Bounded| x.value.to_f64().into_iter().all(f64::is_finite);
    if x.iter().all(is_finite) { Ok(None) } else { reached(op, x, endless).map(Some) }
}

/// 1 where an element is not finite.
fn endless(x: &Bounded) -> HostTensor {
    let numbers = x.value.to_f64().into_iter().map(|x| f64::from(u8::from(!x.is_finite())));
    f64s(&x.value.shape, numbers.collect())
}

/// The smallest normal `f32` and `bf16`: below it contractions of `bf16` may count 0.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// What is lost where factors that may be denormal count as 0; `None`: there are none.
fn flushed(op: &TensorOp, x: &[Bounded], magnitudes: [&HostTensor; 2]) -> Result<Option<Vec<f64>>, String> {
    let loss = |x: &Bounded, magnitude: &HostTensor| -> HostTensor {
        let pairs = magnitude.to_f64().into_iter().zip(known(x).to_f64());
        let lost = |(x, e): (f64, f64)| if x - e < LEAST_NORMAL { (x + e).min(LEAST_NORMAL) } else { 0.0 };
        f64s(&magnitude.shape, pairs.map(lost).collect())
    };
    let [a, b] = magnitudes;
    let (lost_a, lost_b) = (loss(&x[0], a), loss(&x[1], b));
    if [&lost_a, &lost_b].iter().all(|lost| lost.to_f64().iter().all(|lost| *lost == 0.0)) {
        return Ok(None);
    }
    // Beside an infinity, which counts as 0 among magnitudes, what is lost must still be seen.
    let seen = |x: &HostTensor| f64s(&x.shape, x.to_f64().into_iter().map(|x| x.max(LEAST_NORMAL)).collect());
    let (left, right) = (reals(op, &[&lost_a, &seen(b)])?, reals(op, &[&seen(a), &lost_b])?);
    Ok(Some(left.iter().zip(right).map(|(l, r)| l + r).collect()))
}

/// How many elements of x that may not be finite reach each result of a transposed convolution whose windows have
/// zeros up to whole strides, at either end; `None`: there are none.
fn completed(op: &TensorOp, x: &[Bounded]) -> Result<Option<Vec<f64>>, String> {
    let TensorOp::ConvTranspose { window, groups, output } = op else { return Ok(None) };
    let pairs = x[0].value.to_f64().into_iter().zip(x[0].error_tensor().to_f64());
    let endless: Vec<f64> =
        pairs.map(|(x, e)| f64::from(u8::from(!x.is_finite() || !e.is_finite()))).collect();
    if endless.iter().all(|n| *n == 0.0) {
        return Ok(None);
    }
    let (mut window, mut weights) = (window.clone(), x[1].value.shape.clone());
    for i in 0..window.size.len() {
        let zeros = window.strides[i] - 1;
        window.size[i] += 2 * zeros;
        window.low[i] = window.low[i].clone() + Dim::from(zeros * window.dilations[i]);
        weights[2 + i] = window.size[i] as usize;
    }
    let ones = f64s(&weights, vec![1.0; weights.iter().product()]);
    let wider = TensorOp::ConvTranspose { window, groups: *groups, output: output.clone() };
    reals(&wider, &[&f64s(&x[0].value.shape, endless), &ones]).map(Some)
}

/// How many unknown operand elements reach each result; `None`: there are none.
fn reach(op: &TensorOp, x: &[Bounded]) -> Result<Option<Vec<f64>>, String> {
    if has_unknown(x) { reached(op, x, unknown).map(Some) } else { Ok(None) }
}

/// How many operand elements that `mark` has as 1 reach each result.
fn reached(op: &TensorOp, x: &[Bounded], mark: fn(&Bounded) -> HostTensor) -> Result<Vec<f64>, String> {
    let [a, b] = x else { return reals(op, &[&mark(&x[0])]) };
    let left = reals(op, &[&mark(a), &ones(b)])?;
    let right = reals(op, &[&ones(a), &mark(b)])?;
    Ok(left.iter().zip(right).map(|(l, r)| l + r).collect())
}

/// Integer sums: unknown where something unknown goes in.
pub(super) fn masked(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let mask = reach(&in_f64(kind), x)?.unwrap_or_default();
    let error = mask.into_iter().map(|n| if n > 0.0 { f64::INFINITY } else { 0.0 }).collect();
    Ok(vec![Bounded::new(out.into_iter().next().ok_or("no result")?, error)])
}

/// Unknown where anything along the axis has a bound.
pub(super) fn masked_arg(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let TensorOp::ArgReduce { axis, .. } = kind else { return Err("no arg-reduction".into()) };
    let worst = TensorOp::Reduce { f: ScalarOp::Max, axes: vec![*axis] };
    let errors = reals(&worst, &[&x[0].error_tensor()])?;
    let error = errors.into_iter().map(|e| if e > 0.0 { f64::INFINITY } else { 0.0 }).collect();
    Ok(vec![Bounded::new(out.into_iter().next().ok_or("no result")?, error)])
}

/// Sums and products along axes, whole or running.
pub(super) fn reduce(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let out = out.into_iter().next().ok_or("no result")?;
    let x = &x[0];
    let with = |f: ScalarOp| match kind.clone() {
        TensorOp::Scan { axis, exclusive, reverse, .. } => TensorOp::Scan { f, axis, exclusive, reverse },
        TensorOp::Reduce { axes, .. } => TensorOp::Reduce { f, axes },
        other => other,
    };
    let (TensorOp::Reduce { f, .. } | TensorOp::Scan { f, .. }) = kind else {
        return Err("no reduction".into());
    };
    let sum = with(ScalarOp::Add);
    let terms = reals(&sum, &[&ones(x)])?;
    let mask = reach(&sum, std::slice::from_ref(x))?;
    let is_unknown = |i: usize| mask.as_ref().is_some_and(|mask| mask[i] > 0.0);
    let results = out.to_f64();
    let mut error: Vec<f64> = match f {
        ScalarOp::Add => {
            let (magnitude, carried) = (reals(&sum, &[&magnitudes(x)])?, reals(&sum, &[&known(x)])?);
            (0..results.len())
                .map(|i| {
                    Sum {
                        result: results[i],
                        magnitude: magnitude[i],
                        terms: terms[i] - 1.0,
                        carried: carried[i],
                        underflow: 0.0,
                        unknown: is_unknown(i),
                    }
                    .bound(out.dtype)
                })
                .collect()
        }
        _ => {
            let errors = products(x, &with(ScalarOp::Mul), &results, &terms, out.dtype)?;
            errors
                .into_iter()
                .enumerate()
                .map(|(i, e)| if is_unknown(i) { f64::INFINITY } else { e })
                .collect()
        }
    };
    if matches!(kind, TensorOp::Scan { .. }) && out.dtype.bits() < 32 {
        round_prefixes(&sum, x, &out, &terms, &mut error)?;
    }
    Ok(vec![Bounded::new(out, error)])
}

/// Each prefix of a narrow type may have been rounded on the way. Where one may have overflowed so, it and the prefixes
/// after it are unknown; one that an operand makes infinite or NaN is so on both sides.
fn round_prefixes(
    sum: &TensorOp,
    x: &Bounded,
    out: &HostTensor,
    terms: &[f64],
    error: &mut [f64],
) -> Result<(), String> {
    let TensorOp::Scan { axis, reverse, .. } = *sum else { return Err("no scan".into()) };
    let results = out.to_f64();
    let largest_prefix = results.iter().filter(|r| r.is_finite()).fold(0.0f64, |most, r| most.max(r.abs()));
    for (error, terms) in error.iter_mut().zip(terms).filter(|(error, _)| **error > 0.0) {
        *error += 2.0 * terms * unit_roundoff(out.dtype) * largest_prefix;
    }
    let endless = reals(sum, &[&endless(x)])?;
    let fits = |i: usize| endless[i] > 0.0 || results[i].abs() + error[i] < largest(out.dtype);
    let overflows = (0..results.len()).map(|i| f64::from(u8::from(!fits(i)))).collect();
    let after = TensorOp::Scan { f: ScalarOp::Max, axis, exclusive: false, reverse };
    let unknown = reals(&after, &[&f64s(&out.shape, overflows)])?;
    error.iter_mut().zip(unknown).filter(|(_, n)| *n > 0.0).for_each(|(error, _)| *error = f64::INFINITY);
    Ok(())
}

/// Bounds of products along axes.
fn products(
    x: &Bounded,
    product: &TensorOp,
    results: &[f64],
    terms: &[f64],
    out: DType,
) -> Result<Vec<f64>, String> {
    let acc = accumulator(out);
    let map = |f: &dyn Fn(f64, f64) -> f64| -> Result<Vec<f64>, String> {
        let pairs = x.value.to_f64().into_iter().zip(known(x).to_f64());
        let numbers = pairs.map(|(x, e)| if x.is_finite() { f(x.abs(), e) } else { 1.0 }).collect();
        reals(product, &[&f64s(&x.value.shape, numbers)])
    };
    let (magnitude, reached) = (map(&|x, _| x)?, map(&|x, e| x + e)?);
    // The largest and smallest that a part of the product can be.
    let (most, least) =
        (map(&|x, e| (x + e).max(1.0))?, map(&|x, _| if x == 0.0 { 1.0 } else { x.min(1.0) })?);
    Ok((0..results.len())
        .map(|i| {
            let (r, n) = (results[i], terms[i]);
            let overflows = most[i] >= largest(acc) * 0.999;
            if overflows {
                return f64::INFINITY;
            }
            if !r.is_finite() {
                // Of operands that are not finite; times zero on the way it may be NaN or not.
                return if least[i] < 1e-30 { f64::INFINITY } else { 0.0 };
            }
            let carried = reached[i] - magnitude[i];
            let error = gamma(n, acc) * reached[i] + n * eta(acc) * most[i] + carried;
            if r.abs() + error >= largest(out) {
                return f64::INFINITY;
            }
            error + 2.0 * unit_roundoff(out) * r.abs() + 2.0 * eta(out)
        })
        .collect())
}

/// Sums and averages over windows.
pub(super) fn pool(kind: &TensorOp, x: &[Bounded], out: Vec<HostTensor>) -> Results {
    let out = out.into_iter().next().ok_or("no result")?;
    let TensorOp::Pool { kind: how, window } = kind else { return Err("no pool".into()) };
    let sum = TensorOp::Pool { kind: PoolKind::Sum, window: window.clone() };
    let x = &x[0];
    let terms = reals(&sum, &[&ones(x)])?;
    let (magnitude, carried) = (reals(&sum, &[&magnitudes(x)])?, reals(&sum, &[&known(x)])?);
    let mask = reach(&sum, std::slice::from_ref(x))?;
    let whole: i64 = window.size.iter().product();
    let error = out
        .to_f64()
        .into_iter()
        .enumerate()
        .map(|(i, result)| {
            let n = match how {
                PoolKind::Average => whole as f64,
                PoolKind::AverageInside => terms[i].max(1.0),
                _ => 1.0,
            };
            let unknown = mask.as_ref().is_some_and(|mask| mask[i] > 0.0);
            let sum = Sum {
                result,
                magnitude: magnitude[i],
                // The division, or the product with a reciprocal.
                terms: terms[i] + 2.0,
                carried: carried[i],
                underflow: 0.0,
                unknown,
            };
            let bound = sum.bound(out.dtype);
            let rounding = 2.0 * unit_roundoff(out.dtype) * result.abs() + 2.0 * eta(out.dtype);
            if bound.is_finite() && result.is_finite() { bound / n + 2.0 * rounding } else { bound }
        })
        .collect();
    Ok(vec![Bounded::new(out, error)])
}

/// Updates that add to or multiply what is there, in the tensor's own type.
pub(super) fn scatter(
    with: &dyn Fn(ScatterKind) -> TensorOp,
    how: ScatterKind,
    x: &[Bounded],
    out: Vec<HostTensor>,
) -> Results {
    let out = out.into_iter().next().ok_or("no result")?;
    let places = &*x[1].value;
    let run = |kind: ScatterKind, data: &HostTensor, updates: &HostTensor| {
        reals(&with(kind), &[data, places, updates])
    };
    let terms = run(ScatterKind::Add, &ones(&x[0]), &ones(&x[2]))?;
    let touched = has_unknown(&[x[0].clone(), x[2].clone()]);
    let mask = if touched { Some(run(ScatterKind::Add, &unknown(&x[0]), &unknown(&x[2]))?) } else { None };
    let (a, b) = (magnitudes(&x[0]), magnitudes(&x[2]));
    let (ea, eb) = (known(&x[0]), known(&x[2]));
    let plus = |x: &HostTensor, e: &HostTensor| {
        f64s(&x.shape, x.to_f64().iter().zip(e.to_f64()).map(|(x, e)| (x + e).max(1.0)).collect())
    };
    let error_in = x[0].at_each().zip(run(ScatterKind::Add, &ea, &eb)?);
    let magnitude = match how {
        ScatterKind::Add => run(ScatterKind::Add, &a, &b)?,
        _ => run(ScatterKind::Mul, &plus(&a, &ea), &plus(&b, &eb))?,
    };
    let u = unit_roundoff(out.dtype);
    let results = out.to_f64();
    let error = error_in
        .enumerate()
        .map(|(i, (untouched, carried))| {
            let n = terms[i] - 1.0;
            if mask.as_ref().is_some_and(|mask| mask[i] > 0.0) {
                return f64::INFINITY;
            }
            if n < 1.0 {
                return untouched;
            }
            let carried = if how == ScatterKind::Add { carried } else { carried * magnitude[i] };
            if magnitude[i] + carried >= largest(out.dtype) * 0.9 {
                return f64::INFINITY;
            }
            if !results[i].is_finite() {
                return 0.0;
            }
            carried + 2.0 * n * u * (magnitude[i] + carried) + n * eta(out.dtype) * magnitude[i].max(1.0)
        })
        .collect();
    Ok(vec![Bounded::new(out, error)])
}
