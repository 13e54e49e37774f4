//! Loops: the flows of one trip, whose carried tensors are states in memory.
//!
//! Before: a loop that is claimed.  After: its flows repeat; carried tensors lie where they lay before the first trip.
//! The number of the trip is a state too. It chooses the row that a trip reads of a sequence, and the row that it writes.
//! Method: states are copies of what comes in. A trip computes from them, and overwrites them at its end, when nothing reads
//! the old ones any more. So nothing differs between trips but what lies in memory.

use super::alu::{Chain, int};
use super::{Counted, Lower, Lowered, Tensor, rows_apart, vectors};
use crate::flow::{Access, Kind, Loops, Repeat, Source, ValueId};
use std::collections::BTreeMap;
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Element, Number};
use tegula_tensor::{TensorOp, TensorProgram};

/// The repeat at hand.
pub(super) struct Trips {
    count: u32,
    /// The number of the trip, in lane 0.
    number: ValueId,
    /// Numbers of vectors that rows lie behind the first, in this trip.
    indices: BTreeMap<(i64, i64), ValueId>,
}

impl Lower<'_> {
    pub(super) fn repeat(
        &mut self,
        op: OpId,
        program: &TensorProgram,
        wanted: &[bool],
    ) -> Result<(), String> {
        let func = self.func;
        let TensorOp::Loop { trip, stacked } = func.kind(op) else { return Err("it is no loop".to_string()) };
        let trips = trip.as_const().and_then(|trips| u32::try_from(trips).ok());
        let trips = trips.filter(|trips| *trips > 0).ok_or("its number of trips is open")?;
        let region = func.regions_of(op)[0];
        let yields = func.terminator(region).map(|end| func.operands(end).to_vec()).ok_or("it has no end")?;
        let (args, results) = (func.args(region).to_vec(), func.results(op).to_vec());
        let states =
            func.operands(op)[1..].iter().map(|value| self.tensor(*value).map(|own| self.state(own)));
        let states = states.collect::<Result<Vec<Tensor>, String>>()?;
        let number = self.splat(0);
        let number = self.state(Tensor { value: number, shape: vec![1], dtype: DType::I32 });
        for (arg, state) in args[1..].iter().zip(&states) {
            self.values.insert(*arg, Lowered::Computed(state.clone()));
        }
        self.values.insert(args[0], Lowered::Counted(Counted::TRIP));
        let of_stacks = results[results.len() - stacked..].to_vec();
        let stacks =
            of_stacks.iter().map(|value| self.stack(*value)).collect::<Result<Vec<Tensor>, String>>()?;
        let first = self.program.flows.len();
        self.trips = Some(Trips { count: trips, number: number.value, indices: BTreeMap::new() });
        self.ops(region, program, wanted)?;
        let (carried, rows) = yields[1..].split_at(states.len());
        for (row, stack) in rows.iter().zip(&stacks) {
            self.write_row(*row, stack)?;
        }
        self.carry(carried, &states)?;
        self.copy(AluOp::Add(Number::I32), number.value, Some(1), number.value);
        self.trips = None;
        let states: Vec<Tensor> = states.into_iter().chain([number]).collect();
        let own = states.iter().map(|state| state.value).collect();
        self.program.repeats.push(Repeat { flows: first..self.program.flows.len(), trips, states: own });
        // What was laid out of a state was so for one trip.
        self.laid.retain(|(value, _), _| states.iter().all(|state| state.value != *value));
        for (result, tensor) in results[1..].iter().zip(states.iter().take(carried.len()).chain(&stacks)) {
            self.values.insert(*result, Lowered::Computed(tensor.clone()));
        }
        Ok(())
    }

    /// A state that is a tensor at first.
    fn state(&mut self, tensor: Tensor) -> Tensor {
        let own = self.program.value(tensor.value);
        let (element, vectors) = (own.element, vectors(&tensor.shape, self.lanes()));
        self.op_name = "state";
        let value = self.fresh(element, vectors, false);
        self.copy(AluOp::Move, tensor.value, None, value);
        Tensor { value, ..tensor }
    }

    /// Rows that trips write, one behind the other: 0 before.
    fn stack(&mut self, result: Value) -> Result<Tensor, String> {
        let (shape, dtype) = (rows_apart(&self.shape(result)?), self.func.ty(result).dtype);
        let vectors = vectors(&shape, self.lanes());
        self.op_name = "stack";
        let value = self.fresh(if dtype.is_float() { Element::F32 } else { Element::I32 }, vectors, false);
        self.program.values[value.0 as usize].indexed = true;
        let zero = Source::Vector(Access::fixed(self.splat(0), 0, 1));
        let kind = Kind::alu(AluOp::Move, [zero].into_iter().collect());
        self.flow(&[vectors], kind, Access::dense(value, 0, &[vectors]));
        Ok(Tensor { value, shape, dtype })
    }

    /// Each vector of a value with a number, or alone, as that of another.
    fn copy(&mut self, op: AluOp, from: ValueId, number: Option<u32>, to: ValueId) {
        let loops = [self.program.value(to).vectors];
        let from = Source::Vector(Access::dense(from, 0, &loops));
        let operands = [from].into_iter().chain(number.map(Source::Immediate)).collect();
        self.flow(&loops, Kind::alu(op, operands), Access::dense(to, 0, &loops));
    }

    /// States become what the next trip starts with, all at once: one that becomes another is put aside first.
    fn carry(&mut self, carried: &[Value], states: &[Tensor]) -> Result<(), String> {
        let mut next = Vec::new();
        for (value, state) in carried.iter().zip(states) {
            let tensor = self.tensor(*value)?;
            let tensor = self.laid_as(tensor, &state.shape);
            let is_other = |other: &Tensor| other.value == tensor.value && other.value != state.value;
            next.push(if states.iter().any(is_other) { self.state(tensor).value } else { tensor.value });
        }
        for (value, state) in next.into_iter().zip(states).filter(|(value, state)| *value != state.value) {
            self.op_name = "state";
            self.copy(AluOp::Move, value, None, state.value);
        }
        Ok(())
    }

    /// A row of a sequence that the number of the trip chooses. None: the op is none such.
    pub(super) fn chosen_row(&mut self, op: OpId) -> Result<Option<Tensor>, String> {
        let TensorOp::Gather { axis: 0 } = self.func.kind(op) else { return Ok(None) };
        let Some(Lowered::Counted(number)) = self.values.get(&self.func.operand(op, 1)) else {
            return Ok(None);
        };
        let (number, data) = (*number, self.func.operand(op, 0));
        let shape = rows_apart(&self.shape(data)?);
        let (tensor, dtype) = (self.tensor(data)?, self.func.ty(data).dtype);
        let tensor = self.laid_as(tensor, &shape);
        self.program.values[tensor.value.0 as usize].indexed = true;
        let vectors = vectors(&shape[1..], self.lanes());
        let (index, count) = self.index(number, vectors)?;
        let value = self.fresh(self.program.value(tensor.value).element, vectors, false);
        let from = Access::dense(tensor.value, 0, &[vectors]);
        let kind = Kind::Gather { index: Access::fixed(index, 0, 1), from, count };
        self.flow(&[vectors], kind, Access::dense(value, 0, &[vectors]));
        Ok(Some(Tensor { value, shape: shape[1..].to_vec(), dtype }))
    }

    /// Writes the row of this trip.
    fn write_row(&mut self, row: Value, stack: &Tensor) -> Result<(), String> {
        let tensor = self.tensor(row)?;
        let tensor = self.laid_as(tensor, &stack.shape[1..]);
        let vectors = vectors(&tensor.shape, self.lanes());
        let (index, count) = self.index(Counted::TRIP, vectors)?;
        let from = Access::dense(tensor.value, 0, &[vectors]);
        let kind = Kind::Scatter { index: Access::fixed(index, 0, 1), from, count };
        let loops: Loops = [vectors].into_iter().collect();
        self.flow(&loops, kind, Access::dense(stack.value, 0, &loops));
        Ok(())
    }

    /// How many vectors the row of a number lies behind row 0, in lane 0; and how many places that may be over all trips.
    fn index(&mut self, number: Counted, vectors: u32) -> Result<(ValueId, u32), String> {
        let wide = i64::from(vectors);
        let Counted { scale, offset } = Counted { scale: number.scale * wide, offset: number.offset * wide };
        let trips = self.trips.as_ref().ok_or("a row is chosen outside of a loop")?;
        let last =
            *Counted { scale, offset }.range(trips.count).ok_or("a place is no number of 32 bits")?.end();
        let count = last + 1;
        if let Some(known) = trips.indices.get(&(scale, offset)) {
            return Ok((*known, count));
        }
        let number = Tensor { value: trips.number, shape: vec![1], dtype: DType::I32 };
        let factor =
            |x: i64| i32::try_from(x).map(int).map_err(|_| "a place is no number of 32 bits".to_string());
        let (scale_of, offset_of) = (factor(scale)?, factor(offset)?);
        self.op_name = "index";
        let mut chain = Chain::over(self, &[1]);
        let mut index = chain.arg(&number);
        if scale != 1 {
            index = chain.alu(AluOp::Mul(Number::I32), &[&index, &scale_of]);
        }
        if offset != 0 {
            index = chain.alu(AluOp::Add(Number::I32), &[&index, &offset_of]);
        }
        let value = chain.finish(index, vec![1], DType::I32).value;
        if let Some(trips) = &mut self.trips {
            trips.indices.insert((scale, offset), value);
        }
        Ok((value, count))
    }
}
