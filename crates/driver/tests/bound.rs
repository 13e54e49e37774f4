//! Bounds stand beside the evaluator's own values, and are no licence.

use tegula_base::HostTensor;
use tegula_driver::bound::{Bounded, compare, reference};
use tegula_ir::parse_program;
use tegula_tensor::{TensorProgram, evaluate};
use tegula_testkit::gpu_kernels::gpu_kernels;
use tegula_testkit::random::data::from_reals;
use tegula_testkit::random::{Choices, generate};

#[test]
fn bounds_stand_beside_the_evaluators_values() {
    let (mut checked, mut unchecked) = (0, 0);
    for seed in 0..400 {
        let case = generate(seed, &Choices::default());
        let expected = evaluate(&case.program, &case.inputs).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let bounded = reference(&case.program, &case.inputs).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (value, bounded) in expected.iter().zip(&bounded) {
            assert_eq!(value.bytes, bounded.value.bytes, "seed {seed}");
            let agreement = compare(value, bounded).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            checked += agreement.exact + agreement.bounded;
            unchecked += agreement.unchecked;
        }
    }
    println!("{checked} elements checked, {unchecked} not");
    assert!(unchecked * 5 < checked, "{unchecked} of {checked}");
}

#[test]
fn a_bound_is_no_licence() {
    let x = HostTensor::from_elements(&[3], &[1.0f32, 2.0, 3.0]);
    let want = Bounded::exact(x.clone());
    assert!(compare(&x, &want).is_ok());
    assert!(compare(&HostTensor::from_elements(&[3], &[1.0f32, 2.0, 3.0000002]), &want).is_err());
}

/// A stride of 2 with 3 weights has room for one zero, at either end.
#[test]
fn zeros_that_complete_a_window_may_meet_infinity() {
    let program: TensorProgram = parse_program(
        r#""builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [3], strides = [2], dilations = [1], low = [0], high = [0]}, groups = 1, output = [9]}> : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x9xf32>
    "tgn.return"(%y) : (tensor<1x1x9xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"#,
        None,
    )
    .expect("a program");
    let x = HostTensor::from_elements(&[1, 1, 4], &[1.0f32, f32::INFINITY, 1.0, 1.0]);
    let w = HostTensor::from_elements(&[1, 1, 3], &[1.0f32, 1.0, 1.0]);
    let want = reference(&program, &[x, w]).expect("bounds").remove(0);
    let values = want.value.to_f64();
    assert_eq!(values, [1.0, 1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY, 1.0, 2.0, 1.0, 1.0]);
    for at in 0..values.len() {
        let mut spoilt: Vec<f32> = values.iter().map(|x| *x as f32).collect();
        spoilt[at] = f32::NAN;
        let got = HostTensor::from_elements(&[1, 1, 9], &spoilt);
        assert_eq!(compare(&got, &want).is_ok(), (1..=5).contains(&at), "NaN at {at}");
    }
}

/// `exp(0)` may be a step beside 1, where these functions end.
#[test]
fn what_may_leave_a_domain_may_be_no_number() {
    for (function, inside) in [("acosh", 1.0f32), ("asin", -1.0), ("acos", -1.0), ("atanh", -1.0)] {
        let text = format!(
            r#""builtin.module"() ({{
  "tgn.func"() <{{sym_name = "main", arg_names = ["x"], result_names = ["y"]}}> ({{
  ^bb0(%x: tensor<2xf32>):
    %e = "tgn.elementwise"(%x) <{{f = "exp"}}> : (tensor<2xf32>) -> tensor<2xf32>
    %y = "tgn.elementwise"(%e) <{{f = "{function}"}}> : (tensor<2xf32>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }}) : () -> ()
}}) : () -> ()
"#
        );
        let program: TensorProgram = parse_program(&text, None).expect("a program");
        let x = HostTensor::from_elements(&[2], &[0.0f32, inside]);
        let want = reference(&program, &[x]).expect("bounds").remove(0);
        let mut got: Vec<f32> = want.value.elements().expect("floats");
        got[0] = f32::NAN;
        assert!(compare(&HostTensor::from_elements(&[2], &got), &want).is_ok(), "{function} at its end");
        got[1] = f32::NAN;
        assert!(compare(&HostTensor::from_elements(&[2], &got), &want).is_err(), "{function} inside");
    }
}

/// A matrix unit as DeepSeek's report has it: what is added at once is cut to 13 bits below the largest.
fn short_sum(products: &[f64]) -> f64 {
    products.chunks(32).fold(0.0, |sum: f64, step| {
        let largest = step.iter().fold(sum.abs(), |largest, product| largest.max(product.abs()));
        let unit = 2f64.powi(largest.log2().floor() as i32 - 13);
        step.iter().chain([&sum]).map(|term| (term / unit).trunc() * unit).sum()
    })
}

#[test]
fn short_sums_of_small_floats_are_within_their_bound_and_missing_products_are_not() {
    let kernels = gpu_kernels();
    let kernel = kernels.iter().find(|kernel| kernel.name == "gemm_f8_nt").expect("a row of the list");
    let (rows, columns, depth) = (5, 16, 512);
    let sizes = [("m", rows), ("n", columns), ("k", depth)];
    let sizes = sizes.map(|(name, n)| (name.to_string(), n as i64)).into_iter().collect();
    for same_sign in [false, true] {
        let mut case = kernel.case(&sizes, 7).expect("a case");
        if same_sign {
            case.inputs.iter_mut().flat_map(|input| &mut input.bytes).for_each(|byte| *byte &= 0x7f);
        }
        let want = reference(&case.program, &case.inputs).expect("bounds").remove(0);
        let factors: Vec<Vec<f64>> = case.inputs.iter().map(HostTensor::to_f64).collect();
        let result = |sum: &dyn Fn(&[f64]) -> f64| {
            let element = |at: usize| {
                let (x, w) = (&factors[0][at / columns * depth..], &factors[1][at % columns * depth..]);
                let products: Vec<f64> = (0..depth).map(|k| x[k] * w[k]).collect();
                sum(&products)
            };
            let reals: Vec<f64> = (0..rows * columns).map(element).collect();
            from_reals(want.value.dtype, &[rows, columns], &reals)
        };
        compare(&result(&short_sum), &want).unwrap_or_else(|e| panic!("same sign {same_sign}: {e}"));
        assert!(compare(&result(&|products| short_sum(&products[32..])), &want).is_err());
    }
}
