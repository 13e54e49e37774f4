//! An image: what lies in the SRAM of each chip, how inputs and results lie there, and programs over it.

use crate::floor::{Half, QueueId};
use crate::tag::{Tag, Tags};
use crate::word::Word;
use tegula_base::DType;

/// All that a machine runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// SHA-256 of the machine file, in hexadecimal.
    pub machine: String,
    /// What tags name.
    pub values: Vec<ValueName>,
    pub chips: Vec<Chip>,
    pub programs: Vec<Program>,
}

/// A value of the program, in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueName {
    pub name: String,
    /// The node of the model that it is part of; empty where there is none.
    pub node: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chip {
    /// Constants, each address once.
    pub cells: Vec<Cell>,
    pub bindings: Vec<Binding>,
}

/// A vector of SRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub at: Address,
    pub tag: Tag,
    /// Of all lanes.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub half: Half,
    pub slice: u8,
    pub bank: u8,
    pub word: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    Input,
    Output,
    /// Kept from run to run; 0 at first.
    State,
}

/// A tensor of the host, and where its vectors lie. Its elements are rows of `row`, each cut into vectors of `lanes`, the last
/// of a row with what is left; byte p of an element is in part p. Lanes behind the elements are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub name: String,
    pub kind: BindingKind,
    /// Of 1, 2 or 4 bytes.
    pub dtype: DType,
    pub row: u32,
    pub lanes: u32,
    pub value: u32,
    /// Of each vector in order, of each part.
    pub places: Vec<Address>,
}

impl Binding {
    /// Elements of the vector with this index.
    pub fn elements(&self, index: u32) -> u32 {
        let vectors = self.row.div_ceil(self.lanes.max(1)).max(1);
        let before = index % vectors * self.lanes;
        self.lanes.min(self.row.saturating_sub(before))
    }

    /// Elements of the tensor.
    pub fn len(&self) -> usize {
        (0..self.vectors()).map(|index| self.elements(index) as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vectors, each of as many parts as an element has bytes.
    pub fn vectors(&self) -> u32 {
        (self.places.len() / self.dtype.size().max(1)) as u32
    }
}

/// What one run does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub phases: Vec<Phase>,
}

/// A scheduled block: all queues start in its cycle 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// How often it runs, one trip after the other.
    pub trips: u32,
    pub queues: Vec<Queue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub chip: u16,
    pub id: QueueId,
    pub words: Vec<Word>,
    /// Of each word.
    pub tags: Vec<Tags>,
}

impl Queue {
    pub fn new(chip: u16, id: QueueId) -> Queue {
        Queue { chip, id, words: Vec::new(), tags: Vec::new() }
    }

    pub fn push(&mut self, word: Word, tags: &[Tag]) {
        self.words.push(word);
        self.tags.push(Tags::from_slice(tags));
    }
}
