//! Loads that a tensor map can name: two axes of neighbours, whole 16-byte strides, nothing written. Loads of one view
//! that stand below each other are one source: runs of rows that lie anywhere, as pages do.

use super::super::Lower;
use super::super::access::Access;
use crate::encoding::{BoxCopy, TensorCopies, tensor_copies};
use crate::layout::{SharedLayout, Swizzle};
use tegula_base::DType;
use tegula_ir::{Def, OpId, Value};
use tegula_package::MapElement;
use tegula_tile::TileOp;

/// A load by the copy engine: a matrix in shared memory.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Source {
    /// The load, or what puts several below each other.
    pub load: OpId,
    /// The loads, each of as many rows.
    pub runs: Vec<OpId>,
    pub view: usize,
    pub dtype: DType,
    /// The matrix: the load's two axes of more than one element, in their order.
    pub axes: [usize; 2],
    pub layout: SharedLayout,
    pub swizzle: Swizzle,
    pub copies: TensorCopies,
    /// The view's axes as the tensor map has them, innermost first.
    pub map_axes: Vec<usize>,
    /// Products that use it.
    pub users: Vec<OpId>,
    /// Threads read it from the slot, and make the left factor of its products of it.
    pub by_threads: bool,
    /// Bytes from the slot's start.
    pub offset: u32,
    /// What CTAs of a cluster do otherwise.
    pub share: Share,
}

impl Source {
    /// Rows of each of several runs.
    pub fn rows_of_run(&self) -> u32 {
        self.layout.extents()[0] / self.runs.len() as u32
    }

    /// Bytes that arrive in a slot.
    pub fn bytes(&self) -> u32 {
        match self.share {
            Share::All { .. } => self.copies.bytes() * super::CLUSTER,
            Share::Own | Share::Run { .. } => self.copies.bytes(),
        }
    }
}

/// What a CTA of a cluster brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::lower) enum Share {
    /// All of the tile, to itself.
    #[default]
    Own,
    /// A run of so many elements along a dim of the matrix, to itself.
    Run { dim: usize, elements: u32 },
    /// The copies of the first CTA moved by so many elements along a dim, and bytes in shared memory, to all.
    All { dim: usize, elements: u32, bytes: u32 },
}

/// Dims of a tensor map at most.
pub(crate) const MAP_RANK: usize = 5;
/// What strides and rows of boxes are multiples of, in bytes (`cuTensorMapEncodeTiled`).
const CHUNK: i64 = 16;
/// Rows after which a swizzle repeats.
const PATTERN_ROWS: u32 = 8;

/// The load as a source; none where the copy engine cannot do it, or where others than products use it.
pub(super) fn of_load(cx: &Lower, op: OpId) -> Option<Source> {
    let runs = match cx.func.kind(op) {
        TileOp::Load { pad: 0, .. } => vec![op],
        TileOp::Concat { axis: 0 } => runs_of_rows(cx, op)?,
        _ => return None,
    };
    let access = cx.access(runs[0]);
    if cx.is_written_view(access.view) || access.steps.iter().any(|step| *step != 1) {
        return None;
    }
    let ty = &cx.kernel.views[access.view].ty;
    let [first, second] = matrix_axes(&access.shape)?;
    let neighbours = |axis: usize| ty.strides[axis].is_const(1);
    let (inner, outer) = match (neighbours(first), neighbours(second)) {
        (_, true) => (second, first),
        (true, false) => (first, second),
        (false, false) => return None,
    };
    let map_axes = map_axes(cx, &access, inner, outer)?;
    let size = access.dtype.size() as i64;
    let mut extents = [first, second].map(|axis| access.shape[axis] as u32);
    let (major, minor) = if inner == second { (1, 0) } else { (0, 1) };
    if runs.len() > 1 {
        // Copies begin at whole swizzle patterns.
        (major == 1 && extents[0].is_multiple_of(PATTERN_ROWS)).then_some(())?;
        extents[0] *= runs.len() as u32;
    }
    let row = i64::from(extents[major]) * size;
    if row % CHUNK != 0 {
        return None;
    }
    let fits = |swizzle: &Swizzle| row % i64::from(swizzle.span()) == 0;
    let swizzle = Swizzle::ALL.into_iter().rev().find(fits)?;
    let layout = SharedLayout::panels(&extents, size as u32, major, minor, swizzle);
    let copies = tensor_copies(&layout, &[major, minor], runs.len() as u32).ok()?;
    let (mut users, mut left_users) = (Vec::new(), Vec::new());
    let by_threads = !feeds_products(cx, cx.func.result(op), &mut users);
    if by_threads {
        // A slot's threads read one box.
        let feeds = runs.len() == 1 && makes_factors(cx, cx.func.result(op), &mut left_users);
        users = if feeds { left_users } else { Vec::new() };
    }
    // What nobody uses would fill its ring and stop.
    if users.is_empty() {
        return None;
    }
    map_element(access.dtype)?;
    let mut offsets = runs.iter().flat_map(|run| cx.access(*run).offsets);
    let known = offsets.all(|offset| is_known(cx, offset)) && is_reached(cx, op);
    known.then_some(Source {
        load: op,
        runs,
        view: access.view,
        dtype: access.dtype,
        axes: [first, second],
        layout,
        swizzle,
        copies,
        map_axes,
        users,
        by_threads,
        offset: 0,
        share: Share::Own,
    })
}

/// The loads that a concatenation along rows puts below each other: equal boxes of one view in one region.
fn runs_of_rows(cx: &Lower, op: OpId) -> Option<Vec<OpId>> {
    let load = |value: &Value| match behind(cx, *value)? {
        (load, false) => matches!(cx.func.kind(load), TileOp::Load { .. }).then_some(load),
        _ => None,
    };
    let loads = cx.func.operands(op).iter().map(load).collect::<Option<Vec<OpId>>>()?;
    let first = cx.access(loads[0]);
    let (_, shape) = cx.tile(cx.func.result(op));
    let alike = |load: &OpId| {
        let access = cx.access(*load);
        let pads = matches!(cx.func.kind(*load), TileOp::Load { pad: 0, .. });
        pads && (access.view, &access.shape, &access.steps) == (first.view, &first.shape, &first.steps)
            && cx.func.parent(*load) == cx.func.parent(op)
    };
    let [rows, columns] = matrix_axes(&first.shape)?.map(|axis| first.shape[axis]);
    let whole = shape == [rows * loads.len() as i64, columns];
    (whole && loads.iter().all(alike)).then_some(loads)
}

/// The two axes of more than one element, where there are just two.
pub(in crate::lower) fn matrix_axes(shape: &[i64]) -> Option<[usize; 2]> {
    let wide: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] > 1).collect();
    wide.try_into().ok()
}

/// The axes of a tensor map of the view, innermost first; none where its elements do not lie as a map wants them.
pub(in crate::lower) fn map_axes(
    cx: &Lower,
    access: &Access,
    inner: usize,
    outer: usize,
) -> Option<Vec<usize>> {
    let ty = &cx.kernel.views[access.view].ty;
    // An axis that repeats its elements needs no coordinate.
    let others = (0..access.shape.len())
        .filter(|axis| ![inner, outer].contains(axis) && !ty.strides[*axis].is_const(0));
    let axes: Vec<usize> = [inner, outer].into_iter().chain(others).collect();
    let size = access.dtype.size() as i64;
    let whole = |axis: &usize| size <= CHUNK && cx.symbols.divides(CHUNK / size, &ty.strides[*axis]);
    let fits = ty.strides[inner].is_const(1) && axes.len() <= MAP_RANK && axes[1..].iter().all(whole);
    fits.then_some(axes)
}

/// The source where each CTA of a cluster has a run of rows.
pub(super) fn run_of_rows(source: &Source, dim: usize, cluster: u32) -> Option<Source> {
    let mut extents = [source.layout.extents()[0], source.layout.extents()[1]];
    (source.runs.len() == 1).then_some(())?;
    extents[dim] = extents[dim].is_multiple_of(cluster).then(|| extents[dim] / cluster)?;
    let order = inner_first(source);
    let (major, minor) = (order[0], order[1]);
    let row = extents[major] * source.layout.element();
    let swizzle = Swizzle::ALL.into_iter().rev().find(|swizzle| row.is_multiple_of(swizzle.span()))?;
    let layout = SharedLayout::panels(&extents, source.layout.element(), major, minor, swizzle);
    let copies = tensor_copies(&layout, &order, 1).ok()?;
    let share = Share::Run { dim, elements: extents[dim] };
    Some(Source { layout, swizzle, copies, share, ..source.clone() })
}

/// The source where each CTA of a cluster brings a share to all.
pub(super) fn shared(source: &Source, cluster: u32) -> Option<Source> {
    let order = inner_first(source);
    (source.runs.len() == 1).then_some(())?;
    let all = tensor_copies(&source.layout, &order, cluster).ok()?;
    let dim = order[1];
    let elements = source.layout.extents()[dim] / cluster;
    let (first, rest): (Vec<BoxCopy>, Vec<BoxCopy>) =
        all.copies.iter().cloned().partition(|copy| copy.corner[dim] < elements);
    let moved = |copy: &BoxCopy, bytes: u32| {
        let mut copy = copy.clone();
        copy.corner[dim] += elements;
        copy.offset += bytes;
        copy
    };
    let second = |bytes: u32| first.iter().all(|copy| rest.contains(&moved(copy, bytes)));
    let bytes =
        rest.iter().filter_map(|copy| copy.offset.checked_sub(first[0].offset)).find(|b| second(*b))?;
    let copies = TensorCopies { copies: first, ..all };
    Some(Source { copies, share: Share::All { dim, elements, bytes }, ..source.clone() })
}

/// The matrix's dims, neighbours in memory first.
fn inner_first(source: &Source) -> [usize; 2] {
    let inner = usize::from(source.axes[1] == source.map_axes[0]);
    [inner, 1 - inner]
}

pub(in crate::lower) fn map_element(dtype: DType) -> Option<MapElement> {
    Some(match dtype {
        DType::BF16 => MapElement::BF16,
        DType::F16 => MapElement::F16,
        DType::I8 | DType::U8 | DType::F8E4M3FN | DType::F8E5M2 => MapElement::U8,
        _ => return None,
    })
}

/// Whether the producer, which has no tiles, can compute an index.
fn is_known(cx: &Lower, value: Value) -> bool {
    match cx.func.def(value) {
        // Sizes and units are known, and so are loops' counters.
        Def::Arg(region, number) => region == cx.func.body() || number == 0,
        Def::Result(op, _) => match cx.func.kind(op) {
            TileOp::Const { .. } | TileOp::Size { .. } => true,
            TileOp::Index { .. } => cx.func.operands(op).iter().all(|operand| is_known(cx, *operand)),
            // An element of a table.
            TileOp::ToIndex {} => behind(cx, cx.func.operand(op, 0)).is_some_and(|(load, _)| {
                let TileOp::Load { .. } = cx.func.kind(load) else { return false };
                let access = cx.access(load);
                let one = access.shape.iter().all(|extent| *extent == 1);
                one && !cx.is_written_view(access.view)
                    && access.offsets.iter().all(|offset| is_known(cx, *offset))
            }),
            _ => false,
        },
    }
}

/// Whether the producer can follow the loops and branches that an op stands in.
fn is_reached(cx: &Lower, op: OpId) -> bool {
    let Some(owner) = cx.func.parent(op).and_then(|region| cx.func.owner(region)) else { return true };
    let decides = match cx.func.kind(owner) {
        TileOp::For { .. } => 2,
        _ => 1,
    };
    cx.func.operands(owner)[..decides].iter().all(|index| is_known(cx, *index)) && is_reached(cx, owner)
}

/// Whether only products use the value, as a factor; adds them.
fn feeds_products(cx: &Lower, value: Value, products: &mut Vec<OpId>) -> bool {
    let moves = |op: OpId| matches!(cx.func.kind(op), TileOp::Transpose { .. } | TileOp::Reshape { .. });
    all_ends(cx, value, &moves, &mut |product, factor| {
        note(products, product);
        cx.func.operand(product, 0) != factor
    })
}

/// Whether elements only become left factors, on their own; adds the products.
fn makes_factors(cx: &Lower, value: Value, products: &mut Vec<OpId>) -> bool {
    let computes = |op: OpId| {
        matches!(
            cx.func.kind(op),
            TileOp::Elementwise { .. }
                | TileOp::Broadcast { .. }
                | TileOp::Transpose { .. }
                | TileOp::Reshape { .. }
        )
    };
    all_ends(cx, value, &computes, &mut |product, factor| {
        note(products, product);
        let uses = cx.func.operands(product).iter().filter(|operand| **operand == factor).count();
        uses == 1 && cx.func.operand(product, 1) == factor
    })
}

fn note(products: &mut Vec<OpId>, product: OpId) {
    if !products.contains(&product) {
        products.push(product);
    }
}

/// Whether what a value becomes by ops that `pass` is read by products alone, and each of them `fits` the value it reads.
fn all_ends(
    cx: &Lower,
    value: Value,
    pass: &dyn Fn(OpId) -> bool,
    fits: &mut dyn FnMut(OpId, Value) -> bool,
) -> bool {
    let mut values = vec![value];
    let mut next = 0;
    while let Some(value) = values.get(next).copied() {
        next += 1;
        for user in cx.func.users(value) {
            match cx.func.kind(*user) {
                TileOp::Dot { .. } if fits(*user, value) => {}
                _ if pass(*user) => {
                    let result = cx.func.result(*user);
                    if !values.contains(&result) {
                        values.push(result);
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

/// The load behind a matrix, or what puts several below each other, and whether the matrix is the transpose of the
/// load's two axes of more than one element.
pub(in crate::lower) fn behind(cx: &Lower, mut value: Value) -> Option<(OpId, bool)> {
    let mut turned = false;
    loop {
        let op = cx.func.def_op(value)?;
        let wide = |value: Value| -> Vec<i64> {
            cx.tile(value).1.into_iter().filter(|extent| *extent > 1).collect()
        };
        match cx.func.kind(op) {
            TileOp::Load { .. } | TileOp::Concat { axis: 0 } => return Some((op, turned)),
            TileOp::Transpose { perm } => {
                let shape = cx.tile(cx.func.operand(op, 0)).1;
                let order: Vec<usize> = perm.iter().copied().filter(|axis| shape[*axis] > 1).collect();
                turned ^= matches!(order[..], [a, b] if a > b);
            }
            TileOp::Reshape { .. } if wide(cx.func.operand(op, 0)) == wide(value) => {}
            _ => return None,
        }
        value = cx.func.operand(op, 0);
    }
}
