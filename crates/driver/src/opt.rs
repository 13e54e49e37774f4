//! `tegula opt`: passes on a program given as text.

use crate::compile::find_pass;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target;
use tegula_base::Diagnostics;
use tegula_ir::{PassCx, PrintOptions, RunOptions, print_program};

/// Runs the passes named, one after the other, on a tensor program; without names, the whole tensor pipeline
/// between `start_from` and `stop_after`. A name is `PASS` or `tensor:PASS`. Gives the program's text.
/// Errors: `unknown-pass`, the parser's, the verifier's, the passes' own.
pub fn opt(
    model: &Model,
    options: &CompileOptions,
    passes: &[String],
    cx: &mut PassCx,
) -> Result<String, Diagnostics> {
    let mut program = model.import(&options.dims)?;
    let chosen = target::target(options)?;
    let pipeline = tegula_opt::pipeline::tensor_pipeline(chosen.targets(), options.precision);
    let verified = RunOptions { verify: true, ..RunOptions::default() };
    let known: Vec<(&str, &str)> = pipeline.pass_names().map(|pass| (pipeline.name(), pass)).collect();
    let find = |name: &String| Ok::<String, Diagnostics>(find_pass(name, &known)?.1.to_string());
    if passes.is_empty() {
        let run = RunOptions {
            stop_after: options.stop_after.as_ref().map(find).transpose()?,
            start_from: options.start_from.as_ref().map(find).transpose()?,
            ..verified
        };
        pipeline.run(&mut program, &run, cx)?;
    }
    for pass in passes {
        let pass = Some(find(pass)?);
        let run = RunOptions { stop_after: pass.clone(), start_from: pass, ..verified.clone() };
        pipeline.run(&mut program, &run, cx)?;
    }
    Ok(print_program(&program, &PrintOptions::WHOLE))
}
