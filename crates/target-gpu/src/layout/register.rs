//! Register layouts: which element of a tile each register of each thread holds.
//! An index's parts and a coordinate are numbers of mixed radix: the atom's bits, then the digits of the repeats in
//! their order. A slot whose coordinates lie beyond the tile holds padding.
//! Method: F2 inside the atom, counting outside; `builder.rs` makes them, `derive.rs` makes one of another.

mod builder;
mod derive;

use smallvec::SmallVec;

use super::atom::{Atom, Coordinates, Index, Part};

pub use builder::LayoutBuilder;

/// Lanes of a warp; PTX ISA, "Programming Model".
pub const LANES: u32 = 32;

/// Each element of a tile has at least one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegisterLayout {
    extents: SmallVec<[u32; 4]>,
    atom: Atom,
    repeats: Vec<Repeat>,
}

/// A digit of a part above the atom that counts along a dim, or, without one, copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repeat {
    pub part: Part,
    pub dim: Option<usize>,
    pub count: u32,
}

impl RegisterLayout {
    /// The tile's extents, in elements.
    pub fn extents(&self) -> &[u32] {
        &self.extents
    }

    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    pub fn atom(&self) -> &Atom {
        &self.atom
    }

    /// Innermost first.
    pub fn repeats(&self) -> &[Repeat] {
        &self.repeats
    }

    /// How many values the part takes: elements a thread, lanes of a warp, warps, CTAs.
    pub fn count(&self, part: Part) -> u32 {
        let counts = self.repeats.iter().filter(|repeat| repeat.part == part).map(|repeat| repeat.count);
        (1 << self.atom.part_bits(part)) * counts.product::<u32>()
    }

    /// Elements that each thread holds, padding and copies among them.
    pub fn registers(&self) -> u32 {
        self.count(Part::Register)
    }

    pub fn warps(&self) -> u32 {
        self.count(Part::Warp)
    }

    /// What the slots reach along a dim: the tile's extent, or more where some hold padding.
    pub fn covered(&self, dim: usize) -> u32 {
        let counts = self.repeats.iter().filter(|repeat| repeat.dim == Some(dim)).map(|repeat| repeat.count);
        (1 << self.atom.dim_bits(dim)) * counts.product::<u32>()
    }

    /// Whether no slot holds padding.
    pub fn is_exact(&self) -> bool {
        (0..self.rank()).all(|dim| self.covered(dim) == self.extents[dim])
    }

    /// The element that a register holds; it may lie beyond the tile, see `holds`.
    pub fn coordinates(&self, index: Index) -> Coordinates {
        let word = self.atom.matrix().apply(self.atom.index_word(&index));
        let mut coordinates: Coordinates =
            (0..self.rank()).map(|dim| self.atom.coordinate(word, dim)).collect();
        let mut above = Part::ALL.map(|part| index.part(part) >> self.atom.part_bits(part));
        let mut strides: Coordinates = (0..self.rank()).map(|dim| 1 << self.atom.dim_bits(dim)).collect();
        for repeat in &self.repeats {
            let rest = &mut above[repeat.part as usize];
            let digit = *rest % repeat.count;
            *rest /= repeat.count;
            if let Some(dim) = repeat.dim {
                coordinates[dim] += digit * strides[dim];
                strides[dim] *= repeat.count;
            }
        }
        coordinates
    }

    /// Whether the coordinates are of an element of the tile.
    pub fn holds(&self, coordinates: &[u32]) -> bool {
        coordinates.iter().zip(&self.extents).all(|(at, extent)| at < extent)
    }

    /// One place of an element: the one with zero in the bits that only copy.
    pub fn index_of(&self, coordinates: &[u32]) -> Index {
        let echelon = self.atom.matrix().echelon();
        let word = echelon.solve(self.atom.coordinate_word(coordinates));
        let mut index = self.atom.index(word.expect("invariant: an atom holds each of its elements"));
        let mut weights = Part::ALL.map(|part| 1 << self.atom.part_bits(part));
        let mut above: Coordinates =
            (0..self.rank()).map(|dim| coordinates[dim] >> self.atom.dim_bits(dim)).collect();
        for repeat in &self.repeats {
            let weight = &mut weights[repeat.part as usize];
            if let Some(dim) = repeat.dim {
                *index.part_mut(repeat.part) += above[dim] % repeat.count * *weight;
                above[dim] /= repeat.count;
            }
            *weight *= repeat.count;
        }
        index
    }

    /// How many places each element has.
    pub fn copies(&self) -> u32 {
        let atom = 1 << self.atom.matrix().echelon().kernel().len();
        self.repeats.iter().filter(|repeat| repeat.dim.is_none()).fold(atom, |n, repeat| n * repeat.count)
    }

    /// The part's atom bits that only copy, as a mask: those that change no coordinate.
    pub fn free_bits(&self, part: Part) -> u32 {
        let zeros = self.atom.columns(part).iter().enumerate().filter(|(_, column)| **column == 0);
        zeros.fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    /// All indices: registers fastest, then lanes, warps and CTAs.
    pub fn indices(&self) -> impl Iterator<Item = Index> + use<> {
        let counts = Part::ALL.map(|part| self.count(part));
        let total: u32 = counts.iter().product();
        (0..total).map(move |at| Index {
            register: at % counts[0],
            lane: at / counts[0] % counts[1],
            warp: at / (counts[0] * counts[1]) % counts[2],
            cta: at / (counts[0] * counts[1] * counts[2]),
        })
    }
}
