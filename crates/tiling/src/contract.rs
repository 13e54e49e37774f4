//! The recipe of contractions and convolutions: a result tile of `m` rows by `n` columns stays in registers while
//! the contraction runs over all of k, then the epilogue runs on the tile and stores it.
//!
//! A dot's rows and columns are its free axes. A convolution is the same with more loops: rows are the innermost
//! spatial axis of the result, columns its channels, and k is the window times the input channels of a group, read
//! through a window of the padded input without copying it. Right sides may come packed in panels of `n`
//! columns. Rows left over at the end of `m` run in tiles of 4 and 1, so that no tile computes rows twice.

mod conv;
mod converted;
pub(crate) mod depthwise;
mod dot;
mod padded;
mod prefetch;
pub(crate) mod prologue;
mod right_side;
mod split;
mod step;
mod window;
mod winograd;

pub(super) use padded::used_axis;
use right_side::{RightSide, right_side};
pub(super) use window::{window_range, window_start};

use super::TileLaunches;
use super::access::{Axis, Lowering, TileBox};
use super::body::Body;
use crate::{Contract, ContractTile, Edges, Panels, TileMachine};
use tegula_base::{DType, Diagnostic, Dim, Symbols};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::facts::wider_product;
use tegula_tensor::winograd::{REACH, RESULTS};
use tegula_tensor::{TensorFunc, TensorOp};
use tegula_tile::IndexOp;

pub(super) fn lower(
    body: &Body,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<TileLaunches, String> {
    let root = body.root().ok_or("a contraction is expected")?;
    let mut launches = match body.func.kind(root) {
        TensorOp::Dot { .. } => dot::lower(body, root, machine, symbols)?,
        TensorOp::Conv { .. } if is_depthwise(body, root, machine) => {
            depthwise::lower(body, root, machine)?.into()
        }
        TensorOp::Conv { .. } => conv::lower(body, root, machine, symbols)?.into(),
        TensorOp::WinogradConv { .. } => winograd::lower(body, root, machine, symbols)?.into(),
        _ => return Err("a contraction is expected".into()),
    };
    let contract = asked(body, root, machine, symbols);
    launches.reasons.extend(contract.and_then(|contract| machine.tile_reason(&contract)));
    Ok(launches)
}

/// What the target is asked about a contraction's tile; none where the recipe asks nothing of the kind. Winograd's products
/// have tiles of their own ([`TileMachine::winograd_tile`]), which the transforms are made for.
pub(super) fn asked(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Contract> {
    let contract = match body.func.kind(root) {
        TensorOp::Dot { .. } => dot::contract(body, root, machine, symbols),
        TensorOp::Conv { .. } if is_depthwise(body, root, machine) => return None,
        TensorOp::Conv { .. } => conv::contract(body, root),
        _ => return None,
    };
    contract.ok()
}

fn is_depthwise(body: &Body, root: OpId, machine: &dyn TileMachine) -> bool {
    is_depthwise_of(&body.func, root, machine)
}

/// Whether the recipe of depthwise convolutions takes an op.
fn is_depthwise_of(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> bool {
    let TensorOp::Conv { groups, .. } = func.kind(op) else { return false };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    depthwise::takes(&w.shape, *groups, [x.dtype, w.dtype], machine)
}

/// Whether a contraction is computed on its own types; else passes widen them.
pub(crate) fn can_multiply(func: &TensorFunc, op: OpId, machine: &dyn TileMachine) -> bool {
    let [x, w, ..] = *func.operands(op) else { return true };
    let [lhs, rhs] = [x, w].map(|value| func.ty(value).dtype);
    let facts = machine.facts();
    match func.kind(op) {
        TensorOp::Dot { .. } | TensorOp::Conv { .. } if matches!(lhs, DType::F16 | DType::BF16) => {
            !facts.contractions.widened.contains(&lhs) || is_depthwise_of(func, op, machine)
        }
        TensorOp::Dot { .. } if (lhs, rhs) == (DType::I16, DType::I8) => {
            facts.byte_products.fewest_i16_products.is_some()
        }
        TensorOp::Dot { .. } if matches!(lhs, DType::F8E4M3FN | DType::F8E5M2) => {
            facts.contractions.product_of_f8(lhs) == lhs
        }
        _ => wider_product(lhs).is_none(),
    }
}

/// Why a contraction is not computed that no pass makes for this target; a program given as text may hold any, perhaps made
/// for another machine.
pub(super) fn refused(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Diagnostic> {
    match body.func.kind(root) {
        TensorOp::Dot { pair_sums: Some(sum), .. } if machine.facts().byte_products.pairs.is_none() => {
            let message =
                format!("`dot` with sums of pairs in {sum} is not computed on `{}`", machine.machine().name);
            let help = "without `pair_sums` products are summed exactly";
            Some(Diagnostic::error("unsupported", message).help(help))
        }
        TensorOp::WinogradConv { window } => winograd::refused(body, root, window, machine, symbols),
        _ => None,
    }
}

/// What a target is told of a dot in normal form: `result` is `[batch..., m, n]`.
pub(crate) fn of_dot(
    operands: [DType; 2],
    result: &[Dim],
    k: Dim,
    out: DType,
    panels: Panels,
    innermost: [Dim; 2],
) -> Contract {
    let [batch @ .., m, n] = result else {
        unreachable!("invariant: a dot in normal form has rows and columns")
    };
    let batch_axes = batch.len();
    let batch = batch.iter().fold(Dim::from(1), |batch, dim| batch * dim.clone());
    let [lhs, rhs] = operands;
    let sizes = [batch, m.clone(), n.clone(), k];
    Contract { panels, batch_axes, innermost, ..Contract::new(sizes, [lhs, rhs, accumulator(out)]) }
}

/// What a target is told of a convolution with this logical result, `[batch, channels, spatial...]`: rows run along
/// one spatial axis, the others are batch axes; `k` is the window times the channels of a group.
pub(crate) fn of_conv(
    operands: [DType; 2],
    result: &[Dim],
    groups: i64,
    k: Dim,
    out: DType,
    panels: Panels,
) -> Contract {
    let row = 2 + window::row_axis(result);
    let others = (2..result.len()).filter(|axis| *axis != row);
    let batch = others.fold(result[0].clone(), |batch, axis| batch * result[axis].clone());
    let [lhs, rhs] = operands;
    let n = result[1].floor_div(&Dim::from(groups));
    let sizes = [batch, result[row].clone(), n, k];
    let product = Contract::new(sizes, [lhs, rhs, accumulator(out)]);
    Contract { panels, windowed: true, batch_axes: result.len() - 2, ..product }
}

/// What a target is told of the products of a convolution by Winograd's algorithm: `result` is `[batch, channels, spatial...]`;
/// rows are an image's tiles, k is channels.
pub(crate) fn of_winograd(result: &[Dim], k: Dim) -> Contract {
    let [batch, n, spatial @ ..] = result else {
        unreachable!("invariant: a convolution's result has channels")
    };
    let m = spatial.iter().fold(Dim::from(1), |tiles, extent| tiles * extent.ceil_div(&Dim::from(RESULTS)));
    let places = Dim::from(REACH.pow(spatial.len() as u32));
    let sizes = [batch.clone() * places, m, n.clone(), k];
    Contract { batch_axes: 1 + spatial.len(), ..Contract::new(sizes, [DType::F32; 3]) }
}

/// Row tiles for an unknown number of rows that are no whole tile: widths in falling order, the last 1.
const ROW_TAILS: [i64; 2] = [4, 1];
/// The same for windows, whose lines are short: two pixels left over take as long as one.
const WINDOW_ROW_TAILS: [i64; 3] = [4, 2, 1];
/// The same for weights that are read once for each of them: no rows left over are read for twice.
const WEIGHT_ROW_TAILS: [i64; 4] = [4, 3, 2, 1];

/// Sums of an element of products of bytes: four registers of columns each, with one row, keep the units busy.
const MOST_CHAINS: i64 = 4;

/// How the last tile of columns ends where `n` is no multiple of its width.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastColumns {
    /// Sums are those of a whole tile, as panels of the right side are whole; stores stop at the end.
    Whole,
    /// Loads and stores stop at the end.
    Bounded,
    /// A narrower tile: columns past the end are another unit's (the next group's), as no view ends there.
    Cut,
}

impl LastColumns {
    fn of(packing: RightSide) -> LastColumns {
        match packing {
            RightSide::Plain => LastColumns::Bounded,
            RightSide::Panels { .. } | RightSide::Groups { .. } => LastColumns::Whole,
        }
    }
}

/// What a unit does with each of its tiles of rows and columns.
pub(super) trait TileOfResult {
    /// The `[rows, columns]` sums; columns are bounded where loads stop at the end.
    fn sums(&self, cx: &mut Lowering, at: &TileAt) -> Result<Value, String>;
    /// What follows them; columns are bounded where stores stop at the end.
    fn finish(&self, cx: &mut Lowering, at: &TileAt, sums: Value) -> Result<(), String>;
}

/// Where a tile of a unit is.
#[derive(Clone, Copy)]
pub(super) struct TileAt {
    pub row: Axis,
    pub column: Axis,
    /// Of the right side.
    pub panel: Value,
}

/// The work units of a contraction's rows and columns, with column blocking (slabs) and row blocking (blocks of row tiles).
/// Their order: slabs, blocks, column tiles in a slab, row tiles in a block. A panel serves `m_block` tiles in a row.
pub(super) struct Traversal {
    pub tile: ContractTile,
    pub m: Dim,
    pub n: Dim,
    pub last_columns: LastColumns,
    /// Widths of the tiles of rows left over, where their number is not known.
    pub tails: &'static [i64],
}

impl Traversal {
    fn row_tiles(&self) -> Dim {
        self.m.ceil_div(&Dim::from(self.tile.m))
    }

    /// Widths of the tiles that cover the last rows: exactly them where their number is known.
    fn row_tails(&self) -> Vec<i64> {
        match self.m.as_const().map(|m| m % self.tile.m) {
            Some(rest) => vec![rest.max(1)],
            None => {
                let fits = |extent: &i64| *extent < self.tile.m || *extent == 1;
                self.tails.iter().copied().filter(fits).collect()
            }
        }
    }

    /// Width of a cut last tile of columns; 1 where all tiles are whole.
    fn cut_columns(&self) -> i64 {
        self.n.as_const().map_or(1, |n| (n % self.tile.n).max(1))
    }

    /// One at least, which is empty where there is no row.
    fn blocks(&self) -> Dim {
        self.row_tiles().maximum(&Dim::from(1)).ceil_div(&Dim::from(self.tile.m_block))
    }

    /// Row tiles of a block. With cut edges they are as even as their number allows: threads take units in equal runs.
    /// Padded ones fill all blocks but the last; their units do not ask which number this run has (`padded.rs`).
    fn block(&self) -> Dim {
        match self.tile.edges {
            Edges::Cut => self.row_tiles().ceil_div(&self.blocks()),
            Edges::Padded => self.row_tiles().minimum(&Dim::from(self.tile.m_block)),
        }
    }

    /// The three grid axes.
    fn grid(&self) -> [Dim; 3] {
        let slabs = Dim::from(self.slabs());
        let panels = self.n.ceil_div(&Dim::from(self.tile.n)).floor_div(&slabs);
        let tiles = if self.tile.converts_for.is_some() { Dim::from(1) } else { self.block() };
        [self.blocks() * slabs, panels, tiles]
    }

    /// As the target said, where panels of the width that was packed divide so.
    fn slabs(&self) -> i64 {
        let panels = self.n.as_const().map(|n| (n + self.tile.n - 1) / self.tile.n);
        if panels.is_some_and(|panels| panels % self.tile.n_slabs == 0) { self.tile.n_slabs } else { 1 }
    }

    /// The row block and the panel of columns of a unit.
    fn place(&self, cx: &mut Lowering, unit: &[Value]) -> [Value; 2] {
        let slabs = self.slabs();
        if slabs == 1 {
            return [unit[0], unit[1]];
        }
        let [blocks, panels, _] = self.grid();
        let blocks = cx.b.size(&blocks.floor_div(&Dim::from(slabs)));
        let panels = cx.b.size(&panels);
        let slab = cx.b.index_op(IndexOp::FloorDiv, unit[0], blocks);
        let first = cx.b.mul(slab, panels);
        [cx.b.index_op(IndexOp::Mod, unit[0], blocks), cx.b.add(first, unit[1])]
    }

    /// Emits `of` for each tile of rows of this unit, whose coordinates along [`Self::grid`] are `unit`.
    fn tiles(&self, cx: &mut Lowering, unit: &[Value], of: &dyn TileOfResult) -> Result<(), String> {
        let tiles_of_block = cx.b.size(&self.block());
        let [block, panel] = self.place(cx, unit);
        let block = cx.b.mul(block, tiles_of_block);
        let row_tile = cx.b.add(block, unit[2]);
        let step = cx.b.index(self.tile.m);
        let first = cx.b.mul(row_tile, step);
        let end = cx.b.add(first, step);
        let rows = cx.b.size(&self.m);
        let width = cx.b.index(self.tile.n);
        let column = cx.b.mul(panel, width);
        let columns = cx.b.size(&self.n);
        let column_end = cx.b.add(column, width);
        let are_whole = match self.n.as_const() {
            Some(n) if n % self.tile.n == 0 => cx.b.index(1),
            _ => cx.b.index_op(IndexOp::Le, column_end, columns),
        };
        let mut outcome = Ok(());
        let mut run = |cx: &mut Lowering, offset: Value, extent: i64| {
            let row = Axis { offset, extent, step: 1, bounded: false };
            let column = Axis { offset: column, extent: self.tile.n, step: 1, bounded: false };
            let done = self.columns(cx, TileAt { row, column, panel }, are_whole, of);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(done);
        };
        // Rows past the end belong to no tile: `whole` is false there, and the tails have no step.
        let whole = match self.m.as_const() {
            Some(m) if m % (self.tile.m * self.tile.m_block) == 0 => cx.b.index(1),
            _ => cx.b.index_op(IndexOp::Le, end, rows),
        };
        cx.when(whole, |cx| run(cx, first, self.tile.m));
        let partial = not(cx, whole);
        cx.when(partial, |cx| {
            let zero = cx.b.index(0);
            let mut lo = first;
            for extent in self.row_tails() {
                let size = cx.b.index(extent);
                let left = cx.b.sub(rows, lo);
                let count = cx.b.index_op(IndexOp::FloorDiv, left, size);
                let count = cx.b.index_op(IndexOp::Max, count, zero);
                let span = cx.b.mul(count, size);
                let hi = cx.b.add(lo, span);
                cx.for_(lo, hi, extent, &[], |cx, row, _| {
                    run(cx, row, extent);
                    vec![]
                });
                lo = hi;
            }
        });
        outcome
    }

    /// A tile's sums and what follows; `are_whole` says of its columns whether all of them are there.
    fn columns(
        &self,
        cx: &mut Lowering,
        whole: TileAt,
        are_whole: Value,
        of: &dyn TileOfResult,
    ) -> Result<(), String> {
        let last = match self.last_columns {
            LastColumns::Whole | LastColumns::Bounded => Axis { bounded: true, ..whole.column },
            LastColumns::Cut => Axis { extent: self.cut_columns(), ..whole.column },
        };
        let common = match self.last_columns {
            LastColumns::Whole => Some(of.sums(cx, &whole)?),
            LastColumns::Bounded | LastColumns::Cut => None,
        };
        let mut outcome = Ok(());
        let are_cut = not(cx, are_whole);
        for (wanted, column) in [(are_whole, whole.column), (are_cut, last)] {
            cx.when(wanted, |cx| {
                let at = TileAt { column, ..whole };
                let sums = common.map_or_else(|| of.sums(cx, &at), Ok);
                outcome = std::mem::replace(&mut outcome, Ok(()))
                    .and(sums)
                    .and_then(|sums| of.finish(cx, &at, sums));
            });
        }
        outcome
    }
}

fn not(cx: &mut Lowering, condition: Value) -> Value {
    let zero = cx.b.index(0);
    cx.b.index_op(IndexOp::Eq, condition, zero)
}

/// How steps of k are walked.
#[derive(Clone, Copy)]
struct Walk {
    /// Steps of a round; what is left over goes by k-groups, then one by one, bytes as a group that is not full.
    unroll: i64,
    /// Sums of a round (a divisor of `unroll`): additions that wait for one another take longer than the multiply-add
    /// units need.
    chains: i64,
    /// Steps of a k-group, which is a tile of k; 1: a tile is all of a chain's.
    k_group: i64,
}

impl Walk {
    /// For a tile of so many rows; `k` is the number of steps, where it is known.
    fn new(tile: &ContractTile, packing: RightSide, k: Option<i64>, rows: i64) -> Walk {
        let k_group = packing.k_group();
        let most = match k_group {
            // A k-group of bytes is a round.
            BYTE_K_GROUP => k_group,
            _ => k.map_or(tile.k, |k| k.min(tile.k)),
        };
        let unroll = (most / k_group).max(1) * k_group;
        let fits = |chains: &i64| unroll % (chains * k_group) == 0;
        let most_chains = unroll / k_group;
        let chains = (1..most_chains)
            .find(|chains| fits(chains) && chains * rows >= tile.busy_rows)
            .unwrap_or(most_chains);
        let is_few = k.is_some_and(|k| k < tile.k);
        Walk { unroll, chains: if is_few { 1 } else { chains }, k_group }
    }

    /// Two steps at a time, an even number of them.
    fn in_pairs() -> Walk {
        Walk { unroll: 2, chains: 1, k_group: 2 }
    }

    /// Longer rounds, so that the sums of few rows keep the units busy: only where the order of additions is free.
    fn in_chains(self, tile: &ContractTile, rows: i64) -> Walk {
        let wanted = (1..MOST_CHAINS).find(|chains| chains * rows >= tile.busy_rows).unwrap_or(MOST_CHAINS);
        match self.k_group > 1 && self.chains < wanted {
            true => Walk { unroll: self.k_group * wanted, chains: wanted, ..self },
            false => self,
        }
    }
}

/// `acc + sum over k in 0..extent`; `step` adds one tile of k, `ahead` is told of each round before.
fn over_k(
    cx: &mut Lowering,
    extent: &Dim,
    walk: Walk,
    acc: Value,
    ahead: &mut dyn FnMut(&mut Lowering, Value),
    step: &mut dyn FnMut(&mut Lowering, Axis, Value) -> Result<Value, String>,
) -> Result<Value, String> {
    let Walk { unroll, chains, k_group } = walk;
    let mut outcome = Ok(());
    let mut tile = |cx: &mut Lowering, axis: Axis, acc: Value| match step(cx, axis, acc) {
        Ok(acc) => acc,
        Err(error) => {
            outcome = Err(error);
            acc
        }
    };
    let whole_steps = |offset: Value, extent: i64| Axis { offset, extent, step: 1, bounded: false };
    let mut run =
        |cx: &mut Lowering, k: Value, extent: i64, acc: Value| tile(cx, whole_steps(k, extent), acc);
    let (zero, size) = (cx.b.index(0), cx.b.size(extent));
    let unroll_size = cx.b.index(unroll);
    let whole = cx.b.index_op(IndexOp::FloorDiv, size, unroll_size);
    let whole = cx.b.mul(whole, unroll_size);
    let (dtype, shape) = cx.b.tile_type(acc);
    let mut sums = vec![acc];
    sums.extend((1..chains).map(|_| cx.b.splat(dtype, &shape, 0)));
    let sums = cx.for_(zero, whole, unroll, &sums, |cx, k, sums| {
        ahead(cx, k);
        let length = unroll / chains;
        let part = if k_group > 1 { k_group } else { length };
        let mut sums = sums.to_vec();
        for at in (0..length).step_by(part as usize) {
            for (i, sum) in sums.iter_mut().enumerate() {
                let offset = cx.b.index(i as i64 * length + at);
                let k = cx.b.add(k, offset);
                *sum = run(cx, k, part, *sum);
            }
        }
        sums
    });
    let mut acc = sums[0];
    for sum in &sums[1..] {
        acc = cx.b.elementwise(ScalarOp::Add, &[acc, *sum]);
    }
    let mut done = whole;
    if unroll > k_group && k_group > 1 {
        let part = cx.b.index(k_group);
        let parts = cx.b.index_op(IndexOp::FloorDiv, size, part);
        let end = cx.b.mul(parts, part);
        acc = cx.for_(done, end, k_group, &[acc], |cx, k, acc| vec![run(cx, k, k_group, acc[0])])[0];
        done = end;
    }
    match extent.as_const() {
        // What the left side has past its end counts as 0.
        Some(steps) if k_group == BYTE_K_GROUP && steps % k_group != 0 => {
            acc = tile(cx, Axis { bounded: true, ..whole_steps(done, k_group) }, acc);
        }
        Some(steps) if k_group > 1 && steps % k_group == 0 => {}
        _ if unroll > 1 => {
            acc = cx.for_(done, size, 1, &[acc], |cx, k, acc| vec![run(cx, k, 1, acc[0])])[0];
        }
        _ => {}
    }
    outcome.map(|()| acc)
}

/// Bytes of a k-group: those that one VNNI instruction sums.
const BYTE_K_GROUP: i64 = 4;

/// The accumulation type of a contraction's result.
fn accumulator(out: DType) -> DType {
    match out {
        DType::F16 | DType::BF16 | DType::F8E4M3FN | DType::F8E5M2 => DType::F32,
        DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::U32 => DType::I32,
        DType::U64 => DType::I64,
        other => other,
    }
}

/// Casts the accumulator to the root's dtype, makes it the root's tile and stores every result.
pub(super) fn epilogue(cx: &mut Lowering, root: OpId, acc: Value, at: &TileBox) -> Result<(), String> {
    let value = cx.body.func.result(root);
    let dtype = cx.body.func.ty(value).dtype;
    let mut tile = acc;
    if cx.b.tile_type(acc).0 != dtype {
        tile = cx.b.elementwise(ScalarOp::Cast { to: dtype, saturate: true }, &[tile]);
    }
    let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
    let tile = cx.b.reshape(tile, &extents);
    cx.scope(|cx| {
        cx.fix(value, tile);
        (0..cx.body.results.len()).try_for_each(|i| cx.store_result(i, at))
    })
}

/// Memory order of the logical axes of a convolution's or pool's result.
pub(super) fn result_order(body: &Body, rank: usize) -> Vec<usize> {
    body.root_order.clone().unwrap_or_else(|| (0..rank).collect())
}
