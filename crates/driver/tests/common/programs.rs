//! Programs built by hand, compiled for every kind of target that a test can run and compared with the evaluator.

use crate::common::hardware;
use tegula_base::HostTensor;
use tegula_driver::{CompileOptions, Compiled, Form, PassCx, session_options};
use tegula_machine::Machine;
use tegula_runtime::Session;
use tegula_tensor::{TensorProgram, evaluate};

/// Classes of every tier, the portable form, and a GPU.
pub fn options() -> Vec<CompileOptions> {
    let classes = ["avx2-generic", "avx512-generic", "avx512-bf16-generic"];
    let mut list = Vec::from(classes.map(|name| CompileOptions::new(Machine::class(name).unwrap())));
    let mut portable = CompileOptions::new(Machine::class("avx2-generic").unwrap());
    portable.form = Form::Portable;
    list.push(portable);
    list.push(CompileOptions::new(Machine::class("h200").unwrap()));
    list
}

pub fn check(program: &TensorProgram, inputs: &[HostTensor]) {
    check_against(program, inputs, &evaluate(program, inputs).unwrap());
}

pub fn check_against(program: &TensorProgram, inputs: &[HostTensor], expected: &[HostTensor]) {
    tegula_ir::verify_program(program).unwrap();
    for options in options() {
        for threads in [1, 3] {
            let session = session(program, &options, threads);
            // The second run meets the memory that the first one left, the third repeats it as a graph.
            for _ in 0..3 {
                let actual = session.run(inputs).unwrap();
                assert_eq!(actual.len(), expected.len());
                for (actual, expected) in actual.iter().zip(expected) {
                    assert_close(actual, expected);
                }
            }
        }
    }
}

/// The compiled program on what runs its machine.
pub fn session(program: &TensorProgram, options: &CompileOptions, threads: usize) -> Session {
    let cx = &mut PassCx::new();
    let compiled = tegula_driver::compile::compile_program(program.clone(), "test", options, None, cx);
    let Compiled { package, .. } = compiled.unwrap_or_else(|found| panic!("{found}"));
    Session::from_bytes(package.unwrap().to_bytes(), session_options(threads, hardware(&options.machine)))
        .unwrap()
}

pub fn assert_close(actual: &HostTensor, expected: &HostTensor) {
    assert_eq!((actual.dtype, &actual.shape), (expected.dtype, &expected.shape));
    for (a, b) in actual.to_f64().into_iter().zip(expected.to_f64()) {
        assert!(a == b || (a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{a} is not {b}");
    }
}

pub fn ramp(shape: &[usize]) -> HostTensor {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect();
    HostTensor::from_elements(shape, &values)
}
