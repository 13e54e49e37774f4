//! Steps with their sizes resolved and their launches' argument blocks laid out.

use super::sizes::{Size, Sizes};
use super::{AddressWord, Base, Places};
use std::ops::Range;
use tegula_base::{Diagnostic, Dim};
use tegula_package::{Arg, BufferId, HostProgram, Relation, Step};

/// A step, resolved.
pub(crate) enum Op {
    Launch(Launch),
    Copy {
        src: BufferId,
        src_offset: Size,
        dst: BufferId,
        dst_offset: Size,
        bytes: Size,
    },
    /// From one device to another.
    Transfer {
        src: BufferId,
        src_offset: Size,
        dst: BufferId,
        dst_offset: Size,
        bytes: Size,
    },
    Fill {
        dst: BufferId,
        value: u8,
        bytes: Size,
    },
    Bind {
        symbol: u32,
        from: BufferId,
    },
    Assert {
        lhs: Size,
        op: Relation,
        rhs: Size,
        texts: Box<AssertText>,
    },
    If {
        cond: BufferId,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    },
    Loop {
        trip: Option<BufferId>,
        cond: Option<BufferId>,
        counter: Option<BufferId>,
        body: Vec<Op>,
    },
    /// Branches that do not depend on each other.
    Fork([Vec<Op>; 2]),
    /// Late blocks whose last use is past.
    Release(Vec<u32>),
}

pub(crate) struct AssertText {
    pub(crate) message: String,
    pub(crate) lhs: Dim,
    pub(crate) rhs: Dim,
}

pub(crate) struct Launch {
    pub(crate) kernel: u32,
    /// The argument block in `Bound::words`.
    pub(crate) words: Range<usize>,
    pub(crate) grid: Size,
    pub(crate) scratch: Size,
    /// Predicted time, nanoseconds; 0 when unknown.
    pub(crate) predicted_ns: i64,
    /// The buffer arguments in order.
    pub(crate) buffers: Vec<BufferId>,
    /// Words that wait for data symbols.
    pub(crate) late: Vec<(u32, LateWord)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LateWord {
    Size(Size),
    Address(BufferId),
}

pub(crate) struct Builder<'a, 's> {
    program: &'a HostProgram,
    sizes: &'a mut Sizes<'s>,
    places: &'a Places,
    words: Vec<u64>,
    addresses: Vec<AddressWord>,
    /// The number of the next step.
    number: u32,
}

impl<'a, 's> Builder<'a, 's> {
    pub(crate) fn new(program: &'a HostProgram, sizes: &'a mut Sizes<'s>, places: &'a Places) -> Self {
        Builder { program, sizes, places, words: Vec::new(), addresses: Vec::new(), number: 0 }
    }

    pub(crate) fn finish(self) -> (Vec<u64>, Vec<AddressWord>) {
        (self.words, self.addresses)
    }

    pub(crate) fn steps(&mut self, steps: &[Step]) -> Result<Vec<Op>, Diagnostic> {
        self.steps_in(steps, None)
    }

    /// The steps inside of step `outer`. A block is released after the outermost step that holds its last use but
    /// not its first: what enters a loop or a branch from outside lives until that is over.
    fn steps_in(&mut self, steps: &[Step], outer: Option<u32>) -> Result<Vec<Op>, Diagnostic> {
        let mut ops = Vec::with_capacity(steps.len());
        for step in steps {
            let number = self.number;
            self.number += 1;
            ops.push(self.step(step)?);
            let ends = &self.places.late_lives;
            let start = ends.partition_point(|life| life.last < number);
            let released: Vec<u32> = ends[start..]
                .iter()
                .take_while(|life| life.last < self.number)
                .filter(|life| life.first <= number && outer.is_none_or(|outer| life.first > outer))
                .map(|life| life.slot)
                .collect();
            if !released.is_empty() {
                ops.push(Op::Release(released));
            }
        }
        Ok(ops)
    }

    fn step(&mut self, step: &Step) -> Result<Op, Diagnostic> {
        let inside = Some(self.number - 1);
        Ok(match step {
            Step::Launch { kernel, args, grid } => Op::Launch(self.launch(*kernel, args, grid)?),
            Step::Copy { src, src_offset, dst, dst_offset, bytes } => {
                let [src_offset, dst_offset, bytes] =
                    self.span("copy", *dst, [src_offset, dst_offset, bytes])?;
                Op::Copy { src: *src, src_offset, dst: *dst, dst_offset, bytes }
            }
            Step::Transfer { src, src_offset, dst, dst_offset, bytes } => {
                let [src_offset, dst_offset, bytes] =
                    self.span("transfer", *dst, [src_offset, dst_offset, bytes])?;
                Op::Transfer { src: *src, src_offset, dst: *dst, dst_offset, bytes }
            }
            Step::Fill { dst, value, bytes } => {
                let name = self.program.buffers[dst.index()].name.as_str();
                let bytes = self.sizes.extent(bytes, || format!("the fill of buffer `{name}`"))?;
                Op::Fill { dst: *dst, value: *value, bytes }
            }
            Step::Bind { symbol, from } => Op::Bind { symbol: *symbol, from: *from },
            Step::Assert { cond, message } => Op::Assert {
                lhs: self.sizes.size(&cond.lhs, || "an assertion".to_string())?,
                op: cond.op,
                rhs: self.sizes.size(&cond.rhs, || "an assertion".to_string())?,
                texts: Box::new(AssertText {
                    message: message.clone(),
                    lhs: cond.lhs.clone(),
                    rhs: cond.rhs.clone(),
                }),
            },
            Step::If { cond, then, otherwise } => {
                let then = self.steps_in(then, inside)?;
                Op::If { cond: *cond, then, otherwise: self.steps_in(otherwise, inside)? }
            }
            Step::Loop { trip, cond, counter, body } => {
                let body = self.steps_in(body, inside)?;
                Op::Loop { trip: *trip, cond: *cond, counter: *counter, body }
            }
            Step::Fork { first, second } => {
                let first = self.steps_in(first, inside)?;
                Op::Fork([first, self.steps_in(second, inside)?])
            }
        })
    }

    /// Offsets and bytes of a copy to a buffer.
    fn span(&mut self, what: &str, dst: BufferId, sizes: [&Dim; 3]) -> Result<[Size; 3], Diagnostic> {
        let name = self.program.buffers[dst.index()].name.as_str();
        let mut extent = |size| self.sizes.extent(size, || format!("the {what} to buffer `{name}`"));
        let [src_offset, dst_offset, bytes] = sizes;
        Ok([extent(src_offset)?, extent(dst_offset)?, extent(bytes)?])
    }

    fn launch(&mut self, kernel: u32, args: &[Arg], grid: &Dim) -> Result<Launch, Diagnostic> {
        let facts = &self.program.kernels[kernel as usize];
        let what = || format!("kernel `{}`", facts.name);
        let start = self.words.len();
        self.words.push(crate::functions::table_address());
        let (mut buffers, mut late) = (Vec::new(), Vec::new());
        for arg in args {
            let word = self.words.len() as u32;
            self.words.push(0);
            match arg {
                Arg::Buffer(buffer) => {
                    buffers.push(*buffer);
                    let loc = &self.places.buffers[buffer.index()];
                    match (loc.base, loc.offset, loc.bytes) {
                        (Base::Late(_), _, _) | (_, Size::Late(_), _) | (_, _, Size::Late(_)) => {
                            late.push((word, LateWord::Address(*buffer)));
                        }
                        (base, Size::Known(offset), Size::Known(_)) => {
                            self.addresses.push(AddressWord { word, base, offset: offset as u64 });
                        }
                    }
                }
                Arg::Size(dim) => match self.sizes.size(dim, what)? {
                    Size::Known(n) => self.words[word as usize] = n as u64,
                    size => late.push((word, LateWord::Size(size))),
                },
            }
        }
        Ok(Launch {
            kernel,
            words: start..self.words.len(),
            grid: self.sizes.extent(grid, what)?,
            scratch: self.sizes.extent(&facts.scratch, what)?,
            predicted_ns: self.sizes.size(&facts.cost.predicted_ns, what)?.known().unwrap_or(0),
            buffers,
            late,
        })
    }
}

/// Whether the steps are the same in every run of a binding, none of them needing the host.
pub(super) fn is_straight(ops: &[Op]) -> bool {
    ops.iter().all(|op| match op {
        Op::Launch(launch) => launch.late.is_empty() && launch.grid.known().is_some(),
        Op::Copy { src_offset, dst_offset, bytes, .. } => {
            [src_offset, dst_offset, bytes].iter().all(|size| size.known().is_some())
        }
        Op::Fill { bytes, .. } => bytes.known().is_some(),
        Op::Assert { lhs, rhs, .. } => lhs.known().is_some() && rhs.known().is_some(),
        Op::Transfer { .. } | Op::Bind { .. } | Op::If { .. } | Op::Loop { .. } => false,
        Op::Fork(_) | Op::Release(_) => false,
    })
}
