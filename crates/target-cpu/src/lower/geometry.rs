//! How a tile is cut into pieces of one vector register each.
//!
//! The last axis is cut into blocks of `lanes` elements; every other coordinate has blocks of its own. A tile
//! whose last extent is 1, or of rank 0, has one piece a coordinate with the same element in every lane (a
//! splat). Lanes of the last block past the extent are unspecified. Their number is a power of two.

use smallvec::SmallVec;

/// A coordinate of a tile, one number an axis.
pub(super) type Coord = SmallVec<[i64; 4]>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry<'a> {
    shape: &'a [i64],
    /// The logarithm of the number of lanes: their number divides whatever is located.
    log_lanes: u32,
}

impl<'a> Geometry<'a> {
    pub fn new(shape: &'a [i64], lanes: u32) -> Geometry<'a> {
        debug_assert!(lanes.is_power_of_two(), "invariant: a register holds a power of two of lanes");
        Geometry { shape, log_lanes: lanes.trailing_zeros() }
    }

    pub fn shape(&self) -> &'a [i64] {
        self.shape
    }

    fn lanes(&self) -> i64 {
        1 << self.log_lanes
    }

    /// The extent of the axis that lies across lanes.
    pub fn last(&self) -> i64 {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Whether each piece holds one element, in every lane.
    pub fn is_splat(&self) -> bool {
        self.last() == 1
    }

    /// Pieces that one row of the last axis takes.
    pub fn blocks(&self) -> i64 {
        (self.last() + self.lanes() - 1) >> self.log_lanes
    }

    pub fn rows(&self) -> i64 {
        self.shape.iter().rev().skip(1).product()
    }

    pub fn pieces(&self) -> u32 {
        (self.rows() * self.blocks()) as u32
    }

    /// The coordinate of a piece's first lane.
    pub fn start(&self, piece: u32) -> Coord {
        let mut coord = Coord::from_slice(self.shape);
        let Some((last, rows)) = coord.split_last_mut() else { return coord };
        let blocks = self.blocks();
        *last = (i64::from(piece) % blocks) << self.log_lanes;
        to_coordinates(rows, i64::from(piece) / blocks);
        coord
    }

    /// Elements of a piece that count: `lanes`, or fewer in the last block; 1 of a splat.
    pub fn active(&self, piece: u32) -> i64 {
        let block = i64::from(piece) % self.blocks();
        (self.last() - (block << self.log_lanes)).min(self.lanes())
    }

    /// The piece and lane that hold an element.
    pub fn locate(&self, coord: &[i64]) -> (u32, u32) {
        let last = coord.last().copied().unwrap_or(0);
        let row = self.row(coord);
        ((row * self.blocks() + (last >> self.log_lanes)) as u32, (last & (self.lanes() - 1)) as u32)
    }

    fn row(&self, coord: &[i64]) -> i64 {
        let lead = coord.len().saturating_sub(1);
        coord[..lead].iter().zip(self.shape).fold(0, |row, (c, n)| row * n + c)
    }

    /// Row-major number of an element.
    pub fn linear(&self, coord: &[i64]) -> i64 {
        coord.iter().zip(self.shape).fold(0, |linear, (c, n)| linear * n + c)
    }

    /// The element of a row-major number.
    pub fn coord(&self, linear: i64) -> Coord {
        let mut coord = Coord::from_slice(self.shape);
        to_coordinates(&mut coord, linear);
        coord
    }
}

/// Replaces extents by the coordinate of a row-major number.
fn to_coordinates(extents: &mut [i64], number: i64) {
    let mut rest = number;
    for extent in extents.iter_mut().rev() {
        (*extent, rest) = (rest % *extent, rest / *extent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_in_one_lane() {
        for shape in [&[][..], &[1], &[5], &[2, 3, 20], &[4, 1], &[3, 16]] {
            let geometry = Geometry::new(shape, 8);
            let count: i64 = shape.iter().product();
            let active: i64 = (0..geometry.pieces()).map(|piece| geometry.active(piece)).sum();
            assert_eq!(active, count, "{shape:?}");
            for linear in 0..count {
                let coord = geometry.coord(linear);
                assert_eq!(geometry.linear(&coord), linear);
                let (piece, lane) = geometry.locate(&coord);
                let mut start = geometry.start(piece);
                if let Some(last) = start.last_mut() {
                    *last += i64::from(lane);
                }
                assert_eq!(start, coord, "{shape:?}");
            }
        }
    }
}
