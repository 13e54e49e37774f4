//! Convolutions of 3x3 that Winograd's algorithm computes: images of odd and even sizes, with and without a border, known before
//! the run or not, several of them; channels that fill vectors or do not; what follows a convolution in its kernel.

use crate::all_ways;
use crate::program;

use program::program;
use tegula_base::{DType, HostTensor};
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx};
use tegula_ir::{ScalarOp, Value};
use tegula_machine::Machine;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorOp, Window};

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
    for (height, width) in [(10, 10), (11, 13), (9, 16), (4, 4), (4, 7), (2, 9), (6, 5)] {
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

/// What is said to a program that has such a convolution itself, of an image of 16x16; `None`: it is compiled.
fn refused(class: &str, channels: i64, is_constant: bool) -> Option<String> {
    let program = program(|b| {
        let x = b.arg(DType::F32, [1, channels, 16, 16]);
        let u = match is_constant {
            true => b.literal(numbers(&[16, channels as usize, 4, 4], 0.125))?,
            false => b.arg(DType::F32, [16, channels, 4, 4]),
        };
        let window = Box::new(window([1, 1], [1, 1]));
        let y = b.emit(TensorOp::WinogradConv { window }, &[x, u])?;
        Ok(vec![b.elementwise(ScalarOp::Sigmoid, &[y])?])
    });
    let options = CompileOptions::new(Machine::class(class).unwrap());
    let compiled = compile_program(program, "test", &options, None, &mut PassCx::new());
    compiled.err().map(|found| found.to_string())
}

#[test]
fn programs_that_have_transformed_filters_themselves() {
    let help = "help: write `conv` by the filters of 3x3: they are transformed where that pays";
    let refused_by = |class, channels: i64| {
        let what = format!("`winograd_conv` of [1,{channels},16,16] by [16,{channels},4,4]");
        format!("error[unsupported]: {what} is not computed on `{class}`\n{help}")
    };
    for class in ["h200", "a100"] {
        assert_eq!(refused(class, 16, true), Some(refused_by(class, 16)));
        assert_eq!(refused(class, 16, false), Some(refused_by(class, 16)));
    }
    let computed = "`winograd_conv` of [1,16,16,16] by [16,16,4,4] takes filters that are constant and not all one number";
    let computed = format!("error[unsupported]: {computed}\n{help}");
    for class in ["avx2-generic", "avx512-generic"] {
        assert_eq!(refused(class, 3, true), Some(refused_by(class, 3)));
        assert_eq!(refused(class, 16, true), None);
        assert_eq!(refused(class, 16, false).as_ref(), Some(&computed));
    }
}
