//! The F2-linear part of a layout: index bits to coordinate bits, each as one word.
//! An index word holds the register's bits lowest, then lane, warp and CTA; a coordinate word the last dim's lowest.

use smallvec::SmallVec;

use super::matrix::BitMatrix;

/// The coordinates of an element, one a dim.
pub type Coordinates = SmallVec<[u32; 4]>;

/// The parts of an index, as stands in registers what a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Which element of those that a thread holds.
    Register,
    /// Which thread of a warp.
    Lane,
    /// Which warp of those that share the tile.
    Warp,
    /// Which CTA of the cluster.
    Cta,
}

impl Part {
    pub const ALL: [Part; 4] = [Part::Register, Part::Lane, Part::Warp, Part::Cta];
}

/// Where one copy of an element is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index {
    pub register: u32,
    pub lane: u32,
    pub warp: u32,
    pub cta: u32,
}

impl Index {
    pub fn part(&self, part: Part) -> u32 {
        match part {
            Part::Register => self.register,
            Part::Lane => self.lane,
            Part::Warp => self.warp,
            Part::Cta => self.cta,
        }
    }

    pub fn part_mut(&mut self, part: Part) -> &mut u32 {
        match part {
            Part::Register => &mut self.register,
            Part::Lane => &mut self.lane,
            Part::Warp => &mut self.warp,
            Part::Cta => &mut self.cta,
        }
    }
}

/// A linear map of index words onto coordinate words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// Bits of each part.
    parts: [u32; 4],
    /// Bits of each dim.
    dims: SmallVec<[u32; 4]>,
    matrix: BitMatrix,
}

impl Atom {
    /// `columns[part]`: for each bit of the part its image, a coordinate word. Panics where the map is not onto.
    pub(super) fn new(columns: [Vec<u64>; 4], dims: SmallVec<[u32; 4]>) -> Atom {
        let parts = std::array::from_fn(|part| columns[part].len() as u32);
        let matrix = BitMatrix::new(columns.concat());
        assert_eq!(matrix.rank(), dims.iter().sum::<u32>(), "invariant: an atom holds each of its elements");
        Atom { parts, dims, matrix }
    }

    /// Index words to coordinate words.
    pub fn matrix(&self) -> &BitMatrix {
        &self.matrix
    }

    /// How many bits a part has.
    pub fn part_bits(&self, part: Part) -> u32 {
        self.parts[part as usize]
    }

    /// The images of the part's bits.
    pub fn columns(&self, part: Part) -> &[u64] {
        let first = self.part_shift(part) as usize;
        &self.matrix.columns()[first..first + self.part_bits(part) as usize]
    }

    /// Where the part's bits begin in an index word.
    pub fn part_shift(&self, part: Part) -> u32 {
        self.parts[..part as usize].iter().sum()
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How many bits a dim has.
    pub fn dim_bits(&self, dim: usize) -> u32 {
        self.dims[dim]
    }

    /// Where the dim's bits begin in a coordinate word.
    pub fn dim_shift(&self, dim: usize) -> u32 {
        self.dims[dim + 1..].iter().sum()
    }

    /// The dim's coordinate within the atom.
    pub fn coordinate(&self, word: u64, dim: usize) -> u32 {
        field(word, self.dim_shift(dim), self.dims[dim])
    }

    /// The coordinate word of coordinates, each taken within the atom.
    pub fn coordinate_word(&self, coordinates: &[u32]) -> u64 {
        (0..self.rank()).fold(0, |word, dim| {
            let bits = u64::from(coordinates[dim]) & ((1 << self.dims[dim]) - 1);
            word | bits << self.dim_shift(dim)
        })
    }

    /// The index word of an index, each part taken within the atom.
    pub fn index_word(&self, index: &Index) -> u64 {
        Part::ALL.into_iter().fold(0, |word, part| {
            let bits = u64::from(index.part(part)) & ((1 << self.part_bits(part)) - 1);
            word | bits << self.part_shift(part)
        })
    }

    pub fn index(&self, word: u64) -> Index {
        let mut index = Index::default();
        for part in Part::ALL {
            *index.part_mut(part) = field(word, self.part_shift(part), self.part_bits(part));
        }
        index
    }
}

fn field(word: u64, shift: u32, bits: u32) -> u32 {
    (word >> shift & ((1 << bits) - 1)) as u32
}
