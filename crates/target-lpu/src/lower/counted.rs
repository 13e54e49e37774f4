//! Numbers that grow by the same from trip to trip: places in a sequence. The host's program has them as integers of 64 bits.

use std::ops::RangeInclusive;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{TensorFunc, TensorOp};

/// `scale * trip + offset`, where trips count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) scale: i64,
    pub(crate) offset: i64,
}

impl Counted {
    /// The number of the trip.
    pub(crate) const TRIP: Counted = Counted { scale: 1, offset: 0 };

    /// The least and the greatest number of so many trips. None: they leave 32 bits.
    pub(crate) fn range(self, trips: u32) -> Option<RangeInclusive<u32>> {
        let last = self.scale.checked_mul(i64::from(trips.saturating_sub(1)))?.checked_add(self.offset)?;
        let bound = |x: i64| u32::try_from(x).ok();
        Some(bound(self.offset.min(last))?..=bound(self.offset.max(last))?)
    }

    /// What an op gives on numbers of trips that are `known`, and constants. None: no such number.
    pub(crate) fn of(
        func: &TensorFunc,
        op: OpId,
        known: &dyn Fn(Value) -> Option<Counted>,
    ) -> Option<Counted> {
        let operand = |i: usize| {
            let value = func.operand(op, i);
            known(value).or_else(|| Some(Counted { scale: 0, offset: number(func, value)? }))
        };
        let is_one = |value: &Value| func.ty(*value).shape.iter().all(|dim| dim.is_const(1));
        let values = func.operands(op).iter().chain(func.results(op));
        let is_counted = func.operands(op).iter().any(|value| known(*value).is_some());
        if !is_counted
            || !values.clone().all(is_one)
            || !values.clone().all(|value| func.ty(*value).dtype.is_int())
        {
            return None;
        }
        let both = |f: &dyn Fn(i64, i64) -> Option<i64>| {
            let (a, b) = (operand(0)?, operand(1)?);
            Some(Counted { scale: f(a.scale, b.scale)?, offset: f(a.offset, b.offset)? })
        };
        match func.kind(op) {
            TensorOp::Reshape { .. } | TensorOp::Elementwise { f: ScalarOp::Cast { .. } } => operand(0),
            TensorOp::Elementwise { f: ScalarOp::Add } => both(&i64::checked_add),
            TensorOp::Elementwise { f: ScalarOp::Sub } => both(&i64::checked_sub),
            _ => None,
        }
    }
}

/// The integer that all elements of a constant are.
fn number(func: &TensorFunc, value: Value) -> Option<i64> {
    match func.kind(func.def_op(value)?) {
        TensorOp::Splat { dtype, bits, .. } => match dtype.size() {
            8 => Some(*bits),
            4 => Some(i64::from(*bits as i32)),
            _ => None,
        },
        _ => None,
    }
}
