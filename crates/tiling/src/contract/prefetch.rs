//! Asks ahead for what the next tiles read: the next panel of a packed right side, and rows of a large left one.
//!
//! A panel's first row tile would wait for memory at every step: it needs cache lines faster than a core draws them
//! from beyond its L2 cache, and the hardware's own prefetchers run only some lines ahead. So all row tiles of a block
//! share the work of bringing the next panel, a line or a few at each step of k. Rows that no cache near the core holds
//! make each tile of a block's first panel wait likewise; the tile ahead asks for them.

use super::Walk;
use crate::access::{Axis, Lowering};
use crate::{ContractTile, TileMachine};
use tegula_base::Dim;
use tegula_ir::Value;

/// Lines of a panel that a step of k asks for at most: with more it is asked for about as fast as it is read.
const MOST_LINES: u64 = 4;

/// What one row tile asks for.
pub(super) struct Ahead {
    view: Value,
    /// The first element that all row tiles ask for; the last coordinate runs on past its axis.
    start: Vec<Value>,
    /// Elements before this row tile's share.
    first: Value,
    /// Elements that one k stands for.
    share: i64,
    line: i64,
    /// Steps of k of a round.
    unroll: i64,
}

impl Ahead {
    /// The next panel. `None` where it would not help. `right` is the packed side with the length of a panel's columns,
    /// `leading` its coordinates ahead of the panel's. One panel serves `tiles` row tiles in turn, of which this is
    /// `tile_number`.
    pub fn panel(
        cx: &mut Lowering,
        machine: &dyn TileMachine,
        right: (Value, &Dim),
        (tile, walk): (&ContractTile, Walk),
        tiles: i64,
        leading: &[Axis],
        [panel, tile_number]: [Value; 2],
    ) -> Option<Ahead> {
        let (arg, column) = right;
        let line = elements_of_line(cx, machine, arg)?;
        let lines = ((tile.n * walk.unroll) as u64).div_ceil((line * tiles) as u64).min(MOST_LINES) as i64;
        if tiles == 1 || walk.chains > 1 || lines * line % walk.unroll != 0 {
            return None;
        }
        let share = lines * line / walk.unroll;
        let view = cx.arg_view(arg)?;
        let (zero, one) = (cx.b.index(0), cx.b.index(1));
        let mut start: Vec<Value> = leading.iter().map(|axis| axis.offset).collect();
        start.push(cx.b.add(panel, one));
        let rank = cx.b.view_rank(view);
        start.resize(rank, zero);
        let column = cx.b.size(column);
        let shares = cx.b.index(share);
        let tile_share = cx.b.mul(column, shares);
        let first = cx.b.mul(tile_number, tile_share);
        Some(Ahead { view, start, first, share, line, unroll: walk.unroll })
    }

    /// The rows behind `row`, which are as many, of a left side `[leading..., m, k]`. `None` where they do not lie so in
    /// memory, a round of them is no whole number of lines, or the next tile in turn has the same rows.
    pub fn rows(
        cx: &mut Lowering,
        machine: &dyn TileMachine,
        left: Value,
        (tile, walk): (&ContractTile, Walk),
        leading: &[Axis],
        row: Axis,
    ) -> Option<Ahead> {
        let line = elements_of_line(cx, machine, left)?;
        let lies_by_rows = cx.axis_order(left).is_ok_and(|order| order.into_iter().eq(0..leading.len() + 2));
        let are_whole_lines = row.extent * walk.unroll % line == 0;
        if tile.m_block == 1 || !lies_by_rows || walk.chains > 1 || !are_whole_lines {
            return None;
        }
        let view = cx.arg_view(left)?;
        let (zero, rows) = (cx.b.index(0), cx.b.index(row.extent));
        let mut start: Vec<Value> = leading.iter().map(|axis| axis.offset).collect();
        start.extend([cx.b.add(row.offset, rows), zero]);
        Some(Ahead { view, start, first: zero, share: row.extent, line, unroll: walk.unroll })
    }

    /// Asks for what belongs to the round at `k` of a column's part that begins at `begin`.
    pub fn round(&self, cx: &mut Lowering, begin: Value, k: Value) {
        let share = cx.b.index(self.share);
        let behind = cx.b.add(begin, k);
        let behind = cx.b.mul(behind, share);
        let at = cx.b.add(self.first, behind);
        for line in 0..self.share * self.unroll / self.line {
            let ahead = cx.b.index(line * self.line);
            let mut offsets = self.start.clone();
            *offsets.last_mut().expect("invariant: what is asked for has axes") = cx.b.add(at, ahead);
            cx.b.prefetch(self.view, &offsets);
        }
    }
}

/// Elements of an argument that a cache line holds; `None` where nothing is to be asked for.
fn elements_of_line(cx: &Lowering, machine: &dyn TileMachine, arg: Value) -> Option<i64> {
    let size = cx.body.func.ty(arg).dtype.size() as i64;
    machine.facts().contractions.prefetched_line.map(|line| line.0 as i64 / size).filter(|line| *line > 0)
}
