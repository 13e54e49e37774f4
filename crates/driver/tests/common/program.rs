//! A program built by hand.

use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

/// A program by its body; `build` gets the builder and returns the results.
pub fn program(build: impl FnOnce(&mut Builder) -> Built<Vec<tegula_ir::Value>>) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let results = build(&mut b).unwrap();
    b.ret(&results).unwrap();
    program.consts = consts;
    let func = program.entry_mut();
    func.arg_names = (0..func.args(func.body()).len()).map(|i| format!("in{i}")).collect();
    func.result_names = (0..results.len()).map(|i| format!("out{i}")).collect();
    program
}
