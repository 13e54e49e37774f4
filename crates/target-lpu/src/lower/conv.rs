//! Convolutions as contractions. A row of the operand holds several pixels side by side, a row of the result as well
//! ([`super::images`]). So a row times weights gives several result pixels at once: the weights are a band of filters, and each
//! row of pixels that the window touches is a tile of k ([`super::band`]).
//!
//! Factors are `f16`, or bytes: `u8` is moved by 128, and the sums of the filters put that and the zero point right. Groups of
//! channels leave weights of 0, and tiles of such alone are left out.

use super::alu::Chain;
use super::band::{Along, Phase};
use super::constants::{uniform, wide_bits};
use super::dot::{Extents, exponent_of, power_of_two};
use super::halves::{self, Halves};
use super::images::grouped;
use super::quantised::{Bytes, bytes_of};
use super::{Lower, Lowered, Tensor};
use crate::flow::walk::rounds;
use crate::flow::{Access, Kind, Loops, Product, Source, Tile, ValueId};
use crate::target::FloatFactors;
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, HostTensor};
use tegula_ir::{OpId, Value};
use tegula_isa_lpu::word::{AluOp, Element, Factors, Number};
use tegula_tensor::{PadMode, TensorFunc, TensorOp, Window};

/// An axis of pixels each of which has rows of its own.
#[derive(Clone, Copy, Debug)]
struct Axis {
    extent: usize,
    out: usize,
    padding: [usize; 2],
    stride: usize,
    dilation: usize,
    size: usize,
}

/// Sizes of a convolution.
struct Sizes {
    groups: usize,
    batch: usize,
    /// Channels of a group, in and out.
    channels: usize,
    out_channels: usize,
    /// All axes of pixels but the last.
    outer: Vec<Axis>,
    along: Along,
}

impl Sizes {
    fn of(
        from: &[usize],
        shape: &[usize],
        window: &Window,
        groups: usize,
        lanes: usize,
    ) -> Result<Sizes, String> {
        let constant = |dim: &Dim| {
            let known = dim.as_const().and_then(|n| usize::try_from(n).ok());
            known.ok_or_else(|| "a padding is open or negative".to_string())
        };
        let axis = |i: usize| -> Result<Axis, String> {
            Ok(Axis {
                extent: from[i + 2],
                out: shape[i + 2],
                padding: [constant(&window.low[i])?, constant(&window.high[i])?],
                stride: window.strides[i] as usize,
                dilation: window.dilations[i] as usize,
                size: window.size[i] as usize,
            })
        };
        let mut outer = (0..from.len() - 2).map(axis).collect::<Result<Vec<_>, _>>()?;
        let last = outer.pop().ok_or("it has no axis of pixels")?;
        let [rows, out_rows] = [from, shape].map(|shape| {
            let last = super::images::ordered(shape, 1);
            grouped(&last, lanes)[last.len() - 2]
        });
        let along = Along {
            pixels: last.extent / rows,
            out_pixels: last.out / out_rows,
            rows,
            out_rows,
            stride: last.stride,
            dilation: last.dilation,
            size: last.size,
            low: last.padding[0],
        };
        let (channels, out_channels) = (from[1] / groups, shape[1] / groups);
        Ok(Sizes { groups, batch: from[0], channels, out_channels, outer, along })
    }

    /// Elements of a row, of the operand and of the result.
    fn row(&self) -> usize {
        self.along.pixels * self.groups * self.channels
    }

    fn out_row(&self) -> usize {
        self.along.out_pixels * self.groups * self.out_channels
    }

    /// The layout of the result.
    fn out(&self) -> Vec<usize> {
        let outer = self.outer.iter().map(|axis| axis.out);
        [self.batch].into_iter().chain(outer).chain([self.along.out_rows, self.out_row()]).collect()
    }

    /// Rows of padding of each axis of the operand but the last.
    fn padding(&self) -> Vec<[usize; 2]> {
        let outer = self.outer.iter().map(|axis| axis.padding);
        [[0; 2]].into_iter().chain(outer).chain([self.along.padding()]).collect()
    }

    /// Taps of the outer axes.
    fn outer_taps(&self) -> usize {
        self.outer.iter().map(|axis| axis.size).product()
    }

    /// How far the rows of a tap of the outer axes lie behind those of the first; `steps`: from one step along each axis to the
    /// next.
    fn outer_row(&self, mut tap: usize, steps: &[u32]) -> u32 {
        let mut row = 0;
        for (axis, step) in self.outer.iter().zip(steps).rev() {
            row += (tap % axis.size * axis.dilation) as u32 * step;
            tap /= axis.size;
        }
        row
    }

    /// What each element of a result row has, from what each filter has.
    fn spread<T: Copy>(&self, filters: &[T]) -> Vec<T> {
        filters.repeat(self.along.out_pixels)
    }
}

/// Weights of one column tile of a phase, in the order of the tiles: which row of the operand, which lanes.
struct Bands {
    value: ValueId,
    phases: Vec<(Phase, Vec<Vec<Tile>>)>,
}

/// A tile of k: the tap of the outer axes, the row, the chunk of it, and which of its steps.
type TileKey = (usize, i64, usize, usize);

/// What a convolution reads behind the paddings of its operand: these become its own.
pub(super) struct Unpadded {
    pub(super) value: Value,
    /// The value's axis of each axis of the operand.
    axes: Vec<usize>,
    window: Window,
    /// The number that pads, as the operand stores it; none: 0.
    fill: Option<i64>,
}

/// Looks through paddings by a number, and transposes that move channels alone. `operand`: what the convolution reads.
/// Its own padding, if there is any, must be of the same number.
pub(super) fn unpadded(func: &TensorFunc, operand: Value, window: &Window) -> Unpadded {
    let rank = func.ty(operand).rank();
    let is_padded = window.low.iter().chain(&window.high).any(|size| !size.is_const(0));
    let mut found =
        Unpadded { value: operand, axes: (0..rank).collect(), window: window.clone(), fill: None };
    let (mut value, mut axes) = (operand, found.axes.clone());
    while let Some(op) = func.def_op(value) {
        match func.kind(op) {
            TensorOp::Transpose { perm } => axes.iter_mut().for_each(|axis| *axis = perm[*axis]),
            TensorOp::Pad { low, high, mode: PadMode::Constant } if !is_padded => {
                let Some(TensorOp::Splat { bits, .. }) =
                    func.def_op(func.operand(op, 1)).map(|op| func.kind(op))
                else {
                    break;
                };
                let is_size = |size: &Dim| size.as_const().is_some_and(|size| size >= 0);
                let of_pixels = |sizes: &[Dim]| {
                    sizes.iter().all(is_size) && axes[..2].iter().all(|axis| sizes[*axis].is_const(0))
                };
                let others = axes.iter().enumerate().filter(|(axis, _)| *axis != 1).map(|(_, own)| *own);
                let in_order = others.clone().zip(others.skip(1)).all(|(a, b)| a < b);
                if !of_pixels(low)
                    || !of_pixels(high)
                    || !in_order
                    || found.fill.is_some_and(|own| own != *bits)
                {
                    break;
                }
                for (i, axis) in axes[2..].iter().enumerate() {
                    found.window.low[i] = found.window.low[i].clone() + low[*axis].clone();
                    found.window.high[i] = found.window.high[i].clone() + high[*axis].clone();
                }
                found = Unpadded {
                    value: func.operand(op, 0),
                    axes: axes.clone(),
                    window: found.window,
                    fill: Some(*bits),
                };
            }
            _ => break,
        }
        value = func.operand(op, 0);
    }
    found
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
        let Unpadded { value: x, axes, window, fill } = unpadded(self.func, x, window);
        let own = self.shape(x)?;
        let from: Vec<usize> = axes.iter().map(|axis| own[*axis]).collect();
        let Some(Lowered::Known(known)) = self.values.get(&w).cloned() else {
            return Err("its weights are computed".to_string());
        };
        let sizes = Sizes::of(&from, &shape, &window, *groups as usize, self.lanes())?;
        let zeros = |side: Option<&Bytes>| match side.and_then(|side| side.zero) {
            Some(zero) => wide_bits(&*self.known_of(zero)?)
                .map(|bits| bits.into_iter().map(|bits| bits as i32).collect()),
            None => Ok(Vec::new()),
        };
        let zero = zeros(sides.as_ref().map(|sides| &sides[0]))?.first().copied().unwrap_or(0);
        if zeros(sides.as_ref().map(|sides| &sides[1]))?.iter().any(|zero: &i32| *zero != 0) {
            return Err("its filters have a zero point".to_string());
        }
        let image = self.image(x, axes[1])?;
        let tensor = match &sides {
            Some([left, right]) => {
                let sums =
                    self.byte_taps(image, &known, &sizes, [fill.map_or(zero, |bits| bits as i32), zero]);
                match (left.scale, right.scale) {
                    (Some(left), Some(right)) => self.scaled_filters(sums, [left, right], &sizes)?,
                    _ => sums,
                }
            }
            None => {
                let number =
                    |bits| if image.dtype.is_float() { f32::from_bits(bits as u32) } else { bits as f32 };
                let fill = fill.map_or(0.0, number);
                self.float_taps(image, &known, &sizes, fill)
            }
        };
        Ok(Lowered::Image { tensor, axis: 1 })
    }

    /// The sums of a convolution of bytes, less `zero`, by known filters of `i8`, exact but that they wrap. `fill`: what pads.
    fn byte_taps(
        &mut self,
        image: Tensor,
        known: &HostTensor,
        sizes: &Sizes,
        [fill, zero]: [i32; 2],
    ) -> Tensor {
        let numbers: Vec<i32> = known.to_f64().into_iter().map(|x| x as i32).collect();
        let moved = if image.dtype == DType::U8 { 128 } else { 0 };
        let rows = self.plus_int(image, -moved);
        let rows = self.padded_rows(&rows, Element::I8, &sizes.padding(), &[(fill - moved) as u8]);
        let bands = self.bands(Factors::I8, sizes, &|filter| vec![numbers[filter] as u8]);
        let sums = self.taps(Factors::I8, rows, &bands, sizes);
        let offset = moved - zero;
        if offset == 0 {
            return sums;
        }
        let a_filter = numbers.len() / (sizes.groups * sizes.out_channels);
        let totals = numbers.chunks(a_filter).map(|filter| filter.iter().copied().fold(0, i32::wrapping_add));
        let bits: Vec<u32> = totals.map(|total| total.wrapping_mul(offset) as u32).collect();
        let totals = self.known_row(&sizes.spread(&bits), &sums.shape, DType::I32);
        let mut chain = Chain::over(self, &sums.shape);
        let (a, b) = (chain.arg(&sums), chain.arg(&totals));
        let sum = chain.alu(AluOp::Add(Number::I32), &[&a, &b]);
        chain.finish(sum, sums.shape.clone(), DType::I32)
    }

    /// A row of known bits for all rows of a tensor of a layout.
    fn known_row(&mut self, bits: &[u32], layout: &[usize], dtype: DType) -> Tensor {
        let mut shape = vec![1; layout.len()];
        shape[layout.len() - 1] = bits.len();
        Tensor { value: self.known_bits(bits, &shape), shape, dtype }
    }

    /// Sums as floats: times the operand's scale and those of the filters, one or one each.
    fn scaled_filters(
        &mut self,
        sums: Tensor,
        [left, right]: [Value; 2],
        sizes: &Sizes,
    ) -> Result<Tensor, String> {
        let (left, right) = (self.known_of(left)?, self.known_of(right)?);
        let left = uniform(&left).map(f32::from_bits).ok_or("the rows have several scales")?;
        let scales: Vec<u32> =
            wide_bits(&right)?.into_iter().map(|bits| (left * f32::from_bits(bits)).to_bits()).collect();
        let scale = match scales[..] {
            [one] => Err(one),
            _ => Ok(self.known_row(&sizes.spread(&scales), &sums.shape, DType::F32)),
        };
        let mut chain = Chain::over(self, &sums.shape);
        let x = chain.arg(&sums);
        let whole = chain.cast(&x, Element::I32, Element::F32);
        let scale = match &scale {
            Err(one) => Source::Immediate(*one),
            Ok(row) => chain.arg(row),
        };
        let product = chain.mul(&whole, &scale);
        Ok(chain.finish(product, sums.shape.clone(), DType::F32))
    }

    /// A convolution of floats by known filters, each of which is scaled by a power of two that brings its largest to `[1, 2)`.
    fn float_taps(&mut self, image: Tensor, known: &HostTensor, sizes: &Sizes, fill: f32) -> Tensor {
        let numbers = known.to_f64();
        let count = sizes.groups * sizes.out_channels;
        let a_filter = numbers.len() / count;
        let exponent = |filter: usize| match known.dtype.is_float() {
            true => exponent_of(numbers[filter * a_filter..][..a_filter].iter().copied()),
            false => 0,
        };
        let exponents: Vec<i32> = (0..count).map(exponent).collect();
        let scaled = |place: usize| numbers[place] * f64::from(-exponents[place / a_filter]).exp2();
        let high = self.bands(Factors::F16, sizes, &|place| halves::high(scaled(place)));
        let low = self
            .has_low(known.dtype)
            .then(|| self.bands(Factors::F16, sizes, &|place| halves::low(scaled(place))));
        let image =
            if sizes.row().is_multiple_of(self.lanes()) { image } else { self.only_elements(image, 0) };
        let padding = sizes.padding();
        let rows = self.halved_by(image, &|lower, half, part| {
            let fill = part(f64::from(fill));
            lower.padded_rows(half, Element::F16, &padding, &fill)
        });
        let product = self.passes(&rows, &Halves { high, low }, &|lower, rows, bands| {
            lower.taps(Factors::F16, rows, bands, sizes)
        });
        if exponents.iter().all(|exponent| *exponent == 0) {
            return product;
        }
        let bits: Vec<u32> = exponents.iter().map(|exponent| power_of_two(*exponent)).collect();
        let scale = self.known_row(&sizes.spread(&bits), &product.shape, DType::F32);
        let mut chain = Chain::over(self, &product.shape);
        let (a, b) = (chain.arg(&product), chain.arg(&scale));
        let result = chain.mul(&a, &b);
        chain.finish(result, product.shape.clone(), DType::F32)
    }

    /// The weights of all phases and columns. `bytes`: of an element of the filters.
    fn bands(&mut self, factors: Factors, sizes: &Sizes, bytes: &dyn Fn(usize) -> Vec<u8>) -> Bands {
        let element = if factors == Factors::F16 { Element::F16 } else { Element::I8 };
        let (lanes, width) = (self.lanes(), element.width() as usize);
        let steps = self.steps_at_once(factors);
        let Sizes { along, channels, out_channels, .. } = sizes;
        let all_channels = sizes.groups * channels;
        let out_row = sizes.out_row();
        let chunks = sizes.row().div_ceil(lanes) as u32;
        let mut all = Vec::new();
        let mut phases = Vec::new();
        for phase in along.phases() {
            let reach = along.reach(&phase);
            let mut columns = Vec::new();
            for first in (0..out_row).step_by(lanes) {
                let mut tiles: BTreeMap<TileKey, (usize, Vec<u8>)> = BTreeMap::new();
                // A single column is in all lanes, as is then each row's sum.
                let many = if out_row == 1 { lanes } else { lanes.min(out_row - first) };
                for lane in 0..many {
                    let column = if out_row == 1 { 0 } else { first + lane };
                    let (pixel, channel) =
                        (column / (sizes.groups * out_channels), column % (sizes.groups * out_channels));
                    let group = channel / out_channels;
                    for tap in 0..along.size {
                        let (row, from) = along.taken(&phase, pixel, tap);
                        for own in 0..*channels {
                            let k = from * all_channels + group * channels + own;
                            let (chunk, within) = (k / lanes, k % lanes);
                            for outer in 0..sizes.outer_taps() {
                                let taps = sizes.outer_taps() * along.size;
                                let place = (channel * channels + own) * taps + outer * along.size + tap;
                                let tile = tiles.entry((outer, row, chunk, within / steps)).or_default();
                                let step = within % steps;
                                tile.0 = tile.0.max(step + 1);
                                let end = (step + 1) * lanes * width;
                                if tile.1.len() < end {
                                    tile.1.resize(end, 0);
                                }
                                let at = (step * lanes + lane) * width;
                                tile.1[at..at + width].copy_from_slice(&bytes(place));
                            }
                        }
                    }
                }
                let mut own = Vec::new();
                for ((outer, row, chunk, part), (count, mut bytes)) in tiles {
                    let padded = count.next_multiple_of(self.lpu.mxm.load_streams as usize);
                    bytes.resize(padded * lanes * width, 0);
                    own.push((
                        outer,
                        Tile {
                            row: (row - reach[0]) as u32 * chunks + chunk as u32,
                            lane: (part * steps) as u32,
                            first: (all.len() / (lanes * width)) as u32,
                            steps: count as u32,
                        },
                    ));
                    all.extend(bytes);
                }
                let strides = self.outer_steps(sizes);
                let placed = own
                    .into_iter()
                    .map(|(outer, tile)| Tile { row: tile.row + sizes.outer_row(outer, &strides), ..tile });
                columns.push(placed.collect());
            }
            phases.push((phase, columns));
        }
        Bands { value: self.constant(element, true, all), phases }
    }

    /// Vectors from one step along each outer axis of the padded operand to the next.
    fn outer_steps(&self, sizes: &Sizes) -> Vec<u32> {
        let [low, high] = sizes.along.padding();
        let mut step = ((sizes.along.rows + low + high) * sizes.row().div_ceil(self.lanes())) as u32;
        let mut steps = Vec::new();
        for axis in sizes.outer.iter().rev() {
            steps.push(step);
            step *= (axis.extent + axis.padding[0] + axis.padding[1]) as u32;
        }
        steps.reverse();
        steps
    }

    /// All sums, from padded rows.
    fn taps(&mut self, factors: Factors, rows: ValueId, bands: &Bands, sizes: &Sizes) -> Tensor {
        let (element, dtype) = match factors {
            Factors::I8 => (Element::I32, DType::I32),
            _ => (Element::F32, DType::F32),
        };
        let (lanes, shape) = (self.lanes(), sizes.out());
        let value = self.fresh(element, super::vectors(&shape, lanes), false);
        let zeros = self.rows_of_zero(factors);
        let chunks = sizes.row().div_ceil(lanes) as u32;
        let out_chunks = sizes.out_row().div_ceil(lanes) as u32;
        let steps = self.outer_steps(sizes);
        let batch_step = match (steps.first(), sizes.outer.first()) {
            (Some(step), Some(axis)) => step * (axis.extent + axis.padding[0] + axis.padding[1]) as u32,
            _ => {
                let [low, high] = sizes.along.padding();
                (sizes.along.rows + low + high) as u32 * chunks
            }
        };
        let before = sizes.along.padding()[0] as i64;
        let contractions: usize = bands.phases.iter().map(|(_, columns)| columns.len()).sum();
        for (phase, columns) in &bands.phases {
            let mut loops: Loops = [sizes.batch as u32].into_iter().collect();
            loops.extend(sizes.outer.iter().map(|axis| axis.out as u32));
            loops.push(phase.count as u32);
            let mut strides: Loops = [batch_step].into_iter().collect();
            strides.extend(sizes.outer.iter().zip(&steps).map(|(axis, step)| axis.stride as u32 * step));
            strides.push(phase.base_step as u32 * chunks);
            let base = (phase.base + before + sizes.along.reach(phase)[0]) as u32 * chunks;
            let mut all: Loops = loops.clone();
            all[loops.len() - 1] = sizes.along.out_rows as u32;
            let mut out = Access::dense(value, 0, &all);
            out.strides.iter_mut().for_each(|stride| *stride *= out_chunks);
            if let Some(last) = out.strides.last_mut() {
                *last *= phase.step as u32;
            }
            for (column, tiles) in columns.iter().enumerate() {
                let extents = Extents {
                    batch: contractions,
                    m: rounds(&loops) as usize,
                    k: tiles.len() * self.steps_at_once(factors),
                    n: lanes.min(sizes.out_row()),
                };
                // Planes that work at once read and write different blocks of values, where a part is no shorter than its loads.
                let load = (self.lpu.mxm.k / self.lpu.mxm.load_streams.max(1)) as usize;
                let share = extents.m.div_ceil(self.planes(factors)).max(load);
                let most = self.rows_of_part(factors, extents).min(share);
                for (from, extents) in cut(&loops, most as u32) {
                    let at = |strides: &Loops| from.iter().zip(strides).map(|(i, by)| i * by).sum::<u32>();
                    let mut rows =
                        Access { value: rows, base: base + at(&strides), strides: strides.clone() };
                    let first = phase.first as u32 * out_chunks + column as u32;
                    let mut own = Access { base: first + at(&out.strides), ..out.clone() };
                    let extents = longest_last(extents, [&mut rows, &mut own]);
                    let product =
                        Product { factors, rows, tiles: tiles.clone(), weights: bands.value, zeros };
                    self.flow(&extents, Kind::Product(product), own);
                }
            }
        }
        Tensor { value, shape, dtype }
    }
}

/// Loops with the longest one innermost, where that is much longer than the last: a run of rounds is one word that repeats.
fn longest_last(mut loops: Loops, accesses: [&mut Access; 2]) -> Loops {
    const MUCH_LONGER: u32 = 2;
    let last = loops.len() - 1;
    let longest = (0..loops.len()).max_by_key(|axis| (loops[*axis], *axis)).unwrap_or(last);
    if loops[longest] >= MUCH_LONGER * loops[last] {
        let moved = |strides: &mut Loops| {
            let own = strides.remove(longest);
            strides.push(own);
        };
        moved(&mut loops);
        accesses.into_iter().for_each(|access| moved(&mut access.strides));
    }
    loops
}

/// Rounds of loops in parts of at most `most` each: where each part begins, and its loops.
fn cut(loops: &[u32], most: u32) -> Vec<(Loops, Loops)> {
    let mut parts: Vec<(Loops, Loops)> = vec![(Loops::from_elem(0, loops.len()), Loops::from_slice(loops))];
    for axis in 0..loops.len() {
        if rounds(&parts[0].1) <= most {
            break;
        }
        let inner = rounds(&loops[axis + 1..]);
        let many = (most / inner.max(1)).clamp(1, loops[axis]);
        // Parts of one size, as far as that can be.
        let many = loops[axis].div_ceil(loops[axis].div_ceil(many));
        let before = std::mem::take(&mut parts);
        for (from, extents) in before {
            for first in (0..loops[axis]).step_by(many as usize) {
                let (mut from, mut extents) = (from.clone(), extents.clone());
                from[axis] = first;
                extents[axis] = many.min(loops[axis] - first);
                parts.push((from, extents));
            }
        }
    }
    parts
}
