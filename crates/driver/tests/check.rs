//! `check` of a product in bf16: right kernels pass, one that is slightly wrong is named; masked scores are judged, and
//! outputs of whose elements nothing can be said are judged by how far the evaluator's roundings carry.

use crate::model;
use crate::program;

use std::sync::Arc;

use model::model;
use program::program;
use tegula_base::{DType, HostTensor, SymbolInfo};
use tegula_driver::bound::{Bounded, watch_kernels};
use tegula_driver::check::{CheckReport, Device, check, check_compiled, judge, run_launch};
use tegula_driver::{CompileOptions, Compiled, Form, Model, PassCx, compile};
use tegula_ir::{OpId, Value};
use tegula_machine::Machine;
use tegula_opt::passes::Precision;
use tegula_package::Package;
use tegula_runtime::Hardware;
use tegula_tensor::Builder;
use tegula_tensor::build::Built;
use tegula_tensor::eval::Bindings;
use tegula_testkit::random::data::from_reals;

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
    from_reals(DType::BF16, shape, &values)
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
    let about = Package::parse(package.unwrap().to_bytes()).unwrap().manifest.about;
    let on = Device { about: &about, hardware: &Hardware::Own };
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
        Ok(None)
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

fn halves() -> HostTensor {
    HostTensor { dtype: DType::F16, ..numbers(&[4, 16]) }
}

/// A function of these, checked.
fn check_halves(
    expected: Option<HostTensor>,
    make: impl FnOnce(&mut Builder, Value) -> Built<Value>,
) -> CheckReport {
    let program = program(|b| {
        let x = b.arg(DType::F16, [4, 16]);
        Ok(vec![make(b, x)?])
    });
    let x = halves();
    let expected = expected.as_ref().map(std::slice::from_ref);
    check(&model(&program), &options(), &[x], expected, &Hardware::Own, &mut PassCx::new()).unwrap()
}

#[test]
fn masked_scores_do_not_blur_the_others() {
    let report = check_halves(None, |b, x| {
        let mask: Vec<f64> = (0..16).map(|i| if i % 3 == 0 { -60000.0 } else { 0.0 }).collect();
        let mask = b.constant(from_reals(DType::F16, &[1, 16], &mask))?;
        let masked = b.add(x, mask)?;
        b.softmax(masked, 1, false)
    });
    let output = &report.outputs[0].difference;
    assert!(report.is_fine() && output.elements == 64 && output.unjudged == 0, "{output:?}");
}

/// 1/3 of 3 is a whole number but for rounding: its floor may be either.
fn floor_of_thirds(b: &mut Builder, x: Value) -> Built<Value> {
    let third = b.constant(from_reals(DType::F16, &[1, 1], &[1.0 / 3.0]))?;
    let zero = b.sub(x, x)?;
    let one = b.exp(zero)?;
    let near = b.mul(one, third)?;
    let sum = b.add(near, near)?;
    let whole = b.add(sum, near)?;
    b.floor(whole)
}

#[test]
fn an_output_that_rounding_decides_is_judged_by_other_roundings() {
    let report = check_halves(None, floor_of_thirds);
    let output = &report.outputs[0];
    assert_eq!((output.difference.unjudged, output.difference.elements), (64, 64), "{output:?}");
    assert!(report.is_fine() && output.as_launched == Some(true), "{output:?}");
    // Neither of the two.
    let given = from_reals(DType::F16, &[4, 16], &[7.0; 64]);
    let report = check_halves(Some(given), floor_of_thirds);
    let output = &report.outputs[0];
    assert!(output.growth.is_some_and(|growth| growth.apart > 5.0 && !growth.is_fine()), "{output:?}");
    assert!(!report.is_fine() && report.first_wrong().is_none());
}

#[test]
fn elements_without_a_bound_are_judged_beside_others_with_one() {
    let beside = |b: &mut Builder, x: Value| {
        let undecided = floor_of_thirds(b, x)?;
        b.concat(&[x, undecided, x, x], 0)
    };
    let output = |last: f64| {
        let x = halves().to_f64();
        let mut expected = [x.clone(), vec![1.0; 64], x.repeat(2)].concat();
        expected[127] = last;
        let given = from_reals(DType::F16, &[16, 16], &expected);
        check_halves(Some(given), beside).outputs.remove(0)
    };
    let right = output(1.0);
    assert!(right.is_fine() && right.growth.is_some_and(|growth| growth.elements == 64), "{right:?}");
    assert!(!output(f64::NAN).is_fine());
}

#[test]
fn a_run_that_is_not_what_its_launches_give_is_wrong() {
    let difference = |turned: bool| {
        let program = program(|b| {
            let x = b.arg(DType::F32, [4, 16]);
            let y = b.arg(DType::F32, [4, 16]);
            Ok(vec![if turned { b.sub(y, x)? } else { b.sub(x, y)? }])
        });
        (compile(&model(&program), &options(), None, &mut PassCx::new()).unwrap(), program)
    };
    let (mut compiled, program) = difference(false);
    let inputs = [1.0f32, 3.0].map(|value| HostTensor::from_elements(&[4, 16], &[value; 64]));
    let report = |compiled: &Compiled| {
        check_compiled(compiled, &program, Precision::F32, &inputs, None, &Hardware::Own).unwrap()
    };
    assert_eq!(report(&compiled).outputs[0].as_launched, Some(true));
    compiled.package = difference(true).0.package;
    let wrong = report(&compiled);
    assert!(!wrong.is_fine() && wrong.first_wrong().is_none(), "{wrong:?}");
    assert_eq!(wrong.outputs[0].as_launched, Some(false));
}

#[test]
fn a_loop_that_does_not_end_is_given_up() {
    let endless = |dtype: DType| {
        let program = program(|b| {
            let x = b.arg(dtype, [2]);
            let go = b.scalar_bool(true)?;
            let results = b.repeat(SymbolInfo::MAX, go, &[x], 0, |b, _, carried| {
                Ok(vec![b.scalar_bool(true)?, b.neg(carried[0])?])
            })?;
            Ok(vec![results[1]])
        });
        let x = HostTensor::zeros(dtype, &[2]);
        let found = check(&model(&program), &options(), &[x], None, &Hardware::Own, &mut PassCx::new());
        found.unwrap_err().to_string()
    };
    let expected = "the loop has not ended after 10000 rounds; other inputs may end it";
    for text in [endless(DType::F32), endless(DType::F16)] {
        assert!(text.contains(expected), "{text}");
    }
}
