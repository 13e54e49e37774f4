//! Values whose shape before a loop's first round is another than after it. A variable that only the body sets has some
//! number in its place before, and a number becomes a list of one: where that is all, the values of every round have one
//! shape, and the first round must be done, so that the results have theirs.

use crate::onnx::cx::Cx;
use crate::onnx::fault::{Fault, Outcome};
use tegula_base::{Dim, Shape};
use tegula_ir::{OpId, Value};
use tegula_tensor::TensorType;

/// The carried values, by place, that enter with another shape.
#[derive(Default)]
pub(super) struct FirstRound {
    /// No round reads them; of which type they leave each.
    unread: Vec<(usize, TensorType)>,
    /// Single elements; in which shape they leave each round.
    single: Vec<(usize, Shape)>,
}

/// Whether shapes differ in sizes that are not known before the run, if at all.
fn may_be_alike(a: &Shape, b: &Shape) -> bool {
    let may_be = |(a, b): (&Dim, &Dim)| a == b || a.as_const().is_none() || b.as_const().is_none();
    a.rank() == b.rank() && a.iter().zip(b.iter()).all(may_be)
}

impl Cx<'_> {
    /// What carried value `i`, read as `inner`, is for the next round where this one leaves it as `value`.
    pub(super) fn carried_on(
        &mut self,
        i: usize,
        inner: Value,
        value: Value,
        first: &mut FirstRound,
    ) -> Outcome {
        let (entered, own) = (self.ty(inner).clone(), self.ty(value).clone());
        if entered.dtype != own.dtype || entered.shape == own.shape {
            return Ok(value);
        }
        let is_single = |shape: &Shape| shape.count().is_const(1);
        if may_be_alike(&own.shape, &entered.shape) {
            self.respelled(value, entered.shape, "a loop's value must keep its shape between rounds")
        } else if self.func.users(inner).is_empty() {
            self.func.set_type(inner, own.clone());
            first.unread.push((i, own));
            Ok(value)
        } else if is_single(&own.shape) && is_single(&entered.shape) {
            first.single.push((i, own.shape));
            self.reshape(value, entered.shape)
        } else {
            let (from, to) = (entered.shape, own.shape);
            Err(Fault::unsupported(format!(
                "a loop's value changes its shape from {from} to {to} between rounds"
            )))
        }
    }

    /// Lets what no round reads enter the loop as zeros.
    pub(super) fn start_alike(&mut self, op: OpId, first: &FirstRound) -> Outcome<()> {
        if first.unread.is_empty() {
            return Ok(());
        }
        for (i, ty) in &first.unread {
            let start = self.splat(ty.dtype, ty.shape.clone(), 0.0)?;
            self.func.set_operand(op, i + 1, start);
        }
        // The zeros were made behind the loop.
        let mut ops = self.func.ops_in(self.region).to_vec();
        if let Some(place) = ops.iter().position(|own| *own == op) {
            ops[place..].rotate_left(1);
            self.func.set_ops(self.region, ops);
        }
        Ok(())
    }

    /// Gives what the loop leaves the shapes of its rounds, of which there are `count`, at most `trip`.
    pub(super) fn end_alike(
        &mut self,
        first: &FirstRound,
        (count, trip): (Value, Dim),
        after: &mut [Value],
    ) -> Outcome<()> {
        if first.unread.is_empty() && first.single.is_empty() {
            return Ok(());
        }
        let count = self.size_or_bind(count, "rounds", trip)?;
        let message = "a loop's value has another shape before the first round, which must be done";
        self.assert_equal(&count.maximum(&Dim::from(1)), &count, message)?;
        for (i, shape) in &first.single {
            after[*i] = self.reshape(after[*i], shape.clone())?;
        }
        Ok(())
    }
}
