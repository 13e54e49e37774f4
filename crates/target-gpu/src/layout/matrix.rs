//! Matrices over two elements, by columns: column `j` is the image of input bit `j`, a word of output bits.
//! At most 64 output bits and 64 columns. Addition is exclusive or.

/// A linear map of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BitMatrix {
    columns: Vec<u64>,
}

/// The reduced basis of a span: each vector has a leading bit that no other one has, and is known as a sum of columns.
#[derive(Clone, Debug)]
pub struct Echelon {
    /// Vector and the columns whose sum it is, as a mask.
    basis: Vec<(u64, u64)>,
    /// Sums of columns that are zero.
    kernel: Vec<u64>,
}

impl BitMatrix {
    /// Panics where there are more than 64 columns.
    pub fn new(columns: Vec<u64>) -> BitMatrix {
        assert!(columns.len() <= 64, "invariant: a bit matrix has at most 64 columns");
        BitMatrix { columns }
    }

    /// The map of so many bits to themselves.
    pub fn identity(bits: u32) -> BitMatrix {
        BitMatrix::new((0..bits).map(|bit| 1 << bit).collect())
    }

    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// How many input bits there are.
    pub fn width(&self) -> u32 {
        self.columns.len() as u32
    }

    /// The image of a word; input bits above the width count as zero.
    pub fn apply(&self, input: u64) -> u64 {
        let set = self.columns.iter().enumerate().filter(|(bit, _)| input >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    }

    /// First `self`, then `next`.
    pub fn then(&self, next: &BitMatrix) -> BitMatrix {
        BitMatrix::new(self.columns.iter().map(|column| next.apply(*column)).collect())
    }

    /// The columns of both side by side.
    pub fn beside(&self, right: &BitMatrix) -> BitMatrix {
        BitMatrix::new(self.columns.iter().chain(&right.columns).copied().collect())
    }

    /// The input bits that make output bit `bit`: its row, as a mask.
    pub fn row(&self, bit: u32) -> u64 {
        let ones = self.columns.iter().enumerate().filter(|(_, column)| *column >> bit & 1 == 1);
        ones.fold(0, |row, (input, _)| row | 1 << input)
    }

    pub fn rank(&self) -> u32 {
        self.echelon().rank()
    }

    /// Gaussian elimination.
    pub fn echelon(&self) -> Echelon {
        let mut echelon = Echelon { basis: Vec::new(), kernel: Vec::new() };
        for (input, &column) in self.columns.iter().enumerate() {
            echelon.insert(column, 1 << input);
        }
        echelon
    }

    /// The inverse as a map of `bits` output bits. None where the map is not one to one, or not onto.
    pub fn inverse(&self, bits: u32) -> Option<BitMatrix> {
        let echelon = self.echelon();
        (echelon.kernel.is_empty() && self.width() == bits).then_some(())?;
        echelon.preimages(bits)
    }

    /// A map back: `right_inverse` then `self` is the identity of `bits` bits. Free inputs get zero.
    /// None where the map is not onto.
    pub fn right_inverse(&self, bits: u32) -> Option<BitMatrix> {
        self.echelon().preimages(bits)
    }
}

impl Echelon {
    pub fn rank(&self) -> u32 {
        self.basis.len() as u32
    }

    /// A basis of the inputs with image zero.
    pub fn kernel(&self) -> &[u64] {
        &self.kernel
    }

    /// Columns whose sum is the vector, as a mask. None where it is not in the span.
    pub fn solve(&self, vector: u64) -> Option<u64> {
        let (rest, sum) = self.reduce(vector, 0);
        (rest == 0).then_some(sum)
    }

    pub fn contains(&self, vector: u64) -> bool {
        self.solve(vector).is_some()
    }

    /// Adds a vector that is the sum of the columns `name`. Returns whether the span grew.
    pub fn insert(&mut self, vector: u64, name: u64) -> bool {
        let (rest, sum) = self.reduce(vector, name);
        if rest == 0 {
            self.kernel.push(sum);
            return false;
        }
        let lead = leading_bit(rest);
        for (other, other_sum) in &mut self.basis {
            if *other >> lead & 1 == 1 {
                *other ^= rest;
                *other_sum ^= sum;
            }
        }
        self.basis.push((rest, sum));
        true
    }

    fn reduce(&self, mut vector: u64, mut sum: u64) -> (u64, u64) {
        for (basis, columns) in &self.basis {
            if vector >> leading_bit(*basis) & 1 == 1 {
                vector ^= basis;
                sum ^= columns;
            }
        }
        (vector, sum)
    }

    fn preimages(&self, bits: u32) -> Option<BitMatrix> {
        let columns: Option<Vec<u64>> = (0..bits).map(|bit| self.solve(1 << bit)).collect();
        columns.map(BitMatrix::new)
    }
}

fn leading_bit(word: u64) -> u32 {
    63 - word.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices of a fixed stream of numbers, of up to 6 by 6 bits.
    fn samples() -> impl Iterator<Item = BitMatrix> {
        let mut state = 1_u64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        (0..400).map(move |_| {
            let (width, height) = (next() % 6 + 1, next() % 6 + 1);
            BitMatrix::new((0..width).map(|_| next() & ((1 << height) - 1)).collect())
        })
    }

    fn images(matrix: &BitMatrix) -> Vec<u64> {
        (0..1 << matrix.width()).map(|input| matrix.apply(input)).collect()
    }

    #[test]
    fn rank_kernel_and_solutions_agree_with_counting() {
        for matrix in samples() {
            let images = images(&matrix);
            let distinct: std::collections::BTreeSet<u64> = images.iter().copied().collect();
            let echelon = matrix.echelon();
            assert_eq!(1 << matrix.rank(), distinct.len());
            assert_eq!(images.iter().filter(|image| **image == 0).count(), 1 << echelon.kernel().len());
            assert!(echelon.kernel().iter().all(|input| matrix.apply(*input) == 0));
            for vector in 0..64 {
                let solution = echelon.solve(vector);
                assert_eq!(solution.is_some(), distinct.contains(&vector), "{matrix:?} {vector}");
                assert!(solution.is_none_or(|input| matrix.apply(input) == vector));
            }
        }
    }

    #[test]
    fn inverses_undo() {
        let mut invertible = 0;
        for matrix in samples() {
            let onto = |bits: u32| (0..1 << bits).all(|output| images(&matrix).contains(&output));
            for bits in 1..=6 {
                let back = matrix.right_inverse(bits);
                assert_eq!(back.is_some(), onto(bits));
                if let Some(back) = back {
                    assert!((0..1 << bits).all(|output| matrix.apply(back.apply(output)) == output));
                }
                if let Some(inverse) = matrix.inverse(bits) {
                    invertible += 1;
                    assert_eq!(matrix.then(&inverse), BitMatrix::identity(bits));
                }
            }
        }
        assert!(invertible > 10);
    }

    #[test]
    fn rows_are_the_other_view_of_columns() {
        for matrix in samples() {
            for (input, image) in images(&matrix).into_iter().enumerate() {
                let by_rows = (0..6).fold(0, |sum, bit| {
                    sum | u64::from((matrix.row(bit) & input as u64).count_ones() & 1) << bit
                });
                assert_eq!(by_rows, image);
            }
        }
    }
}
