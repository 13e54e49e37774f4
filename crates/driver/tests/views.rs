//! Transposes that only name axes anew run nothing: images whose channels lie last go through convolutions without a copy,
//! in machine code, in the interpreter, on one thread and on three, and on a GPU over a driver without a card.

use crate::program;
use crate::programs;

use program::program;
use programs::{assert_close, check, options, ramp, session};
use tegula_base::{DType, Dim, HostTensor, SymbolInfo};
use tegula_driver::PassCx;
use tegula_driver::compile::compile_program;
use tegula_host::HostOp;
use tegula_ir::Value;
use tegula_runtime::TensorView;
use tegula_tensor::build::{Built, same_window};
use tegula_tensor::{Builder, PoolKind, TensorProgram, evaluate};

const TO_CHANNELS_FIRST: [usize; 4] = [0, 3, 1, 2];
const TO_CHANNELS_LAST: [usize; 4] = [0, 2, 3, 1];

/// A convolution of 3 x 3 that keeps height and width.
fn conv(b: &mut Builder, x: Value, channels: usize) -> Built {
    let shape = [channels, channels, 3, 3];
    // Small: sums of some hundred products stay near 1, and so their rounding small.
    let weights: Vec<f32> = ramp(&shape).to_f64().iter().map(|weight| *weight as f32 / 32.0).collect();
    let w = b.constant(HostTensor::from_elements(&shape, &weights))?;
    let mut window = same_window(&[3, 3]);
    (window.low, window.high) = (vec![1.into(); 2], vec![1.into(); 2]);
    b.conv(x, w, window, 1, DType::F32)
}

/// Kernels that only move elements, and copies, of a program on each target.
fn assert_moves(program: &TensorProgram, most: usize) {
    for options in options() {
        let compiled = compile_program(program.clone(), "test", &options, None, &mut PassCx::new()).unwrap();
        let host = compiled.stages.host.unwrap();
        let maps = host.kernels.iter().filter(|kernel| kernel.name.starts_with("map")).count();
        let steps = host.program.entry();
        let is_copy = |op: &tegula_ir::OpId| matches!(steps.kind(*op), HostOp::Copy { .. });
        let copies = steps.walk().iter().filter(|op| is_copy(op)).count();
        assert_eq!(maps + copies, most, "{}", options.machine.name);
    }
}

/// `[n,h,7,16]`, convolved.
fn convolved(results: impl FnOnce(&mut Builder, Value, Value) -> Built<Vec<Value>>) -> TensorProgram {
    let mut program = program(|b| {
        let x = b.arg(DType::F32, [Dim::symbol("n"), Dim::symbol("h"), 7.into(), 16.into()]);
        let image = b.transpose(x, &TO_CHANNELS_FIRST)?;
        results(b, x, image)
    });
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    program.symbols.insert("h", SymbolInfo::input(0, 1));
    program
}

#[test]
fn convolution_reads_the_input_and_writes_the_output() {
    let program = convolved(|b, _, image| {
        let y = conv(b, image, 16)?;
        Ok(vec![b.transpose(y, &TO_CHANNELS_LAST)?])
    });
    assert_moves(&program, 0);
    for [n, h] in [[1, 5], [2, 1], [3, 9]] {
        check(&program, &[ramp(&[n, h, 7, 16])]);
    }
}

#[test]
fn outputs_of_the_caller_are_written() {
    let program = convolved(|b, _, image| {
        let y = conv(b, image, 16)?;
        Ok(vec![b.transpose(y, &TO_CHANNELS_LAST)?])
    });
    let inputs = [[1, 5], [1, 5], [2, 3]].map(|[n, h]| ramp(&[n, h, 7, 16]));
    for options in options() {
        for threads in [1, 3] {
            let session = session(&program, &options, threads);
            let mut outputs = vec![HostTensor::zeros(DType::F32, &[2, 5, 7, 16])];
            for input in &inputs {
                let place = outputs[0].bytes.as_ptr();
                session.run_into(&[TensorView::from(input)], &mut outputs).unwrap();
                assert_eq!(outputs[0].bytes.as_ptr(), place);
                assert_close(&outputs[0], &evaluate(&program, std::slice::from_ref(input)).unwrap()[0]);
            }
        }
    }
}

#[test]
fn views_stand_beside_what_is_returned() {
    let program = convolved(|b, x, image| {
        let y = conv(b, image, 16)?;
        let sum = b.add(y, image)?;
        let z = b.transpose(sum, &TO_CHANNELS_LAST)?;
        // The input, a copy of it, one buffer as two results, and a result that is read again.
        let again = conv(b, sum, 16)?;
        Ok(vec![x, image, z, z, b.transpose(again, &TO_CHANNELS_LAST)?])
    });
    assert_moves(&program, 1);
    check(&program, &[ramp(&[2, 3, 7, 16])]);
}

#[test]
fn pools_and_signals_are_views_too() {
    let program = program(|b| {
        let x = b.arg(DType::F32, [2, 9, 16]);
        let high = b.reshape(x, [2, 1, 9, 16])?;
        let image = b.transpose(high, &TO_CHANNELS_FIRST)?;
        let most = b.pool(PoolKind::Max, image, same_window(&[1, 2]))?;
        let y = conv(b, most, 16)?;
        let back = b.transpose(y, &TO_CHANNELS_LAST)?;
        Ok(vec![b.reshape(back, [2, 8, 16])?])
    });
    assert_moves(&program, 0);
    check(&program, &[ramp(&[2, 9, 16])]);
}

#[test]
fn branches_and_rounds_show_what_is_outside() {
    let program = program(|b| {
        let cond = b.arg(DType::Bool, tegula_base::Shape::scalar());
        let x = b.arg(DType::F32, [1, 5, 7, 16]);
        let image = b.transpose(x, &TO_CHANNELS_FIRST)?;
        let results = b.branch(
            cond,
            |b| {
                let y = conv(b, image, 16)?;
                Ok(vec![b.transpose(y, &TO_CHANNELS_LAST)?])
            },
            |_| Ok(vec![x]),
        )?;
        let go = b.scalar_bool(true)?;
        b.repeat(3, go, &results, 0, |b, _, state| {
            let go = b.scalar_bool(true)?;
            let image = b.transpose(state[0], &TO_CHANNELS_FIRST)?;
            let y = conv(b, image, 16)?;
            let small = b.tanh(y)?;
            Ok(vec![go, b.transpose(small, &TO_CHANNELS_LAST)?])
        })
    });
    for taken in [true, false] {
        check(&program, &[HostTensor::scalar(taken), ramp(&[1, 5, 7, 16])]);
    }
}
