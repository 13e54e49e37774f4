//! Panels of weights stored as bytes, or as 16-bit floats, that become floats once for all row tiles of a block.
//!
//! A row tile that converts what it reads spends as many instructions on a vector of columns as on two of its rows: a
//! quarter more time for tiles of eight. The floats of a panel come from L2, as those of a panel stored as floats would.

use super::Traversal;
use crate::access::{Axis, Lowering};
use tegula_base::DType;
use tegula_ir::Value;
use tegula_tile::IndexOp;

/// Steps of k that are converted at once.
const UNROLLED: i64 = 4;

/// The floats of a panel, in memory of the unit's own.
pub(super) struct Converted {
    view: Value,
    steps: i64,
    width: i64,
    /// Row tiles for which a panel is converted.
    least: i64,
}

impl Converted {
    pub fn new(cx: &mut Lowering, steps: i64, width: i64, least: i64) -> Converted {
        Converted { view: cx.b.scratch(DType::F32, &[steps, width]), steps, width, least }
    }

    fn fill(&self, cx: &mut Lowering, stored: &mut dyn FnMut(&mut Lowering, Axis) -> Value) {
        let whole = self.steps / UNROLLED * UNROLLED;
        for (lo, hi, extent) in [(0, whole, UNROLLED), (whole, self.steps, 1)] {
            let (lo, hi) = (cx.b.index(lo), cx.b.index(hi));
            cx.for_(lo, hi, extent, &[], |cx, offset, _| {
                let numbers = stored(cx, Axis { offset, extent, step: 1, bounded: false });
                let zero = cx.b.index(0);
                cx.b.store(self.view, numbers, &[offset, zero], &[1, 1], &[false, false]);
                vec![]
            });
        }
    }

    /// The `[k, n]` tile of some steps.
    pub fn tile(&self, cx: &mut Lowering, step: Axis) -> Value {
        let zero = cx.b.index(0);
        let shape = [step.extent, self.width];
        cx.b.load(self.view, &[step.offset, zero], &shape, &[1, 1], &[false, false], 0)
    }

    /// Calls `body` with the unit of each row tile of a block; few read the panel as it is stored, which `body` is told by
    /// `None`. `stored` gives the numbers of some of its steps as floats.
    pub fn row_tiles(
        &self,
        cx: &mut Lowering,
        traversal: &Traversal,
        unit: &[Value],
        stored: &mut dyn FnMut(&mut Lowering, Axis) -> Value,
        body: &mut dyn FnMut(&mut Lowering, &[Value], Option<&Converted>) -> Result<(), String>,
    ) -> Result<(), String> {
        let [block, _] = traversal.place(cx, unit);
        let most = cx.b.size(&traversal.block());
        let before = cx.b.mul(block, most);
        let all = cx.b.size(&traversal.row_tiles());
        let left = cx.b.sub(all, before);
        let tiles = cx.b.index_op(IndexOp::Min, left, most);
        let (zero, least) = (cx.b.index(0), cx.b.index(self.least));
        let of_last_block = traversal.row_tiles().as_const().zip(traversal.block().as_const());
        let of_last_block =
            of_last_block.map(|(all, block)| if all == 0 { 0 } else { (all - 1) % block + 1 });
        let are_few = match of_last_block {
            Some(tiles) if tiles >= self.least => zero,
            _ => cx.b.index_op(IndexOp::Lt, tiles, least),
        };
        let mut outcome = Ok(());
        let mut each = |cx: &mut Lowering, floats: Option<&Converted>| {
            cx.for_(zero, tiles, 1, &[], |cx, tile, _| {
                let unit = [unit[0], unit[1], tile];
                outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| body(cx, &unit, floats));
                vec![]
            });
        };
        cx.when(are_few, |cx| each(cx, None));
        let are_several = super::not(cx, are_few);
        cx.when(are_several, |cx| {
            self.fill(cx, stored);
            each(cx, Some(self));
        });
        outcome
    }
}
