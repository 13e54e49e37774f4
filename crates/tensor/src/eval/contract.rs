//! Contractions and convolutions, all through one matrix product.

use super::movement::transpose;
use super::number::{Accumulator, ints, store_ints, with_accumulator};
use crate::{DotDims, Window};
use tegula_base::{DType, HostTensor};

pub(super) fn dot(
    lhs: &HostTensor,
    rhs: &HostTensor,
    dims: &DotDims,
    pair_sums: Option<DType>,
    out: &mut HostTensor,
) {
    let free = |rank: usize, batch: &[usize], inner: &[usize]| -> Vec<usize> {
        (0..rank).filter(|axis| !batch.contains(axis) && !inner.contains(axis)).collect()
    };
    let lhs_free = free(lhs.shape.len(), &dims.lhs_batch, &dims.lhs_contract);
    let rhs_free = free(rhs.shape.len(), &dims.rhs_batch, &dims.rhs_contract);
    let extent =
        |x: &HostTensor, axes: &[usize]| -> usize { axes.iter().map(|axis| x.shape[*axis]).product() };
    let batch = extent(lhs, &dims.lhs_batch);
    let (m, k, n) = (extent(lhs, &lhs_free), extent(lhs, &dims.lhs_contract), extent(rhs, &rhs_free));
    let lhs = transpose(lhs, &[&dims.lhs_batch[..], &lhs_free, &dims.lhs_contract].concat());
    let rhs = transpose(rhs, &[&dims.rhs_batch[..], &dims.rhs_contract, &rhs_free].concat());
    if pair_sums.is_some() {
        let (a, b) = (ints(&lhs), ints(&rhs));
        let element = |i: usize| {
            let (row, column) = (i / n, i / (m * n) * k * n + i % n);
            let product = |step: usize| a[row * k + step] * b[column + step * n];
            let pairs = (0..k / 2).map(|pair| product(2 * pair) + product(2 * pair + 1));
            pairs.map(|sum| sum.clamp(i16::MIN.into(), i16::MAX.into())).sum()
        };
        let sums: Vec<i64> = (0..batch * m * n).map(element).collect();
        return store_ints(&sums, out);
    }
    with_accumulator!(lhs.dtype, (widen, store) => {
        let (a, b) = (widen(&lhs), widen(&rhs));
        let mut sums = vec![Accumulator::ZERO; batch * m * n];
        for i in 0..batch {
            let rows = &a[i * m * k..][..m * k];
            multiply(rows, &b[i * k * n..][..k * n], &mut sums[i * m * n..][..m * n], k, n);
        }
        store(&sums, out);
    });
}

/// `out[m,n] += a[m,k] b[k,n]`. Four rows at a time share each row of `b`.
fn multiply<A: Accumulator>(a: &[A], b: &[A], out: &mut [A], k: usize, n: usize) {
    if k == 0 || n == 0 {
        return;
    }
    for (rows, sums) in a.chunks(4 * k).zip(out.chunks_mut(4 * n)) {
        if rows.len() < 4 * k {
            for (row, sums) in rows.chunks_exact(k).zip(sums.chunks_exact_mut(n)) {
                for (x, row) in row.iter().zip(b.chunks_exact(n)) {
                    for (sum, y) in sums.iter_mut().zip(row) {
                        *sum = sum.plus_product(*x, *y);
                    }
                }
            }
            continue;
        }
        let (s0, rest) = sums.split_at_mut(n);
        let (s1, rest) = rest.split_at_mut(n);
        let (s2, s3) = rest.split_at_mut(n);
        for (i, row) in b.chunks_exact(n).enumerate() {
            let x = [rows[i], rows[k + i], rows[2 * k + i], rows[3 * k + i]];
            let sums = s0.iter_mut().zip(s1.iter_mut()).zip(s2.iter_mut()).zip(s3.iter_mut());
            for ((((a, b), c), d), y) in sums.zip(row) {
                *a = a.plus_product(x[0], *y);
                *b = b.plus_product(x[1], *y);
                *c = c.plus_product(x[2], *y);
                *d = d.plus_product(x[3], *y);
            }
        }
    }
}

/// Where windows read: output places and kernel offsets to input places.
pub(super) struct Reach {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<i64>,
    size: Vec<usize>,
    input: Vec<usize>,
    output: Vec<usize>,
}

impl Reach {
    /// Errors: padding without a value.
    pub(super) fn new(window: &Window, input: &[usize], output: &[usize]) -> Result<Reach, String> {
        let low =
            window.low.iter().map(|dim| dim.as_const().ok_or_else(|| format!("padding {dim} has no value")));
        Ok(Reach {
            strides: window.strides.clone(),
            dilations: window.dilations.clone(),
            low: low.collect::<Result<_, String>>()?,
            size: window.size.iter().map(|n| *n as usize).collect(),
            input: input.to_vec(),
            output: output.to_vec(),
        })
    }

    pub(super) fn kernel_count(&self) -> usize {
        self.size.iter().product()
    }

    pub(super) fn output_count(&self) -> usize {
        self.output.iter().product()
    }

    pub(super) fn input_count(&self) -> usize {
        self.input.iter().product()
    }

    /// The flat input place that kernel place `kernel` of output place `output` reads; `None` in the padding.
    pub(super) fn source(&self, output: usize, kernel: usize) -> Option<usize> {
        let (mut output, mut kernel, mut place, mut step) = (output, kernel, 0, 1);
        for axis in (0..self.size.len()).rev() {
            let (o, k) = (output % self.output[axis], kernel % self.size[axis]);
            (output, kernel) = (output / self.output[axis], kernel / self.size[axis]);
            let i = o as i64 * self.strides[axis] + k as i64 * self.dilations[axis] - self.low[axis];
            let i = usize::try_from(i).ok().filter(|i| *i < self.input[axis])?;
            place += i * step;
            step *= self.input[axis];
        }
        Some(place)
    }
}

/// Elements of one block of gathered input, to stay in the cache.
const BLOCK_ELEMENTS: usize = 1 << 16;

pub(super) fn conv(
    x: &HostTensor,
    w: &HostTensor,
    window: &Window,
    groups: i64,
    out: &mut HostTensor,
) -> Result<(), String> {
    let reach = Reach::new(window, &x.shape[2..], &out.shape[2..])?;
    with_accumulator!(x.dtype, (widen, store) => {
        let mut sums = vec![Accumulator::ZERO; out.count()];
        convolve(&widen(x), &widen(w), &reach, [x.shape[0], w.shape[0], w.shape[1], groups as usize], &mut sums);
        store(&sums, out);
    });
    Ok(())
}

/// Sizes are batch, output channels, input channels of a group, groups.
fn convolve<A: Accumulator>(x: &[A], w: &[A], reach: &Reach, sizes: [usize; 4], out: &mut [A]) {
    let [batch, channels_out, channels, groups] = sizes;
    let (kernel, places, extent) = (reach.kernel_count(), reach.output_count(), reach.input_count());
    let (depth, group_out) = (channels * kernel, channels_out / groups);
    if places == 0 || depth == 0 || group_out == 0 {
        return;
    }
    let block = (BLOCK_ELEMENTS / depth).clamp(16, 4096).min(places);
    let mut columns = vec![A::ZERO; depth * block];
    let mut sums = vec![A::ZERO; group_out * block];
    for begin in (0..places).step_by(block) {
        let n = block.min(places - begin);
        let sources: Vec<Option<usize>> = (0..kernel)
            .flat_map(|k| (0..n).map(move |p| (k, p)))
            .map(|(k, p)| reach.source(begin + p, k))
            .collect();
        for i in 0..batch * groups {
            let (image, group) = (i / groups, i % groups);
            let input = &x[i * channels * extent..][..channels * extent];
            for (c, rows) in columns.chunks_mut(kernel * n).take(channels).enumerate() {
                for (element, source) in rows.iter_mut().zip(&sources) {
                    *element = source.map_or(A::ZERO, |place| input[c * extent + place]);
                }
            }
            sums.fill(A::ZERO);
            let weights = &w[group * group_out * depth..][..group_out * depth];
            multiply(weights, &columns[..depth * n], &mut sums[..group_out * n], depth, n);
            for (o, row) in sums[..group_out * n].chunks_exact(n).enumerate() {
                let channel = image * channels_out + group * group_out + o;
                out[channel * places + begin..][..n].copy_from_slice(row);
            }
        }
    }
}

pub(super) fn conv_transpose(
    x: &HostTensor,
    w: &HostTensor,
    window: &Window,
    groups: i64,
    out: &mut HostTensor,
) -> Result<(), String> {
    // The forward convolution reads from our output what it writes to our input.
    let reach = Reach::new(window, &out.shape[2..], &x.shape[2..])?;
    let groups = groups as usize;
    let sizes = [x.shape[0], x.shape[1] / groups, w.shape[1], groups];
    // Weights by kernel place: [k..., groups, channels of a group, outputs of a group] transposed to rows.
    let mut split = vec![groups, sizes[1], w.shape[1]];
    split.push(reach.kernel_count());
    let w = HostTensor { shape: split, ..w.clone() };
    let w = transpose(&w, &[3, 0, 2, 1]);
    with_accumulator!(x.dtype, (widen, store) => {
        let mut sums = vec![Accumulator::ZERO; out.count()];
        spread(&widen(x), &widen(&w), &reach, sizes, &mut sums);
        store(&sums, out);
    });
    Ok(())
}

/// Sizes are batch, input and output channels of a group, groups; `w` is `[k, group, output, input]`.
fn spread<A: Accumulator>(x: &[A], w: &[A], reach: &Reach, sizes: [usize; 4], out: &mut [A]) {
    let [batch, channels, group_out, groups] = sizes;
    let (places, extent) = (reach.output_count(), reach.input_count());
    if places == 0 || channels == 0 || group_out == 0 {
        return;
    }
    let mut sums = vec![A::ZERO; group_out * places];
    for k in 0..reach.kernel_count() {
        let targets: Vec<Option<usize>> = (0..places).map(|place| reach.source(place, k)).collect();
        for i in 0..batch * groups {
            let weights = &w[(k * groups + i % groups) * group_out * channels..][..group_out * channels];
            sums.fill(A::ZERO);
            multiply(weights, &x[i * channels * places..][..channels * places], &mut sums, channels, places);
            for (o, row) in sums.chunks_exact(places).enumerate() {
                let target = &mut out[(i * group_out + o) * extent..][..extent];
                for (sum, place) in row.iter().zip(&targets) {
                    if let Some(place) = place {
                        target[*place] = target[*place].plus(*sum);
                    }
                }
            }
        }
    }
}
