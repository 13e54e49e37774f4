//! Transposed convolutions by phases, also called sub-pixel convolutions: no zeros between elements are multiplied.
//!
//! Along an axis with stride `s`, weights `w[0..k]` and `p` cut off in front, the result at `j` is the sum of
//! `x[i] w[t]` where `i*s + t = j + p`. Weights behind `f` zeros in front, and as many behind as fill `taps` strides,
//! are `w'[t + f] = w[t]`. With `j + p + f = (q + a)*s + r`, `0 <= r < s`, only the weights `w'[m*s + r]` meet the
//! result, and with `x[q + a - m]`: for each phase `r` a plain convolution with `taps` weights, the last one first,
//! over x padded by `taps - 1 - a` in front. All phases are the channels of one convolution; `a` is such that its
//! first result, of phase `first`, is that of `j = 0`.
//! As few taps as hold the weights, `ceil(k / s)`; `f` is 0 unless they have room for the zeros that make `first` 0.

use super::cut_to;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, Window};

/// One axis, in the letters of the module's text. An axis without a stride has one phase, and keeps its dilation.
struct Axis {
    stride: i64,
    size: i64,
    taps: i64,
    dilation: i64,
    /// `f`.
    front: i64,
    first: i64,
    /// Results of each phase.
    count: Dim,
    /// Padding of x; below 0 a cut.
    low: Dim,
    high: Dim,
    output: Dim,
}

pub(super) struct Phases(Vec<Axis>);

impl Phases {
    /// `None` where this takes no fewer multiply-adds than a convolution over a spread input, where a stride meets a
    /// dilation or a cut without a value, or is twice the window or more: weights would be mostly zeros.
    pub(super) fn of(window: &Window, spatial: &[Dim], output: &[Dim]) -> Option<Phases> {
        let axes = (0..output.len()).map(|i| Axis::of(window, i, &spatial[i], &output[i]));
        let axes = axes.collect::<Option<Vec<Axis>>>()?;
        let fewer = axes.iter().map(Axis::products).product::<f64>()
            < axes.iter().map(Axis::spread_products).product::<f64>();
        fewer.then_some(Phases(axes))
    }

    pub(super) fn build(&self, b: &mut Builder, x: Value, w: Value, groups: i64) -> Built {
        let shape = b.shape(w);
        if groups > 1 && shape[0].is_const(groups) && shape[1].is_const(1) {
            return self.depthwise(b, x, w, groups);
        }
        let weights = self.weights(b, w, groups)?;
        let product = self.conv(b, x, weights, groups)?;
        self.interleave(b, product, groups)
    }

    /// A channel a group: of weights with one input and `groups` outputs, phases are runs of channels, each run with
    /// an x of its own. So the convolution is again one of a channel a group, the form that there are kernels for.
    fn depthwise(&self, b: &mut Builder, x: Value, w: Value, groups: i64) -> Built {
        let mut outputs = b.shape(w);
        outputs.swap(0, 1);
        let w = b.reshape(w, outputs)?;
        let weights = self.weights(b, w, 1)?;
        let groups = groups * self.count();
        let (mut runs, mut joined) = (b.shape(x).to_vec(), b.shape(x));
        runs.insert(1, Dim::from(self.count()));
        joined[1] = Dim::from(groups);
        let x = b.unsqueeze(x, &[1])?;
        let x = b.broadcast(x, runs)?;
        let x = b.reshape(x, joined)?;
        let product = self.conv(b, x, weights, groups)?;
        self.interleave(b, product, 1)
    }

    fn conv(&self, b: &mut Builder, x: Value, weights: Value, groups: i64) -> Built {
        let (mut x, mut low, mut high) = (x, vec![], vec![]);
        for (i, axis) in self.0.iter().enumerate() {
            let (kept, pads) = cut_to(b, x, 2 + i, &axis.low, &axis.high)?;
            x = kept;
            low.push(pads.0);
            high.push(pads.1);
        }
        let window = Window {
            size: self.0.iter().map(|axis| axis.taps).collect(),
            strides: vec![1; self.0.len()],
            dilations: self.0.iter().map(|axis| axis.dilation).collect(),
            low,
            high,
        };
        b.conv(x, weights, window, groups, b.dtype(x))
    }

    fn count(&self) -> i64 {
        self.0.iter().map(|axis| axis.stride).product()
    }

    /// Weights `[g*C, O, k...]` as `[g*s...*O, C, taps...]`: channels that lie last are whole vectors when they are put
    /// in place.
    fn weights(&self, b: &mut Builder, w: Value, groups: i64) -> Built {
        let n = self.0.len();
        let zero = Dim::from(0);
        let (mut front, mut back) = (vec![zero.clone(); 2], vec![zero; 2]);
        for axis in &self.0 {
            front.push(Dim::from(axis.front));
            back.push(Dim::from(axis.stride * axis.taps - axis.size - axis.front));
        }
        let mut w = w;
        if front.iter().chain(&back).any(|n| !n.is_const(0)) {
            let fill = b.splat(b.dtype(w), Shape::scalar(), 0.0)?;
            w = b.pad(w, &front, &back, fill)?;
        }
        // [g, C, O, taps0, s0, taps1, s1, ...] to [g, s..., O, C, taps...].
        let shape = b.shape(w);
        let inputs = shape[0].div_exact(&Dim::from(groups)).ok_or("channels do not divide by groups")?;
        let outputs = shape[1].clone();
        let mut apart = vec![Dim::from(groups), inputs.clone(), outputs.clone()];
        for axis in &self.0 {
            apart.extend([Dim::from(axis.taps), Dim::from(axis.stride)]);
        }
        let apart = b.reshape(w, apart)?;
        let mut order = vec![0];
        order.extend((0..n).map(|i| 4 + 2 * i));
        order.extend([2, 1]);
        order.extend((0..n).map(|i| 3 + 2 * i));
        let transposed = b.transpose(apart, &order)?;
        let mut joined = vec![Dim::from(groups * self.count()) * outputs, inputs];
        joined.extend(self.0.iter().map(|axis| Dim::from(axis.taps)));
        let mut weights = b.reshape(transposed, joined)?;
        for i in (0..n).filter(|i| self.0[*i].taps > 1) {
            weights = b.reverse(weights, 2 + i)?;
        }
        Ok(weights)
    }

    /// `[N, g*s...*O, q...]` to `[N, g*O, j...]`.
    fn interleave(&self, b: &mut Builder, product: Value, groups: i64) -> Built {
        let n = self.0.len();
        let shape = b.shape(product);
        let channels =
            shape[1].div_exact(&Dim::from(self.count())).ok_or("channels do not divide by phases")?;
        let in_group = channels.div_exact(&Dim::from(groups)).ok_or("channels do not divide by groups")?;
        // [N, g, s..., O, q...] to [N, g, O, q0, s0, q1, s1, ...].
        let mut apart = vec![shape[0].clone(), Dim::from(groups)];
        apart.extend(self.0.iter().map(|axis| Dim::from(axis.stride)));
        apart.push(in_group);
        apart.extend(self.0.iter().map(|axis| axis.count.clone()));
        let apart = b.reshape(product, apart)?;
        let mut order = vec![0, 1, 2 + n];
        order.extend((0..n).flat_map(|i| [3 + n + i, 2 + i]));
        let placed = b.transpose(apart, &order)?;
        let mut joined = vec![shape[0].clone(), channels];
        joined.extend(self.0.iter().map(|axis| axis.count.clone() * Dim::from(axis.stride)));
        let mut result = b.reshape(placed, joined)?;
        for (i, axis) in self.0.iter().enumerate() {
            result = b.slice_axis(result, 2 + i, axis.first, axis.output.clone())?;
        }
        Ok(result)
    }
}

impl Axis {
    fn of(window: &Window, i: usize, extent: &Dim, output: &Dim) -> Option<Axis> {
        let (size, stride, dilation) = (window.size[i], window.strides[i], window.dilations[i]);
        let taps = (size + stride - 1) / stride;
        let (front, first, ahead) = match stride {
            1 => (0, 0, window.low[i].clone()),
            _ => {
                let cut = window.low[i].as_const().filter(|_| dilation == 1 && stride < 2 * size)?;
                let aligned = (-cut).rem_euclid(stride);
                let front = if size + aligned <= taps * stride { aligned } else { 0 };
                let at = cut + front;
                (front, at.rem_euclid(stride), Dim::from(at.div_euclid(stride)))
            }
        };
        let count = (output.clone() + Dim::from(first)).ceil_div(&Dim::from(stride));
        let low = Dim::from(dilation * (taps - 1)) - ahead.clone();
        let high = count.clone() - extent.clone() + ahead;
        let output = output.clone();
        Some(Axis { stride, size, taps, dilation, front, first, count, low, high, output })
    }

    /// Multiply-adds along the axis; of an open extent those for one element of x.
    fn products(&self) -> f64 {
        let count = self.count.as_const().unwrap_or(1);
        count as f64 * (self.stride * self.taps) as f64
    }

    /// The same of a convolution over a spread input: each result meets the whole window.
    fn spread_products(&self) -> f64 {
        self.output.as_const().unwrap_or(self.stride) as f64 * self.size as f64
    }
}
