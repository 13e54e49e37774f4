//! The recipe of running sums and products: one loop along the scanned axis that carries the running value for a
//! tile of the innermost other axis, in `f32` for 16-bit floats; each prefix is rounded once.

use super::access::{Axis, Lowering, TileBox, begin};
use super::body::Body;
use super::rows::accumulator;
use super::{Lowered, columns_together};
use crate::TileMachine;
use tegula_base::{DType, Dim};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::identity;
use tegula_tensor::TensorOp;

pub(super) fn lower(body: &Body, machine: &dyn TileMachine) -> Result<Lowered, String> {
    let root = body.root().ok_or("a scan is expected")?;
    let TensorOp::Scan { f, axis, exclusive, reverse } = *body.func.kind(root) else {
        return Err("a scan is expected".into());
    };
    let operand = body.func.operand(root, 0);
    let shape = body.shape(operand).clone();
    let dtype = body.func.ty(operand).dtype;
    let wide = accumulator(f, dtype);
    let neutral = identity(f, wide).ok_or_else(|| format!("`{f}` does not scan {dtype}"))? as i64;
    let lane = (0..shape.rank()).rev().find(|i| !shape[*i].is_const(1)).filter(|i| *i != axis);
    let width = lane.map_or(1, |axis| width(&shape[axis], body.widest(), machine));
    let outer: Vec<usize> = (0..shape.rank()).filter(|i| *i != axis && Some(*i) != lane).collect();
    let mut grid: Vec<Dim> = outer.iter().map(|axis| shape[*axis].clone()).collect();
    if let Some(lane) = lane {
        grid.push(shape[lane].ceil_div(&Dim::from(width)));
    }
    let (mut kernel, buffers) = begin(body, grid);
    let mut cx = Lowering::new(body, &mut kernel, buffers);
    let zero = cx.b.index(0);
    let mut at: TileBox =
        std::iter::repeat_n(Axis { offset: zero, extent: 1, step: 1, bounded: false }, shape.rank())
            .collect();
    for (i, axis) in outer.iter().enumerate() {
        at[*axis].offset = cx.unit[i];
    }
    if let Some(lane) = lane {
        let stride = cx.b.index(width);
        let unit = cx.unit[outer.len()];
        let whole = shape[lane].as_const().is_some_and(|n| n % width == 0);
        at[lane] = Axis { offset: cx.b.mul(unit, stride), extent: width, step: 1, bounded: !whole };
    }
    let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
    let init = cx.b.splat(wide, &extents, neutral);
    let size = cx.b.size(&shape[axis]);
    let mut outcome = Ok(());
    cx.for_(zero, size, 1, &[init], |cx, i, carried| {
        at[axis].offset = match reverse {
            false => i,
            true => {
                let one = cx.b.index(1);
                let last = cx.b.sub(size, one);
                cx.b.sub(last, i)
            }
        };
        let step = step(cx, body, &at, (f, wide), carried[0], root, exclusive);
        match step {
            Ok(next) => vec![next],
            Err(error) => {
                outcome = Err(error);
                vec![carried[0]]
            }
        }
    });
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

/// Columns that a work unit sums. Units of several vectors are whole: the last one would ask for each vector whether it is there.
fn width(extent: &Dim, widest: DType, machine: &dyn TileMachine) -> i64 {
    let width = columns_together(extent, widest, machine);
    let is_whole = extent.as_const().is_some_and(|n| n % width == 0);
    if is_whole { width } else { machine.lanes(widest) }
}

/// Adds one element (a tile across lanes) and stores; gives the next running value.
fn step(
    cx: &mut Lowering,
    body: &Body,
    at: &[Axis],
    (f, wide): (ScalarOp, DType),
    running: tegula_ir::Value,
    root: tegula_ir::OpId,
    exclusive: bool,
) -> Result<tegula_ir::Value, String> {
    let operand = body.func.operand(root, 0);
    let dtype = body.func.ty(operand).dtype;
    let cast = |cx: &mut Lowering, value, from: DType, to: DType| match from == to {
        true => value,
        false => cx.b.elementwise(ScalarOp::Cast { to, saturate: false }, &[value]),
    };
    let element = cx.pull(operand, at)?;
    let element = cast(cx, element, dtype, wide);
    let next = cx.b.elementwise(f, &[running, element]);
    let prefix = if exclusive { running } else { next };
    let prefix = cast(cx, prefix, wide, dtype);
    cx.fix(body.func.result(root), prefix);
    for i in 0..body.results.len() {
        cx.store_result(i, at)?;
    }
    Ok(next)
}
