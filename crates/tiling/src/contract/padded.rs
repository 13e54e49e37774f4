//! Contractions for matrix units: all tiles are whole. Steps of k beyond the end multiply zeros, rows and columns beyond
//! the end are computed and not stored; one loop, no branch inside.
//!
//! A contraction may have several forms, each for a range of rows; of each run's launches only those of one form have
//! work units. A form may split k (`split.rs`).

use super::dot::Roles;
use super::prologue::Found;
use super::split::{self, Split};
use super::step::Step;
use super::{LastColumns, Traversal, epilogue};
use crate::access::{Axis, Lowering, TileBox, begin, begin_part};
use crate::body::Body;
use crate::{Contract, ContractForm, ContractTile, TileMachine};
use crate::{Lowered, TileLaunches};
use tegula_base::{Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_tile::IndexOp;

/// A contraction as its recipe knows it.
#[derive(Clone, Copy)]
pub(super) struct Product<'a> {
    pub body: &'a Body,
    pub root: OpId,
    pub roles: &'a Roles,
    pub contract: &'a Contract,
    /// What comes before it.
    pub found: Option<&'a Found>,
    pub symbols: &'a Symbols,
}

pub(super) fn lower(
    product: Product,
    forms: &[ContractForm],
    machine: &dyn TileMachine,
) -> Result<TileLaunches, String> {
    let Product { body, root, roles, contract, .. } = product;
    let shape = body.shape(body.func.result(root)).clone();
    let batch: Vec<Dim> = (0..roles.n_batch).map(|i| shape[i].clone()).collect();
    let mut launches = TileLaunches { list: vec![], temporaries: vec![], reasons: vec![] };
    let mut more_than = 0;
    for (i, ContractForm { most_rows, tile, reason }) in forms.iter().enumerate() {
        let last = i + 1 == forms.len();
        let rows = Rows { more_than, most: (!last).then_some(*most_rows) };
        let form = Form { product, tile: *tile, batch: &batch, used: rows.contain(&contract.m) };
        let name = if forms.len() == 1 { String::new() } else { rows.name() };
        if !reason.is_empty() {
            let rows = if forms.len() == 1 { String::new() } else { format!("{} rows: ", rows.words()) };
            launches.reasons.push(format!("{rows}{reason}"));
        }
        match tile.splits {
            1 => launches.list.push((name, form.whole()?)),
            _ => {
                let split = Split::new(contract, *tile, &batch, &form.used, launches.temporaries.len());
                launches.temporaries.push(split.bytes());
                let named = |part: &str| if name.is_empty() { part.into() } else { format!("{name}_{part}") };
                launches.list.push((named("parts"), form.parts(&split)?));
                let sum = split::sum(body, root, &split, &form.used, machine)?;
                launches.list.push((named("sum"), sum));
            }
        }
        more_than = *most_rows;
    }
    Ok(launches)
}

/// The numbers of rows that a form is for.
struct Rows {
    more_than: i64,
    most: Option<i64>,
}

impl Rows {
    /// 1 where `rows` are in the range, else 0.
    fn contain(&self, rows: &Dim) -> Dim {
        let (zero, one) = (Dim::from(0), Dim::from(1));
        let up_to = |most: i64| (Dim::from(most) + one.clone() - rows.clone()).minimum(&one).maximum(&zero);
        let below = if self.more_than > 0 { up_to(self.more_than) } else { zero.clone() };
        self.most.map_or(one.clone(), up_to) - below
    }

    fn words(&self) -> String {
        self.most.map_or_else(|| format!("more than {}", self.more_than), |most| format!("up to {most}"))
    }

    fn name(&self) -> String {
        self.most.map_or_else(|| format!("over{}", self.more_than), |most| format!("to{most}"))
    }
}

/// The outermost axis of a grid that has units in some of the program's runs only.
pub(crate) fn used_axis(used: &Dim) -> Vec<Dim> {
    if used.is_const(1) { vec![] } else { vec![used.clone()] }
}

/// A contraction in tiles of one size.
struct Form<'a> {
    product: Product<'a>,
    tile: ContractTile,
    /// Extents of the batch axes.
    batch: &'a [Dim],
    /// 1 in runs of the program that are for this form, else 0.
    used: Dim,
}

impl Form<'_> {
    /// Each tile by a unit, over all of k.
    fn whole(&self) -> Result<Lowered, String> {
        let Product { body, root, contract, symbols, .. } = self.product;
        let (mut kernel, views) = begin(body, self.grid(None));
        let mut cx = Lowering::new(body, &mut kernel, views);
        cx.symbols = Some(symbols);
        let (zero, end) = (cx.b.index(0), cx.b.size(&contract.k));
        let coordinates = cx.unit[used_axis(&self.used).len()..].to_vec();
        self.unit(&mut cx, &coordinates, [zero, end], &mut |cx, sum, at| epilogue(cx, root, sum, at))?;
        let buffers = cx.finish();
        Ok(Lowered { kernel, buffers })
    }

    /// Each tile by as many units as k has splits.
    fn parts(&self, split: &Split) -> Result<Lowered, String> {
        let Product { body, root, symbols, .. } = self.product;
        let (mut kernel, views) = begin_part(body, self.grid(Some(split)), &split.part_before(body, root));
        let mut cx = Lowering::new(body, &mut kernel, views);
        cx.symbols = Some(symbols);
        let [number, ref coordinates @ ..] = cx.unit[used_axis(&self.used).len()..] else {
            return Err("a split contraction's grid has an axis of splits".into());
        };
        let coordinates = coordinates.to_vec();
        let range = split.range(&mut cx, number);
        self.unit(&mut cx, &coordinates, range, &mut |cx, sum, at| {
            split.store(cx, number, sum, at);
            Ok(())
        })?;
        let buffers = cx.finish();
        Ok(Lowered { kernel, buffers })
    }

    /// Whether there is work, splits of k, batch, then what `Traversal` says.
    fn grid(&self, split: Option<&Split>) -> Vec<Dim> {
        let contract = self.product.contract;
        let traversal = Traversal {
            tile: self.tile,
            m: contract.m.clone(),
            n: contract.n.clone(),
            last_columns: LastColumns::Bounded,
            tails: &[],
        };
        let mut grid = used_axis(&self.used);
        grid.extend(split.map(|split| Dim::from(split.splits)));
        grid.extend(self.batch.iter().cloned());
        grid.extend(traversal.grid());
        grid
    }

    /// One tile's sums over the steps from `k[0]` to `k[1]`, and where it is, given to `store`.
    fn unit(
        &self,
        cx: &mut Lowering,
        unit: &[Value],
        k: [Value; 2],
        store: &mut dyn FnMut(&mut Lowering, Value, &TileBox) -> Result<(), String>,
    ) -> Result<(), String> {
        let Form { product: Product { roles, contract, found, .. }, tile, .. } = *self;
        let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
        let (batch, rest) = unit.split_at(self.batch.len());
        let batch_at: Vec<Axis> = batch.iter().map(|offset| one(*offset)).collect();
        let &[block, column, within] = rest else {
            return Err("a contraction's grid has three axes of rows and columns".into());
        };
        let blocks = cx.b.index(tile.m_block);
        let first = cx.b.mul(block, blocks);
        let row = cx.b.add(first, within);
        let row = whole(cx, row, &contract.m, tile.m);
        let column = whole(cx, column, &contract.n, tile.n);
        let rows = cx.b.size(&contract.m);
        // The last block may have fewer row tiles than the others.
        let is_there = match contract.m.as_const() {
            Some(extent) if extent % (tile.m * tile.m_block) == 0 || extent <= tile.m * tile.m_block => {
                cx.b.index(1)
            }
            _ => cx.b.index_op(IndexOp::Lt, row.offset, rows),
        };
        let mut outcome = Ok(());
        cx.when(is_there, |cx| {
            let mut at: TileBox = batch_at.iter().copied().collect();
            at.push(row);
            at.push(column);
            let step = Step { roles, tile, batch: &batch_at };
            outcome =
                over_k(cx, &step, contract, found, [row, column], k).and_then(|sum| store(cx, sum, &at));
        });
        outcome
    }
}

/// The axis of a tile that may end beyond the extent.
fn whole(cx: &mut Lowering, number: Value, extent: &Dim, step: i64) -> Axis {
    let width = cx.b.index(step);
    let offset = cx.b.mul(number, width);
    let bounded = extent.as_const().is_none_or(|extent| extent % step != 0);
    Axis { offset, extent: step, step: 1, bounded }
}

/// The sums of a tile over the steps from `begin` to `end`, rows by columns.
fn over_k(
    cx: &mut Lowering,
    step: &Step,
    contract: &Contract,
    found: Option<&Found>,
    [row, column]: [Axis; 2],
    [begin, end]: [Value; 2],
) -> Result<Value, String> {
    let tile = step.tile;
    let zeros = cx.b.splat(contract.acc, &step.extents(), 0);
    let bounded = contract.k.as_const().is_none_or(|k| k % tile.k != 0);
    let mut outcome = Ok(());
    let sum = cx.for_(begin, end, tile.k, &[zeros], |cx, k, sums| {
        let at = [row, column, Axis { offset: k, extent: tile.k, step: 1, bounded }];
        let sum = match found.and_then(|found| Some((found, found.scales.as_ref()?))) {
            Some((found, scales)) => step.scaled(cx, contract, found, scales, at, sums[0]),
            None => step.plain(cx, contract, found.is_some(), at, sums[0]),
        };
        vec![sum.unwrap_or_else(|error| {
            outcome = Err(error);
            sums[0]
        })]
    })[0];
    outcome?;
    Ok(if tile.swapped { cx.b.transpose(sum, &[1, 0]) } else { sum })
}
