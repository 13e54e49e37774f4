//! A program as a model file, which `compile` and `check` take.

use tegula_driver::Model;
use tegula_ir::{PrintOptions, print_program};
use tegula_tensor::TensorProgram;

struct NoFiles;

impl tegula_base::face::Files for NoFiles {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{relative}` is not there"))
    }
}

/// The program's text.
pub fn model(program: &TensorProgram) -> Model<'static> {
    let text = print_program(program, &PrintOptions::WHOLE);
    Model { name: "test.mlir".into(), bytes: text.into(), results: vec![], checked: false, files: &NoFiles }
}
