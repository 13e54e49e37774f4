//! Ops that rearrange whole tensors: reshape and its kin, transpose, join, repeat.
//! Shapes and axes that are data are resolved with tensor ops and bound to symbols.

use super::reduction::picked_axes;
use crate::build::{axes_in, axis_in};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_between, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op("Reshape", reshape).moves(),
    op("Flatten", flatten).moves(),
    op("Squeeze", squeeze).moves(),
    op("Unsqueeze", unsqueeze).moves(),
    op("Transpose", transpose).moves(),
    op("Concat", concat).moves(),
    op("Expand", expand).moves(),
    op_between("Tile", 6, i64::MAX, tile).moves(),
    op("DepthToSpace", depth_to_space),
    op("SpaceToDepth", space_to_depth),
    op_since("CenterCropPad", 18, center_crop_pad),
];

fn reshape(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, list) = (node.operand(0)?, node.operand(1)?);
    let zero_is_zero = node.flag("allowzero", false);
    let wanted = match cx.known_sizes(list) {
        Some(sizes) => resolve(cx, x, &sizes, zero_is_zero)?,
        None => resolve_at_run_time(cx, x, list, zero_is_zero)?,
    };
    Ok(vec![cx.reshape(x, wanted)?])
}

/// 0 copies an extent, -1 takes what is left.
fn resolve(cx: &mut Cx, x: Value, sizes: &[Dim], zero_is_zero: bool) -> Outcome<Vec<Dim>> {
    let from = cx.shape(x);
    let mut wanted = Vec::with_capacity(sizes.len());
    let mut rest = None;
    for (i, size) in sizes.iter().enumerate() {
        wanted.push(match size.as_const() {
            Some(0) if !zero_is_zero => from.get(i).cloned().ok_or_else(|| {
                Fault::invalid(format!("size {i} is copied from {}, which has no such axis", cx.ty(x)))
            })?,
            Some(-1) if rest.is_some() => return Err(Fault::invalid("two sizes are -1")),
            Some(-1) => {
                rest = Some(i);
                Dim::from(1)
            }
            Some(n) if n < 0 => return Err(Fault::invalid(format!("size {n} is negative"))),
            _ => size.clone(),
        });
    }
    if let Some(i) = rest {
        let (total, known) = (from.count(), Shape::from(wanted.as_slice()).count());
        wanted[i] = left_over(&from, &wanted, i)
            .or_else(|| total.div_exact(&known))
            .unwrap_or_else(|| total.floor_div(&known));
        if known.is_const(0) {
            wanted[i] = Dim::from(0);
        }
    }
    Ok(wanted)
}

/// The inferred size where all other extents cancel one by one, also extents that may be 0.
fn left_over(from: &[Dim], wanted: &[Dim], inferred: usize) -> Option<Dim> {
    let mut rest = from.to_vec();
    for (i, size) in wanted.iter().enumerate() {
        if i == inferred || size.is_const(1) {
            continue;
        }
        let place = rest.iter().position(|dim| dim == size)?;
        rest.remove(place);
    }
    Some(Shape::from(rest).count())
}

fn resolve_at_run_time(cx: &mut Cx, x: Value, list: Value, zero_is_zero: bool) -> Outcome<Vec<Dim>> {
    let from = cx.shape(x);
    let n = cx.element_count(list)?;
    let mut list = cx.cast(list, DType::I64)?;
    if !zero_is_zero {
        let copied = (0..n).map(|i| from.get(i).cloned().unwrap_or(Dim::from(0))).collect();
        let copied = cx.sizes_tensor(copied)?;
        let zero = cx.with_number(ScalarOp::Eq, list, 0.0)?;
        list = cx.select(zero, copied, list)?;
    }
    let inferred = cx.with_number(ScalarOp::Eq, list, -1.0)?;
    let one = cx.number_like(list, 1.0)?;
    let others = cx.select(inferred, one, list)?;
    let known = cx.reduce(ScalarOp::Mul, others, &[0], true)?;
    let total = cx.size_value(from.count())?;
    let rest = cx.div(total, known)?;
    let resolved = cx.select(inferred, rest, list)?;
    // An empty tensor may have any other extents.
    let upper = if from.count().is_const(0) { Dim::from(SymbolInfo::MAX) } else { from.count() };
    cx.sizes_or_bind(resolved, "reshaped", &|_| upper.clone())
}

fn flatten(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    Ok(vec![cx.flatten_from(x, node.int("axis", 1))?])
}

/// Axes are an attribute before opset 13 and an operand from it on.
fn squeeze(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rank = cx.rank(x);
    let axes = match node.optional(1) {
        None => node.ints("axes"),
        Some(list) => match cx.known_ints(list) {
            Some(axes) => Some(axes),
            None => {
                let picked = picked_axes(cx, list, rank)?;
                let n_kept = rank.saturating_sub(cx.element_count(list)?);
                let shape = cx.shape(x);
                let kept = super::reduction::kept_extents(cx, &shape, &picked, n_kept)?;
                return Ok(vec![cx.reshape(x, kept)?]);
            }
        },
    };
    let axes = match axes {
        Some(axes) => axes_in(&axes, rank)?,
        None => axes_of_one(cx, x)?,
    };
    for axis in &axes {
        let extent = cx.dim(x, *axis);
        cx.assert_equal(&extent, &Dim::from(1), "a squeezed axis must have extent 1")?;
    }
    Ok(vec![cx.drop_axes(x, &axes)?])
}

/// The axes of extent 1. Those of unknown extents are none of them, which is asserted: the result's rank must be known.
fn axes_of_one(cx: &mut Cx, x: Value) -> Outcome<Vec<usize>> {
    let (shape, one) = (cx.shape(x), Dim::from(1));
    for extent in shape.iter() {
        let apart = (extent.clone() - one.clone()).maximum(&(one.clone() - extent.clone()));
        if cx.is_established(extent, &one) || cx.symbols.bounds(&apart).0 >= 1 {
            continue;
        }
        let mut message = format!("the rank of the result hangs on whether `{extent}` is 1");
        if let Some(binding) = cx.binding_to_one(extent) {
            message += &format!("; where it always is, that must be given when compiling: {binding}");
        }
        cx.assert_equal(&apart.minimum(&one), &one, &message)?;
    }
    Ok((0..shape.rank()).filter(|axis| cx.is_established(&shape[*axis], &one)).collect())
}

fn unsqueeze(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let axes = match node.optional(1) {
        None => node.ints("axes").unwrap_or_default(),
        Some(list) => match cx.known_ints(list) {
            Some(axes) => axes,
            None => return unsqueeze_at_run_time(cx, x, list),
        },
    };
    let axes = axes_in(&axes, cx.rank(x) + axes.len())?;
    Ok(vec![cx.add_axes(x, &axes)?])
}

fn unsqueeze_at_run_time(cx: &mut Cx, x: Value, list: Value) -> Outcome<Vec<Value>> {
    let from = cx.shape(x);
    let rank = from.rank() + cx.element_count(list)?;
    let picked = picked_axes(cx, list, rank)?;
    let mut place = cx.int_list(&[0])?;
    let mut extents = Vec::with_capacity(rank);
    let upper = from.iter().fold(Dim::from(1), |upper, dim| upper.maximum(dim));
    for picked in picked {
        let mut size = cx.int_list(&[1])?;
        for (j, extent) in from.iter().enumerate() {
            let extent = cx.size_value(extent.clone())?;
            let here = cx.with_number(ScalarOp::Eq, place, j as f64)?;
            size = cx.select(here, extent, size)?;
        }
        let one = cx.int_list(&[1])?;
        let size = cx.select(picked, one, size)?;
        extents.push(cx.size_or_bind(size, "extent", upper.clone())?);
        let kept = cx.unary(ScalarOp::Not, picked)?;
        let kept = cx.cast(kept, DType::I64)?;
        place = cx.add(place, kept)?;
    }
    Ok(vec![cx.reshape(x, extents)?])
}

fn transpose(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rank = cx.rank(x);
    let perm = match node.ints("perm") {
        Some(perm) => axes_in(&perm, rank)?,
        None => (0..rank).rev().collect(),
    };
    if perm.len() != rank {
        return Err(Fault::invalid(format!("perm {perm:?} is no permutation of {rank} axes")));
    }
    Ok(vec![cx.transpose(x, &perm)?])
}

fn concat(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let parts = node.all_operands()?;
    let first = *parts.first().ok_or_else(|| Fault::invalid("takes one or more operands"))?;
    let axis = axis_in(node.int("axis", 1), cx.rank(first))?;
    Ok(vec![cx.concat(&parts, axis)?])
}

/// Broadcasting in both directions between the operand and a shape.
fn expand(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, list) = (node.operand(0)?, node.operand(1)?);
    let from = cx.shape(x);
    let n = cx.element_count(list)?;
    let rank = n.max(from.rank());
    let declared: Vec<Dim> = (0..n).map(|i| cx.declared_extent(0, i + rank - n)).collect();
    let sizes = cx.sizes_or_bind(list, "expanded", &|i| declared[i].clone())?;
    let mut wanted = Vec::with_capacity(rank);
    for axis in 0..rank {
        let own = (axis + from.rank()).checked_sub(rank).map_or(Dim::from(1), |i| from[i].clone());
        let other = (axis + n).checked_sub(rank).map_or(Dim::from(1), |i| sizes[i].clone());
        wanted.push(expanded_extent(cx, own, other)?);
    }
    Ok(vec![cx.broadcast_to(x, &wanted.into())?])
}

fn expanded_extent(cx: &mut Cx, own: Dim, other: Dim) -> Outcome<Dim> {
    if own.is_const(1) || own == other || cx.repeats(&own, &other)? {
        return Ok(other);
    }
    if other.is_const(1) {
        return Ok(own);
    }
    if own.as_const().is_some() && other.as_const().is_some() {
        return Err(Fault::from(format!("a size of {own} does not expand to {other}")));
    }
    cx.joined_extent(&own, &other)
}

fn tile(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, list) = (node.operand(0)?, node.operand(1)?);
    let rank = cx.rank(x);
    let repeats = cx.sizes_or_bind(list, "repeats", &|_| Dim::from(SymbolInfo::MAX))?;
    if repeats.len() != rank {
        return Err(Fault::invalid(format!("{} repeats for {}", repeats.len(), cx.ty(x))));
    }
    Ok(vec![cx.tile(x, &repeats)?])
}

/// Spatial extents and the block of depth-to-space and its inverse.
fn blocks(cx: &Cx, node: &Node) -> Outcome<(Value, [Dim; 4], Dim)> {
    let x = node.operand(0)?;
    let shape = cx.shape(x);
    let [n, c, h, w] = &shape[..] else {
        return Err(Fault::from(format!("a tensor [N,C,H,W] is expected, got {}", cx.ty(x))));
    };
    let block = node.int("blocksize", 0);
    if block < 1 {
        return Err(Fault::invalid(format!("block size {block} is not positive")));
    }
    Ok((x, [n.clone(), c.clone(), h.clone(), w.clone()], Dim::from(block)))
}

fn depth_to_space(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, [n, c, h, w], b) = blocks(cx, node)?;
    let depth = c.floor_div(&(b.clone() * b.clone()));
    let (split, perm) = match node.text("mode", "DCR").as_str() {
        "DCR" => ([n.clone(), b.clone(), b.clone(), depth.clone(), h.clone(), w.clone()], [0, 3, 4, 1, 5, 2]),
        "CRD" => ([n.clone(), depth.clone(), b.clone(), b.clone(), h.clone(), w.clone()], [0, 1, 4, 2, 5, 3]),
        other => return Err(Fault::invalid(format!("mode `{other}` is neither DCR nor CRD"))),
    };
    let x = cx.reshape(x, split)?;
    let x = cx.transpose(x, &perm)?;
    Ok(vec![cx.reshape(x, [n, depth, h * b.clone(), w * b])?])
}

fn space_to_depth(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, [n, c, h, w], b) = blocks(cx, node)?;
    let (rows, columns) = (h.floor_div(&b), w.floor_div(&b));
    let split = [n.clone(), c.clone(), rows.clone(), b.clone(), columns.clone(), b.clone()];
    let x = cx.reshape(x, split)?;
    let perm = match node.text("mode", "DCR").as_str() {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        other => return Err(Fault::invalid(format!("mode `{other}` is neither DCR nor CRD"))),
    };
    let x = cx.transpose(x, &perm)?;
    Ok(vec![cx.reshape(x, [n, c * b.clone() * b, rows, columns])?])
}

/// Cuts or pads each axis evenly to a wanted extent; what is odd goes to the end.
fn center_crop_pad(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, list) = (node.operand(0)?, node.operand(1)?);
    let shape = cx.shape(x);
    let rank = shape.rank();
    let axes = match node.ints("axes") {
        Some(axes) => axes_in(&axes, rank)?,
        None => (0..rank).collect(),
    };
    let uppers: Vec<Dim> = axes.iter().map(|axis| cx.declared_extent(0, *axis)).collect();
    let sizes = cx.sizes_or_bind(list, "size", &|i| uppers.get(i).cloned().unwrap_or(Dim::from(0)))?;
    if sizes.len() != axes.len() {
        return Err(Fault::invalid(format!("{} sizes for {} axes", sizes.len(), axes.len())));
    }
    let (zero, two) = (Dim::from(0), Dim::from(2));
    let (mut low, mut high) = (vec![zero.clone(); rank], vec![zero.clone(); rank]);
    let mut cut = x;
    for (axis, size) in axes.into_iter().zip(sizes) {
        let extent = shape[axis].clone();
        let kept = extent.minimum(&size);
        let start = (extent.clone() - size.clone()).maximum(&zero).floor_div(&two);
        cut = cx.slice_axis(cut, axis, start, kept.clone())?;
        low[axis] = (size.clone() - extent).maximum(&zero).floor_div(&two);
        high[axis] = size - kept - low[axis].clone();
    }
    Ok(vec![cx.pad_with(cut, 0.0, low, high)?])
}
