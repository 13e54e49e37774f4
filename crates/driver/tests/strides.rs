//! Views that take every other element, of rows of all lengths around a vector's, few rows that become columns, and maxima
//! of large windows: in machine code of both tiers, in the interpreter and on a GPU over a driver without a card. The
//! last element of a view is the input's last, so that a read past it is a read outside.

use crate::program;
use crate::programs;

use program::program;
use programs::{check, ramp};
use tegula_base::{DType, HostTensor};
use tegula_tensor::{PoolKind, Window};

/// A vector of `f32`, a half and two of them, one more and one fewer.
const LENGTHS: [i64; 12] = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50];

fn numbers(dtype: DType, count: i64) -> HostTensor {
    let shape = [count as usize];
    let values = ramp(&shape);
    let bytes: Vec<u8> = values.to_f64().iter().map(|value| (value.abs() * 100.0) as u8).collect();
    match dtype {
        DType::F32 => values,
        DType::F64 => HostTensor::from_elements(&shape, &values.to_f64()),
        DType::U8 => HostTensor::from_elements(&shape, &bytes),
        DType::I64 => {
            let wide: Vec<i64> = bytes.iter().map(|byte| i64::from(*byte) << 33).collect();
            HostTensor::from_elements(&shape, &wide)
        }
        other => panic!("no numbers of {other:?}"),
    }
}

#[test]
fn every_other_element() {
    for dtype in [DType::F32, DType::F64, DType::U8, DType::I64] {
        for length in LENGTHS {
            let count = 2 * length - 1;
            let program = program(|b| {
                let x = b.arg(dtype, [count]);
                let halves = b.slice(x, &[0.into()], &[length.into()], &[2])?;
                Ok(vec![b.add(halves, halves)?])
            });
            check(&program, &[numbers(dtype, count)]);
        }
    }
}

/// A vector of each row, and what is left over.
#[test]
fn rows_are_woven() {
    for dtype in [DType::F32, DType::F64, DType::U8, DType::I64] {
        for rows in [2, 3, 4] {
            for length in LENGTHS {
                let program = program(|b| {
                    let x = b.arg(dtype, [rows * length]);
                    let x = b.reshape(x, [rows, length])?;
                    Ok(vec![b.transpose(x, &[1, 0])?])
                });
                check(&program, &[numbers(dtype, rows * length)]);
            }
        }
    }
}

fn maxima(shape: [i64; 4], window: Window) {
    let program = program(|b| {
        let x = b.arg(DType::F32, shape);
        Ok(vec![b.pool(PoolKind::Max, x, window)?])
    });
    check(&program, &[ramp(&shape.map(|size| size as usize))]);
}

/// Windows that begin and end in padding, with rows that are wholly in it.
#[test]
fn every_other_window() {
    for width in [3, 16, 31, 33, 67] {
        let window = Window {
            size: vec![3, 3],
            strides: vec![2, 2],
            dilations: vec![1, 1],
            low: vec![3.into(), 1.into()],
            high: vec![1.into(), 2.into()],
        };
        maxima([1, 2, 5, width], window);
    }
}

/// One axis after the other, windows wholly in padding among them.
#[test]
fn large_windows() {
    for (size, strides) in [([5, 5], [1, 1]), ([9, 7], [2, 1]), ([13, 13], [3, 2])] {
        let window = Window {
            size: size.to_vec(),
            strides: strides.to_vec(),
            dilations: vec![1, 2],
            low: vec![6.into(), 13.into()],
            high: vec![9.into(), 6.into()],
        };
        maxima([1, 3, 20, 24], window);
    }
}
