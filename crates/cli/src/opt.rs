//! `tegula opt`.

use crate::args::{CompileOptions, OptArgs};
use crate::failure::Failure;
use crate::load::with_model;
use crate::output;

pub fn opt(args: &OptArgs) -> Result<(), Failure> {
    output::keep_input(&args.file, args.output.as_ref())?;
    let compile = CompileOptions {
        target: args.target.clone(),
        dims: args.dims.clone(),
        passes: args.pass_options.clone(),
        ..CompileOptions::default()
    };
    let (text, _) = with_model(&args.file, &compile, args.stop_after.as_deref(), |model, options, cx| {
        if args.list {
            let target = tegula_driver::target::target(options)?;
            let names = tegula_driver::compile::pass_names(&*target);
            return Ok(names.iter().map(|(pipeline, pass)| format!("{pipeline}:{pass}\n")).collect());
        }
        tegula_driver::opt::opt(model, options, &args.passes, cx)
    })?;
    match &args.output {
        Some(file) => output::write_bytes(file, text.as_bytes()),
        None => output::print(&text),
    }
}
