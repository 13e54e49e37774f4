//! Argument reductions as two reductions, and paddings from the tensor's own elements: of its last axis as the borders beside
//! it, of others, where whole rows repeat, as gathers.

use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, PadMode};

/// The best element, then the first (or last) index that holds it; NaN is best of all.
pub(super) fn arg_reduce(b: &mut Builder, x: Value, max: bool, axis: usize, last: bool) -> Built {
    let best = if max { ScalarOp::Max } else { ScalarOp::Min };
    let extent = b.shape(x)[axis].clone();
    let rank = b.rank(x);
    let best = b.reduce(best, x, &[axis], true)?;
    let mut hit = b.eq(x, best)?;
    if b.dtype(x).is_float() {
        let nan = b.is_nan(x)?;
        hit = b.or(hit, nan)?;
    }
    // Extents are below 2^31.
    let mut shape: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    shape[axis] = extent.clone();
    let index = b.iota(DType::I32, shape.clone(), axis)?;
    let ones: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
    let (miss, pick) = match last {
        true => (b.splat_int(DType::I32, ones, -1)?, ScalarOp::Max),
        false => (b.splat_int(DType::I32, ones, i64::from(i32::MAX))?, ScalarOp::Min),
    };
    let index = b.select(hit, index, miss)?;
    let index = b.reduce(pick, index, &[axis], true)?;
    b.cast(index, DType::I64)
}

/// Axis by axis. A gather takes its indices from where the element stands.
pub(super) fn pad(b: &mut Builder, x: Value, low: &[Dim], high: &[Dim], mode: PadMode) -> Built {
    let mut padded = x;
    for axis in 0..low.len() {
        if low[axis].is_const(0) && high[axis].is_const(0) {
            continue;
        }
        if axis + 1 == low.len()
            && let Some(joined) = beside(b, padded, axis, [&low[axis], &high[axis]], mode)?
        {
            padded = joined;
            continue;
        }
        let extent = b.shape(x)[axis].clone();
        let total = extent.clone() + low[axis].clone() + high[axis].clone();
        let place = b.iota(DType::I64, [total], 0)?;
        let shift = b.size_as(&low[axis], DType::I64, 1)?;
        let place = b.sub(place, shift)?;
        let index = source(b, place, &extent, mode)?;
        padded = b.gather(padded, index, axis)?;
    }
    Ok(padded)
}

/// Both borders and what is between them. `None`: they are not known to be of elements that are there once.
fn beside(b: &mut Builder, x: Value, axis: usize, borders: [&Dim; 2], mode: PadMode) -> Built<Option<Value>> {
    let extent = b.shape(x)[axis].as_const();
    let (Some(extent), [Some(low), Some(high)]) = (extent, borders.map(Dim::as_const)) else {
        return Ok(None);
    };
    // How many elements a border may have, and the first of each.
    let (most, [before, after]) = match mode {
        PadMode::Constant => return Err("padding with a constant is no copy".into()),
        PadMode::Reflect => (extent - 1, [low, extent - 2]),
        PadMode::Wrap => (extent, [extent - low, 0]),
        PadMode::Edge => (extent.min(1), [0, extent - 1]),
    };
    if [low, high].iter().any(|border| !(0..=most).contains(border)) {
        return Ok(None);
    }
    let (rank, shape) = (b.rank(x), b.shape(x));
    let border = |b: &mut Builder, first: i64, size: i64| {
        let (mut starts, mut sizes, mut steps) = (vec![Dim::from(0); rank], shape.to_vec(), vec![1; rank]);
        (starts[axis], sizes[axis]) = (first.into(), size.into());
        steps[axis] = if mode == PadMode::Reflect { -1 } else { 1 };
        b.slice(x, &starts, &sizes, &steps)
    };
    let mut parts = vec![];
    if low > 0 {
        parts.push(border(b, before, low)?);
    }
    parts.push(x);
    if high > 0 {
        parts.push(border(b, after, high)?);
    }
    b.concat(&parts, axis).map(Some)
}

/// The element that position `place` (below 0 in front of the tensor) repeats.
fn source(b: &mut Builder, place: Value, extent: &Dim, mode: PadMode) -> Built {
    let one = Dim::from(1);
    match mode {
        PadMode::Constant => Err("padding with a constant needs no indices".into()),
        PadMode::Edge => {
            let last = b.size_as(&(extent.clone() - one), DType::I64, 1)?;
            let above = b.with_number(ScalarOp::Max, place, 0.0)?;
            b.min(above, last)
        }
        PadMode::Wrap => {
            let period = b.size_as(extent, DType::I64, 1)?;
            b.modulo(place, period)
        }
        PadMode::Reflect => {
            // A triangle wave of period 2 (n - 1); a single element repeats.
            let period = (extent.clone() - one.clone()) * Dim::from(2);
            let period = b.size_as(&period.maximum(&one), DType::I64, 1)?;
            let within = b.modulo(place, period)?;
            let mirrored = b.sub(period, within)?;
            b.min(within, mirrored)
        }
    }
}
