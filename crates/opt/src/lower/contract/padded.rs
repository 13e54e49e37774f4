//! Contractions for matrix units: all tiles are whole. Steps of k beyond the end multiply zeros, rows and columns beyond
//! the end are computed and not stored; one loop, no branch inside.

use super::dot::Roles;
use super::prologue::Found;
use super::step::Step;
use super::{Traversal, epilogue};
use crate::lower::Lowered;
use crate::lower::access::{Axis, Lowering, TileBox, begin};
use crate::lower::body::Body;
use tegula_base::{Dim, Symbols};
use tegula_ir::{OpId, Value};
use tegula_target::{Contract, ContractTile};
use tegula_tile::IndexOp;

pub(super) fn lower(
    body: &Body,
    root: OpId,
    roles: &Roles,
    contract: &Contract,
    tile: ContractTile,
    found: Option<&Found>,
    symbols: &Symbols,
) -> Result<Lowered, String> {
    let shape = body.shape(body.func.result(root)).clone();
    let (m, n) = (contract.m.clone(), contract.n.clone());
    let traversal = Traversal { tile, m: m.clone(), n: n.clone(), cut: false, tails: &[] };
    let mut grid: Vec<Dim> = (0..roles.n_batch).map(|i| shape[i].clone()).collect();
    grid.extend(traversal.grid());
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    cx.symbols = Some(symbols);
    let one = |offset: Value| Axis { offset, extent: 1, step: 1, bounded: false };
    let batch_at: Vec<Axis> = cx.unit[..roles.n_batch].iter().map(|offset| one(*offset)).collect();
    let [block, column, within] = cx.unit[roles.n_batch..] else {
        return Err("a contraction's grid has three axes of rows and columns".into());
    };
    let blocks = cx.b.index(tile.m_block);
    let first = cx.b.mul(block, blocks);
    let row = cx.b.add(first, within);
    let row = whole(&mut cx, row, &m, tile.m);
    let column = whole(&mut cx, column, &n, tile.n);
    let rows = cx.b.size(&m);
    // The last block may have fewer row tiles than the others.
    let is_there = match m.as_const() {
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
            over_k(cx, &step, contract, found, [row, column]).and_then(|sum| epilogue(cx, root, sum, &at));
    });
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// The axis of a tile that may end beyond the extent.
fn whole(cx: &mut Lowering, number: Value, extent: &Dim, step: i64) -> Axis {
    let width = cx.b.index(step);
    let offset = cx.b.mul(number, width);
    let bounded = extent.as_const().is_none_or(|extent| extent % step != 0);
    Axis { offset, extent: step, step: 1, bounded }
}

/// The sums of a tile, rows by columns.
fn over_k(
    cx: &mut Lowering,
    step: &Step,
    contract: &Contract,
    found: Option<&Found>,
    [row, column]: [Axis; 2],
) -> Result<Value, String> {
    let tile = step.tile;
    let zeros = cx.b.splat(contract.acc, &step.extents(), 0);
    let (zero, size) = (cx.b.index(0), cx.b.size(&contract.k));
    let bounded = contract.k.as_const().is_none_or(|k| k % tile.k != 0);
    let mut outcome = Ok(());
    let sum = cx.for_(zero, size, tile.k, &[zeros], |cx, k, sums| {
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
