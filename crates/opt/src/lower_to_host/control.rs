//! `if` and `loop`: the branches of one write the same result buffers; the rounds of the other hand on buffers that
//! live outside of it.
//!
//! A value that a region yields is computed straight into its place where nothing reads the place any more, else
//! copied there at the region's end. A loop whose condition is true for good runs by its count alone.

use super::kernels::Helper;
use super::walk::Walk;
use crate::views::{is_view, source};
use tegula_base::{Diagnostic, Dim, SymbolInfo};
use tegula_host::HostOp;
use tegula_ir::{OpId, RegionId, Value};

impl Walk<'_> {
    pub(super) fn branch(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let cond = self.buffer(func.operand(op, 0))?;
        let results: Vec<Value> =
            func.results(op).to_vec().into_iter().map(|value| self.place(value)).collect();
        let step = self.step(HostOp::If {}, &[cond], func.op(op).location.clone());
        let regions = func.regions_of(op).to_vec();
        for (from, to) in regions.into_iter().zip(self.host.regions_of(step).to_vec()) {
            let yielded = self.yielded(from)?;
            for (value, result) in yielded.iter().zip(&results) {
                let source = source(func, *value);
                if self.is_computed_in(source, from) {
                    self.destinations.entry(source).or_insert(*result);
                }
            }
            let outer = std::mem::replace(&mut self.region, to);
            self.ops_of(from)?;
            for (value, result) in yielded.iter().zip(&results) {
                let buffer = self.buffer(*value)?;
                if buffer != *result {
                    self.copy(buffer, *result);
                }
            }
            self.step(HostOp::Yield {}, &[], None);
            self.region = outer;
        }
        Ok(())
    }

    pub(super) fn repeat(&mut self, op: OpId, trip: &Dim, stacked: usize) -> Result<(), Diagnostic> {
        let func = self.func;
        let location = func.op(op).location.clone();
        let body = func.regions_of(op)[0];
        let yielded = self.yielded(body)?;
        let (initial, results) = (func.operands(op).to_vec(), func.results(op).to_vec());
        let n_carried = initial.len() - 1;
        let args = func.args(body).to_vec();

        let always = self.is_true(yielded[0]);
        let stops = !always || !self.is_true(initial[0]);
        let go = match stops {
            true => Some(self.carry(initial[0], None)?),
            false => None,
        };
        let mut carried = Vec::with_capacity(n_carried);
        for (value, result) in initial[1..].iter().zip(&results[1..]) {
            carried.push(self.carry(*value, Some(*result))?);
        }
        let stacks: Vec<Value> = results[1 + n_carried..].iter().map(|value| self.place(*value)).collect();
        if stops {
            for stack in &stacks {
                let bytes = self.host.ty(*stack).bytes.clone();
                self.step(HostOp::Fill { value: 0, bytes }, &[*stack], None);
            }
        }
        let rounds = match func.users(results[0]).is_empty() {
            true => None,
            false => {
                let rounds = self.place(results[0]);
                self.step(HostOp::Fill { value: 0, bytes: Dim::from(8) }, &[rounds], None);
                Some(rounds)
            }
        };
        let limit = self.trip(trip)?;
        let counts = stacked > 0 || rounds.is_some() || !func.users(args[0]).is_empty();
        let counter = counts.then(|| self.alloc(Dim::from(8), location.clone()));

        let operands: Vec<Value> = [Some(limit), go, counter].into_iter().flatten().collect();
        let kind = HostOp::Loop { trip: true, cond: go.is_some(), counter: counter.is_some() };
        let step = self.step(kind, &operands, location);
        let outer = std::mem::replace(&mut self.region, self.host.regions_of(step)[0]);
        if let Some(counter) = counter {
            self.set_buffer(args[0], counter);
        }
        for (arg, buffer) in args[1..].iter().zip(&carried) {
            self.set_buffer(*arg, *buffer);
        }
        self.aim(body, &yielded, go.filter(|_| !always), &carried);
        self.ops_of(body)?;
        if let (Some(counter), true) = (counter, stacked > 0) {
            // Before what it may show is overwritten.
            self.stack(counter, trip, &yielded[1 + n_carried..], &stacks)?;
        }
        self.hand_on(&yielded, go.filter(|_| !always), &carried)?;
        if let (Some(counter), Some(rounds)) = (counter, rounds) {
            self.helper(&Helper::Next, &[counter], &[rounds])?;
        }
        self.step(HostOp::Yield {}, &[], None);
        self.region = outer;
        Ok(())
    }

    /// A buffer outside of the loop that starts as `value`; it is also the loop's `result`.
    fn carry(&mut self, value: Value, result: Option<Value>) -> Result<Value, Diagnostic> {
        let start = self.buffer(value)?;
        let buffer = match result {
            Some(result) => self.place(result),
            None => self.alloc(self.host.ty(start).bytes.clone(), None),
        };
        self.copy(start, buffer);
        Ok(buffer)
    }

    /// The trip count as data.
    fn trip(&mut self, trip: &Dim) -> Result<Value, Diagnostic> {
        if let Some(n) = trip.as_const() {
            return Ok(self.number(n));
        }
        let buffer = self.alloc(Dim::from(8), None);
        self.helper(&Helper::Size(trip.clone()), &[], &[buffer])?;
        Ok(buffer)
    }

    /// Lets ops of the body compute into the carried buffers where the value of this round is read no more.
    fn aim(&mut self, body: RegionId, yielded: &[Value], go: Option<Value>, carried: &[Value]) {
        let args = self.func.args(body).to_vec();
        if let Some(go) = go {
            let source = source(self.func, yielded[0]);
            if self.is_computed_in(source, body) {
                self.destinations.entry(source).or_insert(go);
            }
        }
        for (i, buffer) in carried.iter().enumerate() {
            let source = source(self.func, yielded[1 + i]);
            if !self.is_computed_in(source, body) {
                continue;
            }
            let writer = self.func.def_op(source).and_then(|op| self.place_in(body, op));
            let last_read = self.last_read(body, args[1 + i]);
            if last_read < writer {
                self.destinations.entry(source).or_insert(*buffer);
            }
        }
    }

    /// At the body's end: what is carried goes to its buffers, as if at once.
    fn hand_on(&mut self, yielded: &[Value], go: Option<Value>, carried: &[Value]) -> Result<(), Diagnostic> {
        let mut moves: Vec<(Value, Value)> = Vec::new();
        let targets = go.into_iter().chain(carried.iter().copied());
        let values = if go.is_some() { yielded } else { &yielded[1..] };
        for (value, to) in values.iter().zip(targets) {
            let from = self.buffer(*value)?;
            if from != to {
                moves.push((from, to));
            }
        }
        // A buffer that another move overwrites is saved first.
        for i in 0..moves.len() {
            let (from, _) = moves[i];
            if moves.iter().any(|(_, to)| *to == from) {
                let saved = self.alloc(self.host.ty(from).bytes.clone(), None);
                self.copy(from, saved);
                moves[i].0 = saved;
            }
        }
        for (from, to) in moves {
            self.copy(from, to);
        }
        Ok(())
    }

    /// Writes this round's slices: row `counter` of each stack.
    fn stack(
        &mut self,
        counter: Value,
        trip: &Dim,
        slices: &[Value],
        stacks: &[Value],
    ) -> Result<(), Diagnostic> {
        let symbol = self.symbols.fresh_name("round");
        self.symbols.insert(&symbol, SymbolInfo::data(trip.clone()));
        self.step(HostOp::Bind { symbol: symbol.to_string() }, &[counter], None);
        for (slice, stack) in slices.iter().zip(stacks) {
            let from = self.buffer(*slice)?;
            let bytes = self.func.ty(*slice).buffer_bytes();
            let dst_offset = Dim::symbol(&symbol) * bytes.clone();
            let kind = HostOp::Copy { src_offset: Dim::from(0), dst_offset, bytes };
            self.step(kind, &[from, *stack], None);
        }
        Ok(())
    }

    fn yielded(&self, region: RegionId) -> Result<Vec<Value>, Diagnostic> {
        let end = self.func.terminator(region);
        let end = end.ok_or_else(|| Diagnostic::internal(format!("{region} has no end")))?;
        Ok(self.func.operands(end).to_vec())
    }

    /// The place among the ops of `body` of the op that is, or is inside of, `op`'s place.
    fn place_in(&self, body: RegionId, mut op: OpId) -> Option<usize> {
        while let Some(parent) = self.func.parent(op)
            && parent != body
        {
            op = self.func.owner(parent)?;
        }
        self.func.ops_in(body).iter().position(|other| *other == op)
    }

    /// The last op of `body` that reads a value, also through views; `None` when none does.
    fn last_read(&self, body: RegionId, value: Value) -> Option<usize> {
        let func = self.func;
        let of_user = |user: &OpId| match func.kind(*user) {
            kind if is_view(kind) => self.place_in(body, *user).max(self.last_read(body, func.result(*user))),
            _ => self.place_in(body, *user),
        };
        func.users(value).iter().filter_map(of_user).max()
    }
}
