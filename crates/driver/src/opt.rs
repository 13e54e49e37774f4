//! `tegula opt`: passes on a program given as text.

use crate::compile::CompileOptions;
use crate::model::Model;
use crate::target;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::{PassCx, PrintOptions, RunOptions, print_program};

/// Runs the passes named, one after the other, on a tensor program; without names, the whole tensor pipeline
/// between `start_from` and `stop_after`. Gives the program's text.
/// Errors: `unknown-pass`, the parser's, the verifier's, the passes' own.
pub fn opt(
    model: &Model,
    options: &CompileOptions,
    passes: &[String],
    cx: &mut PassCx,
) -> Result<String, Diagnostics> {
    let mut program = model.import(&options.dims)?;
    let target = target::target(options)?;
    let pipeline = tegula_opt::pipeline::tensor_pipeline(&*target);
    let verified = RunOptions { verify: true, ..RunOptions::default() };
    if passes.is_empty() {
        let run = RunOptions {
            stop_after: options.stop_after.clone(),
            start_from: options.start_from.clone(),
            ..verified
        };
        pipeline.run(&mut program, &run, cx)?;
    }
    for pass in passes {
        if !pipeline.pass_names().any(|name| name == pass) {
            let names: Vec<&str> = pipeline.pass_names().collect();
            return Err(Diagnostic::error("unknown-pass", format!("there is no pass `{pass}`"))
                .note(format!("the passes are {}", names.join(", ")))
                .into());
        }
        let run =
            RunOptions { stop_after: Some(pass.clone()), start_from: Some(pass.clone()), ..verified.clone() };
        pipeline.run(&mut program, &run, cx)?;
    }
    Ok(print_program(&program, &PrintOptions::WHOLE))
}
