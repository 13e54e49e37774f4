//! Tensor maps and the copies of a tile, from where the tile's elements lie in shared memory.
//! The copy engine writes a box row after row without gaps, then exchanges chunks; which boxes make up a layout is read
//! off the layout, and every chunk of every box is compared with it.
//! Source: CUDA Driver API, `cuTensorMapEncodeTiled`; PTX ISA, "Tensors" and "Swizzling Modes".

use tegula_package::MapSwizzle;

use super::NotCanonical;
use crate::layout::swizzle::CHUNK;
use crate::layout::{Coordinates, SharedLayout, Swizzle};

/// Elements of a box along a dim at most.
const MAX_BOX: u32 = 256;

/// One copy of a tile: a box at coordinates of the tile, and its bytes' offset in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxCopy {
    pub corner: Coordinates,
    pub offset: u32,
}

/// A tile as copies of equal boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorCopies {
    /// The tile's dims as the tensor has them, innermost first.
    pub order: Vec<usize>,
    /// Elements along each of them.
    pub box_dims: Vec<u32>,
    pub swizzle: MapSwizzle,
    /// In the order of shared memory.
    pub copies: Vec<BoxCopy>,
    /// Bytes of each box.
    pub box_bytes: u32,
}

/// The copies of a tile whose tensor has the tile's dims in this order, innermost first; `split` is how many copies
/// share the rows of each box (CTAs of a cluster that each bring a part to all).
/// Errors: the layout is not made of boxes.
pub fn tensor_copies(
    shared: &SharedLayout,
    order: &[usize],
    split: u32,
) -> Result<TensorCopies, NotCanonical> {
    let found = Swizzle::ALL.into_iter().rev().find_map(|swizzle| {
        let copies = boxes(shared, order, split, swizzle)?;
        copies.describes(shared, swizzle).then_some(copies)
    });
    found.ok_or(NotCanonical::TensorMap)
}

/// The boxes that the distance of neighbouring rows suggests.
fn boxes(shared: &SharedLayout, order: &[usize], split: u32, swizzle: Swizzle) -> Option<TensorCopies> {
    let extents = shared.extents();
    let element = shared.element();
    let (&inner, outer) = order.split_first()?;
    let unit = |dim: usize| {
        let mut at = vec![0; extents.len()];
        at[dim] = 1;
        swizzle.apply(shared.offset(&at))
    };
    let row = match outer.iter().find(|dim| extents[**dim] > 1) {
        Some(&next) => (unit(next) / element).min(extents[inner]),
        None => extents[inner],
    };
    let whole = swizzle == Swizzle::None || row * element == swizzle.span();
    let fits = row > 0
        && row <= MAX_BOX
        && (row * element).is_multiple_of(CHUNK)
        && extents[inner].is_multiple_of(row);
    (whole && fits).then_some(())?;
    let mut box_dims = vec![row];
    for (at, &dim) in outer.iter().enumerate() {
        let parts = if at == 0 { split } else { 1 };
        let extent = extents[dim].is_multiple_of(parts).then(|| extents[dim] / parts)?;
        let pieces = extent.div_ceil(MAX_BOX);
        box_dims.push(extent.is_multiple_of(pieces).then(|| extent / pieces)?);
    }
    let mut copies = vec![BoxCopy { corner: Coordinates::from_elem(0, extents.len()), offset: 0 }];
    for (&dim, &extent) in order.iter().zip(&box_dims) {
        let starts = (0..extents[dim]).step_by(extent as usize);
        copies = starts
            .flat_map(|start| {
                copies.iter().map(move |copy| {
                    let mut corner = copy.corner.clone();
                    corner[dim] = start;
                    BoxCopy { corner, offset: 0 }
                })
            })
            .collect();
    }
    copies.iter_mut().for_each(|copy| copy.offset = shared.offset(&copy.corner));
    copies.sort_by_key(|copy| copy.offset);
    let box_bytes = box_dims.iter().product::<u32>() * element;
    let map_swizzle = match swizzle {
        Swizzle::None => MapSwizzle::None,
        Swizzle::B32 => MapSwizzle::B32,
        Swizzle::B64 => MapSwizzle::B64,
        Swizzle::B128 => MapSwizzle::B128,
    };
    Some(TensorCopies { order: order.to_vec(), box_dims, swizzle: map_swizzle, copies, box_bytes })
}

impl TensorCopies {
    /// Bytes of the whole tile.
    pub fn bytes(&self) -> u32 {
        self.box_bytes * self.copies.len() as u32
    }

    /// Whether each chunk of each box lies where the layout says.
    fn describes(&self, shared: &SharedLayout, swizzle: Swizzle) -> bool {
        let element = shared.element();
        let chunk = CHUNK / element;
        let first = element.trailing_zeros();
        let whole = (first..CHUNK.trailing_zeros())
            .all(|bit| shared.coordinate_bit(bit) == Some((self.order[0], bit - first)));
        let chunks = self.box_bytes / CHUNK;
        whole
            && self.copies.iter().all(|copy| {
                copy.offset.is_multiple_of(swizzle.atom())
                    && (0..chunks).all(|at| {
                        let mut rest = at * chunk;
                        let mut corner = copy.corner.clone();
                        for (&dim, extent) in self.order.iter().zip(&self.box_dims) {
                            corner[dim] += rest % extent;
                            rest /= extent;
                        }
                        shared.offset(&corner) == swizzle.apply(copy.offset + at * CHUNK)
                    })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_boxes_of_the_span() {
        let shared = SharedLayout::panels(&[128, 256], 2, 1, 0, Swizzle::B128);
        let copies = tensor_copies(&shared, &[1, 0], 1).expect("boxes");
        assert_eq!(
            (&copies.box_dims[..], copies.swizzle, copies.box_bytes),
            (&[64, 128][..], MapSwizzle::B128, 16384)
        );
        let corners: Vec<&[u32]> = copies.copies.iter().map(|copy| &copy.corner[..]).collect();
        assert_eq!(corners, [[0, 0], [0, 64], [0, 128], [0, 192]]);
        let halves = tensor_copies(&shared, &[1, 0], 2).expect("boxes");
        assert_eq!((halves.copies.len(), halves.bytes()), (8, shared.size()));
        assert_eq!((halves.copies[1].corner[0], halves.copies[1].offset), (64, 8192));
    }

    #[test]
    fn rows_without_a_swizzle_are_one_box() {
        let shared = SharedLayout::rows(&[48, 40], 2, &[0, 1], 0);
        let copies = tensor_copies(&shared, &[1, 0], 1).expect("boxes");
        assert_eq!(
            (&copies.box_dims[..], copies.swizzle, copies.copies.len()),
            (&[40, 48][..], MapSwizzle::None, 1)
        );
        let line = SharedLayout::rows(&[128], 4, &[0], 0);
        assert_eq!(tensor_copies(&line, &[0], 1).expect("boxes").box_dims, [128]);
    }

    #[test]
    fn other_layouts_are_refused() {
        let padded = SharedLayout::rows(&[64, 64], 2, &[0, 1], 16);
        assert_eq!(tensor_copies(&padded, &[1, 0], 1), Err(NotCanonical::TensorMap));
        // The tensor's neighbours are not the layout's.
        let turned = SharedLayout::panels(&[64, 64], 2, 0, 1, Swizzle::B128);
        assert_eq!(tensor_copies(&turned, &[1, 0], 1), Err(NotCanonical::TensorMap));
        assert!(tensor_copies(&turned, &[0, 1], 1).is_ok());
        let odd = SharedLayout::rows(&[64, 3], 2, &[0, 1], 0);
        assert_eq!(tensor_copies(&odd, &[1, 0], 1), Err(NotCanonical::TensorMap));
    }
}
