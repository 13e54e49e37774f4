//! Repeats become phases with trips: the words of a trip are the same in all, and what changes from one to the next is data.
//!
//! A trip starts with empty streams and planes, and finds in memory what the one before left. So a value that a trip reads and
//! another flow made keeps its place until the last trip has ended. Where the flows of a trip are more than one phase, the phases
//! stand in the image once for each trip.

use crate::compile::{Builder, Stop};
use crate::flow::{FlowProgram, Repeat, ValueId};
use std::collections::BTreeMap;

/// Phases, flows and cycles before a repeat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Began {
    phases: usize,
    flows: usize,
    cycle: u64,
}

/// Moves the last use of what trips read, and flows before them made, to the end of the repeat.
pub(crate) fn keep_between_trips(flows: &FlowProgram, last: &mut BTreeMap<ValueId, usize>) {
    let ports = flows.inputs.iter().map(|port| port.value);
    let mut made: BTreeMap<ValueId, usize> = ports.map(|value| (value, 0)).collect();
    for (number, flow) in flows.flows.iter().enumerate() {
        flow.writes().into_iter().for_each(|value| _ = made.entry(value).or_insert(number));
    }
    for Repeat { flows: own, .. } in &flows.repeats {
        for flow in &flows.flows[own.clone()] {
            for value in flow.reads().into_iter().chain(flow.writes()) {
                if made.get(&value).is_some_and(|number| *number < own.start)
                    && let Some(last) = last.get_mut(&value)
                {
                    *last = (*last).max(own.end - 1);
                }
            }
        }
    }
}

impl Builder<'_> {
    pub(crate) fn enter_repeat(&mut self, number: usize) -> Result<(), Stop> {
        if self.flows.repeats.iter().any(|repeat| repeat.flows.start == number) {
            self.end_phase()?;
            let (phases, flows) = (self.phases.len(), self.scheduled.len());
            self.began = Began { phases, flows, cycle: self.cycle };
        }
        Ok(())
    }

    pub(crate) fn leave_repeat(&mut self, number: usize) -> Result<(), Stop> {
        let found = self.flows.repeats.iter().find(|repeat| repeat.flows.end == number + 1).cloned();
        let Some(repeat) = found else { return Ok(()) };
        self.end_phase()?;
        let Began { phases, flows, cycle } = self.began;
        let more = u64::from(repeat.trips.saturating_sub(1));
        match &mut self.phases[phases..] {
            [one] => one.trips = repeat.trips,
            own => {
                let own = own.to_vec();
                self.written_out += 1;
                (0..more).for_each(|_| self.phases.extend(own.iter().cloned()));
            }
        }
        // The first barrier stands before the first trip, if anything does.
        let first = if phases == 0 { u64::from(self.lpu.barrier) } else { 0 };
        self.cycle += more * (self.cycle - cycle + first);
        self.repeats.push(Repeat { flows: flows..self.scheduled.len(), ..repeat });
        Ok(())
    }

    /// How repeats run.
    pub(crate) fn repeats_remark(&self) -> Option<String> {
        let count = self.repeats.len();
        let trips: u64 = self.repeats.iter().map(|repeat| u64::from(repeat.trips)).sum();
        let all = format!("{count} repeats of {trips} trips");
        match (count, self.written_out) {
            (0, _) => None,
            (_, 0) => Some(format!("{all}, each a phase with trips")),
            (_, own) => Some(format!("{all}; {own} repeats are written out, since a trip is several phases")),
        }
    }
}
