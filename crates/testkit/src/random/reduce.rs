//! Makes a failing case small: smaller sizes, fewer ops, one result, the first value that fails, values of the evaluator in place
//! of ops.
//!
//! Before: `fails` says of a case whether it fails in the way that is looked into.  After: a case that still does,
//! of which no single step below can be taken any more (within the number of attempts).

use super::{Case, Choices, generate};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use tegula_base::HostTensor;
use tegula_ir::{PrintOptions, Value, print_program};
use tegula_tensor::{Evaluator, TensorProgram, smaller};

/// Runs of `fails` at most.
const ATTEMPTS: usize = 400;

pub fn reduce(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut reducer = Reducer { fails, attempts: ATTEMPTS };
    let case = reducer.by_choices(case);
    let case = reducer.by_results(case);
    let case = reducer.by_earlier_values(case);
    reducer.by_cuts(case)
}

/// The case as a file: how to make it again, its inputs, the program's text.
pub fn report(case: &Case, failure: &str) -> String {
    let mut text = format!("// seed {}\n// {}\n", case.seed, failure.replace('\n', "\n// "));
    for (i, input) in case.inputs.iter().enumerate() {
        let numbers: Vec<String> = input.to_f64().iter().take(64).map(f64::to_string).collect();
        let more = if input.count() > 64 { ", ..." } else { "" };
        // A `String` takes whatever is written.
        let _ = writeln!(text, "// x{i}: {}{:?} = [{}{more}]", input.dtype, input.shape, numbers.join(", "));
    }
    text + &print_program(&case.program, &PrintOptions::WHOLE)
}

struct Reducer<'a> {
    fails: &'a dyn Fn(&Case) -> bool,
    attempts: usize,
}

impl Reducer<'_> {
    fn still_fails(&mut self, case: &Case) -> bool {
        if self.attempts == 0 {
            return false;
        }
        self.attempts -= 1;
        tegula_ir::verify_program(&case.program).is_ok() && (self.fails)(case)
    }

    /// Draws again with fewer ops, then with smaller sizes.
    fn by_choices(&mut self, case: &Case) -> Case {
        let (mut best, mut choices) = (case.clone(), Choices::default());
        let mut most = case.op_count();
        while most > 1 {
            let fewer = Choices { most_ops: Some(most - most.div_ceil(4)), ..choices.clone() };
            let smaller = generate(case.seed, &fewer);
            if !self.still_fails(&smaller) {
                break;
            }
            most -= most.div_ceil(4);
            (best, choices) = (smaller, fewer);
        }
        let mut at = 0;
        while at < best.drawn_sizes.len() {
            let size = best.drawn_sizes[at];
            for smaller in [1, 2, size / 2, size - 1].into_iter().filter(|n| *n < size && *n > 0) {
                let mut fewer = choices.clone();
                fewer.sizes.insert(at, smaller);
                let next = generate(case.seed, &fewer);
                if self.still_fails(&next) {
                    (best, choices) = (next, fewer);
                    break;
                }
            }
            at += 1;
        }
        best
    }

    /// Keeps one result, where one is enough.
    fn by_results(&mut self, case: Case) -> Case {
        for result in smaller::results(case.program.entry()) {
            let smaller = trimmed(smaller::keep(&case.program, &[*result]), &case.inputs, &case);
            if self.still_fails(&smaller) {
                return smaller;
            }
        }
        case
    }

    /// Ends at the first value that fails already.
    fn by_earlier_values(&mut self, case: Case) -> Case {
        for (value, _) in evaluated(&case) {
            let shorter = trimmed(smaller::keep(&case.program, &[value]), &case.inputs, &case);
            if shorter.op_count() < case.op_count() && self.still_fails(&shorter) {
                return shorter;
            }
        }
        case
    }

    /// Puts the evaluator's values in the place of ops, the first ones first.
    fn by_cuts(&mut self, mut case: Case) -> Case {
        loop {
            let values = evaluated(&case);
            let mut smaller = None;
            for (value, tensor) in values.into_iter().rev() {
                let next = with_input(&case, value, tensor);
                if next.op_count() < case.op_count() && self.still_fails(&next) {
                    smaller = Some(next);
                    break;
                }
            }
            match smaller {
                Some(next) => case = next,
                None => return case,
            }
        }
    }
}

/// Values of the body's ops that later ops read, the first ones first.
fn evaluated(case: &Case) -> Vec<(Value, HostTensor)> {
    let func = case.program.entry();
    let results: BTreeSet<Value> = smaller::results(func).iter().copied().collect();
    let mut found: Vec<(Value, HostTensor)> = vec![];
    let body = func.body();
    let observed = Evaluator::new(&case.program)
        .observe(|func, op, tensors, _| {
            if func.parent(op) != Some(body) || smaller::is_source(func, op) {
                return;
            }
            for (value, tensor) in func.results(op).iter().zip(tensors) {
                if !func.users(*value).is_empty() && !results.contains(value) {
                    found.push((*value, Arc::unwrap_or_clone(tensor.clone())));
                }
            }
        })
        .run(&case.inputs);
    match observed {
        Ok(_) => found,
        Err(_) => vec![],
    }
}

/// The case with an input in the place of a value.
fn with_input(case: &Case, value: Value, tensor: HostTensor) -> Case {
    let mut inputs = case.inputs.clone();
    inputs.push(tensor);
    trimmed(smaller::cut(&case.program, &[value]), &inputs, case)
}

/// Drops ops, inputs and symbols that nothing needs.
fn trimmed(program: TensorProgram, inputs: &[HostTensor], case: &Case) -> Case {
    let (program, kept) = smaller::trim(program);
    let inputs = kept.iter().map(|i| inputs[*i].clone()).collect();
    Case { program, inputs, choices: None, ..case.clone() }
}
