//! Convolutions and what stands between them: channels lie last from one to the next.

use crate::support::{check, floats, region, region_with};
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

/// `conv` of a shape by filters of a shape, beside a decimal: `(size, stride, dilation, low, high)` of both axes.
fn conv_op(name: &str, [x, w]: [&str; 2], types: [&str; 3], window: [usize; 5], groups: usize) -> String {
    let all = |n: usize| format!("[{n}, {n}]");
    let [size, stride, dilation, low, high] = window.map(all);
    let [from, filters, to] = types;
    format!(
        "{name} = \"tgn.conv\"({x}, {w}) <{{window = {{size = {size}, strides = {stride}, dilations = {dilation}, low = {low}, high = {high}}}, groups = {groups}, out = \"f32\"}}> : ({from}, {filters}) -> {to}\n"
    )
}

/// Several pixels share a row: windows reach into the rows beside it, and rows of results repeat in phases.
#[test]
fn pixels_share_rows() {
    // From 28 pixels of 3 channels a row to 6 of 16, then to 3 of 40, by a stride, an odd padding and a dilation.
    let (x, w, y) = ("tensor<1x3x11x56xf32>", "tensor<16x3x5x5xf32>", "tensor<1x16x6x28xf32>");
    let (v, z) = ("tensor<40x16x3x3xf32>", "tensor<1x40x4x26xf32>");
    let ops = [
        constant("%w", 0, w, "f32", &[16, 3, 5, 5]),
        constant("%v", 1, v, "f32", &[40, 16, 3, 3]),
        conv_op("%0", ["%x0", "%w"], [x, w, y], [5, 2, 1, 2, 2], 1),
        conv_op("%y", ["%0", "%v"], [y, v, z], [3, 1, 2, 1, 1], 1),
    ];
    let constants = [floats(&[16, 3, 5, 5], 1), floats(&[40, 16, 3, 3], 2)];
    let program = region_with(&[x], &ops.concat(), z, &constants.each_ref());
    check(&program, "tsp1", &[floats(&[1, 3, 11, 56], 3)], 2e-3);
}

/// Each channel has a filter of its own, then each group of channels several.
#[test]
fn groups_of_channels() {
    let (x, w) = ("tensor<2x32x6x20xf32>", "tensor<32x1x3x3xf32>");
    let (v, z) = ("tensor<64x8x1x1xf32>", "tensor<2x64x3x10xf32>");
    let ops = [
        constant("%w", 0, w, "f32", &[32, 1, 3, 3]),
        constant("%v", 1, v, "f32", &[64, 8, 1, 1]),
        conv_op("%0", ["%x0", "%w"], [x, w, x], [3, 1, 1, 1, 1], 32),
        conv_op("%y", ["%0", "%v"], [x, v, z], [1, 2, 1, 0, 0], 4),
    ];
    let constants = [floats(&[32, 1, 3, 3], 1), floats(&[64, 8, 1, 1], 2)];
    let program = region_with(&[x], &ops.concat(), z, &constants.each_ref());
    check(&program, "tsp1", &[floats(&[2, 32, 6, 20], 3)], 2e-3);
}

/// Averages of windows, with and without what pads; pixels of a row move beside one another.
#[test]
fn averages_of_windows() {
    let (x, y) = ("tensor<1x16x7x20xf32>", "tensor<1x16x4x10xf32>");
    for kind in ["average", "average_inside", "sum", "max"] {
        let op =
            format!("%y = \"tgn.pool\"(%x0) <{{kind = \"{kind}\", {}}}> : ({x}) -> {y}", window(3, 2, 1));
        check(&region(&[x], &op, y), "tsp1", &[floats(&[1, 16, 7, 20], 5)], 1e-6);
    }
}

/// An image whose channels are its last axis: it comes in rows of pixels, and paddings in front of a convolution are its own.
#[test]
fn images_with_their_channels_last() {
    let (x, p) = ("tensor<1x9x40x3xf32>", "tensor<1x11x42x3xf32>");
    let (t, w, y) = ("tensor<1x3x11x42xf32>", "tensor<8x3x3x3xf32>", "tensor<1x8x9x40xf32>");
    let (z, b) = ("tensor<1x9x40x8xf32>", "tensor<1x1x1x8xf32>");
    let ops = [
        constant("%w", 0, w, "f32", &[8, 3, 3, 3]),
        constant("%b", 1, b, "f32", &[1, 1, 1, 8]),
        "%f = \"tgn.splat\"() <{dtype = \"f32\", shape = [], bits = 1056964608}> : () -> tensor<f32>\n"
            .to_string(),
        format!(
            "%0 = \"tgn.pad\"(%x0, %f) <{{low = [0, 1, 1, 0], high = [0, 1, 1, 0], mode = \"constant\"}}> : ({x}, tensor<f32>) -> {p}\n"
        ),
        format!("%1 = \"tgn.transpose\"(%0) <{{perm = [0, 3, 1, 2]}}> : ({p}) -> {t}\n"),
        conv_op("%2", ["%1", "%w"], [t, w, y], [3, 1, 1, 0, 0], 1),
        format!("%3 = \"tgn.transpose\"(%2) <{{perm = [0, 2, 3, 1]}}> : ({y}) -> {z}\n"),
        format!("%y = \"tgn.elementwise\"(%3, %b) <{{f = \"add\"}}> : ({z}, {b}) -> {z}"),
    ];
    let constants = [floats(&[8, 3, 3, 3], 1), floats(&[1, 1, 1, 8], 2)];
    let program = region_with(&[x], &ops.concat(), z, &constants.each_ref());
    check(&program, "tsp1", &[floats(&[1, 9, 40, 3], 3)], 2e-3);
}

/// Paddings by what lies at the border: of a matrix, and of an image behind a pool.
#[test]
fn paddings_by_the_border() {
    let (x, y) = ("tensor<3x5xf32>", "tensor<6x7xf32>");
    let op =
        format!("%y = \"tgn.pad\"(%x0) <{{low = [1, 2], high = [2, 0], mode = \"edge\"}}> : ({x}) -> {y}");
    check(&region(&[x], &op, y), "tsp1", &[floats(&[3, 5], 5)], 0.0);
    let (x, y, z) = ("tensor<1x16x4x10xf32>", "tensor<1x16x4x10xf32>", "tensor<1x16x6x13xf32>");
    let ops = [
        format!("%0 = \"tgn.pool\"(%x0) <{{kind = \"max\", {}}}> : ({x}) -> {y}\n", window(3, 1, 1)),
        format!(
            "%y = \"tgn.pad\"(%0) <{{low = [0, 0, 2, 1], high = [0, 0, 0, 2], mode = \"edge\"}}> : ({y}) -> {z}"
        ),
    ];
    check(&region(&[x], &ops.concat(), z), "tsp1", &[floats(&[1, 16, 4, 10], 6)], 0.0);
}
