//! Rules of reshapes: chains of them, and moving them below elementwise ops so that these stay next to the
//! contraction that they follow.

use super::{Applied, Rule, Site, Source};
use smallvec::SmallVec;
use std::ops::Range;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::TensorOp;
use tegula_tensor::facts::is_lookup;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "reshape(splat) => splat", apply: of_splat },
    Rule { name: "reshape to the same shape => x", apply: same },
    Rule { name: "reshape(reshape(x)) => reshape(x)", apply: twice },
];
pub(super) const ROWS: &[Rule] =
    &[Rule { name: "norm(reshape(x)) => reshape(norm(x))", apply: sink_below_rows }];

fn of_splat(site: &mut Site) -> Applied {
    let Some(bits) = site.splat(site.operand(0)) else { return Ok(None) };
    let ty = site.result_type().clone();
    site.b.emit(TensorOp::Splat { dtype: ty.dtype, shape: ty.shape, bits }, &[]).map(Some)
}

fn same(site: &mut Site) -> Applied {
    let x = site.operand(0);
    Ok((site.b.ty(x) == site.result_type()).then_some(x))
}

fn twice(site: &mut Site) -> Applied {
    let Some((inner, TensorOp::Reshape { .. })) = site.def(site.operand(0)) else { return Ok(None) };
    let source = site.b.func.operand(inner, 0);
    let shape = site.result_type().shape.clone();
    site.b.reshape(source, shape).map(Some)
}

/// Queries, keys and values that one product computes lie side by side: as whole heads of a longer axis, attention's kernel
/// reads them there. A single head is left alone: keys in pages are one, and their slices are elements.
pub(super) fn heads_of_slice(site: &mut Site) -> Applied {
    let TensorOp::Transpose { perm } = site.kind() else { return Ok(None) };
    let func = &site.b.func;
    let readers = func.users(func.result(site.op));
    if readers.is_empty() || !readers.iter().all(|at| matches!(func.kind(*at), TensorOp::Attention { .. })) {
        return Ok(None);
    }
    let named = site.operand(0);
    let Some((reshape, TensorOp::Reshape { shape: to })) = site.def(named) else { return Ok(None) };
    let (to, value) = (to.clone(), func.operand(reshape, 0));
    let Some((slice, TensorOp::Slice { starts, sizes, steps })) = site.def(value) else { return Ok(None) };
    let x = func.operand(slice, 0);
    let cut: SmallVec<[usize; 2]> =
        (0..sizes.len()).filter(|axis| sizes[*axis] != site.shape(x)[*axis]).collect();
    let &[axis] = cut.as_slice() else { return Ok(None) };
    if steps.iter().any(|step| *step != 1) {
        return Ok(None);
    }
    let Some(groups) = groups(site.shape(value), &to) else { return Ok(None) };
    let Some((_, heads)) = groups.iter().find(|(own, _)| own.contains(&axis)) else { return Ok(None) };
    let inner = to.get(heads.start + 1..heads.end).filter(|inner| !inner.is_empty());
    let Some(inner) = inner.filter(|_| !to[heads.start].is_const(1)) else { return Ok(None) };
    let head = inner.iter().cloned().fold(Dim::from(1), |product, dim| product * dim);
    let (Some(first), Some(all)) = (starts[axis].div_exact(&head), site.shape(x)[axis].div_exact(&head))
    else {
        return Ok(None);
    };
    let perm = perm.clone();
    let mut starts = vec![Dim::from(0); to.rank()];
    starts[heads.start] = first;
    let mut whole: SmallVec<[Dim; 6]> = to.iter().cloned().collect();
    whole[heads.start] = all;
    let whole = site.b.reshape(x, Shape::from(whole.as_slice()))?;
    let slice = TensorOp::Slice { starts, sizes: to.to_vec(), steps: vec![1; to.rank()] };
    let heads = site.b.emit(slice, &[whole])?;
    site.b.emit(TensorOp::Transpose { perm }, &[heads]).map(Some)
}

/// `f(reshape(x), y) => reshape(f(x, reshape(y)))` where x is computed: the reshape then renames the end of a fused
/// chain and not its middle.
pub(super) fn sink(site: &mut Site) -> Applied {
    if !site.reads(Source::Reshape) {
        return Ok(None);
    }
    let TensorOp::Elementwise { f } = *site.kind() else { return Ok(None) };
    let Some(from) = site.operands().iter().find_map(|value| computed_source(site, *value)) else {
        return Ok(None);
    };
    let to = site.result_type().shape.clone();
    let Some(groups) = groups(&from, &to) else { return Ok(None) };
    let operands = site.operands().iter();
    let shaped = operands.map(|value| Some((*value, joined(site.shape(*value), &from, &to, &groups)?)));
    let Some(shaped) = shaped.collect::<Option<SmallVec<[(Value, Shape); 3]>>>() else { return Ok(None) };
    let mut inner: SmallVec<[Value; 3]> = SmallVec::new();
    for (value, shape) in shaped {
        inner.push(unshaped(site, value, shape)?);
    }
    let result = site.b.elementwise(f, &inner)?;
    site.b.reshape(result, to).map(Some)
}

/// `norm(reshape(x)) => reshape(norm(x))` of composites that act on the last axes, where the reshape leaves those: as
/// one op, before it is decomposed.
pub(super) fn sink_below_rows(site: &mut Site) -> Applied {
    let kind = site.kind();
    let Some(axis) = first_row_axis(kind, site.shape(site.operand(0)).rank()) else { return Ok(None) };
    let Some(from) = computed_source(site, site.operand(0)) else { return Ok(None) };
    let to = site.result_type().shape.clone();
    let row = to.rank() - axis;
    if from.rank() < row || from[from.rank() - row..] != to[axis..] {
        return Ok(None);
    }
    let kind = match kind.clone() {
        TensorOp::Softmax { log, .. } => TensorOp::Softmax { axis: from.rank() - row, log },
        TensorOp::LayerNorm { eps, .. } => TensorOp::LayerNorm { axis: from.rank() - row, eps },
        TensorOp::RmsNorm { eps, .. } => TensorOp::RmsNorm { axis: from.rank() - row, eps },
        kind => kind,
    };
    let mut operands = site.operands().to_vec();
    operands[0] = unshaped(site, operands[0], from)?;
    let result = site.b.emit(kind, &operands)?;
    site.b.reshape(result, to).map(Some)
}

/// The first axis of the rows that a composite acts on, of as many axes; `None`: it is no such composite.
fn first_row_axis(kind: &TensorOp, rank: usize) -> Option<usize> {
    match kind {
        TensorOp::Softmax { axis, .. }
        | TensorOp::LayerNorm { axis, .. }
        | TensorOp::RmsNorm { axis, .. } => Some(*axis),
        TensorOp::Gelu { .. } => Some(rank),
        _ => None,
    }
}

/// `gather(table, reshape(x)) => reshape(gather(table, x))`: a lookup is an elementwise op of its indices.
pub(super) fn sink_below_lookup(site: &mut Site) -> Applied {
    if !is_lookup(site.b.func, site.op) {
        return Ok(None);
    }
    let (table, indices) = (site.operand(0), site.operand(1));
    let Some(from) = computed_source(site, indices) else { return Ok(None) };
    let to = site.result_type().shape.clone();
    let indices = unshaped(site, indices, from)?;
    let found = site.b.gather(table, indices, 0)?;
    site.b.reshape(found, to).map(Some)
}

/// `reduce(reshape(x)) => reshape(reduce(x))` where each axis of x is reduced whole or kept whole.
pub(super) fn sink_below_reduce(site: &mut Site) -> Applied {
    let operand = site.operand(0);
    let Some(from) = computed_source(site, operand) else { return Ok(None) };
    let TensorOp::Reduce { f, axes } = site.kind().clone() else { return Ok(None) };
    let full = site.shape(operand).clone();
    let Some(groups) = groups(&from, &full) else { return Ok(None) };
    let mut reduced = Vec::new();
    for (own, group) in &groups {
        let wide = |axes: &Range<usize>, shape: &Shape| -> Vec<usize> {
            axes.clone().filter(|axis| !shape[*axis].is_const(1)).collect()
        };
        let (own, group) = (wide(own, &from), wide(group, &full));
        let n = group.iter().filter(|axis| axes.contains(axis)).count();
        if n == group.len() {
            reduced.extend(own);
        } else if n > 0 {
            return Ok(None);
        }
    }
    if reduced.is_empty() {
        return Ok(None);
    }
    let shape = site.result_type().shape.clone();
    let source = unshaped(site, operand, from)?;
    let result = site.b.emit(TensorOp::Reduce { f, axes: reduced }, &[source])?;
    site.b.reshape(result, shape).map(Some)
}

/// The shape of x where `value` is `reshape(x)` and x ends a contraction or reduction whose axes the reshape splits,
/// or a reduction whose axes of extent 1 it drops.
fn computed_source(site: &Site, value: Value) -> Option<Shape> {
    let (reshape, TensorOp::Reshape { shape: to }) = site.def(value)? else { return None };
    let x = site.b.func.operand(reshape, 0);
    let from = site.shape(x);
    let follows = match chain_root(site, x)? {
        TensorOp::Dot { .. } | TensorOp::Conv { .. } => from.rank() < to.rank(),
        TensorOp::Reduce { .. } => {
            from.rank() < to.rank() || (from.rank() > to.rank() && from.differs_by_units(to))
        }
        _ => false,
    };
    follows.then(|| from.clone())
}

/// The contraction or reduction that a chain of elementwise ops and normalisations of one shape follows.
fn chain_root<'s>(site: &'s Site, mut value: Value) -> Option<&'s TensorOp> {
    const LONGEST: usize = 32;
    let shape = site.shape(value);
    for _ in 0..LONGEST {
        let (op, kind) = site.def(value)?;
        match kind {
            TensorOp::Elementwise { .. } => {
                let operands = site.b.func.operands(op).iter();
                value = *operands
                    .into_iter()
                    .find(|operand| site.shape(**operand) == shape && site.splat(**operand).is_none())?;
            }
            TensorOp::Gather { .. } if is_lookup(site.b.func, op) => value = site.b.func.operand(op, 1),
            rows if first_row_axis(rows, shape.rank()).is_some() => value = site.b.func.operand(op, 0),
            root => return Some(root),
        }
    }
    None
}

/// `reshape(value)`, or what a reshape of the value was made of.
fn unshaped(site: &mut Site, value: Value, shape: Shape) -> tegula_tensor::build::Built {
    let source = match site.def(value) {
        Some((reshape, TensorOp::Reshape { .. })) => site.b.func.operand(reshape, 0),
        Some((_, TensorOp::Splat { dtype, bits, .. })) => {
            let (dtype, bits) = (*dtype, *bits);
            return site.b.emit(TensorOp::Splat { dtype, shape, bits }, &[]);
        }
        _ => value,
    };
    site.b.reshape(source, shape)
}

/// A run of axes of each of two shapes.
type Runs = (Range<usize>, Range<usize>);

/// Runs of axes of both shapes with equal counts, in order, each with at most one axis of `from` that is not 1.
fn groups(from: &Shape, to: &Shape) -> Option<SmallVec<[Runs; 6]>> {
    let mut groups = SmallVec::new();
    let mut next = 0;
    for (i, dim) in from.iter().enumerate() {
        if dim.is_const(1) {
            groups.push((i..i + 1, next..next));
            continue;
        }
        let start = next;
        next += 1;
        while !dim.is_product_of(to.get(start..next)?) {
            next += 1;
        }
        groups.push((i..i + 1, start..next));
    }
    // Extents of 1 at the end go with the last group.
    let rest = next;
    while to.get(next).is_some_and(|dim| dim.is_const(1)) {
        next += 1;
    }
    groups.push((from.rank()..from.rank(), rest..next));
    (next == to.rank()).then_some(groups)
}

/// The shape over `from`'s axes of an operand that is full or of extent 1 on each group of axes.
fn joined(shape: &Shape, from: &Shape, to: &Shape, groups: &[Runs]) -> Option<Shape> {
    if shape == to {
        return Some(from.clone());
    }
    if shape.rank() != to.rank() {
        return None;
    }
    let mut joined: SmallVec<[Dim; 6]> = SmallVec::new();
    for (own, group) in groups {
        let (part, full) = (&shape[group.clone()], &to[group.clone()]);
        match part {
            part if part == full => joined.extend(from[own.clone()].iter().cloned()),
            part if super::all_ones(part) => joined.extend(own.clone().map(|_| Dim::from(1))),
            _ => return None,
        }
    }
    Some(joined.as_slice().into())
}
