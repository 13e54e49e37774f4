//! Matrix descriptors of `wgmma`: 64 bits that say where a factor's elements lie in shared memory.
//! Source: PTX ISA, "Matrix Descriptor Format" and "Strides" of wgmma; CUTLASS `include/cute/arch/mma_sm90_desc.hpp` (the
//! fields) and `include/cute/atom/mma_traits_sm90_gmma.hpp` (the canonical forms).
//! Method: offsets at a few elements give the strides of each form; then every 16-byte chunk of every window that an
//! instruction may read is compared with what the form says.

use super::NotCanonical;
use crate::layout::swizzle::{CHUNK, ROWS};
use crate::layout::{SharedLayout, Swizzle};

/// Bytes along k that one instruction reads, for every type.
pub const K_BYTES: u32 = 32;

/// A descriptor's fields but the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixDescriptor {
    /// Bytes between neighbouring blocks along the form's leading dim; one chunk where the form has none.
    pub leading: u32,
    /// Bytes between neighbouring groups of 8 rows; of blocks along m or n where rows lie along k without a swizzle.
    pub stride: u32,
    pub swizzle: Swizzle,
}

/// A factor in shared memory as instructions read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixOperand {
    pub descriptor: MatrixDescriptor,
    /// Whether neighbours in memory lie along m or n: the instruction's `transpose` flag.
    pub mn_major: bool,
}

/// The part of a tile that one instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The tile's dim of m or n, and of k.
    pub mn_dim: usize,
    pub k_dim: usize,
    /// Elements along m (64) or n.
    pub mn: u32,
}

impl MatrixDescriptor {
    /// The 64 bits for a matrix at an address of shared memory, in bytes.
    pub fn bits(&self, address: u32) -> u64 {
        let field = |bytes: u32| u64::from(bytes >> 4 & 0x3fff);
        let mode = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::B128 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
        };
        field(address) | field(self.leading) << 16 | field(self.stride) << 32 | mode << 62
    }

    /// Where the form puts an element of the window, in bytes from the tile's start: `i` along m or n, `j` along k.
    fn offset(&self, mn_major: bool, element: u32, start: u32, i: u32, j: u32) -> u32 {
        let span = self.swizzle.span();
        let (inner, row) = if mn_major { (i * element, j) } else { (j * element, i) };
        let (block, within) = (inner / span, inner % span);
        let (by_block, by_rows) = match (self.swizzle, mn_major) {
            (Swizzle::None, true) => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        let linear = start + within + block * by_block + row % ROWS * span + row / ROWS * by_rows;
        self.swizzle.apply(linear)
    }
}

/// The operand for a tile's layout, read in windows along both dims.
/// Errors: the layout is none of the canonical forms.
pub fn matrix_operand(shared: &SharedLayout, window: Window) -> Result<MatrixOperand, NotCanonical> {
    // The widest swizzle first: of several forms it is the one with the fewest conflicts.
    let forms = Swizzle::ALL.into_iter().rev().flat_map(|swizzle| [(false, swizzle), (true, swizzle)]);
    let mut operands = forms.filter_map(|(mn_major, swizzle)| {
        let operand = MatrixOperand { descriptor: strides(shared, window, mn_major, swizzle)?, mn_major };
        describes(&operand, shared, window).then_some(operand)
    });
    operands.next().ok_or(NotCanonical::MatrixDescriptor)
}

/// The address of a window's first element, in bytes from the tile's start: what a descriptor's address field gets.
pub fn window_start(shared: &SharedLayout, window: Window, mn: u32, k: u32) -> u32 {
    shared.offset(&coordinates(shared, window, mn, k))
}

fn coordinates(shared: &SharedLayout, window: Window, mn: u32, k: u32) -> Vec<u32> {
    let mut at = vec![0; shared.extents().len()];
    (at[window.mn_dim], at[window.k_dim]) = (mn, k);
    at
}

/// The strides of a form, from where it puts the first element of the second block and of the second group of rows.
fn strides(
    shared: &SharedLayout,
    window: Window,
    mn_major: bool,
    swizzle: Swizzle,
) -> Option<MatrixDescriptor> {
    let row = swizzle.span() / shared.element();
    let (mn, k) = (window.mn, K_BYTES / shared.element());
    let (inner, rows) = if mn_major { (mn, k) } else { (k, mn) };
    let at = |inner: u32, row: u32| {
        let (mn, k) = if mn_major { (inner, row) } else { (row, inner) };
        window_start(shared, window, mn, k)
    };
    let first = at(0, 0);
    let by_block = if inner > row { at(row, 0).checked_sub(first)? } else { CHUNK };
    let by_rows = if rows > ROWS { at(0, ROWS).checked_sub(first)? } else { CHUNK };
    let (leading, stride) =
        if swizzle == Swizzle::None && mn_major { (by_rows, by_block) } else { (by_block, by_rows) };
    let encodable = |bytes: u32| bytes.is_multiple_of(CHUNK) && bytes >> 4 < 1 << 14;
    (encodable(leading) && encodable(stride)).then_some(MatrixDescriptor { leading, stride, swizzle })
}

/// Whether each chunk of each window lies where the form says.
fn describes(operand: &MatrixOperand, shared: &SharedLayout, window: Window) -> bool {
    let element = shared.element();
    // Rows along m or n exist for 16-bit elements only.
    if element > CHUNK / 4 || operand.mn_major && element != 2 {
        return false;
    }
    let (mn, k) = (shared.extents()[window.mn_dim], shared.extents()[window.k_dim]);
    let k_step = K_BYTES / element;
    if mn % window.mn != 0 || k % k_step != 0 || !chunks_are_whole(operand, shared, window) {
        return false;
    }
    let chunk = CHUNK / element;
    let (mn_chunk, k_chunk) = if operand.mn_major { (chunk, 1) } else { (1, chunk) };
    let mut starts = (0..mn)
        .step_by(window.mn as usize)
        .flat_map(|mn| (0..k).step_by(k_step as usize).map(move |k| (mn, k)));
    starts.all(|(mn, k)| {
        let start = window_start(shared, window, mn, k);
        let in_first_row = start % operand.descriptor.swizzle.atom() < operand.descriptor.swizzle.span();
        in_first_row
            && (0..window.mn).step_by(mn_chunk as usize).all(|i| {
                (0..k_step).step_by(k_chunk as usize).all(|j| {
                    let expected = operand.descriptor.offset(operand.mn_major, element, start, i, j);
                    expected == window_start(shared, window, mn + i, k + j)
                })
            })
    })
}

/// Whether 16-byte chunks hold neighbours along the form's inner dim.
fn chunks_are_whole(operand: &MatrixOperand, shared: &SharedLayout, window: Window) -> bool {
    let dim = if operand.mn_major { window.mn_dim } else { window.k_dim };
    let first = shared.element().trailing_zeros();
    (first..CHUNK.trailing_zeros()).all(|bit| shared.coordinate_bit(bit) == Some((dim, bit - first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KM: Window = Window { mn_dim: 0, k_dim: 1, mn: 64 };

    fn operand(shared: &SharedLayout) -> Result<MatrixOperand, NotCanonical> {
        matrix_operand(shared, KM)
    }

    #[test]
    fn panels_have_their_swizzle_and_their_major_dim() {
        for swizzle in Swizzle::ALL {
            for (major, minor) in [(1, 0), (0, 1)] {
                let shared = SharedLayout::panels(&[128, 64], 2, major, minor, swizzle);
                let operand = operand(&shared).expect("canonical");
                assert_eq!((operand.descriptor.swizzle, operand.mn_major), (swizzle, major == 0));
            }
        }
    }

    #[test]
    fn other_layouts_are_refused() {
        let refused =
            |shared: SharedLayout| assert_eq!(operand(&shared), Err(NotCanonical::MatrixDescriptor));
        refused(SharedLayout::rows(&[64, 64], 2, &[0, 1], 0));
        refused(SharedLayout::rows(&[64, 64], 2, &[0, 1], 16));
        // Rows along m of other types than those of 16 bits.
        refused(SharedLayout::panels(&[64, 64], 1, 0, 1, Swizzle::B128));
        refused(SharedLayout::panels(&[64, 64], 4, 0, 1, Swizzle::B128));
        // A tile that windows do not divide.
        refused(SharedLayout::panels(&[96, 64], 2, 1, 0, Swizzle::B128));
        refused(SharedLayout::panels(&[64, 24], 2, 1, 0, Swizzle::B128));
    }

    #[test]
    fn rows_of_one_chunk_are_the_form_without_a_swizzle() {
        // 64 rows of 16 bytes, then the next 16 bytes along k: what a box 8 elements wide writes.
        let shared = SharedLayout::rows(&[64, 2, 8], 2, &[1, 0, 2], 0);
        let flat = SharedLayout::panels(&[64, 16], 2, 1, 0, Swizzle::None);
        for (row, k) in (0..64).flat_map(|row| (0..16).map(move |k| (row, k))) {
            assert_eq!(shared.offset(&[row, k / 8, k % 8]), flat.offset(&[row, k]));
        }
        let descriptor = operand(&flat).expect("canonical").descriptor;
        assert_eq!((descriptor.leading, descriptor.stride), (1024, 128));
    }

    #[test]
    fn steps_along_k_stay_in_the_swizzle_s_first_row() {
        let shared = SharedLayout::panels(&[128, 64], 2, 1, 0, Swizzle::B128);
        let starts: Vec<u32> = (0..4).map(|step| window_start(&shared, KM, 64, 16 * step)).collect();
        assert_eq!(starts, [8192, 8224, 8256, 8288]);
    }
}
