//! Layouts made of others, as shape ops of a tile ask: no element moves to another thread.

use smallvec::SmallVec;

use super::super::atom::{Atom, Part};
use super::super::matrix::BitMatrix;
use super::{RegisterLayout, Repeat};

impl RegisterLayout {
    /// The layout of the transposed tile: its dim `i` is dim `order[i]` of this one.
    pub fn transposed(&self, order: &[usize]) -> RegisterLayout {
        let place = |dim: usize| {
            order.iter().position(|from| *from == dim).expect("invariant: an order names each dim")
        };
        let dims = order.iter().map(|dim| self.atom.dim_bits(*dim)).collect();
        let repeats =
            self.repeats.iter().map(|repeat| Repeat { dim: repeat.dim.map(place), ..*repeat }).collect();
        let extents = order.iter().map(|dim| self.extents[*dim]).collect();
        let columns = Part::ALL.map(|part| self.atom.columns(part).to_vec());
        let sources: SmallVec<[usize; 4]> = SmallVec::from_slice(order);
        RegisterLayout { extents, atom: self.moved(columns, &sources, dims), repeats }
    }

    /// The layout of a slice across a dim, and of what a reduction over the dim leaves: the dim is gone, registers that
    /// differed in it alone are one, threads that differed in it alone hold copies.
    pub fn sliced(&self, dim: usize) -> RegisterLayout {
        let sources: SmallVec<[usize; 4]> = (0..self.rank()).filter(|kept| *kept != dim).collect();
        let dims: SmallVec<[u32; 4]> = sources.iter().map(|kept| self.atom.dim_bits(*kept)).collect();
        let gone = |repeat: &Repeat| repeat.part == Part::Register && repeat.dim == Some(dim);
        let repeats = self.repeats.iter().filter(|repeat| !gone(repeat)).map(|repeat| Repeat {
            dim: repeat.dim.filter(|kept| *kept != dim).map(|kept| kept - usize::from(kept > dim)),
            ..*repeat
        });
        let extents = sources.iter().map(|kept| self.extents[*kept]).collect();
        let columns = Part::ALL.map(|part| self.atom.columns(part).to_vec());
        let atom = self.moved(columns, &sources, dims.clone());
        let mut seen = BitMatrix::default().echelon();
        let mut columns = Part::ALL.map(|part| atom.columns(part).to_vec());
        let was_copy = self.free_bits(Part::Register);
        let registers = columns[0].iter().enumerate();
        columns[0] = registers
            .filter(|(bit, column)| seen.insert(**column, 0) || was_copy >> bit & 1 == 1)
            .map(|(_, column)| *column)
            .collect();
        RegisterLayout { extents, atom: Atom::new(columns, dims), repeats: repeats.collect() }
    }

    /// The layout of the tile with a new dim of extent 1 before dim `dim`.
    pub fn expanded(&self, dim: usize) -> RegisterLayout {
        let mut layout = self.clone();
        layout.extents.insert(dim, 1);
        let mut dims: SmallVec<[u32; 4]> = (0..self.rank()).map(|dim| self.atom.dim_bits(dim)).collect();
        dims.insert(dim, 0);
        layout.atom = Atom::new(Part::ALL.map(|part| self.atom.columns(part).to_vec()), dims);
        for repeat in &mut layout.repeats {
            repeat.dim = repeat.dim.map(|kept| kept + usize::from(kept >= dim));
        }
        layout
    }

    /// An atom whose dim `i` is dim `sources[i]` of this one's; other dims are dropped.
    fn moved(&self, columns: [Vec<u64>; 4], sources: &[usize], dims: SmallVec<[u32; 4]>) -> Atom {
        let image = |word: &u64| {
            let mut shift = 0;
            sources.iter().zip(&dims).rev().fold(0, |moved, (source, bits)| {
                let at = shift;
                shift += bits;
                moved | u64::from(self.atom.coordinate(*word, *source)) << at
            })
        };
        Atom::new(columns.map(|columns| columns.iter().map(image).collect()), dims.clone())
    }
}
