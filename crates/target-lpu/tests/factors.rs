//! Contractions of `f32`, by what their factors become.

use crate::support::{check_at, floats, region, region_with, run_at};
use tegula_base::HostTensor;
use tegula_target_lpu::FloatFactors;
use tegula_tensor::{TensorProgram, evaluate};

/// What each form of factors is within, of the largest result.
const FORMS: [(FloatFactors, f64); 2] = [(FloatFactors::F16, 2e-3), (FloatFactors::F16x2, 1e-6)];

const LAST_AXES: &str = "{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}";

fn dot(left: &str, right: &str, result: &str) -> String {
    format!(
        "%y = \"tgn.dot\"(%x0, %w) <{{dims = {LAST_AXES}, out = \"f32\"}}> : ({left}, {right}) -> {result}"
    )
}

/// A product by a constant.
fn by_constant(m: usize, k: usize, weight: &HostTensor, ty: &str, dtype: &str) -> TensorProgram {
    let n = weight.shape[0];
    let (left, right) = (format!("tensor<{m}x{k}xf32>"), format!("tensor<{n}x{k}x{ty}>"));
    let result = format!("tensor<{m}x{n}xf32>");
    let constant = format!(
        "%w = \"tgn.constant\"() <{{id = dense_resource<const0> : {right}, dtype = \"{dtype}\", shape = [{n}, {k}]}}> : () -> {right}\n"
    );
    region_with(&[&left], &(constant + &dot(&left, &right, &result)), &result, &[weight])
}

#[test]
fn computed_factors() {
    let (left, right, result) = ("tensor<5x200xf32>", "tensor<170x200xf32>", "tensor<5x170xf32>");
    let product = dot(left, right, result).replace("%w", "%x1");
    let program = region(&[left, right], &product, result);
    let inputs = [floats(&[5, 200], 1), floats(&[170, 200], 2)];
    for (factors, tolerance) in FORMS {
        check_at(factors, &program, "tsp1", &inputs, tolerance);
    }
}

/// Columns of constant weights are scaled, so that small ones keep their bits.
#[test]
fn constant_weights_of_any_size() {
    let mut weights: Vec<f32> = floats(&[170, 200], 2).to_f64().iter().map(|x| *x as f32).collect();
    for (i, x) in weights.iter_mut().enumerate() {
        *x *= (i as f32 / 200.0 - 80.0).trunc().exp2();
    }
    let program = by_constant(5, 200, &HostTensor::from_elements(&[170, 200], &weights), "f32", "f32");
    let inputs = [floats(&[5, 200], 1)];
    let wanted = evaluate(&program, &inputs).unwrap()[0].to_f64();
    for (factors, tolerance) in FORMS {
        let got = run_at(factors, &program, "tsp1", &inputs).results[0].to_f64();
        for column in 0..170 {
            let own = |row: usize| wanted[row * 170 + column];
            let largest = (0..5).map(|row| own(row).abs()).fold(0.0, f64::max);
            let near = (0..5).all(|row| (got[row * 170 + column] - own(row)).abs() <= tolerance * largest);
            assert!(near, "column {column} at {factors:?}");
        }
    }
}

/// Computed factors far below 1: their low halves do not vanish.
#[test]
fn small_factors_keep_their_low_halves() {
    let (left, right, result) = ("tensor<3x64xf32>", "tensor<20x64xf32>", "tensor<3x20xf32>");
    let program = region(&[left, right], &dot(left, right, result).replace("%w", "%x1"), result);
    let small = |shape: &[usize], seed: u32| {
        let all: Vec<f32> = floats(shape, seed).to_f64().iter().map(|x| *x as f32 / 1024.0).collect();
        HostTensor::from_elements(shape, &all)
    };
    check_at(FloatFactors::F16x2, &program, "tsp1", &[small(&[3, 64], 1), small(&[20, 64], 2)], 1e-6);
}

#[test]
fn floats_by_bytes() {
    let bytes: Vec<i8> = floats(&[170, 200], 4).to_f64().iter().map(|x| (x * 63.0) as i8).collect();
    let program = by_constant(4, 200, &HostTensor::from_elements(&[170, 200], &bytes), "i8", "i8");
    for (factors, tolerance) in FORMS {
        check_at(factors, &program, "tsp1", &[floats(&[4, 200], 1)], tolerance);
    }
}

#[test]
fn convolutions_in_halves() {
    let (x, w, y) = ("tensor<1x8x7x7xf32>", "tensor<6x4x3x3xf32>", "tensor<1x6x5x5xf32>");
    let window = "{size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}";
    let op = format!(
        "%w = \"tgn.constant\"() <{{id = dense_resource<const0> : {w}, dtype = \"f32\", shape = [6, 4, 3, 3]}}> : () -> {w}\n\
         %y = \"tgn.conv\"(%x0, %w) <{{window = {window}, groups = 2, out = \"f32\"}}> : ({x}, {w}) -> {y}"
    );
    let program = region_with(&[x], &op, y, &[&floats(&[6, 4, 3, 3], 8)]);
    check_at(FloatFactors::F16x2, &program, "tsp1", &[floats(&[1, 8, 7, 7], 3)], 1e-6);
}

/// `u8` is moved by 128, and so is its padding, which stands for 0.
#[test]
fn convolutions_of_bytes() {
    let (w, y) = ("tensor<6x4x3x3xi8>", "tensor<1x6x7x7xi32>");
    let window = "{size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}";
    let weights: Vec<i8> = floats(&[6, 4, 3, 3], 8).to_f64().iter().map(|x| (x * 63.0) as i8).collect();
    let weights = HostTensor::from_elements(&[6, 4, 3, 3], &weights);
    let numbers = floats(&[1, 8, 7, 7], 3).to_f64();
    let unsigned: Vec<u8> = numbers.iter().map(|x| ((x + 2.0) * 63.0) as u8).collect();
    let signed: Vec<i8> = numbers.iter().map(|x| (x * 63.0) as i8).collect();
    let shape = [1, 8, 7, 7];
    let unsigned = ("ui8", HostTensor::from_elements(&shape, &unsigned));
    let signed = ("i8", HostTensor::from_elements(&shape, &signed));
    for (ty, input) in [unsigned, signed] {
        let x = format!("tensor<1x8x7x7x{ty}>");
        let op = format!(
            "%w = \"tgn.constant\"() <{{id = dense_resource<const0> : {w}, dtype = \"i8\", shape = [6, 4, 3, 3]}}> : () -> {w}\n\
             %y = \"tgn.conv\"(%x0, %w) <{{window = {window}, groups = 2, out = \"i32\"}}> : ({x}, {w}) -> {y}"
        );
        let program = region_with(&[&x], &op, y, &[&weights]);
        check_at(FloatFactors::Refuse, &program, "tsp1", &[input], 0.0);
    }
}

/// Attention of query heads that share key heads, with each of its forms.
#[test]
fn attention() {
    let (q, k, v) = ("tensor<2x4x5x24xf32>", "tensor<2x2x7x24xf32>", "tensor<2x2x7x18xf32>");
    let (mask, y) = ("tensor<1x1x5x7xf32>", "tensor<2x4x5x18xf32>");
    let inputs = [
        floats(&[2, 4, 5, 24], 1),
        floats(&[2, 2, 7, 24], 2),
        floats(&[2, 2, 7, 18], 3),
        floats(&[1, 1, 5, 7], 4),
    ];
    for (has_mask, causal, window, softcap) in
        [(false, false, 0, 0.0), (true, false, 0, 0.0), (true, true, 0, 3.0), (false, true, 2, 0.0)]
    {
        let (args, names) = match has_mask {
            true => (vec![q, k, v, mask], "%x0, %x1, %x2, %x3"),
            false => (vec![q, k, v], "%x0, %x1, %x2"),
        };
        let op = format!(
            "%y = \"tgn.attention\"({names}) <{{scale = 0.2 : f64, causal = {causal}, window = {window}, softcap = {softcap:?} : f64}}> : ({}) -> {y}",
            args.join(", ")
        );
        let program = region(&args, &op, y);
        for (factors, tolerance) in FORMS {
            check_at(factors, &program, "tsp1", &inputs[..args.len()], 3.0 * tolerance);
        }
    }
}

/// Sums of 16-bit integers by bytes are exact, whatever factors of floats become; weights known and computed.
#[test]
fn integers_by_bytes() {
    let wave = |i: usize, period: usize, size: i64| (i * i % period) as i64 * 2 * size / period as i64 - size;
    let integers: Vec<i16> = (0..3 * 700).map(|i| wave(i, 1009, 32768).clamp(-32768, 32767) as i16).collect();
    let weight: Vec<i8> = (0..330 * 700).map(|i| wave(i, 251, 128) as i8).collect();
    let weight = HostTensor::from_elements(&[330, 700], &weight);
    let inputs = [HostTensor::from_elements(&[3, 700], &integers)];
    let cast =
        "%f = \"tgn.elementwise\"(%x0) <{f = \"cast:f32\"}> : (tensor<3x700xi16>) -> tensor<3x700xf32>\n";
    let (left, right, result) = ("tensor<3x700xf32>", "tensor<330x700xi8>", "tensor<3x330xf32>");
    let product = cast.to_string() + &dot(left, right, result).replace("%x0", "%f");
    let constant = format!(
        "%w = \"tgn.constant\"() <{{id = dense_resource<const0> : {right}, dtype = \"i8\", shape = [330, 700]}}> : () -> {right}\n"
    );
    let known = region_with(&["tensor<3x700xi16>"], &(constant + &product), result, &[&weight]);
    let given = region(&["tensor<3x700xi16>", right], &product.replace("%w", "%x1"), result);
    for factors in [FloatFactors::Refuse, FloatFactors::F16] {
        check_at(factors, &known, "tsp1", &inputs, 3e-7);
        check_at(factors, &given, "tsp1", &[inputs[0].clone(), weight.clone()], 3e-7);
    }
}
