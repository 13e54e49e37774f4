//! A region becomes an image: one phase a flow.
//!
//! Before: a region of claimed ops.  After: an image whose tags prove it, and its flows.
//! Method: flows in their order; each result finds room that nothing needs any more. A flow whose operands share a slice reads a
//! copy of one of them; one whose words are too many for the queues runs in parts. Only room can be missing.

use crate::assemble::phase;
use crate::flow::walk::rounds;
use crate::flow::{Access, Flow, FlowProgram, FlowValue, How, Kind, Piece, Product, Source, ValueId};
use crate::lower::{lower, normal_form};
use crate::place::{Home, Homes, Sram};
use crate::schedule::{Event, Scene, schedule};
use crate::split::halves;
use crate::stage::{Copy, copies};
use crate::target::FloatFactors;
use std::collections::{BTreeMap, BTreeSet};
use tegula_backend::{Infeasible, Placement, Span};
use tegula_isa_lpu::word::{AluOp, Number};
use tegula_isa_lpu::{
    Binding, BindingKind, Cell, Chip, Half, Image, Phase, Program, QueueId, Tag, ValueName,
};
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
}

/// Values that one merge reads copies of at most.
const MOST_NESTED: u32 = 6;

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
    let flows = lower(&region, lpu, factors).map_err(refused)?;
    Builder::new(flows, lpu).image(machine)
}

/// A claim let something through that has no form.
fn refused(problem: String) -> Infeasible {
    Infeasible { resource: format!("form for {problem}"), need: 1, ..Infeasible::default() }
}

struct Builder<'a> {
    lpu: &'a Lpu,
    flows: FlowProgram,
    sram: Sram,
    homes: Homes,
    /// The last flow that reads each value.
    last: BTreeMap<ValueId, usize>,
    phases: Vec<Phase>,
    timeline: Vec<Span>,
    memory: Vec<Placement>,
    cycle: u64,
    /// The flows as they run, with copies and parts.
    scheduled: Vec<Flow>,
    /// Copies for the flow at hand.
    nested: u32,
    copies: u64,
    parts: u64,
}

impl<'a> Builder<'a> {
    fn new(flows: FlowProgram, lpu: &'a Lpu) -> Builder<'a> {
        let mut last = BTreeMap::new();
        for (number, flow) in flows.flows.iter().enumerate() {
            for value in flow.reads().into_iter().chain([flow.out.value]) {
                last.insert(value, number);
            }
        }
        Builder {
            lpu,
            flows,
            sram: Sram::of(lpu),
            homes: Homes::default(),
            last,
            phases: Vec::new(),
            timeline: Vec::new(),
            memory: Vec::new(),
            cycle: 0,
            scheduled: Vec::new(),
            nested: 0,
            copies: 0,
            parts: 0,
        }
    }

    fn image(mut self, machine: &Machine) -> Result<Compiled, Infeasible> {
        let constants: Vec<ValueId> =
            self.ids().filter(|id| self.flows.value(*id).constant.is_some()).collect();
        let inputs: Vec<ValueId> = self.flows.inputs.iter().map(|port| port.value).collect();
        for value in constants.into_iter().chain(inputs) {
            self.place(value, &[], None)?;
        }
        for number in 0..self.flows.flows.len() {
            let flow = self.flows.flows[number].clone();
            if !self.homes.0.contains_key(&flow.out.value) {
                let reads = flow.reads();
                let half = self.half_for(&flow);
                self.place(flow.out.value, &reads, half)?;
            }
            self.run(&flow)?;
            self.release(&flow, number);
        }
        let image = self.finish(machine);
        let mut remarks = vec![format!(
            "{} flows, one at a time, in {} phases",
            self.flows.flows.len(),
            self.phases_len(&image)
        )];
        if self.copies > 0 {
            remarks
                .push(format!("{} operands are copied, since they share a slice with another", self.copies));
        }
        if self.parts > 0 {
            remarks.push(format!("{} flows run in parts, since a queue holds too few words", self.parts));
        }
        self.flows.flows = self.scheduled;
        Ok(Compiled { flows: self.flows, image, memory: self.memory, timeline: self.timeline, remarks })
    }

    fn phases_len(&self, image: &Image) -> usize {
        image.programs.iter().map(|program| program.phases.len()).sum()
    }

    fn ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.flows.values.len() as u32).map(ValueId)
    }

    /// The half that a flow's result should lie in where streams are few. Results that stay in the half of their operands take
    /// the streams that those leave.
    fn half_for(&self, flow: &Flow) -> Option<Half> {
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
            Kind::Merge { vectors, .. } => {
                vectors.iter().flatten().find_map(|piece| piece.mask).and_then(|mask| of(mask.0))
            }
            Kind::Move { .. } | Kind::Product(_) => None,
        }
    }

    fn place(&mut self, value: ValueId, apart: &[ValueId], half: Option<Half>) -> Result<(), Infeasible> {
        let avoid: Vec<&Home> = apart.iter().filter_map(|other| self.homes.0.get(other)).collect();
        let found = self.sram.place(self.flows.value(value), &avoid, half);
        let home = found.map_err(|full| self.no_room(value, full.words))?;
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
            .chain([flow.out.value])
            .filter(|value| self.last.get(value).is_none_or(|last| *last <= number) && !stays(*value))
            .collect();
        for value in done {
            if let Some(home) = self.homes.0.remove(&value) {
                self.sram.free(&home);
            }
        }
    }

    fn no_room(&self, value: ValueId, words: u64) -> Infeasible {
        let bytes = |value: &FlowValue| {
            u64::from(value.vectors) * u64::from(value.element.width()) * u64::from(self.lpu.vector())
        };
        let mut holders: Vec<(String, u64)> = self
            .homes
            .0
            .keys()
            .map(|id| {
                let value = self.flows.value(*id);
                (format!("{} of {:?}", value.name, &*value.node), bytes(value))
            })
            .collect();
        holders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        holders.truncate(5);
        let held: u64 = self.homes.0.keys().map(|id| bytes(self.flows.value(*id))).sum();
        let own = self.flows.value(value);
        Infeasible {
            resource: format!(
                "bytes of SRAM, {words} words of a bank at once for {} of {:?},",
                own.name, &*own.node
            ),
            need: held + bytes(own),
            have: self.lpu.sram(),
            holders,
            levers: vec!["choose smaller sizes with `--dim`, or a machine file with more SRAM".to_string()],
        }
    }

    fn run(&mut self, flow: &Flow) -> Result<(), Infeasible> {
        // Each row of a product has sums of its own.
        if matches!(flow.kind, Kind::Product(_))
            && rounds(&flow.loops) > self.lpu.mxm.accumulators
            && let Some([a, b]) = halves(flow)
        {
            self.run(&a)?;
            return self.run(&b);
        }
        let scene = Scene {
            lpu: self.lpu,
            program: &self.flows,
            homes: &self.homes,
            moved: self.flows.values.len() as u32,
        };
        let Some(events) = schedule(flow, &scene) else { return self.run_with_copies(flow) };
        match phase(&events, self.lpu) {
            Ok(phase) => {
                self.add(flow, phase, &events);
                Ok(())
            }
            Err(queue) if self.is_of_weights(flow, queue) => self.run_in_tiles(flow),
            Err(_) => {
                self.parts += 1;
                match halves(flow) {
                    Some([a, b]) => {
                        self.run(&a)?;
                        self.run(&b)
                    }
                    None => self.run_in_pieces(flow),
                }
            }
        }
    }

    /// Whether a queue's words are for weights of a product of several tiles.
    fn is_of_weights(&self, flow: &Flow, queue: QueueId) -> bool {
        let Kind::Product(product) = &flow.kind else { return false };
        let holds = |value: ValueId| {
            self.homes.of(value).0.iter().any(|place| {
                let slices = place.first_slice..place.first_slice + place.slices;
                matches!(queue, QueueId::Mem { half, slice } if half == place.half && slices.contains(&slice))
            })
        };
        let is_weights =
            matches!(queue, QueueId::Weights { .. }) || holds(product.weights) || holds(product.zeros);
        is_weights && product.tiles.len() > 1
    }

    /// Runs a product in two, each of half of its tiles, and adds them.
    fn run_in_tiles(&mut self, flow: &Flow) -> Result<(), Infeasible> {
        self.parts += 1;
        let Kind::Product(product) = &flow.kind else { return Err(too_long(flow)) };
        let count = rounds(&flow.loops);
        let own = FlowValue {
            vectors: count,
            name: "sums of some tiles".to_string(),
            constant: None,
            ..self.flows.value(flow.out.value).clone()
        };
        let apart = flow.reads();
        let mut sums = Vec::new();
        for tiles in product.tiles.chunks(product.tiles.len().div_ceil(2)) {
            let value = self.flows.push(own.clone());
            self.place(value, &apart, None)?;
            let out = Access::dense(value, 0, &flow.loops);
            let kind = Kind::Product(Product { tiles: tiles.to_vec(), ..product.clone() });
            self.run(&Flow { kind, out: out.clone(), ..flow.clone() })?;
            sums.push(out);
        }
        let number = if own.element.is_float() { Number::F32 } else { Number::I32 };
        let operands = sums.iter().cloned().map(Source::Vector).collect();
        self.run(&Flow { kind: Kind::Alu { op: AluOp::Add(number), operands }, ..flow.clone() })?;
        for sum in sums {
            if let Some(home) = self.homes.0.remove(&sum.value) {
                self.sram.free(&home);
            }
        }
        Ok(())
    }

    /// Puts one vector together in two: the second half of its pieces over the first.
    fn run_in_pieces(&mut self, flow: &Flow) -> Result<(), Infeasible> {
        let Kind::Merge { fill, vectors } = &flow.kind else { return Err(too_long(flow)) };
        let [pieces] = &vectors[..] else { return Err(too_long(flow)) };
        if pieces.len() < 3 {
            return Err(too_long(flow));
        }
        let (front, back) = pieces.split_at(pieces.len() / 2);
        let own = FlowValue { vectors: 1, ..self.flows.value(flow.out.value).clone() };
        let value = self.flows.push(own);
        self.place(value, &flow.reads(), self.half_for(flow))?;
        let merge = |pieces: Vec<Piece>| Kind::Merge { fill: *fill, vectors: vec![pieces] };
        let out = Access::dense(value, 0, &flow.loops);
        self.run(&Flow { kind: merge(front.to_vec()), out, ..flow.clone() })?;
        let before = Piece { from: (value, 0), how: How::Stay, mask: None };
        let pieces = std::iter::once(before).chain(back.iter().copied()).collect();
        self.run(&Flow { kind: merge(pieces), ..flow.clone() })?;
        if let Some(home) = self.homes.0.remove(&value) {
            self.sram.free(&home);
        }
        Ok(())
    }

    /// Runs a flow with copies of operands that share a slice, or need streams of which there are too few.
    fn run_with_copies(&mut self, flow: &Flow) -> Result<(), Infeasible> {
        let copied = match &flow.kind {
            // Long values lie in many slices; less of them lies apart.
            Kind::Alu { .. } if 2 * rounds(&flow.loops) > self.lpu.mem.words => {
                self.parts += 1;
                let Some([a, b]) = halves(flow) else { return Err(too_long(flow)) };
                self.run(&a)?;
                return self.run(&b);
            }
            Kind::Alu { .. } => self.copied_operands(flow)?,
            Kind::Merge { .. } if self.nested < MOST_NESTED => match self.half_for(flow) {
                Some(half) if !self.lies_in(flow.out.value, half) => return self.run_aside(flow, half),
                _ => self.copied_piece(flow)?,
            },
            Kind::Merge { .. } | Kind::Fold { .. } | Kind::Move { .. } | Kind::Product(_) => {
                return Err(too_long(flow));
            }
        };
        self.nested += 1;
        let result = self.run(&copied.flow);
        self.nested -= 1;
        for value in copied.copies {
            if let Some(home) = self.homes.0.remove(&value) {
                self.sram.free(&home);
            }
        }
        result
    }

    fn lies_in(&self, value: ValueId, half: Half) -> bool {
        self.homes.of(value).0.iter().all(|place| place.half == half)
    }

    /// Runs a flow whose result comes to a half first, and then goes where it belongs.
    fn run_aside(&mut self, flow: &Flow, half: Half) -> Result<(), Infeasible> {
        let own = FlowValue { vectors: rounds(&flow.loops), ..self.flows.value(flow.out.value).clone() };
        let aside = self.flows.push(own);
        self.place(aside, &[], Some(half))?;
        if !self.lies_in(aside, half) {
            return Err(too_long(flow));
        }
        let out = Access::dense(aside, 0, &flow.loops);
        self.run(&Flow { out: out.clone(), ..flow.clone() })?;
        self.copies += 1;
        self.run(&Flow { kind: Kind::Move { how: How::Stay, from: out }, ..flow.clone() })?;
        if let Some(home) = self.homes.0.remove(&aside) {
            self.sram.free(&home);
        }
        Ok(())
    }

    fn copied_operands(&mut self, flow: &Flow) -> Result<Copied, Infeasible> {
        let found = copies(flow, &self.flows, &self.homes, &self.sram, self.lpu);
        let mut copied = Copied { flow: flow.clone(), copies: Vec::new() };
        for Copy { slot, half, first_slice } in found.ok_or_else(|| too_long(flow))? {
            let Kind::Alu { operands, .. } = &flow.kind else { return Err(too_long(flow)) };
            let Some(Source::Vector(access)) = operands.get(slot) else { return Err(too_long(flow)) };
            let whole = self.flows.value(access.value).vectors;
            // Of a long value, what the flow reads.
            let part = whole > rounds(&flow.loops);
            let loops = if part { flow.loops.clone() } else { [whole].into_iter().collect() };
            let copy = self.fresh_copy(access.value, rounds(&loops));
            let home = self.sram.place_at(rounds(&loops), half, first_slice);
            self.homes.0.insert(copy, home.ok_or_else(|| too_long(flow))?);
            let from = if part { access.clone() } else { Access::dense(access.value, 0, &loops) };
            let read =
                if part { Access::dense(copy, 0, &loops) } else { Access { value: copy, ..access.clone() } };
            self.run_copy(flow, &loops, from, copy)?;
            if let Kind::Alu { operands, .. } = &mut copied.flow.kind {
                operands.iter_mut().for_each(|source| {
                    if let Source::Vector(own) = source
                        && own == access
                    {
                        *own = read.clone();
                    }
                });
            }
            copied.copies.push(copy);
        }
        Ok(copied)
    }

    /// A merge whose pieces lie beside the masks reads a copy of these.
    fn copied_piece(&mut self, flow: &Flow) -> Result<Copied, Infeasible> {
        let Kind::Merge { vectors, .. } = &flow.kind else { return Err(too_long(flow)) };
        let shares = |piece: &&Piece| {
            let own = self.homes.of(piece.from.0);
            piece.mask.is_some_and(|mask| self.homes.of(mask.0).shares_slice(own))
        };
        let Some(piece) = vectors.iter().flatten().find(shares) else { return Err(too_long(flow)) };
        let from = piece.from.0;
        let vectors_of = [self.flows.value(from).vectors];
        let copy = self.fresh_copy(from, vectors_of[0]);
        let masks: BTreeSet<ValueId> =
            vectors.iter().flatten().filter_map(|piece| piece.mask).map(|mask| mask.0).collect();
        self.place(copy, &masks.into_iter().collect::<Vec<_>>(), None)?;
        self.run_copy(flow, &vectors_of, Access::dense(from, 0, &vectors_of), copy)?;
        let mut changed = flow.clone();
        if let Kind::Merge { vectors, .. } = &mut changed.kind {
            let own = vectors.iter_mut().flatten().filter(|piece| piece.from.0 == from);
            own.for_each(|piece| piece.from.0 = copy);
        }
        Ok(Copied { flow: changed, copies: vec![copy] })
    }

    fn fresh_copy(&mut self, value: ValueId, vectors: u32) -> ValueId {
        let name = "copy".to_string();
        let own = FlowValue { constant: None, name, vectors, ..self.flows.value(value).clone() };
        self.flows.push(own)
    }

    fn run_copy(
        &mut self,
        flow: &Flow,
        loops: &[u32],
        from: Access,
        copy: ValueId,
    ) -> Result<(), Infeasible> {
        self.copies += 1;
        let (kind, out) = (Kind::Move { how: How::Stay, from }, Access::dense(copy, 0, loops));
        self.run(&Flow { node: flow.node.clone(), loops: loops.iter().copied().collect(), kind, out })
    }

    fn add(&mut self, flow: &Flow, phase: Phase, events: &[Event]) {
        let barrier = if self.phases.is_empty() { 0 } else { u64::from(self.lpu.barrier) };
        let start = self.cycle + barrier;
        let end = events.iter().map(|event| event.cycle).max().unwrap_or(0) as u64;
        self.cycle = start + end + 1;
        self.timeline.push(Span {
            unit: "chip 0".to_string(),
            what: flow.to_string(),
            cycles: [start, start + end],
        });
        self.phases.push(phase);
        self.scheduled.push(flow.clone());
    }

    fn finish(&mut self, machine: &Machine) -> Image {
        let values = &self.flows.values;
        let name = |value: &FlowValue| ValueName { name: value.name.clone(), node: value.node.to_string() };
        let mut names: Vec<ValueName> = values.iter().map(name).collect();
        names.push(ValueName { name: "moved".to_string(), node: String::new() });
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

fn too_long(flow: &Flow) -> Infeasible {
    Infeasible {
        resource: format!("streams, or words of queues, for one round of {flow}"),
        need: 1,
        ..Infeasible::default()
    }
}

/// A flow that reads copies.
struct Copied {
    flow: Flow,
    copies: Vec<ValueId>,
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
