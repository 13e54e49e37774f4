//! How a warp moves a tile between registers and shared memory: vectors, or 8x8 matrices where the layouts allow them.
//! Method: a vector's bytes are offset bits that one coordinate bit decides alone, which a register bit decides alone;
//! of matrices the two low lane bits hold the middle of a 16-byte row (PTX ISA, `ldmatrix`, `stmatrix`).

use super::atom::{Atom, Index, Part};
use super::banks::{fewest_wavefronts, wavefronts};
use super::register::RegisterLayout;
use super::shared::SharedLayout;

/// Bytes of the widest vector access of a thread.
const WIDEST: u32 = 16;

/// Whether the machine has `ldmatrix` (loads) or `stmatrix` (stores) for this direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixMoves(pub bool);

/// What one instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// So many bytes of neighbouring elements a thread.
    Vector { bytes: u32 },
    /// 8x8 matrices of 16 bits, 1, 2 or 4 of them, transposed on their way or not.
    Matrix { count: u32, transposed: bool },
}

/// All moves of a thread. A layout's elements are packed by number: those of one 32-bit register are neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub kind: AccessKind,
    /// For each instruction the elements that it moves: for vectors in the order of memory, for matrices in their order.
    pub moves: Vec<Vec<u32>>,
    /// Wavefronts of shared memory that one warp needs for the tile.
    pub wavefronts: u32,
    /// The fewest for so many bytes.
    pub fewest: u32,
}

/// The best access of the tile. Both layouts are of one tile; `matrices` says whether matrix moves may be used.
pub fn plan_access(register: &RegisterLayout, shared: &SharedLayout, matrices: MatrixMoves) -> Access {
    let matrix = matrices.0.then(|| matrix_kind(register, shared)).flatten();
    let (kind, moves) = match matrix {
        Some(kind) => (kind, matrix_moves(register, shared, kind)),
        None => vector_moves(register, shared),
    };
    let mut access = Access { kind, moves, wavefronts: 0, fewest: 0 };
    access.count_wavefronts(register, shared);
    access
}

impl Access {
    /// The element whose offset a lane gives as the address of move `at`.
    pub fn addressed(&self, at: usize, lane: u32, warp: u32) -> Index {
        let elements = &self.moves[at];
        match self.kind {
            AccessKind::Vector { .. } => Index { register: elements[0], lane, warp, cta: 0 },
            AccessKind::Matrix { count, transposed } => {
                // Lanes 8 i to 8 i + 7 give the rows of matrix i; with fewer matrices the others repeat them.
                let (matrix, row) = (lane / 8 % count, lane % 8);
                let per_matrix = elements.len() as u32 / count;
                let first = elements[(matrix * per_matrix) as usize];
                let (register, lane) = if transposed { (first + row % 2, row / 2) } else { (first, 4 * row) };
                Index { register, lane, warp, cta: 0 }
            }
        }
    }

    fn count_wavefronts(&mut self, register: &RegisterLayout, shared: &SharedLayout) {
        for at in 0..self.moves.len() {
            let offset = |lane| shared.offset(&register.coordinates(self.addressed(at, lane, 0)));
            let offsets = std::array::from_fn(|lane| offset(lane as u32));
            let (taken, fewest) = match self.kind {
                AccessKind::Vector { bytes } => (wavefronts(&offsets, bytes), fewest_wavefronts(bytes)),
                // A matrix is 8 rows of 16 bytes: a quarter of an access of 16 bytes a lane.
                AccessKind::Matrix { count, .. } => (wavefronts(&offsets, WIDEST) * count / 4, count),
            };
            self.wavefronts += taken;
            self.fewest += fewest;
        }
    }
}

/// The image of a coordinate bit, as a coordinate word of the register layout. None above its atom.
fn word_of(atom: &Atom, (dim, bit): (usize, u32)) -> Option<u64> {
    (bit < atom.dim_bits(dim)).then(|| 1 << (atom.dim_shift(dim) + bit))
}

/// Whether bit `bit` of the part is the only bit of the layout that changes this coordinate bit, and changes no other.
fn is_alone(atom: &Atom, part: Part, bit: u32, word: u64) -> bool {
    let changes = atom.matrix().columns().iter().filter(|column| **column & word != 0).count();
    changes == 1 && atom.columns(part).get(bit as usize) == Some(&word)
}

/// Neighbours of up to 16 bytes, in the order of memory.
fn vector_moves(register: &RegisterLayout, shared: &SharedLayout) -> (AccessKind, Vec<Vec<u32>>) {
    let atom = register.atom();
    let element_bit = shared.element().trailing_zeros();
    let mut bits = Vec::new();
    while shared.element() << bits.len() < WIDEST {
        let word = shared
            .coordinate_bit(element_bit + bits.len() as u32)
            .and_then(|coordinate| word_of(atom, coordinate));
        let Some(word) = word else { break };
        let bit = (0..atom.part_bits(Part::Register)).find(|bit| is_alone(atom, Part::Register, *bit, word));
        let Some(bit) = bit else { break };
        bits.push(bit);
    }
    let mask: u32 = bits.iter().map(|bit| 1 << bit).sum();
    let element = |first: u32, at: u32| {
        bits.iter().enumerate().fold(first, |element, (place, bit)| element | (at >> place & 1) << bit)
    };
    let firsts = (0..register.registers()).filter(|element| element & mask == 0);
    let moves = firsts.map(|first| (0..1 << bits.len()).map(|at| element(first, at)).collect());
    (AccessKind::Vector { bytes: shared.element() << bits.len() }, moves.collect())
}

/// Matrix moves, where the layouts are theirs.
fn matrix_kind(register: &RegisterLayout, shared: &SharedLayout) -> Option<AccessKind> {
    let atom = register.atom();
    let element_bit = shared.element().trailing_zeros();
    let packed = 2_u32.checked_sub(element_bit)?;
    let words: Option<Vec<u64>> = (element_bit..4)
        .map(|bit| shared.coordinate_bit(bit).and_then(|coordinate| word_of(atom, coordinate)))
        .collect();
    let words = words?;
    let alone = |parts: &[(Part, u32)]| {
        words.len() == parts.len()
            && words.iter().zip(parts).all(|(word, (part, bit))| is_alone(atom, *part, *bit, *word))
    };
    let within: Vec<(Part, u32)> = (0..packed).map(|bit| (Part::Register, bit)).collect();
    let straight = [&within[..], &[(Part::Lane, 0), (Part::Lane, 1)]].concat();
    let crossed = [(Part::Lane, 2), (Part::Lane, 3), (Part::Lane, 4)];
    let transposed = alone(&crossed) && atom.part_bits(Part::Register) > 0;
    (transposed || alone(&straight)).then_some(())?;
    let words = register.registers() >> packed;
    // More than one matrix: the choice of a matrix must be register bits of the atom or repeats, all of whole rows.
    let count = if words.is_multiple_of(4) { 4 } else { 1 + u32::from(words.is_multiple_of(2)) };
    Some(AccessKind::Matrix { count, transposed })
}

fn matrix_moves(register: &RegisterLayout, shared: &SharedLayout, kind: AccessKind) -> Vec<Vec<u32>> {
    let AccessKind::Matrix { count, .. } = kind else { return Vec::new() };
    let elements = count * 4 / shared.element();
    let starts = (0..register.registers()).step_by(elements as usize);
    starts.map(|first| (first..first + elements).collect()).collect()
}
