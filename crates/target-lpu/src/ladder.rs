//! What a flow becomes where it has no schedule as it is: the rungs below.
//!
//! A chain runs step by step. Operands that share a slice, or need streams of which there are too few, are copied first. A result
//! comes to another place first. What has too many words for a queue runs in halves of its rounds, tiles or pieces.

use crate::assemble::words;
use crate::compile::{Builder, Rung, Stop, short};
use crate::flow::walk::rounds;
use crate::flow::{Access, Arg, Flow, FlowValue, How, Kind, Piece, Product, Source, Step, ValueId};
use crate::phases::{Filling, Job, JobKind};
use crate::place::{Home, Homes};
use crate::schedule::product::{PlaneId, rows};
use crate::schedule::schedule;
use crate::schedule::template::Template;
use crate::split::halves;
use crate::stage::{Copy, copies};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tegula_backend::{Infeasible, Resource};
use tegula_isa_lpu::Half;
use tegula_isa_lpu::word::{AluOp, Number};

/// Values that one merge reads copies of at most.
const MOST_NESTED: u32 = 6;

/// Whether steps are more than one operation on vectors that come straight from memory.
fn is_chain(steps: &[Step]) -> bool {
    let moves = |step: &Step| step.operands.iter().any(|operand| matches!(operand, Arg::Moved(..)));
    steps.len() > 1 || steps.iter().any(moves)
}

/// Words of one queue of a burst at the most: while a queue issues them it may hold no others.
const MOST_WORDS: usize = 32;

/// Tiles of a product from which on their loads may need more words than a queue has in time: some four words a tile, of a
/// queue of 80 that holds two fetches.
const MANY_TILES: usize = 8;

/// Cycles between rounds up to which a chain runs as one, and rounds up to which it does so anyway: a stage from memory to memory
/// takes some 60 cycles.
const FAST: i64 = 2;
const MANY_ROUNDS: u32 = 60;

pub(crate) fn too_long(flow: &Flow) -> Infeasible {
    let found = short(Resource::Step(format!("one round of {flow}")), [0, 0], "a flow");
    Infeasible { node: (&*flow.node).into(), ..found }
}

/// A flow that reads copies.
struct Copied {
    flow: Flow,
    copies: Vec<ValueId>,
}

impl Builder<'_> {
    pub(crate) fn run(&mut self, flow: &Flow) -> Result<(), Stop> {
        // Each row of a product has sums of its own.
        if matches!(flow.kind, Kind::Product(_)) {
            let halves = halves(flow).filter(|_| rounds(&flow.loops) > self.lpu.mxm.accumulators);
            let Some([a, b]) = halves else { return self.run_product(flow) };
            self.run(&a)?;
            return self.run(&b);
        }
        let Some((template, pace)) = schedule(flow, &self.scene()) else {
            return self.run_with_copies(flow);
        };
        // Where loops start over, the first rows are read from a slice that the last ones are written to: parts do not meet.
        let is_slow =
            pace > FAST && rounds(&flow.loops) > MANY_ROUNDS && matches!(flow.kind, Kind::Alu { .. });
        if let Some([a, b]) = halves(flow).filter(|_| is_slow) {
            self.parts += 1;
            self.run(&a)?;
            return self.run(&b);
        }
        if self.is_short(&template) {
            return self.add(flow, JobKind::Rigid(template));
        }
        self.parts += 1;
        match halves(flow) {
            Some([a, b]) => {
                self.run(&a)?;
                self.run(&b)
            }
            None => self.run_in_pieces(flow),
        }
    }

    /// Whether each queue finds room for a burst's words, and for those of the next.
    fn is_short(&self, template: &Template) -> bool {
        let most = match self.rung {
            Rung::Overlapped => MOST_WORDS.min(self.lpu.queue_words as usize / 2),
            // Idling and `halt`.
            Rung::Serial => self.lpu.queue_words as usize / 2 - 2,
        };
        let queues = template.events.chunk_by(|a, b| a.queue == b.queue);
        queues.into_iter().all(|own| words(own) <= most)
    }

    fn run_product(&mut self, flow: &Flow) -> Result<(), Stop> {
        let Kind::Product(product) = &flow.kind else { return Err(too_long(flow).into()) };
        // Rows of several loops are several runs of words.
        let burst = rows(&self.scene(), flow, product, 0, PlaneId::FIRST);
        let is_short = burst.is_none_or(|burst| self.is_short(&burst));
        if let Some([a, b]) = halves(flow).filter(|_| !is_short) {
            self.parts += 1;
            self.run(&a)?;
            return self.run(&b);
        }
        let values = flow.reads().into_iter().chain(flow.writes());
        let homes = values.filter_map(|value| Some((value, self.homes.0.get(&value)?.clone())));
        let homes: BTreeMap<ValueId, Home> = homes.collect();
        let kind = || JobKind::Product(flow.clone(), Homes(homes.clone()));
        let is_long = self.rung == Rung::Serial || product.tiles.len() >= MANY_TILES;
        if is_long && !self.has_text_for(kind()) {
            if product.tiles.len() > 1 {
                return self.run_in_tiles(flow);
            }
            if let Some([a, b]) = halves(flow) {
                self.parts += 1;
                self.run(&a)?;
                return self.run(&b);
            }
        }
        self.add(flow, kind())
    }

    /// Whether a phase of one job has all its words in time.
    fn has_text_for(&self, kind: JobKind) -> bool {
        let mut filling = Filling::new(self.lpu);
        let placed = filling.add(Job { what: String::new(), kind }, &self.scene());
        placed.is_some() && filling.finish(&self.scene(), &mut self.text()).is_ok()
    }

    /// Runs a product in two, each of half of its tiles, and adds them.
    fn run_in_tiles(&mut self, flow: &Flow) -> Result<(), Stop> {
        self.parts += 1;
        let Kind::Product(product) = &flow.kind else { return Err(too_long(flow).into()) };
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
        self.run(&Flow { kind: Kind::alu(AluOp::Add(number), operands), ..flow.clone() })?;
        self.forget(&sums.iter().map(|sum| sum.value).collect::<Vec<_>>());
        Ok(())
    }

    /// Puts one vector together in two: the second half of its pieces over the first.
    fn run_in_pieces(&mut self, flow: &Flow) -> Result<(), Stop> {
        let Kind::Merge { fill, vectors } = &flow.kind else { return Err(too_long(flow).into()) };
        let [pieces] = &vectors[..] else { return Err(too_long(flow).into()) };
        if pieces.len() < 3 {
            return Err(too_long(flow).into());
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
        self.forget(&[value]);
        Ok(())
    }

    /// Runs a flow with copies of operands that share a slice, or need streams of which there are too few.
    fn run_with_copies(&mut self, flow: &Flow) -> Result<(), Stop> {
        let copied = match &flow.kind {
            Kind::Alu { steps } if is_chain(steps) => return self.run_step_by_step(flow, steps),
            // Long values lie in many slices; less of them lies apart.
            Kind::Alu { .. } if 2 * rounds(&flow.loops) > self.lpu.mem.words => {
                self.parts += 1;
                let Some([a, b]) = halves(flow) else { return Err(too_long(flow).into()) };
                self.run(&a)?;
                return self.run(&b);
            }
            Kind::Alu { .. } => self.copied_operands(flow)?,
            Kind::Merge { .. } if self.nested < MOST_NESTED => match self.half_for(flow) {
                Some(half) if !self.lies_in(flow.out.value, half) => return self.run_aside(flow, half),
                _ => self.copied_piece(flow)?,
            },
            Kind::Gather { .. } | Kind::Scatter { .. } if self.nested == 0 => self.copied_beside(flow)?,
            Kind::Merge { .. }
            | Kind::Fold { .. }
            | Kind::Move { .. }
            | Kind::Assemble { .. }
            | Kind::Transpose { .. }
            | Kind::Gather { .. }
            | Kind::Scatter { .. }
            | Kind::Product(_) => {
                return Err(too_long(flow).into());
            }
        };
        self.nested += 1;
        let result = self.run(&copied.flow);
        self.nested -= 1;
        self.forget(&copied.copies);
        result
    }

    /// Runs each operation of a chain from memory to memory.
    fn run_step_by_step(&mut self, flow: &Flow, steps: &[Step]) -> Result<(), Stop> {
        self.unchained += 1;
        let mut results: Vec<Access> = Vec::new();
        let mut own: Vec<ValueId> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let mut operands = smallvec::SmallVec::new();
            for operand in &step.operands {
                operands.push(match operand {
                    Arg::Step(step) => Source::Vector(results[*step].clone()),
                    Arg::Source(source) => source.clone(),
                    Arg::Moved(how, access) => {
                        let value = self.fresh_copy(access.value, rounds(&flow.loops));
                        self.place(value, &[access.value], None)?;
                        own.push(value);
                        let out = Access::dense(value, 0, &flow.loops);
                        let kind = Kind::Move { how: *how, from: access.clone() };
                        self.run(&Flow { kind, out: out.clone(), ..flow.clone() })?;
                        Source::Vector(out)
                    }
                });
            }
            let kind = Kind::alu(step.op, operands);
            let is_last = number + 1 == steps.len();
            let out = match &step.out {
                _ if is_last => flow.out.clone(),
                Some(access) => access.clone(),
                None => {
                    let (name, node) = ("result of a step".to_string(), Arc::clone(&flow.node));
                    let element = step.op.result();
                    let vectors = rounds(&flow.loops);
                    let value = FlowValue {
                        name,
                        node,
                        element,
                        vectors,
                        striped: false,
                        indexed: false,
                        constant: None,
                    };
                    let value = self.flows.push(value);
                    let apart = Flow { kind: kind.clone(), ..flow.clone() }.reads();
                    self.place(value, &apart, None)?;
                    own.push(value);
                    Access::dense(value, 0, &flow.loops)
                }
            };
            self.run(&Flow { kind, out: out.clone(), ..flow.clone() })?;
            results.push(out);
        }
        self.forget(&own);
        Ok(())
    }

    /// Frees values that nothing reads any more.
    pub(crate) fn forget(&mut self, values: &[ValueId]) {
        for value in values {
            if let Some(home) = self.homes.0.remove(value) {
                self.sram.free(&home);
            }
        }
    }

    fn lies_in(&self, value: ValueId, half: Half) -> bool {
        self.homes.of(value).0.iter().all(|place| place.half == half)
    }

    /// Runs a flow whose result comes to a half first, and then goes where it belongs.
    fn run_aside(&mut self, flow: &Flow, half: Half) -> Result<(), Stop> {
        let own = FlowValue { vectors: rounds(&flow.loops), ..self.flows.value(flow.out.value).clone() };
        let aside = self.flows.push(own);
        self.place(aside, &[], Some(half))?;
        if !self.lies_in(aside, half) {
            return Err(too_long(flow).into());
        }
        let out = Access::dense(aside, 0, &flow.loops);
        self.run(&Flow { out: out.clone(), ..flow.clone() })?;
        self.copies += 1;
        self.run(&Flow { kind: Kind::Move { how: How::Stay, from: out }, ..flow.clone() })?;
        self.forget(&[aside]);
        Ok(())
    }

    fn copied_operands(&mut self, flow: &Flow) -> Result<Copied, Stop> {
        let found = copies(flow, &self.flows, &self.homes, &self.sram, self.lpu);
        let mut copied = Copied { flow: flow.clone(), copies: Vec::new() };
        for Copy { access, half, first_slice } in found.ok_or_else(|| too_long(flow))? {
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
            if let Kind::Alu { steps } = &mut copied.flow.kind {
                let vectors = steps.iter_mut().flat_map(Step::accesses_mut);
                vectors.filter(|own| **own == access).for_each(|own| *own = read.clone());
            }
            copied.copies.push(copy);
        }
        Ok(copied)
    }

    /// A merge whose pieces lie beside the masks reads a copy of these.
    fn copied_piece(&mut self, flow: &Flow) -> Result<Copied, Stop> {
        let Kind::Merge { vectors, .. } = &flow.kind else { return Err(too_long(flow).into()) };
        let shares = |piece: &&Piece| {
            let own = self.homes.of(piece.from.0);
            piece.mask.is_some_and(|mask| self.homes.of(mask.0).shares_slice(own))
        };
        let Some(piece) = vectors.iter().flatten().find(shares) else { return Err(too_long(flow).into()) };
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

    /// What chooses and what is written are read from the half of what data chooses from: so their ways are apart.
    fn copied_beside(&mut self, flow: &Flow) -> Result<Copied, Stop> {
        let mut copied = Copied { flow: flow.clone(), copies: Vec::new() };
        let (reads, table) = match &mut copied.flow.kind {
            Kind::Gather { index, from, .. } => (vec![index], from.value),
            Kind::Scatter { index, from, .. } => (vec![index, from], flow.out.value),
            _ => return Err(too_long(flow).into()),
        };
        let half = self.homes.of(table).0.first().map(|place| place.half);
        for access in reads {
            let vectors = [self.flows.value(access.value).vectors];
            let copy = self.fresh_copy(access.value, vectors[0]);
            self.place(copy, &[], half)?;
            self.run_copy(flow, &vectors, Access::dense(access.value, 0, &vectors), copy)?;
            access.value = copy;
            copied.copies.push(copy);
        }
        Ok(copied)
    }

    fn fresh_copy(&mut self, value: ValueId, vectors: u32) -> ValueId {
        let name = "copy".to_string();
        let own =
            FlowValue { constant: None, indexed: false, name, vectors, ..self.flows.value(value).clone() };
        self.flows.push(own)
    }

    fn run_copy(&mut self, flow: &Flow, loops: &[u32], from: Access, copy: ValueId) -> Result<(), Stop> {
        self.copies += 1;
        let (kind, out) = (Kind::Move { how: How::Stay, from }, Access::dense(copy, 0, loops));
        self.run(&Flow { node: flow.node.clone(), loops: loops.iter().copied().collect(), kind, out })
    }
}
