//! Plans of random host programs, checked by running them: every byte of the arena remembers which buffer wrote it
//! last, and a step that reads a buffer must find it whole.

use std::collections::HashMap;
use tegula_base::Dim;
use tegula_host::{BufferType, HostFunc, HostOp};
use tegula_ir::{OpId, RegionId, Value};
use tegula_opt::plan_memory::plan_memory;
use tegula_package::plan::{ArenaPlan, Item, plan_arena};

/// xorshift64*, seeded by the case.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

struct Generator {
    random: Random,
    func: HostFunc,
}

impl Generator {
    fn alloc(&mut self, region: RegionId) -> Value {
        let bytes = Dim::from([1, 8, 64, 65, 200, 1000][self.random.below(6)]);
        let op = self.func.push_op(region, HostOp::Alloc {}, &[], [BufferType::home(bytes)], None);
        self.func.result(op)
    }

    fn launch(&mut self, region: RegionId, reads: &[Value], write: Value) {
        let operands: Vec<Value> = reads.iter().copied().chain([write]).collect();
        let (written, grid) = (vec![reads.len()], Dim::from(1));
        let kind = HostOp::Launch { kernel: 0, name: "k".into(), written, sizes: vec![], grid };
        self.func.push_op(region, kind, &operands, [], None);
    }

    /// Steps over `known`, the written buffers that the region sees. Buffers made here are written before they
    /// are read.
    fn steps(&mut self, region: RegionId, mut known: Vec<Value>, depth: usize) -> Vec<Value> {
        for _ in 0..2 + self.random.below(8) {
            let pick = |random: &mut Random, known: &[Value]| known[random.below(known.len())];
            match self.random.below(if depth < 3 { 9 } else { 6 }) {
                0..=3 => {
                    let reads = [pick(&mut self.random, &known), pick(&mut self.random, &known)];
                    let made = self.alloc(region);
                    self.launch(region, &reads, made);
                    known.push(made);
                }
                // Rewrites a buffer, perhaps one from outside of a loop.
                4 | 5 => {
                    let (read, write) = (pick(&mut self.random, &known), pick(&mut self.random, &known));
                    if read != write {
                        self.launch(region, &[read], write);
                    }
                }
                // Branches write only what is their own.
                8 => {
                    let results = [self.alloc(region), self.alloc(region)];
                    let op = self.func.push_op(region, HostOp::Fork {}, &[], [], None);
                    for (branch, result) in self.func.regions_of(op).to_vec().into_iter().zip(results) {
                        for _ in 0..1 + self.random.below(3) {
                            let read = pick(&mut self.random, &known);
                            let made = self.alloc(branch);
                            self.launch(branch, &[read], made);
                            self.launch(branch, &[made, read], result);
                        }
                        self.func.push_op(branch, HostOp::Yield {}, &[], [], None);
                    }
                    known.extend(results);
                }
                6 => {
                    let cond = pick(&mut self.random, &known);
                    let result = self.alloc(region);
                    let op = self.func.push_op(region, HostOp::If {}, &[cond], [], None);
                    for branch in self.func.regions_of(op).to_vec() {
                        let inner = self.steps(branch, known.clone(), depth + 1);
                        let last = pick(&mut self.random, &inner);
                        self.launch(branch, &[last], result);
                        self.func.push_op(branch, HostOp::Yield {}, &[], [], None);
                    }
                    known.push(result);
                }
                _ => {
                    let trip = pick(&mut self.random, &known);
                    let counter = self.alloc(region);
                    let kind = HostOp::Loop { trip: true, cond: false, counter: true };
                    let op = self.func.push_op(region, kind, &[trip, counter], [], None);
                    let body = self.func.regions_of(op)[0];
                    let inside = known.iter().copied().chain([counter]).collect();
                    self.steps(body, inside, depth + 1);
                    self.func.push_op(body, HostOp::Yield {}, &[], [], None);
                }
            }
        }
        known
    }
}

fn random_program(seed: u64) -> HostFunc {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut generator = Generator { random, func: HostFunc::new("random") };
    let body = generator.func.body();
    let first = generator.alloc(body);
    generator.launch(body, &[], first);
    let known = generator.steps(body, vec![first], 0);
    let kind = HostOp::Return {
        names: vec!["y".into()],
        dtypes: vec![tegula_base::DType::U8],
        shapes: vec![[1].into()],
    };
    let last = *known.last().unwrap();
    generator.func.push_op(body, kind, &[last], [], None);
    generator.func
}

/// The arena, each byte with the buffer that wrote it last.
struct Machine<'a> {
    func: &'a HostFunc,
    places: HashMap<Value, (usize, usize)>,
    owners: Vec<Option<Value>>,
}

impl Machine<'_> {
    fn region(&mut self, region: RegionId) -> Result<(), String> {
        self.func.ops_in(region).iter().try_for_each(|op| self.step(*op))
    }

    fn step(&mut self, op: OpId) -> Result<(), String> {
        let operands = self.func.operands(op);
        let regions = self.func.regions_of(op);
        match self.func.kind(op) {
            HostOp::Launch { written, .. } => {
                for (i, buffer) in operands.iter().enumerate() {
                    if !written.contains(&i) {
                        self.read(op, *buffer)?;
                    }
                }
                written.iter().for_each(|i| self.write(operands[*i]));
                Ok(())
            }
            // Either branch must work; the second starts from what the first found.
            HostOp::If {} => {
                self.read(op, operands[0])?;
                let before = self.owners.clone();
                self.region(regions[0])?;
                self.owners = before;
                self.region(regions[1])
            }
            HostOp::Loop { .. } => {
                self.read(op, operands[0])?;
                for _ in 0..3 {
                    self.write(operands[1]);
                    self.region(regions[0])?;
                }
                Ok(())
            }
            // Steps of both in turn, and each before and after the other: the branches may run at once.
            HostOp::Fork {} => {
                let [first, second] = [regions[0], regions[1]].map(|region| self.func.ops_in(region));
                let longest = first.len().max(second.len());
                let in_turn = (0..longest).flat_map(|i| [first.get(i), second.get(i)]).flatten();
                in_turn.chain(second).chain(first).try_for_each(|op| self.step(*op))
            }
            HostOp::Return { .. } => operands.iter().try_for_each(|buffer| self.read(op, *buffer)),
            _ => Ok(()),
        }
    }

    fn read(&self, op: OpId, buffer: Value) -> Result<(), String> {
        let (start, end) = self.places[&buffer];
        match self.owners[start..end].iter().find(|owner| **owner != Some(buffer)) {
            None => Ok(()),
            Some(owner) => Err(format!("{op} reads {buffer}, which {owner:?} has overwritten")),
        }
    }

    fn write(&mut self, buffer: Value) {
        let (start, end) = self.places[&buffer];
        self.owners[start..end].fill(Some(buffer));
    }
}

fn simulate(func: &HostFunc, lifetimes: impl Fn(Value) -> (u32, u32)) -> Result<(), String> {
    let allocs: Vec<Value> = func
        .walk()
        .into_iter()
        .filter(|op| matches!(func.kind(*op), HostOp::Alloc {}))
        .map(|op| func.result(op))
        .collect();
    let bytes = |value: Value| func.ty(value).bytes.as_const().unwrap() as u64;
    let items: Vec<Item> = allocs
        .iter()
        .map(|value| {
            let (first, last) = lifetimes(*value);
            Item { bytes: bytes(*value), first, last }
        })
        .collect();
    let ArenaPlan { offsets, bytes: total } = plan_arena(&items).unwrap();
    let places = allocs
        .iter()
        .zip(&offsets)
        .map(|(value, offset)| (*value, (*offset as usize, (*offset + bytes(*value)) as usize)))
        .collect();
    Machine { func, places, owners: vec![None; total as usize] }.region(func.body())
}

#[test]
fn no_buffer_is_overwritten_while_it_is_needed() {
    for seed in 0..400 {
        let func = random_program(seed);
        tegula_ir::verify(&func).unwrap();
        let lifetimes = plan_memory(&func);
        simulate(&func, |value| lifetimes.of(value)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// The simulation sees what a wrong plan does: lifetimes cut to their first step fail in most programs.
#[test]
fn a_wrong_plan_is_seen() {
    let fails = |seed: &u64| {
        let func = random_program(*seed);
        let lifetimes = plan_memory(&func);
        simulate(&func, |value| (lifetimes.of(value).0, lifetimes.of(value).0)).is_err()
    };
    assert!((0..100).filter(fails).count() > 50);
}
