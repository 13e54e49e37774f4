//! Products whose right side is packed as it is computed: compiled kernels against the evaluator.

use crate::model;
use crate::program;

use model::model;
use program::program;
use tegula_base::{DType, HostTensor};
use tegula_driver::check::check;
use tegula_driver::{CompileOptions, Compiled, Form, PassCx, compile, own_or_simulated_cpu};
use tegula_ir::{PrintOptions, Value, print_program};
use tegula_machine::Machine;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims};

/// Enough rows, with some left over, and rows of k that are a way of L1 apart.
const ROWS: i64 = 67;
const TERMS: i64 = 37;
const COLUMNS: i64 = 1024;

fn numbers(shape: &[i64]) -> HostTensor {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 7919 + 13) % 257) as f32 / 257.0 - 0.5).collect();
    HostTensor::from_elements(&shape, &values)
}

/// A product, of what `make` makes of inputs of these shapes, in both tiers and in portable form.
fn product(shapes: [&[i64]; 2], is_packed: bool, make: impl Fn(&mut Builder, [Value; 2]) -> Built) {
    let program = program(|b| {
        let inputs = shapes.map(|shape| b.arg(DType::F32, shape));
        Ok(vec![make(b, inputs)?])
    });
    let model = model(&program);
    let inputs = shapes.map(numbers);
    for (class, form) in [
        ("avx512-generic", Form::Machine),
        ("avx2-generic", Form::Machine),
        ("avx512-generic", Form::Portable),
    ] {
        let mut options = CompileOptions::new(Machine::class(class).unwrap());
        options.form = form;
        let Compiled { stages, .. } = compile(&model, &options, None, &mut PassCx::new()).unwrap();
        let text = print_program(&stages.tensor, &PrintOptions::WHOLE);
        let width = if class == "avx2-generic" { 16 } else { 32 };
        assert_eq!(text.contains(&format!("%{width}\"]")), is_packed, "{class}: {text}");
        let hardware = own_or_simulated_cpu(&options.machine);
        let report = check(&model, &options, &inputs, None, &hardware, &mut PassCx::new()).unwrap();
        assert!(report.is_fine(), "{class}: {report:?}");
    }
}

fn times(b: &mut Builder, x: Value, w: Value) -> Built {
    b.matmul(x, w, DType::F32)
}

#[test]
fn an_input() {
    product([&[ROWS, TERMS], &[TERMS, COLUMNS]], true, |b, [x, w]| times(b, x, w));
}

#[test]
fn few_rows_read_an_input_as_it_lies() {
    product([&[ROWS / 2, TERMS], &[TERMS, COLUMNS]], false, |b, [x, w]| times(b, x, w));
}

#[test]
fn what_a_kernel_writes() {
    product([&[ROWS, TERMS], &[TERMS, COLUMNS]], true, |b, [x, w]| {
        let w = b.tanh(w)?;
        times(b, x, w)
    });
}

/// Beyond L2, with a last panel that is short, for any number of rows.
#[test]
fn columns_left_over() {
    product([&[3, 700], &[700, 1037]], true, |b, [x, w]| {
        let w = b.tanh(w)?;
        times(b, x, w)
    });
}

#[test]
fn what_is_turned() {
    product([&[ROWS, TERMS], &[COLUMNS, TERMS]], true, |b, [x, w]| {
        let w = b.transpose(w, &[1, 0])?;
        times(b, x, w)
    });
}

#[test]
fn matrices_of_a_batch() {
    product([&[2, ROWS, TERMS], &[2, COLUMNS, TERMS]], true, |b, [x, w]| {
        let w = b.transpose(w, &[0, 2, 1])?;
        times(b, x, w)
    });
}

/// The left side is the right one, before and after a kernel, as it lies and turned.
#[test]
fn squares_of_a_matrix() {
    let wide: &[i64] = &[TERMS, COLUMNS];
    product([wide, wide], false, |b, [x, w]| {
        let sum = b.add(x, w)?;
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![0], rhs_contract: vec![0] };
        b.dot(sum, sum, dims, DType::F32)
    });
    product([wide, wide], false, |b, [x, w]| {
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![0], rhs_contract: vec![0] };
        let square = b.dot(x, x, dims, DType::F32)?;
        let w = b.slice_axis(w, 0, 0, 1)?;
        b.add(square, w)
    });
}

#[test]
fn an_epilogue_reads_the_right_side() {
    let wide: &[i64] = &[ROWS, COLUMNS];
    product([&[ROWS, ROWS], wide], false, |b, [x, w]| {
        let y = times(b, x, w)?;
        b.add(y, w)
    });
}
