//! Shared-memory layouts: the byte offset of each element of a tile.
//! An offset is the atom's word, a linear map of the low coordinate bits, plus digit times stride for each repeat.

use smallvec::SmallVec;

use super::matrix::BitMatrix;
use super::swizzle::{ROWS, Swizzle};

/// No two elements overlap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedLayout {
    extents: SmallVec<[u32; 4]>,
    /// Bytes of an element, a power of two.
    element: u32,
    /// Coordinate bits of each dim in the atom.
    dims: SmallVec<[u32; 4]>,
    /// Coordinate words (the last dim's bits lowest) to byte offsets.
    atom: BitMatrix,
    repeats: Vec<Stride>,
    size: u32,
    alignment: u32,
}

/// A digit of a dim above the atom and those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stride {
    pub dim: usize,
    pub count: u32,
    /// Bytes.
    pub stride: u32,
}

impl SharedLayout {
    /// Row-major order of the dims in `order`, the innermost last, each row of the innermost followed by `padding` bytes.
    /// Panics where the padding is not a multiple of the element.
    pub fn rows(extents: &[u32], element: u32, order: &[usize], padding: u32) -> SharedLayout {
        assert!(padding.is_multiple_of(element), "invariant: rows are padded by whole elements");
        let mut steps = Vec::new();
        let mut stride = element;
        for (at, &dim) in order.iter().rev().enumerate() {
            steps.push(Stride { dim, count: extents[dim], stride });
            stride = stride * extents[dim] + if at == 0 { padding } else { 0 };
        }
        SharedLayout::of_steps(extents, element, &steps, Swizzle::None)
    }

    /// What TMA writes and wgmma reads: dim `major` in rows of the swizzle's span, 8 rows along dim `minor` an atom, atoms
    /// along `minor`, then panels along `major`; of other dims each has its own panels.
    /// Extents are rounded up to whole atoms.
    pub fn panels(
        extents: &[u32],
        element: u32,
        major: usize,
        minor: usize,
        swizzle: Swizzle,
    ) -> SharedLayout {
        let row = swizzle.span() / element;
        let groups = extents[minor].div_ceil(ROWS);
        let panels = extents[major].div_ceil(row);
        let panel = groups * swizzle.atom();
        let mut steps = vec![
            Stride { dim: major, count: row, stride: element },
            Stride { dim: minor, count: ROWS, stride: swizzle.span() },
            Stride { dim: minor, count: groups, stride: swizzle.atom() },
            Stride { dim: major, count: panels, stride: panel },
        ];
        let mut stride = panel * panels;
        for dim in (0..extents.len()).rev().filter(|dim| ![major, minor].contains(dim)) {
            steps.push(Stride { dim, count: extents[dim], stride });
            stride *= extents[dim];
        }
        SharedLayout::of_steps(extents, element, &steps, swizzle)
    }

    /// Digits of the dims, innermost first, and a swizzle of the whole.
    /// Panics where the swizzle's group of rows is not part of the atom.
    pub fn of_steps(extents: &[u32], element: u32, steps: &[Stride], swizzle: Swizzle) -> SharedLayout {
        assert!(element.is_power_of_two(), "invariant: an element has a power of two of bytes");
        let mut bits: Vec<Vec<u64>> = vec![Vec::new(); extents.len()];
        let mut repeats: Vec<Stride> = Vec::new();
        let mut taken = 0_u64;
        for &Stride { dim, mut count, mut stride } in steps {
            let open = !repeats.iter().any(|repeat| repeat.dim == dim);
            while open
                && count.is_multiple_of(2)
                && stride.is_power_of_two()
                && taken & u64::from(stride) == 0
            {
                bits[dim].push(u64::from(swizzle.apply(stride)));
                taken |= u64::from(stride);
                count /= 2;
                stride *= 2;
            }
            if count > 1 {
                repeats.push(Stride { dim, count, stride });
            }
        }
        if swizzle != Swizzle::None {
            let group = u64::from(swizzle.atom() - element);
            assert_eq!(taken & group, group, "invariant: a swizzle exchanges chunks inside the atom");
            let whole = repeats.iter().all(|repeat| repeat.stride.is_multiple_of(swizzle.atom()));
            assert!(whole, "invariant: repeats move whole swizzle atoms");
        }
        let last = steps.iter().map(|step| (step.count - 1) * step.stride).sum::<u32>();
        SharedLayout {
            extents: extents.into(),
            element,
            dims: bits.iter().map(|bits| bits.len() as u32).collect(),
            atom: BitMatrix::new(bits.into_iter().rev().flatten().collect()),
            repeats,
            size: last + element,
            alignment: swizzle.atom().max(super::swizzle::CHUNK * ROWS),
        }
    }

    pub fn extents(&self) -> &[u32] {
        &self.extents
    }

    /// Bytes of an element.
    pub fn element(&self) -> u32 {
        self.element
    }

    /// Bytes from the first to behind the last element.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What the tile's address must be a multiple of, in bytes.
    pub fn alignment(&self) -> u32 {
        self.alignment
    }

    pub fn atom(&self) -> &BitMatrix {
        &self.atom
    }

    /// Coordinate bits of a dim that the atom maps.
    pub fn dim_bits(&self, dim: usize) -> u32 {
        self.dims[dim]
    }

    pub fn repeats(&self) -> &[Stride] {
        &self.repeats
    }

    /// The byte offset of an element. Coordinates may reach to the end of the last atom.
    pub fn offset(&self, coordinates: &[u32]) -> u32 {
        let mut shift = 0;
        let mut word = 0;
        let mut above: SmallVec<[u32; 4]> = SmallVec::from_slice(coordinates);
        for dim in (0..self.dims.len()).rev() {
            let bits = self.dims[dim];
            word |= u64::from(coordinates[dim] & ((1 << bits) - 1)) << shift;
            above[dim] >>= bits;
            shift += bits;
        }
        let mut offset = self.atom.apply(word) as u32;
        for repeat in &self.repeats {
            offset += above[repeat.dim] % repeat.count * repeat.stride;
            above[repeat.dim] /= repeat.count;
        }
        offset
    }

    /// The dim and the bit of its coordinate that alone decide a bit of the offset. None where several do, or none.
    pub fn coordinate_bit(&self, offset_bit: u32) -> Option<(usize, u32)> {
        let row = self.atom.row(offset_bit);
        let alone =
            row.count_ones() == 1 && self.atom.columns()[row.trailing_zeros() as usize] == 1 << offset_bit;
        let aligned = self.repeats.iter().all(|repeat| repeat.stride.trailing_zeros() > offset_bit);
        (alone && aligned).then_some(())?;
        let mut bit = row.trailing_zeros();
        let mut dim = self.dims.len() - 1;
        while bit >= self.dims[dim] {
            bit -= self.dims[dim];
            dim -= 1;
        }
        Some((dim, bit))
    }
}
