//! The stream executor: what flows compute, vector by vector, without places and cycles.
//!
//! It shares the arithmetic of the words with the simulator, and nothing else.

use super::walk::for_each_round;
use super::{Access, Arg, Flow, FlowProgram, How, Kind, Part, Piece, Product, Source, Step, ValueId};
use tegula_isa_lpu::arith::{added, alu, pass};
use tegula_isa_lpu::word::{AluOp, Element};

/// A vector: the bits of each lane's element.
type Lanes = Vec<u32>;

/// Runs all flows on the vectors of the inputs, in their order; gives those of the outputs.
/// `vector` is the number of lanes of the machine's vectors.
pub fn execute(program: &FlowProgram, vector: u32, inputs: &[Vec<Lanes>]) -> Vec<Vec<Lanes>> {
    let mut state = State { vector: vector as usize, values: Vec::new() };
    for value in &program.values {
        let known = value.constant.as_ref().map(|bytes| state.unpack(bytes, value.element, program.lanes));
        state.values.push(known.unwrap_or_else(|| vec![vec![0; vector as usize]; value.vectors as usize]));
    }
    for (port, vectors) in program.inputs.iter().zip(inputs) {
        for (own, given) in state.values[port.value.0 as usize].iter_mut().zip(vectors) {
            own[..given.len()].copy_from_slice(given);
        }
    }
    let mut next = 0;
    for repeat in &program.repeats {
        program.flows[next..repeat.flows.start].iter().for_each(|flow| state.run(flow));
        for _ in 0..repeat.trips {
            program.flows[repeat.flows.clone()].iter().for_each(|flow| state.run(flow));
        }
        next = repeat.flows.end;
    }
    program.flows[next..].iter().for_each(|flow| state.run(flow));
    program.outputs.iter().map(|port| state.values[port.value.0 as usize].clone()).collect()
}

struct State {
    vector: usize,
    values: Vec<Vec<Lanes>>,
}

impl State {
    fn unpack(&self, bytes: &[u8], element: Element, lanes: u32) -> Vec<Lanes> {
        let width = element.width() as usize;
        let vectors = bytes.chunks(width * lanes as usize).map(|vector| {
            let mut words: Lanes = vector.chunks(width).map(little).collect();
            words.resize(self.vector, 0);
            words
        });
        vectors.collect()
    }

    fn get(&self, (value, index): (ValueId, u32)) -> &Lanes {
        &self.values[value.0 as usize][index as usize]
    }

    fn at(&self, access: &Access, round: &[u32]) -> &Lanes {
        self.get((access.value, access.at(round)))
    }

    /// The number of 16 bits in lane 0.
    fn number(&self, index: &Access, round: &[u32]) -> u32 {
        self.at(index, round)[0] & 0xffff
    }

    fn put(&mut self, access: &Access, round: &[u32], lanes: Lanes) {
        self.values[access.value.0 as usize][access.at(round) as usize] = lanes;
    }

    fn run(&mut self, flow: &Flow) {
        if let Kind::Transpose { from, size } = &flow.kind {
            return for_each_round(&flow.loops, |round| self.transpose(from, &flow.out, *size, round));
        }
        if let Kind::Assemble { parts } = &flow.kind {
            return parts.iter().for_each(|part| self.assemble(flow.out.value, part));
        }
        if let Kind::Scatter { index, from, .. } = &flow.kind {
            return for_each_round(&flow.loops, |round| {
                let (by, lanes) = (self.number(index, round), self.at(from, round).clone());
                let behind = Access { base: flow.out.base + by, ..flow.out.clone() };
                self.put(&behind, round, lanes);
            });
        }
        for_each_round(&flow.loops, |round| {
            let result = match &flow.kind {
                Kind::Alu { steps } => self.steps(steps, round),
                Kind::Fold { op, inner, from } => self.fold(*op, inner, from, round),
                Kind::Move { how, from } => moved(self.at(from, round), *how),
                Kind::Merge { fill, vectors } => self.merge(*fill, &vectors[round[0] as usize]),
                Kind::Gather { index, from, .. } => {
                    let by = self.number(index, round);
                    self.get((from.value, from.at(round) + by)).clone()
                }
                Kind::Product(product) => self.product(product, round),
                Kind::Assemble { .. } | Kind::Transpose { .. } | Kind::Scatter { .. } => return,
            };
            self.put(&flow.out, round, result);
        });
    }

    fn steps(&mut self, steps: &[Step], round: &[u32]) -> Lanes {
        let mut results: Vec<Lanes> = Vec::with_capacity(steps.len());
        for Step { op, operands, out } in steps {
            let come: Vec<Option<Lanes>> = operands
                .iter()
                .map(|operand| match operand {
                    Arg::Moved(how, access) => Some(moved(self.at(access, round), *how)),
                    Arg::Source(_) | Arg::Step(_) => None,
                })
                .collect();
            let of = |slot: usize, lane: usize| match operands.get(slot) {
                Some(Arg::Moved(..)) => come[slot].as_ref().map_or(0, |lanes| lanes[lane]),
                Some(Arg::Source(Source::Vector(access))) => self.at(access, round)[lane],
                Some(Arg::Source(Source::Immediate(bits))) => *bits,
                Some(Arg::Step(step)) => results[*step][lane],
                None => 0,
            };
            let result: Lanes =
                (0..self.vector).map(|lane| alu(*op, [0, 1, 2].map(|slot| of(slot, lane)))).collect();
            if let Some(access) = out {
                self.put(access, round, result.clone());
            }
            results.push(result);
        }
        results.pop().unwrap_or_default()
    }

    fn fold(&self, op: AluOp, inner: &[u32], from: &Access, round: &[u32]) -> Lanes {
        let mut held: Option<Lanes> = None;
        for_each_round(inner, |more| {
            let all: Vec<u32> = round.iter().chain(more).copied().collect();
            let next = self.at(from, &all);
            held = Some(match held.take() {
                None => next.clone(),
                Some(held) => next.iter().zip(&held).map(|(next, held)| alu(op, [*next, *held, 0])).collect(),
            });
        });
        held.unwrap_or_else(|| vec![0; self.vector])
    }

    fn merge(&self, fill: u32, pieces: &[Piece]) -> Lanes {
        let mut held = vec![fill; self.vector];
        for piece in pieces {
            let lanes = moved(self.get(piece.from), piece.how);
            let takes = |lane: usize| piece.mask.is_none_or(|mask| self.get(mask)[lane] != 0);
            for (lane, bits) in lanes.into_iter().enumerate().filter(|(lane, _)| takes(*lane)) {
                held[lane] = bits;
            }
        }
        held
    }

    fn assemble(&mut self, out: ValueId, part: &Part) {
        let lanes = moved(self.get(part.from), part.how);
        let result = &mut self.values[out.0 as usize][part.to as usize];
        let takes = |lane: usize| part.superlanes >> (lane / part.size as usize) & 1 == 1;
        for (lane, bits) in lanes.into_iter().enumerate().filter(|(lane, _)| takes(*lane)) {
            result[lane] = bits;
        }
    }

    fn transpose(&mut self, from: &Access, out: &Access, size: u32, round: &[u32]) {
        let (from, to) = (from.at(round), (out.value, out.at(round), from.value));
        let given: Vec<Lanes> = (0..size).map(|j| self.get((to.2, from + j)).clone()).collect();
        let size = size as usize;
        for i in 0..size {
            let lane = |lane: usize| given[lane % size][lane / size * size + i];
            self.values[to.0.0 as usize][to.1 as usize + i] = (0..self.vector).map(lane).collect();
        }
    }

    fn product(&self, product: &Product, round: &[u32]) -> Lanes {
        let Product { factors, rows, tiles, weights, .. } = product;
        let mut sums: Option<Lanes> = None;
        for tile in tiles {
            let row = self.get((rows.value, rows.at(round) + tile.row));
            let weight = |step: u32, lane: usize| self.get((*weights, tile.first + step))[lane];
            let passed = (0..self.vector).map(|lane| {
                // Steps behind the last are products with 0.
                pass(
                    *factors,
                    (0..tile.steps).map(|k| (row[(tile.lane + k) as usize] as u16, weight(k, lane) as u16)),
                )
            });
            sums = Some(match sums {
                None => passed.collect(),
                Some(sums) => passed.zip(sums).map(|(tile, sum)| added(*factors, sum, tile)).collect(),
            });
        }
        sums.unwrap_or_else(|| vec![0; self.vector])
    }
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn moved(lanes: &[u32], how: How) -> Lanes {
    let n = lanes.len() as i32;
    match how {
        How::Stay => lanes.to_vec(),
        How::Broadcast(lane) => vec![lanes[usize::from(lane)]; lanes.len()],
        How::Shift(by) => {
            let from = |lane: i32| lane - i32::from(by);
            let bits = |lane: i32| if (0..n).contains(&lane) { lanes[lane as usize] } else { 0 };
            (0..n).map(|lane| bits(from(lane))).collect()
        }
        How::Rotate(by) => (0..n).map(|lane| lanes[(lane - i32::from(by)).rem_euclid(n) as usize]).collect(),
    }
}
