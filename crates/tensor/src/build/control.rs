//! Control flow: the regions are filled by closures, results come from what they yield.

use super::{Builder, Built};
use crate::{TensorOp, finish_region_op};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{RegionId, Value};

impl Builder<'_> {
    /// Ends the function.
    pub fn ret(&mut self, results: &[Value]) -> Built<()> {
        self.op(TensorOp::Return {}, results).map(|_| ())
    }

    /// Builds into another region, then comes back.
    pub fn within<T>(&mut self, region: RegionId, fill: impl FnOnce(&mut Builder) -> Built<T>) -> Built<T> {
        let outer = std::mem::replace(&mut self.region, region);
        let filled = fill(self);
        self.region = outer;
        filled
    }

    /// The branches give the values to yield, of equal types.
    pub fn branch(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder) -> Built<Vec<Value>>,
        otherwise: impl FnOnce(&mut Builder) -> Built<Vec<Value>>,
    ) -> Built<Vec<Value>> {
        let op = self.op(TensorOp::If {}, &[condition])?;
        let [first, second] = [self.func.regions_of(op)[0], self.func.regions_of(op)[1]];
        self.within(first, |b| {
            let values = then(b)?;
            b.op(TensorOp::Yield {}, &values)
        })?;
        self.within(second, |b| {
            let values = otherwise(b)?;
            b.op(TensorOp::Yield {}, &values)
        })?;
        finish_region_op(self.func, op)
    }

    /// At most `trip` rounds while the condition holds. `body` gets the iteration and what is carried, and gives
    /// `go, carried..., stacked...`. Results: rounds done, carried..., stacked....
    pub fn repeat(
        &mut self,
        trip: impl Into<Dim>,
        go: Value,
        carried: &[Value],
        stacked: usize,
        body: impl FnOnce(&mut Builder, Value, &[Value]) -> Built<Vec<Value>>,
    ) -> Built<Vec<Value>> {
        let operands: Vec<Value> = std::iter::once(go).chain(carried.iter().copied()).collect();
        let op = self.op(TensorOp::Loop { trip: trip.into(), stacked }, &operands)?;
        let region = self.func.regions_of(op)[0];
        let types: Vec<_> = carried.iter().map(|value| self.ty(*value).clone()).collect();
        self.within(region, |b| {
            let iteration = b.arg(DType::I64, Shape::scalar());
            let inner: Vec<Value> = types.into_iter().map(|ty| b.func.add_arg(region, ty)).collect();
            let values = body(b, iteration, &inner)?;
            b.op(TensorOp::Yield {}, &values)
        })?;
        finish_region_op(self.func, op)
    }

    /// From here on the size symbol has the value of an `i64` scalar. The program's symbols must list it.
    pub fn bind(&mut self, symbol: &str, value: Value) -> Built<()> {
        self.op(TensorOp::Bind { symbol: symbol.into() }, &[value]).map(|_| ())
    }

    /// Nothing when the sizes are equal as expressions.
    pub fn assert_size(&mut self, left: &Dim, right: &Dim, message: impl Into<String>) -> Built<()> {
        if left == right {
            return Ok(());
        }
        let (left, right) = (left.clone(), right.clone());
        self.op(TensorOp::AssertSize { left, right, message: message.into() }, &[]).map(|_| ())
    }
}
