//! Sampling at computed places: GridSample, AffineGrid; beside this file DeformConv and RoiAlign.

mod deform_conv;
mod roi_align;

use crate::build::along;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op_since};
use crate::report::{Fault, Outcome};
use deform_conv::deform_conv;
use roi_align::roi_align;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op_since("GridSample", 16, grid_sample),
    op_since("AffineGrid", 20, affine_grid),
    op_since("DeformConv", 19, deform_conv),
    op_since("RoiAlign", 10, roi_align),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// Keys' parameter, as PyTorch has it.
const CUBIC_A: f64 = -0.75;

struct Sampler {
    mode: Mode,
    outside: Outside,
    align_corners: bool,
}

/// Taps along one axis: index (a float, whole), weight, and whether it lies inside.
struct Tap {
    index: Value,
    weight: Option<Value>,
}

fn grid_sample(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, grid) = (node.operand(0)?, node.operand(1)?);
    let sampler = Sampler {
        mode: match node.text("mode", "linear").as_str() {
            "nearest" => Mode::Nearest,
            "linear" | "bilinear" => Mode::Linear,
            "cubic" | "bicubic" => Mode::Cubic,
            other => return Err(Fault::invalid(format!("mode `{other}` is none of nearest, linear, cubic"))),
        },
        outside: match node.text("padding_mode", "zeros").as_str() {
            "zeros" => Outside::Zeros,
            "border" => Outside::Border,
            "reflection" => Outside::Reflection,
            other => return Err(Fault::invalid(format!("padding_mode `{other}` is unknown"))),
        },
        align_corners: node.flag("align_corners", false),
    };
    let (shape, mut grid_shape) = (cx.shape(x), cx.shape(grid));
    let n = shape.rank().saturating_sub(2);
    if n == 0 || grid_shape.rank() != shape.rank() {
        return Err(Fault::from(format!("{} does not fit a grid {}", cx.ty(x), cx.ty(grid))));
    }
    grid_shape[0] = shape[0].clone();
    grid_shape[n + 1] = Dim::from(n);
    let grid = cx.respelled(
        grid,
        grid_shape.clone(),
        "a grid must have the image's batches and a coordinate an axis",
    )?;
    // Places [N,Q] along each spatial axis; the grid's last axis lists them innermost first.
    let places: Dim = grid_shape[1..=n].iter().fold(Dim::from(1), |count, dim| count * dim.clone());
    let flat = [grid_shape[0].clone(), places.clone()];
    let mut taps = Vec::with_capacity(n);
    for axis in 0..n {
        let at = cx.slice_axis(grid, n + 1, Dim::from(n - 1 - axis), Dim::from(1))?;
        let at = cx.reshape(at, flat.clone())?;
        let at = cx.cast(at, DType::F32)?;
        taps.push(axis_taps(cx, &sampler, at, &shape[axis + 2])?);
    }
    let pixels = Shape::from(&shape[2..]).count();
    let data = cx.reshape(x, [shape[0].clone(), shape[1].clone(), pixels])?;
    let sum = sum_of_taps(cx, &sampler, data, &taps, &shape[2..], places)?;
    let result: Shape = shape[..2].iter().chain(&grid_shape[1..=n]).cloned().collect();
    Ok(vec![cx.reshape(sum, result)?])
}

/// Elements of `data: [N,C,pixels]` at `[N,places]` of taps an axis, weighted: `[N,C,places]`.
fn sum_of_taps(
    cx: &mut Cx,
    sampler: &Sampler,
    data: Value,
    taps: &[Vec<Tap>],
    extents: &[Dim],
    places: Dim,
) -> Outcome {
    let wanted = Shape::from([cx.dim(data, 0), cx.dim(data, 1), places]);
    let mut sum: Option<Value> = None;
    for choice in 0..taps.iter().map(Vec::len).product() {
        let term = tap_product(cx, sampler, data, taps, choice, extents, &wanted)?;
        sum = Some(match sum {
            Some(sum) => cx.add(sum, term)?,
            None => term,
        });
    }
    sum.ok_or_else(|| Fault::invalid("no taps"))
}

/// `-1..1` to places in the input, brought inside as the mode asks, then its taps. Cubic taps are brought to the border
/// one by one, as PyTorch does, from which models have the op: the place itself stays outside.
fn axis_taps(cx: &mut Cx, sampler: &Sampler, at: Value, extent: &Dim) -> Outcome<Vec<Tap>> {
    let size = cx.size_as(extent.clone(), DType::F32, 2)?;
    let last = cx.with_number(ScalarOp::Sub, size, 1.0)?;
    let shifted = cx.with_number(ScalarOp::Add, at, 1.0)?;
    let mut place = if sampler.align_corners {
        let scaled = cx.with_number(ScalarOp::Mul, shifted, 0.5)?;
        cx.mul(scaled, last)?
    } else {
        let scaled = cx.mul(shifted, size)?;
        let scaled = cx.with_number(ScalarOp::Sub, scaled, 1.0)?;
        cx.with_number(ScalarOp::Mul, scaled, 0.5)?
    };
    if sampler.mode == Mode::Nearest {
        place = cx.unary(ScalarOp::Round, place)?;
    }
    if (sampler.mode, sampler.outside) != (Mode::Cubic, Outside::Border) {
        place = inside(cx, sampler, place, size, last)?;
    }
    if sampler.mode == Mode::Nearest {
        let index = cx.unary(ScalarOp::Trunc, place)?;
        return Ok(vec![Tap { index, weight: None }]);
    }
    weighted_taps(cx, sampler.mode, place)
}

/// The elements around a place, each with its share.
fn weighted_taps(cx: &mut Cx, mode: Mode, place: Value) -> Outcome<Vec<Tap>> {
    let floor = cx.unary(ScalarOp::Floor, place)?;
    let ratio = cx.sub(place, floor)?;
    let offsets = if mode == Mode::Linear { 0..2 } else { -1..3 };
    offsets
        .map(|offset| {
            let index = cx.with_number(ScalarOp::Add, floor, offset as f64)?;
            let distance = cx.number_with(ScalarOp::Sub, offset as f64, ratio)?;
            let weight = match mode {
                Mode::Cubic => cx.cubic_filter(distance, CUBIC_A)?,
                _ => {
                    let size = cx.unary(ScalarOp::Abs, distance)?;
                    cx.number_with(ScalarOp::Sub, 1.0, size)?
                }
            };
            Ok(Tap { index, weight: Some(weight) })
        })
        .collect()
}

/// Places outside moved to the border or mirrored; left alone where zeros lie outside.
fn inside(cx: &mut Cx, sampler: &Sampler, place: Value, size: Value, last: Value) -> Outcome {
    match sampler.outside {
        Outside::Zeros => Ok(place),
        Outside::Border => {
            let low = cx.with_number(ScalarOp::Max, place, 0.0)?;
            cx.binary(ScalarOp::Min, low, last)
        }
        Outside::Reflection => {
            // Mirrors at 0 and last, or at the outer edges of the first and last element.
            let (least, span) = if sampler.align_corners { (0.0, last) } else { (-0.5, size) };
            let from = cx.with_number(ScalarOp::Sub, place, least)?;
            let distance = cx.unary(ScalarOp::Abs, from)?;
            let period = cx.with_number(ScalarOp::Mul, span, 2.0)?;
            let rest = cx.binary(ScalarOp::Rem, distance, period)?;
            let back = cx.sub(period, rest)?;
            let folded = cx.binary(ScalarOp::Min, rest, back)?;
            // An axis of one element mirrors onto itself.
            let flat = cx.with_number(ScalarOp::Le, span, 0.0)?;
            let zero = cx.number_like(folded, 0.0)?;
            let folded = cx.select(flat, zero, folded)?;
            cx.with_number(ScalarOp::Add, folded, least)
        }
    }
}

/// The elements at one choice of taps, times its weights: `[N,C,Q]`.
fn tap_product(
    cx: &mut Cx,
    sampler: &Sampler,
    data: Value,
    taps: &[Vec<Tap>],
    choice: usize,
    extents: &[Dim],
    wanted: &Shape,
) -> Outcome {
    let mut rest = choice;
    let mut place: Option<Value> = None;
    let mut weight: Option<Value> = None;
    let mut seen: Option<Value> = None;
    for (taps, extent) in taps.iter().zip(extents) {
        let tap = &taps[rest % taps.len()];
        rest /= taps.len();
        let dtype = cx.dtype(tap.index);
        let size = cx.size_as(extent.clone(), dtype, 2)?;
        let last = cx.with_number(ScalarOp::Sub, size, 1.0)?;
        let mut index = tap.index;
        match sampler.outside {
            Outside::Zeros => {
                let after = cx.with_number(ScalarOp::Ge, index, 0.0)?;
                let before = cx.binary(ScalarOp::Le, index, last)?;
                let here = cx.binary(ScalarOp::And, after, before)?;
                seen = Some(match seen {
                    Some(seen) => cx.binary(ScalarOp::And, seen, here)?,
                    None => here,
                });
            }
            Outside::Border => {}
            Outside::Reflection => {
                index = inside(cx, sampler, index, size, last)?;
                index = cx.unary(ScalarOp::Trunc, index)?;
            }
        }
        let index = cx.with_number(ScalarOp::Max, index, 0.0)?;
        let index = cx.binary(ScalarOp::Min, index, last)?;
        let index = cx.cast(index, DType::I64)?;
        place = Some(match place {
            Some(place) => {
                let stride = cx.size_as(extent.clone(), DType::I64, 2)?;
                let scaled = cx.mul(place, stride)?;
                cx.add(scaled, index)?
            }
            None => index,
        });
        weight = match (weight, tap.weight) {
            (Some(a), Some(b)) => Some(cx.mul(a, b)?),
            (a, b) => a.or(b),
        };
    }
    let place = place.ok_or_else(|| Fault::invalid("no axes"))?;
    let place = cx.add_axes(place, &[1])?;
    let place = cx.broadcast_to(place, wanted)?;
    let mut value = cx.emit(TensorOp::GatherElements { axis: 2 }, &[data, place])?;
    if let Some(seen) = seen {
        let seen = cx.add_axes(seen, &[1])?;
        let zero = cx.number_like(value, 0.0)?;
        value = cx.select(seen, value, zero)?;
    }
    match weight {
        Some(weight) => {
            let weight = cx.add_axes(weight, &[1])?;
            let weight = cx.cast_like(weight, value)?;
            cx.mul(value, weight)
        }
        None => Ok(value),
    }
}

/// `theta: [N,k,k+1]` applied to the centres (or corners) of a `[N,C,d...]` image: `[N,d...,k]`.
fn affine_grid(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (theta, size) = (node.operand(0)?, node.operand(1)?);
    let rank = cx.element_count(size)?;
    let k = rank.checked_sub(2).filter(|k| matches!(k, 2 | 3));
    cx.expect_rank(theta, 3, "matrices [N,k,k+1]")?;
    let k = k.ok_or_else(|| Fault::invalid(format!("sizes of rank 4 or 5 are expected, got {rank}")))?;
    let uppers: Vec<Dim> = (0..rank).map(|i| cx.declared_extent(0, i.saturating_sub(1).min(k))).collect();
    let spatial = cx.slice_axis(size, 0, Dim::from(2), Dim::from(k))?;
    let sizes = cx.sizes_or_bind(spatial, "grid", &|i| uppers[i + 2].clone())?;
    let dtype = cx.dtype(theta);
    let full: Shape = sizes.iter().cloned().collect();
    // Homogeneous coordinates, innermost axis first: [d..., k + 1].
    let mut columns = Vec::with_capacity(k + 1);
    for axis in (0..k).rev() {
        let places = cx.iota(dtype, along(k, axis, sizes[axis].clone()), axis)?;
        let extent = cx.size_as(sizes[axis].clone(), dtype, k)?;
        let (numerator, steps) = if node.flag("align_corners", false) {
            (cx.with_number(ScalarOp::Mul, places, 2.0)?, cx.with_number(ScalarOp::Sub, extent, 1.0)?)
        } else {
            let doubled = cx.with_number(ScalarOp::Mul, places, 2.0)?;
            (cx.with_number(ScalarOp::Add, doubled, 1.0)?, extent)
        };
        let at = cx.div(numerator, steps)?;
        let at = cx.with_number(ScalarOp::Sub, at, 1.0)?;
        let at = cx.broadcast_to(at, &full)?;
        columns.push(cx.add_axes(at, &[k])?);
    }
    let ones: Shape = full.iter().cloned().chain([Dim::from(1)]).collect();
    columns.push(cx.splat(dtype, ones, 1.0)?);
    let grid = cx.concat(&columns, k)?;
    let grid = cx.reshape(grid, [full.count(), Dim::from(k + 1)])?;
    let turned = cx.transpose_matrix(theta)?;
    let points = cx.matmul(grid, turned, dtype)?;
    let result: Shape = [cx.dim(theta, 0)].into_iter().chain(sizes).chain([Dim::from(k)]).collect();
    Ok(vec![cx.reshape(points, result)?])
}
