//! Contractions: one factor's rows go through a plane that holds the other.
//!
//! The left side becomes rows of k; the right side rows of n, k of them for each batch, and is what the plane holds.

use super::alu::Chain;
use super::halves::{self, Halves};
use super::moves::strides;
use super::{Lower, Lowered, Tensor};
use crate::flow::{Access, How, Kind, Loops, Product, Source, Tile, ValueId};
use crate::target::FloatFactors;
use smallvec::smallvec;
use tegula_base::{DType, HostTensor};
use tegula_ir::Value;
use tegula_isa_lpu::word::{AluOp, Element, Factors};
use tegula_tensor::DotDims;

pub(super) use super::quantised::bytes_of;

/// Extents of a contraction in normal form: `[batch, m, k]` by `[batch, k, n]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) batch: usize,
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
}

/// Axes of one side in the order of its normal form: batch, then two groups.
pub(super) struct Side {
    axes: Vec<usize>,
    shape: Vec<usize>,
}

impl Side {
    pub(super) fn left(dims: &DotDims, shape: &[usize]) -> Side {
        let free = free(shape.len(), &dims.lhs_batch, &dims.lhs_contract);
        Side { axes: [&dims.lhs_batch[..], &free, &dims.lhs_contract].concat(), shape: shape.to_vec() }
    }

    pub(super) fn right(dims: &DotDims, shape: &[usize]) -> Side {
        let free = free(shape.len(), &dims.rhs_batch, &dims.rhs_contract);
        Side { axes: [&dims.rhs_batch[..], &dims.rhs_contract, &free].concat(), shape: shape.to_vec() }
    }

    /// Where an element of the normal form lies in the side.
    pub(super) fn place(&self, flat: usize) -> usize {
        let own = strides(&self.shape);
        let (mut rest, mut place) = (flat, 0);
        for axis in self.axes.iter().rev() {
            place += rest % self.shape[*axis] * own[*axis];
            rest /= self.shape[*axis];
        }
        place
    }

    fn is_normal(&self) -> bool {
        self.axes.windows(2).all(|pair| pair[0] < pair[1])
    }
}

fn free(rank: usize, batch: &[usize], contract: &[usize]) -> Vec<usize> {
    (0..rank).filter(|axis| !batch.contains(axis) && !contract.contains(axis)).collect()
}

pub(super) fn extents(dims: &DotDims, left: &[usize], right: &[usize]) -> Extents {
    let product = |shape: &[usize], axes: &[usize]| axes.iter().map(|axis| shape[*axis]).product::<usize>();
    Extents {
        batch: product(left, &dims.lhs_batch),
        m: product(left, &free(left.len(), &dims.lhs_batch, &dims.lhs_contract)),
        k: product(left, &dims.lhs_contract),
        n: product(right, &free(right.len(), &dims.rhs_batch, &dims.rhs_contract)),
    }
}

/// What a plane holds for a contraction: weights of each batch and tile of columns, one after another.
pub(super) struct Weights {
    pub(super) value: ValueId,
    /// Vectors of one tile of columns.
    pub(super) stride: u32,
}

/// The exponent of the largest of known numbers; 0 where that is no normal `f32`.
pub(super) fn exponent_of(numbers: impl Iterator<Item = f64>) -> i32 {
    let largest = numbers.map(|x| (x as f32).abs()).fold(0f32, f32::max);
    if largest.is_normal() { (largest.to_bits() >> 23) as i32 - 127 } else { 0 }
}

/// The bits of a power of two whose exponent is one of [`exponent_of`].
pub(super) fn power_of_two(exponent: i32) -> u32 {
    ((exponent + 127) as u32) << 23
}

impl Lower<'_> {
    pub(super) fn float_dot(&mut self, dims: &DotDims, left: Value, right: Value) -> Result<Tensor, String> {
        if self.factors == FloatFactors::Refuse {
            return Err("planes multiply no f32".to_string());
        }
        let (left_shape, right_shape) = (self.shape(left)?, self.shape(right)?);
        let extents = extents(dims, &left_shape, &right_shape);
        let rows = self.tensor(left)?;
        let rows =
            self.arranged(rows, &Side::left(dims, &left_shape), vec![extents.batch, extents.m, extents.k]);
        let has_rest = !extents.k.is_multiple_of(self.steps_at_once(Factors::F16));
        let rows = if has_rest { self.only_elements(rows, 0) } else { rows };
        let rows = self.halved(rows);
        let side = Side::right(dims, &right_shape);
        let known = match self.values.get(&right) {
            Some(Lowered::Known(known)) => Some(std::sync::Arc::clone(known)),
            _ => None,
        };
        let (weights, scale) = match known {
            Some(known) => self.known_halves(&known, &side, extents),
            None => {
                let tensor = self.tensor(right)?;
                let tensor = self.arranged(tensor, &side, vec![extents.batch, extents.k, extents.n]);
                let halves = self.halved(tensor);
                (halves.map(|half| self.held(half, Element::F16, extents)), None)
            }
        };
        let product = self.passes(&rows, &weights, &|lower, rows, weights| {
            lower.product(Factors::F16, rows, weights, extents, DType::F32)
        });
        let product = match scale {
            None => product,
            Some(scale) => {
                let scale = self.known_bits(&scale, &[1, 1, extents.n]);
                let scale = Tensor { value: scale, shape: vec![1, 1, extents.n], dtype: DType::F32 };
                let mut chain = Chain::over(self, &product.shape);
                let (a, b) = (chain.arg(&product), chain.arg(&scale));
                let result = chain.mul(&a, &b);
                chain.finish(result, product.shape.clone(), DType::F32)
            }
        };
        Ok(product)
    }

    /// A side in normal form.
    pub(super) fn arranged(&mut self, tensor: Tensor, side: &Side, shape: Vec<usize>) -> Tensor {
        let alike = side.is_normal() && super::row(&tensor.shape) == super::row(&shape);
        if alike {
            return Tensor { shape, ..tensor };
        }
        let dtype = tensor.dtype;
        self.moved(&[tensor], shape, dtype, 0, &|flat| Some((0, side.place(flat))))
    }

    /// Known weights as `f16`, each column times a power of two that brings its largest to `[1, 2)`, and the inverses of these
    /// powers as bits; none where all are 1, as for bytes.
    fn known_halves(
        &mut self,
        known: &HostTensor,
        side: &Side,
        extents: Extents,
    ) -> (Halves<Weights>, Option<Vec<u32>>) {
        let numbers = known.to_f64();
        let Extents { batch, k, n, .. } = extents;
        let at = |b: usize, step: usize, column: usize| numbers[side.place((b * k + step) * n + column)];
        let all = |column: usize| {
            (0..batch)
                .flat_map(move |b| (0..k).map(move |step| (b, step)))
                .map(move |(b, step)| (b, step, column))
        };
        let exponent = |column: usize| match known.dtype.is_float() {
            true => exponent_of(all(column).map(|(b, step, column)| at(b, step, column))),
            false => 0,
        };
        let exponents: Vec<i32> = (0..n).map(exponent).collect();
        let scaled = |b, step, column: usize| at(b, step, column) * f64::from(-exponents[column]).exp2();
        let high = self.laid(Element::F16, extents, &|b, step, column| halves::high(scaled(b, step, column)));
        let low = self.has_low(known.dtype).then(|| {
            self.laid(Element::F16, extents, &|b, step, column| halves::low(scaled(b, step, column)))
        });
        let has_scale = exponents.iter().any(|exponent| *exponent != 0);
        let inverses = has_scale.then(|| exponents.iter().map(|exponent| power_of_two(*exponent)).collect());
        (Halves { high, low }, inverses)
    }

    /// Known weights in memory. A single column is in all lanes, as is then each row's sum.
    pub(super) fn laid(
        &mut self,
        element: Element,
        extents: Extents,
        bytes: &dyn Fn(usize, usize, usize) -> Vec<u8>,
    ) -> Weights {
        let (lanes, Extents { batch, k, n, .. }) = (self.lanes(), extents);
        let stride = self.padded(k);
        let width = element.width() as usize;
        let mut all = Vec::with_capacity(batch * n.div_ceil(lanes) * stride * lanes * width);
        for b in 0..batch {
            for tile in 0..n.div_ceil(lanes) {
                for step in 0..stride {
                    for lane in 0..lanes {
                        let column = if n == 1 { 0 } else { tile * lanes + lane };
                        if step < k && column < n {
                            all.extend(bytes(b, step, column));
                        } else {
                            all.resize(all.len() + width, 0);
                        }
                    }
                }
            }
        }
        Weights { value: self.constant(element, true, all), stride: stride as u32 }
    }

    /// Steps of k, up to a multiple of the rows that are loaded together.
    fn padded(&self, k: usize) -> usize {
        k.next_multiple_of(self.lpu.mxm.load_streams as usize)
    }

    /// Computed weights, `[batch, k, n]`, copied to where planes load from.
    pub(super) fn held(&mut self, value: ValueId, element: Element, extents: Extents) -> Weights {
        let (lanes, Extents { batch, k, n, .. }) = (self.lanes(), extents);
        let (tiles, stride) = (n.div_ceil(lanes) as u32, self.padded(k) as u32);
        let (batch, k) = (batch as u32, k as u32);
        let to = self.fresh(element, batch * tiles * stride, true);
        let loops = [batch, tiles, k];
        let from = Access { value, base: 0, strides: Loops::from_slice(&[k * tiles, 1, tiles]) };
        let out = Access { value: to, base: 0, strides: Loops::from_slice(&[tiles * stride, stride, 1]) };
        self.flow(&loops, Kind::Move { how: How::Stay, from }, out);
        if stride > k {
            let zero = vec![0; lanes * element.width() as usize];
            let zero = self.constant(element, false, zero);
            let from = Access::fixed(zero, 0, 3);
            let out = Access { value: to, base: k, strides: Loops::from_slice(&[tiles * stride, stride, 1]) };
            self.flow(&[batch, tiles, stride - k], Kind::Move { how: How::Stay, from }, out);
        }
        Weights { value: to, stride }
    }

    /// `[batch, m, n]` from rows `[batch, m, k]` and weights.
    pub(super) fn product(
        &mut self,
        factors: Factors,
        rows: ValueId,
        weights: &Weights,
        extents: Extents,
        dtype: DType,
    ) -> Tensor {
        let (lanes, Extents { batch, m, k, n }) = (self.lanes(), extents);
        let (tiles, k_tiles) = (n.div_ceil(lanes), k.div_ceil(lanes));
        let element = if dtype.is_float() { Element::F32 } else { Element::I32 };
        let shape = vec![batch, m, n];
        let value = self.fresh(element, super::vectors(&shape, lanes), false);
        let zeros = self.rows_of_zero(factors);
        let most = self.rows_of_part(factors, extents);
        for b in 0..batch {
            for tile in 0..tiles {
                for first in (0..m).step_by(most) {
                    let count = most.min(m - first);
                    let rows = Access {
                        value: rows,
                        base: ((b * m + first) * k_tiles) as u32,
                        strides: smallvec![k_tiles as u32],
                    };
                    let out = Access {
                        value,
                        base: ((b * m + first) * tiles + tile) as u32,
                        strides: smallvec![tiles as u32],
                    };
                    let first_weights = (b * tiles + tile) as u32 * weights.stride;
                    let tiles = self.tiles(factors, k, 0, first_weights);
                    let product = Product { factors, rows, tiles, weights: weights.value, zeros };
                    self.flow(&[count as u32], Kind::Product(product), out);
                }
            }
        }
        Tensor { value, shape, dtype }
    }

    /// Steps of k of one row in tiles: those that planes multiply at once, none of them of two vectors. `row`: the row's first
    /// vector, `first`: the vector of the first step's weights.
    pub(super) fn tiles(&self, factors: Factors, k: usize, row: u32, first: u32) -> Vec<Tile> {
        let lanes = self.lanes();
        let tile = |at: usize| Tile {
            row: row + (at / lanes) as u32,
            lane: (at % lanes) as u32,
            first: first + at as u32,
            steps: self.steps_at_once(factors).min(k - at) as u32,
        };
        (0..k).step_by(self.steps_at_once(factors)).map(tile).collect()
    }

    /// Steps of k that planes multiply at once. Vectors have a whole number of such.
    pub(super) fn steps_at_once(&self, factors: Factors) -> usize {
        factors.k(self.lpu).map_or(self.lanes(), |k| self.lanes().min(k as usize))
    }

    /// Products that planes multiply at once.
    pub(super) fn planes(&self, factors: Factors) -> usize {
        (2 * self.lpu.mxm.planes / factors.width()).max(1) as usize
    }

    /// Rows that one plane multiplies in turn, so that all planes have a share, and no more than it has accumulators.
    pub(super) fn rows_of_part(&self, factors: Factors, Extents { batch, m, k, n }: Extents) -> usize {
        let gemm = tegula_perf::lpu::Gemm {
            m: m as u64,
            k: k as u64,
            n: n as u64,
            factors: match factors {
                Factors::I8 | Factors::F8 => tegula_perf::lpu::Factors::I8,
                Factors::F16 => tegula_perf::lpu::Factors::F16,
            },
        };
        let most = self.lpu.mxm.accumulators as usize;
        gemm.rows_of_part(batch as u64, self.lpu).map_or(most, |rows| (rows as usize).clamp(1, most))
    }

    /// Rows of 0 that are loaded together.
    pub(super) fn rows_of_zero(&mut self, factors: Factors) -> ValueId {
        let element = if factors == Factors::F16 { Element::F16 } else { Element::I8 };
        let bytes = self.lpu.mxm.load_streams as usize * self.lanes() * element.width() as usize;
        self.constant(element, true, vec![0; bytes])
    }

    /// Integers in `i32`, shifted by `by`, as bytes.
    pub(super) fn as_bytes(&mut self, tensor: Tensor, by: i32) -> ValueId {
        let tensor = self.plus_int(tensor, by);
        let vectors = super::vectors(&tensor.shape, self.lanes());
        self.narrowed(tensor.value, 0, vectors, DType::I32, Element::I8)
    }

    /// Integers plus one.
    pub(super) fn plus_int(&mut self, tensor: Tensor, by: i32) -> Tensor {
        if by == 0 {
            return tensor;
        }
        let mut chain = Chain::over(self, &tensor.shape);
        let x = chain.arg(&tensor);
        let number = tegula_isa_lpu::word::Number::I32;
        let moved = chain.alu(AluOp::Add(number), &[&x, &Source::Immediate(by as u32)]);
        chain.finish(moved, tensor.shape.clone(), DType::I32)
    }
}
