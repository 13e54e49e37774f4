//! What generated programs hold, and how they are reduced.

use tegula_tensor::{TensorOp, evaluate};
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

/// Products of bytes by constants are packed in groups of four steps of k.
#[test]
fn groups_of_constant_bytes_are_full_and_not_full() {
    let mut seen = [0u64; 4];
    for seed in 0..SEEDS {
        let case = generate(seed, &Choices::default());
        let func = case.program.entry();
        for op in func.walk() {
            let k_axis = match func.kind(op) {
                TensorOp::QDot { dims } => dims.rhs_contract[0],
                TensorOp::QConv { .. } => 1,
                _ => continue,
            };
            let weights = func.operand(op, 3);
            let is_constant =
                func.def_op(weights).is_some_and(|op| matches!(func.kind(op), TensorOp::Constant { .. }));
            if let Some(k) = func.ty(weights).shape[k_axis].as_const().filter(|k| is_constant && *k > 1) {
                seen[k as usize % 4] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count >= LEAST / 10), "{seen:?}");
}

#[test]
fn the_same_seed_is_the_same_case() {
    let text = |seed| reduce::report(&generate(seed, &Choices::default()), "");
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
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
