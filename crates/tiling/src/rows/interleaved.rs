//! Results whose innermost axis has a few elements that a buffer holds rows of, as channels that a transpose puts last.
//! A vector of each row is woven into a run of the result, which is stored at once and not an element at a time.

use crate::access::{Axis, Lowering, TileBox};
use crate::body::Body;
use tegula_base::Shape;
use tegula_tensor::TensorOp;

/// Rows that are woven. A vector of the result takes a shuffle for each, so of so many it still takes less than stores of
/// its elements: 16 of them, of which a core does one or two a cycle.
const MOST_ROWS: std::ops::RangeInclusive<i64> = 2..=4;

/// The innermost axis and its extent.
#[derive(Clone, Copy)]
pub(super) struct Interleaved {
    pub axis: usize,
    pub extent: i64,
}

/// `lane` is the axis along which the buffer's elements are neighbours, `innermost` that of the result's. `None` where
/// more happens than a transpose in the end, or the two axes are not next to each other in memory.
pub(super) fn find(body: &Body, space: &Shape, (lane, innermost): (usize, usize)) -> Option<Interleaved> {
    let ([result], [ty]) = (&body.results[..], &body.result_types[..]) else { return None };
    let is_transposed = body.func.def_op(*result).map(|op| body.func.kind(op));
    let extent = space[innermost].as_const().filter(|n| MOST_ROWS.contains(n))?;
    let fits = matches!(is_transposed, Some(TensorOp::Transpose { .. }))
        && ty.layout_or_default().is_row_major()
        && ty.shape == *space
        && lane < innermost
        && space[lane + 1..innermost].iter().chain(&space[innermost + 1..]).all(|dim| dim.is_const(1));
    fits.then_some(Interleaved { axis: innermost, extent })
}

impl Interleaved {
    /// Stores what is at a box of one row, all of it along the innermost axis. Where the box may leave the row, an element
    /// of that axis at a time.
    pub fn store(&self, cx: &mut Lowering, space: &Shape, at: &[Axis]) -> Result<(), String> {
        let mut at: TileBox = at.into();
        if at.iter().any(|axis| axis.bounded) {
            let (zero, all) = (cx.b.index(0), cx.b.index(self.extent));
            let mut outcome = Ok(());
            cx.for_(zero, all, 1, &[], |cx, element, _| {
                at[self.axis].offset = element;
                outcome = cx.store_result(0, &at);
                vec![]
            });
            return outcome;
        }
        at[self.axis].extent = self.extent;
        let tile = cx.pull(cx.body.results[0], &at)?;
        let count = at.iter().map(|axis| axis.extent).product();
        let run = cx.b.reshape(tile, &[count]);
        let mut position = cx.b.index(0);
        for (axis, dim) in at.iter().zip(space.iter()) {
            let size = cx.b.size(dim);
            position = cx.b.mul(position, size);
            position = cx.b.add(position, axis.offset);
        }
        let flat = cx.flat_result().ok_or("a run needs a flat view of its result")?;
        cx.b.store(flat, run, &[position], &[1], &[false]);
        Ok(())
    }
}
