//! Regions of a few ops each.

use crate::support::{check, floats, region, run};
use tegula_base::HostTensor;

#[test]
fn elementwise_ops_with_broadcasts() {
    let program = region(
        &["tensor<3x400xf32>", "tensor<1x400xf32>", "tensor<3x1xf32>"],
        "%a = \"tgn.elementwise\"(%x0, %x1) <{f = \"mul\"}> : (tensor<3x400xf32>, tensor<1x400xf32>) -> tensor<3x400xf32>\n\
         %y = \"tgn.elementwise\"(%a, %x2) <{f = \"add\"}> : (tensor<3x400xf32>, tensor<3x1xf32>) -> tensor<3x400xf32>",
        "tensor<3x400xf32>",
    );
    let inputs = [floats(&[3, 400], 1), floats(&[1, 400], 2), floats(&[3, 1], 3)];
    check(&program, "tsp1", &inputs, 0.0);
}

#[test]
fn functions_are_close() {
    for f in [
        "exp",
        "sigmoid",
        "erf",
        "tanh",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "round",
        "floor",
        "ceil",
        "trunc",
        "log",
        "abs",
        "neg",
    ] {
        let ty = "tensor<2x330xf32>";
        let program =
            region(&[ty], &format!("%y = \"tgn.elementwise\"(%x0) <{{f = \"{f}\"}}> : ({ty}) -> {ty}"), ty);
        let mut input = floats(&[2, 330], 5);
        if ["sqrt", "rsqrt", "log", "reciprocal"].contains(&f) {
            let all: Vec<f32> = input.to_f64().iter().map(|x| x.abs() as f32 + 0.01).collect();
            input = HostTensor::from_elements(&[2, 330], &all);
        }
        check(&program, "tsp1", &[input], 3e-7);
    }
}

#[test]
fn reductions_in_time_and_across_lanes() {
    for (axes, result) in [
        ("[0]", "tensor<1x5x330xf32>"),
        ("[1]", "tensor<4x1x330xf32>"),
        ("[2]", "tensor<4x5x1xf32>"),
        ("[0, 2]", "tensor<1x5x1xf32>"),
    ] {
        for f in ["add", "max"] {
            let ty = "tensor<4x5x330xf32>";
            let op =
                format!("%y = \"tgn.reduce\"(%x0) <{{f = \"{f}\", axes = {axes}}}> : ({ty}) -> {result}");
            check(&region(&[ty], &op, result), "tsp1", &[floats(&[4, 5, 330], 7)], 1e-6);
        }
    }
}

#[test]
fn composites() {
    let ty = "tensor<4x100xf32>";
    let softmax =
        region(&[ty], &format!("%y = \"tgn.softmax\"(%x0) <{{axis = 1, log = false}}> : ({ty}) -> {ty}"), ty);
    check(&softmax, "tsp1", &[floats(&[4, 100], 9)], 1e-6);
    let gelu = region(&[ty], &format!("%y = \"tgn.gelu\"(%x0) <{{tanh = false}}> : ({ty}) -> {ty}"), ty);
    check(&gelu, "tsp1", &[floats(&[4, 100], 9)], 1e-6);
}

#[test]
fn transposes_and_reshapes() {
    let program = region(
        &["tensor<6x20xf32>"],
        "%a = \"tgn.transpose\"(%x0) <{perm = [1, 0]}> : (tensor<6x20xf32>) -> tensor<20x6xf32>\n\
         %y = \"tgn.reshape\"(%a) <{shape = [3, 40]}> : (tensor<20x6xf32>) -> tensor<3x40xf32>",
        "tensor<3x40xf32>",
    );
    check(&program, "tsp1", &[floats(&[6, 20], 11)], 0.0);
}

#[test]
fn products_of_floats() {
    let dims = "{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}";
    let program = region(
        &["tensor<5x200xf32>", "tensor<170x200xf32>"],
        &format!(
            "%y = \"tgn.dot\"(%x0, %x1) <{{dims = {dims}, out = \"f32\"}}> : (tensor<5x200xf32>, tensor<170x200xf32>) -> tensor<5x170xf32>"
        ),
        "tensor<5x170xf32>",
    );
    check(&program, "tsp1", &[floats(&[5, 200], 1), floats(&[170, 200], 2)], 2e-3);
}

/// Bytes between 0 and 255, or -128 and 127.
fn bytes(shape: &[usize], seed: u32, signed: bool) -> HostTensor {
    let all = floats(shape, seed).to_f64();
    if signed {
        let all: Vec<i8> = all.iter().map(|x| (x * 63.0) as i8).collect();
        return HostTensor::from_elements(shape, &all);
    }
    let all: Vec<u8> = all.iter().map(|x| ((x + 2.0) * 63.0) as u8).collect();
    HostTensor::from_elements(shape, &all)
}

/// Both sides of a contraction from bytes, computed ones, with scales and zero points; the last axes are contracted.
fn byte_dot(m: usize, k: usize, n: usize, zeros: [u8; 2]) -> tegula_tensor::TensorProgram {
    let scheme = "{axis = unit, block = unit, storage = \"u8\", zero_point = true}";
    let dims = "{lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [2]}";
    let [zx, zw] = zeros;
    let side = |name: &str, from: &str, rows: usize, zero: &str, scale: &str| {
        format!(
            "{name} = \"tgn.dequantize\"({from}, {scale}, {zero}) <{{scheme = {scheme}}}> : (tensor<2x{rows}x{k}xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x{rows}x{k}xf32>\n"
        )
    };
    let splat = |name: &str, dtype: &str, ty: &str, bits: u32| {
        format!(
            "{name} = \"tgn.splat\"() <{{dtype = \"{dtype}\", shape = [], bits = {bits}}}> : () -> tensor<{ty}>\n"
        )
    };
    let ops = [
        splat("%sx", "f32", "f32", 0.02f32.to_bits()),
        splat("%sw", "f32", "f32", 0.05f32.to_bits()),
        splat("%zx", "u8", "ui8", zx.into()),
        splat("%zw", "u8", "ui8", zw.into()),
        side("%a", "%x0", m, "%zx", "%sx"),
        side("%b", "%x1", n, "%zw", "%sw"),
        format!(
            "%y = \"tgn.dot\"(%a, %b) <{{dims = {dims}, out = \"f32\"}}> : (tensor<2x{m}x{k}xf32>, tensor<2x{n}x{k}xf32>) -> tensor<2x{m}x{n}xf32>"
        ),
    ];
    let args = [format!("tensor<2x{m}x{k}xui8>"), format!("tensor<2x{n}x{k}xui8>")];
    region(&[&args[0], &args[1]], &ops.concat(), &format!("tensor<2x{m}x{n}xf32>"))
}

#[test]
fn products_of_bytes_are_exact_but_for_their_scale() {
    for (m, k, n, zeros) in
        [(3, 40, 50, [128, 128]), (5, 330, 20, [7, 200]), (2, 16, 1, [128, 3]), (1, 64, 340, [0, 128])]
    {
        let inputs = [bytes(&[2, m, k], 3, false), bytes(&[2, n, k], 4, false)];
        check(&byte_dot(m, k, n, zeros), "tsp1", &inputs, 3e-7);
    }
}

/// Splits a long product by rows as well: more rows than a plane has accumulators.
#[test]
fn convolutions() {
    for (channels, out, groups, size, stride, pad) in
        [(3, 5, 1, 9, 1, 1), (8, 6, 2, 7, 2, 0), (170, 4, 1, 30, 1, 1)]
    {
        let high = size + 2 * pad;
        let extent = (high - 3) / stride + 1;
        let (x, w) = (
            format!("tensor<1x{channels}x{size}x{size}xf32>"),
            format!("tensor<{out}x{}x3x3xf32>", channels / groups),
        );
        let y = format!("tensor<1x{out}x{extent}x{extent}xf32>");
        let weight = floats(&[out, channels / groups, 3, 3], 8);
        let text = format!(
            "%w = \"tgn.constant\"() <{{id = dense_resource<const0> : {w}, dtype = \"f32\", shape = [{out}, {}, 3, 3]}}> : () -> {w}\n",
            channels / groups
        );
        let window = format!(
            "{{size = [3, 3], strides = [{stride}, {stride}], dilations = [1, 1], low = [{pad}, {pad}], high = [{pad}, {pad}]}}"
        );
        let op = format!(
            "{text}%y = \"tgn.conv\"(%x0, %w) <{{window = {window}, groups = {groups}, out = \"f32\"}}> : ({x}, {w}) -> {y}"
        );
        let program = crate::support::region_with(&[&x], &op, &y, &[&weight]);
        check(&program, "tsp1", &[floats(&[1, channels, size, size], 3)], 3e-3);
    }
}

/// A machine of 16 lanes and 8 streams each way.
#[test]
fn a_small_machine_computes_the_same() {
    let ty = "tensor<4x20xf32>";
    let softmax =
        region(&[ty], &format!("%y = \"tgn.softmax\"(%x0) <{{axis = 1, log = false}}> : ({ty}) -> {ty}"), ty);
    check(&softmax, "lpu-mini", &[floats(&[4, 20], 9)], 1e-6);
    let transposed = region(
        &[ty],
        &format!("%y = \"tgn.transpose\"(%x0) <{{perm = [1, 0]}}> : ({ty}) -> tensor<20x4xf32>"),
        "tensor<20x4xf32>",
    );
    check(&transposed, "lpu-mini", &[floats(&[4, 20], 9)], 0.0);
}

/// Quotients and roots round as IEEE 754 says, over many orders of magnitude.
#[test]
fn quotients_and_roots_are_correctly_rounded() {
    let ty = "tensor<8x320xf32>";
    let wide = |seed: u32| {
        let (mantissas, exponents) = (floats(&[8, 320], seed).to_f64(), floats(&[8, 320], seed + 1).to_f64());
        let all: Vec<f32> =
            mantissas.iter().zip(&exponents).map(|(m, e)| (m * (e * 10.0).exp2()) as f32).collect();
        HostTensor::from_elements(&[8, 320], &all)
    };
    let div = region(
        &[ty, ty],
        &format!("%y = \"tgn.elementwise\"(%x0, %x1) <{{f = \"div\"}}> : ({ty}, {ty}) -> {ty}"),
        ty,
    );
    let inputs = [wide(1), wide(5)];
    assert_eq!(run(&div, "tsp1", &inputs).results, tegula_tensor::evaluate(&div, &inputs).unwrap());
    let sqrt =
        region(&[ty], &format!("%y = \"tgn.elementwise\"(%x0) <{{f = \"sqrt\"}}> : ({ty}) -> {ty}"), ty);
    let positive: Vec<f32> = wide(9).to_f64().iter().map(|x| x.abs() as f32).collect();
    let inputs = [HostTensor::from_elements(&[8, 320], &positive)];
    assert_eq!(run(&sqrt, "tsp1", &inputs).results, tegula_tensor::evaluate(&sqrt, &inputs).unwrap());
}

/// Operations on the bits of bytes, which lie as integers of 32 bits.
#[test]
fn bits_of_bytes() {
    let (signed, unsigned) = ("tensor<3x40xi8>", "tensor<3x40xui8>");
    let program = region(
        &[signed, unsigned],
        &format!(
            "%a = \"tgn.elementwise\"(%x0) <{{f = \"bitcast:u8\"}}> : ({signed}) -> {unsigned}\n\
             %b = \"tgn.elementwise\"(%a, %x1) <{{f = \"xor\"}}> : ({unsigned}, {unsigned}) -> {unsigned}\n\
             %c = \"tgn.elementwise\"(%b) <{{f = \"not\"}}> : ({unsigned}) -> {unsigned}\n\
             %y = \"tgn.elementwise\"(%c) <{{f = \"bitcast:i8\"}}> : ({unsigned}) -> {signed}"
        ),
        signed,
    );
    check(&program, "tsp1", &[bytes(&[3, 40], 3, true), bytes(&[3, 40], 4, false)], 0.0);
}

/// Floats of the same bytes are read by a contraction and by a sum.
#[test]
fn dequantised_bytes_have_other_readers() {
    let scheme = "{axis = unit, block = unit, storage = \"u8\", zero_point = true}";
    let dims = "{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}";
    let ty = "tensor<16x16xf32>";
    let ops = [
        "%s = \"tgn.splat\"() <{dtype = \"f32\", shape = [], bits = 1008760236}> : () -> tensor<f32>\n"
            .to_string(),
        "%z = \"tgn.splat\"() <{dtype = \"u8\", shape = [], bits = 7}> : () -> tensor<ui8>\n".to_string(),
        format!(
            "%a = \"tgn.dequantize\"(%x0, %s, %z) <{{scheme = {scheme}}}> : (tensor<16x16xui8>, tensor<f32>, tensor<ui8>) -> {ty}\n"
        ),
        format!("%b = \"tgn.transpose\"(%a) <{{perm = [1, 0]}}> : ({ty}) -> {ty}\n"),
        format!("%c = \"tgn.dot\"(%a, %b) <{{dims = {dims}, out = \"f32\"}}> : ({ty}, {ty}) -> {ty}\n"),
        format!("%d = \"tgn.elementwise\"(%c, %a) <{{f = \"add\"}}> : ({ty}, {ty}) -> {ty}\n"),
        format!("%y = \"tgn.elementwise\"(%d, %b) <{{f = \"add\"}}> : ({ty}, {ty}) -> {ty}"),
    ];
    let program = region(&["tensor<16x16xui8>"], &ops.concat(), ty);
    check(&program, "tsp1", &[bytes(&[16, 16], 3, false)], 3e-7);
}

#[test]
fn long_transposes_go_through_superlanes() {
    for (rows, columns) in [(40, 24), (16, 320), (130, 33), (7, 64)] {
        let program = region(
            &[&format!("tensor<{rows}x{columns}xf32>")],
            &format!(
                "%y = \"tgn.transpose\"(%x0) <{{perm = [1, 0]}}> : (tensor<{rows}x{columns}xf32>) -> (tensor<{columns}x{rows}xf32>)"
            ),
            &format!("tensor<{columns}x{rows}xf32>"),
        );
        check(&program, "tsp1", &[floats(&[rows, columns], 5)], 0.0);
    }
}

/// An operand that a shifter brings is one vector, however often an operation reads it.
#[test]
fn a_moved_operand_is_read_twice() {
    let ops = "%y = \"tgn.elementwise\"(%x0, %x0) <{f = \"add\"}> : (tensor<7x1xf32>, tensor<7x1xf32>) -> tensor<7x1xf32>";
    check(&region(&["tensor<7x1xf32>"], ops, "tensor<7x1xf32>"), "tsp1", &[floats(&[7, 1], 3)], 0.0);
}

#[test]
fn roots_of_infinities() {
    let ops = "%y = \"tgn.elementwise\"(%x0) <{f = \"sqrt\"}> : (tensor<5xf32>) -> tensor<5xf32>";
    let x = HostTensor::from_elements(&[5], &[f32::NEG_INFINITY, -1.0, -0.0, 4.0, f32::INFINITY]);
    let results = run(&region(&["tensor<5xf32>"], ops, "tensor<5xf32>"), "tsp1", &[x]).results;
    let roots = results[0].to_f64();
    assert!(roots[0].is_nan() && roots[1].is_nan(), "{roots:?}");
    assert_eq!(roots[2..], [0.0, 2.0, f64::INFINITY]);
}
