//! Appends Tile IR ops to a module: the current block, types of tiles, constants, arithmetic in a short hand.
//! Arithmetic takes operands of one type and shape; integers carry no sign, their ops do.

use cutile_ir::builder::{OpBuilder, append_op, build_single_block_region};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{
    Attribute, BlockId, ComparisonPredicate, DenseElements, Location, Module, PointerType, RegionId,
    ScalarType, TileElementType, TileType, Type, Value,
};

pub(crate) const NEAREST: i64 = 0;

pub(crate) fn tile(element: ScalarType, shape: &[i64]) -> Type {
    Type::Tile(TileType { shape: shape.to_vec(), element_type: TileElementType::Scalar(element) })
}

pub(crate) fn pointers(pointee: ScalarType, shape: &[i64]) -> Type {
    let element_type = TileElementType::Pointer(Box::new(PointerType { pointee }));
    Type::Tile(TileType { shape: shape.to_vec(), element_type })
}

/// An attribute that is a number: an enum's value, an axis.
pub(crate) fn number(value: i64) -> Attribute {
    Attribute::i32(value)
}

/// How many operands each group of an op has.
pub(crate) fn groups(sizes: &[usize]) -> (&'static str, Attribute) {
    let sizes = sizes.iter().map(|n| Attribute::i32(*n as i64)).collect();
    ("operandSegmentSizes", Attribute::Array(sizes))
}

pub(crate) struct Writer {
    pub module: Module,
    pub block: BlockId,
}

impl Writer {
    // --- structure -----------------------------------------------------------------------------------------

    pub fn op(
        &mut self,
        opcode: Opcode,
        operands: &[Value],
        results: &[Type],
        attributes: &[(&str, Attribute)],
        regions: &[RegionId],
    ) -> Vec<Value> {
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.clone()));
        let (op, values) = OpBuilder::new(opcode, Location::Unknown)
            .operands(operands.iter().copied())
            .results(results.iter().cloned())
            .attrs(attributes)
            .regions(regions.iter().copied())
            .build(&mut self.module);
        append_op(&mut self.module, self.block, op);
        values
    }

    /// An op of one result.
    pub fn with(
        &mut self,
        opcode: Opcode,
        operands: &[Value],
        result: Type,
        attributes: &[(&str, Attribute)],
    ) -> Value {
        self.op(opcode, operands, &[result], attributes, &[])[0]
    }

    pub fn plain(&mut self, opcode: Opcode, operands: &[Value], result: Type) -> Value {
        self.with(opcode, operands, result, &[])
    }

    /// A region of one block; `fill` writes into it.
    pub fn begin_region(&mut self, args: &[Type]) -> (RegionId, BlockId, Vec<Value>) {
        let (region, block, args) = build_single_block_region(&mut self.module, args);
        (region, std::mem::replace(&mut self.block, block), args)
    }

    // --- types ---------------------------------------------------------------------------------------------

    pub fn ty(&self, value: Value) -> Type {
        self.module.value_type(value).clone()
    }

    /// Panics where the value is no tile: a caller's bug.
    pub fn tile_type(&self, value: Value) -> &TileType {
        match self.module.value_type(value) {
            Type::Tile(tile) => tile,
            _ => unreachable!("invariant: arithmetic takes tiles"),
        }
    }

    pub fn shape(&self, value: Value) -> Vec<i64> {
        self.tile_type(value).shape.clone()
    }

    pub fn element(&self, value: Value) -> ScalarType {
        match &self.tile_type(value).element_type {
            TileElementType::Scalar(element) => *element,
            TileElementType::Pointer(pointer) => pointer.pointee,
        }
    }

    /// The type of `value` with other elements.
    fn same(&self, value: Value, element: ScalarType) -> Type {
        tile(element, &self.tile_type(value).shape)
    }

    // --- constants -----------------------------------------------------------------------------------------

    /// Every element the same bits.
    pub fn constant(&mut self, element: ScalarType, shape: &[i64], bits: u64) -> Value {
        let ty = tile(element, shape);
        let data = match element {
            // A byte of ones is what MLIR calls a splat of `true`.
            ScalarType::I1 => vec![if bits & 1 == 1 { 0xff } else { 0 }],
            _ => bits.to_le_bytes()[..element.byte_width()].to_vec(),
        };
        // One element stands for all; with a shape its printer would look for as many.
        let value = DenseElements { element_type: ty.clone(), shape: vec![], data };
        self.with(Opcode::Constant, &[], ty, &[("value", Attribute::DenseElements(value))])
    }

    /// An integer for each element of a tile like `value`.
    pub fn int(&mut self, like: Value, n: i64) -> Value {
        let (element, shape) = (self.element(like), self.shape(like));
        self.constant(element, &shape, n as u64)
    }

    /// A float for each element of a tile like `value`, which is of f32 or f64.
    pub fn real(&mut self, like: Value, x: f64) -> Value {
        let (element, shape) = (self.element(like), self.shape(like));
        let bits = match element {
            ScalarType::F64 => x.to_bits(),
            ScalarType::F32 => u64::from((x as f32).to_bits()),
            _ => unreachable!("invariant: functions are computed in f32 or f64"),
        };
        self.constant(element, &shape, bits)
    }

    pub fn index(&mut self, n: i64) -> Value {
        self.constant(ScalarType::I64, &[], n as u64)
    }

    // --- shapes --------------------------------------------------------------------------------------------

    pub fn reshape(&mut self, value: Value, shape: &[i64]) -> Value {
        let old = self.tile_type(value);
        if old.shape == shape {
            return value;
        }
        let ty = Type::Tile(TileType { shape: shape.to_vec(), element_type: old.element_type.clone() });
        self.plain(Opcode::Reshape, &[value], ty)
    }

    /// A scalar or a tile of the same rank, repeated.
    pub fn broadcast(&mut self, value: Value, shape: &[i64]) -> Value {
        let value = match self.tile_type(value).shape.is_empty() {
            true => self.reshape(value, &vec![1; shape.len()]),
            false => value,
        };
        let old = self.tile_type(value);
        if old.shape == shape {
            return value;
        }
        let ty = Type::Tile(TileType { shape: shape.to_vec(), element_type: old.element_type.clone() });
        self.plain(Opcode::Broadcast, &[value], ty)
    }

    /// `0..extent` along `axis` of a tile whose other extents are 1.
    pub fn coordinates(&mut self, element: ScalarType, rank: usize, axis: usize, extent: i64) -> Value {
        let line = self.plain(Opcode::Iota, &[], tile(element, &[extent]));
        let mut shape = vec![1; rank];
        shape[axis] = extent;
        self.reshape(line, &shape)
    }

    // --- integers ------------------------------------------------------------------------------------------

    fn wrapping(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.with(opcode, &[a, b], ty, &[("overflow", number(0))])
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.wrapping(Opcode::AddI, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.wrapping(Opcode::SubI, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.wrapping(Opcode::MulI, a, b)
    }

    pub fn shl(&mut self, a: Value, by: Value) -> Value {
        self.wrapping(Opcode::ShLI, a, by)
    }

    /// An op that asks whether its operands are signed.
    pub fn signed(&mut self, opcode: Opcode, a: Value, b: Value, signed: bool) -> Value {
        let ty = self.ty(a);
        self.with(opcode, &[a, b], ty, &[("signedness", number(signed.into()))])
    }

    /// The quotient, rounded to zero or to negative infinity. Divisors are not 0.
    pub fn div(&mut self, a: Value, b: Value, signed: bool, floor: bool) -> Value {
        let ty = self.ty(a);
        let rounding = if floor { 2 } else { 1 };
        let attributes = [("signedness", number(signed.into())), ("rounding", number(rounding))];
        self.with(Opcode::DivI, &[a, b], ty, &attributes)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.plain(Opcode::AndI, &[a, b], ty)
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.plain(Opcode::OrI, &[a, b], ty)
    }

    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.plain(Opcode::XOrI, &[a, b], ty)
    }

    pub fn compare(&mut self, how: ComparisonPredicate, a: Value, b: Value, signed: bool) -> Value {
        let ty = self.same(a, ScalarType::I1);
        let attributes =
            [("comparison_predicate", number(how as i64)), ("signedness", number(signed.into()))];
        self.with(Opcode::CmpI, &[a, b], ty, &attributes)
    }

    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.plain(Opcode::Select, &[condition, a, b], ty)
    }

    /// To an integer type of any width.
    pub fn resize(&mut self, value: Value, to: ScalarType, signed: bool) -> Value {
        let ty = self.same(value, to);
        let width = |element: ScalarType| match element {
            ScalarType::I1 => 1,
            other => 8 * other.byte_width(),
        };
        let (from, wanted) = (width(self.element(value)), width(to));
        match from.cmp(&wanted) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => {
                self.with(Opcode::ExtI, &[value], ty, &[("signedness", number(signed.into()))])
            }
            std::cmp::Ordering::Greater => {
                self.with(Opcode::TruncI, &[value], ty, &[("overflow", number(0))])
            }
        }
    }

    pub fn bitcast(&mut self, value: Value, to: ScalarType) -> Value {
        match self.element(value) == to {
            true => value,
            false => {
                let ty = self.same(value, to);
                self.plain(Opcode::Bitcast, &[value], ty)
            }
        }
    }

    // --- floats --------------------------------------------------------------------------------------------

    fn rounded(&mut self, opcode: Opcode, operands: &[Value]) -> Value {
        let ty = self.ty(operands[0]);
        self.with(opcode, operands, ty, &[("rounding_mode", number(NEAREST))])
    }

    pub fn addf(&mut self, a: Value, b: Value) -> Value {
        self.rounded(Opcode::AddF, &[a, b])
    }

    pub fn subf(&mut self, a: Value, b: Value) -> Value {
        self.rounded(Opcode::SubF, &[a, b])
    }

    pub fn mulf(&mut self, a: Value, b: Value) -> Value {
        self.rounded(Opcode::MulF, &[a, b])
    }

    pub fn divf(&mut self, a: Value, b: Value) -> Value {
        self.rounded(Opcode::DivF, &[a, b])
    }

    pub fn sqrt(&mut self, a: Value) -> Value {
        self.rounded(Opcode::Sqrt, &[a])
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.rounded(Opcode::Fma, &[a, b, c])
    }

    /// An op of one type without attributes.
    pub fn unary(&mut self, opcode: Opcode, a: Value) -> Value {
        let ty = self.ty(a);
        self.plain(opcode, &[a], ty)
    }

    pub fn binary(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.plain(opcode, &[a, b], ty)
    }

    /// False with NaN, except that `NotEqual` is true.
    pub fn comparef(&mut self, how: ComparisonPredicate, a: Value, b: Value) -> Value {
        let ty = self.same(a, ScalarType::I1);
        let ordered = i64::from(how != ComparisonPredicate::NotEqual);
        let attributes =
            [("comparison_predicate", number(how as i64)), ("comparison_ordering", number(ordered))];
        self.with(Opcode::CmpF, &[a, b], ty, &attributes)
    }
}
