//! Loads, stores, gathers and scatters.
//!
//! A box whose offsets are multiples of its extents is a tile of a partition view, which the assembler may copy
//! asynchronously. Any other box, and a gather, is a tile of pointers with a mask: what lies outside of a bounded axis
//! or in a tile's padding is not touched.

use super::{Lower, padded};
use crate::scalar::{Made, memory_element, wrapped};
use crate::writer::{groups, number, pointers, tile};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{
    ComparisonPredicate, DYNAMIC, PaddingValue, PartitionViewType, ScalarType, TensorViewType, Type,
    Value as Written,
};
use tegula_base::DType;
use tegula_ir::scalar::eval::eval;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tile::TileOp;

/// The places of a box's elements.
struct Places {
    pointers: Written,
    /// Which of them are accessed; all without one.
    mask: Option<Written>,
}

/// Tile elements up to which places are compared with each other: a tile of 2^18 comparisons.
const COMPARED_PLACES: i64 = 512;

impl Lower<'_> {
    pub(super) fn load(&mut self, op: OpId, steps: &[i64], bounded: &[bool], pad: i64) -> Written {
        let func = self.func;
        let (dtype, shape) = self.tile(func.result(op));
        let offsets = &func.operands(op)[1..];
        if let Some(view) = self.partition(op, &shape, offsets, steps, bounded, Some((dtype, pad))) {
            let indexes = self.tile_indexes(offsets, &shape);
            let token = self.token(op);
            let operands: Vec<Written> = [view].into_iter().chain(indexes).chain(token).collect();
            let attributes =
                [("memory_ordering_semantics", number(0)), groups(&[1, shape.len(), token.iter().count()])];
            let types = [tile(memory_element(dtype), &shape), Type::Token];
            let results = self.w.op(Opcode::LoadViewTko, &operands, &types, &attributes, &[]);
            self.accessed(op, results[1]);
            return self.register_form(results[0], dtype);
        }
        let places = self.places(op, offsets, &shape, steps, bounded);
        self.load_places(op, places, dtype, &padded(&shape), pad)
    }

    pub(super) fn store(&mut self, op: OpId, steps: &[i64], bounded: &[bool]) {
        let func = self.func;
        let (dtype, shape) = self.tile(func.operand(op, 1));
        let offsets = &func.operands(op)[2..];
        let value = self.operand(op, 1);
        let value = self.memory_form(value, dtype);
        if let Some(view) = self.partition(op, &shape, offsets, steps, bounded, None) {
            let indexes = self.tile_indexes(offsets, &shape);
            let token = self.token(op);
            let operands: Vec<Written> = [value, view].into_iter().chain(indexes).chain(token).collect();
            let attributes = [
                ("memory_ordering_semantics", number(0)),
                groups(&[1, 1, shape.len(), token.iter().count()]),
            ];
            let results = self.w.op(Opcode::StoreViewTko, &operands, &[Type::Token], &attributes, &[]);
            self.accessed(op, results[0]);
            return;
        }
        let places = self.places(op, offsets, &shape, steps, bounded);
        self.store_places(op, places, value);
    }

    pub(super) fn gather(&mut self, op: OpId) -> Written {
        let (dtype, shape) = self.tile(self.func.result(op));
        let places = self.scattered(op, self.func.operand(op, 1));
        self.load_places(op, places, dtype, &padded(&shape), 0)
    }

    pub(super) fn scatter(&mut self, op: OpId) -> Made<()> {
        let (dtype, _) = self.tile(self.func.operand(op, 1));
        let value = self.operand(op, 1);
        let value = self.memory_form(value, dtype);
        let mut places = self.scattered(op, self.func.operand(op, 2));
        places.mask = self.last_of_equal(op, places.mask)?;
        self.store_places(op, places, value);
        Ok(())
    }

    // --- order ---------------------------------------------------------------------------------------------

    fn token(&self, op: OpId) -> Option<Written> {
        self.buffer_of(op).and_then(|buffer| self.tokens[buffer])
    }

    fn accessed(&mut self, op: OpId, token: Written) {
        if let Some(last) = self.buffer_of(op).and_then(|buffer| self.tokens[buffer].as_mut()) {
            *last = token;
        }
    }

    // --- elements ------------------------------------------------------------------------------------------

    fn register_form(&mut self, value: Written, dtype: DType) -> Written {
        if dtype != DType::Bool {
            return wrapped(&mut self.w, dtype, value);
        }
        let zero = self.w.int(value, 0);
        self.w.compare(ComparisonPredicate::NotEqual, value, zero, false)
    }

    fn memory_form(&mut self, value: Written, dtype: DType) -> Written {
        match dtype {
            DType::Bool => self.w.resize(value, ScalarType::I8, false),
            _ => value,
        }
    }

    // --- partition views -----------------------------------------------------------------------------------

    /// The view in tiles of `shape`, where the box is one of them and `pad` is a padding that views have.
    fn partition(
        &mut self,
        op: OpId,
        shape: &[i64],
        offsets: &[Value],
        steps: &[i64],
        bounded: &[bool],
        pad: Option<(DType, i64)>,
    ) -> Option<Written> {
        let number = self.view_of(op);
        let ty = &self.kernel.views[number].ty;
        let is_tile = !shape.is_empty()
            && padded(shape) == shape
            && steps.iter().all(|step| *step == 1)
            && ty.strides.iter().all(|stride| stride.as_const().is_none_or(|n| n > 0))
            && ty.shape.iter().all(|extent| extent.as_const().is_none_or(|n| n > 0))
            && offsets
                .iter()
                .zip(shape)
                .all(|(offset, n)| self.facts.is_multiple(*offset, *n) && self.facts.is_natural(*offset));
        if !is_tile || ty.strides.iter().any(|stride| stride.as_const().is_none()) {
            // A stride that is not known may be 0.
            return None;
        }
        let padding_value = match pad {
            Some((dtype, bits)) if bounded.contains(&true) => match padding(dtype, bits) {
                Some(padding) => Some(padding),
                None => return None,
            },
            _ => None,
        };
        let element_type = memory_element(ty.dtype);
        let fixed = |dim: &tegula_base::Dim| dim.as_const().unwrap_or(DYNAMIC);
        let tensor = TensorViewType {
            element_type,
            shape: ty.shape.iter().map(fixed).collect(),
            strides: ty.strides.iter().map(fixed).collect(),
        };
        let extents: Vec<Written> =
            ty.shape.iter().filter(|n| n.as_const().is_none()).map(|n| self.sizes[n]).collect();
        let operands: Vec<Written> =
            [self.bases[number]].into_iter().chain(extents.iter().copied()).collect();
        let groups = [groups(&[1, extents.len(), 0])];
        let whole = self.w.with(Opcode::MakeTensorView, &operands, Type::TensorView(tensor.clone()), &groups);
        let partition = PartitionViewType {
            tile_shape: shape.iter().map(|n| *n as i32).collect(),
            tensor_view: tensor,
            dim_map: (0..shape.len() as i32).collect(),
            padding_value,
        };
        Some(self.w.plain(Opcode::MakePartitionView, &[whole], Type::PartitionView(partition)))
    }

    /// Offsets that are multiples of the tile's extents, in tiles.
    fn tile_indexes(&mut self, offsets: &[Value], shape: &[i64]) -> Vec<Written> {
        let mut indexes = Vec::new();
        for (offset, extent) in offsets.iter().zip(shape) {
            let known = self.func.def_op(*offset).map(|op| self.func.kind(op));
            let offset = self.value(*offset);
            indexes.push(match known {
                _ if *extent == 1 => offset,
                Some(TileOp::Const { value }) => self.w.index(value / extent),
                _ => {
                    let extent = self.w.index(*extent);
                    self.w.div(offset, extent, false, false)
                }
            });
        }
        indexes
    }

    // --- tiles of pointers ---------------------------------------------------------------------------------

    fn places(
        &mut self,
        op: OpId,
        offsets: &[Value],
        shape: &[i64],
        steps: &[i64],
        bounded: &[bool],
    ) -> Places {
        let number = self.view_of(op);
        let ty = self.kernel.views[number].ty.clone();
        let (rank, wide) = (shape.len(), padded(shape));
        let mut elements: Option<Written> = None;
        let mut mask: Option<Written> = None;
        for axis in 0..rank {
            let line = self.w.coordinates(ScalarType::I64, rank, axis, wide[axis]);
            if wide[axis] != shape[axis] {
                let inside = self.below(line, shape[axis]);
                mask = Some(self.both(mask, inside, &wide));
            }
            let step = self.w.int(line, steps[axis]);
            let line = if steps[axis] == 1 { line } else { self.w.mul(line, step) };
            let lined = self.w.shape(line);
            let offset = self.value(offsets[axis]);
            let offset = self.w.broadcast(offset, &lined);
            let at = self.w.add(offset, line);
            if bounded[axis] {
                let (zero, extent) = (self.w.int(at, 0), self.size(&ty.shape[axis]));
                let extent = self.w.broadcast(extent, &lined);
                let above = self.w.compare(ComparisonPredicate::GreaterThanOrEqual, at, zero, true);
                let below = self.w.compare(ComparisonPredicate::LessThan, at, extent, true);
                let inside = self.w.and(above, below);
                mask = Some(self.both(mask, inside, &wide));
            }
            let stride = self.size(&ty.strides[axis]);
            let stride = self.w.broadcast(stride, &lined);
            let part = self.w.mul(at, stride);
            let part = self.w.broadcast(part, &wide);
            elements = Some(match elements {
                Some(sum) => self.w.add(sum, part),
                None => part,
            });
        }
        let pointers = self.pointers(number, elements, &wide);
        Places { pointers, mask }
    }

    /// Places along a view of rank 1.
    fn scattered(&mut self, op: OpId, coordinates: Value) -> Places {
        let number = self.view_of(op);
        let (dtype, shape) = self.tile(coordinates);
        let wide = padded(&shape);
        let at = self.value(coordinates);
        let at = self.w.resize(at, ScalarType::I64, dtype.is_signed());
        let stride = self.size(&self.kernel.views[number].ty.strides[0].clone());
        let stride = self.w.broadcast(stride, &wide);
        let elements = self.w.mul(at, stride);
        let mask = self.inside(&shape);
        let pointers = self.pointers(number, Some(elements), &wide);
        Places { pointers, mask }
    }

    fn pointers(&mut self, view: usize, elements: Option<Written>, shape: &[i64]) -> Written {
        let element = memory_element(self.kernel.views[view].ty.dtype);
        let bases = self.w.broadcast(self.bases[view], shape);
        match elements {
            Some(elements) => self.w.plain(Opcode::Offset, &[bases, elements], pointers(element, shape)),
            None => bases,
        }
    }

    /// Which elements of a padded tile are elements of the tile; all without a mask.
    pub(super) fn inside(&mut self, shape: &[i64]) -> Option<Written> {
        let wide = padded(shape);
        let mut mask = None;
        for axis in (0..shape.len()).filter(|axis| wide[*axis] != shape[*axis]) {
            let line = self.w.coordinates(ScalarType::I32, shape.len(), axis, wide[axis]);
            let inside = self.below(line, shape[axis]);
            mask = Some(self.both(mask, inside, &wide));
        }
        mask
    }

    pub(super) fn below(&mut self, line: Written, n: i64) -> Written {
        let end = self.w.int(line, n);
        self.w.compare(ComparisonPredicate::LessThan, line, end, true)
    }

    fn both(&mut self, mask: Option<Written>, other: Written, shape: &[i64]) -> Written {
        let other = self.w.broadcast(other, shape);
        match mask {
            Some(mask) => self.w.and(mask, other),
            None => other,
        }
    }

    /// The mask without the places that a later element names again.
    fn last_of_equal(&mut self, op: OpId, mask: Option<Written>) -> Made<Option<Written>> {
        let coordinates = self.func.operand(op, 2);
        let (_, shape) = self.tile(coordinates);
        let count: i64 = padded(&shape).iter().product();
        if count == 1 {
            return Ok(mask);
        }
        if count > COMPARED_PLACES {
            return self.refuse("a scatter of", coordinates);
        }
        let at = self.value(coordinates);
        let line = self.w.reshape(at, &[count]);
        let (rows, columns) = (self.w.reshape(line, &[count, 1]), self.w.reshape(line, &[1, count]));
        let square = [count, count];
        let (rows, columns) = (self.w.broadcast(rows, &square), self.w.broadcast(columns, &square));
        let equal = self.w.compare(ComparisonPredicate::Equal, rows, columns, true);
        let (i, j) = (
            self.w.coordinates(ScalarType::I32, 2, 0, count),
            self.w.coordinates(ScalarType::I32, 2, 1, count),
        );
        let (i, j) = (self.w.broadcast(i, &square), self.w.broadcast(j, &square));
        let later = self.w.compare(ComparisonPredicate::LessThan, i, j, true);
        let mut again = self.w.and(equal, later);
        if let Some(mask) = mask {
            let other = self.w.reshape(mask, &[1, count]);
            let other = self.w.broadcast(other, &square);
            again = self.w.and(again, other);
        }
        let again = self.w.resize(again, ScalarType::I32, false);
        let any = self.fold(again, ScalarOp::Or, DType::I32, 1)?;
        let zero = self.w.int(any, 0);
        let last = self.w.compare(ComparisonPredicate::Equal, any, zero, true);
        let last = self.w.reshape(last, &padded(&shape));
        Ok(Some(match mask {
            Some(mask) => self.w.and(mask, last),
            None => last,
        }))
    }

    fn load_places(&mut self, op: OpId, places: Places, dtype: DType, shape: &[i64], pad: i64) -> Written {
        let element = memory_element(dtype);
        let padding = places.mask.map(|_| self.w.constant(element, shape, pad as u64));
        let token = self.token(op);
        let some = |value: Option<Written>| usize::from(value.is_some());
        let operands: Vec<Written> =
            [places.pointers].into_iter().chain(places.mask).chain(padding).chain(token).collect();
        let attributes = [
            ("memory_ordering_semantics", number(0)),
            groups(&[1, some(places.mask), some(padding), some(token)]),
        ];
        let results =
            self.w.op(Opcode::LoadPtrTko, &operands, &[tile(element, shape), Type::Token], &attributes, &[]);
        self.accessed(op, results[1]);
        self.register_form(results[0], dtype)
    }

    fn store_places(&mut self, op: OpId, places: Places, value: Written) {
        let token = self.token(op);
        let some = |value: Option<Written>| usize::from(value.is_some());
        let operands: Vec<Written> =
            [places.pointers, value].into_iter().chain(places.mask).chain(token).collect();
        let attributes =
            [("memory_ordering_semantics", number(0)), groups(&[1, 1, some(places.mask), some(token)])];
        let results = self.w.op(Opcode::StorePtrTko, &operands, &[Type::Token], &attributes, &[]);
        self.accessed(op, results[0]);
    }
}

/// The padding of views with these bits.
fn padding(dtype: DType, bits: i64) -> Option<PaddingValue> {
    let width = 8 * dtype.size() as u32;
    let bits = if width == 64 { bits as u64 } else { bits as u64 & ((1 << width) - 1) };
    if bits == 0 {
        return Some(PaddingValue::Zero);
    }
    if !dtype.is_float() {
        return None;
    }
    let real = f64::from_bits(eval(ScalarOp::Cast { to: DType::F64, saturate: true }, &[dtype], &[bits]));
    match real {
        _ if real == f64::INFINITY => Some(PaddingValue::PosInf),
        _ if real == f64::NEG_INFINITY => Some(PaddingValue::NegInf),
        _ if real == 0.0 => Some(PaddingValue::NegZero),
        _ => None,
    }
}
