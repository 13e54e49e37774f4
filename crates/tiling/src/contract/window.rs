//! Walks the window of a convolution for one result tile.
//!
//! A tile's rows run along one spatial axis, the innermost that is not 1. Along all others the window is cut to the
//! positions inside of the input, so padding costs nothing. Along the row axis a window position at which the tile
//! leaves the input reads bounded (outside is 0), all others read unbounded. Where a position is little work, tiles
//! whose positions are all inside of the input have code of their own, without a loop's and the border's instructions.

use crate::access::{Axis, Lowering};
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::Window;
use tegula_tile::IndexOp;

/// One position of the window along a spatial axis.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    /// Index into the weights.
    pub position: Value,
    /// Coordinate in the input.
    pub input: Value,
}

/// A tap a spatial axis, in axis order; all are set where the innermost loop's body is built.
pub(super) type Taps = Vec<Option<Tap>>;

/// The innermost spatial axis of a result that is not 1.
pub(super) fn row_axis(shape: &[Dim]) -> usize {
    (2..shape.len()).rev().find(|axis| !shape[*axis].is_const(1)).unwrap_or(shape.len() - 1) - 2
}

/// The walk of one result tile; accumulates over all window positions that meet the input.
pub(super) struct WindowWalk<'a> {
    pub window: &'a Window,
    /// Shape of the input, `[batch, channels, spatial...]`.
    pub x: &'a Shape,
    pub row_axis: usize,
    /// Result coordinates along the other spatial axes.
    pub others: &'a [Value],
    /// The tile's rows in the result.
    pub row: Axis,
    /// A position is a few instructions only.
    pub short: bool,
}

/// Positions in a row in straight code: more are a loop of so many a step. By judgement: an image's windows, 3 to 7
/// wide, are one step, and a step's code stays within some KiB of the instruction cache.
const MOST_STRAIGHT: i64 = 8;

/// Positions of a window along a spatial axis.
#[derive(Clone, Copy)]
struct Positions {
    axis: usize,
    /// Coordinate in the input of the first.
    start: Value,
    range: (Value, Value),
    /// How many stand in straight code.
    straight: i64,
}

/// Adds what is at some positions to the sum so far.
type Visit<'a> = dyn FnMut(&mut Lowering, &mut Taps, Value) -> Result<Value, String> + 'a;

/// Adds one window position to the sum: its taps, the input's rows there, the sum so far.
type AddTap<'a> = dyn Fn(&mut Lowering, &Taps, Axis, Value) -> Result<Value, String> + 'a;

impl WindowWalk<'_> {
    /// `acc` plus all positions, in row-major order of the other axes, then along the row axis.
    pub fn run(&self, cx: &mut Lowering, acc: Value, add: &AddTap) -> Result<Value, String> {
        let others: Vec<usize> = (0..self.window.size.len()).filter(|i| *i != self.row_axis).collect();
        self.over(cx, &others, &mut vec![None; self.window.size.len()], acc, add)
    }

    fn over(
        &self,
        cx: &mut Lowering,
        outer: &[usize],
        taps: &mut Taps,
        acc: Value,
        add: &AddTap,
    ) -> Result<Value, String> {
        let Some((i, rest)) = outer.split_first() else { return self.row(cx, taps, acc, add) };
        let position = self.others[self.others.len() - outer.len()];
        let start = window_start(cx, self.window, *i, position);
        let range = window_range(cx, self.window, self.x, *i, start);
        let along = Positions { axis: *i, start, range, straight: 1 };
        self.positions(cx, along, taps, acc, &mut |cx, taps, sum| self.over(cx, rest, taps, sum, add))
    }

    /// All positions along the row axis.
    fn row(&self, cx: &mut Lowering, taps: &Taps, acc: Value, add: &AddTap) -> Result<Value, String> {
        let axis = self.row_axis;
        let (size, step) = (self.window.size[axis], self.window.strides[axis]);
        let start = window_start(cx, self.window, axis, self.row.offset);
        let range = (cx.b.index(0), cx.b.index(size));
        let along = |straight: i64| Positions { axis, start, range, straight };
        let one_by_one = |cx: &mut Lowering| {
            let mut visit = |cx: &mut Lowering, taps: &mut Taps, sum: Value| self.tap(cx, taps, sum, add);
            self.positions(cx, along(1), &mut taps.clone(), acc, &mut visit)
        };
        if !self.short {
            return one_by_one(cx);
        }
        let reach = (self.row.extent - 1) * step + (size - 1) * self.window.dilations[axis];
        let inside = border_free(cx, self.window, self.x, axis, start, reach);
        either(cx, inside, |cx, inside| match inside {
            false => one_by_one(cx),
            true => {
                let mut visit = |cx: &mut Lowering, taps: &mut Taps, sum: Value| {
                    let offset = taps[axis].expect("invariant: just set").input;
                    add(cx, taps, Axis { offset, extent: self.row.extent, step, bounded: false }, sum)
                };
                let straight = size.min(MOST_STRAIGHT);
                self.positions(cx, along(straight), &mut taps.clone(), acc, &mut visit)
            }
        })
    }

    /// `acc` with what each position adds: a loop over `straight` of them a step, then the rest one by one.
    fn positions(
        &self,
        cx: &mut Lowering,
        along: Positions,
        taps: &mut Taps,
        acc: Value,
        visit: &mut Visit,
    ) -> Result<Value, String> {
        let Positions { axis, start, range: (lo, hi), straight } = along;
        let dilation = cx.b.index(self.window.dilations[axis]);
        let mut outcome = Ok(());
        let mut walk = |cx: &mut Lowering, lo: Value, hi: Value, straight: i64, acc: Value| {
            cx.for_(lo, hi, straight, &[acc], |cx, first, carried| {
                let mut sum = carried[0];
                for ahead in 0..straight {
                    let ahead = cx.b.index(ahead);
                    let position = cx.b.add(first, ahead);
                    let shift = cx.b.mul(position, dilation);
                    taps[axis] = Some(Tap { position, input: cx.b.add(start, shift) });
                    match visit(cx, taps, sum) {
                        Ok(next) => sum = next,
                        Err(error) => outcome = Err(error),
                    }
                }
                vec![sum]
            })[0]
        };
        if straight == 1 {
            let sum = walk(cx, lo, hi, 1, acc);
            return outcome.map(|()| sum);
        }
        let whole = cx.b.index(self.window.size[axis] / straight * straight);
        let sum = walk(cx, lo, whole, straight, acc);
        let sum = walk(cx, whole, hi, 1, sum);
        outcome.map(|()| sum)
    }

    /// One window position; only where the tile's rows leave the input are reads bounded.
    fn tap(&self, cx: &mut Lowering, taps: &Taps, acc: Value, add: &AddTap) -> Result<Value, String> {
        let offset = taps[self.row_axis].expect("invariant: the row axis is looped over last").input;
        let step = self.window.strides[self.row_axis];
        let rows = |bounded: bool| Axis { offset, extent: self.row.extent, step, bounded };
        let reach = (self.row.extent - 1) * step;
        let safe = border_free(cx, self.window, self.x, self.row_axis, offset, reach);
        either(cx, safe, |cx, inside| add(cx, taps, rows(!inside), acc))
    }
}

/// `o * stride - low`: the input coordinate of the window's first element for result coordinate `o`.
pub(crate) fn window_start(cx: &mut Lowering, window: &Window, i: usize, o: Value) -> Value {
    let stride = cx.b.index(window.strides[i]);
    let scaled = cx.b.mul(o, stride);
    let low = cx.b.size(&window.low[i]);
    cx.b.sub(scaled, low)
}

/// The window positions along spatial axis `i` that fall inside of the input, for a window that starts at `start`.
pub(crate) fn window_range(
    cx: &mut Lowering,
    window: &Window,
    x: &Shape,
    i: usize,
    start: Value,
) -> (Value, Value) {
    let (zero, size) = (cx.b.index(0), cx.b.index(window.size[i]));
    if window.low[i].is_const(0) && window.high[i].is_const(0) {
        return (zero, size);
    }
    let dilation = cx.b.index(window.dilations[i]);
    let before = cx.b.sub(zero, start);
    let lo = ceil_div(cx, before, dilation);
    let lo = cx.b.index_op(IndexOp::Max, lo, zero);
    let extent = cx.b.size(&x[2 + i]);
    let left = cx.b.sub(extent, start);
    let hi = ceil_div(cx, left, dilation);
    let hi = cx.b.index_op(IndexOp::Min, hi, size);
    (lo, hi)
}

fn ceil_div(cx: &mut Lowering, a: Value, b: Value) -> Value {
    let one = cx.b.index(1);
    let sum = cx.b.add(a, b);
    let sum = cx.b.sub(sum, one);
    cx.b.index_op(IndexOp::FloorDiv, sum, b)
}

/// Builds `body` for tiles inside of the input and, where that is decided at run time, again for tiles at its border.
fn either(
    cx: &mut Lowering,
    inside: Value,
    body: impl Fn(&mut Lowering, bool) -> Result<Value, String>,
) -> Result<Value, String> {
    if let Some(flag) = cx.b.known(inside) {
        return body(cx, flag != 0);
    }
    let scope = cx.b.begin_if(inside);
    let whole = cx.scope(|cx| body(cx, true))?;
    cx.b.begin_else(&scope, &[whole]);
    let border = cx.scope(|cx| body(cx, false))?;
    Ok(cx.b.end_if(scope, &[border])[0])
}

/// 1 where the input along spatial axis `i` is there from `start` to `reach` further.
fn border_free(cx: &mut Lowering, window: &Window, x: &Shape, i: usize, start: Value, reach: i64) -> Value {
    if window.low[i].is_const(0) && window.high[i].is_const(0) {
        return cx.b.index(1);
    }
    lies_inside(cx, x, i, start, reach)
}

/// 1 where an input has the elements along spatial axis `i` from `start` to `reach` further.
pub(super) fn lies_inside(cx: &mut Lowering, x: &Shape, i: usize, start: Value, reach: i64) -> Value {
    let zero = cx.b.index(0);
    let starts = cx.b.index_op(IndexOp::Le, zero, start);
    let reach = cx.b.index(reach);
    let end = cx.b.add(start, reach);
    let extent = cx.b.size(&x[2 + i]);
    let ends = cx.b.index_op(IndexOp::Lt, end, extent);
    cx.b.index_op(IndexOp::And, starts, ends)
}
