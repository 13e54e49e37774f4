//! Convolutions of groups narrower than a vector: of as many channels of the input as of the result, or fewer; numbers of
//! channels that fill vectors or do not; lines, images, steps, borders, and what follows.

use crate::all_ways;

use tegula_base::{DType, HostTensor};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval_slice;
use tegula_tensor::Window;

fn numbers(dtype: DType, shape: &[i64]) -> HostTensor {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let count: usize = shape.iter().product();
    let numbers: Vec<u8> =
        (0..count).flat_map(|i| ((i * 7919 % 509) as f32 / 8.0 - 32.0).to_le_bytes()).collect();
    let mut bytes = Vec::new();
    eval_slice(ScalarOp::Cast { to: dtype, saturate: true }, &[(&numbers, DType::F32)], &mut bytes);
    HostTensor { dtype, shape, bytes }
}

fn window(size: &[i64], stride: i64) -> Window {
    let pads = |pad: i64| size.iter().map(|_| pad.into()).collect();
    let (strides, dilations) = (vec![stride; size.len()], vec![1; size.len()]);
    Window { size: size.to_vec(), strides, dilations, low: pads(1), high: pads(1) }
}

/// Checks a convolution of `groups`, each from `input` to `result` channels.
fn check(dtype: DType, [groups, input, result]: [i64; 3], places: &[i64], window: &Window, open: &[usize]) {
    let shape = |leading: [i64; 2], rest: &[i64]| [&leading, rest].concat();
    let x = numbers(dtype, &shape([2, groups * input], places));
    let w = numbers(dtype, &shape([groups * result, input], &window.size));
    all_ways::check(&x, open, w, |b, [x, w]| b.conv(x, w, window.clone(), groups, dtype));
}

const GROUPS: [[i64; 3]; 10] = [
    [8, 4, 4],
    [9, 4, 4],
    [3, 2, 4],
    [5, 3, 4],
    [16, 1, 2],
    [7, 2, 2],
    [4, 8, 8],
    [3, 5, 8],
    // Wider than half a vector, or more channels in than out.
    [2, 16, 16],
    [6, 4, 2],
];

#[test]
fn images() {
    for groups in GROUPS {
        for stride in [1, 2] {
            check(DType::F32, groups, &[5, 11], &window(&[3, 3], stride), &[]);
        }
    }
}

#[test]
fn lines_known_at_the_run() {
    for groups in GROUPS {
        check(DType::F32, groups, &[13], &window(&[4], 1), &[2]);
        check(DType::F32, groups, &[1, 9], &window(&[1, 5], 1), &[0, 3]);
    }
}

#[test]
fn halves_and_doubles() {
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        for groups in [[8, 4, 4], [5, 3, 4], [16, 1, 2]] {
            check(dtype, groups, &[4, 7], &window(&[3, 3], 1), &[]);
        }
    }
}

#[test]
fn no_channels() {
    for groups in [[2, 4, 0], [2, 0, 4], [2, 0, 0]] {
        check(DType::F32, groups, &[4, 7], &window(&[3, 3], 1), &[]);
    }
}

/// Bytes are summed by fours.
#[test]
fn bytes() {
    for groups in GROUPS {
        let x = numbers(DType::U8, &[1, groups[0] * groups[1], 4, 7]);
        let w = numbers(DType::I8, &[groups[0] * groups[2], groups[1], 3, 3]);
        let window = window(&[3, 3], 1);
        all_ways::check(&x, &[], w, |b, [x, w]| b.conv(x, w, window.clone(), groups[0], DType::I32));
    }
}
