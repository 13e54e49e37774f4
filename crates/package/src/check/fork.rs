//! The rules of branches that may run at once: what one writes the other does not touch, and memory that either uses is
//! nobody else's as long as both run.
//!
//! Of a launch's buffers a program does not say which are written: all that the kernel could write count.

use super::Rule;
use crate::host::{Arg, BufferId, HostProgram, Place, SizeExpr, Step};
use crate::lifetime::{lifetimes, roots};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is wrong with the forks of a program whose ids are in range.
pub(super) fn faults(program: &HostProgram) -> Vec<(Rule, String)> {
    let mut forks: Vec<(u32, [&[Step]; 2])> = Vec::new();
    Step::for_each(&program.steps, 0, &mut |number, step| {
        if let Step::Fork { first, second } = step {
            forks.push((number, [first, second]));
        }
    });
    if forks.is_empty() {
        return vec![];
    }
    let roots = roots(program);
    let lives = lifetimes(program, &roots);
    let mut found = Vec::new();
    let mut end = 0;
    for (number, branches) in forks {
        // Branches of branches would be read once for each level.
        if number < end {
            found.push((Rule::ForkNesting, format!("the fork at step {number} is inside of another")));
            continue;
        }
        let mut touched = [Touched::new(program, &roots), Touched::new(program, &roots)];
        end = number + 1;
        for (touched, steps) in touched.iter_mut().zip(branches) {
            end = Step::for_each(steps, end, &mut |_, step| touched.step(step));
        }
        let [first, second] = &touched;
        if !first.written.is_disjoint(&second.all) || !second.written.is_disjoint(&first.all) {
            found.push((
                Rule::ForkBranches,
                format!("the branches of the fork at step {number} depend on each other"),
            ));
        }
        for place in first.all.union(&second.all) {
            if let Item::Buffer(root) = place
                && program.buffers[*root].place == Place::Arena
                && (lives[*root].first > number || lives[*root].last + 1 < end)
            {
                let name = &program.buffers[*root].name;
                found.push((
                    Rule::ForkLifetime,
                    format!("buffer `{name}` does not live through the fork at step {number}"),
                ));
            }
        }
    }
    found
}

/// What steps depend on, or change.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// A buffer that is no alias.
    Buffer(usize),
    /// The value of a size symbol.
    Symbol(Arc<str>),
}

struct Touched<'a> {
    program: &'a HostProgram,
    roots: &'a [usize],
    written: BTreeSet<Item>,
    all: BTreeSet<Item>,
}

impl<'a> Touched<'a> {
    fn new(program: &'a HostProgram, roots: &'a [usize]) -> Touched<'a> {
        Touched { program, roots, written: BTreeSet::new(), all: BTreeSet::new() }
    }

    /// A step without those inside of it.
    fn step(&mut self, step: &'a Step) {
        match step {
            Step::Launch { kernel, args, grid } => {
                let kernel = &self.program.kernels[*kernel as usize];
                self.sizes([grid, &kernel.scratch]);
                for arg in args {
                    match arg {
                        Arg::Buffer(buffer) if self.is_read_only(*buffer) => self.read(*buffer),
                        Arg::Buffer(buffer) => self.write(*buffer),
                        Arg::Size(size) => self.sizes([size]),
                    }
                }
            }
            Step::Copy { src, src_offset, dst, dst_offset, bytes }
            | Step::Transfer { src, src_offset, dst, dst_offset, bytes } => {
                self.read(*src);
                self.write(*dst);
                self.sizes([src_offset, dst_offset, bytes]);
            }
            Step::Fill { dst, value: _, bytes } => {
                self.write(*dst);
                self.sizes([bytes]);
            }
            Step::Bind { symbol, from } => {
                self.read(*from);
                let name: Arc<str> = self.program.symbols[*symbol as usize].name.as_str().into();
                self.written.insert(Item::Symbol(Arc::clone(&name)));
                self.all.insert(Item::Symbol(name));
            }
            Step::Assert { cond, message: _ } => self.sizes([&cond.lhs, &cond.rhs]),
            Step::If { cond, .. } => self.read(*cond),
            Step::Loop { trip, cond, counter, .. } => {
                trip.iter().chain(cond).for_each(|buffer| self.read(*buffer));
                counter.iter().for_each(|buffer| self.write(*buffer));
            }
            Step::Fork { .. } => {}
        }
    }

    fn read(&mut self, buffer: BufferId) {
        let facts = &self.program.buffers[buffer.index()];
        let root = self.roots[buffer.index()];
        self.all.insert(Item::Buffer(root));
        let offset = match &facts.place {
            Place::Alias { offset, .. } => Some(offset),
            _ => None,
        };
        self.sizes(offset.into_iter().chain([&facts.bytes, &self.program.buffers[root].bytes]));
    }

    fn write(&mut self, buffer: BufferId) {
        self.read(buffer);
        self.written.insert(Item::Buffer(self.roots[buffer.index()]));
    }

    fn sizes(&mut self, sizes: impl IntoIterator<Item = &'a SizeExpr>) {
        for size in sizes {
            size.for_each_symbol(&mut |name| {
                self.all.insert(Item::Symbol(Arc::clone(name)));
            });
        }
    }

    /// Whether no kernel writes to a buffer: constants, and inputs that no output is in the memory of.
    fn is_read_only(&self, buffer: BufferId) -> bool {
        match self.program.buffers[self.roots[buffer.index()]].place {
            Place::Constant { .. } => true,
            Place::Input(input) => self.program.outputs.iter().all(|port| port.alias != Some(input)),
            _ => false,
        }
    }
}
