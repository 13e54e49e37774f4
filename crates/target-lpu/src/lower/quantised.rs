//! Contractions of bytes: both factors are of 8 bits, or are dequantised from 8 bits.
//!
//! `sum (x - zx)(w - zw)` in integers, then one product with the scales. Planes multiply signed bytes: `u8` is moved by 128,
//! and what that and the zero points add is put right by the sums of columns and of rows, which are exact.

use super::alu::{Chain, int};
use super::constants::{uniform, wide_bits};
use super::dot::{Extents, Side, Weights, extents};
use super::{Lower, Lowered, Tensor};
use crate::flow::Source;
use std::sync::Arc;
use tegula_base::{DType, HostTensor};
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Element, Factors, Number};
use tegula_tensor::{DotDims, TensorFunc, TensorOp};

/// A factor of a contraction of bytes.
pub(crate) struct Bytes {
    pub(crate) bytes: Value,
    /// None: the result is the integer sum.
    pub(crate) scale: Option<Value>,
    pub(crate) zero: Option<Value>,
    /// What makes floats of the bytes; none: the contraction reads bytes.
    pub(super) dequantize: Option<OpId>,
    /// Movements between the dequantisation and the contraction, in order.
    pub(super) moves: Vec<OpId>,
    /// The axis that scales differ along.
    axis: Option<usize>,
}

impl Bytes {
    /// What must be known or computed for it.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        [self.bytes].into_iter().chain(self.scale).chain(self.zero)
    }
}

/// The dequantisations of a contraction of bytes, and what moves their floats; none: it is no such contraction.
pub(crate) fn conversions(func: &TensorFunc, op: OpId) -> Option<Vec<OpId>> {
    let sides = bytes_of(func, op)?;
    Some(sides.into_iter().flat_map(|side| side.dequantize.into_iter().chain(side.moves)).collect())
}

/// Whether both factors of a contraction are bytes, or are dequantised from bytes.
pub(crate) fn is_of_bytes(func: &TensorFunc, op: OpId) -> bool {
    bytes_of(func, op).is_some()
}

/// Both factors of a contraction of bytes.
pub(crate) fn bytes_of(func: &TensorFunc, op: OpId) -> Option<[Bytes; 2]> {
    match func.kind(op) {
        TensorOp::Dot { dims, pair_sums: None, .. } => bytes_of_dot(func, op, dims),
        TensorOp::Conv { .. } => {
            let side = |at: usize| side(func, func.operand(op, at)).filter(|side| side.moves.is_empty());
            let left = side(0).filter(|side| side.axis.is_none())?;
            // Filters are signed, and differ in their scales by output channels.
            let is_filter = |side: &Bytes| {
                func.ty(side.bytes).dtype == DType::I8 && side.axis.is_none_or(|axis| axis == 0)
            };
            let right = side(1).filter(is_filter)?;
            (left.scale.is_some() == right.scale.is_some()).then_some([left, right])
        }
        _ => None,
    }
}

fn bytes_of_dot(func: &TensorFunc, op: OpId, dims: &DotDims) -> Option<[Bytes; 2]> {
    let left = side(func, func.operand(op, 0)).filter(|side| side.axis.is_none())?;
    let right = side(func, func.operand(op, 1))?;
    let rank = func.ty(func.operand(op, 1)).rank();
    let is_column = |axis: usize| {
        let others = |free: usize| {
            free != axis && !dims.rhs_batch.contains(&free) && !dims.rhs_contract.contains(&free)
        };
        let own = !dims.rhs_batch.contains(&axis) && !dims.rhs_contract.contains(&axis);
        own && right.moves.is_empty() && !(0..rank).any(others)
    };
    let fits = right.axis.is_none_or(is_column);
    fits.then_some([left, right])
}

fn side(func: &TensorFunc, value: Value) -> Option<Bytes> {
    if matches!(func.ty(value).dtype, DType::I8 | DType::U8) {
        return Some(Bytes {
            bytes: value,
            scale: None,
            zero: None,
            dequantize: None,
            moves: Vec::new(),
            axis: None,
        });
    }
    let (mut value, mut moves) = (value, Vec::new());
    loop {
        let op = func.def_op(value)?;
        match func.kind(op) {
            TensorOp::Reshape { .. } | TensorOp::Transpose { .. } => {
                moves.push(op);
                value = func.operand(op, 0);
            }
            TensorOp::Dequantize { scheme } => {
                let [bytes, scale] = [func.operand(op, 0), func.operand(op, 1)];
                let zero = func.operands(op).get(2).copied();
                let is_byte = matches!(scheme.storage, DType::I8 | DType::U8);
                let known =
                    [Some(scale), zero].into_iter().flatten().all(|value| is_known(func, value, DEEPEST));
                let fits = is_byte && known && scheme.block.is_none() && func.ty(scale).dtype == DType::F32;
                let axis = scheme.axis.filter(|_| func.ty(scale).rank() > 0);
                moves.reverse();
                return fits.then_some(Bytes {
                    bytes,
                    scale: Some(scale),
                    zero,
                    dequantize: Some(op),
                    moves,
                    axis,
                });
            }
            _ => return None,
        }
    }
}

/// Ops between a constant and the scale that it becomes.
pub(crate) const DEEPEST: usize = 4;

pub(crate) fn is_known(func: &TensorFunc, value: Value, deepest: usize) -> bool {
    func.def_op(value).is_some_and(|op| {
        matches!(func.kind(op), TensorOp::Constant { .. } | TensorOp::Splat { .. })
            || deepest > 0
                && !func.operands(op).is_empty()
                && func.operands(op).iter().all(|operand| is_known(func, *operand, deepest - 1))
    })
}

/// What integers of a side are less than the numbers that they stand for: `x - zero = byte + offset`.
struct Offsets {
    /// What is added to a stored integer to give the byte.
    shift: i32,
    /// One for the tensor, or one a column.
    offsets: Vec<i32>,
}

impl Lower<'_> {
    pub(super) fn known_of(&self, value: Value) -> Result<Arc<HostTensor>, String> {
        match self.values.get(&value) {
            Some(Lowered::Known(known)) => Ok(Arc::clone(known)),
            _ => Err("a scale is computed".to_string()),
        }
    }

    fn offsets(&self, side: &Bytes) -> Result<Offsets, String> {
        let shift = if self.func.ty(side.bytes).dtype == DType::U8 { -128 } else { 0 };
        let zeros = match side.zero {
            Some(zero) => wide_bits(&*self.known_of(zero)?)?.into_iter().map(|bits| bits as i32).collect(),
            None => vec![0],
        };
        Ok(Offsets { shift, offsets: zeros.into_iter().map(|zero: i32| -shift - zero).collect() })
    }

    pub(super) fn byte_dot(&mut self, dims: &DotDims, [left, right]: &[Bytes; 2]) -> Result<Tensor, String> {
        let shapes = [self.shape_of_side(left)?, self.shape_of_side(right)?];
        let extents = extents(dims, &shapes[0], &shapes[1]);
        let Extents { batch, m, k, n } = extents;
        let (x, w) = (self.offsets(left)?, self.offsets(right)?);
        let rows = self.moved_bytes(left)?;
        let rows = self.arranged(rows, &Side::left(dims, &shapes[0]), vec![batch, m, k]);
        let rows = self.as_bytes(rows, x.shift);
        let x_offset = x.offsets.first().copied().unwrap_or(0);
        let side = Side::right(dims, &shapes[1]);
        let known = match self.values.get(&right.bytes) {
            Some(Lowered::Known(known)) if right.moves.is_empty() => Some(Arc::clone(known)),
            _ => None,
        };
        // Sums of the weights of each column, times the rows' offset.
        let (weights, columns) = match known {
            Some(known) => self.known_bytes(&known, &side, extents, w.shift, x_offset)?,
            None => {
                let tensor = self.moved_bytes(right)?;
                let tensor = self.arranged(tensor, &side, vec![batch, k, n]);
                let bytes = self.as_bytes(tensor, w.shift);
                let weights = self.held(bytes, Element::I8, extents);
                let columns =
                    if x_offset == 0 { None } else { Some(self.column_sums(&weights, extents, x_offset)) };
                (weights, columns)
            }
        };
        let mut sums = self.product(Factors::I8, rows, &weights, extents, DType::I32);
        if let Some(columns) = columns {
            sums = self.plus(sums, columns);
        }
        if w.offsets.iter().any(|offset| *offset != 0) {
            let rows = self.row_sums(rows, extents);
            let offsets = self.row_of(&w.offsets, n);
            let all = k as i32 * x_offset;
            let constant: Vec<i32> = w.offsets.iter().map(|offset| offset.wrapping_mul(all)).collect();
            let constant = self.row_of(&constant, n);
            let mut chain = Chain::over(self, &sums.shape);
            let (rows, offsets) = (chain.arg(&rows), chain.arg(&offsets));
            let (sum, constant) = (chain.arg(&sums), chain.arg(&constant));
            let product = chain.alu(AluOp::Mul(Number::I32), &[&rows, &offsets]);
            let sum = chain.alu(AluOp::Add(Number::I32), &[&product, &sum]);
            let sum = chain.alu(AluOp::Add(Number::I32), &[&sum, &constant]);
            sums = chain.finish(sum, sums.shape.clone(), DType::I32);
        }
        let result = match (left.scale, right.scale) {
            (Some(left), Some(right)) => self.scaled(sums, [left, right], n)?,
            _ => sums,
        };
        Ok(result)
    }

    fn shape_of_side(&self, side: &Bytes) -> Result<Vec<usize>, String> {
        let last = side.moves.last().map_or(side.bytes, |op| self.func.results(*op)[0]);
        self.shape(last)
    }

    /// The integers of a side where its contraction reads them.
    fn moved_bytes(&mut self, side: &Bytes) -> Result<Tensor, String> {
        let mut tensor = self.tensor(side.bytes)?;
        for op in &side.moves {
            let from = self.shape(self.func.operand(*op, 0))?;
            let to = self.shape(self.func.results(*op)[0])?;
            let dtype = tensor.dtype;
            tensor = self.moved_as(self.func.kind(*op), &[tensor], &[from], to, dtype, 0)?;
        }
        Ok(tensor)
    }

    pub(super) fn known_bytes(
        &mut self,
        known: &HostTensor,
        side: &Side,
        extents: Extents,
        shift: i32,
        x_offset: i32,
    ) -> Result<(Weights, Option<Tensor>), String> {
        let bits = wide_bits(known)?;
        let Extents { batch, k, n, .. } = extents;
        let at = |b: usize, step: usize, column: usize| {
            (bits[side.place((b * k + step) * n + column)] as i32).wrapping_add(shift)
        };
        let weights = self.laid(Element::I8, extents, &|b, step, column| vec![at(b, step, column) as u8]);
        if x_offset == 0 {
            return Ok((weights, None));
        }
        let sum =
            |b: usize, column: usize| (0..k).map(|step| at(b, step, column)).fold(0i32, i32::wrapping_add);
        let all = (0..batch).flat_map(|b| (0..n).map(move |column| (b, column)));
        let sums: Vec<u32> = all.map(|(b, column)| sum(b, column).wrapping_mul(x_offset) as u32).collect();
        let shape = vec![batch, 1, n];
        let value = self.known_bits(&sums, &shape);
        Ok((weights, Some(Tensor { value, shape, dtype: DType::I32 })))
    }

    /// Sums of the columns of weights that are computed, times `by`: a row of ones goes through the plane.
    pub(super) fn column_sums(&mut self, weights: &Weights, extents: Extents, by: i32) -> Tensor {
        let vectors = extents.batch * extents.k.div_ceil(self.lanes());
        let ones = self.constant(Element::I8, false, vec![1; vectors * self.lanes()]);
        let sums = self.product(Factors::I8, ones, weights, Extents { m: 1, ..extents }, DType::I32);
        let mut chain = Chain::over(self, &sums.shape);
        let x = chain.arg(&sums);
        let product = chain.alu(AluOp::Mul(Number::I32), &[&x, &int(by)]);
        chain.finish(product, sums.shape.clone(), DType::I32)
    }

    /// Sums of the bytes of each row, in all lanes: weights of ones.
    fn row_sums(&mut self, rows: crate::flow::ValueId, extents: Extents) -> Tensor {
        let extents = Extents { n: 1, ..extents };
        let ones = self.laid(Element::I8, extents, &|_, _, _| vec![1]);
        self.product(Factors::I8, rows, &ones, extents, DType::I32)
    }

    /// One number for all columns, or one a column.
    fn row_of(&mut self, numbers: &[i32], n: usize) -> Tensor {
        let shape = vec![1, 1, if numbers.len() == 1 { 1 } else { n }];
        let bits: Vec<u32> = numbers.iter().map(|number| *number as u32).collect();
        Tensor { value: self.known_bits(&bits, &shape), shape, dtype: DType::I32 }
    }

    fn plus(&mut self, a: Tensor, b: Tensor) -> Tensor {
        let mut chain = Chain::over(self, &a.shape);
        let (x, y) = (chain.arg(&a), chain.arg(&b));
        let sum = chain.alu(AluOp::Add(Number::I32), &[&x, &y]);
        chain.finish(sum, a.shape.clone(), DType::I32)
    }

    fn scaled(&mut self, sums: Tensor, [left, right]: [Value; 2], n: usize) -> Result<Tensor, String> {
        let (left, right) = (self.known_of(left)?, self.known_of(right)?);
        let left = uniform(&left).map(f32::from_bits).ok_or("the rows have several scales")?;
        let scales: Vec<f32> =
            wide_bits(&right)?.into_iter().map(|bits| left * f32::from_bits(bits)).collect();
        let scale =
            match scales[..] {
                [one] => Err(one),
                _ => Ok(self
                    .known_bits(&scales.iter().map(|scale| scale.to_bits()).collect::<Vec<_>>(), &[1, 1, n])),
            };
        let mut chain = Chain::over(self, &sums.shape);
        let x = chain.arg(&sums);
        let scale = match scale {
            Err(one) => Source::Immediate(one.to_bits()),
            Ok(value) => chain.arg(&Tensor { value, shape: vec![1, 1, n], dtype: DType::F32 }),
        };
        let whole = chain.cast(&x, Element::I32, Element::F32);
        let product = chain.mul(&whole, &scale);
        Ok(chain.finish(product, sums.shape.clone(), DType::F32))
    }
}
