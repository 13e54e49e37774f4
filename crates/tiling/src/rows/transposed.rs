//! Kernels that move a buffer to another innermost axis.

use super::gathers;
use crate::body::Body;
use tegula_base::{Dim, HashSet, Shape};
use tegula_ir::Value;
use tegula_tensor::TensorOp;
use tegula_tensor::layout::Physical;

/// How a kernel transposes a buffer.
pub(super) struct Transposed {
    /// The axis along which the buffer's elements are neighbours.
    pub column: usize,
    /// The innermost axis is long enough for squares of both.
    pub is_square: bool,
    pub side: i64,
}

impl Transposed {
    /// `innermost` is the axis along which results are stored; `side` that of the target's squares.
    pub fn find(body: &Body, space: &Shape, innermost: Option<usize>, side: i64) -> Option<Transposed> {
        let column = transposed_axis(body, space, innermost, side)?;
        let is_square = innermost.is_some_and(|axis| is_long(&space[axis], side));
        Some(Transposed { side, column, is_square })
    }
}

/// Whether an extent fills the side of a square; one that is not known is taken to.
fn is_long(extent: &Dim, side: i64) -> bool {
    extent.as_const().is_none_or(|n| n >= side)
}

/// Of a kernel that transposes a buffer and reduces nothing: the axis along which the buffer's elements are neighbours.
/// None where that is the innermost axis, or short.
fn transposed_axis(body: &Body, space: &Shape, innermost: Option<usize>, side: i64) -> Option<usize> {
    if !body.reduces().is_empty() || gathers(body) {
        return None;
    }
    let transposed = |(value, perm): (Value, &[usize])| {
        let source = body.func.ty(buffer_behind(body, value)?);
        let layout = source.layout_or_default().0;
        let last = layout.iter().rev().find_map(|dim| match dim {
            Physical::Axis(axis) if source.shape[*axis].is_const(1) => None,
            Physical::Axis(axis) => Some(Some(*axis)),
            Physical::Outer { .. } | Physical::Inner { .. } => Some(None),
        });
        let column = perm.iter().position(|axis| Some(*axis) == last.flatten())?;
        let is_whole = perm.iter().map(|axis| &source.shape[*axis]).eq(space.iter());
        (is_whole && Some(column) != innermost && is_long(&space[column], side)).then_some(column)
    };
    let transposes = body.func.walk().into_iter().filter_map(|op| match body.func.kind(op) {
        TensorOp::Transpose { perm } => Some((body.func.operand(op, 0), perm.as_slice())),
        _ => None,
    });
    let axes: Vec<usize> = (0..space.rank()).collect();
    let in_place = body.results.iter().map(|result| (*result, axes.as_slice()));
    transposes.chain(in_place).find_map(transposed)
}

/// The first buffer of a value's shape that it is computed from, element by element.
fn buffer_behind(body: &Body, value: Value) -> Option<Value> {
    let mut met = HashSet::default();
    let mut next = vec![value];
    while let Some(value) = next.pop() {
        let Some(op) = body.func.def_op(value) else { return Some(value) };
        if let TensorOp::Elementwise { .. } | TensorOp::Relayout { .. } = body.func.kind(op)
            && met.insert(value)
        {
            let operands = body.func.operands(op).iter().rev();
            next.extend(operands.filter(|own| body.shape(**own) == body.shape(value)));
        }
    }
    None
}
