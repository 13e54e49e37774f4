//! Makes one piece of a tile, where it is first needed.

use super::{Geometry, Lower, geometry};
use crate::math;
use crate::schedule::builder::At;
use crate::schedule::{Builder, Elem, IndexOp, VecOp};
use smallvec::SmallVec;
use tegula_base::DType;
use tegula_ir::scalar::eval::eval;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::lookup::{has_words, names_bytes};
use tegula_tile::TileOp;

impl Lower<'_> {
    /// A piece: a vector, or a mask of a `bool` tile.
    pub fn piece(&mut self, b: &mut Builder, tile: Value, piece: u32) -> Value {
        if let Some(known) = self.known_piece(tile, piece) {
            return known;
        }
        if let Some((dtype, bits)) = self.splat_of(tile) {
            return self.constant(b, dtype, bits);
        }
        let lanes = self.lanes;
        if self.index_scalars.contains(&tile) {
            self.lanes = self.register_bits / u64::BITS;
        }
        let value = self.make_piece(b, tile, piece);
        self.lanes = lanes;
        self.bind_piece(tile, piece, value);
        value
    }

    /// Element type and bits of a tile that is one constant.
    fn splat_of(&self, tile: Value) -> Option<(DType, i64)> {
        match self.func.kind(self.func.def_op(tile)?) {
            TileOp::Splat { dtype, bits, .. } => Some((*dtype, *bits)),
            _ => None,
        }
    }

    /// Makes all pieces, in order.
    pub fn force(&mut self, b: &mut Builder, tile: Value) -> Vec<Value> {
        (0..self.geometry(tile).pieces()).map(|piece| self.piece(b, tile, piece)).collect()
    }

    pub fn known_piece(&self, tile: Value, piece: u32) -> Option<Value> {
        self.made.piece(tile, piece)
    }

    pub fn bind_piece(&mut self, tile: Value, piece: u32, value: Value) {
        let (func, lanes) = (self.func, self.lanes);
        self.made.add_piece(tile, piece, value, || geometry(func, tile, lanes).pieces());
    }

    fn make_piece(&mut self, b: &mut Builder, tile: Value, piece: u32) -> Value {
        let func = self.func;
        let op = func.def_op(tile).expect("invariant: a region's arguments are bound when it begins");
        b.location = func.op(op).location.clone();
        match func.kind(op) {
            TileOp::Splat { .. } => unreachable!("invariant: constants are made where they are used"),
            TileOp::Iota { dtype, shape, axis } => {
                let geometry = Geometry::new(shape, self.lanes);
                self.iota(b, *dtype, &geometry, *axis, piece)
            }
            TileOp::FromIndex { dtype } => {
                let index = self.index(func.operand(op, 0));
                self.spread_index(b, *dtype, index)
            }
            TileOp::Elementwise { f } => {
                let operands = func.operands(op);
                let dtypes: SmallVec<[DType; 3]> =
                    operands.iter().map(|operand| self.tile(*operand).0).collect();
                let args: SmallVec<[Value; 3]> =
                    operands.iter().map(|operand| self.piece(b, *operand, piece)).collect();
                math::expand(b, *f, &dtypes, &args)
            }
            TileOp::Broadcast { .. }
            | TileOp::Reshape { .. }
            | TileOp::Transpose { .. }
            | TileOp::Extract { .. }
            | TileOp::Concat { .. } => self.moved_piece(b, tile, piece),
            TileOp::Load { .. } => {
                let geometry = self.geometry(tile);
                let window = self.loaded_window(op);
                self.load_window(b, &window, &geometry.start(piece), geometry.active(piece))
            }
            TileOp::Gather {} => self.gathered_piece(b, op, piece),
            TileOp::Dot { .. } => {
                self.dot(b, op);
                self.known_piece(tile, piece).expect("invariant: a dot makes all its pieces")
            }
            TileOp::Reduce { f, axis } => self.reduced_piece(b, op, *f, *axis, piece),
            TileOp::Scan { f, axis, reverse } => {
                self.scan(b, op, *f, *axis, *reverse);
                self.known_piece(tile, piece).expect("invariant: a scan makes all its pieces")
            }
            TileOp::For { .. } | TileOp::If {} => {
                unreachable!("invariant: results are bound where they stand")
            }
            TileOp::Const { .. }
            | TileOp::Size { .. }
            | TileOp::Index { .. }
            | TileOp::ToIndex {}
            | TileOp::Scratch { .. }
            | TileOp::Store { .. }
            | TileOp::Scatter {}
            | TileOp::Prefetch {}
            | TileOp::Yield {}
            | TileOp::Return {} => unreachable!("invariant: makes no tile"),
        }
    }

    fn iota(&mut self, b: &mut Builder, dtype: DType, geometry: &Geometry, axis: usize, piece: u32) -> Value {
        let start = geometry.start(piece);
        let across_lanes = axis + 1 == start.len() && !geometry.is_splat();
        if !across_lanes {
            let bits = eval(cast(dtype), &[DType::I64], &[start[axis] as u64]);
            return self.constant(b, dtype, bits as i64);
        }
        let elem = if Elem::of(dtype).bytes() == 8 { Elem::I64 } else { Elem::I32 };
        let lane = b.iota(elem, self.lanes);
        let start = b.vec_const(elem, self.lanes, start[axis]);
        let count = b.vec(VecOp::Add, &[lane, start]);
        let from = if elem == Elem::I64 { DType::I64 } else { DType::I32 };
        if dtype == from { count } else { math::expand(b, cast(dtype), &[from], &[count]) }
    }

    /// An index in every lane, wrapped or converted to `dtype`.
    fn spread_index(&mut self, b: &mut Builder, dtype: DType, index: Value) -> Value {
        if let Some(n) = b.as_const(index) {
            let bits = if dtype == DType::Bool {
                (n & 1) as u64
            } else {
                eval(cast(dtype), &[DType::I64], &[n as u64])
            };
            return self.constant(b, dtype, bits as i64);
        }
        let elem = Elem::of(dtype);
        match dtype {
            DType::Bool => {
                let low = b.splat(Elem::I32, self.lanes, index);
                let one = b.i32(self.lanes, 1);
                let bit = b.vec(VecOp::And, &[low, one]);
                self.piece_of_lanes(b, dtype, bit)
            }
            narrow if narrow.is_int() && narrow.bits() < 32 => {
                let unused = b.index(64 - i64::from(dtype.bits()));
                let high = b.index_op(IndexOp::ShiftLeft, index, unused);
                let narrow = match dtype.is_signed() {
                    true => b.index_op(IndexOp::ShiftRight, high, unused),
                    false => {
                        let mask = b.index((1 << dtype.bits()) - 1);
                        b.index_op(IndexOp::And, index, mask)
                    }
                };
                b.splat(elem, self.lanes, narrow)
            }
            narrow if narrow.is_float() && narrow.bits() < 32 => {
                let wide = b.splat(Elem::F32, self.lanes, index);
                math::expand(b, cast(dtype), &[DType::F32], &[wide])
            }
            _ => b.splat(elem, self.lanes, index),
        }
    }

    /// A scalar integer tile as an index.
    pub fn scalar_index(&mut self, b: &mut Builder, tile: Value) -> Value {
        let dtype = self.tile(tile).0;
        let piece = self.piece(b, tile, 0);
        let lanes = self.lanes_of_piece(b, dtype, piece);
        self.lane_index(b, dtype, lanes, 0)
    }

    /// One lane of an integer vector as an index.
    fn lane_index(&mut self, b: &mut Builder, dtype: DType, lanes: Value, lane: u32) -> Value {
        let index = b.extract(lanes, lane);
        if dtype != DType::U32 {
            return index;
        }
        let low = b.index(0xffff_ffff);
        b.index_op(IndexOp::And, index, low)
    }

    // --- lanes of coordinates --------------------------------------------------------------------------

    fn gathered_piece(&mut self, b: &mut Builder, op: OpId, piece: u32) -> Value {
        let view = self.view_of(op);
        let coordinates = self.func.operand(op, 1);
        let dtype = self.memories.ty(view).dtype;
        let geometry = self.geometry(coordinates);
        let offsets = self.piece(b, coordinates, piece);
        let lanes = if geometry.is_splat() {
            let at = self.element_address(b, view, coordinates, offsets);
            b.load_splat(dtype, self.lanes, at)
        } else {
            let (mut at, offsets) = self.lane_addresses(b, view, offsets);
            if self.is_byte_table(view, coordinates) {
                b.look_up(at, offsets)
            } else {
                at.count = self.partial_count(b, geometry.active(piece));
                b.gather(dtype, at, offsets)
            }
        };
        self.piece_of_lanes(b, dtype, lanes)
    }

    /// Whether a view is a table with an element for each byte, and bytes name the elements.
    fn is_byte_table(&self, view: usize, coordinates: Value) -> bool {
        let ty = self.memories.ty(view);
        let are_bytes = self.func.def_op(coordinates).is_some_and(|op| match self.func.kind(op) {
            TileOp::Elementwise { f } => names_bytes(*f, self.tile(self.func.operand(op, 0)).0, &ty.shape[0]),
            _ => false,
        });
        are_bytes && has_words(ty.dtype, &ty.shape[0]) && ty.strides[0].is_const(1)
    }

    /// Scatters all pieces of a tile, in order.
    pub fn scatter(&mut self, b: &mut Builder, op: OpId) {
        let view = self.view_of(op);
        let (tile, coordinates) = (self.func.operand(op, 1), self.func.operand(op, 2));
        let dtype = self.memories.ty(view).dtype;
        let geometry = self.geometry(coordinates);
        for piece in 0..geometry.pieces() {
            let offsets = self.piece(b, coordinates, piece);
            let value = self.piece(b, tile, piece);
            let value = self.lanes_of_piece(b, dtype, value);
            if geometry.is_splat() {
                let at = self.element_address(b, view, coordinates, offsets);
                let one = b.index(1);
                b.store_at(dtype, value, at.count(one));
            } else {
                let (mut at, offsets) = self.lane_addresses(b, view, offsets);
                at.count = self.partial_count(b, geometry.active(piece));
                b.scatter(dtype, value, at, offsets);
            }
        }
    }

    /// The lane count of a piece that does not fill its vector.
    pub fn partial_count(&mut self, b: &mut Builder, active: i64) -> Option<Value> {
        (active < i64::from(self.lanes)).then(|| b.index(active))
    }

    /// The address of the element that all lanes of a coordinate vector name.
    fn element_address(&mut self, b: &mut Builder, view: usize, coordinates: Value, lanes: Value) -> At {
        let ty = self.memories.ty(view);
        let (size, stride) = (ty.dtype.size() as i64, ty.strides[0].clone());
        let index = self.lane_index(b, self.tile(coordinates).0, lanes, 0);
        let (base, start) = self.origin(b, view);
        let at = At::new(base).disp(start);
        if stride.is_const(1) {
            return at.indexed(index, size as u32);
        }
        let stride = self.byte_stride(b, &stride, size);
        let offset = b.mul(index, stride);
        at.indexed(offset, 1)
    }

    /// Base and lane offsets of the elements that a coordinate vector names.
    fn lane_addresses(&mut self, b: &mut Builder, view: usize, lanes: Value) -> (At, Value) {
        let ty = self.memories.ty(view);
        let (size, stride) = (ty.dtype.size() as u32, ty.strides[0].clone());
        let (base, start) = self.origin(b, view);
        let at = At { scale: size, ..At::new(base).disp(start) };
        if stride.is_const(1) {
            return (at, lanes);
        }
        let (elem, _) = b.shape(lanes);
        let stride = self.size(b, &stride);
        let stride = b.splat(elem, self.lanes, stride);
        (at, b.vec(VecOp::Mul, &[lanes, stride]))
    }

    /// The mask of lanes at or above `active` replaced by the bits of an element.
    pub fn masked(&mut self, b: &mut Builder, dtype: DType, piece: Value, active: i64, bits: i64) -> Value {
        if active >= i64::from(self.lanes) {
            return piece;
        }
        let count = b.index(active);
        let mask = b.mask_first(self.lanes, count);
        let other = self.constant(b, dtype, bits);
        b.select(mask, piece, other)
    }

    /// The first lane of a register in every lane.
    pub fn spread_lane(&mut self, b: &mut Builder, dtype: DType, piece: Value, lane: u32) -> Value {
        let lanes = self.lanes_of_piece(b, dtype, piece);
        let spread = b.shuffle(lanes, lanes, vec![lane; self.lanes as usize]);
        self.piece_of_lanes(b, dtype, spread)
    }
}

fn cast(to: DType) -> ScalarOp {
    ScalarOp::Cast { to, saturate: true }
}
