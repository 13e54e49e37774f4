//! Products by constants of bytes, of every length of k around whole groups, of two inputs of bytes of any signs, and of
//! floats by bytes, of few and many rows: on both tiers, on the interpreter and as machine code where this processor runs it, the numbers of the
//! evaluator.

use crate::all_ways;
use crate::program;
use crate::programs;

use program::program;
use programs::ramp;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorOp, Window};

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
    all_ways::check(x, open, bytes(DType::I8, w), &product);
    all_ways::check_on(&["avx2-vnni-generic"], x, open, bytes(DType::I8, w), &product);
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

fn floats(rows: i64, k: i64) -> HostTensor {
    let numbers: Vec<f32> = (0..rows * k).map(|i| (i * 7919 % 509) as f32 / 64.0 - 4.0).collect();
    HostTensor::from_elements(&[rows as usize, k as usize], &numbers)
}

/// A bias a column and a rectifier follow the product.
fn rectified(b: &mut Builder, y: Value, columns: i64) -> Built {
    let bias = b.literal(ramp(&[1, columns as usize]))?;
    let y = b.add(y, bias)?;
    let zero = b.splat(DType::F32, [1, 1], 0.0)?;
    b.elementwise(ScalarOp::Max, &[y, zero])
}

/// Weights in bytes are read as they lie by few row tiles or panels, and become floats once for several of both.
#[test]
fn floats_by_bytes() {
    for rows in [1, 7, 8, 17, 24, 25, 40, 131, 260] {
        for (k, n) in [(1, 5), (7, 33), (64, 48), (130, 70), (19, 290)] {
            for is_open in [false, true] {
                check_all(&floats(rows, k), is_open, &[k, n], |b, [x, w]| b.matmul(x, w, DType::F32));
            }
        }
    }
}

/// Sums of nothing are 0.
#[test]
fn floats_by_no_bytes() {
    for rows in [1, 25] {
        for n in [5, 290] {
            for is_open in [false, true] {
                check_all(&floats(rows, 0), is_open, &[0, n], |b, [x, w]| {
                    let y = b.matmul(x, w, DType::F32)?;
                    rectified(b, y, n)
                });
            }
        }
    }
}

#[test]
fn what_follows_floats_by_bytes() {
    for rows in [1, 8, 25, 131] {
        for (k, n) in [(7, 33), (64, 48), (19, 290)] {
            for is_open in [false, true] {
                check_all(&floats(rows, k), is_open, &[k, n], |b, [x, w]| {
                    let y = b.matmul(x, w, DType::F32)?;
                    rectified(b, y, n)
                });
            }
        }
    }
}

/// Rows and panels are shared by threads, each of which has floats of its own.
#[test]
fn floats_by_bytes_on_several_threads() {
    for (rows, k, n) in [(1, 64, 700), (25, 19, 290), (131, 64, 48), (260, 70, 290)] {
        let program = program(|b| {
            let x = b.arg(DType::F32, [rows, k]);
            let w = b.literal(bytes(DType::I8, &[k, n]))?;
            let y = b.matmul(x, w, DType::F32)?;
            Ok(vec![rectified(b, y, n)?])
        });
        programs::check(&program, &[floats(rows, k)]);
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

const BYTES: [DType; 2] = [DType::U8, DType::I8];

/// Of two inputs, the right side as it lies or turned; whole groups of k, and not.
#[test]
fn matrices_of_two_inputs() {
    for [lhs, rhs] in BYTES.iter().flat_map(|x| BYTES.map(|w| [*x, w])) {
        for (m, k, n) in [(1, 8, 33), (7, 31, 16), (30, 64, 70), (5, 3, 1), (3, 0, 5)] {
            for is_turned in [false, true] {
                let w = bytes(rhs, &if is_turned { [2, n, k] } else { [2, k, n] });
                let x = bytes(lhs, &[2, m, k]);
                let product = program(|b| {
                    let x = b.arg(lhs, [2, m, k]);
                    let turned = b.arg(rhs, w.shape.iter().map(|n| Dim::from(*n as i64)).collect::<Shape>());
                    let w = if is_turned { b.transpose(turned, &[0, 2, 1])? } else { turned };
                    Ok(vec![b.matmul(x, w, DType::I32)?])
                });
                programs::check(&product, &[x, w]);
            }
        }
    }
}

/// Zero points anywhere, of constant weights and of an input.
#[test]
fn quantised_matrices_off_the_middle() {
    let dims = DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![1], rhs_contract: vec![0] };
    for [lhs, rhs] in BYTES.iter().flat_map(|x| BYTES.map(|w| [*x, w])) {
        for (x_zero, w_zero) in [(0, 0), (3, 5), (7, 128), (0, 9), (200, 0)] {
            for is_constant in [false, true] {
                let (x, w) = (bytes(lhs, &[9, 21]), bytes(rhs, &[21, 18]));
                let product = program(|b| {
                    let mut operands = vec![b.arg(lhs, [9, 21])];
                    let right = if is_constant { b.literal(w.clone())? } else { b.arg(rhs, [21, 18]) };
                    let zero = |dtype: DType, zero: i64| HostTensor {
                        dtype,
                        shape: vec![],
                        bytes: vec![zero as u8],
                    };
                    let scale = |scale: f32| HostTensor::from_elements(&[], &[scale]);
                    for side in [scale(0.25), zero(lhs, x_zero)] {
                        operands.push(b.literal(side)?);
                    }
                    operands.push(right);
                    for side in [scale(0.5), zero(rhs, w_zero), scale(256.0), zero(lhs, 11)] {
                        operands.push(b.literal(side)?);
                    }
                    Ok(vec![b.emit(TensorOp::QDot { dims: Box::new(dims.clone()) }, &operands)?])
                });
                programs::check(&product, &if is_constant { vec![x] } else { vec![x, w] });
            }
        }
    }
}
