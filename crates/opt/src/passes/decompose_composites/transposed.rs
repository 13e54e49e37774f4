//! Transposed convolutions as convolutions.
//!
//! The results of one residue modulo the stride meet every stride-th weight: they are channels of a convolution over
//! the input as it is (`phases.rs`). Where that saves nothing, or a dilation is in the way, the input is spread by the
//! stride with zeros in between and convolved with the mirrored weights.

mod phases;

use phases::Phases;
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, Window};

pub(super) fn conv_transpose(
    b: &mut Builder,
    operands: &[Value],
    window: &Window,
    groups: i64,
    output: &[Dim],
) -> Built {
    let (x, w) = (operands[0], operands[1]);
    if let Some(phases) = Phases::of(window, &b.shape(x)[2..], output) {
        return phases.build(b, x, w, groups);
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
        spread = b.slice_axis(spread, 2 + i, Dim::from(0), extent)?;
        let (kept, pads) = cut_to(b, spread, 2 + i, &low, &high)?;
        spread = kept;
        lows.push(pads.0);
        highs.push(pads.1);
    }
    Ok((spread, lows, highs))
}

/// The value cut at both ends of `axis` by what is below 0 of these paddings, and the paddings that are left.
fn cut_to(b: &mut Builder, x: Value, axis: usize, low: &Dim, high: &Dim) -> Built<(Value, (Dim, Dim))> {
    let zero = Dim::from(0);
    let cut = |pad: &Dim| (zero.clone() - pad.clone()).maximum(&zero);
    let kept = b.shape(x)[axis].clone() - cut(low) - cut(high);
    let x = b.slice_axis(x, axis, cut(low), kept)?;
    Ok((x, (low.maximum(&zero), high.maximum(&zero))))
}
