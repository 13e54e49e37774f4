//! Products and convolutions of 16-bit floats, of inputs and of constant weights, of few rows and many: the numbers of the
//! evaluator.

use crate::all_ways;
use crate::program;
use crate::programs;

use program::program;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval_slice;
use tegula_tensor::build::same_window;

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// Sums of whose products are exact.
fn numbers(dtype: DType, shape: &[i64]) -> HostTensor {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let count: usize = shape.iter().product();
    let wide: Vec<u8> = (0..count).flat_map(|i| ((i * 7919 % 61) as f32 / 8.0 - 4.0).to_le_bytes()).collect();
    let mut bytes = Vec::new();
    eval_slice(ScalarOp::Cast { to: dtype, saturate: true }, &[(&wide, DType::F32)], &mut bytes);
    HostTensor { dtype, shape, bytes }
}

#[test]
fn matrices_by_weights() {
    for dtype in HALVES {
        for rows in [1, 7, 25, 131] {
            for (k, n) in [(1, 5), (7, 33), (64, 48), (19, 290)] {
                for open in [&[][..], &[0]] {
                    for out in [dtype, DType::F32] {
                        let x = numbers(dtype, &[rows, k]);
                        all_ways::check(&x, open, numbers(dtype, &[k, n]), |b, [x, w]| b.matmul(x, w, out));
                    }
                }
            }
        }
    }
}

#[test]
fn matrices_of_two_inputs() {
    for dtype in HALVES {
        for (m, k, n) in [(1, 8, 33), (9, 31, 16), (30, 64, 70)] {
            let (x, w) = (numbers(dtype, &[2, m, k]), numbers(dtype, &[2, k, n]));
            let product = program(|b| {
                let [x, w] = [&x, &w].map(|side| {
                    let shape: Shape = side.shape.iter().map(|n| Dim::from(*n as i64)).collect();
                    b.arg(dtype, shape)
                });
                Ok(vec![b.matmul(x, w, dtype)?])
            });
            programs::check(&product, &[x, w]);
        }
    }
}

#[test]
fn images() {
    for dtype in HALVES {
        for (channels, filters, groups) in [(3, 19, 1), (16, 20, 1), (8, 8, 8), (8, 8, 2)] {
            let x = numbers(dtype, &[2, channels, 11, 14]);
            let w = numbers(dtype, &[filters, channels / groups, 3, 3]);
            all_ways::check(&x, &[], w, |b, [x, w]| b.conv(x, w, same_window(&[3, 3]), groups, dtype));
        }
    }
}
