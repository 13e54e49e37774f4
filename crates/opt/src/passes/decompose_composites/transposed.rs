//! Transposed convolutions as convolutions.
//!
//! Where the stride is the window, results do not overlap: a convolution of window 1 computes all of a window's
//! elements as channels, and a permutation puts them in place. Else the input is spread by the stride with zeros in
//! between and convolved with the mirrored weights.

use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::{Built, same_window};
use tegula_tensor::{Builder, Window};

pub(super) fn conv_transpose(
    b: &mut Builder,
    operands: &[Value],
    window: &Window,
    groups: i64,
    output: &[Dim],
) -> Built {
    let (x, w) = (operands[0], operands[1]);
    let whole = window.low.iter().chain(&window.high).all(|cut| cut.is_const(0));
    let shape = b.shape(x);
    let tiled = |i: usize| {
        window.size[i] == window.strides[i]
            && window.dilations[i] == 1
            && output[i] == shape[2 + i].clone() * Dim::from(window.strides[i])
    };
    if whole && groups == 1 && (0..output.len()).all(tiled) {
        return windows_as_channels(b, x, w, output);
    }
    let weights = mirrored(b, w, groups)?;
    let (spread, low, high) = spread(b, x, window, output)?;
    let flat = Window {
        size: window.size.clone(),
        strides: vec![1; output.len()],
        dilations: window.dilations.clone(),
        low,
        high,
    };
    b.conv(spread, weights, flat, groups, b.dtype(x))
}

/// `[N,C,s...] by [C,O,k...]` to `[N,O,s*k...]` where windows do not overlap.
fn windows_as_channels(b: &mut Builder, x: Value, w: Value, output: &[Dim]) -> Built {
    let spatial = output.len();
    let (x_shape, w_shape) = (b.shape(x), b.shape(w));
    let channels: Dim = w_shape[1..].iter().fold(Dim::from(1), |product, dim| product * dim.clone());
    // Weights [k...*O, C, 1...]: channels that lie last are whole vectors when they are put in place.
    let mut order: Vec<usize> = (2..w_shape.rank()).collect();
    order.extend([1, 0]);
    let weights = b.transpose(w, &order)?;
    let mut shape = vec![channels, w_shape[0].clone()];
    shape.extend(std::iter::repeat_n(Dim::from(1), spatial));
    let weights = b.reshape(weights, shape)?;
    let product = b.conv(x, weights, same_window(&vec![1; spatial]), 1, b.dtype(x))?;
    // [N, k..., O, s...] to [N, O, s0, k0, s1, k1, ...].
    let mut apart = vec![x_shape[0].clone()];
    apart.extend(w_shape[2..].iter().cloned());
    apart.push(w_shape[1].clone());
    apart.extend(x_shape[2..].iter().cloned());
    let apart = b.reshape(product, apart)?;
    let mut order = vec![0, 1 + spatial];
    for i in 0..spatial {
        order.extend([2 + spatial + i, 1 + i]);
    }
    let placed = b.transpose(apart, &order)?;
    let mut result = vec![x_shape[0].clone(), w_shape[1].clone()];
    result.extend(output.iter().cloned());
    b.reshape(placed, result)
}

/// Weights `[C, O/groups, k...]` as those of a convolution, `[O, C/groups, k...]`, each window reversed.
fn mirrored(b: &mut Builder, w: Value, groups: i64) -> Built {
    let shape = b.shape(w);
    let inputs = shape[0].div_exact(&Dim::from(groups)).ok_or("channels do not divide by groups")?;
    let outputs = shape[1].clone();
    let window = &shape[2..];
    let grouped: Shape = [Dim::from(groups), inputs.clone(), outputs.clone()]
        .into_iter()
        .chain(window.iter().cloned())
        .collect();
    let grouped = b.reshape(w, grouped)?;
    let mut order = vec![0, 2, 1];
    order.extend(3..3 + window.len());
    let swapped = b.transpose(grouped, &order)?;
    let joined: Shape =
        [Dim::from(groups) * outputs, inputs].into_iter().chain(window.iter().cloned()).collect();
    let mut result = b.reshape(swapped, joined)?;
    for axis in 2..2 + window.len() {
        result = b.reverse(result, axis)?;
    }
    Ok(result)
}

/// The input with `stride - 1` zeros between its elements, and the padding that makes a plain convolution of it the
/// result. Padding below 0 is a cut.
fn spread(b: &mut Builder, x: Value, window: &Window, output: &[Dim]) -> Built<(Value, Vec<Dim>, Vec<Dim>)> {
    let spatial = output.len();
    let shape = b.shape(x);
    let zero = || Dim::from(0);
    let mut spread = x;
    if window.strides.iter().any(|stride| *stride != 1) {
        // [N, C, s0, 1, s1, 1, ...], padded to strides, then joined.
        let mut apart = shape[..2].to_vec();
        let (mut high, mut joined) = (vec![zero(), zero()], shape[..2].to_vec());
        for i in 0..spatial {
            let stride = window.strides[i];
            apart.extend([shape[2 + i].clone(), Dim::from(1)]);
            high.extend([zero(), Dim::from(stride - 1)]);
            joined.push(shape[2 + i].clone() * Dim::from(stride));
        }
        let apart = b.reshape(x, apart)?;
        let fill = b.splat(b.dtype(x), Shape::scalar(), 0.0)?;
        let low = vec![zero(); high.len()];
        let padded = b.pad(apart, &low, &high, fill)?;
        spread = b.reshape(padded, joined)?;
    }
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for i in 0..spatial {
        let reach = Dim::from(window.dilations[i] * (window.size[i] - 1));
        let stride = Dim::from(window.strides[i]);
        let extent = (shape[2 + i].clone() - Dim::from(1)) * stride + Dim::from(1);
        let low = reach.clone() - window.low[i].clone();
        let high = output[i].clone() + reach - extent.clone() - low.clone();
        // The stride's zeros after the last element are cut together with what padding below 0 cuts.
        let cut = |pad: &Dim| (zero() - pad.clone()).maximum(&zero());
        let (cut_low, cut_high) = (cut(&low), cut(&high));
        let kept = extent - cut_low.clone() - cut_high;
        spread = b.slice_axis(spread, 2 + i, cut_low, kept)?;
        lows.push(low.maximum(&zero()));
        highs.push(high.maximum(&zero()));
    }
    Ok((spread, lows, highs))
}
