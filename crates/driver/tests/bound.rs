//! Bounds stand beside the evaluator's own values, and are no licence.

use tegula_base::HostTensor;
use tegula_driver::bound::{Bounded, compare, reference};
use tegula_tensor::evaluate;
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
