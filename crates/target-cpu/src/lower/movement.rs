//! Tiles that only move elements: pieces of the result from pieces of the operand.
//!
//! Every lane of a result knows the element it comes from. The whole chain of movement is followed to its root;
//! then, in this order: the root's own piece when lanes stay; a load when the root is loaded; a transpose of a
//! square of lanes in registers; a few shuffles; a way through scratch memory.

use super::geometry::Coord;
use super::{Geometry, Lower};
use crate::schedule::Builder;
use crate::schedule::Elem;
use crate::schedule::builder::At;
use smallvec::SmallVec;
use tegula_base::DType;
use tegula_ir::Value;
use tegula_tile::TileOp;

/// Source registers that are cheaper joined by shuffles than through memory: a store and a load cost about
/// as much as four two-register shuffles (store-to-load forwarding is 4 to 5 cycles on every listed machine).
const MOST_SHUFFLED_SOURCES: usize = 4;

/// One lane's origin.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Source {
    tile: Value,
    piece: u32,
    lane: u32,
}

impl Lower<'_> {
    pub fn moved_piece(&mut self, b: &mut Builder, tile: Value, piece: u32) -> Value {
        if let Some((below, piece)) = self.piece_below(tile, piece) {
            return self.piece(b, below, piece);
        }
        let geometry = self.geometry(tile);
        let dtype = self.tile(tile).0;
        let active = geometry.active(piece);
        let first = self.source_of(tile, &geometry, piece, 0);
        if !geometry.is_splat() && self.keeps_lanes(tile) && first.lane == 0 {
            return self.piece(b, first.tile, first.piece);
        }
        let sources: SmallVec<[Source; 16]> = match self.repeats_element(tile) {
            true => SmallVec::from_elem(first, active as usize),
            false => (0..active).map(|lane| self.source_of(tile, &geometry, piece, lane)).collect(),
        };
        let from_splat = self.is_uniform(first.tile);
        let one_piece = sources.iter().all(|s| (s.tile, s.piece) == (first.tile, first.piece));
        let in_place = sources.iter().enumerate().all(|(lane, s)| s.lane == lane as u32);
        if one_piece && (from_splat || in_place && !geometry.is_splat()) {
            return self.piece(b, first.tile, first.piece);
        }
        if self.transpose_square(b, tile, piece) {
            return self.known_piece(tile, piece).expect("invariant: the square holds the piece");
        }
        if let Some(window) = self.window(tile) {
            return self.load_window(b, &window, &geometry.start(piece), active);
        }
        if geometry.is_splat() {
            let value = self.piece(b, first.tile, first.piece);
            return self.spread_lane(b, dtype, value, first.lane);
        }
        let mut distinct: Vec<(Value, u32)> = Vec::new();
        for source in &sources {
            if !distinct.contains(&(source.tile, source.piece)) {
                distinct.push((source.tile, source.piece));
            }
        }
        if distinct.len() > MOST_SHUFFLED_SOURCES
            && let Some(value) = self.through_scratch(b, tile, piece)
        {
            return value;
        }
        self.shuffled(b, dtype, &sources, &distinct)
    }

    /// The operand's piece that a piece of a moved tile is, where that is plain to see: pieces keep their order, or
    /// one row is every row.
    fn piece_below(&self, tile: Value, piece: u32) -> Option<(Value, u32)> {
        let op = self.func.def_op(tile)?;
        let below = *self.func.operands(op).first()?;
        let from = &self.tile(below).1;
        match self.func.kind(op) {
            TileOp::Reshape { shape } => (shape.last() == from.last()).then_some((below, piece)),
            TileOp::Broadcast { shape } => {
                let (last, rows) = from.split_last()?;
                if rows.iter().any(|extent| *extent != 1) {
                    return None;
                }
                let row = u32::try_from(Geometry::new(shape, self.lanes).blocks()).ok()?;
                match *last {
                    1 => Some((below, 0)),
                    _ => Some((below, piece % row)),
                }
            }
            _ => None,
        }
    }

    /// One element in every lane.
    pub fn element(&mut self, b: &mut Builder, tile: Value, coord: &[i64]) -> Value {
        let geometry = self.geometry(tile);
        let (piece, lane) = geometry.locate(coord);
        if geometry.is_splat()
            && let Some(known) = self.known_piece(tile, piece)
        {
            return known;
        }
        if let Some(window) = self.window(tile) {
            return self.load_window(b, &window, coord, 1);
        }
        if let Some((below, at)) = self.moved_from(tile, coord) {
            return self.element(b, below, &at);
        }
        let value = self.piece(b, tile, piece);
        if self.is_uniform(tile) { value } else { self.spread_lane(b, self.tile(tile).0, value, lane) }
    }

    /// Whether all lanes of each piece are the same.
    fn is_uniform(&self, tile: Value) -> bool {
        let constant =
            self.func.def_op(tile).is_some_and(|op| matches!(self.func.kind(op), TileOp::Splat { .. }));
        constant || self.geometry(tile).is_splat()
    }

    /// Whether a tile repeats one element along each row.
    fn repeats_element(&self, tile: Value) -> bool {
        let broadcast =
            self.func.def_op(tile).filter(|op| matches!(self.func.kind(*op), TileOp::Broadcast { .. }));
        broadcast.is_some_and(|op| self.tile(self.func.operand(op, 0)).1.last() == Some(&1))
    }

    /// The tile below all movement, and the coordinate there.
    fn root_of(&self, tile: Value, coord: Coord) -> (Value, Coord) {
        let (mut tile, mut coord) = (tile, coord);
        while let Some((below, at)) = self.moved_from(tile, &coord) {
            (tile, coord) = (below, at);
        }
        (tile, coord)
    }

    fn source_of(&self, tile: Value, geometry: &Geometry, piece: u32, lane: i64) -> Source {
        let mut coord = geometry.start(piece);
        if let Some(last) = coord.last_mut() {
            *last += lane;
        }
        let (tile, coord) = self.root_of(tile, coord);
        let (piece, lane) = self.geometry(tile).locate(&coord);
        Source { tile, piece, lane }
    }

    /// Where an element of a moved tile comes from; none when the tile's op computes.
    fn moved_from(&self, tile: Value, coord: &[i64]) -> Option<(Value, Coord)> {
        let op = self.func.def_op(tile)?;
        let operands = self.func.operands(op);
        let shape = |i: usize| self.tile(operands[i]).1;
        match self.func.kind(op) {
            TileOp::Broadcast { .. } => {
                let at = coord.iter().zip(shape(0)).map(|(c, n)| if *n == 1 { 0 } else { *c });
                Some((operands[0], at.collect()))
            }
            TileOp::Reshape { shape: to } => {
                let linear = Geometry::new(to, self.lanes).linear(coord);
                Some((operands[0], Geometry::new(shape(0), self.lanes).coord(linear)))
            }
            TileOp::Transpose { perm } => Some((operands[0], below_transpose(perm, coord))),
            TileOp::Extract { offsets, .. } => {
                Some((operands[0], coord.iter().zip(offsets).map(|(c, offset)| c + offset).collect()))
            }
            TileOp::Concat { axis } => {
                let mut at: Coord = coord.into();
                for (i, operand) in operands.iter().enumerate() {
                    if at[*axis] < shape(i)[*axis] {
                        return Some((*operand, at));
                    }
                    at[*axis] -= shape(i)[*axis];
                }
                unreachable!("invariant: a coordinate is inside of its tile")
            }
            _ => None,
        }
    }

    /// Whether lanes next to each other come from lanes next to each other, down to the root.
    fn keeps_lanes(&self, mut tile: Value) -> bool {
        while let Some(op) = self.func.def_op(tile) {
            let operands = self.func.operands(op);
            let keeps = match self.func.kind(op) {
                TileOp::Broadcast { shape } | TileOp::Reshape { shape } => {
                    shape.last() == self.tile(operands[0]).1.last()
                }
                TileOp::Transpose { perm } => perm.last() == Some(&(perm.len() - 1)),
                TileOp::Extract { .. } => true,
                TileOp::Concat { .. } => false,
                _ => return true,
            };
            if !keeps {
                return false;
            }
            tile = operands[0];
        }
        true
    }

    /// Joins lanes of registers, one shuffle for each register after the first.
    fn shuffled(
        &mut self,
        b: &mut Builder,
        dtype: DType,
        sources: &[Source],
        distinct: &[(Value, u32)],
    ) -> Value {
        let lanes = self.lanes as usize;
        let mut joined: Option<Value> = None;
        for (tile, piece) in distinct {
            let splat = self.is_uniform(*tile);
            let value = self.piece(b, *tile, *piece);
            let value = self.lanes_of_piece(b, dtype, value);
            let pick = |lane: usize| match sources.get(lane) {
                Some(s) if (s.tile, s.piece) == (*tile, *piece) => {
                    Some(if splat { lane as u32 } else { s.lane })
                }
                _ => None,
            };
            joined = Some(match joined {
                None => {
                    let picks: Vec<u32> = (0..lanes).map(|lane| pick(lane).unwrap_or(lane as u32)).collect();
                    let stays = picks.iter().enumerate().all(|(lane, pick)| *pick == lane as u32);
                    if stays { value } else { b.shuffle(value, value, picks) }
                }
                Some(joined) => {
                    let picks =
                        (0..lanes).map(|lane| pick(lane).map_or(lane as u32, |pick| pick + lanes as u32));
                    b.shuffle(joined, value, picks.collect())
                }
            });
        }
        let joined = joined.expect("invariant: a piece has a lane");
        self.piece_of_lanes(b, dtype, joined)
    }

    // --- transposes in registers -----------------------------------------------------------------------

    /// Makes the pieces of a whole square of `lanes` rows and lanes around a piece, where the tile is a
    /// transpose that moves the lane axis. Rows and lanes outside of the tile are whatever.
    /// Method: Eklundh's recursive exchange, log2(lanes) rounds of two shuffles a pair of registers.
    fn transpose_square(&mut self, b: &mut Builder, tile: Value, piece: u32) -> bool {
        let Some(op) = self.func.def_op(tile) else { return false };
        let TileOp::Transpose { perm } = self.func.kind(op) else { return false };
        let (lanes, operand) = (i64::from(self.lanes), self.func.operand(op, 0));
        let last = perm.len() - 1;
        let (geometry, from) = (self.geometry(tile), self.geometry(operand));
        // The operand's lane axis is this axis of the result.
        let Some(row_axis) = perm.iter().position(|axis| *axis == last).filter(|axis| *axis != last) else {
            return false;
        };
        let mut start = geometry.start(piece);
        start[row_axis] = start[row_axis] / lanes * lanes;
        let active = geometry.active(piece);
        let n_results = (geometry.shape()[row_axis] - start[row_axis]).min(lanes);
        let loads = self.window(operand).is_some();
        // A strided load of each result costs about as much as half a square.
        let worthwhile = active > MOST_SHUFFLED_SOURCES as i64 && (!loads || n_results > lanes / 2);
        if !worthwhile || lanes < 2 || from.is_splat() || !self.reads_rows(operand) {
            return false;
        }
        let dtype = self.tile(tile).0;
        let mut rows: Vec<Value> = (0..active)
            .map(|lane| {
                let mut at = start.clone();
                at[last] += lane;
                let row = self.piece(b, operand, from.locate(&below_transpose(perm, &at)).0);
                self.lanes_of_piece(b, dtype, row)
            })
            .collect();
        rows.resize(lanes as usize, rows[0]);
        transpose_registers(b, &mut rows);
        for (i, row) in rows.into_iter().take(n_results as usize).enumerate() {
            let mut at = start.clone();
            at[row_axis] += i as i64;
            let value = self.piece_of_lanes(b, dtype, row);
            self.bind_piece(tile, geometry.locate(&at).0, value);
        }
        true
    }

    /// Whether the rows of a tile are registers, or loads of consecutive elements.
    fn reads_rows(&mut self, tile: Value) -> bool {
        let Some(window) = self.window(tile) else { return true };
        let axis = window.lane_axis().map(|axis| &window.axes[axis]);
        axis.is_some_and(|axis| axis.stride.is_const(1) && axis.step == 1)
    }

    // --- scratch ---------------------------------------------------------------------------------------

    /// A piece of a reshape or transpose by storing the operand and loading it in the result's order; none for
    /// other ops.
    fn through_scratch(&mut self, b: &mut Builder, tile: Value, piece: u32) -> Option<Value> {
        let op = self.func.def_op(tile)?;
        let operand = self.func.operand(op, 0);
        let (geometry, from) = (self.geometry(tile), self.geometry(operand));
        let start = geometry.start(piece);
        let (first, stride) = match self.func.kind(op) {
            TileOp::Reshape { .. } => (geometry.linear(&start), 1),
            TileOp::Transpose { perm } => {
                let lane_axis = *perm.last()?;
                (
                    from.linear(&below_transpose(perm, &start)),
                    from.shape()[lane_axis + 1..].iter().product::<i64>(),
                )
            }
            _ => return None,
        };
        let dtype = self.tile(tile).0;
        let stored = lane_dtype(dtype);
        let size = stored.size() as i64;
        let offset = self.spill(b, operand);
        let mut at = At::new(b.scratch()).disp(offset + first * size);
        at.count = self.partial_count(b, geometry.active(piece));
        let lanes = match stride {
            1 => b.load_at(stored, self.lanes, at),
            _ => {
                let stride = b.index(stride * size);
                b.load_strided(stored, self.lanes, at, stride)
            }
        };
        Some(self.piece_of_lanes(b, dtype, lanes))
    }

    /// Stores a tile in scratch, row-major in register elements; its byte offset there.
    fn spill(&mut self, b: &mut Builder, tile: Value) -> i64 {
        if let Some(offset) = self.made.spilled(tile) {
            return offset;
        }
        let geometry = self.geometry(tile);
        let dtype = self.tile(tile).0;
        let stored = lane_dtype(dtype);
        let size = stored.size() as i64;
        let count: i64 = geometry.shape().iter().product();
        let offset = self.reserve_scratch(count * size);
        for piece in 0..geometry.pieces() {
            let value = self.piece(b, tile, piece);
            let value = self.lanes_of_piece(b, dtype, value);
            let mut at = At::new(b.scratch()).disp(offset + geometry.linear(&geometry.start(piece)) * size);
            at.count = self.partial_count(b, geometry.active(piece));
            b.store_at(stored, value, at);
        }
        self.made.add_spilled(tile, offset);
        offset
    }
}

/// The operand's coordinate of a transpose's.
fn below_transpose(perm: &[usize], coord: &[i64]) -> Coord {
    let mut at: Coord = SmallVec::from_elem(0, coord.len());
    for (c, axis) in coord.iter().zip(perm) {
        at[*axis] = *c;
    }
    at
}

/// The storage type whose register form is the dtype's own.
fn lane_dtype(dtype: DType) -> DType {
    match Elem::of(dtype) {
        Elem::F32 => DType::F32,
        Elem::F64 => DType::F64,
        Elem::I64 => DType::I64,
        Elem::I8 | Elem::I16 | Elem::I32 => DType::I32,
    }
}

/// Lane `j` of register `i` becomes lane `i` of register `j`; as many registers as lanes.
fn transpose_registers(b: &mut Builder, rows: &mut [Value]) {
    let n = rows.len() as u32;
    let mut d = n / 2;
    while d > 0 {
        let low: Vec<u32> = (0..n).map(|lane| if lane & d == 0 { lane } else { n + (lane ^ d) }).collect();
        let high: Vec<u32> = (0..n).map(|lane| if lane & d == 0 { lane ^ d } else { n + lane }).collect();
        for i in (0..n).filter(|i| i & d == 0) {
            let (x, y) = (rows[i as usize], rows[(i + d) as usize]);
            rows[i as usize] = b.shuffle(x, y, low.clone());
            rows[(i + d) as usize] = b.shuffle(x, y, high.clone());
        }
        d /= 2;
    }
}
