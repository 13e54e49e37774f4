//! `diff` of two packages: none where they are equal, and one where only the order of operands or a weight differs.

use tegula_base::{DType, HostTensor};
use tegula_driver::diff::diff;
use tegula_driver::{CompileOptions, PassCx};
use tegula_ir::Value;
use tegula_machine::Machine;
use tegula_package::Package;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

/// A function of two arguments `f32[8]`, compiled.
fn package(make: impl FnOnce(&mut Builder, [Value; 2]) -> Value) -> Package {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let args = [b.arg(DType::F32, [8]), b.arg(DType::F32, [8])];
    let y = make(&mut b, args);
    b.ret(&[y]).unwrap();
    program.consts = consts;
    program.entry_mut().arg_names = vec!["a".into(), "b".into()];
    program.entry_mut().result_names = vec!["y".into()];
    let options = CompileOptions::new(Machine::class("avx2-generic").unwrap());
    let compiled =
        tegula_driver::compile::compile_program(program, "m", &options, None, &mut PassCx::default());
    Package::parse(compiled.unwrap().package.unwrap().to_bytes()).unwrap()
}

fn weighted(first: f32) -> Package {
    let weights: Vec<f32> = (0..8).map(|i| first + i as f32).collect();
    package(|b, [x, _]| {
        let w = b.constant(HostTensor::from_elements(&[8], &weights)).unwrap();
        b.mul(x, w).unwrap()
    })
}

#[test]
fn what_differs_in_results_differs() {
    let differ =
        |left: &Package, right: &Package| !diff([left, right], &Default::default()).unwrap().is_empty();
    let [forth, back] = [false, true]
        .map(|turned| package(|b, [x, y]| if turned { b.sub(y, x).unwrap() } else { b.sub(x, y).unwrap() }));
    assert!(differ(&forth, &back));
    assert!(differ(&weighted(1.0), &weighted(2.0)));
    assert!(!differ(&forth, &forth) && !differ(&weighted(1.0), &weighted(1.0)));
}
