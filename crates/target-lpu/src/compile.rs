//! A region becomes an image: flows find places and cycles.
//!
//! Before: a region of claimed ops.  After: an image whose tags prove it, and its flows.
//! Method: flows in their order; each result finds room that nothing needs any more, and each flow the first cycles at which all
//! that it takes is free. Chains of operations run as one flow where that has a schedule. A flow whose operands share a slice
//! reads a copy of one of them; one whose words are too many for a queue runs in parts. Where queues run dry for all that, each
//! flow has a phase of its own. So only room can be missing.

use crate::assemble::Text;
use crate::flow::{Flow, FlowProgram, FlowValue, Kind, Repeat, ValueId};
use crate::fuse::fuse;
use crate::ladder::too_long;
use crate::lower::{lower, normal_form};
use crate::phases::{Filling, Job, JobKind, RunsDry};
use crate::place::{Full, Home, Homes, Sram};
use crate::schedule::Scene;
use crate::target::{CAPACITY, FloatFactors};
use crate::trips::{Began, keep_between_trips};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tegula_backend::{Infeasible, Placement, Resource, Short, Span};
use tegula_base::Code;
use tegula_isa_lpu::word::Element;
use tegula_isa_lpu::{Binding, BindingKind, Cell, Chip, Half, Image, Phase, Program, Tag, ValueName};
use tegula_machine::{Lpu, Machine};
use tegula_tensor::TensorProgram;

/// What a region became.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// A phase of the image is one of these flows.
    pub flows: FlowProgram,
    pub image: Image,
    pub memory: Vec<Placement>,
    pub timeline: Vec<Span>,
    pub remarks: Vec<String>,
    /// How often calendars were asked for a fit, and how many patterns were taken in them.
    pub probes: u64,
    pub reservations: u64,
}

/// Streams that any flow finds enough of.
const MANY_STREAMS: u32 = 24;

pub(crate) fn has_many_streams(lpu: &Lpu) -> bool {
    lpu.streams_east.min(lpu.streams_west) >= MANY_STREAMS
}

/// The name of a region's program in its image.
const PROGRAM: &str = "region";

/// Errors: what the chip has too little of.
pub fn compile(
    region: &TensorProgram,
    machine: &Machine,
    lpu: &Lpu,
    factors: FloatFactors,
) -> Result<Compiled, Infeasible> {
    let region = normal_form(region).map_err(refused)?;
    let mut flows = lower(&region, lpu, factors).map_err(refused)?;
    fuse(&mut flows, lpu);
    let RunsDry { queue, .. } = match Builder::new(flows.clone(), lpu, Rung::Overlapped).image(machine) {
        Ok(compiled) => return Ok(compiled),
        Err(Stop::RunsDry(dry)) => dry,
        Err(Stop::Infeasible(found)) => return Err(found),
    };
    match Builder::new(flows, lpu, Rung::Serial).image(machine) {
        Ok(mut compiled) => {
            compiled
                .remarks
                .push(format!("flows do not share time, since {queue} runs out of words where they do"));
            Ok(compiled)
        }
        Err(Stop::RunsDry(RunsDry { queue, need, have })) => {
            Err(short(Resource::Queue(queue.to_string()), [need, have], "the text of a flow"))
        }
        Err(Stop::Infeasible(found)) => Err(found),
    }
}

/// What does not fit, as far as a user knows it.
pub(crate) fn short(resource: Resource, [need, have]: [u64; 2], what: &str) -> Infeasible {
    let short = Short { code: CAPACITY, resource, need, have };
    Infeasible { short, what: what.into(), node: "".into(), holders: Vec::new() }
}

/// How flows share time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// As calendars allow.
    Overlapped,
    /// Each has a phase of its own.
    Serial,
}

/// Why there is no image on a rung.
pub(crate) enum Stop {
    Infeasible(Infeasible),
    RunsDry(RunsDry),
}

impl From<Infeasible> for Stop {
    fn from(found: Infeasible) -> Stop {
        Stop::Infeasible(found)
    }
}

impl From<RunsDry> for Stop {
    fn from(found: RunsDry) -> Stop {
        Stop::RunsDry(found)
    }
}

/// The code of what a claim let through though it has no form.
const NO_FORM: Code = "lpu-form";

fn refused(problem: String) -> Infeasible {
    let found = short(Resource::Form(problem), [0, 0], "the region");
    Infeasible { short: Short { code: NO_FORM, ..found.short }, ..found }
}

pub(crate) struct Builder<'a> {
    pub(crate) lpu: &'a Lpu,
    pub(crate) flows: FlowProgram,
    /// What vectors between two units are called.
    pub(crate) moved: ValueId,
    pub(crate) sram: Sram,
    pub(crate) homes: Homes,
    pub(crate) rung: Rung,
    /// The last flow that reads each value.
    pub(crate) last: BTreeMap<ValueId, usize>,
    /// Values that one flow reads or writes beside each.
    pub(crate) beside: BTreeMap<ValueId, BTreeSet<ValueId>>,
    /// Weights of products that multiply more rows by them than their loads take cycles.
    long: BTreeSet<ValueId>,
    pub(crate) filling: Filling<'a>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) timeline: Vec<Span>,
    pub(crate) memory: Vec<Placement>,
    pub(crate) cycle: u64,
    /// The flows as they run, with copies and parts.
    pub(crate) scheduled: Vec<Flow>,
    /// Where the repeat at hand began.
    pub(crate) began: Began,
    /// The repeats of these flows, and how many of them stand in the image trip by trip.
    pub(crate) repeats: Vec<Repeat>,
    pub(crate) written_out: u64,
    /// Copies for the flow at hand.
    pub(crate) nested: u32,
    pub(crate) copies: u64,
    pub(crate) parts: u64,
    pub(crate) unchained: u64,
    /// Calendar probes and reservations.
    pub(crate) probes: [u64; 2],
}

impl<'a> Builder<'a> {
    fn new(mut flows: FlowProgram, lpu: &'a Lpu, rung: Rung) -> Builder<'a> {
        let mut last = BTreeMap::new();
        let mut beside: BTreeMap<ValueId, BTreeSet<ValueId>> = BTreeMap::new();
        for (number, flow) in flows.flows.iter().enumerate() {
            let all: Vec<ValueId> = flow.reads().into_iter().chain(flow.writes()).collect();
            for value in &all {
                last.insert(*value, number);
            }
            // Weights are read at other times than rows.
            let weights = match &flow.kind {
                Kind::Product(product) => vec![product.weights, product.zeros],
                _ => Vec::new(),
            };
            let near: BTreeSet<ValueId> = all.into_iter().filter(|value| !weights.contains(value)).collect();
            for value in &near {
                beside.entry(*value).or_default().extend(near.iter().filter(|other| *other != value));
            }
        }
        keep_between_trips(&flows, &mut last);
        let long = long_weights(&flows, lpu);
        let mut sram = Sram::of(lpu);
        if !long.is_empty() {
            sram.hold_weights_apart();
        }
        let moved = flows.push(FlowValue {
            name: "moved".to_string(),
            node: Arc::from(""),
            element: Element::I32,
            vectors: 0,
            striped: false,
            indexed: false,
            constant: None,
        });
        Builder {
            lpu,
            flows,
            moved,
            sram,
            homes: Homes::default(),
            rung,
            last,
            beside,
            long,
            filling: Filling::new(lpu),
            phases: Vec::new(),
            timeline: Vec::new(),
            memory: Vec::new(),
            cycle: 0,
            scheduled: Vec::new(),
            began: Began::default(),
            repeats: Vec::new(),
            written_out: 0,
            nested: 0,
            copies: 0,
            parts: 0,
            unchained: 0,
            probes: [0; 2],
        }
    }

    fn image(mut self, machine: &Machine) -> Result<Compiled, Stop> {
        let constants: Vec<ValueId> =
            self.ids().filter(|id| self.flows.value(*id).constant.is_some()).collect();
        let inputs: Vec<ValueId> = self.flows.inputs.iter().map(|port| port.value).collect();
        for value in constants.into_iter().chain(inputs) {
            self.place_new(value, None)?;
        }
        for number in 0..self.flows.flows.len() {
            let flow = self.flows.flows[number].clone();
            self.enter_repeat(number)?;
            for value in flow.writes() {
                if !self.homes.0.contains_key(&value) {
                    let half = self.half_for(&flow);
                    self.place_new(value, half)?;
                }
            }
            self.run(&flow)?;
            self.release(&flow, number);
            self.leave_repeat(number)?;
        }
        self.end_phase()?;
        let image = self.finish(machine);
        let how = match self.rung {
            Rung::Overlapped => "as calendars allow",
            Rung::Serial => "one at a time",
        };
        let mut remarks =
            vec![format!("{} flows, {how}, in {} phases", self.flows.flows.len(), self.phases_len(&image))];
        remarks.extend(crate::bounds::measure(&image, self.lpu).map(|measured| measured.to_string()));
        if self.copies > 0 {
            remarks
                .push(format!("{} operands are copied, since they share a slice with another", self.copies));
        }
        if self.parts > 0 {
            remarks.push(format!("{} flows run in parts, since a queue holds too few words", self.parts));
        }
        if self.unchained > 0 {
            remarks.push(format!(
                "{} chains run step by step, since their operands share slices",
                self.unchained
            ));
        }
        let [probes, reservations] = self.probes;
        remarks.push(format!("{probes} calendar probes for {reservations} reservations"));
        remarks.extend(self.repeats_remark());
        self.flows.flows = self.scheduled;
        self.flows.repeats = self.repeats;
        let Builder { flows, memory, timeline, .. } = self;
        Ok(Compiled { flows, image, memory, timeline, remarks, probes, reservations })
    }

    /// Places a value apart from those that flows read or write beside it.
    fn place_new(&mut self, value: ValueId, half: Option<Half>) -> Result<(), Infeasible> {
        let apart: Vec<ValueId> = self.beside.get(&value).into_iter().flatten().copied().collect();
        self.place(value, &apart, half)
    }

    fn phases_len(&self, image: &Image) -> usize {
        image.programs.iter().map(|program| program.phases.len()).sum()
    }

    fn ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.flows.values.len() as u32).map(ValueId)
    }

    /// The half that a flow's result should lie in where streams are few. Results that stay in the half of their operands take
    /// the streams that those leave.
    pub(crate) fn half_for(&self, flow: &Flow) -> Option<Half> {
        if has_many_streams(self.lpu) {
            return None;
        }
        let of = |value: ValueId| self.homes.0.get(&value)?.0.first().map(|place| place.half);
        match &flow.kind {
            Kind::Alu { .. } | Kind::Fold { .. } => {
                let halves: Vec<Half> = flow.reads().into_iter().filter_map(of).collect();
                let west = halves.iter().filter(|half| **half == Half::West).count();
                Some(if 2 * west > halves.len() { Half::West } else { Half::East })
            }
            Kind::Gather { from, .. } => of(from.value),
            Kind::Merge { vectors, .. } => {
                vectors.iter().flatten().find_map(|piece| piece.mask).and_then(|mask| of(mask.0))
            }
            Kind::Move { .. }
            | Kind::Assemble { .. }
            | Kind::Transpose { .. }
            | Kind::Scatter { .. }
            | Kind::Product(_) => None,
        }
    }

    pub(crate) fn place(
        &mut self,
        value: ValueId,
        apart: &[ValueId],
        half: Option<Half>,
    ) -> Result<(), Infeasible> {
        let avoid: Vec<&Home> = apart.iter().filter_map(|other| self.homes.0.get(other)).collect();
        let is_long = self.long.contains(&value);
        let found = self.sram.place(self.flows.value(value), &avoid, half, is_long);
        let home = found.map_err(|full| self.no_room(value, full))?;
        self.homes.0.insert(value, home);
        Ok(())
    }

    /// Frees what no later flow reads. Inputs, outputs and constants stay.
    fn release(&mut self, flow: &Flow, number: usize) {
        let stays = |value: ValueId| {
            let ports = self.flows.inputs.iter().chain(&self.flows.outputs);
            self.flows.value(value).constant.is_some() || ports.into_iter().any(|port| port.value == value)
        };
        let done: Vec<ValueId> = flow
            .reads()
            .into_iter()
            .chain(flow.writes())
            .filter(|value| self.last.get(value).is_none_or(|last| *last <= number) && !stays(*value))
            .collect();
        self.forget(&done);
    }

    /// Whether all memory is too little for constants, inputs and what lies there, or what is left of it lies in too small parts.
    fn no_room(&self, value: ValueId, full: Full) -> Infeasible {
        let bytes = |id: ValueId| {
            let value = self.flows.value(id);
            u64::from(value.vectors) * u64::from(value.element.width()) * u64::from(self.lpu.vector())
        };
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        let stays = |id: &ValueId| {
            self.flows.value(*id).constant.is_some() || self.flows.inputs.iter().any(|port| port.value == *id)
        };
        let all = self.homes.0.keys().copied().chain([value]).chain(self.ids().filter(stays));
        for id in all.collect::<BTreeSet<ValueId>>() {
            *held.entry(self.holder(id)).or_default() += bytes(id);
        }
        let need = held.values().sum();
        let own = self.flows.value(value);
        let (resource, amounts) = match need > self.lpu.sram() {
            true => (Resource::Memory, [need, self.lpu.sram()]),
            false => (Resource::Bank, [full.part, full.free]),
        };
        let what = match resource {
            Resource::Bank => format!("`{}`", own.name),
            _ => "the region".to_string(),
        };
        let found = short(resource, amounts, &what);
        Infeasible { node: (&*own.node).into(), holders: held.into_iter().collect(), ..found }
    }

    /// The node whose value it is, or what it is.
    fn holder(&self, id: ValueId) -> String {
        let value = self.flows.value(id);
        if value.node.is_empty() { value.name.clone() } else { format!("node \"{}\"", value.node) }
    }

    pub(crate) fn scene(&self) -> Scene<'_> {
        Scene { lpu: self.lpu, program: &self.flows, homes: &self.homes, moved: self.moved.0 }
    }

    pub(crate) fn add(&mut self, flow: &Flow, kind: JobKind) -> Result<(), Stop> {
        if self.filling.is_full() || self.rung == Rung::Serial && !self.filling.is_empty() {
            self.end_phase()?;
        }
        let scene = Scene { lpu: self.lpu, program: &self.flows, homes: &self.homes, moved: self.moved.0 };
        self.filling.add(Job { what: flow.to_string(), kind }, &scene).ok_or_else(|| too_long(flow))?;
        self.scheduled.push(flow.clone());
        Ok(())
    }

    /// Places that text may lie in.
    pub(crate) fn text(&self) -> Text {
        Text::new([Half::West, Half::East].map(|half| self.sram.text(half)))
    }

    /// Ends the phase at hand, and begins the next.
    pub(crate) fn end_phase(&mut self) -> Result<(), Stop> {
        let filling = std::mem::replace(&mut self.filling, Filling::new(self.lpu));
        for (sum, own) in self.probes.iter_mut().zip(filling.probes()) {
            *sum += own;
        }
        let scene = Scene { lpu: self.lpu, program: &self.flows, homes: &self.homes, moved: self.moved.0 };
        let mut text = self.text();
        let phases = filling.finish(&scene, &mut text)?;
        for (half, place) in text.used() {
            self.sram.keep_text(half, place);
        }
        for placed in phases {
            let barrier = if self.phases.is_empty() { 0 } else { u64::from(self.lpu.barrier) };
            let start = self.cycle + barrier;
            for (what, cycles) in placed.spans {
                let cycles = cycles.map(|cycle| start + cycle);
                self.timeline.push(Span { unit: "chip 0".to_string(), what, cycles });
            }
            self.cycle = start + placed.cycles;
            self.phases.push(placed.phase);
        }
        Ok(())
    }

    fn finish(&mut self, machine: &Machine) -> Image {
        let values = &self.flows.values;
        let name = |value: &FlowValue| ValueName { name: value.name.clone(), node: value.node.to_string() };
        let names: Vec<ValueName> = values.iter().map(name).collect();
        let mut chip = Chip::default();
        for id in (0..values.len() as u32).map(ValueId) {
            let value = self.flows.value(id);
            if let (Some(bytes), Some(home)) = (&value.constant, self.homes.0.get(&id)) {
                chip.cells.extend(cells(id, value, bytes, home, self.lpu, self.flows.lanes));
            }
        }
        let ports = [(&self.flows.inputs, BindingKind::Input), (&self.flows.outputs, BindingKind::Output)];
        for (port, kind) in
            ports.into_iter().flat_map(|(ports, kind)| ports.iter().map(move |port| (port, kind)))
        {
            let (value, home) = (self.flows.value(port.value), self.homes.of(port.value));
            let width = value.element.width();
            let places =
                (0..value.vectors).flat_map(|vector| (0..width).map(move |part| home.address(vector, part)));
            chip.bindings.push(Binding {
                name: port.name.clone(),
                kind,
                dtype: port.dtype,
                row: port.row,
                lanes: self.flows.lanes,
                value: port.value.0,
                places: places.collect(),
            });
        }
        let phases = std::mem::take(&mut self.phases);
        Image {
            machine: machine.hash().to_string(),
            values: names,
            chips: vec![chip],
            programs: vec![Program { name: PROGRAM.to_string(), phases }],
        }
    }
}

/// Known weights whose products have so many rows that loads of all planes at once would not make them faster.
fn long_weights(flows: &FlowProgram, lpu: &Lpu) -> BTreeSet<ValueId> {
    let load = lpu.mxm.k / lpu.mxm.load_streams.max(1);
    let rows_of_load = 2 * lpu.mxm.planes * load;
    let mut long = BTreeSet::new();
    for flow in &flows.flows {
        if let Kind::Product(product) = &flow.kind
            && crate::flow::walk::rounds(&flow.loops) >= rows_of_load
            && flows.value(product.weights).constant.is_some()
        {
            long.insert(product.weights);
        }
    }
    long
}

/// The vectors of a constant, a byte of each element in each.
fn cells(id: ValueId, value: &FlowValue, bytes: &[u8], home: &Home, lpu: &Lpu, lanes: u32) -> Vec<Cell> {
    let (width, lanes) = (value.element.width() as usize, lanes as usize);
    let mut cells = Vec::new();
    for (vector, elements) in bytes.chunks(width * lanes).enumerate() {
        for part in 0..width {
            let mut own: Vec<u8> = elements.iter().skip(part).step_by(width).copied().collect();
            own.resize(lpu.vector() as usize, 0);
            cells.push(Cell {
                at: home.address(vector as u32, part as u32),
                tag: Tag::new(id.0, vector as u32).part(part as u8),
                bytes: own,
            });
        }
    }
    cells
}
