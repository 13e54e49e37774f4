//! Convolutions of 3x3 that Winograd's algorithm computes: images of odd and even sizes, with and without a border, known before
//! the run or not, several of them; channels that fill vectors or do not; what follows a convolution in its kernel.

mod all_ways;

use tegula_base::{DType, HostTensor};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, Window};

fn numbers(shape: &[usize], scale: f32) -> HostTensor {
    let count: usize = shape.iter().product();
    let numbers: Vec<f32> = (0..count).map(|i| ((i * 7919 % 509) as f32 / 256.0 - 1.0) * scale).collect();
    HostTensor::from_elements(shape, &numbers)
}

/// `low` and `high` are of both axes.
fn window(low: [i64; 2], high: [i64; 2]) -> Window {
    let pads = |pads: [i64; 2]| pads.into_iter().map(Into::into).collect();
    Window { size: vec![3; 2], strides: vec![1; 2], dilations: vec![1; 2], low: pads(low), high: pads(high) }
}

fn check(
    x: [usize; 4],
    open: &[usize],
    filters: usize,
    window: &Window,
    then: impl Fn(&mut Builder, Value) -> Built,
) {
    let w = numbers(&[filters, x[1], 3, 3], 0.125);
    all_ways::check(&numbers(&x, 4.0), open, w, |b, [x, w]| {
        let y = b.conv(x, w, window.clone(), 1, DType::F32)?;
        then(b, y)
    });
}

#[test]
fn sizes_and_borders() {
    for (height, width) in [(10, 10), (11, 13), (9, 16)] {
        for (low, high) in [([1, 1], [1, 1]), ([0, 0], [0, 0]), ([2, 0], [1, 2])] {
            check([1, 16, height, width], &[], 16, &window(low, high), |_, y| Ok(y));
        }
    }
}

#[test]
fn sizes_known_at_the_run() {
    for open in [&[0][..], &[2], &[2, 3], &[0, 2, 3]] {
        for (height, width) in [(1, 1), (2, 15), (23, 20)] {
            check([2, 16, height, width], open, 16, &window([1, 1], [1, 1]), |_, y| Ok(y));
        }
    }
}

#[test]
fn channels() {
    for (channels, filters) in [(17, 16), (16, 33), (24, 70), (48, 128)] {
        check([2, channels, 11, 11], &[], filters, &window([1, 1], [1, 1]), |_, y| Ok(y));
    }
}

#[test]
fn what_follows() {
    check([1, 20, 14, 13], &[2], 40, &window([1, 1], [1, 1]), |b, y| {
        let gate = b.elementwise(ScalarOp::Sigmoid, &[y])?;
        b.mul(y, gate)
    });
}
