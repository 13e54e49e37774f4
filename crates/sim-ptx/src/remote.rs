//! The global side of a bulk copy: bytes, or a box of a tensor as a map describes it.

use tegula_isa_ptx::types::Scalar;
use tegula_package::{MapElement, TensorMap};

use crate::problem::{Problem, Run};

/// Bytes of global memory, or a box of a tensor.
pub enum Remote {
    Bytes { address: u64, len: usize },
    Box { map: Box<TensorMap>, corner: Vec<i64> },
}

/// Bytes of a box that are in the tensor, in one row.
pub struct Piece {
    /// From the start of the box.
    pub offset: usize,
    pub address: u64,
    pub len: usize,
}

impl Remote {
    pub fn len(&self) -> usize {
        match self {
            Remote::Bytes { len, .. } => *len,
            Remote::Box { map, .. } => map.box_bytes() as usize,
        }
    }

    pub fn scalar(&self) -> Scalar {
        let Remote::Box { map, .. } = self else { return Scalar::B32 };
        match map.element {
            MapElement::U8 => Scalar::U8,
            MapElement::U16 => Scalar::U16,
            MapElement::U32 => Scalar::U32,
            MapElement::S32 => Scalar::S32,
            MapElement::U64 => Scalar::U64,
            MapElement::S64 => Scalar::S64,
            MapElement::F16 => Scalar::F16,
            MapElement::BF16 => Scalar::BF16,
            MapElement::F32 | MapElement::Tf32 => Scalar::F32,
            MapElement::F64 => Scalar::F64,
        }
    }

    /// Errors: shared memory is not aligned as the copy needs it.
    pub fn check_target(&self, address: u32) -> Run<()> {
        let align = match self {
            Remote::Bytes { .. } => 16,
            // The permutation repeats after 8 rows of its span.
            Remote::Box { map, .. } => map.swizzle.span().map_or(128, |span| 8 * span),
        };
        if address.is_multiple_of(align) {
            return Ok(());
        }
        Err(Problem::new(
            "sim-misaligned",
            format!("shared memory at {address:#x}, which is no multiple of {align}"),
        ))
    }

    pub fn pieces(&self) -> Vec<Piece> {
        let (map, corner) = match self {
            Remote::Bytes { address, len } => return vec![Piece { offset: 0, address: *address, len: *len }],
            Remote::Box { map, corner } => (map, corner),
        };
        let size = map.element.bytes() as usize;
        let extents: Vec<usize> = map.box_dims.iter().map(|extent| *extent as usize).collect();
        let n_rows: usize = extents[1..].iter().product();
        let first = (-corner[0]).clamp(0, extents[0] as i64);
        let end = (map.dims[0] as i64 - corner[0]).clamp(first, extents[0] as i64);
        let mut pieces = Vec::with_capacity(n_rows);
        if first == end {
            return pieces;
        }
        'rows: for row in 0..n_rows {
            let mut rest = row;
            let mut address =
                map.address.wrapping_add(((corner[0] + first) as u64).wrapping_mul(size as u64));
            for d in 1..map.rank() {
                let at = corner[d] + (rest % extents[d]) as i64;
                rest /= extents[d];
                if at < 0 || at as u64 >= map.dims[d] {
                    continue 'rows;
                }
                address = address.wrapping_add((at as u64).wrapping_mul(map.strides[d - 1]));
            }
            let offset = (row * extents[0] + first as usize) * size;
            pieces.push(Piece { offset, address, len: (end - first) as usize * size });
        }
        pieces
    }
}
