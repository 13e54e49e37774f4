//! Puts the axes of a kernel in memory order and merges those that always move together, so that recipes see few
//! long axes, the innermost last: an elementwise kernel over a channels-last `[1,64,80,80]` becomes one over
//! `[409600]`.
//!
//! The results of a root and all operands that are not its own share one permuted layout (assign_layouts sees to
//! that). A contraction or window keeps its operands as they are; only its result changes order. Axes merge in
//! bodies of elementwise ops, broadcasts, splats and reductions: two axes, adjacent in memory, merge when in every
//! value both are full or both are 1, and every reduction reduces both or none. Where such a body reads one order and
//! writes another, axes that are adjacent in both merge, and operands keep an order of their own. Numbers that are computed on
//! the way have no axes that matter. Where ops move or cut axes none merge, but those that are 1 throughout drop out.

use super::body::Body;
use tegula_base::HashMap;
use tegula_base::{Dim, Shape};
use tegula_ir::{OpId, Value};
use tegula_tensor::facts::{is_lookup, may_repeat};
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorFunc, TensorOp, TensorType};

/// The same kernel in memory order over fewer axes; `None` when nothing changes.
pub(super) fn collapse_axes(body: &Body) -> Option<Body> {
    let rank = body.result_types.first()?.rank();
    let root = body.root().filter(|op| keeps_operands(body.func.kind(*op)));
    let moved = moved_values(body, root);
    if rank == 0 || !body.ops().iter().all(|op| Some(*op) == root || permutes(body, *op, rank)) {
        return None;
    }
    let stays_apart = |op: &OpId| is_lookup(&body.func, *op) || is_of_numbers(body, *op);
    let mergeable =
        root.is_none() && body.ops().iter().all(|op| merges(body.func.kind(*op)) || stays_apart(op));
    let tables = tables(body);
    let is_apart = |value: &Value| {
        let shape = body.shape(*value);
        tables.contains(value) || (shape.rank() != rank && is_number(shape))
    };
    let same_rank =
        moved.iter().filter(|value| !is_apart(value)).all(|value| body.shape(*value).rank() == rank);
    let buffers = buffers(body, &moved, rank);
    if buffers.iter().any(|ty| axis_order(ty).is_none()) {
        return None;
    }
    let common = common_order(&buffers);
    let order = match &common {
        Some(order) => order.clone(),
        None if mergeable && same_rank => axis_order(body.result_types.first()?)?,
        None => return None,
    };
    let groups = match mergeable && same_rank {
        true => {
            let elements: Vec<Value> = moved.into_iter().filter(|value| !is_apart(value)).collect();
            merge(body, &elements, &buffers, &order)
        }
        false => {
            // A pad's fill has no axes.
            let ranked: Vec<Value> =
                moved.into_iter().filter(|value| body.shape(*value).rank() != 0).collect();
            let alike = ranked.iter().all(|value| body.shape(*value).rank() == rank);
            let drops = root.is_none() && alike && tables.is_empty();
            let stays = |axis: &&usize| !(drops && is_idle(body, **axis, &ranked));
            let axes: Vec<Vec<usize>> = order.iter().filter(stays).map(|axis| vec![*axis]).collect();
            if axes.is_empty() { vec![vec![order[0]]] } else { axes }
        }
    };
    if groups.iter().map(Vec::as_slice).eq((0..rank)
        .map(|axis| [axis])
        .collect::<Vec<_>>()
        .iter()
        .map(|a| &a[..]))
    {
        return None;
    }
    Some(Rebuild { body, root, groups, rank, keeps_orders: common.is_none() }.rebuild())
}

/// Roots whose operand axes have roles of their own, and whose recipes follow [`Body::root_order`].
fn keeps_operands(op: &TensorOp) -> bool {
    matches!(
        op,
        TensorOp::Conv { .. }
            | TensorOp::WinogradConv { .. }
            | TensorOp::Pool { .. }
            | TensorOp::MaxPoolIndices { .. }
    )
}

fn merges(op: &TensorOp) -> bool {
    matches!(
        op,
        TensorOp::Elementwise { .. }
            | TensorOp::Broadcast { .. }
            | TensorOp::Splat { .. }
            | TensorOp::Reduce { .. }
            | TensorOp::Relayout { .. }
    )
}

/// Whether an op means the same after all its axes are permuted alike.
fn permutes(body: &Body, op: OpId, rank: usize) -> bool {
    let full = |value: &Value| body.shape(*value).rank() == rank;
    match body.func.kind(op) {
        TensorOp::Iota { .. }
        | TensorOp::Slice { .. }
        | TensorOp::Concat { .. }
        | TensorOp::Scan { .. }
        | TensorOp::Transpose { .. } => body.func.operands(op).iter().chain(body.func.results(op)).all(full),
        TensorOp::Pad { .. } => full(&body.func.operand(op, 0)),
        _ if is_lookup(&body.func, op) => full(&body.func.operand(op, 1)),
        _ if is_of_numbers(body, op) => true,
        // A gather by a list of indices keeps the rank.
        TensorOp::Gather { .. } => full(&body.func.operand(op, 0)) && full(&body.func.result(op)),
        kind => merges(kind),
    }
}

/// Whether an op makes one number of one number or of sizes, as the count that a mean over open sizes divides by: it has no
/// axes to put in order.
fn is_of_numbers(body: &Body, op: OpId) -> bool {
    let values = || body.func.operands(op).iter().chain(body.func.results(op));
    matches!(body.func.kind(op), TensorOp::Sizes { .. } | TensorOp::Reshape { .. })
        && values().all(|value| is_number(body.shape(*value)))
}

fn is_number(shape: &Shape) -> bool {
    shape.iter().all(|dim| dim.is_const(1))
}

/// The lookup tables: their axis is none of the kernel's.
fn tables(body: &Body) -> Vec<Value> {
    let lookups = body.ops().iter().filter(|op| is_lookup(&body.func, **op));
    lookups.map(|op| body.func.operand(*op, 0)).collect()
}

/// The values whose axes are put in order: all but the root's own operands.
fn moved_values(body: &Body, root: Option<OpId>) -> Vec<Value> {
    let used_outside = |value: &Value| {
        let users = body.func.users(*value).iter();
        body.results.contains(value) || users.into_iter().any(|user| Some(*user) != root)
    };
    let args = body.args().iter().copied().filter(used_outside);
    args.chain(body.ops().iter().flat_map(|op| body.func.results(*op)).copied()).collect()
}

/// What the results and moved arguments of full rank lie in.
fn buffers<'a>(body: &'a Body, moved: &[Value], rank: usize) -> Vec<&'a TensorType> {
    let args = body.args().iter().filter(|arg| moved.contains(arg)).map(|arg| body.func.ty(*arg));
    body.result_types.iter().chain(args).filter(|ty| ty.rank() == rank).collect()
}

/// The memory order of axes that all buffers agree on. Axes of extent 1 have no place of their own, so a buffer only
/// constrains the order of its other axes.
fn common_order(buffers: &[&TensorType]) -> Option<Vec<usize>> {
    let full = |ty: &TensorType| ty.shape.iter().filter(|dim| !dim.is_const(1)).count();
    let mut widest = *buffers.first()?;
    for ty in buffers {
        if full(ty) > full(widest) {
            widest = ty;
        }
    }
    let order = axis_order(widest)?;
    for ty in buffers {
        let wanted = order.iter().copied().filter(|axis| !ty.shape[*axis].is_const(1));
        if !wide_order(ty)?.into_iter().eq(wanted) {
            return None;
        }
    }
    Some(order)
}

/// The axes in memory order that are not 1.
fn wide_order(ty: &TensorType) -> Option<Vec<usize>> {
    Some(axis_order(ty)?.into_iter().filter(|axis| !ty.shape[*axis].is_const(1)).collect())
}

fn axis_order(ty: &TensorType) -> Option<Vec<usize>> {
    let whole = |dim: &Physical| match dim {
        Physical::Axis(axis) => Some(*axis),
        Physical::Outer { .. } | Physical::Inner { .. } => None,
    };
    ty.layout_or_default().0.iter().map(whole).collect()
}

/// Whether an axis is 1 in every value, and stands in its place through every op: without it the kernel means the same.
/// With it last, each element has a vector of its own.
fn is_idle(body: &Body, axis: usize, values: &[Value]) -> bool {
    let stays = |op: &OpId| match body.func.kind(*op) {
        TensorOp::Transpose { perm } => perm[axis] == axis,
        TensorOp::Pad { low, high, .. } => low[axis].is_const(0) && high[axis].is_const(0),
        TensorOp::Concat { axis: own }
        | TensorOp::Iota { axis: own, .. }
        | TensorOp::Scan { axis: own, .. }
        | TensorOp::Gather { axis: own } => *own != axis,
        _ => true,
    };
    values.iter().all(|value| body.shape(*value)[axis].is_const(1)) && body.ops().iter().all(stays)
}

/// Runs of axes, in memory order, that merge. Axes that are 1 everywhere carry nothing and drop out.
fn merge(body: &Body, values: &[Value], buffers: &[&TensorType], order: &[usize]) -> Vec<Vec<usize>> {
    let full = |axis: usize, value: &Value| {
        let shape = body.shape(*value);
        shape.rank() != 0 && !shape[axis].is_const(1)
    };
    let orders: Vec<Vec<usize>> = buffers.iter().filter_map(|ty| wide_order(ty)).collect();
    let are_neighbours = |last: usize, axis: usize| {
        orders.iter().all(|order| match order.iter().position(|own| *own == last) {
            Some(at) => order.get(at + 1) == Some(&axis),
            None => !order.contains(&axis),
        })
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for axis in order.iter().copied().filter(|axis| values.iter().any(|value| full(*axis, value))) {
        let fits = |last: usize| {
            let reduced_alike = body.reduces().iter().all(|op| match body.func.kind(*op) {
                TensorOp::Reduce { axes, .. } => axes.contains(&last) == axes.contains(&axis),
                _ => true,
            });
            let repeats = |op: &OpId| {
                matches!(body.func.kind(*op), TensorOp::Broadcast { .. })
                    && [last, axis].into_iter().any(|axis| may_repeat(&body.func, *op, axis))
            };
            let wide_alike = !body.ops().iter().any(repeats)
                && values.iter().all(|value| full(last, value) == full(axis, value));
            reduced_alike && wide_alike && are_neighbours(last, axis)
        };
        match groups.last_mut() {
            Some(group) if fits(*group.last().expect("invariant: groups are not empty")) => group.push(axis),
            _ => groups.push(vec![axis]),
        }
    }
    if groups.is_empty() { vec![vec![order[0]]] } else { groups }
}

struct Rebuild<'a> {
    body: &'a Body,
    root: Option<OpId>,
    /// Old axes of each new one.
    groups: Vec<Vec<usize>>,
    rank: usize,
    /// Buffers lie in orders of their own, which the new axes have too.
    keeps_orders: bool,
}

impl Rebuild<'_> {
    fn rebuild(&self) -> Body {
        let body = self.body;
        let mut func = TensorFunc::new(body.func.name.clone());
        let region = func.body();
        // The root's own operands first, untouched; then the others in their new order.
        let mut kept: HashMap<Value, Value> = HashMap::default();
        let mut map: HashMap<Value, Value> = HashMap::default();
        let mut operands = Vec::new();
        let root_operands = self.root.map_or(&[][..], |op| body.func.operands(op));
        let moved = moved_values(body, self.root);
        for (arg, operand) in body.args().iter().zip(&body.operands) {
            if root_operands.contains(arg) {
                kept.insert(*arg, func.add_arg(region, body.func.ty(*arg).clone()));
                operands.push(*operand);
            }
        }
        for (arg, operand) in body.args().iter().zip(&body.operands) {
            if moved.contains(arg) {
                map.insert(*arg, func.add_arg(region, self.buffer(body.func.ty(*arg))));
                operands.push(*operand);
            }
        }
        for op in body.ops() {
            let is_root = Some(*op) == self.root;
            let names = if is_root { &kept } else { &map };
            let own: Vec<Value> = body.func.operands(*op).iter().map(|value| names[value]).collect();
            let kept_as_is = is_root || is_lookup(&body.func, *op);
            let kind = body.func.kind(*op);
            let kind = if kept_as_is { kind.clone() } else { self.kind(kind) };
            let types: Vec<TensorType> = body.func.result_types(*op).iter().map(|ty| self.ty(ty)).collect();
            let copy = func.push_op(region, kind, &own, types, None);
            for (old, new) in body.func.results(*op).iter().zip(func.results(copy).to_vec()) {
                map.insert(*old, new);
            }
        }
        Body {
            results: body.results.iter().map(|value| map[value]).collect(),
            result_types: body.result_types.iter().map(|ty| self.buffer(ty)).collect(),
            operands,
            func,
            in_loop: body.in_loop,
            root_order: self.root.map(|_| self.groups.iter().map(|group| group[0]).collect()),
        }
    }

    fn buffer(&self, ty: &TensorType) -> TensorType {
        let merged = self.ty(ty);
        let Some(order) = axis_order(ty).filter(|_| self.keeps_orders && ty.rank() == self.rank) else {
            return merged;
        };
        let place = |group: &usize| order.iter().position(|axis| self.groups[*group].contains(axis));
        let mut groups: Vec<usize> = (0..self.groups.len()).collect();
        groups.sort_by_key(place);
        let layout = Layout::permuted(&groups);
        TensorType { layout: (!layout.is_row_major()).then(|| Box::new(layout)), ..merged }
    }

    /// Values of another rank (scalars, index lists) stay as they are.
    fn ty(&self, ty: &TensorType) -> TensorType {
        match ty.rank() == self.rank {
            true => TensorType::new(ty.dtype, self.shape(&ty.shape)),
            false => ty.clone(),
        }
    }

    fn shape(&self, shape: &Shape) -> Shape {
        if shape.rank() != self.rank {
            return shape.clone();
        }
        let product = |group: &Vec<usize>| {
            group.iter().fold(Dim::from(1), |product, axis| product * shape[*axis].clone())
        };
        self.groups.iter().map(product).collect()
    }

    fn axis(&self, axis: usize) -> usize {
        let holds = |group: &Vec<usize>| group.contains(&axis);
        self.groups.iter().position(holds).expect("invariant: only axes of extent 1 everywhere drop out")
    }

    fn list<T: Clone>(&self, list: &[T]) -> Vec<T> {
        self.groups.iter().map(|group| list[group[0]].clone()).collect()
    }

    fn kind(&self, kind: &TensorOp) -> TensorOp {
        match kind {
            TensorOp::Broadcast { shape } => TensorOp::Broadcast { shape: self.shape(shape) },
            TensorOp::Reshape { shape } => TensorOp::Reshape { shape: self.shape(shape) },
            TensorOp::Splat { dtype, shape, bits } => {
                TensorOp::Splat { dtype: *dtype, shape: self.shape(shape), bits: *bits }
            }
            TensorOp::Iota { dtype, shape, axis } => {
                TensorOp::Iota { dtype: *dtype, shape: self.shape(shape), axis: self.axis(*axis) }
            }
            TensorOp::Reduce { f, axes } => {
                let reduced = |group: &Vec<usize>| group.iter().any(|axis| axes.contains(axis));
                let axes = (0..self.groups.len()).filter(|i| reduced(&self.groups[*i])).collect();
                TensorOp::Reduce { f: *f, axes }
            }
            TensorOp::Slice { starts, sizes, steps } => TensorOp::Slice {
                starts: self.list(starts),
                sizes: self.list(sizes),
                steps: self.list(steps),
            },
            TensorOp::Pad { low, high, mode } => {
                TensorOp::Pad { low: self.list(low), high: self.list(high), mode: *mode }
            }
            TensorOp::Concat { axis } => TensorOp::Concat { axis: self.axis(*axis) },
            TensorOp::Gather { axis } => TensorOp::Gather { axis: self.axis(*axis) },
            TensorOp::Scan { f, axis, exclusive, reverse } => {
                TensorOp::Scan { f: *f, axis: self.axis(*axis), exclusive: *exclusive, reverse: *reverse }
            }
            TensorOp::Transpose { perm } => TensorOp::Transpose {
                perm: self.groups.iter().map(|group| self.axis(perm[group[0]])).collect(),
            },
            other => other.clone(),
        }
    }
}
