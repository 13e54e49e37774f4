//! Stores a tile, piece by piece, each as soon as it is made.
//!
//! Invariant: no element outside of a view is touched. Rows outside, along bounded axes, are skipped by a
//! branch; elements outside along the lane axis are cut off by the count.

use super::Lower;
use super::geometry::Coord;
use super::load::Lanes;
use super::window::Window;
use crate::schedule::{Builder, IndexOp};
use std::ops::Range;
use tegula_base::{DType, Dim, HashSet};
use tegula_ir::{OpId, Value};
use tegula_tile::TileOp;

/// Register bits for each chain of arithmetic that is made together with others: 12 chains of 512-bit registers, 6 of
/// 256-bit ones. A quantised epilogue waits for some 40 of the 120 results that Zen 5 could give in that time; measured
/// there, convolutions of bytes gain up to 12 chains and no more beyond, though sums are spilled for it.
const WOVEN_BITS: u32 = 40;

impl Lower<'_> {
    pub fn store(&mut self, b: &mut Builder, op: OpId) {
        let TileOp::Store { steps, bounded } = self.func.kind(op) else {
            unreachable!("invariant: called on stores")
        };
        let window = self.own_window(op, steps, bounded, 0);
        let tile = self.func.operand(op, 1);
        let geometry = self.geometry(tile);
        let blocks = geometry.blocks() as u32;
        let chain = self.chain_of(tile);
        let mut woven = 0;
        for row in 0..geometry.rows() as u32 {
            let pieces = row * blocks..(row + 1) * blocks;
            while woven < pieces.end {
                woven = self.weave(b, &chain, woven..geometry.pieces());
            }
            let start = geometry.start(pieces.start);
            let inside = self.row_inside(b, &window, &start, window.lane_axis());
            let Some(inside) = inside else {
                for piece in pieces {
                    let value = self.stored_piece(b, tile, piece, window.dtype);
                    self.store_piece(b, &window, &geometry.start(piece), geometry.active(piece), value);
                }
                continue;
            };
            let values: Vec<(u32, Value)> =
                pieces.map(|piece| (piece, self.stored_piece(b, tile, piece, window.dtype))).collect();
            let store = |b: &mut Builder| {
                for (piece, value) in &values {
                    self.store_piece(b, &window, &geometry.start(*piece), geometry.active(*piece), *value);
                }
                vec![]
            };
            b.if_(inside, store, |_| vec![]);
        }
    }

    /// Makes the pieces of a few registers, op by op; the number of the next. One after another they would be chains
    /// of waiting ops that fill the machine's queues before it sees the next chain.
    fn weave(&mut self, b: &mut Builder, chain: &[Value], pieces: Range<u32>) -> u32 {
        let together = self.register_bits / WOVEN_BITS;
        let end = pieces.end.min(pieces.start + together);
        for value in chain {
            for piece in pieces.start..end {
                self.piece(b, *value, piece);
            }
        }
        end
    }

    /// The arithmetic behind a tile whose pieces are made of the same pieces, operands first.
    fn chain_of(&self, tile: Value) -> Vec<Value> {
        let (mut chain, mut seen) = (Vec::new(), HashSet::default());
        self.visit_chain(tile, self.tile(tile).1, &mut seen, &mut chain);
        chain
    }

    fn visit_chain(&self, value: Value, shape: &[i64], seen: &mut HashSet<Value>, chain: &mut Vec<Value>) {
        let Some(op) = self.func.def_op(value) else { return };
        let made_alike = matches!(self.func.kind(op), TileOp::Elementwise { .. })
            && self.tile(value).1 == shape
            && !self.index_scalars.contains(&value);
        if made_alike && seen.insert(value) {
            self.func.operands(op).iter().for_each(|operand| self.visit_chain(*operand, shape, seen, chain));
            chain.push(value);
        }
    }

    fn stored_piece(&mut self, b: &mut Builder, tile: Value, piece: u32, dtype: DType) -> Value {
        let value = self.piece(b, tile, piece);
        self.lanes_of_piece(b, dtype, value)
    }

    fn store_piece(&mut self, b: &mut Builder, window: &Window, coord: &[i64], active: i64, value: Value) {
        match self.lanes_in(b, window, coord, active) {
            Lanes::Splat => {
                // One element; its own axis may be bounded.
                let mut at = self.address(b, window, coord, None);
                let count = match window.lane_axis().filter(|axis| window.axes[*axis].bounded) {
                    Some(axis) => self.element_inside(b, window, axis, coord),
                    None => b.index(1),
                };
                at.count = Some(count);
                b.store_at(window.dtype, value, at);
            }
            Lanes::Along { axis, count } => {
                let mut at = self.address(b, window, coord, None);
                at.count = count;
                let stride = window.axes[axis].stride.clone() * Dim::from(window.axes[axis].step);
                if stride.is_const(1) {
                    return b.store_at(window.dtype, value, at);
                }
                let stride = self.byte_stride(b, &stride, window.dtype.size() as i64);
                b.store_strided(window.dtype, value, at, stride);
            }
            Lanes::Scattered { axis } => {
                // Rare: the first lanes may lie before the view. Lane by lane.
                for lane in 0..active {
                    let mut at_lane: Coord = coord.into();
                    *at_lane.last_mut().expect("invariant: a lane axis is an axis") += lane;
                    let count = self.element_inside(b, window, axis, &at_lane);
                    let mut at = self.address(b, window, &at_lane, None);
                    at.count = Some(count);
                    let moved = b.shuffle(value, value, vec![lane as u32; self.lanes as usize]);
                    b.store_at(window.dtype, moved, at);
                }
            }
        }
    }

    /// 1 when an element's position along an axis is inside of the view, else 0.
    fn element_inside(&mut self, b: &mut Builder, window: &Window, axis: usize, coord: &[i64]) -> Value {
        let position = self.position(b, window, axis, coord);
        let size = self.size(b, &window.axes[axis].size.clone());
        let below = b.index_op(IndexOp::Lt, position, size);
        let zero = b.index(0);
        let above = b.index_op(IndexOp::Le, zero, position);
        b.index_op(IndexOp::And, below, above)
    }
}
