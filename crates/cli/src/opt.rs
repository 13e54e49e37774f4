//! `tegula opt`.

use crate::args::{CompileOptions, OptArgs};
use crate::failure::Failure;
use crate::load::{compile_options, with_model};
use crate::output;

pub fn opt(args: &OptArgs) -> Result<(), Failure> {
    let compile = CompileOptions {
        target: args.target.clone(),
        dims: args.dims.clone(),
        passes: args.pass_options.clone(),
        ..CompileOptions::default()
    };
    let text = match args.file.as_ref().filter(|_| !args.list) {
        None => list(&compile)?,
        Some(file) => {
            output::keep_input(file, args.output.as_ref())?;
            with_model(file, &compile, args.stop_after.as_deref(), |model, options, cx| {
                tegula_driver::opt::opt(model, options, &args.passes, cx)
            })?
            .0
        }
    };
    match &args.output {
        Some(file) => output::write_text(file, &text),
        None => output::print(&text),
    }
}

/// The passes of both pipelines, a line each.
fn list(compile: &CompileOptions) -> Result<String, Failure> {
    let chosen = tegula_driver::target::target(&compile_options(compile)?)?;
    let names = tegula_driver::compile::pass_names(chosen.targets());
    Ok(names.iter().map(|(pipeline, pass)| format!("{pipeline}:{pass}\n")).collect())
}
