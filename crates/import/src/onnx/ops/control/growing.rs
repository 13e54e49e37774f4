//! Loops whose carried values change their sizes between rounds: lists of tokens, caches that grow by a row, boxes that
//! shrink.
//!
//! Such a value is carried in a buffer of the largest size that it can have, beside its sizes as scalars. A round sees the
//! part of the buffer that is filled, and leaves its result padded to the buffer.
//! Which axes change, and by how much, the body itself tells: it is built with the sizes that enter the loop, then with
//! symbols for the axes that came out otherwise, and last with the bounds that follow from the sizes that came out.

use super::{Round, Rounds, bound_outside, clear};
use crate::onnx::cx::Cx;
use crate::report::{Fault, Outcome};
use tegula_base::{Dim, Shape, SymbolInfo};
use tegula_ir::{RegionId, Value};
use tegula_tensor::TensorOp;

/// An axis of a carried value whose extent changes.
struct Axis {
    value: usize,
    axis: usize,
    /// The largest extent, in sizes that are known outside of the loop; `None` until it is known.
    most: Option<Dim>,
}

/// What a body leaves of the sizes of what is carried.
#[derive(Default)]
struct Seen {
    /// Axes that change and were not known to.
    new: Vec<(usize, usize)>,
    /// For each known axis.
    next: Vec<Next>,
    /// The first value that changes, by its shapes.
    change: Option<[Shape; 2]>,
}

/// What becomes of an extent in a round.
struct Next {
    symbol: Dim,
    /// At most what the round leaves, in sizes from outside of the loop and symbols of axes that change.
    most: Dim,
    /// Whether that is what it leaves.
    exact: bool,
}

/// As [`Cx::rounds`], for values that may change their sizes.
pub(super) fn rounds(
    cx: &mut Cx,
    trip: &Dim,
    go: Value,
    carried: &[Value],
    n_stacked: usize,
    round: &mut dyn FnMut(&mut Cx, Value, &[Value]) -> Outcome<Round>,
) -> Outcome<Rounds> {
    let mut axes: Vec<Axis> = Vec::new();
    let n_attempts = 2 + carried.iter().map(|value| cx.rank(*value)).sum::<usize>();
    for _ in 0..=n_attempts {
        let entering = padded(cx, carried, &axes)?;
        let (outer, unseeded) = (std::mem::take(&mut cx.report), cx.n_unseeded);
        let (region, args) = (cx.region, cx.func.args(cx.func.body()).len());
        let mark = cx.func.ops_in(region).len();
        let mut seen = Seen::default();
        let done = cx.rounds(trip.clone(), go, &entering, n_stacked, |cx, iteration, values| {
            one_round(cx, iteration, values, carried.len(), &axes, round, &mut seen)
        });
        let inner = std::mem::replace(&mut cx.report, outer);
        if seen.new.is_empty() && axes.iter().all(|axis| axis.most.is_some()) {
            cx.report.absorb(inner);
            return cut(cx, done?, carried, &axes, &seen, trip);
        }
        if let (Err(fault), true) = (&done, seen.change.is_none()) {
            // The body itself does not fit.
            cx.report.absorb(inner);
            return Err(fault.clone());
        }
        let body = cx.func.body();
        cx.func.truncate_args(body, args);
        cx.n_unseeded = unseeded;
        take_back(cx, region, mark);
        if seen.new.is_empty() {
            bound(cx, trip, carried, &mut axes, &seen);
        }
        axes.extend(seen.new.into_iter().map(|(value, axis)| Axis { value, axis, most: None }));
    }
    Err(Fault::unsupported("the sizes of a loop's values do not settle"))
}

/// Erases the loop that an attempt left.
fn take_back(cx: &mut Cx, region: RegionId, mark: usize) {
    let is_loop = |cx: &Cx, op| matches!(cx.func.kind(op), TensorOp::Loop { .. });
    let made = cx.func.ops_in(region)[mark..].to_vec();
    for op in made.into_iter().filter(|op| is_loop(cx, *op)).take(1).collect::<Vec<_>>() {
        clear(cx, cx.func.regions_of(op)[0]);
        cx.func.erase_all([op]);
    }
}

/// What enters the loop: values in buffers of their largest size, then the extents of the axes that change.
fn padded(cx: &mut Cx, carried: &[Value], axes: &[Axis]) -> Outcome<Vec<Value>> {
    let mut entering = carried.to_vec();
    for Axis { value, axis, most } in axes {
        let extent = cx.dim(carried[*value], *axis);
        let most = most.clone().unwrap_or_else(|| extent.clone());
        entering[*value] = filled_up(cx, entering[*value], *axis, &most)?;
        let size = cx.size_value(extent)?;
        entering.push(cx.reshape(size, Shape::scalar())?);
    }
    Ok(entering)
}

/// Zeros behind an axis, up to `most`.
fn filled_up(cx: &mut Cx, x: Value, axis: usize, most: &Dim) -> Outcome {
    let rank = cx.rank(x);
    let mut high = vec![Dim::from(0); rank];
    high[axis] = most.clone() - cx.dim(x, axis);
    let value = cx.pad_with(x, 0.0, vec![Dim::from(0); rank], high)?;
    let mut shape = cx.shape(value);
    shape[axis] = most.clone();
    cx.reshape(value, shape)
}

fn one_round(
    cx: &mut Cx,
    iteration: Value,
    values: &[Value],
    n_carried: usize,
    axes: &[Axis],
    round: &mut dyn FnMut(&mut Cx, Value, &[Value]) -> Outcome<Round>,
    seen: &mut Seen,
) -> Outcome<Round> {
    let region = cx.region;
    let (buffers, sizes) = values.split_at(n_carried);
    let mut parts = buffers.to_vec();
    let mut symbols = Vec::with_capacity(axes.len());
    for (Axis { value, axis, most }, size) in axes.iter().zip(sizes) {
        let upper = most.clone().unwrap_or(Dim::from(SymbolInfo::MAX));
        let size = cx.size_or_bind(*size, "extent", upper)?;
        symbols.push(size.clone());
        parts[*value] = part(cx, parts[*value], *axis, size, most.is_some())?;
    }
    let entered: Vec<Shape> = parts.iter().map(|value| cx.shape(*value)).collect();
    let mut left = round(cx, iteration, &parts)?;
    let names: Vec<&str> = symbols.iter().filter_map(Dim::as_symbol).collect();
    for (value, entered) in entered.iter().enumerate() {
        let shape = cx.shape(left.carried[value]);
        if shape.rank() != entered.rank() {
            return Err(Fault::unsupported(format!(
                "a loop's value changes its rank between rounds, from {entered} to {shape}"
            )));
        }
        for axis in 0..shape.rank() {
            let is_known = axes.iter().any(|known| (known.value, known.axis) == (value, axis));
            if !is_known && may_change(cx, region, &entered[axis], &shape[axis]) {
                seen.new.push((value, axis));
                seen.change.get_or_insert([entered.clone(), shape.clone()]);
            }
        }
    }
    for (Axis { value, axis, most }, symbol) in axes.iter().zip(&symbols) {
        let size = cx.shape(left.carried[*value])[*axis].clone();
        let at_most = bound_outside(cx, region, &size, &names).unwrap_or_else(|| size.clone());
        seen.next.push(Next { symbol: symbol.clone(), exact: at_most == size, most: at_most });
        if most.is_none() {
            let shapes = [entered[*value].clone(), cx.shape(left.carried[*value])];
            seen.change.get_or_insert(shapes);
        }
    }
    if seen.change.is_some() {
        return Err(Fault::reported());
    }
    for Axis { value, axis, most } in axes {
        let most = most.as_ref().expect("invariant: an axis without a bound ends the attempt");
        let size = cx.dim(left.carried[*value], *axis);
        cx.assert_equal(
            &size.minimum(most),
            &size,
            "a loop's value must not grow past the bound of its size",
        )?;
        let size = cx.size_value(size)?;
        left.carried.push(cx.reshape(size, Shape::scalar())?);
        left.carried[*value] = filled_up(cx, left.carried[*value], *axis, most)?;
    }
    Ok(left)
}

/// The filled part of a buffer. While its largest size is not known, its shape alone counts.
fn part(cx: &mut Cx, buffer: Value, axis: usize, size: Dim, is_bounded: bool) -> Outcome {
    if is_bounded {
        return cx.slice_axis(buffer, axis, Dim::from(0), size);
    }
    let mut shape = cx.shape(buffer);
    shape[axis] = size;
    let dtype = cx.dtype(buffer);
    let zero = cx.splat(dtype, Shape::scalar(), 0.0)?;
    let ones = vec![Dim::from(1); shape.rank()];
    let one = cx.reshape(zero, Shape::from(ones))?;
    cx.broadcast_to(one, &shape)
}

/// Whether an extent that a round leaves is another than that it entered with. A size of an input beside another one, or
/// beside a number, is asserted to be equal: exporters name one size twice.
fn may_change(cx: &Cx, region: RegionId, entered: &Dim, left: &Dim) -> bool {
    let is_plain = |dim: &Dim| {
        dim.as_const().is_some()
            || dim.as_symbol().is_some()
                && bound_outside(cx, region, dim, &[]).is_some_and(|bound| bound == *dim)
    };
    let is_open = |dim: &Dim| dim.as_const().is_none();
    let is_asserted = is_plain(entered)
        && is_plain(left)
        && (is_open(entered) || is_open(left))
        // A list that enters empty is there to grow.
        && !entered.is_const(0);
    entered != left && !is_asserted
}

/// Finds the largest extents of axes. One that does not follow is what the run has room for.
fn bound(cx: &mut Cx, trip: &Dim, carried: &[Value], axes: &mut [Axis], seen: &Seen) {
    let is_open = trip.as_const().is_some_and(|n| n >= SymbolInfo::MAX);
    for _ in 0..axes.len() {
        for at in 0..axes.len() {
            if axes[at].most.is_some() {
                continue;
            }
            let known = |name: &str| {
                let of = seen.next.iter().position(|next| next.symbol.as_symbol() == Some(name))?;
                axes[of].most.clone()
            };
            let Next { symbol, most, .. } = &seen.next[at];
            let next = most.substitute(&known);
            let start = cx.dim(carried[axes[at].value], axes[at].axis);
            let is_free = |size: &Dim| {
                let mut free = true;
                size.for_each_symbol(&mut |name| {
                    free &= !seen.next.iter().any(|next| next.symbol.as_symbol() == Some(&**name));
                });
                free
            };
            let step = next.clone() - symbol.clone();
            axes[at].most = if is_free(&next) {
                Some(start.maximum(&next))
            } else if is_free(&step) {
                match step.as_const() {
                    Some(n) if n <= 0 => Some(start),
                    _ if is_open => None,
                    _ => Some(start.clone() + trip.clone() * step.maximum(&Dim::from(0))),
                }
            } else {
                settled(&next, symbol, &start, trip)
            };
        }
    }
    for axis in axes.iter_mut().filter(|axis| axis.most.is_none()) {
        let start = cx.dim(carried[axis.value], axis.axis);
        axis.most = Some(start + growth(cx));
    }
}

/// How much a value may grow whose size follows from the run alone.
fn growth(cx: &mut Cx) -> Dim {
    if let Some(name) = cx.symbols.growths().next() {
        return Dim::symbol(name);
    }
    let name = cx.symbols.fresh_name("growth");
    cx.symbols.insert(&name, SymbolInfo::growth());
    Dim::symbol(&name)
}

/// Most rounds that are followed one by one.
const FOLLOWED: i64 = 100_000;

/// The largest extent where what a round leaves is a function of what it enters with: the extent that the rounds settle at.
/// It is looked for by trying extents; each round asserts that it holds.
fn settled(next: &Dim, symbol: &Dim, start: &Dim, trip: &Dim) -> Option<Dim> {
    const TRIED: [i64; 12] = [0, 1, 2, 3, 5, 16, 77, 640, 4097, 70_001, 1 << 24, 1 << 40];
    const OTHERS: [i64; 3] = [1, 9, 5000];
    let name = symbol.as_symbol()?;
    let after = |extent: i64, other: i64| next.eval(&|of| Some(if of == name { extent } else { other }));
    let never_grows = |from: i64| {
        let tried = TRIED.iter().map(|extent| extent.saturating_add(from));
        let mut pairs = tried.flat_map(|extent| OTHERS.map(|other| (extent, other)));
        pairs.all(|(extent, other)| after(extent, other).is_some_and(|after| after <= extent))
    };
    if never_grows(0) {
        return Some(start.clone());
    }
    let mut alone = true;
    next.for_each_symbol(&mut |of| alone &= &**of == name);
    // From an extent that is open, the rounds settle where those from 0 do, if not at once.
    let (from, rounds) = match start.as_const() {
        Some(start) => (start, trip.as_const().unwrap_or(i64::MAX)),
        None => (0, i64::MAX),
    };
    let mut most = from;
    for _ in 0..rounds.clamp(0, FOLLOWED).min(if alone { FOLLOWED } else { 0 }) {
        let after = after(most, 0)?;
        if after <= most {
            return (start.as_const().is_some() || never_grows(most))
                .then(|| start.maximum(&Dim::from(most)));
        }
        if after >= SymbolInfo::MAX {
            return None;
        }
        most = after;
    }
    (alone && start.as_const().is_some() && rounds <= FOLLOWED).then(|| Dim::from(most))
}

/// The carried values without what fills their buffers.
fn cut(
    cx: &mut Cx,
    mut done: Rounds,
    carried: &[Value],
    axes: &[Axis],
    seen: &Seen,
    trip: &Dim,
) -> Outcome<Rounds> {
    let sizes = done.carried.split_off(carried.len());
    for ((Axis { value, axis, most }, size), next) in axes.iter().zip(sizes).zip(&seen.next) {
        let most = most.clone().expect("invariant: every axis has a bound");
        let start = cx.dim(carried[*value], *axis);
        // Where each round adds as much, the sizes follow from the rounds.
        let size = match (next.most.clone() - next.symbol.clone()).as_const() {
            Some(step) if done.all && next.exact => start + trip.clone() * Dim::from(step),
            _ => cx.size_or_bind(size, "extent", most)?,
        };
        done.carried[*value] = cx.slice_axis(done.carried[*value], *axis, Dim::from(0), size)?;
    }
    Ok(done)
}
