//! What a contraction's own kernel computes of its operands, on their way to the product: weights stored in few bits
//! become factors there, and memory is read once, in those bits.
//!
//! ```text
//! bytes ─► and, shift, cast, sub, mul by a scale a group ─► reshape ─► dot
//! └──────────────── the prologue's ops ────────────────┘
//! ```
//! A prologue's ops compute any box of whole powers of two from boxes of their buffers (`access/reshape.rs`): its
//! reshapes only cut axes into powers of two and join such cuts.

use crate::access::groups;
use crate::{Prologue, TileMachine};
use tegula_base::{DType, Dim, Shape, Symbols};
use tegula_ir::{Def, OpId, RegionId, ScalarOp, Value};
use tegula_tensor::{TensorFunc, TensorOp};

/// The prologue of a contraction.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub prologue: Prologue,
    /// All ops between buffers and the contraction, operands before users.
    pub ops: Vec<OpId>,
    /// The buffers of the left and the right side that have as many numbers as the side has elements.
    pub stored: [Value; 2],
    /// The factors of block scales, left and right.
    pub scales: Option<[Scale; 2]>,
}

/// What the elements of a side are multiplied by.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub value: Value,
    /// The side's shapes, from the contraction up to that of the product with the scale.
    pub shapes: Vec<Shape>,
}

/// The prologue that the target takes; `None` where operands are read as they are.
pub(crate) fn of_dot(
    func: &TensorFunc,
    dot: OpId,
    symbols: &Symbols,
    machine: &dyn TileMachine,
) -> Option<Found> {
    let found = unpacked(func, dot, symbols).or_else(|| scaled(func, dot, symbols))?;
    let sides = func.operands(dot).iter();
    if !sides.into_iter().all(|side| boxes_stay_boxes(func, *side, &found.ops, symbols)) {
        return None;
    }
    machine.facts().contractions.takes(found.prologue).then_some(found)
}

/// A right side of halves that comes from integers of 8 or 4 bits.
fn unpacked(func: &TensorFunc, dot: OpId, symbols: &Symbols) -> Option<Found> {
    let TensorOp::Dot { .. } = func.kind(dot) else { return None };
    let [x, w] = *func.operands(dot) else { return None };
    let to = func.ty(w).dtype;
    if !matches!(to, DType::BF16 | DType::F16) || func.ty(x).dtype != to {
        return None;
    }
    let chain = Chain::above(func, w, func.parent(dot)?, symbols);
    let count = symbols.in_units(&func.ty(w).shape.count());
    let stored = chain.only_wide(func, symbols, &count)?;
    if !matches!(func.ty(stored).dtype, DType::I8 | DType::U8) {
        return None;
    }
    let bits = match symbols.in_units(&func.ty(stored).shape.count()) == count {
        true => 8,
        false => 4,
    };
    let prologue = Prologue::Unpack { bits, to };
    (!chain.ops.is_empty()).then_some(Found { prologue, ops: chain.ops, stored: [x, stored], scales: None })
}

/// Sides of 8-bit floats times a factor for each row, or columns, and a run of k: sums of a run are products of bytes.
fn scaled(func: &TensorFunc, dot: OpId, symbols: &Symbols) -> Option<Found> {
    let TensorOp::Dot { dims, out: DType::F32, .. } = func.kind(dot) else { return None };
    let last = dims.lhs_batch.len() + 1;
    if dims.lhs_contract != [last] || dims.rhs_contract != [last] {
        return None;
    }
    let region = func.parent(dot)?;
    let [x, w] = *func.operands(dot) else { return None };
    let (left, steps) = scaled_side(func, x, symbols)?;
    let (right, other) = scaled_side(func, w, symbols)?;
    let of = func.ty(left.0).dtype;
    // Rows of the left side come in any number.
    let rows_alone = left.1.shapes.iter().all(|shape| shape[..last] == func.ty(x).shape[..last]);
    if steps != other || of != func.ty(right.0).dtype || !rows_alone {
        return None;
    }
    let mut chain = Chain::above(func, x, region, symbols);
    chain.visit(func, w, region, symbols);
    let prologue = Prologue::BlockScales { of, steps };
    Some(Found { prologue, ops: chain.ops, stored: [left.0, right.0], scales: Some([left.1, right.1]) })
}

/// The bytes of a side and its scale, and how many steps of k share one.
fn scaled_side(func: &TensorFunc, side: Value, symbols: &Symbols) -> Option<((Value, Scale), i64)> {
    let shape = &func.ty(side).shape;
    let mut shapes = vec![shape.clone()];
    let mut value = side;
    let product = loop {
        let op = func.def_op(value)?;
        match func.kind(op) {
            TensorOp::Reshape { .. } if is_computed(func, op, symbols) => {
                value = func.operand(op, 0);
                shapes.push(func.ty(value).shape.clone());
            }
            TensorOp::Elementwise { f: ScalarOp::Mul } => break op,
            _ => return None,
        }
    };
    let bytes = |value: Value| {
        let found = stored_bytes(func, value, symbols)?;
        (func.ty(found).shape == *shape).then_some(found)
    };
    let [a, b] = *func.operands(product) else { return None };
    let (stored, scale) = match (bytes(a), bytes(b)) {
        (Some(stored), None) => (stored, b),
        (None, Some(stored)) => (stored, a),
        _ => return None,
    };
    let (steps, one) = (func.ty(value).shape.iter().next_back()?, func.ty(scale).shape.iter().next_back()?);
    let steps = steps.as_const().filter(|n| one.is_const(1) && *n > 1 && (*n as u64).is_power_of_two())?;
    Some(((stored, Scale { value: scale, shapes }), steps))
}

/// The 8-bit floats that a value is, as `f32` and perhaps of another shape.
fn stored_bytes(func: &TensorFunc, mut value: Value, symbols: &Symbols) -> Option<Value> {
    while !matches!(func.ty(value).dtype, DType::F8E4M3FN | DType::F8E5M2) {
        let op = func.def_op(value)?;
        match func.kind(op) {
            TensorOp::Reshape { .. } if is_computed(func, op, symbols) => {}
            TensorOp::Elementwise { f: ScalarOp::Cast { to: DType::F32, .. } } => {}
            _ => return None,
        }
        value = func.operand(op, 0);
    }
    // A byte's own reshapes.
    while let Some(op) = func.def_op(value)
        && matches!(func.kind(op), TensorOp::Reshape { .. })
        && is_computed(func, op, symbols)
    {
        value = func.operand(op, 0);
    }
    Some(value)
}

/// A value's ops up to the buffers from which a kernel computes it.
struct Chain {
    ops: Vec<OpId>,
    buffers: Vec<Value>,
}

impl Chain {
    fn above(func: &TensorFunc, value: Value, region: RegionId, symbols: &Symbols) -> Chain {
        let mut chain = Chain { ops: Vec::new(), buffers: Vec::new() };
        chain.visit(func, value, region, symbols);
        chain
    }

    fn visit(&mut self, func: &TensorFunc, value: Value, region: RegionId, symbols: &Symbols) {
        match func.def(value) {
            Def::Result(op, _) if func.parent(op) == Some(region) && is_computed(func, op, symbols) => {
                if self.ops.contains(&op) {
                    return;
                }
                func.operands(op).iter().for_each(|operand| self.visit(func, *operand, region, symbols));
                self.ops.push(op);
            }
            _ if !self.buffers.contains(&value) => self.buffers.push(value),
            _ => {}
        }
    }

    /// The one buffer that has a number for each of `count` elements, or a byte for two.
    fn only_wide(&self, func: &TensorFunc, symbols: &Symbols, count: &Dim) -> Option<Value> {
        let numbers = |value: &Value| symbols.in_units(&func.ty(*value).shape.count());
        let is_wide = |value: &&Value| {
            let own = numbers(value);
            let byte = func.ty(**value).dtype.bits() == 8;
            own == *count || byte && own * Dim::from(2) == *count
        };
        let mut wide = self.buffers.iter().filter(is_wide);
        let (only, more) = (*wide.next()?, wide.next());
        more.is_none().then_some(only)
    }
}

/// Whether boxes of the op's result come from boxes of its operands.
fn is_computed(func: &TensorFunc, op: OpId, symbols: &Symbols) -> bool {
    match func.kind(op) {
        TensorOp::Splat { .. }
        | TensorOp::Iota { .. }
        | TensorOp::Broadcast { .. }
        | TensorOp::Transpose { .. } => true,
        TensorOp::Elementwise { f } => !matches!(f, ScalarOp::Div | ScalarOp::Rem | ScalarOp::Mod),
        TensorOp::Slice { starts, steps, .. } => {
            starts.iter().all(|start| start.is_const(0)) && steps.iter().all(|step| *step == 1)
        }
        TensorOp::Reshape { .. } => {
            let [from, to] = [func.operand(op, 0), func.result(op)].map(|value| &func.ty(value).shape);
            cuts_powers(from, to, symbols)
        }
        _ => false,
    }
}

/// Whether no reshape on the way joins several axes of the side with each other: a tile is some of each, and such are no
/// box of what was reshaped.
fn boxes_stay_boxes(func: &TensorFunc, side: Value, ops: &[OpId], symbols: &Symbols) -> bool {
    // Which axis of the side each axis of a value is a part of.
    let own: Vec<usize> = (0..func.ty(side).rank()).collect();
    let mut ways = vec![(side, own)];
    let mut next = 0;
    while let Some((value, parts)) = ways.get(next).cloned() {
        next += 1;
        let Some(op) = func.def_op(value).filter(|op| ops.contains(op)) else { continue };
        let mut before = parts.clone();
        match func.kind(op) {
            TensorOp::Reshape { shape } => {
                let from = &func.ty(func.operand(op, 0)).shape;
                let Some(groups) = groups(from, shape, Some(symbols)) else { return false };
                before = vec![0; from.rank()];
                for (left, right) in groups {
                    let wide = |axis: &usize| !shape[*axis].is_const(1);
                    let mut of = right.filter(wide).map(|axis| parts[axis]);
                    let Some(part) = of.next() else { continue };
                    if of.any(|other| other != part) {
                        return false;
                    }
                    before[left].fill(part);
                }
            }
            TensorOp::Transpose { perm } => {
                perm.iter().zip(&parts).for_each(|(axis, part)| before[*axis] = *part);
            }
            _ => {}
        }
        for operand in func.operands(op) {
            let way = (*operand, before.clone());
            if func.ty(*operand).rank() == before.len() && !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    true
}

/// Whether a reshape only cuts axes, and joins cuts, whose inner parts are powers of two.
fn cuts_powers(from: &Shape, to: &Shape, symbols: &Symbols) -> bool {
    let power = |dim: &Dim| dim.as_const().is_some_and(|n| n > 0 && (n as u64).is_power_of_two());
    let inner_powers = |dims: &[Dim]| dims.iter().filter(|dim| !dim.is_const(1)).skip(1).all(power);
    groups(from, to, Some(symbols)).is_some_and(|groups| {
        groups.iter().all(|(left, right)| {
            left.len().max(right.len()) <= 1
                || inner_powers(&from[left.clone()]) && inner_powers(&to[right.clone()])
        })
    })
}
