//! `check` of a product in bf16: right kernels pass, one that is slightly wrong is named; masked scores are judged, and
//! outputs of which nothing can be judged do not pass.

#[path = "common/model.rs"]
mod model;
#[path = "common/program.rs"]
mod program;

use std::sync::Arc;

use model::model;
use program::program;
use tegula_base::{DType, HostTensor};
use tegula_driver::bound::{Bounded, watch_kernels};
use tegula_driver::check::{CheckReport, Device, check, judge, run_launch};
use tegula_driver::{CompileOptions, Compiled, Form, Model, PassCx, compile};
use tegula_ir::{OpId, Value};
use tegula_machine::Machine;
use tegula_package::Package;
use tegula_runtime::Hardware;
use tegula_tensor::Builder;
use tegula_tensor::build::Built;
use tegula_tensor::eval::Bindings;

const ROWS: usize = 16;
const TERMS: usize = 64;
const COLUMNS: usize = 24;

/// `tanh(x w)` in bf16.
fn product() -> Model<'static> {
    model(&program(|b| {
        let x = b.arg(DType::BF16, [ROWS as i64, TERMS as i64]);
        let w = b.arg(DType::BF16, [TERMS as i64, COLUMNS as i64]);
        let product = b.matmul(x, w, DType::BF16)?;
        Ok(vec![b.tanh(product)?])
    }))
}

fn options() -> CompileOptions {
    let mut options = CompileOptions::new(Machine::class("avx2-generic").unwrap());
    options.form = Form::Portable;
    options
}

/// Numbers of both signs below 1, without order.
fn numbers(shape: &[usize]) -> HostTensor {
    let count: usize = shape.iter().product();
    let values: Vec<f64> = (0..count).map(|i| ((i * 7919 + 13) % 257) as f64 / 257.0 - 0.5).collect();
    tegula_testkit::random::data::from_reals(DType::BF16, shape, &values)
}

fn inputs() -> [HostTensor; 2] {
    [numbers(&[ROWS, TERMS]), numbers(&[TERMS, COLUMNS])]
}

/// The left factor as a kernel sees it that leaves out the last term of each sum.
fn without_last_term(x: &HostTensor) -> HostTensor {
    let mut x = x.clone();
    let size = x.dtype.size();
    for row in 0..ROWS {
        x.bytes[(row * TERMS + TERMS - 1) * size..][..size].fill(0);
    }
    x
}

#[test]
fn right_kernels_pass() {
    let model = product();
    let report = check(&model, &options(), &inputs(), None, &Hardware::Own, &mut PassCx::new()).unwrap();
    assert!(report.is_fine() && !report.launches.is_empty(), "{report:?}");
}

#[test]
fn a_kernel_that_forgets_a_term_is_wrong() {
    let model = product();
    let Compiled { stages, package, .. } = compile(&model, &options(), None, &mut PassCx::new()).unwrap();
    let machine = Package::parse(package.unwrap().to_bytes()).unwrap().manifest.about.machine;
    let on = Device { machine: &machine, hardware: &Hardware::Own };
    let inputs = inputs();
    let mut seen = 0;
    let mut watch = |op: OpId, operands: &[Arc<HostTensor>], expected: &[Bounded], bindings: &Bindings| {
        let right = run_launch(&stages, on, op, operands, bindings)?;
        assert!(judge(&right, expected).is_fine());
        let planted: Vec<Arc<HostTensor>> = operands
            .iter()
            .map(|tensor| match tensor.bytes == inputs[0].bytes {
                true => Arc::new(without_last_term(tensor)),
                false => tensor.clone(),
            })
            .collect();
        let wrong = run_launch(&stages, on, op, &planted, bindings)?;
        if wrong[0].bytes != right[0].bytes {
            seen += 1;
            let found = judge(&wrong, expected);
            assert!(!found.is_fine(), "{found:?}");
        }
        Ok(())
    };
    watch_kernels(&stages.tensor, &inputs, &mut watch).unwrap();
    assert!(seen > 0, "no launch reads the left factor");
}

#[test]
fn outputs_that_forget_a_term_are_wrong() {
    let model = product();
    let [x, w] = inputs();
    let program = model.import(&Default::default()).unwrap();
    let outputs = |x: HostTensor| tegula_tensor::evaluate(&program, &[x, w.clone()]).unwrap();
    let check = |given: &[HostTensor]| {
        let inputs = [x.clone(), w.clone()];
        check(&model, &options(), &inputs, Some(given), &Hardware::Own, &mut PassCx::new()).unwrap()
    };
    assert!(check(&outputs(x.clone())).is_fine());
    let report = check(&outputs(without_last_term(&x)));
    assert!(!report.is_fine() && report.first_wrong().is_none(), "{report:?}");
}

/// A function of `x: f16[4, 16]`, checked.
fn check_halves(make: impl FnOnce(&mut Builder, Value) -> Built) -> CheckReport {
    let program = program(|b| {
        let x = b.arg(DType::F16, [4, 16]);
        Ok(vec![make(b, x)?])
    });
    let x = HostTensor { dtype: DType::F16, ..numbers(&[4, 16]) };
    check(&model(&program), &options(), &[x], None, &Hardware::Own, &mut PassCx::new()).unwrap()
}

#[test]
fn masked_scores_do_not_blur_the_others() {
    let report = check_halves(|b, x| {
        let mask: Vec<f64> = (0..16).map(|i| if i % 3 == 0 { -60000.0 } else { 0.0 }).collect();
        let mask = b.constant(tegula_testkit::random::data::from_reals(DType::F16, &[1, 16], &mask))?;
        let masked = b.add(x, mask)?;
        b.softmax(masked, 1, false)
    });
    let output = &report.outputs[0].difference;
    assert!(report.is_fine() && output.elements == 64 && output.unjudged == 0, "{output:?}");
}

#[test]
fn an_output_of_which_nothing_can_be_judged_does_not_pass() {
    let report = check_halves(|b, x| {
        // 1/3 of 3 is a whole number but for rounding: its floor may be either.
        let third =
            b.constant(tegula_testkit::random::data::from_reals(DType::F16, &[1, 1], &[1.0 / 3.0]))?;
        let zero = b.sub(x, x)?;
        let one = b.exp(zero)?;
        let near = b.mul(one, third)?;
        let sum = b.add(near, near)?;
        let whole = b.add(sum, near)?;
        b.floor(whole)
    });
    let output = &report.outputs[0].difference;
    assert_eq!((output.unjudged, output.elements), (64, 64), "{output:?}");
    assert!(output.is_fine() && output.says_nothing() && !report.is_fine());
}
