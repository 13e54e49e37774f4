//! Contractions in normal form: `[batch..., m, k]` (m and k in either order) times `[batch..., k, n]`
//! (k and n in either order, or packed), one axis each.

use super::converted::Converted;
use super::padded::Product;
use super::prefetch::Ahead;
use super::{
    BYTE_K_GROUP, LastColumns, ROW_TAILS, RightSide, TileAt, TileOfResult, Traversal, WEIGHT_ROW_TAILS, Walk,
    epilogue, over_k, padded, prologue, right_side,
};
use crate::access::{Axis, Lowering, TileBox, begin};
use crate::body::Body;
use crate::{Contract, Edges, Prologue, TileMachine};
use crate::{Lowered, TileLaunches};
use tegula_base::{DType, Dim, Symbols};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::layout::Physical;
use tegula_tensor::{DotDims, TensorOp};
use tegula_tile::Accumulation;

pub(super) struct Roles {
    pub lhs: Value,
    pub rhs: Value,
    pub n_batch: usize,
    pub lhs_m: usize,
    pub lhs_k: usize,
    pub rhs_k: usize,
    pub rhs_n: usize,
}

/// A dot as its target is asked about it.
struct Asked {
    roles: Roles,
    packing: RightSide,
    prologue: Option<prologue::Found>,
    contract: Contract,
}

fn asked(body: &Body, root: OpId, machine: &dyn TileMachine, symbols: &Symbols) -> Result<Asked, String> {
    let TensorOp::Dot { dims, out, pair_sums } = body.func.kind(root) else {
        return Err("a dot is expected".into());
    };
    let roles = roles(body, root, dims)?;
    let k = body.shape(roles.lhs)[roles.lhs_k].clone();
    let packing = right_side(body, roles.rhs, roles.rhs_n);
    let operands = [roles.lhs, roles.rhs].map(|value| body.func.ty(value).dtype);
    let prologue = prologue::of_dot(&body.func, root, symbols, machine);
    let stored = prologue.as_ref().map_or([roles.lhs, roles.rhs], |found| found.stored);
    // Text may say what no kernel formation would: factors computed in ways that no prologue has.
    if let Some(value) = stored.into_iter().find(|value| body.func.def_op(*value).is_some()) {
        return Err(format!("the factor {value} is computed in the kernel, and no prologue does that"));
    }
    let innermost = stored.map(|value| innermost(body, value));
    let operands = match prologue.as_ref().map(|found| found.prologue) {
        Some(Prologue::BlockScales { of, .. }) => [machine.facts().contractions.product_of_f8(of); 2],
        Some(Prologue::Unpack { .. }) | None => operands,
    };
    let shape = body.shape(body.func.result(root));
    let mut contract = super::of_dot(operands, shape, k, *out, packing.panels(), innermost);
    contract.prologue = prologue.as_ref().map(|found| found.prologue);
    contract.pair_sums = pair_sums.is_some();
    contract.in_loop = body.in_loop;
    Ok(Asked { roles, packing, prologue, contract })
}

/// What the target is asked about a dot's tile.
/// Errors: it is no dot in normal form.
pub(super) fn contract(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<Contract, String> {
    asked(body, root, machine, symbols).map(|asked| asked.contract)
}

pub(super) fn lower(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<TileLaunches, String> {
    let TensorOp::Dot { pair_sums, .. } = body.func.kind(root) else {
        return Err("a dot is expected".into());
    };
    let Asked { roles, packing, prologue: found, contract } = asked(body, root, machine, symbols)?;
    let shape = body.shape(body.func.result(root)).clone();
    let (m, n, k) = (contract.m.clone(), contract.n.clone(), contract.k.clone());
    let acc = contract.acc;
    let mut forms = machine.contract_forms(&contract, symbols);
    if let Some(Prologue::BlockScales { steps, .. }) = contract.prologue {
        forms.iter_mut().for_each(|form| form.tile.k = form.tile.k.min(steps));
    }
    if forms.iter().all(|form| form.tile.edges == Edges::Padded) && packing == RightSide::Plain {
        let (roles, contract, found) = (&roles, &contract, found.as_ref());
        return padded::lower(Product { body, root, roles, contract, found, symbols }, &forms, machine);
    }
    if found.is_some() {
        return Err("a prologue's tiles are whole".into());
    }
    let [form] = forms.as_slice() else { return Err("a contraction with cut edges has one form".into()) };
    let mut tile = form.tile;
    tile.n = packing.width().unwrap_or(tile.n);
    let tiles = m.ceil_div(&Dim::from(tile.m)).minimum(&Dim::from(tile.m_block)).as_const();
    tile.converts_for = match packing {
        RightSide::Panels { .. } => {
            tile.converts_for.filter(|least| tiles.is_none_or(|tiles| tiles >= *least))
        }
        RightSide::Plain | RightSide::Groups { .. } => None,
    };
    let floats = k.as_const().zip(tile.converts_for);
    let tails: &[i64] = if packing == RightSide::Plain { &ROW_TAILS } else { &WEIGHT_ROW_TAILS };
    let traversal = Traversal { tile, m, n, last_columns: LastColumns::of(packing), tails };
    let mut grid: Vec<Dim> = (0..roles.n_batch).map(|i| shape[i].clone()).collect();
    grid.extend(traversal.grid());
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let batch_at: Vec<Axis> = cx.unit[..roles.n_batch]
        .iter()
        .map(|offset| Axis { offset: *offset, extent: 1, step: 1, bounded: false })
        .collect();
    let unit = cx.unit[roles.n_batch..].to_vec();
    let asks_for_rows = machine.prefetches_rows(&contract);
    let floats = floats.map(|(steps, least)| Converted::new(&mut cx, steps, tile.n, least));
    let (roles, traversal) = (&roles, &traversal);
    let accumulation = pair_sums.map(|_| Accumulation::I16Pairs);
    let (k, batch) = (&k, &batch_at[..]);
    let cut = Cut { root, roles, packing, acc, accumulation, k, traversal, batch, machine, asks_for_rows };
    match &floats {
        None => traversal.tiles(&mut cx, &unit, &UnitOf { cut: &cut, row_tile: unit[2], floats: None })?,
        Some(floats) => {
            let [_, panel] = traversal.place(&mut cx, &unit);
            let column = Axis { offset: panel, extent: tile.n, step: 1, bounded: false };
            let mut stored = |cx: &mut Lowering, step: Axis| cut.stored(cx, step, column, panel);
            floats.row_tiles(&mut cx, traversal, &unit, &mut stored, &mut |cx, unit, floats| {
                traversal.tiles(cx, unit, &UnitOf { cut: &cut, row_tile: unit[2], floats })
            })?;
        }
    }
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers }.into())
}

/// A dot whose tiles are cut where rows or columns end.
struct Cut<'a> {
    root: OpId,
    roles: &'a Roles,
    packing: RightSide,
    /// What products are summed in.
    acc: DType,
    /// What products of two steps are summed in before, if in anything.
    accumulation: Option<Accumulation>,
    k: &'a Dim,
    traversal: &'a Traversal,
    batch: &'a [Axis],
    machine: &'a dyn TileMachine,
    /// Whether a tile asks for the next one's rows.
    asks_for_rows: bool,
}

impl Cut<'_> {
    /// The `[k, n]` tile of the right side in memory, in the sums' type where the left side is.
    fn stored(&self, cx: &mut Lowering, step: Axis, column: Axis, panel: Value) -> Value {
        let b = right(cx, self.roles, self.packing, self.batch, step, column, panel);
        let [x, w] = [self.roles.lhs, self.roles.rhs].map(|value| cx.body.func.ty(value).dtype);
        match x == self.acc && x != w {
            true => cx.b.elementwise(ScalarOp::Cast { to: self.acc, saturate: true }, &[b]),
            false => b,
        }
    }
}

/// Tiles of one unit.
struct UnitOf<'a> {
    cut: &'a Cut<'a>,
    /// The unit's place in its block.
    row_tile: Value,
    /// The unit's panel, where it was converted.
    floats: Option<&'a Converted>,
}

impl TileOfResult for UnitOf<'_> {
    fn sums(&self, cx: &mut Lowering, at: &TileAt) -> Result<Value, String> {
        let Cut { acc, accumulation, roles, packing, batch, k, machine, .. } = *self.cut;
        let TileAt { row, column, panel } = *at;
        let tile = &self.cut.traversal.tile;
        let zero = cx.b.splat(acc, &[row.extent, column.extent], 0);
        let mut walk = Walk::new(tile, packing, None, row.extent);
        if acc.is_int() {
            walk = walk.in_chains(tile, row.extent);
        }
        let [x, w] = [roles.lhs, roles.rhs].map(|value| cx.body.func.ty(value).dtype);
        if packing == RightSide::Plain && machine.k_group(x, w, BYTE_K_GROUP) == BYTE_K_GROUP {
            // A k-group is made of as many rows of the right side, and no chain takes a part of one.
            walk = Walk { chains: 1, ..walk };
        }
        if accumulation == Some(Accumulation::I16Pairs) && !matches!(packing, RightSide::Groups { .. }) {
            walk = Walk::in_pairs();
        }
        let next = match packing {
            RightSide::Plain => None,
            _ if row.extent < tile.m && !machine.facts().contractions.prefetches_tails => None,
            RightSide::Panels { .. } | RightSide::Groups { .. } => {
                let (right, place) = ((roles.rhs, k), [panel, self.row_tile]);
                Ahead::panel(cx, machine, right, (tile, walk), tile.m_block, batch, place)
            }
        };
        let asks = self.cut.asks_for_rows && row.extent == tile.m && roles.lhs_k == roles.lhs_m + 1;
        let rows = if asks { Ahead::rows(cx, machine, roles.lhs, (tile, walk), batch, row) } else { None };
        let column_start = cx.b.index(0);
        let mut ahead = |cx: &mut Lowering, k: Value| {
            for asked in next.iter().chain(&rows) {
                asked.round(cx, column_start, k);
            }
        };
        over_k(cx, k, walk, zero, &mut ahead, &mut |cx, step, sum| {
            let a = left(cx, roles, batch, row, step);
            let b = match self.floats {
                Some(floats) => floats.tile(cx, step),
                None => self.cut.stored(cx, step, column, panel),
            };
            Ok(cx.b.dot_with(accumulation, sum, a, b))
        })
    }

    fn finish(&self, cx: &mut Lowering, at: &TileAt, sums: Value) -> Result<(), String> {
        let mut place: TileBox = self.cut.batch.iter().copied().collect();
        place.push(at.row);
        place.push(at.column);
        epilogue(cx, self.cut.root, sums, &place)
    }
}

/// The extent along which an argument's elements are neighbours in memory.
fn innermost(body: &Body, arg: Value) -> Dim {
    match body.func.ty(arg).layout_or_default().0.last() {
        Some(Physical::Axis(axis)) => body.shape(arg)[*axis].clone(),
        Some(Physical::Outer { tile, .. } | Physical::Inner { tile, .. }) => Dim::from(*tile),
        None => Dim::from(1),
    }
}

fn roles(body: &Body, root: OpId, dims: &DotDims) -> Result<Roles, String> {
    let [lhs, rhs] = *body.func.operands(root) else { return Err("a dot takes two operands".into()) };
    let n_batch = dims.lhs_batch.len();
    let leading = |axes: &[usize]| axes.iter().copied().eq(0..axes.len());
    let normal = leading(&dims.lhs_batch)
        && leading(&dims.rhs_batch)
        && body.shape(lhs).rank() == n_batch + 2
        && body.shape(rhs).rank() == n_batch + 2;
    let (&[lhs_k], &[rhs_k], true) = (dims.lhs_contract.as_slice(), dims.rhs_contract.as_slice(), normal)
    else {
        return Err("a dot must be in normal form: leading batch axes, one row, column and inner axis".into());
    };
    let other = |k: usize| 2 * n_batch + 1 - k;
    Ok(Roles { lhs, rhs, n_batch, lhs_m: other(lhs_k), lhs_k, rhs_k, rhs_n: other(rhs_k) })
}

/// The `[m, k]` tile of the left side.
pub(super) fn left(cx: &mut Lowering, roles: &Roles, batch: &[Axis], row: Axis, step: Axis) -> Value {
    let mut at: TileBox = batch.iter().copied().collect();
    at.push(row);
    at.push(step);
    (at[roles.lhs_m], at[roles.lhs_k]) = (row, step);
    plain(cx, roles.lhs, &at, roles.lhs_m, roles.lhs_k)
}

/// A box of a whole-axis argument as a matrix of axes `first` by `second`.
pub(super) fn plain(cx: &mut Lowering, arg: Value, at: &TileBox, first: usize, second: usize) -> Value {
    let order = cx.axis_order(arg).expect("invariant: only right sides are packed");
    let tile = cx.load_physical(arg, &order, at, 0);
    let first_outside =
        order.iter().position(|axis| *axis == first) < order.iter().position(|axis| *axis == second);
    if first_outside {
        cx.b.reshape(tile, &[at[first].extent, at[second].extent])
    } else {
        let tile = cx.b.reshape(tile, &[at[second].extent, at[first].extent]);
        cx.b.transpose(tile, &[1, 0])
    }
}

/// The `[k, n]` tile of the right side.
pub(super) fn right(
    cx: &mut Lowering,
    roles: &Roles,
    packing: RightSide,
    batch: &[Axis],
    step: Axis,
    column: Axis,
    panel: Value,
) -> Value {
    match packing {
        RightSide::Plain => {
            let mut at: TileBox = batch.iter().copied().collect();
            at.push(step);
            at.push(column);
            (at[roles.rhs_k], at[roles.rhs_n]) = (step, column);
            plain(cx, roles.rhs, &at, roles.rhs_k, roles.rhs_n)
        }
        RightSide::Panels { .. } | RightSide::Groups { .. } => {
            packed(cx, roles.rhs, packing, batch, &[], step, panel)
        }
    }
}

/// A `[k, n]` tile of a packed right side `[outer..., n/width, between..., k, width]` (or with k-groups).
pub(super) fn packed(
    cx: &mut Lowering,
    arg: Value,
    packing: RightSide,
    outer: &[Axis],
    between: &[Axis],
    step: Axis,
    panel: Value,
) -> Value {
    let view = cx.arg_view(arg).expect("invariant: an argument has a view");
    let zero = cx.b.index(0);
    let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
    let mut at: TileBox = outer.iter().copied().collect();
    at.push(one(panel));
    at.extend(between.iter().copied());
    match packing {
        // A step that is left over is the first of its k-group.
        RightSide::Groups { width, k_group } => {
            let k_group = cx.b.index(k_group);
            let group = cx.b.index_op(tegula_tile::IndexOp::FloorDiv, step.offset, k_group);
            at.push(one(group));
            at.push(Axis { extent: width, ..one(zero) });
            at.push(Axis { extent: step.extent, ..one(zero) });
            let tile = cx.load(view, &at, 0);
            let tile = cx.b.reshape(tile, &[width, step.extent]);
            cx.b.transpose(tile, &[1, 0])
        }
        RightSide::Panels { width } => {
            at.push(step);
            at.push(Axis { extent: width, ..one(zero) });
            let tile = cx.load(view, &at, 0);
            cx.b.reshape(tile, &[step.extent, width])
        }
        RightSide::Plain => unreachable!("the caller packs"),
    }
}
