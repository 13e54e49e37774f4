//! Contractions, convolutions, pooling.

use super::Gen;
use crate::random::build::{Entry, MAX_ELEMENTS};
use crate::random::data::Values;
use tegula_base::{DType, Dim, HostTensor};
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, PoolKind, TensorOp, Window};

/// Multiply-adds of one op at most: the slowest executor does a few million a second.
const MAX_WORK: i64 = 300_000;

/// The right side's type and the result's for a left side of this type.
fn types(g: &mut Gen, lhs: DType) -> (DType, DType) {
    match lhs {
        DType::I8 | DType::U8 => match g.rng.chance(70) {
            true => (g.rng.pick(&[DType::I8, DType::U8]), DType::I32),
            false => (lhs, lhs),
        },
        DType::F16 | DType::BF16 if g.rng.chance(50) => (lhs, DType::F32),
        DType::F32 if g.rng.chance(20) => (DType::I8, DType::F32),
        _ => (lhs, lhs),
    }
}

pub fn dot(g: &mut Gen) -> Built<()> {
    let dtype = if g.rng.chance(30) { DType::F32 } else { g.dtype() };
    let rank = 1 + g.rng.below(4);
    let x = g.operand(dtype, rank, |ty| ty.dtype != DType::Bool && ty.rank() >= 1);
    let (lhs, extents, shape) = (g.b.dtype(x.value), g.extents(x.value), g.b.shape(x.value));
    if lhs == DType::Bool {
        return Err("no products of truth values".into());
    }
    let (rhs, out) = types(g, lhs);
    let rank = shape.rank();
    // Leading axes pair up, one or two others contract.
    let batch = if rank >= 2 { g.rng.below(rank - 1) } else { 0 };
    let free: Vec<usize> = (batch..rank).collect();
    let first = g.rng.pick(&free);
    let mut lhs_contract = vec![if g.rng.chance(60) { rank - 1 } else { first }];
    if free.len() >= 3 && g.rng.chance(20) {
        let another = g.rng.pick(&free);
        if !lhs_contract.contains(&another) {
            lhs_contract.push(another);
        }
    }
    let room = MAX_WORK / extents.iter().product::<i64>().max(1);
    let n = g.size(room.clamp(1, 64));
    let mut dims: Vec<Dim> = shape[..batch].to_vec();
    let inner: Vec<Dim> = lhs_contract.iter().map(|axis| shape[*axis].clone()).collect();
    let rhs_contract: Vec<usize> = match g.rng.below(3) {
        // `[batch, n, k]`
        0 => {
            dims.push(Dim::from(n));
            dims.extend(inner);
            (batch + 1..=batch + lhs_contract.len()).collect()
        }
        // `[batch, k]`
        1 if g.rng.chance(40) => {
            dims.extend(inner);
            (batch..batch + lhs_contract.len()).collect()
        }
        // `[batch, k, n]`
        _ => {
            dims.extend(inner);
            dims.push(Dim::from(n));
            (batch..batch + lhs_contract.len()).collect()
        }
    };
    let y = g.like(rhs, &dims.into(), Values::Ordinary);
    let axes: Vec<usize> = (0..batch).collect();
    let dims = DotDims { lhs_batch: axes.clone(), rhs_batch: axes, lhs_contract, rhs_contract };
    let exact = x.exact && y.exact && !lhs.is_float();
    g.push(TensorOp::dot(dims, out), &[x.value, y.value], exact).map(|_| ())
}

/// Rows of unsigned bytes by constant signed ones, most of them small, some of all bits: neighbours along k may be more than
/// sums of 16 bits hold.
pub fn stored_bytes(g: &mut Gen) -> Built<()> {
    let (m, k, n) = (g.rng.between(1, 9), g.rng.between(1, 90), g.rng.between(1, 100));
    let x = g.fresh(DType::U8, [m, k].map(Dim::from).into(), Values::Special);
    let wide = g.rng.pick(&[0, 0, 1, 5, 100]);
    let turned = g.rng.chance(50);
    let bytes = (0..k * n).map(|_| match g.rng.chance(wide) {
        true => g.rng.bits() as u8,
        false => g.rng.between(-30, 30) as u8,
    });
    let (bytes, shape) = (bytes.collect(), if turned { [n, k] } else { [k, n] });
    let w = HostTensor { dtype: DType::I8, shape: shape.map(|extent| extent as usize).to_vec(), bytes };
    let w = g.b.constant(w)?;
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![1],
        rhs_contract: vec![usize::from(turned)],
    };
    g.push(TensorOp::dot(dims, DType::I32), &[x, w], true).map(|_| ())
}

/// `[N, C, s...]` with a window over the spatial axes that fits them.
struct Image {
    x: Entry,
    dtype: DType,
    extents: Vec<i64>,
    window: Window,
}

/// Of one to three spatial axes.
fn image(g: &mut Gen, dtype: DType) -> Built<Image> {
    let rank = g.rng.weighted(&[(25, 3), (60, 4), (15, 5)]);
    let x = match g.rng.chance(40) {
        true => g.operand(dtype, rank, |ty| (3..=5).contains(&ty.rank()) && ty.dtype == dtype),
        false => {
            let mut shape = g.shape(rank);
            // Few images, some channels, places enough for windows.
            shape[0] = Dim::from(g.small(2));
            shape[1] = Dim::from(g.rng.pick(&[1, 2, 3, 4, 6, 8, 9, 16]));
            for axis in 2..rank {
                if shape.iter().map(|dim| g.value_of(dim)).product::<i64>() > MAX_ELEMENTS {
                    shape[axis] = Dim::from(g.small(9));
                }
            }
            let value = g.fresh(dtype, shape, Values::Ordinary);
            g.add(value, true);
            Entry { value, exact: true }
        }
    };
    let (extents, shape) = (g.extents(x.value), g.b.shape(x.value));
    let (mut size, mut strides, mut dilations) = (vec![], vec![], vec![]);
    let (mut low, mut high) = (vec![], vec![]);
    for axis in 2..extents.len() {
        let n = extents[axis];
        let k = g.rng.weighted(&[(30, 1), (20, 2), (40, 3), (10, 5)]).min(n.max(1));
        let dilation = if k > 1 && g.rng.chance(20) { 2 } else { 1 };
        let reach = dilation * (k - 1) + 1;
        let pad = if g.rng.chance(50) { 0 } else { reach / 2 };
        let missing = (reach - n - 2 * pad).max(0);
        if missing > 0 && shape[axis].as_const().is_none() {
            return Err("the window is larger than the image may be".into());
        }
        let stride = g.rng.weighted(&[(65, 1), (30, 2), (5, 3)]);
        size.push(k);
        dilations.push(dilation);
        strides.push(stride);
        low.push(Dim::from(pad));
        high.push(Dim::from(pad + missing));
    }
    let dtype = g.b.dtype(x.value);
    Ok(Image { x, dtype, extents, window: Window { size, strides, dilations, low, high } })
}

fn number_type(g: &mut Gen) -> DType {
    let dtype = if g.rng.chance(50) { DType::F32 } else { g.dtype() };
    if dtype == DType::Bool { DType::F32 } else { dtype }
}

pub fn conv(g: &mut Gen) -> Built<()> {
    let dtype = number_type(g);
    let Image { x, dtype, extents, window } = image(g, dtype)?;
    let channels = g.b.shape(x.value)[1].as_const().filter(|n| *n > 0).ok_or("channels are not known")?;
    let divisors: Vec<i64> = (1..=channels).filter(|d| channels % d == 0).collect();
    // Whole, depthwise, or between.
    let groups = if g.rng.chance(50) { 1 } else { g.rng.pick(&divisors) };
    let work: i64 = extents.iter().product::<i64>() * window.size.iter().product::<i64>() / groups;
    let per_group = g.small((MAX_WORK / work.max(1) / groups).clamp(1, 20));
    let (rhs, out) = types(g, dtype);
    let mut shape = vec![Dim::from(per_group * groups), Dim::from(channels / groups)];
    shape.extend(window.size.iter().map(|n| Dim::from(*n)));
    let w = g.like(rhs, &shape.into(), Values::Ordinary);
    let exact = x.exact && w.exact && !dtype.is_float();
    g.push(TensorOp::Conv { window: Box::new(window), groups, out }, &[x.value, w.value], exact).map(|_| ())
}

pub fn conv_transpose(g: &mut Gen) -> Built<()> {
    let dtype = number_type(g);
    let Image { x, dtype, extents, mut window } = image(g, dtype)?;
    let channels = g.b.shape(x.value)[1].as_const().filter(|n| *n > 0).ok_or("channels are not known")?;
    let divisors: Vec<i64> = (1..=channels).filter(|d| channels % d == 0).collect();
    let groups = if g.rng.chance(60) { 1 } else { g.rng.pick(&divisors) };
    let work: i64 = extents.iter().product::<i64>() * window.size.iter().product::<i64>();
    let per_group = g.small((MAX_WORK / 4 / work.max(1)).clamp(1, 8));
    let spatial = g.b.shape(x.value)[2..].to_vec();
    let mut output = vec![];
    for (axis, n) in spatial.iter().enumerate() {
        let reach = window.dilations[axis] * (window.size[axis] - 1) + 1;
        let cut = g.rng.between(0, (reach - 1) / 2);
        (window.low[axis], window.high[axis]) = (Dim::from(cut), Dim::from(cut));
        let extra = g.rng.between(0, window.strides[axis] - 1);
        let stride = Dim::from(window.strides[axis]);
        let full = (n.clone() - Dim::from(1)) * stride + Dim::from(reach + extra - 2 * cut);
        if g.value_of(&full) < 1 || extents[2 + axis] == 0 {
            return Err("nothing comes out".into());
        }
        output.push(full);
    }
    let mut shape = vec![Dim::from(channels), Dim::from(per_group)];
    shape.extend(window.size.iter().map(|n| Dim::from(*n)));
    let w = g.like(dtype, &shape.into(), Values::Ordinary);
    let exact = x.exact && w.exact && !dtype.is_float();
    let kind = TensorOp::ConvTranspose { window: Box::new(window), groups, output };
    g.push(kind, &[x.value, w.value], exact).map(|_| ())
}

pub fn pool(g: &mut Gen) -> Built<()> {
    // Of narrow integers the padding of a maximum has a sign of its own.
    let narrow = g.rng.chance(35);
    let dtype =
        if narrow { g.rng.pick(&[DType::I8, DType::I8, DType::U8, DType::I16]) } else { number_type(g) };
    let Image { x, dtype, window, .. } = image(g, dtype)?;
    if dtype == DType::Bool {
        return Err("no sums of truth values".into());
    }
    let kind = g.rng.pick(&[
        PoolKind::Max,
        PoolKind::Max,
        PoolKind::Sum,
        PoolKind::Average,
        PoolKind::AverageInside,
    ]);
    let exact = x.exact && (kind == PoolKind::Max || !dtype.is_float());
    g.push(TensorOp::Pool { kind, window: Box::new(window) }, &[x.value], exact).map(|_| ())
}

pub fn max_pool_indices(g: &mut Gen) -> Built<()> {
    let dtype = number_type(g);
    let Image { x, window, .. } = image(g, dtype)?;
    if !x.exact {
        return Err("rounding may decide".into());
    }
    let kind = TensorOp::MaxPoolIndices { window: Box::new(window), column_major: g.rng.chance(40) };
    g.push(kind, &[x.value], true).map(|_| ())
}

pub(super) fn quantised_image(g: &mut Gen, dtype: DType) -> Built<(Entry, Vec<i64>, Window)> {
    image(g, dtype).map(|image| (image.x, image.extents, image.window))
}
