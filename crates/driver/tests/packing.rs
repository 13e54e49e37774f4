//! Products whose right side is packed as it is computed: compiled kernels against the evaluator.

use tegula_base::{DType, HostTensor};
use tegula_driver::check::check;
use tegula_driver::{CompileOptions, Compiled, Form, Model, PassCx, compile};
use tegula_ir::{PrintOptions, Value, print_program};
use tegula_machine::Machine;
use tegula_runtime::Gpu;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

/// Enough rows, with some left over, and rows of k that are a way of L1 apart.
const ROWS: i64 = 67;
const TERMS: i64 = 37;
const COLUMNS: i64 = 1024;

struct NoFiles;

impl tegula_base::face::Files for NoFiles {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{relative}` is not there"))
    }
}

fn numbers(shape: &[i64]) -> HostTensor {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 7919 + 13) % 257) as f32 / 257.0 - 0.5).collect();
    HostTensor::from_elements(&shape, &values)
}

/// `x` times what `right` makes of `w`, in both tiers and in portable form.
fn packs(batch: &[i64], right_shape: [i64; 2], right: impl Fn(&mut Builder, Value) -> Built) {
    let shapes = [[ROWS, TERMS], right_shape].map(|shape| [batch, &shape].concat());
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let [x, w] = shapes.each_ref().map(|shape| b.arg(DType::F32, shape.as_slice()));
    let w = right(&mut b, w).unwrap();
    let y = b.matmul(x, w, DType::F32).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    program.entry_mut().arg_names = vec!["x".into(), "w".into()];
    program.entry_mut().result_names = vec!["y".into()];
    let text = print_program(&program, &PrintOptions::WHOLE);
    let bytes = text.into_bytes();
    let model = Model { name: "product.mlir".into(), bytes: bytes.into(), results: vec![], files: &NoFiles };
    let inputs = shapes.map(|shape| numbers(&shape));
    for (class, form) in [
        ("avx512-generic", Form::Machine),
        ("avx2-generic", Form::Machine),
        ("avx512-generic", Form::Portable),
    ] {
        let mut options = CompileOptions::new(Machine::class(class).unwrap());
        options.form = form;
        let Compiled { stages, .. } = compile(&model, &options, None, &mut PassCx::new()).unwrap();
        let packed = print_program(&stages.tensor, &PrintOptions::WHOLE);
        assert!(packed.contains("%32\"") || packed.contains("%16\""), "{class}: no panels\n{packed}");
        if form == Form::Machine
            && !tegula_runtime::lacking(&options.machine.cpu().unwrap().features).is_empty()
        {
            continue;
        }
        let report = check(&model, &options, &inputs, None, &Gpu::None, &mut PassCx::new()).unwrap();
        assert!(report.is_fine(), "{class}: {report:?}");
    }
}

#[test]
fn an_input() {
    packs(&[], [TERMS, COLUMNS], |_, w| Ok(w));
}

#[test]
fn what_a_kernel_writes() {
    packs(&[], [TERMS, COLUMNS], |b, w| b.tanh(w));
}

#[test]
fn what_is_turned() {
    packs(&[], [COLUMNS, TERMS], |b, w| b.transpose(w, &[1, 0]));
}

#[test]
fn matrices_of_a_batch() {
    packs(&[2], [COLUMNS, TERMS], |b, w| b.transpose(w, &[0, 2, 1]));
}
