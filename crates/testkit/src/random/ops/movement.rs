//! Sources and ops that move elements.

use super::Gen;
use crate::random::build::MAX_ELEMENTS;
use crate::random::data::{self, Values};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{PadMode, ScatterKind, TensorOp};

pub fn splat(g: &mut Gen) -> Built<()> {
    let like = g.any();
    let (dtype, shape) = (g.dtype(), g.b.shape(like.value));
    let bits = data::tensor(&mut g.rng, dtype, &[1], Values::Ordinary).bytes;
    let mut word = [0; 8];
    word[..bits.len()].copy_from_slice(&bits);
    g.push(TensorOp::Splat { dtype, shape, bits: i64::from_le_bytes(word) }, &[], true).map(|_| ())
}

pub fn iota(g: &mut Gen) -> Built<()> {
    let like = g.ranked(1);
    let shape = g.b.shape(like.value);
    let dtype = g.dtype();
    let axis = g.rng.below(shape.rank());
    g.push(TensorOp::Iota { dtype, shape, axis }, &[], true).map(|_| ())
}

pub fn sizes(g: &mut Gen) -> Built<()> {
    let like = g.ranked(1);
    let mut dims = g.b.shape(like.value).to_vec();
    if g.rng.chance(30) {
        let sum = dims.iter().cloned().fold(Dim::from(1), |sum, dim| sum + dim);
        dims.push(sum);
    }
    g.push(TensorOp::Sizes { dims }, &[], true).map(|_| ())
}

pub fn constant(g: &mut Gen) -> Built<()> {
    let (dtype, rank) = (g.dtype(), g.rank());
    let mut room = MAX_ELEMENTS;
    let shape: Vec<usize> = (0..rank)
        .map(|_| {
            let size = g.size(room);
            room /= size.max(1);
            size as usize
        })
        .collect();
    let tensor = data::tensor(&mut g.rng, dtype, &shape, Values::Ordinary);
    let value = g.b.constant(tensor)?;
    g.built += 1;
    g.add(value, true);
    Ok(())
}

pub fn broadcast(g: &mut Gen) -> Built<()> {
    let x = g.any();
    let rank = g.b.rank(x.value);
    if rank == 0 || g.rng.chance(20) {
        // To a rank higher: extents of 1 in front first.
        let shape = g.b.shape(x.value);
        let wide = std::iter::once(Dim::from(1)).chain(shape.iter().cloned()).collect::<Shape>();
        let apart = g.b.reshape(x.value, wide)?;
        let n = g.small((MAX_ELEMENTS / g.elements(x.value).max(1)).clamp(1, 20));
        let shape = std::iter::once(Dim::from(n)).chain(shape.iter().cloned()).collect::<Shape>();
        g.built += 1;
        return g.push(TensorOp::Broadcast { shape }, &[apart], x.exact).map(|_| ());
    }
    let mut shape = g.b.shape(x.value);
    let axis = g.rng.below(rank);
    let mut narrow = x.value;
    if !shape[axis].is_const(1) {
        if g.extents(x.value)[axis] == 0 {
            return Err("nothing to cut".into());
        }
        narrow = g.b.slice_axis(x.value, axis, 0, 1)?;
        g.built += 1;
    }
    if shape[axis].is_const(1) {
        shape[axis] = Dim::from(g.size((MAX_ELEMENTS / g.elements(x.value).max(1)).min(20)));
    }
    g.push(TensorOp::Broadcast { shape }, &[narrow], x.exact).map(|_| ())
}

pub fn reshape(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let shape = g.b.shape(x.value);
    let rank = shape.rank();
    let axis = g.rng.below(rank);
    let mut dims = shape.to_vec();
    match g.rng.below(4) {
        // Joins two axes.
        0 if rank >= 2 => {
            let axis = axis.min(rank - 2);
            let joined = dims[axis].clone() * dims.remove(axis + 1);
            dims[axis] = joined;
        }
        // Splits one.
        1 => {
            let divisors: Vec<i64> = match dims[axis].as_const() {
                Some(n) if n > 0 => (1..=n).filter(|d| n % d == 0).collect(),
                _ => vec![1],
            };
            let d = Dim::from(g.rng.pick(&divisors));
            let outer = dims[axis].div_exact(&d).ok_or("no even split")?;
            dims.splice(axis..=axis, [outer, d]);
        }
        2 => dims.insert(axis, Dim::from(1)),
        _ => dims = vec![shape.count()],
    }
    g.push(TensorOp::Reshape { shape: dims.into() }, &[x.value], x.exact).map(|_| ())
}

pub fn transpose(g: &mut Gen) -> Built<()> {
    let x = g.ranked(2);
    let rank = g.b.rank(x.value);
    let perm = g.rng.permutation(rank);
    g.push(TensorOp::Transpose { perm }, &[x.value], x.exact).map(|_| ())
}

pub fn slice(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let (shape, extents) = (g.b.shape(x.value), g.extents(x.value));
    let (mut starts, mut sizes, mut steps) = (vec![], vec![], vec![]);
    for (dim, n) in shape.iter().zip(extents) {
        let (start, size, step) = match g.rng.below(5) {
            _ if n == 0 => (Dim::from(0), dim.clone(), 1),
            0 | 1 => (Dim::from(0), dim.clone(), 1),
            2 => (dim.clone() - Dim::from(1), dim.clone(), -1),
            3 => {
                let cut = g.rng.between(0, n);
                (Dim::from(cut), dim.clone() - Dim::from(cut), 1)
            }
            _ => {
                let step = g.rng.between(1, 3) * if g.rng.chance(30) { -1 } else { 1 };
                let start = g.rng.between(0, n - 1);
                let reach = if step > 0 { (n - 1 - start) / step } else { start / -step };
                (Dim::from(start), Dim::from(g.rng.between(0, reach + 1)), step)
            }
        };
        starts.push(start);
        sizes.push(size);
        steps.push(step);
    }
    g.push(TensorOp::Slice { starts, sizes, steps }, &[x.value], x.exact).map(|_| ())
}

pub fn pad(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let extents = g.extents(x.value);
    let mode =
        g.rng.pick(&[PadMode::Constant, PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Wrap]);
    if mode != PadMode::Constant && extents.contains(&0) {
        return Err("nothing to repeat".into());
    }
    let rank = extents.len();
    let room = MAX_ELEMENTS * 2 / g.elements(x.value).max(1);
    let (mut low, mut high) = (vec![Dim::from(0); rank], vec![Dim::from(0); rank]);
    for axis in 0..rank {
        if room < 2 || g.rng.chance(40) {
            continue;
        }
        // One reflection or turn is what importers ask for.
        let most = match mode {
            PadMode::Reflect => (extents[axis] - 1).min(4),
            PadMode::Wrap => extents[axis].min(4),
            _ => 4.min(extents[axis].max(1)),
        };
        low[axis] = Dim::from(g.rng.between(0, most));
        high[axis] = Dim::from(g.rng.between(0, most));
    }
    let mut operands = vec![x.value];
    if mode == PadMode::Constant {
        let dtype = g.b.dtype(x.value);
        operands.push(g.scalar(dtype, Values::Ordinary));
    }
    g.push(TensorOp::Pad { low, high, mode }, &operands, x.exact).map(|_| ())
}

pub fn concat(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let axis = g.rng.below(shape.rank());
    let (mut operands, mut exact) = (vec![x.value], x.exact);
    for _ in 0..g.rng.between(1, 3) {
        if g.elements(x.value) * (operands.len() as i64 + 1) > 2 * MAX_ELEMENTS {
            break;
        }
        let mut other = shape.clone();
        if g.rng.chance(50) {
            let room = MAX_ELEMENTS / g.elements(x.value).max(1) * g.value_of(&shape[axis]).max(1);
            other[axis] = Dim::from(g.size(room.min(20)));
        }
        let y = g.like(dtype, &other, Values::Ordinary);
        operands.push(y.value);
        exact &= y.exact;
    }
    g.push(TensorOp::Concat { axis }, &operands, exact).map(|_| ())
}

// --- indexing ------------------------------------------------------------------------------------------

fn index_type(g: &mut Gen) -> DType {
    g.rng.pick(&[DType::I64, DType::I64, DType::I32])
}

/// A value whose extents are all positive, so that any index means something.
fn filled(g: &mut Gen, least_rank: usize) -> Built<(Value, bool, Vec<i64>)> {
    let x = g.ranked(least_rank);
    let extents = g.extents(x.value);
    if extents.contains(&0) { Err("nothing to index".into()) } else { Ok((x.value, x.exact, extents)) }
}

pub fn gather(g: &mut Gen) -> Built<()> {
    let (x, exact, extents) = filled(g, 1)?;
    let axis = g.rng.below(extents.len());
    let rank = g.rng.below(3);
    let room = MAX_ELEMENTS / (g.elements(x) / extents[axis]).max(1);
    let shape: Shape =
        (0..rank).map(|_| Dim::from(g.size(if rank == 2 { room.min(16) } else { room.min(64) }))).collect();
    let dtype = index_type(g);
    let indices = g.fresh(dtype, shape, Values::Index(extents[axis]));
    g.push(TensorOp::Gather { axis }, &[x, indices], exact).map(|_| ())
}

/// Indices for `x` along `axis`, of x's shape or smaller.
fn along(g: &mut Gen, x: Value, axis: usize, extents: &[i64]) -> Value {
    let shape = g.b.shape(x);
    let dims: Shape = (0..extents.len())
        .map(|i| match shape[i].as_const() {
            Some(n) if g.rng.chance(50) => Dim::from(g.rng.between(0, if i == axis { n + 2 } else { n })),
            Some(_) => shape[i].clone(),
            None => Dim::from(g.rng.between(0, extents[i])),
        })
        .collect();
    let dtype = index_type(g);
    g.fresh(dtype, dims, Values::Index(extents[axis]))
}

pub fn gather_elements(g: &mut Gen) -> Built<()> {
    let (x, exact, extents) = filled(g, 1)?;
    let axis = g.rng.below(extents.len());
    let indices = along(g, x, axis, &extents);
    g.push(TensorOp::GatherElements { axis }, &[x, indices], exact).map(|_| ())
}

/// Coordinates into the axes from `first` on, as the last axis of a tensor of `outer` and their depth.
fn coordinates(g: &mut Gen, outer: &[usize], extents: &[i64]) -> HostTensor {
    let count: usize = outer.iter().product();
    let mut reals = Vec::with_capacity(count * extents.len());
    for _ in 0..count {
        for extent in extents {
            reals.push(g.rng.between(-extent, extent - 1) as f64);
        }
    }
    let shape: Vec<usize> = outer.iter().copied().chain([extents.len()]).collect();
    let dtype = index_type(g);
    data::from_reals(dtype, &shape, &reals)
}

pub fn gather_nd(g: &mut Gen) -> Built<()> {
    let (x, exact, extents) = filled(g, 1)?;
    let fixed = g.b.shape(x).iter().take_while(|dim| dim.as_const().is_some()).count();
    let batch_dims = if g.rng.chance(40) && extents.len() > 1 { fixed.min(1) } else { 0 };
    let depth =
        g.rng.between(i64::from(batch_dims == 0), (extents.len() - batch_dims) as i64).max(1) as usize;
    let chunk: i64 = extents[batch_dims + depth..].iter().product();
    let rows = g.size((MAX_ELEMENTS / chunk.max(1) / extents[..batch_dims].iter().product::<i64>()).min(20))
        as usize;
    let mut outer: Vec<usize> = extents[..batch_dims].iter().map(|n| *n as usize).collect();
    outer.push(rows);
    let indices = coordinates(g, &outer, &extents[batch_dims..batch_dims + depth]);
    let shape: Shape = indices.shape.iter().map(|n| Dim::from(*n)).collect();
    let indices = g.input_of(shape, indices);
    g.push(TensorOp::GatherNd { batch_dims }, &[x, indices], exact).map(|_| ())
}

fn scatter_kind(g: &mut Gen, dtype: DType) -> ScatterKind {
    let kinds: &[ScatterKind] = match dtype {
        DType::Bool => &[ScatterKind::Set, ScatterKind::Min, ScatterKind::Max],
        _ => &[
            ScatterKind::Set,
            ScatterKind::Set,
            ScatterKind::Add,
            ScatterKind::Mul,
            ScatterKind::Min,
            ScatterKind::Max,
        ],
    };
    g.rng.pick(kinds)
}

fn is_exact(kind: ScatterKind, dtype: DType) -> bool {
    !dtype.is_float() || !matches!(kind, ScatterKind::Add | ScatterKind::Mul)
}

pub fn scatter_elements(g: &mut Gen) -> Built<()> {
    let (x, exact, extents) = filled(g, 1)?;
    let axis = g.rng.below(extents.len());
    let indices = along(g, x, axis, &extents);
    let (dtype, shape) = (g.b.dtype(x), g.b.shape(indices));
    let updates = g.like(dtype, &shape, Values::Ordinary);
    let kind = scatter_kind(g, dtype);
    let exact = exact && updates.exact && is_exact(kind, dtype);
    g.push(TensorOp::ScatterElements { axis, kind }, &[x, indices, updates.value], exact).map(|_| ())
}

pub fn scatter_nd(g: &mut Gen) -> Built<()> {
    let (x, exact, extents) = filled(g, 1)?;
    let depth = g.rng.between(1, extents.len() as i64) as usize;
    let chunk: i64 = extents[depth..].iter().product();
    let rows = g.size((MAX_ELEMENTS / chunk.max(1)).min(20)) as usize;
    let indices = coordinates(g, &[rows], &extents[..depth]);
    let shape: Shape = indices.shape.iter().map(|n| Dim::from(*n)).collect();
    let indices = g.input_of(shape, indices);
    let dtype = g.b.dtype(x);
    let shape: Shape =
        std::iter::once(Dim::from(rows)).chain(g.b.shape(x)[depth..].iter().cloned()).collect();
    let updates = g.like(dtype, &shape, Values::Ordinary);
    let kind = scatter_kind(g, dtype);
    let exact = exact && updates.exact && is_exact(kind, dtype);
    g.push(TensorOp::ScatterNd { kind }, &[x, indices, updates.value], exact).map(|_| ())
}
