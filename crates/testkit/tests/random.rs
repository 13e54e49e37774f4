//! What generated programs hold, and that bounds stand beside the evaluator's own values.

use tegula_base::HostTensor;
use tegula_tensor::evaluate;
use tegula_testkit::random::bound::{compare, reference};
use tegula_testkit::random::coverage::Coverage;
use tegula_testkit::random::{Choices, generate, reduce};

const SEEDS: u64 = 2000;

/// What the check of random programs promises.
const LEAST: u64 = 100;

#[test]
fn programs_are_valid_and_cover_every_op_and_element_type() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let case = generate(seed, &Choices::default());
        if let Err(found) = tegula_ir::verify_program(&case.program) {
            panic!("seed {seed}: {found}");
        }
        coverage.count(&case);
    }
    println!("{}", coverage.table());
    assert_eq!(coverage.below(LEAST), Vec::<String>::new());
    assert!(coverage.symbolic > SEEDS / 4 && coverage.large > SEEDS / 10 && coverage.empty > SEEDS / 20);
}

#[test]
fn the_same_seed_is_the_same_case() {
    let text = |seed| reduce::report(&generate(seed, &Choices::default()), "");
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

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
    let want = tegula_testkit::random::bound::Bounded::exact(x.clone());
    assert!(compare(&x, &want).is_ok());
    assert!(compare(&HostTensor::from_elements(&[3], &[1.0f32, 2.0, 3.0000002]), &want).is_err());
}

/// A failure that hangs on one op is reduced to about that op.
#[test]
fn a_reduced_case_is_small_and_still_fails() {
    let has_softmax = |case: &tegula_testkit::random::Case| {
        let func = case.program.entry();
        func.walk().iter().any(|op| matches!(func.kind(*op), tegula_tensor::TensorOp::Softmax { .. }))
    };
    let case = (0..).map(|seed| generate(seed, &Choices::default())).find(has_softmax).expect("one of many");
    let small = reduce::reduce(&case, &has_softmax);
    assert!(has_softmax(&small));
    assert!(small.op_count() <= 2, "{}", reduce::report(&small, "a softmax"));
    assert!(evaluate(&small.program, &small.inputs).is_ok());
}
