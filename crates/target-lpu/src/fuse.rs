//! Chains of operations: an operation joins the flow that makes its operand, and what lies between is never stored.
//!
//! Before: flows of one operation each.  After: flows of several, each no more than ALUs and streams can take at once.
//! What repeats is a program by itself.
//! Method: flows in their order. An operation joins the latest flow that makes one of its operands, if both have the same rounds
//! and all else that it reads is made before that flow. A chain runs where its first operation stood, so that the order
//! respects data as before. Results that nothing else reads are left out.

use crate::compile::has_many_streams;
use crate::flow::walk::rounds;
use crate::flow::{Access, Arg, Flow, FlowProgram, How, Kind, Loops, Source, Step, ValueId};
use crate::schedule::plan::Plan;
use std::collections::BTreeMap;
use std::ops::Range;
use tegula_machine::Lpu;

/// The share of a direction's streams that results of a chain may take: others flow beside them.
const RESULTS: u32 = 2;

/// Fuses chains of a program.
pub(crate) fn fuse(program: &mut FlowProgram, lpu: &Lpu) {
    let mut readers: BTreeMap<ValueId, usize> = BTreeMap::new();
    let ports = program.outputs.iter().map(|port| port.value);
    for value in program.flows.iter().flat_map(Flow::reads).chain(ports) {
        *readers.entry(value).or_default() += 1;
    }
    let mut fused: Vec<Flow> = Vec::new();
    let mut next = 0;
    let mut repeats = program.repeats.clone();
    for repeat in &mut repeats {
        fused.extend(fused_part(program, next..repeat.flows.start, &readers, lpu));
        let first = fused.len();
        fused.extend(fused_part(program, repeat.flows.clone(), &readers, lpu));
        next = repeat.flows.end;
        repeat.flows = first..fused.len();
    }
    fused.extend(fused_part(program, next..program.flows.len(), &readers, lpu));
    (program.flows, program.repeats) = (fused, repeats);
}

/// The flows of a part of a program, whose operations join no flow outside of it.
fn fused_part(
    program: &FlowProgram,
    part: Range<usize>,
    readers: &BTreeMap<ValueId, usize>,
    lpu: &Lpu,
) -> Vec<Flow> {
    let mut flows = program.flows[part].to_vec();
    if has_many_streams(lpu) {
        flows = with_moved_operands(flows, program, readers);
    }
    let (made, read, flows_so_far) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut fusing = Fusing { lpu, readers, made, read, flows: flows_so_far };
    flows.into_iter().for_each(|flow| fusing.add(squeezed(flow)));
    for flow in &mut fusing.flows {
        if let Kind::Alu { steps } = &mut flow.kind {
            *steps = pruned(steps, readers);
            *flow = ordered(flow);
        }
    }
    fusing.flows
}

struct Fusing<'a> {
    lpu: &'a Lpu,
    /// How many operations read each value, and outputs.
    readers: &'a BTreeMap<ValueId, usize>,
    /// The last flow that writes each value, and the last that reads it.
    made: BTreeMap<ValueId, usize>,
    read: BTreeMap<ValueId, usize>,
    flows: Vec<Flow>,
}

impl Fusing<'_> {
    fn add(&mut self, flow: Flow) {
        let (out, reads) = (flow.out.value, flow.reads());
        let joined = self.host(&flow).and_then(|host| {
            let over = [self.flows[host].loops.clone(), flow.loops.clone()];
            Some((host, over.iter().find_map(|loops| self.joined(host, &flow, loops))?))
        });
        let at = match joined {
            Some((host, joined)) => {
                self.flows[host] = joined;
                host
            }
            None => {
                self.flows.push(flow);
                self.flows.len() - 1
            }
        };
        let later = |last: &mut usize| *last = at.max(*last);
        reads.into_iter().for_each(|value| later(self.read.entry(value).or_default()));
        later(self.made.entry(out).or_default());
    }

    /// The flow that an operation may join: the last that makes one of its operands.
    fn host(&self, flow: &Flow) -> Option<usize> {
        let Kind::Alu { .. } = &flow.kind else { return None };
        let host = flow.reads().into_iter().filter_map(|value| self.made.get(&value).copied()).max()?;
        // What an operation overwrites no flow behind its own may read.
        let is_free = self.read.get(&flow.out.value).is_none_or(|reader| *reader <= host);
        (is_free && matches!(self.flows[host].kind, Kind::Alu { .. })).then_some(host)
    }

    /// A flow with an operation more, both over some loops. None: their rounds differ, or it would take too much.
    fn joined(&self, host: usize, flow: &Flow, loops: &Loops) -> Option<Flow> {
        let (mut joined, mut flow) = (over_loops(&self.flows[host], loops)?, over_loops(flow, loops)?);
        let (Kind::Alu { steps }, Kind::Alu { steps: more }) = (&mut joined.kind, &mut flow.kind) else {
            return None;
        };
        // A round overwrites what no other round reads.
        let overwritten = steps.iter().flat_map(Step::vectors).filter(|own| own.value == flow.out.value);
        if overwritten.into_iter().any(|own| *own != flow.out) {
            return None;
        }
        // Each step but the last has a place for its result until chains are complete.
        steps.last_mut()?.out = Some(joined.out);
        let mut step = more.pop()?;
        for operand in &mut step.operands {
            let (is_moved, access) = match &*operand {
                Arg::Source(Source::Vector(access)) => (false, access),
                Arg::Moved(_, access) => (true, access),
                Arg::Source(Source::Immediate(_)) | Arg::Step(_) => continue,
            };
            let makes = |step: &Step| step.out.as_ref().is_some_and(|out| out == access);
            let other = |step: &Step| step.out.as_ref().is_some_and(|out| out.value == access.value);
            match steps.iter().position(makes) {
                Some(made) if !is_moved => *operand = Arg::Step(made),
                // What other rounds make is not there yet, and what shifters take comes from memory.
                _ if steps.iter().any(other) => return None,
                _ => {}
            }
        }
        steps.push(step);
        joined.out = flow.out;
        self.is_small(steps).then_some(joined)
    }

    /// Whether ALUs and streams are enough for a chain.
    fn is_small(&self, steps: &[Step]) -> bool {
        let Some(plan) = Plan::of(&pruned(steps, self.readers), self.lpu) else { return false };
        let ([alus, large], [inwards, outwards]) = (plan.alus(), plan.streams());
        let streams = self.lpu.streams_east.min(self.lpu.streams_west);
        alus <= self.lpu.vxm.alus
            && large <= self.lpu.vxm.large
            && inwards <= streams
            && outwards <= streams / RESULTS
    }
}

/// Operations that take what one movement makes take its vectors through a shifter, and the movement is left out.
fn with_moved_operands(
    flows: Vec<Flow>,
    program: &FlowProgram,
    readers: &BTreeMap<ValueId, usize>,
) -> Vec<Flow> {
    let mut moves: BTreeMap<ValueId, Flow> = BTreeMap::new();
    let mut made: BTreeMap<ValueId, usize> = BTreeMap::new();
    for flow in &flows {
        *made.entry(flow.out.value).or_default() += 1;
    }
    let mut kept: Vec<Flow> = Vec::new();
    for mut flow in flows {
        let own = flow.out.value;
        let is_alone = readers.get(&own) == Some(&1) && made.get(&own) == Some(&1);
        match &mut flow.kind {
            // A state may be another when it is taken.
            Kind::Move { from, .. } if is_alone && !program.is_state(from.value) => {
                _ = moves.insert(own, flow.clone())
            }
            Kind::Alu { steps } => {
                for step in steps {
                    moved_operands(step, &flow.loops, &mut moves);
                }
            }
            _ => {}
        }
        // What nothing took stands before its reader.
        for value in flow.reads() {
            kept.extend(moves.remove(&value));
        }
        if !moves.contains_key(&own) {
            kept.push(flow);
        }
    }
    kept.extend(moves.into_values());
    kept
}

fn moved_operands(step: &mut Step, loops: &Loops, moves: &mut BTreeMap<ValueId, Flow>) {
    let vectors: Vec<Access> = step.vectors().cloned().collect();
    for access in &vectors {
        // What else it reads of the value needs the value.
        let is_alone = vectors.iter().all(|other| other.value != access.value || other == access);
        let moved =
            moves.get(&access.value).filter(|_| is_alone).and_then(|flow| moved_as(flow, access, loops));
        let Some((how, from)) = moved else { continue };
        moves.remove(&access.value);
        for operand in &mut step.operands {
            match operand {
                Arg::Source(Source::Vector(own)) if own == access => *operand = Arg::Moved(how, from.clone()),
                // A vector that goes through a shifter goes there only, so that it is read once.
                Arg::Source(Source::Vector(own)) if *own == from => {
                    *operand = Arg::Moved(How::Stay, from.clone())
                }
                Arg::Source(_) | Arg::Moved(..) | Arg::Step(_) => {}
            }
        }
    }
}

/// How a movement's operand becomes the vectors of an access, and which of its vectors they are.
fn moved_as(flow: &Flow, access: &Access, loops: &Loops) -> Option<(How, Access)> {
    let Kind::Move { how, from } = &flow.kind else { return None };
    let over = |other: &Access| {
        let is_same = flow.loops == *loops;
        let strides =
            if is_same { other.strides.clone() } else { strides_over(&other.strides, &flow.loops, loops)? };
        Some(Access { strides, ..other.clone() })
    };
    let is_made = rounds(&flow.loops) == rounds(loops) && over(&flow.out)? == *access;
    if is_made { Some((*how, over(from)?)) } else { None }
}

/// A flow without loops of one round.
fn squeezed(mut flow: Flow) -> Flow {
    let Kind::Alu { steps } = &mut flow.kind else { return flow };
    let stays: Vec<bool> = flow.loops.iter().map(|extent| *extent != 1).collect();
    let squeeze = |numbers: &mut Loops| {
        let kept = numbers.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(number, _)| *number);
        *numbers = kept.collect();
    };
    steps.iter_mut().flat_map(Step::accesses_mut).for_each(|access| squeeze(&mut access.strides));
    squeeze(&mut flow.out.strides);
    squeeze(&mut flow.loops);
    flow
}

/// A flow of operations over other loops of as many rounds.
fn over_loops(flow: &Flow, loops: &Loops) -> Option<Flow> {
    let mut over = flow.clone();
    if flow.loops == *loops {
        return Some(over);
    }
    if rounds(&flow.loops) != rounds(loops) {
        return None;
    }
    let Kind::Alu { steps } = &mut over.kind else { return None };
    for access in steps.iter_mut().flat_map(Step::accesses_mut).chain([&mut over.out]) {
        access.strides = strides_over(&access.strides, &flow.loops, loops)?;
    }
    over.loops = loops.clone();
    Some(over)
}

/// A flow whose loops are in the order that takes the fewest words: vectors of one stride are one repeated word.
fn ordered(flow: &Flow) -> Flow {
    let mut orders = vec![Vec::new()];
    for i in 0..flow.loops.len() {
        let with = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |at| {
                let mut order = order.clone();
                order.insert(at, i);
                order
            })
        };
        orders = orders.iter().flat_map(with).collect();
        if orders.len() > MOST_ORDERS {
            return flow.clone();
        }
    }
    let all = orders.iter().map(|order| {
        let permute = |numbers: &Loops| order.iter().map(|at| numbers[*at]).collect::<Loops>();
        let mut own = flow.clone();
        if let Kind::Alu { steps } = &mut own.kind {
            let accesses = steps.iter_mut().flat_map(Step::accesses_mut);
            accesses.for_each(|access| access.strides = permute(&access.strides));
        }
        own.out.strides = permute(&own.out.strides);
        own.loops = permute(&own.loops);
        own
    });
    all.min_by_key(words).unwrap_or_else(|| flow.clone())
}

/// Orders of loops that are tried.
const MOST_ORDERS: usize = 24;

/// Runs of vectors, each of one stride.
fn words(flow: &Flow) -> u32 {
    let Kind::Alu { steps } = &flow.kind else { return 0 };
    let accesses = steps.iter().flat_map(|step| step.vectors().chain(&step.out)).chain([&flow.out]);
    let runs = |access: &Access| {
        let mut inner: Option<u32> = None;
        let mut runs = 1;
        for (extent, stride) in flow.loops.iter().zip(&access.strides).rev() {
            match inner {
                None => inner = Some(stride * extent),
                Some(next) if runs == 1 && next == *stride => inner = Some(stride * extent),
                Some(_) => runs *= extent,
            }
        }
        runs
    };
    accesses.map(runs).sum()
}

/// Strides over other loops. None: the vectors are no arithmetic sequence.
fn strides_over(strides: &[u32], from: &[u32], to: &[u32]) -> Option<Loops> {
    // The step between rounds, and the rounds so far.
    let (mut step, mut count) = (0, 1);
    for (extent, stride) in from.iter().zip(strides).rev() {
        match count {
            1 => step = *stride,
            _ if *stride == step * count => {}
            _ => return None,
        }
        count *= extent;
    }
    let mut own = Loops::from_elem(0, to.len());
    for (stride, extent) in own.iter_mut().zip(to).rev() {
        *stride = step;
        step *= extent;
    }
    Some(own)
}

/// Steps without places for what no other flow reads.
fn pruned(steps: &[Step], readers: &BTreeMap<ValueId, usize>) -> Vec<Step> {
    let mut pruned = steps.to_vec();
    for (number, step) in pruned.iter_mut().enumerate() {
        let inside = steps.iter().filter(|other| other.taken().any(|taken| taken == number)).count();
        step.out = step.out.take().filter(|out| readers.get(&out.value).is_none_or(|all| *all > inside));
    }
    pruned
}
