//! Steps of a chain: when each issues, and which ALUs pass results on until they are due.
//!
//! An ALU takes another's result in the cycle that it comes in, and a vector in the cycle that it passes the centre. What is
//! due later waits: ALUs hand it on, one operation `move` after another.

use crate::flow::{Access, Arg, How, Source, Step};
use smallvec::SmallVec;
use tegula_isa_lpu::word::AluOp;
use tegula_machine::Lpu;

/// The operations of one round, in cycles from its first.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(super) ops: Vec<Planned>,
    pub(super) vectors: Vec<Brought>,
}

/// A vector at the centre.
#[derive(Clone, Debug)]
pub(super) struct Brought {
    pub(super) access: Access,
    /// How its lanes move on its way; none: it comes straight from memory.
    pub(super) how: Option<How>,
    pub(super) width: u32,
    pub(super) cycle: i64,
}

/// One word of a round, of an ALU of its own.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) op: AluOp,
    pub(super) cycle: i64,
    pub(super) operands: SmallVec<[From; 3]>,
    /// The step whose result goes to memory.
    pub(super) stores: Option<usize>,
}

/// What a word takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The vector with this number.
    Vector(usize),
    Immediate(u32),
    /// The result of the word with this number.
    Op(usize),
}

/// Something that operations take: where it comes from, when, and the words that hand it on.
struct Handed {
    from: From,
    since: i64,
    ops: Vec<usize>,
}

impl Plan {
    /// None: a wait is no whole number of moves.
    pub(crate) fn of(steps: &[Step], lpu: &Lpu) -> Option<Plan> {
        let cycles = cycles(steps, lpu);
        let mut plan = Plan { ops: Vec::new(), vectors: Vec::new() };
        let mut vectors: Vec<Handed> = Vec::new();
        let mut results: Vec<Handed> = Vec::new();
        // Vectors come when their first user issues.
        for (number, step) in steps.iter().enumerate() {
            let width = step.op.widths()[0];
            for (how, access) in step.operands.iter().filter_map(vector) {
                let cycle = cycles[number];
                match plan.brought(how, access, width) {
                    Some(at) => plan.vectors[at].cycle = plan.vectors[at].cycle.min(cycle),
                    None => plan.vectors.push(Brought { access: access.clone(), how, width, cycle }),
                }
            }
        }
        for (number, brought) in plan.vectors.iter().enumerate() {
            vectors.push(Handed { from: From::Vector(number), since: brought.cycle, ops: Vec::new() });
        }
        for (number, step) in steps.iter().enumerate() {
            let mut operands = SmallVec::new();
            let width = step.op.widths()[0];
            for operand in &step.operands {
                operands.push(match operand {
                    Arg::Source(Source::Immediate(bits)) => From::Immediate(*bits),
                    Arg::Source(Source::Vector(access)) => {
                        let at = plan.brought(None, access, width)?;
                        plan.hand(&mut vectors[at], cycles[number], lpu)?
                    }
                    Arg::Moved(how, access) => {
                        let at = plan.brought(Some(*how), access, width)?;
                        plan.hand(&mut vectors[at], cycles[number], lpu)?
                    }
                    Arg::Step(step) => plan.hand(&mut results[*step], cycles[number], lpu)?,
                });
            }
            let is_last = number + 1 == steps.len();
            let is_used = steps[number..].iter().flat_map(Step::taken).any(|own| own == number);
            let stores = (is_last || step.out.is_some()).then_some(number);
            let own = plan.ops.len();
            // A result goes onto streams or to other ALUs.
            plan.ops.push(Planned {
                op: step.op,
                cycle: cycles[number],
                operands,
                stores: stores.filter(|_| !is_used),
            });
            let since = cycles[number] + i64::from(step.op.delay(lpu));
            if is_used && stores.is_some() {
                let operands = SmallVec::from_slice(&[From::Op(own)]);
                plan.ops.push(Planned { op: AluOp::Move, cycle: since, operands, stores });
            }
            results.push(Handed { from: From::Op(own), since, ops: Vec::new() });
        }
        Some(plan)
    }

    fn brought(&self, how: Option<How>, access: &Access, width: u32) -> Option<usize> {
        let is = |own: &Brought| own.how == how && own.access == *access && own.width == width;
        self.vectors.iter().position(is)
    }

    /// What gives something in a cycle.
    fn hand(&mut self, handed: &mut Handed, cycle: i64, lpu: &Lpu) -> Option<From> {
        let delay = i64::from(AluOp::Move.delay(lpu));
        let wait = cycle - handed.since;
        if wait % delay != 0 {
            return None;
        }
        let moves = (wait / delay) as usize;
        while handed.ops.len() < moves {
            let from = handed.ops.last().map_or(handed.from, |op| From::Op(*op));
            let cycle = handed.since + handed.ops.len() as i64 * delay;
            handed.ops.push(self.ops.len());
            self.ops.push(Planned {
                op: AluOp::Move,
                cycle,
                operands: SmallVec::from_slice(&[from]),
                stores: None,
            });
        }
        Some(moves.checked_sub(1).map_or(handed.from, |at| From::Op(handed.ops[at])))
    }

    /// ALUs, and those of them that are large.
    pub(crate) fn alus(&self) -> [u32; 2] {
        let large = self.ops.iter().filter(|op| op.op.is_large()).count();
        [self.ops.len() as u32, large as u32]
    }

    /// Streams of operands, and of results.
    pub(crate) fn streams(&self) -> [u32; 2] {
        let results = self.ops.iter().filter(|op| op.stores.is_some()).map(|op| op.op.widths()[1]);
        [self.vectors.iter().map(|own| own.width).sum(), results.sum()]
    }
}

/// The vector that an operand is.
fn vector(operand: &Arg) -> Option<(Option<How>, &Access)> {
    match operand {
        Arg::Source(Source::Vector(access)) => Some((None, access)),
        Arg::Moved(how, access) => Some((Some(*how), access)),
        Arg::Source(Source::Immediate(_)) | Arg::Step(_) => None,
    }
}

/// When each step issues: as late as those that take its result allow.
fn cycles(steps: &[Step], lpu: &Lpu) -> Vec<i64> {
    let delay = |step: usize| i64::from(steps[step].op.delay(lpu));
    let mut cycles = vec![0; steps.len()];
    for (number, step) in steps.iter().enumerate() {
        cycles[number] = step.taken().map(|own| cycles[own] + delay(own)).max().unwrap_or(0);
    }
    let mut latest = vec![None; steps.len()];
    for (number, step) in steps.iter().enumerate().rev() {
        if let Some(cycle) = latest[number] {
            cycles[number] = cycle;
        }
        for own in step.taken() {
            let cycle = cycles[number] - delay(own);
            latest[own] = Some(latest[own].map_or(cycle, |known: i64| known.min(cycle)));
        }
    }
    cycles
}
