//! Products by constants of bytes, of every length of k around whole groups, and of floats by them, of few and many rows:
//! on both tiers, on the portable executor and as machine code where this processor runs it, the numbers of the
//! evaluator.

mod all_ways;
#[path = "common/program.rs"]
mod program;

use tegula_base::{DType, HostTensor};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, Window};

/// Bytes of all values, without order.
fn bytes(dtype: DType, shape: &[i64]) -> HostTensor {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let count: usize = shape.iter().product();
    HostTensor { dtype, shape, bytes: (0..count).map(|i| ((i * 7919 + 13) % 257) as u8).collect() }
}

/// Checks the product that `product` makes of an input and weights of this shape. The input's first extent is known before
/// the run, or not.
fn check_all(
    x: &HostTensor,
    is_open: bool,
    w: &[i64],
    product: impl Fn(&mut Builder, [Value; 2]) -> Built<Value>,
) {
    let open: &[usize] = if is_open { &[0] } else { &[] };
    all_ways::check(x, open, bytes(DType::I8, w), product);
}

#[test]
fn matrices() {
    for k in 1..=40 {
        for (m, n) in [(1, 33), (17, 9), (6, 64)] {
            let x = bytes(DType::U8, &[m, k]);
            check_all(&x, false, &[k, n], |b, [x, w]| b.matmul(x, w, DType::I32));
        }
    }
}

/// Weights in bytes are read as they lie by few row tiles, and become floats once for several.
#[test]
fn floats_by_bytes() {
    for rows in [1, 7, 8, 17, 24, 25, 40, 131, 260] {
        for (k, n) in [(1, 5), (7, 33), (64, 48), (130, 70)] {
            let count = (rows * k) as usize;
            let numbers: Vec<f32> = (0..count).map(|i| (i * 7919 % 509) as f32 / 64.0 - 4.0).collect();
            let x = HostTensor::from_elements(&[rows as usize, k as usize], &numbers);
            for is_open in [false, true] {
                check_all(&x, is_open, &[k, n], |b, [x, w]| b.matmul(x, w, DType::F32));
            }
        }
    }
}

#[test]
fn images_of_few_channels() {
    let window = Window {
        size: vec![3, 3],
        strides: vec![2, 2],
        dilations: vec![1, 1],
        low: vec![1.into(), 1.into()],
        high: vec![1.into(), 1.into()],
    };
    for channels in 1..=9 {
        let x = bytes(DType::U8, &[2, channels, 11, 41]);
        check_all(&x, false, &[19, channels, 3, 3], |b, [x, w]| b.conv(x, w, window.clone(), 1, DType::I32));
    }
}
