//! Rotary position embedding (Su et al., arXiv:2104.09864): ONNX's op, ONNX Runtime's, and as a part of attention.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

/// Operands `x, cos, sin, position_ids?`; without positions the angles are those of each place already.
pub(super) fn rotary_embedding(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, mut cos, mut sin) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let by_heads = heads_of(cx, node, x, None)?;
    let turned = match node.int("rotary_embedding_dim", 0) {
        0 => cx.dim(by_heads, 3),
        n => Dim::from(n),
    };
    if let Some(places) = node.optional(3) {
        (cos, sin) = (cx.gather(cos, places, 0)?, cx.gather(sin, places, 0)?);
    }
    let y = rotate(cx, by_heads, turned, cos, sin, node.flag("interleaved", false))?;
    Ok(vec![laid_as(cx, y, x)?])
}

/// Operands `x, position_ids, cos, sin`; positions for each place, or one to count from.
pub(super) fn rotary_embedding_microsoft(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, places, cos, sin) = (node.operand(0)?, node.operand(1)?, node.operand(2)?, node.operand(3)?);
    if node.float("scale", 1.0) != 1.0 {
        return Err(Fault::unsupported("a `scale` other than 1 is not supported"));
    }
    if node.flag("is_packed_batching", false) {
        return Err(Fault::unsupported("`is_packed_batching` is not supported"));
    }
    cx.expect_rank(cos, 2, "a cache of angles [places,R/2]")?;
    let turned = cx.dim(cos, 1) * Dim::from(2);
    let stated = node.int("rotary_embedding_dim", 0);
    if stated != 0 {
        cx.assert_equal(
            &turned,
            &Dim::from(stated),
            "the cache of angles must have half of rotary_embedding_dim",
        )?;
    }
    let by_heads = heads_of(cx, node, x, (stated == 0).then(|| turned.clone()))?;
    let places = match cx.rank(places) {
        2 => places,
        _ => {
            let start = cx.reshape(places, [1i64, 1])?;
            let start = cx.cast(start, DType::I64)?;
            let extent = cx.dim(by_heads, 1);
            let steps = cx.iota(DType::I64, [Dim::from(1), extent], 1)?;
            cx.add(start, steps)?
        }
    };
    let (cos, sin) = (cx.gather(cos, places, 0)?, cx.gather(sin, places, 0)?);
    let y = rotate(cx, by_heads, turned, cos, sin, node.flag("interleaved", false))?;
    Ok(vec![laid_as(cx, y, x)?])
}

/// `[B,L,H*D]` or `[B,H,L,D]` as `[B,L,H,D]`; `size` is a head's where the node does not say how many there are.
fn heads_of(cx: &mut Cx, node: &Node, x: Value, size: Option<Dim>) -> Outcome {
    let shape = cx.shape(x);
    match shape.rank() {
        4 => cx.transpose(x, &[0, 2, 1, 3]),
        3 => {
            let (heads, size) = match (node.int("num_heads", 0), size) {
                (heads, _) if heads > 0 => (Dim::from(heads), shape[2].floor_div(&Dim::from(heads))),
                (_, Some(size)) => (shape[2].floor_div(&size), size),
                _ => return Err(Fault::invalid("num_heads must be given for an operand of rank 3")),
            };
            cx.reshape(x, [shape[0].clone(), shape[1].clone(), heads, size])
        }
        _ => Err(Fault::from(format!("a tensor of rank 3 or 4 is expected, got {}", cx.ty(x)))),
    }
}

/// `[B,L,H,D]` in the form of `x`.
fn laid_as(cx: &mut Cx, y: Value, x: Value) -> Outcome {
    match cx.rank(x) {
        4 => cx.transpose(y, &[0, 2, 1, 3]),
        _ => {
            let shape = cx.shape(x);
            cx.reshape(y, shape)
        }
    }
}

/// Turns pairs among the first `turned` elements of each head of `x: [B,L,H,D]` by the angles of its place,
/// `cos` and `sin: [B|1,L,turned/2]`. Pairs stand side by side when interleaved, else half of the way apart.
pub(super) fn rotate(
    cx: &mut Cx,
    x: Value,
    turned: Dim,
    cos: Value,
    sin: Value,
    interleaved: bool,
) -> Outcome {
    let size = cx.dim(x, 3);
    let half = turned.floor_div(&Dim::from(2));
    let (cos, sin) = (cx.add_axes(cos, &[2])?, cx.add_axes(sin, &[2])?);
    let rest = cx.slice_axis(x, 3, turned.clone(), size.clone() - turned.clone())?;
    let part = cx.slice_axis(x, 3, Dim::from(0), turned)?;
    let (one, other) = if interleaved {
        let from = cx.shape(part);
        let paired: Shape = from[..3].iter().cloned().chain([half.clone(), Dim::from(2)]).collect();
        let paired = cx.reshape(part, paired)?;
        let one = cx.slice_axis(paired, 4, Dim::from(0), Dim::from(1))?;
        let other = cx.slice_axis(paired, 4, Dim::from(1), Dim::from(1))?;
        (cx.drop_axes(one, &[4])?, cx.drop_axes(other, &[4])?)
    } else {
        let one = cx.slice_axis(part, 3, Dim::from(0), half.clone())?;
        (one, cx.slice_axis(part, 3, half.clone(), half)?)
    };
    let (a, b) = (cx.mul(cos, one)?, cx.mul(sin, other)?);
    let real = cx.binary(ScalarOp::Sub, a, b)?;
    let (a, b) = (cx.mul(sin, one)?, cx.mul(cos, other)?);
    let imaginary = cx.add(a, b)?;
    let part_shape = cx.shape(part);
    let turned = if interleaved {
        let (real, imaginary) = (cx.add_axes(real, &[4])?, cx.add_axes(imaginary, &[4])?);
        let joined = cx.concat(&[real, imaginary], 4)?;
        cx.reshape(joined, part_shape)?
    } else {
        cx.concat(&[real, imaginary], 3)?
    };
    if cx.dim(rest, 3).is_const(0) { Ok(turned) } else { cx.concat(&[turned, rest], 3) }
}
