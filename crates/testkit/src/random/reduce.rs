//! Makes a failing case small: smaller sizes, fewer ops, one result, values of the evaluator in place of ops.
//!
//! Before: `fails` says of a case whether it fails in the way that is looked into.  After: a case that still does,
//! of which no single step below can be taken any more (within the number of attempts).

use super::{Case, Choices, generate};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use tegula_base::{HostTensor, Origin};
use tegula_ir::rewrite::{Cloner, dce};
use tegula_ir::{PrintOptions, Value, print_program};
use tegula_tensor::{Evaluator, TensorFunc, TensorOp, TensorProgram};

/// Runs of `fails` at most.
const ATTEMPTS: usize = 400;

pub fn reduce(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut reducer = Reducer { fails, attempts: ATTEMPTS };
    let case = reducer.by_choices(case);
    let case = reducer.by_results(case);
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
        let func = case.program.entry();
        let results = results_of(func);
        for result in &results {
            let smaller = keep(&case, &[*result]);
            if self.still_fails(&smaller) {
                return smaller;
            }
        }
        // An earlier value may fail already.
        case
    }

    /// Puts the evaluator's values in the place of ops, the first ones first.
    fn by_cuts(&mut self, mut case: Case) -> Case {
        loop {
            let values = evaluated(&case);
            let mut smaller = None;
            for (value, tensor) in values.into_iter().rev() {
                let next = cut(&case, value, tensor);
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

fn results_of(func: &TensorFunc) -> Vec<Value> {
    func.terminator(func.body()).map_or(vec![], |end| func.operands(end).to_vec())
}

/// Values of the body's ops that later ops read.
fn evaluated(case: &Case) -> Vec<(Value, HostTensor)> {
    let func = case.program.entry();
    let results: BTreeSet<Value> = results_of(func).into_iter().collect();
    let mut found: Vec<(Value, HostTensor)> = vec![];
    let body = func.body();
    let observed = Evaluator::new(&case.program)
        .observe(|func, op, tensors, _| {
            let sources = matches!(func.kind(op), TensorOp::Splat { .. } | TensorOp::Constant { .. });
            if func.parent(op) != Some(body) || sources {
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
fn cut(case: &Case, value: Value, tensor: HostTensor) -> Case {
    let mut next = case.clone();
    let func = next.program.entry_mut();
    let body = func.body();
    let ty = func.ty(value).clone();
    let arg = func.add_arg(body, ty);
    func.arg_names.push(format!("cut{}", func.args(body).len()));
    func.replace_uses(value, arg);
    next.inputs.push(tensor);
    trim(next)
}

/// The case with these results only.
fn keep(case: &Case, results: &[Value]) -> Case {
    let mut next = case.clone();
    let func = next.program.entry_mut();
    if let Some(end) = func.terminator(func.body()) {
        func.set_operands(end, results);
    }
    func.result_names = (0..results.len()).map(|i| format!("y{i}")).collect();
    trim(next)
}

/// Drops ops, inputs and symbols that nothing needs.
fn trim(mut case: Case) -> Case {
    dce(case.program.entry_mut());
    let source = case.program.entry().clone();
    let needed = symbols_in_use(&source);
    let kept: Vec<usize> = source
        .args(source.body())
        .iter()
        .enumerate()
        .filter(|(_, arg)| {
            let binds = source
                .ty(**arg)
                .shape
                .iter()
                .any(|dim| dim.as_symbol().is_some_and(|name| needed.contains(name)));
            binds || !source.users(**arg).is_empty()
        })
        .map(|(i, _)| i)
        .collect();
    let mut func = TensorFunc::new("main");
    let body = func.body();
    let mut cloner = Cloner::between(&source);
    for i in &kept {
        let from = source.args(source.body())[*i];
        let arg = func.add_arg(body, source.ty(from).clone());
        cloner.bind(from, arg);
        func.arg_names.push(source.arg_names[*i].clone());
    }
    func.result_names = source.result_names.clone();
    for op in source.ops_in(source.body()) {
        cloner.op(&mut func, *op, body);
    }
    let mut symbols = case.program.symbols.clone();
    symbols.0.retain(|name, _| needed.contains(name));
    for info in symbols.0.values_mut() {
        if let Origin::Input { input, .. } = &mut info.origin {
            *input = kept.iter().position(|i| *i == *input as usize).unwrap_or(0) as u32;
        }
    }
    let inputs = kept.iter().map(|i| case.inputs[*i].clone()).collect();
    let program = TensorProgram { symbols, consts: case.program.consts.clone(), funcs: vec![func] };
    Case { program, inputs, choices: None, ..case }
}

/// Symbols in the types of values that are read or computed, and in what their upper bounds say.
fn symbols_in_use(func: &TensorFunc) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let used = func.args(func.body()).iter().filter(|arg| !func.users(**arg).is_empty()).copied();
    let computed = func.walk().into_iter().flat_map(|op| func.results(op).to_vec());
    for value in used.chain(computed) {
        for dim in func.ty(value).shape.iter() {
            dim.for_each_symbol(&mut |name| {
                found.insert(name.clone());
            });
        }
    }
    for op in func.walk() {
        // Sizes that stand in attributes alone.
        let _ = func.kind(op).map_dims::<()>(&mut |dim| {
            dim.for_each_symbol(&mut |name| {
                found.insert(name.clone());
            });
            Ok(dim.clone())
        });
    }
    found
}
