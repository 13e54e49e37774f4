//! Flows (`tgl`): what a chip computes, burst by burst, before any place or cycle is chosen.
//!
//! A *vector* is one element in each lane. A value is a list of vectors of one element type. A *flow* starts in memory and
//! ends in memory: it reads vectors, sends them through one unit, and writes the vectors of its result. Its loops say which;
//! nothing waits on a stream between flows. So each flow fits some place and time, in any order that respects data.

pub mod execute;
pub mod print;
pub mod walk;

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use tegula_base::DType;
use tegula_isa_lpu::word::{AluOp, Element, Factors};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// All flows of a region, in an order that respects data.
#[derive(Clone, Debug, Default)]
pub struct FlowProgram {
    /// Lanes of a vector that hold elements; those behind them are not looked at.
    pub lanes: u32,
    pub values: Vec<FlowValue>,
    pub flows: Vec<Flow>,
    /// Flows that run again and again, none of them in two.
    pub repeats: Vec<Repeat>,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

/// Flows side by side that run several times, one trip after the other. A trip finds what the one before left: a *state* is
/// written before the first trip, and again in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Their numbers.
    pub flows: Range<usize>,
    pub trips: u32,
    pub states: Vec<ValueId>,
}

/// A list of vectors.
#[derive(Clone, Debug)]
pub struct FlowValue {
    /// What it is, in the user's words.
    pub name: String,
    /// The node of the model that it is part of; empty where there is none.
    pub node: Arc<str>,
    pub element: Element,
    pub vectors: u32,
    /// Whether it is loaded into a plane: rows that are loaded together lie in slices of their own.
    pub striped: bool,
    /// Whether data chooses among its vectors: they lie one behind the other.
    pub indexed: bool,
    /// Elements of all vectors, each of as many bytes as its type has, where they are known.
    pub constant: Option<Vec<u8>>,
}

/// A tensor of the host: rows of `row` elements, each cut into vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub value: ValueId,
    pub dtype: DType,
    pub row: u32,
}

/// One burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    pub node: Arc<str>,
    /// Extents of its loops, the innermost last.
    pub loops: Loops,
    pub kind: Kind,
    /// The vector that each round of the loops writes.
    pub out: Access,
}

pub type Loops = SmallVec<[u32; 4]>;

/// The vector of a value that a round of loops has: `base`, and a stride for each loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub value: ValueId,
    pub base: u32,
    pub strides: Loops,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Operations of ALUs, each of which may take results of those before it. The last one makes the flow's result.
    Alu { steps: Vec<Step> },
    /// Combines the vectors of `inner` rounds; the strides of `from` are of the loops, then of the inner ones.
    Fold { op: AluOp, inner: Loops, from: Access },
    /// Lanes move.
    Move { how: How, from: Access },
    /// Each result is put together from pieces, one after another, over a constant. There is one loop.
    Merge { fill: u32, vectors: Vec<Vec<Piece>> },
    /// Results are put together from parts, one after another: superlanes of vectors that move. There is one loop, of parts.
    Assemble { parts: Vec<Part> },
    /// Of each round's vectors, as many as a superlane has lanes: in each superlane, lane i of vector j becomes lane j of
    /// vector i. They follow one another, as do those of the result.
    Transpose { from: Access, size: u32 },
    /// The vector that lies as far behind that of `from` as the number in lane 0 of the vector of `index` says, which is less
    /// than `count`.
    Gather { index: Access, from: Access, count: u32 },
    /// Writes not to the round's vector of the result, but as far behind it.
    Scatter { index: Access, from: Access, count: u32 },
    /// Rows times weights, which are installed tile by tile.
    Product(Product),
}

/// Superlanes of a vector that are taken into a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub from: (ValueId, u32),
    pub how: How,
    /// The vector of the result.
    pub to: u32,
    /// Bit i: superlane i, of `size` lanes. The first part of a vector has all of them, so that all of it is written.
    pub superlanes: u32,
    pub size: u32,
}

/// One operation of an ALU.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub op: AluOp,
    pub operands: SmallVec<[Arg; 3]>,
    /// Where the result of a step that is not the last goes, if anything else reads it.
    pub out: Option<Access>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Vector(Access),
    /// The same bits in each lane.
    Immediate(u32),
}

/// What a step takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    Source(Source),
    /// A vector whose lanes move on its way.
    Moved(How, Access),
    /// The result of the step with this number.
    Step(usize),
}

/// Where lanes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    Stay,
    /// To higher lanes.
    Shift(i16),
    /// As `Shift`; what leaves at one end comes in at the other. Of all lanes of the machine's vector.
    Rotate(i16),
    /// All lanes get this one.
    Broadcast(u16),
}

/// Lanes of a vector that are taken into a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub from: (ValueId, u32),
    pub how: How,
    /// A vector that is not 0 in the lanes that are taken; none: all.
    pub mask: Option<(ValueId, u32)>,
}

/// A contraction of one tile of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    pub factors: Factors,
    /// The vector that each round's row begins with.
    pub rows: Access,
    /// Tiles of k, whose products are added up in this order.
    pub tiles: Vec<Tile>,
    pub weights: ValueId,
    /// Rows of 0, as many as are loaded together: for the steps that a tile lacks.
    pub zeros: ValueId,
}

/// Steps of k that a plane does at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// How far the vector of a row lies behind its first.
    pub row: u32,
    /// The lane of that vector that the first step takes.
    pub lane: u32,
    /// The vector of the first step's weights; those of the others follow, up to a multiple of the rows loaded together.
    pub first: u32,
    pub steps: u32,
}

impl Access {
    /// The vector in a round.
    pub fn at(&self, round: &[u32]) -> u32 {
        self.base + self.strides.iter().zip(round).map(|(stride, i)| stride * i).sum::<u32>()
    }

    /// One vector in each round.
    pub fn fixed(value: ValueId, base: u32, loops: usize) -> Access {
        Access { value, base, strides: Loops::from_elem(0, loops) }
    }

    /// The vectors in their order, one in each round.
    pub fn dense(value: ValueId, base: u32, loops: &[u32]) -> Access {
        let mut strides = Loops::from_elem(1, loops.len());
        for i in (1..loops.len()).rev() {
            strides[i - 1] = strides[i] * loops[i];
        }
        Access { value, base, strides }
    }
}

impl Step {
    /// The vectors among its operands.
    pub fn vectors(&self) -> impl Iterator<Item = &Access> {
        self.operands.iter().filter_map(|operand| match operand {
            Arg::Source(Source::Vector(access)) | Arg::Moved(_, access) => Some(access),
            Arg::Source(Source::Immediate(_)) | Arg::Step(_) => None,
        })
    }

    /// The vectors that it reads, and where its result goes.
    pub(crate) fn accesses_mut(&mut self) -> impl Iterator<Item = &mut Access> {
        let vectors = self.operands.iter_mut().filter_map(|operand| match operand {
            Arg::Source(Source::Vector(access)) | Arg::Moved(_, access) => Some(access),
            Arg::Source(Source::Immediate(_)) | Arg::Step(_) => None,
        });
        vectors.chain(&mut self.out)
    }

    /// The steps whose results it takes.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> {
        self.operands.iter().filter_map(|operand| match operand {
            Arg::Step(step) => Some(*step),
            Arg::Source(_) | Arg::Moved(..) => None,
        })
    }
}

impl Kind {
    /// One operation of an ALU.
    pub fn alu(op: AluOp, operands: SmallVec<[Source; 3]>) -> Kind {
        Kind::Alu {
            steps: vec![Step { op, operands: operands.into_iter().map(Arg::Source).collect(), out: None }],
        }
    }
}

impl FlowProgram {
    pub fn value(&self, id: ValueId) -> &FlowValue {
        &self.values[id.0 as usize]
    }

    /// Whether each trip of a repeat writes a value anew.
    pub(crate) fn is_state(&self, value: ValueId) -> bool {
        self.repeats.iter().any(|repeat| repeat.states.contains(&value))
    }

    pub fn push(&mut self, value: FlowValue) -> ValueId {
        self.values.push(value);
        ValueId(self.values.len() as u32 - 1)
    }
}

impl Flow {
    /// The values that it writes vectors of, the result last.
    pub fn writes(&self) -> SmallVec<[ValueId; 2]> {
        let kept = match &self.kind {
            Kind::Alu { steps } => steps.iter().filter_map(|step| step.out.as_ref()).collect(),
            _ => Vec::new(),
        };
        kept.into_iter().chain([&self.out]).map(|access| access.value).collect()
    }

    /// The values that it reads, each once.
    pub fn reads(&self) -> SmallVec<[ValueId; 4]> {
        let mut all: SmallVec<[ValueId; 4]> = SmallVec::new();
        match &self.kind {
            Kind::Alu { steps } => {
                all.extend(steps.iter().flat_map(Step::vectors).map(|access| access.value))
            }
            Kind::Fold { from, .. } | Kind::Move { from, .. } | Kind::Transpose { from, .. } => {
                all.push(from.value)
            }
            Kind::Gather { index, from, .. } | Kind::Scatter { index, from, .. } => {
                all.extend([index.value, from.value])
            }
            Kind::Assemble { parts } => all.extend(parts.iter().map(|part| part.from.0)),
            Kind::Merge { vectors, .. } => {
                for piece in vectors.iter().flatten() {
                    all.push(piece.from.0);
                    all.extend(piece.mask.map(|mask| mask.0));
                }
            }
            Kind::Product(product) => all.extend([product.rows.value, product.weights, product.zeros]),
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
