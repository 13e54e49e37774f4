//! Times a kernel block by block: some windows of its run through the pipeline, all of it through the caches.

use super::branches::Branch;
use super::caches::{Caches, Found, Stride};
use super::pipeline::{Busy, Pipeline};
use super::units::Inst;
use tegula_machine::Core;

/// Instructions of a window, and those between the ends of two; the gap grows by half each time.
const WINDOW: u64 = 12_000;
const FIRST_GAP: u64 = 6_000;

/// An address touched, with the bytes there.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub address: u64,
    pub bytes: u32,
    /// Asked for ahead, not read.
    pub prefetch: bool,
}

/// What the run of a kernel took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timed {
    pub cycles: f64,
    pub busy: Busy,
    pub instructions: u64,
}

/// How often a way between blocks was gone, and what it took.
#[derive(Clone, Copy, Default)]
struct Way {
    /// Instructions of the block that it leads to.
    length: usize,
    entered: u64,
    timed: u64,
    cycles: f64,
    busy: Busy,
}

pub struct Sampler<'a> {
    core: &'a Core,
    caches: &'a mut Caches,
    pipeline: Option<Pipeline<'a>>,
    /// Instructions until the window begins or ends.
    until: u64,
    gap: u64,
    ways: Vec<Way>,
    strides: Vec<Stride>,
    branches: Vec<Branch>,
    found: Vec<Found>,
    instructions: u64,
}

impl<'a> Sampler<'a> {
    /// Of a kernel with so many blocks and accesses; untimed, it only moves lines.
    pub fn new(
        core: &'a Core,
        caches: &'a mut Caches,
        blocks: usize,
        accesses: usize,
        timed: bool,
    ) -> Sampler<'a> {
        Sampler {
            core,
            caches,
            pipeline: timed.then(|| Pipeline::new(core)),
            until: if timed { WINDOW } else { u64::MAX },
            gap: FIRST_GAP,
            ways: vec![Way::default(); 2 * blocks + 1],
            strides: vec![Stride::default(); accesses],
            branches: vec![Branch::default(); blocks],
            found: Vec::new(),
            instructions: 0,
        }
    }

    /// A block was run: its instructions, what they touched in order (the first access has number `first`), which
    /// way it was entered and which way it ends.
    pub fn block(
        &mut self,
        block: usize,
        insts: &[Inst],
        first: usize,
        accesses: &[Access],
        way: usize,
        taken: bool,
    ) {
        self.instructions += insts.len() as u64;
        self.switch(insts.len() as u64);
        let foreseen = match insts.last() {
            Some(last) if last.branches => self.branches[block].follow(taken),
            _ => true,
        };
        let entry = &mut self.ways[way];
        (entry.length, entry.entered) = (insts.len(), entry.entered + 1);
        let Some(pipeline) = &mut self.pipeline else {
            for (access, stride) in accesses.iter().zip(&mut self.strides[first..]) {
                match access.prefetch {
                    true => drop(self.caches.prefetch(access.address)),
                    false => self.caches.access(access.address, u64::from(access.bytes), stride, |_| ()),
                }
            }
            return;
        };
        let (before, busy_before) = (pipeline.cycle(), pipeline.busy);
        let mut next = 0;
        for inst in insts {
            self.found.clear();
            let began = next;
            for _ in 0..inst.accesses {
                let Some(access) = accesses.get(next) else { break };
                let found = &mut self.found;
                if access.prefetch {
                    pipeline.prefetch(self.caches.prefetch(access.address));
                } else {
                    let stride = &mut self.strides[first + next];
                    self.caches
                        .access(access.address, u64::from(access.bytes), stride, |line| found.push(line));
                }
                next += 1;
            }
            pipeline.run(inst, &accesses[began..next], &self.found, foreseen);
        }
        entry.timed += 1;
        entry.cycles += (pipeline.cycle() - before) as f64;
        let busy = pipeline.busy;
        entry.busy.add(&Busy {
            arithmetic: busy.arithmetic - busy_before.arithmetic,
            l1: busy.l1 - busy_before.l1,
            l2: busy.l2 - busy_before.l2,
            l3: busy.l3 - busy_before.l3,
            dram: busy.dram - busy_before.dram,
            front: busy.front - busy_before.front,
        });
    }

    fn switch(&mut self, instructions: u64) {
        if self.until > instructions {
            self.until -= instructions;
            return;
        }
        match self.pipeline.take() {
            Some(_) => {
                self.until = self.gap;
                self.gap += self.gap / 2;
            }
            None => {
                self.pipeline = Some(Pipeline::new(self.core));
                self.until = WINDOW;
            }
        }
    }

    /// The whole run. A way that no window met takes what instructions take on average.
    pub fn finish(self) -> Timed {
        let mut total = Timed { instructions: self.instructions, ..Timed::default() };
        let (mut cycles, mut instructions) = (0.0, 0.0);
        for way in &self.ways {
            cycles += way.cycles;
            instructions += (way.timed as usize * way.length) as f64;
        }
        let usual = if instructions > 0.0 { cycles / instructions } else { 0.25 };
        for way in &self.ways {
            if way.timed == 0 {
                total.cycles += usual * (way.entered as usize * way.length) as f64;
                continue;
            }
            let times = way.entered as f64 / way.timed as f64;
            total.cycles += times * way.cycles;
            let b = &way.busy;
            total.busy.add(&Busy {
                arithmetic: times * b.arithmetic,
                l1: times * b.l1,
                l2: times * b.l2,
                l3: times * b.l3,
                dram: times * b.dram,
                front: times * b.front,
            });
        }
        total
    }
}
