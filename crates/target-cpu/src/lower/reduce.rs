//! Reductions and scans: across pieces by lane ops, across lanes by a tree.
//!
//! The order of combination is a function of the tile's shape and the lane count only.

use super::Lower;
use crate::math;
use crate::schedule::{Builder, CompareOp, Elem, ReduceOp, VecOp};
use tegula_base::DType;
use tegula_ir::scalar::eval::identity;
use tegula_ir::{OpId, ScalarOp, Value};

/// Independent combinations of a long reduction: hide the latency of an addition (4 cycles) on one unit.
const CHAINS: i64 = 4;

impl Lower<'_> {
    pub fn reduced_piece(
        &mut self,
        b: &mut Builder,
        op: OpId,
        f: ScalarOp,
        axis: usize,
        piece: u32,
    ) -> Value {
        let operand = self.func.operand(op, 0);
        let dtype = self.tile(operand).0;
        let (from, to) = (self.geometry(operand), self.geometry(self.func.result(op)));
        let mut at = to.start(piece);
        let across_lanes = axis + 1 == at.len() && !from.is_splat();
        let stride = if across_lanes { i64::from(self.lanes) } else { 1 };
        let extent = from.shape()[axis];
        let steps = (extent + stride - 1) / stride;
        let n_chains = if steps >= 2 * CHAINS { CHAINS } else { 1 };
        let mut chains: Vec<Value> = Vec::new();
        for i in 0..steps {
            at[axis] = i * stride;
            let part = from.locate(&at).0;
            let mut value = self.piece(b, operand, part);
            if across_lanes {
                value = self.masked(b, dtype, value, from.active(part), unit(f, dtype));
            }
            match chains.get_mut((i % n_chains) as usize) {
                Some(sum) => *sum = math::expand(b, f, &[dtype, dtype], &[*sum, value]),
                None => chains.push(value),
            }
        }
        let sum = chains.into_iter().reduce(|a, c| math::expand(b, f, &[dtype, dtype], &[a, c]));
        let sum = sum.expect("invariant: extents are at least 1");
        if across_lanes { self.reduce_lanes(b, f, dtype, sum) } else { sum }
    }

    /// All lanes combined, in every lane.
    fn reduce_lanes(&mut self, b: &mut Builder, f: ScalarOp, dtype: DType, piece: Value) -> Value {
        if let Some(op) = lane_reduction(f, dtype) {
            let lanes = self.lanes_of_piece(b, dtype, piece);
            let reduced = b.reduce(op, lanes);
            return self.piece_of_lanes(b, dtype, reduced);
        }
        if dtype.is_float()
            && let Some(op) = order_reduction(f)
        {
            return self.reduce_order(b, op, piece);
        }
        let mut sum = piece;
        let mut distance = self.lanes / 2;
        while distance > 0 {
            let lanes = self.lanes_of_piece(b, dtype, sum);
            let picks = (0..self.lanes).map(|lane| lane ^ distance).collect();
            let other = b.shuffle(lanes, lanes, picks);
            let other = self.piece_of_lanes(b, dtype, other);
            sum = math::expand(b, f, &[dtype, dtype], &[sum, other]);
            distance /= 2;
        }
        sum
    }

    /// The least or greatest of float lanes, NaN if any is NaN, -0 below +0: as integers in the same order, so
    /// that the steps across lanes are one op each.
    /// Method: below 0 all bits but the sign are flipped; NaN becomes the integer that wins.
    fn reduce_order(&mut self, b: &mut Builder, op: ReduceOp, piece: Value) -> Value {
        let (elem, lanes) = b.shape(piece);
        let (ints, greatest) =
            if elem == Elem::F64 { (Elem::I64, i64::MAX) } else { (Elem::I32, i32::MAX.into()) };
        let number = b.compare(CompareOp::Eq, piece, piece);
        let bits = b.bitcast(ints, piece);
        let key = flip_below_zero(b, bits, greatest);
        let nan = b.vec_const(ints, lanes, if op == ReduceOp::Max { greatest } else { !greatest });
        let key = b.select(number, key, nan);
        let key = b.reduce(op, key);
        let bits = flip_below_zero(b, key, greatest);
        b.bitcast(elem, bits)
    }

    /// Makes all pieces of a scan.
    pub fn scan(&mut self, b: &mut Builder, op: OpId, f: ScalarOp, axis: usize, reverse: bool) {
        let (operand, tile) = (self.func.operand(op, 0), self.func.result(op));
        let dtype = self.tile(operand).0;
        let geometry = self.geometry(operand);
        let across_lanes = axis + 1 == geometry.shape().len() && !geometry.is_splat();
        let step = if across_lanes { i64::from(self.lanes) } else { 1 };
        let extent = geometry.shape()[axis];
        let steps = (extent + step - 1) / step;
        for piece in 0..geometry.pieces() {
            // The first piece of every line along the axis starts it.
            let mut at = geometry.start(piece);
            if at[axis] != 0 {
                continue;
            }
            let mut carry: Option<Value> = None;
            for i in 0..steps {
                at[axis] = step * if reverse { steps - 1 - i } else { i };
                let part = geometry.locate(&at).0;
                let mut value = self.piece(b, operand, part);
                if across_lanes {
                    value = self.masked(b, dtype, value, geometry.active(part), unit(f, dtype));
                    value = self.scan_lanes(b, f, dtype, value, reverse);
                }
                let value = match carry {
                    Some(carry) => math::expand(b, f, &[dtype, dtype], &[carry, value]),
                    None => value,
                };
                self.bind_piece(tile, part, value);
                carry = Some(match across_lanes {
                    true => {
                        let end = if reverse { 0 } else { self.lanes - 1 };
                        self.spread_lane(b, dtype, value, end)
                    }
                    false => value,
                });
            }
        }
    }

    /// The running combination within a register: log2(lanes) rounds, each adding the lane `distance` before.
    fn scan_lanes(
        &mut self,
        b: &mut Builder,
        f: ScalarOp,
        dtype: DType,
        piece: Value,
        reverse: bool,
    ) -> Value {
        let lanes = self.lanes;
        let neutral = self.constant(b, dtype, unit(f, dtype));
        let neutral = self.lanes_of_piece(b, dtype, neutral);
        let (mut sum, mut distance) = (piece, 1);
        while distance < lanes {
            let picks = (0..lanes).map(|lane| match reverse {
                false if lane >= distance => lane - distance,
                true if lane + distance < lanes => lane + distance,
                _ => lanes + lane,
            });
            let from = self.lanes_of_piece(b, dtype, sum);
            let before = b.shuffle(from, neutral, picks.collect());
            let before = self.piece_of_lanes(b, dtype, before);
            sum = math::expand(b, f, &[dtype, dtype], &[before, sum]);
            distance *= 2;
        }
        sum
    }
}

/// Flips all bits but the sign of integers below 0; its own inverse.
fn flip_below_zero(b: &mut Builder, value: Value, greatest: i64) -> Value {
    let (elem, lanes) = b.shape(value);
    let width = b.vec_const(elem, lanes, 8 * elem.bytes() as i64 - 1);
    let sign = b.vec(VecOp::Sar, &[value, width]);
    let magnitude = b.vec_const(elem, lanes, greatest);
    let flip = b.vec(VecOp::And, &[sign, magnitude]);
    b.vec(VecOp::Xor, &[value, flip])
}

fn order_reduction(f: ScalarOp) -> Option<ReduceOp> {
    match f {
        ScalarOp::Min => Some(ReduceOp::Min),
        ScalarOp::Max => Some(ReduceOp::Max),
        _ => None,
    }
}

/// Bits that leave the other operand as it is.
fn unit(f: ScalarOp, dtype: DType) -> i64 {
    let bits = match (f, dtype) {
        (ScalarOp::And | ScalarOp::Min, DType::Bool) => Some(1),
        (ScalarOp::Or | ScalarOp::Xor | ScalarOp::Max, DType::Bool) => Some(0),
        _ => identity(f, dtype),
    };
    bits.expect("invariant: tiles are reduced by operations that have an identity") as i64
}

/// The lane reduction that means the same on every input; `min` and `max` of floats (NaN, signed zeros) and
/// types narrower than their lanes have none.
fn lane_reduction(f: ScalarOp, dtype: DType) -> Option<ReduceOp> {
    let wide_int = matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64);
    let unsigned = matches!(dtype, DType::U32 | DType::U64);
    Some(match f {
        ScalarOp::Add if wide_int || matches!(dtype, DType::F32 | DType::F64) => ReduceOp::Add,
        ScalarOp::Mul if wide_int || matches!(dtype, DType::F32 | DType::F64) => ReduceOp::Mul,
        ScalarOp::And if !dtype.is_float() => ReduceOp::And,
        ScalarOp::Or if !dtype.is_float() => ReduceOp::Or,
        ScalarOp::Xor if !dtype.is_float() => ReduceOp::Xor,
        ScalarOp::Min if dtype == DType::Bool => ReduceOp::And,
        ScalarOp::Max if dtype == DType::Bool => ReduceOp::Or,
        ScalarOp::Min if unsigned => ReduceOp::MinU,
        ScalarOp::Max if unsigned => ReduceOp::MaxU,
        ScalarOp::Min if !dtype.is_float() => ReduceOp::Min,
        ScalarOp::Max if !dtype.is_float() => ReduceOp::Max,
        _ => return None,
    })
}
