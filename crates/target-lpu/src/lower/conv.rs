//! Convolutions as contractions: each tap of the window is a tile of k, whose rows lie a fixed way behind those of the first.
//! Factors are `f16`, or bytes: `u8` is moved by 128, and the sums of the filters put that and the zero point right.
//!
//! The operand lies as `[group, batch, spatial.., channel]` with its padding, so that a tap's channels are vectors.

use super::alu::Chain;
use super::constants::{uniform, wide_bits};
use super::dot::{Extents, exponent_of, power_of_two};
use super::halves::{self, Halves};
use super::moves::strides;
use super::quantised::{Bytes, bytes_of};
use super::{Lower, Lowered, Tensor};
use crate::flow::walk::rounds;
use crate::flow::{Access, Kind, Loops, Product, Source, Tile, ValueId};
use crate::target::FloatFactors;
use tegula_base::{DType, HostTensor};
use tegula_ir::OpId;
use tegula_isa_lpu::word::{AluOp, Element, Factors, Number};
use tegula_tensor::{TensorOp, Window};

/// Sizes of a convolution.
struct Sizes {
    groups: usize,
    batch: usize,
    /// Channels of a group, in and out.
    channels: usize,
    out_channels: usize,
    /// Spatial extents: of the padded operand, of the result.
    padded: Vec<usize>,
    out: Vec<usize>,
    low: Vec<usize>,
}

/// Where the elements of filters lie in a plane's order: a tap's channels, and rows of 0 behind them.
struct Arrangement {
    extents: Extents,
    channels: usize,
    taps: usize,
    /// Rows from one tap to the next.
    stride: usize,
}

impl Arrangement {
    fn of(known: &HostTensor, sizes: &Sizes, load_streams: u32) -> Arrangement {
        let Sizes { groups, channels, out_channels, .. } = *sizes;
        let taps = known.shape[2..].iter().product();
        let stride = channels.next_multiple_of(load_streams as usize);
        let extents = Extents { batch: groups, m: 0, k: taps * stride, n: out_channels };
        Arrangement { extents, channels, taps, stride }
    }

    /// The element of a step of a column; none: 0.
    fn place(&self, group: usize, step: usize, column: usize) -> Option<usize> {
        let (tap, channel) = (step / self.stride, step % self.stride);
        let filter = group * self.extents.n + column;
        (channel < self.channels).then(|| (filter * self.channels + channel) * self.taps + tap)
    }
}

/// Known filters in the planes' order.
struct Filters {
    weights: Halves<ValueId>,
    /// Vectors from one tap to the next.
    stride: u32,
    /// Each filter is scaled by the inverse of two to this power.
    exponents: Vec<i32>,
}

impl Lower<'_> {
    pub(super) fn conv(&mut self, op: OpId, shape: Vec<usize>) -> Result<Lowered, String> {
        let TensorOp::Conv { window, groups, .. } = self.func.kind(op) else {
            return Err("it is no convolution".to_string());
        };
        let sides = bytes_of(self.func, op);
        let [x, w] = match &sides {
            Some(sides) => [sides[0].bytes, sides[1].bytes],
            None => [0, 1].map(|side| self.func.operand(op, side)),
        };
        if sides.is_none() && self.factors == FloatFactors::Refuse {
            return Err("planes multiply no f32".to_string());
        }
        let from = self.shape(x)?;
        let Some(Lowered::Known(known)) = self.values.get(&w).cloned() else {
            return Err("its weights are computed".to_string());
        };
        let constant = |dim: &tegula_base::Dim| dim.as_const().map(|n| n as usize).ok_or("a padding is open");
        let low = window.low.iter().map(constant).collect::<Result<Vec<_>, _>>()?;
        let high = window.high.iter().map(constant).collect::<Result<Vec<_>, _>>()?;
        let groups = *groups as usize;
        let sizes = Sizes {
            groups,
            batch: from[0],
            channels: from[1] / groups,
            out_channels: shape[1] / groups,
            padded: (0..low.len()).map(|i| from[i + 2] + low[i] + high[i]).collect(),
            out: shape[2..].to_vec(),
            low,
        };
        let zeros = |side: Option<&Bytes>| match side.and_then(|side| side.zero) {
            Some(zero) => wide_bits(&*self.known_of(zero)?)
                .map(|bits| bits.into_iter().map(|bits| bits as i32).collect()),
            None => Ok(Vec::new()),
        };
        let zero = zeros(sides.as_ref().map(|sides| &sides[0]))?.first().copied().unwrap_or(0);
        if zeros(sides.as_ref().map(|sides| &sides[1]))?.iter().any(|zero: &i32| *zero != 0) {
            return Err("its filters have a zero point".to_string());
        }
        // What pads stands for 0.
        let rows = match self.with_channels_last(x).filter(|_| groups == 1) {
            Some(tensor) => self.padded_rows(tensor, window, zero)?,
            None => self.channels_last(x, &from, &sizes, zero)?,
        };
        let product = if let Some([left, right]) = &sides {
            let sums = self.byte_taps(rows, &known, window, &sizes, zero);
            match (left.scale, right.scale) {
                (Some(left), Some(right)) => self.scaled_filters(sums, [left, right], &sizes)?,
                _ => sums,
            }
        } else {
            let rows = self.halved(rows);
            let Filters { weights, stride, exponents } = self.filters(&known, &sizes);
            let product = self.passes(&rows, &weights, &|lower, rows, weights| {
                lower.taps(Factors::F16, rows, (*weights, stride), window, &sizes)
            });
            self.rescaled(product, &exponents, &sizes)
        };
        if groups == 1 {
            let shape = product.shape[1..].to_vec();
            return Ok(Lowered::ChannelsLast(Tensor { shape, ..product }));
        }
        // From `[group, batch, spatial.., channel]`.
        let (own, to) = (strides(&product.shape), strides(&shape));
        let Sizes { out_channels, .. } = sizes;
        let source = |flat: usize| {
            let at = |axis: usize| flat / to[axis] % shape[axis];
            let channel = at(1);
            let spatial: usize = (2..shape.len()).map(|axis| at(axis) * own[axis]).sum();
            let place = channel / out_channels * own[0] + at(0) * own[1] + spatial + channel % out_channels;
            Some((0, place))
        };
        let dtype = product.dtype;
        let plain = self.moved(&[product], super::squeezed(&shape).to_vec(), dtype, 0, &source);
        Ok(Lowered::Computed(plain))
    }

    /// An operand that lies with its channels last, padded by `zero`.
    fn padded_rows(&mut self, tensor: Tensor, window: &Window, zero: i32) -> Result<Tensor, String> {
        let padded = self.bordered(tensor, window, zero as u32)?;
        let shape = [1].into_iter().chain(padded.shape.iter().copied()).collect();
        let channels = super::row(&padded.shape);
        let rows = Tensor { shape, ..padded };
        Ok(if channels.is_multiple_of(self.lanes()) { rows } else { self.only_elements(rows, 0) })
    }

    /// The operand, padded by `zero`.
    fn channels_last(
        &mut self,
        x: tegula_ir::Value,
        from: &[usize],
        sizes: &Sizes,
        zero: i32,
    ) -> Result<Tensor, String> {
        let tensor = self.tensor(x)?;
        let dtype = tensor.dtype;
        let Sizes { groups, batch, channels, padded, low, .. } = sizes;
        let shape: Vec<usize> =
            [*groups, *batch].into_iter().chain(padded.iter().copied()).chain([*channels]).collect();
        let (to, own) = (strides(&shape), strides(from));
        let source = |flat: usize| {
            let at = |axis: usize| flat / to[axis] % shape[axis];
            let last = shape.len() - 1;
            let mut place = at(1) * own[0] + (at(0) * channels + at(last)) * own[1];
            for axis in 2..last {
                let i = at(axis).checked_sub(low[axis - 2]).filter(|i| *i < from[axis])?;
                place += i * own[axis];
            }
            Some((0, place))
        };
        let arranged = self.moved(&[tensor], shape.clone(), dtype, zero as u32, &source);
        Ok(if channels.is_multiple_of(self.lanes()) { arranged } else { self.only_elements(arranged, 0) })
    }

    /// The sums of a convolution of bytes, less `zero`, by known filters of `i8`, exact but that they wrap.
    fn byte_taps(
        &mut self,
        rows: Tensor,
        known: &HostTensor,
        window: &Window,
        sizes: &Sizes,
        zero: i32,
    ) -> Tensor {
        let numbers: Vec<i32> = known.to_f64().into_iter().map(|x| x as i32).collect();
        let moved = if rows.dtype == DType::U8 { 128 } else { 0 };
        let rows = self.as_bytes(rows, -moved);
        let filters = Arrangement::of(known, sizes, self.lpu.mxm.load_streams);
        let weights = self.laid(Element::I8, filters.extents, &|group, step, column| {
            vec![filters.place(group, step, column).map_or(0, |place| numbers[place] as u8)]
        });
        let sums = self.taps(Factors::I8, rows, (weights.value, filters.stride as u32), window, sizes);
        let offset = moved - zero;
        if offset == 0 {
            return sums;
        }
        let a_filter = numbers.len() / (sizes.groups * sizes.out_channels);
        let totals = numbers.chunks(a_filter).map(|filter| filter.iter().copied().fold(0, i32::wrapping_add));
        let bits: Vec<u32> = totals.map(|total| total.wrapping_mul(offset) as u32).collect();
        let mut shape = vec![1; sums.shape.len()];
        shape[0] = sizes.groups;
        shape[sums.shape.len() - 1] = sizes.out_channels;
        let totals = Tensor { value: self.known_bits(&bits, &shape), shape, dtype: DType::I32 };
        let mut chain = Chain::over(self, &sums.shape);
        let (a, b) = (chain.arg(&sums), chain.arg(&totals));
        let sum = chain.alu(AluOp::Add(Number::I32), &[&a, &b]);
        chain.finish(sum, sums.shape.clone(), DType::I32)
    }

    /// Sums as floats: times the operand's scale and those of the filters, one or one each.
    fn scaled_filters(
        &mut self,
        sums: Tensor,
        [left, right]: [tegula_ir::Value; 2],
        sizes: &Sizes,
    ) -> Result<Tensor, String> {
        let (left, right) = (self.known_of(left)?, self.known_of(right)?);
        let left = uniform(&left).map(f32::from_bits).ok_or("the rows have several scales")?;
        let scales: Vec<u32> =
            wide_bits(&right)?.into_iter().map(|bits| (left * f32::from_bits(bits)).to_bits()).collect();
        let mut chain = Chain::over(self, &sums.shape);
        let x = chain.arg(&sums);
        let whole = chain.cast(&x, Element::I32, Element::F32);
        let scale = match scales[..] {
            [one] => Source::Immediate(one),
            _ => {
                let mut shape = vec![1; sums.shape.len()];
                shape[0] = sizes.groups;
                shape[sums.shape.len() - 1] = sizes.out_channels;
                let value = chain.lower.known_bits(&scales, &shape);
                chain.arg(&Tensor { value, shape, dtype: DType::F32 })
            }
        };
        let product = chain.mul(&whole, &scale);
        Ok(chain.finish(product, sums.shape.clone(), DType::F32))
    }

    fn filters(&mut self, known: &HostTensor, sizes: &Sizes) -> Filters {
        let numbers = known.to_f64();
        let filters = Arrangement::of(known, sizes, self.lpu.mxm.load_streams);
        let count = sizes.groups * sizes.out_channels;
        let a_filter = numbers.len() / count;
        let exponent = |filter: usize| match known.dtype.is_float() {
            true => exponent_of(numbers[filter * a_filter..][..a_filter].iter().copied()),
            false => 0,
        };
        let exponents: Vec<i32> = (0..count).map(exponent).collect();
        let scaled = |group: usize, step: usize, column: usize| match filters.place(group, step, column) {
            Some(place) => numbers[place] * f64::from(-exponents[place / a_filter]).exp2(),
            None => 0.0,
        };
        let high = self.laid(Element::F16, filters.extents, &|group, step, column| {
            halves::high(scaled(group, step, column))
        });
        let low = self.has_low(known.dtype).then(|| {
            self.laid(Element::F16, filters.extents, &|group, step, column| {
                halves::low(scaled(group, step, column))
            })
        });
        let weights = Halves { high, low }.map(|weights| weights.value);
        Filters { weights, stride: filters.stride as u32, exponents }
    }

    fn taps(
        &mut self,
        factors: Factors,
        rows: ValueId,
        (weights, stride): (ValueId, u32),
        window: &Window,
        sizes: &Sizes,
    ) -> Tensor {
        let lanes = self.lanes();
        let (element, dtype) = match factors {
            Factors::I8 => (Element::I32, DType::I32),
            _ => (Element::F32, DType::F32),
        };
        let Sizes { groups, batch, channels, out_channels, padded, out, .. } = sizes;
        let chunks = channels.div_ceil(lanes);
        let mut shape = vec![*groups, *batch];
        shape.extend(out);
        shape.push(*out_channels);
        let value = self.fresh(element, super::vectors(&shape, lanes), false);
        let zeros = self.rows_of_zero(factors);
        let tile_count = out_channels.div_ceil(lanes);
        let taps = window.size.iter().product::<i64>() as usize;
        // Vectors from one step along a spatial axis to the next.
        let steps: Vec<usize> =
            (0..padded.len()).map(|i| padded[i + 1..].iter().product::<usize>() * chunks).collect();
        let spatial: usize = padded.iter().product::<usize>() * chunks;
        for group in 0..*groups {
            for column in 0..tile_count {
                let first = ((group * tile_count + column) * taps) as u32 * stride;
                let tiles: Vec<Tile> = (0..taps)
                    .flat_map(|tap| {
                        let row = tap_row(tap, window, &steps);
                        let first = first + tap as u32 * stride;
                        self.tiles(factors, *channels, row as u32, first)
                    })
                    .collect();
                let mut loops = vec![*batch as u32];
                loops.extend(out.iter().map(|extent| *extent as u32));
                let mut row_strides = vec![spatial as u32];
                row_strides
                    .extend(steps.iter().zip(&window.strides).map(|(step, by)| *step as u32 * *by as u32));
                let mut access = Access::dense(value, 0, &loops);
                access.strides.iter_mut().for_each(|own| *own *= tile_count as u32);
                access.base = group as u32 * rounds(&loops) * tile_count as u32 + column as u32;
                let rows = Access {
                    value: rows,
                    base: (group * batch * spatial) as u32,
                    strides: Loops::from_slice(&row_strides),
                };
                let product = Product { factors, rows, tiles, weights, zeros };
                self.flow(&loops, Kind::Product(product), access);
            }
        }
        Tensor { value, shape, dtype }
    }

    fn rescaled(&mut self, product: Tensor, exponents: &[i32], sizes: &Sizes) -> Tensor {
        if exponents.iter().all(|exponent| *exponent == 0) {
            return product;
        }
        let mut shape = vec![1; product.shape.len()];
        shape[0] = sizes.groups;
        shape[product.shape.len() - 1] = sizes.out_channels;
        let bits: Vec<u32> = exponents.iter().map(|exponent| power_of_two(*exponent)).collect();
        let scale = Tensor { value: self.known_bits(&bits, &shape), shape, dtype: DType::F32 };
        let mut chain = Chain::over(self, &product.shape);
        let (a, b) = (chain.arg(&product), chain.arg(&scale));
        let result = chain.mul(&a, &b);
        chain.finish(result, product.shape.clone(), DType::F32)
    }
}

/// How far a tap's rows lie behind those of the first, in vectors.
pub(super) fn tap_row(tap: usize, window: &Window, steps: &[usize]) -> usize {
    let (mut rest, mut row) = (tap, 0);
    for axis in (0..steps.len()).rev() {
        let size = window.size[axis] as usize;
        row += rest % size * window.dilations[axis] as usize * steps[axis];
        rest /= size;
    }
    row
}
