//! Convolutions and what stands between them: channels lie last from one to the next.

use crate::support::{check, floats, region_with};
use tegula_base::HostTensor;

fn window(size: usize, stride: usize, pad: usize) -> String {
    let all = |n: usize| format!("[{n}, {n}]");
    format!(
        "window = {{size = {}, strides = {}, dilations = {}, low = {}, high = {}}}",
        all(size),
        all(stride),
        all(1),
        all(pad),
        all(pad)
    )
}

fn constant(name: &str, number: usize, ty: &str, dtype: &str, shape: &[usize]) -> String {
    format!(
        "{name} = \"tgn.constant\"() <{{id = dense_resource<const{number}> : {ty}, dtype = \"{dtype}\", shape = {shape:?}}}> : () -> {ty}\n"
    )
}

/// A convolution, a bias and a rectifier, a pool, a convolution beside its operand, the mean of all pixels.
#[test]
fn a_network_of_convolutions() {
    let (x, w, y) = ("tensor<2x3x9x7xf32>", "tensor<24x3x3x3xf32>", "tensor<2x24x9x7xf32>");
    let (bias, p, v) = ("tensor<1x24x1x1xf32>", "tensor<2x24x5x4xf32>", "tensor<24x24x1x1xf32>");
    let m = "tensor<2x24x1x1xf32>";
    let ops = [
        constant("%w", 0, w, "f32", &[24, 3, 3, 3]),
        constant("%b", 1, bias, "f32", &[1, 24, 1, 1]),
        constant("%v", 2, v, "f32", &[24, 24, 1, 1]),
        format!(
            "%0 = \"tgn.conv\"(%x0, %w) <{{{}, groups = 1, out = \"f32\"}}> : ({x}, {w}) -> {y}\n",
            window(3, 1, 1)
        ),
        format!("%1 = \"tgn.elementwise\"(%0, %b) <{{f = \"add\"}}> : ({y}, {bias}) -> {y}\n"),
        format!("%2 = \"tgn.elementwise\"(%1, %b) <{{f = \"max\"}}> : ({y}, {bias}) -> {y}\n"),
        format!("%3 = \"tgn.pool\"(%2) <{{kind = \"max\", {}}}> : ({y}) -> {p}\n", window(3, 2, 1)),
        format!(
            "%4 = \"tgn.conv\"(%3, %v) <{{{}, groups = 1, out = \"f32\"}}> : ({p}, {v}) -> {p}\n",
            window(1, 1, 0)
        ),
        format!("%5 = \"tgn.elementwise\"(%4, %3) <{{f = \"add\"}}> : ({p}, {p}) -> {p}\n"),
        format!("%y = \"tgn.reduce\"(%5) <{{f = \"add\", axes = [2, 3]}}> : ({p}) -> {m}"),
    ];
    let constants = [floats(&[24, 3, 3, 3], 1), floats(&[1, 24, 1, 1], 2), floats(&[24, 24, 1, 1], 3)];
    let program = region_with(&[x], &ops.concat(), m, &constants.each_ref());
    check(&program, "tsp1", &[floats(&[2, 3, 9, 7], 4)], 2e-3);
}

/// What pads a convolution of dequantised bytes stands for 0, and each filter has its scale.
#[test]
fn dequantised_convolutions_are_of_bytes() {
    let (x, f, w, y) =
        ("tensor<1x5x6x6xui8>", "tensor<1x5x6x6xf32>", "tensor<7x5x3x3xi8>", "tensor<1x7x6x6xf32>");
    let (s, z, t, g) = ("tensor<f32>", "tensor<ui8>", "tensor<7xf32>", "tensor<7x5x3x3xf32>");
    let bytes = |shape: &[usize], seed: u32| -> Vec<i32> {
        floats(shape, seed).to_f64().iter().map(|x| (x * 60.0) as i32).collect()
    };
    let scheme = |axis: &str, storage: &str, zero: bool| {
        format!("{{axis = {axis}, block = unit, storage = \"{storage}\", zero_point = {zero}}}")
    };
    let ops = [
        constant("%s", 0, s, "f32", &[]),
        constant("%z", 1, z, "u8", &[]),
        constant("%t", 2, t, "f32", &[7]),
        constant("%c", 3, w, "i8", &[7, 5, 3, 3]),
        format!(
            "%0 = \"tgn.dequantize\"(%x0, %s, %z) <{{scheme = {}}}> : ({x}, {s}, {z}) -> {f}\n",
            scheme("unit", "u8", true)
        ),
        format!(
            "%1 = \"tgn.dequantize\"(%c, %t) <{{scheme = {}}}> : ({w}, {t}) -> {g}\n",
            scheme("0", "i8", false)
        ),
        format!(
            "%y = \"tgn.conv\"(%0, %1) <{{{}, groups = 1, out = \"f32\"}}> : ({f}, {g}) -> {y}",
            window(3, 1, 1)
        ),
    ];
    let filters: Vec<i8> = bytes(&[7, 5, 3, 3], 5).into_iter().map(|x| x as i8).collect();
    let scales: Vec<f32> = (1..8).map(|n| n as f32 / 512.0).collect();
    let constants = [
        HostTensor::from_elements(&[], &[0.05f32]),
        HostTensor::from_elements(&[], &[77u8]),
        HostTensor::from_elements(&[7], &scales),
        HostTensor::from_elements(&[7, 5, 3, 3], &filters),
    ];
    let program = region_with(&[x], &ops.concat(), y, &constants.each_ref());
    let input: Vec<u8> = bytes(&[1, 5, 6, 6], 6).into_iter().map(|x| (x + 120) as u8).collect();
    check(&program, "tsp1", &[HostTensor::from_elements(&[1, 5, 6, 6], &input)], 1e-6);
}
