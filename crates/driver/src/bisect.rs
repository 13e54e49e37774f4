//! Finds the pass, and the rewrite in it, after which a program gives other results than before.
//!
//! Every state between passes runs in the reference evaluator, so the first wrong one is found by halves; a pass whose
//! rules go through [`rewrite_ops`](tegula_ir::rewrite::rewrite_ops) is then run with fuel for fewer and fewer rewrites.

use crate::check::{OutputCheck, Wanted};
use crate::model::{Model, result_names};
use crate::options::CompileOptions;
use crate::target;
use std::sync::Arc;
use tegula_base::{Diagnostics, HostTensor};
use tegula_ir::{Fuel, PassCx, Pipeline, PrintOptions, RunOptions, print_program};
use tegula_opt::passes::Precision;
use tegula_tensor::{Evaluator, TensorProgram};

/// The first pass whose program gives other results.
#[derive(Clone, Debug)]
pub struct GuiltyPass {
    /// `tensor:canonicalise`.
    pub pass: String,
    /// The output that differs most, or why the program does not run.
    pub fault: Result<OutputCheck, String>,
    /// `None` where the pass is not made of rewrites.
    pub rewrite: Option<GuiltyRewrite>,
    /// The program before the pass, as text that stands alone.
    pub before: String,
}

/// The first rewrite of a pass after which results differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuiltyRewrite {
    /// Which one, from 1, of how many.
    pub number: u64,
    pub of: u64,
    /// What it rewrites, and the node that this comes from.
    pub op: &'static str,
    pub node: Option<Arc<str>>,
}

/// Looks through the tensor passes of a compilation.
/// Errors: the import's, the evaluator's on the model itself, the passes' own.
pub fn bisect(
    model: &Model,
    options: &CompileOptions,
    inputs: &[HostTensor],
    cx: &mut PassCx,
) -> Result<Option<GuiltyPass>, Diagnostics> {
    let program = model.import(&options.dims)?;
    let chosen = target::target(options)?;
    let pipeline = tegula_opt::pipeline::tensor_pipeline(chosen.targets(), options.precision);
    guilty_pass(&program, &pipeline, options.precision, inputs, cx)
}

/// The first pass of a pipeline for a precision that is wrong on a program; `None`: all of them keep its results.
/// Errors: the evaluator's on the program itself, the passes' own.
pub fn guilty_pass(
    program: &TensorProgram,
    pipeline: &Pipeline<TensorProgram>,
    precision: Precision,
    inputs: &[HostTensor],
    cx: &mut PassCx,
) -> Result<Option<GuiltyPass>, Diagnostics> {
    let wanted = Wanted::of(program, precision, inputs, None)?;
    let judge = Judge { inputs, wanted, names: result_names(program) };
    let mut states = vec![(None, program.clone())];
    for pass in pipeline.pass_names() {
        let mut next = states.last().expect("invariant: the first state stands").1.clone();
        if run_one(pipeline, pass, &mut next, cx)? {
            states.push((Some(pass), next));
        }
    }
    let last = states.len();
    let first_wrong = first_where(1, last, |at| judge.fault(&states[at].1).is_some());
    if first_wrong == last {
        return Ok(None);
    }
    let (pass, before) = (states[first_wrong].0.unwrap_or_default(), &states[first_wrong - 1].1);
    let Some(fault) = judge.fault(&states[first_wrong].1) else { return Ok(None) };
    let rewrite = guilty_rewrite(before, pipeline, pass, &judge, cx)?;
    let pass = format!("{}:{pass}", pipeline.name());
    Ok(Some(GuiltyPass { pass, fault, rewrite, before: print_program(before, &PrintOptions::WHOLE) }))
}

fn guilty_rewrite(
    before: &TensorProgram,
    pipeline: &Pipeline<TensorProgram>,
    pass: &str,
    judge: &Judge,
    cx: &mut PassCx,
) -> Result<Option<GuiltyRewrite>, Diagnostics> {
    let mut after = |left: u64| -> Result<(TensorProgram, Fuel), Diagnostics> {
        let mut program = before.clone();
        program.entry_mut().fuel = Some(Fuel { left, last: None });
        run_one(pipeline, pass, &mut program, cx)?;
        let fuel = program.entry_mut().fuel.take().unwrap_or_default();
        Ok((program, fuel))
    };
    let of = u64::MAX - after(u64::MAX)?.1.left;
    let mut failed = None;
    let number = first_where(1, of as usize + 1, |number| match after(number as u64) {
        Ok((program, _)) => judge.fault(&program).is_some(),
        Err(error) => {
            failed.get_or_insert(error);
            true
        }
    }) as u64;
    if let Some(error) = failed {
        return Err(error);
    }
    // Beyond the last rewrite: what is wrong is done by something else in the pass.
    let last = if number > of { None } else { after(number)?.1.last };
    Ok(last.map(|(op, node)| GuiltyRewrite { number, of, op, node }))
}

/// Whether the pass changed the program.
fn run_one(
    pipeline: &Pipeline<TensorProgram>,
    pass: &str,
    program: &mut TensorProgram,
    cx: &mut PassCx,
) -> Result<bool, Diagnostics> {
    let alone = Some(pass.to_string());
    let options =
        RunOptions { start_from: alone.clone(), stop_after: alone, verify: false, check_claims: false };
    pipeline.run(program, &options, cx)?;
    Ok(cx.records.last().is_some_and(|record| record.changed.is_yes()))
}

/// The first number in `[low, high)` for which `is_wrong` holds, as if it did for all after it; `high` where none is.
fn first_where(mut low: usize, mut high: usize, mut is_wrong: impl FnMut(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        match is_wrong(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

struct Judge<'a> {
    inputs: &'a [HostTensor],
    wanted: Wanted<'a>,
    names: Vec<String>,
}

impl Judge<'_> {
    /// `None`: the program's results are those expected.
    fn fault(&self, program: &TensorProgram) -> Option<Result<OutputCheck, String>> {
        let results = match Evaluator::new(program).limited().run(self.inputs) {
            Ok(results) => results,
            Err(error) => return Some(Err(error.to_string())),
        };
        let wrong = self.wanted.compare(&self.names, &results);
        let wrong = wrong.into_iter().filter(|output| !output.is_fine());
        let share = |output: &OutputCheck| match output.growth {
            Some(growth) if !growth.is_fine() => f64::INFINITY,
            _ => output.difference.max_abs / output.difference.tolerance,
        };
        wrong.max_by(|a, b| share(a).total_cmp(&share(b))).map(Ok)
    }
}
